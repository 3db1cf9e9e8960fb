"""Predictions as data: predictions.toml of a paper folder, the rule that decides each, and the words as registered.

    [[prediction]]
    id        = "p1"
    statement = "what is predicted, in our words"
    where     = { section = "..." }
    made      = 2026-10-07                     # the day it was published
    deadline  = 2027-06-30T23:59:59Z           # an instant with its zone; absent: none
    trigger   = "what has to happen first"
    settles   = "the data that would decide it"
    resolver  = "lead"                         # RESOLVERS below
    with      = { ... }                        # the numbers of its rule
    outcomes  = [{ outcome = "confirmed", when = "..." }]    # all that the resolver can give, each once
    derived   = "p1"                           # a part of another prediction that is worth watching alone
    registered = { on = 2026-11-29, wording = "<sha256>", resolver = "<sha256>" }

    [[prediction.forecast]]                    # a probability stated before the outcome was known
    [[prediction.amendment]]                   # on, reason, part, was (the old text), now (the new text's sha256)
    [[printed]]                                # counts that the paper prints, for when the release itself is not here

Two texts are hashed: the wording (every key that says what is predicted and how it is decided) and the module of the
resolver. A text that is not the registered one is an IntegrityError until an amendment accounts for it. Forecasts are
kept in the ledger with the words: from then on none of them may change or go, and a later one is a further row.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

from countback.claims import resolve_lead, resolve_share
from countback.claims.decision import Decision
from countback.claims.resolve_lead import Lead, LeadRule
from countback.claims.resolve_share import Share, ShareRule
from countback.claims.spec import Id, Words, read_toml
from countback.fetch.errors import IntegrityError, UserError
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

Part = Literal["wording", "resolver"]
PARTS: tuple[Part, ...] = ("wording", "resolver")
Evidence = tuple[Lead, ...] | Share | None
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]

RESOLVERS: dict[str, ModuleType] = {"lead": resolve_lead, "share": resolve_share}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OutcomeSpec(_Strict):
    outcome: Words
    when: Words


class RegisteredSpec(_Strict):
    on: date
    wording: Sha256
    resolver: Sha256


class ForecastSpec(_Strict):
    """The probability that the outcome is `of`, by a named model, stated on a day."""

    on: date
    model: Words
    of: Words
    probability: Annotated[float, Field(ge=0, le=1)]

    @property
    def text(self) -> str:
        """What a ledger keeps of it."""
        return f"{self.on}: P({self.of}) = {self.probability!r} by {self.model}"


class Amendment(_Strict):
    """A registered text that was changed: why, the whole text as it was, and the sha256 of what stands now."""

    on: date
    reason: Words
    part: Part
    was: Words
    now: Sha256


class PredictionSpec(_Strict):
    id: Id
    statement: Words
    where: dict[str, StrictStr]
    made: date
    deadline: AwareDatetime | None = None
    trigger: Words
    settles: Words
    resolver: Literal["lead", "share"]
    with_: dict[str, Any] = Field(alias="with")
    outcomes: Annotated[list[OutcomeSpec], Field(min_length=1)]
    derived: StrictStr = ""
    note: StrictStr = ""
    registered: RegisteredSpec | None = None
    forecast: list[ForecastSpec] = []
    amendment: list[Amendment] = []


class PrintedSpec(_Strict):
    """Counts of one country, or of several of which only the sum is known, as the paper prints or forces them.

    `items` is how many items they rest on, for a forecast from counts alone.
    """

    countries: Annotated[list[StrictStr], Field(min_length=1)]
    n: Annotated[StrictInt, Field(ge=1)]
    human: Annotated[StrictInt, Field(ge=0)]
    judge: Annotated[StrictInt, Field(ge=0)]
    items: Annotated[StrictInt, Field(ge=1)] | None = None


class PredictionsSpec(_Strict):
    prediction: list[PredictionSpec] = []
    printed: list[PrintedSpec] = []


class _LeadWith(_Strict):
    judge: StrictStr
    countries: Annotated[StrictInt, Field(ge=1)]
    at_least: Annotated[StrictInt, Field(ge=0)]
    margin: Decimal
    trailing: list[StrictStr]
    trail: Decimal
    leave_out: list[StrictStr] = []
    only: Literal["", "k1", "k2", "b1", "b2"] = ""


class _ShareWith(_Strict):
    threshold: Annotated[Decimal, Field(gt=0, lt=1)]


@dataclass(frozen=True)
class Prediction:
    """One prediction of a paper, with the numbers of its rule."""

    paper: str
    spec: PredictionSpec
    rule: LeadRule | ShareRule

    @property
    def full_id(self) -> str:
        return f"{self.paper}/{self.spec.id}"

    @property
    def can_give(self) -> tuple[str, ...]:
        """The outcomes that its resolver can give, the rule `only` taken into account."""
        outcomes: tuple[str, ...] = RESOLVERS[self.spec.resolver].OUTCOMES
        if isinstance(self.rule, LeadRule) and self.rule.only:
            return tuple(word for word in outcomes if word not in ("both", "neither"))
        return outcomes

    def text(self, part: Part) -> str:
        """The text of a part as it stands now: what is hashed."""
        return wording(self.spec) if part == "wording" else source(RESOLVERS[self.spec.resolver])

    def decide(self, evidence: Evidence, happened: datetime | None = None) -> Decision:
        """Apply the rule; `evidence` is what `countback.claims.settling` read for this resolver."""
        decision: Decision = RESOLVERS[self.spec.resolver].decide(evidence, self.rule, happened, self.spec.deadline)
        return decision


def wording(spec: PredictionSpec) -> str:
    """Every key that says what is predicted and how it is decided, one a line."""
    told: dict[str, Any] = {
        "id": spec.id,
        "statement": spec.statement,
        "where": spec.where,
        "made": spec.made.isoformat(),
        "deadline": instant_text(spec.deadline) if spec.deadline else "none",
        "trigger": spec.trigger,
        "settles": spec.settles,
        "resolver": spec.resolver,
        "with": spec.with_,
        **{f"outcome {row.outcome}": row.when for row in spec.outcomes},
        "derived": spec.derived or "none",
    }
    shown = {k: v if isinstance(v, str) else json.dumps(v, sort_keys=True, ensure_ascii=False) for k, v in told.items()}
    return "".join(f"{key}: {text}\n" for key, text in shown.items())


def source(module: ModuleType) -> str:
    """A module's text with trailing blanks and line ends made the same on every platform."""
    return "".join(f"{line.rstrip()}\n" for line in inspect.getsource(module).splitlines())


def sha256_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def instant_text(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def load_predictions(folder: Path, paper: str) -> tuple[tuple[Prediction, ...], tuple[PrintedSpec, ...]]:
    """The predictions of a paper folder and the counts that the paper prints; nothing where it has no predictions.toml.

    Raises UserError for a wrong file: place, what was expected and what stands there.
    """
    path = folder / "predictions.toml"
    if not path.exists():
        return (), ()
    spec = read_toml(path, PredictionsSpec)
    ids = [each.id for each in spec.prediction]
    for each in spec.prediction:
        if ids.count(each.id) > 1:
            raise UserError(f'{path}: the id "{each.id}" stands twice; each prediction needs one of its own')
        if each.derived and each.derived not in ids:
            raise UserError(f'{path}: "{each.id}" is derived from "{each.derived}", which is none of {", ".join(ids)}')
    for row in spec.printed:
        if max(row.human, row.judge) > row.n:
            raise UserError(f"{path}: {', '.join(row.countries)}: more hits than comparisons; expected at most {row.n}")
    return tuple(_prediction(path, paper, each) for each in spec.prediction), tuple(spec.printed)


def _prediction(path: Path, paper: str, spec: PredictionSpec) -> Prediction:
    try:
        if spec.resolver == "lead":
            given = _LeadWith.model_validate(spec.with_)
            rule: LeadRule | ShareRule = LeadRule(
                given.judge,
                given.countries,
                given.at_least,
                Fraction(given.margin),
                tuple(given.trailing),
                Fraction(given.trail),
                tuple(given.leave_out),
                given.only,
            )
        else:
            rule = ShareRule(Fraction(_ShareWith.model_validate(spec.with_).threshold))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(["with", *map(str, first["loc"])])
        raise UserError(f'{path}: "{spec.id}": {key}: {first["msg"]}; found: {first["input"]!r:.120}') from None
    prediction = Prediction(paper, spec, rule)
    listed = [row.outcome for row in spec.outcomes]
    if sorted(listed) != sorted(prediction.can_give):
        raise UserError(
            f'{path}: "{spec.id}": outcomes are {", ".join(listed)}; the resolver "{spec.resolver}" can give '
            f"{', '.join(prediction.can_give)}, and each has to be listed once"
        )
    for forecast in spec.forecast:
        if forecast.of not in listed:
            raise UserError(f'{path}: "{spec.id}": a forecast of "{forecast.of}", which is none of {", ".join(listed)}')
    return prediction


# --- the registered words -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A part whose text is not what the registration and its amendments lead to."""

    part: Part
    expected: str
    found: str


def changes(prediction: Prediction, amendments: Iterable[Amendment]) -> list[Change]:
    """The parts of a registered prediction that no amendment accounts for, as sha256 expected and found.

    Amendments are followed in order: one counts where the text it replaces is the one that stood until then, so a
    record that is held twice (here and in a ledger) does no harm.
    """
    registered = prediction.spec.registered
    assert registered is not None
    found = []
    rows = [*prediction.spec.amendment, *amendments]
    for part in PARTS:
        expected = getattr(registered, part)
        for row in rows:
            if row.part == part and sha256_text(row.was) == expected:
                expected = row.now
        stands = sha256_text(prediction.text(part))
        if stands != expected:
            found.append(Change(part, expected, stands))
    return found


def check_forecasts(prediction: Prediction, held: Iterable[str]) -> None:
    """Raise IntegrityError where a forecast that a ledger holds does not stand there any more as it did."""
    stand = {forecast.text for forecast in prediction.spec.forecast}
    for text in held:
        if text not in stand:
            raise IntegrityError(
                f'{prediction.full_id}: the ledger holds a forecast "{text:.120}" that predictions.toml does not; '
                "restore it there, and state another one as a further row"
            )


def check_words(prediction: Prediction, amendments: Iterable[Amendment]) -> None:
    """Raise IntegrityError where the words or the resolver are not the registered ones; nothing if not registered."""
    if prediction.spec.registered is None:
        return
    for change in changes(prediction, amendments):
        what = "wording" if change.part == "wording" else f'resolver "{prediction.spec.resolver}"'
        raise IntegrityError(
            f"{prediction.full_id}: its {what} has sha256 {change.found[:16]}..., and {change.expected[:16]}... was "
            f"registered (on {prediction.spec.registered.on}, with later amendments); restore that text, or say why it "
            f'changed: countback predict amend {prediction.full_id} --reason "..."'
        )


def registration_line(prediction: Prediction, today: date) -> str:
    """The line for predictions.toml that registers a prediction as it stands."""
    hashes = ", ".join(f'{part} = "{sha256_text(prediction.text(part))}"' for part in PARTS)
    return f"registered = {{ on = {today.isoformat()}, {hashes} }}"
