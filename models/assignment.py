"""Who labels which item, dealt out evenly: the list that a team hands to its annotators before the first label.

Items are dealt one after the other, shared items first. Each label of an item goes to one of the country's annotators
with the fewest items so far who does not have this one yet, so that at every moment the loads of a country's annotators
differ by one at most: over all items, and over the shared ones alone. Among those who qualify are preferred, in this
order: who links annotators that no item links yet; who has had the question least often; who has met the item's other
annotators least often; and the rest is chance, from the generator given.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from countback.fetch.errors import UserError
from countback.models.planning import Design
from numpy.typing import NDArray

Codes = NDArray[np.int64]
MOST_ROWS, MOST_PEOPLE = 300_000, 2_000


@dataclass(frozen=True)
class Assignment:
    """One row for each label to be given; arrays (rows,) of codes.

    Items are numbered from 0, shared ones first; annotators from 0 through all countries. `order` counts from 1 for
    each annotator, in an order of their own, shared and own items mixed. `number` is the item's in its block, country
    and question, from 1. `parts` (countries,) is into how many groups a country's annotators fall that no item links.
    """

    item: Codes
    question: Codes
    country: Codes
    annotator: Codes
    shared: NDArray[np.bool_]
    number: Codes
    order: Codes
    parts: Codes


def assign(design: Design, rng: np.random.Generator) -> Assignment:
    """The assignment of a design. Raises UserError for more rows, or annotators of a country, than are dealt with."""
    if design.total > MOST_ROWS:
        raise UserError(
            f"found {design.total:,} labels to assign; expected at most {MOST_ROWS:,} in one list: make one for each "
            "part of the countries or questions"
        )
    if max(design.pools) > MOST_PEOPLE:
        raise UserError(f"found {max(design.pools):,} annotators in a country; expected at most {MOST_PEOPLE:,}")
    dealt = [_deal(design, country, rng) for country in range(design.countries)]
    rows = np.concatenate([part for part, _ in dealt])
    item, question, country, annotator, number, order = rows.T
    parts = np.array([parts for _, parts in dealt])
    return Assignment(item, question, country, annotator, item < design.shared, number, order, parts)


def _deal(design: Design, country: int, rng: np.random.Generator) -> tuple[Codes, int]:
    """Rows (labels, 6) of one country: item, question, country, annotator, number, order; and the groups it has."""
    nth = np.arange(design.shared)
    own = np.arange(design.questions * design.own)
    item = np.concatenate([nth, design.shared + country * len(own) + own])
    question = np.concatenate([nth % design.questions, own % design.questions])
    number = np.concatenate([nth // design.questions, own // design.questions]) + 1
    people, parts = _people(question, design.pools[country], design.labels, design.questions, rng)
    first = sum(design.pools[:country])
    each = np.repeat(np.arange(len(item)), design.labels)
    rows = np.column_stack(
        [item[each], question[each], np.full(len(each), country), first + people.ravel(), number[each], each]
    )
    shuffled = rows[rng.permutation(len(rows))]
    by_person = shuffled[np.argsort(shuffled[:, 3], kind="stable")]
    starts = np.searchsorted(by_person[:, 3], by_person[:, 3])
    by_person[:, 5] = np.arange(len(by_person)) - starts + 1
    return by_person, parts


def _people(question: Codes, pool: int, labels: int, questions: int, rng: np.random.Generator) -> tuple[Codes, int]:
    """Who of the pool labels each item, (items, labels), and how many groups of people no item links."""
    load = np.zeros(pool, np.int64)
    had = np.zeros((questions, pool), np.int64)
    met = np.zeros((pool, pool), np.int64)
    group = np.arange(pool)
    chosen = np.empty((len(question), labels), np.int64)
    for row, about in enumerate(question):
        free = np.ones(pool, np.bool_)
        for place in range(labels):
            least = load[free].min()
            able = np.flatnonzero(free & (load == least))
            before = chosen[row, :place]
            linked = np.isin(group[able], group[before])
            met_before = met[able][:, before].sum(axis=1)
            best = np.lexsort((rng.random(len(able)), met_before, had[about, able], linked))[0]
            person = able[best]
            chosen[row, place] = person
            free[person] = False
            met[person, before] += 1
            met[before, person] += 1
            group[np.isin(group, group[before])] = group[person]
            load[person] += 1
            had[about, person] += 1
    return chosen, len(np.unique(group[load > 0]))
