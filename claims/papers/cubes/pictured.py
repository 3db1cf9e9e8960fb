"""The pictures of this paper from the released labels; every number by functions of `models/`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from countback.claims.papers.cubes.pictures import ALL, GRID, HELD_OUT, HUMAN, LEAN, NULL, SPREAD
from countback.claims.papers.cubes.read import LABELS
from countback.claims.papers.cubes.readings import tests
from countback.claims.papers.cubes.study import ARTICLE_DRAWS, DRAWS, SEED, Data, Study, load
from countback.claims.pictures import (
    RELEASED,
    SYNTHETIC,
    Bar,
    Cell,
    GridPicture,
    HeldOutPicture,
    Histogram,
    LeanPicture,
    NullPicture,
    Picture,
    Printed,
    RestsOn,
    Side,
    SpreadsPicture,
)
from countback.claims.verdict import CannotRecount
from countback.models.culture import MAJORITY, MODAL_GRID, LeanReport, lean_report
from countback.models.estimate import Estimate, cluster_strata, ratio, resample
from countback.models.grid import modal_grid, stability, tie_report
from countback.models.nulls import culture_free_grid, question_tests
from countback.models.resampling import Interval, permuted_rows
from countback.models.votes import Votes, same_units, votes_of

KEPT_DRAWS = 4_000  # resamples behind the share that keeps a letter, as in the recipe
SHUFFLES = 2_000  # of each question for its histogram; its p is of DRAWS
BINS = 24
MAJORITY_OF_HUMANS = "human majority"
BEHIND = "Behind a human majority are the items that have one, behind a judge all items with a human label."


def pictures(data: Data, printed: Printed) -> list[Picture]:
    """Raises UserError where the labels cannot be read."""
    study = load(data)
    rests_on = RestsOn(SYNTHETIC if study.report.synthetic else RELEASED)
    leans = _leans(study)
    return [
        _held_out(study, rests_on),
        _lean(study, leans, rests_on),
        _spreads(leans, rests_on),
        _grid(study, rests_on),
        _null(study, printed, rests_on),
    ]


# --- Held-out human and judges -------------------------------------------------------------------------------------


def _held_out(study: Study, rests_on: RestsOn) -> Picture:
    rates: list[Bar] = []
    leads: list[Bar] = []
    missing: list[str] = []
    for country in ("", *study.table.countries):
        try:
            rates += _rates(study, country)
        except CannotRecount as error:
            missing.append(f"{country}: {error}")
            continue
        for judge, found in study.differences(country).items():
            leads.append(_bar(country or ALL, judge, found.value, found.percentile, found.n, scale=100))
    return HeldOutPicture(
        title="A held-out human against the judges",
        says=HELD_OUT,
        rests_on=rests_on,
        n=study.held_out().comparisons,
        interval=f"95% percentile bootstrap, items resampled within countries, {DRAWS:,} draws",
        seed=SEED,
        rates=tuple(rates),
        leads=tuple(leads),
        missing=tuple(missing),
    )


def _rates(study: Study, country: str) -> Iterator[Bar]:
    """Hits over comparisons of the human and each judge, items resampled; raises CannotRecount without a comparison."""
    counts, strata = study.held_out(), study.country_of_item
    study.held_out("skip", country)
    inside = counts.labels > 0
    if country:
        inside &= strata == study.country(country)
    counts, strata = counts.select(inside), strata[inside]
    hits = np.column_stack([counts.human, counts.judges])
    drawn = resample(
        np.column_stack([hits, *[counts.n] * hits.shape[1]]),
        ratio,
        n=counts.comparisons,
        unit="comparisons",
        draws=DRAWS,
        rng=np.random.default_rng(SEED),
        strata=cluster_strata(strata, np.arange(len(strata))),
    )
    for name, rate in zip((HUMAN, *study.report.judges), drawn.estimates(), strict=True):
        yield _bar(country or ALL, name, rate.value, rate.interval, rate.n, scale=100)


def _bar(group: str, name: str, point: float, interval: Interval | None, n: int, scale: float = 1) -> Bar:
    """Undefined numbers are None."""
    drawn = (point, interval.low, interval.high) if interval is not None else (point, np.nan, np.nan)
    value, low, high = [scale * float(x) if np.isfinite(x) else None for x in drawn]
    return Bar(group, name, value, low, high, int(n))


# --- Leans and spreads -----------------------------------------------------------------------------------------------


def _leans(study: Study) -> dict[str, LeanReport]:
    """By voter: the majorities of the humans (ties dropped), and each judge on the items with a human label."""
    human = study.votes
    voters: dict[str, Votes] = {MAJORITY_OF_HUMANS: human}
    for judge in study.report.judges:
        voters[judge] = same_units([human, votes_of(study.table, judge)], "strictest")[0][-1]
    return {
        name: lean_report(votes, MAJORITY, draws=DRAWS, rng=np.random.default_rng(SEED))
        for name, votes in voters.items()
    }


def _lean(study: Study, leans: dict[str, LeanReport], rests_on: RestsOn) -> Picture:
    shown, missing = dict(leans), ""
    try:
        figure = lean_report(study.questioned, MODAL_GRID, draws=DRAWS, rng=np.random.default_rng(SEED))
        shown = {"humans, by the rule of the figure": figure, **leans}
    except CannotRecount as error:
        missing = f"The rule of the figure: {error}"
    bars = [
        _of(voter, country, estimate)
        for voter, report in shown.items()
        for country, estimate in zip(study.table.countries, report.leans.estimates(), strict=True)
    ]
    return LeanPicture(
        title="How strict each country is",
        says=f"{LEAN} {BEHIND}",
        rests_on=rests_on,
        n=int(study.votes.counts.any(axis=1).sum()),
        interval=f"95% percentile bootstrap, items resampled within countries, {DRAWS:,} draws",
        seed=SEED,
        bars=tuple(bars),
        missing=(missing,) if missing else (),
    )


def _of(group: str, name: str, found: Estimate) -> Bar:
    return _bar(group, name, found.value, found.interval, found.n)


def _spreads(leans: dict[str, LeanReport], rests_on: RestsOn) -> Picture:
    bars = [replace(_of("", voter, report.spread), note=_noise(report)) for voter, report in leans.items()]
    return SpreadsPicture(
        title="How far the countries lie apart",
        says=f"{SPREAD} {BEHIND}",
        rests_on=rests_on,
        interval=f"95% simultaneous over all pairs of countries, items resampled within countries, {DRAWS:,} draws",
        seed=SEED,
        bars=tuple(bars),
    )


def _noise(report: LeanReport) -> str:
    if not np.isfinite(report.noise_p):
        return ""
    return f"noise alone gives {report.noise_range[0]:.3f} on average, this much or more in {report.noise_p:.3f}"


# --- The grid and the nulls ------------------------------------------------------------------------------------------


def _grid(study: Study, rests_on: RestsOn) -> Picture:
    try:
        votes = study.questioned
    except CannotRecount as error:
        return GridPicture(title="The letter of each cell", says=GRID, rests_on=rests_on, labels=LABELS, cells=(),
                           missing=(f"Not drawn: {error}",))  # fmt: skip
    grid, ties = modal_grid(votes), tie_report(votes)
    kept = stability(votes, draws=KEPT_DRAWS, rng=np.random.default_rng(SEED), resample="items", strata="cell").kept
    cells = [
        Cell(
            country,
            question,
            LABELS[grid.letters[c, q]] if grid.letters[c, q] >= 0 else "",
            bool(ties.tied_cell[c, q]),
            bool(ties.decided[c, q]),
            int(ties.tied_items[c, q]),
            float(kept[c, q]) if np.isfinite(kept[c, q]) else None,
        )
        for q, question in enumerate(study.table.questions)
        for c, country in enumerate(study.table.countries)
    ]
    return GridPicture(
        title="The letter of each cell",
        says=GRID,
        rests_on=rests_on,
        n=int(grid.items.sum()),
        interval=f"kept: share of {KEPT_DRAWS:,} resamples of a cell's items that give the letter again",
        seed=SEED,
        labels=LABELS,
        cells=tuple(cells),
    )


def _null(study: Study, printed: Printed, rests_on: RestsOn) -> Picture:
    title = "What chance alone would show"
    try:
        votes = study.questioned
    except CannotRecount as error:
        return NullPicture(title=title, says=NULL, rests_on=rests_on, nulls=(), missing=(f"Not drawn: {error}",))
    return NullPicture(
        title=title,
        says=f"{NULL} First, grids of twelve synthetic countries that get the items of each question at random, with "
        "what the paper's figure shows; then, question by question, the variance of the countries' means when the "
        "countries are shuffled over the items.",
        rests_on=rests_on,
        n=int(votes.counts.any(axis=1).sum()),
        interval=f"grids: {ARTICLE_DRAWS:,} draws; p of a question: {DRAWS:,} shuffles, {SHUFFLES:,} of them drawn",
        seed=SEED,
        nulls=(*_grids(votes, printed), *_questions(study)),
    )


def _grids(votes: Votes, printed: Printed) -> Iterator[Histogram]:
    """Counts of questions over null grids. The draws at or above k are those of `at_least`, for each k in turn."""
    tops = range(votes.n_questions + 2)
    drawn = [
        culture_free_grid(votes, draws=ARTICLE_DRAWS, rng=np.random.default_rng(SEED), observed=(k, k)) for k in tops
    ]
    kinds: tuple[tuple[str, str, str, Side], ...] = (
        ("all_labels", "questions that show all labels", "s5-figure-all", "at least"),
        ("unanimous", "unanimous questions", "s5-figure-same", "at most"),
    )
    for kind, name, claim, side in kinds:
        nulls = [getattr(each, kind) for each in drawn]
        above = np.round([null.at_least * (ARTICLE_DRAWS + 1) - 1 for null in nulls]).astype(int)
        observed = int(printed.value(claim))
        met = nulls[observed]
        yield Histogram(
            name=name,
            observed=observed,
            edges=tuple(k - 0.5 for k in tops),
            counts=tuple(int(n) for n in above[:-1] - above[1:]),
            mean=met.mean,
            low=met.low,
            high=met.high,
            p=float(met.at_least if side == "at least" else met.at_most),
            side=side,
            draws=ARTICLE_DRAWS,
            claims=(claim,),
        )


def _questions(study: Study) -> Iterator[Histogram]:
    """Each question's variance of country means, and the same of shuffled countries."""
    votes = study.questioned
    kept = votes.keep(np.asarray(votes.counts.any(axis=1)))
    rng = np.random.default_rng(SEED)
    shuffled = [row for rows in permuted_rows(kept.country, SHUFFLES, rng, strata=kept.question) for row in rows]
    null = np.array(
        [[test.observed for test in question_tests(replace(kept, country=row), draws=1, rng=rng)] for row in shuffled]
    )
    found = tests(study)["variance of country means"]
    for test, name, values in zip(found, study.table.questions, null.T, strict=True):
        if not np.isfinite(test.p):
            continue
        top = max(float(values.max()), test.observed) or 1.0
        counts, edges = np.histogram(values, bins=BINS, range=(0, top))
        low, high = np.quantile(values, [0.05, 0.95])
        yield Histogram(
            name=name,
            observed=float(test.observed),
            edges=tuple(edges.tolist()),
            counts=tuple(int(n) for n in counts),
            mean=float(values.mean()),
            low=float(low),
            high=float(high),
            p=float(test.p),
            draws=SHUFFLES,
        )
