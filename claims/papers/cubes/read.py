"""The CuBEs release as released, read into a LabelTable, a rollout table and a report that accounts for every slot.

The article prints the fields of the files (human: options, annotations, choice, lead_time_seconds; judge: a Label
Studio export) and no more. Country keys, id types, where the question sits and any further key are found in the data
and reported; a shape that is neither as printed nor understood stops the reading with what was found.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countback.claims.papers.cubes.discover import QUESTIONS, behaviour_fields, country_name, question_fields
from countback.claims.papers.cubes.files import MARKER, get, load_json, members, read_file, shape, utf8
from countback.claims.papers.cubes.rollouts import RolloutTable, read_scores
from countback.fetch.codebook import Codebook
from countback.fetch.errors import UserError
from countback.fetch.labels import HUMAN, JUDGE, LabelTable

LABELS = ("A", "B", "C")  # strictest first: exhibits, partially, does not
HUMAN_FILE, JUDGE_FILE, SCORES_FILE = "human_annotations.json", "llm_annotations.json", "scores.csv"
LABEL_RESULT = "vignette_label"
# Words that an export may put for nothing; in this release they can only be free text, so they are blanks.
_CODEBOOK = Codebook.of(LABELS, missing=dict.fromkeys(("None", "nan", "NaN", "NaT", "<NA>"), "blank"))
_BLANK_PANEL = re.compile(
    r"\b(blank|empty|not? (load\w*|show\w*|display\w*|appear\w*)|did not load|missing|nothing)\b", re.I
)


@dataclass(frozen=True)
class JudgeAlignmentReport:
    """What was found where, every count that the article states of the release, and what is odd.

    slots: country -> reason -> number of human label slots ("valid" among them); items: country -> tasks.
    pools: country -> distinct annotators with any slot. unmatched: items without a judge task; spare_judge_tasks:
    judge tasks without an item. free_texts: (item, text) of slots that hold neither a label nor nothing; blank_panel:
    items on which one of them has words like blank, which a person should read.
    """

    source: str
    synthetic: bool
    country_keys: Mapping[str, str]
    slots: Mapping[str, Mapping[str, int]]
    items: Mapping[str, int]
    pools: Mapping[str, int]
    labels_per_item: Mapping[str, Mapping[int, int]]
    judges: tuple[str, ...]
    unmatched: tuple[str, ...]
    spare_judge_tasks: tuple[str, ...]
    no_valid_label: tuple[str, ...]
    blank_panel: tuple[str, ...]
    free_texts: tuple[tuple[str, str], ...]
    question_field: str | None
    behaviour_field: str | None
    behaviour_of: Mapping[str, str]
    notes: tuple[str, ...]

    def total(self, reason: str | None = None) -> int:
        """Human slots in all countries, or those with one reason."""
        return sum(n for c in self.slots.values() for r, n in c.items() if reason in (None, r))


@dataclass(frozen=True)
class _Row:
    item: str
    country: str
    annotator: str
    kind: int
    raw: str | None
    reason: str = ""
    seconds: float = float("nan")


@dataclass
class _Found:
    """What the walk through both files gathers."""

    rows: list[_Row]
    texts: dict[str, dict[str, str]]  # human item -> its scalar fields, the matched judge task's among them
    country_of: dict[str, str]
    unmatched: list[str]
    spare: list[str]
    notes: Counter[str]


def read_judge_alignment(
    path: Path | str, *, question_field: str | None = None
) -> tuple[LabelTable, JudgeAlignmentReport]:
    """Both JSON files of the judge-alignment archive (a zip or the folder it unpacks to).

    `question_field` names the field that holds the question where the data alone does not tell. Raises UserError
    for a shape that is not understood. A judge's rows carry kind 1; an annotator is named "country/id", because
    ids may restart in every country.
    """
    held = members(Path(path), (HUMAN_FILE, JUDGE_FILE))
    human, judge = (load_json(held[name], f"{path}: {name}") for name in (HUMAN_FILE, JUDGE_FILE))
    found = _Found([], {}, {}, [], [], Counter())
    keys = _country_keys(human, judge)
    for key in keys:
        _read_country(keys[key], _tasks(human, key, HUMAN_FILE), _tasks(judge, key, JUDGE_FILE), found)
        _compare_declared(human[key], keys[key], found)
    question, field, behaviour, behaviour_of = _questions(found, question_field)
    rows = found.rows
    table = LabelTable.from_arrays(
        item=[r.item for r in rows],
        annotator=[r.annotator for r in rows],
        label=[r.raw for r in rows],
        codebook=_CODEBOOK,
        question=[question.get(r.item, "") for r in rows],
        country=[r.country for r in rows],
        kind=[r.kind for r in rows],
        reason=[r.reason for r in rows],
        seconds=[r.seconds for r in rows],
    )
    return table, _report(str(path), MARKER in held, keys, found, table, (field, behaviour), behaviour_of)


def read_rollouts(path: Path | str) -> RolloutTable:
    """scores.csv of the rollout archive (a zip, a folder, or the file itself) into a RolloutTable."""
    path = Path(path)
    held = {SCORES_FILE: read_file(path)} if path.suffix == ".csv" else members(path, (SCORES_FILE,))
    source = f"{path}: {SCORES_FILE}"
    return read_scores(utf8(held[SCORES_FILE], source), source, synthetic=MARKER in held)


def _country_keys(human: Mapping[str, Any], judge: Mapping[str, Any]) -> dict[str, str]:
    if set(human) != set(judge):
        raise UserError(
            f"{HUMAN_FILE} has the countries {', '.join(human)}; {JUDGE_FILE} has {', '.join(judge)}. "
            "Expected the same keys in both."
        )
    keys = {key: country_name(key) for key in human}
    if len(set(keys.values())) < len(keys):
        raise UserError(f"Two of the country keys {', '.join(keys)} mean one country; expected one key each.")
    return keys


def _tasks(file: Mapping[str, Any], key: str, name: str) -> list[dict[str, Any]]:
    country = file[key]
    tasks = country.get("tasks") if isinstance(country, dict) else None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError(f"{name}, {key!r} is a {shape(country)}; expected an object whose tasks are a list of objects.")
    return tasks


def _read_country(
    country: str, humans: Sequence[Mapping[str, Any]], judged: Sequence[Mapping[str, Any]], found: _Found
) -> None:
    by_option: dict[str, int] = {}
    for place, task in enumerate(judged):
        option = get(task, ("data", "option_a"), str, f"{JUDGE_FILE}, {country}, task {place + 1}").strip()
        if option in by_option:
            found.notes[
                f"{country}: two judge tasks share option A; the later one is used, as the article's script does"
            ] += 1
        by_option[option] = place
    used: Counter[int] = Counter()
    for place, task in enumerate(humans):
        where = f"{HUMAN_FILE}, {country}, task {place + 1}"
        item = f"{country}/{place + 1:02d}"
        option = get(task, ("options", "A"), str, where).strip()
        found.country_of[item] = country
        found.texts[item] = _scalars(task, "")
        found.rows.extend(_human_rows(item, country, task, where, found.notes))
        _note_extra(task, ("pod_title", "options", "annotations"), "human task", found.notes)
        match = by_option.get(option)
        if match is None:
            found.unmatched.append(item)
            continue
        used[match] += 1
        found.texts[item] |= _scalars(get(judged[match], ("data",), dict, where), "data.")
        found.rows.extend(_judge_rows(item, country, judged[match], match, found.notes))
    found.spare += [f"{country}, judge task {p + 1}" for p in by_option.values() if not used[p]]
    if shared := sum(n - 1 for n in used.values()):
        found.notes[f"{country}: items that share their judge task with another item"] += shared


def _human_rows(item: str, country: str, task: Mapping[str, Any], where: str, notes: Counter[str]) -> Iterator[_Row]:
    labelled: set[str] = set()
    seen: set[str] = set()
    for slot in get(task, ("annotations",), list, where):
        annotator = f"{country}/{_annotator_id(get(slot, ('annotator',), object, where), where, notes)}"
        choice = slot.get("choice")
        if choice is not None and not isinstance(choice, str):
            raise UserError(f"{where}: choice is a {shape(choice)}; expected a text or nothing.")
        _note_extra(slot, ("annotator", "choice", "lead_time_seconds"), "human annotation", notes)
        if "choice" not in slot:
            notes["human annotations without the key choice; read as blank"] += 1
        if annotator in seen:
            notes[f"{country}: slots of an annotator who already has one on that item"] += 1
        seen.add(annotator)
        again = choice in LABELS and annotator in labelled
        if choice in LABELS:
            labelled.add(annotator)
        seconds = _seconds(slot.get("lead_time_seconds"), where, notes)
        yield _Row(item, country, annotator, HUMAN, choice, "duplicate" if again else "", seconds)


def _annotator_id(value: object, where: str, notes: Counter[str]) -> str:
    """The id as text; an e-mail address becomes the start of its hash, so that no person's address travels on."""
    if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
        raise UserError(f"{where}: annotator is a {shape(value)}; expected a text or a whole number.")
    notes[f"annotator ids are {'texts' if isinstance(value, str) else 'whole numbers'}"] += 1
    text = str(value)
    if "@" in text:
        notes["annotator ids that look like e-mail addresses; hashed"] += 1
        text = hashlib.sha256(text.encode()).hexdigest()[:12]
    return text


def _seconds(value: object, where: str, notes: Counter[str]) -> float:
    if value is None:
        notes["human annotations without a lead time"] += 1
        return float("nan")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise UserError(f"{where}: lead_time_seconds is a {shape(value)}; expected a number of seconds or nothing.")
    if value < 0:
        notes["negative lead times; read as unknown"] += 1
        return float("nan")
    return float(value)


def _judge_rows(item: str, country: str, task: Mapping[str, Any], place: int, notes: Counter[str]) -> Iterator[_Row]:
    where = f"{JUDGE_FILE}, {country}, task {place + 1}"
    latest: dict[str, _Row] = {}
    for annotation in get(task, ("annotations",), list, where):
        judge = get(annotation, ("completed_by", "username"), str, where)
        results = [r for r in get(annotation, ("result",), list, where) if isinstance(r, dict)]
        for name in {str(r.get("from_name")) for r in results} - {LABEL_RESULT}:
            notes[f"judge annotations with a result called {name!r}, which is not read"] += 1
        labels = [get(r, ("value", "choices"), list, where) for r in results if r.get("from_name") == LABEL_RESULT]
        choices = [choice for label in labels for choice in label]
        if not all(isinstance(choice, str) for choice in choices):
            raise UserError(f"{where}: the choices of {judge} are {choices!r:.80}; expected texts.")
        reason = "" if len(choices) == 1 else "several_labels" if choices else "judge_failed"
        if annotation.get("was_cancelled") is True:
            reason = "skipped"
        if judge in latest:
            notes["judge annotations replaced by a later one of the same judge, as the article's script does"] += 1
        latest[judge] = _Row(item, country, judge, JUDGE, "+".join(choices), reason)
    yield from latest.values()


def _scalars(task: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Fields that are a text or a whole number, as text."""
    kept = {k: v for k, v in task.items() if isinstance(v, str | int) and not isinstance(v, bool)}
    return {prefix + key: str(value) for key, value in kept.items()}


def _note_extra(found: Mapping[str, Any], known: Sequence[str], what: str, notes: Counter[str]) -> None:
    for key in found.keys() - set(known):
        notes[f"{what}s with the key {key!r}, which the article does not list"] += 1


def _compare_declared(country: Mapping[str, Any], name: str, found: _Found) -> None:
    """annotator_count and task_count, where stated, against what is there."""
    rows = [r for r in found.rows if r.country == name and r.kind == HUMAN]
    for key, there in (
        ("annotator_count", len({r.annotator for r in rows})),
        ("task_count", sum(c == name for c in found.country_of.values())),
    ):
        if key in country and country[key] != there:
            found.notes[f"{name}: {key} says {country[key]!r}, and there are {there}"] += 1


def _questions(found: _Found, chosen: str | None) -> tuple[dict[str, str], str | None, str | None, dict[str, str]]:
    """Item -> question, the field it came from, the behaviour's field, question -> behaviour; None: cannot be told."""
    items = list(found.texts)
    texts, countries = [found.texts[i] for i in items], [found.country_of[i] for i in items]
    groups = question_fields(texts, countries)
    if chosen is not None:
        groups = [group for group in groups if any(field.name == chosen for field in group)]
        if not groups:
            fields = ", ".join(dict.fromkeys(key for row in texts for key in row)) or "none"
            raise UserError(
                f"{chosen!r} is no field with {QUESTIONS} values, each on two or three items per country. "
                f"Fields found: {fields}."
            )
    if len(groups) != 1:
        ways = "; ".join(group[0].name for group in groups)
        found.notes[
            f"the question of an item cannot be told: the fields cut the items in {len(groups)} ways"
            + (f" ({ways}); name the right one" if ways else f"; none into {QUESTIONS} questions")
        ] += 1
        return {}, None, None, {}
    field = min(groups[0], key=lambda f: sum(map(len, f.values)))  # the view with nothing but the question
    behaviours = behaviour_fields(texts, countries, field.values)
    behaviour = (
        min(behaviours, key=lambda f: sum(map(len, f.values)))
        if len({b.partition() for b in behaviours}) == 1
        else None
    )
    return (
        dict(zip(items, field.values, strict=True)),
        field.name,
        behaviour.name if behaviour else None,
        dict(zip(field.values, behaviour.values, strict=True)) if behaviour else {},
    )


def _report(
    source: str,
    synthetic: bool,
    keys: Mapping[str, str],
    found: _Found,
    table: LabelTable,
    fields: tuple[str | None, str | None],
    behaviour_of: Mapping[str, str],
) -> JudgeAlignmentReport:
    human = table.mask(table.kind == HUMAN)
    slots = {c: human.mask(human.where(country=c)).counts() if c in human.countries else {} for c in keys.values()}
    per_item: dict[str, Counter[int]] = {c: Counter() for c in keys.values()}
    pools: dict[str, set[str]] = {c: set() for c in keys.values()}
    valid: Counter[str] = Counter(dict.fromkeys(found.texts, 0))
    total: Counter[str] = Counter(dict.fromkeys(found.texts, 0))
    texts = []
    for row in (r for r in found.rows if r.kind == HUMAN):
        pools[row.country].add(row.annotator)
        valid[row.item] += row.raw in LABELS
        total[row.item] += 1
        if row.raw not in LABELS and (row.raw or "").strip():
            texts.append((row.item, row.raw or ""))
    for item, n in total.items():
        per_item[found.country_of[item]][n] += 1
    shared = [a for a, n in Counter(a.split("/", 1)[1] for pool in pools.values() for a in pool).items() if n > 1]
    if shared:
        found.notes[
            f"annotator ids that occur in several countries; kept apart by country ({', '.join(shared[:5])})"
        ] += 1
    return JudgeAlignmentReport(
        source=source,
        synthetic=synthetic,
        country_keys=dict(keys),
        slots=slots,
        items=dict(Counter(found.country_of.values())),
        pools={c: len(pool) for c, pool in pools.items()},
        labels_per_item={c: dict(sorted(n.items())) for c, n in per_item.items()},
        judges=tuple(sorted({r.annotator for r in found.rows if r.kind == JUDGE})),
        unmatched=tuple(found.unmatched),
        spare_judge_tasks=tuple(found.spare),
        no_valid_label=tuple(item for item, n in valid.items() if not n),
        blank_panel=tuple(dict.fromkeys(item for item, text in texts if _BLANK_PANEL.search(text))),
        free_texts=tuple(texts),
        question_field=fields[0],
        behaviour_field=fields[1],
        behaviour_of=dict(behaviour_of),
        notes=tuple(f"{note} ({n})" for note, n in sorted(found.notes.items())),
    )
