"""The false-alarm rate over 20,000 honest tables: printed, and 0."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from countback.claims.relations import VALUES, Extra
from countback.claims.reported import parse
from honest import honest_cases

TABLES = 20_000


@pytest.mark.bench
@pytest.mark.slow
def test_false_alarm_rate(capsys):
    checks = alarms = 0
    for seed in range(TABLES):
        for relation, shown, target, extra in honest_cases(Random(seed)):
            operands = [parse(text, exact=False).interval for text in shown]
            printed = parse(target, exact=False).interval
            try:
                implied = VALUES[relation](
                    operands,
                    Extra(
                        weights=tuple(parse(w).interval for w in extra.get("weights", ())),
                        n=tuple(parse(n).interval for n in extra.get("n", ())),
                        target=printed,
                    ),
                )
            except ZeroDivisionError:
                continue
            checks += 1
            alarms += not implied.meets(printed)
    with capsys.disabled():
        rate = float(Fraction(alarms, checks))
        print(f"\n{TABLES} honest tables, {checks} checks, {alarms} false alarms, rate {rate:.2g}")
    assert alarms == 0
