"""Reading what settles a prediction: counts per country, or a share with its interval, from a table that somebody made.

Counts, as CSV with a header or as a JSON list of objects; `human` and `judge` are hits, or rates as printed ("59.3%",
"0.593"), which stand for every number of hits that prints so:

    country,n,human,judge
    Pakistan,118,70,106
    "Nigeria; Philippines",246,162,190          # only their sum is known

A share: labels of the same items in several countries, in any form that countback.fetch.readers reads; or, where
somebody estimated it, one JSON object with share, low, high (of its 95% interval), level, countries, items, crossed,
method.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

from countback.claims.prediction import Evidence, Prediction, PrintedSpec
from countback.claims.reported import NotANumber, parse
from countback.claims.resolve_lead import Lead, LeadRule
from countback.claims.resolve_share import Share
from countback.claims.spec import read_text
from countback.fetch.errors import UserError

COLUMNS = ("country", "n", "human", "judge")
_SHARE_KEYS = ("share", "low", "high", "level", "countries", "items", "crossed", "method")


@dataclass(frozen=True)
class Rows:
    """A table as read: the evidence, and its rows as they stand in the file, for the record."""

    evidence: Evidence
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Counted:
    """Leads counted from released labels, intervals in points by country and for "D"; `synthetic`: from a stand-in.

    What `settle.py` of a paper folder gives from the function that has the resolver's name.
    """

    leads: tuple[Lead, ...]
    intervals: dict[str, tuple[float, float]]
    synthetic: bool


def read_instant(text: str, what: str) -> datetime:
    """An ISO instant with its zone, in UTC; UserError where the zone (or the time) is missing."""
    try:
        when = datetime.fromisoformat(text.strip())
        if when.tzinfo is None:
            raise UserError(f'{what}: found "{text}" without a zone; expected one, as in 2027-06-30T23:59:59Z')
        return when.astimezone(UTC)
    except (ValueError, OverflowError):  # the first or last day of the calendar in another zone has no UTC
        raise UserError(f'{what}: found "{text}"; expected an instant such as 2027-06-30T23:59:59Z') from None


def read_evidence(path: Path, prediction: Prediction, labels: Sequence[str] = ()) -> Rows:
    """The table that settles `prediction`; `labels` are the ordered labels of a label table, strictest first.

    Raises UserError for anything that cannot be what it should be.
    """
    if isinstance(prediction.rule, LeadRule):
        rows = _json(path, list) if path.suffix.lower() == ".json" else _csv(path)
        leads = tuple(_lead(row, f"{path}: row {number}") for number, row in enumerate(rows, 1))
        check_countries(leads, prediction.rule, str(path))
        return Rows(leads, tuple(rows))
    if path.suffix.lower() == ".json" and not labels:
        row = _json(path, dict)
        return Rows(_share(row, path), (row,))
    if not labels:
        raise UserError(
            f"{path}: --labels is missing; expected the labels in their order, the strictest first, as in --labels "
            "A,B,C, or a JSON file with the share and its interval"
        )
    return estimated_share(path, labels)


def estimated_share(path: Path, labels: Sequence[str]) -> Rows:
    """Country's share of the variance of human labels, on the linear scale of their order, from crossed items.

    An item with two questions counts as two. The share without a country-by-item effect stands beside it.
    """
    from countback.fetch.labels import HUMAN  # these read and compute with what no other prediction needs
    from countback.fetch.readers import read_labels
    from countback.models.shares import country_share

    table, _ = read_labels(path, codebook=list(labels))
    human = table.mask(table.kind == HUMAN)
    _check_listed(human.raw[~human.valid], len(human.raw), labels, path)
    unit = human.item.astype("int64") * len(human.questions) + human.question
    codes = unit, human.country, human.annotator, human.label
    found, plain = country_share(*codes), country_share(*codes, interaction=False)
    row = {
        "share": found.share,
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "countries": found.countries,
        "items": found.items,
        "annotators": found.annotators,
        "labels": found.labels,
        "method": "moments on a linear scale: items random, with a country-by-item effect, annotators within countries",
        "these_countries_alone": list(found.here),
        "without_country_by_item": [plain.share, plain.low, plain.high],
        "notes": list(found.notes),
    }
    share, low, high = (Fraction(x) for x in (found.share, found.low, found.high))
    return Rows(Share(share, low, high, found.countries, found.items, True), (row,))


def _check_listed(others: Iterable[str], total: int, labels: Sequence[str], path: Path) -> None:
    """Raise UserError for a text that is given too often to be no label: what remains would be decided upon.

    One in a hundred is; fewer (refusals, slips) are left out, which the record counts. An empty cell is no text.
    """
    counted = Counter(text.strip() for text in others)
    del counted[""]
    for text, n in counted.most_common(1):
        if 100 * n >= total:
            raise UserError(
                f"{path}: {n} of {total} human labels are {text!r:.60}, which is none of {', '.join(labels)}; expected "
                "every label of the scale in --labels, or a file without these rows"
            )


def printed_leads(printed: Sequence[PrintedSpec]) -> tuple[Lead, ...]:
    """Leads from the counts that a paper prints."""
    return tuple(Lead(tuple(row.countries), row.n, row.judge - row.human, row.judge - row.human) for row in printed)


def check_countries(leads: Sequence[Lead], rule: LeadRule, source: str) -> None:
    """Raise UserError for a country that stands twice, for too many, and for a full set without one the rule names."""
    names = [name for lead in leads for name in lead.countries]
    alike = [" ".join(name.split()).casefold() for name in names]  # counted twice, one country would hide another
    for name, folded in zip(names, alike, strict=True):
        if alike.count(folded) > 1:
            raise UserError(f"{source}: {name} stands twice; expected each country once")
    total = rule.countries + len(rule.leave_out)
    if len(names) > total:
        raise UserError(f"{source}: {len(names)} countries; the rule has {total}, check the spelling of {names}")
    wanted = [name for name in (*rule.trailing, *rule.leave_out) if name not in names]
    if len(names) == total and wanted:
        raise UserError(
            f"{source}: {total} countries without {' and '.join(wanted)}, which the rule names; found {names}"
        )


def _csv(path: Path) -> list[dict[str, Any]]:
    try:
        lines = list(csv.reader(io.StringIO(read_text(path))))
    except csv.Error as error:
        raise UserError(f"{path}: not CSV: {error}; expected lines of {','.join(COLUMNS)}") from None
    if not lines or tuple(lines[0]) != COLUMNS:
        raise UserError(f"{path}:1: found {','.join(lines[0]) if lines else 'nothing'}; expected {','.join(COLUMNS)}")
    for number, cells in enumerate(lines[1:], 2):
        if len(cells) != len(COLUMNS):
            raise UserError(f"{path}:{number}: found {len(cells)} cells; expected {len(COLUMNS)}")
    return [dict(zip(COLUMNS, cells, strict=True)) for cells in lines[1:]]


def _json(path: Path, kind: type[Any]) -> Any:
    try:
        found = json.loads(read_text(path), parse_float=str, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}; mend that place") from None
    if not isinstance(found, kind) or (kind is list and not all(isinstance(row, dict) for row in found)):
        expected = "a list of objects, one a country" if kind is list else f"one object with {', '.join(_SHARE_KEYS)}"
        raise UserError(f"{path}: found {str(found)[:60]}; expected {expected}")
    return found


def _lead(row: dict[str, Any], place: str) -> Lead:
    if set(row) != set(COLUMNS):
        raise UserError(f"{place}: found {', '.join(row)}; expected {', '.join(COLUMNS)}")
    if not isinstance(row["country"], str):
        raise UserError(f"{place}: country: found {row['country']!r:.60}; expected a name")
    countries = tuple(name.strip() for name in row["country"].split(";"))
    if not all(countries):
        raise UserError(f"{place}: a country without a name; expected one, or several between semicolons")
    n = _count(row["n"], f"{place}: n")
    if n < 1:
        raise UserError(f"{place}: n is {n}; expected at least one comparison")
    human, judge = (_hits(row[who], n, f"{place}: {who}") for who in ("human", "judge"))
    return Lead(countries, n, judge[0] - human[1], judge[1] - human[0])


def _count(value: Any, place: str) -> int:
    count = _whole(value)
    if count is None:
        raise UserError(f"{place}: found {str(value).strip()!r:.60}; expected a whole number")
    return count


def _whole(value: Any) -> int | None:
    """A whole number as a table writes it; None for anything else, and for one that counts nothing on earth."""
    text = str(value).strip()
    good = not isinstance(value, bool) and text.isascii() and text.isdigit() and len(text) <= 18
    return int(text) if good else None


def _hits(value: Any, n: int, place: str) -> tuple[int, int]:
    """Least and greatest number of hits that a count, or a rate as printed, stands for."""
    text, hits = str(value).strip(), _whole(value)
    if hits is not None:
        if hits > n:
            raise UserError(f"{place}: {hits} hits in {n} comparisons; expected at most {n}")
        return hits, hits
    try:
        rate = parse(text, exact=False)
    except NotANumber as error:
        raise UserError(f"{place}: {error}") from None
    unit = 100 if rate.unit == "%" else 1
    if rate.unit not in ("%", "") or not 0 <= rate.value <= unit:
        raise UserError(f"{place}: found {text!r}; expected a number of hits, or a rate such as 59.3% or 0.593")
    low, high = ceil(rate.interval.low * n / unit), floor(rate.interval.high * n / unit)
    low, high = max(low, 0), min(high, n)
    if low > high:
        raise UserError(f"{place}: no number of hits in {n} comparisons prints as {text}; check both")
    return low, high


def _share(row: dict[str, Any], path: Path) -> Share:
    if set(row) != set(_SHARE_KEYS):
        raise UserError(f"{path}: found {', '.join(row)}; expected {', '.join(_SHARE_KEYS)}")
    if row["crossed"] is not True:
        raise UserError(
            f"{path}: crossed is {row['crossed']!r}; a share from items that were not labelled in every country is "
            "confounded with what the items say and decides nothing; expected crossed = true"
        )
    share, low, high, level = (_unit(row[key], f"{path}: {key}") for key in ("share", "low", "high", "level"))
    if not low <= share <= high:
        raise UserError(f"{path}: expected low <= share <= high; found {row['low']}, {row['share']}, {row['high']}")
    if level != Fraction(95, 100):
        raise UserError(f"{path}: level is {row['level']}; the rule is on a 95% interval, so expected 0.95")
    countries, items = (_count(row[key], f"{path}: {key}") for key in ("countries", "items"))
    if countries < 2 or items < 1:
        raise UserError(f"{path}: {items} items in {countries} countries; expected one or more in at least two")
    if not isinstance(row["method"], str) or not row["method"].strip():
        raise UserError(f"{path}: method is {row['method']!r}; expected words that say how the share was estimated")
    return Share(share, low, high, countries, items, True)


def _unit(value: Any, place: str) -> Fraction:
    """A decimal as written, exact. (An exponent of millions would take as long to expand.)"""
    number = Decimal(-1)
    with suppress(InvalidOperation):
        number = Decimal(str(value).strip())
    good = number.is_finite() and 0 <= number <= 1 and number.as_tuple().exponent >= -60  # type: ignore[operator]
    if isinstance(value, bool) or not good:
        raise UserError(f"{place}: found {value!r:.60}; expected a number from 0 to 1")
    return Fraction(number)
