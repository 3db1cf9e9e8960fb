"""Both nulls at the size of CuBEs, beside SciPy's permutation test and plain loops in the same run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from countback.models.nulls import culture_free_grid, question_tests
from countback.models.votes import Votes, tally
from scipy.stats import permutation_test

pytestmark = pytest.mark.bench
DRAWS = 5000


def best(work: Callable[[], object], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def synthetic() -> Votes:
    """Four countries, eleven questions of two or three items each (123 in all), five labels an item."""
    rng = np.random.default_rng(0)
    cells = [(c, q) for c in range(4) for q in range(11) for _ in range(3 if (c + q) % 5 else 2)]
    rows = [
        (i, c, q, label)
        for i, (c, q) in enumerate(cells)
        for label in rng.choice(3, 5, p=rng.dirichlet([1.0, 1.0, 1.0]))
    ]
    item, country, question, label = np.array(rows).T
    return tally(item, country, label, 3, question=question)


def scipys(votes: Votes, question: int) -> float:
    """The same test of one question by `scipy.stats.permutation_test`."""
    rows = votes.question == question
    score = votes.counts[rows] @ [1.0, 0.5, 0.0] / votes.counts[rows].sum(axis=1)
    samples = [score[votes.country[rows] == c] for c in range(4)]

    def variance(*parts: np.ndarray, axis: int) -> np.ndarray:
        return np.stack([part.mean(axis=axis) for part in parts]).var(axis=0, ddof=1)

    result = permutation_test(
        samples,
        variance,
        permutation_type="independent",
        n_resamples=DRAWS,
        alternative="greater",
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    return float(result.pvalue)


def looped_grid(votes: Votes, draws: int) -> np.ndarray:
    """The null grids by loops: questions with all letters, and unanimous ones, by draw."""
    rng = np.random.default_rng(2)
    words = [[int(x) for x in np.repeat(range(3), row)] for row in votes.counts]
    majority = [min(x for x in set(w) if w.count(x) == max(w.count(y) for y in w)) for w in words]
    counts = np.zeros((draws, 2))
    for draw in range(draws):
        for question in range(11):
            pool = [m for m, q in zip(majority, votes.question, strict=True) if q == question]
            sizes = Counter(votes.country[votes.question == question].tolist())
            shown = set()
            for country in range(12):
                hand = Counter(pool[i] for i in rng.integers(0, len(pool), sizes[country % 4]))
                shown.add(min(x for x in hand if hand[x] == max(hand.values())))
            counts[draw] += len(shown) == 3, len(shown) == 1
    return counts


def test_permutations_and_null_grids(capsys: pytest.CaptureFixture[str]) -> None:
    votes = synthetic()
    ours = question_tests(votes, draws=DRAWS, rng=np.random.default_rng(1))
    theirs = [scipys(votes, question) for question in range(11)]
    for one, other in zip(ours, theirs, strict=True):
        assert one.p == pytest.approx(other, abs=5 * (2 * 0.25 / DRAWS) ** 0.5)
    grid = culture_free_grid(votes, draws=DRAWS, rng=np.random.default_rng(1))
    looped = looped_grid(votes, 300)
    error = looped.std(axis=0) / 300**0.5
    assert grid.all_labels.mean == pytest.approx(looped[:, 0].mean(), abs=5 * error[0])
    assert grid.unanimous.mean == pytest.approx(looped[:, 1].mean(), abs=5 * error[1] + 0.01)
    tests = best(lambda: question_tests(votes, draws=DRAWS, rng=np.random.default_rng(1)))
    grids = best(lambda: culture_free_grid(votes, draws=DRAWS, rng=np.random.default_rng(1)))
    peer = best(lambda: [scipys(votes, question) for question in range(11)], rounds=2)
    loop = best(lambda: looped_grid(votes, 50), rounds=2) * DRAWS / 50
    with capsys.disabled():
        print(f"\n{DRAWS} permutations x 11 questions and {DRAWS} null grids, seconds: ours, peer, times faster")
        print(f"  permutations  {tests:6.3f} {peer:8.2f} {peer / tests:8.0f}   scipy.stats.permutation_test")
        print(f"  null grids    {grids:6.3f} {loop:8.2f} {loop / grids:8.0f}   plain loop, 50 grids scaled up")
        print(f"  together      {tests + grids:6.3f}")
