"""A package index as pip reads it (PEP 503 and 691), and wheels made of folders of a task."""

from __future__ import annotations

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from desktop_env.errors import TaskError
from desktop_env.made import zipped
from desktop_env.setup.services.web import Answer, Call, html_answer, json_answer, not_found

JSON = "application/vnd.pypi.simple.v1+json"
WHEEL = re.compile(r"([\w.]+)-([\w.!+]+)(-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl")


class Packages:
    """Answers ``/simple/`` and gives wheels, by file name."""

    def __init__(self, wheels: Mapping[str, bytes]) -> None:
        self._wheels = wheels
        self._projects: dict[str, list[str]] = {}
        for name in sorted(wheels):
            match = WHEEL.fullmatch(name)
            if match is None:
                raise TaskError(f"{name} is no name of a wheel")
            self._projects.setdefault(_normal(match[1]), []).append(name)

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        parts = call.path.strip("/").split("/")
        if parts == [""] or parts == ["simple"]:
            return self._index(call)
        if len(parts) == 2 and parts[0] == "simple" and _normal(parts[1]) in self._projects:
            return self._project(call, _normal(parts[1]))
        if len(parts) == 2 and parts[0] == "files" and parts[1] in self._wheels:
            return Answer(self._wheels[parts[1]], "application/octet-stream")
        return not_found("no such package")

    def _index(self, call: Call) -> Answer:
        if JSON in call.headers.get("accept", ""):
            projects = [{"name": name} for name in self._projects]
            return Answer(json_answer({"meta": {"api-version": "1.0"}, "projects": projects}).body, JSON)
        links = "<br>".join(f'<a href="/simple/{name}/">{name}</a>' for name in self._projects)
        return html_answer("Packages", links)

    def _project(self, call: Call, project: str) -> Answer:
        files = {name: hashlib.sha256(self._wheels[name]).hexdigest() for name in self._projects[project]}
        if JSON in call.headers.get("accept", ""):
            listed = [
                {"filename": name, "url": f"{call.base}/files/{name}", "hashes": {"sha256": digest}}
                for name, digest in files.items()
            ]
            return Answer(json_answer({"meta": {"api-version": "1.0"}, "name": project, "files": listed}).body, JSON)
        links = "<br>".join(f'<a href="/files/{name}#sha256={digest}">{name}</a>' for name, digest in files.items())
        return html_answer(project, links)


def wheel_name(wheel: Path) -> str:
    """Give the file name that a wheel must have, from what it says of itself; raises `TaskError` when it is none."""
    try:
        with zipfile.ZipFile(wheel) as file:
            info = next(name for name in file.namelist() if re.fullmatch(r"[^/]+\.dist-info/WHEEL", name))
            with file.open(info) as content:
                told = content.read(100_000).decode()
    except (StopIteration, UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise TaskError(f"{wheel} is no wheel") from error
    tags = [line.removeprefix("Tag:").strip().split("-") for line in told.splitlines() if line.startswith("Tag:")]
    parts = [".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True)]
    return "-".join([info.partition(".dist-info")[0], *parts]) + ".whl"


def wheels_of(folder: Path) -> dict[str, bytes]:
    """Make a wheel of each folder ``name-version``: what is in it is installed as it is.

    A file ``METADATA`` adds lines to the wheel's own, such as ``Summary: …`` and ``Requires-Dist: …``.

    Raises:
        TaskError: A folder is not named like that.
    """
    made = {}
    for source in sorted(path for path in folder.iterdir() if path.is_dir()):
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)-(\d[\w.]*)", source.name)
        if match is None:
            raise TaskError(f"{source.name} is not named name-version")
        name, version = _normal(match[1]).replace("-", "_"), match[2]
        made[f"{name}-{version}-py3-none-any.whl"] = _wheel(source, name, version)
    return made


def _wheel(source: Path, name: str, version: str) -> bytes:
    info = f"{name}-{version}.dist-info"
    paths = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    files = {str(path.relative_to(source)): path.read_bytes() for path in paths}
    further = files.pop("METADATA", b"").decode()
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{further}".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: deskgym\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = _record(files.items(), f"{info}/RECORD")
    return zipped(files)


def _record(files: Iterable[tuple[str, bytes]], own: str) -> bytes:
    lines = []
    for path, data in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join([*lines, f"{own},,\n"]).encode()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
