"""Pictures of the audit article on CuBEs: from the released labels, or from what the article prints without them.

Printed numbers are taken by claim id; where the article prints none, the picture says so in words.
"""

from __future__ import annotations

from countback.claims.pictures import (
    PRINTED,
    Bar,
    Data,
    GridPicture,
    HeldOutPicture,
    Histogram,
    LeanPicture,
    NullPicture,
    Picture,
    Printed,
    RestsOn,
    Side,
    SpreadsPicture,
)
from countback.claims.prediction import load_predictions
from countback.fetch.errors import UserError

ARCHIVE = "cubes/cube_judge_alignment.zip"
ALL, HUMAN = "all four countries", "held-out human"
OPUS, SONNET, GEMINI, GPT = "claude-opus-4.5", "claude-sonnet-4.5", "gemini-3-flash-preview", "gpt-5.1"
AS_PRINTED = RestsOn(PRINTED)

HELD_OUT = (
    "How often a label matches the majority of the other annotators of its item: one human's, held out in turn, and "
    "each judge's on the same comparisons. A lead is the judge's rate less the human's: right of the line the judge "
    "agrees more."
)
LEAN = (
    "1 is the strictest label throughout, 0 the most lenient. Where judges flatten culture, their dots lie closer "
    "together than the humans'."
)
GRID = (
    "Each item gives its most frequent label, ties to the stricter; a cell shows the most frequent of these letters, "
    "ties to the stricter."
)
NULL = "Bars: how often a value came up where culture plays no part; the marked line: what was observed."
SPREAD = "Highest less lowest lean over the countries. Noise alone makes a spread: read it beside its interval."


def pictures(data: Data, printed: Printed) -> list[Picture]:
    """Every picture of this paper. The labels, once here, are drawn in place of the printed numbers."""
    try:
        data.path(ARCHIVE)
    except UserError:
        return _printed(printed, "")
    from countback.claims.papers.cubes import pictured  # NumPy, and a second of draws

    try:
        return pictured.pictures(data, printed)
    except UserError as error:
        return _printed(printed, f"The labels could not be used: {error}")


def _printed(printed: Printed, why: str) -> list[Picture]:
    found: list[Picture] = [_held_out(printed), _lean(printed), _spreads(printed), _grid(), _null(printed)]
    if why:
        from dataclasses import replace

        found = [replace(each, missing=(why, *each.missing)) for each in found]
    return found


def _held_out(printed: Printed) -> Picture:
    n = int(printed.value("s3-n"))
    rows = {
        ALL: (
            (HUMAN, "title-human"),
            (OPUS, "f1-opus"),
            (SONNET, "s3-sonnet"),
            (GEMINI, "title-gemini"),
            (GPT, "s3-gpt"),
        ),
        "Pakistan": ((HUMAN, "s3-pk-human"), (GEMINI, "s3-pk-gemini")),
        "United States": ((HUMAN, "s3-us-human"), (OPUS, "s3-us-opus"), (GEMINI, "s3-us-gemini")),
    }
    forced = {" and ".join(row.countries): row for row in load_predictions(printed.folder, "cubes")[1]}
    sizes = {ALL: n} | {name: row.n for name, row in forced.items()}
    rates = [
        printed.bar(claim, group, name, n=sizes.get(group)) for group, voters in rows.items() for name, claim in voters
    ]
    for group, row in forced.items():
        if group not in rows:
            note = f"{{}} of {row.n}: what the printed rates leave"
            for name, hits in ((HUMAN, row.human), (GEMINI, row.judge)):
                rates.append(Bar(group, name, 100 * hits / row.n, n=row.n, note=note.format(hits)))
    leads = (
        printed.bar("s3-opus-lead", ALL, OPUS, interval="s3-opus-interval", n=n),
        printed.bar("s3-gemini-lead", ALL, GEMINI, n=n),
        printed.bar("s3-pk-lead", "Pakistan", GEMINI, interval="s3-pk-interval", n=sizes.get("Pakistan")),
    )
    return HeldOutPicture(
        title="A held-out human against the judges",
        says=HELD_OUT,
        rests_on=AS_PRINTED,
        n=n,
        interval="intervals of 95% as printed",
        rates=tuple(rates),
        leads=leads,
        missing=(
            "The article prints no interval of a rate, two intervals of a lead, and neither Nigeria nor the "
            "Philippines alone.",
        ),
    )


def _lean(printed: Printed) -> Picture:
    figure, means = "humans, by the rule of the figure", "humans, mean of all labels by question"
    majority, judges = "human majority of each item", "the four judges, lowest to highest"
    rows = (
        (figure, "Pakistan", "s4-lean-pk"),
        (figure, "Philippines", "s4-lean-ph"),
        (figure, "Nigeria", "s4-lean-ng"),
        (figure, "United States", "s4-lean-us"),
        (means, "Pakistan", "s4-mean-pk"),
        (means, "Nigeria", "s4-mean-ng"),
        (means, "United States", "s4-mean-us"),
        (majority, "Pakistan", "s5-lean-pk"),
        (majority, "Nigeria", "s5-lean-ng"),
        (judges, "Pakistan", "s5-judges-pk"),
    )
    return LeanPicture(
        title="How strict each country is",
        says=LEAN,
        rests_on=AS_PRINTED,
        bars=tuple(printed.bar(claim, group, name) for group, name, claim in rows),
        missing=("The article prints no interval of a lean, and of the judges' leans only their range in Pakistan.",),
    )


def _spreads(printed: Printed) -> Picture:
    rows = (
        ("human majority", "s5-spread-human"),
        (SONNET, "s5-spread-sonnet"),
        (GEMINI, "s5-spread-gemini"),
        (OPUS, "s5-spread-opus"),
        (GPT, "s5-spread-gpt"),
    )
    return SpreadsPicture(
        title="How far the countries lie apart",
        says=SPREAD,
        rests_on=AS_PRINTED,
        bars=tuple(printed.bar(claim, "", name) for name, claim in rows),
        missing=("The article prints no interval of a spread.",),
    )


def _grid() -> Picture:
    return GridPicture(
        title="The letter of each cell",
        says=GRID,
        rests_on=AS_PRINTED,
        labels=(),
        cells=(),
        missing=("Not drawn: the article prints how many cells there are and how many are ties, not the grid; it takes "
                 "the released labels.",),
    )  # fmt: skip


def _null(printed: Printed) -> Picture:
    nulls = []
    counts: tuple[tuple[str, str, str, str, Side], ...] = (
        ("questions that show all three labels", "s5-null-all", "s5-null-all-range", "s5-figure-all", "at least"),
        ("unanimous questions", "s5-null-same", "s5-null-same-range", "s5-figure-same", "at most"),
    )
    for name, mean, ends, observed, side in counts:
        drawn = printed.bar(mean, "", name, interval=ends)
        nulls.append(
            Histogram(name, printed.value(observed), mean=drawn.value, low=drawn.low, high=drawn.high, side=side,
                      printed=drawn.printed, claims=(mean, ends, observed))
        )  # fmt: skip
    for question, claim in (("political balance", "s5-p-balance"), ("stance against assistance", "s5-p-stance")):
        p = printed.bar(claim, "", question)
        nulls.append(
            Histogram(f"countries shuffled: {question}", None, p=p.value, printed=f"p {p.printed}", claims=(claim,))
        )
    return NullPicture(
        title="What chance alone would show",
        says="Dot and bar: mean and central 90% over grids of twelve synthetic countries without culture; the marked "
        "line: the count in the paper's figure.",
        rests_on=AS_PRINTED,
        nulls=tuple(nulls),
        missing=("The article prints no draws: no histogram can be drawn without the released labels.",),
    )
