"""Files, and their bytes."""

from __future__ import annotations

import hashlib

from desktop_env.evaluators.facts import bad, check, ok
from desktop_env.values import Finding


@check
def absent(name: str, found: str) -> Finding:
    """Find whether nothing is at a path, by its kind (see `files.kind`); code ``file_unexpected``."""
    if found == "missing":
        return ok(name, "nothing is there, as it should be")
    return bad(name, "file_unexpected", f"expected nothing there, found a {found}")


@check
def unchanged(name: str, found: bytes, expected: bytes) -> Finding:
    """Find whether a file's content is the expected one, byte for byte; code ``file_changed``."""
    have, want = hashlib.sha256(found).hexdigest(), hashlib.sha256(expected).hexdigest()
    if have == want:
        return ok(name, f"{len(expected)} bytes with SHA-256 {want[:12]}…")
    message = f"expected {len(expected)} bytes with SHA-256 {want[:12]}…, found {len(found)} with {have[:12]}…"
    return bad(name, "file_changed", message)
