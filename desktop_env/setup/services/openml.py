"""What the ``openml`` client asks of OpenML to find, describe and download data sets."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from xml.sax.saxutils import escape

from desktop_env.setup.services.web import Answer, Call, html_answer
from desktop_env.setup.tables import Table, Value
from desktop_env.task_steps import OpenmlData

PREFIX = "/api/v1/xml/"
NAMESPACE = 'xmlns:oml="http://openml.org/openml"'
NO_RESULT, UNKNOWN = 372, 111
"""OpenML's codes of errors: a list is empty, a data set is not there."""
MAX_NOMINAL = 50
"""A text column with more values than this is of strings."""


@dataclass(frozen=True)
class Dataset:
    """A data set with its table, in the forms that OpenML has."""

    about: OpenmlData
    table: Table

    @cached_property
    def kinds(self) -> list[tuple[str, list[str]]]:
        """The type of each column, ``numeric``, ``nominal`` or ``string``, with the values of a nominal one."""
        found: list[tuple[str, list[str]]] = []
        for at, kind in enumerate(self.table.types):
            values = sorted({str(row[at]) for row in self.table.rows if row[at] is not None})
            if kind != "TEXT":
                found.append(("numeric", []))
            elif values and (len(values) <= MAX_NOMINAL or self.table.columns[at] == self.about.target):
                found.append(("nominal", values))
            else:
                found.append(("string", []))
        return found

    @cached_property
    def arff(self) -> bytes:
        """The data in ARFF."""
        lines = [f"@RELATION {_quoted(self.about.name)}", ""]
        for column, (kind, values) in zip(self.table.columns, self.kinds, strict=True):
            told = "{" + ",".join(map(_quoted, values)) + "}" if kind == "nominal" else kind.upper()
            lines.append(f"@ATTRIBUTE {_quoted(column)} {told}")
        lines += ["", "@DATA", *(",".join(map(_cell, row)) for row in self.table.rows)]
        return ("\n".join(lines) + "\n").encode()

    def qualities(self) -> dict[str, int]:
        """Give what OpenML counts of a data set."""
        kinds = [kind for kind, _ in self.kinds]
        missing = [sum(value is None for value in row) for row in self.table.rows]
        classes = [len(values) for column, (_, values) in self._columns() if column == self.about.target]
        return {
            "NumberOfInstances": len(self.table.rows),
            "NumberOfFeatures": len(kinds),
            "NumberOfClasses": classes[0] if classes else 0,
            "NumberOfMissingValues": sum(missing),
            "NumberOfInstancesWithMissingValues": sum(count > 0 for count in missing),
            "NumberOfNumericFeatures": kinds.count("numeric"),
            "NumberOfSymbolicFeatures": kinds.count("nominal"),
        }

    def features(self) -> str:
        """Give the description of the columns."""
        parts = []
        for at, (column, (kind, values)) in enumerate(self._columns()):
            nominal = "".join(f"<oml:nominal_value>{escape(value)}</oml:nominal_value>" for value in values)
            missing = sum(row[at] is None for row in self.table.rows)
            parts.append(
                f"<oml:feature><oml:index>{at}</oml:index><oml:name>{escape(column)}</oml:name>"
                f"<oml:data_type>{kind}</oml:data_type>{nominal}"
                f"<oml:is_target>{str(column == self.about.target).lower()}</oml:is_target>"
                "<oml:is_ignore>false</oml:is_ignore><oml:is_row_identifier>false</oml:is_row_identifier>"
                f"<oml:number_of_missing_values>{missing}</oml:number_of_missing_values></oml:feature>"
            )
        return f"<oml:data_features {NAMESPACE}>{''.join(parts)}</oml:data_features>"

    def description(self, base: str) -> str:
        """Give the description, with the address of the data."""
        about = self.about
        target = f"<oml:default_target_attribute>{escape(about.target or '')}</oml:default_target_attribute>"
        return (
            f"<oml:data_set_description {NAMESPACE}><oml:id>{about.id}</oml:id>"
            f"<oml:name>{escape(about.name)}</oml:name><oml:version>1</oml:version><oml:description>{escape(about.description)}</oml:description>"
            f"<oml:format>ARFF</oml:format><oml:upload_date>2026-01-15T12:00:00</oml:upload_date>"
            f"<oml:url>{base}/data/v1/download/{about.id}/{about.name}.arff</oml:url><oml:file_id>{about.id}</oml:file_id>"
            f"{target if about.target else ''}<oml:visibility>public</oml:visibility><oml:status>active</oml:status>"
            f"<oml:md5_checksum>{hashlib.md5(self.arff, usedforsecurity=False).hexdigest()}</oml:md5_checksum>"
            "</oml:data_set_description>"
        )

    def _columns(self) -> list[tuple[str, tuple[str, list[str]]]]:
        return list(zip(self.table.columns, self.kinds, strict=True))


class Openml:
    """Answers the client's calls about data sets."""

    def __init__(self, datasets: Mapping[int, Dataset]) -> None:
        self._datasets = datasets

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        if call.path == "/":
            names = "".join(f"<li>{number}: {escape(data.about.name)}</li>" for number, data in self._datasets.items())
            return html_answer("OpenML", f"<h1>OpenML</h1><ul>{names}</ul>")
        if match := re.fullmatch(r"/data/v1/download/(\d+)/[^/]+", call.path):
            dataset = self._datasets.get(int(match[1]))
            if dataset is None:
                return _error(call, UNKNOWN, "Unknown dataset")
            return _packed(call, dataset.arff, "text/plain; charset=utf-8")
        words = call.path.removeprefix(PREFIX).strip("/").split("/")
        if words[:2] == ["data", "list"]:
            return self._list(call, dict(zip(words[2::2], words[3::2], strict=False)))
        return self._one(call, words)

    def _one(self, call: Call, words: list[str]) -> Answer:
        what = words[1] if len(words) == 3 else ""
        number = words[-1] if len(words) > 1 and words[0] == "data" else ""
        dataset = self._datasets.get(int(number)) if number.isdecimal() else None
        if dataset is None or what not in ("", "features", "qualities"):
            return _error(call, UNKNOWN, "Unknown dataset")
        if what == "features":
            return _xml(call, dataset.features())
        if what == "qualities":
            parts = "".join(
                f"<oml:quality><oml:name>{name}</oml:name><oml:value>{value}</oml:value></oml:quality>"
                for name, value in dataset.qualities().items()
            )
            return _xml(call, f"<oml:data_qualities {NAMESPACE}>{parts}</oml:data_qualities>")
        return _xml(call, dataset.description(call.base))

    def _list(self, call: Call, filters: Mapping[str, str]) -> Answer:
        name, ids = filters.get("data_name"), filters.get("data_id", "").split(",")
        found = [
            dataset
            for number, dataset in sorted(self._datasets.items())
            if name in (None, dataset.about.name) and (ids == [""] or str(number) in ids)
        ]
        start, limit = filters.get("offset", "0"), filters.get("limit", "10000")
        if start.isdecimal() and limit.isdecimal():
            found = found[int(start) : int(start) + int(limit)]
        if not found or filters.get("data_version", "1") != "1":
            return _error(call, NO_RESULT, "No results")
        parts = []
        for dataset in found:
            qualities = "".join(
                f'<oml:quality name="{quality}">{value}</oml:quality>' for quality, value in dataset.qualities().items()
            )
            parts.append(
                f"<oml:dataset><oml:did>{dataset.about.id}</oml:did><oml:name>{escape(dataset.about.name)}</oml:name>"
                "<oml:version>1</oml:version><oml:status>active</oml:status><oml:format>ARFF</oml:format>"
                f"<oml:file_id>{dataset.about.id}</oml:file_id>{qualities}</oml:dataset>"
            )
        return _xml(call, f"<oml:data {NAMESPACE}>{''.join(parts)}</oml:data>")


def _xml(call: Call, body: str, status: int = 200) -> Answer:
    return _packed(call, f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'.encode(), "text/xml; charset=utf-8", status)


def _error(call: Call, code: int, message: str) -> Answer:
    body = f"<oml:error {NAMESPACE}><oml:code>{code}</oml:code><oml:message>{message}</oml:message></oml:error>"
    return _xml(call, body, 412)


def _packed(call: Call, data: bytes, kind: str, status: int = 200) -> Answer:
    """Compress an answer for who can read that: the client warns of answers that are not compressed."""
    if "gzip" in call.headers.get("accept-encoding", ""):
        return Answer(gzip.compress(data), kind, status, {"Content-Encoding": "gzip"})
    return Answer(data, kind, status)


def _cell(value: Value) -> str:
    if value is None:
        return "?"
    return _quoted(value) if isinstance(value, str) else str(value)


def _quoted(text: str) -> str:
    if re.fullmatch(r"[\w.-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"
