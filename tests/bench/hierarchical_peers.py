"""One fit from process start to gated summary, as a process of its own, for the speed bench: prints JSON.

`python hierarchical_peers.py PEER LABELS.csv`, PEER countback, bambi, pymc (PyMC's own sampler on our PyMC model) or
refit (countback, twice: the second fit on other labels of the same rows). Synthetic labels; bambi needs no countback.
"""

from __future__ import annotations

import csv
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

DRAWS, TUNE, CHAINS, SEED, ACCEPT = 1000, 1000, 4, 1, 0.9  # the last as countback's own default


def read(path: str) -> dict[str, Any]:
    with Path(path).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([int(row[name]) for row in rows]) for name in ("label", "item", "country", "annotator")}


def ours(columns: dict[str, Any], sampler: Any, seed: int = SEED) -> dict[str, Any]:
    from countback.models.hierarchical import fit_human
    from countback.models.ordinal import HalfNormal, ordinal_data

    data = ordinal_data(**columns, categories=3, countries=[f"synthetic {code}" for code in range(4)])
    found = fit_human(data, HalfNormal(1), seed=seed, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=1, sampler=sampler)
    gates = found.gates
    ess = min(gates.ess_bulk, gates.ess_tail)
    return {
        "ess": ess,
        "rhat": gates.rhat,
        "retried": gates.retried,
        "sd": dict(zip(data.names, found.sd.mean(0), strict=True)),
    }


def bambi(columns: dict[str, Any]) -> dict[str, Any]:
    """The same effects, priors, sampler and settings of it; diagnostics of the same quantities by ArviZ."""
    import arviz
    import bambi as bmb
    import pandas as pd

    frame = pd.DataFrame(columns)
    frame["label"] = pd.Categorical(frame["label"], ordered=True)
    frame["cell"] = frame["item"] * 100 + frame["country"]
    frame["person"] = frame["country"] * 100 + frame["annotator"]
    terms = ("country", "item", "person", "cell")
    for name in terms:
        frame[name] = frame[name].astype(str)
    spread = bmb.Prior("Normal", mu=0, sigma=bmb.Prior("HalfNormal", sigma=1))
    model = bmb.Model(
        "label ~ 0 + " + " + ".join(f"(1|{name})" for name in terms),
        frame,
        family="cumulative",
        priors={f"1|{name}": spread for name in terms} | {"threshold": bmb.Prior("Normal", mu=[-0.5, 0.5], sigma=1.5)},
    )
    found = model.fit(
        draws=DRAWS,
        tune=TUNE,
        chains=CHAINS,
        cores=1,
        random_seed=SEED,
        inference_method="nutpie",
        progress_bar=False,
        target_accept=ACCEPT,
    )
    names = [f"1|{name}_sigma" for name in terms] + ["threshold", "1|country"]
    posterior = found.posterior[names]
    least = [arviz.ess(posterior, method=method).to_array().min() for method in ("bulk", "tail")]
    sd = {name: float(posterior[f"1|{name}_sigma"].mean()) for name in terms}
    return {"ess": float(min(least)), "rhat": float(arviz.rhat(posterior).to_array().max()), "sd": sd}


def main(peer: str, path: str) -> None:
    columns = read(path)
    if peer == "bambi":
        found = bambi(columns)
    elif peer == "refit":
        ours(columns, "nutpie")
        other = columns | {"label": np.random.default_rng(2).permutation(columns["label"])}
        wall, cpu = time.perf_counter(), time.process_time()
        found = ours(other, "nutpie")
        found |= {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    else:
        found = ours(columns, "pymc" if peer == "pymc" else "nutpie")
    print(json.dumps(found, default=float))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
