"""Folders."""

from __future__ import annotations

from desktop_env.evaluators.facts import Fact
from desktop_env.protocols import Guest
from desktop_env.values import FileFacts

MAX_ENTRIES = 2_000
MAX_DEPTH = 8
SKIPPED = frozenset({"__pycache__", ".ipynb_checkpoints", ".git"})


def folder(guest: Guest, path: str, *, max_entries: int = MAX_ENTRIES) -> Fact[tuple[FileFacts, ...]]:
    """List what lies in a folder, in order of names; codes ``folder_missing``, ``not_a_folder``, ``too_many_files``."""
    kind = guest.stat(path).kind
    if kind == "missing":
        return Fact(path, "folder_missing", f"expected a folder {path}, found nothing there")
    if kind != "directory":
        return Fact(path, "not_a_folder", f"expected a folder {path}, found a {kind}")
    entries = guest.list_dir(path, max_entries + 1)
    if len(entries) > max_entries:
        return Fact(path, "too_many_files", f"expected at most {max_entries} entries in {path}, found more")
    return Fact(path, "ok", f"{path} has {len(entries)} entries", tuple(entries))


def files_below(guest: Guest, path: str, *, max_files: int = MAX_ENTRIES) -> Fact[tuple[FileFacts, ...]]:
    """List the regular files in a folder and in those below it, without `SKIPPED`; codes as `folder`."""
    found: list[FileFacts] = []
    queue = [(path, 0)]
    while queue:
        place, depth = queue.pop()
        listed = folder(guest, place)
        if listed.value is None and place == path:
            return listed
        for entry in listed.value or ():
            name = entry.path.rpartition("/")[2]
            if entry.kind == "file":
                found.append(entry)
            elif entry.kind == "directory" and name not in SKIPPED and depth < MAX_DEPTH:
                queue.append((entry.path, depth + 1))
        if len(found) > max_files:
            return Fact(path, "too_many_files", f"expected at most {max_files} files below {path}, found more")
    return Fact(path, "ok", f"{path} has {len(found)} files", tuple(sorted(found, key=lambda facts: facts.path)))
