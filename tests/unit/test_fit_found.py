"""What a fit comes to: shares, decisions, fences, failures, from posteriors whose numbers are known by arithmetic."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import click
import numpy as np
import pytest
from countback.audit.fit import options as fit_options
from countback.audit.fit import run, text
from countback.audit.fit import words as w
from countback.audit.fit.drawing import drawings
from countback.audit.fit.options import Options, choose, parse_prior, priors
from countback.audit.fit.run import fit_labels
from countback.audit.fit.source import File, Judge, Labels
from countback.audit.fit.tree import Found, as_json
from countback.fetch.errors import UserError
from countback.models import sampling
from countback.models.ordinal import R2D2, SWEEP, HalfNormal
from fit_data import Engine, grid


def found(monkeypatch: pytest.MonkeyPatch, engine: Engine, table: Labels | None = None, **options) -> Found:
    monkeypatch.setattr(run, "_posteriors", engine)
    return fit_labels(table or grid(), Options(engine="nuts", **options))


def present(result: Found) -> str:
    return click.unstyle(text.present(result))


def words(result: Found) -> str:
    return " ".join(present(result).split())


# Of variances in units of the residual's, 1/9 of it is a share of (1/9) / (1/9 + 1) = 1/10, and 1/99 one of 1/100.
TENTH, HUNDREDTH = 1 / 9, 1 / 99


def test_share_of_a_country_is_its_variance_over_all(monkeypatch):
    result = found(monkeypatch, Engine([TENTH] * 5))
    main = as_json(result)["fits"][0]
    assert main["country share"]["population"] == pytest.approx({"median": 0.1, "low": 0.1, "high": 0.1})
    assert main["country share"]["finite"]["median"] == pytest.approx(0.1)  # the effects' own variance is the same
    assert main["country share"]["population_effects"]["median"] == pytest.approx(1.0)  # no other effect varies
    assert main["parts"]["residual"]["share"]["median"] == pytest.approx(0.9)
    assert main["P(share < 5%)"] == 0.0
    assert "10.0% [10.0%, 10.0%]" in present(result)


def test_other_effects_enter_the_denominator(monkeypatch):
    # (1/4) / (4/4 + 1) = 1/8 each, the residual 1/2, and a quarter of what the effects have
    main = as_json(found(monkeypatch, Engine([0.25], other=0.25)))["fits"][0]
    shares = {name: part["share"]["median"] for name, part in main["parts"].items()}
    effects = dict.fromkeys(["country", "item", "annotator", "item:country"], 1 / 8)
    assert shares == pytest.approx(effects | {"residual": 1 / 2})
    assert main["country share"]["population_effects"]["median"] == pytest.approx(1 / 4)


@pytest.mark.parametrize(
    ("country", "decision", "says"),
    [
        (([HUNDREDTH] * 100,), "below", "BELOW 5%"),
        (([TENTH] * 100,), "above", "ABOVE 5%"),
        (([HUNDREDTH] * 100, [TENTH] * 100), "undetermined", "UNDETERMINED"),
        (([HUNDREDTH] * 94 + [TENTH] * 6,), "undetermined", "UNDETERMINED"),  # 0.94 is not sure
        (([HUNDREDTH] * 95 + [TENTH] * 5,), "below", "BELOW 5%"),
    ],
)
def test_decision_needs_every_prior(monkeypatch, country, decision, says):
    result = found(monkeypatch, Engine(*country))
    assert result.decision == decision
    assert says in present(result)
    assert result.exit_code == 0


def test_every_probability_has_the_priors_own_beside_it(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 80 + [TENTH] * 20))
    rng = np.random.default_rng(1)
    lines = present(result).splitlines()
    for fit in result.fits:
        variance = fit.posterior.prior.draw(len(result.data.names), 400_000, rng) ** 2
        alone = float((variance[:, 0] / (variance.sum(1) + np.pi**2 / 3) < 0.05).mean())
        assert fit.answer.prior_below == pytest.approx(alone, abs=0.005)
        row = next(line for line in lines if str(fit.posterior.prior) in line and "0.80" in line).split()
        assert float(row[-1]) == pytest.approx(alone, abs=0.011)


def test_numbers_carry_their_monte_carlo_error(monkeypatch):
    # 0.8 from 900 effective draws, the least that the gates know of: sqrt(0.8 x 0.2 / 900) = 0.0133
    result = found(monkeypatch, Engine([HUNDREDTH] * 800 + [TENTH] * 200))
    assert result.main.posterior.gates.ess_tail == 900
    error = as_json(result)["fits"][0]["Monte Carlo error"]
    assert error["P(share < 5%)"] == pytest.approx(0.0133, abs=0.0002)
    assert "Monte Carlo error of P at most 0.013" in present(result)
    # the median lies among 80% of draws that are all alike
    assert error["population"]["median"] == 0.0
    # an end's rank is 0.975 +- sqrt(0.975 x 0.025 / 900) = 0.0052, all among draws of 0.1
    assert "of a share 0.0 points" in words(result)


def test_one_prior_alone_decides_nothing(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 10), priors=priors(HalfNormal(1), sweep=False))
    assert result.decision == ""
    assert as_json(result)["decision"] is None
    assert "NO DECISION" in present(result)
    assert "BELOW" not in present(result)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.949, "0.9490"),
        (0.95, "0.95"),
        (0.944, "0.94"),
        (0.05, "0.05"),
        (0.051, "0.0510"),
        (0.004, "<0.01"),
        (1.0, ">0.99"),
    ],
)
def test_rounding_does_not_cross_what_a_decision_needs(value, said):
    assert w.probability(value) == said


def test_nested_items_give_no_share_and_no_decision(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 10), grid(shared=False))
    said, tree = present(result), as_json(result)
    assert result.exit_code == 3
    assert result.decision == ""
    assert said.index("CONFOUNDED") < said.index("WHETHER THE FIT WORKED")
    for word in ("COUNTRY'S SHARE OF", "P(share", "BELOW", "UNDETERMINED", "cubes/p2", "COUNTRIES"):
        assert word not in said, word
    assert "country (confounded)" in said
    assert "what its items hold is in it as much as the country" in words(result)
    assert "annotator, within a country" in said
    assert tree["decision"] is None
    assert tree["rule of cubes/p2"] == {}
    assert tree["design"]["confounded"]
    for fit in tree["fits"]:
        assert fit["country share"]["confounded"] is True
        assert fit["P(share < 5%)"] is None
    assert [drawing.name for drawing in drawings(result)] == ["parts", "ranks"]
    assert "no analysis of these labels can tell" in drawings(result)[0].description
    assert w.conclusion(result)[0] == "THE COUNTRY'S SHARE IS CONFOUNDED"
    assert result.fence in w.conclusion(result)[1]


def test_one_annotator_a_country_is_fenced_too(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH]), grid(people=1))
    assert result.exit_code == 3
    assert "one annotator" in result.fence
    assert "its one annotator is in it as much as the country" in words(result)


def test_failed_main_fit_shows_no_number(monkeypatch):
    result = found(monkeypatch, Engine([TENTH] * 9, failed=range(5)))
    said, tree = present(result), as_json(result)
    assert result.exit_code == 3
    assert "unchecked: model fit failed" in said
    assert "--draws 2000" in said
    assert "r-hat 1.32 is above 1.01" in said
    assert "10.0%" not in said
    assert "PARTS OF THE VARIANCE" not in said
    assert all("country share" not in fit and fit["verdict"] == "unchecked: model fit failed" for fit in tree["fits"])
    assert tree["decision"] == "unchecked: model fit failed"
    assert [drawing.name for drawing in drawings(result)] == ["ranks"]
    assert "FAILED" in drawings(result)[0].description


def test_an_approximation_that_failed_is_not_tried_with_more_draws(monkeypatch):
    """Its points, which are too few, are not its draws: however many draws are asked for, the points are the same."""
    result = replace(found(monkeypatch, Engine([TENTH] * 9, failed=[0])), engine="approximate")
    assert "--draws" not in w.failures(result)[-1]
    assert "Try, in this order: --engine nuts; another seed (--seed)" in w.failures(result)[-1]


def test_failure_in_the_sweep_takes_the_decision_and_leaves_the_rest(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 9, failed=[3]))
    said = present(result)
    assert result.exit_code == 3
    assert result.decision == "unchecked: model fit failed"
    assert "1.0% [1.0%, 1.0%]" in said
    assert "BELOW 5%" not in said
    assert str(SWEEP[3]) in said
    names = {name for name in result.rule if name != "moments"}
    assert names == {str(prior) for prior in SWEEP} - {str(SWEEP[3])}


def test_rule_of_the_registered_prediction(monkeypatch):
    # the interval of 0.01 to 0.01 lies below 5%: broken; of 0.1 to 0.1 above: confirmed
    result = found(monkeypatch, Engine([HUNDREDTH] * 9, [TENTH] * 9, [HUNDREDTH, TENTH] * 9))
    main, second, third = (result.rule[str(prior)] for prior in SWEEP[:3])
    assert (main, second, third) == ("broken", "confirmed", "neither")


def test_synthetic_and_approximate_are_said_wherever_numbers_are(monkeypatch):
    table = replace(grid(), synthetic=True)
    monkeypatch.setattr(run, "_posteriors", Engine([HUNDREDTH] * 9))
    result = fit_labels(table, Options(engine="approximate"))
    said = present(result)
    assert said.startswith("SYNTHETIC")
    for title in (
        "WHETHER THE FIT WORKED",
        "COUNTRY'S SHARE OF THE VARIANCE",
        "PARTS OF THE VARIANCE",
        "COUNTRIES",
    ):
        assert f"{title} (SYNTHETIC, approximate)" in said
    assert as_json(result)["synthetic"] is True
    assert as_json(result)["model"]["approximate"] is True
    made = drawings(result)
    assert len(made) == 4
    assert all("(SYNTHETIC, approximate)" in drawing.title for drawing in made)


def test_unverified_release_is_said(monkeypatch):
    table = replace(grid(), files=(File("paper/a.zip", "cd" * 32, "unverified"),))
    result = found(monkeypatch, Engine([TENTH]), table)
    assert present(result).startswith("UNVERIFIED")
    assert as_json(result)["unverified"] is True


def test_json_is_plain_and_repeats_itself(monkeypatch):
    one, two = (found(monkeypatch, Engine([HUNDREDTH] * 80 + [TENTH] * 20)) for _ in range(2))
    text = json.dumps(as_json(one), allow_nan=False)
    assert text == json.dumps(as_json(two), allow_nan=False)
    tree = json.loads(text)
    assert tree["schema"] == "countback.fit/1"
    assert tree["input"]["files"] == [{"name": "made-up.csv", "sha256": "ab" * 32, "status": "given"}]
    assert tree["input"]["labels"] == 12 * 9
    assert tree["input"]["dropped"] == {"blank": 4}
    assert tree["model"]["seed"] == 20261129
    assert {"countback", "numpy", "scipy"} <= set(tree["kit"])
    assert [fit["prior"] for fit in tree["fits"]] == [str(prior) for prior in SWEEP]


def test_drawings_are_whole_and_say_in_words_what_they_show(monkeypatch):
    names = ("country 0", 'a "quoted" & <odd> name', "with \x1b[31m colour")
    table = replace(grid(), countries=names)
    result = found(monkeypatch, Engine([HUNDREDTH] * 80 + [TENTH] * 20), table)
    again = found(monkeypatch, Engine([HUNDREDTH] * 80 + [TENTH] * 20), table)
    made = drawings(result)
    assert [drawing.svg for drawing in made] == [drawing.svg for drawing in drawings(again)]
    assert [drawing.name for drawing in made] == ["parts", "countries", "sweep", "below", "ranks"]
    for drawing in made:
        root = ElementTree.fromstring(drawing.svg)
        title, description = root[0], root[1]
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text == drawing.title
        assert next(node for node in root if node.tag.endswith("}text")).text == drawing.title  # and for all to see
        assert description.text == drawing.description
    assert "\x1b[31m" not in text.present(result) + "".join(drawing.svg for drawing in made)
    assert "0.80, the prior alone" in made[3].description
    assert 'a "quoted" & <odd> name' in made[1].description


def test_dots_stand_where_their_numbers_are(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 80 + [TENTH] * 20))
    below = next(drawing for drawing in drawings(result) if drawing.name == "below")
    root = ElementTree.fromstring(below.svg)
    dots = [node for node in root.iter() if node.tag.endswith("circle") and node.get("class") == "mark"]
    # 0.8 of the way from 250 to 700
    assert [float(dot.get("cx")) for dot in dots] == pytest.approx([250 + 0.8 * 450] * 5, abs=0.1)


@pytest.mark.parametrize(
    ("apart", "says"), [(0, "fullest has 10, the emptiest 10"), (100, "fullest has 20, the emptiest 0")]
)
def test_ranks_show_a_chain_that_found_something_else(monkeypatch, apart, says):
    """Two chains of 1 .. 100: alike, a tenth of each in each tenth of all; one above the other, all within five."""

    class Chains(Engine):
        def __call__(self, *asked):
            sd = np.tile(np.arange(1.0, 101.0), 2) + 0.1 * (np.arange(200) >= 100) + apart * (np.arange(200) >= 100)
            return [replace(one, sd=np.tile(sd[:, None], len(one.names))) for one in super().__call__(*asked)]

    drawn = drawings(found(monkeypatch, Chains([1.0] * 100), chains=2))[-1]
    assert drawn.name == "ranks"
    assert f"10 would be even. The {says}" in drawn.description


def test_doing_without_annotators_is_warned_of(monkeypatch):
    result = found(monkeypatch, Engine([HUNDREDTH] * 5), leave_out=("annotator",))
    assert "annotator" not in result.data.names
    assert "too large and its interval too narrow" in words(result)
    assert as_json(result)["model"]["left out as asked"] == ["annotator"]


def test_questions_are_effects_and_said_to_be(monkeypatch):
    engine = Engine([HUNDREDTH] * 5)
    result = found(monkeypatch, engine, grid(questions=2))
    assert "question" in engine.asked[0][1].names
    assert "2 questions in one model" in words(result)
    assert isinstance(result.moments, str)
    assert "--question" in result.moments


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("R2D2", R2D2()), ("r2d2(2, 2; 1)", R2D2()), ("R2D2(1,3)", R2D2(1, 3)), ("HalfNormal(0.5)", HalfNormal(0.5)),
        *((str(prior), prior) for prior in SWEEP),
    ],
)  # fmt: skip
def test_priors_are_read_as_they_are_printed(text, prior):
    assert parse_prior(text) == prior


@pytest.mark.parametrize(
    "text", ["", "Normal(1)", "HalfNormal", "HalfNormal(0)", "HalfNormal(nan)", "R2D2(1)", "R2D2(a,b)"]
)
def test_priors_that_are_none(text):
    with pytest.raises(UserError, match="not understood; expected one such as R2D2"):
        parse_prior(text)


def test_the_main_prior_comes_first_and_is_fitted_once():
    assert priors(HalfNormal(1), sweep=True) == (HalfNormal(1), *(p for p in SWEEP if p != HalfNormal(1)))
    assert priors(HalfNormal(3), sweep=True) == (HalfNormal(3), *SWEEP)
    assert priors(None, sweep=False) == (R2D2(),)


def test_engine_is_chosen_by_what_is_installed(monkeypatch):
    assert choose("approximate")[0] == "approximate"
    monkeypatch.setattr(fit_options, "available", lambda sampler: sampler)
    assert choose(None) == ("nuts", "installed")
    monkeypatch.setattr("countback.models.sampling.find_spec", lambda name: None)
    monkeypatch.setattr(fit_options, "available", sampling.available)
    engine, why = choose(None)
    assert engine == "approximate"
    assert "pip install 'countback[models]'" in why
    with pytest.raises(UserError, match=r"--engine nuts: .*pip install 'countback\[models\]'.*--engine approximate"):
        choose("nuts")


def test_items_are_drawn_whole_and_in_proportion():
    made = grid(items=12, shared=False)  # each of 3 countries has 12 items of its own, of 3 labels each
    some = made.of_some_items(9, np.random.default_rng(4))
    assert [len(np.unique(some.item[some.country == c])) for c in range(3)] == [3, 3, 3]
    assert len(some.label) == 9 * 3
    assert some.dropped["item not drawn (9 of 36 were, at random)"] == 27 * 3
    for item in np.unique(some.item):
        assert (some.item == item).sum() == (made.item == item).sum()
        assert (some.label[some.item == item] == made.label[made.item == item]).all()

    assert made.of_some_items(36, np.random.default_rng(4)) is made
    drawn = np.concatenate([made.of_some_items(9, np.random.default_rng(seed)).item[::3] for seed in range(400)])
    share = np.bincount(drawn, minlength=36) / 400  # each item in a quarter of the draws
    assert abs(share - 0.25).max() < 5 * (0.25 * 0.75 / 400) ** 0.5


def test_undetermined_by_some_of_the_labels_says_that_there_are_more(monkeypatch):
    """36 items of 3 countries with 3 people each are 324 labels, 9 of the items 81."""
    head, why = w.verdict(found(monkeypatch, Engine([TENTH] * 9, [HUNDREDTH] * 9), grid(items=36), items=9))
    assert head == "UNDETERMINED"
    assert why.endswith("Only 81 of 324 labels are in it; --items 0 takes all, in more time.")


def test_large_tables_are_fitted_on_some_items_unless_all_are_asked_for(monkeypatch):
    monkeypatch.setattr(run, "MOST_LABELS", 100)
    monkeypatch.setattr(run, "DRAWN_LABELS", 45)
    made = grid(items=12)  # 108 labels, 9 an item
    assert len(run._drawn(made, Options()).label) == 45
    assert run._drawn(made, Options(items=0)) is made
    assert len(run._drawn(made, Options(items=7)).label) == 63
    assert run._drawn(grid(items=11), Options()).label.size == 99
    found = fit_labels(made, Options(engine="approximate", priors=(R2D2(),), draws=100))
    assert found.data.weight.sum() == 45
    assert not isinstance(found.moments, str)
    assert found.moments.labels == 108
    with pytest.raises(UserError, match=r"all 9 labels .* \(--items 1 left out the rest; give a larger number"):
        fit_labels(made, Options(items=1, engine="approximate"))


def hybrid() -> Labels:
    """12 items that all of 3 countries labelled, and one more of each country; 3 people a country label all of them."""
    made = grid(items=15)
    return made.of_units((made.unit_item < 12) | (made.unit_item - 12 == made.unit_country), "not asked")


def test_items_of_one_country_are_left_out_beside_shared_ones_and_counted(monkeypatch):
    engine = Engine([HUNDREDTH] * 5)
    result = found(monkeypatch, engine, hybrid())
    data = engine.asked[0][1]
    assert result.design.kind == "hybrid"
    assert int(data.weight.sum()) == 12 * 9
    assert data.effect("item").levels == 12
    assert as_json(result)["input"]["dropped"]["item of one country only"] == 9
    assert "They are left out (9 labels); --own-items keeps them." in words(result)
    kept = found(monkeypatch, engine, hybrid(), own_items=True)
    assert int(kept.data.weight.sum()) == 12 * 9 + 9
    assert "They are in it all the same" in words(kept)


def test_units_stay_what_they_were_when_some_are_left_out():
    whole = replace(grid(), judges=(Judge("j", np.arange(36) % 3),))
    part = whole.of_units(np.arange(36) % 5 > 0, "a reason")
    assert part.dropped == {"blank": 4, "a reason": 8 * 3}
    for name in ("item", "country", "question"):
        assert (getattr(part, f"unit_{name}")[part.unit] == getattr(part, name)).all()
    before = {(i, c, a): y for i, c, a, y in zip(whole.item, whole.country, whole.annotator, whole.label, strict=True)}
    after = {(i, c, a): y for i, c, a, y in zip(part.item, part.country, part.annotator, part.label, strict=True)}
    assert after.items() <= before.items()
    assert len(after) == 28 * 3
    answer = dict(zip(zip(whole.unit_item, whole.unit_country, strict=True), whole.judges[0].answers, strict=True))
    kept = zip(part.unit_item, part.unit_country, part.judges[0].answers, strict=True)
    assert all(answer[i, c] == y for i, c, y in kept)
