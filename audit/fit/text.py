"""What `countback fit` prints: the design first, then whether the fit worked, and only then what it says."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click
from countback.audit.fit import words as w
from countback.audit.fit.tree import Found
from countback.audit.judge.text import table
from countback.audit.judge.words import listed
from countback.audit.text import width
from countback.audit.words import visible
from countback.models.identifiability import explain


def present(found: Found) -> str:
    """The whole answer of `countback fit`."""
    parts = [_head(found), _design(found), _gates(found), _country(found), _parts(found), _effects(found)]
    parts += [_judges(found), _read(found)]
    return "\n".join(line for part in parts for line in part)


def _wrap(text: str, first: str = "- ") -> str:
    return textwrap.fill(
        visible(text), width(), initial_indent="  " + first, subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _title(found: Found, text: str) -> str:
    return click.style(w.marked(found, text), bold=True)


def _listed(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    longest = max(len(visible(name)) for name, _ in rows)
    wide = longest + max(len(text) for _, text in rows) + 6 > width()
    for name, text in rows:
        yield _wrap(f"{name}: {text}", "  ") if wide else f"    {visible(name):<{longest}}  {text}"


def _head(found: Found) -> Iterator[str]:
    for line in w.banners(found):
        yield click.style(textwrap.fill(line, width()), bold=True)
    yield textwrap.fill(visible(w.scope(found)), width(), break_on_hyphens=False)
    yield ""


def _design(found: Found) -> Iterator[str]:
    yield click.style("WHAT THE DESIGN CAN SEPARATE", bold=True)
    if found.fence:
        yield _wrap(f"THE COUNTRY'S SHARE IS CONFOUNDED, and no decision on it is taken. {found.fence}", "! ")
    for line in explain(found.design, found.labels.countries):
        if line != found.fence:
            yield _wrap(line)
    if found.design.shared_items:
        yield _wrap(
            "Shared means one item id. Whether its wording was the same in each country, these labels cannot tell."
        )
    if len(found.labels.asked) > 1:
        yield _wrap(
            f"{len(found.labels.asked)} questions in one model, each with an effect; --question NAME fits one alone."
        )
    yield _wrap(f"The model has effects for {listed(found.data.names, most=9)}.")
    if not found.fence and found.design.kind == "hybrid":
        yield _wrap(w.own_items(found), "! ")
    if "annotator" in found.left_out:
        yield _wrap(w.WITHOUT_ANNOTATORS, "! ")
    for note in found.data.notes:
        yield _wrap(note)
    yield ""


def _gates(found: Found) -> Iterator[str]:
    yield _title(found, "WHETHER THE FIT WORKED")
    yield _wrap(w.engine_words(found))
    yield from table(w.GATE_COLUMNS, gate_rows(found))
    for line in w.failures(found):
        yield _wrap(line, "! ")
    yield ""


def gate_rows(found: Found) -> list[list[str]]:
    """A row for each fit."""
    rows = [w.gate_row(str(fit.posterior.prior), fit.posterior.gates) for fit in found.fits]
    if found.joint is not None:
        rows.append(w.gate_row(f"{found.joint.posterior.prior} with judges", found.joint.posterior.gates))
    return rows


def _country(found: Found) -> Iterator[str]:
    if found.fence:
        return
    yield _title(found, "COUNTRY'S SHARE OF THE VARIANCE")
    main = found.main
    if main.passed:
        yield _wrap(f"prior {main.posterior.prior}, median and 95% interval", "")
        yield from _listed([(text, w.share(main.shares[name])) for name, text in SHARES.items()])
    moments = found.moments
    if isinstance(moments, str):
        yield _wrap(f"without a model, by moments: none: {moments}")
    else:
        yield _wrap(
            f"as numbers, without a model, by moments of all {moments.labels:,} labels: {w.percent(moments.share)} "
            f"[{w.percent(moments.low)}, {w.percent(moments.high)}]"
            + (" (an estimate below 0 is kept, as chance alone can make it)" if moments.share < 0 else "")
        )
    if any(fit.passed for fit in found.fits):
        yield _wrap(f"whether it is below {w.LIMIT}: what the labels add to each prior", "")
        yield from table(SWEEP_COLUMNS, sweep_rows(found))
        error = max(fit.below_error for fit in found.fits if fit.passed)
        ends = max(max(fit.errors["population"].values()) for fit in found.fits if fit.passed)
        yield _wrap(f"Monte Carlo error of P at most {error:.3f}, of a share {100 * ends:.1f} points", "  ")
    decision, why = w.verdict(found)
    yield _wrap(f"{decision}: {why}", "> ").replace(decision, click.style(decision, bold=True), 1)
    if found.rule:
        yield _wrap(w.rule_words(found))
    yield ""


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


def _parts(found: Found) -> Iterator[str]:
    if not found.main.passed:
        return
    yield _title(found, "PARTS OF THE VARIANCE")
    yield _wrap(f"prior {found.main.posterior.prior}; it alone gives each effect {w.share(found.main.by_prior)}", "")
    yield from table(PART_COLUMNS, part_rows(found))
    if found.fence:
        yield _wrap(
            f"Confounded: {w.confounder(found)} is in it as much as the country. It stands here so that the parts add "
            "up, and decides nothing.",
            "! ",
        )
    yield ""


def _effects(found: Found) -> Iterator[str]:
    if found.fence or not found.main.passed:
        return
    yield _title(found, "COUNTRIES")
    yield _wrap(f"effect in logits [95%]; above 0 is towards {found.labels.scale[-1]!r}", "")
    yield from _listed([(name, w.logits(effect, "+")) for name, effect in found.main.countries])
    yield ""


def _judges(found: Found) -> Iterator[str]:
    joint = found.joint
    if joint is None:
        return
    yield _title(found, "JUDGES BESIDE THE PEOPLE ASKED")
    if joint.passed:
        yield _wrap(f"prior {joint.posterior.prior}, median and {joint.level:.0%} interval", "")
        yield from table(w.FLAT_COLUMNS, [[visible(x) for x in w.flat_row(judge)] for judge in joint.judges])
        yield _wrap("judge's lean less the people's, in hundredths of the scale", "")
        for judge in joint.judges:
            gaps = ", ".join(f"{place} {w.gap(span)}" for place, span in judge.gap.items())
            yield _wrap(f"{judge.judge}: {gaps}")
        yield _wrap(w.PANEL)
        if found.fence and w.confounder(found) == w.CONTENT:
            yield _wrap(w.PANEL_NESTED, "! ")
    for judge, missing, spare in zip(joint.judges, joint.missing, joint.unmatched, strict=True):
        if missing or spare:
            yield _wrap(f"judge {judge.judge}: {missing:,} labels missing and {spare:,} beside no human's are left out")
    for note in joint.notes:
        yield _wrap(note)
    yield ""


def _read(found: Found) -> Iterator[str]:
    yield click.style("WHAT WAS READ AND HOW IT WAS FITTED", bold=True)
    labels = found.labels
    for line in (*labels.notes, *labels.read):
        yield _wrap(line)
    dropped = ", ".join(f"{reason} {count:,}" for reason, count in labels.dropped.items())
    yield _wrap(f"humans' labels left out: {dropped or 'none'}; {int(found.data.weight.sum()):,} in the model")
    for file in labels.files:
        yield _wrap(f"{file.name} ({file.status}): sha256 {file.sha256}")
    kit = ", ".join(f"{name} {number}" for name, number in found.versions.items())
    yield _wrap(f"seed {found.seed}; {kit}")
