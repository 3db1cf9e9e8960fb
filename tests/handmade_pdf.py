"""A PDF writer small enough to read, for tests that need a page drawn in one particular way.

It draws text and straight rules with the operators of the PDF language and nothing else. Letters have the widths of
Helvetica (as pdfminer knows them); a ToUnicode table lets any character stand for itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pdfminer.fontmetrics import FONT_METRICS

_HELVETICA: dict[str, int] = FONT_METRICS["Helvetica"][1]
_OTHER = 556  # a digit's width, for characters that Helvetica's table lacks


def width(text: str, size: float = 10) -> float:
    """How wide a text is drawn, in points."""
    return sum(_HELVETICA.get(char, _OTHER) for char in text) * size / 1000


@dataclass
class Sheet:
    """One page. Positions are in points from its upper left corner; a text's y is that of its baseline."""

    width: float = 612
    height: float = 792
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None  # left, bottom, right, top, as in the file
    operators: list[tuple[str, object]] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 10,
        *,
        rise: float = 0,
        angle: int = 0,
        colour: str = "0 g",
        bold: bool = False,
    ) -> float:
        """Draw a text; return the x where it ends (when it runs to the right)."""
        a, b = round(math.cos(math.radians(angle)), 6), round(math.sin(math.radians(angle)), 6)
        set_up = f"BT {colour} /{'F2' if bold else 'F1'} {size} Tf {rise} Ts {a} {b} {-b} {a} {x} {self.height - y} Tm "
        self.operators.append((set_up, text))
        return x + width(text, size)

    def right(self, x: float, y: float, text: str, size: float = 10) -> None:
        """Draw a text that ends at x."""
        self.text(x - width(text, size), y, text, size)

    def centre(self, x: float, y: float, text: str, size: float = 10) -> None:
        self.text(x - width(text, size) / 2, y, text, size)

    def rule(
        self, x0: float, y0: float, x1: float, y1: float | None = None, thick: float = 0.8, colour: str = "0 G"
    ) -> None:
        y1 = y0 if y1 is None else y1
        stroke = f"{colour} {thick} w {x0} {self.height - y0} m {x1} {self.height - y1} l S"
        self.operators.append((stroke, None))

    def shade(self, x0: float, y0: float, x1: float, y1: float, colour: str) -> None:
        self.operators.append((f"{colour} {x0} {self.height - y1} {x1 - x0} {y1 - y0} re f", None))


def ruled_table(
    sheet: Sheet,
    x: float,
    y: float,
    rows: Sequence[Sequence[str]],
    columns: Sequence[float],
    *,
    pitch: float = 14,
    size: float = 10,
    wide: float | None = None,
) -> float:
    """Draw a table with three horizontal rules: `rows[0]` is the header; the first column starts at x, the others end
    at the given x positions. Return the y of the bottom rule."""
    end = wide or columns[-1]
    sheet.rule(x, y, end)
    for i, row in enumerate(rows):
        base = y + pitch * (i + 1) - 3
        sheet.text(x, base, row[0], size)
        for stop, cell in zip(columns, row[1:], strict=True):
            if cell:
                sheet.right(stop, base, cell, size)
        if i == 0:
            sheet.rule(x, base + 4, end, thick=0.5)
            y += 3
    bottom = y + pitch * len(rows) + 3
    sheet.rule(x, bottom, end)
    return bottom


def write_pdf(path: Path, sheets: Sequence[Sheet], title: str = "handmade test page") -> Path:
    """Write the pages to a file and return its path."""
    characters = sorted(
        {char for sheet in sheets for _, text in sheet.operators if isinstance(text, str) for char in text}
    )
    if len(characters) > 250:
        raise ValueError(f"{len(characters)} different characters; this writer knows 250")
    code = {char: i + 1 for i, char in enumerate(characters)}
    widths = " ".join(str(_HELVETICA.get(char, _OTHER)) for char in characters)
    mapping = "\n".join(f"<{code[char]:02x}> <{char.encode('utf-16-be').hex()}>" for char in characters)
    ranges = "1 begincodespacerange <00> <ff> endcodespacerange"
    cmap = f"begincmap {ranges} {len(code)} beginbfchar {mapping} endbfchar endcmap"
    font = f"/Type /Font /Subtype /Type1 /FirstChar 1 /LastChar {len(code)} /Widths [{widths}] /ToUnicode 3 0 R"
    look = "/Type /FontDescriptor /Flags 4 /FontBBox [0 -207 1000 718] /Ascent 718 /Descent -207 /ItalicAngle 0"
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(sheets)} /Kids [{' '.join(f'{8 + 2 * i} 0 R' for i in range(len(sheets)))}] >>",
        _stream(cmap),
        f"<< {font} /BaseFont /Handmade /FontDescriptor 6 0 R >>",
        f"<< {font} /BaseFont /Handmade-Bold /FontDescriptor 7 0 R >>",
        f"<< {look} /FontName /Handmade >>",
        f"<< {look} /FontName /Handmade-Bold >>",
    ]
    for i, sheet in enumerate(sheets):
        drawn = "\n".join(
            f"{op}<{''.join(f'{code[c]:02x}' for c in text)}> Tj ET" if isinstance(text, str) else op
            for op, text in sheet.operators
        )
        crop = f"/CropBox [{' '.join(map(str, sheet.crop))}]" if sheet.crop else ""
        bodies.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {sheet.width} {sheet.height}] /Rotate {sheet.rotate} {crop} "
            f"/Resources << /Font << /F1 4 0 R /F2 5 0 R >> >> /Contents {9 + 2 * i} 0 R >>"
        )
        bodies.append(_stream(drawn))
    path.write_bytes(_file(bodies, title))
    return path


def _stream(content: str) -> str:
    return f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"


def _file(bodies: Sequence[str], title: str) -> bytes:
    out = b"%PDF-1.4\n"
    offsets = []
    for i, body in enumerate([*bodies, f"<< /Title ({title}) >>"]):
        offsets.append(len(out))
        out += f"{i + 1} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(out)
    out += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    trailer = f"<< /Size {len(offsets) + 1} /Root 1 0 R /Info {len(offsets)} 0 R >>"
    return out + f"trailer {trailer}\nstartxref\n{start}\n%%EOF\n".encode()
