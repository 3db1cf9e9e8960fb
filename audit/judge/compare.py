"""One judge against the humans, on the units it was asked about. Calls the estimators; adds no statistic of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from countback.audit.judge.study import Bits, Codes, Judge, Study
from countback.audit.judge.tree import (
    CLOSE,
    AlphaPair,
    Alternative,
    Comparison,
    Decision,
    Figure,
    Flat,
    JudgeReport,
    Kappa,
    Place,
    Raters,
)
from countback.fetch.errors import UserError
from countback.models.agreement import Weights, disagreement_weights, label_counts, table_kappa
from countback.models.alttest import alt_test
from countback.models.culture import MAJORITY_TIES_AVERAGED, flattening
from countback.models.equivalence import alpha_difference, equivalent_raters
from countback.models.estimate import cluster_strata, cluster_totals
from countback.models.heldout import (
    POLICIES,
    Difference,
    HeldOut,
    Policy,
    held_out,
    judge_differences,
    reference_tables,
)
from countback.models.resampling import bootstrap_intervals
from countback.models.votes import Votes, balanced, fewest_items, tally
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EPSILONS = (0.1, 0.15, 0.2)  # Calderon et al. (2025), section 3: for crowd workers, trained and expert annotators
MIN_ITEMS = 30
_MOST_FORMS = 12


class Part:
    """A judge and its humans on some of the units, with units numbered anew; labels are codes of the whole study."""

    def __init__(self, study: Study, judge: Judge, units: Bits) -> None:
        rows = units[study.unit]
        self.unit = (np.cumsum(units) - 1)[study.unit[rows]]
        self.annotator, self.label = study.annotator[rows], study.label[rows]
        self.item, self.country, self.question = study.item[units], study.country[units], study.question[units]
        self.answers = judge.answers[units]
        self.strata = None if study.crossed else self.country

    def on_scale(self, scale: tuple[int, ...]) -> tuple[Codes, Codes]:
        """Labels and answers as places on a scale, -1 for none."""
        place = np.full(max(scale) + 2, -1, np.int64)  # the last entry is what code -1 finds
        place[list(scale)] = np.arange(len(scale))
        known = np.where(self.answers < len(place) - 1, self.answers, -1)
        return place[self.label], place[known]


def compare(study: Study, judge: Judge, *, draws: int, seed: int) -> JudgeReport:
    """Everything about one judge. Each random step starts from the same seed, so no part depends on another."""
    answered = judge.answers >= 0
    tables = {name: _tables(study, judge, units & judge.asked, scale) for name, units, scale in study.parts()}
    places = _places(study, judge, tables)
    left_out = _hardly_answered(places)
    report = JudgeReport(
        name=judge.name,
        state="compared",
        rows=judge.rows,
        valid=judge.valid,
        unmatched=judge.unmatched,
        units=study.units,
        asked=int(judge.asked.sum()),
        answered=int(answered.sum()),
        everywhere=judge.everywhere,
        same_everywhere=_same_everywhere(study, judge),
        other={_named(q, text): n for (q, text), n in list(judge.other.items())[:_MOST_FORMS]},
        other_total=sum(judge.other.values()),
        other_in=judge.other_in,
        places=places,
        left_out=left_out,
    )
    if not judge.asked.any():
        return replace(report, state="no overlap")
    if answered.sum() * 2 < judge.asked.sum():
        return replace(report, state="no label")
    inside = ~np.isin(study.country, [study.countries.index(name) for name in left_out])
    part = Part(study, judge, judge.asked & inside)
    comparisons = {policy: _held(study, part, policy) for policy in POLICIES}
    skip = comparisons["skip"]

    def difference(result: HeldOut, where: str, units: Any, of: Part = part) -> Comparison:
        item, strata = of.item[units], None if of.strata is None else of.strata[units]
        return _comparison(result.select(units), where, item, strata, draws, np.random.default_rng(seed))

    everything = np.ones(len(part.item), np.bool_)
    with_them = None
    if left_out:
        whole = Part(study, judge, judge.asked)
        with_them = difference(_held(study, whole, "skip"), "", np.ones(len(whole.item), np.bool_), whole)
    countries = [c for c in study.present() if study.countries[c] not in left_out]
    return replace(
        report,
        overall=difference(skip, "", everything),
        with_them=with_them,
        policies=tuple(difference(result, "", everything) for result in comparisons.values()),
        by_country=tuple(
            difference(skip, study.countries[c], part.country == c)
            for c in (countries if len(study.present()) > 1 else [])
            if (part.country == c).any()
        ),
        by_question=tuple(
            difference(skip, study.questions[q], part.question == q)
            for q in (np.unique(part.question) if len(study.questions) > 1 else [])
        ),
        kappas=tuple(_kappas(study, tables, inside, draws, seed)),
        alternative=tuple(_alternatives(study, part)),
        raters=_raters(study, part),
        alphas=tuple(_alphas(study, judge, inside, draws, seed)),
        flat=tuple(_flats(study, judge, report, inside, draws, seed)),
        shares=_shares(study, part),
    )


def decide(difference: Difference) -> Decision:
    """What the intervals that exist agree on; nothing below FEWEST_CLUSTERS items or where none exists."""
    if not np.isfinite(difference.value):
        return "undefined"
    figure = Figure.of(difference.value, difference.percentile, difference.n, "", difference.clusters)
    if not figure.usable:
        return "too few"
    known = [i for i in (difference.percentile, difference.bca, difference.robust) if i is not None]
    known = [i for i in known if np.isfinite(i.low) and np.isfinite(i.high)]
    low, high = min(i.low for i in known), max(i.high for i in known)
    if high < 0:
        return "behind"
    if low > 0:
        return "ahead"
    return "close" if low > -CLOSE and high < CLOSE else "open"


def _named(question: str, text: str) -> str:
    return f"{text!r} ({question})" if question else repr(text)


def _held(study: Study, part: Part, policy: Policy) -> HeldOut:
    return held_out(
        part.unit, part.annotator, part.label, part.answers[None, :], labels=len(study.labels), policy=policy
    )


def _comparison(
    result: HeldOut, where: str, item: Codes, strata: Codes | None, draws: int, rng: np.random.Generator
) -> Comparison:
    (found,) = judge_differences(result, draws, rng, country=strata, cluster=item)
    assert found.robust is not None
    used = len(np.unique(item[result.n > 0]))
    note = (
        "" if result.comparisons else "no label has a reference: no unit holds two labels, or all references are tied"
    )
    figure = Figure.of(found.value, found.percentile, found.n, "comparisons", used, note)
    return Comparison(
        where=where,
        policy=result.policy,
        n=found.n,
        items=used,
        tied=int(result.tied.sum()),
        alone=int(result.alone.sum()),
        missing=int(result.missing.sum()),
        human=result.human_rate,
        judge=float(result.judge_rates[0]),
        difference=figure,
        bca=(found.bca.low, found.bca.high),
        robust=(found.robust.low, found.robust.high),
        decision="too few" if np.isfinite(found.value) and not figure.usable else decide(found),
    )


def _tables(study: Study, judge: Judge, units: Bits, scale: tuple[int, ...]) -> tuple[Bits, Floats]:
    """The units, and their tables of reference against answer (units, 2, k, k): the human's, then the judge's."""
    part = Part(study, judge, units)
    label, answer = part.on_scale(scale)
    return units, reference_tables(part.unit, part.annotator, label, answer, labels=len(scale))


def _weights(study: Study) -> Weights:
    return "quadratic" if study.ordered else "none"


def _kappas(
    study: Study, tables: dict[str, tuple[Bits, Floats]], inside: Bits, draws: int, seed: int
) -> Iterator[Kappa]:
    for name, (units, table) in tables.items():
        keep = inside[units]
        k = table.shape[-1]
        weights = disagreement_weights(k, _weights(study))
        item = study.item[units][keep]
        rows = table[keep].reshape(len(item), -1)
        paired = rows.any(axis=1)
        rows, item = rows[paired], item[paired]
        if not len(rows):
            continue
        strata = None if study.crossed else cluster_strata(study.country[units][keep][paired], item)

        def statistic(totals: Floats, k: int = k, weights: Floats = weights) -> Floats:
            kappa = table_kappa(totals.reshape(-1, 2, k, k), weights)[0]
            return np.column_stack([kappa, kappa[:, 1] - kappa[:, 0]])

        totals = cluster_totals(rows, item)
        rng = np.random.default_rng(seed)
        points, percentile, _ = bootstrap_intervals(totals, statistic, draws, rng, strata=strata)
        n = round(float(rows[:, : k * k].sum()))
        figures = [
            Figure.of(
                float(p),
                i,
                n,
                "comparisons",
                len(totals),
                "" if np.isfinite(p) else "only one label was used throughout",
            )
            for p, i in zip(points, percentile, strict=True)
        ]
        yield Kappa(name, _weights(study), *figures)


def _places(study: Study, judge: Judge, tables: dict[str, tuple[Bits, Floats]]) -> tuple[Place, ...]:
    """Units of the questions that the judge answered at all, by country, with its kappa there (a point value)."""
    answered = judge.answers >= 0
    asked_questions = np.unique(study.question[answered])
    relevant = np.isin(study.question, asked_questions)
    size = len(study.countries)
    units = np.bincount(study.country[relevant], minlength=size)
    given = np.bincount(study.country[answered], minlength=size)
    kappas = []
    for at, table in tables.values():
        k = table.shape[-1]
        sums = np.zeros((size, k, k))
        np.add.at(sums, study.country[at], table[:, 1])
        kappas.append(table_kappa(sums, disagreement_weights(k, _weights(study)))[0])
    found = np.array(kappas)
    known = np.isfinite(found)
    mean = np.where(known, found, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return tuple(
        Place(study.countries[c], int(units[c]), int(given[c]), float(mean[c]) if known[:, c].any() else float("nan"))
        for c in study.present()
    )


def _hardly_answered(places: tuple[Place, ...]) -> tuple[str, ...]:
    """Countries with a label on less than half of their units, where half of the countries have one on nearly all."""
    shares = np.array([p.answered / p.units if p.units else 0.0 for p in places])
    if len(shares) < 3 or np.median(shares) < 0.9:
        return ()
    return tuple(p.country for p, share in zip(places, shares, strict=True) if share < 0.5)


def _same_everywhere(study: Study, judge: Judge) -> bool:
    """Whether no item of several countries ever got two different answers (and there is such an item)."""
    answered = judge.answers >= 0
    key = study.item[answered] * len(study.questions) + study.question[answered]
    codes, place, count = np.unique(key, return_inverse=True, return_counts=True)
    if not len(codes) or count.max() < 2:
        return False
    answers = judge.answers[answered]
    high, low = np.full(len(codes), -1), np.full(len(codes), len(study.labels))
    np.maximum.at(high, place, answers)
    np.minimum.at(low, place, answers)
    return bool((high == low).all())


def _alternatives(study: Study, part: Part) -> Iterator[Alternative]:
    for epsilon in EPSILONS:
        result = alt_test(
            part.unit,
            part.annotator,
            part.label,
            part.answers,
            epsilon=epsilon,
            min_items=MIN_ITEMS,
            cluster=part.item,
        )
        yield Alternative(
            epsilon=epsilon,
            humans=len(result.humans),
            won=int(result.rejected.sum()),
            advantage=result.advantage_probability,
            skipped=len(result.skipped),
            min_items=MIN_ITEMS,
            note=result.note,
        )


def _raters(study: Study, part: Part) -> Raters:
    counts = label_counts(part.unit, part.label, len(part.item), len(study.labels))
    found = equivalent_raters(counts, part.answers)
    return Raters(
        found.value, found.capped, found.score, tuple(found.curve.tolist()), found.n_items, found.dropped, found.note
    )


def _alphas(study: Study, judge: Judge, inside: Bits, draws: int, seed: int) -> Iterator[AlphaPair]:
    level: Any = "ordinal" if study.ordered else "nominal"
    for name, units, scale in study.parts():
        part = Part(study, judge, units & inside & judge.asked)
        if not len(part.unit):
            continue
        label, answer = part.on_scale(scale)
        counts = label_counts(part.unit, label, len(part.item), len(scale))
        found = alpha_difference(
            counts, answer, level, draws, np.random.default_rng(seed), country=part.strata, cluster=part.item
        )
        figure = Figure.of(found.difference, found.percentile, found.n_labels, "labels", found.clusters, found.note)
        yield AlphaPair(name, level, found.human_human, found.judge_human, figure)


def _flats(study: Study, judge: Judge, report: JudgeReport, inside: Bits, draws: int, seed: int) -> Iterator[Flat]:
    """Flattening by part, or the reason why there is none."""
    nan = float("nan")
    for name, units, scale in study.parts():
        chosen = units & inside & (judge.answers >= 0)
        part = Part(study, judge, chosen)
        human, own = votes(study, part, scale)
        if human.crossed:  # countries that lack different items would differ by their items
            human = balanced(human)
        skipped = _no_flattening(study, report, human, scale)
        if not skipped:
            try:
                (found,) = flattening(
                    human,
                    [own],
                    MAJORITY_TIES_AVERAGED,
                    draws=draws,
                    rng=np.random.default_rng(seed),
                    scores=np.linspace(0.0, 1.0, len(scale)),
                )
            except UserError:
                skipped = "nothing shared"
        if skipped:
            yield Flat(name, len(human.item), None, None, nan, nan, None, nan, skipped)
            continue
        clusters = fewest_items(human)
        yield Flat(
            part=name,
            units=int(found.human.leans.n.sum()),
            human_spread=Figure.from_estimate(found.human.spread, clusters),
            judge_spread=Figure.from_estimate(found.judge.spread, clusters),
            human_sd=found.human.corrected.sd,
            judge_sd=found.judge.corrected.sd,
            ratio=Figure.from_estimate(found.corrected_ratio, clusters),
            noise_p=found.human.noise_p,
        )


def _no_flattening(study: Study, report: JudgeReport, human: Votes, scale: tuple[int, ...]) -> str:
    if len(np.unique(human.country)) < 2:
        return "one country"
    if report.everywhere or report.same_everywhere:
        return "one answer"
    if not study.ordered:
        return "no order"
    return "one label" if len(scale) < 2 else ""


def votes(study: Study, part: Part, scale: tuple[int, ...]) -> tuple[Votes, Votes]:
    """The humans' and the judge's votes on a part, on its scale."""
    label, answer = part.on_scale(scale)
    size = len(study.countries)
    human = tally(part.item[part.unit], part.country[part.unit], label, len(scale), n_countries=size)
    return human, tally(part.item, part.country, answer, len(scale), n_countries=size)


def _shares(study: Study, part: Part) -> dict[str, dict[str, float]]:
    answered = part.answers >= 0
    judge = np.bincount(part.answers[answered], minlength=len(study.labels))
    human = np.bincount(part.label[answered[part.unit]], minlength=len(study.labels))
    return {
        who: {name: float(n / max(counts.sum(), 1)) for name, n in zip(study.labels, counts, strict=True)}
        for who, counts in (("judge", judge), ("human", human))
    }
