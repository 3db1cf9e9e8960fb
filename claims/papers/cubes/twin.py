"""A synthetic stand-in for the CuBEs release: its schema, the article's printed aggregates, and no real label.

Counts come from an integer program (`twin_solve`), the rest from random walks (`twin_arrange`). Every text and every
annotator id says that it is synthetic; a marker file makes each recount of it `unchecked: synthetic data`.
The report is made by recounting the finished file with this paper's own recipes: what it meets, and what it does not.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from countback.claims.papers.cubes import recipes
from countback.claims.papers.cubes.files import MARKER, is_synthetic
from countback.claims.papers.cubes.read import HUMAN_FILE, JUDGE_FILE, SCORES_FILE
from countback.claims.papers.cubes.rollouts import COLUMNS
from countback.claims.papers.cubes.twin_arrange import ARRANGE_STEPS, QUESTIONS, Grid, Slot, arrange, people
from countback.claims.papers.cubes.twin_solve import COUNTRIES, JUDGES, Solution, solve
from countback.claims.registry import load_paper
from countback.claims.verdict import CannotRecount, judge_recount
from countback.fetch.errors import UserError
from countback.fetch.release import load_releases

FOLDER = Path(__file__).parent
LETTERS = "ABC"
CULTURES = (*COUNTRIES, "India", "France", "Germany", "Canada", *(f"synthetic culture {n}" for n in range(9, 13)))
BASELINE = "no-culture"
TARGETS = ("claude-sonnet-4.5", "synthetic target 2")
# claude-sonnet-4.5 on political bias, Health: 26 / 3 - 100 / 36 = 212 / 36 prints +5.89.
GAP_BASELINE, GAP_CULTURES = 26, 100
NOTICE = """This archive is SYNTHETIC. No label in it was given by a person or by a model.

It has the shape of the CuBEs release and was solved to meet numbers that an audit article prints, so that recounts can
be tried before the release is at hand. Nothing recounted from it is evidence about the paper, the article or anybody.
"""


@dataclass(frozen=True)
class Line:
    """One claim as recounted from the twin."""

    claim: str
    reported: str
    recounted: str
    note: str = ""


@dataclass(frozen=True)
class TwinReport:
    """Where the twin is, and which claims it meets, does not meet, and cannot speak of."""

    path: Path
    seed: int
    sha256: str
    met: tuple[Line, ...]
    missed: tuple[Line, ...]
    absent: tuple[Line, ...]


@dataclass(frozen=True)
class _Files:
    """The twin under the names that the recipes ask for; it holds both archives, and no paper."""

    twin: Path

    def path(self, name: str) -> Path:
        if name == recipes.PAPER:
            raise CannotRecount("the twin holds no PDF")
        return self.twin


def make_twin(out_zip: Path | str, seed: int) -> TwinReport:
    """Write a twin and recount it. The same seed gives the same bytes.

    Raises UserError where no solution is found, or where `out_zip` is a file that is no twin.
    """
    path = Path(out_zip)
    digest = write_twin(path, seed)
    return TwinReport(path, seed, digest, *_recounted(path))


def write_twin(path: Path, seed: int, *, walks: bool = True) -> str:
    """Write a twin and return its sha256. Without `walks` it meets the integer program's targets alone, and sooner."""
    if path.exists() and not is_synthetic(path):
        raise UserError(f"{path} exists and is no synthetic archive; name another file, so that nothing is lost.")
    if not path.parent.is_dir():
        raise UserError(f"{path.parent} is no folder; make it first, or name a file in one that exists.")
    rng = np.random.default_rng(seed)
    solution = solve(rng)
    grid = arrange(solution.cells, rng, steps=ARRANGE_STEPS if walks else 0)
    humans, judges = _alignment(solution, grid, people(grid, rng, walks=walks), rng)
    written = path.with_name(f".{path.name}.part")
    _write(written, humans, judges, _scores(rng))
    digest = _check_pins(written)
    os.replace(written, path)
    return digest


def _alignment(
    solution: Solution, grid: Grid, slots: dict[str, list[list[Slot]]], rng: np.random.Generator
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both JSON documents, the judges' tasks in an order of their own."""
    humans: dict[str, Any] = {}
    judges: dict[str, Any] = {}
    left = {key: list(labels) for key, labels in solution.judged.items()}
    for country in COUNTRIES:
        tasks, judged = [], []
        people_of = iter(slots[country])
        for question, cell in zip(QUESTIONS, grid[country], strict=True):
            for number, pattern in enumerate(cell.items, start=1):
                name = f"SYNTHETIC | {question} | {number}"
                tasks.append(_human_task(country, name, next(people_of)))
                labels = {judge: left[country, pattern, judge].pop() for judge in JUDGES}
                judged.append(_judge_task(country, name, labels))
        pool = {annotation["annotator"] for task in tasks for annotation in task["annotations"]}
        humans[country] = {"annotator_count": len(pool), "task_count": len(tasks), "tasks": tasks}
        judges[country] = {"tasks": [judged[i] for i in rng.permutation(len(judged))]}
    return humans, judges


def _options(country: str, name: str) -> dict[str, str]:
    return {letter: f"Synthetic justification {letter} of {name}, {country}." for letter in LETTERS}


def _human_task(country: str, name: str, slots: list[Slot]) -> dict[str, Any]:
    return {
        "pod_title": name,
        "options": _options(country, name),
        "annotations": [
            {
                "annotator": f"synthetic-{country.lower().replace(' ', '-')}-{slot.annotator + 1:02d}",
                "choice": LETTERS[slot.label] if slot.label >= 0 else slot.text,
                "lead_time_seconds": slot.seconds,
            }
            for slot in slots
        ],
    }


def _judge_task(country: str, name: str, labels: dict[str, int]) -> dict[str, Any]:
    options = {f"option_{letter.lower()}": text for letter, text in _options(country, name).items()}
    return {
        "data": {"scenario": f"Synthetic scenario of {name}, {country}.", **options},
        "annotations": [
            {
                "completed_by": {"username": judge, "first_name": "synthetic"},
                "result": [
                    {"from_name": "vignette_label", "type": "choices", "value": {"choices": [LETTERS[label]]}},
                    {"from_name": "reasoning", "type": "textarea", "value": {"text": ["Synthetic reasoning."]}},
                ],
            }
            for judge, label in labels.items()
        ],
    }


def _scores(rng: np.random.Generator) -> str:
    """scores.csv: three rollouts of every cell of the Health domain."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for model in TARGETS:
        for behavior in dict.fromkeys(QUESTIONS.values()):
            fixed = iter(_fixed_scores(rng)) if (model, behavior) == (TARGETS[0], "political bias") else None
            for culture in (BASELINE, *CULTURES):
                for variation in range(1, 4):
                    score = next(fixed) if fixed else int(rng.integers(1, 11))
                    writer.writerow([behavior, culture, "Health", model, f"synthetic {variation}", 1, score])
    return text.getvalue()


def _fixed_scores(rng: np.random.Generator) -> list[int]:
    """Three baseline scores and 36 of the cultures with the sums that print the gap."""
    return [*_parts(GAP_BASELINE, 3, rng), *_parts(GAP_CULTURES, 3 * len(CULTURES), rng)]


def _parts(total: int, n: int, rng: np.random.Generator) -> list[int]:
    """`n` scores from 1 to 10 that add up to `total`."""
    scores = np.ones(n, np.int64)
    while scores.sum() < total:
        scores[rng.choice(np.flatnonzero(scores < 10))] += 1
    return [int(x) for x in scores]


def _write(path: Path, humans: dict[str, Any], judges: dict[str, Any], scores: str) -> None:
    members = {
        MARKER: NOTICE,
        f"judge_alignment/{HUMAN_FILE}": json.dumps(humans, indent=1, ensure_ascii=False),
        f"judge_alignment/{JUDGE_FILE}": json.dumps(judges, indent=1, ensure_ascii=False),
        f"cube_cross_cultural_evaluation/{SCORES_FILE}": scores,
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED)


def _check_pins(path: Path) -> str:
    """The twin's sha256. A twin that a pin would accept is removed: it could be taken for the release."""
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    for release in load_releases(FOLDER / "releases.toml"):
        for pin in release.files:
            ends = (pin.sha256_prefix or "", pin.sha256_suffix or "")
            whole = pin.sha256 == digest
            part = any(ends) and digest.startswith(ends[0]) and digest.endswith(ends[1])
            if whole or part or pin.size == len(data):
                path.unlink()
                raise UserError(f"The twin would pass for {pin.name}; try another seed.")
    return digest


def _recounted(path: Path) -> tuple[tuple[Line, ...], tuple[Line, ...], tuple[Line, ...]]:
    """Every recount claim of the article on the twin: met, missed, absent."""
    found: tuple[list[Line], list[Line], list[Line]] = ([], [], [])
    for place, line in _lines(path):
        found[place].append(line)
    met, missed, absent = (tuple(lines) for lines in found)
    return met, missed, absent


def _lines(path: Path) -> Iterator[tuple[int, Line]]:
    data = _Files(path)
    for claim in load_paper(FOLDER).claims:
        if not claim.recipe:
            continue
        try:
            recount = getattr(recipes, claim.recipe)(data, **dict(claim.arguments))
        except CannotRecount as error:
            yield 2, Line(claim.id, claim.reported, "", str(error))
            continue
        verdict = judge_recount(claim, recount, {})
        yield int(not verdict.agrees), Line(claim.id, claim.reported, str(verdict.recounted), "; ".join(recount.notes))
