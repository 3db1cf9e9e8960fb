"""The command `countback plan`: reads options, asks `countback.audit.plan`, writes what was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from countback.fetch.errors import UserError

MOST = 1_000_000
OUTPUT = click.Path(dir_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    epilog="Example: countback plan --countries 12 --questions 11 --items-per-cell 3 --shared-items 11 --price 1.63 "
    "--assign who-labels-what.csv"
)
@click.option("--countries", required=True, metavar="N|NAME,...", help="How many, or their names.")
@click.option("--questions", type=click.IntRange(1, MOST), default=1, show_default=True, help="Asked in each country.")
@click.option(
    "--items-per-cell",
    type=click.IntRange(0, MOST),
    metavar="N",
    help="Own items of each question in each country; without it what --budget pays for, or 10.",
)
@click.option(
    "--shared-items",
    type=click.IntRange(0, MOST),
    default=10,
    show_default=True,
    help="Items that every country labels beside its own; 0 for none.",
)
@click.option(
    "--annotators", default="8", show_default=True, metavar="N[,N...]", help="Of each country: one number, or one each."
)
@click.option("--labels-per-item", type=click.IntRange(1, 1000), default=5, show_default=True, help="In each country.")
@click.option("--price", metavar="AMOUNT", help="What one label costs, in any currency.")
@click.option("--prices", type=FILE, metavar="FILE", help="The same by country: a CSV file, country,price.")
@click.option("--budget", metavar="AMOUNT", help="What may be spent on labels.")
@click.option(
    "--share",
    "shares",
    type=click.FloatRange(0, 1, max_open=True),
    multiple=True,
    metavar="SHARE",
    help="True share of label variance that is the country's, to simulate; may be repeated.  [default: 0, 0.1]",
)
@click.option("--pilot", type=FILE, metavar="LABELS", help="Labels of a pilot, to learn agreement from; as for judge.")
@click.option("--columns", multiple=True, metavar="ROLE=COLUMN,...", help="Which column of the pilot is what.")
@click.option("--set", "choices", multiple=True, metavar="KEY=VALUE", help="Any other setting of reading the pilot.")
@click.option("--levels", type=click.IntRange(2, 20), metavar="K", help="Labels to choose from.  [default: 3]")
@click.option(
    "--agreement",
    type=click.FloatRange(0, 1),
    metavar="ALPHA",
    help="Of two annotators beyond chance (alpha).  [default: 0.37]",
)
@click.option("--assign", type=OUTPUT, metavar="OUT.csv", help="Write who labels what; an older list is kept.")
@click.option("--json", "json_file", metavar="FILE", help="Write everything as JSON; - prints it and nothing else.")
@click.option("--html", "html_file", type=OUTPUT, metavar="FILE", help="Write a page.")
@click.option("--draws", type=click.IntRange(20, 10_000), default=100, show_default=True, help="Simulated data sets.")
@click.option("--seed", type=click.IntRange(0), default=20261129, show_default=True, help="Of every random step.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing; the files and the exit code answer.")
def plan(
    countries: str,
    questions: int,
    items_per_cell: int | None,
    shared_items: int,
    annotators: str,
    labels_per_item: int,
    price: str | None,
    prices: Path | None,
    budget: str | None,
    shares: tuple[float, ...],
    pilot: Path | None,
    columns: tuple[str, ...],
    choices: tuple[str, ...],
    levels: int | None,
    agreement: float | None,
    assign: Path | None,
    json_file: str | None,
    html_file: Path | None,
    draws: int,
    seed: int,
    quiet: bool,
) -> None:
    """Plan a study of several countries: what it costs, what it can tell, and who labels which item.

    Own items alone (nested) can never tell country from items; shared ones can. Simulated numbers say so, and what they
    assume. Exit 0 done, 2 something has to be said or mended first.
    """
    from countback.audit.files import as_text, write_json
    from countback.audit.plan import make_plan, request
    from countback.audit.plan.files import as_json, write_assignment
    from countback.audit.plan.text import present

    names = request.country_names(countries)
    if price is not None and prices is not None:
        raise UserError("--price and --prices were both given; expected one of them")
    for name, value in (*(("--share", share) for share in shares), ("--agreement", agreement)):
        if value is not None and value != value:  # "nan" is within every range
            raise UserError(f"{name} {value}: expected a number from 0 to 1")
    for name, value in (("--agreement", agreement), ("--levels", levels)):
        if value is not None and pilot is not None:
            raise UserError(f"{name} and --pilot were both given; expected one: a pilot teaches its own")
    by_country = request.prices(prices, names) if prices else ()
    if price is not None:
        by_country = (request.money(price, "--price"),) * len(names)
    money = None if budget is None else request.money(budget, "--budget")
    if money is not None and not by_country:
        raise UserError("--budget needs to know what a label costs; add --price 1.63, or --prices FILE by country")
    telling = sys.stderr.isatty() and not quiet
    made = make_plan(
        names,
        questions=questions,
        own=items_per_cell,
        shared=shared_items,
        pools=request.pools(annotators, len(names)),
        labels=labels_per_item,
        prices=by_country,
        budget=money,
        shares=shares or (0.0, 0.1),
        scale=levels or 3,
        agreement=agreement,
        pilot=request.read_pilot(pilot, columns, choices, countries) if pilot else None,
        seed=seed,
        draws=draws,
        tell=(lambda line: click.echo(line, err=True)) if telling else lambda line: None,
    )
    listed = write_assignment(made, assign) if assign is not None else ""
    if json_file == "-":
        click.echo(as_text(as_json(made)))
    elif json_file is not None:
        write_json(Path(json_file), as_json(made))
    if html_file is not None:
        from countback.audit.plan.html import write_html

        write_html(made, html_file)
    if json_file != "-" and not quiet:
        click.echo(present(made) + (f"\n\n{listed}" if listed else ""))
