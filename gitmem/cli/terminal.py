"""What commands print: colours on a terminal only, the pager, tables, JSON, formats."""

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import click

from gitmem.app import App, open_app, open_user, user_store
from gitmem.cli.json_output import envelope, json_text
from gitmem.cli.screen import cell_count, cut_line, wrap_line
from gitmem.clock import Clock, seconds
from gitmem.errors import NotARepository
from gitmem.records.kinds import short_id
from gitmem.repo.location import STOPPED
from gitmem.services.records.committers import TRUST_FIELDS, UNCONFIRMED, trust_marks

if TYPE_CHECKING:
    from subprocess import Popen

# Terminal control in text from elsewhere is shown, never obeyed; so are marks that reorder text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TITLE_SHOWN = 120  # characters
LEAST_WIDTH, USUAL_WIDTH = 20, 100  # columns; the latter of a terminal that does not say
TITLE_LEAST = 16  # columns that a title has at least, beside its marks
NAME_SHOWN = 12  # columns of a name in the place of an id
ID_LIKE = "mem-00000000000000000000000000"
LINES_A_WRITE = 500  # a reader such as `head` may go before the rest is made
BARS = "▁▂▃▄▅▆▇█"  # of a sparkline, the lowest first
COLORS = {
    "critical": "red",
    "warning": "yellow",
    "info": "blue",
    "pinned": "cyan",
    "archived": "bright_black",
    "decayed": "bright_black",
}


def plain(text: str) -> str:
    """Return text with control and bidi characters made visible."""
    if text.isprintable():  # nearly always: none of them is printable
        return text
    return _CONTROL.sub(
        lambda m: (
            f"\\x{ord(m.group()):02x}" if ord(m.group()) < 256 else f"\\u{ord(m.group()):04x}"
        ),
        text,
    )


def title_shown(title: str) -> str:
    """Return a title for a message or a line of a terminal: a long one is cut."""
    text = plain(title)
    return text if len(text) <= TITLE_SHOWN else text[: TITLE_SHOWN - 1].rstrip() + "…"


def path_text(path: str) -> str:
    """Return a path as text: bytes that are not UTF-8 by their numbers."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def path_shown(path: object) -> str:
    """Return a path on one line."""
    return plain(path_text(str(path))).replace("\n", "\\n").replace("\t", "\\t")


def short(id: str) -> str:
    """Return how an id is shown."""
    return short_id(id)


def short_ids(ids: Iterable[str], *, cut: bool | None = None) -> dict[str, str]:
    """Return how ids are shown beside each other: as short as they differ.

    On a terminal (`cut`) they are equally wide, and names of epics are cut as far as they differ.
    """
    every = list(dict.fromkeys(ids))
    coded = [id for id in every if short(id) != id]
    length = len(short(ID_LIKE))
    while len({id[-length:] for id in coded}) < len(coded):
        length += 1
    shown = {id: id[-length:] if short(id) != id else id for id in every}
    if not (sys.stdout.isatty() if cut is None else cut):
        return shown
    most = max((min(len(text), NAME_SHOWN) for text in shown.values()), default=0)
    while len({cut_line(text, most) for text in shown.values()}) < len(shown):
        most += 1
    return {id: f"{cut_line(text, most):<{most}}" for id, text in shown.items()}


def age(stamp: str, now: float) -> str:
    """Return how long ago an RFC 3339 time was: '3 days ago'."""
    try:
        gone = max(0, int(now - seconds(stamp)))
    except ValueError:
        return stamp
    for size, name in (
        (31536000, "year"),
        (2592000, "month"),
        (604800, "week"),
        (86400, "day"),
        (3600, "hour"),
        (60, "minute"),
    ):
        if gone >= size:
            n = gone // size
            return f"{n} {name}{'s' if n > 1 else ''} ago"
    return "just now"


@dataclass
class Terminal:
    """How this run talks to its user, and the repository it works on."""

    folder: str
    environ: Mapping[str, str]
    color: str = "auto"
    pager: bool = True
    clock: Clock = field(default_factory=Clock)

    @cached_property
    def colored(self) -> bool:
        """Whether to colour the output."""
        if self.color != "auto":
            return self.color == "always"
        return (
            sys.stdout.isatty()
            and "NO_COLOR" not in self.environ
            and self.environ.get("TERM") != "dumb"
        )

    def style(self, text: str, **how: Any) -> str:
        """Return text in a colour, if colours are on."""
        return click.style(text, **how) if self.colored else text

    @contextlib.contextmanager
    def open(self, prefer: str = "git") -> Iterator[App]:
        """Open the repository of the folder for one command."""
        with open_app(self.folder, self.environ, self.clock, prefer, self.progress()) as app:
            yield from self._used(app)

    def _used(self, app: App) -> Iterator[App]:
        begun = [name for name in STOPPED if os.path.exists(app.home.join(name))]
        app.begin_command()
        yield app
        for name in begun:
            if os.path.exists(app.home.join(name)):
                self.note(f"{STOPPED[name][0]} {STOPPED[name][1]}")
        if app.stale or ("user" in app.__dict__ and app.user.stale):
            self.note(
                "another process is indexing: the newest records may be missing here. Try again in "
                "a moment."
            )
        if app.fresh_index.incomplete:
            self.note(
                "the newest commit of the memory is missing from the repository: this is what was "
                "indexed last. Run: git mem doctor --fix"
            )
        if app.unsigned:
            self.note(
                "saved, but not signed: git could not sign. Try: git commit-tree -S -m test "
                "HEAD^{tree}; to stop signing: git config gitmem.sign false"
            )

    @contextlib.contextmanager
    def open_any(self) -> Iterator[App]:
        """Open the repository of the folder.

        Outside of one, the user's own store, if there is one.
        """
        try:
            app = open_app(self.folder, self.environ, self.clock, "git", self.progress())
        except NotARepository:
            if not user_store(self.environ):
                raise
            app = open_user(self.environ, self.clock, "git")
        with app:
            yield from self._used(app)

    @contextlib.contextmanager
    def open_or_user(self, user: bool) -> Iterator[App]:
        """Open the repository; outside of one, with `--user`, the user's own store."""
        try:
            app = open_app(self.folder, self.environ, self.clock, "git", self.progress())
        except NotARepository as error:
            if not user:
                raise NotARepository(
                    str(error), f"{error.hint} Memories for every project: --user."
                ) from error
            app = open_user(self.environ, self.clock, "git")
        with app:
            yield from self._used(app)

    def progress(self, what: str = "indexing") -> Callable[[int, int], None] | None:
        """Return a progress line for long work; None when stderr is not a terminal."""
        if not sys.stderr.isatty():
            return None

        def show(done: int, total: int) -> None:
            end = "\r" if done < total else "\r\033[K"
            click.echo(f"{what} {done:,} of {total:,}" if done < total else "", nl=False, err=True)
            click.echo(end, nl=False, err=True)

        return show

    def say(self, text: str) -> None:
        """Write a line for people to stdout; a long one is broken between words on a terminal."""
        for line in fitted(text, sys.stdout):
            click.echo(line, color=self.colored)

    def show(self, text: str) -> None:
        """Write text to stdout as it is: whoever copies it needs its lines whole."""
        click.echo(text, color=self.colored)

    def note(self, text: str) -> None:
        """Write a remark to stderr: never mixed into data."""
        for line in fitted(plain(text), sys.stderr):
            click.echo(line, err=True)

    def rows(self, lines: Iterable[str], app: App | None = None) -> None:
        """Write the lines of a list as `page` does; on a terminal each is cut to its width."""
        if sys.stdout.isatty():
            room = width()
            lines = (cut_line(text.expandtabs(), room) for text in lines)
        self.page(lines, app)

    def page(self, lines: Iterable[str], app: App | None = None, *, wraps: bool = False) -> None:
        """Write lines, through the user's pager when they are for a terminal.

        With `wraps`, lines that are too long for it are broken between words.
        """
        if wraps:
            whole = lines
            lines = (text for line in whole for text in fitted(line, sys.stdout))
        if not (self.pager and sys.stdout.isatty()):
            for part in _parts(lines):
                click.echo("\n".join(part), color=self.colored)
            return
        parts = _parts(lines)
        first = next(parts, None)
        pager = self._started_pager(app) if first else None
        if pager is None:
            for text in chain(first or (), chain.from_iterable(parts)):
                click.echo(text, color=self.colored)
            return
        assert pager.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # whoever has seen enough
            # page by page: the first is there before the last is made
            for part in chain([first or []], parts):
                pager.stdin.write("".join(f"{text}\n" for text in part).encode("utf-8", "replace"))
                pager.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            pager.stdin.close()
        pager.wait()

    def _started_pager(self, app: App | None) -> "Popen[bytes] | None":
        """Return the user's pager, None for `cat` and for one that does not start."""
        command = self.environ.get("GIT_PAGER") or ""
        if not command and app is not None:
            command = app.settings.git("core.pager")
        command = command or self.environ.get("PAGER") or "less"
        if command == "cat":
            return None
        import subprocess

        env = {
            **self.environ,
            "LESS": self.environ.get("LESS", "FRX"),
            "LV": self.environ.get("LV", "-c"),
        }
        try:
            # the user's own pager setting, run as git runs it: through the shell
            pipe = subprocess.PIPE
            return subprocess.Popen(command, stdin=pipe, shell=True, env=env)  # noqa: S602
        except OSError:
            return None

    def json(self, data: Any) -> None:
        """Write what the running command found as JSON, in the envelope of all commands."""
        click.echo(json_text(envelope(click.get_current_context(), data)))


LINE = (
    *TRUST_FIELDS,
    "id",
    "type",
    "status",
    "origin",
    "created",
    "severity",
    "conflict",
    "expires",
)  # what `line` shows


def line(term: Terminal, row: Mapping[str, Any], *, cut: bool = False, id: str = "") -> str:
    """Return the one line of a record in a list; `cut` shortens a long title on a terminal.

    `id` is how the record is named among others, by `short_ids`.
    """
    whole = row["kind"]
    kind = row.get("severity") or row.get("type") or whole
    label = f"{f'{whole}/{kind}' if kind != whole else whole:<18}"
    id, title, tail = id or short(row["id"]), plain(row["title"]), ""
    marks = list(_marks(term, row))
    if marks:
        tail = f" ({', '.join(marks)})"
    if cut and sys.stdout.isatty():
        room = width() - len(f"{id} {row['created'][:10]} {label} ") - cell_count(tail)
        title = cut_line(title, max(room, TITLE_LEAST))
    if term.colored:
        id, label = (
            term.style(id, fg="yellow"),
            term.style(label, fg=COLORS.get(str(kind), "green")),
        )
    return f"{id} {row['created'][:10]} {label} {title}{tail}"


def _marks(term: Terminal, row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is unusual about a record."""
    if row.get("status") not in {"active", None, ""}:
        yield term.style(plain(str(row["status"])), fg=COLORS.get(str(row["status"])))
    if row.get("decayed"):
        yield term.style("decayed", fg=COLORS["decayed"])
    if row.get("effective_score") is not None:
        yield f"score {row['effective_score']:g}"
    if row.get("resolved"):
        yield "resolved"
    if row.get("expires"):
        yield f"until {plain(str(row['expires']))}"
    if row.get("conflict"):
        yield term.style("conflict", fg="red")
    trust = trust_marks(row)
    if UNCONFIRMED not in trust and row.get("origin") not in {"manual", None, ""}:
        yield plain(str(row["origin"]))
    for mark in trust:
        yield term.style(plain(mark), fg=None if mark == UNCONFIRMED else "red")
    if row.get("store") not in {"shared", None, ""}:
        yield str(row["store"])


def width(stream: Any = None) -> int:
    """Return the width of the terminal that a stream, standard output by default, writes to."""
    try:
        number = (stream or sys.stdout).fileno()
        return max(LEAST_WIDTH, os.get_terminal_size(number).columns or USUAL_WIDTH)
    except (OSError, ValueError):
        return USUAL_WIDTH


def fitted(text: str, stream: Any) -> Iterator[str]:
    """Yield lines that a stream holds: broken between words on a terminal, whole elsewhere."""
    for line in text.split("\n"):
        yield from wrap_line(line.expandtabs(), width(stream)) if stream.isatty() else (line,)


def _parts(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lines in parts that are written at once."""
    rest = iter(lines)
    while part := list(islice(rest, LINES_A_WRITE)):
        yield part
