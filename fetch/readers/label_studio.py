"""Label Studio exports: the full JSON, which shows what was skipped; JSON-MIN and CSV, which do not.

An annotation answers every question of the project: with a label, a blank, or a skip. Results that are not an answer
about the whole item (spans, regions, free text) are set aside and counted; `results` lists every one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.readers.answers import Answers, Collector
from countback.fetch.readers.discover import listed
from countback.fetch.readers.options import Options
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source, as_list, as_object, plain

# Types of result whose value is about the whole item, and the key of the value that holds the answer.
ITEM_TYPES = {
    "choices": "choices",
    "taxonomy": "taxonomy",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
}
PATH = " > "
_ID_AT_END = re.compile(r", (\d+)$")


@dataclass(frozen=True)
class Result:
    """One result of one annotation, draft or prediction, as it stands in the export."""

    task: str
    source: str  # "annotation", "draft" or "prediction"
    source_id: str
    question: str
    type: str
    value: dict[str, Any]

    def labels(self) -> list[str] | None:
        """The labels it gives to the whole item; None where it is about a part of it, or is free text."""
        key = ITEM_TYPES.get(self.type)
        if key is None or set(self.value) != {key}:
            return None
        answers = self.value[key] if isinstance(self.value[key], list) else [self.value[key]]
        return [PATH.join(map(plain, a)) if isinstance(a, list) else plain(a) for a in answers]


def results(source: Source) -> list[Result]:
    """Every result in a full JSON export, spans and regions too."""
    found: list[Result] = []
    for task, where in _tasks(source):
        for kind in ("annotation", "draft", "prediction"):
            for i, owner in enumerate(as_list(task.get(f"{kind}s"), f"{where}.{kind}s")):
                if isinstance(owner, dict):
                    found += _results_of(owner, kind, plain(task.get("id")), f"{where}.{kind}s[{i}]")
    return found


def label_studio_answers(sources: Sequence[Source], options: Options, tally: Tally) -> Answers:
    """The answers of one or more full JSON exports; the same annotation in two files is read once."""
    questions = _questions(sources, options)
    people = _People()
    for source in sources:
        for task, where in _tasks(source):
            for annotation in as_list(task.get("annotations"), f"{where}.annotations"):
                people.learn(annotation)
    reading = _Reading(options, tally, people, questions)
    for source in sources:
        for task, where in _tasks(source):
            reading.task(task, source.name, where)
    if not questions and not len(reading.out.answers()):
        tally.notes.append("no result is an answer about a whole item; everything was set aside")
    return reading.out.answers()


def _tasks(source: Source) -> Iterator[tuple[dict[str, Any], str]]:
    value = source.value
    for i, task in enumerate(as_list([value] if isinstance(value, dict) else value, source.name)):
        yield as_object(task, f"{source.name}: task {i}"), f"{source.name}: task {i}"


def _results_of(owner: dict[str, Any], kind: str, task: str, where: str) -> list[Result]:
    out = []
    for i, raw in enumerate(as_list(owner.get("result"), f"{where}.result")):
        result = as_object(raw, f"{where}.result[{i}]")
        value = result.get("value")
        held = value if isinstance(value, dict) else {}
        name, type_ = plain(result.get("from_name")), plain(result.get("type"))
        out.append(Result(task, kind, plain(owner.get("id")), name, type_, held))
    return out


def _questions(sources: Sequence[Source], options: Options) -> list[str]:
    """The questions that any result answers, or those the codebook or the options name."""
    told = options.listed("questions")
    if told:
        return told
    found = dict.fromkeys(r.question for s in sources for r in results(s) if r.labels() is not None)
    allowed = options.codebook.allowed
    return list(found if allowed is None else allowed)


class _People:
    """Who the annotators are: an id where there is one; an e-mail address is only a way to find it."""

    def __init__(self) -> None:
        self.ids: dict[str, set[str]] = {}

    def learn(self, annotation: object) -> None:
        who = annotation.get("completed_by") if isinstance(annotation, dict) else None
        if isinstance(who, dict) and who.get("id") is not None and who.get("email"):
            self.ids.setdefault(plain(who["email"]).casefold(), set()).add(plain(who["id"]))

    def id_of(self, who: object) -> str:
        """The id, an e-mail address that no id is known for, or "" where nobody is named."""
        if isinstance(who, dict):
            who = who.get("id") if who.get("id") is not None else who.get("email") or who.get("username")
        text = plain(who)
        ids = self.ids.get(text.casefold(), set())
        return next(iter(ids)) if len(ids) == 1 else text


class _Reading:
    """One pass over tasks; what is found goes to `out` and to the tally."""

    def __init__(self, options: Options, tally: Tally, people: _People, questions: list[str]) -> None:
        self.options, self.tally, self.people, self.questions = options, tally, people, questions
        self.out = Collector()
        self.seen: set[str] = set()

    def task(self, task: dict[str, Any], file: str, where: str) -> None:
        tally = self.tally
        tally.read["tasks"] += 1
        data = as_object(task.get("data") or {}, f"{where}.data")
        item_key, country_key = self.options.column("item"), self.options.column("country")
        item = plain(task.get("id")) if item_key is None else self._data(data, item_key, where)
        country = "" if country_key is None else self._data(data, country_key, where)
        place: dict[str, Any] = {"item": item, "country": country, "file": file}
        annotations = as_list(task.get("annotations"), f"{where}.annotations")
        if not annotations:
            tally.flags["tasks without an annotation"] += 1
        for i, annotation in enumerate(annotations):
            self._annotation(annotation, place, f"{where}.annotations[{i}]")
        for i, draft in enumerate(as_list(task.get("drafts"), f"{where}.drafts")):
            self._draft(draft, place, f"{where}.drafts[{i}]")
        for i, prediction in enumerate(as_list(task.get("predictions"), f"{where}.predictions")):
            self._prediction(prediction, place, f"{where}.predictions[{i}]")

    @staticmethod
    def _data(data: dict[str, Any], key: str, where: str) -> str:
        if key not in data:
            raise UserError(f"{where}: the data has no {key!r}; it has {listed([str(k) for k in data])}.")
        return plain(data[key])

    def _annotation(self, annotation: object, place: dict[str, Any], where: str) -> None:
        tally = self.tally
        if not isinstance(annotation, dict):
            tally.refused["annotations exported as ids only"] += 1
            return
        identity = plain(annotation.get("id"))
        if identity and identity in self.seen:
            tally.refused["annotations that another task or file holds too (same id)"] += 1
            return
        self.seen.add(identity)
        tally.read["annotations"] += 1
        for key in ("reviews", "history"):
            tally.read[key] += len(as_list(annotation.get(key), f"{where}.{key}"))
        self._flag(annotation)
        who = self.people.id_of(annotation.get("completed_by"))
        cancelled = bool(annotation.get("was_cancelled") or annotation.get("skipped"))
        tally.read["skipped annotations"] += cancelled
        given = self._take(_results_of(annotation, "annotation", place["item"], where))
        for question in self.questions or ([""] if cancelled else []):
            self.out.add(
                **place,
                annotator=who,
                label=_cell(given.get(question, [])),
                question=question,
                state="skipped" if cancelled else "valid",
                seconds=annotation.get("lead_time"),
                time=annotation.get("updated_at") or annotation.get("created_at"),
            )

    def _flag(self, annotation: dict[str, Any]) -> None:
        flags = self.tally.flags
        flags["human edited a model answer"] += annotation.get("parent_prediction") is not None
        flags["human edited another annotation"] += annotation.get("parent_annotation") is not None
        flags["marked as ground truth"] += bool(annotation.get("ground_truth"))
        flags["rejected by a reviewer"] += annotation.get("last_action") == "rejected"
        if isinstance(who := annotation.get("completed_by"), dict):
            self.tally.pii += [f"completed_by.{k}" for k in ("email", "first_name", "last_name") if k in who]

    def _draft(self, draft: object, place: dict[str, Any], where: str) -> None:
        draft = as_object(draft, where)
        self.tally.read["drafts"] += 1
        found = _results_of(draft, "draft", place["item"], where)
        if draft.get("annotation") is not None:
            self.tally.read["results"] += len(found)
            self.tally.set_aside["results in drafts of an annotation that was submitted"] += len(found)
            self.tally.flags["drafts of an annotation that was submitted"] += 1
            return
        given = self._take(found)
        named = _ID_AT_END.search(plain(draft.get("created_username")))
        who = named.group(1) if named else self.people.id_of(draft.get("user"))
        self.tally.pii += [f"drafts.{key}" for key in ("user", "created_username") if key in draft]
        for question in self.questions or [""]:
            label = _cell(given.get(question, []))
            seconds = draft.get("lead_time")
            self.out.add(**place, annotator=who, label=label, question=question, state="draft", seconds=seconds)

    def _prediction(self, prediction: object, place: dict[str, Any], where: str) -> None:
        if not isinstance(prediction, dict):
            self.tally.refused["predictions exported as ids only"] += 1
            return
        self.tally.read["predictions"] += 1
        model = "model:" + (plain(prediction.get("model_version")) or "unnamed")
        for question, labels in self._take(_results_of(prediction, "prediction", place["item"], where)).items():
            self.out.add(**place, annotator=model, label=_cell(labels), question=question, judge=True)

    def _take(self, found: list[Result]) -> dict[str, list[str]]:
        """Labels by question; every other result is counted as set aside, by type and question."""
        given: dict[str, list[str]] = {}
        for result in found:
            self.tally.read["results"] += 1
            labels = result.labels()
            if labels is not None and result.question in self.questions:
                self.tally.read["results that are answers"] += 1
                given.setdefault(result.question, []).extend(labels)
            else:
                part = " about a part of the item" if result.type in ITEM_TYPES and labels is None else ""
                self.tally.set_aside[f"results of type {result.type}{part}, question {result.question!r}"] += 1
        return given


def _cell(labels: list[str]) -> str:
    """The labels as one cell: as it stands where there is one, a JSON list where there are more."""
    return labels[0] if len(labels) == 1 else plain(labels) if labels else ""


MIN_KEYS = ("annotation_id", "annotator")
HIDDEN = ("skipped", "draft", "discarded", "not_asked")  # the states that JSON-MIN and CSV leave out
_NOT_QUESTIONS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "meta")


def json_min_answers(sources: Sequence[Source], options: Options, tally: Tally) -> Answers:
    """The answers of JSON-MIN exports: an object per annotation, with the task's data and the answers side by side."""
    lose_skips(tally)
    out = Collector()
    for source in sources:
        value = source.value
        rows = as_list([value] if isinstance(value, dict) else value, source.name)
        rows = [as_object(row, f"{source.name}: row {i}") for i, row in enumerate(rows)]
        keys = list(dict.fromkeys(key for row in rows for key in row if key not in _NOT_QUESTIONS))
        questions = min_questions(keys, options, source.name)
        item, country = options.column("item") or "id", options.column("country")
        for row in rows:
            tally.read["annotations"] += 1
            for question in questions:
                out.add(
                    plain(row.get(item)),
                    _People().id_of(row.get("annotator")),
                    plain(row.get(question)),
                    question=question,
                    country=plain(row.get(country)) if country else "",
                    file=source.name,
                    seconds=row.get("lead_time"),
                    time=row.get("updated_at") or row.get("created_at"),
                )
    return out.answers()


def lose_skips(tally: Tally) -> None:
    """What JSON-MIN and CSV cannot show."""
    tally.cannot_know("Skips cannot be recovered from this format; n_skipped is unknown.", *HIDDEN)
    tally.notes.append("export as JSON to keep skipped annotations, drafts and predictions")


def min_questions(keys: list[str], options: Options, name: str) -> list[str]:
    """Which keys are questions: told, or named by the codebook. Raises UserError where neither says."""
    label = options.column("label")
    told = options.listed("questions") or ([label] if label else None)
    told = told or [question for question in options.codebook.allowed or () if question in keys]
    if not told:
        raise UserError(
            f"{name}: this export puts the task's data and the answers side by side, so which of them are questions "
            f"cannot be told. Name them: columns={{'questions': [...]}}. It has {listed(keys)}."
        )
    absent = [q for q in told if q not in keys]
    if absent:
        raise UserError(f"{name} has no question {absent[0]!r}; it has {listed(keys)}.")
    return told
