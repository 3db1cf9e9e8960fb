"""The humans among themselves: agreement, where countries lie, what chance alone would show. Calls the estimators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from countback.audit.judge.study import Codes, Study
from countback.audit.judge.tree import Agreement, CountryTest, Figure, GridReport, Lean
from countback.models.agreement import alpha_of, coincidences, label_counts, pairwise_kappa, pool_kappa
from countback.models.culture import MAJORITY_TIES_AVERAGED, lean_report
from countback.models.estimate import cluster_strata, cluster_totals, quotient
from countback.models.grid import modal_grid, stability, tie_report
from countback.models.nulls import (
    NullCount,
    adjust_bh,
    adjust_bonferroni,
    culture_free_grid,
    grid_counts,
    question_tests,
)
from countback.models.resampling import bootstrap_intervals
from countback.models.timing import median_seconds
from countback.models.votes import Votes, balanced, fewest_items, tally
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIN_SHARED = 10  # a kappa of two annotators who share fewer units is noise
_TIMED_LABELS = 50_000  # beyond these a median needs no interval
_TIMED_DRAWS = 200
_STABLE = 0.8


def agreement(study: Study, *, draws: int, seed: int) -> Iterator[Agreement]:
    """Agreement by part, over all countries and in each."""
    for name, units, scale in study.parts():
        place = np.full(len(study.labels), -1)
        place[list(scale)] = np.arange(len(scale))
        rows = units[study.unit]
        code = (np.cumsum(units) - 1)[study.unit[rows]]
        label, annotator = place[study.label[rows]], study.annotator[rows]
        counts = label_counts(code, label, int(units.sum()), len(scale))
        item, country = study.item[units], study.country[units]
        everywhere = _agreement(study, name, "", counts, item, country, draws, seed)
        yield _with_kappa(study, everywhere, code, annotator, label, len(scale))
        for c in study.present() if len(study.present()) > 1 else []:
            here = country == c
            yield _agreement(study, name, study.countries[c], counts[here], item[here], country[here], draws, seed)


def _agreement(
    study: Study, part: str, where: str, counts: Codes, item: Codes, country: Codes, draws: int, seed: int
) -> Agreement:
    level: Any = "ordinal" if study.ordered else "nominal"
    k = counts.shape[1]
    paired = counts.sum(axis=1) > 1
    counts, item, country = counts[paired], item[paired], country[paired]
    if not len(counts):
        none = Figure(np.nan, np.nan, np.nan, 0, "pairs of labels", 0, "percentile", 0.95, "no unit has two labels")
        return Agreement(part, where, none, none, level, np.nan, np.nan, 0, 0)
    size = counts.sum(axis=1)
    equal = np.column_stack([(counts * (counts - 1)).sum(axis=1) / 2, size * (size - 1) / 2])
    table = cluster_totals(np.column_stack([equal, coincidences(counts).reshape(len(counts), -1)]), item)
    strata = None if study.crossed else cluster_strata(country, item)

    def statistic(totals: Floats) -> Floats:
        alpha = alpha_of(totals[:, 2:].reshape(-1, k, k), level)
        return np.column_stack([quotient(totals[:, 0], totals[:, 1]), alpha])

    points, percentile, _ = bootstrap_intervals(table, statistic, draws, np.random.default_rng(seed), strata=strata)
    note = "" if np.isfinite(points[1]) else "all paired labels are one and the same"
    return Agreement(
        part,
        where,
        Figure.of(float(points[0]), percentile[0], int(equal[:, 1].sum()), "pairs of labels", len(table)),
        Figure.of(float(points[1]), percentile[1], int(size.sum()), "labels", len(table), note),
        level,
        float(counts.sum(axis=0).max() / size.sum()),
        np.nan,
        0,
        0,
    )


def _with_kappa(study: Study, row: Agreement, unit: Codes, annotator: Codes, label: Codes, k: int) -> Agreement:
    weights: Any = "quadratic" if study.ordered else "none"
    pairs = pairwise_kappa(unit, annotator, label, k, weights=weights, min_shared=MIN_SHARED)
    pooled = pool_kappa(pairs, weights=weights)
    return replace(row, kappa=pooled.weighted, annotator_pairs=pooled.pairs, undefined_pairs=pooled.undefined)


def human_votes(study: Study, codes: list[int], scale: tuple[int, ...]) -> Votes:
    """The humans' votes on some questions of one scale, told apart."""
    rows = np.isin(study.question[study.unit], codes)
    unit = study.unit[rows]
    place = np.full(len(study.labels), -1)
    place[list(scale)] = np.arange(len(scale))
    return tally(
        study.item[unit],
        study.country[unit],
        place[study.label[rows]],
        len(scale),
        question=study.question[unit],
        n_countries=len(study.countries),
        n_questions=len(study.questions),
    )


def _groups(study: Study) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Questions that share a scale of two labels or more, where there are countries to compare."""
    present = {int(q) for q in np.unique(study.question)}
    if len(study.present()) > 1:
        for scale in dict.fromkeys(study.scales[q] for q in sorted(present)):
            if len(scale) > 1:
                yield [q for q in sorted(present) if study.scales[q] == scale], scale


def tests(study: Study, *, draws: int, seed: int) -> list[CountryTest]:
    """Permutation test of every question: do its countries differ by more than shuffled ones?

    Corrected over all questions together, whatever their scales.
    """
    found = []
    for codes, scale in _groups(study) if study.ordered else ():
        votes = human_votes(study, codes, scale)
        rows = question_tests(votes, draws=draws, rng=np.random.default_rng(seed), scores=_scores(scale))
        found += [row for row in rows if row.question in codes]
    p = np.array([row.p for row in found])
    return [
        CountryTest(study.questions[row.question], row.items, row.p, float(all_of), float(bh), row.draws, row.note)
        for row, all_of, bh in zip(found, adjust_bonferroni(p), adjust_bh(p), strict=True)
    ]


def leans(study: Study, *, draws: int, seed: int) -> Iterator[Lean]:
    """Where the countries lie, by part; crossed items only where every country labelled them."""
    if len(study.present()) < 2 or not study.ordered:
        return
    for name, units, scale in study.parts():
        if len(scale) < 2:
            continue
        rows = units[study.unit]
        unit = study.unit[rows]
        place = np.full(len(study.labels), -1)
        place[list(scale)] = np.arange(len(scale))
        size = len(study.countries)
        votes = tally(study.item[unit], study.country[unit], place[study.label[rows]], len(scale), n_countries=size)
        if votes.crossed and not len((votes := balanced(votes)).item):
            continue
        report = lean_report(
            votes, MAJORITY_TIES_AVERAGED, draws=draws, rng=np.random.default_rng(seed), scores=_scores(scale)
        )
        figures = {
            study.countries[c]: Figure.from_estimate(e, len(np.unique(votes.item[votes.country == c])))
            for c, e in enumerate(report.leans.estimates())
            if e.n
        }
        yield Lean(
            part=name,
            countries=figures,
            spread=Figure.from_estimate(report.spread, fewest_items(votes)),
            sd=report.corrected.sd,
            sd_low=report.corrected.ci_low,
            sd_high=report.corrected.ci_high,
            noise_mean=report.noise_range[0],
            noise_high=report.noise_range[1],
            noise_p=report.noise_p,
        )


def grids(study: Study, *, draws: int, seed: int) -> Iterator[GridReport]:
    """One letter for each country and question of a scale, held against ties, resamples and grids without culture."""
    for codes, scale in _groups(study) if study.ordered else ():
        votes = human_votes(study, codes, scale)
        grid, ties = modal_grid(votes), tie_report(votes).counts()
        kept = stability(
            votes,
            draws=draws,
            rng=np.random.default_rng(seed),
            strata="none" if study.crossed or study.several else "cell",
        )
        shown = grid_counts(grid.letters, len(scale))
        null = culture_free_grid(
            votes,
            countries=len(study.present()),
            draws=draws,
            rng=np.random.default_rng(seed),
            deal="shuffle" if votes.crossed else "replacement",
            observed=(int(shown[0]), int(shown[1])),
        )
        names = [study.labels[code] for code in scale]
        yield GridReport(
            questions=tuple(study.questions[q] for q in codes),
            letters={
                study.countries[c]: tuple(names[n] if n >= 0 else "" for n in grid.letters[c, codes].tolist())
                for c in study.present()
            },
            cells=ties["cells"],
            tied=ties["tied at either level"],
            decided_by_tie=ties["decided by a tie"],
            unstable=kept.below(_STABLE),
            draws=draws,
            all_labels=_against(null.all_labels),
            unanimous=_against(null.unanimous),
            deal=null.deal,
        )


def _against(count: NullCount) -> tuple[int, float, int, int, float]:
    """Observed, the null's mean and central 90%, and the two-sided p-value."""
    assert count.observed is not None
    return count.observed, count.mean, count.low, count.high, min(1.0, 2 * min(count.at_least, count.at_most))


def seconds(study: Study, *, draws: int, seed: int) -> dict[str, Figure]:
    """Median seconds per answer by country, where most have a time; an answer to several questions counts once."""
    country, item = study.country[study.unit], study.item[study.unit]
    answer = (item * len(study.countries) + country) * (int(study.annotator.max(initial=0)) + 1) + study.annotator
    first = np.unique(answer, return_index=True)[1]
    time, country, item = study.seconds[first], country[first], item[first]
    known = np.isfinite(time)
    if known.sum() * 2 < len(known):
        return {}
    if known.sum() > _TIMED_LABELS:
        nan = float("nan")
        medians = {
            c: Figure(float(np.median(time[here])), nan, nan, int(here.sum()), "answers", 0, "none", 0.95)
            for c in study.present()
            if (here := known & (country == c)).any()
        }
        return {study.countries[c]: figure for c, figure in medians.items()}
    found = median_seconds(
        time,
        country,
        len(study.countries),
        item=item,
        draws=min(draws, _TIMED_DRAWS),
        rng=np.random.default_rng(seed),
    )
    return {
        study.countries[c]: Figure.from_estimate(e, len(np.unique(item[known & (country == c)])))
        for c, e in enumerate(found.estimates())
        if e.n
    }


def _scores(scale: tuple[int, ...]) -> Floats:
    return np.linspace(0.0, 1.0, len(scale))
