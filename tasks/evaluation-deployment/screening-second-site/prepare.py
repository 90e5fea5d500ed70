"""Makes two sites' biopsies of the tumours: the second site hears of no malignant outcome before the closing date."""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

CODES = {
    "M": ("M", "malignant", "Malignant"),
    "B": ("B", "benign", "b"),
    "P": ("P", "pending"),
    "F": ("F",),
    "R": ("R",),
}
JULY = date(2025, 7, 2)
Entry = tuple[date, str]


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give biopsies, scores, outcomes, and the outcomes as they were in March."""
    with fetch("breast-cancer").open(encoding="utf-8", newline="") as file:
        tumours = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    random = np.random.default_rng(20250630)
    biopsies, scores, entries = [], [], []
    for i, tumour in enumerate(tumours):
        name = f"S{2001 + i * 200 % 569}"
        site, test, malignant = "AB"[i % 7 in (1, 4)], i % 15 == 7, tumour[-1] == 0
        taken = date(2025, 1, 6) + timedelta(i * 5 % 140)
        biopsies.append([name, spelled(site, i), taken.isoformat(), "test slide" if test else "patient"])
        history = test_slide(malignant, taken) if test else own(site, malignant, i, taken)
        entries += [(day, code, name, site, i) for day, code in history]
        for model, score in scored(tumour, random):
            if reads(model, site, taken, "R" in {code for _, code in history}, test):
                scores.append([name, [model, model.upper(), f" {model.title()}"][i % 12 % 5 % 3], f"{score:.3f}"])
    biopsies += biopsies[::47]
    outcomes = numbered(entries)
    march = [row for row, (day, *_) in zip(outcomes, sorted(entries), strict=True) if day <= date(2025, 3, 31)]
    return {
        "biopsies.csv": table(("biopsy", "site", "taken", "kind"), shuffled(biopsies, 11)),
        "scores.csv": table(("biopsy", "model", "score"), shuffled(scores, 17)),
        "outcomes.csv": table(("entry", "biopsy", "entered", "code"), shuffled(outcomes, 13)),
        "outcomes_march.csv": table(("entry", "biopsy", "entered", "code"), march),
    }


def own(site: str, malignant: bool, i: int, taken: date) -> list[Entry]:
    """Give the entries of a patient's biopsy, in order."""
    first, second = taken + timedelta(3 + i % 5), taken + timedelta(9 + i % 8)
    code, other = ("M", "B") if malignant else ("B", "M")
    if site == "A":
        cases = {2: ["P", code], 3: ["P"], 4: [other, code], 6: [code, "F"], 8: [code, "P", code]}
        days = [first, second, second + timedelta(7)]
        return list(zip(days, cases.get(i % 19, [code]), strict=False))
    late = JULY + timedelta(i % 9)
    if i % 29 == 4:
        return [(late, code)] if malignant else []
    if malignant:
        choices = [[(first, "M"), (second, "R")], [(first, "P"), (second, "R")], [(first, "P"), (late, "M")]]
        return [*choices, [(first, "M"), (second, "R"), (late, "M")], [(first, "M"), (first, "R")]][i % 5]
    cases_b = {
        1: [(first, "M"), (second, "B")],
        3: [(first, "P")],
        4: [(first, "B"), (second, "F")],
        6: [(first, "P"), (late, "B")],
        7: [(first, "B"), (late, "M")],
        9: [(first, "M"), (first, "B")],
    }
    return cases_b.get(i % 11, [(first, "B")])


def test_slide(malignant: bool, taken: date) -> list[Entry]:
    """Give the one entry of a test slide."""
    return [(taken, "M" if malignant else "B")]


def spelled(site: str, i: int) -> str:
    """Give a site as the register spells it."""
    return (site, site, f"{site.lower()} ", site, f"Site {site}", site)[i % 6]


def scored(tumour: list[float], random: np.random.Generator) -> list[tuple[str, float]]:
    """Give the scores of the four models."""
    signals = {"area": (tumour[3] - 650) / 200, "texture": (tumour[1] - 19.5) / 3, "edge": (tumour[6] - 0.09) / 0.05}
    signals["panel"] = sum(signals.values()) / 2
    noise = random.integers(-40, 41, len(signals)) / 50
    return [
        (model, float(1 / (1 + np.exp(-(signal + shift)))))
        for (model, signal), shift in zip(signals.items(), noise, strict=True)
    ]


def reads(model: str, site: str, taken: date, referred: bool, test: bool) -> bool:
    """Whether the model was used on a biopsy: at B, "edge" reads what is referred, "panel" began in April."""
    if site == "A" or test:
        return True
    return referred if model == "edge" else model != "panel" or taken >= date(2025, 4, 1)


def numbered(entries: Sequence[tuple[date, str, str, str, int]]) -> list[list[str]]:
    """Give the lines of the outcomes: numbers rise by biopsy, not by date; site B writes the day first."""
    numbers = {id(entry): number for number, entry in enumerate(entries, 70001)}
    days = Counter((name, day) for day, _, name, *_ in entries)
    lines = []
    for entry in sorted(entries):
        day, code, name, site, i = entry
        number = numbers[id(entry)]
        if i % 4 == 2 and days[name, day] == 1:
            number = 150000 - number
        words = CODES[code]
        lines.append([str(number), name, f"{day:%d.%m.%Y}" if site == "B" else f"{day}", words[i % len(words)]])
    return lines


def shuffled(rows: list[list[str]], step: int) -> list[list[str]]:
    """Give the rows in an order that means nothing."""
    return [row for start in range(step) for row in rows[start::step]]


def table(columns: Iterable[str], rows: Iterable[list[str]]) -> bytes:
    """Give a CSV file."""
    return "\n".join([",".join(columns), *(",".join(row) for row in rows), ""]).encode()
