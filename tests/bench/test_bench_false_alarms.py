"""The false-alarm rate over 20,000 honest tables and 2,016 bootstrap intervals: printed, and 0; power beside it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from countback.claims.arithmetic import judge_relation
from countback.claims.interval import Interval
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import Reported, parse
from countback.claims.verdict import FINDINGS
from honest import RULES, honest_claims

TABLES = 20_000
MODELS, METRICS, REPEATS = 18, 8, 14
EPISODES, RESAMPLES = 14_610, 1000


@pytest.mark.bench  # about five minutes
def test_false_alarm_rate(capsys):
    found: Counter[str] = Counter()
    for seed in range(TABLES):
        rule = ("half-up", "half-even")[seed % 2] if seed % 10 else "truncation"
        for claim in honest_claims(Random(seed), rule):
            found[judge_relation(claim).verdict] += 1
    checks, alarms = sum(found.values()), sum(found[verdict] for verdict in FINDINGS)
    with capsys.disabled():
        rate = float(Fraction(alarms, checks))
        print(f"\n{TABLES} honest tables by {sorted(RULES)}, {checks} checks, {alarms} false alarms, rate {rate:.2g}")
    assert checks > 30 * TABLES
    assert alarms == 0


@pytest.mark.bench
def test_ends_of_bootstrap_intervals(capsys):
    """Scores from 1 to 5 (means) and clean rates (percentages) of 18 models, resampled as the papers do."""
    rng = np.random.default_rng(2026)
    alarms, ends, seen = 0, 0, Counter[int]()
    for _ in range(REPEATS * MODELS):
        for metric in range(METRICS):
            share = metric == METRICS - 1
            scores = np.array([0.0, 100.0]) if share else np.arange(1.0, 6.0)
            p = rng.dirichlet([3, 12] if share else [0.3, 0.6, 2, 4, 1.5])
            counts = rng.multinomial(EPISODES, p) / EPISODES
            mean = float(counts @ scores)
            sd = float(np.sqrt(counts @ scores**2 - mean**2))
            draws = rng.multinomial(EPISODES, counts, size=RESAMPLES) @ scores / EPISODES
            places = 1 if share else 2

            def show(value: float, places: int = places) -> Reported:
                return parse(f"{value:.{places}f}", exact=False)

            operands = [show(mean).interval, show(mean).interval if share else show(sd).interval]
            extra = Extra(n=(Interval.of(EPISODES),), names=("binomial",) if share else (), resamples=RESAMPLES)
            for name, end in zip(("ci-low", "ci-high"), np.percentile(draws, [2.5, 97.5]), strict=True):
                implied, printed = VALUES[name](operands, extra), show(float(end))
                ends += 1
                alarms += not implied.meets(printed.interval)
                for units in (1, 2, 3):
                    for side in (-units, units):
                        seen[units] += not implied.meets(printed.interval + Interval.of(side * printed.step))
    with capsys.disabled():
        power = ", ".join(f"{units} unit(s) {seen[units] / (2 * ends):.0%}" for units in sorted(seen))
        print(f"\n{ends // 2} bootstrap intervals: {alarms} of {ends} ends flagged; a slip is seen of {power}")
    assert ends == 2 * REPEATS * MODELS * METRICS
    assert alarms == 0
    assert seen[3] > 0.9 * 2 * ends * (METRICS - 1) / METRICS
