"""An audit of labels as one HTML file: the words and tables of the text, and a picture of the differences.

Self-contained, without scripts; jinja2 comes with the extra `report`. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from countback.audit.files import put
from countback.audit.judge.notes import choice_lines, trap_lines
from countback.audit.judge.places import LEAN, grid_line, lean_sentences, tests_method, tests_sentence
from countback.audit.judge.text import (
    COLUMNS,
    comparison_row,
    design_lines,
    flat_caution,
    flat_line,
    present,
    raters_line,
)
from countback.audit.judge.tree import Agreement, Audit, Comparison, JudgeReport
from countback.audit.judge.words import advice_lines, counted, glossary, listed, number, points, share, share_with_ends
from countback.audit.templating import template

NAMED, BARS = 26, 230  # letters of a name that are shown; pixels that bars need at least


@dataclass(frozen=True)
class Mark:
    """One difference as a dot with its interval; places in percent of the picture's width."""

    name: str
    low: float
    value: float
    high: float
    words: str


@dataclass(frozen=True)
class Picture:
    """Differences on one scale; `zero` and `ticks` are places and their labels, `width` the least in pixels."""

    marks: tuple[Mark, ...]
    zero: float
    ticks: tuple[tuple[float, str], ...]
    start: float
    width: int

    @property
    def height(self) -> int:
        """Of the picture, in pixels."""
        return 22 * len(self.marks) + 40


def write_html(audit: Audit, path: Path) -> None:
    """Writes the page. Raises UserError without jinja2, and where the file cannot be written."""
    put(path, page(audit))


def page(audit: Audit) -> str:
    """The page as text. Raises UserError without jinja2."""
    html = template("judge.html.j2", "An HTML page", "--json needs nothing.")
    return html.render(
        audit=audit,
        files=[file["name"] for report in (audit.ingest, audit.judge_ingest) if report for file in report["files"]],
        version=version("countback"),
        advice=advice_lines(audit),
        warning="" if audit.design.separable or len(audit.design.countries) < 2 else design_lines(audit)[0],
        traps=trap_lines(audit.traps),
        design=design_lines(audit),
        columns=["where", *COLUMNS[1:]],
        judges=[(report, _rows(report), _picture(report)) for report in audit.judges if report.overall is not None],
        agreement=[_agreement(row) for row in audit.agreement],
        not_concluded=trap_lines(audit.not_concluded),
        choices=choice_lines(audit.choices),
        counted=counted,
        flat_caution=flat_caution,
        flat_line=flat_line,
        raters_line=raters_line,
        grid_line=grid_line,
        lean_rule=LEAN,
        lean_sentences=lean_sentences,
        tests_method=tests_method,
        tests_sentence=tests_sentence,
        glossary=glossary(present(audit)),
        named=NAMED,
        number=number,
        points=points,
        listed=listed,
        isfinite=np.isfinite,
    )


def _rows(report: JudgeReport) -> list[list[str]]:
    assert report.overall is not None
    rows = [comparison_row(report.overall)]
    if report.with_them is not None:
        rows.append(["with " + listed(report.left_out), *comparison_row(report.with_them)[1:]])
    return rows + [comparison_row(c) for c in (*report.by_country, *report.by_question)]


def _picture(report: JudgeReport) -> Picture | None:
    assert report.overall is not None
    shown: Sequence[Comparison] = [report.overall, *report.by_country, *report.by_question]
    shown = [c for c in shown if c.difference.usable]
    if not shown:
        return None
    low = min(0.0, *(c.difference.low for c in shown))
    high = max(0.0, *(c.difference.high for c in shown))
    step = next(s for s in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0) if (high - low) / s <= 6)
    low, high = np.floor(low / step) * step, np.ceil(high / step) * step

    names = 8 * max(len("points"), *(min(len(c.where), NAMED) for c in shown)) + 8  # pixels that names take
    width = names + BARS
    start = 100 * names / width

    def place(value: float) -> float:
        return float(start + 5 + (100 - start - 10) * (value - low) / (high - low))

    ticks = tuple(
        (place(t), f"{100 * t:+.0f}" if abs(t) > step / 2 else "0") for t in np.arange(low, high + step / 2, step)
    )
    marks = tuple(
        Mark(c.where or "all", place(c.difference.low), place(c.difference.value), place(c.difference.high),
             points(c.difference))
        for c in shown
    )  # fmt: skip
    return Picture(marks, place(0.0), ticks, start, width)


def _agreement(row: Agreement) -> list[str]:
    f = row.equal
    name = " / ".join(part for part in (row.part, row.where) if part) or "all"
    if not f.usable:
        return [name, f"{f.n:,}", "too few items" if f.n else f.note, "", "", ""]
    equal = share_with_ends(f)
    kappa = f"{row.kappa:.2f}" if np.isfinite(row.kappa) else ""
    return [name, f"{f.n:,}", equal, number(row.alpha), share(row.commonest, f.clusters), kappa]
