"""Ratings of dialogues by people and judges, as a panel of cells. Source: section 5.2, Appendices K.2 and M.

A cell is a dialogue under one metric, with three human scores; a cell with another number of them is left out, as the
paper requires three. Judges that did not score a cell are missing there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from countback.claims.papers.culture_converse.names import HUMAN, JUDGES, METRICS, VOCABULARY
from countback.claims.papers.culture_converse.read import MAPPING, Data, Rows, load
from countback.claims.verdict import CannotRecount
from countback.fetch.errors import UserError
from countback.models.panels import Closeness, Ensembles, Panel, compare, ensembles
from numpy.typing import NDArray

SEED = 20260102
DRAWS = 1_000
RATERS = 3
HUMANS = VOCABULARY["rater"].index(HUMAN)

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ratings:
    """The panel of all judges (NaN where one did not score), and the metric and region of its rows (-1 not stated)."""

    rows: Rows = field(repr=False)
    panel: Panel = field(repr=False)
    metric: Ints
    region: Ints
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Long:
    """One score a row."""

    dialogue: Ints
    metric: Ints
    rater: Ints  # position in VOCABULARY["rater"], -1 for neither a judge of the paper nor a person
    person: Ints  # code of the rater's own name
    score: NDArray[np.float64]


def load_ratings(data: Data) -> Ratings:
    """The ratings, each rater's score of a cell once."""
    found = _ratings(load(data, "ratings"))
    if isinstance(found, UserError):
        raise found
    return found


@cache
def _ratings(rows: Rows) -> Ratings | UserError:
    try:
        long = _long(rows)
        _check_repeats(rows, long)
        region = _regions(rows)
        return _panel(rows, long, region)
    except UserError as error:
        return error


def _long(rows: Rows) -> _Long:
    """From one score a row, or from a column for each metric."""
    dialogue, person = rows.column("dialogue").codes.astype(np.int64), rows.column("rater").codes.astype(np.int64)
    rater = rows.codes("rater")
    if "metric" in rows.columns or "score" in rows.columns:
        return _Long(dialogue, rows.codes("metric"), rater, person, rows.scores("score"))
    metric = np.repeat(np.arange(len(METRICS)), len(rows))
    score = np.concatenate([rows.scores(name) for name in METRICS])
    wide = len(METRICS)
    return _Long(np.tile(dialogue, wide), metric, np.tile(rater, wide), np.tile(person, wide), score)


def _check_repeats(rows: Rows, long: _Long) -> None:
    who = np.where(long.rater == HUMANS, len(JUDGES) + long.person, long.rater)
    scored = np.flatnonzero(np.isfinite(long.score) & (long.metric >= 0) & (long.rater >= 0))
    key = (long.dialogue[scored] * len(METRICS) + long.metric[scored]) * (int(who.max(initial=0)) + 1) + who[scored]
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    twice = scored[first[count > 1]]
    if len(twice):
        i = twice[0]
        raise CannotRecount(
            f"{int((count - 1).sum())} scores repeat the dialogue, metric and rater of another, the first dialogue "
            f"{rows.column('dialogue').values[long.dialogue[i]]}, {METRICS[long.metric[i]]}, rater "
            f"{rows.column('rater').values[long.person[i]]}; expected one score each: leave the others out, or give "
            f"dialogue or rater in {MAPPING} as a list of columns that tell them apart"
        )


def _regions(rows: Rows) -> Ints:
    """Shape (dialogues,): the region of each, -1 where no row states it."""
    dialogue = rows.column("dialogue")
    found = np.full(len(dialogue.values), -1)
    if "region" in rows.columns:
        region = rows.codes("region")
        stated = region >= 0
        found[dialogue.codes[stated]] = region[stated]
        other = np.flatnonzero(stated & (found[dialogue.codes] != region))
        if len(other):
            name = dialogue.values[dialogue.codes[other[0]]]
            raise CannotRecount(
                f"dialogue {name} stands in two regions; if ids start anew in each region, give dialogue as a list of "
                f"columns in {MAPPING}, the region among them"
            )
    return found


def _panel(rows: Rows, long: _Long, region: Ints) -> Ratings:
    stated = np.isfinite(long.score)
    usable = stated & (long.metric >= 0)
    cell = long.dialogue * len(METRICS) + long.metric
    human = np.flatnonzero(usable & (long.rater == HUMANS))
    cells, number = np.unique(cell[human], return_counts=True)
    kept = cells[number == RATERS]
    if not len(kept):
        raise CannotRecount(
            f"no cell has {RATERS} human scores ({len(cells)} have another number of them); people are the raters that "
            f'[values.rater] of {MAPPING} names as "{HUMAN}", and those in the files are '
            f"{', '.join(rows.column('rater').values[:12]) or 'none'}"
        )
    human = human[np.isin(cell[human], kept)]
    human = human[np.lexsort((long.person[human], cell[human]))]
    judges = np.full((len(JUDGES), len(kept)), np.nan)
    judged = np.flatnonzero(usable & (long.rater >= 0) & (long.rater < HUMANS) & np.isin(cell, kept))
    judges[long.rater[judged], np.searchsorted(kept, cell[judged])] = long.score[judged]
    item, metric = np.divmod(kept, len(METRICS))
    notes = [*rows.unnamed("rater"), *(rows.unnamed("metric") if "metric" in rows.columns else ())]
    if len(cells) > len(kept):
        notes.append(f"{len(cells) - len(kept)} cells left out that have another number of human scores than {RATERS}")
    if not stated.all():
        notes.append(f"{int((~stated).sum())} scores missing")
    of_row = region[item]
    panel = Panel(long.score[human].reshape(-1, RATERS), judges, JUDGES, item, of_row if (of_row >= 0).any() else None)
    return Ratings(rows, panel, metric, of_row, tuple(notes))


@cache
def closeness(ratings: Ratings, judge: str, by: str = "", group: str = "") -> Closeness:
    """People among themselves (no judge), or one judge as well, in all cells or those of one metric or region."""
    chosen = np.ones(len(ratings.metric), bool)
    if by:
        words = VOCABULARY[by]
        if by == "region":
            ratings.rows.among("region", group)
        chosen = (ratings.metric if by == "metric" else ratings.region) == words.index(group)
    panel = ratings.panel.rows(chosen).only([judge] if judge else [])
    if not len(panel.item) or (judge and not np.isfinite(panel.judges).any()):
        what = f"{judge}'s scores" if judge else "human scores"
        raise CannotRecount(
            f"no cell {f'of {group} ' if group else ''}with {RATERS} human scores has {what}; check that the files "
            f"name dialogues alike, and the raters under [values.rater] of {MAPPING}"
        )
    return compare(panel, draws=DRAWS, rng=np.random.default_rng(SEED))


@cache
def ranked(ratings: Ratings) -> Ensembles:
    """All ensembles of three judges, on the cells that every judge of the paper scored."""
    absent = [name for name, scores in zip(JUDGES, ratings.panel.judges, strict=True) if not np.isfinite(scores).any()]
    if absent:
        raise CannotRecount(
            f"{len(JUDGES) - len(absent)} of {len(JUDGES)} judges scored these dialogues; there is none of "
            f"{', '.join(absent)}"
        )
    rng = np.random.default_rng(SEED)
    return ensembles(ratings.panel, reference="GPT-5 mini", draws=DRAWS, rng=rng)


@cache
def median_of(ratings: Ratings, members: tuple[str, ...]) -> Closeness:
    """An ensemble that scores by the median of its members, which the paper does not rule out."""
    everyone = np.asarray(np.isfinite(ratings.panel.judges).all(axis=0))
    panel = ratings.panel.rows(everyone).only(members)
    one = replace(panel, judges=np.median(panel.judges, axis=0)[None], names=("median",))
    return compare(one, draws=DRAWS, rng=np.random.default_rng(SEED))
