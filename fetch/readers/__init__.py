"""Label exports into one validated LabelTable and an IngestReport.

`read_labels` finds out what a file is; the functions beside it read one format each. All take the same options, which
are described in countback.fetch.readers.options, and end in the same checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from countback.fetch.codebook import Codebook
from countback.fetch.errors import UserError
from countback.fetch.labels import LabelTable
from countback.fetch.readers.answers import Answers, assemble, joined
from countback.fetch.readers.argilla import argilla_answers
from countback.fetch.readers.detect import READERS, TABLE_READERS, json_reader, kind_of_file, table_reader
from countback.fetch.readers.doccano import doccano_answers
from countback.fetch.readers.label_studio import json_min_answers, label_studio_answers, lose_skips, min_questions
from countback.fetch.readers.options import Options, make_options
from countback.fetch.readers.potato import potato_answers, potato_csv_answers, state_files
from countback.fetch.readers.report import IngestReport, Tally
from countback.fetch.readers.source import AnyPath, Source, as_paths, open_all
from countback.fetch.readers.survey import survey_answers
from countback.fetch.readers.tables import Grid, load_grid, long_answers, wide_answers
from countback.fetch.readers.xlsx import load_workbook_grid

__all__ = [
    "READERS",
    "IngestReport",
    "read_argilla",
    "read_csv_long",
    "read_csv_wide",
    "read_doccano",
    "read_label_studio",
    "read_label_studio_csv",
    "read_label_studio_min",
    "read_labels",
    "read_potato",
    "read_potato_csv",
    "read_survey",
]

Read = tuple[LabelTable, IngestReport]
Codes = Sequence[str] | Mapping[str, Sequence[str]] | Codebook | None


def read_labels(
    path: AnyPath | Sequence[AnyPath], *, codebook: Codes = None, reader: str | None = None, **options: Any
) -> Read:
    """Reads one export, several of one kind, or a Potato folder. `reader` is one of READERS, or None to find out.

    `options` are those of countback.fetch.readers.options.make_options: columns, aliases, missing, normalise,
    duplicates, several, multi, namespace, annotator, country, kind, judges, zone, encoding, keep_pii and the rest.
    Raises UserError for everything in the files or the options that a person has to decide or mend.
    """
    chosen = make_options(codebook, **options)
    if reader is not None and reader not in READERS:
        raise UserError(f"There is no reader {reader!r}; expected one of {', '.join(READERS)}.")
    sources = open_all(_files(as_paths(path)))
    tally = Tally()
    kinds = {kind_of_file(source) for source in sources}
    if len(kinds) > 1:
        raise UserError(f"The files are of several kinds ({', '.join(sorted(kinds))}); read each kind separately.")
    kind = kinds.pop()
    if kind == "json":
        name = reader or _one({json_reader(source) for source in sources})
        if name in TABLE_READERS:
            raise UserError(f"{sources[0].name} is JSON; the reader {name!r} is for tables.")
        answers = _JSON[name](sources, chosen, tally)
    else:
        load = load_workbook_grid if kind == "xlsx" else load_grid
        grids = [load(source, chosen, tally) for source in sources]
        name = reader or _one({table_reader(grid.header, chosen) for grid in grids})
        if name not in TABLE_READERS:
            raise UserError(f"{sources[0].name} is a table; the reader {name!r} is for JSON.")
        answers = joined([_TABLES[name](grid, chosen, tally) for grid in grids])
        chosen = _ids_per_file(sources, name, chosen, tally)
    return assemble(f"{name} (xlsx)" if kind == "xlsx" else name, answers, sources, chosen, tally)


def _files(paths: list[Path]) -> list[Path]:
    """The files themselves; a folder stands for the users of a Potato project."""
    return [file for path in paths for file in (state_files(path) if path.is_dir() else [path])]


def _one(names: set[str]) -> str:
    if len(names) > 1:
        raise UserError(f"The files are for several readers ({', '.join(sorted(names))}); read each kind separately.")
    return names.pop()


def _ids_per_file(sources: Sequence[Source], name: str, options: Options, tally: Tally) -> Options:
    """Annotator numbers restart from table to table more often than not, so an id means one person within its file."""
    if len(sources) < 2 or options.namespace is not None or name in ("label-studio-csv", "potato-csv", "survey"):
        return options
    tally.notes.append(
        "annotator ids are taken as one person's within a file; say namespace='global' if they are the same people "
        "in every file"
    )
    return replace(options, namespace="file")


def _label_studio_csv(grid: Grid, options: Options, tally: Tally) -> Answers:
    """Label Studio's CSV: a row per annotation, with the task's data and the answers side by side."""
    lose_skips(tally)
    names = min_questions(grid.header, options, grid.name)
    told = {"annotator": "annotator", "item": "id", "seconds": "lead_time", "time": "updated_at", **options.columns}
    columns = {role: c for role, c in told.items() if role not in ("label", "questions") and c in grid.header}
    return wide_answers(grid, replace(options, columns={**columns, "questions": names}), tally)


_TABLES: dict[str, Callable[[Grid, Options, Tally], Answers]] = {
    "long": long_answers,
    "wide": wide_answers,
    "survey": survey_answers,
    "label-studio-csv": _label_studio_csv,
    "potato-csv": potato_csv_answers,
}
_JSON: dict[str, Callable[[Sequence[Source], Options, Tally], Answers]] = {
    "label-studio": label_studio_answers,
    "label-studio-min": json_min_answers,
    "potato": potato_answers,
    "argilla": argilla_answers,
    "doccano": doccano_answers,
}

read_csv_long = partial(read_labels, reader="long")
read_csv_wide = partial(read_labels, reader="wide")
read_survey = partial(read_labels, reader="survey")
read_label_studio = partial(read_labels, reader="label-studio")
read_label_studio_min = partial(read_labels, reader="label-studio-min")
read_label_studio_csv = partial(read_labels, reader="label-studio-csv")
read_potato = partial(read_labels, reader="potato")
read_potato_csv = partial(read_labels, reader="potato-csv")
read_argilla = partial(read_labels, reader="argilla")
read_doccano = partial(read_labels, reader="doccano")
