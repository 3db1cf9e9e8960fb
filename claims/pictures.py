"""Pictures of a paper as data: what a report draws, and what each picture rests on.

A paper's folder may hold pictures.py with `def pictures(data, printed) -> list[Picture]`. `data` is what recipes are
given; where the files are absent, `data.path` raises UserError and the function draws what `printed` numbers give, or
says in `missing` what cannot be drawn. It computes nothing that a reader could not find in `models/`. Results that were
stored beside the paper are pictures too: fits/*.json (schema countback.fit/1) and studies/*.json (countback.study/1).

In the verdict JSON they are the list "pictures", each entry with schema countback.picture/1. The list is additive:
countback.verdicts/1 stays what it is, a reader may leave the list out, and files written without it are whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol

from countback.claims.registry import Paper, claim_number
from countback.fetch.errors import UserError
from pydantic import Field

SCHEMA: Final = "countback.picture/1"
PRINTED: Final = "printed values"
RELEASED: Final = "released files"
SYNTHETIC: Final = "SYNTHETIC stand-in"
UNVERIFIED: Final = "unverified files"
STORED: Final = "stored result"
SIMULATED: Final = "SYNTHETIC studies"

What = Literal[
    "printed values", "released files", "SYNTHETIC stand-in", "unverified files", "stored result", "SYNTHETIC studies"
]
Side = Literal["at least", "at most"]

Real = Annotated[float, Field(ge=-1e9, le=1e9)]  # nothing that is drawn is near either end
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Most = Field(max_length=600)


class Data(Protocol):
    """The files of the paper's releases."""

    def path(self, name: str) -> Path:
        """The local file that the release calls `name`; raises UserError where there is none."""


# --- What is drawn -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A file that a picture rests on; status as in the JSON's inputs, or "stored"."""

    file: str
    sha256: str = ""
    status: str = ""


@dataclass(frozen=True)
class RestsOn:
    """What a picture rests on; the pictures of a paper give `what`, the collector adds the files and what is proved of
    them, so that nothing unproved is ever called released."""

    what: What
    files: tuple[Source, ...] = ()


@dataclass(frozen=True)
class Bar:
    """One number with its interval: `name` (a judge, say) under `group` (a country). `value` None: only a range.

    `printed` is the number as the paper prints it and `claim` its id there; both "" for a number that we computed.
    """

    group: str
    name: str
    value: Real | None
    low: Real | None = None
    high: Real | None = None
    n: Count | None = None
    printed: str = ""
    claim: str = ""
    note: str = ""


@dataclass(frozen=True)
class Cell:
    """One letter of a grid, "" for none. `tied`: its mode is a tie. `decided`: another way of breaking ties gives
    another letter. `tied_items`: items whose own majority is tied. `kept`: share of resamples with the letter again."""

    country: str
    question: str
    letter: str
    tied: bool
    decided: bool
    tied_items: Count
    kept: Share | None = None


@dataclass(frozen=True)
class Histogram:
    """Draws of a null, `counts` (k,) between `edges` (k + 1,), none where only their summary is known; and what was
    observed. `low` to `high` hold the central `level` of them."""

    name: str
    observed: Real | None
    edges: Annotated[tuple[Real, ...], Most] = ()
    counts: Annotated[tuple[Count, ...], Most] = ()
    mean: Real | None = None
    low: Real | None = None
    high: Real | None = None
    level: Share = 0.9
    p: Share | None = None
    side: Side = "at least"
    draws: Count | None = None
    printed: str = ""
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Prior:
    """One prior of a sweep: the country's share of variance (median, 95% interval), P(share below the threshold), and
    the same P under the prior alone. None where a fit failed or a design cannot tell, which `note` says."""

    name: str
    median: Share | None
    low: Share | None
    high: Share | None
    below: Share | None
    prior_below: Share | None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class _Picture:
    """Fields of all. `says` is how to read it; `missing` what cannot be drawn, in words. `n` counts comparisons of
    held-out labels, else items; `interval` is the method in words, with level and draws."""

    title: str
    says: str
    rests_on: RestsOn
    n: Count | None = None
    interval: str = ""
    seed: int | None = None
    missing: tuple[str, ...] = ()
    paper: str = ""
    schema: Literal["countback.picture/1"] = SCHEMA


@dataclass(frozen=True, kw_only=True)
class HeldOutPicture(_Picture):
    """Held-out human and judges against the same reference: `rates` in percent, `leads` over the human in points."""

    rates: Annotated[tuple[Bar, ...], Most]
    leads: Annotated[tuple[Bar, ...], Most]
    kind: Literal["heldout"] = "heldout"


@dataclass(frozen=True, kw_only=True)
class LeanPicture(_Picture):
    """Leans by country, grouped by whose they are; 1 is the strictest label only, 0 the most lenient."""

    bars: Annotated[tuple[Bar, ...], Most]
    kind: Literal["lean"] = "lean"


@dataclass(frozen=True, kw_only=True)
class GridPicture(_Picture):
    """The letters of countries (columns) and questions (rows); `labels` strictest first."""

    labels: tuple[str, ...]
    cells: Annotated[tuple[Cell, ...], Field(max_length=5000)]
    kind: Literal["grid"] = "grid"


@dataclass(frozen=True, kw_only=True)
class NullPicture(_Picture):
    """Null distributions, each with what was observed."""

    nulls: Annotated[tuple[Histogram, ...], Most]
    kind: Literal["null"] = "null"


@dataclass(frozen=True, kw_only=True)
class SharesPicture(_Picture):
    """The country's share of label variance under each prior of a sweep, from a stored fit."""

    priors: Annotated[tuple[Prior, ...], Most]
    threshold: Share = 0.05
    kind: Literal["shares"] = "shares"


@dataclass(frozen=True, kw_only=True)
class SpreadsPicture(_Picture):
    """Spreads over countries. A stored study has also its `question`, the `answer` in sentences, `settings`,
    `versions` and how the rows are to be read."""

    bars: Annotated[tuple[Bar, ...], Most]
    question: str = ""
    answer: tuple[str, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    kind: Literal["spreads"] = "spreads"


Picture = HeldOutPicture | LeanPicture | GridPicture | NullPicture | SharesPicture | SpreadsPicture
KINDS = {
    each.kind: each for each in (HeldOutPicture, LeanPicture, GridPicture, NullPicture, SharesPicture, SpreadsPicture)
}


def as_json(picture: Picture) -> dict[str, Any]:
    """One entry of the list "pictures"."""
    return asdict(picture)


# --- What a paper's pictures are made from ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """The numbers that the paper prints, by claim id."""

    paper: Paper

    @property
    def folder(self) -> Path:
        return self.paper.folder

    def bar(
        self, claim: str, group: str, name: str, *, interval: str = "", n: int | None = None, note: str = ""
    ) -> Bar:
        """A printed number as a bar; a range has no value but its ends, `interval` is the claim that prints its own."""
        number, text = self._number(claim)
        ends = self._number(interval)[0] if interval else number if number.kind in ("range", "estimate") else None
        low, high = (
            (float(ends.part("low").value), float(ends.part("high").value)) if ends is not None else (None, None)
        )
        value = None if number.kind == "range" else float(number.value)
        text = f"{text} [{self._number(interval)[1]}]" if interval else text
        return Bar(group, name, value, low, high, n, text, claim, note)

    def value(self, claim: str) -> float:
        return float(self._number(claim)[0].value)

    def _number(self, claim: str) -> tuple[Any, str]:
        path = self.folder / "claims.toml"
        if claim not in self.paper.numbers:
            raise UserError(f'{self.folder / "pictures.py"} asks for the claim "{claim}", which {path} does not have')
        spec = self.paper.numbers[claim]
        return claim_number(spec, path), spec.reported


def stamped(picture: Picture, paper: str, used: Iterable[Source]) -> Picture:
    """With its paper and what it rests on in full: a picture from files that are not all verified is never called
    released, whatever its maker says. Raises ValueError for one that claims files and used none."""
    files, what = tuple(used), picture.rests_on.what
    if what == PRINTED:
        return replace(picture, paper=paper, rests_on=RestsOn(PRINTED))
    if not files:
        raise ValueError(f'the picture "{picture.title}" says that it rests on {what}, and asked for no file')
    if what == RELEASED and any(file.status != "verified" for file in files):
        return replace(picture, paper=paper, rests_on=RestsOn(UNVERIFIED, files))
    return replace(picture, paper=paper, rests_on=RestsOn(what, files))
