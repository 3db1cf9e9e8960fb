"""The shape of paper.toml and claims.toml: what may be written, checked key by key.

`read_toml` turns a wrong file into one sentence with file, line, what was expected and what stands there.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from countback.fetch.errors import UserError
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

Ref = StrictInt | StrictStr | dict[str, Any]
Kind = Literal["arithmetic", "recount", "model", "metadata"]
Finding = Literal["differs", "inconsistent"]
Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Words = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TableSpec(_Strict):
    """One transcribed table: tables/<id>.csv. `key`: the column(s) that name a row; `summary`: rows outside `*`."""

    id: Id
    title: Words
    key: StrictStr | list[StrictStr]
    summary: list[StrictStr] = []
    exact: list[StrictStr] = []  # columns whose decimals are exact (settings, not measurements)
    rounded: list[StrictStr] = []  # columns whose whole numbers are rounded values, not counts
    domain: dict[str, tuple[StrictStr, StrictStr]] = {}  # column -> least and greatest printable value


class PaperSpec(_Strict):
    id: Id
    title: Words
    citation: Words
    version: Words
    url: StrictStr = ""
    licence: Words
    requires: Annotated[int, Field(ge=1)]
    rounding: Literal["half-up", "half-even", "half-down", "half-up-or-down", "truncation", ""] = ""
    notes: StrictStr = ""
    table: list[TableSpec] = []


class ClaimSpec(_Strict):
    """A number the text states. With `recipe` it is recounted, with `asserted` it is only listed, with neither some
    relation must use it."""

    id: Id
    where: dict[str, StrictStr]
    reads: Words
    reported: StrictStr
    exact: StrictBool | None = None
    within: tuple[StrictStr, StrictStr] | None = None
    words: StrictBool = False  # `reported` is a word such as PASSED, compared letter by letter
    kind: Kind | None = None
    recipe: StrictStr = ""
    with_: dict[str, Any] = Field({}, alias="with")
    needs: list[StrictStr] = []
    asserted: StrictStr = ""


class RelationSpec(_Strict):
    """Arithmetic between printed numbers; see `countback.claims.registry` for the notation."""

    id: Id
    reads: Words
    relation: StrictStr
    of: list[Ref] | dict[str, Ref]
    equals: Ref | None = None
    where: dict[str, StrictStr] = {}
    kind: Kind | None = None
    table: StrictStr = ""
    each: Literal["row", "column", "cell"] | None = None
    rows: list[StrictStr] | None = None
    columns: list[StrictStr] | None = None
    except_: list[StrictStr] = Field([], alias="except")
    rename: dict[str, StrictStr] = {}
    weights: list[Ref] = []
    n: Ref | list[Ref] = []
    scores: list[StrictStr | StrictInt] = []
    expr: StrictStr = ""
    resamples: StrictInt = 0
    binomial: StrictBool = False


class RecountSpec(_Strict):
    """Cells of a table that one recipe recounts from a release, each by its own row and column."""

    id: Id
    reads: Words
    table: StrictStr
    columns: list[StrictStr] | None = None
    rows: list[StrictStr] | None = None
    except_: list[StrictStr] = Field([], alias="except")
    recipe: Words
    with_: dict[str, Any] = Field({}, alias="with")
    needs: Annotated[list[StrictStr], Field(min_length=1)]


class AssertedSpec(_Strict):
    """Cells of a table that nothing in the paper or a release can check."""

    id: Id
    table: StrictStr
    columns: list[StrictStr]
    rows: list[StrictStr] | None = None
    why: Words


class ContextSpec(_Strict):
    """Numbers of a section that state nothing about the work: dates, references, names."""

    section: Words
    numbers: list[StrictStr]
    why: Words


class KnownSpec(_Strict):
    """A confirmed finding: these claims disagree, since when, and why."""

    claims: Annotated[list[StrictStr], Field(min_length=1)]
    verdict: Finding
    since: date
    why: Words


class ClaimsSpec(_Strict):
    claim: list[ClaimSpec] = []
    recount: list[RecountSpec] = []
    relation: list[RelationSpec] = []
    asserted: list[AssertedSpec] = []
    context: list[ContextSpec] = []
    known: list[KnownSpec] = []


Spec = TypeVar("Spec", bound=BaseModel)


def read_text(path: Path) -> str:
    """The file as UTF-8 text; a missing, unreadable or wrongly encoded file is a UserError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; every paper folder needs it") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None


def read_toml(path: Path, spec: type[Spec]) -> Spec:
    """Parse and check a TOML file; errors name file, line, what was expected and what stands there."""
    text = read_text(path)
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: not valid TOML: {error}; mend that line") from None
    try:
        return spec.model_validate(raw)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])  # misspelt explains missing
        loc = [part for part in first["loc"] if not str(part).startswith(("list[", "function-", "constrained-"))]
        line = locate(text, loc)
        if first["type"] == "extra_forbidden":
            raise UserError(f"{path}:{line}: unknown key {loc[-1]!r}; expected one of {_keys(spec, loc)}") from None
        found = "nothing" if first["type"] == "missing" else repr(first["input"])
        key = ".".join(str(part) for part in loc)
        raise UserError(f"{path}:{line}: {key}: expected: {first['msg']}; found: {found:.120}") from None


def _keys(spec: type[BaseModel], loc: list[Any]) -> str:
    """Names that may stand where `loc` stands."""
    for part in loc[:-1]:
        if isinstance(part, str):
            arguments = getattr(spec.model_fields[part].annotation, "__args__", ())
            spec = next((a for a in arguments if isinstance(a, type) and issubclass(a, BaseModel)), spec)
    return ", ".join(field.alias or name for name, field in spec.model_fields.items())


def locate(text: str, loc: list[Any]) -> int:
    """Line of the key at `loc` such as ("claim", 3, "reported"): the third `[[claim]]` block, then the key in it."""
    lines = text.splitlines()
    start, stop = 0, len(lines)
    if len(loc) >= 2 and isinstance(loc[1], int):
        heads = [i for i, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{re.escape(str(loc[0]))}\s*\]\]", line)]
        if loc[1] < len(heads):
            start = heads[loc[1]]
            stop = next((i for i in range(start + 1, len(lines)) if lines[i].lstrip().startswith("[[")), len(lines))
        loc = loc[2:]
    for key in loc[:1]:
        for i in range(start, stop):
            if re.match(rf'\s*(\[[^\]]*\.)?"?{re.escape(str(key))}"?\s*[\]=]', lines[i]):
                return i + 1
    return start + 1
