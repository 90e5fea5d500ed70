"""Bills: the notebook was run, and table and printed lines follow from the measures in millimetres."""

from math import sqrt
from statistics import correlation, linear_regression, mean

from desktop_env.evaluators.checks import notebook as notebooks
from desktop_env.evaluators.checks import script, table
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import present
from desktop_env.evaluators.probes.notebook import notebook, program
from desktop_env.evaluators.probes.table import csv_table
from desktop_env.protocols import Guest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Verdict

PROJECT = "/home/user/project"
MEASURES = ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")
SPECIES = ("Adelie", "Chinstrap", "Gentoo")


def evaluate(guest: Guest, task: TaskSpec) -> Verdict:
    """Score table and printed lines; nothing counts without a notebook that was run and uses the sheet."""
    birds = [row for row in data.rows("penguins") if row["bill_length_mm"] != "NA"]
    whole = [measures(birds, species) for species in SPECIES]
    pairs = [(name, group[0], group[1]) for name, group in zip(SPECIES, whole, strict=True)]
    lines = tuple((name, len(x), correlation(x, y), linear_regression(x, y).slope) for name, x, y in pairs)
    expected = Table(("species", "birds", "correlation", "slope"), lines)
    length, depth, *size = measures(birds)
    within = correlation(*([v - mean(group[i]) for group in whole for v in group[i]] for i in (0, 1)))
    groups = [measures(birds, species, sex) for species in SPECIES for sex in ("male", "female")]
    negative = sum(correlation(x, y) < 0 for x, y, *_ in groups)

    report = notebook(guest, f"{PROJECT}/bills.ipynb")
    result = csv_table(guest, f"{PROJECT}/species.csv")
    three = decimals(3)
    limits = {"correlation": three, "slope": three}
    return gate(
        all_of(
            notebooks.executed("notebook run", report, at_least=2),
            script.uses_file("data used", program(report), "penguins.csv"),
            present("table", result),
        ),
        weighted(
            (3, table.by_column("table values", result, expected, key=["species"], tolerances=limits)),
            (1, table.sorted_by("table order", result, "correlation", descending=True)),
            (1, notebooks.prints_number("all birds", report, "All birds", correlation(length, depth), three)),
            (2, notebooks.prints_number("within species", report, "Within species", within, three)),
            (2, notebooks.prints_number("given size", report, "Given size", partial(length, depth, size), three)),
            (1, notebooks.prints_number("negative groups", report, "Negative groups", negative)),
            (1, notebooks.prints_text("right", report, "Right", "talk" if within < 0 else "audience")),
        ),
    )


def measures(birds: list[dict[str, str]], species: str = "", sex: str = "") -> list[list[float]]:
    """Give the four measures, one list each, of the birds (of a species and sex)."""
    chosen = [bird for bird in birds if species in ("", bird["species"]) and sex in ("", bird["sex"])]
    return [[float(bird[name]) for bird in chosen] for name in MEASURES]


def partial(x: list[float], y: list[float], given: list[list[float]]) -> float:
    """Give the partial correlation by its recursion."""
    if not given:
        return correlation(x, y)
    z, *others = given
    xy, xz, yz = partial(x, y, others), partial(x, z, others), partial(y, z, others)
    return (xy - xz * yz) / sqrt((1 - xz**2) * (1 - yz**2))
