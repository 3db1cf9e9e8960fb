"""The commands that keep a record: `countback predict`, `ledger`, `watch` and `diff`. They read options."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)
LEDGER = click.option(
    "--ledger",
    "ledger_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The ledger; else COUNTBACK_LEDGER, else a file in the user's data folder.",
)


def _say(line: str) -> None:
    click.echo(line, err=True)


class _ShowFirst(click.Group):
    """A group whose first command is meant where none is named: `predict cubes` is `predict show cubes`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        if not named and (args or not ctx.resilient_parsing):  # which is how a shell asks for what may stand here
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The group's own, and the options of the command that is meant where none is named."""
        first = self.commands["show"]
        own = {item.value: item for item in first.shell_complete(click.Context(first, ctx), incomplete)}
        return list((own | {item.value: item for item in super().shell_complete(ctx, incomplete)}).values())


@click.group(
    cls=_ShowFirst,
    short_help="How predictions stand; resolve or amend one.",
    epilog="Example: countback predict cubes --as-of 2027-07-01",
)
def predict() -> None:
    """Predictions: how each stands (show, the default), resolve one, amend one.

    countback predict [PAPER or PAPER/ID]... is short for countback predict show: see its --help.
    """


@predict.command(
    "show", short_help="How each stands, by which rule.", epilog="Example: countback predict cubes/p1 --json -"
)
@click.argument("names", nargs=-1, metavar="[PAPER or PAPER/ID]...")
@click.option("--as-of", metavar="DATE", help="Answer for the end of this day (UTC), or for an instant with its zone.")
@click.option("--json", "json_file", metavar="FILE", help="Write them as JSON; - prints them and nothing else.")
@click.option("--data", type=EXISTING, metavar="DIR", help="A folder with released files, whatever their names.")
@click.option("--forecast", is_flag=True, help="Also forecast what is open, from the data at hand or given a study.")
@LEDGER
def show(
    names: tuple[str, ...],
    as_of: str | None,
    json_file: str | None,
    data: Path | None,
    forecast: bool,
    ledger_file: Path | None,
) -> None:
    """What was predicted, on what rule, how it stands, and that nobody changed the words in between. No network."""
    from countback.audit import ledger
    from countback.audit.predict import open_books, read_day, statuses
    from countback.audit.predict_text import as_json, present
    from countback.audit.sources import Sources

    chain = ledger.open_ledger(ledger.ledger_path(ledger_file))
    when = read_day(as_of) if as_of else ledger.now()
    sources = Sources(data, offline=True)
    found = statuses(open_books(names), chain, when, sources, forecasting=forecast)
    if json_file == "-":
        click.echo(json.dumps(as_json(found, chain, when), indent=1, allow_nan=False))
        return
    if json_file is not None:
        from countback.audit.files import write_json

        write_json(Path(json_file), as_json(found, chain, when))
    click.echo(present(found, chain, ledger.now().date()))


@predict.command(
    short_help="Let its rule decide on data.",
    epilog="Example: countback predict resolve cubes/p1 --data counts.csv --released 2027-03-01T09:00:00Z "
    '--source "OSF mjkcr, version 2"',
)
@click.argument("names", nargs=-1, required=True, metavar="PAPER/ID...")
@click.option(
    "--data",
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="A folder with the pinned release, or a table (.csv, .json).",
)
@click.option("--released", default="", metavar="INSTANT", help="When it came out, with a zone: 2027-03-01T09:00:00Z.")
@click.option("--source", default="", metavar="TEXT", help="Where it was published.")
@click.option("--reason", default="", metavar="TEXT", help="Why it is void, or resolved again.")
@click.option("--outcome", default="", metavar="WORD", help="The outcome you expect, or void; the resolver decides.")
@click.option("--labels", default="", metavar="A,B,C", help="The ordered labels of a label table, strictest first.")
@LEDGER
def resolve(
    names: tuple[str, ...],
    data: Path | None,
    released: str,
    source: str,
    reason: str,
    outcome: str,
    labels: str,
    ledger_file: Path | None,
) -> None:
    """Let the rule of a prediction decide on data, and append the outcome to the ledger."""
    from countback.audit import ledger
    from countback.audit.predict import open_books
    from countback.audit.predict_text import wrap
    from countback.audit.resolve import Request, resolve_all

    ordered = tuple(label.strip() for label in labels.split(",")) if labels else ()
    request = Request(data, released, source, reason, outcome, ordered)
    for entry in resolve_all(open_books(names), request, ledger.ledger_path(ledger_file), _say):
        click.echo(f"{entry.body['prediction']}: {entry.body['outcome']} (ledger entry {entry.n})")
        for row in entry.body["data"].get("rows", ()):
            for note in row.get("notes", ()):  # of a share: what was left out of its labels
                click.echo(wrap(note, 2, 2))


@predict.command(
    short_help="Account for changed words.",
    epilog='Example: countback predict amend cubes/p1 --reason "a typing mistake"',
)
@click.argument("name", metavar="PAPER/ID")
@click.option("--reason", required=True, metavar="TEXT", help="Why the registered text was changed.")
@click.option(
    "--was",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The old text, where the ledger does not hold it.",
)
@LEDGER
def amend(name: str, reason: str, was: tuple[Path, ...], ledger_file: Path | None) -> None:
    """Account for a registered text that was changed: both texts, the day and the reason go into the ledger."""
    from countback.audit import ledger
    from countback.audit.predict import open_books
    from countback.audit.predict_text import amendment_block
    from countback.audit.resolve import amend_one

    for entry in amend_one(open_books((name,)), reason, was, ledger.ledger_path(ledger_file), _say):
        click.echo(f"# ledger entry {entry.n}; for those without this ledger, put this below {name}:")
        click.echo(amendment_block(entry))


@click.group("ledger", short_help="The append-only record; verify it.", epilog="Example: countback ledger verify")
def ledger_group() -> None:
    """The append-only record of runs, resolutions, amendments and observations."""


@ledger_group.command(
    short_help="Say whether the chain is whole.", epilog="Example: countback ledger verify --ledger ledger.jsonl"
)
@LEDGER
def verify(ledger_file: Path | None) -> None:
    """Say whether the chain is whole; if not, which entry was edited, removed, moved or inserted (exit 4)."""
    from countback.audit import ledger
    from countback.audit.predict_text import ledger_line, wrap

    chain = ledger.verify(ledger.ledger_path(ledger_file))
    click.echo(wrap(ledger_line(chain), 0, 2))
    if chain.adopted:
        click.echo(f"entry {chain.head.n} was written whole and never reported; the next append keeps it")
    if chain.torn:
        click.echo(f"{len(chain.torn)} bytes of an interrupted append follow it; the next append moves them aside")


@click.command(short_help="What changed where papers publish.", epilog="Example: countback watch cubes")
@click.argument("papers", nargs=-1, metavar="[PAPER]...")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the exit code answers.")
@LEDGER
@click.pass_context
def watch(ctx: click.Context, papers: tuple[str, ...], quiet: bool, ledger_file: Path | None) -> None:
    """Say what changed upstream since last time, and what it means: released files, versions, commits, licences.

    Exit 0 nothing changed, 1 something changed, 3 a place could not be looked at.
    """
    from countback.audit.ledger import ledger_path
    from countback.audit.run import find_papers
    from countback.audit.watch_text import exit_code, present
    from countback.audit.watch_text import watch as look_everywhere

    tell = _say if sys.stderr.isatty() and not quiet else lambda line: None
    looks = look_everywhere(find_papers(papers), ledger_path(ledger_file), tell=tell)
    if not quiet:
        click.echo(present(looks))
    ctx.exit(exit_code(looks))


@click.command(
    short_help="Two runs of check, compared.",
    epilog="Example: countback diff old.json new.json; countback diff @-2 @-1",
)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print the differences as JSON and nothing else.")
@LEDGER
@click.pass_context
def diff(ctx: click.Context, first: str, second: str, as_json: bool, ledger_file: Path | None) -> None:
    """Two runs: new, gone, no longer checked, other verdict, other value, other input.

    A and B are files of countback check --json, or ledger entries: @12 is entry 12, @-1 the last recorded run.
    Exit 0 nothing differs, 1 something does.
    """
    from countback.audit.diff import compare_runs, load_run, present
    from countback.audit.ledger import ledger_path

    path = ledger_path(ledger_file)
    found = compare_runs(load_run(first, path, "first"), load_run(second, path, "second"))
    click.echo(json.dumps(found.as_json(), indent=1, allow_nan=False) if as_json else present(found))
    ctx.exit(1 if found else 0)
