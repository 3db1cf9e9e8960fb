"""Which numbers of a document some claim binds, which are listed, and which nobody has looked at.

A number of the running text is bound when a claim of the same section reports it; a number of a table when its cell is
used by a relation or recounted. Sections are named by `where.section` of claims: the heading is the line that starts
with that name. Context comes from the paper's [[context]] entries and from the few patterns that mean the same in
every paper (`ALWAYS`). What is left is unbound.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from countback.claims.expand import addresses
from countback.claims.registry import Paper
from countback.claims.spec import read_text
from countback.fetch.errors import UserError

BOUND, ASSERTED, CONTEXT, UNBOUND = "bound", "asserted", "context", "unbound"
STATUSES = (BOUND, ASSERTED, CONTEXT, UNBOUND)

NUMBER = re.compile(r"(?<![\w.])(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+|(?<=\d))(?![\d])")
_HEX = r"(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,64}(?:(?:\.\.\.|\u2026)[0-9a-f]{4,64})?"
HEX = re.compile(rf"(?<![\w]){_HEX}(?![\w])")
CAPTION = re.compile(r"\s*(Table \w+)\s*[:.]")
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


@dataclass(frozen=True)
class Found:
    """One number of a document: where it stands, what it is to the registry, and by which claim or pattern."""

    line: int
    section: str
    token: str
    around: str
    status: str
    by: str = ""


def cover(paper: Paper, text: str) -> list[Found]:
    """Every number of the text, in order, with its status."""
    claimed = _claimed(paper)
    cells = _cells(paper)
    sections = sorted({s for s, _ in claimed} | {c.section for c in paper.context} - {"*"}, key=len, reverse=True)
    lines = text.splitlines()
    tables = _table_of_line(lines)
    found: list[Found] = []
    section = ""
    for number, line in enumerate(lines, start=1):
        section = _heading(line, sections) or section
        masked = sorted(_context(paper, section, line), key=lambda mask: mask[0], reverse=True)
        reach, reason = 0, ""
        for start, end, token in sorted(_tokens(line)):
            around = line[max(0, start - 30) : end + 30].strip()
            while masked and masked[-1][0] <= start:  # of the contexts begun so far, the one that ends last
                _, stop, why = masked.pop()
                reach, reason = (stop, why) if stop > reach else (reach, reason)
            context = reason if end <= reach else ""
            table = tables.get(number - 1, "")
            if context:
                status, by = CONTEXT, context
            elif table:
                status, by = cells.get((table, token), (UNBOUND, ""))
                if status == UNBOUND:  # a sentence in a cell, or a table that is not transcribed
                    status, by = claimed.get((table, token), (UNBOUND, ""))
            else:
                status, by = claimed.get((section, token), (UNBOUND, ""))
            found.append(Found(number, section, token, around, status, by))
    return found


def read_document(path: Path) -> str:
    """The text of a document (a pipe will do); a PDF needs the `pdf` extra."""
    if path.suffix.lower() != ".pdf":
        return read_text(path, pipe=True)
    try:
        import pdfplumber
    except ImportError:
        raise UserError(f'{path}: reading a PDF needs an extra; run: pip install "countback[pdf]"') from None
    try:
        with pdfplumber.open(path) as pdf:
            return "\n".join(page.extract_text() or "" for page in pdf.pages)
    except Exception as error:  # the parser has many of its own
        raise UserError(
            f"{path}: cannot be read as a PDF ({type(error).__name__}: {error}); fetch it again, or give its text"
        ) from None


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


def _context(paper: Paper, section: str, line: str) -> Iterator[tuple[int, int, str]]:
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


def _table_of_line(lines: list[str]) -> dict[int, str]:
    """Line index -> "Table N" for lines with tabs: the caption that follows the block, or else precedes it."""
    result: dict[int, str] = {}
    block: list[int] = []
    before = ""
    for index, line in enumerate(lines):
        if "\t" in line:
            block.append(index)
            continue
        caption = CAPTION.match(line)
        if caption:
            before = caption[1]
            result.update(dict.fromkeys(block, before))
            block = []
        elif len(line) > 200 and block and not lines[index - 1].strip():  # running text: the caption stood above
            result.update(dict.fromkeys(block, before))
            block = []
    return result
