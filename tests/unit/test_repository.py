"""What must not be in the repository: paths of a machine, private keys."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FORBIDDEN = {
    "private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "path of the checkout": re.compile(re.escape(str(ROOT).encode()) + rb"\b"),
    "path of a workplace": re.compile(rb"/work/(main|shared|scratch)"),
}


def tracked() -> list[Path]:
    run = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    if run.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in run.stdout.decode().split("\0") if name]


def test_no_file_holds_a_key_or_a_path_of_a_machine() -> None:
    for path in tracked():
        if path.is_symlink() or not path.is_file() or path.name == "test_repository.py":
            continue
        content = path.read_bytes()
        for what, pattern in FORBIDDEN.items():
            assert not pattern.search(content), f"{path.relative_to(ROOT)} holds a {what}"


def test_links_are_relative_and_lead_into_the_repository() -> None:
    for path in tracked():
        if path.is_symlink():
            assert not path.readlink().is_absolute()
            assert path.resolve().is_relative_to(ROOT)
