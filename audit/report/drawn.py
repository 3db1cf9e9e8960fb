"""A picture of the JSON as drawings, words and tables; computes nothing.

Whatever is drawn says in the drawing, in its caption and in its description what it rests on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from countback.audit.drawing import Bins, Dot, Square, forest, histograms, letters
from countback.audit.report.data import anchor
from countback.audit.report.picture_words import (
    LEGENDS,
    PROVES_NOTHING,
    RESTS,
    STAMPS,
    UNITS,
    Write,
    bar_words,
    cell_words,
    null_words,
    or_nothing,
    p_value,
    percent,
    plain,
    points,
    prior_words,
    probability,
    share,
    three,
)  # fmt: skip
from countback.claims.pictures import (
    Bar,
    Cell,
    GridPicture,
    HeldOutPicture,
    Histogram,
    LeanPicture,
    NullPicture,
    Picture,
    SharesPicture,
    SpreadsPicture,
)  # fmt: skip

LONG = 240  # letters of a setting
COLUMNS = 6  # a grid of more countries has no room for words in its squares


@dataclass(frozen=True)
class Entry:
    """One cell of a table; `link` leads to a claim of the page."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class Table:
    """The numbers of one drawing."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]


@dataclass(frozen=True)
class Shown:
    """A picture for the page; `drawings` may be empty, and `picture.missing` then says why."""

    id: str
    picture: Picture
    drawings: tuple[str, ...]
    tables: tuple[Table, ...]
    says: str
    rests: str
    how: str

    @property
    def loud(self) -> bool:
        """Whether its caption is a warning."""
        return self.picture.rests_on.what in PROVES_NOTHING

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Of a stored study, each in a line."""
        found = self.picture.settings if isinstance(self.picture, SpreadsPicture) else {}
        return [(name, _setting(value)) for name, value in found.items()]

    @property
    def is_study(self) -> bool:
        """A stored study is a result with a section of its own."""
        return isinstance(self.picture, SpreadsPicture) and bool(self.picture.question)


def shown(pictures: Sequence[Picture], ids: Collection[str]) -> list[Shown]:
    """Pictures of one paper in order; `ids` are the claims that the page has. Raises UserError without matplotlib."""
    return [_shown(picture, number, ids) for number, picture in enumerate(pictures, start=1)]


def _shown(picture: Picture, number: int, ids: Collection[str]) -> Shown:
    salt = f"{anchor(picture.paper)}-{picture.kind}-{number}"
    make: Callable[..., tuple[tuple[str, ...], tuple[Table, ...]]] = _DRAW[type(picture)]
    drawings, tables = make(picture, salt, ids)
    how = [f"{picture.n:,} {UNITS[picture.kind]}"] if picture.n is not None else []
    how += [picture.interval] if picture.interval else []
    how += [f"seed {picture.seed}"] if picture.seed is not None else []
    says = f"{picture.says} {LEGENDS.get(picture.kind, '')}".strip()
    return Shown(salt, picture, drawings, tables, says, RESTS[picture.rests_on.what], "; ".join(how))


def _setting(value: Any) -> str:
    told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return told if len(told) <= LONG else f"{told[:LONG]} … (the rest stands in the file)"


def _told(picture: Picture, said: Sequence[str]) -> str:
    """The text alternative: what the drawing rests on, and its numbers."""
    return f"{STAMPS[picture.rests_on.what]}. " + "; ".join(said) + "."


def _bars(
    picture: Picture, bars: Sequence[Bar], salt: str, title: str, write: Write, ids: Collection[str],
    heads: tuple[str, str], names: Sequence[str] = (), zero: float | None = None, zero_words: str = "",
    reference: bool = False,
) -> tuple[tuple[str, ...], tuple[Table, ...]]:  # fmt: skip
    """A drawing and a table of bars in their groups; none of either where there are no bars."""
    if not bars:
        return (), ()
    names = names or ["", *dict.fromkeys(bar.name for bar in bars)]  # the first mark is the human's own
    groups = [
        (group, [Dot(b.name, b.value, b.low, b.high, bar_words(b, write), names.index(b.name)) for b in found])
        for group, found in groupby(bars, key=lambda bar: bar.group)
    ]
    said = [
        (f"{group}: " if group else "") + ", ".join(f"{dot.name} {dot.words}" for dot in dots) for group, dots in groups
    ]
    drawing = forest(
        groups, salt=salt, title=title, description=_told(picture, said), stamp=STAMPS[picture.rests_on.what],
        zero=zero, zero_words=zero_words, reference=reference,
    )  # fmt: skip
    return (drawing,), (_bar_table(picture, bars, title, write, ids, heads),)


def _bar_table(
    picture: Picture, bars: Sequence[Bar], title: str, write: Write, ids: Collection[str], heads: tuple[str, str]
) -> Table:
    grouped, counted = any(bar.group for bar in bars), any(bar.n is not None for bar in bars)
    told = any(bar.note or bar.claim for bar in bars)
    columns = [*heads[0 if grouped else 1 :], "value", "interval", *["n"] * counted, *["claim, note"] * told]
    rows = []
    for bar in bars:
        ends = f"{write(bar.low)} to {write(bar.high)}" if bar.low is not None and bar.high is not None else ""
        value = f"{bar.printed} as printed" if bar.printed else "" if bar.value is None else write(bar.value)
        row = [Entry(bar.group)] * grouped + [Entry(bar.name), Entry(value), Entry(ends)]
        row += [Entry(f"{bar.n:,}" if bar.n is not None else "")] * counted
        rows.append((*row, *[_claim(picture.paper, bar.claim, bar.note, ids)] * told))
    return Table(title, tuple(columns), tuple(rows))


def _claim(paper: str, claim: str, note: str, ids: Collection[str]) -> Entry:
    """A claim's id, as a link where the page has that claim; else the note."""
    full = f"{paper}/{claim}"
    return Entry(", ".join(filter(None, (claim, note))), f"#{anchor(full)}" if claim and full in ids else "")


# --- Each kind -------------------------------------------------------------------------------------------------------


def _held_out(picture: HeldOutPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    heads = ("where", "who")
    names = list(dict.fromkeys(bar.name for bar in (*picture.rates, *picture.leads)))
    rates = _bars(picture, picture.rates, f"{salt}-rates", "Matches the majority of the others", percent, ids, heads,
                  names, reference=True)  # fmt: skip
    leads = _bars(picture, picture.leads, f"{salt}-leads", "Lead over the held-out human, in points", points, ids,
                  heads, names, zero=0.0, zero_words="as the human")  # fmt: skip
    return (*rates[0], *leads[0]), (*rates[1], *leads[1])


def _lean(picture: LeanPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    return _bars(picture, picture.bars, salt, picture.title, three, ids, ("whose", "country"))


def _spreads(picture: SpreadsPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    heads = ("of", "what")
    if not picture.question:
        return _bars(picture, picture.bars, salt, picture.title, three, ids, heads, zero=0.0, zero_words="all alike")
    conditional = [(bar, _CONDITIONAL.fullmatch(bar.name)) for bar in picture.bars]
    compared = [(bar, _COMPARED.fullmatch(bar.name)) for bar, match in conditional if match is None]
    parts = [
        [_under(bar, f"P({match[1]} | …)", match[2]) for bar, match in conditional if match is not None],
        [_under(bar, match[1], match[2]) for bar, match in compared if match is not None],
        [bar for bar, match in compared if match is None],
    ]
    drawings: list[str] = []
    tables: list[Table] = []
    for number, bars in enumerate(part for part in parts if part):
        whole = len(bars) == len(picture.bars)
        made = _bars(picture, bars, f"{salt}-{number}", picture.title if whole else _scale(bars), plain, ids, heads)
        drawings += made[0]
        tables += made[1]
    return tuple(drawings), tuple(tables)


# How rows of a study are called where one scale or one heading serves several: "P(event | where)", "design: outcome".
_CONDITIONAL = re.compile(r"P\((.+) \| (.+)\)")
_COMPARED = re.compile(r"([^:]+): ([^:]+)")


def _under(bar: Bar, group: str, name: str) -> Bar:
    return replace(bar, group=group, name=name)


def _scale(bars: Sequence[Bar]) -> str:
    inside = all(0 <= x <= 1 for bar in bars for x in _numbers(bar))
    return "Between 0 and 1" if inside else "On a scale of their own"


def _numbers(bar: Bar) -> list[float]:
    return [x for x in (bar.value, bar.low, bar.high) if x is not None]


def _shares(picture: SharesPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    if not picture.priors:
        return (), ()
    dots = [
        Dot(p.name, _hundred(p.median), _hundred(p.low), _hundred(p.high), prior_words(p), 1) for p in picture.priors
    ]
    drawing = forest(
        [("", dots)], salt=salt, title=picture.title, stamp=STAMPS[picture.rests_on.what], zero=100 * picture.threshold,
        description=_told(picture, [f"{dot.name}: {dot.words}" for dot in dots]), zero_words=share(picture.threshold),
    )  # fmt: skip
    columns = ("prior", "median", "95% interval", f"P(share < {share(picture.threshold)})", "prior's own", "note")
    rows = []
    for p in picture.priors:
        ends = f"{or_nothing(p.low)} to {or_nothing(p.high)}" if p.low is not None else ""
        told = (p.name, or_nothing(p.median), ends, probability(p.below), probability(p.prior_below), p.note)
        rows.append(tuple(map(Entry, told)))
    return (drawing,), (Table(picture.title, columns, tuple(rows)),)


def _hundred(x: float | None) -> float | None:
    return None if x is None else 100 * x


def _null(picture: NullPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    if not picture.nulls:
        return (), ()
    rows = [
        Bins(null.name, null_words(null), null.edges, null.counts,
             Dot("", null.mean, null.low, null.high, "", 1) if null.mean is not None else None, null.observed)
        for null in picture.nulls
    ]  # fmt: skip
    drawing = histograms(rows, salt=salt, title=picture.title, stamp=STAMPS[picture.rests_on.what],
                         description=_told(picture, [f"{row.name}: {row.words}" for row in rows]))  # fmt: skip
    columns = ("null", "observed", "mean of the null", "its range", "p", "claims")
    body = []
    for null in picture.nulls:
        ends = f"{plain(null.low)} to {plain(null.high)}" if null.low is not None and null.high is not None else ""
        observed, mean = ("" if x is None else plain(x) for x in (null.observed, null.mean))
        cells = [null.name, observed, mean, ends, "" if null.p is None else p_value(null.p)]
        claim = _claim(picture.paper, null.claims[0] if null.claims else "", "", ids)
        body.append((*map(Entry, cells), claim))
    tables = [Table(picture.title, columns, tuple(body))]
    bins = tuple((Entry(null.name), Entry(_bins(null))) for null in picture.nulls if null.counts)
    if bins:
        tables.append(Table("How many draws gave which value", ("null", "value: draws"), bins))
    return (drawing,), tuple(tables)


def _bins(null: Histogram) -> str:
    """ "0: 303; 1: 1,512" where each bin holds one whole number, else "from 0.01: 303"."""
    pairs = list(zip(null.edges, null.edges[1:], strict=False))
    whole = all(high - low == 1 for low, high in pairs)
    names = [plain((low + high) / 2) if whole else f"from {plain(low)}" for low, high in pairs]
    return "; ".join(f"{name}: {count:,}" for name, count in zip(names, null.counts, strict=False) if count)


def _grid(picture: GridPicture, salt: str, ids: Collection[str]) -> tuple[tuple[str, ...], tuple[Table, ...]]:
    if not picture.cells:
        return (), ()
    countries = list(dict.fromkeys(cell.country for cell in picture.cells))
    found = {(cell.question, cell.country): cell for cell in picture.cells}
    questions = list(dict.fromkeys(cell.question for cell in picture.cells))
    rows = [
        (question, [_square(found.get((question, country)), picture.labels, len(countries)) for country in countries])
        for question in questions
    ]
    said = [
        f"{question}: " + ", ".join(f"{c.country} {cell_words(c)}" for c in picture.cells if c.question == question)
        for question in questions
    ]
    drawing = letters(countries, rows, salt=salt, title=picture.title, stamp=STAMPS[picture.rests_on.what],
                      description=_told(picture, said))  # fmt: skip
    body = tuple(
        (Entry(question), *(Entry(cell_words(found[question, c]) if (question, c) in found else "") for c in countries))
        for question in questions
    )
    return (drawing,), (Table(picture.title, ("question", *countries), body),)


def _square(cell: Cell | None, labels: Sequence[str], countries: int) -> Square:
    """Darker is stricter; a thick frame and a word where the mode is a tie, a dashed one where ties among the labels of
    its items decide the letter."""
    if cell is None:
        return Square("", "", 0.0, "")
    place = labels.index(cell.letter) if cell.letter in labels else len(labels) - 1
    shade = 0.3 * (len(labels) - 1 - place) / max(len(labels) - 1, 1)
    kept = "" if cell.kept is None else f"{100 * cell.kept:.0f}%"
    tie = "tie" if cell.tied else "item tie" if cell.decided else ""
    word = ", ".join(filter(None, (tie, kept))) if countries <= COLUMNS else ""
    letter = (cell.letter or "none") + ("=" if tie and not word else "")
    return Square(letter, word, shade, "-" if cell.tied else "--" if cell.decided else "")


_DRAW: dict[type, Callable[..., tuple[tuple[str, ...], tuple[Table, ...]]]] = {
    HeldOutPicture: _held_out,
    LeanPicture: _lean,
    GridPicture: _grid,
    NullPicture: _null,
    SharesPicture: _shares,
    SpreadsPicture: _spreads,
}
