"""What the CuBEs release does not state, found in the data: country names, and where the question of an item sits.

A field holds the question when its values cut the items as the paper describes: QUESTIONS values, each with two or
three items in every country. A value may be a whole field, a part of one ("Pakistan - Shutdown - 2"), or one without
a number at its end. Fields that cut the items alike are one answer; fields that cut them differently are none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

QUESTIONS = 11  # alignment questions, as the article and the paper state
BEHAVIOURS = 6
ITEMS_PER_CELL = (2, 3)  # items of one question in one country

# The countries that the article names, under the spellings a file may use; nothing else is guessed.
_ALIASES = {
    "pakistan": "Pakistan", "pk": "Pakistan", "pak": "Pakistan",
    "philippines": "Philippines", "the philippines": "Philippines", "ph": "Philippines", "phl": "Philippines",
    "nigeria": "Nigeria", "ng": "Nigeria", "nga": "Nigeria",
    "united states": "United States", "united states of america": "United States", "us": "United States",
    "usa": "United States", "u.s.": "United States",
    "france": "France", "india": "India", "germany": "Germany", "canada": "Canada",
}  # fmt: skip
_SEPARATOR = re.compile(r"\s*[|/:;,\u2013\u2014]\s*|\s+-\s+|__+")
_NUMBERED = re.compile(r"[\s_#-]*\(?\d+\)?$|^\d+[.):\s_-]+")


def country_name(key: str) -> str:
    """The country that a key of the release stands for, by an exact table; an unknown key stands for itself."""
    return _ALIASES.get(re.sub(r"[\s_-]+", " ", key).strip().casefold(), key.strip())


@dataclass(frozen=True)
class Field:
    """One view of one field that could hold the question: its name and its value for each item."""

    name: str
    values: tuple[str, ...]

    def partition(self) -> tuple[int, ...]:
        """Shape (items,): the number of each item's value, in order of first appearance."""
        order: dict[str, int] = {}
        return tuple(order.setdefault(value, len(order)) for value in self.values)


def question_fields(
    texts: Sequence[Mapping[str, str]],
    countries: Sequence[str],
    *,
    questions: int = QUESTIONS,
    per_cell: tuple[int, int] = ITEMS_PER_CELL,
) -> list[list[Field]]:
    """The fields that cut the items into questions; fields that cut them alike share an inner list.

    `texts` holds, for each item, its scalar fields as text; `countries` its country.
    """
    groups: dict[tuple[int, ...], list[Field]] = {}
    for field in _views(texts, countries):
        if len(set(field.values)) == questions and _fits(field.values, countries, per_cell):
            groups.setdefault(field.partition(), []).append(field)
    return list(groups.values())


def behaviour_fields(
    texts: Sequence[Mapping[str, str]],
    countries: Sequence[str],
    questions: Sequence[str],
    *,
    behaviours: int = BEHAVIOURS,
) -> list[Field]:
    """The fields with `behaviours` values that keep every question whole."""
    return [
        field
        for field in _views(texts, countries)
        if len(set(field.values)) == behaviours
        and len(set(zip(questions, field.values, strict=True))) == len(set(questions))
    ]


def _fits(values: Sequence[str], countries: Sequence[str], per_cell: tuple[int, int]) -> bool:
    cells = Counter(zip(countries, values, strict=True))
    complete = len(cells) == len(set(countries)) * len(set(values))
    return complete and all(per_cell[0] <= n <= per_cell[1] for n in cells.values())


def _views(texts: Sequence[Mapping[str, str]], countries: Sequence[str]) -> Iterator[Field]:
    """Every field that all items have: whole, without its number, by parts, and parts without their number."""
    if not texts:
        return
    for name in (key for key in texts[0] if all(key in row for row in texts)):
        whole = [row[name].strip() for row in texts]
        yield Field(name, tuple(whole))
        yield from _plain(name, whole, countries)
        split = [_SEPARATOR.split(value) for value in whole]
        if min(map(len, split)) < 2:
            continue
        for place in range(min(map(len, split))):
            for label, at in (
                (f"{name}, part {place + 1}", place),
                (f"{name}, part {place + 1} from the end", -place - 1),
            ):
                part = [pieces[at] for pieces in split]
                yield Field(label, tuple(part))
                yield from _plain(label, part, countries)


def _plain(name: str, values: Sequence[str], countries: Sequence[str]) -> Iterator[Field]:
    bare = [_NUMBERED.sub("", value).strip() for value in values]
    yield Field(f"{name} without its number", tuple(bare))
    without = [
        re.sub(rf"[\s_-]*{re.escape(country)}[\s_-]*", " ", value, flags=re.IGNORECASE).strip()
        for value, country in zip(bare, countries, strict=True)
    ]
    yield Field(f"{name} without its number and country", tuple(without))
