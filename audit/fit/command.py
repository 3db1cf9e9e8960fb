"""The command `countback fit`: reads options, calls `countback.audit.fit`, chooses the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from countback.audit.fit.files import refuse_others, write_folder
from countback.audit.fit.options import APPROXIMATE, NUTS, Options, parse_prior, priors
from countback.audit.fit.run import fit_labels
from countback.audit.fit.source import read_labels
from countback.audit.fit.text import present
from countback.audit.fit.tree import as_json
from countback.audit.sources import Sources
from countback.fetch.errors import UserError

FILE = click.Path(exists=True, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
SPARE = ("country:question", "annotator", "item:country")
READING = ("reader", "columns", "judge_columns", "codebook", "choices")


@click.command(
    epilog="Example: countback fit labels.csv --question Toxicity --out fit; countback fit cubes --data DIR --engine "
    "approximate"
)
@click.argument("target", metavar="PAPER|LABELS")
@click.option("--model", type=click.Choice(["human", "joint"]), default="human", show_default=True,
              help="Humans; or humans, and after that humans and judges together.")  # fmt: skip
@click.option("--engine", type=click.Choice([NUTS, APPROXIMATE]), help="How; else nuts where installed.")
@click.option(
    "--prior", metavar="PRIOR", help="That numbers are given for: R2D2(2, 2; 1) (default), HalfNormal(0.5) ..."
)
@click.option("--sweep/--no-sweep", default=True, show_default=True, help="Fit under five priors; a decision needs it.")
@click.option("--question", "questions", multiple=True, metavar="NAME", help="Only this question; may be repeated.")
@click.option("--leave-out", multiple=True, type=click.Choice(SPARE), help="An effect to do without.")
@click.option("--own-items", is_flag=True, help="Keep items of one country only, where others are shared.")
@click.option("--items", type=click.IntRange(0), metavar="N",
              help="Fit N whole items drawn at random; 0: all. Else all up to 20,000 labels, and about 5,000 labels of "
              "more.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=20261129, show_default=True, help="Of every random step.")
@click.option(
    "--draws", type=click.IntRange(100, 100_000), help="Of each chain (else 1000); approximate: in all (4000)."
)
@click.option("--chains", type=click.IntRange(2, 64), default=4, show_default=True, help="Of the sampler.")
@click.option("--jobs", type=click.IntRange(1), help="Chains that run at a time; else as many as there are processors.")
@click.option("--judges", type=FILE, metavar="FILE", help="Labels by models.")
@click.option("--reader", metavar="NAME", help="How to read LABELS (long, wide, label-studio ...).")
@click.option("--config", type=OUTPUT, metavar="FILE", help="Settings in TOML; where there is no FILE, a draft of it.")
@click.option("--columns", multiple=True, metavar="ROLE=COLUMN,...", help="Which column of LABELS is what.")
@click.option("--judge-columns", multiple=True, metavar="ROLE=COLUMN,...", help="The same for the judges' file.")
@click.option("--labels", "codebook", metavar="LOW,...,HIGH", help="The labels in order.")
@click.option("--set", "choices", multiple=True, metavar="KEY=VALUE", help="Any other setting, as in duplicates=last.")
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
              help="A folder with the paper's released files, whatever their names.")  # fmt: skip
@click.option("--unverified", is_flag=True, help="Fit a file that has a pin's name but not its bytes.")
@click.option("--offline", is_flag=True, help="Touch no network; use what --data and the cache hold.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Write fit.json, pictures and a page into this folder.")  # fmt: skip
@click.option("--json", "json_file", metavar="FILE", help="Write everything as JSON; - prints it and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the files and the exit code answer.")
def fit(target: str, **options: Any) -> None:
    """Fit a model of ordered labels: how much of their variance is countries', and can these labels say so at all?

    The design is looked at first, and where countries cannot be told from their items no share is decided on. A fit
    that fails its checks gives no number. Exit 0 done, 2 something has to be said or mended first, 3 the question has
    no answer: no data, a design that confounds it, or a fit that failed.
    """
    click.get_current_context().exit(run(target, **options))


def run(target: str, *, json_file: str | None, out: Path | None, quiet: bool, **options: Any) -> int:
    """The exit code. Raises UserError."""
    from countback.audit.files import as_text, write_json

    telling = sys.stderr.isatty() and not quiet
    tell: Callable[[str], None] = (lambda line: click.echo(line, err=True)) if telling else lambda line: None
    _writable(json_file, out)
    main = None if options["prior"] is None else parse_prior(options["prior"])
    data, unverified = options["data"], options["unverified"]
    if unverified and data is None:
        raise UserError("--unverified needs --data DIR: it says which files to fit although no pin proves them")
    sources = Sources(data, options["offline"], unverified, tell=tell, quiet=quiet)
    reading = {name: options[name] for name in READING}
    labels = read_labels(target, options["judges"], options["questions"], sources, options["config"], **reading)
    chosen = Options(
        engine=options["engine"],
        priors=priors(main, sweep=options["sweep"]),
        leave_out=options["leave_out"],
        own_items=options["own_items"],
        items=options["items"],
        seed=options["seed"],
        draws=options["draws"],
        chains=options["chains"],
        jobs=options["jobs"],
        progress=telling,
        joint=options["model"] == "joint",
    )
    found = fit_labels(labels, chosen, tell)
    if json_file == "-":
        click.echo(as_text(as_json(found)))
    elif json_file is not None:
        write_json(Path(json_file), as_json(found))
    said = "" if out is None else f"\n{write_folder(found, out)}"
    if json_file != "-" and not quiet:
        click.echo(present(found) + said)
    return found.exit_code


def _writable(json_file: str | None, out: Path | None) -> None:
    """Raises UserError where the results could not be written: a fit may take long, so that is asked before it."""
    if json_file not in (None, "-") and not os.access(Path(str(json_file)).absolute().parent, os.W_OK):
        raise UserError(f"{json_file}: its folder is not there or cannot be written to; choose another file for --json")
    if out is not None:
        there = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
        if not there.is_dir() or not os.access(there, os.W_OK):
            raise UserError(f"{out}: cannot be written to; choose another folder for --out")
        refuse_others(out)
