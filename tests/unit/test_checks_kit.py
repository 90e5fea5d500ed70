"""Each check passes what is right in whichever form, and names what is wrong by a stable code."""

import io
import math
import random
import sqlite3
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from PIL import Image, ImageDraw

from desktop_env.errors import JudgeError
from desktop_env.evaluators import judge
from desktop_env.evaluators.checks import document, figure, metrics, picture, ranking, sets, table, text
from desktop_env.evaluators.checks.figure import Axis, Figure, Mark, Panel
from desktop_env.evaluators.checks.number import Tolerance, decimals
from desktop_env.evaluators.checks.table import Cell, Table
from desktop_env.evaluators.combine import gate, weighted
from desktop_env.evaluators.facts import Fact, bad, ok
from desktop_env.evaluators.probes import packed, plotly
from desktop_env.evaluators.probes import picture as pictures
from desktop_env.evaluators.probes.table import records
from desktop_env.values import Finding, Judgement, Verdict

LABELS: dict[int, str] = {i: "yes" if i % 3 else "no" for i in range(60)}


def chart(*marks: Mark, title: str = "Sales", legend: tuple[str, ...] = ()) -> Figure:
    panel = Panel(title, Axis("Region", "linear"), Axis("Sum", "log"), legend, "", (), marks)
    return Figure("matplotlib", "", (panel,))


def bars(points: Sequence[tuple[Cell, Cell]], label: str | None = None) -> Mark:
    return Mark("bar", label, Table(("x", "y", "base"), tuple((x, y, 0.0) for x, y in points)))


def line(points: Sequence[tuple[Cell, Cell]], label: str | None = None) -> Mark:
    return Mark("line", label, Table(("x", "y"), tuple(points)))


SALES = {"North": 12.5, "South": 9.0, "West": 3.0}


def test_a_chart_shows_points_in_any_order_and_in_several_series() -> None:
    points: list[tuple[Cell, Cell]] = list(SALES.items())
    assert figure.shows("f", chart(bars(points[::-1])), "bar", SALES).passed
    assert figure.shows("f", chart(*(bars([point]) for point in points)), "bar", SALES).passed
    assert figure.shows("f", chart(bars([*points, ("East", None)])), "bar", SALES).passed
    rounded = chart(bars([("north ", 12.46), ("South", 9.04), ("West", 3.0)]))
    assert figure.shows("f", rounded, "bar", SALES, tolerance=decimals(1)).passed
    assert figure.shows("f", chart(bars([("2001", 1.0), (2002.0, 2.0)])), "bar", {2001: 1.0, "2002": 2.0}).passed
    assert figure.shows("f", chart(line([("2001-12-31", 1.0)])), "line", [(2001, 1.0)]).passed


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (chart(bars(list(SALES.items())[:2])), "wrong_data"),
        (chart(bars([("North", 12.5), ("South", 3.0), ("West", 9.0)])), "wrong_data"),
        (chart(bars([("North", 12.5), ("South", 9.0), ("East", 3.0)])), "wrong_data"),
        (chart(line(list(SALES.items()))), "wrong_kind"),
        (chart(), "wrong_kind"),
        (chart(Mark("bar", None, bars(list(SALES.items())).data, cut=True)), "series_too_long"),
    ],
)
def test_a_chart_of_other_data_is_wrong(found: Figure, code: str) -> None:
    finding = figure.shows("f", found, "bar", SALES)
    assert (finding.code, finding.score) == (code, 0.0)


def test_an_ordered_line_may_not_zigzag() -> None:
    points: list[tuple[Cell, Cell]] = [(1, 1.0), (3, 3.0), (2, 2.0)]
    assert figure.shows("f", chart(line(points)), "line", sorted(points)).passed
    ordered = figure.shows("f", chart(line(points)), "line", [(1, 1.0), (2, 2.0), (3, 3.0)], ordered=True)
    assert ordered.code == "wrong_data"


def test_a_large_scatter_is_compared_as_a_multiset() -> None:
    chance = random.Random(1)
    points = [(round(chance.random(), 2), chance.random()) for _ in range(3000)]
    found = chart(Mark("scatter", None, Table(("x", "y"), tuple(points))))
    shuffled = chance.sample(points, len(points))
    assert figure.shows("f", found, "scatter", shuffled).passed
    assert figure.shows("f", found, "scatter", [*shuffled[1:], shuffled[1]]).code == "wrong_data"


def test_panels_with_one_range() -> None:
    def panels(*limits: tuple[float, float] | None) -> Figure:
        axes = [(Axis("", "linear"), Axis("", "linear", ends)) for ends in limits]
        return Figure("matplotlib", "", tuple(Panel("", x, y, (), "", (), ()) for x, y in axes))

    assert figure.same_limits("f", panels((0.0, 90.0), (0.0, 90.0)), "y").passed
    assert figure.same_limits("f", panels((0.0, 90.0), (0.0, 12.0)), "y").code == "wrong_limits"
    assert figure.same_limits("f", panels((0.0, 90.0), None), "y").code == "wrong_limits"


@pytest.mark.parametrize(
    ("mode", "code"), [("stack", "ok"), ("relative", "ok"), ("overlay", "not_stacked"), (None, "not_stacked")]
)
def test_bars_that_stand_on_each_other(mode: str | None, code: str) -> None:
    read = plotly.parse("bars", {"data": [{"type": "bar", "y": [1]}], "layout": {"barmode": mode} if mode else {}})
    assert read.value is not None
    assert figure.stacked("f", read.value).code == code


def test_words_of_a_chart() -> None:
    found = chart(bars([("a", 1.0)], "2023"), legend=("2023", "2024"))
    assert figure.titled("f", found, "sales", "Revenue").passed
    assert figure.titled("f", found, "Sale").code == "wrong_title"
    assert figure.axis_label("f", found, "y", "SUM").passed
    assert figure.axis_label("f", found, "x", "Sum").code == "wrong_label"
    assert figure.scale("f", found, "y", "log").passed
    assert figure.scale("f", found, "x", "log").code == "wrong_scale"
    assert figure.legend("f", found, ["2024", "2023"]).passed
    assert figure.legend("f", found, ["2023"]).code == "wrong_legend"
    assert figure.series("f", found, "bar", {"2023": {"a": 1.0}}).passed
    assert figure.series("f", found, "bar", {"2024": {"a": 1.0}}).code == "series_missing"


@pytest.mark.parametrize("height", ["counts", "density", "share"])
def test_a_histogram_counts_exactly_the_values(height: str) -> None:
    values = np.random.default_rng(3).normal(size=200)
    counts, edges = np.histogram(values, 10)
    shares = counts / len(values)
    heights = {"counts": counts, "density": shares / np.diff(edges), "share": shares}[height].tolist()
    mark = Mark("hist", None, Table(("low", "high", "y"), tuple(zip(edges[:-1], edges[1:], heights, strict=True))))
    assert figure.histogram("f", chart(mark), values, bins=10).passed
    assert figure.histogram("f", chart(mark), values, bins=9).code == "wrong_bins"
    assert figure.histogram("f", chart(mark), values * 1.1).code == "wrong_data"
    raw = Mark("hist", None, Table(("value",), tuple((value,) for value in values.tolist())))
    assert figure.histogram("f", chart(raw), values).passed
    assert figure.histogram("f", chart(raw), values[1:]).code == "wrong_data"


def test_packed_numbers_of_plotly_are_read() -> None:
    packed_y = {"dtype": "f8", "bdata": "AAAAAAAA8D8AAAAAAAAAQA=="}
    traces = [
        {"type": "bar", "x": ["a", "b"], "y": packed_y, "name": "n"},
        {"type": "scatter", "mode": "markers", "x": ["2020-01-01T00:00:00"], "y": [3]},
        {"type": "histogram", "x": ["a", "a", "b"]},
    ]
    layout = {"title": {"text": "<b>Sales</b>"}, "xaxis": {"title": {"text": "Region"}, "type": "category"}}
    found = plotly.parse("p", {"data": traces, "layout": layout})
    assert figure.titled("f", found, "Sales").passed
    assert figure.shows("f", found, "bar", {"a": 1.0, "b": 2.0}, label="n").passed
    assert figure.shows("f", found, "bar", {"a": 2, "b": 1}).passed
    assert figure.shows("f", found, "scatter", [("2020-01-01", 3)]).passed
    assert plotly.parse("p", {"data": [{"y": {"dtype": "O", "bdata": ""}}]}).code == "not_a_figure"


def test_predictions_are_judged_by_key_in_any_order() -> None:
    rows: list[tuple[Cell, ...]] = [(str(i), label) for i, label in LABELS.items()]
    found = Table(("id", "guess"), tuple(reversed(rows)))

    def judged(table: Table) -> Finding:
        return metrics.reaches("m", table, LABELS, metrics.ACCURACY, 0.95, key="id", column="guess", baseline=0.5)

    assert judged(found).passed
    wrong: list[tuple[Cell, ...]] = [(key, "no") for key, _ in rows]
    assert judged(Table(found.columns, tuple(wrong))).code == "below_baseline"
    part = judged(Table(found.columns, tuple(rows[:45] + wrong[45:])))
    assert part.code == "below_threshold"
    assert 0 < part.score < Verdict.PASS_AT
    assert judged(Table(("id", "other"), found.rows)).code == "wrong_columns"
    assert judged(Table(found.columns, found.rows[1:])).code == "wrong_row_count"
    assert judged(Table(found.columns, (found.rows[1], *found.rows[1:]))).code == "wrong_keys"


@pytest.mark.parametrize(
    ("metric", "labels", "found", "value"),
    [
        (metrics.RMSE, [1, 2, 3], ["1", 2.0, 5], math.sqrt(4 / 3)),
        (metrics.MAE, [1, 2, 3], [1, 2, 5], 2 / 3),
        (metrics.R2, [1, 2, 3], [1, 2, 3], 1.0),
        (metrics.R2, [1, 2, 3], [2, 2, 2], 0.0),
        (metrics.ACCURACY, [0, 1, 1, True], ["0.0", 1, 0, "true"], 0.75),
        (metrics.f1(1), [1, 1, 0, 0], [1, 0, 0, 1], 0.5),
        (metrics.F1_MACRO, ["a", "a", "b", "b"], ["a", "b", "b", "a"], 0.5),
        (metrics.auc(1), [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.75),
        (metrics.auc(1), [0, 1], [0.5, 0.5], 0.5),
        (metrics.log_loss(1), [1, 0], [0.9, 0.2], -(math.log(0.9) + math.log(0.8)) / 2),
    ],
)
def test_metrics_have_their_known_values(
    metric: metrics.Metric, labels: list[Cell], found: list[Cell], value: float
) -> None:
    assert metrics.measure(metric, labels, found).value == pytest.approx(value)


@pytest.mark.parametrize("cell", ["much", None, "nan", True, "1,000"])
def test_a_prediction_that_is_no_number_is_wrong(cell: Cell) -> None:
    assert metrics.reaches_in_order("m", [1.0, cell], [1, 2], metrics.RMSE, 1.0).code == "wrong_type"


def test_a_lower_metric_counts_down_to_the_baseline() -> None:
    half = metrics.reaches_in_order("m", [3.0, 3.0], [0, 0], metrics.MAE, 2.0, baseline=4.0)
    assert half.code == "below_threshold"
    assert half.score == pytest.approx(0.45)
    assert metrics.reaches_in_order("m", [3.0, 3.0], [0, 0], metrics.MAE, 2.0).score == 0.0


def test_equal_places_of_a_ranking_may_change() -> None:
    values = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0}
    for right in (["a", "b", "c", "d"], ["A", "c", "b", "d "]):
        assert ranking.ranked("r", right, values).passed
    assert ranking.ranked("r", ["a", "c"], values, top=2).passed
    assert ranking.ranked("r", ["d", "c", "b"], values, top=3, descending=False).passed
    wrong: list[tuple[object, str]] = [
        (["b", "a", "c", "d"], "wrong_order"),
        (["a", "b", "c"], "wrong_count"),
        (["a", "b", "b", "d"], "item_twice"),
        (["a", "b", "c", "x"], "unknown_item"),
        ("abcd", "wrong_type"),
        ([["a"], "b", "c", "d"], "wrong_type"),
    ]
    for found, code in wrong:
        assert ranking.ranked("r", found, values).code == code  # type: ignore[arg-type]


def test_documents_are_compared_however_nested() -> None:
    found = {"a": [{"b": 1.004, "c": "x  y"}, None], "d": True}
    same = {"a": [{"c": "x y", "b": 1.0}, None], "d": True}
    assert document.same("d", found, (), same, decimals(2)).passed
    assert document.same("d", found, ("a", 0), same["a"][0], decimals(2)).passed  # type: ignore[index]
    for other in (
        {**same, "d": 1},
        {**same, "e": 1},
        {**same, "a": [None, {"c": "x y", "b": 1.0}]},
        {**same, "a": [{"c": "x y", "b": 1.02}, None]},
    ):
        assert document.same("d", found, (), other, decimals(2)).code == "wrong_value"
    assert document.same("d", found, "z", 1).code == "key_missing"


def test_texts_and_sets() -> None:
    assert text.one_of("t", " Yes", "yes", "true").passed
    assert text.one_of("t", "no", "yes").code == "wrong_text"
    assert text.equal("t", "cafe\u0301", "caf\u00e9").passed
    odd: list[object] = ["a", 5, None, [["a"], {}], {"a": 1}.items()]
    for found in odd:
        assert sets.same("s", found, ["a"]).code == "wrong_type"


def test_types_and_keys_of_a_table() -> None:
    found = Table(("i", "n", "d", "b", "t"), (("1", "1.5", "2020-01-31", "True", "x"), (2, None, "", False, "1")))
    kinds = {"i": "integer", "n": "number", "d": "date", "b": "boolean", "t": "text"}
    assert table.column_types("t", found, kinds).passed
    for column, kind in (("n", "integer"), ("t", "number"), ("i", "date"), ("d", "boolean")):
        assert table.column_types("t", found, {column: kind}).code == "wrong_type"
    assert table.column_types("t", found, {"z": "text"}).code == "wrong_columns"
    assert table.unique("t", found, ["i"]).passed
    assert table.unique("t", Table(("i",), ((1,), ("1.0",))), ["i"]).code == "row_twice"


def test_records_become_a_table() -> None:
    found = records("p", [{"a": 1, "b": "x"}, {"b": "y", "c": None}]).value
    assert found == Table(("a", "b", "c"), ((1, "x", None), (None, "y", None)))
    assert records("p", [{"a": {}}]).code == "not_records"


def drawing(draw: Callable[[ImageDraw.ImageDraw], object], size: tuple[int, int] = (400, 300)) -> Fact[picture.Picture]:
    image = Image.new("RGB", size, "white")
    draw(ImageDraw.Draw(image))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return pictures.parse("p", buffer.getvalue())


def test_pictures_that_look_alike() -> None:
    here = drawing(lambda on: on.rectangle((50, 50, 200, 200), "navy"))
    near = drawing(lambda on: on.rectangle((51, 50, 201, 200), "navy"), (402, 300))
    other = drawing(lambda on: on.ellipse((150, 50, 390, 290), "navy"))
    assert here.value is not None
    assert picture.alike("p", near, here.value).passed
    assert picture.alike("p", other, here.value).code == "not_alike"
    assert picture.alike("p", drawing(lambda on: None, (900, 300)), here.value).code == "not_alike"
    assert picture.drawn("p", near, width=402, height=300, exact=True).code == "picture_empty", "of two colours"
    framed = drawing(lambda on: on.rectangle((50, 50, 200, 200), "navy", outline="red"))
    assert picture.drawn("p", framed, width=400, height=300, exact=True).passed
    assert picture.drawn("p", near, width=400, height=300, exact=True).code == "wrong_size"
    assert picture.drawn("p", near, width=400, height=301).code == "picture_too_small"


def test_packed_tables() -> None:
    pandas = pytest.importorskip("pandas", reason="the extra evaluators is not installed")
    frame = pandas.DataFrame({"n": [1, None], "t": ["x", "y"], "d": pandas.to_datetime(["2020-01-01", "2020-01-02"])})
    wanted = Table(("n", "t", "d"), ((1.0, "x", "2020-01-01"), (None, "y", "2020-01-02")))
    for kind, write in (("parquet", frame.to_parquet), ("excel", lambda buffer: frame.to_excel(buffer, index=False))):
        buffer = io.BytesIO()
        write(buffer)
        found = packed.parse("p", buffer.getvalue(), kind)
        assert table.equal("t", found, wanted, ordered=True).passed, found
    assert packed.parse("p", buffer.getvalue(), "excel", "Other").code == "sheet_missing"


def test_tables_of_a_database() -> None:
    with sqlite3.connect(":memory:") as base:
        base.executescript(
            "CREATE TABLE a (n INTEGER, t TEXT); INSERT INTO a VALUES (1, 'x'); CREATE VIEW v AS SELECT 1"
        )
        data = base.serialize()
    assert packed.parse("p", data, "sqlite", "a").value == Table(("n", "t"), ((1, "x"),))
    assert packed.parse("p", data, "sqlite", "v").code == "table_missing"


class SternJudge:
    """Finds everything half as good as it could be."""

    name = "stern"
    score = 0.5

    def judge(self, question: str, pictures: Sequence[bytes], *, timeout: float = 120.0) -> Judgement:
        return Judgement(self.score, f"{question} {len(pictures)}")


RIGHT, WRONG = ok("computed", "right"), bad("computed", "wrong_data", "wrong")
PICTURE = Fact("p", "ok", "", b"png")


def test_without_a_judge_what_was_computed_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(judge.JUDGE, raising=False)
    verdict = judge.judged("look", RIGHT, "Is it clear?", PICTURE)
    assert (verdict.score, verdict.findings[-1].code) == (1.0, "no_judge")
    assert judge.judged("look", RIGHT, "?", Fact("p", "file_missing", "none")).score == 0.0


def test_a_judge_is_asked_last_and_only_lowers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(judge.JUDGE, f"{__name__}:SternJudge")
    verdict = judge.judged("look", RIGHT, "Is it clear?", PICTURE)
    assert (verdict.score, verdict.findings[-1].code) == (0.5, "judged_wrong")
    skipped = judge.judged("look", WRONG, "?", PICTURE)
    assert (skipped.score, skipped.findings[-1].code) == (0.0, "not_judged")
    monkeypatch.setattr(SternJudge, "score", 7.0)
    with pytest.raises(JudgeError, match="from 0 to 1"):
        judge.judged("look", RIGHT, "?", PICTURE)


def test_weights_behind_a_gate_give_nothing_for_nothing() -> None:
    tolerant = Tolerance(relative=0.1)
    assert tolerant.allows(1.05, 1.0)
    assert gate(WRONG, weighted((1, RIGHT), (2, RIGHT))).score == 0.0
