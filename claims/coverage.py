"""Which numbers of a document some claim binds, which are listed, and which nobody has looked at.

A number of the running text is bound when a claim of the same section reports it; a number of a table when its cell is
used by a relation or recounted. Sections are named by `where.section` of claims: the heading is the line that starts
with that name. Context comes from the paper's [[context]] entries and from the few patterns that mean the same in
every paper (`ALWAYS`). Of what no claim binds, page numbers, dates, references and the like (`LAST`) are context too.
What is left is unbound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from countback.claims.document import Line, headings, lines_of_text, read_document, references
from countback.claims.expand import addresses
from countback.claims.registry import Paper

__all__ = ["STATUSES", "UNBOUND", "Found", "cover", "read_document", "unbound_cells"]

BOUND, ASSERTED, CONTEXT, UNBOUND = "bound", "asserted", "context", "unbound"
STATUSES = (BOUND, ASSERTED, CONTEXT, UNBOUND)

NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d))(?![\d])")
_HEX = r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,64}(?:(?:\.\.\.|\u2026)[0-9a-f]{4,64})?"
HEX = re.compile(rf"(?<![\w]){_HEX}(?![\w])")
ALWAYS = (
    (  # names of hosts and people are short; without a limit a line of dots would take its length squared
        "link",
        re.compile(r"https?://\S+|\b[\w.-]{1,99}\.(?:com|org|io)/\S+|arXiv:\S+|\b[\w.]{1,99}@[\w.]+\w"),
    ),
    (
        "citation",
        re.compile(r"\((?:[^()]*?,\s*)?(?:19|20)\d\d[a-z]?(?:[;,][^()]*)?\)|\bet al\.,? \(?(?:19|20)\d\d[a-z]?\)?"),
    ),
    (
        "cross-reference",
        re.compile(
            r"(?:Figures?|Tables?|Sections?|Appendix|Appendices|App\.|Equations?|RQ|\u00a7)\s*~?[A-Z]?\.?\d[\d.]*"
            r"(?:\s*(?:,|and|\u2013|-|through|to|\u2013\u00a7)\s*\u00a7?[A-Z]?\.?\d[\d.]*)*"
        ),
    ),
)


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)(?:[a-z]+\b|\b\.?)"
LAST = (  # what a number that no claim binds may be in any paper
    (
        "date",
        re.compile(
            rf"\b(?:19|20)\d\d-\d\d-\d\d\b|\b(?:\d{{1,2}}\s+)?{_MONTH},?\s+(?:19|20)\d\d\b"
            rf"|\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:\s?[-\u2013]\s?\d{{1,2}}\b)?(?:,?\s+(?:19|20)\d\d\b)?"
        ),
    ),
    ("part of a name", re.compile(r"\b[A-Za-z][A-Za-z]{1,40}-\d[\w.]*")),
    ("number of an equation", re.compile(r"\A\s*\(\d{1,3}[a-z]?\)\s*\Z")),
)
_CITED = re.compile(r"\[\s*\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\s*\]")


@dataclass(frozen=True)
class Found:
    """One number of a document: where it stands, what it is to the registry, and by which claim or pattern."""

    line: int
    section: str
    token: str
    around: str
    status: str
    by: str = ""
    page: int = 0


def cover(paper: Paper, document: str | Sequence[Line]) -> list[Found]:
    """Every number of the document, in order, with its status."""
    claimed = _claimed(paper)
    cells = _cells(paper)
    sections = sorted({s for s, _ in claimed} | {c.section for c in paper.context} - {"*"}, key=len, reverse=True)
    lines = lines_of_text(document) if isinstance(document, str) else document
    no_claims = _no_claims(lines)
    found: list[Found] = []
    section = ""
    for place, line in enumerate(lines):
        section = _heading(line.text, sections) or section
        before, after = _Masks(_context(paper, section, line)), _Masks(no_claims(place))
        for start, end, token in sorted(_tokens(line.text)):
            around = line.text[max(0, start - 30) : end + 30].strip().replace("\t", " | ")
            if context := before.over(start, end):
                status, by = CONTEXT, context
            elif line.table:
                status, by = cells.get((line.table, token), (UNBOUND, ""))
                if status == UNBOUND:  # a sentence in a cell, or a table that is not transcribed
                    status, by = claimed.get((line.table, token), (UNBOUND, ""))
            else:
                status, by = claimed.get((section, token), (UNBOUND, ""))
            if status == UNBOUND and (context := after.over(start, end)):
                status, by = CONTEXT, context
            found.append(Found(place + 1, section, token, around, status, by, line.page))
    return found


class _Masks:
    """Parts of a line, each with what it is; asked about places from left to right."""

    def __init__(self, parts: Iterable[tuple[int, int, str]]) -> None:
        self.left = sorted(parts, key=lambda part: part[0], reverse=True)
        self.reach, self.why = 0, ""

    def over(self, start: int, end: int) -> str:
        """What covers the place; of the parts begun so far it is the one that ends last."""
        while self.left and self.left[-1][0] <= start:
            _, stop, why = self.left.pop()
            self.reach, self.why = (stop, why) if stop > self.reach else (self.reach, self.why)
        return self.why if end <= self.reach else ""


def _no_claims(lines: Sequence[Line]) -> Callable[[int], Iterator[tuple[int, int, str]]]:
    """Parts of a line, by its place, whose numbers are none of the paper's claims, with what they are."""
    listed, entries = references(lines)
    numbered = headings(lines)

    def parts(place: int) -> Iterator[tuple[int, int, str]]:
        text = lines[place].text
        if place in listed:
            yield 0, len(text), "list of references"
        if place in numbered:
            yield 0, text.index(numbered[place]) + len(numbered[place]), "number of a heading"
        for cited in _CITED.finditer(text):
            if set(map(int, re.findall(r"\d+", cited[0]))) <= entries:
                yield cited.start(), cited.end(), "citation"
        for why, pattern in LAST:
            for match in pattern.finditer(text):
                yield match.start(), match.end(), why

    return parts


def unbound_cells(paper: Paper) -> list[str]:
    """Cells with a number in them that no relation uses and no [[asserted]] entry lists, as table|row|column."""
    bound = _bound_cells(paper)
    return [
        f"{name}|{row}|{column}"
        for name, table in paper.tables.items()
        for row, cells in table.rows.items()
        for column in table.values
        if list(_tokens(cells[column])) and f"{name}|{row}|{column}" not in bound
    ]


def _bound_cells(paper: Paper) -> dict[str, tuple[str, str]]:
    titles = {table.spec.title: name for name, table in paper.tables.items()}
    bound: dict[str, tuple[str, str]] = {}
    for claim in paper.claims:
        if claim.check is None and claim.where.get("table") in titles and {"row", "column"} <= set(claim.where):
            address = f"{titles[claim.where['table']]}|{claim.where['row']}|{claim.where['column']}"
            if claim.recipe:
                bound[address] = (BOUND, claim.id)
            bound.setdefault(address, (ASSERTED, claim.id))
    for claim in paper.claims:
        for address in addresses(claim):
            if address.count("|") == 2 and bound.get(address, (ASSERTED, ""))[0] == ASSERTED:
                bound[address] = (BOUND, claim.id)
    return bound


def _cells(paper: Paper) -> dict[tuple[str, str], tuple[str, str]]:
    """(table title, token) -> status. Row keys and headers are names, hence context."""
    result: dict[tuple[str, str], tuple[str, str]] = {}
    bound = _bound_cells(paper)
    for name, table in paper.tables.items():
        title = table.spec.title
        for row, cells in table.rows.items():
            for column, cell in cells.items():
                fallback = (UNBOUND, "") if column in table.values else (CONTEXT, "row name")
                status = bound.get(f"{name}|{row}|{column}", fallback)
                for _, _, token in _tokens(cell):
                    if result.get((title, token), (UNBOUND, ""))[0] in (UNBOUND, CONTEXT):
                        result[title, token] = status
        for header in table.columns:
            for _, _, token in _tokens(header):
                result.setdefault((title, token), (CONTEXT, "column name"))
    return result


def _claimed(paper: Paper) -> dict[tuple[str, str], tuple[str, str]]:
    """(section, token) -> status, for every number that claims of that section report."""
    asserted = {claim.id for claim in paper.claims if claim.asserted}
    result: dict[tuple[str, str], tuple[str, str]] = {}
    for spec in paper.numbers.values():
        status = ASSERTED if spec.id in asserted else BOUND
        for _, _, token in [*_tokens(spec.reported), (0, 0, spec.reported)]:
            key = (spec.where.get("section", ""), token)
            if result.get(key, ("", ""))[0] != BOUND:
                result[key] = (status, spec.id)
    return result


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    hexes = [(m.start(), m.end()) for m in HEX.finditer(text)]
    for start, end in hexes:
        yield start, end, text[start:end]
    for match in NUMBER.finditer(text):
        if match.group() and not any(a <= match.start() < b for a, b in hexes):
            yield match.start(), match.end(), match.group()


def _context(paper: Paper, section: str, told: Line) -> Iterator[tuple[int, int, str]]:
    line = told.text
    if told.why:
        yield 0, len(line), told.why
    for why, pattern in ALWAYS:
        for match in pattern.finditer(line):
            yield match.start(), match.end(), why
    for entry in paper.context:
        if entry.section in ("*", section):
            for name in entry.numbers:
                for match in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\d])" if name != "*" else ".+", line):
                    yield match.start(), match.end(), entry.why


def _heading(line: str, sections: Iterable[str]) -> str:
    """The section whose heading this line is: a short line that starts with its name."""
    if len(line) > 160 or "\t" in line:
        return ""
    for name in sections:
        if name and line.startswith(name) and not re.match(r"[\w,.]", line[len(name) : len(name) + 1]):
            return name
    return ""
