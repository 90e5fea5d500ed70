"""A read-only git server: repositories made of a task's commits, served by git's own ``http-backend``."""

from __future__ import annotations

import hashlib
import html
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.parser import BytesParser
from pathlib import Path

from desktop_env.errors import HostError, TaskError
from desktop_env.paths import cache_dir
from desktop_env.setup.services.web import Answer, Call, html_answer, not_found

AUTHOR = "Data Team <data@git.local>"
FIRST = 1_767_225_600
"""When the first commit was made (2026-01-01, UTC); each further one is a day later."""
DAY = 86_400
TIMEOUT = 60.0


@dataclass(frozen=True, slots=True)
class Change:
    """A commit: files by path that it writes, paths that it removes."""

    message: str
    branch: str
    files: Mapping[str, bytes]
    remove: Sequence[str] = ()
    tag: str | None = None


def repository(commits: Sequence[Change]) -> Path:
    """Give the bare repository that these commits make, always with the same ids; built once and kept.

    Raises:
        HostError: There is no git.
        TaskError: git refuses the commits.
    """
    stream = _stream(commits)
    kept = cache_dir() / "repositories" / hashlib.sha256(stream).hexdigest()
    if kept.is_dir():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".make-", dir=kept.parent) as scratch:
        made = Path(scratch) / "repository"
        _git(["init", "--quiet", "--bare", "--initial-branch=main", str(made)])
        _git(["-C", str(made), "fast-import", "--quiet"], stream)
        _git(["-C", str(made), "repack", "-a", "-d", "--quiet"])
        if not kept.is_dir():
            made.rename(kept)
    return kept


class Git:
    """Answers what git clients ask about ``repositories``; nothing can be pushed."""

    def __init__(self, repositories: Mapping[str, Path]) -> None:
        self._repositories = repositories

    def __call__(self, call: Call) -> Answer:
        """Answer a call."""
        if call.path == "/":
            items = "".join(f"<li>{html.escape(call.base)}/{name}.git</li>" for name in self._repositories)
            return html_answer("Repositories", f"<h1>Repositories</h1><ul>{items}</ul>")
        name, _, rest = call.path.lstrip("/").partition("/")
        root = self._repositories.get(name.removesuffix(".git"))
        if root is None or not rest or ".." in rest:
            return not_found("no such repository")
        return _backend(call, root, rest)


def _backend(call: Call, root: Path, rest: str) -> Answer:
    variables = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "REQUEST_METHOD": call.method,
        "PATH_INFO": f"/{rest}",
        "QUERY_STRING": call.target.partition("?")[2],
        "CONTENT_TYPE": call.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(call.body)),
        "HTTP_CONTENT_ENCODING": call.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": call.headers.get("git-protocol", ""),
    }
    output = _git(["http-backend"], call.body, variables)
    head, _, body = output.partition(b"\r\n\r\n")
    headers = BytesParser().parsebytes(head + b"\r\n\r\n")
    status = int(headers.get("Status", "200").split()[0])
    further = {name: value for name, value in headers.items() if name not in ("Status", "Content-Type")}
    return Answer(body, headers.get("Content-Type", "text/plain"), status, further)


def _git(arguments: Sequence[str], stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    program = shutil.which("git")
    if program is None:
        raise HostError("git is needed for this task: install the package git")
    command = [program, *arguments]
    try:
        done = subprocess.run(command, input=stdin, env=variables, capture_output=True, timeout=TIMEOUT, check=True)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"git {arguments[0]} did not end within {TIMEOUT:g} s") from error
    except subprocess.CalledProcessError as error:
        raise TaskError(f"git {' '.join(arguments)}: {error.stderr.decode(errors='replace').strip()[-300:]}") from error
    return done.stdout


def _stream(commits: Sequence[Change]) -> bytes:
    """Give the commits as ``git fast-import`` reads them."""
    parts: list[bytes] = []
    branches: set[str] = set()
    for number, commit in enumerate(commits, 1):
        when = f"{AUTHOR} {FIRST + (number - 1) * DAY} +0000\n"
        parts.append(f"commit refs/heads/{commit.branch}\nmark :{number}\n".encode())
        parts.append(f"author {when}committer {when}".encode() + _data(commit.message.encode()))
        if commit.branch not in branches and number > 1:
            parts.append(f"from :{number - 1}\n".encode())
        branches.add(commit.branch)
        parts += [b"D " + _quoted(path) + b"\n" for path in commit.remove]
        for path, content in sorted(commit.files.items()):
            parts.append(b"M 100644 inline " + _quoted(path) + b"\n" + _data(content))
        if commit.tag:
            parts.append(f"reset refs/tags/{commit.tag}\nfrom :{number}\n\n".encode())
    return b"".join(parts)


def _data(content: bytes) -> bytes:
    return f"data {len(content)}\n".encode() + content + b"\n"


def _quoted(path: str) -> bytes:
    return b'"' + path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
