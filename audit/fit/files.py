"""The folder of a fit: fit.json, a picture each as SVG, and a page that holds them all with the words of the text."""

from __future__ import annotations

import json
from pathlib import Path

from countback.audit.fit.drawing import NAMES, drawings
from countback.audit.fit.text import Line, sections
from countback.audit.fit.tree import SCHEMA, Found, as_json
from countback.audit.fit.words import banners, conclusion, scope
from countback.audit.judge.words import listed
from countback.audit.report import write
from countback.audit.templating import template
from countback.fetch.errors import UserError


def write_folder(found: Found, folder: Path) -> str:
    """Writes the files, each whole or not at all, and says which; a picture of an earlier fit that this one does not
    have is taken away. Raises UserError."""
    refuse_others(folder)
    files, missing = folder_of(found)
    write(files, folder)
    for name in NAMES:
        if f"{name}.svg" not in files:
            (folder / f"{name}.svg").unlink(missing_ok=True)
    if missing:
        (folder / "index.html").unlink(missing_ok=True)
    return f"{folder}: {', '.join(files)}" + (f". {missing}" if missing else "")


def refuse_others(folder: Path) -> None:
    """Raises UserError where a file that a fit writes is there already and no fit wrote it."""
    names = ("fit.json", "index.html", *(f"{name}.svg" for name in NAMES))
    taken = [name for name in names if (folder / name).exists()]
    if taken and not _of_a_fit(folder / "fit.json"):
        raise UserError(
            f"{folder} holds {listed(taken)}, and no fit.json that a fit wrote: nothing was written over; choose "
            "another folder for --out"
        )


def _of_a_fit(path: Path) -> bool:
    try:
        return bool(json.loads(path.read_bytes())["schema"] == SCHEMA)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def folder_of(found: Found) -> tuple[dict[str, bytes], str]:
    """Every file by name, and what is missing: the page without jinja2."""
    tree = as_json(found)
    pictures = drawings(found)
    files = {"fit.json": (json.dumps(tree, indent=1, allow_nan=False) + "\n").encode()}
    files |= {f"{picture.name}.svg": picture.svg.encode() for picture in pictures}
    try:
        page = template("fit.html.j2", "The page of a fit", "the other files need nothing.")
    except UserError as error:
        return files, str(error)
    html = page.render(
        found=found,
        banners=banners(found),
        scope=scope(found),
        pictures=pictures,
        conclusion=conclusion(found),
        sections=sections(found),
        item=lambda block: isinstance(block, Line) and block.mark == "- ",
    )
    return files | {"index.html": html.encode("utf-8", "replace")}, ""
