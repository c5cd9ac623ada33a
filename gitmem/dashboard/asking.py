"""Run a command of `git mem` in this process and take what it would print with `--json`.

The dashboard shows and does what the commands show and do, so that both cannot differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gitmem.app import App
from gitmem.cli.main import cli
from gitmem.cli.terminal import Terminal


@dataclass
class RecordingTerminal(Terminal):
    """A terminal that keeps what a command says: `data` of `--json`, and `notes` for people."""

    color: str = "never"
    pager: bool = False
    data: Any = None
    notes: list[str] = field(default_factory=list)

    def json(self, data: Any) -> None:
        """Keep what the command found."""
        self.data = data

    def say(self, text: str) -> None:
        """Keep a line."""
        self.notes.append(text)

    def note(self, text: str) -> None:
        """Keep a remark."""
        self.notes.append(text)

    def page(self, lines: Iterable[str], app: App | None = None) -> None:
        """Keep lines."""
        self.notes += lines

    def progress(self, what: str = "indexing") -> Callable[[int, int], None] | None:
        """Return nothing: nobody looks on."""
        return None


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command printed with `--json`, and what it remarked."""

    data: Any
    notes: Sequence[str] = ()


def ask(folder: str, environ: Mapping[str, str], *args: str) -> CommandAnswer:
    """Run a command with `--json`; raise what it raises.

    Give texts of others behind `--` or as `--name=text`: else they could be options.
    """
    name, *rest = args
    terminal = RecordingTerminal(folder, environ)
    context = cli.make_context("git mem", [], resilient_parsing=True, obj=terminal)
    command = cli.get_command(context, name)
    assert command is not None, name  # the names stand in this program
    end = rest.index("--") if "--" in rest else len(rest)
    command.main(
        [*rest[:end], "--json", *rest[end:]],
        prog_name=name,
        parent=context,
        standalone_mode=False,
    )
    return CommandAnswer(terminal.data, terminal.notes)
