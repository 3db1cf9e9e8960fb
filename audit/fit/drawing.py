"""Pictures of a fit as SVG text, drawn here: equal numbers give equal bytes, and nothing has to be installed.

Each has a title and a description in words for whoever cannot see it. Colours are the reader's own text colour and one
blue that is told from it in grey as well: whatever is by the prior alone is dashed and hollow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as escaped

import numpy as np
from countback.audit.fit import words as w
from countback.audit.fit.tree import Found, Joint, Span
from countback.audit.words import visible
from countback.models.ordinal import SURE, THRESHOLD

NAMES = ("parts", "countries", "sweep", "below", "flattening", "ranks")
BINS = 10
WIDTH, LEFT, RIGHT, ROW, TOP = 720, 250, 20, 26, 34
STYLE = (
    "svg.fit{font:13px system-ui,sans-serif;color:#1a1a1a;background:#fff}"
    ".fit text{fill:currentColor}.fit .axis{stroke:currentColor;stroke-opacity:.35}"
    ".fit .mark{stroke:#0b5cad;fill:#0b5cad;stroke-width:2}"
    ".fit .prior{stroke:currentColor;fill:none;stroke-width:1.5;stroke-dasharray:4 3}"
    ".fit circle.prior{stroke-dasharray:none}"
    ".fit .limit{stroke:#b3261e;stroke-dasharray:2 3}.fit .bar{fill:#0b5cad;fill-opacity:.55}"
    "@media (prefers-color-scheme:dark){svg.fit{color:#eee;background:#161616}"
    ".fit .mark{stroke:#7db7f5;fill:#7db7f5}.fit .bar{fill:#7db7f5}.fit .limit{stroke:#f2958d}}"
)


@dataclass(frozen=True)
class Drawing:
    """A picture: the stem of its file's name, what it shows, what can be read off it, and the SVG."""

    name: str
    title: str
    description: str
    svg: str


@dataclass(frozen=True)
class Mark:
    """An interval with its point on one row; `prior` where it is what the prior alone says."""

    row: int
    span: Span
    prior: bool = False


def drawings(found: Found) -> list[Drawing]:
    """Those that the fit supports: none of a country behind a fence, and of a fit that failed its chains only."""
    out = []
    if found.main.passed:
        out.append(parts(found))
        if not found.fence:
            out.append(countries(found))
    if not found.fence and any(fit.passed for fit in found.fits):
        out += [sweep(found), below(found)]
    if found.joint is not None and found.joint.passed:
        out.append(flattening(found, found.joint))
    if found.chains:
        out.append(ranks(found))
    return out


def parts(found: Found) -> Drawing:
    """Shares of variance by effect, the prior's own share beside each."""
    fit = found.main
    names = [w.part_name(part.name, found) for part in fit.parts]
    marks = [Mark(row, part.share) for row, part in enumerate(fit.parts)]
    marks += [Mark(row, fit.by_prior, prior=True) for row, part in enumerate(fit.parts) if part.name != "residual"]
    told = "; ".join(f"{name} {w.share(part.share)}" for name, part in zip(names, fit.parts, strict=True))
    told += f". The prior alone gives each effect {w.share(fit.by_prior)}."
    if found.fence:
        told += " " + found.fence
    title = w.marked(found, f"Shares of the variance of labels, prior {fit.posterior.prior}")
    return _rows("parts", title, told, names, marks, (0, 1), _percent_ticks(1.0))


def countries(found: Found) -> Drawing:
    """Effects of countries in logits."""
    effects = found.main.countries
    reach = max(max(abs(e.low), abs(e.high)) for _, e in effects) * 1.05
    step = _step(2 * reach)
    ticks = [(t, f"{t:+g}" if t else "0") for t in _multiples(-reach, reach, step)]
    told = "; ".join(f"{name} {w.logits(effect, '+')}" for name, effect in effects)
    title = w.marked(found, f"Effects of countries in logits, above 0 towards {found.labels.scale[-1]}")
    marks = [Mark(row, effect) for row, (_, effect) in enumerate(effects)]
    return _rows("countries", title, told + ".", [n for n, _ in effects], marks, (-reach, reach), ticks, limits=(0.0,))


def sweep(found: Found) -> Drawing:
    """The country's share under each prior, beside what that prior alone says."""
    fits = [fit for fit in found.fits if fit.passed]
    names = [str(fit.posterior.prior) for fit in fits]
    marks = [Mark(row, fit.shares["population"]) for row, fit in enumerate(fits)]
    marks += [Mark(row, fit.by_prior, prior=True) for row, fit in enumerate(fits)]
    most = min(1.0, max(mark.span.high for mark in marks) * 1.05)
    told = "; ".join(
        f"{name}: {w.share(fit.shares['population'])}, the prior alone {w.share(fit.by_prior)}"
        for name, fit in zip(names, fits, strict=True)
    )
    title = w.marked(found, "Country's share of the variance under each prior")
    return _rows("sweep", title, told + ".", names, marks, (0, most), _percent_ticks(most), limits=(THRESHOLD,))


def below(found: Found) -> Drawing:
    """P(share < 5%) under each prior, beside that prior's own."""
    fits = [fit for fit in found.fits if fit.passed]
    marks = [Mark(row, _point(fit.answer.below)) for row, fit in enumerate(fits)]
    marks += [Mark(row, _point(fit.answer.prior_below), prior=True) for row, fit in enumerate(fits)]
    told = "; ".join(
        f"{fit.posterior.prior}: {w.probability(fit.answer.below)}, the prior alone "
        f"{w.probability(fit.answer.prior_below)}"
        for fit in fits
    )
    told += f". Below needs {SURE} under every prior, above {1 - SURE:.2f}: {w.verdict(found)[0].lower()}."
    title = w.marked(found, f"Probability that the country's share is below {w.LIMIT}")
    ticks = [(t / 4, f"{t / 4:g}") for t in range(5)]
    names = [str(fit.posterior.prior) for fit in fits]
    return _rows("below", title, told, names, marks, (0, 1), ticks, limits=(1 - SURE, SURE))


def flattening(found: Found, joint: Joint) -> Drawing:
    """How widely each judge spreads countries, beside the people asked."""
    spans = [Span(judge.latent.median, judge.latent.low, judge.latent.high) for judge in joint.judges]
    names = [judge.judge for judge in joint.judges]
    most = max(2.0, 1.05 * max(span.high for span in spans))
    ticks = [(t, f"{t:g}") for t in _multiples(0.0, most, _step(most))]
    told = "; ".join(
        f"{judge.judge} {w.flat_row(judge)[1]}, probability below 1 {w.probability(judge.flatter)}"
        for judge in joint.judges
    )
    title = w.marked(found, "Spread of a judge's country effects over that of the people asked, in logits")
    marks = [Mark(row, span) for row, span in enumerate(spans)]
    return _rows("flattening", title, f"{told}. {w.PANEL}", names, marks, (0, most), ticks, limits=(1.0,))


def ranks(found: Found) -> Drawing:
    """Where the draws of each chain stand among all, by effect: flat where the chains found the same."""
    draws, names, chains = found.main.posterior.sd, found.main.posterior.names, found.chains
    order = np.argsort(np.argsort(draws, axis=0), axis=0).reshape(chains, -1, len(names))
    bins = (order * BINS) // len(draws)
    counts = np.stack([np.stack([np.bincount(one[:, k], minlength=BINS) for one in bins]) for k in range(len(names))])
    even = draws.shape[0] / chains / BINS
    wide, high = (WIDTH - LEFT - RIGHT) / chains, 40
    body = []
    for chain in range(chains):
        middle = LEFT + wide * (chain + 0.5)
        body.append(f'<text x="{middle:.1f}" y="{TOP + 8}" text-anchor="middle">chain {chain + 1}</text>')
    for row, name in enumerate(names):
        floor = TOP + 20 + (high + 12) * row + high
        body.append(f'<text x="{LEFT - 10}" y="{floor - 14}" text-anchor="end">sd of {_safe(name)}</text>')
        for chain in range(chains):
            left, bar = LEFT + wide * chain + 4, (wide - 8) / BINS
            for place, count in enumerate(counts[row, chain]):
                tall = min(count / even, 2.0) * high / 2
                body.append(
                    f'<rect class="bar" x="{left + bar * place:.1f}" y="{floor - tall:.1f}" width="{bar * 0.9:.1f}" '
                    f'height="{tall:.1f}"/>'
                )
            body.append(
                f'<line class="limit" x1="{left:.1f}" x2="{left + wide - 8:.1f}" y1="{floor - high / 2}" '
                f'y2="{floor - high / 2}"/>'
            )
    gates = found.main.posterior.gates
    told = (
        f"For each effect and chain, how many draws fall into each tenth of all draws of that standard deviation; "
        f"{even:.0f} would be even. The fullest has {counts.max()}, the emptiest {counts.min()}; largest r-hat "
        f"{gates.rhat:.3f}, gates {'passed' if gates.passed else 'FAILED'}."
    )
    title = w.marked(found, f"Ranks of the draws by chain, prior {found.main.posterior.prior}")
    return _svg("ranks", title, told, body, TOP + 28 + (high + 12) * len(names))


def _point(value: float) -> Span:
    return Span(value, value, value)


def _rows(
    name: str,
    title: str,
    description: str,
    labels: Sequence[str],
    marks: Sequence[Mark],
    scale: tuple[float, float],
    ticks: Sequence[tuple[float, str]],
    limits: Sequence[float] = (),
) -> Drawing:
    """Names on the left, an interval or two on each row, a scale below."""
    bottom = TOP + ROW * len(labels)

    def x(value: float) -> float:
        part = (min(max(value, scale[0]), scale[1]) - scale[0]) / (scale[1] - scale[0])
        return LEFT + (WIDTH - LEFT - RIGHT) * part

    both = any(mark.prior for mark in marks)
    body = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom}" y2="{bottom}"/>']
    for value, text in ticks:
        body.append(f'<line class="axis" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{bottom}" y2="{bottom + 5}"/>')
        body.append(f'<text x="{x(value):.1f}" y="{bottom + 19}" text-anchor="middle">{_safe(text)}</text>')
    body += [f'<line class="limit" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="{TOP}" y2="{bottom}"/>' for v in limits]
    for row, label in enumerate(labels):
        body.append(f'<text x="{LEFT - 10}" y="{TOP + ROW * row + 17}" text-anchor="end">{_safe(_cut(label))}</text>')
    for mark in marks:
        y = TOP + ROW * mark.row + (13 if not both else 9 if not mark.prior else 18)
        kind = "prior" if mark.prior else "mark"
        low, middle, high = (x(v) for v in (mark.span.low, mark.span.median, mark.span.high))
        body.append(f'<line class="{kind}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
        body.append(f'<circle class="{kind}" cx="{middle:.1f}" cy="{y}" r="3.5"/>')
    if both:
        body.append(f'<text x="{LEFT}" y="{bottom + 40}">filled: with these labels; dashed: the prior alone</text>')
    return _svg(name, title, description, body, bottom + (50 if both else 28))


def _svg(name: str, title: str, description: str, body: Sequence[str], height: int) -> Drawing:
    title, description = visible(title), visible(description)
    head = (
        f'<svg class="fit" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH} {height}" '
        f'aria-labelledby="{name}-title {name}-text"><title id="{name}-title">{_safe(title)}</title>'
        f'<desc id="{name}-text">{_safe(description)}</desc><style>{STYLE}</style>'
        f'<text x="10" y="20" font-weight="bold">{_safe(title)}</text>'
    )
    return Drawing(name, title, description, "\n".join([head, *body, "</svg>"]) + "\n")


def _safe(text: str) -> str:
    """Text as XML may hold it: a control character in a name is spelt out."""
    return escaped(visible(text))


def _cut(text: str) -> str:
    return text if len(text) <= 34 else text[:33] + "…"


def _step(length: float) -> float:
    """A round distance between ticks, of which 4 to 10 fit."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(next(s * power for s in (0.1, 0.2, 0.5, 1.0, 2.0) if length / (s * power) <= 10))


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [round(k * step, 10) for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]


def _percent_ticks(most: float) -> list[tuple[float, str]]:
    return [(t, f"{100 * t:g}%") for t in _multiples(0.0, most, _step(most))]
