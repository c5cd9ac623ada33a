"""`git mem trace`: who wrote which lines, exchanged with other tools as Agent Trace records."""

import json
from collections.abc import Mapping, Sequence
from typing import IO, Any

import click

from gitmem import __version__
from gitmem.app import App
from gitmem.cli import options
from gitmem.cli.group import Parts
from gitmem.cli.json_output import envelope, json_text
from gitmem.cli.terminal import Terminal
from gitmem.errors import UserError
from gitmem.repo.output_files import write_output
from gitmem.services.provenance import agent_trace
from gitmem.services.provenance.known import recorded_links
from gitmem.state import links

TABLE = {
    "export": ("code.trace", "export_command", "Print Agent Trace records of commits, one a line"),
    "import": (
        "code.trace",
        "import_command",
        "Read the records that other tools left in git notes, or a file",
    ),
}
MOST = 100_000  # commits of one export
NOTE = 4 << 20  # bytes of a note


@click.group("trace", cls=Parts, table=TABLE)
def trace_command() -> None:
    """Exchange who wrote which lines of which commit, as Agent Trace records.

    The format is version 0.1.0 of https://agent-trace.dev.

    \b
    Examples:
      git mem trace export HEAD
      git mem trace export main..feature > trace.jsonl
      git mem trace import
    """


@click.command("export", short_help=TABLE["export"][2])
@click.argument("revisions", nargs=-1, metavar="[REV]...")
@click.option("--output", "-o", metavar="FILE", help="Write to a file; '-' is standard output.")
@options.json_option
@click.pass_obj
def export_command(
    term: Terminal, revisions: tuple[str, ...], output: str | None, as_json: bool
) -> None:
    """Print the records of commits (HEAD by default) or ranges, one JSON object a line.

    With --json, one JSON object with all records in `data`.

    A commit that no session is known to have a part in has no record.

    \b
    Examples:
      git mem trace export
      git mem trace export v1.0..HEAD -o trace.jsonl
    """
    with term.open() as app:
        oids = app.code_history.listed(revisions or ("HEAD",), MOST)
        by_commit = recorded_links(app.provenance(), oids)
        rows = [
            row
            for oid in oids
            if oid in by_commit and (row := _record(app, oid, by_commit[oid])) is not None
        ]
        if as_json:
            text = json_text(envelope(click.get_current_context(), rows)) + "\n"
        else:
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        if output is None or output == "-":
            click.echo(text, nl=False)
        else:
            write_output(app.location, output, text.encode("utf-8", "replace"))
        if not rows and not as_json:
            term.note(
                f"of {len(oids)} commit{'' if len(oids) == 1 else 's'} none is known to be a "
                f"session's."
            )


def _record(app: App, oid: str, commit_links: list[links.Link]) -> dict[str, Any] | None:
    def text(path: str) -> list[str] | None:
        data = app.code_history.text(path, oid)
        return None if data is None else data.decode("utf-8", "surrogateescape").split("\n")

    return agent_trace.record(oid, commit_links, text, __version__)


@click.command("import", short_help=TABLE["import"][2])
@click.argument(
    "files", nargs=-1, type=click.File("r", encoding="utf-8", errors="replace"), metavar="[FILE]..."
)
@click.option(
    "--ref",
    "refs",
    multiple=True,
    metavar="REF",
    help="The notes to read; all of refs/notes/ by default.",
)
@options.json_option
@click.pass_obj
def import_command(
    term: Terminal, files: tuple[IO[str], ...], refs: tuple[str, ...], as_json: bool
) -> None:
    """Read Agent Trace records from git notes, or from files.

    What is known of a commit already stays.

    \b
    Examples:
      git mem trace import
      git mem trace import --ref refs/notes/agent-trace
      git mem trace import trace.jsonl
    """
    with term.open() as app:
        imported = _imported_links(app, files, refs)
        there = set(app.code_history.commits({link.oid for link in imported}))
        old = links.of(app.state, there)
        new = _new_links([link for link in imported if link.oid in there], old)
        patches = app.code_history.patch_ids(list(new))
        for oid, rows in new.items():
            links.put(app.state, oid, [*old.get(oid, ()), *rows], patches.get(oid, ""))
        facts = {
            "commit_count": len(new),
            "session_count": len({link.session for rows in new.values() for link in rows}),
            "missing_count": len({link.oid for link in imported} - there),
        }
        if as_json:
            term.json(facts)
            return
        if not imported:
            where = "these files" if files else "git notes here"
            raise UserError(
                f"there are no Agent Trace records in {where}.",
                "Name a file, or the notes with --ref; fetch notes with: git fetch origin "
                "'refs/notes/*:refs/notes/*'",
            )
        commits = _plural(facts["commit_count"], "commit")
        term.say(f"{commits} of {_plural(facts['session_count'], 'session')} imported.")
        if facts["missing_count"]:
            term.note(f"{facts['missing_count']} of the commits are not in this repository.")


def _imported_links(app: App, files: Sequence[IO[str]], refs: Sequence[str]) -> list[links.Link]:
    """Return what files say, or git notes where there are none."""
    if files:
        return [
            link
            for file in files
            for row in agent_trace.records(file.read())
            for link in agent_trace.links(row)
        ]
    names = [ref if ref.startswith("refs/") else f"refs/notes/{ref}" for ref in refs]
    return [
        link
        for name in names or app.code_history.notes_refs()
        for commit, text in app.code_history.notes(name, NOTE)
        for row in agent_trace.records(text)
        for link in agent_trace.links(row, commit)
    ]


def _new_links(
    imported: Sequence[links.Link], old: Mapping[str, Sequence[links.Link]]
) -> dict[str, list[links.Link]]:
    """Return the first link of each session and kind that a commit does not have yet, by commit."""
    taken = {(oid, link.session, link.kind) for oid, rows in old.items() for link in rows}
    new: dict[str, list[links.Link]] = {}
    for link in imported:
        key = (link.oid, link.session, link.kind)
        if key not in taken:
            taken.add(key)
            new.setdefault(link.oid, []).append(link)
    return new


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
