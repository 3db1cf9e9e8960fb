"""What lies beside the report for machines: JUnit, Markdown for a pull request, a badge, ClaimReview, RO-Crate.

Each function gives the text of one file. Nothing is computed; `unchecked` and `uninformative` are never success.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from xml.etree import ElementTree

from countback.audit.report.data import Line, Section, Told, anchor
from countback.audit.report.words import (
    MEANINGS,
    SYMBOLS,
    expression,
    missed,
    next_step,
    number,
    relation_words,
    spread,
    versions,
)
from countback.audit.words import sentence as clause
from countback.claims.verdict import AGREEMENT, FINDINGS, UNCHECKED, UNINFORMATIVE, VERDICTS

PAGE = "report.html"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$])")
SHOWN = 50  # findings spelled out in a pull request's summary; the page has all
RATINGS = {**dict.fromkeys(AGREEMENT, 5), **dict.fromkeys(FINDINGS, 1)}


def sentence(line: Line) -> str:
    """One line: what is printed where, what it is against, and by how much they miss each other."""
    said = f"{line.place}: {line.reads}." if line.place else f"{line.reads}."
    if line.reported:
        said += f" Printed {line.reported}."
    if line.recounted is not None:
        said += f" Recounted {number(line.recounted)}"
        said += f" ({spread(line)})." if spread(line) else "."
    if line.evidence.relation and line.verdict in FINDINGS:
        said += " " + clause(f"{relation_words(line.evidence)}: {expression(line.evidence)}")
    if missed(line):
        said += f" {missed(line)}."
    return f"{said} {clause(line.reason)}" if line.reason else said


def junit(sections: Sequence[Section], when: datetime) -> str:
    """A test suite a paper: a new finding fails; known findings and whatever was not decided are skipped, with why."""
    root = ElementTree.Element("testsuites", name="countback")
    totals: Counter[str] = Counter()
    for section in sections:
        suite = ElementTree.SubElement(
            root, "testsuite", name=_xml(section.id), timestamp=when.strftime("%Y-%m-%dT%H:%M:%S")
        )
        counts = Counter({"tests": len(section.lines), "failures": 0, "errors": 0, "skipped": 0})
        for line in section.lines:
            case = ElementTree.SubElement(
                suite, "testcase", classname=_xml(f"{line.paper}.{line.kind}"), name=_xml(line.name)
            )
            said = _xml(sentence(line))
            if not section.expected(line):
                counts["failures"] += 1
                ElementTree.SubElement(case, "failure", type=line.verdict, message=said).text = _xml(
                    section.why_known(line)[1]
                )
            elif line.verdict in FINDINGS:
                counts["skipped"] += 1
                ElementTree.SubElement(case, "skipped", type="known", message=f"known finding, {line.verdict}: {said}")
            elif line.verdict in (UNCHECKED, UNINFORMATIVE):
                counts["skipped"] += 1
                ElementTree.SubElement(
                    case, "skipped", type=line.verdict, message=f"{line.verdict}: {_xml(line.reason)}"
                )
        suite.attrib.update({name: str(n) for name, n in counts.items()})
        totals += counts
    root.attrib.update({name: str(totals[name]) for name in ("tests", "failures", "errors", "skipped")})
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _xml(text: str) -> str:
    """Without the characters that no XML file may hold."""
    return _NOT_XML.sub("\ufffd", text)


def summary(told: Told, sections: Sequence[Section], today: date, url: str) -> str:
    """Markdown: new verdicts, known findings, counts, what was not checked. Every text is escaped."""
    new = [(s, line) for s in sections for line in s.lines if not s.expected(line)]
    known = [(s, line) for s in sections for line in s.lines if s.expected(line) and line.verdict in FINDINGS]
    said = [f"## countback: {len(new):,} new, {len(known):,} known, {len(told.verdicts):,} claims ({today})", ""]
    for heading, found in (("Nobody has recorded these verdicts", new), ("Known findings", known)):
        if found:
            said += [f"### {heading} ({len(found):,})", ""]
            said += [_item(line, url) for _, line in found[:SHOWN]]
            said += [f"- and {len(found) - SHOWN:,} more in {PAGE}"] if len(found) > SHOWN else []
            said.append("")
    said += ["### Counts", "", "| paper | " + " | ".join(f"{SYMBOLS[w]} {w}" for w in VERDICTS) + " |"]
    said += ["|---|" + "---:|" * len(VERDICTS)]
    said += [f"| {markdown(s.id)} | " + " | ".join(f"{s.counts[w]:,}" for w in VERDICTS) + " |" for s in sections]
    lines = []
    for section in sections:
        for reason, some in section.unchecked():
            words, command = next_step(section, reason, some)
            shown = f" `{command.replace('`', '')}`" if command else ""
            lines.append(f"- {markdown(section.id)}: {len(some):,} {markdown(reason)}. {markdown(words)}{shown}")
    said += ["", "### Not checked", "", *(lines or ["Nothing."])]
    short = [section for section in sections if section.short]
    said += ["", "### Incomplete", "", *(f"- {markdown(s.id)}: {markdown(s.short)}" for s in short)] if short else []
    return "\n".join([*said, "", f"{markdown(versions(told.kit))}.", ""])


def _item(line: Line, url: str) -> str:
    where = f"{url}{PAGE}#{line.anchor}"
    return f"- **{line.verdict}** [{markdown(line.id)}]({where}): {markdown(sentence(line))}"


def markdown(text: str) -> str:
    """Any text as plain words of Markdown, in one line, that mention nobody."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split())).replace("@", "@\u200b")


def badge(sections: Sequence[Section], today: date) -> dict[str, Any]:
    """For a shields endpoint, with the date in its words: a badge that nobody renews shows its age."""
    lines = [line for section in sections for line in section.lines]
    counts: Counter[str] = Counter(line.verdict for line in lines)
    agree, broken = sum(counts[word] for word in AGREEMENT), sum(counts[word] for word in FINDINGS)
    left = counts[UNCHECKED] + counts[UNINFORMATIVE]
    if not all(section.expected(line) for section in sections for line in section.lines):
        colour = "red"
    elif broken:
        colour = "orange"
    else:
        colour = "lightgrey" if not agree else "yellow" if left else "brightgreen"
    message = f"{agree:,} agree, {broken:,} disagree, {left:,} unchecked ({today})"
    return {"schemaVersion": 1, "label": "numbers recounted", "message": message, "color": colour}


def claim_reviews(told: Told, sections: Sequence[Section], today: date, url: str) -> dict[str, Any]:
    """schema.org ClaimReview of every claim that was decided; what nothing decided is no review."""
    author = {
        "@type": "Organization",
        "name": "countback",
        "description": "a program; no person reviewed the claim beyond what the report says",
    }
    graph = []
    for section in sections:
        article: dict[str, Any] = {"@type": "ScholarlyArticle", "name": section.title}
        if section.paper is not None and section.paper.spec.url:
            article["url"] = section.paper.spec.url
        graph += [_review(line, article, author, today, url) for line in section.lines if line.verdict in RATINGS]
    return {"@context": "https://schema.org", "@graph": graph}


def _review(line: Line, article: dict[str, Any], author: dict[str, Any], today: date, url: str) -> dict[str, Any]:
    printed = f": {line.reported}" if line.reported else ""
    return {
        "@type": "ClaimReview",
        "@id": f"{url}{PAGE}#{line.anchor}",
        "url": f"{url}{PAGE}#{line.anchor}",
        "datePublished": today.isoformat(),
        "claimReviewed": f"{line.place + ': ' if line.place else ''}{line.reads}{printed}",
        "itemReviewed": {"@type": "Claim", "name": line.id, "appearance": article},
        "author": author,
        "reviewBody": sentence(line),
        "reviewRating": {
            "@type": "Rating",
            "ratingValue": RATINGS[line.verdict],
            "worstRating": 1,
            "bestRating": 5,
            "alternateName": line.verdict,
            "ratingExplanation": MEANINGS[line.verdict],
        },
    }


def crate(
    told: Told, sections: Sequence[Section], made: dict[str, tuple[int, str, str]], when: datetime
) -> dict[str, Any]:
    """RO-Crate 1.1: the files made (name -> size, sha256, media type), by which program, from what."""
    program = {
        "@id": "#countback",
        "@type": "SoftwareApplication",
        "name": "countback",
        "softwareVersion": told.kit.get("countback", "unknown"),
        "softwareRequirements": versions({k: v for k, v in told.kit.items() if k != "countback"}),
    }
    files: list[dict[str, Any]] = [
        {"@id": name, "@type": "File", "name": name, "contentSize": str(size), "sha256": sha256, "encodingFormat": kind}
        for name, (size, sha256, kind) in made.items()
    ]
    papers, inputs = _papers(sections), _inputs(told)
    action = {
        "@id": "#report",
        "@type": "CreateAction",
        "name": "countback report",
        "instrument": {"@id": "#countback"},
        "endTime": when.isoformat(),
        "object": [{"@id": each["@id"]} for each in (*papers, *inputs)],
        "result": [{"@id": each["@id"]} for each in files],
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Which numbers hold: {', '.join(section.id for section in sections)}",
        "description": "Numbers of papers, recounted or held against each other, with a verdict and its evidence each.",
        "datePublished": when.isoformat(),
        "license": "none stated: whoever publishes this folder states one",
        "hasPart": [{"@id": each["@id"]} for each in files],
        "about": [{"@id": each["@id"]} for each in papers],
        "mentions": [{"@id": "#report"}],
    }
    descriptor = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    context = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
    return {"@context": context, "@graph": [descriptor, root, program, action, *papers, *inputs, *files]}


def _papers(sections: Sequence[Section]) -> list[dict[str, Any]]:
    return [
        {
            "@id": f"#{anchor(section.id)}",
            "@type": "ScholarlyArticle",
            "name": section.title,
            **({"url": section.paper.spec.url} if section.paper and section.paper.spec.url else {}),
            **({"creditText": section.paper.spec.citation} if section.paper else {}),
        }
        for section in sections
    ]


def _inputs(told: Told) -> list[dict[str, Any]]:
    """The released files that were here."""
    return [
        {
            "@id": f"#input-{n}",
            "@type": "CreativeWork",
            "name": file.file,
            "isPartOf": {"@id": f"#{anchor(file.paper)}"},
            "sha256": file.sha256,
            "description": f"release {file.release}, {file.status}",
        }
        for n, file in enumerate((f for f in told.inputs if f.sha256), start=1)
    ]


def text(content: dict[str, Any]) -> str:
    """JSON that any program reads (plain letters only, no NaN), each item of a list on a line of its own."""

    def one(value: Any) -> str:
        return json.dumps(value, ensure_ascii=True, allow_nan=False)

    parts = []
    for key, value in content.items():
        shown = "[\n" + ",\n".join(map(one, value)) + "\n]" if isinstance(value, list) and value else one(value)
        parts.append(f"{one(key)}: {shown}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
