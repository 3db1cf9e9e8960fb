"""What cannot be fitted is said in a sentence; what can only be fitted in part says what was left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.hierarchical import fit_human
from countback.models.ordinal import R2D2, HalfNormal, ordinal_data

RNG = np.random.default_rng(3)
COUNTRY = np.repeat([0, 1], 30)
ITEM = np.tile(np.arange(10), 6)
ANNOTATOR = np.tile(np.repeat([0, 1, 2], 10), 2)
LABEL = RNG.integers(0, 3, 60)
SHORT: dict[str, Any] = {"seed": 1, "draws": 100, "tune": 200, "chains": 2, "cores": 1}


def fit(label: Any, item: Any, country: Any, annotator: Any, **how: Any) -> Any:
    data = ordinal_data(label, item, country, annotator, categories=3, countries=["X", "Y"])
    return data, fit_human(data, R2D2(), **(SHORT | how))


@pytest.mark.parametrize(
    ("label", "country", "said"),
    [
        (LABEL, np.zeros(60, int), "found labels of 1 country; expected two or more"),
        (np.ones(60, int), COUNTRY, "found no variation: all 60 labels are the same"),
        (np.where(np.arange(60) % 20 == 0, LABEL, -1), COUNTRY, "found 3 valid labels from 2 countries"),
        (np.full(60, -1), COUNTRY, "found labels of 0 countries"),
    ],
    ids=["one country", "no variation", "three labels", "no label"],
)
def test_a_sentence_and_no_fit(label: Any, country: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        fit(label, ITEM, country, ANNOTATOR)


def test_an_item_for_each_label_leaves_the_item_out() -> None:
    pytest.importorskip("nutpie")
    data, found = fit(LABEL, np.arange(60), COUNTRY, ANNOTATOR)
    assert found.names == ("country", "annotator")
    assert "item: each label has a level of its own, which is the residual; left out" in data.notes


def test_the_country_alone() -> None:
    """One item, one annotator each label: a single effect, so R2D2 splits nothing."""
    pytest.importorskip("nutpie")
    data, found = fit(LABEL, np.zeros(60, int), COUNTRY, np.arange(60))
    assert found.names == ("country",)
    assert len(data.notes) == 3
    assert np.isfinite(found.sd).all()


def test_a_sampler_that_is_none() -> None:
    with pytest.raises(UserError, match="expected nutpie or pymc"):
        fit(LABEL, ITEM, COUNTRY, ANNOTATOR, sampler="stan")


def test_labels_that_tell_almost_everything() -> None:
    """X gives only the lowest label and Y only the highest: no division by zero, a finite country effect apart."""
    pytest.importorskip("nutpie")
    data = ordinal_data(2 * COUNTRY, ITEM, COUNTRY, ANNOTATOR, categories=3, countries=["X", "Y"])
    found = fit_human(data, HalfNormal(1), **SHORT)
    assert np.isfinite(found.country).all()
    assert found.country[:, 1].mean() - found.country[:, 0].mean() > 1
