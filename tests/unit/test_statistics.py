"""Statistics against values from the literature and by hand."""

from __future__ import annotations

from itertools import combinations

import pytest

from desktop_env.report.statistics import (
    bootstrap_mean,
    cohen_kappa,
    mean,
    over_tasks,
    pairwise_kappa,
    pass_all,
    pass_at,
    quantile,
    wilson,
)


@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [(81, 263, (0.2553, 0.3662)), (15, 148, (0.0624, 0.1605)), (0, 20, (0.0, 0.1611)), (1, 29, (0.0061, 0.1718))],
)
def test_wilson_as_newcombe_printed_it(successes: int, n: int, expected: tuple[float, float]) -> None:
    """R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    assert wilson(successes, n) == pytest.approx(expected, abs=5e-5)


def test_wilson_at_the_ends() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(5, 5)[1] == 1.0
    assert wilson(0, 5)[0] == 0.0


@pytest.mark.parametrize(("n", "passed", "k"), [(5, 2, 3), (6, 1, 2), (4, 4, 4), (4, 0, 1)])
def test_pass_estimates_count_all_choices_of_k_attempts(n: int, passed: int, k: int) -> None:
    attempts = [True] * passed + [False] * (n - passed)
    choices = list(combinations(attempts, k))
    assert pass_at(k, n, passed) == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_all(k, n, passed) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_pass_estimates_refuse_more_attempts_than_there_are() -> None:
    with pytest.raises(ValueError, match="k=3"):
        pass_at(3, 2, 1)


def test_over_tasks_leaves_out_tasks_with_too_few_attempts() -> None:
    assert over_tasks(pass_at, 2, [(2, 1), (2, 0), (1, 1)]) == 0.5
    assert over_tasks(pass_at, 2, [(1, 1)]) is None


def test_bootstrap_is_the_same_for_the_same_seed_and_holds_the_mean() -> None:
    values = [0.0, 1.0, 0.5, 1.0, 0.0, 0.25, 1.0, 1.0]
    interval = bootstrap_mean(values, seed=3)
    assert interval is not None
    assert interval == bootstrap_mean(values, seed=3)
    assert interval[0] < sum(values) / len(values) < interval[1]


def test_bootstrap_of_a_large_sample_is_near_the_normal_interval() -> None:
    low, high = bootstrap_mean([0.0, 1.0] * 200, seed=0) or (0.0, 0.0)
    assert (low, high) == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.004)


def test_bootstrap_of_next_to_nothing_is_none() -> None:
    assert bootstrap_mean([]) is None
    assert bootstrap_mean([1.0]) is None


def test_kappa_of_a_known_table() -> None:
    """50 items: 20 both yes, 15 both no, 5 and 10 apart; observed 0.70, by chance 0.50."""
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    first = {item: one for item, (one, _) in enumerate(pairs)}
    second = {item: other for item, (_, other) in enumerate(pairs)}
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_kappa_over_shared_items_only() -> None:
    found = pairwise_kappa({"bo": {1: "code", 2: "code", 9: "plan"}, "al": {1: "code", 2: "plan"}, "cy": {7: "plan"}})
    assert found == [("al", "bo", 2, 0.0), ("al", "cy", 0, None), ("bo", "cy", 0, None)]


def test_mean_and_quantile_of_nothing_are_none() -> None:
    assert mean([]) is None
    assert quantile([], 0.5) is None
    assert quantile([1, 2, 3, 4], 0.5) == 2.5
