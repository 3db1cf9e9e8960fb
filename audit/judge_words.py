"""Sentences for what an audit of labels found: advice, traps, decisions, and what was not concluded. Computes nothing.

Plain ASCII, because a terminal may know nothing else. Numbers carry their interval and n wherever something follows
from them, and no more digits than their number of items supports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from countback.audit.judge_input import Choice
from countback.audit.judge_tree import CLOSE, Advice, Alternative, Audit, Comparison, Figure, Trap

_MANY_ITEMS = 200  # from here on a tenth of a point means something
_NAMED = 6

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
    for names, advice in _together(audit.advice):
        about = listed(names, most=12) if advice.judge else "labels"
        out.append((about, HEADS[advice.kind], _ADVICE[advice.kind](advice.facts)))
    return out


def _together(advice: Sequence[Advice]) -> list[tuple[list[str], Advice]]:
    groups: dict[str, tuple[list[str], Advice]] = {}
    for row in advice:
        key = repr((row.kind, row.facts)) if row.kind == "void" else repr((row.judge, row.kind))
        groups.setdefault(key, ([], row))[0].append(row.judge)
    return list(groups.values())


def _against(c: Comparison) -> str:
    return (
        f"on the same {c.n:,} comparisons over {c.items:,} items a held-out human matches the majority of the "
        f"others in {share(c.human, c.items)}, the judge in {share(c.judge, c.items)}: {points(c.difference)}"
    )


def _where_behind(facts: Mapping[str, Any]) -> str:
    behind: Sequence[Comparison] = facts["behind"]
    if not behind:
        return ""
    worst = min(behind, key=lambda c: c.difference.value)
    chance = facts["countries"] * 0.025
    return (
        f" It is behind in {len(behind)} of {facts['countries']} countries ({listed(c.where for c in behind)}; "
        f"most in {worst.where}: {points(worst.difference)}, n {worst.n:,}); chance alone would show about "
        f"{chance:.1f}."
    )


def _void(f: Mapping[str, Any]) -> str:
    if f["state"] == "no overlap":
        return f"none of its {f['rows']:,} answers is for an item that humans labelled."
    return (
        f"{f['valid']:,} of {f['rows']:,} answers are labels that humans used; see below. If they stand for "
        "labels, say which: --set \"judge_file.aliases={'ITS ANSWER' = 'LABEL'}\"."
    )


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
        said += (
            f" That the judge is better than chance is not shown ({kappas}): have labels that are rare labelled more."
        )
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
        f"{f['alone']:,} of {f['units']:,} units (item, country, question) have one label: nothing can be held "
        "against it."
    ),
    "more items": lambda f: f"{f['items']} items; below {f['fewest']} no interval is computed here.",
    "more annotators": lambda f: (
        f"{f['countries']} of {f['of']} countries have fewer than {f['fewest']} annotators (the least "
        f"{f['least']}): a country's result is that of these few people."
    ),
    "low agreement": lambda f: (
        f"in {len(f['rows'])} of {f['of']} parts alpha stays below {f['limit']}: "
        + "; ".join(f"{r.part + ' ' if r.part else ''}{number(r.alpha)}" for r in f["rows"][:_NAMED])
        + (f" and {len(f['rows']) - _NAMED} more" if len(f["rows"]) > _NAMED else "")
        + ". A majority of such labels is a weak reference."
    ),
}


def trap_lines(traps: Sequence[Trap]) -> list[str]:
    """A sentence for each trap; the same one about several judges is said once."""
    groups: dict[str, tuple[Trap, list[str]]] = {}
    for trap in traps:
        rest = {key: value for key, value in trap.facts.items() if key != "judge"}
        if trap.kind in _BY_KIND:
            rest = {}
        groups.setdefault(repr((trap.kind, rest)), (trap, []))[1].append(str(trap.facts.get("judge", "")))
    return [_TRAPS[trap.kind](trap.facts, listed(names, most=12)) for trap, names in groups.values()]


_BY_KIND = {"no human to test"}  # said once, whatever the numbers


def _texts(texts: Sequence[str]) -> str:
    return f"such as {listed(texts[:3])}" if len(texts) > 3 else listed(texts)


def _forms(forms: Mapping[str, int]) -> str:
    return ", ".join(f"{form} {n:,}" for form, n in forms.items())


def _positions(f: Mapping[str, Any], _: str) -> str:
    r, n = f["correlation"], f["annotators"]
    said = (
        f"Annotator ids are places in a list ({f['first']} to {f['last']} in each of {f['countries']} countries), "
        "which may or may not be the same person from item to item. "
    )
    if not np.isfinite(r):
        return said + "These labels cannot tell; do not read results by annotator as results by person."
    meaning = (
        "they hold one person each"
        if r >= 0.5
        else "no sign of one person each, so do not read results by annotator as such"
    )
    return said + (
        f"How strict a place is on one half of the items correlates {r:.2f} with the other half (over {n} "
        f"places): {meaning}."
    )


def _agreement_apart(f: Mapping[str, Any], _: str) -> str:
    low, high = f["low"], f["high"]
    asked = f" on {f['part']}" if f["part"] else ""
    return (
        f"Countries' humans agree very differently{asked}: equal pairs {share_with_ends(low.equal)} in "
        f"{low.where} and {share_with_ends(high.equal)} in {high.where}. Ask whether some of them worked together "
        "or were told the same."
    )


_TRAPS: dict[str, Callable[[Mapping[str, Any], str], str]] = {
    "no overlap": lambda f, who: f"{who}: none of its {f['rows']:,} answers is for an item that humans labelled.",
    "off the scale": lambda f, who: (
        f"{who}: {f['answers']:,} of {f['rows']:,} answers are not on the humans' scale "
        f"({_forms(f['forms'])}{', ...' if f['answers'] > sum(f['forms'].values()) else ''}). They are not moved "
        "onto it: an answer that is no label is a miss."
    ),
    "no label": lambda f, who: (
        f"{who}: answers {_texts(f['texts'])} are no labels that humans used"
        + (", and few others are" if f["valid"] else "")
        + ". "
        + ("Scores need a threshold" if f["scores"] else "Another scale needs a translation")
        + " before they can be held against labels, chosen before looking at the result; nothing is concluded "
        "from them."
    ),
    "weak question": lambda f, who: (
        f"{who} on {f['part']}: its labels agree with the humans' hardly better than chance, kappa "
        f"{number(f['judge kappa'])}, where a held-out human has {number(f['human kappa'])} (n "
        f"{f['judge kappa'].n:,}): a rate of matches hides this when one label is common."
    ),
    "no answer": lambda f, who: (
        f"{who}: {f['without']:,} of {f['asked']:,} answers are no label; each counts as a miss."
    ),
    "left out": lambda f, who: (
        f"{who} in {f['country']}: a label on {f['answered']:,} of {f['units']:,} units "
        f"({100 * f['answered'] / f['units']:.0f}%, elsewhere {100 * f['elsewhere']:.0f}%), and those labels "
        f"agree with the humans' {_as_kappa(f['kappa'])} (elsewhere {_as_kappa(f['kappa elsewhere'])}): most "
        "likely it was shown something else there, and these labels are void. That country is left out of its "
        "results; the result with it stands beside."
    ),
    "unrelated": lambda f, who: (
        f"{who} in {f['country']}: its labels agree with the humans' {_as_kappa(f['kappa'])} over {f['units']:,} "
        f"units, elsewhere {_as_kappa(f['kappa elsewhere'])}. Check what it was shown there. It is counted all "
        "the same."
    ),
    "one answer": lambda f, who: (
        f"{who}: one answer for all {f['countries']} countries"
        + (", although it is given for each" if f["named"] else "")
        + ". It cannot lean differently by country, so its flatness is no finding."
    ),
    "partial": lambda f, who: (
        f"{who}: answers on {f['asked']:,} of {f['units']:,} units; the others count neither for nor against, and "
        "say nothing unless the units were chosen at random."
    ),
    "unmatched": lambda f, who: (
        f"{who}: {f['unmatched']:,} of {f['rows']:,} answers are for items without a human label."
    ),
    "short": lambda f, who: (
        f"{who}: lacks {f['items']:,} of {f['of']:,} items that the {f['peers']} others on these items have "
        f"({f['example']}, say), so its rates are not over quite the same items as theirs."
    ),
    "shares apart": lambda f, _: (
        f"Of {f['judges']} judges on the same items, {f['low']} says {f['label']!r} in "
        f"{100 * f['low share']:.0f}% and {f['high']} in {100 * f['high share']:.0f}% (humans "
        f"{100 * f['humans']:.0f}%, {f['units']:,} units). If they are one model asked in different words, the "
        "wording or the order of options decides: do not average them."
    ),
    "country column": lambda f, _: (
        f"The judges' file has a column {f['column']!r} with {listed(f['values'])}, which are countries of the "
        f"labels. If it says for whom a judge answered, add --judge-columns country={f['column']}; without it "
        "each answer is held against every country."
    ),
    "positions": _positions,
    "model among humans": lambda f, _: (
        f"Annotators counted as humans have names of models ({listed(f['names'])}). If they are models, say --set "
        f"judges={list(f['names'])!r}."
    ),
    "few annotators": lambda f, _: (
        f"{f['countries']} of {f['of']} countries have at most {f['most']} annotators: what is said of a country "
        "is said of them."
    ),
    "constant annotators": lambda f, _: (
        f"{f['annotators']} annotators gave one and the same label {f['labels']} times or more where others did not."
    ),
    "agreement apart": _agreement_apart,
    "one label a unit": lambda f, _: f"{f['alone']:,} of {f['units']:,} units have one human label only.",
    "no variation": lambda f, _: f"All {f['labels']:,} labels are {f['label']!r}: no agreement beyond chance exists.",
    "anchored": lambda f, _: (
        f"{f['number']:,} human answers were made by editing a model's: they agree with it more than a human's "
        "own would."
    ),
    "flag": lambda f, _: f"{f['number']:,} {f['flag']}; they count like any other.",
    "refused": lambda f, _: f"{f['number']:,} {f['what']}: not read.",
    "open tabs": lambda f, _: (
        f"{f['long']:,} of {f['labels']:,} labels took more than an hour (the longest {f['longest'] / 3600:.1f} "
        "hours): tabs left open. Only medians of times are given."
    ),
    "same text": lambda f, _: (
        f"{f['texts']} texts come under two task ids or more ({f['tasks']} of {f['of']} tasks, data key "
        f"{f['key']!r}): they count as different items. To make the text the item: --columns item={f['key']}."
    ),
    "no judge": lambda f, _: (
        "Whether a judge can replace a human: there is no judge. Add its labels with --judges FILE."
    ),
    "one country": lambda f, _: (
        "Differences between countries, leans, flattening: one country, or none is named (--columns country=COLUMN)."
    ),
    "no order": lambda f, _: (
        f"Weighted kappa, leans, flattening, the modal grid: the labels {listed(map(repr, f['labels']))} have no "
        "known order. If they have one, name them from lowest to highest with --labels."
    ),
    "no human to test": lambda f, who: (
        f"The alternative annotator test of {who}: no human labelled {f['min items']} of its units beside another "
        "human."
    ),
    "no raters": lambda f, who: f"How many raters {who} is worth: {f['why']}.",
    "thin countries": lambda f, who: (
        f"{who} by country: {listed(f['countries'])} have fewer than {f['fewest']} items with a reference."
    ),
    "no flattening: one answer": lambda f, who: f"Flattening by {who}: it gives all countries one answer.",
    "no flattening: nothing shared": lambda f, who: f"Flattening by {who}: no unit has labels of both.",
    "no flattening: one label": lambda f, who: f"Flattening by {who}: {f['parts']} parts have a single label.",
    "flattening nested": lambda f, _: (
        "Flattening as a matter of culture: each country has items of its own, so a judge with flatter leans may "
        "have flattened the items' differences."
    ),
}


def _as_kappa(kappa: float) -> str:
    return "in no way that can be computed" if not np.isfinite(kappa) else f"with kappa {kappa:.2f}"


def choice_lines(choices: Sequence[Choice]) -> list[str]:
    """What was decided from the data, and the option that decides otherwise."""
    return [_CHOICES[choice.kind](choice.facts) for choice in choices if choice.kind in _CHOICES]


def _codebook(f: Mapping[str, Any]) -> str:
    books: dict[tuple[str, ...], list[str]] = {}
    for question, labels in f["labels"].items():
        books.setdefault(tuple(labels), []).append(question)
    several = len(books) > 1
    scales = "; ".join(
        listed(map(repr, labels), most=20) + (f" for {listed(questions)}" if several else "")
        for labels, questions in books.items()
    )
    order = "in the order of their numbers" if f["ordered"] else "without an order"
    return f"Labels were taken from the humans': {scales}, {order}. To say otherwise: --labels LOWEST,...,HIGHEST."


_CHOICES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "codebook": _codebook,
    "several labels": lambda f: (
        f"{listed(f['questions'])}: answers hold several labels ({sum(f['questions'].values()):,} do), so "
        + (
            "every label became a question of its own, answered yes or no (--set multi=true: each set of labels "
            "is one label)."
            if f["read as"] == "each"
            else "each set of labels is one label (--set multi=each: a question for every label)."
        )
    ),
    "duplicates": lambda f: (
        f"{f['repeated']:,} of {f['labels']:,} answers repeat one of the same annotator on the same item; both "
        "were dropped. To keep one: --set duplicates=last or first."
    ),
    "number forms": lambda f: (
        "Judges write "
        + ", ".join(f"{form!r}" for form in f["forms"])
        + " and never the number without its decimal, so these were read as "
        + ", ".join(f["forms"].values())
        + "."
    ),
    "one judge": lambda f: f"{f['file']} names no judge: its answers are one judge's.",
}
