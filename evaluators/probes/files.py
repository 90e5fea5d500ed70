"""Files and texts."""

from __future__ import annotations

from desktop_env.errors import FileRefused
from desktop_env.evaluators.facts import Fact
from desktop_env.protocols import Guest

MAX_FILE = 16 << 20
MAX_TEXT = 1 << 20


def content(guest: Guest, path: str, *, max_bytes: int = MAX_FILE) -> Fact[bytes]:
    """Read a regular file that holds something.

    Codes: ``file_missing``, ``not_a_file`` (directory, link, fifo, device), ``file_too_large``, ``file_empty``,
    ``file_unreadable``.
    """
    facts = guest.stat(path)
    if facts.kind == "missing":
        return Fact(path, "file_missing", f"expected a file {path}, found nothing there")
    if facts.kind != "file":
        return Fact(path, "not_a_file", f"expected a regular file {path}, found a {facts.kind}")
    if facts.size > max_bytes:
        return Fact(path, "file_too_large", f"expected {path} to have at most {max_bytes} bytes, found {facts.size}")
    try:
        data = guest.read(path, max_bytes=max_bytes)
    except FileNotFoundError:
        return Fact(path, "file_missing", f"expected a file {path}, found nothing there")
    except IsADirectoryError:
        return Fact(path, "not_a_file", f"expected a regular file {path}, found a directory")
    except (FileRefused, PermissionError) as error:
        return Fact(path, "file_unreadable", f"expected a readable file {path}: {error}")
    if not data:
        return Fact(path, "file_empty", f"expected {path} to hold something, found 0 bytes")
    return Fact(path, "ok", f"{path} has {len(data)} bytes", data)


def kind(guest: Guest, path: str) -> Fact[str]:
    """Tell what is at a path: ``missing``, ``file``, ``directory``, ``link`` or another kind; always ``ok``."""
    found = guest.stat(path).kind
    return Fact(path, "ok", f"{path}: {found}", found)


def text(guest: Guest, path: str, *, max_bytes: int = MAX_TEXT) -> Fact[str]:
    """Read a text file in UTF-8 (with or without a mark) or UTF-16 with a mark; codes as `content` and ``not_text``."""
    fact = content(guest, path, max_bytes=max_bytes)
    return fact.failed() if fact.value is None else decoded(path, fact.value)


def decoded(path: str, data: bytes) -> Fact[str]:
    """Decode a text file's bytes; code ``not_text`` for other encodings, NUL bytes, and files of white space alone."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        value = data.decode(encoding)
    except UnicodeDecodeError as error:
        return Fact(path, "not_text", f"expected {path} to be text in UTF-8: {error.reason} at byte {error.start}")
    if "\0" in value:
        return Fact(path, "not_text", f"expected {path} to be text, found NUL characters")
    if not value.strip():
        return Fact(path, "file_empty", f"expected {path} to hold something, found white space alone")
    return Fact(path, "ok", f"{path} has {len(value)} characters", value)
