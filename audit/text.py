"""Verdicts as text on a terminal: findings first, then counts, then what was not checked and the next command."""

from __future__ import annotations

import shutil
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click
from countback.audit.run import Run
from countback.audit.words import sentence, visible
from countback.claims.coverage import STATUSES, UNBOUND, Found
from countback.claims.registry import Paper, list_papers
from countback.claims.verdict import FINDINGS, UNCHECKED, VERDICTS, Verdict

if TYPE_CHECKING:
    from countback.claims.papers.cubes.twin import TwinReport

COLOURS = {
    "reproduced": "green",
    "consistent": "green",
    "differs": "red",
    "inconsistent": "red",
    "uninformative": "yellow",
    "unchecked": "yellow",
}


def width() -> int:
    """Columns of the terminal, between 20 and 110."""
    return max(20, min(shutil.get_terminal_size((100, 24)).columns, 110))


def present(run: Run) -> str:
    """The whole answer of `countback check`."""
    return "\n".join([*_findings(run), *_notes(run), *_counts(run), *_unchecked(run), *_short(run)])


def _wrap(text: str, indent: int) -> str:
    pad = " " * indent
    return textwrap.fill(
        visible(text),
        width(),
        initial_indent=pad,
        subsequent_indent=pad,
        break_long_words=False,
        break_on_hyphens=False,  # an id or a path stays whole
    )


def _findings(run: Run) -> Iterator[str]:
    new = [v for v in run.verdicts if not v.expected]
    known: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        if verdict.known and verdict.claim.known is not None:
            known[verdict.claim.known.why].append(verdict)
    if new:
        yield click.style(f"UNEXPECTED ({len(new)}): a verdict that nobody has recorded", bold=True)
        for verdict in new:
            yield from _one(verdict)
            if verdict.claim.known is not None and verdict.verdict not in FINDINGS:
                yield _wrap(
                    f"recorded as {verdict.claim.known.verdict} since {verdict.claim.known.since}; it no longer is", 4
                )
        yield _wrap(
            "Redo it by hand; what stands is recorded in claims.toml under [[known]], with why, and is expected then.",
            2,
        )
        yield ""
    count = sum(len(group) for group in known.values())
    yield click.style(f"FINDINGS ({count} known, each confirmed by hand)", bold=True)
    for why, verdicts in known.items():
        for verdict in verdicts:
            yield from _one(verdict)
        record = verdicts[0].claim.known
        assert record is not None
        yield _wrap(f"known since {record.since}: {why}", 4)
    if not known:
        yield "  none"
    yield ""


def _one(verdict: Verdict) -> Iterator[str]:
    mark = click.style(verdict.verdict, fg=COLOURS[verdict.verdict])
    yield f"  {visible(verdict.claim.full_id)}  {mark}"
    yield _wrap(arithmetic(verdict), 4)


def arithmetic(verdict: Verdict) -> str:
    """One sentence: what is printed where, what follows from what, and by how much they miss each other."""
    where = ", ".join(str(part) for part in verdict.claim.where.values())
    line = f"{where}: {verdict.claim.reads}." if where else f"{verdict.claim.reads}."
    if verdict.claim.reported:
        line += f" Reported {verdict.claim.reported}"
    if verdict.recounted is not None:
        line += f"{',' if verdict.claim.reported else ''} recounted {_number(verdict.recounted)}"
        if verdict.interval and verdict.interval[0] != verdict.interval[1]:
            line += f" (anything from {_number(verdict.interval[0])} to {_number(verdict.interval[1])})"
    if verdict.gap not in (None, "0", 0.0):
        line += f"; {_number(verdict.gap)} beyond rounding"
    return f"{line}. {sentence(verdict.reason)}" if verdict.reason else f"{line}."


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _notes(run: Run) -> Iterator[str]:
    truncated = [v for v in run.verdicts if v.evidence.get("rounding") == "truncation"]
    if truncated:
        yield click.style(f"AGREE ONLY IF TRUNCATED ({len(truncated)})", bold=True)
        yield _wrap(", ".join(v.claim.full_id for v in truncated), 2)
        yield ""


def _counts(run: Run) -> Iterator[str]:
    by_paper: dict[str, Counter[str]] = {paper.id: Counter() for paper in run.papers}
    for verdict in run.verdicts:
        by_paper[verdict.claim.paper][verdict.verdict] += 1
    name_width = max(len(name) for name in [*by_paper, "paper"])
    shown = [word for word in VERDICTS if any(c[word] for c in by_paper.values())]
    yield click.style(f"COUNTS ({len(run.verdicts)} claims)", bold=True)
    if name_width + sum(len(word) + 2 for word in shown) + 2 <= width():
        yield "  " + "paper".ljust(name_width) + "".join(f"  {word}" for word in shown)
        for paper, counts in by_paper.items():
            yield "  " + paper.ljust(name_width) + "".join(f"  {counts[word]:>{len(word)}}" for word in shown)
    else:
        for paper, counts in by_paper.items():
            yield f"  {paper}"
            yield from (f"  {counts[word]:>5} {word}" for word in shown)
    yield ""


def _unchecked(run: Run) -> Iterator[str]:
    reasons: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in run.verdicts:
        if verdict.verdict == UNCHECKED:
            reasons[verdict.claim.paper, verdict.reason.partition(":")[0]].append(verdict)
    if not reasons:
        yield click.style("NOT CHECKED: nothing", bold=True)
        return
    yield click.style("NOT CHECKED", bold=True)
    papers = {paper.id: paper for paper in run.papers}
    for (paper, reason), verdicts in reasons.items():
        yield _wrap(f"{paper}: {len(verdicts)} {reason}{_next_step(papers[paper], reason, verdicts)}", 2)


def _next_step(paper: Paper, reason: str, verdicts: list[Verdict]) -> str:
    pins = [pin for release in paper.releases for pin in release.files]
    if reason == "archive absent":
        if not pins:
            return ": " + verdicts[0].reason.partition(": ")[2]
        name = paper.id if paper.folder in list_papers() else paper.folder  # the user's own is found by no id
        fetch = f"countback fetch {name}, or " if any(pin.url for pin in pins) else ""
        return f"; to check: {fetch}countback check {name} --data DIR"
    if reason == "unverified data":
        agree = sum(v.agrees is True for v in verdicts)
        used = {file["status"] for v in verdicts for file in v.evidence["files"]}
        why = "the file is not the one that was pinned" if pins else "no pin says what the released files are"
        if "unverified" not in used:  # nothing contradicts the pin, which holds a part of the digest, or none
            why = "no full digest of the file is published"
        return f"; {agree} of them agree, which proves nothing: {why}"
    if reason == "synthetic data":
        agree = sum(v.agrees is True for v in verdicts)
        return f"; {agree} of them agree, which proves nothing: the file is a stand-in"
    if reason == "unconfirmed transcription":
        compared = [v.agrees for v in verdicts if v.agrees is not None]
        shown = f" ({sum(compared)} of the {len(compared)} that were compared agree)" if compared else ""
        return f"{shown}; compare each cell that starts with ? with the paper, then delete the mark"
    if reason == "asserted only":
        return "; nothing in the paper or a release can check them"
    return ""


def present_twin(report: TwinReport) -> str:
    """What a synthetic twin is, what it meets and what it misses."""
    lines = [
        f"SYNTHETIC: {report.path}, seed {report.seed}, sha256 {report.sha256}",
        "Nothing recounted from it can be reproduced: it was solved to meet the article's numbers.",
        f"meets {len(report.met)} of {len(report.met) + len(report.missed)} recounts",
    ]
    told = [f"misses {line.claim}: printed {line.reported}, recounted {line.recounted}" for line in report.missed]
    told += [f"cannot speak of {line.claim}: {line.note}" for line in report.absent]
    return "\n".join([*(_wrap(line, 0) for line in lines), *(_wrap(line, 2) for line in told)])


def present_coverage(found: list[Found], everything: bool) -> str:
    """Counts by status, then the unbound numbers (or all) with the words around them."""
    counts = Counter(number.status for number in found)
    total = len(found) or 1
    lines = [f"{len(found)} numbers"]
    lines += [f"  {counts[word]:>5}  {100 * counts[word] / total:5.1f}%  {word}" for word in STATUSES]
    told = [number for number in found if everything or number.status == UNBOUND]
    for (place, page, status, by), group in groupby(told, key=lambda n: (n.line, n.page, n.status, n.by)):
        numbers = list(group)
        where = f"page {page}" if page else f"line {place}"
        tokens = ", ".join(number.token for number in numbers)
        by = f" ({by})" if by else ""
        lines.append(_wrap(f"{where}: {tokens}: {status}{by}: {numbers[0].around}", 0))
    return "\n".join(lines)


def _short(run: Run) -> Iterator[str]:
    for paper in run.papers:
        if paper.id in run.short:
            yield ""
            yield click.style("INCOMPLETE", bold=True)
            yield f"  {paper.id}: {len(paper.claims)} claims, paper.toml requires {paper.spec.requires}"
