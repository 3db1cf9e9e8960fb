"""Potato: its own user_state.json files, and the CSV it exports.

Older versions kept every option that a rater clicked in a single-choice question, in the order of the first click, so
that the last one kept is not the last one chosen. Only the timestamped trail says which stood.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from countback.fetch.errors import UserError
from countback.fetch.readers.answers import Answers, Collector
from countback.fetch.readers.discover import leave_out, listed, position
from countback.fetch.readers.options import Options
from countback.fetch.readers.report import Tally
from countback.fetch.readers.source import Source, as_list, as_object, plain
from countback.fetch.readers.tables import Grid

STATE_FILE = "user_state.json"
ANSWERS_KEY = "instance_id_to_label_to_value"
_EXPORT = "python -m potato.export --config config.yaml --format csv --output ./export/"


def state_files(folder: Path) -> list[Path]:
    """The user_state.json of every user in an output folder. Raises UserError with the command that makes a CSV."""
    found = sorted(folder.glob(STATE_FILE)) + sorted(folder.glob(f"*/{STATE_FILE}"))
    if not found:
        held = ", ".join(sorted(p.name for p in folder.iterdir())[:10]) or "nothing"
        raise UserError(
            f"{folder} holds no {STATE_FILE}, in it or one folder down, but {held}. Give Potato's "
            f"output_annotation_dir, or export it first: {_EXPORT}"
        )
    return found


def potato_answers(sources: Sequence[Source], options: Options, tally: Tally) -> Answers:
    """The answers of all users. A question with several options kept is read from the trail, or is unresolved."""
    out = Collector()
    for source in sources:
        state = as_object(source.value, source.name)
        tally.read["users"] += 1
        who = plain(state.get("user_id"))
        answered = as_object(state.get(ANSWERS_KEY) or {}, f"{source.name}: {ANSWERS_KEY}")
        trails = as_object(state.get("instance_id_to_behavioral_data") or {}, f"{source.name}: behavioral data")
        for item, held in answered.items():
            tally.read["instances"] += 1
            trail = trails.get(item)
            changes = trail.get("annotation_changes") if isinstance(trail, dict) else None
            for question, chosen in _by_question(held, f"{source.name}: {item}").items():
                _add(out, tally, options, source.name, (item, who, question), chosen, changes)
        spans = as_object(state.get("instance_id_to_span_to_value") or {}, f"{source.name}: spans")
        tally.set_aside["spans"] += sum(len(s) for s in spans.values() if isinstance(s, (list, dict)))
        for item in as_list(state.get("instance_id_ordering"), f"{source.name}: instance_id_ordering"):
            if plain(item) not in answered:
                out.add(plain(item), who, "", file=source.name, state="not_asked")
    return out.answers()


def _by_question(held: object, where: str) -> dict[str, dict[str, str]]:
    """{question: {option: stored value}} from either of the two shapes that Potato has written."""
    found: dict[str, dict[str, str]] = {}
    for question, name, value in _entries(held, where):
        found.setdefault(question, {})[name] = plain(value)
    return found


def _entries(held: object, where: str) -> Iterator[tuple[str, str, Any]]:
    if isinstance(held, dict):
        for question, options in held.items():
            inner = options.get("labels", options) if isinstance(options, dict) else {str(options): True}
            for name, value in as_object(inner, f"{where}: {question}").items():
                yield question, name, value
        return
    for entry in as_list(held, where):
        pair = as_list(entry, where)
        if len(pair) != 2 or not isinstance(pair[0], dict):
            raise UserError(f"{where}: an answer is not [{{schema, name}}, value]; this shape of Potato is not known.")
        yield plain(pair[0].get("schema")), plain(pair[0].get("name")), pair[1]


def chosen_label(name: str, value: str) -> str:
    """The label that an option's name and stored value stand for: the name where the value only says "chosen"."""
    return name if value.casefold() in ("true", "on") or value == name else value


def _add(
    out: Collector,
    tally: Tally,
    options: Options,
    file: str,
    place: tuple[str, str, str],
    chosen: dict[str, str],
    changes: object,
) -> None:
    item, who, question = place
    labels = [
        chosen_label(n, v) for n, v in chosen.items() if v.casefold() not in ("false", "") and n != "free_response"
    ]
    tally.set_aside["free responses"] += "free_response" in chosen
    state = "valid"
    if len(labels) > 1 and not options.takes_several(question):
        last = _latest(changes, question)
        if last in labels:
            labels = [last]
            tally.repaired["label: several clicks kept, the last by the trail taken"] += 1
        else:
            state = "unresolved"
            tally.flags["single-choice answers with several clicks kept and no trail"] += 1
    label = labels[0] if len(labels) == 1 else plain(labels) if labels else ""
    out.add(item, who, label, file=file, question=question, state=state)


def _latest(changes: object, question: str) -> str:
    """The option that the newest select of a question chose, by its timestamp; "" where there is no trail."""
    selects = [
        (c["timestamp"], i, chosen_label(plain(c.get("label_name")), plain(c.get("new_value"))))
        for i, c in enumerate(changes if isinstance(changes, list) else [])
        if isinstance(c, dict)
        and c.get("schema_name") == question
        and c.get("action") == "select"
        and isinstance(c.get("timestamp"), int | float)
        and c["timestamp"] == c["timestamp"]
    ]
    return max(selects)[2] if selects else ""


def is_potato_header(header: Sequence[str]) -> bool:
    """Whether a CSV has the two id columns of a Potato export."""
    return {"instance_id", "user_id"} <= set(header)


def potato_csv_answers(grid: Grid, options: Options, tally: Tally) -> Answers:
    """The answers of an exported CSV: a column `question` or one column `question.option` for each option.

    The CSV has no trail, so a single-choice question with two options kept is unresolved, and counted.
    """
    item = position(grid.header, options.column("item") or "instance_id", "item", grid.name)
    who = position(grid.header, options.column("annotator") or "user_id", "annotator", grid.name)
    names = _question_columns(grid, options)
    texts = [column.texts() for column in grid.columns]
    out = Collector()
    for question, columns in names.items():
        for row in range(len(grid)):
            chosen = {option: texts[i][row] for option, i in columns.items() if texts[i][row].strip()}
            whole = chosen.pop("", None)
            if whole is not None:  # newer versions add the answer that stood as a column of its own
                chosen = {whole: whole}
            place = (texts[item][row], texts[who][row], question)
            _add(out, tally, options, grid.name, place, chosen, None)
    leave_out(grid.header, [item, who, *(i for columns in names.values() for i in columns.values())], tally)
    tally.columns.update({"item": grid.header[item], "annotator": grid.header[who], "questions": ", ".join(names)})
    tally.cannot_know("The CSV of Potato holds no instance that was assigned and not answered.", "not_asked", "skipped")
    return out.answers()


def _question_columns(grid: Grid, options: Options) -> dict[str, dict[str, int]]:
    """{question: {option: position}}, the option "" for a column that is the question itself."""
    told = options.listed("questions") or list(options.codebook.allowed or ())
    found: dict[str, dict[str, int]] = {}
    for i, column in enumerate(grid.header):
        question, dot, option = column.partition(".") if ":::" not in column else column.partition(":::")
        if column in told:
            found.setdefault(column, {})[""] = i
        elif dot and (question in told or not told):
            found.setdefault(question, {})[option] = i
    for i, column in enumerate(grid.header):  # without being told, only beside its own option columns
        if column in found:
            found[column][""] = i
    if not found:
        raise UserError(
            f"{grid.name}: which columns are questions? Name them: columns={{'questions': [...]}}. "
            f"The columns are {listed(grid.header)}."
        )
    return found
