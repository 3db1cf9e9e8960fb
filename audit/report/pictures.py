"""Pictures of a whole report as SVG text: counts of verdicts, and predictions on a line of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from countback.audit.drawing import INK, ROOM, SIZE, WIDTH, figure, one_line, svg
from countback.audit.report.data import Section
from countback.audit.report.words import SYMBOLS
from countback.claims.verdict import VERDICTS

SHADES = {word: f"#01020{digit}" for digit, word in enumerate(VERDICTS, start=4)}  # for var(--VERDICT)
HATCHES = {"differs": "xxx", "inconsistent": "///", "uninformative": "...", "unchecked": "", "reproduced": ""}


@dataclass(frozen=True)
class Moment:
    """A prediction on the line of time. `deadline` None: it has none."""

    name: str
    state: str
    made: date
    deadline: date | None
    resolved: date | None = None


def verdict_counts(sections: Sequence[Section]) -> str:
    """Shares of verdicts, one bar a paper, agreement to the left; the counts stand in the table below it."""
    drawn = figure(WIDTH, 0.5 * len(sections) + 0.1)
    axes = drawn.add_axes((0.01, 0.0, 0.98, 1.0))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(len(sections) - 0.5, -0.6)
    for row, section in enumerate(sections):
        left, total = 0.0, max(len(section.lines), 1)
        name = one_line(f"{section.id} ({len(section.lines):,})", ROOM)
        axes.text(0, row - 0.35, name, color=INK, fontsize=SIZE, va="center", parse_math=False)
        for word in VERDICTS:
            share = section.counts[word] / total
            if share:
                axes.barh(
                    row + 0.08, share, 0.46, left, color=SHADES[word], edgecolor=INK, linewidth=0.6,
                    hatch=HATCHES.get(word, ""),
                )  # fmt: skip
                if share > 0.13:
                    shown = f"{SYMBOLS[word][0]} {section.counts[word]:,}"
                    axes.text(left + share / 2, row + 0.08, shown, color=INK, fontsize=SIZE, ha="center", va="center")
                left += share
    told = "; ".join(
        f"{section.id}: " + ", ".join(f"{n} {word}" for word, n in section.counts.items() if n) for section in sections
    )
    return svg(drawn, "counts", "Verdicts of each paper", told, {shade: word for word, shade in SHADES.items()})


def timeline(moments: Sequence[Moment], today: date) -> str:
    """Predictions from the day they were made to their deadline, and today."""
    days = [m.made for m in moments] + [m.deadline for m in moments if m.deadline] + [today]
    first, last = min(days).toordinal(), max(days).toordinal()
    span = max(last - first, 30)
    drawn = figure(WIDTH, 0.42 * len(moments) + 0.3)
    axes = drawn.add_axes((0.01, 0.0, 0.98, 1.0))
    axes.set_axis_off()
    axes.set_xlim(first - 0.02 * span, first + 1.08 * span)
    axes.set_ylim(len(moments) - 0.4, -1.1)
    now, rows = today.toordinal(), range(len(moments))
    side = "left" if now < first + span * 0.15 else "right" if now > first + span * 0.85 else "center"
    axes.text(now, -0.9, f"today, {today}", color=INK, fontsize=SIZE, ha=side, va="center")
    axes.vlines([now] * len(rows), [row + 0.02 for row in rows], [row + 0.42 for row in rows], color=INK, linestyle=":")
    for row, m in enumerate(moments):
        end = m.deadline.toordinal() if m.deadline else first + int(1.06 * span)
        made, y = m.made.toordinal(), row + 0.22
        axes.plot([made, end], [y, y], color=INK, linewidth=2, linestyle="-" if m.deadline else "--")
        axes.plot([made], [y], marker="o", color=INK)
        if m.deadline:
            axes.plot([end], [y], marker="|", markersize=10, color=INK)
        if m.resolved:
            axes.plot([m.resolved.toordinal()], [y], marker="D", color=INK)
        until = f"until {m.deadline}" if m.deadline else "no deadline"
        name = one_line(f"{m.name}: {m.state}, made {m.made}, {until}", ROOM)
        axes.text(first, row - 0.2, name, color=INK, fontsize=SIZE, va="center", parse_math=False)
    told = "; ".join(
        f"{m.name}: {m.state}, made {m.made}, " + (f"deadline {m.deadline}" if m.deadline else "no deadline")
        for m in moments
    )
    return svg(drawn, "timeline", "Predictions from the day they were made to their deadline", told)
