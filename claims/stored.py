"""Results stored beside a paper, as pictures: studies/*.json (countback.study/1) and fits/*.json (countback.fit/1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from countback.claims.pictures import (
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

FIT, STUDY = "countback.fit/1", "countback.study/1"


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
    synthetic: bool = False


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


def stored(folder: Path, paper: str) -> Iterator[Picture]:
    """The stored studies and fits of a paper folder, by file name. Raises UserError for a file that is neither."""
    for path in sorted(folder.glob("studies/*.json")):
        found, source = _read(path, STUDY)
        yield replace(_study(_valid(_Study, found, path), source), paper=paper)
    for path in sorted(folder.glob("fits/*.json")):
        found, source = _read(path, FIT)
        yield replace(_sweep(_valid(_Fit, found, path), source), paper=paper)


def _study(study: _Study, source: Source) -> SpreadsPicture:
    return SpreadsPicture(
        title=study.title,
        says=study.reading,
        rests_on=RestsOn(SYNTHETIC if study.synthetic else STORED, (source,)),
        seed=study.seed,
        bars=tuple(Bar("", row.name, row.value, row.low, row.high) for row in study.rows),
        question=study.question,
        answer=(study.answer,) if isinstance(study.answer, str) else study.answer,
        settings=study.settings,
        versions=study.versions,
    )


def _sweep(fit: _Fit, source: Source) -> SharesPicture:
    what: What = SYNTHETIC if fit.synthetic else UNVERIFIED if fit.unverified else STORED
    return SharesPicture(
        title=f"The country's share of label variance: {fit.input.name}",
        says="Dot and bar: posterior median and 95% interval of the share, one row a prior. Beside them the "
        "probability that the share lies below the threshold, and the same under the prior alone: where the two are "
        "close, the labels said little.",
        rests_on=RestsOn(what, (source,)),
        n=fit.input.labels,
        interval=f"95% of the posterior, {fit.model.engine or 'engine not said'}",
        seed=fit.model.seed,
        priors=tuple(_prior(each) for each in fit.fits),
        missing=(f"No probability is given: {fit.design.confounded}",) if fit.design.confounded else (),
    )


def _prior(fit: _OnePrior) -> Prior:
    if fit.share is None:
        return Prior(fit.prior, None, None, None, None, fit.prior_below, fit.verdict or "no numbers")
    share = fit.share.population
    return Prior(fit.prior, share.median, share.low, share.high, fit.below, fit.prior_below)


def _read(path: Path, schema: str) -> tuple[dict[str, Any], Source]:
    text = read_text(path)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}; expected schema {schema}") from None
    if not isinstance(found, dict) or found.get("schema") != schema:
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
