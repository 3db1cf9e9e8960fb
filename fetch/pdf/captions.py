"""Captions of a page, and which table each belongs to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from countback.fetch.pdf.layout import Box, Glyph, View, bounding, lines_of, split, text_of, words_of

_LABEL = re.compile(
    r"(?P<kind>(?:Supplementary |Supp\. ?|Extended Data |Appendix )?(?:Table|Tab\.|Figure|Fig\.|Algorithm|Listing|Box))"
    r"\s?(?P<number>[A-Z]?\.?[0-9]+(?:\.[0-9]+)?[a-z]?|[IVXL]+)(?P<end>\s?[:.|]|\s?[–—]|\s|$)",
    re.IGNORECASE,
)
_REACH = 45.0  # points between a caption and its table
_STACKED = 30.0  # points between the parts of one float


@dataclass(frozen=True)
class Caption:
    label: str
    text: str
    box: Box
    of_table: bool
    notes: tuple[str, ...] = ()


def is_caption_start(line: Sequence[Glyph]) -> bool:
    """A line that starts with "Table 3:", "TABLE II.", or a bold "Table 3"; "Table 3 shows" is prose."""
    found = _LABEL.match(text_of(line))
    if found is None:
        return False
    if found["end"].strip() or found.end() >= len(text_of(line)):
        return True
    label_font = line[0].font
    rest = [g for g in line if g.font != label_font]
    return bool(rest) and re.search(r"bold|bx|semib|-b$|medi", label_font, re.IGNORECASE) is not None


def find_captions(view: View) -> list[Caption]:
    """Caption blocks of a page; lines of two text columns are never joined across the gutter."""
    lines = lines_of(view.glyphs)
    cuts = gutter(lines, view.page_box)
    pieces = [piece for line in lines for piece in split(line, 1.5, cuts)]
    ruled = [(r.y, r.x0, r.x1) for r in view.rules]
    captions = []
    for piece in pieces:
        if not is_caption_start(piece) or _continues_text(piece, pieces, ruled):
            continue
        block = _block(piece, pieces, ruled)
        found = _LABEL.match(text_of(piece))
        assert found is not None
        label = re.sub(r"(?<=[A-Za-z.])(?=[0-9])", " ", f"{found['kind']} {found['number']}".replace("  ", " "))
        box = bounding([g for line in block for g in line])
        of_table = re.search(r"tab", found["kind"], re.IGNORECASE) is not None
        captions.append(Caption(label, " ".join(words_of(line) for line in block), box, of_table))
    return captions


def gutter(lines: Sequence[Sequence[Glyph]], frame: Box) -> tuple[float, ...]:
    """The x of the white strip between two text columns, or nothing. Lines share a baseline across it by chance."""
    votes: Counter[int] = Counter()
    crossing: Counter[int] = Counter()
    width = frame[2] - frame[0]
    for line in lines:
        parts = [part for part in split(line, 0.8) if part[-1].x1 - part[0].x0 >= 0.2 * width]
        for part in parts:
            crossing.update(range(int(part[0].x0) + 1, int(part[-1].x1) + 1))
        for left, right in pairwise(parts):
            votes.update(range(int(left[-1].x1) + 1, int(right[0].x0) + 1))
    best = max(votes.values(), default=0)
    middle = [x for x, n in votes.items() if n == best and n >= 5 and n > 2 * crossing[x]]
    return (median(middle),) if middle else ()


def _above(piece: Sequence[Glyph], pieces: Sequence[Sequence[Glyph]], ruled: list[tuple[float, float, float]]) -> float:
    """Points from the baseline of the text above (in the same text column) to this one; infinite across a rule."""
    x0, x1 = piece[0].x0, piece[-1].x1
    over = [p[0].base for p in pieces if p[0].base < piece[0].base - 1 and p[0].x0 < x1 and p[-1].x1 > x0]
    if not over:
        return float("inf")
    parted = any(max(over) <= y <= piece[0].base and a < x1 and b > x0 for y, a, b in ruled)
    return float("inf") if parted else piece[0].base - max(over)


def _continues_text(
    piece: Sequence[Glyph], pieces: Sequence[Sequence[Glyph]], ruled: list[tuple[float, float, float]]
) -> bool:
    """Whether the line stands in the middle of a paragraph, as a sentence that happens to start with "Table 5."."""
    return _above(piece, pieces, ruled) <= 1.6 * piece[0].size


def _block(
    first: Sequence[Glyph], pieces: Sequence[Sequence[Glyph]], ruled: list[tuple[float, float, float]]
) -> list[Sequence[Glyph]]:
    """The caption's lines: those that follow at the leading of text, with no rule between."""
    block = [first]
    x0, x1 = first[0].x0 - 20, first[-1].x1 + 20
    leading = 1.6 * first[0].size
    while True:
        last = block[-1]
        below = [p for p in pieces if 1 < p[0].base - last[0].base <= leading and p[0].x0 < x1 and p[-1].x1 > x0]
        below = [p for p in below if not any(last[0].base < y < p[0].base and a < x1 and b > x0 for y, a, b in ruled)]
        if not below:
            return block
        nearest = min(below, key=lambda p: p[0].base)
        if is_caption_start(nearest):
            return block
        leading = min(leading, 1.15 * (nearest[0].base - last[0].base))
        block.append(nearest)


def give_captions(boxes: Sequence[Box], captions: Sequence[Caption]) -> list[Caption | None]:
    """The caption of each table, or None. A page sets its captions above or below; the side that serves more tables
    wins, then the nearer one. Stacked parts of one float share its caption when there is no doubt which it is."""
    pairs = [
        (distance, side, i, k)
        for i, box in enumerate(boxes)
        for k, caption in enumerate(captions)
        for distance, side in [_distance(box, caption)]
        if 0 <= distance <= _REACH and not _between(box, caption.box, boxes)
    ]
    trials = [_greedy(pairs), *(_greedy([p for p in pairs if p[1] == side]) for side in ("above", "below"))]
    best = max(trials, key=lambda t: (len(t), -sum(d for _, d in t.values())))
    given: list[Caption | None] = [captions[best[i][0]] if i in best else None for i in range(len(boxes))]
    return _shared(boxes, given)


def _distance(box: Box, caption: Caption) -> tuple[float, str]:
    """Points of white between a table and a caption, and on which side; negative when they do not face each other."""
    if min(box[2], caption.box[2]) - max(box[0], caption.box[0]) <= 0:
        return (-1.0, "")
    if caption.box[3] <= box[1] + 4:
        # Captions of figures stand below them, so one above a table is none of the table's business.
        return (max(0.0, box[1] - caption.box[3]), "above") if caption.of_table else (-1.0, "")
    return (max(0.0, caption.box[1] - box[3]), "below") if caption.box[1] >= box[3] - 4 else (-1.0, "")


def _between(box: Box, caption: Box, boxes: Sequence[Box]) -> bool:
    low, high = min(box[3], caption[3]), max(box[1], caption[1])
    return any(o != box and low - 1 <= o[1] and o[3] <= high + 1 and o[0] < box[2] and o[2] > box[0] for o in boxes)


def _greedy(pairs: list[tuple[float, str, int, int]]) -> dict[int, tuple[int, float]]:
    given: dict[int, tuple[int, float]] = {}
    for distance, _, i, k in sorted(pairs):
        if i not in given and all(k != used for used, _ in given.values()):
            given[i] = (k, distance)
    return given


def _shared(boxes: Sequence[Box], given: list[Caption | None]) -> list[Caption | None]:
    """Tables that stand close together with one caption among them are parts of one float."""
    out = list(given)
    for i in range(len(boxes)):
        if given[i] is None:
            chain = _chain(i, boxes)
            owners = [given[k] for k in chain if given[k] is not None]
            if len(owners) == 1 and owners[0] is not None and owners[0].of_table:
                out[i] = replace(owners[0], notes=("shares the caption of the table part next to it",))
    return out


def _chain(start: int, boxes: Sequence[Box]) -> set[int]:
    chain = {start}
    while True:
        near = {
            k
            for k, b in enumerate(boxes)
            for i in chain
            if min(abs(b[1] - boxes[i][3]), abs(boxes[i][1] - b[3])) <= _STACKED
            and b[0] < boxes[i][2]
            and b[2] > boxes[i][0]
        }
        if near <= chain:
            return chain
        chain |= near
