"""Results stored beside a paper, as pictures: studies/*.json (countback.study/1), fits/*.json (countback.fit/1, as
`countback fit --json` writes it, or countback.fit-summary/1, as `models/fits.py` makes it)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from countback.claims.pictures import (
    SIMULATED,
    STORED,
    SYNTHETIC,
    UNVERIFIED,
    Bar,
    Count,
    Picture,
    Prior,
    Real,
    RestsOn,
    Share,
    SharesPicture,
    Source,
    SpreadsPicture,
    What,
)
from countback.claims.spec import read_text
from countback.fetch.errors import UserError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

STUDY, FIT, SUMMARY = "countback.study/1", "countback.fit/1", "countback.fit-summary/1"
FAILED, CONFOUNDED = "model fit failed", "confounded"


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


S = TypeVar("S", bound=_Stored)


class _Row(_Stored):
    name: str
    value: Real | None = None
    low: Real | None = None
    high: Real | None = None


class _Study(_Stored):
    title: str
    question: str
    answer: tuple[str, ...] | str
    rows: tuple[_Row, ...]
    reading: str
    settings: dict[str, Any] = {}
    seed: int | None = None
    versions: dict[str, str] = {}

    @property
    def simulated(self) -> bool:
        """A study says in its words that its labels are synthetic; whatever has the word is marked."""
        return "synthetic" in f"{self.title} {self.question} {self.reading}".casefold()


class _Span(_Stored):
    median: Share
    low: Share
    high: Share


class _Shares(_Stored):
    population: _Span  # of the latent variance, residual counted: the share that the fit's decision is about


class _OnePrior(_Stored):
    """A fit that failed its gates has no numbers, but a `verdict`."""

    prior: str
    share: _Shares | None = Field(None, alias="country share")
    below: Share | None = Field(None, alias="P(share < 5%)")
    prior_below: Share | None = Field(None, alias="P(share < 5%), prior alone")
    verdict: str = ""


class _Input(_Stored):
    name: str
    labels: Count | None = None


class _Design(_Stored):
    confounded: str = ""


class _Model(_Stored):
    seed: int | None = None
    engine: str = ""


class _Fit(_Stored):
    fits: tuple[_OnePrior, ...]
    input: _Input
    design: _Design = _Design()
    model: _Model = _Model()
    synthetic: bool = False
    unverified: bool = False


class _Gates(_Stored):
    passed: bool


class _SummaryPrior(_Stored):
    prior: str
    median: Share
    low: Share
    high: Share
    below: Share
    prior_below: Share
    gates: _Gates


class _Data(_Stored):
    files: dict[str, str]
    labels: Count
    notes: tuple[str, ...] = ()


class _Summary(_Stored):
    model: str
    engine: str
    data: _Data
    design: str
    priors: tuple[_SummaryPrior, ...]
    threshold: Share
    seed: int | None = None


def stored(folder: Path, paper: str) -> Iterator[Picture]:
    """The stored studies and fits of a paper folder, by file name. Raises UserError for a file that is neither."""
    for path in sorted(folder.glob("studies/*.json")):
        found, source = _read(path, STUDY)
        yield replace(_study(_valid(_Study, found, path), source), paper=paper)
    for path in sorted(folder.glob("fits/*.json")):
        found, source = _read(path, FIT, SUMMARY)
        if found["schema"] == FIT:
            yield replace(_sweep(_valid(_Fit, found, path), source), paper=paper)
        else:
            yield replace(_summary(_valid(_Summary, found, path), source), paper=paper)


def _study(study: _Study, source: Source) -> SpreadsPicture:
    return SpreadsPicture(
        title=study.title,
        says=study.reading,
        rests_on=RestsOn(SIMULATED if study.simulated else STORED, (source,)),
        seed=study.seed,
        bars=tuple(Bar("", row.name, row.value, row.low, row.high) for row in study.rows),
        question=study.question,
        answer=(study.answer,) if isinstance(study.answer, str) else study.answer,
        settings=study.settings,
        versions=study.versions,
    )


def _sweep(fit: _Fit, source: Source) -> SharesPicture:
    what: What = SYNTHETIC if fit.synthetic else UNVERIFIED if fit.unverified else STORED
    told = fit.design.confounded
    return _picture(
        what,
        source,
        fit.input.name,
        labels=fit.input.labels,
        engine=fit.model.engine,
        seed=fit.model.seed,
        priors=tuple(_prior(each, CONFOUNDED if told else "") for each in fit.fits),
        missing=(f"No probability is given: {told}",) if told else (),
    )


def _summary(fit: _Summary, source: Source) -> SharesPicture:
    apart = fit.design in ("crossed", "hybrid")
    told = f"No probability is given: the design is {fit.design}, so what its items differ in is in the share."
    return _picture(
        SYNTHETIC if "synthetic" in " ".join([*fit.data.files, *fit.data.notes]).casefold() else STORED,
        source,
        ", ".join(fit.data.files) or fit.model,
        labels=fit.data.labels,
        engine=fit.engine,
        seed=fit.seed,
        priors=tuple(
            Prior(
                p.prior, p.median, p.low, p.high, p.below if apart else None, p.prior_below, "" if apart else CONFOUNDED
            )
            if p.gates.passed
            else Prior(p.prior, None, None, None, None, p.prior_below, FAILED)
            for p in fit.priors
        ),
        missing=() if apart else (told,),
        threshold=fit.threshold,
    )


def _picture(
    what: What, source: Source, name: str, *, labels: int | None, engine: str, seed: int | None,
    priors: tuple[Prior, ...], missing: tuple[str, ...], threshold: float = 0.05,
) -> SharesPicture:  # fmt: skip
    return SharesPicture(
        title=f"The country's share of label variance: {name}",
        says="Dot and bar: posterior median and 95% interval of the share, one row a prior. Beside them the "
        "probability that the share lies below the threshold, and the same under the prior alone: where the two are "
        "close, the labels said little.",
        rests_on=RestsOn(what, (source,)),
        n=labels,
        interval=f"95% of the posterior, {engine or 'engine not said'}",
        seed=seed,
        priors=priors,
        missing=missing,
        threshold=threshold,
    )


def _prior(fit: _OnePrior, note: str) -> Prior:
    if fit.share is None:
        return Prior(fit.prior, None, None, None, None, fit.prior_below, fit.verdict or FAILED)
    share = fit.share.population
    return Prior(fit.prior, share.median, share.low, share.high, fit.below, fit.prior_below, note)


def _read(path: Path, *schemas: str) -> tuple[dict[str, Any], Source]:
    schema = " or ".join(schemas)
    text = read_text(path)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}; expected schema {schema}") from None
    if not isinstance(found, dict) or found.get("schema") not in schemas:
        seen = found.get("schema", "no schema") if isinstance(found, dict) else type(found).__name__
        raise UserError(f"{path}: expected schema {schema}, found {seen!s:.60}; write the file again, or take it away")
    name = f"{path.parent.name}/{path.name}"
    return found, Source(name, hashlib.sha256(path.read_bytes()).hexdigest(), "stored")


def _valid(model: type[S], found: dict[str, Any], path: Path) -> S:
    try:
        return model.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {place}: {first['msg']}; found {first['input']!r:.80}") from None
