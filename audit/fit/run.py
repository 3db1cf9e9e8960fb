"""The plan of one `countback fit`: what the design can separate, the engine, a fit for each prior, the decision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from countback.audit.fit.source import Labels
from countback.audit.fit.tree import APPROXIMATE, Fit, Found, summed_up
from countback.audit.recount import kit
from countback.claims import resolve_share
from countback.fetch.errors import UserError
from countback.models.identifiability import Design, diagnose, explain
from countback.models.ordinal import (
    R2D2,
    SWEEP,
    THRESHOLD,
    HalfNormal,
    OrdinalData,
    Posterior,
    Prior,
    answer,
    decide,
    ordinal_data,
)
from countback.models.sampling import available, versions
from countback.models.shares import CountryShare, country_share
from numpy.typing import NDArray

NUTS = "nuts"
MOST_ROWS = 20_000  # with more, sampling takes hours
_DRAWS = {NUTS: 1000, APPROXIMATE: 4000}


@dataclass(frozen=True)
class Options:
    """How to fit. `engine` None chooses; `priors` begin with the one that numbers are given for; `draws` are of each
    chain, or in all where there are no chains."""

    engine: str | None = None
    priors: tuple[Prior, ...] = SWEEP
    leave_out: tuple[str, ...] = ()
    seed: int = 20261129
    draws: int | None = None
    chains: int = 4
    jobs: int | None = None
    progress: bool = False


def fit_labels(labels: Labels, options: Options, tell: Callable[[str], None] = lambda line: None) -> Found:
    """The whole answer. Raises UserError where nothing can be estimated, or an engine is not installed."""
    _named_countries(labels)
    tell("what the design can separate")
    design = diagnose(labels.item, labels.country, labels.annotator, question=labels.question)
    data = ordinal_data(
        labels.label,
        labels.item,
        labels.country,
        labels.annotator,
        question=labels.question if len(labels.asked) > 1 else None,
        categories=len(labels.scale),
        countries=labels.countries,
        leave_out=options.leave_out,
    )
    fence = _fence(design, data, labels)
    engine, why = choose(options.engine, len(data.weight))
    fits = []
    for number, posterior in enumerate(_posteriors(engine, data, options, tell)):
        rng = np.random.default_rng([options.seed, number])
        fits.append(summed_up(posterior, answer(posterior, rng), rng))
    tell("the share without a model")
    moments = _moments(labels)
    swept = len(fits) > 1
    return Found(
        labels=labels,
        data=data,
        design=design,
        fence=fence,
        left_out=options.leave_out,
        engine=engine,
        why_engine=why,
        chains=options.chains if engine == NUTS else 0,
        seed=options.seed,
        fits=tuple(fits),
        decision="" if fence or not swept else decide([fit.answer for fit in fits]),
        rule={} if fence else _ruled(fits, moments, design),
        moments=moments,
        versions={**kit(), **(versions() if engine == NUTS else {})},
    )


def parse_prior(text: str) -> Prior:
    """ "R2D2", "R2D2(2, 2; 1)" or "HalfNormal(0.5)", as they are printed."""
    found = re.fullmatch(r"\s*(R2D2|HalfNormal)\s*(?:\(([^()]*)\))?\s*", text, re.IGNORECASE)
    try:
        numbers = [float(part) for part in re.split(r"[,;]", found[2])] if found and found[2] else []
        if found and all(0 < number < np.inf for number in numbers):
            if found[1].lower() == "r2d2" and len(numbers) in (0, 2, 3):
                return R2D2(*numbers)
            if found[1].lower() == "halfnormal" and len(numbers) == 1:
                return HalfNormal(numbers[0])
    except ValueError:
        pass
    raise UserError(
        f"--prior {text!r} is not understood; expected one such as "
        f"{', '.join(map(str, SWEEP[:3]))}, with numbers above 0"
    )


def priors(main: Prior | None, *, sweep: bool) -> tuple[Prior, ...]:
    """The prior that numbers are given for, and the others of the sweep."""
    first = main if main is not None else SWEEP[0]
    return (first, *(prior for prior in SWEEP if prior != first)) if sweep else (first,)


def choose(engine: str | None, rows: int) -> tuple[str, str]:
    """The engine and why. Raises UserError where the one that was asked for is not installed."""
    try:
        available("nutpie")
        missing = ""
    except UserError as error:
        missing = str(error)
    if engine == NUTS and missing:
        raise UserError(f"--engine nuts: {missing}; --engine approximate needs nothing")
    if engine is not None:
        return engine, "asked for"
    if missing:
        return APPROXIMATE, f"nothing is sampled: {missing}"
    if rows > MOST_ROWS:
        return APPROXIMATE, (
            f"{rows:,} rows are more than the {MOST_ROWS:,} that are sampled without being asked to; --engine nuts "
            "samples them all the same and may take hours"
        )
    return NUTS, "installed"


def _posteriors(engine: str, data: OrdinalData, options: Options, tell: Callable[[str], None]) -> Iterable[Posterior]:
    """One for each prior, in their order."""
    draws = options.draws or _DRAWS[engine]
    if engine == APPROXIMATE:
        from countback.models.approximate import sweep_approximate

        tell(f"approximating under {len(options.priors)} priors at once")
        yield from sweep_approximate(data, options.priors, seed=options.seed, draws=draws)
        return
    from countback.models.hierarchical import fit_human

    for number, prior in enumerate(options.priors):
        tell(f"sampling under {prior}, {number + 1} of {len(options.priors)} priors")
        yield fit_human(
            data,
            prior,
            seed=options.seed + 1000 * number,
            draws=draws,
            chains=options.chains,
            cores=options.jobs,
            progress=options.progress,
        )


def _named_countries(labels: Labels) -> None:
    """Raises UserError where no country is named at all, before anything else is found wrong."""
    if len(labels.label) == 0:
        raise UserError(f"{labels.name}: no valid label by a human; nothing can be fitted")
    if {labels.countries[code] for code in np.unique(labels.country)} == {""}:
        raise UserError(
            f"{labels.name}: no country is named, so nothing about countries can be estimated; say which column is the "
            "country, or the group, with --columns country=COLUMN"
        )


def _fence(design: Design, data: OrdinalData, labels: Labels) -> str:
    """Why the country's effect is no effect of countries alone; empty where it is."""
    if not design.separable:
        return explain(design, labels.countries)[0]
    if "annotator" not in data.names and (design.annotators_in == 1).all():
        return (
            "Each country has one annotator: a difference between countries may be one between these people, and no "
            "analysis of these labels can tell which."
        )
    return ""


def _moments(labels: Labels) -> CountryShare | str:
    """The share on the linear scale without a model, or why there is none."""
    if len(labels.asked) > 1 and len(labels.unit_item) > len(np.unique(_pairs(labels))):
        return "an item is asked several questions, and this estimate is of one; choose it with --question NAME"
    try:
        return country_share(labels.item, labels.country, labels.annotator, labels.label)
    except UserError as error:
        return str(error)


def _pairs(labels: Labels) -> NDArray[np.int64]:
    """A code for the item and country of each unit."""
    return labels.unit_item * len(labels.countries) + labels.unit_country


def _ruled(fits: Sequence[Fit], moments: CountryShare | str, design: Design) -> dict[str, str]:
    """What the rule of prediction cubes/p2 would say of each interval, were these labels its trigger."""
    spans = {str(fit.posterior.prior): fit.shares["population"] for fit in fits if fit.passed}
    ends = {name: (span.median, span.low, span.high) for name, span in spans.items()}
    if not isinstance(moments, str):
        ends["moments"] = (moments.share, moments.low, moments.high)
    rule = resolve_share.ShareRule(Fraction(THRESHOLD).limit_denominator(1000))
    said = {}
    for name, (share, low, high) in ends.items():
        found = resolve_share.Share(
            Fraction(share), Fraction(low), Fraction(high), len(design.countries), design.shared_items, True
        )
        said[name] = resolve_share.decide(found, rule).possible[0]
    return said
