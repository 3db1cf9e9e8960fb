"""Verdicts as a report reads them: the stable JSON of `countback check`, joined with what the paper folders say.

A file of verdicts may come from anywhere, so every field is checked; what a paper folder holds (titles, tables, why a
finding is known) is added where the folder is at hand. Nothing is judged again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from countback.audit.diff import SCHEMA
from countback.claims.pictures import (
    KINDS,
    GridPicture,
    HeldOutPicture,
    LeanPicture,
    NullPicture,
    Picture,
    SharesPicture,
    SpreadsPicture,
)
from countback.claims.pictures import SCHEMA as PICTURE
from countback.claims.registry import Claim, Paper, Table
from countback.claims.spec import read_text
from countback.claims.verdict import FINDINGS, SYNTHETIC, UNCHECKED, UNCONFIRMED, UNVERIFIED, VERDICTS
from countback.fetch.errors import UserError
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

Number = str | int | float
WORST_FIRST = ("differs", "inconsistent", "unchecked", "uninformative", "reproduced", "consistent")
PROVES_NOTHING = (SYNTHETIC, UNVERIFIED, UNCONFIRMED)


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True)


class Operand(_Read):
    """A printed number with its address, or (with `relation`) a number computed from others."""

    address: str = Field("", alias="from")
    printed: str = ""
    relation: str = ""
    of: tuple[Operand, ...] = ()
    weights: tuple[Operand, ...] = ()
    n: tuple[Operand, ...] = ()
    expr: str = ""
    names: tuple[str, ...] = ()


class UsedFile(_Read):
    """A file that a recipe read."""

    file: str
    sha256: str = ""
    status: str = ""


class Evidence(Operand):
    """Of a relation its operands, of a recount its recipe, files and draws."""

    equals: Operand | None = None
    rounding: str = ""
    recipe: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    files: tuple[UsedFile, ...] = ()
    versions: dict[str, str] | None = None
    notes: tuple[str, ...] = ()
    readings: dict[str, Number] = Field(default_factory=dict)
    readings_that_meet: tuple[str, ...] = ()
    mc_error: float | None = None
    seed: int | None = None
    sigmas: int | None = None
    resamples: int | None = None


class Line(_Read):
    """One verdict of the JSON."""

    id: str
    paper: str
    kind: str
    where: dict[str, str]
    reads: str
    reported: str
    reported_interval: tuple[Number, Number] | None
    recounted: Number | None
    recounted_interval: tuple[Number, Number] | None
    gap: Number | None
    n: int | None = None
    verdict: Literal["reproduced", "consistent", "differs", "inconsistent", "uninformative", "unchecked"]
    known: bool
    agrees: bool | None
    reason: str
    evidence: Evidence

    @property
    def name(self) -> str:
        """The id within its paper."""
        return self.id.removeprefix(f"{self.paper}/")

    @property
    def place(self) -> str:
        """Where the paper prints the number: "Table 4, Average, Hon"."""
        return ", ".join(self.where.values())

    @cached_property
    def anchor(self) -> str:
        """Of this claim in the page: its id in plain letters and 8 digits of its sha256, the same in every report."""
        return anchor(self.id)

    @property
    def why_not(self) -> str:
        """The first words of the reason: "archive absent"."""
        return self.reason.partition(":")[0]


class InputFile(_Read):
    """One released file, as the JSON tells it."""

    paper: str
    release: str
    file: str
    sha256: str
    status: str


class Undrawn(_Read):
    """A picture of a kind or version that this report does not know."""

    paper: str
    kind: str = "no kind"
    shape: str = Field("no schema", alias="schema")


def _tag(entry: Any) -> str:
    """Which kind of picture an entry of the list is; "" for one that is not known."""
    told = entry if isinstance(entry, dict) else vars(entry)
    kind = told.get("kind")
    return kind if told.get("schema") == PICTURE and isinstance(kind, str) and kind in KINDS else ""


AnyPicture = Annotated[
    Annotated[HeldOutPicture, Tag("heldout")]
    | Annotated[LeanPicture, Tag("lean")]
    | Annotated[GridPicture, Tag("grid")]
    | Annotated[NullPicture, Tag("null")]
    | Annotated[SharesPicture, Tag("shares")]
    | Annotated[SpreadsPicture, Tag("spreads")]
    | Annotated[Undrawn, Tag("")],
    Discriminator(_tag),
]


class Told(_Read):
    """The JSON of one audit. `pictures` is absent from files of an older kit."""

    kit: dict[str, str]
    inputs: list[InputFile]
    verdicts: list[Line]
    pictures: list[AnyPicture] = []


def anchor(name: str) -> str:
    """Letters, digits, dots and hyphens only, so that a link needs no escaping anywhere."""
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:80]
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


def load_verdicts(path: Path) -> dict[str, Any]:
    """The file of `countback check --json`. Raises UserError for a file that is none."""
    try:
        told = json.loads(read_text(path), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}; expected the file of countback check --json") from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        found = str(told.get("schema", "no schema") if isinstance(told, dict) else type(told).__name__)
        raise UserError(f'{path}: expected schema "{SCHEMA}", found {found:.60}; write it with countback check --json')
    return told


def _no_number(found: str) -> float:
    raise ValueError(f"{found} is no number")


def read_told(told: dict[str, Any], name: str) -> Told:
    """Check every field. Raises UserError that names the field."""
    try:
        read = Told.model_validate(told)
    except RecursionError:
        raise UserError(
            f"{name}: its checks are nested too deeply; write it again with countback check --json"
        ) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(
            f"{name}: {place}: {first['msg']}; found {first['input']!r:.80}; write it again with countback check --json"
        ) from None
    counts = Counter(line.id for line in read.verdicts)
    twice = next((identity for identity, count in counts.items() if count > 1), None)
    if twice is not None:
        raise UserError(
            f'{name}: the claim "{twice:.80}" stands in it twice; write it again with countback check --json'
        )
    return read


# --- one paper ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A cell of a transcribed table. `about` are the claims that its number must meet, worst first; `used` those that
    take it as an operand."""

    text: str
    about: tuple[Line, ...] = ()
    used: tuple[Line, ...] = ()
    draft: bool = False

    @property
    def verdict(self) -> str:
        """The worst verdict about it; "" where no claim is."""
        return self.about[0].verdict if self.about else ""

    @property
    def in_finding(self) -> Line | None:
        """A finding elsewhere that takes this number as an operand."""
        return next((line for line in self.used if line.verdict in FINDINGS), None)


@dataclass(frozen=True)
class Section:
    """The lines of one paper. `paper` is its folder as loaded, None where it is not at hand."""

    id: str
    lines: tuple[Line, ...]
    paper: Paper | None
    inputs: tuple[InputFile, ...]
    pictures: tuple[Picture, ...] = ()
    undrawn: tuple[Undrawn, ...] = ()

    @property
    def title(self) -> str:
        return self.paper.spec.title if self.paper else self.id

    @cached_property
    def counts(self) -> dict[str, int]:
        found: Counter[str] = Counter(line.verdict for line in self.lines)
        return {word: found[word] for word in VERDICTS}

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The registry's claims by full id."""
        return {claim.full_id: claim for claim in self.paper.claims} if self.paper else {}

    @property
    def short(self) -> str:
        """A sentence where fewer claims are here than paper.toml requires."""
        if self.paper is None or len(self.lines) >= self.paper.spec.requires:
            return ""
        return f"{len(self.lines)} claims are in this report; paper.toml requires {self.paper.spec.requires}"

    def expected(self, line: Line) -> bool:
        """Nothing to act on, as `Verdict.expected` has it; without the folder a record that broke cannot be seen."""
        if line.verdict == UNCHECKED or line.known:
            return True
        claim = self.claims.get(line.id)
        return line.verdict not in FINDINGS and (claim is None or claim.known is None)

    def why_known(self, line: Line) -> tuple[str, str]:
        """Since when a finding is recorded and why; ("", "") where the folder is not at hand."""
        claim = self.claims.get(line.id)
        return (str(claim.known.since), claim.known.why) if claim is not None and claim.known is not None else ("", "")

    def groups(self) -> list[tuple[str, list[Line]]]:
        """Lines by the table or section that prints them, in the order of their first claim."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.where.get("table") or line.where.get("section") or "elsewhere", []).append(line)
        return list(found.items())

    def unchecked(self) -> list[tuple[str, list[Line]]]:
        """Lines that nothing decided, by the first words of the reason."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.verdict == UNCHECKED:
                found.setdefault(line.why_not or "no reason given", []).append(line)
        return list(found.items())

    def tables(self) -> Iterator[tuple[Table, list[tuple[str, list[Cell]]]]]:
        """Each transcribed table with its rows of cells, marked."""
        if self.paper is None:
            return
        about, used = self._addressed
        for table in self.paper.tables.values():
            rows = []
            for row, printed in table.rows.items():
                places = [f"{table.spec.id}|{row}|{column}" for column in table.columns]
                rows.append(
                    (
                        row,
                        [
                            Cell(printed[column], about.get(place, ()), used.get(place, ()), place in table.drafts)
                            for column, place in zip(table.columns, places, strict=True)
                        ],
                    )
                )
            yield table, rows

    @cached_property
    def _addressed(self) -> tuple[dict[str, tuple[Line, ...]], dict[str, tuple[Line, ...]]]:
        """The lines about each address, worst first, and those that use it."""
        assert self.paper is not None
        ids = {table.spec.title: name for name, table in self.paper.tables.items()}
        about: dict[str, list[Line]] = defaultdict(list)
        used: dict[str, list[Line]] = defaultdict(list)
        for line in self.lines:
            own = {line.evidence.equals.address} if line.evidence.equals is not None else set()
            if {"table", "row", "column"} <= set(line.where):
                own.add("|".join((ids.get(line.where["table"], ""), line.where["row"], line.where["column"])))
            for place in own:
                about[place].append(line)
            for place in dict.fromkeys(_addresses(line.evidence)):
                if place not in own:
                    used[place].append(line)
        return {k: worst_first(v) for k, v in about.items()}, {k: tuple(v) for k, v in used.items()}


def worst_first(lines: Iterable[Line]) -> tuple[Line, ...]:
    """Findings, then what was not checked, then agreement; otherwise in order."""
    return tuple(sorted(lines, key=lambda line: WORST_FIRST.index(line.verdict)))


def _addresses(check: Operand) -> Iterator[str]:
    """Every address that a check rests on, those of nested checks included."""
    for operand in (*check.of, *check.weights, *check.n):
        if operand.relation:
            yield from _addresses(operand)
        else:
            yield operand.address


def sections(told: Told, papers: Sequence[Paper]) -> list[Section]:
    """The papers of the verdicts, in order, each with its folder where `papers` has it."""
    lines: dict[str, list[Line]] = {paper.id: [] for paper in papers}
    for line in told.verdicts:
        lines.setdefault(line.paper, []).append(line)
    at_hand = {paper.id: paper for paper in papers}
    inputs: dict[str, list[InputFile]] = defaultdict(list)
    for file in told.inputs:
        inputs[file.paper].append(file)
    pictures: dict[str, list[Picture]] = defaultdict(list)
    undrawn: dict[str, list[Undrawn]] = defaultdict(list)
    for picture in told.pictures:
        if isinstance(picture, Undrawn):
            undrawn[picture.paper].append(picture)
        else:
            pictures[picture.paper].append(picture)
    return [
        Section(
            identity,
            tuple(found),
            at_hand.get(identity),
            tuple(inputs[identity]),
            tuple(pictures[identity]),
            tuple(undrawn[identity]),
        )
        for identity, found in lines.items()
    ]
