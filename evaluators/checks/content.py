"""Bytes of files."""

from __future__ import annotations

import hashlib

from desktop_env.evaluators.facts import bad, check, ok
from desktop_env.values import Finding


@check
def unchanged(name: str, found: bytes, expected: bytes) -> Finding:
    """Find whether a file's content is the expected one, byte for byte; code ``file_changed``."""
    have, want = hashlib.sha256(found).hexdigest(), hashlib.sha256(expected).hexdigest()
    if have == want:
        return ok(name, f"{len(expected)} bytes with SHA-256 {want[:12]}…")
    message = f"expected {len(expected)} bytes with SHA-256 {want[:12]}…, found {len(found)} with {have[:12]}…"
    return bad(name, "file_changed", message)
