"""Labels and posteriors made by hand for the tests of `countback fit`, so that what follows is arithmetic in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from countback.audit.fit.options import Options
from countback.audit.fit.source import File, Labels
from countback.models.ordinal import RESIDUAL, Gates, OrdinalData, Posterior

PASSED = Gates(1.001, 1200.0, 900.0, 0.0, False, True)
FAILED = Gates(1.32, 40.0, 25.0, 0.02, True, False, "r-hat 1.32 is above 1.01")


def grid(*, shared: bool = True, countries: int = 3, people: int = 3, items: int = 12, questions: int = 1) -> Labels:
    """Every person of a country labels every item of it once a question; labels 0, 1, 2 in turn."""
    item, country, annotator, question = (
        np.array(codes).ravel()
        for codes in np.meshgrid(
            np.arange(items), np.arange(countries), np.arange(people), np.arange(questions), indexing="ij"
        )
    )
    if not shared:
        item = item + items * country
    annotator = annotator + people * country
    shape = (int(item.max()) + 1, countries, questions)
    keys, unit = np.unique(np.ravel_multi_index((item, country, question), shape), return_inverse=True)
    unit_item, unit_country, unit_question = np.unravel_index(keys, shape)
    return Labels(
        "made-up.csv", item, country, annotator, question, (item * 5 + annotator * 3 + item * annotator) % 7 % 3, unit,
        unit_item, unit_country, unit_question, ("A", "B", "C"), tuple(f"country {c}" for c in range(countries)),
        tuple(f"q{k}" for k in range(questions)) if questions > 1 else ("",), (), {"blank": 4},
        (File("made-up.csv", "ab" * 32, "given"),), (), (),
    )  # fmt: skip


def posterior(
    data: OrdinalData,
    prior,
    country: Sequence[float],
    *,
    other: float = 0.0,
    engine: str = "nuts",
    gates: Gates = PASSED,
) -> Posterior:
    """`country` are the country's variances, `other` that of every other effect, in units of the residual's variance.

    One draw for each. The countries' effects are spread evenly, with the same variance (ddof 1) as the draw says.
    """
    draws, at = len(country), data.names.index("country")
    variance = np.full((draws, len(data.names)), other * RESIDUAL)
    variance[:, at] = np.asarray(country) * RESIDUAL
    even = np.arange(len(data.countries)) - (len(data.countries) - 1) / 2
    effects = np.sqrt(variance[:, [at]]) * even / even.std(ddof=1)
    steps = np.tile(np.linspace(-1.0, 1.0, data.categories - 1), (draws, 1))
    return Posterior(engine, prior, data.names, data.countries, variance**0.5, effects, steps, gates, 1)


class Engine:
    """Stands in for both engines: the n-th prior gets the n-th of `country` in each chain, the last for all after."""

    def __init__(self, *country: Sequence[float], failed: Sequence[int] = (), other: float = 0.0) -> None:
        self.country, self.failed, self.other = country, failed, other
        self.asked: list[tuple[str, OrdinalData, Options]] = []

    def __call__(self, engine: str, data: OrdinalData, options: Options, tell: object) -> list[Posterior]:
        self.asked.append((engine, data, options))
        out = []
        for number, prior in enumerate(options.priors):
            draws = list(self.country[min(number, len(self.country) - 1)]) * options.chains
            made = posterior(data, prior, draws, other=self.other, engine=engine)
            out.append(replace(made, gates=FAILED) if number in self.failed else made)
        return out
