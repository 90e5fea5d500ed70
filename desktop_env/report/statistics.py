"""The statistics of a report: numbers in, numbers out."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

import numpy as np

Interval = tuple[float, float]
Item = TypeVar("Item", bound=Hashable)

Z95 = 1.959963984540054
"""The 97.5 % point of the normal distribution: two-sided intervals of 95 %."""
RESAMPLES = 10_000


def wilson(successes: int, n: int, z: float = Z95) -> Interval:
    """Give the score interval of a proportion; (0, 1) without observations.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212.
    """
    if n == 0:
        return 0.0, 1.0
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (0.0 if successes == 0 else centre - half), (1.0 if successes == n else centre + half)


def pass_at(k: int, n: int, passed: int) -> float:
    """Estimate, of one task with ``passed`` of ``n`` attempts, the chance that one of ``k`` attempts passes.

    The unbiased estimate 1 - C(n-c, k) / C(n, k) of M. Chen et al., "Evaluating large language models trained on
    code" (2021), section 2.1. ``k`` must be from 1 to ``n``.
    """
    _check_k(k, n, passed)
    return 1.0 - math.comb(n - passed, k) / math.comb(n, k)


def pass_all(k: int, n: int, passed: int) -> float:
    """Estimate, of one task with ``passed`` of ``n`` attempts, the chance that all of ``k`` attempts pass (pass^k).

    The unbiased estimate C(c, k) / C(n, k) of S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in
    real-world domains" (2024), section 3. ``k`` must be from 1 to ``n``.
    """
    _check_k(k, n, passed)
    return math.comb(passed, k) / math.comb(n, k)


def _check_k(k: int, n: int, passed: int) -> None:
    if not (1 <= k <= n and 0 <= passed <= n):
        raise ValueError(f"no estimate for k={k} of {passed} passed in {n}")


def over_tasks(estimate: Callable[[int, int, int], float], k: int, tasks: Sequence[tuple[int, int]]) -> float | None:
    """Give the mean of `pass_at` or `pass_all` over tasks with ``k`` attempts at least, each as (n, passed)."""
    values = [estimate(k, n, passed) for n, passed in tasks if n >= k]
    return sum(values) / len(values) if values else None


def bootstrap_mean(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval | None:
    """Give the 95 % percentile interval of a mean from ``resamples`` samples with replacement; None of less than 2.

    B. Efron and R. Tibshirani, "An introduction to the bootstrap" (1993), chapter 13. The same seed gives the same
    interval. For a paired comparison the values are the differences of each pair.
    """
    if len(values) < 2:
        return None
    data = np.asarray(values, dtype=float)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    for start in range(0, resamples, 500):  # in parts: a picture of all samples at once may be large
        part = min(500, resamples - start)
        means[start : start + part] = data[generator.integers(len(data), size=(part, len(data)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def cohen_kappa(first: Mapping[Item, Hashable], second: Mapping[Item, Hashable]) -> float | None:
    """Give the agreement beyond chance of two annotators over the items that both have labelled.

    J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960),
    37-46. None when they share no item, or when both gave one and the same label to all.
    """
    shared = first.keys() & second.keys()
    if not shared:
        return None
    n = len(shared)
    observed = sum(first[item] == second[item] for item in shared) / n
    labels = {first[item] for item in shared} | {second[item] for item in shared}
    expected = sum(
        sum(first[item] == label for item in shared) * sum(second[item] == label for item in shared) for label in labels
    ) / (n * n)
    return None if expected == 1.0 else (observed - expected) / (1.0 - expected)


def pairwise_kappa(
    labels: Mapping[str, Mapping[Item, Hashable]],
) -> list[tuple[str, str, int, float | None]]:
    """Give, of each two annotators: their names, the number of items both have labelled, and `cohen_kappa`."""
    found = []
    for one, other in combinations(sorted(labels), 2):
        shared = len(labels[one].keys() & labels[other].keys())
        found.append((one, other, shared, cohen_kappa(labels[one], labels[other])))
    return found


def quantile(values: Sequence[float], q: float) -> float | None:
    """Give the ``q`` quantile by linear interpolation; None of nothing."""
    return float(np.quantile(np.asarray(values, dtype=float), q)) if values else None


def mean(values: Sequence[float]) -> float | None:
    """Give the mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None
