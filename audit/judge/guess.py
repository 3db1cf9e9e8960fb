"""Which column of a table may be what, guessed from the values, from how they repeat and, last, from the names.

A guess is only ever shown, as a command or a draft of settings to correct; nothing acts on it.

Three shapes are told apart. *Long*: a row for each answer, found by two columns (or three, with a question) that both
repeat and together hardly ever do. *Wide*: several columns with the values of one scale, and a row for each item, or
for each person. A row for each answer with several such columns holds several questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, product

import numpy as np
from countback.fetch.readers.columns import Column, distinct
from countback.fetch.readers.options import LIST_ROLES, ROLES
from countback.fetch.readers.people import is_pii

Guess = dict[str, str | list[str]]

_OF_A_SCALE = 20  # more different values than this are no scale
_REPEATS = 1.5  # rows for each value of a column that names items or people
_NO_CHANCE = 4.0  # collisions that two unrelated columns would show; none where so many are due is a key
_A_BLOCK = 3  # so many columns of one scale make a block
_MOST_KEYS = 8  # columns among which keys are looked for
_HINTS = {  # beginnings of words in a column's name
    "item": "item doc text case task example sample post tweet prompt meme vignette image video sentence passage story "
    "stimul snippet utter page claim",
    "annotator": "annot rater coder worker person people user who judge labeler labeller evaluator reviewer expert "
    "participant respondent by",
    "label": "label rating rate score answer verdict choice judgment judgement grade response decision value class",
    "question": "question criteri dimension aspect attribute metric trait",
}


def guess(columns: Mapping[str, Column], rows: int, missing: Sequence[str], known: Mapping[str, str]) -> Guess:
    """Columns for the `missing` roles among those free; `known` are the roles that have one, by column.

    `columns` are all columns by name, each of `rows` cells.
    """
    used = set(known.values())
    free = [name for name, column in columns.items() if name not in used and _size(column) > 1 and not _counts(name)]
    found: Guess = {}
    key = _key(columns, free, rows, known)
    alike = _alike([columns[name] for name in free], free)
    if key or len(alike) < 2 or "label" not in missing:
        found |= key
        left = [name for name in free if name not in key.values()]
        for role in ("item", "annotator"):
            if role in missing and role not in found and left:
                found[role] = _best(role, left, columns, most=role == "item", repeats=rows / _REPEATS)
                left.remove(str(found[role]))
        if "label" in missing:
            whole = {role: str(name) for role, name in {**known, **found}.items()}
            found |= _labels(columns, left, [columns[whole[r]] for r in ("item", "annotator") if r in whole])
        asked = [role for role in ROLES + LIST_ROLES if role in missing or role in ("question", "questions")]
        return {role: found[role] for role in asked if role in found}
    alike = _with_those_between(alike, {name: column for name, column in columns.items() if name not in used})
    left = [name for name in free if name not in alike]
    return _wide(alike, left, columns, missing, known)


def _wide(
    alike: list[str], left: list[str], columns: Mapping[str, Column], missing: Sequence[str], known: Mapping[str, str]
) -> Guess:
    """A row for each item with a column for each person, or the other way round, by what is known or is called so."""
    role = "annotator" if "annotator" not in missing else "item"
    if "item" in missing and "annotator" in missing and left:
        most = max(_size(columns[name]) for name in left)
        names = [name for name in left if _size(columns[name]) == most]
        role = "item" if any(_hinted("item", name) for name in names) else role
        role = "annotator" if role == "item" and any(_hinted("annotator", name) for name in names) else role
    if "item" not in missing and "annotator" not in missing:
        return {"questions": alike}
    lists: Guess = {"annotators" if role == "item" else "items": alike}
    if role in missing and left:
        return {role: _best(role, left, columns, most=True), **lists}
    return lists


def _key(columns: Mapping[str, Column], free: Sequence[str], rows: int, known: Mapping[str, str]) -> Guess:
    """Free columns that with the known ones name each answer: item and annotator, and a question where it takes one."""
    needed = [role for role in ("item", "annotator") if role not in known]
    repeated = [name for name in free if _size(columns[name]) <= rows / _REPEATS]
    repeated = sorted(repeated, key=lambda name: -_size(columns[name]))[:_MOST_KEYS]
    given = [columns[known[role]] for role in ("item", "annotator", "question", "country") if role in known]
    for more in [0] if "question" in known else [0, 1]:
        best: tuple[float, tuple[str, ...]] | None = None
        for names in combinations(repeated, len(needed) + more):
            parts = [*given, *(columns[name] for name in names)]
            size = float(np.prod([float(_size(column)) for column in parts]))
            hints = sum(_hinted(role, name) for role, name in product(needed, names))
            rank = size / 4.0**hints
            if (best is None or rank < best[0]) and rows**2 / (2 * size) >= _NO_CHANCE and _once(parts, rows):
                best = rank, names
        if best is not None:
            return _named(best[1], needed, columns)
    return {}


def _named(names: Sequence[str], needed: Sequence[str], columns: Mapping[str, Column]) -> Guess:
    """Which of a key's columns is the item, which the annotator and which the question."""
    left = list(names)
    found: Guess = {}
    roles = [*needed, *(["question"] if len(names) > len(needed) else [])]
    for role in roles:  # by name, where exactly one is called so
        fits = [name for name in left if _hinted(role, name)]
        if len(fits) == 1:
            found[role] = fits[0]
            left.remove(fits[0])
    for role in (role for role in ("item", "annotator", "question") if role in roles and role not in found):
        most = max if role == "item" else min
        found[role] = most(left, key=lambda name: _size(columns[name]))
        left.remove(str(found[role]))
    return found


def _labels(columns: Mapping[str, Column], left: Sequence[str], key: Sequence[Column]) -> Guess:
    """The column of the labels, or several as questions: of those with few values, none that an item alone decides."""
    scale = [name for name in left if _size(columns[name]) <= _OF_A_SCALE and not is_pii(name)]
    varied = [name for name in scale if not any(_decided(columns[name], part) for part in key)] or scale
    hinted = [name for name in varied if _hinted("label", name)]
    if len(hinted) != 1:
        alike = _alike([columns[name] for name in varied], varied)
        if len(alike) > 1:
            return {"questions": alike}
    names = hinted or varied or list(left)
    return {"label": min(names, key=lambda name: _size(columns[name]))} if names else {}


def _best(
    role: str, names: Sequence[str], columns: Mapping[str, Column], *, most: bool, repeats: float = float("inf")
) -> str:
    """By name if one is called so, else the column with the most (or fewest) values of those that repeat."""
    pool = [name for name in names if _size(columns[name]) <= repeats] or list(names)
    pool = [name for name in pool if _hinted(role, name)] or pool
    return (max if most else min)(pool, key=lambda name: _size(columns[name]))


def _alike(columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """Columns that hold the values of one scale, the largest such group."""
    values = [frozenset(v.strip() for v in column.values if v.strip()) for column in columns]
    best: list[str] = []
    for scale in values:
        if 2 <= len(scale) <= _OF_A_SCALE:
            group = [n for n, v in zip(names, values, strict=True) if v <= scale and len(v) * 2 >= len(scale)]
            best = max(best, group, key=len)
    return best


def _with_those_between(alike: list[str], columns: Mapping[str, Column]) -> list[str]:
    """With columns among a large group that lack most of its scale: in a small sample few labels may have come up."""
    if len(alike) < _A_BLOCK:
        return alike
    scale = {value.strip() for name in alike for value in columns[name].values}
    names = list(columns)
    block = names[names.index(alike[0]) : names.index(alike[-1]) + 1]
    return [name for name in block if {value.strip() for value in columns[name].values} <= scale]


def _size(column: Column) -> int:
    return sum(bool(value.strip()) for value in column.values)


def _hinted(role: str, name: str) -> bool:
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())
    return any(word.startswith(stem) for word in words for stem in _HINTS[role].split())


def _counts(name: str) -> bool:
    """Whether a column is called what says how many answers a row stands for: it names neither people nor labels."""
    return name.strip().casefold() in {"n", "count", "counts", "freq", "frequency", "weight", "weights"}


def _combinations(columns: Sequence[Column]) -> int:
    """How many different combinations of values the rows of several columns hold."""
    code = columns[0].codes.astype(np.int64)
    found = distinct(code, len(columns[0].values))[0].size
    for column in columns[1:]:
        code, size = code * len(column.values) + column.codes, len(column.values) * found
        present = distinct(code, size)[0]
        code, found = np.searchsorted(present, code), present.size
    return int(found)


def _once(columns: Sequence[Column], rows: int) -> bool:
    """Whether hardly any combination of values comes twice."""
    return _combinations(columns) >= 0.99 * rows


def _decided(column: Column, by: Column) -> bool:
    """Whether a value of `by` always comes with one and the same of `column`."""
    return _combinations([by, column]) == _combinations([by])
