"""Fits kept in fits/: whole, of these files, beside the moment estimator and lme4; and one fitted again."""

from __future__ import annotations

import csv
import gzip
import importlib
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from countback.claims import resolve_share
from countback.models import fits
from countback.models.ordinal import R2D2

HERE = Path(__file__).parent
KEPT = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted((HERE / "fits").glob("*.json"))}
MOMENTS = json.loads((HERE / "shares.json").read_text(encoding="utf-8"))["real"]
# lme4 1.1.31, REML, all labels: country, item, item:country, annotator, residual (test_shares_real.py says how).
LME4 = {
    "multi3hate": (0.0010517, 0.0729584, 0.0195099, 0.0164536, 0.1349541),
    "rtp_lx_Toxicity": (0.1008960, 0.9518612, 0.2470480, 0.0180244, 0.3942871),
    "rtp_lx_Microaggression": (0.0584798, 0.0054651, 0.0707639, 0.0015643, 0.0636034),
}


def moments(name: str) -> Any:
    return MOMENTS[name] if name == "multi3hate" else MOMENTS["rtp_lx"][name.removeprefix("rtp_lx_")]


def test_some_are_kept() -> None:
    assert "multi3hate" in KEPT


@pytest.mark.parametrize("name", KEPT)
def test_every_fit_passed_its_gates(name: str) -> None:
    kept = KEPT[name]
    assert kept["schema"] == fits.SCHEMA
    assert kept["design"] == "crossed"
    for prior in kept["priors"]:
        gates = prior["gates"]
        assert gates["passed"], gates["why"]
        assert gates["rhat"] <= 1.01
        assert min(gates["ess_bulk"], gates["ess_tail"]) >= 400
        assert gates["divergent"] <= 0.001
        assert prior["low"] < prior["median"] < prior["high"]


@pytest.mark.parametrize("name", KEPT)
def test_files_are_those_that_were_fitted(name: str, shared: Path) -> None:
    for file, digest in KEPT[name]["data"]["files"].items():
        assert fits.sha256(shared / file) == digest


@pytest.mark.parametrize("name", KEPT)
def test_moments_and_lme4_lie_inside_the_interval_on_the_linear_scale(name: str) -> None:
    """They see all labels; a fit to some items sees the same countries. Under the default prior."""
    variances, linear = LME4[name], KEPT[name]["priors"][0]["linear"]
    assert KEPT[name]["priors"][0]["prior"] == str(R2D2())
    for other in (moments(name)["share"], variances[0] / sum(variances)):
        assert linear["low"] < other < linear["high"]


@pytest.mark.parametrize("name", KEPT)
def test_the_rule_of_the_second_prediction(name: str) -> None:
    """By the interval on the linear scale under each prior of the sweep: what fits.md says."""
    said = {
        "multi3hate": ("neither", "broken", "broken", None, None),
        "rtp_lx_Toxicity": ("neither",) * 5,
        "rtp_lx_Microaggression": ("confirmed", "neither", "neither", "confirmed", "confirmed"),
    }
    kept = KEPT[name]
    effects = kept["data"]["effects"]
    for prior, outcome in zip(kept["priors"], said[name], strict=True):
        ends = [Fraction(prior["linear"][end]) for end in ("median", "low", "high")]
        share = resolve_share.Share(*ends, effects["country"], effects["item"], True)
        if outcome is None:  # the upper end is the threshold, as far as the draws can tell
            error = kept["mc_error"][prior["prior"]]["linear"]["high"]
            assert abs(prior["linear"]["high"] - kept["threshold"]) < 2 * error
        else:
            assert resolve_share.decide(share, resolve_share.ShareRule(Fraction(1, 20))).possible == (outcome,)


def test_the_tables_of_the_document_are_of_these_fits() -> None:
    """Each printed number is the stored one, to its last digit."""
    text = (HERE / "fits.md").read_text(encoding="utf-8")
    sections = dict(
        zip(("multi3hate", "rtp_lx_Microaggression", "rtp_lx_Toxicity"), text.split("\n## ")[1:4], strict=True)
    )
    assert sections.keys() == KEPT.keys()
    for name, section in sections.items():
        rows = [
            line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith(("| R2D2", "| HalfN"))
        ]
        assert [row[0] for row in rows] == [prior["prior"] for prior in KEPT[name]["priors"]]
        for row, prior in zip(rows, KEPT[name]["priors"], strict=True):
            finite, linear = prior["finite"], prior["linear"]
            here = [finite["low"], finite["high"]] if name == "multi3hate" else []
            stored = [
                prior["median"],
                prior["low"],
                prior["high"],
                *here,
                linear["median"],
                linear["low"],
                linear["high"],
            ]
            printed = " to ".join(row[1:]).split(" to ")
            for number, value in zip(printed, [*stored, prior["below"], prior["prior_below"]], strict=True):
                digits = len(number.partition(".")[2])
                assert abs(float(number) - value) <= 0.51 * 10**-digits, (name, prior["prior"], number, value)


def test_how_skew_microaggression_is(shared: Path) -> None:
    """What fits.md says of the locales of the prompts that were fitted; counted from the file, 60 labels a locale."""
    with gzip.open(shared / "data" / "rtp_lx" / "labels_full.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    prompts = np.array(sorted({row["item"] for row in rows}))
    fitted = set(prompts[np.random.default_rng(20261129).choice(len(prompts), 20, replace=False)])
    rows = [row for row in rows if row["question"] == "Microaggression" and row["item"] in fitted]
    above = Counter(row["country"] for row in rows if row["label"] != "1")
    assert Counter(row["country"] for row in rows) == dict.fromkeys({row["country"] for row in rows}, 60)
    assert [count for _, count in above.most_common(5)] == [30, 27, 10, 9, 5]


@pytest.mark.slow
@pytest.mark.nuts
def test_one_of_them_again(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default prior's fit, by another seed: every number within four Monte Carlo errors of what was kept."""
    pytest.importorskip("nutpie")
    monkeypatch.syspath_prepend(str(HERE))
    cases = importlib.import_module("fit_cases")
    kept = KEPT["rtp_lx_Microaggression"]
    again = cases.fit("rtp_lx_Microaggression", shared, (R2D2(),), seed=cases.SEED + 1)
    assert fits.compare(again, kept | {"decision": again["decision"]}) == ()
    changed = again | {"data": again["data"] | {"files": dict.fromkeys(again["data"]["files"], "0" * 64)}}
    assert all("is another file" in line for line in fits.compare(changed, kept))
