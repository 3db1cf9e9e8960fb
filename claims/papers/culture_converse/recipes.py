"""Recounts of the CultureConverse paper, one function for each kind of number that it prints.

Every file is the user's own copy, read by a mapping (see read.py), so no verdict of these recipes is ever `reproduced`
while the kit pins nothing of the release. Points are means over all episodes or cells; their intervals are percentiles
of resampled episodes, pairs or dialogues, and are judged only where the paper prints them (Table 17).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
from countback.claims.interval import Interval
from countback.claims.papers.culture_converse import episodes as e
from countback.claims.papers.culture_converse import ratings as r
from countback.claims.papers.culture_converse.names import METRICS, MODELS, VOCABULARY
from countback.claims.papers.culture_converse.read import Data, Rows
from countback.claims.reported import parse
from countback.claims.verdict import CannotRecount, Recount
from countback.models.estimate import Estimate
from countback.models.panels import MEASURES, Ensembles
from countback.models.resampling import mc_error_quantile

AVERAGE = "Average"
PAPER_DRAWS = 1_000  # the resamples behind Table 17, by its caption
RANKS = ("Best", "Second-best", "Third-best")

# --- Episodes ----------------------------------------------------------------------------------------------------


def composition(data: Data, *, row: str, column: str) -> Recount:
    """Table 2: episodes of the data set by split and language or by region, and by tier; or identities."""
    rows = e.load_episodes(data)
    first, _, language = row.partition(" ")
    part, region = first.lower() if language else "", row if row in VOCABULARY["region"] else ""
    chosen = e.released(
        rows, part=part, language=language, region=region, tier=column if column in VOCABULARY["tier"] else ""
    )
    if column == "identities":
        return _recount(rows, e.identities(rows, chosen), int(chosen.sum()), "identity", "region")
    found = e.dialogues(rows, chosen)
    readings = {"distinct seeds and languages": float(found), "rows, those of all models": float(chosen.sum())}
    return _recount(rows, found, int(chosen.sum()), "split", "mode", "language", readings=readings)


def score(data: Data, *, row: str, column: str) -> Recount:
    """Table 4: a model's mean over its benchmark, or the average row: the mean of the eighteen means."""
    rows, name = e.load_episodes(data), column.removesuffix(" Avg")
    return _of_models(rows, {model: e.mean_of(rows, model, name).estimate() for model in _models(row)}, "model")


def score_interval(data: Data, *, row: str, column: str) -> Recount:
    """Table 17: a model's mean with its bootstrap interval; both lots of draws, the paper's and ours, have an error."""
    rows = e.load_episodes(data)
    resampled = e.mean_of(rows, row, column)
    found = resampled.estimate()
    if found.interval is None:
        raise CannotRecount(f"no mean of {column} of {row}: {found.note}")
    shares = np.array([0.025, 0.975])
    theirs = mc_error_quantile(resampled.samples, shares, np.sqrt(shares * (1 - shares) / PAPER_DRAWS))
    note = f"{found.interval.draws:,} resamples of episodes against the paper's {PAPER_DRAWS:,}, which are allowed for"
    return _recount(
        rows,
        found.value,
        found.n,
        "model",
        mc_error=float(np.hypot(found.interval.mc_error, theirs).max()),
        seed=e.SEED,
        low_high=(found.interval.low, found.interval.high),
        notes=(note, *_dropped(found)),
    )


def trap_effect(data: Data, *, row: str, column: str) -> Recount:
    """Table 14: mean 3H on standard episodes, on those with a trap of either kind, and the difference, unpaired."""
    rows = e.load_episodes(data)
    which = {"Std 3H": 0, "Trap 3H": 1, "Δ 3H": 2}[column]
    return _of_models(rows, {model: e.trap(rows, model, "3H")[which] for model in _models(row)}, "model", "tier")


def gold_gain(data: Data, *, row: str, column: str) -> Recount:
    """Table 10: GPT-5 mini with and without the oracle, on the seeds and languages of the test split that have both."""
    rows = e.load_episodes(data)
    side, name = column.split(" ")
    which = {"Eval": 0, "Gold": 1, "Δ": 2}[side]
    matched, every, single = e.gold(rows, "" if row == "Combined" else row, "Clean %" if name == "Clean" else name)
    readings = {"matched seeds and languages": matched[which].value, "all episodes": every[which].value}
    notes = (f"{single} episodes without a partner in the other mode left out",) if single else ()
    return _estimate(rows, matched[which], "mode", "language", readings=readings, notes=notes)


def distribution(data: Data, *, row: str, column: str) -> Recount:
    """Table 15: mean, standard deviation, median and shares of GPT-5 mini's scores on one metric."""
    rows = e.load_episodes(data)
    metric = next(name for name in METRICS if row.casefold().endswith(name.casefold()))
    scores = rows.scores(metric)[e.select(rows, model=e.JUDGED)]
    known = scores[np.isfinite(scores)].astype(np.int64)
    n = len(known)
    if n < 2:
        raise CannotRecount(f"{n} episodes of {e.JUDGED} have a score of {metric}; two or more are needed")
    notes = (f"{len(scores) - n} scores missing",) if n < len(scores) else ()
    if column == "Std":
        readings = {"of the sample": float(known.std(ddof=1)), "of the population": float(known.std())}
        return _recount(rows, readings["of the sample"], n, "model", readings=readings, notes=notes)
    if column == "Mean":
        value = Fraction(int(known.sum()), n)
    elif column == "Median":
        value = Fraction(float(np.median(known)))
    else:
        value = Fraction(100 * int((known == int(column[1:])).sum()), n)
    return _recount(rows, value, n, "model", notes=notes)


def group_range(data: Data, *, by: str, printed: str) -> Recount:
    """Highest less lowest mean 3H of GPT-5 mini over genders or identities; the paper has no interval for it.

    Some identities have one name in two regions, and the paper does not say whether they are then one: both readings
    are made, and the first that prints as the paper does decides.
    """
    rows = e.load_episodes(data)
    found: dict[str, Estimate] = {}
    notes = []
    for columns in ((by,),) if by != "identity" else ((by,), ("region", by)):
        slices, names = e.slices(rows, e.JUDGED, "3H", columns)
        what = " and ".join(columns)
        if len(names) < 2:
            raise CannotRecount(f"the column of {what} tells {len(names)} group apart; two or more are needed")
        found[what] = slices.spread
        low, high = (names[int(end(slices.means.values))] for end in (np.argmin, np.argmax))
        notes.append(f"by {what}: {len(names)} groups, lowest {low}, highest {high}")
        noise = slices.noise_range[0]
        gives = f"{noise:.3f} on average" if np.isfinite(noise) else "unknown size: a group has one episode"
        notes.append(f"noise alone gives a range of {gives}")
    readings = {what: spread.value for what, spread in found.items()}
    meets = [what for what, value in readings.items() if parse(printed).interval.covers(Interval.of(Fraction(value)))]
    chosen = found[(meets or list(found))[0]]
    return _estimate(rows, chosen, "model", readings=readings, notes=tuple(notes))


def native_range(data: Data, *, models: list[str]) -> Recount:
    """Least and greatest gain of 3H in native-language dialogues over some models, paired at the seed level."""
    rows = e.load_episodes(data)
    gains = {model: e.native_gain(rows, model, "3H") for model in models}
    return _range(rows, gains, "model", "language")


def trap_range(data: Data) -> Recount:
    """Least and greatest loss of 3H on trap episodes over the eighteen models."""
    rows = e.load_episodes(data)
    losses = {model: e.trap(rows, model, "3H").gain for model in MODELS}
    return _range(rows, losses, "model", "tier", sign=-1)


def trap_end(data: Data, *, end: str) -> Recount:
    """Least or greatest loss of 3H on trap episodes, or the mean change, over the eighteen models."""
    rows = e.load_episodes(data)
    changes = [e.trap(rows, model, "3H").gain for model in MODELS]
    values = [change.value for change in changes]
    value = {"low": -max(values), "high": -min(values), "mean": sum(values) / len(values)}[end]
    return _recount(rows, value, sum(change.n for change in changes), "model", "tier")


# --- Ratings -----------------------------------------------------------------------------------------------------


def agreement(data: Data, *, row: str, column: str, by: str = "") -> Recount:
    """Tables 3, 12 and 13: people among themselves, by pairs, or GPT-5 mini against the mean of three people."""
    ratings = r.load_ratings(data)
    human = row.startswith("Human") or column.startswith("HH ")
    group = row if by and row != "Overall" else ""
    return _closeness(ratings, "" if human else e.JUDGED, column, by if group else "", group)


def judge(data: Data, *, row: str, column: str) -> Recount:
    """Table 11, a judge alone: against the mean of three people."""
    return _closeness(r.load_ratings(data), row, column)


def ensemble(data: Data, *, row: str, column: str) -> Recount:
    """Table 11, an ensemble: the one at that rank by MAE, each scoring by the mean of its judges."""
    ratings = r.load_ratings(data)
    everyone = r.ranked(ratings)
    at, unit = _measure(column)
    rank = RANKS.index(row.split(" ")[0])
    place = int(everyone.order[rank])
    named = row.partition("(")[2].rstrip(")").split(" + ")
    same = next(i for i in range(len(everyone.members)) if set(everyone.name(i).split(" + ")) == set(named))
    middle = r.median_of(ratings, tuple(named)).estimate("median | mean of all", MEASURES[at])
    values = everyone.ensembles.values
    readings = {
        "the ensemble of this rank": unit * float(values[place, at]),
        "the ensemble named": unit * float(values[same, at]),
        "the ensemble named, scoring by the median": unit * middle.value,
    }
    notes = (f"at this rank: {everyone.name(place)}", f"rank of the ensemble named: {_rank(everyone, same)}")
    return _estimate(
        ratings.rows,
        _scaled(everyone.ensembles.estimate(place, at), unit),
        readings=readings,
        notes=notes + ratings.notes,
    )


def ensemble_lead(data: Data, *, row: str, column: str) -> Recount:
    """Table 11, last row: the best ensemble minus GPT-5 mini, on the same cells."""
    ratings = r.load_ratings(data)
    everyone = r.ranked(ratings)
    at, unit = _measure(column)
    best = int(everyone.order[0])
    low, high = unit * everyone.lead_bounds[:, best, at]
    first = f"first of {len(everyone.members)} in {100 * everyone.first[best]:.0f}% of the resamples"
    return _recount(
        ratings.rows,
        unit * float(everyone.lead[best, at]),
        int(everyone.ensembles.n[best, at]),
        interval=(float(low), float(high)),
        notes=(f"{everyone.name(best)}: {first}, so its lead is that of the best of many", *ratings.notes),
    )


def ensemble_at(data: Data, *, rank: int, named: str) -> Recount:
    """The judges of the ensemble at a rank by MAE; in the paper's order where they are the ones it names."""
    ratings = r.load_ratings(data)
    everyone = r.ranked(ratings)
    found = everyone.name(int(everyone.order[rank - 1]))
    value = named if set(found.split(" + ")) == set(named.split(" + ")) else found
    return _recount(ratings.rows, value, len(everyone.members), notes=ratings.notes)


def best_judge(data: Data, *, measure: str) -> Recount:
    """The judge with the smallest MAE, or the largest share within one point, on the cells that all judges scored."""
    ratings = r.load_ratings(data)
    everyone = r.ranked(ratings)
    at, _ = _measure(measure)
    values = everyone.singles.values[:, at]
    best = int(np.argmax(values) if at == 0 else np.argmin(values))
    return _recount(ratings.rows, everyone.judges[best], len(values), notes=ratings.notes)


# --- From estimates to recounts ----------------------------------------------------------------------------------


def _models(row: str) -> tuple[str, ...]:
    return MODELS if row == AVERAGE else (row,)


def _of_models(rows: Rows, found: Mapping[str, Estimate], *columns: str) -> Recount:
    """One model's estimate, or the plain mean over several."""
    if len(found) == 1:
        return _estimate(rows, next(iter(found.values())), *columns)
    value = sum(estimate.value for estimate in found.values()) / len(found)
    return _recount(rows, value, sum(estimate.n for estimate in found.values()), *columns)


def _range(rows: Rows, found: Mapping[str, Estimate], *columns: str, sign: int = 1) -> Recount:
    """The ends over models of an estimate, or of its negative."""
    values = {model: sign * estimate.value for model, estimate in found.items()}
    low, high = min(values.values()), max(values.values())
    notes = tuple(f"{model} {value:+.3f}" for model, value in values.items())
    n = sum(estimate.n for estimate in found.values())
    return _recount(rows, high, n, *columns, low_high=(low, high), notes=notes)


def _closeness(ratings: r.Ratings, judge: str, column: str, by: str = "", group: str = "") -> Recount:
    at, unit = _measure(column)
    found = r.closeness(ratings, judge, by, group)
    estimate = _scaled(found.estimate(f"{judge} | mean of all" if judge else "human | one rater", MEASURES[at]), unit)
    # A judge meets the mean of three people, a person one other: the like-for-like figures stand beside.
    others = [f"{judge} | one rater", f"{judge} | mean of the others"] if judge else ["human | mean of the others"]
    alike = [f"{name}: {unit * found.estimate(name, MEASURES[at]).value:.3f}" for name in others]
    return _estimate(ratings.rows, estimate, notes=(f"like for like: {'; '.join(alike)}", *ratings.notes))


def _measure(column: str) -> tuple[int, int]:
    """Position in MEASURES of a column of Tables 3 and 11 to 13, and what a share is multiplied by."""
    at = next(i for i, name in enumerate(("% ±1", "MAE", "Bias")) if column.endswith(name))
    return at, 100 if at == 0 else 1


def _rank(everyone: Ensembles, place: int) -> int:
    return int(np.flatnonzero(everyone.order == place)[0]) + 1


def _scaled(found: Estimate, unit: int) -> Estimate:
    interval = found.interval and replace(
        found.interval, low=unit * found.interval.low, high=unit * found.interval.high
    )
    return replace(found, value=unit * found.value, interval=interval)


def _dropped(found: Estimate) -> tuple[str, ...]:
    return tuple(f"{reason}: {count}" for reason, count in found.dropped)


def _estimate(
    rows: Rows, found: Estimate, *columns: str, readings: Mapping[str, float] | None = None, notes: tuple[str, ...] = ()
) -> Recount:
    """An estimate with its own interval, if it has one: a single episode of a group says nothing of its own noise."""
    interval = None
    if found.interval is not None and np.isfinite([found.interval.low, found.interval.high]).all():
        interval = (found.interval.low, found.interval.high)
        notes += (f"interval: {found.interval.method}, {found.interval.draws:,} draws, seed {found.seed}",)
    return _recount(
        rows, found.value, found.n, *columns, interval=interval, readings=readings, notes=notes + _dropped(found)
    )


def _recount(
    rows: Rows,
    value: float | Fraction | str,
    n: int,
    *columns: str,
    readings: Mapping[str, float] | None = None,
    notes: tuple[str, ...] = (),
    interval: tuple[float, float] | None = None,
    low_high: tuple[float, float] | None = None,
    mc_error: float | None = None,
    seed: int | None = None,
) -> Recount:
    """A Recount that says whether the rows are synthetic, and how many have none of the paper's words in a column."""
    if isinstance(value, float) and not np.isfinite(value):
        raise CannotRecount("no row has the values that this number rests on; all of them are missing")
    lost = tuple(note for column in columns if column in VOCABULARY for note in rows.unnamed(column))
    return Recount(
        value,
        n=n,
        mc_error=mc_error,
        seed=seed,
        notes=notes + lost,
        readings=dict(readings or {}),
        interval=interval,
        low_high=low_high,
        synthetic=rows.synthetic,
    )
