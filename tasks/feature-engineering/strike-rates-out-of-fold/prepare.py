"""Splits bird strikes into train, test and folds, with operators and species spelt in several ways."""

import csv
from collections.abc import Callable
from pathlib import Path


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``train.csv``, ``test.csv``, ``folds.csv`` and ``folds_old.csv``."""
    train, test = ["strike,operator,species,damage"], ["strike,operator,species"]
    folds, old = ["strike,fold"], ["strike,fold"]
    with fetch("birdstrikes").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if number % 4 == 1:
                continue
            operator, species = row["Aircraft Airline Operator"], row["Wildlife Species"]
            if number % 11 == 3:
                operator = operator.title() + " "
            if number % 7 == 2:
                species = species.upper() + " "
            if number % 67 == 12:
                species = ""
            strike, damage = f"S{10000 + number}", int(row["Effect Amount of damage"] != "None")
            head = f'{strike},"{operator}","{species}"'
            if number % 5 == 2 or row["Wildlife Species"] in ("Coyote", "Cattle egret", "Tree swallow"):
                test.append(head)
                continue
            train.append(f"{head},{damage}")
            folds.append(f"{strike},{number * number % 211 % 5 + 1}")
            old.append(f"{strike},{number % 5 + 1}")
    folds[1:] = sorted(folds[1:], key=lambda line: line[::-1])
    tables = {"train.csv": train, "test.csv": test, "folds.csv": folds, "folds_old.csv": old}
    return {name: "\n".join([*lines, ""]).encode() for name, lines in tables.items()}
