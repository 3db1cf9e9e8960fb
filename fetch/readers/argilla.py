"""Argilla records: responses with a status for each (API and version 1), or by question (version 2, and flattened)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.readers.answers import Answers, Collector
from countback.fetch.readers.options import Options
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source, as_list, as_object, plain

_STATES = {"submitted": "valid", "discarded": "discarded", "draft": "draft", "pending": "not_asked"}
Response = tuple[str, str, str, str]  # question, user, state, label


def argilla_answers(sources: Sequence[Source], options: Options, tally: Tally) -> Answers:
    """One answer for each response to each question; suggestions are judges. A discarded response is kept as such."""
    out = Collector()
    for source in sources:
        value = source.value
        records = as_list([value] if isinstance(value, dict) else value, source.name)
        questions = _questions(records, source.name)
        for i, raw in enumerate(records):
            where = f"{source.name}: record {i}"
            record = as_object(raw, where)
            tally.read["records"] += 1
            item = _from(record, options.column("item"), where) or plain(record.get("id"))
            place: dict[str, Any] = {
                "item": item,
                "country": _from(record, options.column("country"), where),
                "file": source.name,
            }
            for question, user, state, label in _responses(record, questions, tally, where):
                out.add(**place, annotator=user, label=label, question=question, state=state)
            for question, agent, label in _suggestions(record, where):
                tally.read["suggestions"] += 1
                out.add(**place, annotator=f"model:{agent or 'unnamed'}", label=label, question=question, judge=True)
    return out.answers()


def _from(record: dict[str, Any], key: str | None, where: str) -> str:
    """A value told by name, at the top of the record or in its fields or metadata."""
    if key is None:
        return ""
    for place in (record, record.get("metadata"), record.get("fields")):
        if isinstance(place, dict) and key in place:
            return plain(place[key])
    raise UserError(f"{where} has no {key!r}, at its top, in its metadata or in its fields.")


def _questions(records: list[Any], name: str) -> list[str]:
    """Every question that any response answers: a discarded response names none."""
    found: dict[str, None] = {}
    for i, raw in enumerate(records):
        record = as_object(raw, f"{name}: record {i}")
        responses = record.get("responses")
        if isinstance(responses, dict):
            found.update(dict.fromkeys(responses))
        elif isinstance(responses, list):
            for r in responses:
                values = r.get("values") if isinstance(r, dict) else None
                found.update(dict.fromkeys(values if isinstance(values, dict) else ()))
        found.update(dict.fromkeys(k.removesuffix(".responses") for k in record if k.endswith(".responses")))
    return list(found)


def _responses(record: dict[str, Any], questions: list[str], tally: Tally, where: str) -> Iterator[Response]:
    responses = record.get("responses")
    if isinstance(responses, list):
        for i, raw in enumerate(responses):
            response = as_object(raw, f"{where}.responses[{i}]")
            yield from _of_user(response, questions, tally, f"{where}.responses[{i}]")
    elif isinstance(responses, dict):
        for question, given in responses.items():
            for i, raw in enumerate(as_list(given, f"{where}.responses.{question}")):
                response = as_object(raw, f"{where}.responses.{question}[{i}]")
                tally.read["responses"] += 1
                yield (
                    question,
                    _user(response),
                    _state(response.get("status"), tally, where),
                    plain(response.get("value")),
                )
    for question in questions:
        if f"{question}.responses" in record:
            yield from _flattened(record, question, tally, where)


def _of_user(response: dict[str, Any], questions: list[str], tally: Tally, where: str) -> Iterator[Response]:
    """One user's answers to all questions, under one status."""
    tally.read["responses"] += 1
    state = _state(response.get("status"), tally, where)
    values = as_object(response.get("values") or {}, f"{where}.values")
    for question in questions or [""]:
        held = values.get(question)
        value = held.get("value") if isinstance(held, dict) else held
        yield question, _user(response), state, plain(value)


def _flattened(record: dict[str, Any], question: str, tally: Tally, where: str) -> Iterator[Response]:
    values, users, statuses = (
        as_list(record.get(f"{question}.responses{end}"), f"{where}: {question}.responses{end}")
        for end in ("", ".users", ".status")
    )
    if len(users) != len(values):
        raise UserError(f"{where}: {question!r} has {len(values)} responses and {len(users)} users; expected one each.")
    for i, (value, user) in enumerate(zip(values, users, strict=True)):
        tally.read["responses"] += 1
        status = statuses[i] if i < len(statuses) else None
        yield question, plain(user), _state(status, tally, where), plain(value)


def _suggestions(record: dict[str, Any], where: str) -> Iterator[tuple[str, str, str]]:
    held = record.get("suggestions")
    if isinstance(held, dict):
        held = [{"question_name": q, **s} for q, s in held.items() if isinstance(s, dict)]
    for i, raw in enumerate(as_list(held, f"{where}.suggestions")):
        suggestion = as_object(raw, f"{where}.suggestions[{i}]")
        yield plain(suggestion.get("question_name")), plain(suggestion.get("agent")), plain(suggestion.get("value"))
    for key, value in record.items():
        if key.endswith(".suggestion") and value is not None:
            yield key.removesuffix(".suggestion"), plain(record.get(f"{key}.agent")), plain(value)


def _user(response: dict[str, Any]) -> str:
    return plain(response.get("user_id") if response.get("user_id") is not None else response.get("user"))


def _state(status: object, tally: Tally, where: str) -> str:
    if status is None:
        why = "Responses without a status: a discarded one and a draft look like a submitted one."
        if why not in tally.unknown:
            tally.cannot_know(why, "discarded", "draft")
        return "valid"
    if plain(status) not in _STATES:
        raise UserError(f"{where}: the status {plain(status)!r} is not known; expected {', '.join(_STATES)}.")
    return _STATES[plain(status)]
