"""What a user asks of `countback plan`, read and refused where it cannot be: names, prices, pools, a pilot's labels."""

from __future__ import annotations

import csv
import re
import shlex
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

import numpy as np
from countback.audit.judge.input import read_inputs
from countback.audit.judge.settings import read_settings
from countback.audit.judge.study import Study, build
from countback.audit.words import visible
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN
from countback.models.heldout import held_out
from countback.models.planning_cells import Labelling, Lead, lead_of, learn
from countback.models.planning_power import Parts
from countback.models.resampling import Ints
from countback.models.shares import country_share
from countback.models.votes import tally

MOST_COUNTRIES = 200
FORMULA = "=+-@"  # a cell that begins so is run by spreadsheets
MOST_MONEY = Decimal(10**12)
FEWEST_PILOT_ITEMS = 20  # with a judge's answer, for the difference to be learned from them


@dataclass(frozen=True)
class Pilot:
    """What a pilot's labels say: `valid` of `slots` hold a label; `lead` is of the judge named, None without one.

    `parts` is None where no shared items say how the variance divides. `notes` are for the user.
    """

    name: str
    slots: int
    valid: int
    items: int
    model: Labelling
    judge: str
    lead: Lead | None
    parts: Parts | None
    notes: tuple[str, ...]


def country_names(given: str) -> tuple[str, ...]:
    """ "12" as twelve made-up names, "Pakistan,Nigeria" as those. Raises UserError for names that no list can hold."""
    if _is_number(given):
        if not re.fullmatch("[0-9]{1,6}", given.strip()) or not 1 <= int(given) <= MOST_COUNTRIES:
            raise UserError(f"--countries {given}: expected their names, or a number from 1 to {MOST_COUNTRIES}")
        return tuple(f"country {number + 1}" for number in range(int(given)))
    if visible(given) != given or "\n" in given:
        raise UserError(f"--countries: {visible(given)!r} holds characters that nobody sees; write it without them")
    try:
        names = tuple(name.strip() for row in csv.reader([given], skipinitialspace=True, strict=True) for name in row)
    except csv.Error:
        raise UserError(
            f"--countries: {given!r} has a quotation mark without its other half; expected a pair"
        ) from None
    if not 1 <= len(names) <= MOST_COUNTRIES:
        raise UserError(f"--countries: found {len(names)} names; expected 1 to {MOST_COUNTRIES}")
    for name in names:
        _check_name(name)
    folded = [unicodedata.normalize("NFKC", name).casefold() for name in names]
    twice = [name for name, key in zip(names, folded, strict=True) if folded.count(key) > 1]
    if twice:
        raise UserError(f"--countries: found {' and '.join(map(repr, twice))}; expected each country once")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_name(name: str) -> None:
    if not name:
        raise UserError("--countries: found a name that is empty; expected names with a comma between them")
    if unicodedata.normalize("NFKC", name)[0] in FORMULA:
        raise UserError(
            f"--countries: {name!r} begins with {name[0]!r}, and a spreadsheet that opens the assignment would run "
            "it as a formula; expected a name that begins with a letter"
        )


def pools(given: str, countries: int) -> tuple[int, ...]:
    """ "8" as eight annotators in every country, "8,6,11" as those of each. Raises UserError for anything else."""
    parts = [part.strip() for part in given.split(",")]
    if not all(re.fullmatch("[0-9]{1,6}", part) and int(part) for part in parts):
        raise UserError(f"--annotators {given!r}: expected a number from 1 on, or one for each country, as in 8,6,11")
    if len(parts) not in (1, countries):
        raise UserError(
            f"--annotators: found {len(parts)} numbers for {countries} countries; expected one, or {countries}"
        )
    return tuple(map(int, parts)) if len(parts) > 1 else (int(parts[0]),) * countries


def money(text: str, what: str) -> Fraction:
    """An amount as it is written, exactly. Raises UserError for what is no amount from 0 on."""
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or not 0 <= amount <= MOST_MONEY or (amount and amount.adjusted() < -6):
        raise UserError(
            f"{what} {text!r}: expected an amount from 0 to {MOST_MONEY:,}, without a currency or commas, as in 1.63"
        )
    return Fraction(amount)


def prices(path: Path, names: Sequence[str]) -> tuple[Fraction, ...]:
    """The price a label of each country, from a CSV file with the columns country and price. Raises UserError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise UserError(f"{path} cannot be read ({why}); expected a CSV file with the columns country,price") from None
    rows = [row for row in csv.reader(text.splitlines()) if any(cell.strip() for cell in row)]
    header = [cell.strip().casefold() for cell in rows[0]] if rows else []
    if "country" not in header or "price" not in header:
        raise UserError(f"{path}: the first line is {visible(','.join(header))!r}; expected the columns country,price")
    found: dict[str, Fraction] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise UserError(f"{path}: row {number} has {len(row)} cells; expected {len(header)}, as in the first line")
        name = row[header.index("country")].strip()
        if name in found:
            raise UserError(f"{path}: {visible(name)!r} has two prices; expected one")
        found[name] = money(row[header.index("price")], f"{path}: {visible(name)}:")
    missing = [name for name in names if name not in found]
    if missing:
        raise UserError(
            f"{path} has no price for {', '.join(missing[:8])}; it has {visible(', '.join(list(found)[:8])) or 'none'};"
            " add a row for each, with the name as in --countries"
        )
    return tuple(found[name] for name in names)


# --- a pilot ------------------------------------------------------------------------------------------------------


def read_pilot(path: Path, columns: Sequence[str], choices: Sequence[str], countries: str = "N") -> Pilot:
    """Labels of a small study, read as `countback judge` reads them. Raises UserError where they cannot teach.

    `countries` are those of the plan as they were typed: without them no command that answers a question would run.
    """
    settings = read_settings(path, None, columns=columns, choices=choices)
    told = "".join(f" --columns {shlex.quote(text)}" for text in columns)
    told += "".join(f" --set {shlex.quote(text)}" for text in choices)
    command = f"countback plan --countries {shlex.quote(countries)} --pilot {shlex.quote(str(path))}{told}"
    inputs = read_inputs(path, None, replace(settings, command=command))
    study = build(inputs)
    scales = {study.scales[code] for code in np.unique(study.question)}
    if len(scales) > 1:
        raise UserError(
            f"{path.name} has questions with different labels; expected one scale: give one question's labels"
        )
    scale = next(iter(scales))
    if len(scale) < 2:
        raise UserError(
            f"{path.name}: all {len(study.label):,} labels are the same; expected labels that vary: how far annotators "
            "agree cannot be learned from them, and a plan without --pilot assumes it"
        )
    label = np.full(len(study.labels), -1)
    label[list(scale)] = np.arange(len(scale))
    votes = tally(
        study.unit, study.country[study.unit], label[study.label], len(scale), question=study.question[study.unit]
    )
    try:
        model = learn(votes)
    except ValueError as error:
        raise UserError(f"{path.name}: {error}") from None
    judge, found, about_judge = _pilot_lead(study, label, len(scale))
    parts, about_parts = _pilot_parts(study, label)
    return Pilot(
        name=path.name,
        slots=int((inputs.table.kind == HUMAN).sum()),
        valid=len(study.label),
        items=study.units,
        model=model,
        judge=judge,
        lead=found,
        parts=parts,
        notes=tuple(note for note in (about_judge, about_parts) if note),
    )


def _pilot_lead(study: Study, label: Ints, levels: int) -> tuple[str, Lead | None, str]:
    """The judge with the most answers and how it stands to the humans; or why that is not learned."""
    if not study.judges:
        return "", None, ""
    chosen = max(study.judges, key=lambda judge: int((judge.answers >= 0).sum()))
    codes = np.append(label, -1)[chosen.answers][None]
    kept = held_out(study.unit, study.annotator, label[study.label], codes, labels=levels)
    compared = kept.select((kept.n > 0) & (codes[0] >= 0))
    if len(compared.n) < FEWEST_PILOT_ITEMS:
        return "", None, (
            f"{chosen.name} can be compared on {len(compared.n)} of its items, fewer than {FEWEST_PILOT_ITEMS}: how a "
            "judge stands to the humans is assumed, not learned"
        )  # fmt: skip
    return chosen.name, lead_of(compared.n, compared.human, compared.judges[:, 0]), ""


def _pilot_parts(study: Study, label: Ints) -> tuple[Parts | None, str]:
    """How the variance divides, what is estimated below 0 or lies in the residual being 0; or why it is not learned."""
    try:
        found = country_share(study.item[study.unit], study.country[study.unit], study.annotator, label[study.label])
    except UserError as error:
        return None, f"how variance divides between items and annotators is assumed, not learned: {error}"
    c = found.components
    known = np.nan_to_num(np.maximum([c.item, c.item_country, c.annotator, c.residual], 0.0))
    return Parts(*(known / known.sum()).tolist()), ""
