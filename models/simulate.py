"""Synthetic labels with known truth, for any design of countries, questions, items and annotators.

The model is that of `ordinal`:  latent = eta + a standard logistic error, the label is how many cutpoints lie below it,

    eta of a human = content + country + annotator
    content        = question + country:question + item + item:country + origin
    eta of judge j = scale_j (content + judges + follows_j country + deviation_jc)

where *origin* is a shift in content by the country an item was made for, which a nested design cannot tell from the
country's own effect, and *judges* what all judges see in an item and no human does. All effects are normal with the
standard deviations of a `Truth`. Which code is strict is the caller's choice: a larger eta gives a larger code.

Normal and uniform numbers are drawn in an order and number that the layout alone decides, so that two truths with one
seed differ by their parameters only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from countback.fetch.codebook import VALID, reason_code
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.models.ordinal import EFFECTS, Shares, shares_of
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]
ORIGIN, JUDGES = "origin", "judges"


# --- who labels what --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Who labels what. `item`, `country`, `question`, `annotator` (labels,) are codes without gaps.

    By item: `item_question` and `origin` (items,), the country that an item was made for, -1 for none. `home`
    (annotators,) is the country of each.
    """

    item: Ints
    country: Ints
    question: Ints
    annotator: Ints
    item_question: Ints
    origin: Ints
    home: Ints
    countries: int
    questions: int

    @property
    def items(self) -> int:
        return len(self.origin)

    @property
    def annotators(self) -> int:
        return len(self.home)

    @property
    def labels(self) -> int:
        return len(self.item)

    def pairs(self) -> tuple[Ints, Ints]:
        """Item and country of each pair that is labelled, ascending: what a judge labels once."""
        key = np.unique(self.item.astype(np.int64) * self.countries + self.country)
        return key // self.countries, key % self.countries


def nested(countries: int, questions: int, per_cell: int, *, pool: int | Sequence[int], labels: int) -> Layout:
    """Each country its own items, `per_cell` in each question; see `hybrid`."""
    return hybrid(countries, questions, per_cell, 0, pool=pool, labels=labels)


def crossed(
    countries: int, questions: int, items: int, *, pool: int | Sequence[int], labels: int, made_in_turn: bool = False
) -> Layout:
    """`items` that every country labels, dealt to the questions in turn; see `hybrid`."""
    return hybrid(countries, questions, 0, items, pool=pool, labels=labels, made_in_turn=made_in_turn)


def hybrid(
    countries: int,
    questions: int,
    per_cell: int,
    shared: int,
    *,
    pool: int | Sequence[int],
    labels: int,
    made_in_turn: bool = False,
) -> Layout:
    """`per_cell` own items in each country and question, and `shared` items that every country labels.

    `pool` annotators a country (or one number for each), of whom `labels` label each item, in rotation. Shared items
    were made for no country, or for one after the other with `made_in_turn`.
    """
    own = countries * questions * per_cell
    cell = np.arange(own) // max(per_cell, 1)
    turn = np.arange(shared)
    made = turn // questions % countries if made_in_turn else np.full(shared, -1)
    where = np.ones((own + shared, countries), np.bool_)
    where[:own] = np.arange(countries) == (cell // questions)[:, None]
    return place(
        np.concatenate([cell % questions, turn % questions]),
        np.concatenate([cell // questions, made]),
        where * labels,
        pool,
        questions=questions,
    )


def place(
    item_question: Ints, origin: Ints, labels: Ints, pool: int | Sequence[int], *, questions: int | None = None
) -> Layout:
    """A layout from how many labels each item gets in each country, (items, countries).

    The j-th item of a country goes to the annotators j, j + 1, ... of its pool, round and round: work is even and all
    annotators of a country are connected. Raises ValueError where an item wants more labels than its pool has people.
    """
    size = np.broadcast_to(pool, labels.shape[1])
    if (labels.max(axis=0, initial=0) > size).any():
        raise ValueError(
            f"found {labels.max()} labels of an item from pools of {list(size)}; expected no more than people"
        )
    item, country = np.nonzero(labels)
    nth = (np.cumsum(labels > 0, axis=0) - 1)[item, country]
    count = labels[item, country]
    item, country, nth = (np.repeat(codes, count) for codes in (item, country, nth))
    within = np.arange(len(item)) - np.repeat(np.cumsum(count) - count, count)
    first = np.cumsum(size) - size
    return Layout(
        item,
        country,
        item_question[item],
        first[country] + (nth + within) % size[country],
        item_question,
        origin,
        np.repeat(np.arange(labels.shape[1]), size),
        labels.shape[1],
        int(item_question.max(initial=0)) + 1 if questions is None else questions,
    )


def released_layout() -> Layout:
    """The shape of the CuBEs release: 4 countries, 11 questions, 31 items of its own each, five labels an item.

    622 labels: two items of the first country have six. Known are 124 items and pools of 6 to 11; which country has
    which pool, and which two questions of each have two items and not three, are assumed.
    """
    countries, questions, items = 4, 11, 31
    question = np.concatenate([np.roll(np.arange(33) % questions, 2 * c)[:items] for c in range(countries)])
    made_for = np.repeat(np.arange(countries), items)
    labels = np.where(np.arange(countries) == made_for[:, None], 5, 0)
    labels[:2, 0] = 6
    return place(question, made_for, labels, (11, 6, 8, 9), questions=questions)


# --- what is true -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class JudgeTruth:
    """A judge: see the module. `follows` 1 takes over the humans' country effects, 0 ignores them.

    `deviation` is the standard deviation of country effects of its own. `cutpoints` are its own, the humans' by
    default; `shift` moves them up, towards smaller codes. `missing` is the rate of labels it does not give.
    """

    scale: float = 1.0
    follows: float = 1.0
    deviation: float = 0.0
    cutpoints: tuple[float, ...] | None = None
    shift: float = 0.0
    missing: float = 0.0


@dataclass(frozen=True)
class Truth:
    """Standard deviations by name of effect (those of `ordinal.EFFECTS`, "origin", "judges"; 0 where not named).

    `invalid` is the rate of human labels that are missing or not valid, for all countries or for each.
    """

    sds: Mapping[str, float]
    cutpoints: tuple[float, ...]
    judges: tuple[JudgeTruth, ...] = ()
    invalid: float | tuple[float, ...] = 0.0

    def __post_init__(self) -> None:
        unknown = set(self.sds) - {*EFFECTS, ORIGIN, JUDGES}
        if unknown:
            raise ValueError(f"found effects {sorted(unknown)}; expected names among {[*EFFECTS, ORIGIN, JUDGES]}")
        for cuts in (self.cutpoints, *(judge.cutpoints for judge in self.judges)):
            if cuts is not None and (np.diff(cuts) <= 0).any():
                raise ValueError(f"found cutpoints {cuts}; expected them ascending")

    def sd(self, name: str) -> float:
        return float(self.sds.get(name, 0.0))


# --- labels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Simulated:
    """Synthetic labels and what made them.

    `label` (labels,) is of the rows of `layout`, -1 not valid. The rows of judges are `judge`, `judge_item`,
    `judge_country`, `judge_label`, -1 not given. `effects` by name: country (countries,), question (questions,),
    country:question (countries, questions), item (items,), annotator (annotators,), item:country (items, countries),
    origin (countries,), judges (items,); `deviations` (judges, countries).
    """

    layout: Layout
    truth: Truth
    label: NDArray[np.int64]
    judge: NDArray[np.int64]
    judge_item: NDArray[np.int64]
    judge_country: NDArray[np.int64]
    judge_label: NDArray[np.int64]
    effects: dict[str, Floats] = field(repr=False)
    deviations: Floats = field(repr=False)

    @property
    def item(self) -> Ints:
        return self.layout.item

    @property
    def country(self) -> Ints:
        return self.layout.country

    @property
    def question(self) -> Ints:
        return self.layout.question

    @property
    def annotator(self) -> Ints:
        return self.layout.annotator

    @property
    def origin(self) -> Ints:
        """(items,) the country an item was made for, -1 for none."""
        return self.layout.origin

    @property
    def severity(self) -> Floats:
        """(annotators,) what an annotator adds to eta: the country's effect and their own."""
        return np.asarray(self.effects["country"][self.layout.home] + self.effects["annotator"])

    def panel(self) -> Floats:
        """(countries,) mean severity over the valid labels of each country, what its panel adds to eta; NaN without."""
        valid = self.label >= 0
        where = self.country[valid]
        total = np.bincount(where, self.severity[self.annotator[valid]], self.layout.countries)
        count = np.bincount(where, minlength=self.layout.countries)
        return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))

    def judge_labels(self, judge: int) -> NDArray[np.int64]:
        """(items, countries) labels of one judge, -1 where it gave none."""
        table = np.full((self.layout.items, self.layout.countries), -1)
        rows = self.judge == judge
        table[self.judge_item[rows], self.judge_country[rows]] = self.judge_label[rows]
        return table

    def true_shares(self) -> Shares:
        """The country's true shares, arrays (1,); origin counts as one of the other effects."""
        names = (*EFFECTS, ORIGIN)
        sd = np.array([[self.truth.sd(name) for name in names]])
        return shares_of(sd, names, np.array([self.truth.cutpoints]), self.effects["country"][None])

    def to_table(self, labels: Sequence[str] | None = None) -> LabelTable:
        """The labels as a table in which every name says that it is synthetic; `labels` by code, 1 .. K by default."""
        words = tuple(labels or (str(code + 1) for code in range(len(self.truth.cutpoints) + 1)))
        lay, judges = self.layout, len(self.truth.judges)
        code = np.concatenate([self.label, self.judge_label]).astype(np.int16)
        item = np.concatenate([self.item, self.judge_item])
        kind = np.where(np.arange(len(code)) < len(self.label), HUMAN, JUDGE)
        why = np.where(kind == HUMAN, reason_code("blank"), reason_code("judge_failed"))

        def named(what: str, count: int) -> tuple[str, ...]:
            return tuple(f"synthetic {what} {number + 1}" for number in range(count))

        return LabelTable(
            item=item.astype(np.int32),
            question=lay.item_question[item].astype(np.int32),
            country=np.concatenate([self.country, self.judge_country]).astype(np.int32),
            annotator=np.concatenate([self.annotator, lay.annotators + self.judge]).astype(np.int32),
            kind=kind.astype(np.int8),
            label=code,
            raw=np.array([*words, ""], dtype=object)[code],
            reason=np.where(code < 0, why, VALID).astype(np.int8),
            seconds=np.full(len(code), np.nan),
            items=named("item", lay.items),
            questions=named("question", lay.questions),
            countries=named("country", lay.countries),
            annotators=named("person", lay.annotators) + named("judge", judges),
            labels=words,
        )


def simulate(layout: Layout, truth: Truth, rng: np.random.Generator) -> Simulated:
    """Labels of `layout` by `truth`. Time and memory grow with the number of labels."""
    shapes: dict[str, tuple[int, ...]] = {
        "country": (layout.countries,),
        "question": (layout.questions,),
        "country:question": (layout.countries, layout.questions),
        "item": (layout.items,),
        "annotator": (layout.annotators,),
        "item:country": (layout.items, layout.countries),
        ORIGIN: (layout.countries,),
        JUDGES: (layout.items,),
    }
    effects = {name: truth.sd(name) * rng.standard_normal(shape) for name, shape in shapes.items()}
    content = _content(layout, effects, layout.item, layout.country)
    severity = effects["country"][layout.home] + effects["annotator"]
    label = _labels(content + severity[layout.annotator], truth.cutpoints, rng)
    invalid = np.broadcast_to(np.asarray(truth.invalid, np.float64), layout.countries)
    label[rng.random(len(label)) < invalid[layout.country]] = -1
    item, country = layout.pairs()
    seen = _content(layout, effects, item, country) + effects[JUDGES][item]
    deviations = np.zeros((len(truth.judges), layout.countries))
    given = np.zeros((len(truth.judges), len(item)), np.int64)
    for number, judge in enumerate(truth.judges):
        deviations[number] = judge.deviation * rng.standard_normal(layout.countries)
        own = judge.follows * effects["country"] + deviations[number]
        cuts = np.asarray(truth.cutpoints if judge.cutpoints is None else judge.cutpoints) + judge.shift
        given[number] = _labels(judge.scale * (seen + own[country]), cuts, rng)
        given[number, rng.random(len(item)) < judge.missing] = -1
    return Simulated(
        layout,
        truth,
        label,
        np.repeat(np.arange(len(given)), len(item)),
        np.tile(item, len(given)),
        np.tile(country, len(given)),
        given.ravel(),
        effects,
        deviations,
    )


def _content(layout: Layout, effects: Mapping[str, Floats], item: Ints, country: Ints) -> Floats:
    """What items hold, as a country sees it, by pairs of item and country."""
    question = layout.item_question[item]
    content = effects["question"][question] + effects["country:question"][country, question] + effects["item"][item]
    made_for = np.append(effects[ORIGIN], 0.0)[layout.origin[item]]  # -1, made for none, is the last
    return np.asarray(content + effects["item:country"][item, country] + made_for)


def _labels(eta: Floats, cutpoints: ArrayLike, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.searchsorted(cutpoints, eta + rng.logistic(size=len(eta)))
