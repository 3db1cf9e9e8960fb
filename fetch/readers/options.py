"""What a reader may be told. Every choice that changes what a label means is here, and none is made by guessing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from countback.fetch.codebook import Codebook, Normalise
from countback.fetch.errors import UserError
from countback.fetch.readers.source import stem

Duplicates = Literal["error", "first", "last", "drop-both"]
Several = Literal["error", "exclude"]
Namespace = Literal["file", "country", "global"]
PerFile = str | Mapping[str, str] | None

ROLES = ("item", "annotator", "judge", "label", "question", "country", "kind", "seconds", "time")
LIST_ROLES = ("items", "annotators", "questions")
FROM_FILE = "{file}"


@dataclass(frozen=True)
class Options:
    """columns: role -> column, for the roles in ROLES; a list of columns under "items", "annotators" or "questions"
    says what the headers of a wide file are.

    duplicates: what to do with two labels of one annotator for one item. several: with two labels in a single-choice
    field. multi: the questions that take several labels, each set of which becomes a label (True: all of them; "each":
    every label becomes a question of its own, answered yes or no). namespace: what an annotator's id is unique in.
    annotator, country: one for the whole file, a mapping by file name, or "{file}" for the file's own name. judges:
    annotators that are models; kind: what all of them are. reply_key, reply_pattern: where a judge's reply holds its
    label. people: e-mail address -> id. zone: the time zone of times without one. expected: annotators per item that
    the project promised. salt: the key of the hashed ids, for the same ids in another reading.
    """

    codebook: Codebook
    columns: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    duplicates: Duplicates = "error"
    several: Several = "error"
    multi: bool | Literal["each"] | Sequence[str] = False
    multi_separator: str | None = None
    namespace: Namespace | None = None
    annotator: PerFile = None
    country: PerFile = None
    kind: Literal["human", "judge"] | None = None
    judges: Sequence[str] = ()
    reply_key: str = "label"
    reply_pattern: str | None = None
    people: Mapping[str, str] = field(default_factory=dict)
    zone: PerFile = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    sheet: str | None = None
    country_names: Literal["as given", "iso3"] = "as given"
    expected: int | None = None
    keep_pii: bool = False
    salt: str | None = None

    def takes_several(self, question: str) -> bool:
        """Whether a question may be answered with more than one label."""
        return self.multi if isinstance(self.multi, bool) else self.multi == "each" or question in self.multi

    def column(self, role: str) -> str | None:
        """The one column told for a role, or None."""
        value = self.columns.get(role)
        return value if isinstance(value, str) else None

    def listed(self, role: str) -> list[str] | None:
        """The columns told for a role that takes a list, or None."""
        value = self.columns.get(role)
        return None if value is None else [value] if isinstance(value, str) else list(value)


def make_options(
    codebook: Sequence[str] | Mapping[str, Sequence[str]] | Codebook | None,
    *,
    aliases: Mapping[str, str] | None = None,
    missing: Mapping[str, str] | None = None,
    normalise: Normalise = "space",
    columns: Mapping[str, str | Sequence[str]] | None = None,
    **more: object,
) -> Options:
    """Checked options. Raises UserError for a missing codebook, an unknown role, or a choice that does not exist."""
    if codebook is None:
        raise UserError(
            "No codebook was given. Name the ordered labels, strictest or lowest first: codebook=['A', 'B', 'C'], "
            "or one list for each question: codebook={'tone': ['1', '2', '3']}."
        )
    for role, value in (columns or {}).items():
        if role not in ROLES + LIST_ROLES or (role in ROLES and not isinstance(value, str)):
            raise UserError(
                f"columns={{{role!r}: {value!r}}} is not understood. One column each for {', '.join(ROLES)}; a list "
                f"of columns for {', '.join(LIST_ROLES)}."
            )
    choices: dict[str, tuple[object, ...]] = {
        "duplicates": get_args(Duplicates),
        "several": get_args(Several),
        "namespace": (None, *get_args(Namespace)),
        "kind": (None, "human", "judge"),
        "country_names": ("as given", "iso3"),
    }
    for name, allowed in choices.items():
        if name in more and more[name] not in allowed:
            raise UserError(f"{name}={more[name]!r} is not a choice; expected one of {', '.join(map(repr, allowed))}.")
    unknown = more.keys() - {f.name for f in fields(Options)}
    if unknown:
        known = ", ".join(f.name for f in fields(Options))
        raise UserError(f"There is no option {min(unknown)!r}; the options are aliases, missing, normalise, {known}.")
    expected = more.get("expected")
    if expected is not None and (not isinstance(expected, int) or expected < 1):
        raise UserError(f"expected={expected!r} is no number of annotators; expected a whole number from 1 on.")
    for name in ("judges", "multi"):
        if isinstance(more.get(name), str) and more[name] != "each":
            more[name] = (more[name],)
    book = Codebook.of(codebook, aliases=aliases, missing=missing, normalise=normalise)
    return Options(book, columns or {}, **more)  # type: ignore[arg-type]


def per_file(option: PerFile, file: str, what: str) -> str | None:
    """The value of an option for one file. Raises UserError where a mapping leaves the file out."""
    if option is None:
        return None
    if isinstance(option, str):
        return option.replace(FROM_FILE, stem(file))
    if file not in option and stem(file) not in option:
        raise UserError(f"{what}={dict(option)!r} names no value for the file {file!r}; add it.")
    return option[file] if file in option else option[stem(file)]
