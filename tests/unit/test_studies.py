"""Studies: the same rows however they are run, nothing done twice, nobody else's files."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from countback.fetch.errors import UserError
from countback.models.studies import fingerprint, run_study
from filelock import FileLock
from studies_tasks import draw, failing, slow, wrong


def test_rows_come_in_the_order_of_the_seeds_as_plain_numbers(tmp_path):
    rows = run_study(draw, [5, 3, 4], tmp_path / "a" / "b", chunk=2)
    expected = [np.random.default_rng(seed) for seed in (5, 3, 4)]
    assert [row["mean"] for row in rows] == [rng.normal(0, 1, 100).mean() for rng in expected]
    assert rows[0]["three"] == expected[0].random(3).tolist()


def test_chunks_and_processes_change_nothing(tmp_path):
    one = run_study(draw, range(12), tmp_path / "one")
    for number, settings in enumerate(({"chunk": 1}, {"chunk": 5}, {"chunk": 2, "jobs": 2})):
        assert run_study(draw, range(12), tmp_path / str(number), **settings) == one
    assert len(list((tmp_path / "1").glob("seed-*.json"))) == 3


def test_what_is_done_is_not_done_again_and_chunks_and_seeds_may_change(tmp_path):
    log, folder = tmp_path / "log", tmp_path / "study"
    task = partial(draw, log=str(log))
    first = run_study(task, range(7), folder, chunk=3)
    assert run_study(task, range(7), folder, chunk=5) == first
    assert len(log.read_text().split()) == 7
    more = run_study(task, [11, *range(9)], folder, chunk=2)
    assert more[1:8] == first
    assert sorted(map(int, log.read_text().split())) == [*range(9), 11]


def test_a_file_that_was_cut_off_is_done_again(tmp_path):
    log = tmp_path / "log"
    task = partial(draw, log=str(log))
    first = run_study(task, range(6), tmp_path / "s", chunk=2)
    cut = tmp_path / "s" / "seed-2.json"
    cut.write_text(cut.read_text()[:-20])
    (tmp_path / "s" / "seed-4.part").write_text("{")
    assert run_study(task, range(6), tmp_path / "s", chunk=2) == first
    assert log.read_text().split() == ["0", "1", "2", "3", "4", "5", "2", "3"]
    assert json.loads(cut.read_text())["rows"][1][0] == 3


def test_another_study_is_refused_in_a_sentence(tmp_path):
    run_study(partial(draw, scale=2.0), [1], tmp_path)
    for other in (draw, partial(draw, scale=3.0), slow, partial(draw, 2.0)):
        with pytest.raises(UserError, match=r'another study .* than "mine" .*choose another folder'):
            run_study(other, [1], tmp_path, name="mine")
    (tmp_path / "seed-5.json").write_text("[]")
    with pytest.raises(UserError, match="another study"):
        run_study(partial(draw, scale=2.0), [1], tmp_path)


def test_a_fingerprint_tells_functions_and_settings_apart_and_nothing_else():
    grid = np.arange(2000.0)
    other = grid.copy()
    assert fingerprint(partial(draw, grid)) == fingerprint(partial(draw, other))
    other[1000] += 1e-9  # in the middle, which a repr leaves out
    assert fingerprint(partial(draw, grid)) != fingerprint(partial(draw, other))
    assert fingerprint(draw) != fingerprint(slow)


def test_a_failing_task_says_so_and_keeps_the_chunks_before_it(tmp_path):
    with pytest.raises(ArithmeticError, match="seed 7"):
        run_study(failing, range(10), tmp_path, chunk=2)
    assert sorted(path.name for path in tmp_path.glob("seed-*.json")) == ["seed-0.json", "seed-2.json", "seed-4.json"]
    assert run_study(failing, range(7), tmp_path) == [{"seed": seed} for seed in range(7)]


def test_what_json_cannot_hold_and_seeds_that_stand_twice_are_refused(tmp_path):
    with pytest.raises(TypeError, match="found a set"):
        run_study(wrong, [1], tmp_path)
    with pytest.raises(ValueError, match="a seed twice"):
        run_study(draw, [1, 2, 1], tmp_path)


def test_two_runs_of_one_folder_are_one_too_many(tmp_path):
    with FileLock(tmp_path / "lock"), pytest.raises(UserError, match="another run writes here"):
        run_study(draw, [1], tmp_path)
    assert len(run_study(draw, [1], tmp_path)) == 1


def test_a_task_that_fails_in_another_process_says_so_too(tmp_path):
    with pytest.raises(ArithmeticError, match="seed 7"):
        run_study(failing, range(20), tmp_path, chunk=2, jobs=2)
    assert not list(tmp_path.glob("*.part"))
    assert run_study(failing, range(6), tmp_path, jobs=2) == [{"seed": seed} for seed in range(6)]
