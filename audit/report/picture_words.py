"""The words of a picture: what it rests on, how to read it, and its numbers as drawing and description state them."""

from __future__ import annotations

import math
from collections.abc import Callable

from countback.claims.pictures import (
    PRINTED,
    RELEASED,
    SIMULATED,
    STORED,
    SYNTHETIC,
    UNVERIFIED,
    Bar,
    Cell,
    Histogram,
    Prior,
)

STAMPS = {
    PRINTED: "as printed by the paper, not recounted",
    RELEASED: "recounted from released files",
    SYNTHETIC: "SYNTHETIC stand-in: proves nothing",
    UNVERIFIED: "UNVERIFIED files: proves nothing",
    STORED: "a result stored beside the paper",
    SIMULATED: "SYNTHETIC studies, a stored result",
}
RESTS = {
    PRINTED: "Rests on printed values: numbers as the paper prints them, none of them recounted here.",
    RELEASED: "Rests on released files, proved by sha256.",
    SYNTHETIC: "SYNTHETIC: rests on a stand-in made to resemble the release. It shows how the picture will look and "
    "proves nothing about the paper.",
    UNVERIFIED: "UNVERIFIED: rests on files that no pin proves, which proves nothing about the paper.",
    STORED: "Rests on a result that was computed before and stored beside the paper.",
    SIMULATED: "SYNTHETIC studies: labels drawn from known truths, computed before and stored beside the paper.",
}
PROVES_NOTHING = (SYNTHETIC, UNVERIFIED)
UNITS = {"heldout": "comparisons", "shares": "labels"} | dict.fromkeys(("lean", "grid", "null", "spreads"), "items")
LEGENDS = {
    "heldout": "The dotted mark is the held-out human of that place.",
    "grid": "Darker is stricter. A thick frame: the most frequent letter is a tie. A dashed one: ties among the labels "
    "of an item decide the letter. Percentages: how often resampled items give the letter again.",
    "null": "In brackets the central 90%; p is the share of draws that lie as high as the observed value, or as low.",
}
STABLE = 0.8  # a letter that fewer resamples give again is called unstable

Write = Callable[[float], str]


def percent(x: float) -> str:
    return f"{x:.1f}%"


def points(x: float) -> str:
    return f"{x:+.1f}".replace("-", "−")


def three(x: float) -> str:
    return f"{x:.3f}".replace("-", "−")


def share(x: float) -> str:
    return f"{100 * x:.1f}%"


def plain(x: float) -> str:
    return f"{x:.3g}".replace("-", "−")


def as_many_places(x: float) -> Write:
    """Writes numbers beside `x`: with the decimals that give `x` three digits, so that all of them have as many."""
    places = 0 if x == 0 or not math.isfinite(x) else max(0, 2 - math.floor(math.log10(abs(x))))
    return lambda y: f"{y:.{min(places, 4)}f}".replace("-", "−")


def bar_words(bar: Bar, write: Write) -> str:
    """ "89.8% as printed", or "81.1% [75.6%, 86.5%]", or what is known of it."""
    if bar.printed:
        return f"{bar.printed} as printed"
    if write is plain and bar.value is not None and bar.low is not None:
        write = as_many_places(bar.value)
    ends = f" [{write(bar.low)}, {write(bar.high)}]" if bar.low is not None and bar.high is not None else ""
    if bar.value is None:
        return f"undefined{ends}"
    short = f", {bar.note}" if bar.note and not ends else ""
    return f"{write(bar.value)}{ends}{short}"


def prior_words(prior: Prior) -> str:
    """ "3.1% [0.1%, 21.9%]; P 0.659, prior 0.333": the share, and how probable it lies below the threshold."""
    if prior.median is None:
        return prior.note or "no numbers"
    told = f"{share(prior.median)} [{or_nothing(prior.low)}, {or_nothing(prior.high)}]"
    if prior.below is None:
        return f"{told}, {prior.note}" if prior.note else told
    return f"{told}; P {probability(prior.below)}, prior {probability(prior.prior_below)}"


def or_nothing(x: float | None) -> str:
    return "" if x is None else share(x)


def probability(x: float | None) -> str:
    return "" if x is None else f"{x:.3f}"


def p_value(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def null_words(null: Histogram) -> str:
    """ "observed 8; chance 1.84 [0, 3]; p 0.0002 as high", with what is known of it."""
    said = [] if null.observed is None else [f"observed {plain(null.observed)}"]
    if null.printed:
        said.append(f"{'chance ' if null.observed is not None else ''}{null.printed} as printed")
    elif null.mean is not None and null.low is not None and null.high is not None:
        level = "" if null.level == 0.9 else f" of {100 * null.level:g}%"
        said.append(f"chance {plain(null.mean)} [{plain(null.low)}, {plain(null.high)}]{level}")
    if null.p is not None and not null.printed:
        said.append(f"p {p_value(null.p)} as {'high' if null.side == 'at least' else 'low'}")
    return "; ".join(said)


def cell_words(cell: Cell) -> str:
    """ "A, a tie, kept in 51%, unstable"."""
    said = [cell.letter or "none"]
    said += ["a tie"] if cell.tied else ["a tie among labels of an item decides"] if cell.decided else []
    said += [f"kept in {100 * cell.kept:.0f}%"] if cell.kept is not None else []
    said += ["unstable"] if cell.kept is not None and cell.kept < STABLE else []
    return ", ".join(said)
