"""An audit of labels as text on a terminal: what to do, what to look at, then the numbers and what was read."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import click
import numpy as np
from countback.audit.judge.notes import choice_lines, trap_lines
from countback.audit.judge.places import LEAN, grid_line, lean_sentences, tests_method, tests_sentence
from countback.audit.judge.tree import Agreement, Audit, Comparison, CountryTest, Flat, JudgeReport
from countback.audit.judge.words import (
    advice_lines,
    counted,
    glossary,
    listed,
    number,
    points,
    share,
    share_with_ends,
    signed,
)
from countback.audit.text import width
from countback.models.identifiability import FEW_ANNOTATORS, explain

_MOST_ROWS = 60
FLATTER = "flatter"


def present(audit: Audit) -> str:
    """The whole answer of `countback judge`."""
    parts = [_advice(audit), _traps(audit), _design(audit)]
    parts += [_judge(audit, report) for report in audit.judges if report.overall is not None]
    parts += [_humans(audit), _countries(audit), _not_concluded(audit), _read(audit)]
    lines = [line for part in parts for line in part]
    return "\n".join([*lines, *_glossary(lines)])


def _wrap(text: str, indent: int, first: str = "") -> str:
    pad = " " * indent
    start = pad[: indent - len(first)] + first
    return textwrap.fill(
        text, width(), initial_indent=start, subsequent_indent=pad, break_long_words=False, break_on_hyphens=False
    )


def _title(text: str) -> str:
    return click.style(text, bold=True)


def _advice(audit: Audit) -> Iterator[str]:
    s = audit.scope
    yield _wrap(
        f"{counted(s.labels, 'valid label')} by {counted(s.annotators, 'human')} on {counted(s.items, 'item')}"
        + (f" in {len(s.countries)} countries" if len(s.countries) > 1 else "")
        + (f", {len(s.questions)} questions" if len(s.questions) > 1 else "")
        + f"; {counted(len(audit.judges), 'judge')}",
        0,
    )
    yield ""
    yield _title("WHAT TO DO")
    found = advice_lines(audit)
    if not audit.design.separable and len(audit.design.countries) > 1:
        yield _wrap("Before any comparison of countries: " + explain(audit.design, audit.scope.countries)[0], 4, "! ")
    for about, what, why in found:
        yield _wrap(f"{about}: {click.style(what, bold=True)}: {why}", 4, "- ")
    if not found:
        yield _wrap("nothing: no judge to advise on, and no fault of the design was found.", 4, "- ")
    yield ""


def _traps(audit: Audit) -> Iterator[str]:
    yield _title("LOOK AT THIS FIRST")
    lines = trap_lines(audit.traps)
    for line in lines:
        yield _wrap(line, 4, "- ")
    if not lines:
        yield "  nothing stood out"
    yield ""


def design_lines(audit: Audit) -> list[str]:
    """What the design can separate, in sentences."""
    lines = explain(audit.design, audit.scope.countries)
    if audit.design.shared_items:
        lines.append(
            "Shared means one item id. Whether its wording was the same in each country, these labels cannot tell."
        )
    return lines


def _design(audit: Audit) -> Iterator[str]:
    yield _title("WHAT THE DESIGN CAN SEPARATE")
    for line in design_lines(audit):
        yield _wrap(line, 4, "- ")
    yield ""


def table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: int = 4) -> Iterator[str]:
    """Rows under a header, the first column left and the others right; the last one left too.

    Where they are too wide for the terminal the first cell has a line of its own, and where that does not help every
    cell is named.
    """
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    whole = indent + sum(widths) + 2 * (len(widths) - 1)
    if whole > width() and widths[0]:
        yield from _narrow_table(header, rows, indent, fits=whole - widths[0] + 4 <= width())
        return
    last = len(header) - 1
    for row in [header, *rows]:
        cells = [
            cell.ljust(w) if i in (0, last) else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield (" " * indent + "  ".join(cells)).rstrip()


def _narrow_table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: int, *, fits: bool) -> Iterator[str]:
    if not fits:
        for name, *cells in rows:
            named = (f"{what} {cell}".strip() for what, cell in zip(header[1:], cells, strict=True) if cell)
            yield _wrap(f"{name}: {', '.join(named)}", indent + 2, "  ")
        return
    head, *cells = table(["", *header[1:]], [["", *row[1:]] for row in rows], indent + 4)
    yield head
    for row, line in zip(rows, cells, strict=True):
        yield _wrap(row[0], indent)
        yield line


def comparison_row(c: Comparison) -> list[str]:
    """A comparison as cells: where, n, items, human, judge, difference, decision."""
    if c.decision in ("too few", "undefined"):
        return [c.where or "all", f"{c.n:,}", f"{c.items:,}", "", "", "", c.decision]
    n = c.items
    return [
        c.where or "all", f"{c.n:,}", f"{n:,}", share(c.human, n), share(c.judge, n),
        points(c.difference).replace(" points", ""), c.decision,
    ]  # fmt: skip


COLUMNS = ("", "n", "items", "human", "judge", "points [95%]", "judge is")


def _judge(audit: Audit, report: JudgeReport) -> Iterator[str]:
    overall = report.overall
    assert overall is not None
    yield _title(f"JUDGE {report.name} AGAINST A HELD-OUT HUMAN")
    yield _wrap(
        f"answers on {report.answered:,} of {report.units:,} units; {overall.missing:,} comparisons missed for "
        f"want of a label; {overall.tied:,} labels with a tied reference and {overall.alone:,} alone on their "
        "unit are left out",
        2,
    )
    rows = [comparison_row(overall)]
    if report.with_them is not None:
        rows.append(["with " + listed(report.left_out), *comparison_row(report.with_them)[1:]])
    rows += [comparison_row(c) for c in (*report.by_country, *report.by_question)[:_MOST_ROWS]]
    yield from table(COLUMNS, rows)
    hidden = len(report.by_country) + len(report.by_question) - _MOST_ROWS
    if hidden > 0:
        yield f"    and {hidden} more rows (--json has all)"
    if overall.difference.usable:
        others = "; ".join(f"{c.policy} {points(c.difference)}, n {c.n:,}" for c in report.policies[1:])
        yield _wrap(f"tied references otherwise: {others}", 2)
        robust, bca = (" to ".join(signed(end, 1) for end in ends) for ends in (overall.robust, overall.bca))
        yield _wrap(f"other intervals: BCa {bca}, cluster-robust t {robust} points", 2)
    for kappa in report.kappas:
        yield _wrap(
            f"{_named('kappa', kappa.part)} with the reference ({kappa.weights} weights, n {kappa.judge.n:,}): "
            f"human {number(kappa.human)}, judge {number(kappa.judge)}, difference {number(kappa.difference)}",
            4,
            "- ",
        )
    yield from _worth(report)
    for alpha in report.alphas:
        yield _wrap(
            f"{_named('alpha', alpha.part)} ({alpha.level}): judge-human less human-human {number(alpha.difference)}",
            4,
            "- ",
        )
    shown = [flat for flat in report.flat if not flat.skipped]
    for flat in shown:
        yield _wrap(flat_line(flat), 4, "- ")
    caution = flat_caution(audit, report)
    if caution:
        yield _wrap(caution, 4, "! ")
    yield ""


def _worth(report: JudgeReport) -> Iterator[str]:
    tests = [t for t in report.alternative if t.humans]
    if tests:
        rates = ", ".join(f"{t.won} of {t.humans} at epsilon {t.epsilon}" for t in tests)
        skipped = (
            f"; {tests[0].skipped} humans with under {tests[0].min_items} items not tested" if tests[0].skipped else ""
        )
        yield _wrap(
            f"alternative annotator test: better than {rates} (half pass); advantage probability "
            f"{tests[0].advantage:.2f}{skipped}",
            4,
            "- ",
        )
    worth = raters_line(report)
    if worth:
        yield _wrap(worth, 4, "- ")


def raters_line(report: JudgeReport) -> str:
    """How many humans the judge is worth; nothing where nothing can be concluded."""
    raters = report.raters
    if raters is None or raters.note or report.overall is None or not report.overall.difference.usable:
        return ""
    worth = f"at least {raters.value:.0f}" if raters.capped else f"{raters.value:.1f}"
    return (
        f"as good at predicting another human as {worth} humans combined (score {raters.score:.3f}; 0, 1, 2 ... "
        f"humans: {', '.join(f'{v:.3f}' for v in raters.curve)}; {raters.n_items:,} units; no interval is "
        "computed)"
    )


def flat_caution(audit: Audit, report: JudgeReport) -> str:
    """What flatter leans do not show yet, where few people stand for a country."""
    few = int(audit.design.annotators_in.min())
    if few >= FEW_ANNOTATORS or not any(_reading(flat) == FLATTER for flat in report.flat):
        return ""
    return (
        f"flatter than {few} people a country is not yet flatter than a country: one judge reads for all "
        "countries, and what separates the humans may be these people."
    )


def flat_line(flat: Flat) -> str:
    """Flattening of one part in a sentence, which reads nothing from a ratio that may be noise."""
    assert flat.human_spread is not None
    assert flat.judge_spread is not None
    assert flat.ratio is not None
    said = (
        f"{_named('leans', flat.part)} over {flat.units:,} units: countries' humans spread "
        f"{number(flat.human_spread)}, the judge {number(flat.judge_spread)}; standard deviations without noise "
        f"{flat.human_sd:.3f} and {flat.judge_sd:.3f}"
        if np.isfinite([flat.human_sd, flat.judge_sd]).all()
        else f"{_named('leans', flat.part)}: spread undefined"
    )
    if np.isnan(flat.noise_p):
        return said + ": no flattening can be read"
    if flat.noise_p > 0.05:
        return said + f"; noise alone spreads humans so in {share(flat.noise_p, 0)} of draws: no flattening can be read"
    if not flat.ratio.usable:
        return said + f"; their ratio: {number(flat.ratio)}"
    return said + f"; ratio {number(flat.ratio)}: {_reading(flat)}"


def _reading(flat: Flat) -> str:
    """What the ratio of spreads shows; nothing where noise alone may have spread the humans, or there is none."""
    if flat.ratio is None or not flat.ratio.usable or not (flat.noise_p <= 0.05):
        return ""
    return FLATTER if flat.ratio.high < 1 else "wider" if flat.ratio.low > 1 else "no difference shown"


def _named(what: str, part: str) -> str:
    return f"{part}: {what}" if part else what


def _humans(audit: Audit) -> Iterator[str]:
    yield _title("HUMANS AMONG THEMSELVES")
    sizes = ", ".join(f"{n:,} with {k}" for k, n in audit.scope.labels_per_unit.items())
    yield _wrap(f"units by their number of labels: {sizes}", 2)
    whole = [row for row in audit.agreement if not row.where]
    yield from table(
        ("", "pairs", "equal [95%]", "alpha [95%]", "commonest label", "kappa"),
        [_agreement_row(row) for row in whole[:_MOST_ROWS]],
    )
    for row in whole:
        inside = [r for r in audit.agreement if r.part == row.part and r.where and r.alpha.usable]
        if len(inside) > 1:
            low, high = min(inside, key=lambda r: r.alpha.value), max(inside, key=lambda r: r.alpha.value)
            yield _wrap(
                f"{_named('alpha by country', row.part)} from {number(low.alpha)} in {low.where} to "
                f"{number(high.alpha)} in {high.where}",
                2,
            )
    for country, figure in audit.seconds.items():
        spread = f" [{figure.low:.0f}, {figure.high:.0f}]" if figure.usable else ""
        place = f", {country}" if country else ""
        yield f"  median seconds per answer{place}: {figure.value:.0f}{spread}, n {figure.n:,}"
    yield ""


def _agreement_row(row: Agreement) -> list[str]:
    f = row.equal
    if not f.usable:
        return [row.part or "all", f"{f.n:,}", "too few items" if f.n else f.note, "", "", ""]
    equal = share_with_ends(f)
    kappa = f"{row.kappa:.2f}" if np.isfinite(row.kappa) else "undefined"
    return [row.part or "all", f"{f.n:,}", equal, number(row.alpha), share(row.commonest, f.clusters), kappa]


def _countries(audit: Audit) -> Iterator[str]:
    if len(audit.scope.countries) < 2 or not (audit.leans or audit.tests):
        return
    yield _title("COUNTRIES")
    if not audit.design.separable:
        yield _wrap(
            "The design does not separate countries from their items (see above): what differs here may be the items.",
            4,
            "! ",
        )
    yield _wrap(LEAN, 2)
    for lean in audit.leans:
        places, *spread = lean_sentences(lean, alone=len(audit.leans) == 1)
        yield _wrap(places, 4, "- ")
        for line in spread:
            yield _wrap(line, 4)
    yield from _tests(audit.tests)
    for grid in audit.grids:
        yield _wrap(grid_line(grid), 4, "- ")
    yield ""


def _tests(tests: Sequence[CountryTest]) -> Iterator[str]:
    """The permutation tests, one line for each question."""
    if not tests:
        return
    yield _wrap(tests_method(tests), 2)
    rows = [
        [test.question or "all", f"{test.n:,}", *(f"{p:.3f}" for p in (test.p, test.bh, test.bonferroni)), ""]
        if np.isfinite(test.p)
        else [test.question or "all", f"{test.n:,}", "", "", "", test.note]
        for test in tests
    ]
    yield from table(("", "n", "p", "BH", "Bonferroni", ""), rows)
    yield _wrap(tests_sentence(tests), 4, "- ")


def _not_concluded(audit: Audit) -> Iterator[str]:
    yield _title("NOT CONCLUDED, AND WHY")
    for line in trap_lines(audit.not_concluded):
        yield _wrap(line, 4, "- ")
    if not audit.not_concluded:
        yield "  nothing was left out"
    yield ""


def _read(audit: Audit) -> Iterator[str]:
    yield _title("WHAT WAS READ, AND WHAT WAS DECIDED FROM THE DATA")
    for line in choice_lines(audit.choices):
        yield _wrap(line, 4, "- ")
    of_people = ("annotators per country", "annotator ids", "note: whole numbers written with a decimal")
    of_judges = (line for line in audit.judge_ingest_lines if not line.startswith(of_people))
    for line in (*audit.ingest_lines, *of_judges):
        yield _wrap(line.lstrip(), 6 if line.startswith(" ") else 4, "- ")
    yield _wrap(
        f"Intervals are 95%, by resampling items {audit.draws:,} times; seed {audit.seed}. Nothing is concluded "
        "below 20 items.",
        4,
        "- ",
    )


def _glossary(lines: Sequence[str]) -> Iterator[str]:
    yield ""
    yield _title("WORDS")
    for word, meaning in glossary("\n".join(lines)):
        yield _wrap(f"{word}: {meaning}", 4, "- ")
