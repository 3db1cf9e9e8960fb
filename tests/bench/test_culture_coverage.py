"""Coverage of the intervals of leans and spreads on simulated labels with known truth; printed, and held to bounds.

Labels are synthetic: every country has its own items (nested, as in CuBEs) or all share them (crossed). An item's
chance of each label follows its own severity plus the country's effect; a lean is the mean score of the majorities.
"""

from __future__ import annotations

import numpy as np
import pytest
from countback.models.culture import MAJORITY_TIES_AVERAGED, flattening, lean, lean_report
from countback.models.votes import Votes, tally
from scipy.special import ndtri

pytestmark = [pytest.mark.bench, pytest.mark.slow]
RULE = MAJORITY_TIES_AVERAGED
DRAWS = 600


def labels(severity: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Five labels per unit by an ordered logit with cuts at -0.7 and 0.7: (units, 5), 0 the strictest."""
    noise = rng.logistic(size=(*severity.shape, 5))
    latent = severity[..., None] + noise
    return (latent < 0.7).astype(int) + (latent < -0.7)


def simulate(effects: np.ndarray, items: int, crossed: bool, rng: np.random.Generator) -> Votes:
    countries = len(effects)
    content = rng.normal(0, 1, items if crossed else (countries, items))
    words = labels(np.broadcast_to(content, (countries, items)) + effects[:, None], rng)
    country, place = np.indices((countries, items))
    item = place if crossed else country * items + place
    return tally(np.repeat(item, 5), np.repeat(country, 5), words.ravel(), 3, n_countries=countries)


def true_lean(effects: np.ndarray) -> np.ndarray:
    """Leans over endlessly many items, from 40,000 of each country (standard error about 0.002)."""
    return lean(simulate(effects, 40_000, False, np.random.default_rng(99)), RULE)


def covers(low: float, high: float, truth: float) -> bool:
    return low - 1e-9 <= truth <= high + 1e-9


@pytest.mark.parametrize("crossed", [False, True])
def test_leans_and_spreads_of_fixed_countries(crossed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Countries fixed: what a percentile interval of a lean covers, and two intervals of the range."""
    lines = []
    for name, effects in {
        "no differences": np.zeros(4),
        "some": np.array([-0.3, 0.0, 0.1, 0.5]),
        "large": np.array([-1.5, 0.0, 0.2, 1.5]),
    }.items():
        truth = true_lean(effects) if effects.any() else np.full(4, 0.5)
        target = float(np.ptp(truth))
        rng = np.random.default_rng(5)
        counts = dict.fromkeys(["lean", "simultaneous", "percentile"], 0)
        runs = 400
        for _ in range(runs):
            report = lean_report(simulate(effects, 60, crossed, rng), RULE, draws=DRAWS, rng=rng)
            ends = report.leans.bounds()
            counts["lean"] += sum(covers(*ends[:, c], truth[c]) for c in range(4))
            together, plain = report.spread.interval, report.leans.spread("percentile").interval
            assert together is not None
            assert plain is not None
            counts["simultaneous"] += covers(together.low, together.high, target)
            counts["percentile"] += covers(plain.low, plain.high, target)
        shares = {key: value / runs / (4 if key == "lean" else 1) for key, value in counts.items()}
        lines.append((name, target, shares))
        error = 4 * (0.05 * 0.95 / runs) ** 0.5
        assert 0.92 <= shares["lean"] <= 0.97
        assert shares["simultaneous"] >= 0.95 - error
    with capsys.disabled():
        print(f"\nnominal 95% intervals, 4 countries x 60 items x 5 labels, {'crossed' if crossed else 'nested'}:")
        for name, target, shares in lines:
            print(f"  {name:15} true range {target:.3f}: " + ", ".join(f"{k} {v:.3f}" for k, v in shares.items()))
    # With no differences the percentile interval of a range never holds the truth, 0: hence the other default.
    assert lines[0][2]["percentile"] == 0.0


@pytest.mark.parametrize(("countries", "crossed"), [(4, False), (12, False), (12, True)])
def test_sd_of_country_effects(countries: int, crossed: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Countries drawn at random: the noise-corrected sd, its bias and the coverage of its interval."""
    lines = []
    for spread in (0.0, 0.4, 1.0):
        truth = float(true_lean_curve(spread * ndtri((np.arange(2000) + 0.5) / 2000)).std())
        rng = np.random.default_rng(6)
        runs, covered, variances, raw = 400, 0, [], []
        for _ in range(runs):
            effects = rng.normal(0, spread, countries)
            report = lean_report(simulate(effects, 40, crossed, rng), RULE, draws=DRAWS, rng=rng)
            covered += covers(report.corrected.ci_low, report.corrected.ci_high, truth)
            variances.append(report.corrected.variance)
            raw.append(report.corrected.observed)
        error = 4 * float(np.std(variances)) / runs**0.5
        lines.append((truth, np.mean(raw) ** 0.5, max(float(np.mean(variances)), 0.0) ** 0.5, covered / runs))
        assert abs(np.mean(variances) - truth**2) < error + 0.02 * truth**2
    with capsys.disabled():
        print(f"\nsd of {countries} country effects, 40 items x 5 labels, {'crossed' if crossed else 'nested'}:")
        for truth, naive, corrected, share in lines:
            print(f"  true {truth:.3f}: naive {naive:.3f}, corrected {corrected:.3f}, 95% interval covers {share:.3f}")
    assert all(share >= 0.92 for *_, share in lines)


def true_lean_curve(effects: np.ndarray) -> np.ndarray:
    """True leans of many effects, read off a curve computed at 41 of them."""
    grid = np.linspace(-4, 4, 41)
    return np.interp(effects, grid, true_lean(grid))


def with_judge(effects: np.ndarray, share: float, items: int, rng: np.random.Generator) -> tuple[Votes, Votes]:
    """Human labels, and one label per item by a judge to whom the country effects matter `share` as much."""
    content = rng.normal(0, 1, (len(effects), items))
    country, place = np.indices(content.shape)
    item = country * items + place
    human = labels(content + effects[:, None], rng)
    judge = labels(content + share * effects[:, None], rng)[..., 0]
    size = {"n_countries": len(effects)}
    return (
        tally(np.repeat(item, 5), np.repeat(country, 5), human.ravel(), 3, **size),
        tally(item.ravel(), country.ravel(), judge.ravel(), 3, **size),
    )


@pytest.mark.parametrize("countries", [4, 12])
def test_flattening_ratios(countries: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A judge that flattens, and one that does not: the ratio of ranges misleads, the corrected ratio holds."""
    effects, runs, lines = np.linspace(-0.6, 0.6, countries), 200, []
    for share in (0.4, 1.0):
        human, judge = (lean(v, RULE) for v in with_judge(effects, share, 40_000, np.random.default_rng(9)))
        truth = (float(np.ptp(judge) / np.ptp(human)), float(judge.std() / human.std()))
        rng, found = np.random.default_rng(3), []
        for _ in range(runs):
            people, machine = with_judge(effects, share, 40, rng)
            (result,) = flattening(people, [machine], RULE, draws=400, rng=rng)
            found.append((result.ratio, result.corrected_ratio))
        for which, name in enumerate(("of ranges", "of corrected sds")):
            known = [pair[which] for pair in found if pair[which].interval is not None]
            covered = sum(covers(e.interval.low, e.interval.high, truth[which]) for e in known if e.interval)
            lines.append((name, truth[which], float(np.median([e.value for e in known])), covered / len(known)))
    with capsys.disabled():
        print(f"\njudge over human, {countries} countries x 40 items, nested:")
        for name, true, median, covered in lines:
            print(f"  ratio {name:16} true {true:.3f}: median {median:.3f}, 95% interval covers {covered:.3f}")
    assert min(covered for name, *_, covered in lines if "corrected" in name) >= 0.9
