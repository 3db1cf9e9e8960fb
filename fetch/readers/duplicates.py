"""The same annotator twice on one item: found, shown under every policy, and settled only by a policy someone chose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from countback.fetch.codebook import VALID, reason_code
from countback.fetch.errors import UserError
from countback.fetch.readers.columns import Column
from countback.fetch.readers.report import DuplicateReport, PolicyOutcome
from numpy.typing import NDArray

POLICIES = ("first", "last", "drop-both")


@dataclass(frozen=True)
class Keyed:
    """Rows as codes, shape (n,) each: `group` is one (item, question, country) and `annotator` one person or judge."""

    group: NDArray[np.int64]
    annotator: NDArray[np.int32]
    label: NDArray[np.int16]
    reason: NDArray[np.int8]


def settle(
    rows: Keyed,
    repeated: NDArray[np.int64],
    policy: str,
    labels: tuple[str, ...],
    moments: Callable[[NDArray[np.int64]], NDArray[np.float64] | None],
    describe: Callable[[int], str],
) -> tuple[NDArray[np.int8], DuplicateReport]:
    """New reasons, shape (n,), and what was done. `repeated` holds the rows whose key an earlier valid row has.

    `moments` gives the times of the rows asked for (None: no times, the order of the file counts); it is asked only
    when the order matters. Raises UserError under the policy "error".
    """
    members = _members(rows, repeated)
    conflicting = sum(len(set(rows.label[m].tolist())) > 1 for m in members)
    involved = np.concatenate(members)
    if policy == "error":
        raise UserError(_refusal(rows, members, conflicting, labels, describe))
    times = moments(involved) if policy in ("first", "last") else None
    order = "time" if times is not None else "position in the file"
    when = np.arange(rows.group.size, dtype=np.float64)
    if times is not None:
        when[involved] = times
    kept = {p: _drop(rows, members, p, when) for p in POLICIES}
    outcomes = {p: _outcome(rows, reason, labels) for p, reason in kept.items()}
    return kept[policy], DuplicateReport(policy, len(members), conflicting, order, outcomes)


def _members(rows: Keyed, repeated: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """For each key that occurs more than once, its valid rows in the order of the file."""
    key = rows.group * (int(rows.annotator.max()) + 1) + rows.annotator
    valid = np.flatnonzero(rows.reason == VALID)
    chosen = valid[np.isin(key[valid], key[repeated])]
    order = chosen[np.argsort(key[chosen], kind="stable")]
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    return np.split(order, cuts)


def _drop(rows: Keyed, members: list[NDArray[np.int64]], policy: str, when: NDArray[np.float64]) -> NDArray[np.int8]:
    reason = rows.reason.copy()
    for group in members:
        reason[group] = reason_code("duplicate")
        if policy != "drop-both":
            ordered = group[np.argsort(when[group], kind="stable")]
            reason[ordered[0 if policy == "first" else -1]] = VALID
    return reason


def _outcome(rows: Keyed, reason: NDArray[np.int8], labels: tuple[str, ...]) -> PolicyOutcome:
    valid = reason == VALID
    label, group = rows.label[valid].astype(np.int64), rows.group[valid]
    counts = np.bincount(label, minlength=len(labels))
    spread = {name: int(n) for name, n in zip(labels, counts, strict=True) if n}
    per_group = np.unique(group, return_counts=True)[1]
    per_cell = np.unique(group * len(labels) + label, return_counts=True)[1]
    pairs = int((per_group * (per_group - 1)).sum())
    agreeing = int((per_cell * (per_cell - 1)).sum())
    return PolicyOutcome(int(valid.sum()), spread, agreeing / pairs if pairs else None)


def _refusal(
    rows: Keyed,
    members: list[NDArray[np.int64]],
    conflicting: int,
    labels: tuple[str, ...],
    describe: Callable[[int], str],
) -> str:
    when = np.arange(rows.group.size, dtype=np.float64)
    shown = []
    for policy in POLICIES:
        outcome = _outcome(rows, _drop(rows, members, policy, when), labels)
        agreement = "no pairs" if outcome.agreement is None else f"{outcome.agreement:.4f}"
        shown.append(f"{policy}: {outcome.valid} labels, pairwise agreement {agreement}")
    return (
        f"{len(members)} (item, question, annotator) have more than one label, {conflicting} of them different ones; "
        f"the first is {describe(int(members[0][0]))}. Choose duplicates='first', 'last' or 'drop-both'. "
        f"In the order of the file they give {'; '.join(shown)}."
    )


def parse_moments(times: Column, rows: NDArray[np.int64], zones: list[str | None]) -> NDArray[np.float64] | None:
    """Seconds since 1970 in UTC for some rows, or None where every one of them is blank.

    `zones` holds the declared zone of each row asked for. Raises UserError for a time that cannot be read, a naive one
    without a declared zone, and one that does not exist, or exists twice, in its zone.
    """
    texts = [times.values[code] for code in times.codes[rows].tolist()]
    if not any(t.strip() for t in texts):
        return None
    return np.array([_moment(text.strip(), zone) for text, zone in zip(texts, zones, strict=True)])


def _moment(text: str, zone: str | None) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(
            f"The time {text!r} cannot be read, and the order of duplicates depends on it; expected ISO 8601, such as "
            "2026-01-02T10:00:00Z. Use duplicates='drop-both' if times are not to be had."
        ) from None
    try:
        if moment.tzinfo is None:
            moment = _in_zone(moment, text, zone)
        return moment.astimezone(UTC).timestamp()
    except OverflowError:
        raise UserError(f"The time {text!r} lies outside the years 1 to 9999 in UTC; mend it.") from None


def _in_zone(moment: datetime, text: str, zone: str | None) -> datetime:
    if zone is None:
        raise UserError(
            f"The time {text!r} has no zone, and the order of duplicates depends on it. Declare the source's zone: "
            "zone='Europe/Berlin', or zone={'za.csv': 'Africa/Johannesburg', ...} by file."
        )
    try:
        local = moment.replace(tzinfo=ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UserError(f"There is no time zone {zone!r}; expected a name such as 'Africa/Lagos' or 'UTC'.") from None
    if local.astimezone(UTC).astimezone(local.tzinfo).replace(tzinfo=None) != moment:
        raise UserError(f"The time {text!r} does not exist in {zone}: clocks were set forward over it.")
    if local.utcoffset() != local.replace(fold=1).utcoffset():
        raise UserError(f"The time {text!r} occurs twice in {zone}: clocks were set back over it.")
    return local
