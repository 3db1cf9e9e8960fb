"""Invariants of leans, grids and nulls, and agreement with a slow, plain counting of the same rules."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from countback.models.culture import (
    LABEL_MEAN,
    MAJORITY,
    MAJORITY_TIES_AVERAGED,
    Rule,
    flattening,
    judge_match,
    lean,
    lean_report,
)
from countback.models.dispersion import noise_corrected
from countback.models.grid import modal_grid, stability, tie_report
from countback.models.nulls import adjust_bh, culture_free_grid, question_tests
from countback.models.votes import Votes, letters, tally
from hypothesis import given, settings
from hypothesis import strategies as st

Row = tuple[int, int, int, int]  # item, country, question, label
RULES = [
    Rule(vote, item, over, cell)  # type: ignore[arg-type]
    for vote, item, over, cell in product(
        ["majority", "labels"],
        ["strictest", "lenient", "drop", "average"],
        ["mode", "mean", "question-mean"],
        ["strictest", "lenient", "drop", "average"],
    )
]
rows = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 2), st.integers(0, 2), st.integers(-1, 2)), min_size=1)


def votes(table: list[Row]) -> Votes:
    item, country, question, label = np.array(table).T
    return tally(item, country, label, 3, question=question, n_countries=3, n_questions=3)


def leaders(count: Counter[int] | dict[int, Fraction]) -> list[int]:
    return sorted(x for x in count if count[x] == max(count.values()))


def break_tie(tied: list[int], ties: str) -> dict[int, Fraction]:
    if ties == "strictest" or len(tied) == 1:
        return {tied[0]: Fraction(1)}
    if ties == "lenient":
        return {tied[-1]: Fraction(1)}
    return {} if ties == "drop" else {x: Fraction(1, len(tied)) for x in tied}


def plain_lean(table: list[Row], rule: Rule, country: int) -> Fraction | None:
    """The lean by loops and exact fractions, written from the definitions alone."""
    labels: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item, where, question, label in table:
        if where == country and label >= 0:
            labels[question, item].append(label)
    cells: dict[int, dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for (question, _), word in labels.items():
        cast: dict[int, Fraction] = {x: Fraction(n) for x, n in Counter(word).items()}
        if rule.vote == "majority":
            cast = break_tie(leaders(Counter(word)), rule.item_ties)
        for x, share in cast.items():
            cells[0 if rule.over == "mean" else question][x] += share
    scores = []
    for cell in cells.values():
        won = break_tie(leaders(cell), rule.cell_ties) if rule.over == "mode" else cell
        if won:
            scores.append(sum(share * Fraction(2 - x, 2) for x, share in won.items()) / sum(won.values()))
    return sum(scores, Fraction(0)) / len(scores) if scores else None


@given(rows, st.sampled_from(RULES))
@settings(max_examples=400, deadline=None)
def test_every_rule_equals_the_plain_count(table: list[Row], rule: Rule) -> None:
    expected = [plain_lean(table, rule, country) for country in range(3)]
    np.testing.assert_allclose(lean(votes(table), rule), [np.nan if e is None else float(e) for e in expected])


@given(rows.flatmap(lambda t: st.tuples(st.just(t), st.permutations(t))), st.permutations(range(9)), st.data())
@settings(max_examples=150, deadline=None)
def test_names_and_order_change_nothing(
    tables: tuple[list[Row], list[Row]], items: list[int], data: st.DataObject
) -> None:
    table, shuffled = tables
    countries, rule = data.draw(st.permutations(range(3))), data.draw(st.sampled_from(RULES))
    renamed = [(items[i], countries[c], q, label) for i, c, q, label in shuffled]
    before, after = votes(table), votes(renamed)
    np.testing.assert_allclose(lean(after, rule)[countries], lean(before, rule))
    grids = [modal_grid(part, Rule(cell_ties="drop")).letters for part in (before, after)]
    np.testing.assert_array_equal(grids[1][countries], grids[0])
    assert tie_report(after).counts() == tie_report(before).counts()


@given(rows)
@settings(deadline=None)
def test_stricter_tie_rules_give_stricter_leans(table: list[Row]) -> None:
    rules = Rule("majority", "strictest", "mean"), MAJORITY_TIES_AVERAGED, Rule("majority", "lenient", "mean")
    strict, split, mild = (lean(votes(table), rule) for rule in rules)
    known = np.isfinite(split)
    assert (strict[known] >= split[known] - 1e-12).all()
    assert (split[known] >= mild[known] - 1e-12).all()
    report = tie_report(votes(table))
    assert (report.by_rule["strictest", "strictest"] <= report.by_rule["lenient", "lenient"]).all()
    # A letter that no tie touches cannot depend on the rule.
    assert not report.decided[(report.tied_items == 0) & ~report.tied_cell].any()


@given(rows, st.sampled_from(RULES))
@settings(max_examples=60, deadline=None)
def test_countries_with_equal_labels_have_no_spread(table: list[Row], rule: Rule) -> None:
    """Crossed: the same items labelled alike everywhere. Nested: copies of the items."""
    crossed = [(i, c, q, label) for i, _, q, label in table for c in range(3)]
    nested = [(i + 9 * c, c, q, label) for i, c, q, label in crossed]
    for same in (crossed, nested):
        leans = lean(votes(same), rule)
        assert np.isnan(leans).all() or np.ptp(leans) < 1e-12
    report = lean_report(votes(crossed), rule, draws=20, rng=np.random.default_rng(1))
    if np.isfinite(report.spread.value):
        # A single item says nothing about its own error.
        expected = (np.nan, np.nan) if report.leans.clusters == 1 else (0.0, 1.0)
        np.testing.assert_equal((report.corrected.sd, report.noise_p), expected)


def test_splitting_one_country_in_two_gives_spread_nought_in_expectation() -> None:
    """Over all 252 ways to split ten items, the mean difference is 0 and so is the mean corrected variance.

    The errors of two random halves are correlated -s^2 / 5 apart from that of independent samples: given the ten
    items, the exact variance of a half's mean is s^2/5 (1 - 5/10), and the difference of halves varies by 4 times that.
    """
    score = np.array([1.0, 1.0, 0.5, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 1.0])
    half = score.var(ddof=1) / 5 * (1 - 5 / 10)
    covariance = half * np.array([[1.0, -1.0], [-1.0, 1.0]])
    differences, variances = [], []
    for first in combinations(range(10), 5):
        country = (~np.isin(np.arange(10), first)).astype(int)
        leans = lean(tally(np.arange(10), country, (2 - 2 * score).astype(int), 3), MAJORITY)
        differences.append(leans[0] - leans[1])
        variances.append(noise_corrected(leans, covariance).variance)
    assert np.mean(differences) == pytest.approx(0.0, abs=1e-12)
    assert np.mean(variances) == pytest.approx(0.0, abs=1e-12)


@given(rows, st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_a_judge_equal_to_the_majority(table: list[Row], seed: int) -> None:
    human = votes([*table, (0, 0, 0, 0)])
    said = letters(human.counts, "drop")
    judge = tally(human.item, human.country, said, 3, question=human.question, n_countries=3, n_questions=3)
    match = judge_match(human, judge, draws=10, rng=np.random.default_rng(seed), strata="none")
    assert match.n[-1] == (said >= 0).sum()
    if match.n[-1]:
        assert match.values[-1] == 1.0
        (result,) = flattening(human, [judge], draws=10, rng=np.random.default_rng(seed), strata="none")
        np.testing.assert_array_equal(result.human.leans.values, result.judge.leans.values)


@given(rows)
@settings(max_examples=40, deadline=None)
def test_shares_and_p_values_stay_in_range(table: list[Row]) -> None:
    rng = np.random.default_rng(4)
    kept = stability(votes(table), draws=10, rng=rng, strata="none").kept
    assert np.isnan(kept).sum() == (modal_grid(votes(table)).letters < 0).sum()
    assert ((kept >= 0) & (kept <= 1))[np.isfinite(kept)].all()
    for test in question_tests(votes(table), draws=19, rng=rng):
        assert np.isnan(test.p) or 1 / 20 <= test.p <= min(test.bh, test.bonferroni) <= 1
    null = culture_free_grid(votes(table), countries=3, draws=19, rng=rng)
    questions = int((null.pool > 0).sum())
    assert 0 <= null.all_labels.mean + null.unanimous.mean <= questions


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_bh_keeps_the_order_and_lies_between_p_and_bonferroni(values: list[float]) -> None:
    p = np.array(values)
    adjusted = adjust_bh(p)
    assert (adjusted >= p - 1e-12).all()
    assert (adjusted <= np.minimum(p * len(p), 1) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= -1e-12).all()


def test_intervals_hold_what_they_come_from() -> None:
    rng = np.random.default_rng(8)
    table = [(i, i % 3, 0, int(rng.integers(0, 3))) for i in range(60) for _ in range(5)]
    for rule in (LABEL_MEAN, MAJORITY, MAJORITY_TIES_AVERAGED):
        for estimate in lean_report(votes(table), rule, draws=500, rng=rng).leans.estimates():
            assert estimate.interval is not None
            assert estimate.interval.low <= estimate.value <= estimate.interval.high
