"""What in the data would mislead a reader of the results alone. Found from the data; worded elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from countback.audit.judge.input import Inputs
from countback.audit.judge.study import Study
from countback.audit.judge.tree import Agreement, JudgeReport, Trap
from countback.fetch.labels import HUMAN
from countback.fetch.readers.source import open_source
from countback.models.identifiability import FEW_ANNOTATORS
from numpy.typing import NDArray

_MODEL_NAME = re.compile(r"gpt|claude|gemini|llama|qwen|mistral|mixtral|deepseek|\bllm\b", re.IGNORECASE)
_POSITION = re.compile(r"^(.*?)(\d+)$")
_LONG_SECONDS = 3600.0
_SHORT_TEXT = 30  # characters; a shorter value that comes twice may be a category
_MOST_POSITIONS = 12
_STEADY = 30  # labels that an annotator must have given for "always the same" to mean something
_APART = 0.25
_SHARE_APART = 0.2
_HARDLY, _CLEARLY = 0.2, 0.4  # a judge's kappa below the first is weak where the humans' is above the second
_PEERS = 0.9  # share of units in common that makes two judges' shares comparable


def find_traps(
    inputs: Inputs,
    study: Study,
    judges: Sequence[JudgeReport],
    agreement: Sequence[Agreement],
    labels: Path,
    columns: Mapping[str, Any],
) -> tuple[Trap, ...]:
    """All of them, the judges' first. `labels` is the file, `columns` what the user said of its columns."""
    found = [trap for report in judges for trap in _of_judge(report, study)]
    found += _between_judges(study, judges)
    found += [Trap(choice.kind, choice.facts) for choice in inputs.choices if choice.kind == "country column"]
    found += _of_annotators(inputs, study)
    found += _of_agreement(agreement)
    found += _of_units(study)
    found += _of_export(inputs, labels, columns.get("item"))
    return tuple(found)


def _of_judge(report: JudgeReport, study: Study) -> Iterator[Trap]:
    who = {"judge": report.name}
    if report.state == "no overlap":
        yield Trap("no overlap", {**who, "rows": report.rows})
        return
    if report.state == "no label":
        texts = sorted({form.partition("' (")[0].strip("'") for form in report.other})
        scores = bool(texts) and all(_is_score(text) for text in texts)
        yield Trap("no label", {**who, "valid": report.valid, "texts": list(map(repr, texts)), "scores": scores})
        return
    if report.other_total:
        forms = dict(list(report.other.items())[:6])
        void = {name: n for name in report.left_out if (n := report.other_in.get(name, 0))}
        facts = {"rows": report.rows, "answers": report.other_total, "forms": forms, "left out": void}
        yield Trap("off the scale", {**who, **facts})
    without = report.asked - report.answered
    if without > report.other_total:
        yield Trap("no answer", {**who, "asked": report.asked, "without": without})
    shares = {p.country: p for p in report.places}
    others = [p.kappa for p in report.places if p.country not in report.left_out and np.isfinite(p.kappa)]
    usual = float(np.median(others)) if others else float("nan")
    for name in report.left_out:
        place = shares[name]
        rest = [p.answered / p.units for p in report.places if p.units and p.country != name]
        facts = {"country": name, "answered": place.answered, "units": place.units, "elsewhere": float(np.median(rest))}
        yield Trap("left out", {**who, **facts, "kappa": place.kappa, "kappa elsewhere": usual})
    for place in report.places:
        if place.country not in report.left_out and place.answered >= 20 and place.kappa <= 0.05 and usual >= 0.2:
            yield Trap(
                "unrelated",
                {
                    **who,
                    "country": place.country,
                    "kappa": place.kappa,
                    "kappa elsewhere": usual,
                    "units": place.answered,
                },
            )
    for kappa in report.kappas if len(report.kappas) > 1 else ():
        if kappa.judge.usable and kappa.human.usable and kappa.judge.high < _HARDLY and kappa.human.low > _CLEARLY:
            yield Trap(
                "weak question", {**who, "part": kappa.part, "judge kappa": kappa.judge, "human kappa": kappa.human}
            )
    if report.everywhere or report.same_everywhere:
        yield Trap("one answer", {**who, "named": not report.everywhere, "countries": len(report.places)})
    absent = report.units - report.asked
    if absent > 0.02 * report.units and not report.left_out:
        yield Trap("partial", {**who, "asked": report.asked, "units": report.units})
    if report.unmatched:
        yield Trap("unmatched", {**who, "rows": report.rows, "unmatched": report.unmatched})


def _is_score(text: str) -> bool:
    whole, point, rest = text.partition(".")
    return point == "." and whole.isdecimal() and rest.isdecimal()


def _between_judges(study: Study, reports: Sequence[JudgeReport]) -> Iterator[Trap]:
    """Judges of the same units: one that lacks some of them, and shares of a label that lie far apart."""
    compared = {report.name: report for report in reports if report.state == "compared"}
    judges = [judge for judge in study.judges if judge.name in compared]
    groups: list[list[int]] = []
    for number, judge in enumerate(judges):
        for group in groups:
            first = judges[group[0]]
            if (judge.asked & first.asked).sum() >= _PEERS * (judge.asked | first.asked).sum():
                group.append(number)
                break
        else:
            groups.append([number])
    for group in groups:
        if len(group) < 2:
            continue
        together = np.any([judges[n].asked for n in group], axis=0)
        for n in group:
            lacking = np.unique(study.item[together & ~judges[n].asked])
            if len(lacking):
                facts = {"judge": judges[n].name, "items": len(lacking), "of": len(np.unique(study.item[together]))}
                yield Trap("short", {**facts, "peers": len(group) - 1, "example": study.items[lacking[0]]})
        yield from _shares_apart([compared[judges[n].name] for n in group])


def _shares_apart(reports: Sequence[JudgeReport]) -> Iterator[Trap]:
    shares = {report.name: report.shares for report in reports if report.shares is not None}
    widest: Trap | None = None
    for label in next(iter(shares.values()))["judge"] if shares else ():
        of = {name: share["judge"][label] for name, share in shares.items()}
        low, high = min(of, key=lambda name: of[name]), max(of, key=lambda name: of[name])
        gap = of[high] - of[low]
        if gap >= _SHARE_APART and (widest is None or gap > widest.facts["gap"]):
            facts = {"label": label, "low": low, "low share": of[low], "high": high, "high share": of[high], "gap": gap}
            human = float(np.mean([share["human"][label] for share in shares.values()]))
            widest = Trap("shares apart", {**facts, "humans": human, "judges": len(of), "units": reports[0].answered})
    if widest is not None:
        yield widest


def _of_annotators(inputs: Inputs, study: Study) -> Iterator[Trap]:
    texts = inputs.texts
    human = texts.kind == HUMAN
    pairs = np.unique(texts.annotator[human].astype(np.int64) * len(texts.countries) + texts.country[human])
    of_country: dict[str, list[str]] = defaultdict(list)
    for pair in pairs.tolist():
        of_country[texts.countries[pair % len(texts.countries)]].append(texts.annotators[pair // len(texts.countries)])
    positions = _positions(of_country)
    steady = steadiness(study)
    if positions:
        yield Trap("positions", {**positions, "correlation": steady[0], "annotators": steady[1]})
    models = sorted({name for names in of_country.values() for name in names if _MODEL_NAME.search(name)})
    if models:
        yield Trap("model among humans", {"names": models[:5], "number": len(models)})
    sizes = {country: len(names) for country, names in of_country.items()}
    few = {country: n for country, n in sizes.items() if n < FEW_ANNOTATORS}
    if few and len(sizes) > 1:
        yield Trap("few annotators", {"countries": len(few), "of": len(sizes), "most": max(few.values())})
    constant = _constant(study)
    if constant:
        yield Trap("constant annotators", {"annotators": constant, "labels": _STEADY})


def _positions(of_country: dict[str, list[str]]) -> dict[str, object]:
    """Whether every country's ids are one stem with the numbers 0, 1, 2 ... or 1, 2, 3 ...: places in a list."""
    numbers = set()
    for names in of_country.values():
        matches = [_POSITION.match(name) for name in names]
        stems = {match.group(1) for match in matches if match}
        found = sorted(int(match.group(2)) for match in matches if match)
        if None in matches or len(stems) != 1 or not 2 <= len(found) <= _MOST_POSITIONS:
            return {}
        if found not in (list(range(len(found))), list(range(1, len(found) + 1))):
            return {}
        numbers.add(tuple(found))
    if not numbers:
        return {}
    first, last = min(n[0] for n in numbers), max(n[-1] for n in numbers)
    return {"first": first, "last": last, "countries": len(of_country)}


def steadiness(study: Study) -> tuple[float, int]:
    """Correlation over annotators of their mean offset on one half of the items with that on the other; and how many.

    An offset is a label's place on its scale (0 to 1) less the mean of the other labels of its unit. Ids that stand for
    one person each correlate, ids of whoever was next do not. NaN without an order or with fewer than five annotators.
    """
    if not study.ordered:
        return float("nan"), 0
    score: NDArray[np.float64] = np.zeros((len(study.questions), len(study.labels)))
    for q, scale in enumerate(study.scales):
        score[q, list(scale)] = np.linspace(0.0, 1.0, len(scale)) if len(scale) > 1 else 0.0
    own = score[study.question[study.unit], study.label]
    size = np.bincount(study.unit, minlength=study.units)[study.unit]
    total = np.bincount(study.unit, own, minlength=study.units)[study.unit]
    shared = size > 1
    offset = own[shared] - (total[shared] - own[shared]) / (size[shared] - 1)
    order = np.unique(study.item, return_inverse=True)[1]
    half = order[study.unit[shared]] % 2
    who = study.annotator[shared]
    people = int(who.max(initial=-1)) + 1
    cell = who * 2 + half
    n = np.bincount(cell, minlength=2 * people).reshape(-1, 2)
    sums = np.bincount(cell, offset, minlength=2 * people).reshape(-1, 2)
    mean = (sums / np.maximum(n, 1))[(n >= 10).all(axis=1)]
    if len(mean) < 5 or (np.ptp(mean, axis=0) == 0).any():
        return float("nan"), len(mean)
    return float(np.asarray(np.corrcoef(mean.T))[0, 1]), len(mean)


def _constant(study: Study) -> int:
    """Annotators with one label throughout, on units where the others gave that label less than 90% of the time."""
    people, k = int(study.annotator.max(initial=0)) + 1, len(study.labels)
    counts = np.bincount(study.annotator * k + study.label, minlength=people * k).reshape(people, k)
    number = 0
    for who in np.flatnonzero((counts.sum(axis=1) >= _STEADY) & ((counts > 0).sum(axis=1) == 1)):
        label = int(np.argmax(counts[who]))
        others = np.isin(study.unit, study.unit[study.annotator == who]) & (study.annotator != who)
        number += bool(others.any() and (study.label[others] == label).mean() < 0.9)
    return number


def _of_agreement(agreement: Sequence[Agreement]) -> Iterator[Trap]:
    """The part in which two countries' humans agree most differently."""
    best: Trap | None = None
    for part in dict.fromkeys(row.part for row in agreement):
        rows = [row for row in agreement if row.part == part and row.where and row.equal.usable]
        if len(rows) < 2:
            continue
        low, high = min(rows, key=lambda r: r.equal.value), max(rows, key=lambda r: r.equal.value)
        gap = high.equal.value - low.equal.value
        if gap >= _APART and high.equal.low > low.equal.high and (best is None or gap > best.facts["gap"]):
            best = Trap("agreement apart", {"part": part, "low": low, "high": high, "gap": gap})
    if best is not None:
        yield best


def _of_units(study: Study) -> Iterator[Trap]:
    size = np.bincount(study.unit, minlength=study.units)
    alone = int((size == 1).sum())
    if alone * 2 >= study.units:
        yield Trap("one label a unit", {"units": study.units, "alone": alone})
    used = len(np.unique(study.label))
    if used == 1:
        yield Trap("no variation", {"label": study.labels[int(study.label[0])], "labels": len(study.label)})


def _of_export(inputs: Inputs, labels: Path, item: object) -> Iterator[Trap]:
    report = inputs.report
    for flag, number in report.flags.items():
        yield Trap("flag", {"flag": flag, "number": number})
    for what, number in report.refused.items():
        yield Trap("refused", {"what": what, "number": number})
    if report.unmatched:
        facts = {"answers": sum(report.unmatched.values()), "forms": dict(list(report.unmatched.items())[:6])}
        yield Trap("human answers off the scale", facts)
    seconds = inputs.texts.seconds
    known = np.isfinite(seconds)
    long = int((seconds[known] > _LONG_SECONDS).sum())
    if long:
        longest = float(seconds[known].max())
        yield Trap("open tabs", {"long": long, "labels": int(known.sum()), "longest": longest})
    if report.reader == "label-studio" and labels.is_file():
        yield from (trap for trap in _same_data(labels) if trap.facts["key"] != item)


def _same_data(labels: Path) -> Iterator[Trap]:
    """Tasks of a Label Studio export whose text another task has too."""
    value = open_source(labels, labels.name).value
    tasks = [task["data"] for task in value if isinstance(task, dict) and isinstance(task.get("data"), dict)]
    texts: dict[str, Counter[str]] = defaultdict(Counter)
    for data in tasks:
        for key, text in data.items():
            if isinstance(text, str) and len(text) >= _SHORT_TEXT:
                texts[key][text] += 1
    for key, found in texts.items():
        twice = {text: n for text, n in found.items() if n > 1}
        if twice:
            yield Trap("same text", {"key": key, "texts": len(twice), "tasks": sum(twice.values()), "of": len(tasks)})
