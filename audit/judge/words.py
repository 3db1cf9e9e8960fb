"""Numbers and advice of an audit of labels in words. Computes nothing.

Plain ASCII, because a terminal may know nothing else. Numbers carry their interval and n wherever something follows
from them, and no more digits than their number of items supports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from countback.audit.judge.tree import CLOSE, Advice, Alternative, Audit, Comparison, Figure

_MANY_ITEMS = 200  # from here on a tenth of a point means something
_NAMED = 6
_MANY_JUDGES = 3  # from here on judges of whom the same is to be said share a sentence

HEADS = {
    "void": "NO VERDICT",
    "no reference": "NO VERDICT",
    "too few": "NO VERDICT",
    "noise": "NO VERDICT",
    "chance": "KEEP THE HUMANS",
    "keep": "KEEP THE HUMANS",
    "keep there": "KEEP THE HUMANS IN SOME COUNTRIES",
    "beside": "USE IT BESIDE HUMANS, NOT INSTEAD",
    "replace": "IT CAN STAND IN FOR ONE HUMAN",
    "collect": "COLLECT MORE",
    "cross": "CROSS THE DESIGN",
    "second label": "COLLECT SECOND LABELS",
    "more items": "COLLECT MORE ITEMS",
    "more annotators": "COLLECT MORE ANNOTATORS",
    "low agreement": "HUMANS AGREE LITTLE",
}


def counted(number: int, what: str) -> str:
    """ "1 human", "2 humans"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def of_all(number: int, of: int, what: str) -> str:
    """ "3 of 10 units"; "all 10 units"; "the only unit"."""
    if number == of:
        return f"all {of:,} {what}s" if of > 1 else f"the only {what}"
    return f"{number:,} of {counted(of, what)}"


def share(value: float, clusters: int) -> str:
    """A share in percent; NaN is "undefined"."""
    return "undefined" if not np.isfinite(value) else f"{100 * value:.{_digits(clusters)}f}%"


def share_with_ends(figure: Figure) -> str:
    """A share in percent with its interval; without one where every resample gives the same."""
    value = share(figure.value, figure.clusters)
    if figure.low == figure.high:
        return value
    return f"{value} [{share(figure.low, figure.clusters)}, {share(figure.high, figure.clusters)}]"


def points(figure: Figure) -> str:
    """A difference of shares in points with its interval, or why there is none."""
    if not np.isfinite(figure.value):
        return "undefined"
    digits = _digits(figure.clusters)
    if not figure.usable:
        return f"{signed(figure.value, 0)} points, too few items for an interval"
    return f"{signed(figure.value, digits)} points [{signed(figure.low, digits)}, {signed(figure.high, digits)}]"


def signed(value: float, digits: int) -> str:
    """Hundredths with a sign; what rounds to nothing has none."""
    text = f"{100 * value:+.{digits}f}"
    return text if text.strip("+-0.") else text[1:]


def number(figure: Figure) -> str:
    """A coefficient with its interval, or why there is none."""
    if not np.isfinite(figure.value):
        return f"undefined ({figure.note})" if figure.note else "undefined"
    if not figure.usable:
        return f"{figure.value:.1f} (too few items for an interval)"
    if figure.low == figure.high:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def listed(names: Iterable[str], most: int = _NAMED) -> str:
    """ "a, b and c", cut after `most`."""
    found = list(names)
    if len(found) > most:
        return f"{', '.join(found[:most])} and {len(found) - most} more"
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def _digits(clusters: int) -> int:
    return 1 if clusters >= _MANY_ITEMS else 0


def advice_lines(audit: Audit) -> list[tuple[str, str, str]]:
    """(about, what to do, why) for each piece of advice; judges of whom the same is to be said are put together."""
    out: list[tuple[str, str, str]] = []
    for rows in _together(audit.advice):
        first = rows[0]
        about = listed((row.judge for row in rows), most=12) if first.judge else "labels"
        many = first.kind == "collect" and len(rows) > 1
        out.append((about, HEADS[first.kind], _collect_all(rows) if many else _ADVICE[first.kind](first.facts)))
    return out


def _together(advice: Sequence[Advice]) -> list[list[Advice]]:
    """Judges of whom the same is to be said: void ones, and many of whom it is open whether they are better."""
    groups: dict[str, list[Advice]] = {}
    for row in advice:
        key = repr((row.kind, row.facts)) if row.kind == "void" else row.kind if _is_open(row) else repr(row)
        groups.setdefault(key, []).append(row)
    return [part for rows in groups.values() for part in ([rows] if _is_one(rows) else [[row] for row in rows])]


def _is_open(row: Advice) -> bool:
    facts = row.facts
    return row.kind == "collect" and facts["overall"].decision == "open" and not (facts["unproven"] or facts["behind"])


def _is_one(rows: Sequence[Advice]) -> bool:
    return not _is_open(rows[0]) or len(rows) >= _MANY_JUDGES


def _collect_all(rows: Sequence[Advice]) -> str:
    """What `_collect` says, of many judges at once."""
    compared: list[Comparison] = [row.facts["overall"] for row in rows]
    each = (
        f"{row.judge} {points(c.difference)} (human {share(c.human, c.items)}, judge {share(c.judge, c.items)}, n "
        f"{c.n:,})"
        for row, c in zip(rows, compared, strict=True)
    )
    needed = _range([max(row.facts["needed"], c.items + 1) for row, c in zip(rows, compared, strict=True)])
    return (
        f"each leaves open who is better, the judge or a held-out human: {'; '.join(each)}. To pin such a difference "
        f"to {100 * CLOSE:.0f} points either way takes about {needed} items like these instead of "
        f"{_range([c.items for c in compared])}."
    )


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _against(c: Comparison) -> str:
    return (
        f"on the same {c.n:,} comparisons over {c.items:,} items a held-out human matches the majority of the "
        f"others in {share(c.human, c.items)}, the judge in {share(c.judge, c.items)}: {points(c.difference)}"
    )


def _where_behind(facts: Mapping[str, Any]) -> str:
    behind: Sequence[Comparison] = facts["behind"]
    if not behind:
        return ""
    if facts["countries"] < 2:
        return f" It was held against one country only, {behind[0].where}."
    worst = min(behind, key=lambda c: c.difference.value)
    chance = facts["countries"] * 0.025
    where = f"{listed(c.where for c in behind)}; most in " if len(behind) > 1 else ""
    return (
        f" It is behind in {len(behind)} of {facts['countries']} countries ({where}{worst.where}: "
        f"{points(worst.difference)}, n {worst.n:,}); chance alone would show about {chance:.1f}."
    )


def _void(f: Mapping[str, Any]) -> str:
    if f["state"] == "no overlap":
        return f"none of its {f['rows']:,} answers is for an item that humans labelled."
    return f"{f['valid']:,} of {f['rows']:,} answers are labels that humans used, the others none; see below."


def _alternative(tested: Alternative | None) -> str:
    if tested is None or not tested.humans:
        return ""
    return (
        f" The alternative annotator test at epsilon {tested.epsilon} prefers it to {tested.won} of "
        f"{counted(tested.humans, 'human')} (half are needed"
        + (f"; {tested.skipped} more have too few items)." if tested.skipped else ").")
    )


def _keep(f: Mapping[str, Any]) -> str:
    return f"{_against(f['overall'])}, below zero throughout.{_where_behind(f)}{_alternative(f['alternative'])}"


def _collect(f: Mapping[str, Any]) -> str:
    c: Comparison = f["overall"]
    said = f"{_against(c)}"
    if c.decision == "open":
        said += (
            f", which leaves open who is better. To pin the difference to {100 * CLOSE:.0f} points either way "
            f"takes about {max(f['needed'], c.items + 1):,} items like these instead of {c.items:,}."
        )
    else:
        said += "."
    if f["unproven"]:
        kappas = _kappas(f, "judge") or "kappa undefined, as with a single label"
        said += f" That the judge is better than chance is not shown ({kappas})"
        said += ": have more items with the rare labels labelled." if f["rare"] else "."
    return said + _where_behind(f)


def _kappas(f: Mapping[str, Any], who: str) -> str:
    return "; ".join(f"{k.part + ' ' if k.part else ''}kappa {number(getattr(k, who))}" for k in f["kappas"][:3])


_ADVICE: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "void": _void,
    "no reference": lambda f: (
        f"no human label has a majority of other humans to be held against ({f['overall'].alone:,} labels are "
        f"alone on their item, {f['overall'].tied:,} have a tied reference): let two more people label the same "
        "items."
    ),
    "too few": lambda f: (
        f"{f['overall'].n:,} comparisons on {f['overall'].items} items are too few for any conclusion; 20 items "
        "are the least at which an interval is printed here, and a few hundred are usual."
    ),
    "noise": lambda f: (
        f"a held-out human agrees with the others no better than chance ({_kappas(f, 'human')}), so there is no "
        "reference to hold a judge against: look at the task and its guideline first."
    ),
    "chance": lambda f: (
        f"its answers agree with the humans' hardly better than chance ({_kappas(f, 'judge')}, n "
        f"{f['overall'].n:,} comparisons), whatever its rate of matches: {_against(f['overall'])}."
    ),
    "keep": _keep,
    "keep there": lambda f: f"{_against(f['overall'])}.{_where_behind(f)} Elsewhere it may stand in for one human.",
    "beside": lambda f: f"{_against(f['overall'])}.{_alternative(f['alternative'])}",
    "replace": lambda f: (
        f"{_against(f['overall'])}.{_alternative(f['alternative'])} One human, not the majority of several: keep "
        "a sample labelled by people to notice when this changes."
    ),
    "collect": _collect,
    "cross": lambda f: (
        f"let every country label the same 10 to 20 items ({f['shared']} of {f['items']:,} are shared by any of "
        f"the {f['countries']} countries now). A judge's comparison with its own country's humans stands all the "
        "same."
    ),
    "second label": lambda f: (
        f"there is one label only for {of_all(f['alone'], f['units'], 'unit')} (item, country, question): nothing can "
        "be held against it."
    ),
    "more items": lambda f: f"{counted(f['items'], 'item')}; below {f['fewest']} no interval is computed here.",
    "more annotators": lambda f: (
        f"{f['countries']} of {f['of']} countries have fewer than {f['fewest']} annotators (the least "
        f"{f['least']}): a country's result is that of these few people."
    ),
    "low agreement": lambda f: (
        f"in {len(f['rows'])} of {f['of']} parts alpha (1: they always agree, 0: as chance would) stays below "
        f"{f['limit']}: "
        + "; ".join(f"{r.part + ' ' if r.part else ''}{number(r.alpha)}" for r in f["rows"][:_NAMED])
        + (f" and {len(f['rows']) - _NAMED} more" if len(f["rows"]) > _NAMED else "")
        + ". A majority of such labels is a weak reference."
    ),
}


GLOSSARY: tuple[tuple[str, str], ...] = (
    ("unit", "one item as the annotators of one country labelled it, under one question."),
    (
        "held-out human",
        "each annotator in turn is set apart and held against the label that most of the others gave that unit (the "
        "reference). The judge is held against the same references. A reference is tied where no label is commonest.",
    ),
    (
        "points",
        "the judge's rate of matches less the human's, in percentage points; in brackets the 95% interval, outside "
        "of which these items leave it little room. Wholly above 0 the judge is ahead, wholly below 0 behind, wholly "
        f"within {100 * CLOSE:.0f} points of 0 close; else it is open who is better.",
    ),
    ("kappa", "agreement of two beyond chance: 1 is always, 0 as often as chance would have it."),
    ("alpha", "the same for any number of annotators (Krippendorff's)."),
    (
        "alternative annotator test",
        "in how many humans' place the judge would match the other humans better than that human does less epsilon, "
        "the allowance for what people cost.",
    ),
    (
        "lean",
        "where a country's majority labels lie on the scale, 0 its first label and 1 its last. The spread is the "
        "highest lean less the lowest; a judge flattens countries where it spreads them less than their humans do.",
    ),
    (
        "p",
        "how often chance alone would give as much or more; up to 0.05 is commonly called a difference. "
        "Benjamini-Hochberg (BH) and Bonferroni raise it, because of many questions some look different by chance.",
    ),
    ("modal grid", "one label for each country and question (a cell): the commonest of its items' majority labels."),
)


def glossary(text: str, entries: Sequence[tuple[str, str]] = GLOSSARY) -> list[tuple[str, str]]:
    """The words that somebody may not know and that stand in `text`, with what they mean."""
    return [(word, meaning) for word, meaning in entries if re.search(rf"\b{word}s?\b", text, re.IGNORECASE)]
