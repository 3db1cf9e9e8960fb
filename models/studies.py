"""Simulation studies: one task for many seeds, in parallel, with results kept as they come.

A study that was stopped, killed too, goes on where it was: results lie in one JSON file a chunk, written beside and
then moved into place, so that a file is whole or is not there. Any task depends on its seed alone, hence results
depend neither on `jobs` nor on `chunk`, and both may change between runs.

With joblib's own workers:

    run_study(partial(recover, design=design), range(300), "studies/recover", jobs=4)

On a Dask cluster, whose workers need countback installed and no shared disk; only this process writes:

    import joblib
    from distributed import Client

    with Client("tcp://scheduler:8786"), joblib.parallel_config(backend="dask"):
        run_study(partial(recover, design=design), range(300), "studies/recover")
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from countback.fetch.errors import UserError
from filelock import FileLock, Timeout

SCHEMA = "countback.chunk/1"
Row = dict[str, Any]
Task = Callable[[int], Row]


def run_study(
    task: Task, seeds: Sequence[int], folder: str | Path, *, jobs: int = 1, chunk: int = 10, name: str = ""
) -> list[Row]:
    """`task(seed)` for each of `seeds`, in their order; what `folder` holds of them already is not done again.

    `task` is a function of a module, or a `functools.partial` of one, that returns a dict of what JSON can hold. NumPy
    numbers and arrays become plain ones. `jobs` processes are joblib's (-1: a process a processor); inside
    `joblib.parallel_config` they are that backend's instead. `name` goes into error messages. Raises UserError where
    the folder holds another study (another function, source or settings; seeds may differ) or another run writes to it.
    """
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise UserError("a study needs joblib, which is not installed: pip install 'countback[models]'") from None

    if len(set(seeds)) < len(seeds):
        raise ValueError("found a seed twice; expected each once, or two tasks would be one")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    study = fingerprint(task)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError(f"{folder}: another run writes here; wait for it to end, or choose another folder") from None
    try:
        done = _read(folder, study, name or folder.name)
        left = [seed for seed in map(int, seeds) if seed not in done]
        chunks = [left[start : start + chunk] for start in range(0, len(left), chunk)]
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for rows in workers(delayed(_run)(task, part) for part in chunks):
            _write(folder, study, rows)
            done |= dict(rows)
    finally:
        lock.release()
    return [done[int(seed)] for seed in seeds]


def write_study(
    task: Task, seeds: Sequence[int], stored: Callable[[list[Row]], Row], module: str, arguments: Sequence[str] | None
) -> None:
    """The command `python -m MODULE OUT.json --folder DIR`: a study, and what is `stored` of its rows, as JSON."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=task.__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where finished chunks are kept")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    rows = run_study(task, seeds, given.folder, jobs=given.jobs, name=module.rpartition(".")[2])
    given.out.write_text(json.dumps(stored(rows), indent=1) + "\n", encoding="utf-8")


def fingerprint(task: Task) -> str:
    """What a task is, as 16 hexadecimal digits: its name, its source, and the arguments bound to it."""
    from joblib import hash as hash_of

    function, args, keywords = (task.func, task.args, task.keywords) if isinstance(task, partial) else (task, (), {})
    told = [function.__qualname__, inspect.getsource(function), hash_of((args, keywords))]
    return hashlib.sha256("\n".join(map(str, told)).encode()).hexdigest()[:16]


def _run(task: Task, seeds: Sequence[int]) -> list[tuple[int, Row]]:
    """The rows of a chunk as they come back from JSON, so that a row is the same whether it was read or computed."""
    return [(seed, json.loads(json.dumps(task(seed), default=_plain))) for seed in seeds]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"found a {type(value).__name__} in a task's result; expected what JSON can hold")


def _write(folder: Path, study: str, rows: list[tuple[int, Row]]) -> None:
    path = folder / f"seed-{rows[0][0]}.json"
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump({"schema": SCHEMA, "study": study, "rows": rows}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def _read(folder: Path, study: str, name: str) -> dict[int, Row]:
    done: dict[int, Row] = {}
    for path in sorted(folder.glob("seed-*.json")):
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue  # cut off by a failing disk: its seeds are done again
        if not isinstance(held, dict) or held.get("schema") != SCHEMA or held.get("study") != study:
            found = held.get("study") if isinstance(held, dict) else None
            raise UserError(
                f'{path}: holds results of another study ({found}) than "{name}" ({study}): its function or its '
                "settings are others; choose another folder, or remove this one"
            )
        done |= {int(seed): row for seed, row in held["rows"]}
    return done
