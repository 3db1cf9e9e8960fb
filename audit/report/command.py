"""The command `countback report`: reads options and calls `countback.audit.report`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from countback.fetch.errors import UserError

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(epilog="Example: countback report --out public; countback report --from verdicts.json --out public")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--from", "source", type=FILE, metavar="VERDICTS.json", help="Verdicts of countback check --json.")
@click.option("--out", type=FOLDER, default="report", metavar="DIR", help="The folder to write into; else report.")
@click.option("--url", default="", metavar="URL", help="Where DIR will be published, for links from elsewhere.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="A folder with released files, whatever their names.",
)
@click.option(
    "--unverified", is_flag=True, help="Recount a file that has a pin's name but not its bytes: proves nothing."
)
@click.option("--offline", is_flag=True, help="Touch no network; use what --data and the cache hold.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
@click.option(
    "--ledger",
    "ledger_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where resolved predictions are recorded; else COUNTBACK_LEDGER, else a file in the user's data folder.",
)
def report(
    papers: tuple[str, ...],
    source: Path | None,
    out: Path,
    url: str,
    data: Path | None,
    unverified: bool,
    offline: bool,
    quiet: bool,
    ledger_file: Path | None,
) -> None:
    """Write a page for people, and the same for machines: JSON, JUnit, Markdown, badge, ClaimReview, RO-Crate.

    PAPER as for countback check. Exit 0 when the files are written, whatever they say.
    """
    from countback.audit.ledger import ledger_path
    from countback.audit.report import build, gather, now, write
    from countback.audit.sources import Sources

    if unverified and data is None:
        raise UserError("--unverified needs --data DIR: it says which files to recount although no pin proves them")
    telling = sys.stderr.isatty() and not quiet
    sources = Sources(
        data,
        offline or source is not None,
        unverified,
        tell=(lambda line: click.echo(line, err=True)) if telling else lambda line: None,
        quiet=quiet,
    )
    files = build(gather(papers, source, sources, ledger_path(ledger_file)), now(), url)
    write(files, out)
    if not quiet:
        click.echo(f"{out}: {', '.join(files)}")
