"""Who answered: annotator ids that restart per file, e-mail addresses, names that must not travel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from countback.fetch.errors import UserError
from countback.fetch.labels import JUDGE
from countback.fetch.readers.columns import Column, distinct, paired
from countback.fetch.readers.options import Options
from countback.fetch.readers.source import Source, stem
from numpy.typing import NDArray

# Names of columns, in lower case and without punctuation, that hold personal data.
PII_COLUMNS = frozenset(
    "ip ipaddress locationlatitude locationlongitude latitude longitude recipientemail recipientfirstname "
    "recipientlastname email emailaddress mail firstname lastname surname fullname name username phone phonenumber "
    "address dateofbirth dob birthdate externalreference externaldatareference prolificpid prolificid participantid "
    "workerid mturkworkerid createdusername useragent".split()
)
ATTRIBUTES = frozenset("age gender sex nationality countryofresidence countryofbirth birthyear ethnicity".split())


def bare(name: str) -> str:
    """A column's name in lower case with letters and digits alone, for comparison."""
    return "".join(ch for ch in name.casefold() if ch.isalnum())


def is_pii(name: str) -> bool:
    """Whether a column is known to hold personal data, by its name."""
    return bare(name) in PII_COLUMNS


def shown(who: str) -> str:
    """An annotator's id for a message; an e-mail address is never repeated."""
    return "(an e-mail address)" if "@" in who else repr(who)


def apply_people(annotator: Column, kind: NDArray[np.int8], options: Options) -> Column:
    """One id per person: e-mail addresses become ids by the mapping `people`.

    Raises UserError where some humans are e-mail addresses and others ids, and no mapping joins them: one person would
    count as two.
    """
    known = {email.casefold(): who for email, who in options.people.items()}
    joined = annotator.map(lambda who: known.get(who.casefold(), who)) if known else annotator
    humans, _ = distinct(joined.codes[kind != JUDGE], len(joined.values))
    emails = sum("@" in joined.values[code] for code in humans)
    if 0 < emails < humans.size:
        raise UserError(
            f"{emails} annotators are e-mail addresses and {humans.size - emails} are ids, so that "
            "one person may count as two. Give the ids of the addresses: people={'someone@example.org': '3', ...}."
        )
    return joined


def namespaced(annotator: Column, country: Column, file: Column, kind: NDArray[np.int8], options: Options) -> Column:
    """Annotator ids made unique where they restart: "za/1" and "ng/1". Judges keep their names everywhere.

    Raises UserError where an id of a human occurs in several countries and nobody said what that means.
    """
    where = options.namespace
    if where in ("file", "country"):
        space = file.map(stem) if where == "file" else country
        named = paired(annotator, space, lambda who, of: f"{of}/{who}")
        return _where(kind == JUDGE, annotator, named) if (kind == JUDGE).any() else named
    if where is None:
        stated = np.array([place != "" for place in country.values], np.bool_)[country.codes]
        clash = _first_in_two(annotator, country, (kind != JUDGE) & stated)
        if clash:
            who, places = clash
            raise UserError(
                f"Annotator {shown(who)} labelled for {' and '.join(map(repr, places))}. If ids restart in each "
                "country, say namespace='country' (or 'file'); if one person did label for all of them, say "
                "namespace='global'."
            )
    return annotator


def check_attributes(annotator: Column, attributes: dict[str, Column], humans: NDArray[np.bool_]) -> None:
    """Raises UserError where one annotator id has two ages, genders or the like: then it stands for two people."""
    for name, column in attributes.items():
        stated = humans & np.array([v.strip() != "" for v in column.values], np.bool_)[column.codes]
        clash = _first_in_two(annotator, column, stated)
        if clash:
            who, values = clash
            raise UserError(
                f"Annotator {shown(who)} has {name} {' and '.join(map(repr, values))}, so the id stands for more "
                "than one person. Say where ids restart: namespace='file' or namespace='country'."
            )


def _first_in_two(left: Column, right: Column, among: NDArray[np.bool_]) -> tuple[str, list[str]] | None:
    """The first text of `left` that stands beside two different texts of `right`, and these."""
    if len(right.values) < 2 or not among.any():
        return None
    key = left.codes[among].astype(np.int64) * len(right.values) + right.codes[among]
    key, _ = distinct(key, len(left.values) * len(right.values))
    owner = key // len(right.values)
    twice = np.flatnonzero(owner[1:] == owner[:-1])
    if not twice.size:
        return None
    who = owner[twice[0]]
    return left.values[who], [right.values[k % len(right.values)] for k in key[owner == who][:2].tolist()]


def _where(choose: NDArray[np.bool_], yes: Column, no: Column) -> Column:
    """Rows of `yes` where chosen, else of `no`."""
    values = (*yes.values, *no.values)
    codes = np.where(choose, yes.codes, no.codes + len(yes.values)).astype(np.int32)
    return Column(values, codes).take(np.arange(codes.size))


def hashed(annotator: Column, kind: NDArray[np.int8], sources: Sequence[Source], options: Options) -> Column:
    """Human ids as keyed hashes; the names of judges stay. The key is the salt given, or comes from the files' bytes.

    A key from the bytes gives the same ids for the same data, and cannot be had without the data; an e-mail address
    therefore cannot be found by hashing guesses.
    """
    secret = options.salt.encode() if options.salt is not None else b"".join(source.secret for source in sources)
    key = hashlib.blake2b(secret, digest_size=32).digest()
    judges = set(distinct(annotator.codes[kind == JUDGE], len(annotator.values))[0].tolist())
    humans = set(distinct(annotator.codes[kind != JUDGE], len(annotator.values))[0].tolist())
    if judges & humans:
        name = annotator.values[min(judges & humans)]
        raise UserError(f"{name!r} is an annotator in some rows and a judge in others; expected one or the other.")

    def hide(code: int, who: str) -> str:
        if code in judges:
            return who
        return "h" + hashlib.blake2b(who.encode("utf-8", "surrogatepass"), digest_size=6, key=key).hexdigest()

    return Column(tuple(hide(code, who) for code, who in enumerate(annotator.values)), annotator.codes)
