"""Predictions and the ledger together: what state each prediction is in on a day, and what the data at hand says.

Words nothing: `countback.audit.predict_text` does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from countback.audit.ledger import Entry, Kind, Ledger, foreign
from countback.audit.recount import paper_module
from countback.audit.run import Absent, Data, Located
from countback.audit.sources import Sources
from countback.claims.decision import OPEN, OVERDUE, VOID, Decision
from countback.claims.prediction import (
    Amendment,
    ForecastSpec,
    Part,
    Prediction,
    PrintedSpec,
    check_forecasts,
    check_words,
    load_predictions,
)
from countback.claims.registry import Paper, find_papers, paper_releases
from countback.claims.resolve_lead import LeadRule
from countback.claims.resolve_share import ShareRule
from countback.claims.settling import Counted, check_countries, printed_leads, read_instant
from countback.claims.spec import PaperSpec, read_toml
from countback.fetch.errors import UserError
from pydantic import AwareDatetime, BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

if TYPE_CHECKING:
    from countback.claims.outlook import Outlook

Tell = Callable[[str], None]
NOT_MADE = "not made yet"


@dataclass(frozen=True)
class Book:
    """The predictions of one paper folder."""

    folder: Path
    spec: PaperSpec
    predictions: tuple[Prediction, ...]
    printed: tuple[PrintedSpec, ...]

    @property
    def paper(self) -> Paper:
        """Enough of the paper to find its releases."""
        return Paper(self.spec, self.folder, paper_releases(self.folder), {}, {}, (), ())


def open_books(names: Sequence[str]) -> list[Book]:
    """The predictions of papers ("cubes"), of single ones ("cubes/p1"), or of the whole registry, in its order."""
    books: dict[Path, Book] = {}
    for name in names or ("",):
        head, _, last = name.rpartition("/")
        single = bool(head) and not Path(name).is_dir()
        for folder in find_papers((head if single else name,) if name else ()):
            book = _book(folder)
            chosen = [each for each in book.predictions if not single or each.spec.id == last]
            if single and not chosen:
                ids = ", ".join(each.full_id for each in book.predictions) or "none"
                raise UserError(f'no prediction "{name}"; the paper has {ids}')
            kept = books[folder].predictions if folder in books else ()
            chosen = [each for each in book.predictions if each in chosen or each in kept]
            books[folder] = Book(folder, book.spec, tuple(chosen), book.printed)
    return list(books.values())


def _book(folder: Path) -> Book:
    spec = read_toml(folder / "paper.toml", PaperSpec)
    return Book(folder, spec, *load_predictions(folder, spec.id))


def read_day(text: str) -> datetime:
    """The end of a day in UTC ("2027-06-30"), or an instant with its zone. Raises UserError for anything else."""
    when = text
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        when = f"{text}T23:59:59Z"
    try:
        return read_instant(when, "--as-of")
    except UserError:
        raise UserError(
            f'--as-of: found "{text}"; expected a day such as 2027-06-30, which means its end in UTC, or an instant '
            "with its zone such as 2027-06-30T12:00:00Z"
        ) from None


# --- the state on a day -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Present:
    """What the data at hand says now. `source`: "release", "printed" or "nothing"; `proved`: every file verified.

    `outlook` is the forecast on that data, if it was asked for and there is one to make.
    """

    source: str
    decision: Decision
    intervals: dict[str, tuple[float, float]]
    proved: bool = True
    synthetic: bool = False
    why: str = ""
    outlook: Outlook | None = None


@dataclass(frozen=True)
class Score:
    """Brier and logarithmic score of a forecast once the outcome is known; the smaller, the better."""

    brier: float
    log: float


@dataclass(frozen=True)
class Status:
    """One prediction on a day. `resolutions` and `amendments` are ledger entries, oldest first; the last one counts."""

    prediction: Prediction
    as_of: datetime
    resolutions: tuple[Entry, ...]
    amendments: tuple[Entry, ...]
    present: Present

    @cached_property
    def state(self) -> str:
        """The last resolution's outcome, else "overdue" after the deadline, else "open"; NOT_MADE before its day."""
        if self.resolutions:
            return str(self.resolutions[-1].body["outcome"])
        if self.as_of.date() < self.prediction.spec.made:
            return NOT_MADE
        deadline = self.prediction.spec.deadline
        return OVERDUE if deadline is not None and self.as_of > deadline else OPEN

    @property
    def seconds_left(self) -> float | None:
        """Until the deadline, negative after it; None where there is none."""
        deadline = self.prediction.spec.deadline
        return None if deadline is None else (deadline - self.as_of).total_seconds()

    def score(self, forecast: ForecastSpec) -> Score | None:
        """None while unresolved, for a void one, and for a forecast not made before the day of the trigger."""
        if self.state in (NOT_MADE, OPEN, OVERDUE, VOID):
            return None
        happened = datetime.fromisoformat(self.resolutions[-1].body["happened"]).date()
        if forecast.on >= happened:
            return None
        hit = self.state == forecast.of
        given = forecast.probability if hit else 1 - forecast.probability
        return Score((1 - given) ** 2, math.inf if given == 0 else -math.log(given))


def statuses(
    books: Sequence[Book], chain: Ledger, as_of: datetime, sources: Sources, *, forecasting: bool = False
) -> list[Status]:
    """The state of every prediction. Raises IntegrityError where registered words or forecasts are no longer those.

    `forecasting`: with a forecast made now of each that is still open on the data at hand.
    """
    entries = about(chain, "resolution", "amendment", "registration")

    def until(prediction: Prediction, kind: str) -> tuple[Entry, ...]:
        held = entries.get(prediction.full_id, [])
        return tuple(entry for entry in held if entry.kind == kind and entry.at <= as_of)

    found = []
    for book in books:
        data = Data(sources.locate(book.paper)) if book.predictions else Data({})
        for prediction in book.predictions:
            held = entries.get(prediction.full_id, [])
            check_words(prediction, amendments(held))
            check_forecasts(prediction, forecasts(held))
            kept = until(prediction, "resolution"), until(prediction, "amendment")
            found.append(Status(prediction, as_of, *kept, _present(book, prediction, data, forecasting)))
    return found


_Exact = Annotated[str, Field(pattern=r"^-?[0-9]{1,400}(/[1-9][0-9]{0,400})?$")]


class _Value(BaseModel):
    name: StrictStr
    low: _Exact
    high: _Exact
    n: StrictInt


class _Criterion(BaseModel):
    id: StrictStr
    holds: StrictBool | None
    values: list[_Value]


class _Resolution(BaseModel):
    prediction: StrictStr
    outcome: Literal["confirmed", "broken", "both", "neither", "void"]
    happened: AwareDatetime | Literal[""]
    source: StrictStr
    reason: StrictStr
    criteria: list[_Criterion]


class _Amendment(BaseModel):
    prediction: StrictStr
    part: Part
    on: date
    reason: StrictStr
    was: StrictStr
    now: StrictStr
    text: StrictStr


class _Registration(BaseModel):
    prediction: StrictStr
    wording: StrictStr
    resolver: StrictStr
    forecasts: list[StrictStr] = []


_FORMS: dict[str, type[BaseModel]] = {
    "resolution": _Resolution,
    "amendment": _Amendment,
    "registration": _Registration,
}


def about(chain: Ledger, *kinds: Kind) -> dict[str, list[Entry]]:
    """Entries of these kinds by the prediction they are about. Raises IntegrityError for a body of another form."""
    found: dict[str, list[Entry]] = {}
    for entry in chain.entries(*kinds):
        try:
            _FORMS[entry.kind].model_validate(entry.body)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise foreign(chain.path, entry.n, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        found.setdefault(entry.body["prediction"], []).append(entry)
    return found


def amendments(entries: Iterable[Entry]) -> list[Amendment]:
    """The amendments among ledger entries."""
    keys = ("on", "reason", "part", "was", "now")
    return [
        Amendment.model_validate({key: entry.body[key] for key in keys})
        for entry in entries
        if entry.kind == "amendment"
    ]


def forecasts(entries: Iterable[Entry]) -> list[str]:
    """The forecasts that the registrations among ledger entries hold."""
    return [text for entry in entries if entry.kind == "registration" for text in entry.body.get("forecasts", [])]


def _present(book: Book, prediction: Prediction, data: Data, forecasting: bool) -> Present:
    why, rule = "", prediction.rule
    if isinstance(rule, LeadRule):
        try:
            counted, used = count(book, prediction, data)
        except Absent as error:
            why = str(error)
        else:
            proved = all(located.status == "verified" for located in used)
            decision = prediction.decide(counted.leads)
            outlook = _outlook(counted, decision, rule) if forecasting else None
            return Present("release", decision, counted.intervals, proved, counted.synthetic, outlook=outlook)
        if book.printed:
            decision = prediction.decide(printed_leads(book.printed))
            outlook = _outlook(book.printed, decision, rule) if forecasting else None
            return Present("printed", decision, {}, why=why, outlook=outlook)
        return Present("nothing", prediction.decide(()), {}, why=why)
    outlook = _given_a_study(book.folder, rule) if forecasting else None
    return Present("nothing", prediction.decide(None), {}, outlook=outlook)


def _given_a_study(folder: Path, rule: ShareRule) -> Outlook | None:
    """A forecast of a share, given that a crossed study is made; None where the paper has no stored study of that."""
    from countback.claims import outlook

    return outlook.from_designs(folder, rule)


def _outlook(known: Counted | Sequence[PrintedSpec], decision: Decision, rule: LeadRule) -> Outlook | None:
    """A forecast, where anything is still open; None where the data at hand supports none."""
    from countback.claims import outlook  # computes with what no other part of predict needs

    if decision.outcome != OPEN:
        return None
    return outlook.from_counted(known, rule) if isinstance(known, Counted) else outlook.from_printed(known, rule)


def count(book: Book, prediction: Prediction, data: Data) -> tuple[Counted, list[Located]]:
    """Leads from the paper's released files, by settle.py of its folder, and the files used. Raises Absent."""
    rule = prediction.rule
    assert isinstance(rule, LeadRule)
    here = [located for located in data.files.values() if located.path is not None]
    if not here or not (book.folder / "settle.py").exists():  # importing it costs half a second
        raise Absent(f"{book.spec.id}: no released file is here, or no settle.py reads one")
    used = Data(data.files)
    counted: Counted = paper_module(book.folder, "settle").lead(used, rule.judge)
    check_countries(counted.leads, rule, f"the release of {book.spec.id}")
    return counted, used.used


def decision_json(decision: Decision) -> dict[str, Any]:
    """Criteria and possible outcomes as JSON; exact numbers as fractions in strings."""
    return {
        "criteria": [
            {
                "id": criterion.id,
                "holds": criterion.holds,
                "values": [
                    {"name": v.name, "low": str(v.low), "high": str(v.high), "n": v.n} for v in criterion.values
                ],
            }
            for criterion in decision.criteria
        ],
        "possible": list(decision.possible),
    }
