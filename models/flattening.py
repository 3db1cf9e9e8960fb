"""Do judges flatten countries? Humans and judges in one model, for the people and items that were there.

    eta of a human = content + country + annotator,   eta of judge j = scale_j (content + own_jc)

with cutpoints of each rater's own (`density` has the priors). Ratios for countries in general are not reported: with a
handful of countries their posterior is their prior. What is reported holds for the *panel*, the annotators who were
there, and for the items they labelled. A country's panel adds its country effect and the mean severity of its
annotators, by labels, to eta; a judge adds own_jc. A lean is the mean label expected of either on the items that the
country's people labelled, from 0 for the lowest label to 1 for the highest.

Below 1 a ratio says that the judge spreads countries less than their panels do: by itself no fault, as a panel's
spread holds the chance of who was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from countback.models import hierarchical, sampling
from countback.models.density import Problem
from countback.models.ordinal import Floats, Gates, Ints, Prior, ordinal_data
from countback.models.sampling import Draws, Run, Sampler
from numpy.typing import NDArray
from scipy.special import expit

OF_PEOPLE = ("country", "annotator")  # effects that are not of the content


@dataclass(frozen=True)
class JointData:
    """Labels of humans and judges as one problem, and the panel and items that results are about.

    `panel` (countries, levels) gives the share of each country's labels by annotator, and 1 to the country itself:
    times the realised effects it is the panel's severity. `content` (pairs, effects), codes as a `Problem` has them,
    and `pair_country` (pairs,) are the pairs of item and country that humans labelled. `missing` and `unmatched`
    (judges,) count a judge's labels that were not given, and those of items that no human of the country labelled;
    neither is in the problem.
    """

    problem: Problem
    names: tuple[str, ...]
    countries: tuple[str, ...]
    judges: tuple[str, ...]
    panel: Floats
    content: NDArray[np.int64]
    pair_country: NDArray[np.int64]
    missing: tuple[int, ...]
    unmatched: tuple[int, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class JointPosterior:
    """Draws of the joint model: sd (draws, effects); cutpoints (draws, 1 + judges, categories - 1), humans first;
    effect (draws, levels); scale (draws, judges); own (draws, judges, countries), a judge's country effects."""

    engine: str
    prior: Prior
    sd: Floats
    cutpoints: Floats
    effect: Floats
    scale: Floats
    own: Floats
    gates: Gates
    seed: int


@dataclass(frozen=True)
class Interval:
    """Median and equal-tailed interval."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class JudgeFlattening:
    """One judge beside the panels, for the people and items that were there.

    `latent` is the judge's standard deviation over countries divided by the panels', in logits; `ratio` the same of
    leans; `slope` of the judge's leans on the panels'. `gap` by country is judge's lean minus panel's. `flatter` is
    the probability that `latent` is below 1.
    """

    judge: str
    latent: Interval
    ratio: Interval
    slope: Interval
    gap: dict[str, Interval]
    flatter: float


def joint_data(
    label: Ints,
    item: Ints,
    country: Ints,
    annotator: Ints,
    *,
    judge: Ints,
    judge_label: Ints,
    judge_item: Ints,
    judge_country: Ints,
    categories: int,
    countries: Sequence[str],
    judges: Sequence[str],
    question: Ints | None = None,
    leave_out: Sequence[str] = (),
) -> JointData:
    """Rows of human labels (labels,) and of judges' (judge labels,), codes, label -1 missing; an item has one question.

    Effects are those that `ordinal_data` keeps for the humans. Raises UserError as that does, and for a judge without
    any label of an item that humans labelled.
    """
    how: dict[str, Any] = {
        "question": question,
        "categories": categories,
        "countries": countries,
        "leave_out": leave_out,
    }
    human = ordinal_data(label, item, country, annotator, **how)
    kept = label >= 0
    label, item, country, annotator = label[kept], item[kept], country[kept], annotator[kept]
    of_item = np.zeros(max(int(item.max()), int(judge_item.max(initial=0))) + 1, np.int64)
    if question is not None:
        of_item[item] = question[kept]
    there = np.isin(_key(judge_item, judge_country), _key(item, country))
    missing = np.bincount(judge[judge_label < 0], minlength=len(judges))
    unmatched = np.bincount(judge[(judge_label >= 0) & ~there], minlength=len(judges))
    used = there & (judge_label >= 0)
    judge, judge_item, judge_country, judge_label = (x[used] for x in (judge, judge_item, judge_country, judge_label))
    notes = list(human.notes) + _judge_notes(judge, judge_label, judges)
    keys = _keys(item, country, annotator, of_item[item])
    judge_keys = _keys(judge_item, judge_country, np.zeros(len(judge), np.int64), of_item[judge_item])
    vocabulary = {name: np.unique(keys[name]) for name in human.names}
    levels = np.array([len(words) for words in vocabulary.values()])
    start, total, places = np.cumsum(levels) - levels, int(levels.sum()), len(human.countries)
    codes = np.column_stack([np.searchsorted(words, keys[name]) for name, words in vocabulary.items()]) + start
    judged = np.column_stack([np.searchsorted(words, judge_keys[name]) for name, words in vocabulary.items()]) + start
    judged[:, 0] += total + judge * places
    panel = np.zeros((places, total))
    at = codes[:, 0]
    for place, name in enumerate(human.names):
        if name in OF_PEOPLE:
            np.add.at(panel, (at, codes[:, place]), 1 / np.bincount(at)[at])
        if name == "annotator":
            judged[:, place] = -1
    content = codes.copy()
    content[:, [place for place, name in enumerate(human.names) if name in OF_PEOPLE]] = -1
    pairs = np.unique(np.column_stack([_key(item, country), at, content]), axis=0)[:, 1:]
    problem = _problem(
        np.concatenate([label, judge_label]),
        np.concatenate([codes, judged]),
        np.concatenate([np.zeros(len(label), np.int64), judge + 1]),
        levels,
        (categories, len(judges), places),
    )
    where = pairs[:, 1:], pairs[:, 0]
    counts = tuple(map(int, missing)), tuple(map(int, unmatched))
    return JointData(problem, human.names, human.countries, tuple(judges), panel, *where, *counts, tuple(notes))


def _problem(label: Ints, code: Ints, rater: Ints, levels: NDArray[np.int64], sizes: tuple[int, int, int]) -> Problem:
    """Equal rows as one with a weight."""
    rows, weight = np.unique(np.column_stack([label, rater, code]), axis=0, return_counts=True)
    return Problem(rows[:, 0], weight.astype(float), rows[:, 2:], rows[:, 1], levels, *sizes)


def _key(one: Ints, other: Ints) -> NDArray[np.int64]:
    return one.astype(np.int64) << 32 | other.astype(np.int64)


def _keys(item: Ints, country: Ints, annotator: Ints, question: Ints) -> dict[str, NDArray[np.int64]]:
    return {
        "country": country.astype(np.int64),
        "question": question.astype(np.int64),
        "country:question": _key(country, question),
        "item": item.astype(np.int64),
        "annotator": _key(country, annotator),
        "item:country": _key(item, country),
    }


def _judge_notes(judge: Ints, label: Ints, judges: Sequence[str]) -> list[str]:
    """What is to be said of judges' labels. Raises UserError for one that gave none."""
    notes = []
    for code, name in enumerate(judges):
        found = label[judge == code]
        if not len(found):
            raise UserError(
                f"found no label of judge {name} for an item that humans labelled in the same country; expected some: "
                "nothing about it can be estimated; leave it out, or match its items to the humans'"
            )
        if len(np.unique(found)) == 1:
            notes.append(f"judge {name}: all {len(found)} labels are the same, so its cutpoints rest on their prior")
    return notes


def fit_joint(
    data: JointData,
    prior: Prior,
    *,
    seed: int,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    sampler: Sampler = "nutpie",
    progress: bool = False,
) -> JointPosterior:
    """The joint posterior, gated over standard deviations, cutpoints, country effects, and judges' scales and country
    effects."""
    run = Run(seed, draws, tune, chains, cores, progress)
    attempt = hierarchical.attempt(data.problem, prior, sampler)
    drawn, gates = sampling.gated(attempt, run, interest)
    return joint_posterior(drawn, gates, prior, f"nuts ({sampling.available(sampler)})", seed)


def interest(drawn: Draws) -> dict[str, Floats]:
    """What is gated of a joint fit."""
    return {name: drawn.values[name] for name in ("sd", "cutpoints", "country", "scale", "judge_country")}


def joint_posterior(drawn: Draws, gates: Gates, prior: Prior, engine: str, seed: int) -> JointPosterior:
    """Chains one after the other."""
    sd, cutpoints, effect, scale, own = (
        hierarchical.flat(drawn.values[name]) for name in ("sd", "cutpoints", "effect", "scale", "judge_country")
    )
    return JointPosterior(engine, prior, sd, cutpoints, effect, scale, own, gates, seed)


def flattening(posterior: JointPosterior, data: JointData, *, level: float = 0.9) -> tuple[JudgeFlattening, ...]:
    """Each judge beside the panels; see the module."""
    panel = posterior.effect @ data.panel.T
    plain = np.concatenate([posterior.effect, np.zeros((len(posterior.effect), 1))], axis=1)  # for code -1
    content = np.stack([plain[:, code].sum(axis=1) for code in data.content], axis=1)
    human = leans(content, data.pair_country, panel, posterior.cutpoints[:, 0])
    found = []
    for j, name in enumerate(data.judges):
        own, scale = posterior.own[:, j], posterior.scale[:, j, None]
        theirs = leans(scale * content, data.pair_country, scale * own, posterior.cutpoints[:, j + 1])
        latent = own.std(axis=1) / panel.std(axis=1)
        ratio, slope, gap = compare(theirs, human)
        gaps = {place: _interval(gap[:, c], level) for c, place in enumerate(data.countries)}
        parts = [_interval(each, level) for each in (latent, ratio, slope)]
        found.append(JudgeFlattening(name, parts[0], parts[1], parts[2], gaps, float((latent < 1).mean())))
    return tuple(found)


def leans(content: Floats, country: Ints, severity: Floats, cutpoints: Floats) -> Floats:
    """Mean label expected over each country's pairs, (draws, countries), from 0 to 1.

    content (draws, pairs), country (pairs,), severity (draws, countries), cutpoints (draws, categories - 1).
    """
    found = np.empty(severity.shape)
    for c in range(severity.shape[1]):
        eta = content[:, country == c] + severity[:, c, None]
        above = [expit(eta - cut[:, None]).mean(axis=1) for cut in cutpoints.T]
        found[:, c] = np.mean(above, axis=0)
    return found


def compare(judge: Floats, human: Floats) -> tuple[Floats, Floats, Floats]:
    """Of leans (draws, countries): ratio of their spreads (draws,), slope (draws,) and gaps (draws, countries)."""
    ours = human - human.mean(axis=1, keepdims=True)
    slope = (ours * judge).sum(axis=1) / (ours**2).sum(axis=1)
    return judge.std(axis=1) / human.std(axis=1), slope, judge - human


def _interval(values: Floats, level: float) -> Interval:
    found: Any = np.quantile(values, [0.5, (1 - level) / 2, (1 + level) / 2])
    return Interval(*map(float, found))
