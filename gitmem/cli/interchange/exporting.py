"""`git mem export`: write facts for other tools."""

import os
import shlex
from collections.abc import Iterable, Sequence
from typing import Any

import click

from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.errors import UserError
from gitmem.services.interchange.exported import ExportTarget
from gitmem.services.interchange.exporting import FILTERS, ForeignWriter, parsed_filters
from gitmem.services.interchange.values import counted
from gitmem.services.interchange.writers.formats import BY_ENDING, WRITERS
from gitmem.worker import interchange
from gitmem.worker.export_files import write_export


@click.command("export", short_help="Write facts for other tools")
@click.argument("path", metavar="DIR|FILE")
@click.option(
    "--format",
    "name",
    type=click.Choice(list(WRITERS)),
    help="The format. Without it, the file's ending decides; a folder is okf.",
)
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"Only these; VALUE may be a list. Names: {', '.join(FILTERS)}.",
)
@click.option("--private", is_flag=True, help="Export the private store too.")
@click.option("--force", "-f", is_flag=True, help="Replace files that git mem did not write.")
@options.json_option
@click.pass_obj
def export_command(
    term: Terminal,
    path: str,
    name: str | None,
    filters: tuple[str, ...],
    private: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write the facts of the shared store into a folder or a file for other tools.

    The default is a bundle in Open Knowledge Format: one Markdown file a fact. A folder has to be
    new, empty, or that of an earlier export, which is replaced; a file that you changed since is
    not. '-' is stdout. A bundle can be imported again without loss.

    \b
    Examples:
      git mem export knowledge
      git mem export memory.md --filter type=decision,rule
      git mem export - --format json --private
    """
    writer = WRITERS[name or BY_ENDING.get(os.path.splitext(path)[1], "okf")]
    _check_stdout(writer, path, as_json=as_json)
    wanted = parsed_filters(filters)
    with term.open() as app:
        every = interchange.facts_to_export(app, wanted, private=private)
        facts = [fact for fact in every if writer.takes(fact.record)]
        files = {inner: text.encode() for inner, text in writer.files(facts).items()}
        if path == "-":
            click.echo(files[""].decode(), nl=False)
            return
        how = _command(path, writer, filters, private=private)
        target = ExportTarget(os.path.abspath(path), how, private=private)
        left = write_export(app, target, files, is_folder=writer.is_folder, force=force)
    left_out = len(every) - len(facts)
    if as_json:
        term.json(_json(writer, path, files, len(facts), left_out))
        return
    term.say(_summary(writer, path, len(facts), len(files)))
    for path_left in left:
        term.note(f"{plain(path_left)} was changed since an earlier export, and is left.")
    if left_out:
        term.note(f"left out: {counted(left_out, 'fact')} that {writer.name} has no place for")


def _command(path: str, writer: ForeignWriter, filters: Sequence[str], *, private: bool) -> str:
    """Return the command line that does this export again."""
    options = [f"--filter {shlex.quote(text)}" for text in filters]
    options += ["--private"] if private else []
    where = shlex.quote(os.path.abspath(path))
    return " ".join(["git mem export", where, f"--format {writer.name}", *options])


def _check_stdout(writer: ForeignWriter, path: str, *, as_json: bool) -> None:
    """Raise an error for '-' where stdout cannot take the export."""
    if path != "-":
        return
    if writer.is_folder:
        raise UserError(f"{writer.name} is a folder of files.", "Name a folder instead of '-'.")
    if as_json:
        raise click.UsageError("--json and '-' both write to stdout: name a file.")


def _json(
    writer: ForeignWriter, path: str, files: Iterable[str], facts: int, left_out: int
) -> dict[str, Any]:
    """Return what was written as JSON."""
    full = os.path.abspath(path)
    return {
        "foreign_format": writer.name,
        "target_path": full,
        "fact_count": facts,
        "left_out_count": left_out,
        "written_paths": [os.path.join(full, inner) if inner else full for inner in files],
    }


def _summary(writer: ForeignWriter, path: str, facts: int, files: int) -> str:
    """Say what was written."""
    into = f", {counted(files, 'file')}" if writer.is_folder else ""
    return f"exported {counted(facts, 'fact')} to {plain(path)} ({writer.name}{into})"
