"""Run a command of `git mem` in this process and take what it would print with `--json`.

The dashboard shows and does what the commands show and do, so that both cannot differ.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gitmem.app import App
from gitmem.cli.main import cli
from gitmem.cli.terminal import Terminal

_NOTHING_SEEN: Mapping[str, str] = MappingProxyType({})


@dataclass
class RecordingTerminal(Terminal):
    """A terminal that keeps what a command says: `data` of `--json`, and `notes` for people."""

    color: str = "never"
    pager: bool = False
    data: Any = None
    notes: list[str] = field(default_factory=list)
    seen: Mapping[str, str] = field(default_factory=dict)
    command_id: str = ""

    def _used(self, app: App) -> Iterator[App]:
        app.seen = self.seen
        yield from super()._used(app)
        self.command_id = app.command_id

    def json(self, data: Any) -> None:
        """Keep what the command found."""
        self.data = data

    def say(self, text: str) -> None:
        """Keep a line."""
        self.notes.append(text)

    def note(self, text: str) -> None:
        """Keep a remark."""
        self.notes.append(text)

    def page(self, lines: Iterable[str], app: App | None = None, *, wraps: bool = False) -> None:
        """Keep lines."""
        self.notes += lines

    def progress(self, what: str = "indexing") -> Callable[[int, int], None] | None:
        """Return nothing: nobody looks on."""
        return None


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What a command printed with `--json`, what it remarked, and its id if it wrote something."""

    data: Any
    notes: Sequence[str] = ()
    command_id: str | None = None


def ask(
    folder: str, environ: Mapping[str, str], *args: str, seen: Mapping[str, str] = _NOTHING_SEEN
) -> CommandAnswer:
    """Run a command with `--json`; raise what it raises.

    Give texts of others behind `--` or as `--name=text`: else they could be options. `seen` are the
    blobs of the records that it was decided by, by id: RecordChanged if one of them is another now.
    """
    terminal = RecordingTerminal(folder, environ, seen=seen)
    context = cli.make_context("git mem", [], resilient_parsing=True, obj=terminal)
    name, command, rest = cli.resolve_command(context, list(args))
    assert command is not None, name  # the names stand in this program
    end = rest.index("--") if "--" in rest else len(rest)
    command.main(
        [*rest[:end], "--json", *rest[end:]],
        prog_name=name,
        parent=context,
        standalone_mode=False,
    )
    return CommandAnswer(terminal.data, terminal.notes, terminal.command_id or None)
