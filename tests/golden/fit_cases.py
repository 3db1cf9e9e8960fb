"""Fits to real crossed labels, as they are kept in fits/: `python tests/golden/fit_cases.py SHARED [NAME ...]`.

No labels are kept, only digests of the files and what was found. What it means is in fits.md.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from countback.models import sampling
from countback.models.fits import as_json, sha256
from countback.models.hierarchical import sweep_human
from countback.models.identifiability import diagnose
from countback.models.ordinal import SWEEP, OrdinalData, Prior, ordinal_data

HERE = Path(__file__).parent
SEED = 20261129
HOW: Mapping[str, int] = {"draws": 1000, "tune": 600, "chains": 4}
LONGER = {"rtp_lx_Toxicity": {"draws": 3500}}  # five labels on 20 prompts: cutpoints and prompts move together
ITEMS = 20  # prompts of RTP-LX that are fitted, drawn at random; the moment estimator takes all 999
FILES = {"multi3hate": "data/multi3hate/labels.csv", "rtp_lx": "data/rtp_lx/labels_full.csv.gz"}


def load(name: str, shared: Path) -> tuple[OrdinalData, str, str, list[str]]:
    """Data, the file it is from, the design's name and notes; `name` is multi3hate or rtp_lx_QUESTION."""
    sys.path.insert(0, str(HERE))
    try:
        import share_cases
    finally:
        sys.path.remove(str(HERE))
    if name == "multi3hate":
        item, country, annotator, label = share_cases.multi3hate(shared)
        file, notes, categories = FILES[name], ["all labels; 1 is hate"], 2
    else:
        item, country, annotator, label = share_cases.rtp_lx(shared)[name.removeprefix("rtp_lx_")]
        file, categories = FILES["rtp_lx"], int(label.max()) + 1
        some = np.random.default_rng(SEED).choice(item.max() + 1, ITEMS, replace=False)
        kept = np.isin(item, some)
        notes = [
            f"{ITEMS} of {item.max() + 1} prompts, drawn at random with seed {SEED}; all 26 locales and annotators"
        ]
        item, country, annotator, label = item[kept], country[kept], annotator[kept], label[kept]
    names = [f"country {code}" for code in range(int(country.max()) + 1)]
    data = ordinal_data(label, item, country, annotator, categories=categories, countries=names)
    return data, file, diagnose(item, country, annotator).kind, notes


def fit(name: str, shared: Path, priors: tuple[Prior, ...] = SWEEP, seed: int = SEED) -> dict[str, Any]:
    data, file, design, notes = load(name, shared)
    how = {**HOW, **LONGER.get(name, {})}
    found = []
    for place, prior in enumerate(priors):
        began = time.process_time()
        found += sweep_human(data, [prior], seed=seed + 1000 * place, **how, cores=1)
        print(name, prior, found[-1].gates, round(time.process_time() - began), "CPU-s", file=sys.stderr, flush=True)
    return as_json(
        "human",
        data,
        found,
        files={file: sha256(shared / file)},
        versions=sampling.versions(),
        seed=seed,
        design=design,
        how=how,
        notes=notes,
    )


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


NAMES = ("multi3hate", "rtp_lx_Toxicity", "rtp_lx_Microaggression")

if __name__ == "__main__":
    folder = HERE / "fits"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[2:] or NAMES:
        text = json.dumps(rounded(fit(name, Path(sys.argv[1]))), indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
