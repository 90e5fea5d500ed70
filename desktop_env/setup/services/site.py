"""Static sites: a folder of the task and data sets, with listings of folders that have no ``index.html``."""

from __future__ import annotations

import html
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from desktop_env.setup.services.web import Answer, Call, html_answer, not_found

KINDS = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet", ".json": "application/json"}


class Site:
    """Serves files by their path on the site, and nothing else."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files

    @classmethod
    def of(cls, folder: Path | None, data: Mapping[str, Path]) -> Site:
        """Serve what lies below ``folder``, without links, and ``data``."""
        below = {} if folder is None else {str(path.relative_to(folder)): path for path in folder.rglob("*")}
        own = {name: path for name, path in below.items() if path.is_file() and not path.is_symlink()}
        return cls({**own, **data})

    def __call__(self, call: Call) -> Answer:
        """Answer with a file, the index of a folder, or a list of what is in it."""
        if call.method not in ("GET", "HEAD"):
            return Answer(b"read-only\n", status=405)
        name = call.path.lstrip("/")
        if name and not name.endswith("/") and name not in self._files and self._below(f"{name}/"):
            return Answer(status=301, headers={"Location": f"/{quote(name)}/"})
        if not name or name.endswith("/"):
            return self._file(f"{name}index.html") or self._listing(name) or not_found()
        return self._file(name) or not_found()

    def _file(self, name: str) -> Answer | None:
        path = self._files.get(name)
        if path is None:
            return None
        suffix = Path(name).suffix
        kind = KINDS.get(suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return Answer(path.read_bytes(), kind)

    def _below(self, folder: str) -> list[str]:
        names = {name.removeprefix(folder) for name in self._files if name.startswith(folder)}
        return sorted({name.partition("/")[0] + "/" * ("/" in name) for name in names})

    def _listing(self, folder: str) -> Answer | None:
        names = self._below(folder)
        if not names:
            return None
        entries = "".join(f'<li><a href="{quote(name)}">{html.escape(name)}</a></li>' for name in names)
        return html_answer(
            f"Index of /{html.escape(folder)}", f"<h1>Index of /{html.escape(folder)}</h1><ul>{entries}</ul>"
        )
