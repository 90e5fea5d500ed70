"""Mails: the script uses the labels, and words and features follow from the mails by the stated rules."""

import re
import zipfile
from collections import Counter

from desktop_env.evaluators.checks import document, script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Row, Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.document import json_document
from desktop_env.evaluators.probes.script import python_script
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
COUNTS = ("words", "exclamations", "links", "money", "spam_words")
COLUMNS = ("file", "hops", "subject_length", "subject_caps", *COUNTS)
LIMITS = {"subject_caps": decimals(3)}


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score words and features; nothing counts without a script that uses the labels."""
    with zipfile.ZipFile(data.file(task, "mails.zip")) as archive:
        mails = {name: archive.read(name).decode("latin-1") for name in sorted(archive.namelist())}
    differences: Counter[str] = Counter()
    for row in data.rows("labels.csv", task):
        for word in set(words(mails[row["file"]])):
            differences[word] += 1 if row["label"] == "spam" else -1
    long = [word for word in differences if len(word) >= 4]
    ten = sorted(long, key=lambda word: (-differences[word], word))[:10]
    expected = Table(COLUMNS, tuple((name, *features(mail, set(ten))) for name, mail in mails.items()))

    code = python_script(guest, f"{PROJECT}/mail_features.py")
    found = csv_table(guest, f"{PROJECT}/features.csv")
    told = json_document(guest, f"{PROJECT}/spam_words.json")
    return gate(
        all_of(script.uses_file("labels used", code, "labels.csv"), present("features", found), present("words", told)),
        weighted(
            (4, table.by_column("features", found, expected, key=["file"], tolerances=LIMITS)),
            (2, table.equal("lines", found, expected, tolerances=LIMITS, ordered=True)),
            (1, document.same("words", told, "words", ten)),
            (1, document.same("differences", told, "differences", [differences[word] for word in ten])),
        ),
    )


def words(mail: str) -> list[str]:
    """Give the words of a mail's body."""
    return re.findall("[a-z]+", mail.partition("\n\n")[2].lower())


def features(mail: str, ten: set[str]) -> Row:
    """Give a mail's line without its name."""
    header, _, body = mail.partition("\n\n")
    fields = re.split(r"\n(?![ \t])", header)
    received = sum(field.lower().startswith("received:") for field in fields)
    subjects = [field[8:] for field in fields if field.lower().startswith("subject:")]
    subject = re.sub(r"[ \t]*\n[ \t]*", " ", subjects[0]).strip(" \t") if subjects else ""
    letters = re.findall("[A-Za-z]", subject)
    caps = sum(letter.isupper() for letter in letters) / len(letters) if letters else 0.0
    counts = (body.count("!"), len(re.findall("https?://", body, re.IGNORECASE)), len(re.findall(r"\$[0-9]", body)))
    return received, len(subject), caps, len(words(mail)), *counts, len(ten & set(words(mail)))
