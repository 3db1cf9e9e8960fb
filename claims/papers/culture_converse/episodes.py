"""Numbers of the paper that rest on episodes: which episodes each is about, and the estimate with its interval.

One row is one scored dialogue of one assistant. Measures are named as in Table 17: a metric's short name, 3H or TDQ
(averages within an episode, as Appendix O says), Clean % (100 for a clean episode, else 0). The benchmark of a model is
its episodes of the test split in evaluation mode.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from countback.claims.papers.culture_converse.names import MEASURES, METRICS, VOCABULARY
from countback.claims.papers.culture_converse.read import MAPPING, Data, Rows, load
from countback.claims.verdict import CannotRecount
from countback.models.episodes import Slices, composite, episode_means, paired_difference, slice_means
from countback.models.estimate import Estimate, Resampled
from numpy.typing import NDArray

SEED = 20260101
DRAWS = 4_000
JUDGED = "GPT-5 mini"  # the assistant of Tables 10 and 15 and of the slices
KEY = ("model", "split", "mode", "language", "seed")
RELEASED = (("test", "eval"), ("train", "gold"))  # the parts that Table 2 counts

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Pair(NamedTuple):
    """A number in evaluation mode, in gold mode, and gold minus evaluation."""

    before: Estimate
    after: Estimate
    gain: Estimate


def load_episodes(data: Data) -> Rows:
    """The episodes, each of them once."""
    rows = load(data, "episodes")
    repeated = _repeated(rows)
    if repeated:
        raise CannotRecount(repeated)
    return rows


@cache
def _repeated(rows: Rows) -> str:
    """What is wrong where two rows are one episode; "" where none are, or no seed can tell."""
    if "seed" not in rows.columns:
        return ""
    roles = [role for role in KEY if role in rows.columns]
    codes = [rows.codes(role) if role in VOCABULARY else rows.column(role).codes for role in roles]
    named = np.flatnonzero(np.all([code >= 0 for code in codes], axis=0))
    key = np.zeros(len(named), np.int64)
    for code in codes:
        key = key * (int(code.max(initial=0)) + 1) + code[named]
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    twice = first[count > 1]
    if not len(twice):
        return ""
    row = named[twice[0]]
    shown = ", ".join(f"{role} {rows.column(role).values[rows.column(role).codes[row]]}" for role in roles)
    return (
        f"{int((count - 1).sum())} rows repeat the {', '.join(roles)} of another, the first {shown}; expected each "
        f"episode once: leave the others out of the files, or give seed in {MAPPING} as a list of "
        "columns that tell them apart"
    )


def select(rows: Rows, *, model: str = "", language: str = "", tiers: tuple[str, ...] = (), mode: str = "eval") -> Mask:
    """Episodes of the test split; CannotRecount where there are none."""
    found = rows.among("split", "test") & rows.among("mode", mode)
    for name, word in (("model", model), ("language", language)):
        if word:
            found = found & rows.among(name, word)
    if tiers:
        found = found & np.any([rows.among("tier", tier) for tier in tiers], axis=0)
    if not found.any():
        what = ", ".join(word for word in (model, language, *tiers) if word)
        raise CannotRecount(
            f"no episode of {what or 'any model'} is in the test split and in {mode} mode; check {MAPPING}"
        )
    return found


@cache
def measure(rows: Rows, name: str) -> Floats:
    """Shape (n,): the value of every episode, NaN where any part of it is missing."""
    if name != "Clean %":
        return composite(np.stack([rows.scores(METRICS[i]) for i in MEASURES[name]]), range(len(MEASURES[name])))
    codes, column = rows.codes("clean"), rows.column("clean")
    odd = [text for text in np.array(column.values)[np.unique(column.codes[codes < 0])] if text not in rows.missing]
    if odd:
        raise CannotRecount(
            f"the clean flag is {str(odd[0])!r} in some rows, which stands for neither yes nor no; add it to one of "
            f"them under [values.clean] of {MAPPING}, or to missing"
        )
    return np.array([100.0, 0.0, np.nan])[codes]


@cache
def mean_of(rows: Rows, model: str, name: str) -> Resampled:
    """Mean over the benchmark of a model, episodes resampled."""
    values = measure(rows, name)[select(rows, model=model)]
    return episode_means(values, draws=DRAWS, rng=np.random.default_rng(SEED))


@cache
def trap(rows: Rows, model: str, name: str) -> Pair:
    """Standard episodes, episodes with a trap of either kind, and the second mean minus the first."""
    plain, trapped = select(rows, model=model, tiers=("Standard",)), select(rows, model=model, tiers=("CTX", "NORM"))
    both = plain | trapped
    values, group = measure(rows, name)[both], trapped[both].astype(np.int64)
    return _pair(slice_means(values, group, 2, draws=DRAWS, rng=np.random.default_rng(SEED)).means)


@cache
def gold(rows: Rows, language: str, name: str) -> tuple[Pair, Pair, int]:
    """Evaluation against gold mode of one model: on the seeds and languages that have both, and on all episodes; and
    how many episodes have no partner."""
    values, key = measure(rows, name), _dialogue(rows)
    sides = [np.flatnonzero(select(rows, model=JUDGED, language=language, mode=mode)) for mode in ("eval", "gold")]
    _, left, right = np.intersect1d(key[sides[0]], key[sides[1]], return_indices=True)
    both = np.stack([values[sides[0][left]], values[sides[1][right]]])
    both = both[:, np.isfinite(both).all(axis=0)]
    if not both.size:
        raise CannotRecount("no seed has an episode in both modes; check that both name their seeds alike")
    matched = episode_means(both, draws=DRAWS, rng=np.random.default_rng(SEED))
    every = [episode_means(values[side], draws=100, rng=np.random.default_rng(SEED)).estimate() for side in sides]
    gain = Estimate(every[1].value - every[0].value, min(every[0].n, every[1].n), "episodes")
    single = sum(map(len, sides)) - len(left) - len(right)
    return _pair(matched), Pair(every[0], every[1], gain), single


def _pair(found: Resampled) -> Pair:
    return Pair(found.estimate(0), found.estimate(1), found.difference(1, 0))


def _dialogue(rows: Rows) -> NDArray[np.int64]:
    """Shape (n,): one code per seed and language."""
    language = rows.column("language")
    return rows.column("seed").codes.astype(np.int64) * (len(language.values) + 1) + language.codes


@cache
def native_gain(rows: Rows, model: str, name: str) -> Estimate:
    """Native minus English at the seed level."""
    native, english = (select(rows, model=model, language=language) for language in ("Native", "English"))
    values, seed = measure(rows, name), rows.column("seed").codes
    rng = np.random.default_rng(SEED)
    return paired_difference(values[native], seed[native], values[english], seed[english], draws=DRAWS, rng=rng)


@cache
def slices(rows: Rows, model: str, name: str, by: tuple[str, ...]) -> tuple[Slices, tuple[str, ...]]:
    """Means by the values of some columns together, and what the groups are called."""
    chosen = select(rows, model=model)
    columns = [rows.column(role).take(chosen) for role in by]
    known = np.all([np.array([v not in rows.missing for v in c.values])[c.codes] for c in columns], axis=0)
    key = np.zeros(len(known), np.int64)
    for column in columns:
        key = key * len(column.values) + column.codes
    groups, first, code = np.unique(key[known], return_index=True, return_inverse=True)
    at = np.flatnonzero(known)[first]
    names = tuple(" / ".join(c.values[c.codes[i]] for c in columns) for i in at)
    group = np.full(len(known), -1)
    group[known] = code
    rng = np.random.default_rng(SEED)
    return slice_means(measure(rows, name)[chosen], group, len(groups), draws=1_000, rng=rng), names


def released(rows: Rows, *, part: str = "", language: str = "", region: str = "", tier: str = "") -> Mask:
    """Episodes of the data set: the test split in evaluation mode and the train split in gold mode."""
    parts = [(split, mode) for split, mode in RELEASED if part in ("", split)]
    found = np.any([rows.among("split", split) & rows.among("mode", mode) for split, mode in parts], axis=0)
    for name, word in (("language", language), ("region", region), ("tier", tier)):
        if word:
            found = found & rows.among(name, word)
    return np.asarray(found)


def dialogues(rows: Rows, chosen: Mask) -> int:
    """Distinct seeds and languages: an episode of the test split counts once, however many models were run on it."""
    key = _dialogue(rows)[chosen] * 2 + rows.codes("split")[chosen]
    return len(np.unique(key))


def identities(rows: Rows, chosen: Mask) -> int:
    """Distinct pairs of region and identity."""
    region, identity = rows.codes("region")[chosen], rows.column("identity")
    stated = (region >= 0) & np.array([v not in rows.missing for v in identity.values])[identity.codes[chosen]]
    return len(np.unique(region[stated] * len(identity.values) + identity.codes[chosen][stated]))
