"""The sentences of `countback fit` that its text, its pictures and its page share. Computes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from countback.audit.fit.options import APPROXIMATE
from countback.audit.fit.source import OWN
from countback.audit.fit.tree import COUNTRY_EFFECTS, Found, Span
from countback.audit.judge.words import counted, listed, signed
from countback.models.ordinal import SURE, THRESHOLD, Gates

if TYPE_CHECKING:
    from countback.models.flattening import Interval, JudgeFlattening

LIMIT = f"{100 * THRESHOLD:.0f}%"
SYNTHETIC = "SYNTHETIC: these labels were made up to stand in for a release; nothing here is a finding about anything."
UNVERIFIED = "UNVERIFIED: a file has the name of a released one but not its bytes; nothing here is about the release."
WITHOUT_ANNOTATORS = (
    "Annotators have no effect of their own, as asked for: that other people of a country would have labelled "
    "otherwise is not allowed for, so the country's share comes out too large and its interval too narrow."
)
OWN_ITEMS = (
    "Items of one country only say nothing of differences between countries but through their content, which the model "
    "would take for the country's. "
)
ONE_ANNOTATOR = (
    "Each country has one annotator: a difference between countries may be one between these people, and no analysis "
    "of these labels can tell which."
)
OTHER_QUESTIONS = (
    "Countries were not asked the same questions about the items they share: a difference between countries may be one "
    "between the questions, and no analysis of these labels together can tell which."
)
CONTENT = "what its items hold"
FAILED = "unchecked: model fit failed"
GLOSSARY = (
    (
        "variance",
        "how much labels differ. A share of it goes with the country, the item or the annotator; the residual is what "
        "goes with none of them. item:country is where countries differ on one item and not on another.",
    ),
    (
        "prior",
        "what is taken for likely before any label is seen. With few countries it weighs much, so there are five of "
        "them, and a decision is only taken where they agree.",
    ),
    ("latent scale", "the model's own, on which people lean towards a label before they choose one."),
    ("logits", "its unit: one more multiplies the odds of a label further up the scale by 2.7."),
    (
        "of all such countries",
        "as these were drawn from, of which a few countries say little; of these countries: of those only that "
        "labelled.",
    ),
    (
        "r-hat",
        "near 1 where the sampler's chains agree. ESS is how many independent draws its draws are worth; divergent "
        "draws are those at which it lost its way.",
    ),
)


def banners(found: Found) -> list[str]:
    """What must stand above everything, wherever a number of this fit is shown."""
    said = []
    if found.labels.synthetic:
        said.append(SYNTHETIC)
    elif found.labels.unverified:
        said.append(UNVERIFIED)
    if found.engine == APPROXIMATE:
        said.append("APPROXIMATE: every number of the fit is by an approximation, not by sampling the model.")
    return said


def marked(found: Found, text: str) -> str:
    """A title that says of itself what its numbers are not."""
    words = (["SYNTHETIC"] if found.labels.synthetic else []) + (["approximate"] if found.engine == APPROXIMATE else [])
    return f"{text} ({', '.join(words)})" if words else text


def scope(found: Found) -> str:
    labels, design = found.labels, found.design
    asked = f", {len(labels.asked)} questions together" if len(labels.asked) > 1 else ""
    if len(labels.asked) == 1 and labels.asked[0]:
        asked = f", question {labels.asked[0]}"
    apart = f"; {counted(len(labels.judges), 'judge')} not in this model (--model joint)" if labels.judges else ""
    judges = apart if found.joint is None else f"; {counted(len(found.joint.judges), 'judge')}"
    fitted = int(found.data.weight.sum())
    part = f", {fitted:,} of the labels in the model" if fitted < design.labels else ""
    return (
        f"{labels.name}: {design.labels:,} valid labels by {counted(design.annotators, 'human')} on "
        f"{counted(design.items, 'item')} in {len(design.countries)} countries{asked}{part}; scale "
        f"{' < '.join(labels.scale)}{judges}"
    )


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def share(span: Span) -> str:
    return f"{percent(span.median)} [{percent(span.low)}, {percent(span.high)}]"


def logits(span: Span, sign: str = "") -> str:
    return f"{span.median:{sign}.2f} [{span.low:{sign}.2f}, {span.high:{sign}.2f}]"


def probability(value: float) -> str:
    """Two digits; more where two would stand on the other side of what a decision needs."""
    if not 0.005 <= value <= 0.995:
        return "<0.01" if value < 0.005 else ">0.99"
    short = round(value, 2)
    moved = (short >= SURE) != (value >= SURE) or (short <= 1 - SURE) != (value <= 1 - SURE)
    return f"{value:.4f}" if moved else f"{value:.2f}"


def part_name(name: str, found: Found) -> str:
    """An effect in words; behind a fence whatever takes in more than its name says so."""
    if found.fence and name in COUNTRY_EFFECTS:
        return f"{name} (confounded)"
    if name == "annotator":
        return "annotator, within a country"
    return "item, within a country" if name == "item" and found.design.kind == "nested" else name


def confounder(found: Found) -> str:
    """What is in the country's effect as much as the country, behind a fence."""
    return {ONE_ANNOTATOR: "its one annotator", OTHER_QUESTIONS: "what it was asked"}.get(found.fence, CONTENT)


def own_items(found: Found) -> str:
    """What was done about items of one country in a design that has shared ones too."""
    count = found.labels.dropped.get(OWN, 0)
    if count:
        return f"{OWN_ITEMS}They are left out ({count:,} labels); --own-items keeps them."
    return f"{OWN_ITEMS}They are in it all the same, as asked for (--own-items)."


def gate_row(name: str, gates: Gates) -> list[str]:
    """Name, r-hat, bulk and tail ESS, share of divergences, whether it was tried again, and what that comes to."""

    def told(value: float, form: str) -> str:
        return format(value, form) if np.isfinite(value) else "none"

    return [
        name,
        told(gates.rhat, ".3f"),
        told(gates.ess_bulk, ",.0f"),
        told(gates.ess_tail, ",.0f"),
        told(gates.divergent, ".2%"),
        "twice" if gates.retried else "once",
        "passed" if gates.passed else "FAILED",
    ]


GATE_COLUMNS = ("prior", "r-hat", "bulk ESS", "tail ESS", "divergent", "run", "gates")


def failures(found: Found) -> list[str]:
    """For each prior whose fit failed what failed, and then what to try."""
    lines = [
        f"{fit.posterior.prior}: {FAILED}" + (f": {fit.posterior.gates.why}" if fit.posterior.gates.why else "")
        for fit in found.fits
        if not fit.passed
    ]
    if found.joint is not None and not found.joint.passed:
        why = found.joint.posterior.gates.why
        lines.append(f"humans and judges together: {FAILED}" + (f": {why}" if why else ""))
    if not lines:
        return []
    tries = ["longer chains (--draws 2000)"] if found.engine != APPROXIMATE else ["--engine nuts"]
    tries.append("another seed (--seed)")
    spare = [name for name in ("item:country", "country:question") if name in found.data.names]
    tries += [f"a smaller model (--leave-out {spare[0]})"] if spare else []
    tries += ["--engine approximate"] if found.engine != APPROXIMATE else []
    return [*lines, f"No number of a failed fit is shown. Try, in this order: {'; '.join(tries)}."]


def verdict(found: Found) -> tuple[str, str]:
    """The decision in capitals, and what it rests on; empty where none may be given."""
    if found.fence:
        return "", ""
    below = [fit.answer.below for fit in found.fits if fit.passed]
    ends = f"{probability(min(below))} to {probability(max(below))}" if below else ""
    if found.decision == "":
        return "NO DECISION", "it is only taken from the sweep of priors, which was turned off (--no-sweep)."
    if found.decision == "below":
        return f"BELOW {LIMIT}", f"P(share < {LIMIT}) is {ends} over {len(below)} priors: at least {SURE} under each."
    if found.decision == "above":
        return (
            f"ABOVE {LIMIT}",
            f"P(share < {LIMIT}) is {ends} over {len(below)} priors: at most {1 - SURE:.2f} under each.",
        )
    if found.decision == "undetermined":
        return "UNDETERMINED", (
            f"P(share < {LIMIT}) is {ends}, depending on the prior: these labels do not settle on which side of "
            f"{LIMIT} the share lies. {_more(found)}"
        )
    return FAILED.upper(), "no decision is taken while the fit of any prior of the sweep fails."


def conclusion(found: Found) -> tuple[str, str]:
    """What it comes to, in capitals, and why: the decision, or that the design allows none."""
    if found.fence:
        return "THE COUNTRY'S SHARE IS CONFOUNDED", f"no decision on it is taken. {found.fence}"
    return verdict(found)


def _more(found: Found) -> str:
    if found.labels.drawn:
        fitted = int(found.data.weight.sum())
        return f"Only {fitted:,} of {found.design.labels:,} labels are in it; --items 0 takes all, in more time."
    count = len(found.design.countries)
    if count >= 12:
        return ""
    return (
        f"More labels of the same {count} countries help where these hardly differ; where they differ only more "
        "countries do (countback plan simulates both)."
    )


def rule_words(found: Found) -> str:
    """What prediction cubes/p2's rule makes of the intervals."""
    groups: dict[str, list[str]] = {}
    for name, outcome in found.rule.items():
        groups.setdefault(outcome, []).append(name)
    said = "; ".join(f"{outcome} by {listed(names)}" for outcome, names in groups.items())
    return (
        f"The rule of prediction cubes/p2 (confirmed: the 95% interval lies at or above {LIMIT}; broken: below it) on "
        f"these intervals: {said}."
    )


PANEL = (
    "This holds for the people who were there and the items they labelled, not for countries in general. A ratio of 1: "
    "the judge's leans are spread over countries as widely as those of the people asked; below 1 less, 0 not at all. "
    "Below 1 is by itself no fault: what spreads the people asked is partly the chance of who was asked. Of a judge "
    "that flattens much the middle of the ratio comes out too near 1, because few countries seldom show no spread at "
    "all: go by the interval."
)
PANEL_NESTED = (
    "Each country has its own items, so what spreads the people asked may be what their items hold. Judges answer the "
    "same items, so that a ratio is then drawn to 1, and flattening may be there and not be seen. A judge's gap in a "
    "country is between answers to the same items, and stands all the same."
)
FLAT_COLUMNS = ("judge", "spread in logits", "spread of leans", "slope", "P(logits < 1)")


def flat_row(judge: JudgeFlattening) -> list[str]:
    """A judge's ratios of spreads, the slope of its leans on the panels', and the probability that it is flatter."""
    spans = (judge.latent, judge.ratio, judge.slope)
    return [judge.judge, *(f"{s.median:.2f} [{s.low:.2f}, {s.high:.2f}]" for s in spans), probability(judge.flatter)]


def gap(span: Interval) -> str:
    """A difference of leans in hundredths."""
    return f"{signed(span.median, 0)} [{signed(span.low, 0)}, {signed(span.high, 0)}]"


def engine_words(found: Found) -> str:
    reason = "" if found.why_engine in ("asked for", "installed") else f"; {found.why_engine}"
    return f"engine: {found.main.posterior.engine}, {len(found.main.posterior.sd):,} draws under each prior{reason}"
