"""Deciding a prediction and accounting for changed words: what `predict resolve` and `predict amend` write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from countback.audit import ledger
from countback.audit.diff import recorded
from countback.audit.ledger import Entry
from countback.audit.predict import Book, Tell, about, amendments, count, decision_json, forecasts
from countback.audit.run import Data, Run, kit
from countback.audit.sources import Sources
from countback.claims.decision import OPEN, VOID, Decision
from countback.claims.prediction import (
    PARTS,
    Evidence,
    Prediction,
    PrintedSpec,
    changes,
    check_forecasts,
    check_words,
    instant_text,
    load_predictions,
    sha256_text,
)
from countback.claims.resolve_lead import LeadRule
from countback.claims.settling import read_evidence, read_instant
from countback.claims.spec import read_text
from countback.fetch.errors import IntegrityError, UserError

TABLES = (".csv", ".json")


@dataclass(frozen=True)
class Request:
    """What `predict resolve` was given. `outcome`: the word that the user expects, or void; `labels`: ordered, of a
    label table."""

    data: Path | None = None
    released: str = ""
    source: str = ""
    reason: str = ""
    outcome: str = ""
    labels: tuple[str, ...] = ()


def resolve_all(books: Sequence[Book], request: Request, path: Path, tell: Tell) -> list[Entry]:
    """Resolve every prediction of the books; an error stops before the next."""
    return [resolve(book, prediction, request, path, tell) for book in books for prediction in book.predictions]


def resolve(book: Book, prediction: Prediction, request: Request, path: Path, tell: Tell) -> Entry:
    """Decide a prediction and append the outcome. Raises UserError where the data or the request cannot decide it."""
    status = _checked(book, prediction, path)
    if request.outcome and request.outcome not in prediction.can_give:
        raise UserError(
            f"{prediction.full_id}: its resolver cannot give {request.outcome!r}; expected one of "
            f"{', '.join(prediction.can_give)}"
        )
    if status and not request.reason:
        raise UserError(
            f"{prediction.full_id}: resolved as {status[-1].body['outcome']} on {status[-1].at.date()}; say with "
            "--reason why it is resolved again (both stay in the ledger)"
        )
    if request.outcome == VOID and request.data is None:
        body = _void(prediction, request)
    else:
        body = _decided(book, prediction, request)
    register(path, [prediction], tell)
    return ledger.append(path, "resolution", body, tell)


def _checked(book: Book, prediction: Prediction, path: Path) -> list[Entry]:
    """Earlier resolutions, once the ledger and the words are found whole."""
    entries = about(ledger.open_ledger(path), "resolution", "amendment").get(prediction.full_id, [])
    if prediction.spec.registered is None:
        raise UserError(
            f"{prediction.full_id}: it is not registered; put the line that `countback predict {book.spec.id}` shows "
            "into predictions.toml first"
        )
    check_words(prediction, amendments(entries))
    return [entry for entry in entries if entry.kind == "resolution"]


def _void(prediction: Prediction, request: Request) -> dict[str, Any]:
    if not request.reason:
        raise UserError(f"{prediction.full_id}: void needs --reason: what did not happen, or why nothing can decide it")
    return _body(prediction, VOID, request, "", {}, None)


def _decided(book: Book, prediction: Prediction, request: Request) -> dict[str, Any]:
    happened = _instant(prediction, request)
    if not request.source.strip():
        raise UserError(f"{prediction.full_id}: --source is missing; expected where the data was published")
    data, decision = _evidence(book, prediction, request, happened)
    if decision.outcome == OPEN:
        undecided = ", ".join(c.id for c in decision.criteria if c.holds is None)
        raise UserError(
            f"{prediction.full_id}: this data leaves {undecided} open, and {', '.join(decision.possible)} possible; "
            f"expected data that decides: {prediction.spec.settles}",
            exit_code=3,
        )
    if request.outcome and request.outcome != decision.outcome:
        raise UserError(
            f"{prediction.full_id}: the data gives {decision.outcome}, not {request.outcome}; nothing written"
        )
    return _body(prediction, decision.outcome, request, instant_text(happened), data, decision)


def _instant(prediction: Prediction, request: Request) -> datetime:
    """When the trigger came. It lies after the prediction and not in the future."""
    if not request.released:
        raise UserError(
            f"{prediction.full_id}: --released is missing; expected the instant at which the data came out, such as "
            "2027-03-01T12:00:00Z"
        )
    happened = read_instant(request.released, "--released")
    if happened.date() <= prediction.spec.made:
        raise UserError(f"--released: {request.released} is not after the day it was predicted, {prediction.spec.made}")
    if happened > ledger.now():
        raise UserError(f"--released: {request.released} lies in the future; expected an instant that has passed")
    return happened


def _evidence(
    book: Book, prediction: Prediction, request: Request, happened: datetime
) -> tuple[dict[str, Any], Decision]:
    """What the data is, for the record, and what it decides."""
    given, of_leads = request.data, isinstance(prediction.rule, LeadRule)
    if given is not None and given.is_file() and (given.suffix.lower() in TABLES or not of_leads):
        read = read_evidence(given, prediction, request.labels)
        _holds_the_printed(read.evidence, prediction, book.printed, str(given))
        digest = hashlib.sha256(given.read_bytes()).hexdigest()
        record = {"table": given.name, "sha256": digest, "rows": list(read.rows)}
        return record, prediction.decide(read.evidence, happened)
    if not of_leads:
        raise UserError(
            f"{prediction.full_id}: --data is no file; expected labels of crossed items, or a JSON file with the share"
        )
    folder = _pinned_folder(book, given)
    counted, used = count(book, prediction, Data(Sources(folder, offline=True).locate(book.paper)))
    _holds_the_printed(counted.leads, prediction, book.printed, f"the release of {book.spec.id}")
    if counted.synthetic:
        raise UserError(f"{prediction.full_id}: this release is a synthetic stand-in; it never decides a prediction")
    for located in used:
        strange = (
            folder is not None and located.path is not None and folder.resolve() not in located.path.resolve().parents
        )
        if located.status != "verified" or strange:
            where = f"{folder} holds no such file" if strange else f"found {located.sha256}"
            raise IntegrityError(
                f"{located.pin.name}: expected {located.pin.expected()}; {where}: nothing is decided by it"
            )
    files = [{"file": f.pin.name, "sha256": f.sha256, "status": f.status} for f in used]
    return {"files": files}, prediction.decide(counted.leads, happened)


def _holds_the_printed(evidence: Evidence, prediction: Prediction, printed: Sequence[PrintedSpec], source: str) -> None:
    """Raise UserError where a table has no room left for countries that the paper prints: it names others instead.

    A table of some countries is no mistake, so only what could not be completed to the rule's number is refused.
    """
    rule = prediction.rule
    if not isinstance(rule, LeadRule) or not isinstance(evidence, tuple):
        return
    named = {name for lead in evidence for name in lead.countries}
    known = [name for row in printed for name in row.countries]
    absent = [name for name in known if name not in named]
    total = rule.countries + len(rule.leave_out)
    if len(named) + len(absent) > total:
        raise UserError(
            f"{source}: found {len(named)} countries without {' and '.join(absent)}, whose counts the paper prints; "
            f"expected at most {total} with {'it' if len(absent) == 1 else 'them'} among: check the spelling of "
            f"{', '.join(sorted(named - set(known)))}"
        )


def _pinned_folder(book: Book, given: Path | None) -> Path | None:
    """The folder to look in. Raises IntegrityError for a single file that no pin of the paper's releases proves."""
    if given is None or given.is_dir():
        return given
    digest = hashlib.sha256(given.read_bytes()).hexdigest()
    if digest not in {pin.sha256 for release in book.paper.releases for pin in release.files}:
        raise IntegrityError(
            f"{given}: sha256 {digest} is pinned by no [[release.file]] of {book.spec.id}; pin it there once it is "
            "reviewed, or give its counts as a table"
        )
    return given.parent


def _body(
    prediction: Prediction,
    outcome: str,
    request: Request,
    happened: str,
    data: dict[str, Any],
    decision: Decision | None,
) -> dict[str, Any]:
    return {
        "prediction": prediction.full_id,
        "outcome": outcome,
        "happened": happened,
        "source": request.source,
        "reason": request.reason,
        "data": data,
        "criteria": decision_json(decision)["criteria"] if decision else [],
        **{part: sha256_text(prediction.text(part)) for part in PARTS},
        "versions": kit(),
    }


# --- words on record ----------------------------------------------------------------------------------------------


def record_run(run: Run, given: Path | None, tell: Tell) -> Entry:
    """Append an audit run, and the registered words of its papers' predictions."""
    path = ledger.ledger_path(given)
    for paper in run.papers:
        register(path, load_predictions(paper.folder, paper.id)[0], tell)
    return ledger.append(path, "check", recorded(run), tell)


def register(path: Path, predictions: Iterable[Prediction], tell: Tell) -> None:
    """Keep the whole registered texts and the forecasts in the ledger, once, so that a later change shows both."""
    entries = about(ledger.open_ledger(path), "registration")
    held = {
        (name, *(sha256_text(entry.body[part]) for part in PARTS), *forecasts([entry]))
        for name, registrations in entries.items()
        for entry in registrations
    }
    for prediction in predictions:
        texts: dict[str, str] = {part: prediction.text(part) for part in PARTS}
        if prediction.spec.registered is None:
            continue
        check_forecasts(prediction, forecasts(entries.get(prediction.full_id, [])))
        stated = [forecast.text for forecast in prediction.spec.forecast]
        if (prediction.full_id, *map(sha256_text, texts.values()), *stated) not in held:
            on = prediction.spec.registered.on.isoformat()
            body = {"prediction": prediction.full_id, "on": on, **texts, "forecasts": stated}
            ledger.append(path, "registration", body, tell)


def amend_one(books: Sequence[Book], reason: str, was: Sequence[Path], path: Path, tell: Tell) -> list[Entry]:
    """`amend` of the one prediction that the books hold. Raises UserError where there are several."""
    predictions = [prediction for book in books for prediction in book.predictions]
    if len(predictions) != 1:
        raise UserError(f"found {len(predictions)} predictions; expected one, named as PAPER/ID")
    if not reason.strip():
        raise UserError("--reason is empty; expected why the registered text was changed")
    return amend(predictions[0], reason, was, path, ledger.now().date(), tell)


def amend(prediction: Prediction, reason: str, was: Sequence[Path], path: Path, today: date, tell: Tell) -> list[Entry]:
    """Account for every part whose text changed since registration. Raises UserError where an old text is not known.

    The old text is looked for in the ledger, then in the files `was`; its sha256 proves it.
    """
    if prediction.spec.registered is None:
        raise UserError(f"{prediction.full_id}: it is not registered, so its words may still change without a record")
    chain = ledger.open_ledger(path)
    earlier = about(chain, "amendment").get(prediction.full_id, [])
    changed = changes(prediction, amendments(earlier))
    if not changed:
        raise UserError(f"{prediction.full_id}: nothing to amend; wording and resolver are those on record")
    held = [entry for entries in about(chain, "registration").values() for entry in entries]
    texts: list[str] = [entry.body[part] for entry in held for part in PARTS]
    texts += [entry.body["text"] for entry in earlier] + [text for file in was for text in _texts(file)]
    known: dict[str, str] = {sha256_text(text): text for text in texts}
    for change in changed:
        if change.expected not in known:
            raise UserError(
                f"{prediction.full_id}: the {change.part} as it was (sha256 {change.expected}) is not in this ledger; "
                "give the old text with --was FILE"
            )
    entries = []
    for change in changed:
        body = {
            "prediction": prediction.full_id,
            "part": change.part,
            "on": today.isoformat(),
            "reason": reason,
            "was": known[change.expected],
            "now": change.found,
            "text": prediction.text(change.part),
        }
        entries.append(ledger.append(path, "amendment", body, tell))
    return entries


def _texts(file: Path) -> tuple[str, str]:
    """A file as it is, and as the text of a resolver is hashed."""
    text = read_text(file)
    return text, "".join(f"{line.rstrip()}\n" for line in text.splitlines())
