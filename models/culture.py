"""Country leans, their spread, and whether a judge flattens it.

Every lean is a function of one table: totals T[country, question, label] of votes. What casts a vote
(`Rule.vote`: each item's plurality label, or each label) and how T becomes a number (`Rule.over`) are the
open choices; the named rules below are the readings that methods, section 4, lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from countback.models.dispersion import Dispersion
from countback.models.estimate import Estimate, Resampled, cluster_strata, cluster_totals, quotient, ratio, resample
from countback.models.resampling import Floats, Ints, permutation_pvalue
from countback.models.votes import Ties, Votes, default_scores, plurality, same_units, tied

Strata = Literal["auto", "country", "cell", "none"]


@dataclass(frozen=True)
class Rule:
    """How labels become a country's lean.

    vote: "majority" gives each item one vote, its plurality label (ties by `item_ties`); "labels" gives each
        label one.
    over: "mode" scores each question's most voted label (ties by `cell_ties`) and averages the questions;
        "mean" averages the scores of all votes; "question-mean" averages votes within questions first.
    Questions in which a country has no votes do not enter its average.
    """

    vote: Literal["majority", "labels"] = "majority"
    item_ties: Ties = "strictest"
    over: Literal["mode", "mean", "question-mean"] = "mode"
    cell_ties: Ties = "strictest"


MODAL_GRID = Rule()
POOLED_MODE = Rule(vote="labels")
QUESTION_MEAN = Rule(vote="labels", over="question-mean")
LABEL_MEAN = Rule(vote="labels", over="mean")
MAJORITY = Rule(item_ties="drop", over="mean")
MAJORITY_TIES_AVERAGED = Rule(item_ties="average", over="mean")


@dataclass(frozen=True)
class LeanReport:
    """Leans of all countries by one rule for one voter, and how far they lie apart.

    `leans` has one value per country code. `spread` is max - min, biased upward by noise (its interval:
    `Resampled.spread`). `corrected` is the standard deviation of the country effects with the noise taken out.
    `noise_range` is the mean and the upper 5% point of the range that noise alone gives (draws centred on each
    country's own lean), and `noise_p` the share of such ranges at or above the observed one.
    """

    rule: Rule
    leans: Resampled
    spread: Estimate
    corrected: Dispersion
    noise_range: tuple[float, float]
    noise_p: float


@dataclass(frozen=True)
class Flattening:
    """A judge's leans against the humans', on the same units and in the same resamples.

    `ratio` is judge spread over human spread; `corrected_ratio` is the ratio of noise-corrected standard deviations;
    `gaps` is judge lean minus human lean by country code. Noise widens the smaller spread more, so `ratio` is drawn
    towards 1 and its percentile interval does not hold: in 200 simulations of 12 countries x 40 items with a true ratio
    of 0.28 its median is 0.62 and its interval covers once, while that of `corrected_ratio` (median 0.29) always does.
    Read flattening from the corrected one, and beside `LeanReport.noise_p` of the humans.
    """

    human: LeanReport
    judge: LeanReport
    ratio: Estimate
    corrected_ratio: Estimate
    gaps: tuple[Estimate, ...]


def item_totals(votes: Votes, rule: Rule) -> tuple[Floats, tuple[int, int, int]]:
    """What each item adds to T: (items, cells * k) in order of item code, and the shape the columns fold into.

    The shape is (countries, questions, k). Under "mean" the questions are not told apart, so there is one.
    """
    rows = votes.counts if rule.vote == "labels" else plurality(votes.counts, rule.item_ties)
    questions = 1 if rule.over == "mean" else votes.n_questions
    shape = (votes.n_countries, questions, int(rows.shape[1]))
    cell = votes.country * questions + (0 if rule.over == "mean" else votes.question)
    codes, item = np.unique(votes.item, return_inverse=True)
    columns = shape[0] * shape[1] * shape[2]
    flat = (item * columns + cell * shape[2])[:, None] + np.arange(shape[2])
    table = np.bincount(flat.ravel(), rows.ravel(), minlength=len(codes) * columns).astype(np.float64)
    return table.reshape(len(codes), columns), shape


def lean_of_totals(totals: Floats, rule: Rule, scores: Floats) -> Floats:
    """Leans (..., countries) of totals T (..., countries, questions, k); NaN for a country without votes."""
    cast = totals.sum(axis=-1)
    if rule.over == "mode":
        top = totals.max(axis=-1, keepdims=True)
        leaders = (totals == top) & (top > 0)
        if rule.cell_ties == "strictest":
            cells = scores[np.argmax(leaders, axis=-1)]
        elif rule.cell_ties == "lenient":
            cells = scores[::-1][np.argmax(leaders[..., ::-1], axis=-1)]
        else:
            cells = (leaders @ scores) / np.maximum(leaders.sum(axis=-1), 1)
        counted = cast > 0
        if rule.cell_ties == "drop":
            counted &= leaders.sum(axis=-1) == 1
    else:
        counted = cast > 0
        cells = (totals @ scores) / np.where(counted, cast, 1.0)
    number = counted.sum(axis=-1)
    mean = np.where(counted, cells, 0.0).sum(axis=-1) / np.maximum(number, 1)
    return np.asarray(np.where(number > 0, mean, np.nan))


def lean(votes: Votes, rule: Rule = MODAL_GRID, scores: Floats | None = None) -> Floats:
    """The lean of each country, shape (countries,); the point values alone."""
    table, shape = item_totals(votes, rule)
    scores = default_scores(votes.counts.shape[1]) if scores is None else scores
    return lean_of_totals(table.sum(axis=0).reshape(shape), rule, scores)


def strata_of(votes: Votes, strata: Strata) -> Ints | None:
    """The stratum of each unit for a bootstrap of items.

    "auto" is "country" where items are nested in countries and "none" where they are crossed; "cell" holds
    the items of each country and question.
    """
    if strata == "none" or (strata == "auto" and votes.crossed):
        return None
    return votes.country * votes.n_questions + votes.question if strata == "cell" else votes.country


def lean_report(
    votes: Votes,
    rule: Rule = MAJORITY,
    *,
    draws: int,
    rng: np.random.Generator,
    scores: Floats | None = None,
    strata: Strata = "auto",
    level: float = 0.95,
) -> LeanReport:
    """Leans with cluster-bootstrap intervals over items, their spread and its noise-corrected version."""
    both = _resampled_leans((votes,), rule, draws, rng, scores, strata, level, _own_drops(votes, rule))
    return _report(both, 0, rule)


def flattening(
    human: Votes,
    judges: Sequence[Votes],
    rule: Rule = MAJORITY,
    *,
    draws: int,
    rng: np.random.Generator,
    scores: Floats | None = None,
    strata: Strata = "auto",
    level: float = 0.95,
) -> tuple[Flattening, ...]:
    """Each judge against the humans on the units that all of them label; one `Flattening` per judge."""
    voters, dropped = same_units([human, *judges], rule.item_ties if rule.vote == "majority" else "strictest")
    dropped["invalid human label"] = human.missing
    leans = _resampled_leans(voters, rule, draws, rng, scores, strata, level, dropped)
    reports = [_report(leans, voter, rule) for voter in range(len(voters))]
    return tuple(_flatten(leans, reports, voter) for voter in range(1, len(voters)))


def judge_match(
    human: Votes,
    judge: Votes,
    *,
    ties: Ties = "drop",
    missing: Literal["miss", "drop"] = "miss",
    draws: int,
    rng: np.random.Generator,
    strata: Strata = "auto",
    level: float = 0.95,
) -> Resampled:
    """Share of units where the judge's label is the human majority; values (countries + 1,), the last pooled.

    `ties`: drop the unit, take the strictest or most lenient tied label, or pay 1/t to each ("average").
    A unit without a judge label is a miss, or is left out with `missing="drop"`.
    """
    vote = plurality(human.counts, ties)
    decided = np.asarray(vote.any(axis=1))
    usable = human.keep(decided)
    dropped = {
        "invalid human label": human.missing,
        "no valid human label": int((human.counts.sum(axis=1) == 0).sum()),
    }
    dropped["tied"] = len(vote) - len(usable.item) - dropped["no valid human label"]
    credit = vote[decided] / vote.sum(axis=1).max(initial=1)
    answered = np.isin(usable.keys(), judge.keys()[judge.counts.any(axis=1)])
    if missing == "drop":
        dropped["no judge label"] = int((~answered).sum())
        usable, credit = usable.keep(answered), credit[answered]
        answered = answered[answered]
    hits = np.zeros(len(usable.item))
    if answered.any():
        (_, said), _ = same_units([usable.keep(answered), judge], "strictest")
        hits[answered] = (credit[answered] * (plurality(said.counts, "strictest") > 0)).sum(axis=1)
    member = np.column_stack([np.eye(human.n_countries)[usable.country], np.ones(len(usable.item))])
    return resample(
        cluster_totals(np.column_stack([member * hits[:, None], member]), usable.item),
        ratio,
        n=member.sum(axis=0).astype(np.int64),
        unit="items",
        draws=draws,
        rng=rng,
        strata=cluster_strata(strata_of(usable, strata), usable.item),
        level=level,
        dropped=dropped,
    )


def _resampled_leans(
    voters: Sequence[Votes],
    rule: Rule,
    draws: int,
    rng: np.random.Generator,
    scores: Floats | None,
    strata: Strata,
    level: float,
    dropped: dict[str, int],
) -> Resampled:
    """Leans (voters, countries) of voters who label the same units, drawn jointly."""
    points = default_scores(voters[0].counts.shape[1]) if scores is None else scores
    tables, shapes = zip(*(item_totals(voter, rule) for voter in voters), strict=True)
    shape = (-1, len(voters), *shapes[0])

    def statistic(totals: Floats) -> Floats:
        return lean_of_totals(totals.reshape(shape), rule, points)

    behind = [np.bincount(v.country, _weight(v, rule), minlength=v.n_countries).astype(int) for v in voters]
    return resample(
        np.concatenate(tables, axis=1),
        statistic,
        n=np.array(behind),
        unit="labels" if rule.vote == "labels" else "items",
        draws=draws,
        rng=rng,
        strata=cluster_strata(strata_of(voters[0], strata), voters[0].item),
        level=level,
        dropped=dropped,
    )


def _weight(votes: Votes, rule: Rule) -> Floats:
    if rule.vote == "labels":
        return np.asarray(votes.counts.sum(axis=1), np.float64)
    return np.asarray(plurality(votes.counts, rule.item_ties).any(axis=1), np.float64)


def _own_drops(votes: Votes, rule: Rule) -> dict[str, int]:
    dropped = {"invalid human label": votes.missing, "no valid human label": int((~votes.counts.any(axis=1)).sum())}
    if rule.vote == "majority" and rule.item_ties == "drop":
        dropped["tied"] = int(tied(votes.counts).sum())
    return dropped


def _report(leans: Resampled, voter: int, rule: Rule) -> LeanReport:
    one = leans.part(voter)
    spread, noise = one.spread(), one.noise_of_spread()
    usable = len(noise) > 0 and np.isfinite(spread.value)
    return LeanReport(
        rule=rule,
        leans=one,
        spread=spread,
        corrected=one.dispersion(),
        noise_range=(float(noise.mean()), float(np.quantile(noise, 0.95))) if usable else (np.nan, np.nan),
        noise_p=permutation_pvalue(spread.value, noise) if usable else np.nan,
    )


def _flatten(leans: Resampled, reports: Sequence[LeanReport], voter: int) -> Flattening:
    human, judge = reports[0], reports[voter]
    known = np.isfinite(human.leans.values) & np.isfinite(judge.leans.values)
    pair = leans.part(([[0], [voter]], np.flatnonzero(known)))
    noise = np.array([human.corrected.noise, judge.corrected.noise])
    n = int(human.leans.n[known].sum())
    return Flattening(
        human=human,
        judge=judge,
        ratio=pair.wrap(
            float(_ratio_of_spreads(pair.values)),
            _ratio_of_spreads(pair.samples),
            n,
            "" if human.spread.value > 0 else "the human spread is 0",
        ),
        # A draw carries the noise of the data and its own once more, so twice the noise comes out of it.
        corrected_ratio=pair.wrap(
            float(_ratio_of_sds(pair.values, noise)),
            _ratio_of_sds(pair.samples, 2 * noise),
            n,
            "" if human.corrected.variance > 0 else "no human spread is left once noise is taken out",
        ),
        gaps=tuple(leans.difference((voter, c), (0, c)) for c in range(leans.values.shape[1])),
    )


def _ratio_of_spreads(leans: Floats) -> Floats:
    """(..., 2, countries) to (...): range of the second row over range of the first."""
    spread = np.ptp(leans, axis=-1) if leans.shape[-1] else np.full(leans.shape[:-1], np.nan)
    return quotient(spread[..., 1], spread[..., 0])


def _ratio_of_sds(leans: Floats, noise: Floats) -> Floats:
    """(..., 2, countries) to (...): ratio of standard deviations once `noise` (2,) is taken out of the variances."""
    if leans.shape[-1] < 2:
        return np.full(leans.shape[:-2], np.nan)
    left = np.sqrt(np.maximum(leans.var(axis=-1, ddof=1) - noise, 0.0))
    return quotient(left[..., 1], left[..., 0])
