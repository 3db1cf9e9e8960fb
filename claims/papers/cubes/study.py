"""The judge-alignment release as the recipes use it: arrays, votes and held-out counts, each computed once.""" ""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from countback.claims.papers.cubes.read import LABELS, JudgeAlignmentReport, read_judge_alignment
from countback.claims.verdict import CannotRecount, Recount
from countback.fetch.labels import HUMAN, JUDGE, LabelTable
from countback.models.agreement import PairwiseKappa, pairwise_kappa
from countback.models.culture import MAJORITY, Rule, lean
from countback.models.heldout import Difference, HeldOut, Policy, held_out, judge_differences
from countback.models.votes import Votes, same_units, votes_of
from numpy.typing import NDArray

ARCHIVE = "cubes/cube_judge_alignment.zip"
SEED = 20261007
DRAWS = 10_000
# The article states 5,000 draws for its permutations and null grids and none for its bootstraps: the usual least.
ARTICLE_DRAWS, ARTICLE_BOOTSTRAPS = 5_000, 1_000


class Data(Protocol):
    """The verified files of this paper's releases."""

    def path(self, name: str) -> Path:
        """The local file that the release calls `name`."""


@dataclass(frozen=True, eq=False)
class Study:
    """The released labels and every table of counts that several recipes need."""

    table: LabelTable
    report: JudgeAlignmentReport

    def country(self, name: str) -> int:
        """The code of a country; CannotRecount where the release has no such key."""
        if name not in self.table.countries:
            raise CannotRecount(f"the release has no country {name!r}; it has {', '.join(self.table.countries)}")
        return self.table.countries.index(name)

    def judge(self, name: str) -> int:
        if name not in self.report.judges:
            raise CannotRecount(f"the release has no judge {name!r}; it has {', '.join(self.report.judges)}")
        return self.report.judges.index(name)

    def recount(self, value: int | Fraction | float | str, **more: Any) -> Recount:
        return Recount(value, synthetic=self.report.synthetic, **more)

    @cached_property
    def humans(self) -> LabelTable:
        return self.table.mask(self.table.kind == HUMAN)

    @cached_property
    def human_labels(self) -> NDArray[np.int64]:
        """Codes of human rows; an annotator's second valid label on an item counts, as in the article's script."""
        again = self.humans.reason == self.humans.reasons.index("duplicate")
        code = np.array([LABELS.index(raw) if raw in LABELS else -1 for raw in self.humans.raw])
        return np.where(again, code, self.humans.label).astype(np.int64)

    @cached_property
    def judge_labels(self) -> NDArray[np.int64]:
        """Label codes (judges, items), -1 where a judge did not label the item."""
        codes = np.full((len(self.report.judges), len(self.table.items)), -1)
        rows = self.table.kind == JUDGE
        place = [self.report.judges.index(self.table.annotators[a]) for a in self.table.annotator[rows]]
        codes[place, self.table.item[rows]] = self.table.label[rows]
        return codes

    @cached_property
    def country_of_item(self) -> NDArray[np.int64]:
        """Shape (items,)."""
        country = np.zeros(len(self.table.items), np.int64)
        country[self.table.item] = self.table.country
        return country

    @cache  # noqa: B019  (a Study lives as long as the process)
    def held_out(self, policy: Policy = "skip", country: str = "") -> HeldOut:
        """Held-out counts of the items that have a judge task, of one country if named."""
        unmatched = [self.table.items.index(item) for item in self.report.unmatched if item in self.table.items]
        matched = ~np.isin(self.humans.item, unmatched)
        rows = self.humans.item[matched], self.humans.annotator[matched], self.human_labels[matched]
        result = held_out(*rows, self.judge_labels, labels=len(LABELS), policy=policy)
        if country:
            result = result.select(self.country_of_item == self.country(country))
        if not result.comparisons:
            raise CannotRecount(
                f"no label{' of ' + country if country else ''} has a majority of others to compare with"
            )
        return result

    @cache  # noqa: B019
    def differences(self, country: str = "", *, stratified: bool = True) -> dict[str, Difference]:
        """Each judge's lead over the held-out human, with intervals."""
        counts, strata = self.held_out(), self.country_of_item
        if country:
            inside = strata == self.country(country)
            counts, strata = counts.select(inside), strata[inside]
        rng = np.random.default_rng(SEED)
        found = judge_differences(counts, DRAWS, rng, country=strata if stratified else None)
        return dict(zip(self.report.judges, found, strict=True))

    def leads(self, country: str = "") -> dict[str, Fraction]:
        """Each judge's lead in percentage points."""
        counts = self.held_out("skip", country)
        hits = counts.judges.sum(axis=0)
        return {
            judge: Fraction(100 * int(h - counts.human.sum()), counts.comparisons)
            for judge, h in zip(self.report.judges, hits, strict=True)
        }

    @cached_property
    def votes(self) -> Votes:
        """Human labels counted per item."""
        return votes_of(self.table)

    @cached_property
    def questioned(self) -> Votes:
        """The same, where the question of each item is known; CannotRecount where the release does not show it."""
        if self.report.question_field is None:
            reason = next(
                (n for n in self.report.notes if n.startswith("the question of an item")), "no question field"
            )
            raise CannotRecount(f"definition not stated: {reason}")
        return self.votes

    @cached_property
    def items_by_cell(self) -> NDArray[np.int64]:
        """Shape (countries * questions,): items of each cell, those without any valid label too."""
        votes = self.questioned
        cell = votes.country * votes.n_questions + votes.question
        return np.bincount(cell, minlength=votes.n_countries * votes.n_questions).astype(np.int64)

    def find_question(self, word: str, country: str = "", counts: list[int] | None = None) -> tuple[int, str]:
        """The question whose name holds a word, else the one cell with these label counts; and how it was found."""
        votes = self.questioned
        named = [q for q, name in enumerate(self.table.questions) if word.casefold() in name.casefold()]
        if len(named) == 1:
            return named[0], f"the question is {self.table.questions[named[0]]!r}"
        if counts is not None:
            cells = np.zeros((votes.n_countries, votes.n_questions, len(LABELS)), np.int64)
            np.add.at(cells, (votes.country, votes.question), votes.counts)
            same = np.flatnonzero((cells[self.country(country)] == counts).all(axis=1))
            if len(same) == 1:
                return int(same[0]), f"no question is called {word!r}; this is the one cell with labels {counts}"
        raise CannotRecount(f"{len(named)} questions of the release have {word!r} in their name; expected one")

    def leans(self, rule: Rule, judge: str = "", *, untied: bool = False) -> NDArray[np.float64]:
        """Leans by country on the items with a valid human label (`untied`: one majority); of a judge if named."""
        human = self.votes
        voters, _ = same_units(
            [human, votes_of(self.table, judge)] if judge else [human], "drop" if untied else "strictest"
        )
        return lean(voters[-1], rule)

    def lean_readings(self, judge: str, value: Callable[[NDArray[np.float64]], float]) -> dict[str, float]:
        """A number from the leans of majorities, by what may be done with the items where humans tie."""
        averaged = Rule(item_ties="average", over="mean")
        if judge:
            return {
                "on all items with a human label": value(self.leans(MAJORITY, judge)),
                "on items without a human tie": value(self.leans(MAJORITY, judge, untied=True)),
            }
        return {
            "tied items dropped": value(self.leans(MAJORITY)),
            "tied labels averaged": value(self.leans(averaged)),
            "ties to the stricter": value(self.leans(Rule(over="mean"))),
        }

    def kappas(self, country: str, min_shared: int = 1, *, observed: bool = False) -> PairwiseKappa:
        """Quadratic-weighted kappas of the pairs of one country's annotators."""
        rows = self.humans.country == self.country(country)
        return pairwise_kappa(
            self.humans.item[rows],
            self.humans.annotator[rows],
            self.humans.label[rows],
            len(LABELS),
            min_shared=min_shared,
            categories="observed" if observed else "fixed",
        )


def load(data: Data) -> Study:
    """The study behind the verified archive, read once."""
    return _load(data.path(ARCHIVE))


@cache
def _load(path: Path) -> Study:
    return Study(*read_judge_alignment(path))
