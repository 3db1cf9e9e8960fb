"""The report as one HTML page: no network, no font of its own, everything there without scripts.

Words come from `countback.audit.report.words`; nothing is computed. Every text is escaped by jinja2 (extra `report`),
and the page forbids any script but its own by its hash, so a hostile paper folder stays text.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from countback.audit.predict import Status
from countback.audit.predict_text import LEGEND, criterion_words
from countback.audit.report import words
from countback.audit.report.data import PROVES_NOTHING, Cell, Line, Section, Told, anchor
from countback.audit.report.drawn import Shown, shown
from countback.audit.report.pictures import Moment, timeline, verdict_counts
from countback.audit.templating import TEMPLATES, template
from countback.claims.decision import OPEN, OVERDUE
from countback.claims.prediction import instant_text
from countback.claims.resolve_lead import LeadRule
from countback.claims.verdict import FINDINGS, VERDICTS

INLINE = 6  # a check of more numbers than this folds their list away
CHUNK = 500  # rows of one table; a browser lays out only the tables that are in sight


@dataclass(frozen=True)
class Finding:
    """Findings with one cause: recorded together, or each new one alone."""

    new: bool
    since: str
    why: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Mark:
    """Of a table's cell: a verdict's symbol with how many claims about it have it, the first of them, and the words."""

    shown: str
    first: Line
    words: str


def page(told: Told, papers: Sequence[Section], predictions: Sequence[Status], today: date) -> str:
    """The page as text. Raises UserError without jinja2 or matplotlib."""
    html = template("report.html.j2", "A report", "countback check --json needs nothing", lstrip_blocks=True)
    script = (TEMPLATES / "report_filter.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return html.render(
        told=told,
        sections=papers,
        findings=findings(papers),
        loud=loud(papers),
        counts=verdict_counts([s for s in papers if s.lines]) if told.verdicts else "",
        predictions=predictions,
        legend=LEGEND if any(isinstance(status.prediction.rule, LeadRule) for status in predictions) else "",
        timeline=timeline([_moment(status) for status in predictions], today) if predictions else "",
        today=today,
        script=script,
        digest=digest,
        verdicts=VERDICTS,
        broken=FINDINGS,
        inline=INLINE,
        chunks=chunks,
        marks=marks,
        titles_of={section.id: titles(section) for section in papers},
        pictures_of={section.id: pictures(section) for section in papers},
        files=files,
        criteria=criteria,
        anchor=anchor,
        instant_text=instant_text,
        words=words,
    )


def findings(papers: Sequence[Section]) -> list[Finding]:
    """Unexpected verdicts first, then the recorded findings by their cause."""
    new: list[Finding] = []
    known: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for section in papers:
        for line in section.lines:
            since, why = section.why_known(line)
            if not section.expected(line):
                new.append(Finding(True, since, why, (line,)))
            elif line.verdict in FINDINGS:
                known[section.id, since, why].append(line)
    return new + [Finding(False, since, why, tuple(lines)) for (_, since, why), lines in known.items()]


def loud(papers: Sequence[Section]) -> list[tuple[str, str, int]]:
    """What has to be said in big words: paper, which data proves nothing, how many claims."""
    found = []
    for section in papers:
        for reason, lines in section.unchecked():
            if reason in PROVES_NOTHING:
                found.append((section.id, reason, len(lines)))
    return found


def chunks(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Pieces that a browser can lay out one by one."""
    for start in range(0, len(lines), CHUNK):
        yield lines[start : start + CHUNK]


def marks(cell: Cell) -> list[Mark]:
    """One mark for each verdict that claims about the cell have, the worst first."""
    found: dict[str, list[Line]] = {}
    for line in cell.about:
        found.setdefault(line.verdict, []).append(line)
    return [
        Mark(
            words.SYMBOLS[verdict] + (str(len(lines)) if len(lines) > 1 else ""),
            lines[0],
            f"{verdict}: " + "; ".join(line.name for line in lines[:8]) + ("; ..." if len(lines) > 8 else ""),
        )
        for verdict, lines in found.items()
    ]


def titles(section: Section) -> dict[str, str]:
    """Table ids and what the paper calls them."""
    return {name: table.spec.title for name, table in section.paper.tables.items()} if section.paper else {}


def pictures(section: Section) -> list[Shown]:
    """What of the JSON is drawn for a paper."""
    return shown(section.pictures, {line.id for line in section.lines}) if section.pictures else []


def files(section: Section) -> list[tuple[str, str, str, str]]:
    """Every file of the inputs and of the evidence: name, release, sha256, status."""
    found = {(f.file, f.sha256): (f.file, f.release, f.sha256, f.status) for f in section.inputs}
    for line in section.lines:
        for used in line.evidence.files:
            found.setdefault((used.file, used.sha256), (used.file, "", used.sha256, used.status))
    return list(found.values())


def _moment(status: Status) -> Moment:
    spec = status.prediction.spec
    resolved = status.resolutions[-1].at.date() if status.resolutions else None
    name = status.prediction.full_id
    return Moment(name, status.state, spec.made, spec.deadline.date() if spec.deadline else None, resolved)


def criteria(status: Status) -> list[tuple[str, str]]:
    """Each criterion of an open prediction with its present numbers; none where nothing at hand speaks to it."""
    if status.state not in (OPEN, OVERDUE) or status.present.source == "nothing":
        return []
    rule = status.prediction.rule
    only = rule.only if isinstance(rule, LeadRule) else ""
    found: Any = status.present.decision.criteria
    return [(c.id, criterion_words(c, rule, status.present.intervals)) for c in found if only in ("", c.id)]
