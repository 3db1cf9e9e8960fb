"""scores.csv of the CuBEs rollout archive into a table: one row per rollout, scored 1 to 10 by a judge."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from countback.fetch.errors import UserError
from countback.fetch.labels import encode
from numpy.typing import NDArray

COLUMNS = ("behavior", "culture", "domain", "target_model", "variation", "repetition", "behavior_presence")
SCORES = (1.0, 10.0)
# How the baseline without a culture may be called; the release's name for it is not published.
_BASELINE = re.compile(
    r"|no[\s_-]?cultur\w*|none|null|baseline|no[\s_-]?country|culture[\s_-]?(blind|free|neutral)|default|generic",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RolloutTable:
    """Rows of equal length n: int32 codes into vocabularies, and the score as float64 (NaN: not given)."""

    behavior: NDArray[np.int32]
    culture: NDArray[np.int32]
    domain: NDArray[np.int32]
    model: NDArray[np.int32]
    score: NDArray[np.float64]
    behaviors: tuple[str, ...]
    cultures: tuple[str, ...]
    domains: tuple[str, ...]
    models: tuple[str, ...]
    baseline: str | None  # the culture that is none; None where it cannot be told
    notes: tuple[str, ...]
    synthetic: bool = False

    def __len__(self) -> int:
        return int(self.score.size)


def read_scores(text: str, source: str, *, synthetic: bool = False) -> RolloutTable:
    """From the text of scores.csv. Raises UserError for a missing column, a ragged row or a score off the scale."""
    try:
        rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True))
    except csv.Error as error:
        raise UserError(f"{source} is not CSV: {error}. Fetch the archive again.") from error
    header = rows[0] if rows else []
    missing = [name for name in COLUMNS if header.count(name) != 1]
    if missing:
        raise UserError(
            f"{source} has the columns {', '.join(header) or '(none)'}; expected each of {', '.join(COLUMNS)} once. "
            "If the release was changed upstream, read its description and adapt this reader."
        )
    body = rows[1:]
    for line, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise UserError(f"{source}, row {line} has {len(row)} cells; expected {len(header)}, as the header has.")
    column = {name: [row[header.index(name)] for row in body] for name in COLUMNS}
    score = np.array([_score(cell, source, line) for line, cell in enumerate(column["behavior_presence"], start=2)])
    behaviors, behavior = encode(column["behavior"], "behavior")
    cultures, culture = encode(column["culture"], "culture")
    domains, domain = encode(column["domain"], "domain")
    models, model = encode(column["target_model"], "target_model")
    baselines = [name for name in cultures if _BASELINE.fullmatch(name.strip())]
    return RolloutTable(
        behavior, culture, domain, model, score.astype(np.float64), behaviors, cultures, domains, models,
        baselines[0] if len(baselines) == 1 else None,
        tuple(_notes(header, body, column, baselines, score)),
        synthetic,
    )  # fmt: skip


def _score(cell: str, source: str, line: int) -> float:
    if not cell.strip():
        return float("nan")
    try:
        value = float(cell)
    except ValueError:
        value = float("nan")
    if not SCORES[0] <= value <= SCORES[1]:
        raise UserError(
            f"{source}, row {line}: behavior_presence is {cell!r}; expected a number from 1 to 10, or nothing."
        )
    return value


def _notes(
    header: list[str],
    body: list[list[str]],
    column: dict[str, list[str]],
    baselines: list[str],
    score: NDArray[np.float64],
) -> list[str]:
    notes = []
    extra = [name for name in header if name not in COLUMNS]
    if extra:
        notes.append(f"columns that the article does not list: {', '.join(extra)}")
    if blank := int(np.isnan(score).sum()):
        notes.append(f"{blank} of {len(body)} rows have no score")
    keys = Counter(zip(*(column[name] for name in COLUMNS[:-1]), strict=True))
    if repeated := sum(n - 1 for n in keys.values()):
        notes.append(f"{repeated} rows repeat the six key columns of an earlier row; all are kept")
    if len(baselines) != 1:
        shown = ", ".join(repr(name) for name in dict.fromkeys(column["culture"]))
        notes.append(f"no single culture is recognisably the baseline among {shown}")
    return notes
