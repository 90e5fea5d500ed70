"""Splits the biopsies by clinic: two with a diagnosis, and one whose diagnoses are still to come."""

from collections.abc import Callable
from pathlib import Path

FEATURES = (
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "points",
    "symmetry",
    "fractal",
)


def make(fetch: Callable[[str], Path]) -> dict[str, bytes]:
    """Give ``clinic_a.csv``, ``clinic_b.csv``, ``clinic_c.csv``, and ``truth.csv``, which stays on the host."""
    lines = fetch("breast-cancer").read_text(encoding="utf-8").splitlines()[1:]
    clinics: dict[str, list[str]] = {"a": [], "b": [], "c": []}
    truth = []
    for number, line in enumerate(lines):
        *values, label = line.split(",")
        clinic, name = "aabcabacbc"[number % 10], f"P{number * 211 % 9973:04d}"
        diagnosis = "benign" if label == "1" else "malignant"
        means = values[:10]
        if clinic == "b":
            means[3] = f"{float(means[3]) / 100:.4f}"  # this clinic measures areas in square centimetres
        clinics[clinic].append(",".join([name, *means] if clinic == "c" else [name, *means, diagnosis]))
        if clinic == "c":
            truth.append(f"{name},{diagnosis}")
    header = ",".join(["patient", *FEATURES])
    return {
        "clinic_a.csv": "\n".join([f"{header},diagnosis", *clinics["a"], ""]).encode(),
        "clinic_b.csv": "\n".join([f"{header},diagnosis", *clinics["b"], ""]).encode(),
        "clinic_c.csv": "\n".join([header, *clinics["c"], ""]).encode(),
        "truth.csv": "\n".join(["patient,diagnosis", *truth, ""]).encode(),
    }
