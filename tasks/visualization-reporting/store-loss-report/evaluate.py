"""Losses: heatmap and report agree with the orders, and the slide can be read."""

from collections import defaultdict
from collections.abc import Iterable

from desktop_env.evaluators.again import figure_again
from desktop_env.evaluators.checks import figure, picture, script, table
from desktop_env.evaluators.checks.figure import Figure
from desktop_env.evaluators.checks.number import decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.checks.text import normalised
from desktop_env.evaluators.combine import all_of, gate, weighted
from desktop_env.evaluators.facts import Fact, bad, check, ok, present, show
from desktop_env.evaluators.judge import judged
from desktop_env.evaluators.probes.files import content, text
from desktop_env.evaluators.probes.picture import png
from desktop_env.evaluators.probes.script import python_script
from desktop_env.protocols import EvaluatorGuest
from desktop_env.task import TaskSpec
from desktop_env.tasks import data
from desktop_env.values import Finding, Verdict

PROJECT = "/home/user/project"
CHART = f"{PROJECT}/margin.png"
COLUMNS = ("Sub-category", "Sales", "Profit")
TITLE = "Margin by region and category"
QUESTION = (
    "Is this a slide with a heatmap of four rows and three columns, a readable number in each cell, a colour bar with "
    "a label, and title and axis labels that are neither cut off nor covered?"
)
Key = str | tuple[str, ...]


def evaluate(guest: EvaluatorGuest, task: TaskSpec) -> Verdict:
    """Score heatmap and report; nothing counts without a script that uses the orders, and a judge looks last."""
    orders = data.rows("superstore")
    margins = {key: 100 * profit / sales for key, (sales, profit) in sums(orders, "Region", "Category").items()}
    losing = sorted((own[1], own[0], key) for key, own in sums(orders, "Sub-Category").items() if own[1] < 0)
    expected = Table(COLUMNS, tuple((str(key), sales, profit) for profit, sales, key in losing))
    code = python_script(guest, f"{PROJECT}/report.py")
    report = text(guest, f"{PROJECT}/report.md")
    chart = figure_again(guest, CHART, [f"{PROJECT}/report.py", f"{PROJECT}/orders.csv"], "python report.py")
    cents = {"Sales": decimals(2), "Profit": decimals(2)}
    computed = gate(
        all_of(script.uses_file("orders used", code, "orders.csv"), present("report", report), present("chart", chart)),
        weighted(
            (4, reads("lines", report, lines(orders, margins))),
            (3, table.equal("losses", markdown_table(report), expected, tolerances=cents, ordered=True)),
            (3, figure.shows("heatmap", chart, "heatmap", margins, tolerance=decimals(1), ordered=True)),
            (1, figure.titled("title", chart, TITLE)),
            (1, figure.axis_label("x label", chart, "x", "Category")),
            (1, figure.axis_label("y label", chart, "y", "Region")),
            (1, numbered("numbers", chart, margins.values())),
            (1, figure.axis_label("colour bar", chart, "color", "Margin (% of sales)")),
            (1, picture.drawn("size", png(guest, CHART), width=1280, height=720, exact=True)),
        ),
    )
    return judged("look", computed, QUESTION, content(guest, CHART))


def sums(orders: list[dict[str, str]], *columns: str) -> dict[Key, tuple[float, float]]:
    """Give sales and profit by what stands in the columns, in alphabetical order."""
    groups: dict[Key, list[tuple[float, float]]] = defaultdict(list)
    for row in orders:
        key = tuple(row[column] for column in columns)
        groups[key if len(key) > 1 else key[0]].append((float(row["Sales"]), float(row["Profit"])))
    return {key: (sum(s for s, _ in own), sum(p for _, p in own)) for key, own in sorted(groups.items(), key=str)}


def lines(orders: list[dict[str, str]], margins: dict[Key, float]) -> list[str]:
    """Give the lines of the report beside its table."""
    total = (sum(float(row[column]) for row in orders) for column in ("Profit", "Sales"))
    worst = min(margins, key=lambda key: margins[key])
    high = [float(row["Profit"]) for row in orders if float(row["Discount"]) >= 0.3]
    return [
        "# Where we lose money",
        f"Order lines: {len(orders)}",
        f"Margin: {100 * next(total) / next(total):.1f} %",
        f"Worst cell: {worst[0]}, {worst[1]} ({margins[worst]:.1f} %)",
        f"![{TITLE}](margin.png)",
        "## Sub-categories with a loss",
        "## Discounts of 30 % and more",
        f"Order lines: {len(high)}",
        f"Profit: {sum(high):.2f}",
    ]


@check
def numbered(name: str, found: Figure, margins: Iterable[float]) -> Finding:
    """Find whether each margin stands in the figure with 1 decimal; code ``number_missing``."""
    texts = {text.strip(" %") for panel in found.panels for text in panel.texts}
    missing = [text for text in (f"{margin:.1f}" for margin in margins) if text not in texts]
    if missing:
        return bad(name, "number_missing", f"expected {missing[0]} in a cell, found {show(sorted(texts))}")
    return ok(name, "each cell has its number")


@check
def reads(name: str, found: str, expected: Iterable[str]) -> Finding:
    """Find whether a text is these lines in order, apart from a table and blank lines; code ``wrong_line``."""
    own = [normalised(line) for line in found.splitlines() if line.strip() and not line.strip().startswith("|")]
    wanted = list(expected)
    if own == wanted:
        return ok(name, f"all {len(own)} lines are right")
    pairs = zip([*own, "nothing"], [*wanted, "nothing more"], strict=False)
    have, want = next(pair for pair in pairs if pair[0] != pair[1])
    return bad(name, "wrong_line", f"expected the line {want!r}, found {have[:100]!r}")


def markdown_table(found: Fact[str]) -> Fact[Table]:
    """Read the only table of a text in Markdown; code ``no_table``."""
    if found.value is None:
        return found.failed()
    rows = [line.strip().strip("|").split("|") for line in found.value.splitlines() if line.strip().startswith("|")]
    cells = [tuple(cell.strip() for cell in row) for row in rows]
    if len(cells) < 3 or any(len(row) != len(cells[0]) for row in cells) or set("".join(cells[1])) - set(":- "):
        return Fact(found.path, "no_table", f"expected one table in {found.path}, found none that is complete")
    return Fact(found.path, "ok", f"a table of {len(cells) - 2} rows", Table(cells[0], tuple(cells[2:])))
