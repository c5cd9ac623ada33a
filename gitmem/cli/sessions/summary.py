"""`git mem summary`: what is known of a project, section by section."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.json_shapes import record_json
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.services.views import inbox, summary
from gitmem.services.views.summary import SummarySection

EMPTY = "nothing is known yet. It grows when sessions end, and by hand: git mem add TITLE"
ROWS = 20  # facts of a section


@click.command("summary", short_help="What is known of this project, section by section")
@click.option(
    "--section",
    "names",
    multiple=True,
    type=click.Choice(list(summary.TYPES)),
    help="Only this section. May be repeated.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=ROWS,
    show_default=True,
    help="Facts of a section at most.",
)
@click.option("--agent", metavar="NAME", help="As this agent sees it.")
@options.json_option
@click.pass_obj
def summary_command(
    term: Terminal, names: tuple[str, ...], limit: int, agent: str | None, as_json: bool
) -> None:
    """Show what is known of this project: decisions, tasks, preferences, technical and general.

    It is made of the facts that are valid now. To change it, change a fact: git mem add, edit,
    done, pin, supersede, forget.

    \b
    Examples:
      git mem summary
      git mem summary --section pending_tasks --json
    """
    with term.open() as app:
        app.settle()
        indexes, agents = app.indexes(), options.agents(app, agent)
        rows = summary.facts(indexes, agents, app.clock.stamp())
        said = inbox.statements(indexes)
        found = [part for part in summary.sections(rows, limit) if not names or part.name in names]
        if as_json:
            term.json({"sections": [_section_json(part, said) for part in found]})
            return
        if not any(part.rows for part in found):
            term.note(EMPTY)
            return
        term.page(_lines(term, [part for part in found if part.rows], said), app)


def _section_json(part: SummarySection, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": part.name,
        "title": part.title,
        "records": [
            {**record_json(row), "said_to_be_done": row["id"] in said} for row in part.rows
        ],
        "more_count": part.left_out,
    }


def _lines(term: Terminal, parts: list[SummarySection], said: Mapping[str, Any]) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield term.style(part.title, bold=True)
        for row in part.rows:
            yield f"  {_line(term, row, said)}"
        if part.left_out:
            yield f"  … {part.left_out:,} more: git mem summary --section {part.name} -n 1000"


def _line(term: Terminal, row: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    marks = [
        "pinned" if row["status"] == "pinned" else "",
        "unconfirmed" if row["unconfirmed"] else "",
        str(row["agent"]) if row["agent"] != "global" else "",
        "said to be done: git mem inbox" if row["id"] in said else "",
    ]
    tail = ", ".join(mark for mark in marks if mark)
    id = term.style(short(row["id"]), fg="yellow")
    return f"{id} {plain(row['title'])}" + (f" ({plain(tail)})" if tail else "")
