"""`git mem page summary`: what is known of a project, section by section."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import wrap
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.json_shapes import record_json, said_json
from gitmem.cli.terminal import Terminal, plain, short
from gitmem.records.said import said_to_be
from gitmem.services.records.committers import trust_marks
from gitmem.services.views import inbox, summary
from gitmem.services.views.summary import SummarySection
from gitmem.worker import paragraphs

HOW = "It grows when sessions end, and by hand: git mem add TITLE"
WIDTH = 90  # characters of a line of a paragraph
ROWS = 20  # facts of a section


@click.command("page summary", short_help="What is known of this project, section by section")
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

    It is made of the facts that are valid now, and printed only. To change it, change a fact: git
    mem add, edit, done, pin, supersede, forget.

    \b
    Examples:
      git mem page summary
      git mem page summary --section pending_tasks --json
    """
    with term.open() as app:
        app.settle()
        indexes, agents = app.indexes(), options.agents(app, agent)
        rows = summary.facts(indexes, agents, app.clock.stamp())
        said = inbox.statements(indexes)
        every = summary.sections(rows, limit, app.scores().of)
        chosen = [part for part in every if not names or part.name in names]
        written = {part.name: paragraphs.kept(app, part) for part in chosen}
        shown = {row["id"] for part in chosen for row in part.rows}
        contradicting = app.contradicting(agents)
        parts = [
            replace(part, rows=tuple(contradicting.arranged(part.rows, shown))) for part in chosen
        ]
        if as_json:
            listed = [
                {**_section_json(part, said), "paragraph": written[part.name] or None}
                for part in parts
            ]
            term.json({"sections": listed})
            return
        if not any(part.rows for part in parts):
            term.note(f"nothing is known yet. {app.unfetched_hint() or HOW}")
            return
        term.page(
            _lines(term, [part for part in parts if part.rows], said, written), app, wraps=True
        )


def _section_json(part: SummarySection, said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": part.name,
        "title": part.title,
        "records": [
            {**record_json(row), "said_to_be": said_json(said.get(row["id"]))} for row in part.rows
        ],
        "more_count": part.left_out,
    }


def _lines(
    term: Terminal,
    parts: list[SummarySection],
    said: Mapping[str, Any],
    written: Mapping[str, str],
) -> Iterator[str]:
    for number, part in enumerate(parts):
        if number:
            yield ""
        yield term.style(part.title, bold=True)
        if written[part.name]:
            yield from wrap(
                plain(written[part.name]), 90, initial_indent="  ", subsequent_indent="  "
            )
        for row in part.rows:
            yield f"  {_line(term, row, said)}"
        if part.left_out:
            every = len(part.rows) + part.left_out
            options = f"--section {part.name} -n {every}"
            yield f"  … {part.left_out:,} more: git mem page summary {options}"


def _line(term: Terminal, row: Mapping[str, Any], said: Mapping[str, Any]) -> str:
    marks = [
        "pinned" if row["status"] == "pinned" else "",
        *trust_marks(row),
        str(row["agent"]) if row["agent"] != "global" else "",
        f"{said_to_be(said[row['id']][-1])}: git mem inbox" if row["id"] in said else "",
    ]
    tail = ", ".join(mark for mark in marks if mark)
    id = term.style(short(row["id"]), fg="yellow")
    return f"{id} {plain(row['title'])}" + (f" ({plain(tail)})" if tail else "")
