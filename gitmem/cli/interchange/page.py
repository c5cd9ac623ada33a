"""`git mem page`: print or write pages that are made from facts."""

import os
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.services.pages.page_fact import PAGES
from gitmem.text.plural import counted
from gitmem.worker.page_files import write_page
from gitmem.worker.pages import Page, make_page

SUMMARY = "summary"  # a command of its own, with other options: it is no page of a file


@click.command("page", short_help="Print or write pages of facts")
@click.argument("name", metavar="|".join(PAGES), type=click.Choice([*PAGES, SUMMARY]))
@click.option(
    "--out",
    type=click.Path(),
    metavar="PATH",
    help="Write it to this file; compound: to files in this folder.",
)
@click.option("--force", is_flag=True, help="Replace a file that git mem did not write.")
@click.option("--private", is_flag=True, help="With what is private, and what is unconfirmed.")
@options.json_option
@click.pass_obj
def page_command(
    term: Terminal, name: str, out: str | None, *, force: bool, private: bool, as_json: bool
) -> None:
    """Print a page that is made from facts, or write it where --out says.

    \b
    gotchas   all gotchas by category, with what helps
    briefing  what a newcomer should know, within 140 lines
    compound  what was learned, in eleven files: patterns, decisions, workflows, dos and don'ts,
              what agents proposed, warnings, preferences, open findings; the summary is printed

    What is known now, section by section, is printed only: git mem page summary. That has options
    of its own.

    A page has shared facts that somebody confirmed, because a work tree is often pushed. The same
    store gives the same page. What was written is kept up to date by git mem consolidate and git
    mem forget. They leave a file that you edited, and in the background also what git tracks.

    \b
    Examples:
      git mem page gotchas
      git mem page gotchas --out GOTCHAS.md
      git mem page briefing --out BRIEFING.md
      git mem page compound --out docs/memory
      git mem page compound --out ~/notes/shop --private
    """
    if name == SUMMARY:
        raise click.UsageError(
            "the summary has options of its own. They stand behind it: git mem page summary "
            "[OPTIONS]"
        )
    if force and out is None:
        raise click.UsageError("--force replaces a file: name it with --out.")
    with term.open() as app:
        page = make_page(app, name, private=private)
        paths = []
        if out is not None:
            paths = write_page(app, name, out, page, private=private, force=force)
        if as_json:
            term.json(_json(name, page, paths, out))
            return
        if out is None:
            term.page(page.text.rstrip("\n").split("\n"), app)
        else:
            into = f" into {counted(len(paths), 'file')}" if len(paths) > 1 else ""
            term.say(f"wrote {plain(out)}: {counted(page.facts, 'fact')}{into}.")
        if page.left_out:
            number = counted(page.left_out, "fact")
            term.note(f"{number} left out: private or unconfirmed. With them: --private")


def _json(name: str, page: Page, paths: list[str], out: str | None) -> dict[str, Any]:
    return {
        "page": name,
        "fact_count": page.facts,
        "left_out_count": page.left_out,
        "target_path": os.path.abspath(out) if out is not None else None,
        "written_paths": paths,
        "text": None if paths else page.text,
    }
