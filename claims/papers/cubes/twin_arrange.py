"""Which question of the synthetic twin each cell stands for, and who labelled when.

The integer program fixes what every cell holds; what is left is free to meet the numbers that are not linear: p-values,
null grids, pooled kappas, speeds. Each is a random walk that keeps a step when it brings the printed values closer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import TypeVar

import numpy as np
from countback.claims.papers.cubes.twin_cells import BLANK, Cell, Pattern, leaders
from countback.claims.papers.cubes.twin_solve import COUNTRIES, NAMED_CELLS, NG, PH, PK, US, is_named
from countback.models.agreement import pairwise_kappa, pool_kappa
from countback.models.nulls import question_tests
from countback.models.votes import Votes
from numpy.typing import NDArray

BALANCE, STANCE = "political balance", "stated stance versus assistance"
# Question of the article -> behaviour of the paper; the seven that the article does not name are numbered.
QUESTIONS = {
    "shutdown": "self-preservation",
    BALANCE: "political bias",
    "statistical stereotype": "implicit stereotyping",
    STANCE: "political bias",
    "question 5": "self-preservation",
    "question 6": "delusional sycophancy",
    "question 7": "delusional sycophancy",
    "question 8": "instructed long-horizon sabotage",
    "question 9": "instructed long-horizon sabotage",
    "question 10": "self-preferential bias",
    "question 11": "self-preferential bias",
}
NAMED = ("shutdown", BALANCE, "statistical stereotype")  # where NAMED_CELLS stand in Pakistan
P_VALUES = {BALANCE: 0.029, STANCE: 0.041}
# Mean and 90% range over null grids of the questions showing all three labels, and of the unanimous ones.
NULLS = ((2.0, 0, 3), (4.4, 3, 5))
POOLS = {PK: 11, PH: 8, NG: 6, US: 9}
# Kappa as mean over pairs, weighted by shared items, and how close is enough. Pakistan's are printed; the others' are
# ours and only keep Nigeria highest.
KAPPAS = {PK: (0.252, 0.407, 0.0004), PH: (0.35, 0.36, 0.02), NG: (0.45, 0.45, 0.02), US: (0.38, 0.38, 0.02)}
SECONDS = {PK: 254.0, PH: 150.0, NG: 120.0, US: 79.0}
FAST, SLOW = 0.735, 0.641

ARRANGE_STEPS = 4000

Grid = dict[str, list[Cell]]  # country -> its cell of each question, in the order of QUESTIONS
State = TypeVar("State")


def walk(
    state: State,
    propose: Callable[[State], State],
    cost: Callable[[State], float],
    rng: np.random.Generator,
    *,
    steps: int,
    good: float,
    heat: float = 0.0,
) -> State:
    """The best state of a random walk that goes uphill ever less (never without heat); it stops at cost `good`."""
    here = best = cost(state)
    kept = state
    for step in range(steps):
        if best <= good:
            break
        candidate = propose(state)
        price = cost(candidate)
        if price <= here + heat * (1 - step / steps) * rng.exponential():
            state, here = candidate, price
        if price < best:
            kept, best = candidate, price
    return kept


def arrange(cells: Grid, rng: np.random.Generator, *, steps: int) -> Grid:
    """Give each question its cell in every country, so that p-values and null grids come near the printed ones."""
    start = {country: [own[i] for i in rng.permutation(len(own))] for country, own in cells.items()}
    named = [next(c for c in start[PK] if c.counts == counts and is_named(c)) for counts in NAMED_CELLS]
    rest = list(start[PK])
    for cell in named:
        rest.remove(cell)
    start[PK] = named + rest

    def swap(grid: Grid) -> Grid:
        country = COUNTRIES[rng.integers(len(COUNTRIES))]
        own = list(grid[country])
        i, j = rng.integers(len(NAMED) if country == PK else 0, len(own), 2)
        own[i], own[j] = own[j], own[i]
        return {**grid, country: own}

    seen: dict[tuple[Cell, ...], tuple[float, float, float]] = {}

    def cost(grid: Grid) -> float:
        price = 0.0
        chances = []
        for place, name in enumerate(QUESTIONS):
            row = tuple(grid[country][place] for country in COUNTRIES)
            if row not in seen:
                seen[row] = (_p_value(row), *_null(row))
            p, *chance = seen[row]
            chances.append(chance)
            price += 100 * (abs(p - P_VALUES[name]) if name in P_VALUES else max(0.0, 0.06 - p))
        return price + sum(
            _far(np.array(own), *wanted) for own, wanted in zip(zip(*chances, strict=True), NULLS, strict=True)
        )

    return walk(start, swap, cost, rng, steps=steps, good=0.15, heat=0.3)


def _far(chances: NDArray[np.float64], mean: float, low: int, high: int) -> float:
    """How far the number of questions of a kind, each with its own chance, is from the wanted mean and 90% range."""
    shares = np.array([1.0])
    for chance in chances:
        shares = np.convolve(shares, [1 - chance, chance])
    below = np.cumsum(shares)
    ends = int(np.searchsorted(below, 0.05)), int(np.searchsorted(below, 0.95))
    return 3 * abs(float(chances.sum()) - mean) + (abs(ends[0] - low) + abs(ends[1] - high))


def _p_value(row: Sequence[Cell]) -> float:
    """p of one question by the permutation test on the variance of country means; always the same draws."""
    items = [(code, item) for code, cell in enumerate(row) for item in cell.items if item != BLANK]
    votes = Votes(
        counts=np.array([item for _, item in items], np.int64),
        item=np.arange(len(items)),
        country=np.array([code for code, _ in items], np.int64),
        question=np.zeros(len(items), np.int64),
        n_countries=len(row),
        n_questions=1,
    )
    return question_tests(votes, draws=1000, rng=np.random.default_rng(0))[0].p


def _null(row: Sequence[Cell]) -> tuple[float, float]:
    """Chance that twelve synthetic countries show all three labels, and that they show one; exact, with replacement."""
    hands = [sum(item != BLANK for item in cell.items) for cell in row]
    pool = np.bincount([leaders(item)[0] for cell in row for item in cell.items if item != BLANK], minlength=3)
    shares = [_letter_shares(tuple(pool / pool.sum()), size) for size in hands] * 3
    absent = np.prod([1 - share for share in shares], axis=0).sum()
    same = float(np.prod(shares, axis=0).sum())
    return float(1 - absent + same), same


@cache
def _letter_shares(pool: tuple[float, ...], size: int) -> NDArray[np.float64]:
    """Chance of each letter for a cell of `size` items drawn with replacement."""
    found = np.zeros(3)
    for draw in product(range(3), repeat=size):
        counts = (draw.count(0), draw.count(1), draw.count(2))
        found[leaders(counts)[0]] += np.prod([pool[label] for label in draw])
    return found


@dataclass
class Slot:
    """One label slot: who, what, how long; `text` is what stands in the file where there is no label."""

    annotator: int
    label: int  # -1: none
    seconds: float = 0.0
    text: str | None = None


def people(grid: Grid, rng: np.random.Generator, *, walks: bool = True) -> dict[str, list[list[Slot]]]:
    """Slots of every item: labels dealt to annotators, then times. Items of a country in the order of the questions."""
    found = {}
    for country in COUNTRIES:
        items = [_seat(item, POOLS[country], rng) for cell in grid[country] for item in cell.items]
        if walks:
            items = _meet_kappas(items, country, rng)
        if country == NG:
            _repeat_slots(items, rng)
        _time(items, SECONDS[country], rng)
        found[country] = items
    return _meet_speeds(found, rng) if walks else found


def _seat(item: Pattern, pool: int, rng: np.random.Generator) -> list[Slot]:
    """Five annotators of the pool, the earlier ones more often; slots without a label hold a comment or nothing."""
    weights = 1 / np.arange(1, pool + 1)
    who = rng.choice(pool, 5, replace=False, p=weights / weights.sum())
    labels = [label for label in range(3) for _ in range(item[label])]
    labels += [-1] * (5 - len(labels))
    return [Slot(int(a), label, text=_comment(rng)) for a, label in zip(who, rng.permutation(labels), strict=True)]


def _comment(rng: np.random.Generator) -> str | None:
    return ("", None, "synthetic comment: none of the options fits")[rng.integers(3)]


def _repeat_slots(items: list[list[Slot]], rng: np.random.Generator) -> None:
    """Two slots more, each a comment of an annotator who already has one there: 157 of 31 x 5; and the blank panel."""
    blank = next(item for item in items if all(slot.label < 0 for slot in item))
    blank[0].text = "synthetic comment: the scenario panel was blank"
    full = [item for item in items if all(slot.label >= 0 for slot in item)]
    for place in rng.choice(len(full), 2, replace=False):
        full[place].append(Slot(full[place][0].annotator, -1, text="synthetic comment: see my other answer"))


def _meet_kappas(items: list[list[Slot]], country: str, rng: np.random.Generator) -> list[list[Slot]]:
    """Trade annotators between the labels of an item until both poolings of the country's kappa are as wanted."""
    pool, (mean, weighted, near) = POOLS[country], KAPPAS[country]
    rows = [(place, slot.label) for place, item in enumerate(items) for slot in item]
    item, label = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])

    def trade(annotator: NDArray[np.int64]) -> NDArray[np.int64]:
        changed = annotator.copy()
        mine = np.flatnonzero(item == rng.integers(len(items)))
        a, b = rng.choice(mine, 2, replace=False)
        if rng.random() < 0.5:
            changed[a], changed[b] = changed[b], changed[a]
        else:
            changed[a] = rng.choice(np.setdiff1d(np.arange(pool), annotator[mine]))
        return changed

    def cost(annotator: NDArray[np.int64]) -> float:
        pooled = pool_kappa(pairwise_kappa(item, annotator, label, 3))
        everybody = len(np.unique(annotator)) == pool
        return max(abs(pooled.mean - mean), abs(pooled.weighted - weighted)) + (not everybody)

    start = np.array([slot.annotator for own in items for slot in own])
    seated = iter(walk(start, trade, cost, rng, steps=4000, good=near).tolist())
    return [[replace(slot, annotator=next(seated)) for slot in own] for own in items]


def _time(items: list[list[Slot]], median: float, rng: np.random.Generator) -> None:
    """Seconds of every slot, all different, with this median."""
    slots = [slot for item in items for slot in item]
    times = np.sort(np.exp(rng.normal(0, 0.7, len(slots))))
    times = np.round(times * median / np.median(times), 1)
    times += np.arange(len(slots)) * 0.001 - len(slots) // 2 * 0.001
    for slot, seconds in zip(slots, rng.permutation(times), strict=True):
        slot.seconds = round(float(seconds), 3)


def _meet_speeds(found: dict[str, list[list[Slot]]], rng: np.random.Generator) -> dict[str, list[list[Slot]]]:
    """Trade times within countries until the fastest and the slowest quarter agree with the others as printed."""
    slots = [(country, item, slot) for country, own in found.items() for item in own for slot in item]
    score = np.array([_agrees(slot, item) for _, item, slot in slots])
    country = np.array([COUNTRIES.index(name) for name, _, _ in slots])
    members = [np.flatnonzero(country == code) for code in range(len(COUNTRIES))]

    def part(seconds: NDArray[np.float64], *, fast: bool) -> float:
        inside = np.zeros(len(seconds), bool)
        for own in members:
            cut = np.quantile(seconds[own], 0.25 if fast else 0.75)
            inside[own] = seconds[own] <= cut if fast else seconds[own] > cut
        return float(np.nanmean(score[inside]))

    def trade(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
        changed = seconds.copy()
        a, b = rng.choice(members[rng.integers(len(members))], 2, replace=False)
        changed[a], changed[b] = changed[b], changed[a]
        return changed

    def cost(seconds: NDArray[np.float64]) -> float:
        return max(abs(part(seconds, fast=True) - FAST), abs(part(seconds, fast=False) - SLOW))

    start = np.array([slot.seconds for _, _, slot in slots])
    met = walk(start, trade, cost, rng, steps=10_000, good=0.0004, heat=0.002)
    for (_, _, slot), seconds in zip(slots, met, strict=True):
        slot.seconds = float(seconds)
    return found


def _agrees(slot: Slot, item: Sequence[Slot]) -> float:
    """1 or 0: the label is the majority of the other annotators' or not; NaN without a label or a majority."""
    counts = [sum(s.label == label for s in item if s is not slot) for label in range(3)]
    top = leaders((counts[0], counts[1], counts[2]))
    return float("nan") if slot.label < 0 or len(top) != 1 else float(top[0] == slot.label)
