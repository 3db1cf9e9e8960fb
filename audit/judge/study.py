"""Labels of humans and judges side by side, as the plain arrays that the estimators take.

A *unit* is one item as one country's annotators labelled it under one question. A judge whose file names no country
gave one answer for all of them, and is held against each country's humans with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from countback.audit.judge.input import Inputs
from countback.fetch.codebook import reason_code
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Bits = NDArray[np.bool_]

_LONGEST = 24  # characters of an answer that may be a label off the scale; a longer one is a reply in words
_NO_ANSWER = [reason_code(reason) for reason in ("not_asked", "draft", "duplicate")]


@dataclass(frozen=True)
class Judge:
    """One judge's answers, by unit: the label's code or -1, and whether there is a row at all (`asked`).

    `rows` are its rows; `valid` of them hold a label; `other` are short answers that are none, by (question, text), and
    `other_in` how many by the country they name; `unmatched` rows are on items that no human labelled. `everywhere`:
    its answers name no country.
    """

    name: str
    answers: Codes
    asked: Bits
    rows: int
    valid: int
    other: Mapping[tuple[str, str], int]
    other_in: Mapping[str, int]
    unmatched: int
    everywhere: bool


@dataclass(frozen=True)
class Study:
    """Valid human labels, shape (labels,): unit, annotator, label; units, shape (units,): item, country, question.

    `scales` are the label codes of each question in order. `several`: an item is asked several questions, so that each
    question is a study of its own; otherwise questions are groups of items.
    """

    unit: Codes
    annotator: Codes
    label: Codes
    seconds: NDArray[np.float64]
    item: Codes
    country: Codes
    question: Codes
    judges: tuple[Judge, ...]
    items: tuple[str, ...]
    countries: tuple[str, ...]
    questions: tuple[str, ...]
    labels: tuple[str, ...]
    scales: tuple[tuple[int, ...], ...]
    ordered: bool
    several: bool

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.item)

    @cached_property
    def crossed(self) -> bool:
        """Whether any item was labelled in more than one country."""
        pairs = np.unique(self.item * len(self.countries) + self.country)
        return len(np.unique(pairs // len(self.countries))) < len(pairs)

    def present(self) -> list[int]:
        """Codes of the countries with a valid human label."""
        return [int(code) for code in np.unique(self.country)]

    def parts(self) -> Iterator[tuple[str, Bits, tuple[int, ...]]]:
        """What is analysed on its own: a name, its units, its scale. A question each, or all of one scale together."""
        if self.several:
            for code in np.unique(self.question):
                yield self.questions[code], self.question == code, self.scales[code]
            return
        for scale in dict.fromkeys(self.scales[code] for code in np.unique(self.question)):
            of = [code for code, other in enumerate(self.scales) if other == scale]
            mine = np.isin(self.question, of)
            yield "" if mine.all() else ", ".join(self.questions[code] for code in of), mine, scale


def build(inputs: Inputs) -> Study:
    """Lines the tables up by text. Raises UserError where the judges' file has no item, question or country of them."""
    table = inputs.table
    human = table.valid & (table.kind == HUMAN)
    shape = (len(table.items), len(table.countries), len(table.questions))
    place = _key(table.item[human], table.country[human], table.question[human], shape)
    keys, unit = np.unique(place, return_inverse=True)
    item, country, question = (keys // (shape[1] * shape[2]), keys // shape[2] % shape[1], keys % shape[2])
    judges = _judges_in(table, keys, shape)
    if inputs.judges is not None:
        judges += _judges_of(inputs.judges, table, keys, shape)
    code = {label: number for number, label in enumerate(table.labels)}
    pairs = np.unique(item * shape[2] + question)
    return Study(
        unit=unit,
        annotator=table.annotator[human].astype(np.int64),
        label=table.label[human].astype(np.int64),
        seconds=table.seconds[human],
        item=item,
        country=country,
        question=question,
        judges=tuple(judges),
        items=table.items,
        countries=table.countries,
        questions=table.questions,
        labels=table.labels,
        scales=tuple(tuple(code[x] for x in inputs.scales[q] if x in code) for q in table.questions),
        ordered=inputs.ordered,
        several=len(np.unique(pairs // shape[2])) < len(pairs),
    )


def _key(item: Any, country: Any, question: Any, shape: tuple[int, int, int]) -> Codes:
    return np.asarray((np.asarray(item, np.int64) * shape[1] + country) * shape[2] + question)


def _judges_in(table: LabelTable, keys: Codes, shape: tuple[int, int, int]) -> list[Judge]:
    """The judges among the annotators of the labels' own file."""
    rows = table.kind == JUDGE
    places = (table.item.astype(np.int64), table.country.astype(np.int64), table.question.astype(np.int64))
    return list(_by_judge(table, rows, places, keys, shape))


def _judges_of(judges: LabelTable, table: LabelTable, keys: Codes, shape: tuple[int, int, int]) -> list[Judge]:
    """The judges of a file of their own, its items, questions and countries found among the humans' by their text."""
    item = _translated(judges.items, table.items)[judges.item]
    if len(judges) and (item < 0).all():
        raise UserError(
            f"No item of the judges' file is in the labels: judges have {_some(judges.items)}, humans "
            f"{_some(table.items)}. Name the columns that hold the same ids (--columns item=X, --judge-columns item=Y)."
        )
    question = _translated(judges.questions, table.questions)[judges.question]
    if len(table.questions) == 1 and len(judges.questions) == 1:
        question = np.zeros(len(judges), np.int64)
    if len(judges) and (question < 0).all():
        raise UserError(
            f"No question of the judges' file is in the labels: judges have {_some(judges.questions)}, humans "
            f"{_some(table.questions)}. Name the column (--judge-columns question=...) or call the questions alike."
        )
    country = _translated(judges.countries, table.countries)[judges.country]
    country[np.array([name == "" for name in judges.countries])[judges.country]] = shape[1]  # in every country
    if shape[1] == 1:
        country[:] = 0
    if len(judges) and (country < 0).all():
        raise UserError(
            f"No country of the judges' file is in the labels: judges have {_some(judges.countries)}, humans "
            f"{_some(table.countries)}. Write them alike, or leave the judges' countries out."
        )
    return list(_by_judge(judges, np.ones(len(judges), np.bool_), (item, country, question), keys, shape))


def _by_judge(
    table: LabelTable, rows: Bits, places: tuple[Codes, Codes, Codes], keys: Codes, shape: tuple[int, int, int]
) -> Iterator[Judge]:
    rows = rows & ~np.isin(table.reason, _NO_ANSWER)
    for annotator in np.unique(table.annotator[rows]):
        mine = np.flatnonzero(rows & (table.annotator == annotator))
        item, country, question = (codes[mine] for codes in places)
        label = table.label[mine].astype(np.int64)
        everywhere = country == shape[1]
        spread = np.repeat(np.arange(len(mine)), np.where(everywhere, shape[1], 1))
        within = np.arange(len(spread)) - np.searchsorted(spread, spread)
        at = np.where(everywhere[spread], within, country[spread])
        known = (item[spread] >= 0) & (question[spread] >= 0) & (at >= 0)
        spread, at = spread[known], at[known]
        key = _key(item[spread], at, question[spread], shape)
        unit = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
        found = keys[unit] == key
        spread, unit = spread[found], unit[found]
        _refuse_two_answers(table, mine, spread, unit, everywhere)
        answers, asked = np.full(len(keys), -1, np.int64), np.zeros(len(keys), np.bool_)
        for general in (True, False):  # an answer for one country goes before one for all
            chosen = everywhere[spread] == general
            answers[unit[chosen]] = label[spread[chosen]]
            asked[unit[chosen]] = True
        yield Judge(
            name=table.annotators[annotator],
            answers=answers,
            asked=asked,
            rows=len(mine),
            valid=int((label >= 0).sum()),
            other=_other_answers(table, mine[label < 0]),
            other_in=_other_places(table, mine[label < 0]),
            unmatched=len(mine) - len(np.unique(spread)),
            everywhere=bool(everywhere.all()) and shape[1] > 1,
        )


def _refuse_two_answers(table: LabelTable, mine: Codes, spread: Codes, unit: Codes, everywhere: Bits) -> None:
    valid = (table.label[mine][spread] >= 0) & ~everywhere[spread]
    twice = np.flatnonzero(np.bincount(unit[valid]) > 1)
    if len(twice):
        rows = mine[spread[valid][unit[valid] == twice[0]]]
        names = sorted({table.countries[code] for code in table.country[rows]})
        raise UserError(
            f"The judge {table.annotators[table.annotator[rows[0]]]!r} answered item "
            f"{table.items[table.item[rows[0]]]!r} for {' and '.join(map(repr, names))}, and "
            "the labels name no country to tell these answers apart. Say which column of the labels is "
            "the country (--columns country=...)."
        )


def _other_answers(table: LabelTable, rows: Codes) -> dict[tuple[str, str], int]:
    texts = Counter(zip(table.question[rows].tolist(), table.raw[rows].tolist(), strict=True))
    short = {(q, text): n for (q, text), n in texts.items() if _is_short(text)}
    return {(table.questions[q], text): n for (q, text), n in sorted(short.items(), key=lambda pair: -pair[1])}


def _other_places(table: LabelTable, rows: Codes) -> dict[str, int]:
    found = zip(table.country[rows].tolist(), table.raw[rows].tolist(), strict=True)
    counted = Counter(country for country, text in found if _is_short(text))
    return {table.countries[country]: n for country, n in counted.items()}


def _is_short(text: str) -> bool:
    return 0 < len(text.strip()) <= _LONGEST


def _translated(names: Sequence[str], into: Sequence[str]) -> Codes:
    """The code of each name among `into`, -1 where it is not there."""
    code = {name: number for number, name in enumerate(into)}
    return np.array([code.get(name, -1) for name in names], np.int64)


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
