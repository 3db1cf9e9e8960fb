"""Recounts of the audit article on CuBEs, one function for each kind of number that it prints.

Methods sections 2 to 6 define them. Shares are in percent and leads in percentage points, as printed.
"""

from __future__ import annotations

import hashlib
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
from countback.models.culture import MAJORITY, MODAL_GRID, POOLED_MODE, QUESTION_MEAN, Rule, lean
from countback.models.grid import modal_grid
from countback.models.heldout import POLICIES
from countback.models.nulls import GridNull, culture_free_grid
from countback.models.resampling import Interval
from countback.models.timing import median_seconds as medians
from countback.models.timing import rollout_gap as gap_of

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


def full_majority_rate(data: Data, *, judge: str) -> Recount:
    """How often a judge matches the majority of all human labels, items with a tie dropped."""
    study = load(data)
    answers = study.judge_labels[study.judge(judge)][study.votes.item]
    top = study.votes.counts.max(axis=1)
    leads = (study.votes.counts == top[:, None]) & (top[:, None] > 0)
    untied = leads.sum(axis=1) == 1
    right = leads[np.arange(len(answers)), answers] & (answers >= 0)
    value = Fraction(100 * int(right[untied].sum()), int(untied.sum()))
    readings = {"ties dropped": float(value), "a tied label counts": 100 * float(right[top > 0].mean())}
    return study.recount(value, n=int(untied.sum()), readings=readings)


# --- What the release holds --------------------------------------------------------------------------------------


def countries(data: Data) -> Recount:
    study = load(data)
    return study.recount(len(study.table.countries), notes=study.table.countries)


def slots(data: Data, *, country: str = "", valid: bool | None = None) -> Recount:
    """Human label slots; `valid` False counts those that hold no label."""
    study = load(data)
    wanted = [study.report.slots[country]] if country and study.country(country) >= 0 else study.report.slots.values()
    found = sum(n for counts in wanted for reason, n in counts.items() if valid is None or (reason == "valid") == valid)
    return study.recount(found, notes=study.report.notes)


def invalid_share(data: Data, *, country: str) -> Recount:
    """Percentage of slots that hold no label."""
    study = load(data)
    study.country(country)
    counts = study.report.slots[country]
    total = sum(counts.values())
    return study.recount(Fraction(100 * (total - counts.get("valid", 0)), total), n=total)


def labels_per_item(data: Data) -> Recount:
    """The usual number of label slots on one item."""
    study = load(data)
    numbers = np.array(
        [n for c in study.report.labels_per_item.values() for n, items in c.items() for _ in range(items)]
    )
    usual = int(np.bincount(numbers).argmax())
    return study.recount(usual, n=len(numbers), notes=(f"{int((numbers != usual).sum())} items have another number",))


def annotator_pools(data: Data) -> Recount:
    """Distinct annotators of a country: the smallest and the largest pool."""
    study = load(data)
    pools = study.report.pools.values()
    return study.recount(max(pools), low_high=(min(pools), max(pools)), notes=(str(dict(study.report.pools)),))


def items_per_cell(data: Data, *, end: str) -> Recount:
    """Items of one question in one country: the fewest ("low") or the most ("high")."""
    study = load(data)
    items = modal_grid(study.questioned, Rule(vote="labels")).items
    return study.recount(int(items.min() if end == "low" else items.max()), n=items.size)


def labels_per_cell(data: Data) -> Recount:
    """Label slots behind a cell, by the usual number on an item."""
    study = load(data)
    usual = int(labels_per_item(data).value)
    votes = study.questioned
    cell = votes.country * votes.n_questions + votes.question
    items = np.bincount(cell, minlength=votes.n_countries * votes.n_questions)
    valid = np.bincount(cell, votes.counts.sum(axis=1))
    low_high = (usual * int(items.min()), usual * int(items.max()))
    return study.recount(
        low_high[1], low_high=low_high, notes=(f"valid labels: {int(valid.min())} to {int(valid.max())}",)
    )


def blank_panels(data: Data, *, country: str = "") -> Recount:
    """Items on which somebody wrote that the panel was blank."""
    study = load(data)
    found = [item for item in study.report.blank_panel if item.startswith(country)]
    return study.recount(len(found), notes=("counted by words such as blank, empty, not loaded", *found))


# --- Lean, grid, ties --------------------------------------------------------------------------------------------


def lean_of(data: Data, *, country: str, rule: str) -> Recount:
    """A country's lean by the figure's rule, by the pooled mode, or as the mean of all labels by question."""
    study = load(data)
    leans = lean(study.questioned, RULES[rule])
    return study.recount(float(leans[study.country(country)]), n=study.questioned.n_questions)


def tied_with(data: Data, *, country: str, rule: str) -> Recount:
    """The other countries whose lean is the same."""
    study = load(data)
    leans = lean(study.questioned, RULES[rule])
    here = study.country(country)
    same = [
        c for c, x in zip(study.table.countries, leans, strict=True) if abs(x - leans[here]) < 1e-9 and c != country
    ]
    return study.recount(", ".join(same) or "none", n=len(leans))


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


def country_at_end(data: Data, *, by: str, end: str, judge: str = "") -> Recount:
    """The country with the highest or lowest value of a named statistic, among those released."""
    study = load(data)
    names = study.table.countries
    if by == "lead":
        values = [float(study.leads(c)[judge]) for c in names]
    elif by == "human":
        values = [study.held_out("skip", c).human_rate for c in names]
    elif by == "kappa":
        values = [pool_kappa(study.kappas(c)).weighted for c in names]
    else:
        values = lean(study.questioned, RULES[by]).tolist()
    best = (max if end == "high" else min)(values)
    return study.recount(
        ", ".join(c for c, x in zip(names, values, strict=True) if abs(x - best) < 1e-9),
        n=len(names),
        notes=(PARTLY, "; ".join(f"{c} {x:.3f}" for c, x in zip(names, values, strict=True))),
    )


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
def _null(study: Study) -> GridNull:
    return culture_free_grid(study.questioned, countries=12, draws=DRAWS, rng=np.random.default_rng(SEED))


def null_grid(data: Data, *, count: str) -> Recount:
    """Mean number of questions of a kind over grids of twelve synthetic countries without culture."""
    study = load(data)
    null = _null(study)
    found = null.all_labels if count == "all labels" else null.unanimous
    error = found.mc_error * float(np.sqrt(1 + null.draws / ARTICLE_DRAWS))
    return study.recount(found.mean, n=null.draws, mc_error=error, seed=SEED)


def null_grid_range(data: Data, *, count: str) -> Recount:
    """Central 90% of that number."""
    study = load(data)
    found = _null(study).all_labels if count == "all labels" else _null(study).unanimous
    return study.recount(found.high, low_high=(found.low, found.high), n=DRAWS, seed=SEED)


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
        named = [i for i, name in enumerate(names) if wanted.casefold() in name.casefold()]
        if len(named) != 1:
            raise CannotRecount(f"{len(named)} of {', '.join(names)} hold {wanted!r}; expected one")
        rows &= codes == named[0]
    rng = np.random.default_rng(SEED)
    gap, welch = gap_of(table.score[rows], table.culture[rows], table.cultures.index(table.baseline), rng=rng)
    notes = (f"domains: {', '.join(table.domains)}", f"95% t interval {welch.low:.2f} to {welch.high:.2f}")
    return Recount(gap.value, n=gap.n, synthetic=table.synthetic, notes=notes)


def table9(data: Data, *, clear: bool = False) -> Recount:
    """Gaps in Table 9 of the paper's PDF, or those whose interval is clear of zero."""
    from countback.fetch.pdf_gaps import read_gap_table

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
