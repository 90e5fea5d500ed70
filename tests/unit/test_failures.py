"""Failure facts of small made trajectories."""

from __future__ import annotations

from typing import Any

import pytest

from desktop_env.report.failures import FailureFact, failure_facts, has_literal_newline, part_of, python_in


def steps(*batches: list[dict[str, Any]], **info: Any) -> list[dict[str, Any]]:
    return [{"step_num": n, "actions": batch, "info": dict(info)} for n, batch in enumerate(batches, 1)]


def typed(text: str) -> list[dict[str, Any]]:
    return [{"type": "Type", "text": text}]


def click(x: int) -> list[dict[str, Any]]:
    return [{"type": "Click", "x": x, "y": 1, "button": "left", "count": 1}]


WAIT: list[dict[str, Any]] = [{"type": "Wait", "seconds": 1.0}]
DONE: list[dict[str, Any]] = [{"type": "Done"}]


def facts(trajectory: list[dict[str, Any]], **given: Any) -> dict[str, FailureFact]:
    found = failure_facts(trajectory, **({"ended_by": None, "verdict": None, "budget": None} | given))
    return {fact.code: fact for fact in found}


def missing(*paths: str) -> dict[str, Any]:
    return {
        "findings": [
            {"code": "file_missing", "message": f"expected a file {path}, found nothing there"} for path in paths
        ]
    }


def test_nothing_done() -> None:
    assert "no_action" in facts(steps(WAIT, DONE))
    assert "no_action" not in facts(steps(WAIT, click(1), DONE))


@pytest.mark.parametrize(
    ("trajectory", "step"),
    [
        (steps(click(9), *[click(1)] * 4), 2),
        (steps(click(9), *[click(1), click(2)] * 3), 2),
        (steps(*[click(1), click(2), WAIT] * 3), 1),
        (steps(*[click(1)] * 3), None),
        (steps(*[click(1), click(2)] * 2), None),
        (steps(*[WAIT] * 20, click(1)), None),
        (steps(*[[{"type": "Press", "keys": ["down"], "repeat": 1}]] * 9), None),
        (steps(*[[{"type": "Press", "keys": ["down"], "repeat": 1}]] * 10), 1),
    ],
)
def test_loops(trajectory: list[dict[str, Any]], step: int | None) -> None:
    found = facts(trajectory).get("loop")
    assert (found.step if found else None) == step


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("import pandas as pd\ndf = pd.read_csv('a.csv'\nprint(df)", True),
        ("import pandas as pd\ndf = pd.read_csv('a.csv')\nprint(df)", False),
        ("%matplotlib inline\nimport pandas", False),
        ("cat > a.py <<'EOF'\nimport os\nprint(os.getcwd(\nEOF", True),
        ("cat > a.txt <<'EOF'\nimport nothing from (\nEOF", False),
        ("python analysis.py && ls", False),
        ("print('a'", True),
        ("for f in *.csv; do wc -l $f; done", False),
        ("hello world", False),
        ("name = Alice Smith", False),
    ],
)
def test_syntax_errors_in_typed_python_only(text: str, wrong: bool) -> None:
    assert ("syntax_error" in facts(steps(typed(text)))) is wrong


def test_hostile_code_is_only_parsed() -> None:
    assert "syntax_error" in facts(steps(typed("print(" + "(" * 5000)))
    assert python_in("import os\n" * 20_000) is None


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        (r"import os\nprint(1)", True),
        (r'print("a\nb")', False),
        (r"printf 'a\nb' > x", False),
        ("a\nb", False),
        (r"C:\\new", False),
        (r"don't stop" + "\n" + r"x\ny", True),
    ],
)
def test_literal_newlines_outside_of_quotes(text: str, literal: bool) -> None:
    assert has_literal_newline(text) is literal


def test_wrong_file_is_one_of_the_same_kind_elsewhere() -> None:
    found = facts(steps(click(1), typed("df.to_csv('/tmp/out.csv')")), verdict=missing("/home/user/out.csv"))
    assert found["missing_file"].detail == "/home/user/out.csv"
    assert (found["wrong_file"].step, found["wrong_file"].detail) == (2, "/tmp/out.csv instead of /home/user/out.csv")


def test_the_right_file_named_is_no_wrong_file() -> None:
    named = steps(typed("df.to_csv('out.csv')"), typed("df.to_csv('other.csv')"))
    assert "wrong_file" not in facts(named, verdict=missing("/home/user/out.csv"))


def test_refused_actions() -> None:
    found = facts(steps([], error="no action type 'JUMP'", error_type="ActionError"))
    assert found["refused_action"].detail == "no action type 'JUMP'"


@pytest.mark.parametrize(
    ("ended_by", "length", "code", "when"),
    [
        ("DONE", 10, "stopped_early", "early"),
        ("DONE", 60, None, None),
        ("FAIL", 50, "gave_up", "middle"),
        ("max_steps", 100, "budget_used_up", "late"),
    ],
)
def test_the_end(ended_by: str, length: int, code: str | None, when: str | None) -> None:
    found = facts(steps(*(click(n) for n in range(length))), ended_by=ended_by, budget=100)
    assert {name: fact.when for name, fact in found.items()} == ({code: when} if code else {})


def test_the_end_is_read_off_the_last_step() -> None:
    assert "stopped_early" in facts(steps(click(1), DONE), budget=100)
    assert "budget_used_up" in facts(steps(click(1), limit="max_seconds"))


def test_thirds() -> None:
    assert [part_of(step, 9) for step in (1, 3, 4, 6, 7, 9)] == ["early", "early", "middle", "middle", "late", "late"]
    assert part_of(None, 9) is None
