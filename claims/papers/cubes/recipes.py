"""Recounts of the audit article on CuBEs, one function for each kind of number that it prints.

Methods sections 2 to 6 define them. Shares are in percent and leads in percentage points, as printed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
from countback.claims.papers.cubes.files import is_synthetic
from countback.claims.papers.cubes.read import LABELS, read_rollouts
from countback.claims.papers.cubes.readings import (
    as_floats,
    choose,
    joint,
    kappas,
    meets,
    speeds,
    tests,
    ties,
    unstable,
)
from countback.claims.papers.cubes.rollouts import RolloutTable
from countback.claims.papers.cubes.study import (
    ARTICLE_BOOTSTRAPS,
    ARTICLE_DRAWS,
    DRAWS,
    SEED,
    Data,
    Study,
    load,
)
from countback.claims.verdict import SIGMAS, CannotRecount, Recount
from countback.models.agreement import pool_kappa
from countback.models.culture import MAJORITY, MODAL_GRID, POOLED_MODE, QUESTION_MEAN, lean
from countback.models.grid import modal_grid
from countback.models.heldout import POLICIES
from countback.models.identifiability import diagnose, explain
from countback.models.nulls import Deal, GridNull, culture_free_grid
from countback.models.planning_cells import learn, letter_chances, stability_of
from countback.models.resampling import Interval
from countback.models.timing import median_seconds as medians
from countback.models.timing import rollout_gap as gap_of
from countback.models.votes import Ties, plurality

ROLLOUTS = "cubes/cube_cross_cultural_evaluation.zip"
PAPER = "cubes/2610.02622v1.pdf"
RULES = {"figure": MODAL_GRID, "pooled": POOLED_MODE, "question-mean": QUESTION_MEAN}
PARTLY = "the four released countries only"

# --- Held-out human against judges -------------------------------------------------------------------------------


def held_out_rate(data: Data, *, judge: str = "", country: str = "", share: bool = False) -> Recount:
    """How often the held-out human, or a judge, matches the majority of the other labels; ties skipped."""
    study = load(data)
    rates = {}
    for policy in POLICIES:
        counts = study.held_out(policy, country)
        hits = counts.judges[:, study.judge(judge)].sum() if judge else counts.human.sum()
        rates[policy] = Fraction(str(float(hits))) / counts.comparisons * (1 if share else 100)
    counts = study.held_out("skip", country)
    missing = int(counts.missing[:, study.judge(judge)].sum()) if judge else 0
    return study.recount(
        rates["skip"],
        n=counts.comparisons,
        readings={f"ties: {policy}": float(rate) for policy, rate in rates.items()},
        notes=(f"{int(counts.tied.sum())} labels with a tied reference dropped; {missing} judge labels missing",),
    )


def held_out_lead(data: Data, *, judge: str, country: str = "") -> Recount:
    """A judge's rate less the held-out human's, in percentage points."""
    study = load(data)
    study.judge(judge)
    return study.recount(study.leads(country)[judge], n=study.held_out("skip", country).comparisons)


def held_out_interval(data: Data, *, judge: str, printed: str, country: str = "") -> Recount:
    """95% interval of that lead: items resampled within countries, percentiles unless only another method fits."""
    study = load(data)
    study.judge(judge)
    found = study.differences(country)[judge]
    flat = study.differences(country, stratified=False)[judge]
    ways = {
        "percentile, by country": found.percentile,
        "percentile, all items together": flat.percentile,
        "BCa, by country": found.bca,
        "BCa, all items together": flat.bca,
    }
    errors = {name: _bootstrap_error(interval) for name, interval in ways.items()}
    low, high = printed.split(" to ")
    fits = [
        name
        for name, way in ways.items()
        if meets(100 * way.low, low, SIGMAS * errors[name]) and meets(100 * way.high, high, SIGMAS * errors[name])
    ]
    name = fits[0] if fits else next(iter(ways))
    return study.recount(
        100 * found.value,
        n=found.n,
        mc_error=errors[name],
        seed=SEED,
        low_high=(100 * ways[name].low, 100 * ways[name].high),
        notes=(
            f"by {name}; methods that meet the printed ends: {', '.join(fits) or 'none'}",
            f"{DRAWS:,} draws; the article does not state its own, {ARTICLE_BOOTSTRAPS:,} are allowed for",
        ),
    )


def _bootstrap_error(interval: Interval) -> float:
    """Monte Carlo error in points of the worse end: ours, and that of the article's own draws."""
    return 100 * max(interval.mc_error) * float(np.sqrt(1 + interval.draws / ARTICLE_BOOTSTRAPS))


def comparisons(data: Data) -> Recount:
    """Held-out labels that have a majority of others to be compared with."""
    study = load(data)
    counts = study.held_out()
    return study.recount(counts.comparisons, n=int(counts.labels.sum()))


def compared_items(data: Data) -> Recount:
    """Items that give at least one comparison."""
    study = load(data)
    counts = study.held_out()
    return study.recount(int((counts.n > 0).sum()), n=len(counts.n))


def judges_under(data: Data, *, country: str = "", reliably: bool = False) -> Recount:
    """Judges below the held-out human, in one country or in any; `reliably`: by the whole interval."""
    study = load(data)
    names = [country] if country else study.table.countries
    under = [
        f"{judge} in {name}"
        for name in names
        for judge, found in study.differences(name).items()
        if (found.percentile.high if reliably else found.value) < 0
    ]
    return study.recount(len(under), n=len(names) * len(study.report.judges), notes=tuple(under), seed=SEED)


def countries_with_judges_under(data: Data, *, judges: int) -> Recount:
    """Countries in which at least so many judges are below the held-out human."""
    study = load(data)
    found = [c for c in study.table.countries if sum(lead < 0 for lead in study.leads(c).values()) >= judges]
    return study.recount(len(found), n=len(study.table.countries), notes=tuple(found))


def level_judges(data: Data, *, judges: list[str]) -> Recount:
    """How many of these judges have an interval that holds no lead at all."""
    study = load(data)
    found = [study.differences()[judge].percentile for judge in judges if study.judge(judge) >= 0]
    return study.recount(sum(i.low <= 0 <= i.high for i in found), n=len(judges), seed=SEED)


def full_majority_rate(data: Data, *, judge: str, printed: str) -> Recount:
    """How often a judge matches the majority of all human labels; what is done with a tie is not stated."""
    study = load(data)
    answers = study.judge_labels[study.judge(judge)][study.votes.item]
    ways: dict[str, Ties] = {
        "ties dropped": "drop",
        "a tied label counts": "average",
        "ties to the stricter": "strictest",
    }
    found = {}
    for name, ties_as in ways.items():
        leaders = plurality(study.votes.counts, ties_as) > 0
        used = leaders.any(axis=1)
        right = leaders[np.arange(len(answers)), answers] & (answers >= 0)
        found[name] = Fraction(100 * int(right[used].sum()), int(used.sum())), int(used.sum())
    rates = {name: float(rate) for name, (rate, _) in found.items()}
    name, notes = choose(rates, printed)
    return study.recount(found[name][0], n=found[name][1], readings=rates, notes=notes)


# --- What the release holds --------------------------------------------------------------------------------------


def countries(data: Data) -> Recount:
    study = load(data)
    return study.recount(len(study.table.countries), notes=study.table.countries)


def slots(data: Data, *, country: str = "", valid: bool | None = None) -> Recount:
    """Human label slots; `valid` False counts those that hold no label (a label given twice is one)."""
    study = load(data)
    if country:
        study.country(country)
    found = Counter[bool]()
    for name in [country] if country else study.table.countries:
        for reason, n in study.report.slots[name].items():
            found[reason in ("valid", "duplicate")] += n
    return study.recount(found.total() if valid is None else found[valid], notes=study.report.notes)


def invalid_share(data: Data, *, country: str) -> Recount:
    """Percentage of slots that hold no label."""
    invalid, total = (int(slots(data, country=country, valid=valid).value) for valid in (False, None))
    return load(data).recount(Fraction(100 * invalid, total), n=total)


def labels_per_item(data: Data) -> Recount:
    """The usual number of label slots on one item."""
    study = load(data)
    numbers = np.array(
        [n for c in study.report.labels_per_item.values() for n, items in c.items() for _ in range(items)]
    )
    usual = int(np.bincount(numbers).argmax())
    return study.recount(usual, n=len(numbers), notes=(f"{int((numbers != usual).sum())} items have another number",))


def annotator_pools(data: Data) -> Recount:
    """Distinct annotators with a slot, by country: the smallest and the largest pool."""
    study = load(data)
    pools = study.report.pools.values()
    return study.recount(max(pools), low_high=(min(pools), max(pools)), notes=(str(dict(study.report.pools)),))


def items_per_cell(data: Data, *, end: str) -> Recount:
    """Items of one question in one country, with labels or without: the fewest ("low") or the most ("high")."""
    study = load(data)
    items = study.items_by_cell
    return study.recount(int(items.min() if end == "low" else items.max()), n=items.size)


def labels_per_cell(data: Data) -> Recount:
    """Label slots behind a cell, by the usual number on an item."""
    study = load(data)
    usual, items = int(labels_per_item(data).value), study.items_by_cell
    low_high = (usual * int(items.min()), usual * int(items.max()))
    valid = modal_grid(study.questioned).labels
    return study.recount(low_high[1], low_high=low_high, notes=(f"valid labels: {valid.min()} to {valid.max()}",))


def blank_panels(data: Data, *, country: str = "") -> Recount:
    """Items on which somebody wrote that the panel was blank, where the words leave no doubt which these are."""
    study = load(data)
    found = [item for item in study.report.blank_panel if item.startswith(country)]
    if len(found) != 1:
        texts = "; ".join(f"{item}: {text!r:.80}" for item, text in study.report.free_texts) or "none"
        raise CannotRecount(f"definition not stated: {len(found)} items have words like blank; free texts: {texts}")
    return study.recount(len(found), notes=tuple(found))


# --- Lean, grid, ties --------------------------------------------------------------------------------------------


def lean_of(data: Data, *, country: str, rule: str) -> Recount:
    """A country's lean by the figure's rule, by the pooled mode, or as the mean of all labels by question."""
    study = load(data)
    leans = lean(study.questioned, RULES[rule])
    return study.recount(float(leans[study.country(country)]), n=study.questioned.n_questions)


def tied_with(data: Data, *, country: str, rule: str, printed: str) -> Recount:
    """Whether the country named has the same lean; else the countries that have."""
    study = load(data)
    leans = lean(study.questioned, RULES[rule])
    here = study.country(country)
    names = zip(study.table.countries, leans, strict=True)
    same = [name for name, x in names if abs(x - leans[here]) < 1e-9 and name != country]
    return study.recount(printed if printed in same else ", ".join(same) or "none", n=len(leans), notes=tuple(same))


def cells(data: Data) -> Recount:
    study = load(data)
    return study.recount(int((modal_grid(study.questioned).letters >= 0).sum()))


def cell_count(data: Data, *, country: str, question: str, label: str, counts: list[int]) -> Recount:
    """How often one label stands in a cell."""
    study = load(data)
    code, how = study.find_question(question, country, counts)
    votes = study.questioned
    here = (votes.country == study.country(country)) & (votes.question == code)
    found = votes.counts[here].sum(axis=0)
    return study.recount(int(found[LABELS.index(label)]), n=int(found.sum()), notes=(how,))


def cell_letter(data: Data, *, country: str, question: str, rule: str, counts: list[int]) -> Recount:
    """The letter of a cell by a rule."""
    study = load(data)
    code, how = study.find_question(question, country, counts)
    letter = modal_grid(study.questioned, RULES[rule]).letters[study.country(country), code]
    return study.recount(LABELS[letter] if letter >= 0 else "none", notes=(how,))


def tied_cells(data: Data, *, printed: str) -> Recount:
    """Cells that are ties; the article does not say at which level."""
    study = load(data)
    return _counted(study, ties(study), printed)


def unstable_cells(data: Data, *, share: float, printed: str) -> Recount:
    """Cells that keep their letter in fewer than `share` of the resamples; what is resampled is not stated."""
    study = load(data)
    return _counted(study, unstable(study, share), printed, seed=SEED)


def _counted(study: Study, readings: dict[str, int], printed: str, seed: int | None = None) -> Recount:
    """A count whose definition is open: the first reading that meets what is printed, else the default."""
    name, notes = choose(readings, printed)
    return study.recount(readings[name], readings=as_floats(readings), notes=notes, seed=seed)


def majority_lean(data: Data, *, country: str, printed: str) -> Recount:
    """Mean score of the human majorities of a country's items."""
    study = load(data)
    code = study.country(country)
    readings = study.lean_readings("", lambda leans: float(leans[code]))
    name, notes = choose(readings, printed)
    return study.recount(readings[name], readings=readings, notes=notes)


def majority_spread(data: Data, *, printed: str, judge: str = "") -> Recount:
    """Highest less lowest lean over the countries, of the human majority or of a judge on the same items."""
    study = load(data)
    readings = study.lean_readings(judge, lambda leans: float(np.ptp(leans)))
    name, notes = choose(readings, printed)
    return study.recount(readings[name], readings=readings, notes=notes)


def judge_lean_range(data: Data, *, country: str) -> Recount:
    """Lowest and highest lean of the judges in a country."""
    study = load(data)
    code = study.country(country)
    leans = [float(study.leans(MAJORITY, judge)[code]) for judge in study.report.judges]
    return study.recount(max(leans), low_high=(min(leans), max(leans)), n=len(leans))


# --- Which country is at an end ----------------------------------------------------------------------------------


def country_at_end(data: Data, *, by: str, end: str, printed: str, judge: str = "") -> Recount:
    """The country with the highest or lowest value of a named statistic, among those released."""
    study = load(data)
    names = study.table.countries
    if by == "lead":
        ways = {"lead": [float(study.leads(c)[judge]) for c in names]}
    elif by == "human":
        ways = {"held-out human": [study.held_out("skip", c).human_rate for c in names]}
    elif by == "kappa":
        pooled = [pool_kappa(study.kappas(c)) for c in names]
        ways = {way: [float(getattr(p, way)) for p in pooled] for way in ("weighted", "mean", "table", "ratio")}
    else:
        ways = {by: lean(study.questioned, RULES[by]).tolist()}
    found = {}
    for way, values in ways.items():
        best = (max if end == "high" else min)(values)
        found[way] = [c for c, x in zip(names, values, strict=True) if abs(x - best) < 1e-9]
    fits = [way for way, best in found.items() if printed in best]
    way = fits[0] if fits else next(iter(found))
    shown = "; ".join(f"{c} {x:.3f}" for c, x in zip(names, ways[way], strict=True))
    return study.recount(printed if fits else ", ".join(found[way]), n=len(names), notes=(PARTLY, f"by {way}: {shown}"))


# --- Nulls -------------------------------------------------------------------------------------------------------


def question_p(data: Data, *, question: str, printed: str) -> Recount:
    """p of a permutation test that shuffles countries over the items of one question."""
    study = load(data)
    code, how = study.find_question(question)
    found = {name: tests_[code] for name, tests_ in tests(study).items()}
    readings = {name: test.p for name, test in found.items()}
    errors = {name: test.mc_error * float(np.sqrt(1 + test.draws / ARTICLE_DRAWS)) for name, test in found.items()}
    name, notes = choose(readings, printed, mc_errors=errors)
    return study.recount(
        readings[name], n=found[name].items, mc_error=errors[name], seed=SEED, readings=readings, notes=(how, *notes)
    )


def questions_under(data: Data, *, level: float, printed: str, corrected: bool = False) -> Recount:
    """Questions whose p is under the level, Bonferroni's correction applied or not."""
    study = load(data)
    readings = {
        name: sum((test.bonferroni if corrected else test.p) < level for test in found)
        for name, found in tests(study).items()
    }
    return _counted(study, readings, printed, seed=SEED)


@cache
def _nulls(study: Study) -> dict[str, GridNull]:
    """The null by how items are dealt, which the article does not state."""
    deals: dict[str, Deal] = {"with replacement": "replacement", "from shuffled copies of the pool": "decks"}
    votes = study.questioned
    return {
        name: culture_free_grid(votes, countries=12, draws=DRAWS, rng=np.random.default_rng(SEED), deal=deal)
        for name, deal in deals.items()
    }


def null_grid(data: Data, *, count: str, mean: str, low: int, high: int, what: str) -> Recount:
    """Questions of a kind over grids of twelve synthetic countries without culture: their mean, or central 90%.

    A way of dealing counts only if it meets mean and range together.
    """
    study = load(data)
    found = {name: null.all_labels if count == "all labels" else null.unanimous for name, null in _nulls(study).items()}
    errors = {name: own.mc_error * float(np.sqrt(1 + DRAWS / ARTICLE_DRAWS)) for name, own in found.items()}
    fits = [
        name
        for name, own in found.items()
        if meets(own.mean, mean, SIGMAS * errors[name]) and (own.low, own.high) == (low, high)
    ]
    name = fits[0] if fits else next(iter(found))
    own, notes = found[name], (f"dealt {name}; ways that meet mean and range: {'; '.join(fits) or 'none'}",)
    if what == "range":
        return study.recount(own.high, low_high=(own.low, own.high), n=DRAWS, seed=SEED, notes=notes)
    return study.recount(own.mean, n=DRAWS, mc_error=errors[name], seed=SEED, notes=notes)


# --- Agreement and time ------------------------------------------------------------------------------------------


def within_kappa(data: Data, *, country: str, pooling: str, mean: str, weighted: str) -> Recount:
    """Pooled kappa of a country's annotator pairs; a reading counts only if it meets both printed poolings."""
    study = load(data)
    found = kappas(study, country)
    name, note = joint(found, {"mean": mean, "weighted": weighted})
    return study.recount(found[name][pooling], n=len(study.kappas(country).n), notes=(note, f"by {name}"))


def median_seconds(data: Data, *, country: str) -> Recount:
    """Median seconds per label slot of a country."""
    study = load(data)
    humans, code = study.humans, study.country(country)
    rng = np.random.default_rng(SEED)
    found = medians(humans.seconds, humans.country, len(study.table.countries), item=humans.item, draws=200, rng=rng)
    valid = humans.valid & (humans.country == code)
    readings = {"all slots": float(found.values[code]), "valid labels": float(np.nanmedian(humans.seconds[valid]))}
    return study.recount(readings["all slots"], n=int(found.n[code]), readings=readings)


def speed_agreement(data: Data, *, which: str, fast: str, slow: str) -> Recount:
    """Agreement of fast or slow labels with the others; a reading counts only if it meets both printed values."""
    study = load(data)
    name, note = joint(speeds(study), {"fast": fast, "slow": slow})
    return study.recount(speeds(study)[name][which], notes=(note, f"by {name}"))


# --- Advice ------------------------------------------------------------------------------------------------------


def design_splits(data: Data, *, shared: int = 0) -> Recount:
    """Whether country and items can be told apart: in the labels released, or with `shared` items more for all.

    A shared item gets the usual number of labels from each country's annotators, who take turns.
    """
    study = load(data)
    valid = study.humans.valid
    item, country, annotator = (
        codes[valid].astype(np.int64) for codes in (study.humans.item, study.humans.country, study.humans.annotator)
    )
    usual = int(labels_per_item(data).value)
    for code in np.unique(country) if shared else []:
        pool = np.unique(annotator[country == code])
        if len(pool) < usual:
            raise CannotRecount(f"{study.table.countries[code]} has {len(pool)} annotators, and {usual} label an item")
        turn = np.arange(shared * usual)
        item = np.append(item, len(study.table.items) + turn // usual)
        country = np.append(country, np.full(len(turn), code))
        annotator = np.append(annotator, pool[turn % len(pool)])
    found = diagnose(item, country, annotator)
    words = "separates" if found.separable else "cannot split"
    return study.recount(words, n=found.items, notes=tuple(explain(found, study.table.countries)))


def planned_items(data: Data, *, low: int, high: int) -> Recount:
    """What so many items per cell would do for its letter; always CannotRecount, as no aim is stated to hold it to."""
    study = load(data)
    usual = int(labels_per_item(data).value)
    model = learn(study.questioned)
    chances = letter_chances(model, usual, np.random.default_rng(SEED))
    found = [stability_of(chances, items, np.random.default_rng(SEED)) for items in (2, 3, low, high)]
    raise CannotRecount(
        "definition not stated: the article does not say how sure a letter has to be. By a model learned from these "
        f"{'synthetic ' if study.report.synthetic else ''}labels (two of an item agree {model.agreement:.2f} beyond "
        f"chance, {model.between:.2f} by question and country) the letter is that of unlimited vignettes in "
        + ", ".join(f"{100 * cell.right:.0f}% of cells with {cell.items}" for cell in found)
        + "; fewer than 80% of resamples keep it in "
        + ", ".join(f"{100 * cell.unstable:.0f}%" for cell in found)
    )


# --- Rollouts, the paper's PDF, the files themselves -------------------------------------------------------------


@cache
def _rollouts(path: Path) -> RolloutTable:
    return read_rollouts(path)


def rollout_rows(data: Data) -> Recount:
    table = _rollouts(data.path(ROLLOUTS))
    return Recount(len(table), synthetic=table.synthetic, notes=table.notes)


def rollout_models(data: Data) -> Recount:
    table = _rollouts(data.path(ROLLOUTS))
    return Recount(len(table.models), synthetic=table.synthetic, notes=table.models)


def rollout_gap(data: Data, *, model: str, behavior: str) -> Recount:
    """Mean score at the baseline less the mean over cultures."""
    table = _rollouts(data.path(ROLLOUTS))
    if table.baseline is None:
        raise CannotRecount(f"definition not stated: {'; '.join(table.notes)}")
    rows = np.ones(len(table), bool)
    for codes, names, wanted in ((table.model, table.models, model), (table.behavior, table.behaviors, behavior)):
        named = [i for i, name in enumerate(names) if _bare(wanted) in _bare(name)]
        if len(named) != 1:
            raise CannotRecount(f"{len(named)} of {', '.join(names)} hold {wanted!r}; expected one")
        rows &= codes == named[0]
    rng = np.random.default_rng(SEED)
    gap, welch = gap_of(table.score[rows], table.culture[rows], table.cultures.index(table.baseline), rng=rng)
    notes = (f"domains: {', '.join(table.domains)}", f"95% t interval {welch.low:.2f} to {welch.high:.2f}")
    return Recount(gap.value, n=gap.n, synthetic=table.synthetic, notes=notes)


def _bare(name: str) -> str:
    """Letters and digits alone: a release may write claude-sonnet-4-5 for claude-sonnet-4.5."""
    return "".join(c for c in name.casefold() if c.isalnum())


def table9(data: Data, *, clear: bool = False) -> Recount:
    """Gaps in Table 9 of the paper's PDF, or those whose interval is clear of zero."""
    from countback.fetch.pdf.gaps import read_gap_table

    found = read_gap_table(data.path(PAPER))
    if found.unread:
        raise CannotRecount(f"the PDF's table could not be read in full: {found.summary()}")
    return Recount(len(found.clear_of_zero()) if clear else len(found.gaps), notes=tuple(found.summary().splitlines()))


def file_bytes(data: Data, *, file: str) -> Recount:
    path = data.path(file)
    return Recount(path.stat().st_size, synthetic=is_synthetic(path))


def file_hash(data: Data, *, file: str, short: bool = False) -> Recount:
    """sha256 of a released file; `short`: its first eight and last four digits, as the article prints it."""
    path = data.path(file)
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Recount(f"{digest[:8]}...{digest[-4:]}" if short else digest, synthetic=is_synthetic(path))
