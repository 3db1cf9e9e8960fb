"""Which reader a file is for, from what it holds rather than from its name. Where two fit, an error asks."""

from __future__ import annotations

import json
from collections.abc import Sequence

from countback.fetch.errors import UserError
from countback.fetch.readers.label_studio import MIN_KEYS
from countback.fetch.readers.options import LIST_ROLES, Options
from countback.fetch.readers.potato import ANSWERS_KEY, is_potato_header
from countback.fetch.readers.source import Source
from countback.fetch.readers.survey import is_survey

JSON_READERS = ("label-studio", "label-studio-min", "potato", "argilla", "doccano")
TABLE_READERS = ("long", "wide", "survey", "label-studio-csv", "potato-csv")
READERS = (*TABLE_READERS, *JSON_READERS)


def kind_of_file(source: Source) -> str:
    """ "xlsx", "json" or "delimited". Raises UserError for bytes that are none of them."""
    if source.data.startswith(b"PK\x03\x04"):
        if source.name.lower().endswith((".xlsx", ".xlsm")) or b"xl/workbook.xml" in source.data:
            return "xlsx"
        raise UserError(f"{source.name} is a zip archive and no workbook; unpack it and give the files in it.")
    start = source.data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not start:
        raise UserError(f"{source.name} is empty; expected an export of labels.")
    return "json" if start in (b"[", b"{") else "delimited"


def json_reader(source: Source) -> str:
    """The reader for a JSON export, by the keys of its first objects."""
    value = source.value
    rows = [row for row in (value if isinstance(value, list) else [value]) if isinstance(row, dict)][:50]
    keys = {str(key) for row in rows for key in row}
    if ANSWERS_KEY in keys:
        return "potato"
    if "responses" in keys or any(key.endswith(".responses") for key in keys):
        return "argilla"
    if set(MIN_KEYS) <= keys:
        return "label-studio-min"
    owned = [a for row in rows for a in (row.get("annotations") or [] if _is_list(row.get("annotations")) else [])]
    if any(isinstance(a, dict) and "result" in a for a in owned) or (
        "data" in keys and {"annotations", "predictions"} & keys
    ):
        return "label-studio"
    if {"label", "labels", "cats"} & keys or any(isinstance(a, dict) and "user" in a for a in owned):
        return "doccano"
    raise UserError(
        f"{source.name} is JSON of no shape that is known: its objects have the keys "
        f"{json.dumps(sorted(keys)[:20], ensure_ascii=True)}. Say which it is with reader=, one of "
        f"{', '.join(JSON_READERS)}; where none of them fits, write a CSV file with columns item, annotator and label."
    )


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def table_reader(header: Sequence[str], options: Options) -> str:
    """The reader for a table, by its header; a list of columns that was told means a wide one."""
    if set(MIN_KEYS) <= set(header):
        return "label-studio-csv"
    if is_potato_header(header):
        return "potato-csv"
    if is_survey(list(header)):
        return "survey"
    return "wide" if any(options.listed(role) for role in LIST_ROLES) else "long"
