"""Sentences for the traps an audit of labels found, for what it decided from the data and what it did not conclude."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from countback.audit.judge.input import Choice
from countback.audit.judge.settings import setting
from countback.audit.judge.tree import Trap
from countback.audit.judge.words import counted, listed, number, of_all, share_with_ends


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


def _forms(forms: Mapping[str, int], total: int) -> str:
    shown = ", ".join(f"{form} {n:,}" for form, n in forms.items())
    return f"{shown}, ..." if total > sum(forms.values()) else shown


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
        f"({_forms(f['forms'], f['answers'])}"
        + "".join(f"; {n:,} in {name}, which is left out" for name, n in f["left out"].items())
        + "). They are not moved onto it: an answer that is no label is a miss."
    ),
    "no label": lambda f, who: (
        f"{who}: answers {_texts(f['texts'])} are no labels that humans used"
        + (", and few others are" if f["valid"] else "")
        + ". "
        + (
            "Scores need a threshold before they are labels"
            if f["scores"]
            else "If they stand for labels, say for which: --set \"judge_file.aliases={'ANSWER' = 'LABEL'}\""
        )
        + "; choose it before looking at the result. Nothing is concluded from them now."
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
        f"{who}: answers on {f['asked']:,} of {f['units']:,} units. The others are left out: what is said of it holds "
        "for them only if its units were chosen at random."
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
        f"{setting('judges', list(f['names']))}."
    ),
    "few annotators": lambda f, _: (
        f"{f['countries']} of {f['of']} countries have at most {f['most']} annotators: what is said of a country "
        "is said of them."
    ),
    "constant annotators": lambda f, _: (
        f"{counted(f['annotators'], 'annotator')} gave one and the same label {f['labels']} times or more where others "
        "did not."
    ),
    "agreement apart": _agreement_apart,
    "one label a unit": lambda f, _: f"One human label only: {of_all(f['alone'], f['units'], 'unit')}.",
    "no variation": lambda f, _: (
        f"{'Every' if f['labels'] > 1 else 'The only'} label is {f['label']!r} (n {f['labels']:,}): no agreement "
        "beyond chance exists."
    ),
    "flag": lambda f, _: _FLAGS.get(f["flag"], "{n} {flag}").format(n=f"{f['number']:,}", flag=f["flag"]) + ".",
    "refused": lambda f, _: f"{f['number']:,} {f['what']}: not read.",
    "human answers off the scale": lambda f, _: (
        f"{f['answers']:,} human answers are not among the labels "
        f"({_forms({repr(x): n for x, n in f['forms'].items()}, f['answers'])}) and do not count."
    ),
    "open tabs": lambda f, _: (
        f"{f['long']:,} of {f['labels']:,} answers took more than an hour (the longest {f['longest'] / 3600:.1f} "
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


_FLAGS: Mapping[str, str] = {  # what each of the readers' flags means for the result
    "human edited a model answer": "Human answers made by editing a model's: {n}. They agree with it more than a "
    "human's own would",
    "human edited another annotation": "Answers made by editing another person's: {n}. They agree with it more than "
    "two independent ones would",
    "marked as ground truth": "Annotations marked as ground truth: {n}. They count like anybody's, and none is taken "
    "for the truth",
    "rejected by a reviewer": "Annotations that a reviewer rejected: {n}. They count like any other; to leave them "
    "out, delete them from the export",
    "tasks without an annotation": "Tasks without an annotation: {n}. Nothing of them is among the labels",
    "drafts of an annotation that was submitted": "Drafts of an annotation that was submitted: {n}. They are not read; "
    "what was submitted counts",
    "a label repeated in one list": "Answers that hold one label twice: {n}. It counts once",
    "single-choice answers with several clicks kept and no trail": "Single-choice answers with several labels and no "
    "record of which was last: {n}. They do not count",
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
