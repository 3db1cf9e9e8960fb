"""Where countries lie, in sentences: leans, permutation tests, the modal grid. Computes nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from countback.audit.judge.tree import CountryTest, Figure, GridReport, Lean
from countback.audit.judge.words import listed, number

LEAN = "lean: 0 the first label of the scale, 1 the last, by majority labels, ties averaged"
SMALL = 0.05  # a p up to which a difference is said to be shown


def lean_sentences(lean: Lean, *, alone: bool) -> list[str]:
    """Where a part's countries lie, all of them where it is the only part, else the two ends; and how far apart."""
    shown = sorted(lean.countries.items(), key=lambda pair: pair[1].value)
    if not alone and len(shown) > 2:
        shown = [shown[0], shown[-1]]
    out = [_named(lean.part) + ", ".join(f"{country} {_short(figure)}" for country, figure in shown)]
    if lean.spread.usable:
        certain = f"{lean.sd:.3f} [{lean.sd_low:.3f}, {lean.sd_high:.3f}]" if np.isfinite(lean.sd) else "undefined"
        shows = "more than noise" if lean.noise_p <= SMALL else "which noise alone may make"
        out.append(
            f"spread {number(lean.spread)}, {shows}: noise alone reaches {lean.noise_high:.2f} in 5% of draws (p "
            f"{lean.noise_p:.3f}); standard deviation of countries without noise {certain}; n {lean.spread.n:,}"
        )
    return out


def _named(part: str) -> str:
    return f"{part}: lean: " if part else "lean: "


def _short(figure: Figure) -> str:
    return number(figure) if figure.usable else f"(too few items: {figure.clusters})"


def tests_method(tests: Sequence[CountryTest]) -> str:
    """What the permutation tests do, and how they are corrected."""
    draws = tests[0].draws
    return (
        f"permutation test of each question, {draws} shuffles of the countries (p is at least {1 / (draws + 1):.3f}); "
        "corrected over the questions by Benjamini-Hochberg and Bonferroni"
    )


def tests_sentence(tests: Sequence[CountryTest]) -> str:
    """What the permutation tests come to."""
    known = [test for test in tests if np.isfinite(test.p)]
    found = sum(test.bh <= SMALL for test in known)
    if not known:
        return "no question has two countries to compare"
    if len(known) > 1:
        rest = "; in the others no difference is shown" if found < len(known) else ""
        return (
            f"countries differ by more than shuffled ones in {found} of {len(known)} questions (BH up to {SMALL}){rest}"
        )
    return (
        "countries differ by more than shuffled ones"
        if found
        else "shuffled countries differ as much: no difference is shown"
    )


def grid_line(grid: GridReport) -> str:
    """One letter for each country and question, and what it rests on."""
    of = f" of {listed(grid.questions)}" if any(grid.questions) else ""
    said = (
        f"modal grid{of} ({grid.cells} cells): {grid.tied} have ties, {grid.decided_by_tie} hang on one, "
        f"{grid.unstable} keep their label in under 80% of resamples"
    )
    if len(grid.questions) < 2:
        return f"{said}; {grid.draws} draws"
    seen, mean, low, high, p = grid.unanimous
    every, every_mean, every_low, every_high, every_p = grid.all_labels
    return (
        f"{said}; of {len(grid.questions)} questions {seen} have one label everywhere (without culture "
        f"{mean:.1f}, 90% {low} to {high}, p {p:.3f}) and {every} every label ({every_mean:.1f}, {every_low} to "
        f"{every_high}, p {every_p:.3f}); {grid.draws} draws"
    )
