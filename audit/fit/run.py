"""The plan of one `countback fit`: what the design can separate, the engine, a fit for each prior, the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from countback.audit.fit import words as w
from countback.audit.fit.options import APPROXIMATE, DRAWN_LABELS, DRAWS, MOST_LABELS, NUTS, Options, choose
from countback.audit.fit.source import OWN, Labels
from countback.audit.fit.tree import Fit, Found, Joint, summed_up
from countback.audit.recount import kit
from countback.claims import resolve_share
from countback.fetch.errors import UserError
from countback.models.identifiability import Design, diagnose, explain
from countback.models.ordinal import (
    THRESHOLD,
    OrdinalData,
    Posterior,
    answer,
    decide,
    ordinal_data,
)
from countback.models.sampling import versions
from countback.models.shares import CountryShare, country_share


def fit_labels(labels: Labels, options: Options, tell: Callable[[str], None] = lambda line: None) -> Found:
    """The whole answer. Raises UserError where nothing can be estimated, or an engine is not installed."""
    _named_countries(labels)
    tell("what the design can separate")
    design = diagnose(labels.item, labels.country, labels.annotator, question=labels.question)
    if design.kind == "hybrid" and design.separable and not options.own_items:
        labels = labels.of_shared_items()
    everything = labels
    labels = _drawn(labels, options)
    data = _data(labels, options)
    fence = _fence(design, data, labels)
    engine, why = choose(options.engine)
    judged = _judges(labels, design, options, engine, tell) if options.joint else None
    fits = []
    for number, posterior in enumerate(_posteriors(engine, data, options, tell)):
        rng = np.random.default_rng([options.seed, number])
        fits.append(summed_up(posterior, answer(posterior, rng), rng))
    joint = None if judged is None else judged()
    tell("the share without a model")
    moments = _moments(everything)
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
        joint=joint,
        versions={**kit(), **(versions() if engine == NUTS else {})},
    )


def _drawn(labels: Labels, options: Options) -> Labels:
    """Some items with all their labels, where there are more than are wanted or can be sampled."""
    count = options.items
    if count is None:
        if len(labels.label) <= MOST_LABELS:
            return labels
        count = int(np.ceil(DRAWN_LABELS * len(np.unique(labels.item)) / len(labels.label)))
    return labels.of_some_items(count, np.random.default_rng(options.seed)) if count else labels


def _data(labels: Labels, options: Options) -> OrdinalData:
    try:
        return ordinal_data(
            labels.label,
            labels.item,
            labels.country,
            labels.annotator,
            question=labels.question if len(labels.asked) > 1 else None,
            categories=len(labels.scale),
            countries=labels.countries,
            leave_out=options.leave_out,
        )
    except UserError as error:
        spare = labels.dropped.get(OWN, 0)
        more = (
            f" ({spare:,} labels of items of one country only were left out; --own-items keeps them)" if spare else ""
        )
        if options.items and labels.drawn:
            more += f" (--items {options.items} left out the rest; give a larger number, or 0 for all)"
        raise UserError(f"{labels.name}: {error}{more}") from None


def _judges(
    labels: Labels, design: Design, options: Options, engine: str, tell: Callable[[str], None]
) -> Callable[[], Joint]:
    """The joint fit, still to be called, so that judges which cannot be fitted are refused before humans are."""
    from countback.audit.fit.judges import fit_judges, judges_of

    data, notes = judges_of(labels, design, options, engine)
    return lambda: fit_judges(data, notes, options.priors[0], options, tell)


def _posteriors(engine: str, data: OrdinalData, options: Options, tell: Callable[[str], None]) -> Iterable[Posterior]:
    """One for each prior, in their order."""
    draws = options.draws or DRAWS[engine]
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
    """Why the country's effect is no effect of countries alone; empty where it is. What is in the model, `labels`, may
    be less than what the design was."""
    left = diagnose(labels.item, labels.country, labels.annotator)
    for each in (design, left):
        if not each.separable:
            return explain(each, labels.countries)[0]
    if "annotator" not in data.names and (left.annotators_in == 1).all():
        return w.ONE_ANNOTATOR
    asked = labels.item * len(labels.questions) + labels.question
    if len(labels.asked) > 1 and not diagnose(asked, labels.country, labels.annotator).separable:
        return w.OTHER_QUESTIONS
    return ""


def _moments(labels: Labels) -> CountryShare | str:
    """The share on the linear scale without a model, or why there is none."""
    if labels.several:
        return "an item is asked several questions, and this estimate is of one; choose it with --question NAME"
    try:
        return country_share(labels.item, labels.country, labels.annotator, labels.label)
    except UserError as error:
        return str(error)


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
