"""Survey exports of Qualtrics, with Prolific's ids: one row per respondent, a column per item."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from countback.fetch.codebook import VALID, reason_code
from countback.fetch.errors import UserError
from countback.fetch.readers.answers import Answers
from countback.fetch.readers.columns import Column
from countback.fetch.readers.discover import NAMES, listed
from countback.fetch.readers.options import Options
from countback.fetch.readers.people import bare, is_pii
from countback.fetch.readers.report import Tally
from countback.fetch.readers.tables import Grid, attribute_positions, melt
from numpy.typing import NDArray

_METADATA = frozenset(
    "startdate enddate status progress durationinseconds finished recordeddate responseid distributionchannel "
    "userlanguage qrecaptchascore qrelevantidduplicate qrelevantidfraudscore studyid sessionid submissionid "
    "startedat completedat reviewedat archivedat timetaken completioncode totalapprovals".split()
)
_PERSON = ("prolificpid", "prolificid", "participantid", "workerid", "responseid")
_SEEN_UNANSWERED = "-99"  # what Qualtrics writes for a question that was shown and not answered, if told to


def is_survey(header: list[str]) -> bool:
    """Whether the header has a respondent's id and none of a labelling tool's item columns."""
    names = {bare(name) for name in header}
    marks = names & (_METADATA | {"ipaddress", "locationlatitude", "locationlongitude", *_PERSON})
    return len(marks) >= 2 and bool(names & set(_PERSON)) and not names & set(NAMES["item"].split())


def survey_answers(grid: Grid, options: Options, tally: Tally) -> Answers:
    """One answer for each respondent and item. See the module's docstring.

    Raises UserError where it is not clear who the respondent is or which columns are answers.
    """
    grid = _without_header_rows(grid, tally)
    grid = _without_previews(grid, tally)
    person = _person(grid, options)
    roles = {"annotator": person}
    country = options.column("country")
    if country is not None:
        roles["country"] = _position(grid, country)
    role, chosen = _answer_columns(grid, options, roles)
    if role == "question" and options.column("item") is not None:
        roles["item"] = _position(grid, options.column("item") or "")
    extra = attribute_positions(grid.header, [*roles.values(), *chosen])
    _tell(grid, roles, chosen, extra, role, tally)
    cells = {grid.header[i]: grid.columns[i] for i in chosen}
    answers = melt(grid, roles, cells, role, options, tally, extra)
    if options.codebook.allowed is not None and role == "item":
        answers = replace(answers, question=answers.item)  # each column has labels of its own
    return _states(answers, grid, len(chosen), tally)


def _without_header_rows(grid: Grid, tally: Tally) -> Grid:
    """Qualtrics writes the questions' wording and an ImportId below the header: two rows that are no answers."""
    for column in grid.columns:
        marked = [code for code, value in enumerate(column.values) if value.startswith('{"ImportId"')]
        rows = np.flatnonzero(np.isin(column.codes[:3], marked))
        if rows.size:
            keep = np.ones(len(grid), np.bool_)
            keep[: int(rows[0]) + 1] = False
            tally.refused["header rows"] += int(rows[0]) + 1
            return grid.take(keep)
    return grid


def _without_previews(grid: Grid, tally: Tally) -> Grid:
    keep = np.ones(len(grid), np.bool_)
    for name, column in zip(grid.header, grid.columns, strict=True):
        if bare(name) in ("status", "distributionchannel"):
            preview = np.array(
                [v.strip().casefold() in ("survey preview", "preview", "1") for v in column.values], np.bool_
            )
            if preview.any():
                keep &= ~preview[column.codes]
    if not keep.all():
        tally.refused["survey previews"] += int((~keep).sum())
        grid = grid.take(keep)
    return grid


def _position(grid: Grid, column: str) -> int:
    if column not in grid.header:
        raise UserError(f"{grid.name} has no column {column!r}; its columns are {listed(grid.header)}.")
    return grid.header.index(column)


def _person(grid: Grid, options: Options) -> int:
    told = options.column("annotator")
    if told is not None:
        return _position(grid, told)
    for name in _PERSON:  # an id of the person before an id of the response: one person can respond twice
        fits = [i for i, column in enumerate(grid.header) if bare(column) == name]
        if len(fits) > 1:
            raise UserError(
                f"{grid.name}: {' and '.join(repr(grid.header[i]) for i in fits)} could each be the respondent; say "
                f"columns={{'annotator': {grid.header[fits[0]]!r}}}."
            )
        if fits:
            return fits[0]
    raise UserError(f"{grid.name} has no respondent id; say columns={{'annotator': ...}}: {listed(grid.header)}.")


def _answer_columns(grid: Grid, options: Options, roles: dict[str, int]) -> tuple[str, list[int]]:
    """The columns told, those a codebook by question names, or every column whose cells are all labels."""
    for told in ("items", "questions"):
        names = options.listed(told)
        if names:
            return told.removesuffix("s"), [_position(grid, name) for name in names]
    if options.codebook.allowed is not None:
        return "item", [_position(grid, name) for name in options.codebook.allowed]
    chosen: list[int] = []
    for i, (name, column) in enumerate(zip(grid.header, grid.columns, strict=True)):
        if i in roles.values() or bare(name) in _METADATA or is_pii(name):
            continue
        cells = [v for v in column.values if v.strip() and v.strip() != _SEEN_UNANSWERED]
        fit = [v for v in cells if options.codebook.recognises(v)]
        if fit and len(fit) < len(cells):
            raise UserError(
                f"{grid.name}: in column {name!r} {len(fit)} of {len(cells)} different answers are in the codebook, so "
                "whether it holds labels is not clear. Name the columns that do: columns={'items': [...]}. "
                f"The columns are {listed(grid.header)}."
            )
        if fit:
            chosen.append(i)
    if not chosen:
        raise UserError(
            f"{grid.name}: no column holds labels of the codebook {list(options.codebook.labels)}. Name those that do: "
            f"columns={{'items': [...]}}. The columns are {listed(grid.header)}."
        )
    return "item", chosen


def _tell(grid: Grid, roles: dict[str, int], chosen: list[int], extra: dict[str, int], role: str, tally: Tally) -> None:
    tally.columns.update({name: grid.header[i] for name, i in roles.items()})
    tally.columns[role + "s"] = ", ".join(grid.header[i] for i in chosen)
    used = {*roles.values(), *chosen, *extra.values()}
    for i, name in enumerate(grid.header):
        if i not in used:
            (tally.pii if is_pii(name) else tally.ignored).append(name)


def _states(answers: Answers, grid: Grid, k: int, tally: Tally) -> Answers:
    """Unfinished responses are drafts; -99 is a question that was seen and skipped, and then blank was not asked."""
    state = answers.state.copy()
    label = answers.label
    blank = _is(label, "")
    if _SEEN_UNANSWERED in (v.strip() for v in label.values):
        state[_is(label, _SEEN_UNANSWERED)] = reason_code("skipped")
        state[blank] = reason_code("not_asked")
    else:
        why = "The survey does not tell a question that was skipped from one that was never shown; both are blank."
        tally.cannot_know(why, "skipped", "not_asked")
    finished = [column for name, column in zip(grid.header, grid.columns, strict=True) if bare(name) == "finished"]
    if not finished:
        tally.cannot_know("Without the column Finished, a response that was given up looks like a whole one.", "draft")
    for column in finished:
        unfinished = np.tile(_is(column, "false") | _is(column, "0"), k)
        state[unfinished & (state == VALID)] = reason_code("draft")
    return replace(answers, state=state)


def _is(column: Column, text: str) -> NDArray[np.bool_]:
    """Shape (n,): the rows that hold a text, white space and letter case aside."""
    return np.array([v.strip().casefold() == text for v in column.values], np.bool_)[column.codes]
