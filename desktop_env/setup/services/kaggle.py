"""What the ``kaggle`` client asks of Kaggle to find, describe and download data sets."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from desktop_env.made import zipped
from desktop_env.setup.services.web import Answer, Call, html_answer, json_answer, not_found
from desktop_env.task_steps import KaggleData

PREFIX = "/v1/datasets.DatasetApiService/"
UPDATED = "2026-01-15T12:00:00.000Z"
MODIFIED = "Thu, 15 Jan 2026 12:00:00 GMT"


class Kaggle:
    """Answers the client's calls about ``datasets``, each given with its files."""

    def __init__(self, datasets: Mapping[str, tuple[KaggleData, Mapping[str, Path]]]) -> None:
        self._datasets = datasets
        self._calls: dict[str, Callable[[dict[str, Any]], Answer]] = {
            "ListDatasets": self._list,
            "ListDatasetFiles": self._files,
            "GetDatasetMetadata": self._metadata,
            "DownloadDataset": self._download,
        }

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        if call.path == "/":
            return self._page()
        if call.path.startswith("/download/"):
            return self._content(call.path.removeprefix("/download/"))
        answer = self._calls.get(call.path.removeprefix(PREFIX))
        try:
            asked = json.loads(call.body or b"{}")
        except ValueError:
            asked = None
        if answer is None or not isinstance(asked, dict):
            return _error(404, "this server only lists and gives data sets")
        if not call.headers.get("authorization"):
            return _error(401, "Unauthenticated")
        return answer(asked)

    def _page(self) -> Answer:
        parts = []
        for about, files in self._datasets.values():
            links = "".join(f"<li><a href='/download/{about.ref}/{name}'>{name}</a></li>" for name in files)
            told = f"{about.ref}, licence: {html.escape(about.licence)}"
            parts.append(
                f"<h2>{html.escape(about.title)}</h2><p>{told}</p><p>{html.escape(about.description)}</p><ul>{links}</ul>"
            )
        return html_answer("Datasets", f"<h1>Datasets</h1>{''.join(parts)}")

    def _list(self, asked: dict[str, Any]) -> Answer:
        search, page = str(asked.get("search") or "").lower(), asked.get("page") or 1
        found = [
            _described(number, *dataset)
            for number, dataset in enumerate(self._datasets.values(), 1)
            if search in f"{dataset[0].ref} {dataset[0].title} {dataset[0].description}".lower()
        ]
        return json_answer({"datasets": found if page == 1 else []})

    def _files(self, asked: dict[str, Any]) -> Answer:
        dataset = self._asked(asked)
        if dataset is None:
            return _unknown(asked)
        return json_answer({"datasetFiles": [_file(name, path) for name, path in dataset[1].items()]})

    def _metadata(self, asked: dict[str, Any]) -> Answer:
        dataset = self._asked(asked)
        if dataset is None:
            return _unknown(asked)
        owner, _, slug = dataset[0].ref.partition("/")
        info = {
            "datasetId": list(self._datasets).index(dataset[0].ref) + 1,
            "datasetSlug": slug,
            "ownerUser": owner,
            "title": dataset[0].title,
            "description": dataset[0].description,
            "licenses": [{"name": dataset[0].licence}],
            "data": [{"name": name, "totalBytes": path.stat().st_size} for name, path in dataset[1].items()],
        }
        return json_answer({"info": info})

    def _download(self, asked: dict[str, Any]) -> Answer:
        dataset = self._asked(asked)
        name = asked.get("fileName")
        if dataset is None or (name and name not in dataset[1]):
            return _unknown(asked)
        slug = dataset[0].ref.partition("/")[2]
        target = quote(f"/download/{dataset[0].ref}/{name or f'{slug}.zip'}")
        return Answer(status=302, headers={"Location": target})

    def _content(self, path: str) -> Answer:
        ref, _, name = path.rpartition("/")
        dataset = self._datasets.get(ref)
        if dataset is None:
            return not_found()
        headers = {"Last-Modified": MODIFIED}
        if name in dataset[1]:
            return Answer(dataset[1][name].read_bytes(), "application/octet-stream", headers=headers)
        if name != f"{ref.partition('/')[2]}.zip":
            return not_found()
        archive = zipped({name: path.read_bytes() for name, path in dataset[1].items()})
        return Answer(archive, "application/zip", headers=headers)

    def _asked(self, asked: dict[str, Any]) -> tuple[KaggleData, Mapping[str, Path]] | None:
        return self._datasets.get(f"{asked.get('ownerSlug')}/{asked.get('datasetSlug')}")


def _described(number: int, dataset: KaggleData, files: Mapping[str, Path]) -> dict[str, Any]:
    owner = dataset.ref.partition("/")[0]
    return {
        "id": number,
        "ref": dataset.ref,
        "title": dataset.title,
        "ownerName": owner,
        "ownerRef": owner,
        "description": dataset.description,
        "licenseName": dataset.licence,
        "totalBytes": sum(path.stat().st_size for path in files.values()),
        "lastUpdated": UPDATED,
        "currentVersionNumber": 1,
        "usabilityRating": 1.0,
    }


def _file(name: str, path: Path) -> dict[str, Any]:
    return {"ref": name, "name": name, "creationDate": UPDATED, "totalBytes": path.stat().st_size}


def _unknown(asked: dict[str, Any]) -> Answer:
    return _error(404, f"Dataset not found: {asked.get('ownerSlug')}/{asked.get('datasetSlug')}")


def _error(status: int, message: str) -> Answer:
    return json_answer({"code": status, "message": message}, status)
