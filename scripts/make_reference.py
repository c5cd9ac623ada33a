"""Write docs/commands.md and the manual pages of docs/man/ from click's tree of commands.

The first part of both is scripts/reference_intro.md, the settings are those of `gitmem.config`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

import click

from gitmem import __version__
from gitmem.cli.commands import COMMANDS, words_of
from gitmem.cli.group import Parts
from gitmem.cli.main import cli
from gitmem.config import SETTINGS

ROOT = Path(__file__).resolve().parents[1]
INTRO = (ROOT / "scripts" / "reference_intro.md").read_text("utf-8")
TITLE = (
    "# Commands\n\nMade by `make reference` from the commands themselves: `git mem COMMAND -h`.\n"
)
Block = tuple[bool, str]  # (its lines stay as they are, its text)
Rows = list[tuple[str, str]]


@dataclass(frozen=True)
class Page:
    """What is known of one command: `name` is `git mem gotcha add`."""

    name: str
    short: str
    usage: str
    help: list[Block]
    options: Rows
    commands: Rows


def pages(
    command: click.Command = cli, parent: click.Context | None = None, short: str = ""
) -> Iterator[Page]:
    """Yield the page of a command, and those of the commands below it."""
    name = "git mem" if parent is None else str(command.name)
    context = click.Context(command, info_name=name, parent=parent, **cli.context_settings)
    below = overview(command, context)
    records = [
        parameter.get_help_record(context)
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
    ]
    yield Page(
        context.command_path,
        short or command.get_short_help_str(200).rstrip("."),
        " ".join([context.command_path, *command.collect_usage_pieces(context)]),
        blocks(command.help or ""),
        [(option, " ".join(text.split())) for option, text in filter(None, records)],
        [(f"{context.command_path} {part}", about) for part, about in below.items()],
    )
    for part, about in below.items():
        yield from pages(command.get_command(context, part), context, about)


def overview(command: click.Command, context: click.Context) -> dict[str, str]:
    """Return {name: one line} of the commands below a command."""
    if isinstance(command, Parts):
        return {name: row[2] for name, row in command.table.items()}
    if command is cli:
        return {part: about for name in COMMANDS for part, about in _with_variants(name)}
    names = command.list_commands(context) if isinstance(command, click.Group) else []
    parts = {name: command.get_command(context, name) for name in names}
    return {name: part.get_short_help_str(200).rstrip(".") for name, part in parts.items()}


def _with_variants(name: str) -> Iterator[tuple[str, str]]:
    """Yield a command and what options make of it, each with one line."""
    yield name, COMMANDS[name][1]
    for word, about in words_of(name).items():
        yield f"{name} {word}", about.rstrip(".")


def blocks(text: str) -> list[Block]:
    """Return the paragraphs of a help text; click marks those that stay as they are."""
    out = []
    for paragraph in re.split(r"\n\s*\n", cleandoc(text)):
        is_verbatim = paragraph.startswith("\b")
        kept = paragraph.removeprefix("\b").strip("\n")
        out.append((is_verbatim, kept if is_verbatim else " ".join(kept.split())))
    return out


def markdown() -> str:
    """Return docs/commands.md."""
    parts = [TITLE, INTRO]
    for page in pages():
        depth = min(3, max(2, len(page.name.split()) - 1))
        parts.append(f"{'#' * depth} {page.name}\n\n```text\n{page.usage}\n```\n")
        parts += [f"```text\n{text}\n```\n" if kept else f"{text}\n" for kept, text in page.help]
        parts += _table("option", page.options) + _table("command", page.commands)
    return "\n".join(parts)


def _table(title: str, rows: Rows) -> list[str]:
    lines = [f"| {title} | |", "|---|---|"]
    for row in rows:
        lines.append("| `{}` | {} |".format(*(cell.replace("|", "\\|") for cell in row)))
    return ["\n".join([*lines, ""])] if rows else []


def roff(text: str) -> str:
    """Return text for a manual page: nothing in it is a command, `code` is bold."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", re.sub(r"`([^`]*)`", r"\\fB\1\\fP", escaped))


def dashed_name(page: Page) -> str:
    """Return the name of a manual page: `git-mem-forget-purge`."""
    return re.sub("[ -]+", "-", page.name)


def manual(page: Page, version: str) -> str:
    """Return the manual page of a command, in the macros of man(7)."""
    dashed = dashed_name(page)
    out = [f'.TH "{dashed.upper()}" "1" "" "git mem {version}" "git mem"', ".ad l", ".SH NAME"]
    out += [roff(f"{dashed} - {page.short}"), ".SH SYNOPSIS", roff(page.usage), ".SH DESCRIPTION"]
    for is_verbatim, text in page.help:
        out += [".PP", ".nf", roff(text), ".fi"] if is_verbatim else [".PP", roff(text)]
    out += _rows("OPTIONS", page.options) + _rows("COMMANDS", page.commands)
    if page.name == "git mem":
        for line in filter(None, INTRO.split("\n")):
            title = line.removeprefix("## ")
            out += [f".SH {title.upper()}"] if title != line else [".PP", roff(line)]
        out += _rows("CONFIGURATION", [(f"gitmem.{key}", row[2]) for key, row in SETTINGS.items()])
    return "\n".join([*out, ".SH SEE ALSO", roff("git-mem(1), git(1)"), ""])


def _rows(title: str, rows: Rows) -> list[str]:
    lines = [f".SH {title}"] if rows else []
    for first, second in rows:
        lines += [".TP", f"\\fB{roff(first)}\\fP", roff(second)]
    return lines


def files() -> dict[str, str]:
    """Return {path from the root: text} of all pages."""
    made = {"docs/commands.md": markdown()}
    for page in pages():
        made[f"docs/man/{dashed_name(page)}.1"] = manual(page, __version__)
    return made


def main() -> None:
    """Write the pages, and remove manual pages of commands that are gone."""
    made = files()
    for path in set(ROOT.glob("docs/man/*.1")) - {ROOT / name for name in made}:
        path.unlink()
    for name, text in made.items():
        (ROOT / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
