"""Checks are pure: tests give values and look at codes."""

import ast
import math

import pytest

from desktop_env.evaluators import combine
from desktop_env.evaluators.checks import document, notebook, number, picture, script, sets, table, text
from desktop_env.evaluators.checks.notebook import Cell, Notebook, Output
from desktop_env.evaluators.checks.number import Tolerance, decimals
from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.facts import Fact, bad, ok
from desktop_env.values import Finding, Verdict

NAMES = ("name", "amount")
EXPECTED = Table(NAMES, (("a", 1.25), ("b", 2.5), ("b", 2.5)))


def found(*rows: tuple[str, ...], columns: tuple[str, ...] = NAMES) -> Table:
    return Table(columns, rows)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0.125, "ok"),
        (0.1254, "ok"),
        (0.126, "wrong_number"),
        ("0.125", "wrong_type"),
        (True, "wrong_type"),
        (None, "wrong_type"),
        (math.nan, "wrong_number"),
        (math.inf, "wrong_number"),
        (10**400, "wrong_number"),
    ],
)
def test_a_number_is_a_finite_number_near_the_expected_one(value: object, code: str) -> None:
    assert number.close("n", value, 0.125, decimals(3)).code == code


def test_rounding_to_decimals_allows_either_way_to_round_a_tie() -> None:
    assert decimals(1).allows(0.2, 0.25)
    assert decimals(1).allows(0.3, 0.25)
    assert not decimals(1).allows(0.4, 0.25)


def test_a_relative_tolerance_grows_with_the_number() -> None:
    assert Tolerance(relative=0.01).allows(1009.0, 1000.0)
    assert not Tolerance(relative=0.01).allows(1011.0, 1000.0)


@pytest.mark.parametrize("written", ["1,234", "1_000", "nan", "inf", "12 kg", "0x10", "", "١", "1" * 100])
def test_only_plain_decimal_numbers_are_read(written: str) -> None:
    assert number.parse(written) is None


def test_a_check_of_a_fact_without_a_value_gives_the_facts_code() -> None:
    finding = number.close("n", Fact("/x", "file_missing", "expected a file"), 1.0)
    assert (finding.score, finding.code, finding.message) == (0.0, "file_missing", "expected a file")


def test_a_message_says_what_was_expected_and_found() -> None:
    assert "expected 2 (± 1e-09), found 3" in number.close("n", 3, 2).message


def test_texts_are_compared_whole() -> None:
    assert text.equal("t", " Adelie\n penguin ", "Adelie penguin").passed
    assert text.equal("t", "not Adelie", "Adelie").code == "wrong_text"
    assert text.equal("t", "ADELIE", "Adelie").code == "wrong_text"
    assert text.equal("t", "ADELIE", "Adelie", case=False).passed
    assert text.equal("t", 3, "3").code == "wrong_type"


def test_a_line_is_found_whole() -> None:
    assert text.has_line("t", "a\n  mean:  3\n", "mean: 3").passed
    assert text.has_line("t", "the mean: 3 or so", "mean: 3").code == "line_missing"


def test_sets_name_what_is_missing_and_what_is_too_much() -> None:
    assert sets.same("s", ["b", "a"], {"a", "b"}).passed
    finding = sets.same("s", ["a", "c"], ["a", "b"])
    assert finding.code == "wrong_set"
    assert "missing ['b']" in finding.message
    assert "not expected ['c']" in finding.message


def test_a_table_is_a_multiset_of_rows_with_columns_by_name() -> None:
    shuffled = found(("2.50", "b"), ("1.25", "a"), ("2.5", " b"), columns=("amount", "name"))
    assert table.equal("t", shuffled, EXPECTED).passed


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (found(("a", "1.25"), ("b", "2.5"), ("a", "1.25")), "wrong_rows"),
        (found(("a", "1.25"), ("b", "2.5")), "wrong_row_count"),
        (found(("a", "1.25"), ("b", "2.5"), ("b", "x")), "wrong_rows"),
        (found(columns=("name", "total")), "wrong_columns"),
        (found(columns=("", "name", "amount")), "wrong_columns"),
        (found(columns=("name", "amount", "amount")), "wrong_columns"),
    ],
)
def test_a_table_that_differs_says_how(given: Table, code: str) -> None:
    assert table.equal("t", given, EXPECTED).code == code


def test_near_rows_are_matched_so_that_all_fit_if_they_can() -> None:
    expected = Table(("x",), ((1.0,), (1.4,), (1.8,)))
    given = Table(("x",), (("1.2",), ("1.6",), ("0.8",)))
    assert table.equal("t", given, expected, tolerances={"x": Tolerance(0.3)}).passed
    assert not table.equal("t", given, expected, tolerances={"x": Tolerance(0.15)}).passed


def test_the_order_of_rows_counts_only_when_asked_for() -> None:
    given = found(("b", "2.5"), ("a", "1.25"), ("b", "2.5"))
    assert table.equal("t", given, EXPECTED).passed
    assert table.equal("t", given, EXPECTED, ordered=True).code == "wrong_rows"


def test_a_large_multiset_needs_a_key() -> None:
    rows = tuple((str(i), str(i)) for i in range(table.MAX_UNKEYED + 1))
    large = Table(NAMES, rows)
    assert table.equal("t", large, large, key=["name"]).passed
    with pytest.raises(ValueError, match="by key"):
        table.equal("t", large, large)


def test_columns_score_by_the_share_that_is_right() -> None:
    expected = Table(("year", "sum", "mean"), ((2012, 4.0, 2.0), (2013, 6.0, 3.0)))
    given = Table(("mean", "year", "sum"), (("3", "2013", "6"), ("9", "2012", "4")))
    finding = table.by_column("t", given, expected, key=["year"])
    assert (finding.score, finding.code) == (0.5, "wrong_values")
    assert finding.message == "mean: expected 2.0, found '9'"


def test_a_repeated_key_is_a_missing_one() -> None:
    expected = Table(("year", "sum"), ((2012, 4.0), (2013, 6.0)))
    given = Table(("year", "sum"), (("2012", "4"), ("2012", "4")))
    assert table.by_column("t", given, expected, key=["year"]).code == "wrong_keys"


def test_the_expected_cell_says_how_to_compare() -> None:
    assert table.same_cell("NaN", None)
    assert table.same_cell("", None)
    assert not table.same_cell("0", None)
    assert table.same_cell("TRUE", True)
    assert not table.same_cell("1", True)
    assert table.same_cell("3.0", 3)
    assert not table.same_cell("3", "3.0")


def test_numbers_of_a_column_are_sorted_as_numbers() -> None:
    assert table.sorted_by("t", found(("a", "9"), ("b", "10")), "amount").passed
    assert table.sorted_by("t", found(("a", "9"), ("b", "10")), "amount", descending=True).code == "wrong_order"
    assert table.sorted_by("t", found(("a", "x")), "amount").code == "wrong_type"


def test_a_document_is_read_by_path() -> None:
    given = {"scores": [{"f1": 0.5}], "model": " ridge "}
    assert document.number("d", given, ("scores", 0, "f1"), 0.5).passed
    assert document.text("d", given, "model", "ridge").passed
    assert document.keys("d", given, ["model", "scores"]).passed
    missing = document.number("d", given, ("scores", 1, "f1"), 0.5)
    assert (missing.code, missing.message) == ("key_missing", "expected scores[1] in the document, found a list of 1")
    assert document.number("d", ["x"], "scores", 1).code == "key_missing"


def parsed(source: str) -> script.Script:
    return script.read(ast.parse(source))


def test_a_script_tells_imports_calls_and_constants() -> None:
    facts = parsed(
        "import pandas as pd\nfrom scipy import stats\nd = pd.read_csv('a/b.csv')\nd.x.to_csv('c')\nstats.ttest(d, 0.5)"
    )
    assert facts.imports == {"pandas", "scipy"}
    assert facts.calls == {"pandas.read_csv", ".to_csv", "scipy.stats.ttest"}
    assert facts.strings == {"a/b.csv", "c"}
    assert facts.numbers == {0.5}


def test_a_script_that_only_mentions_a_file_in_prose_does_not_use_it() -> None:
    prose = parsed('"""Reads b.csv."""\n# b.csv\nprint("I read b.csv today")\nnotb = "not-b.csv"')
    assert script.uses_file("s", prose, "b.csv").code == "file_unused"
    assert script.uses_file("s", parsed("open(f'{folder}/b.csv')"), "b.csv").passed


@pytest.mark.parametrize(
    "code",
    [
        "open(f'sales_{year}.csv')",
        "open('data/sales_' + str(year) + '.csv')",
        "open('sales_%d.csv' % year)",
        "open('sales_{}.csv'.format(year))",
        "glob('data/*_2019.csv')",
        "connect('file:/home/user/sales_2019.csv?mode=ro', uri=True)",
        "for name in ('sales_2019', 'x'): read(f'{name}.csv')",
    ],
)
def test_a_name_that_is_put_together_is_a_use(code: str) -> None:
    assert script.uses_file("s", parsed(code), "sales_2019.csv").passed


@pytest.mark.parametrize(
    "code", ["open(f'{name}.csv')", "open('sales_2018.csv')", "print('*')", "open(a + b)", "open(f'costs_{y}.csv')"]
)
def test_a_name_that_may_be_anything_is_none(code: str) -> None:
    assert script.uses_file("s", parsed(code), "sales_2019.csv").code == "file_unused"


def test_imports_and_calls_count_in_whichever_form() -> None:
    facts = parsed("from sklearn.linear_model import Ridge as R\nR().fit(x)")
    assert script.imports_any("s", facts, ["sklearn"]).passed
    assert script.calls_any("s", facts, [".fit"]).passed
    assert script.imports_any("s", facts, ["pandas", "polars"]).code == "import_missing"
    assert script.calls_any("s", facts, [".predict"]).code == "call_missing"
    assert script.computes("s", parsed("print(0.731)"), [0.731]).code == "answer_typed_in"


def cell(count: int | None, *outputs: Output) -> Cell:
    return Cell("code", "x = 1", count, outputs)


def printing(printed: str) -> Notebook:
    return Notebook((cell(1, Output(printed, frozenset(["text/plain"]))),))


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ((cell(1), Cell("markdown", "", None, ()), cell(3)), "ok"),
        ((cell(1), cell(None)), "cell_not_run"),
        ((cell(2), cell(1)), "wrong_order"),
        ((cell(1), cell(2, Output("", frozenset(), "ValueError: no"))), "cell_failed"),
        ((cell(1), Cell("code", " \n", 2, ())), "too_few_cells"),
    ],
)
def test_a_notebook_is_run_from_top_to_bottom(cells: tuple[Cell, ...], code: str) -> None:
    assert notebook.executed("n", Notebook(cells), at_least=2).code == code


def test_printed_lines_are_read_by_label() -> None:
    report = printing("Gain in  years: 26.50\nLargest gain: Asia\n")
    assert notebook.prints_number("n", report, "Gain in years", 26.5).passed
    assert notebook.prints_text("n", report, "Largest gain", "Asia").passed
    assert notebook.prints_text("n", report, "Largest gain", "Africa").code == "wrong_text"
    assert (
        notebook.prints_number("n", printing("Gain in years: 26.5 or 27"), "Gain in years", 26.5).code == "line_missing"
    )


def test_pictures_are_looked_for_in_outputs() -> None:
    shown = Notebook((cell(1, Output("<Figure>", frozenset(["image/png", "text/plain"]))),))
    assert notebook.shows_picture("n", shown).passed
    assert notebook.shows_picture("n", printing("image/png")).code == "no_picture"


def test_a_picture_must_be_large_enough_and_drawn_on() -> None:
    assert picture.drawn("p", picture.Picture(800, 600, 200, 0.05), width=800).passed
    assert picture.drawn("p", picture.Picture(799, 600, 200, 0.05), width=800).code == "picture_too_small"
    assert picture.drawn("p", picture.Picture(800, 600, 1, 0.0)).code == "picture_empty"


RIGHT, HALF, WRONG = ok("right", ""), bad("half", "x", "", 0.5), bad("wrong", "y", "")


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        (combine.all_of(RIGHT, HALF), 0.5),
        (combine.any_of(WRONG, HALF), 0.5),
        (combine.weighted((3, RIGHT), (1, WRONG)), 0.75),
        (combine.weighted((0.1, RIGHT), (0.2, RIGHT), (0.7, RIGHT)), 1.0),
        (combine.gate(RIGHT, HALF), 0.5),
        (combine.gate(HALF, RIGHT), 0.0),
        (combine.gate(combine.all_of(RIGHT, RIGHT), combine.weighted((1, RIGHT))), 1.0),
    ],
)
def test_findings_combine_to_a_score(verdict: Verdict, score: float) -> None:
    assert verdict.score == score


def test_a_verdict_holds_all_findings_below_it_in_order() -> None:
    verdict = combine.gate(combine.all_of(WRONG, RIGHT), combine.weighted((1, HALF)))
    assert verdict.findings == (WRONG, RIGHT, HALF)


def test_weights_must_be_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        combine.weighted((0, Finding("x", 1.0, "ok", "")))
