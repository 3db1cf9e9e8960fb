"""How well forecasts of a judge's lead are calibrated: simulated studies of twelve countries, four of them known.

`python tests/golden/forecast_cases.py` writes forecast_calibration.json anew (some minutes); a test recomputes a part.
What it shows is in forecast_calibration.md. Everything here is synthetic.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from countback.models.forecast import (
    Drawn,
    KnownLead,
    Model,
    OutcomeRule,
    draw_leads,
    forecast,
    outcome_codes,
    printed_se,
)
from countback.models.heldout import held_out
from scipy.special import betaln

SEED, BATCH, DRAWS = 20261129, 40, 4000
TUNING, CHECKING = range(0, 50), range(100, 200)  # numbers of batches: those that chose, and those that judge
HERE = Path(__file__).parent
COUNTRIES, KNOWN, ITEMS, LABELS, POOL = 12, 4, 31, 5, 11
NAMES = (*(f"country {number}" for number in range(1, 11)), "France", "India")
RULE = OutcomeRule(9, Fraction(5), ("France", "India"), Fraction(-10))
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.000001)
PLAIN = Model(tau_scale=0.06, mu_sd=0.25, tails=np.inf, doubt=0.0)


@dataclass(frozen=True)
class Study:
    """Counts of simulated studies, arrays (studies, countries); the first four countries are the known ones."""

    n: Any
    human: Any
    judge: Any
    se: Any

    def truth(self) -> Any:
        return outcome_codes(Drawn(NAMES, self.n, self.judge - self.human), RULE)  # (studies,)


# --- studies with known outcomes --------------------------------------------------------------------------------------


def simulate(batch: int, *, chosen: bool = False) -> Study:
    """BATCH studies: each country its own 31 items of 11 questions, five of 6 to 11 annotators on each, one judge.

    Labels are latent severities cut at two points. Between studies differ: how careless annotators are, how noisy and
    how biased the judge is, and how much countries differ in each of these and in how clear their items are. With
    `chosen` countries are not alike: the last two are those whose humans agree least, and the four known ones come
    from the eight that agree most.
    """
    rng = np.random.default_rng([SEED, batch])
    one, each = (BATCH, 1), (BATCH, COUNTRIES)
    clear = rng.lognormal(np.log(1.9), rng.uniform(0.1, 0.8, one), each)
    judge_noise = rng.uniform(0.2, 4, one) * rng.lognormal(0, rng.uniform(0, 1, one), each)
    judge_bias = rng.normal(0, rng.uniform(0, 1.6, one), each) + rng.normal(0, 0.3, one)
    careless = np.minimum(rng.uniform(0, 0.35, one) * rng.lognormal(0, 0.5, each), 0.8)
    question = rng.normal(0, 1, (BATCH, 1, 11)).repeat(3, axis=2)[..., :ITEMS]
    severity = rng.normal(0, 0.4, each)[..., None] + question
    content = severity + clear[..., None] * rng.normal(0, 1, (*each, ITEMS))
    order = rng.random((*each, ITEMS, POOL))
    order[np.broadcast_to(np.arange(POOL) >= rng.integers(6, 12, each)[..., None, None], order.shape)] = 2
    who = np.argsort(order, axis=3)[..., :LABELS]
    person = np.take_along_axis(rng.normal(0, 0.5, (*each, 1, POOL)), who, axis=3)
    cuts = (-0.4, 0.9)
    label = np.searchsorted(cuts, content[..., None] + person + rng.logistic(0, 1, who.shape))
    slips = rng.random(label.shape) < careless[..., None, None]
    label = np.where(slips, rng.integers(0, 3, label.shape), label)
    seen = content + judge_bias[..., None] + judge_noise[..., None] * rng.normal(0, 1, content.shape)
    judge = np.searchsorted(cuts, seen).reshape(1, -1)
    item = np.arange(judge.size).repeat(LABELS)
    counted = held_out(item, who.ravel(), label.ravel(), judge, labels=3)
    n, human, hits = (part.reshape(*each, ITEMS) for part in (counted.n, counted.human, counted.judges[:, 0]))
    study = _study(n, human, hits)
    if not chosen:
        return study
    agreement = study.human / study.n
    rank = np.argsort(-agreement, axis=1)
    rank[:, :8] = rng.permuted(rank[:, :8], axis=1)
    return Study(*(np.take_along_axis(part, rank, axis=1) for part in vars(study).values()))


def _study(n: Any, human: Any, hits: Any) -> Study:
    total = n.sum(axis=2)
    gap = hits - human
    residual = gap - (gap.sum(axis=2) / total)[..., None] * n
    se = (ITEMS * residual.var(axis=2, ddof=1)) ** 0.5 / total
    return Study(*(np.rint(x.sum(axis=2)).astype(np.int64) for x in (n, human, hits)), se)


# --- forecasts --------------------------------------------------------------------------------------------------------


def forecasts(study: Study, model: Model, rng: np.random.Generator, *, printed: bool = False) -> Any:
    """Probabilities (studies, outcomes) from the first four countries; `printed`: without standard errors."""
    found = []
    for n, human, judge, se in zip(study.n, study.human, study.judge, study.se, strict=True):
        errors = [printed_se(n[c], judge[c], n[c] / ITEMS) for c in range(KNOWN)] if printed else se
        known = [KnownLead((NAMES[c],), int(n[c]), int(judge[c] - human[c]), errors[c]) for c in range(KNOWN)]
        drawn = draw_leads(known, NAMES[KNOWN:], DRAWS, rng, model)
        found.append(forecast(drawn, RULE, model).probability)
    return np.array(found)


def beta_binomials(study: Study, rng: np.random.Generator) -> Any:
    """For comparison: rates of human and judge as two beta-binomials, items and pairing ignored."""
    found = []
    for n, human, judge in zip(study.n, study.human, study.judge, strict=True):
        sizes = np.broadcast_to(np.rint(n[:KNOWN].mean()).astype(np.int64), (DRAWS, COUNTRIES - KNOWN))
        new = _beta_binomial(n[:KNOWN], judge[:KNOWN], sizes, rng) - _beta_binomial(
            n[:KNOWN], human[:KNOWN], sizes, rng
        )
        known = np.broadcast_to((judge - human)[:KNOWN], (DRAWS, KNOWN))
        all_n = np.hstack([np.broadcast_to(n[:KNOWN], (DRAWS, KNOWN)), sizes])
        drawn = Drawn(NAMES, all_n, np.hstack([known, new]))
        found.append(forecast(drawn, RULE, PLAIN).probability)
    return np.array(found)


def _beta_binomial(n: Any, hits: Any, sizes: Any, rng: np.random.Generator) -> Any:
    """Hits in `sizes` (draws, countries): mean uniform, log of the concentration uniform from 2 to 2000; a grid."""
    mean, size = np.meshgrid(np.linspace(0.02, 0.98, 97), np.geomspace(2, 2000, 40), indexing="ij")
    a, b = mean * size, (1 - mean) * size
    fit = sum(betaln(a + h, b + k - h) - betaln(a, b) for h, k in zip(hits, n, strict=True))
    chance = np.exp(fit - fit.max()).ravel()
    at = rng.choice(chance.size, len(sizes), p=chance / chance.sum())
    return rng.binomial(sizes, rng.beta(a.ravel()[at], b.ravel()[at], (sizes.shape[1], len(sizes))).T)


# --- how good they are ------------------------------------------------------------------------------------------------


def scored(chances: Any, truth: Any) -> dict[str, Any]:
    """Brier and log scores, and per bin of P(confirmed) the studies, their mean forecast and how often it came."""
    confirmed, p = truth == 0, chances[:, 0]
    bins = [(low, high, (p >= low) & (p < high)) for low, high in pairwise(BINS)]
    given = chances[np.arange(len(truth)), truth]
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    return {
        "brier": float(((p - confirmed) ** 2).mean()),
        "brier, all outcomes": float(((chances - np.eye(4)[truth]) ** 2).sum(axis=1).mean()),
        "log, all outcomes": float(-np.log(np.maximum(given, 1 / DRAWS)).mean()),
        "bins": [
            {
                "from": low,
                "studies": int(part.sum()),
                "forecast": float(p[part].mean()) if part.any() else None,
                "came": float(confirmed[part].mean()) if part.any() else None,
            }
            for low, high, part in bins
        ],
        "any outcome above 0.9": {
            "studies": int((sure > 0.9).sum()),
            "forecast": float(sure[sure > 0.9].mean()) if (sure > 0.9).any() else None,
            "came": float(right[sure > 0.9].mean()) if (sure > 0.9).any() else None,
        },
    }


MODELS = {
    "no spread between countries": Model(1e-9, 0.25, np.inf, 0.0),
    "tau 0.06": PLAIN,
    "tau 0.1": Model(0.1, 0.25, np.inf, 0.0),
    "tau 0.06, mu 0.1": Model(0.06, 0.1, np.inf, 0.0),
    "tau 0.1, mu 0.06": Model(0.1, 0.06, np.inf, 0.0),
    "tau 0.1, mu 0.1": Model(0.1, 0.1, np.inf, 0.0),
    "tau 0.1, mu 0.1, tails 4": Model(0.1, 0.1, 4.0, 0.0),
    "tau 0.15, mu 0.1, tails 4": Model(0.15, 0.1, 4.0, 0.0),
    "tau 0.1, mu 0.1, tails 4, doubt 0.05": Model(0.1, 0.1, 4.0, 0.05),
    "tau 0.1, mu 0.1, tails 4, doubt 0.1": Model(0.1, 0.1, 4.0, 0.1),
}


def joined(batches: range, *, chosen: bool = False) -> Study:
    studies = [simulate(batch, chosen=chosen) for batch in batches]
    return Study(
        *(np.concatenate([getattr(study, name) for study in studies]) for name in ("n", "human", "judge", "se"))
    )


def compared(batches: range) -> dict[str, Any]:
    study = joined(batches)
    truth = study.truth()
    rng = np.random.default_rng([SEED, 1])
    found = {name: scored(forecasts(study, model, rng), truth) for name, model in MODELS.items()}
    return found | {"two beta-binomials": scored(beta_binomials(study, rng), truth)}


def by_batch(batch: int) -> dict[str, float]:
    """What a test recomputes: sums over one batch."""
    study = simulate(batch)
    chances, truth = forecasts(study, Model(), np.random.default_rng([SEED, 2, batch])), study.truth()
    return {
        "confirmed": int((truth == 0).sum()),
        "expected": float(chances[:, 0].sum()),
        "squares": float(((chances[:, 0] - (truth == 0)) ** 2).sum()),
    }


def judged(batches: range) -> dict[str, Any]:
    """The default model on studies that chose nothing, as it is used and where the known countries were chosen."""
    rng = np.random.default_rng([SEED, 3])
    alike, chosen = joined(batches), joined(batches, chosen=True)
    return {
        "studies": len(alike.n),
        "outcomes": np.bincount(alike.truth(), minlength=4).tolist(),
        "default": scored(forecasts(alike, Model(), rng), alike.truth()),
        "plain": scored(forecasts(alike, PLAIN, rng), alike.truth()),
        "default, from counts alone": scored(forecasts(alike, Model(), rng, printed=True), alike.truth()),
        "known countries chosen": scored(forecasts(chosen, Model(), rng), chosen.truth()),
        "known countries chosen, plain": scored(forecasts(chosen, PLAIN, rng), chosen.truth()),
        "known countries chosen, outcomes": np.bincount(chosen.truth(), minlength=4).tolist(),
    }


def errors(batches: range) -> dict[str, Any]:
    """The standard error that is guessed from counts, over the one that labels give: quantiles of the ratio."""
    study = joined(batches)
    guess = np.vectorize(printed_se)(study.n, study.judge, study.n / ITEMS)
    return dict(
        zip(
            ("2.5%", "16%", "50%", "84%", "97.5%"),
            np.quantile(guess / study.se, [0.025, 0.16, 0.5, 0.84, 0.975]),
            strict=True,
        )
    )


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(float(value), 5) if isinstance(value, float) else value


def main() -> None:
    answer = {
        "what": "synthetic studies; no labels of any paper",
        "seed": SEED,
        "draws": DRAWS,
        "model": asdict(Model()),
        "tuning": compared(TUNING),
        "checking": judged(CHECKING),
        "guessed standard errors": errors(TUNING),
        "batches": {str(batch): by_batch(batch) for batch in CHECKING},
    }
    text = json.dumps(rounded(answer), indent=1)
    (HERE / "forecast_calibration.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
