"""`countback report`: verdicts in, a folder of files out. Computes nothing: verdicts become words.

report.html for people; verdicts.json, junit.xml, summary.md, badge.json, claimreview.jsonld and ro-crate-metadata.json
for machines. All are made before the first is written; each is written whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from countback.audit.ledger import open_ledger
from countback.audit.predict import Status, open_books, statuses
from countback.audit.report import files as siblings
from countback.audit.report.data import Told, load_verdicts, read_told, sections
from countback.audit.report.html import page
from countback.audit.run import audit
from countback.audit.sources import Sources
from countback.claims.registry import Paper, find_papers, list_papers, load_paper
from countback.claims.spec import PaperSpec, read_toml
from countback.claims.verdict import VERDICTS
from countback.fetch.errors import UserError

TYPES = {".html": "text/html", ".json": "application/json", ".xml": "application/xml", ".md": "text/markdown",
         ".jsonld": "application/ld+json"}  # fmt: skip


@dataclass(frozen=True)
class Ingredients:
    """What a report is made of: the verdicts as JSON and as read, paper folders, predictions."""

    raw: dict[str, Any]
    told: Told
    papers: tuple[Paper, ...]
    predictions: tuple[Status, ...]


def gather(names: tuple[str, ...], source: Path | None, sources: Sources, ledger: Path) -> Ingredients:
    """Verdicts of a file, or of an audit made now; the folders they are about; predictions of these papers.

    With a file, `names` choose papers of it, by id or by a folder that explains them.
    """
    if source is None:
        run = audit(find_papers(names), sources.locate)
        raw, papers = run.as_json(), run.papers
        told = read_told(raw, "verdicts")
    else:
        raw = load_verdicts(source)
        told = read_told(raw, str(source))
        papers = _folders(names, told, source)
        if names:
            raw = _only(raw, {paper.id for paper in papers})
            told = read_told(raw, str(source))
    folders = tuple(str(paper.folder) for paper in papers)
    found = statuses(open_books(folders), open_ledger(ledger), now(), sources) if folders else []
    return Ingredients(raw, told, papers, tuple(found))


def _folders(names: tuple[str, ...], told: Told, source: Path) -> tuple[Paper, ...]:
    """The paper folders named, or those of the registry that the verdicts are about."""
    ids = {line.paper for line in told.verdicts}
    if names:
        papers = tuple(load_paper(folder) for folder in find_papers(names))
        absent = [paper.id for paper in papers if paper.id not in ids]
        if absent:
            raise UserError(f"{source}: no verdict on {absent[0]}; it has {', '.join(sorted(ids)) or 'none'}")
        return papers
    here = [folder for folder in list_papers() if read_toml(folder / "paper.toml", PaperSpec).id in ids]
    return tuple(load_paper(folder) for folder in here)


def _only(raw: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    """The verdicts, inputs, pictures and counts of these papers."""
    lines = [line for line in raw["verdicts"] if line["paper"] in ids]
    counts = Counter(line["verdict"] for line in lines)
    kept = {key: [one for one in raw[key] if one["paper"] in ids] for key in ("inputs", "pictures") if key in raw}
    return raw | kept | {"summary": {word: counts[word] for word in VERDICTS}, "verdicts": lines}


def now() -> datetime:
    """This moment, or SOURCE_DATE_EPOCH (seconds), so that two builds of one report can be equal."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return datetime.now(UTC).replace(microsecond=0)
    try:
        return datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):
        raise UserError(f"SOURCE_DATE_EPOCH is {given!r:.40}; expected seconds since 1970, or unset it") from None


def build(ingredients: Ingredients, when: datetime, url: str = "") -> dict[str, bytes]:
    """Every file of the report by name. `url` is where the folder will be published, for links from elsewhere."""
    told, papers = ingredients.told, sections(ingredients.told, ingredients.papers)
    url = url if not url or url.endswith("/") else url + "/"
    today = when.date()
    texts = {
        "report.html": page(told, papers, ingredients.predictions, today),
        "verdicts.json": siblings.text(ingredients.raw),
        "junit.xml": siblings.junit(papers, when),
        "summary.md": siblings.summary(told, papers, today, url),
        "badge.json": siblings.text(siblings.badge(papers, today)),
        "claimreview.jsonld": siblings.text(siblings.claim_reviews(told, papers, today, url)),
    }
    files = {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    made = {name: (len(f), hashlib.sha256(f).hexdigest(), TYPES[Path(name).suffix]) for name, f in files.items()}
    files["ro-crate-metadata.json"] = siblings.text(siblings.crate(told, papers, made, when)).encode()
    return files


def write(files: dict[str, bytes], folder: Path) -> None:
    """Each file whole or not at all; whatever else lies in the folder stays. Raises UserError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            part = folder / f".{name}.{os.getpid()}.part"
            try:
                part.write_bytes(content)
                os.replace(part, folder / name)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"{folder}: cannot be written ({error.strerror}); choose another folder with --out") from None
