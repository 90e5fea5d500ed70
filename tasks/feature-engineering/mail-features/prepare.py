"""Mixes spam and ham, and labels most of it."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

EACH, LABELLED, LARGEST = 140, 100, 40_000


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``mails.zip``, ``labels.csv`` and ``filter_2002.csv``."""
    chosen = []
    for label, name in (("spam", "spam-1"), ("ham", "ham-hard")):
        with zipfile.ZipFile(fetch(name)) as archive:
            names = [info.filename for info in archive.infolist() if info.file_size <= LARGEST][:EACH]
            mails = [archive.read(name) for name in sorted(names)]
        chosen += [(number * 61 % EACH, label, number < LABELLED, mail) for number, mail in enumerate(mails)]
    chosen.sort(key=lambda mail: mail[:2])
    target = io.BytesIO()
    labels, guesses = ["file,label"], ["file,label"]
    with zipfile.ZipFile(target, "w") as file:
        for number, (_, label, labelled, mail) in enumerate(chosen):
            name = f"m{number:03}.txt"
            file.writestr(zipfile.ZipInfo(name), mail)
            labels += [f"{name},{label}"] * labelled
            guesses.append(f"{name},{'spam' if number % 6 == 1 else label}")
    tables = {"labels.csv": labels, "filter_2002.csv": guesses}
    texts = {name: "\n".join([*lines, ""]).encode() for name, lines in tables.items()}
    return {"mails.zip": target.getvalue(), **texts}
