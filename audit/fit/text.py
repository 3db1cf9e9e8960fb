"""What `countback fit` prints: the design first, then whether the fit worked, and only then what it says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import click
from countback.audit.fit import words as w
from countback.audit.fit.tree import Found
from countback.audit.judge.text import table
from countback.audit.judge.words import glossary, listed
from countback.audit.text import width
from countback.audit.words import visible
from countback.models.identifiability import explain


@dataclass(frozen=True)
class Title:
    """What a section is about."""

    text: str


@dataclass(frozen=True)
class Line:
    """A paragraph; `mark` says of an item of a list whether it is a warning ("! ") or a decision ("> ")."""

    text: str
    mark: str = "- "


@dataclass(frozen=True)
class Table:
    """Rows under a header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Pairs:
    """Names and what is said of each."""

    rows: Sequence[tuple[str, str]]


Block = Title | Line | Table | Pairs


def sections(found: Found) -> list[list[Block]]:
    """All that is said of a fit, in order; the first block of each section is its title."""
    parts = [_design(found), _gates(found), _country(found), _parts(found), _effects(found), _judges(found)]
    said = [list(part) for part in (*parts, _read(found))]
    return [*filter(None, said), _glossary(said)]


def present(found: Found) -> str:
    """The whole answer of `countback fit`."""
    head = [click.style(textwrap.fill(line, width()), bold=True) for line in w.banners(found)]
    head.append(textwrap.fill(visible(w.scope(found)), width(), break_on_hyphens=False))
    said = ["\n".join(line for block in blocks for line in _lines(block)) for blocks in sections(found)]
    return "\n\n".join(["\n".join(head), *said])


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Title(text):
            yield click.style(text, bold=True)
        case Line(text, mark):
            line = _wrap(text, mark)
            decision = text.partition(":")[0] if mark == "> " else ""
            yield line.replace(decision, click.style(decision, bold=True), 1) if decision else line
        case Table(header, rows):
            yield from table(header, rows)
        case Pairs(rows):
            yield from _listed(rows)


def _wrap(text: str, first: str) -> str:
    return textwrap.fill(
        visible(text), width(), initial_indent="  " + first, subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _listed(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    longest = max(len(visible(name)) for name, _ in rows)
    wide = longest + max(len(text) for _, text in rows) + 6 > width()
    for name, text in rows:
        yield _wrap(f"{name}: {text}", "  ") if wide else f"    {visible(name):<{longest}}  {text}"


def _glossary(said: Sequence[Sequence[Block]]) -> list[Block]:
    """The words that may not be known, of those that were used."""
    return [Title("WORDS"), *(Line(f"{word}: {meaning}") for word, meaning in glossary(f"{said}", w.GLOSSARY))]


def _design(found: Found) -> Iterator[Block]:
    yield Title("WHAT THE DESIGN CAN SEPARATE")
    if found.fence:
        yield Line(f"THE COUNTRY'S SHARE IS CONFOUNDED, and no decision on it is taken. {found.fence}", "! ")
    for line in explain(found.design, found.labels.countries):
        if line != found.fence:
            yield Line(line)
    if found.design.shared_items:
        yield Line(
            "Shared means one item id. Whether its wording was the same in each country, these labels cannot tell."
        )
    if len(found.labels.asked) > 1:
        yield Line(
            f"{len(found.labels.asked)} questions in one model, each with an effect; --question NAME fits one alone."
        )
    yield Line(f"The model has effects for {listed(found.data.names, most=9)}.")
    if not found.fence and found.design.kind == "hybrid":
        yield Line(w.own_items(found), "! ")
    if "annotator" in found.left_out:
        yield Line(w.WITHOUT_ANNOTATORS, "! ")
    for note in found.data.notes:
        yield Line(note)


def _gates(found: Found) -> Iterator[Block]:
    yield Title(w.marked(found, "WHETHER THE FIT WORKED"))
    yield Line(w.engine_words(found))
    yield Table(w.GATE_COLUMNS, gate_rows(found))
    for line in w.failures(found):
        yield Line(line, "! ")


def gate_rows(found: Found) -> list[list[str]]:
    """A row for each fit."""
    rows = [w.gate_row(str(fit.posterior.prior), fit.posterior.gates) for fit in found.fits]
    if found.joint is not None:
        rows.append(w.gate_row(f"{found.joint.posterior.prior} with judges", found.joint.posterior.gates))
    return rows


def _country(found: Found) -> Iterator[Block]:
    if found.fence:
        return
    yield Title(w.marked(found, "COUNTRY'S SHARE OF THE VARIANCE"))
    main = found.main
    if main.passed:
        yield Line(f"prior {main.posterior.prior}, median and 95% interval", "")
        yield Pairs([(text, w.share(main.shares[name])) for name, text in SHARES.items()])
    moments = found.moments
    if isinstance(moments, str):
        yield Line(f"without a model, by moments: none: {moments}")
    else:
        yield Line(
            f"as numbers, without a model, by moments of all {moments.labels:,} labels: {w.percent(moments.share)} "
            f"[{w.percent(moments.low)}, {w.percent(moments.high)}]"
            + (" (an estimate below 0 is kept, as chance alone can make it)" if moments.share < 0 else "")
        )
    if any(fit.passed for fit in found.fits):
        yield Line(f"whether it is below {w.LIMIT}: what the labels add to each prior", "")
        yield Table(SWEEP_COLUMNS, sweep_rows(found))
        error = max(fit.below_error for fit in found.fits if fit.passed)
        ends = max(max(fit.errors["population"].values()) for fit in found.fits if fit.passed)
        yield Line(f"Monte Carlo error of P at most {error:.3f}, of a share {100 * ends:.1f} points", "  ")
    decision, why = w.verdict(found)
    yield Line(f"{decision}: {why}", "> ")
    if found.rule:
        yield Line(w.rule_words(found))


SHARES = {
    "population": "of all such countries, latent scale",
    "finite": "of these countries, latent scale",
    "population_effects": "of all such countries, residual not counted",
    "finite_effects": "of these countries, residual not counted",
    "linear": "of all such countries, labels as numbers",
}
SWEEP_COLUMNS = ("prior", "share [95%]", f"P(share < {w.LIMIT})", "prior alone")


def sweep_rows(found: Found) -> list[list[str]]:
    """A row for each prior whose fit stands."""
    return [
        [
            str(fit.posterior.prior),
            w.share(fit.shares["population"]),
            w.probability(fit.answer.below),
            w.probability(fit.answer.prior_below),
        ]
        for fit in found.fits
        if fit.passed
    ]


PART_COLUMNS = ("", "sd in logits [95%]", "share of variance [95%]")


def part_rows(found: Found) -> list[list[str]]:
    """A row for each effect and the residual, under the prior that numbers are given for."""
    rows = []
    for part in found.main.parts:
        sd = f"{part.sd.median:.2f} fixed" if part.name == "residual" else w.logits(part.sd)
        rows.append([w.part_name(part.name, found), sd, w.share(part.share)])
    return rows


def _parts(found: Found) -> Iterator[Block]:
    if not found.main.passed:
        return
    yield Title(w.marked(found, "PARTS OF THE VARIANCE"))
    yield Line(f"prior {found.main.posterior.prior}; it alone gives each effect {w.share(found.main.by_prior)}", "")
    yield Table(PART_COLUMNS, part_rows(found))
    if found.fence:
        yield Line(
            f"Confounded: {w.confounder(found)} is in it as much as the country. It stands here so that the parts add "
            "up, and decides nothing.",
            "! ",
        )


def _effects(found: Found) -> Iterator[Block]:
    if found.fence or not found.main.passed:
        return
    yield Title(w.marked(found, "COUNTRIES"))
    yield Line(f"effect in logits [95%]; above 0 is towards {found.labels.scale[-1]!r}", "")
    yield Pairs([(name, w.logits(effect, "+")) for name, effect in found.main.countries])


def _judges(found: Found) -> Iterator[Block]:
    joint = found.joint
    if joint is None:
        return
    yield Title(w.marked(found, "JUDGES BESIDE THE PEOPLE ASKED"))
    if joint.passed:
        yield Line(f"prior {joint.posterior.prior}, median and {joint.level:.0%} interval", "")
        yield Table(w.FLAT_COLUMNS, [[visible(x) for x in w.flat_row(judge)] for judge in joint.judges])
        yield Line("judge's lean less the people's, in hundredths of the scale", "")
        for judge in joint.judges:
            gaps = ", ".join(f"{place} {w.gap(span)}" for place, span in judge.gap.items())
            yield Line(f"{judge.judge}: {gaps}")
        yield Line(w.PANEL)
        if found.fence and w.confounder(found) == w.CONTENT:
            yield Line(w.PANEL_NESTED, "! ")
    for judge, missing, spare in zip(joint.judges, joint.missing, joint.unmatched, strict=True):
        if missing or spare:
            yield Line(f"judge {judge.judge}: {missing:,} labels missing and {spare:,} beside no human's are left out")
    for note in joint.notes:
        yield Line(note)


def _read(found: Found) -> Iterator[Block]:
    yield Title("WHAT WAS READ AND HOW IT WAS FITTED")
    labels = found.labels
    for line in (*labels.notes, *labels.read):
        yield Line(line)
    dropped = ", ".join(f"{reason} {count:,}" for reason, count in labels.dropped.items())
    yield Line(f"humans' labels left out: {dropped or 'none'}; {int(found.data.weight.sum()):,} in the model")
    for file in labels.files:
        yield Line(f"{file.name} ({file.status}): sha256 {file.sha256}")
    kit = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    yield Line(f"seed {found.seed}; {kit}")
