"""Predictions as text and as JSON: what is predicted, by which rule, how it stands, and what was changed since."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import click
from countback.audit.ledger import Entry, Ledger, proofs
from countback.audit.predict import NOT_MADE, Score, Status, decision_json
from countback.audit.text import width
from countback.claims.decision import OPEN, OVERDUE, VOID, Criterion, Value
from countback.claims.prediction import instant_text, registration_line
from countback.claims.resolve_lead import LeadRule
from countback.claims.resolve_share import ShareRule

COLOURS = {"confirmed": "green", "broken": "red", "both": "yellow", "neither": "yellow", OVERDUE: "yellow"}
DAY = 86_400
LEGEND = (
    "d_c: the judge's lead over a held-out human in country c, in percentage points of that country's comparisons; "
    "D: the same over the comparisons of all countries together"
)


def wrap(text: str, indent: int, hang: int = 0) -> str:
    """The text in lines of the terminal's width, all but the first by `hang` further in."""
    first, rest = " " * indent, " " * (indent + hang)
    return textwrap.fill(
        text, width(), initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def present(statuses: list[Status], chain: Ledger, today: date) -> str:
    """The whole answer of `countback predict`."""
    lines: list[str] = []
    for status in statuses:
        lines += [*_one(status, today), ""]
    if not statuses:
        lines = ["no predictions: none of these papers has a predictions.toml", ""]
    if any(isinstance(status.prediction.rule, LeadRule) for status in statuses):
        lines.append(wrap(LEGEND, 0))
    return "\n".join([*lines, _voids(statuses), wrap(ledger_line(chain), 0, 2)])


def ledger_line(chain: Ledger) -> str:
    """How many entries, that the chain is whole, and which of its heads a timestamp proof is for."""
    if not chain.lines:
        return f"ledger: none yet at {chain.path}"
    line = f"ledger: {chain.path}: {len(chain.lines)} entries, the chain is whole, last sha256 {chain.head.sha256}"
    found = [f"{p.path.name} for entry {p.n}" if p.n else f"{p.path.name} for no head of it" for p in proofs(chain)]
    return f"{line}; timestamp proofs: {', '.join(found) or 'none'}"


def _voids(statuses: list[Status]) -> str:
    resolved = [status for status in statuses if status.resolutions]
    void = sum(status.state == VOID for status in resolved)
    return f"resolved: {len(resolved)} of {len(statuses)}; void: {void} of {len(resolved)} resolved"


def _one(status: Status, today: date) -> Iterator[str]:
    spec = status.prediction.spec
    state = click.style(status.state, bold=True, fg=COLOURS.get(status.state))
    if status.state == NOT_MADE:
        yield wrap(f"{status.prediction.full_id}  {state} on {status.as_of.date()}: it was made on {spec.made}", 0, 4)
        yield wrap(spec.statement, 2)
        return
    yield wrap(f"{status.prediction.full_id}  {state}{_time(status)}", 0, 4)
    yield wrap(spec.statement, 2)
    part = f", a part of {spec.derived}" if spec.derived else ""
    words = "not registered" if spec.registered is None else f"registered {spec.registered.on}"
    if spec.registered is not None:
        words += ", words and rule as registered" if not _amended(status) else ", amended since (below)"
    yield wrap(f"made {spec.made}{part}; {words}", 2)
    if spec.registered is None:
        yield wrap("to register it as it stands, put this into predictions.toml:", 2)
        yield f"    {registration_line(status.prediction, today)}"
    yield wrap(f"waits for: {spec.trigger}", 2)
    yield wrap(f"settled by: {spec.settles}", 2)
    for row in spec.outcomes:
        yield wrap(f"{row.outcome}: {row.when}", 4)
    yield from _now(status)
    yield from _forecasts(status)
    yield from _outlook(status)
    yield from _history(status)
    if spec.note:
        yield wrap(f"note: {spec.note}", 2)


def _time(status: Status) -> str:
    left, deadline = status.seconds_left, status.prediction.spec.deadline
    if left is None or deadline is None:
        return ", no deadline"
    days = int(abs(left) // DAY)
    count = "less than a day" if days == 0 else "1 day" if days == 1 else f"{days} days"
    return f", {count} {'left' if left >= 0 else 'past the deadline'} ({instant_text(deadline)})"


def _now(status: Status) -> Iterator[str]:
    """The present value of each criterion; after a resolution the values that decided stand in its record."""
    if status.state not in (OPEN, OVERDUE):
        return
    present, rule = status.present, status.prediction.rule
    known = {
        "release": "on the released files at hand",
        "printed": "by the counts that the paper prints (the release is not here)",
        "nothing": "nothing at hand speaks to it yet",
    }[present.source]
    if present.synthetic:
        known = "on a SYNTHETIC stand-in, which proves nothing"
    elif not present.proved:
        known = "on files that no full pin proves, which decides nothing"
    yield wrap(f"now: {known}", 2)
    if present.source != "nothing":
        only = rule.only if isinstance(rule, LeadRule) else ""
        for criterion in (c for c in present.decision.criteria if only in ("", c.id)):
            yield wrap(f"{criterion.id}  {criterion_words(criterion, rule, present.intervals)}", 4)
        yield wrap(f"still possible: {', '.join(present.decision.possible)}", 4)
    if status.state == OVERDUE:
        yield wrap(
            f"the deadline has passed: countback predict resolve {status.prediction.full_id}, with the data if the "
            'trigger came in time, else with --outcome void --reason "..."',
            2,
        )


def criterion_words(
    criterion: Criterion, rule: LeadRule | ShareRule, intervals: dict[str, tuple[float, float]] | None = None
) -> str:
    """ "undecided", "holds" or "does not hold", with its numbers and what they are held against."""
    head = {None: "undecided", True: "holds", False: "does not hold"}[criterion.holds]
    return f"{head}: {_numbers(criterion, rule, intervals or {})}"


def _numbers(criterion: Criterion, rule: LeadRule | ShareRule, intervals: dict[str, tuple[float, float]]) -> str:
    if isinstance(rule, ShareRule):
        shown = ", ".join(f"{value.name} {float(value.low):.4g}" for value in criterion.values)
        return f"{shown or 'no share yet'}; against {float(rule.threshold):g}"
    if criterion.id == "k1":
        value = criterion.values[0]
        so_far = f"{value.low} countries at or above zero, at most {value.high} in the end"
        return f"{so_far}; {rule.at_least} of {rule.countries} needed"
    points = [_points(value, intervals) for value in criterion.values]
    if criterion.id == "b2":
        missing = [name for name in rule.trailing if name not in [value.name for value in criterion.values]]
        points += [f"{name} not known" for name in missing]
        return f"{', '.join(points)}; below {_signed(rule.trail)} in each needed"
    limit = f"{_signed(rule.margin)} or more needed" if criterion.id == "k2" else "below 0 needed"
    return f"{', '.join(points) or 'nothing counted'}; {limit}"


def _points(value: Value, intervals: dict[str, tuple[float, float]]) -> str:
    shown = _signed(value.low) if value.low == value.high else f"{_signed(value.low)} to {_signed(value.high)}"
    interval = intervals.get(value.name)
    beside = f" [{interval[0]:+.1f}, {interval[1]:+.1f}]" if interval else ""
    return f"{value.name} {shown} points{beside} on {value.n} comparisons"


def _signed(value: Fraction) -> str:
    return f"{float(value):+.2f}".removesuffix(".00")


def _forecasts(status: Status) -> Iterator[str]:
    if not status.prediction.spec.forecast:
        yield "  forecast: none registered"
    for forecast in status.prediction.spec.forecast:
        line = f"forecast: P({forecast.of}) = {forecast.probability:.3f} by {forecast.model}, {forecast.on}"
        score = status.score(forecast)
        if score is not None:
            line += f"; Brier score {score.brier:.3f}, log score {score.log:.3f}"
        elif status.state not in (OPEN, OVERDUE):
            line += "; not scored: " + ("void" if status.state == VOID else "not made before the day of the trigger")
        yield wrap(line, 2)


def _outlook(status: Status) -> Iterator[str]:
    """The forecast made now: of each outcome, with what it rests on and how far other priors move it."""
    made = status.present.outlook
    if made is None or status.state not in (OPEN, OVERDUE):
        return
    chances = ", ".join(f"{name} {chance:.3f}" for name, chance in made.probability.items())
    error = max(made.mc_error.values())
    yield wrap(f"forecast now: {chances} (Monte Carlo error {error:.4f} or less)", 2)
    name, (low, high) = next(iter(made.others.items()))
    yield wrap(f"{name} from {low:.2f} to {high:.2f} under other priors", 4)
    yield wrap(f"model: {made.model}; {made.draws} draws, seed {made.seed}", 4)
    yield wrap(f"rests on: {made.rests_on}", 4)
    yield wrap(f"calibration: {made.calibration}", 4)


def _amended(status: Status) -> bool:
    return bool(status.prediction.spec.amendment or status.amendments)


def _history(status: Status) -> Iterator[str]:
    told = [(row.on.isoformat(), row.part, row.reason, row.was) for row in status.prediction.spec.amendment]
    told += [(e.body["on"], e.body["part"], e.body["reason"], e.body["was"]) for e in status.amendments]
    for on, part, reason, was in dict.fromkeys(told):
        yield wrap(f"amended {on} ({part}): {reason}", 2)
        yield from _changed_lines(was, _after(status, part, was))
    for number, entry in enumerate(status.resolutions, 1):
        body = entry.body
        again = " (replaced below)" if number < len(status.resolutions) else ""
        yield wrap(f"resolved {entry.at.date()} as {body['outcome']}{again}, ledger entry {entry.n}", 2)
        for label in ("happened", "source", "reason"):
            if body[label]:
                yield wrap(f"{label}: {body[label]}", 4)
        only = rule.only if isinstance(rule := status.prediction.rule, LeadRule) else ""
        for row in (row for row in body["criteria"] if only in ("", row["id"])):
            values = tuple(Value(v["name"], Fraction(v["low"]), Fraction(v["high"]), v["n"]) for v in row["values"])
            words = criterion_words(Criterion(row["id"], row["holds"], values), status.prediction.rule)
            yield wrap(f"{row['id']}  {words}", 4)


def _after(status: Status, part: str, was: str) -> str:
    """The text that replaced `was`: the old text of the next amendment of that part, or what stands now."""
    olds = [row.was for row in status.prediction.spec.amendment if row.part == part]
    olds += [entry.body["was"] for entry in status.amendments if entry.body["part"] == part]
    olds = list(dict.fromkeys(olds))
    place = olds.index(was) + 1
    return olds[place] if place < len(olds) else status.prediction.text("wording" if part == "wording" else "resolver")


def _changed_lines(was: str, now: str) -> Iterator[str]:
    """The lines that differ, old and new."""
    from difflib import ndiff

    for line in ndiff(was.splitlines(), now.splitlines()):
        if line.startswith(("- ", "+ ")):
            yield wrap(f"{'was' if line[0] == '-' else 'now'}: {line[2:]}", 4)


def amendment_block(entry: Entry) -> str:
    """An amendment as it would stand in predictions.toml, below its prediction, for those without this ledger."""
    body = entry.body
    text = body["was"]
    quoted = f"'''\n{text}'''" if "'''" not in text else json.dumps(text)
    return (
        f"[[prediction.amendment]]\non     = {body['on']}\nreason = {json.dumps(body['reason'])}\n"
        f'part   = "{body["part"]}"\nnow    = "{body["now"]}"\nwas    = {quoted}'
    )


# --- JSON ---------------------------------------------------------------------------------------------------------


def as_json(statuses: list[Status], chain: Ledger, as_of: datetime) -> dict[str, Any]:
    """The stable form, schema countback.predictions/1."""
    return {
        "schema": "countback.predictions/1",
        "as_of": instant_text(as_of),
        "ledger": {
            "file": str(chain.path),
            "entries": len(chain.lines),
            "head": chain.head.sha256 if chain.lines else None,
            "proofs": [{"file": proof.path.name, "entry": proof.n} for proof in proofs(chain)],
        },
        "resolved": sum(bool(status.resolutions) for status in statuses),
        "void": sum(status.state == VOID for status in statuses),
        "predictions": [_status_json(status) for status in statuses],
    }


def _status_json(status: Status) -> dict[str, Any]:
    spec, present = status.prediction.spec, status.present
    registered = spec.registered
    return {
        "id": status.prediction.full_id,
        "state": status.state,
        "statement": spec.statement,
        "made": spec.made.isoformat(),
        "deadline": instant_text(spec.deadline) if spec.deadline else None,
        "seconds_left": status.seconds_left,
        "trigger": spec.trigger,
        "settles": spec.settles,
        "derived": spec.derived,
        "outcomes": {row.outcome: row.when for row in spec.outcomes},
        "registered": registered.model_dump(mode="json") if registered else None,
        "present": {
            "source": present.source,
            "proved": present.proved,
            "synthetic": present.synthetic,
            "why": present.why,
            "intervals": {name: list(ends) for name, ends in present.intervals.items()},
            **decision_json(present.decision),
        },
        "forecast_now": asdict(present.outlook) if present.outlook else None,
        "forecasts": [
            {**forecast.model_dump(mode="json"), "score": _score_json(status.score(forecast))}
            for forecast in spec.forecast
        ],
        "amendments": [row.model_dump(mode="json") for row in spec.amendment] + [e.body for e in status.amendments],
        "resolutions": [{"entry": e.n, "at": instant_text(e.at), **e.body} for e in status.resolutions],
    }


def _score_json(score: Score | None) -> dict[str, float | str] | None:
    if score is None:
        return None
    return {"brier": score.brier, "log": score.log if math.isfinite(score.log) else "infinite"}
