"""The `countback` command: reads options, calls the rooms, chooses the exit code. Computes nothing.

Exit codes: 0 all that was checked agrees or is a known finding; 1 a verdict differs and is not known, or a known one no
longer holds; 2 wrong usage, configuration or an internal error; 3 incomplete; 4 integrity.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import click
from countback.audit.files import as_text, write_json
from countback.audit.record_commands import LEDGER, diff, ledger_group, predict, watch
from countback.audit.words import visible
from countback.fetch.errors import UserError

EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class _PipeClosed(Exception):
    """Whoever read the output has gone."""


ELSEWHERE = {  # commands whose modules take time to import
    "fit": "countback.audit.fit.command",
    "plan": "countback.audit.plan.command",
    "report": "countback.audit.report.command",
}


class _Root(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        command = getattr(importlib.import_module(ELSEWHERE[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1, which means a finding
            raise _PipeClosed from None


@click.group(
    cls=_Root,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog='Example: countback check cubes. Completion, in bash: eval "$(_COUNTBACK_COMPLETE=bash_source countback)"',
)
@click.version_option(package_name="countback")
def cli() -> None:
    """Recount the numbers of papers about LLM judges and human annotators, and say which of them hold."""


for command in (predict, ledger_group, watch, diff):
    cli.add_command(command)


@cli.command(
    short_help="Say which numbers of papers hold.",
    epilog="Example: countback check culture-converse --json verdicts.json",
)
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--json", "json_file", metavar="FILE", help="Write the verdicts as JSON; - prints them and nothing else.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["arithmetic", "recount", "model", "metadata", "asserted"]),
    help="Only claims of this kind; may be given more than once.",
)
@click.option("--offline", is_flag=True, help="Touch no network; use what --data and the cache hold.")
@click.option("--strict", is_flag=True, help="Exit 3 when anything is unchecked.")
@click.option("--data", type=EXISTING, metavar="DIR", help="A folder with released files, whatever their names.")
@click.option(
    "--unverified", is_flag=True, help="Recount a file that has a pin's name but not its bytes: proves nothing."
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the exit code answers.")
@click.option("--record", is_flag=True, help="Append this run to the ledger, for countback diff.")
@LEDGER
@click.pass_context
def check(
    ctx: click.Context,
    papers: tuple[str, ...],
    json_file: str | None,
    kinds: tuple[str, ...],
    offline: bool,
    strict: bool,
    data: Path | None,
    unverified: bool,
    quiet: bool,
    record: bool,
    ledger_file: Path | None,
) -> None:
    """Say of every number of the papers (default: all of the registry) whether it holds, and why.

    PAPER is an id of the registry or a folder with a paper.toml.
    """
    from countback.audit.run import audit, find_papers
    from countback.audit.sources import Sources
    from countback.audit.text import present

    if unverified and data is None:
        raise UserError("--unverified needs --data DIR: it says which files to recount although no pin proves them")
    tell = _progress_line if sys.stderr.isatty() and not quiet else lambda line: None
    sources = Sources(data, offline, unverified, tell=tell, quiet=quiet)
    run = audit(find_papers(papers), sources.locate, kinds=kinds)
    if record:
        from countback.audit.resolve import record_run

        record_run(run, ledger_file, _progress_line)
    if json_file == "-":
        click.echo(as_text(run.as_json()))
    elif json_file is not None:
        write_json(Path(json_file), run.as_json())
    if json_file != "-" and not quiet:
        click.echo(present(run))
    ctx.exit(run.exit_code(strict=strict))


@cli.command(short_help="Get and prove the released files.", epilog="Example: countback fetch alt-test")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--verify", is_flag=True, help="Only verify what the cache holds; touch no network.")
@click.option("--offline", is_flag=True, help="Touch no network.")
@click.option("--quiet", "-q", is_flag=True, help="Print only what went wrong.")
@click.pass_context
def fetch(ctx: click.Context, papers: tuple[str, ...], verify: bool, offline: bool, quiet: bool) -> None:
    """Get the released files of the papers (default: all), prove what they are, and keep them in the cache.

    The cache is COUNTBACK_DATA, or the platform's cache folder. A verified file is never touched again.
    """
    from countback.audit.run import find_papers
    from countback.claims.registry import paper_releases
    from countback.fetch.obtain import fetch_releases

    releases = [release for folder in find_papers(papers) for release in paper_releases(folder)]
    tell = click.echo if not quiet else lambda line: None
    outcomes = fetch_releases(
        releases, offline=offline, verify_only=verify, tell=tell, progress=False if quiet else None
    )
    if quiet:
        for outcome in outcomes:
            if not outcome.usable:
                click.echo(outcome.message, err=True)
    codes = {outcome.exit_code for outcome in outcomes}
    ctx.exit(4 if 4 in codes else max(codes, default=0))


@cli.command(short_help="Numbers that no claim binds.", epilog="Example: countback coverage culture-converse paper.txt")
@click.argument("paper")
@click.argument("document", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--all", "everything", is_flag=True, help="List every number, not only the unbound ones.")
@click.pass_context
def coverage(ctx: click.Context, paper: str, document: Path, everything: bool) -> None:
    """Say which numbers of a document (text or PDF) some claim of PAPER binds, and list those that none does.

    Exit 0 when every number is bound, listed as asserted or context; 3 otherwise.
    """
    from countback.audit.run import find_papers
    from countback.audit.text import present_coverage
    from countback.claims.coverage import UNBOUND, cover, read_document
    from countback.claims.registry import load_paper

    found = cover(load_paper(find_papers((paper,))[0]), read_document(document))
    if not found:
        raise UserError(f"{document}: no number in it; a PDF of pictures has no text, give a file that has")
    click.echo(present_coverage(found, everything))
    ctx.exit(3 if any(number.status == UNBOUND for number in found) else 0)


@cli.command(
    short_help="Start a paper's folder.",
    epilog="Example: countback new smith-2026 --pdf paper.pdf --pages 7-9 --release counts.csv",
)
@click.argument("paper", metavar="PAPER-ID")
@click.option("--table", type=FILE, metavar="FILE", help="A table typed or exported as CSV.")
@click.option("--pdf", type=FILE, metavar="FILE", help="A PDF whose tables are read.")
@click.option("--pages", default="", metavar="N,N-N", help="The pages of the PDF to read; all without it.")
@click.option("--release", "released", type=FILE, multiple=True, metavar="FILE", help="A file the authors released.")
@click.option(
    "--into", type=click.Path(path_type=Path), default=".", metavar="DIR", help="The folder to make it in; else here."
)
def new(paper: str, **options: Any) -> None:
    """Start a paper: a folder with commented TOML, its tables as drafts to confirm, and a claim that holds.

    A released file is pinned by its sha256 and not copied. Nothing that exists is overwritten.
    """
    from countback.audit.new import make, present

    click.echo(present(make(paper, **options)))


@cli.command(
    short_help="Audit a team's own labels.",
    epilog="Example: countback judge export.json; countback judge labels.csv --judges judges.csv --labels low,mid,high",
)
@click.argument("labels", type=click.Path(exists=True, path_type=Path))
@click.option("--judges", type=click.Path(exists=True, path_type=Path), metavar="FILE", help="Labels by models.")
@click.option("--reader", metavar="NAME", help="How to read LABELS (long, wide, label-studio ...).")
@click.option("--config", type=OUTPUT, metavar="FILE", help="Settings in TOML; where there is no FILE, a draft of it.")
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=COLUMN,...",
    help="Which column of LABELS is what. Roles: item, annotator, judge, label, question, country, kind "
    "(human or judge), seconds, time; of a wide file, with a list of columns each: annotators, questions or items.",
)
@click.option("--judge-columns", multiple=True, metavar="ROLE=COLUMN,...", help="The same for the judges' file.")
@click.option("--labels", "codebook", metavar="LOW,...,HIGH", help="The labels in order; without it those humans used.")
@click.option("--set", "choices", multiple=True, metavar="KEY=VALUE", help="Any other setting, as in duplicates=last.")
@click.option("--json", "json_file", metavar="FILE", help="Write everything as JSON; - prints it and nothing else.")
@click.option("--html", "html_file", type=OUTPUT, metavar="FILE", help="Write a page.")
@click.option("--draws", type=click.IntRange(100, 100_000), default=1000, show_default=True, help="Resamples of items.")
@click.option("--seed", type=click.IntRange(0), default=20261129, show_default=True, help="Of every random step.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the files and the exit code answer.")
def judge(labels: Path, judges: Path | None, **options: Any) -> None:
    """Audit a team's own labels: may a judge replace a human, where not, and what can these labels tell at all?

    LABELS is an export of human labels (CSV, Excel, Label Studio, Potato, Argilla, doccano ...), with judges in it or
    in a file of their own. Exit 0 done, 2 something has to be said or mended first, 3 nothing could be concluded.
    """
    from countback.audit.judge.command import run

    tell = _progress_line if sys.stderr.isatty() and not options["quiet"] else lambda line: None
    click.get_current_context().exit(run(labels, judges, tell=tell, **options))


@cli.command(
    short_help="A synthetic stand-in for a release.",
    epilog="Example: countback twin cube_judge_alignment.zip; countback check cubes --data . --unverified",
)
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path), metavar="OUT.zip")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of every random step.")
def twin(out: Path, seed: int) -> None:
    """Write a synthetic stand-in for the CuBEs release, and list which printed numbers it meets and which it cannot.

    It serves to try the recounts before the real files are at hand; whatever is recounted from it stays unchecked.
    """
    from countback.audit.text import present_twin
    from countback.claims.papers.cubes.twin import make_twin

    click.echo(present_twin(make_twin(out, seed)))


def _progress_line(line: str) -> None:
    click.echo(line, err=True)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: one sentence for a user's mistake, the designed exit code, and no traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character gets its number
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    try:
        sys.exit(_run(arguments, color=False if plain else None))
    except (_PipeClosed, BrokenPipeError):  # nobody reads on: `countback check | head`
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        sys.exit(141)


def _run(arguments: list[str] | None, color: bool | None) -> int:
    try:
        return cli.main(args=arguments, prog_name="countback", standalone_mode=False, color=color) or 0
    except click.ClickException as error:
        error.show()
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("countback: stopped", err=True)
        return 130
    except UserError as error:
        click.echo(f"countback: {visible(str(error))}", err=True)
        return error.exit_code
    except _PipeClosed:
        raise
    except Exception as error:
        if os.environ.get("COUNTBACK_DEBUG"):
            raise
        if isinstance(error, OSError) and error.strerror:
            told = (
                f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}; check the path, permissions, space"
            )
        else:
            told = (
                f"internal error: {type(error).__name__}: {error}; expected none: please report it with the traceback "
                "that COUNTBACK_DEBUG=1 shows"
            )
        click.echo(f"countback: {visible(told)}", err=True)
        return 2
