"""The `countback` command: reads options, calls the rooms, chooses the exit code. Computes nothing.

Exit codes: 0 all that was checked agrees or is a known finding; 1 a verdict differs and is not known, or a known one no
longer holds; 2 wrong usage, configuration or an internal error; 3 incomplete; 4 integrity.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from countback.fetch.errors import UserError

EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="countback")
def cli() -> None:
    """Recount the numbers of papers about LLM judges and human annotators, and say which of them hold."""


@cli.command(epilog="Example: countback check culture-converse --json verdicts.json")
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
    sources = Sources(data, offline, unverified, tell=tell)
    run = audit(find_papers(papers), sources.locate, kinds=kinds)
    if json_file == "-":
        click.echo(json.dumps(run.as_json(), indent=1, ensure_ascii=True))
    elif json_file is not None:
        write_json(Path(json_file), run.as_json())
    if json_file != "-" and not quiet:
        click.echo(present(run))
    ctx.exit(run.exit_code(strict=strict))


@cli.command(epilog="Example: countback fetch alt-test")
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


@cli.command(epilog="Example: countback coverage culture-converse paper.txt")
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
    click.echo(present_coverage(found, everything))
    ctx.exit(3 if any(number.status == UNBOUND for number in found) else 0)


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a whole file or none of it; a folder that cannot be written to is a UserError."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as part:
            json.dump(content, part, indent=1, ensure_ascii=True)
            part.write("\n")
        os.replace(part.name, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror}); choose another file or folder") from None


def _progress_line(line: str) -> None:
    click.echo(line, err=True)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: one sentence for a user's mistake, the designed exit code, and no traceback."""
    try:
        code = cli.main(args=arguments, prog_name="countback", standalone_mode=False)  # what ctx.exit was given
        sys.exit(code or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("countback: stopped", err=True)
        sys.exit(130)
    except UserError as error:
        click.echo(f"countback: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("COUNTBACK_DEBUG"):
            raise
        click.echo(
            f"countback: internal error: {type(error).__name__}: {error}; expected none: please report it with the "
            "traceback that COUNTBACK_DEBUG=1 shows",
            err=True,
        )
        sys.exit(2)
