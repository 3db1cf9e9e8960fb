"""What an audit of a team's labels finds, as data: every number with its interval, its n and why it is missing.

Nothing here is computed or worded; `as_json` is the machine-readable form (schema "countback.judge/1").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
from countback.audit.judge.input import Choice
from countback.models.alttest import PASS_AT
from countback.models.estimate import Estimate
from countback.models.identifiability import Design
from countback.models.resampling import Interval

SCHEMA = "countback.judge/1"
FEWEST_CLUSTERS = 20  # with fewer items a bootstrap interval is decoration: no number is concluded from
CLOSE = 0.05  # five points: a difference that an interval keeps below this is no difference worth money

Decision = Literal["ahead", "behind", "close", "open", "too few", "undefined"]


@dataclass(frozen=True)
class Figure:
    """A number over `n` of what `unit` names, from `clusters` that were resampled, with its interval at `level`.

    NaN beside a `note` where it does not exist. `method` names the interval.
    """

    value: float
    low: float
    high: float
    n: int
    unit: str
    clusters: int
    method: str
    level: float
    note: str = ""

    @property
    def usable(self) -> bool:
        """Whether anything may be concluded from it."""
        return bool(np.isfinite([self.value, self.low, self.high]).all()) and self.clusters >= FEWEST_CLUSTERS

    @classmethod
    def of(cls, value: float, interval: Interval, n: int, unit: str, clusters: int, note: str = "") -> Figure:
        """From a value and its interval."""
        why = note or interval.note
        return cls(value, interval.low, interval.high, n, unit, clusters, interval.method, interval.level, why)

    @classmethod
    def from_estimate(cls, estimate: Estimate, clusters: int) -> Figure:
        """From an estimate of the models."""
        nowhere = Interval(np.nan, np.nan, 0.95, "none", 0)
        ends = estimate.interval or nowhere
        return cls.of(estimate.value, ends, estimate.n, estimate.unit, clusters, estimate.note)


@dataclass(frozen=True)
class Comparison:
    """A held-out human and a judge against the same references, `where` a country or question ("" everywhere).

    `tied` and `alone` labels had no reference; `missing` comparisons were misses because the judge gave no label.
    `difference` is judge less human with the percentile interval, beside it the ends of BCa and of a cluster-robust t;
    `decision` is what all of these that exist agree on.
    """

    where: str
    policy: str
    n: int
    items: int
    tied: int
    alone: int
    missing: int
    human: float
    judge: float
    difference: Figure
    bca: tuple[float, float]
    robust: tuple[float, float]
    decision: Decision


@dataclass(frozen=True)
class Kappa:
    """Chance-corrected agreement with the reference on the same pairs, of the held-out human and of the judge."""

    part: str
    weights: str
    human: Figure
    judge: Figure
    difference: Figure


@dataclass(frozen=True)
class Alternative:
    """The alternative annotator test at one `epsilon`; `skipped` humans had too few items, so that nobody is judged."""

    epsilon: float
    humans: int
    won: int
    advantage: float
    skipped: int
    min_items: int
    note: str

    @property
    def winning_rate(self) -> float:
        """Share of the tested humans against whom the judge wins."""
        return self.won / self.humans if self.humans else float("nan")

    @property
    def passes(self) -> bool:
        """Whether that is at least half."""
        return self.winning_rate >= PASS_AT


@dataclass(frozen=True)
class Raters:
    """How many humans, combined by plurality, predict another one as well as the judge; `capped`: at least so many."""

    value: float
    capped: bool
    score: float
    curve: tuple[float, ...]
    n_items: int
    dropped: int
    note: str


@dataclass(frozen=True)
class AlphaPair:
    """Krippendorff's alpha among humans and of judge-human pairs, on the same labels."""

    part: str
    level: str
    human_human: float
    judge_human: float
    difference: Figure


@dataclass(frozen=True)
class Flat:
    """Whether a judge's countries lie closer together than its humans' on the same units.

    Spreads are max - min; `human_sd` and `judge_sd` are standard deviations of countries with noise taken out, `ratio`
    is the second over the first. `noise_p` is how often noise alone spreads humans as widely. `skipped` says why not.
    """

    part: str
    units: int
    human_spread: Figure | None
    judge_spread: Figure | None
    human_sd: float
    judge_sd: float
    ratio: Figure | None
    noise_p: float
    skipped: str = ""


@dataclass(frozen=True)
class Place:
    """A country as one judge sees it: units there, answered ones, and its mean kappa with the humans over parts."""

    country: str
    units: int
    answered: int
    kappa: float


@dataclass(frozen=True)
class JudgeReport:
    """Everything about one judge. `state` says whether it can be compared, and `advice` what that comes to.

    `asked` units have a row of the judge, `answered` ones a label. `left_out` countries are those it hardly answered
    although it answered elsewhere; `with_them` is the comparison with them all the same. `shares` are those of each
    label on the units it answered, the judge's and the humans'. `other` are its short answers that are no label,
    by form, `other_in` the same by country.
    """

    name: str
    state: Literal["compared", "no label", "no overlap"]
    rows: int
    valid: int
    unmatched: int
    units: int
    asked: int
    answered: int
    everywhere: bool
    same_everywhere: bool
    other: Mapping[str, int]
    other_total: int
    other_in: Mapping[str, int]
    places: tuple[Place, ...]
    left_out: tuple[str, ...] = ()
    overall: Comparison | None = None
    with_them: Comparison | None = None
    policies: tuple[Comparison, ...] = ()
    by_country: tuple[Comparison, ...] = ()
    by_question: tuple[Comparison, ...] = ()
    kappas: tuple[Kappa, ...] = ()
    alternative: tuple[Alternative, ...] = ()
    raters: Raters | None = None
    alphas: tuple[AlphaPair, ...] = ()
    flat: tuple[Flat, ...] = ()
    shares: Mapping[str, Mapping[str, float]] | None = None


@dataclass(frozen=True)
class Agreement:
    """Agreement of humans with each other; `equal` over pairs of labels on one unit, `commonest` a label's share.

    `kappa` is the mean over annotator pairs, weighted by their units. Where one label is nearly all there is, alpha and
    kappa rest on the few others.
    """

    part: str
    where: str
    equal: Figure
    alpha: Figure
    level: str
    commonest: float
    kappa: float
    annotator_pairs: int
    undefined_pairs: int


@dataclass(frozen=True)
class CountryTest:
    """Whether a question's countries differ by more than shuffled ones do."""

    question: str
    n: int
    p: float
    bonferroni: float
    bh: float
    draws: int
    note: str


@dataclass(frozen=True)
class Lean:
    """Where countries lie on a part's scale, 0 its first label and 1 its last, by majority labels."""

    part: str
    countries: Mapping[str, Figure]
    spread: Figure
    sd: float
    sd_low: float
    sd_high: float
    noise_mean: float
    noise_high: float
    noise_p: float


@dataclass(frozen=True)
class GridReport:
    """One letter for each country and question: ties, stability, and what grids without culture would show."""

    questions: tuple[str, ...]
    letters: Mapping[str, tuple[str, ...]]
    cells: int
    tied: int
    decided_by_tie: int
    unstable: int
    draws: int
    all_labels: tuple[int, float, int, int, float]
    unanimous: tuple[int, float, int, int, float]
    deal: str


@dataclass(frozen=True)
class Trap:
    """Something in the data that would mislead whoever reads only the results; `facts` are what it rests on."""

    kind: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """What to do, about a judge or ("") about the labels; `kind` names it, `facts` hold the numbers behind it."""

    judge: str
    kind: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Scope:
    """What there is: numbers of valid human labels, units, items, and units by the number of their labels."""

    labels: int
    units: int
    items: int
    countries: tuple[str, ...]
    annotators: int
    questions: tuple[str, ...]
    scales: Mapping[str, tuple[str, ...]]
    ordered: bool
    several: bool
    labels_per_unit: Mapping[int, int]


@dataclass(frozen=True)
class Audit:
    """The whole audit; `ingest` and `judge_ingest` are the readers' reports, `seconds` medians by country."""

    seed: int
    draws: int
    level: float
    ingest: Mapping[str, Any]
    ingest_lines: tuple[str, ...]
    judge_ingest: Mapping[str, Any] | None
    judge_ingest_lines: tuple[str, ...]
    choices: tuple[Choice, ...]
    scope: Scope
    design: Design
    agreement: tuple[Agreement, ...]
    tests: tuple[CountryTest, ...]
    leans: tuple[Lean, ...]
    grids: tuple[GridReport, ...]
    seconds: Mapping[str, Figure]
    judges: tuple[JudgeReport, ...]
    traps: tuple[Trap, ...]
    not_concluded: tuple[Trap, ...]
    advice: tuple[Advice, ...]

    @property
    def concluded(self) -> bool:
        """Whether anything at all could be said about a judge or about the humans' agreement."""
        compared = any(j.overall is not None and j.overall.difference.usable for j in self.judges)
        return compared or any(row.alpha.usable for row in self.agreement)


def as_json(audit: Audit) -> dict[str, Any]:
    """The audit as plain values; NaN is null."""
    kit = {"name": "countback", "version": version("countback"), "numpy": np.__version__}
    return {"schema": SCHEMA, "kit": kit, **plain(audit)}


def plain(value: Any) -> Any:
    """Dataclasses, arrays and numbers as what JSON knows."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {", ".join(key) if isinstance(key, tuple) else str(key): plain(v) for key, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
