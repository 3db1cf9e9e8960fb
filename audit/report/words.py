"""A verdict in words: its arithmetic as a reader would write it down, its evidence, what would check it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from countback.audit.report.data import Line, Number, Operand, Section
from countback.claims.verdict import ABSENT, ASSERTED, NOT_RELEASED, SYNTHETIC, UNCONFIRMED, UNVERIFIED

SYMBOLS = {
    "reproduced": "✔\ufe0e",
    "consistent": "✓",
    "differs": "✗",
    "inconsistent": "≠",
    "uninformative": "○",
    "unchecked": "?",
}
MEANINGS = {
    "reproduced": "recounted from released data, agrees",
    "consistent": "follows from other printed numbers, agrees",
    "differs": "recounted from released data, does not agree",
    "inconsistent": "contradicts other printed numbers",
    "uninformative": "the check could not have failed",
    "unchecked": "nothing was compared, or only with data that proves nothing",
}
ROUNDINGS = {
    "half-up-or-down": "halves may be rounded up or down",
    "half-up": "halves are rounded up",
    "half-even": "halves are rounded to the even digit",
    "half-down": "halves are rounded down",
    "truncation": "digits are cut off: only truncation explains the number",
}


@dataclass(frozen=True)
class Printed:
    """A printed number in a check: its role ("", "weight", "n"), its address in words, and how it is printed."""

    role: str
    place: str
    text: str


Write = Callable[[Sequence[str]], str]


def _joined(sign: str) -> Write:
    return lambda x: f" {sign} ".join(x)


def _called(name: str) -> Write:
    return lambda x: f"{name}({', '.join(x)})"


def _two(pattern: str) -> Write:
    """A pattern of the first and second operand; whatever has another count is listed."""
    return lambda x: pattern.format(*x) if len(x) == 2 else ", ".join(x)


def _remainder(x: Sequence[str]) -> str:
    return f"{x[0]} − ({' + '.join(x[1:])})" if x else ""


def _remainder_mean(x: Sequence[str]) -> str:
    return f"({x[0]} × {x[1]} − {x[2]} × {x[3]}) / ({x[1]} − {x[3]})" if len(x) == 4 else ", ".join(x)


def _inside(x: Sequence[str]) -> str:
    return f"{x[1]} ≤ {x[0]} ≤ {x[2]}" if len(x) == 3 else ", ".join(x)


def _extreme(name: str) -> Write:
    return lambda x: f"{x[0]} = {name}({', '.join(x)})" if x else ""


# What a relation is called, and how a reader would write it.
RELATIONS: dict[str, tuple[str, Write]] = {
    "equal": ("the same number", ", ".join),
    "sum": ("the sum", _joined("+")),
    "mean": ("the mean", lambda x: f"({' + '.join(x)}) / {len(x)}" if len(x) > 1 else ", ".join(x)),
    "product": ("the product", _joined("×")),
    "median": ("the median", _called("median")),
    "min": ("the least", _called("min")),
    "max": ("the greatest", _called("max")),
    "range": ("the greatest less the least", lambda x: f"max − min of ({', '.join(x)})"),
    "count": ("how many there are", _called("count")),
    "distinct": ("how many differ", _called("distinct")),
    "weighted-mean": ("the weighted mean", _called("weighted mean")),
    "difference": ("the difference", _joined("−")),
    "ratio": ("the ratio", _joined("/")),
    "percent": ("the one in percent of the other", _two("100 × {0} / {1}")),
    "change": ("the change in percent", _two("100 × ({1} − {0}) / {0}")),
    "remainder": ("what is left of the total", _remainder),
    "remainder-mean": ("the mean of the rest", _remainder_mean),
    "choose": ("the ways to choose", _two("C({0}, {1})")),
    "count-share": (
        "a whole number of n, in percent",
        lambda x: f"100 × k / n for a whole k, nearest to {', '.join(x)}",
    ),
    "joint-share": ("whole numbers of n, in percent, all at once", ", ".join),
    "moment-mean": ("the mean of the distribution with these percentages", _called("mean")),
    "moment-sd": ("the standard deviation of the distribution with these percentages", _called("sd")),
    "moment-median": ("the median of the distribution with these percentages", _called("median")),
    "ci-low": ("the low end of the 95% interval of this point", _called("low end of the 95% interval")),
    "ci-high": ("the high end of the 95% interval of this point", _called("high end of the 95% interval")),
    "matching": ("how many pairs have the first at or above the second", _called("matching")),
    "formula": ("the formula", ", ".join),
    "inside": ("the first lies between the others", _inside),
    "at-least": ("the first is at least the second", _joined("≥")),
    "at-most": ("the first is at most the second", _joined("≤")),
    "more-than": ("the first is more than the second", _joined(">")),
    "less-than": ("the first is less than the second", _joined("<")),
    "equal-text": ("the same words", _joined("=")),
    "ascending": ("each is at least the one before", _joined("≤")),
    "descending": ("each is at most the one before", _joined("≥")),
    "dates-ascending": ("each day is no earlier than the one before", _joined("≤")),
    "highest": ("the first is the highest", _extreme("max")),
    "lowest": ("the first is the lowest", _extreme("min")),
    "short-hash": ("the short form is that of the long one", _joined("of")),
    "grim": ("some n whole numbers have this mean (GRIM)", ", ".join),
    "grimmer": ("some n whole numbers have this mean and standard deviation (GRIMMER)", ", ".join),
    "debit": ("some n zeros and ones have this mean and standard deviation (DEBIT)", ", ".join),
    "p-value": ("the statistic gives this p-value", ", ".join),
}


def relation_words(check: Operand) -> str:
    """What the relation is called."""
    return RELATIONS[check.relation][0] if check.relation in RELATIONS else check.relation


def expression(check: Operand) -> str:
    """The check with its printed numbers in place, as one would write it: "(3.80 + 4.60 + 4.45) / 3"."""
    printed, weights, n = ([_printed(o) for o in part] for part in (check.of, check.weights, check.n))
    if check.relation == "weighted-mean" and len(weights) == len(printed):
        terms = " + ".join(f"{w} × {x}" for w, x in zip(weights, printed, strict=True))
        written = f"({terms}) / ({' + '.join(weights)})"
    elif check.expr:
        written = f"{check.expr} with " + ", ".join(f"{a} = {x}" for a, x in zip(check.names, printed, strict=False))
    elif check.relation in RELATIONS:
        written = RELATIONS[check.relation][1](printed)
    else:
        written = f"{check.relation}({', '.join(printed)})"
    return f"{written}; n = {', '.join(n)}" if n else written


def _printed(operand: Operand) -> str:
    return f"({expression(operand)})" if operand.relation else operand.printed


def printed_numbers(check: Operand, titles: dict[str, str]) -> list[Printed]:
    """Every printed number of a check with its address, those of nested checks included, in order."""
    found: list[Printed] = []
    for part, role in ((check.of, ""), (check.weights, "weight"), (check.n, "n")):
        for operand in part:
            if operand.relation:
                inner = printed_numbers(operand, titles)
                found += [Printed(role or each.role, each.place, each.text) for each in inner]
            else:
                found.append(Printed(role, address(operand.address, titles), operand.printed))
    return found


def address(raw: str, titles: dict[str, str]) -> str:
    """ "table-04|GPT-5 mini|Help" as "Table 4, GPT-5 mini, Help"; "#id" as the text's number of that name."""
    if raw.startswith("#"):
        return f"text, {raw}"
    if raw.startswith("="):
        return "a number of ours, exact"
    table, *rest = raw.split("|")
    return ", ".join([titles.get(table, table), *rest])


def number(value: Number | None) -> str:
    """As the JSON has it; an estimate with six digits."""
    if value is None:
        return ""
    shown = f"{value:.6g}" if isinstance(value, float) else str(value)
    return "−" + shown[1:] if shown.startswith("-") else shown


def span(ends: tuple[Number, Number] | None) -> str:
    """ "4.275 to 4.285", or the one value where both ends are equal."""
    if ends is None:
        return ""
    low, high = number(ends[0]), number(ends[1])
    return low if low == high else f"{low} to {high}"


def spread(line: Line) -> str:
    """What a recount may be with every operand anywhere in its rounding, or its own interval; "" for one value."""
    ends = line.recounted_interval
    return span(ends) if ends is not None and ends[0] != ends[1] else ""


def missed(line: Line) -> str:
    """By how much the two intervals miss each other, in words; "" where they meet."""
    if line.gap in (None, "0", 0, 0.0):
        return ""
    return f"{number(line.gap)} beyond rounding"


def recipe_words(line: Line) -> str:
    """The recipe and what it was called with."""
    given = ", ".join(f"{name} = {value}" for name, value in line.evidence.arguments.items())
    return f"{line.evidence.recipe}({given})"


def evidence_words(line: Line, kit: dict[str, str]) -> list[str]:
    """What else the evidence says: notes, draws, other readings, versions that are not the kit's."""
    e = line.evidence
    said = list(e.notes)
    if e.mc_error is not None:
        said.append(f"drawn with seed {e.seed}; Monte Carlo error {e.mc_error:.3g}, {e.sigmas} of them allowed")
    if e.resamples is not None:
        said.append(f"an interval of {e.resamples} resamples; {e.sigmas} Monte Carlo errors allowed")
    if e.readings:
        told = ", ".join(f"{name}: {number(x)}" for name, x in e.readings.items())
        said.append(f"by other readings {told}; the printed number meets: {', '.join(e.readings_that_meet) or 'none'}")
    if e.versions is not None and e.versions != kit:
        said.append("with " + versions(e.versions))
    return said


def blocks(notes: str) -> list[tuple[bool, str]]:
    """Notes as paragraphs and items of a list (True), whatever lines they were typed in; an item starts with "- "."""
    found: list[tuple[bool, str]] = []
    fresh = True
    for line in map(str.strip, notes.split("\n")):
        if line.startswith("- ") or (line and (fresh or not found)):
            found.append((line.startswith("- "), line.removeprefix("- ")))
        elif line:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
        fresh = not line
    return found


def versions(kit: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in kit.items())


def next_step(section: Section, reason: str, lines: Sequence[Line]) -> tuple[str, str]:
    """What would check these lines: words, and a command where one does."""
    agree = sum(line.agrees is True for line in lines)
    compared = sum(line.agrees is not None for line in lines)
    pinned = section.paper is None or any(release.files for release in section.paper.releases)
    if reason == ABSENT and pinned:
        return "The released files were not here. To get them and check:", f"countback fetch {section.id}"
    if reason == ABSENT:
        return f"The released files were not here: {lines[0].reason.partition(': ')[2]}", ""
    if reason == NOT_RELEASED:
        return (
            "Nothing was released that could check them; this tells when it changes:",
            f"countback watch {section.id}",
        )
    if reason == ASSERTED:
        return "The paper states them; nothing in it or in a release can check them.", ""
    proves = f"{agree} of {compared} that were compared agree, which proves nothing"
    if reason == SYNTHETIC:
        return f"{proves}: the file is a stand-in. With the released files:", f"countback fetch {section.id}"
    if reason == UNVERIFIED and all(file.status != "unverified" for line in lines for file in line.evidence.files):
        return f"{proves}: no full digest of the file is published.", ""  # nothing contradicts what is pinned of it
    if reason == UNVERIFIED and pinned:
        return f"{proves}: the file is not the one that was pinned. To get that one:", f"countback fetch {section.id}"
    if reason == UNVERIFIED:
        return f"{proves}: no pin says what the released files are.", ""
    if reason == UNCONFIRMED:
        return f"{proves}. Compare each cell marked as a draft with the paper, then delete its mark.", ""
    return "", ""
