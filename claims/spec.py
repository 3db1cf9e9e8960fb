"""The shape of paper.toml and claims.toml: what may be written, checked key by key.

`read_toml` turns a wrong file into one sentence with file, line, what was expected and what stands there.
"""

from __future__ import annotations

import math
import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from countback.fetch import toml
from countback.fetch.errors import UserError
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
)
from pydantic_core import PydanticCustomError


def _tag(ref: object) -> str | None:
    kinds = ((bool, None), (int, "number"), (str, "text"), ((dict, BaseModel), "computed"))
    return next((tag for kind, tag in kinds if isinstance(ref, kind)), None)


Ref = Annotated[
    Annotated[StrictInt, Tag("number")] | Annotated[StrictStr, Tag("text")] | Annotated["NestedSpec", Tag("computed")],
    Discriminator(
        _tag,
        custom_error_type="reference",
        custom_error_message="a reference as text, a whole number, or { relation = ..., of = [...] }",
    ),
]
Kind = Literal["arithmetic", "recount", "model", "metadata"]
Finding = Literal["differs", "inconsistent"]
Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")]
Words = Annotated[str, Field(min_length=1)]


def _setting(value: object) -> object:
    """What a recipe may be given: nothing that JSON, and so the evidence, could not hold."""
    scalar = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if scalar or (isinstance(value, list) and all(_setting(each) is each for each in value)):
        return value
    raise PydanticCustomError("setting", "a text, a finite number, true, false, or a list of these")


Setting = Annotated[Any, PlainValidator(_setting)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NestedSpec(_Strict):
    """A number computed from others before the relation sees it."""

    relation: StrictStr
    of: list[Ref] | dict[str, Ref]
    weights: list[Ref] = []
    expr: StrictStr = ""


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
    with_: dict[str, Setting] = Field({}, alias="with")
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
    resamples: Annotated[StrictInt, Field(ge=0)] = 0
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
    with_: dict[str, Setting] = Field({}, alias="with")
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


LARGEST = 50_000_000  # bytes; the largest file of the registry has 200,000


def read_text(path: Path, *, pipe: bool = False) -> str:
    """The file as UTF-8 text; a missing, unreadable, huge or wrongly encoded file is a UserError.

    A pipe or a device is refused too, because it may never end, unless `pipe` says that one is meant.
    """
    try:
        size = path.stat().st_size
        if not path.is_file() and (path.is_dir() or not pipe):
            raise UserError(f"{path}: expected a file, found {'a folder' if path.is_dir() else 'none'}; check the path")
        if size > LARGEST:
            raise UserError(f"{path}: expected at most {LARGEST:,} bytes of text, found {size:,}; check the path")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; check the path") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check its permissions") from None


def read_toml(path: Path, spec: type[Spec]) -> Spec:
    """Parse and check a TOML file; errors name file, line, what was expected and what stands there."""
    text = read_text(path)
    try:
        raw = toml.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: not valid TOML: {error}; mend that line") from None
    try:
        return spec.model_validate(raw)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])  # misspelt explains missing
        loc = [part for part in first["loc"] if not _branch(part)]
        line = locate(text, raw, loc)
        if first["type"] == "extra_forbidden":
            keys = _keys(spec, first["loc"])
            raise UserError(f"{path}:{line}: unknown key {loc[-1]!r}; expected one of {keys}") from None
        found = "nothing" if first["type"] == "missing" else repr(first["input"])
        key = ".".join(str(part) for part in loc)
        raise UserError(f"{path}:{line}: {key}: expected: {first['msg']}; found: {found:.120}") from None


TAGS = ("number", "text", "computed")


def _branch(part: int | str) -> bool:
    """Whether this part of an error's place names a branch of a union, and nothing in the file."""
    return str(part).startswith(("list[", "dict[", "function-", "constrained-", "tagged-union[")) or part in TAGS


def _keys(spec: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """Names that may stand where `loc` stands."""
    for part in loc[:-1]:
        if part == "computed":
            spec = NestedSpec
        elif part in spec.model_fields:
            arguments = getattr(spec.model_fields[str(part)].annotation, "__args__", ())
            spec = next((a for a in arguments if isinstance(a, type) and issubclass(a, BaseModel)), spec)
    return ", ".join(field.alias or name for name, field in spec.model_fields.items())


def locate(text: str, raw: dict[str, Any], loc: list[Any]) -> int:
    """Line of the key at `loc` such as ("claim", 3, "reported"): the fourth `[[claim]]` block, then the key in it.

    Where the entries stand one a line, `claim = [ { id = ... }, ... ]`, it is the line with the entry's id.
    """
    lines = text.splitlines()
    start, stop = 0, len(lines)
    if len(loc) >= 2 and isinstance(loc[1], int):
        heads = [i for i, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{re.escape(str(loc[0]))}\s*\]\]", line)]
        if loc[1] < len(heads):
            start = heads[loc[1]]
            stop = next((i for i in range(start + 1, len(lines)) if lines[i].lstrip().startswith("[[")), len(lines))
        else:
            entry = raw[loc[0]][loc[1]]
            name = re.compile(rf'\bid\s*=\s*"{re.escape(str(entry.get("id")))}"' if isinstance(entry, dict) else "$^")
            return next((i for i, line in enumerate(lines, start=1) if name.search(line)), 1)
        loc = loc[2:]
    for key in loc[:1]:
        for i in range(start, stop):
            if re.match(rf'\s*(\[[^\]]*\.)?"?{re.escape(str(key))}"?\s*[\]=]', lines[i]):
                return i + 1
    return start + 1
