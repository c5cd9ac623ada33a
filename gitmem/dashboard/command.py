"""`git mem dashboard`: the memory in a browser, or as one page in a file."""

import os
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from gitmem.app import App
from gitmem.base.files import write_atomic
from gitmem.cli import options
from gitmem.cli.terminal import Terminal, plain
from gitmem.dashboard.gate import new_token
from gitmem.dashboard.page import snapshot, whole_page
from gitmem.dashboard.place import DashboardPlace
from gitmem.dashboard.server import DashboardServer
from gitmem.errors import External
from gitmem.repo.location import Home
from gitmem.repo.output_files import write_output

OPENER_LIFE = 20.0  # seconds that a browser may take to come


@click.command("dashboard", short_help="Show the memory in a browser, or as one page in a file")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Default: any free one."
)
@click.option("--no-open", is_flag=True, help="Print the address; start no browser.")
@click.option("--read-only", is_flag=True, help="Show only; nothing can be changed.")
@click.option(
    "--out", "out", metavar="FILE", help="Write one HTML file that needs no server, and end."
)
@click.option("--force", "-f", is_flag=True, help="With --out: write over a file that is there.")
@options.json_option
@click.pass_obj
def dashboard_command(
    term: Terminal,
    port: int,
    no_open: bool,
    read_only: bool,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Show the memory in a browser: facts, inbox, conflicts, history, health, sessions.

    The page is served on 127.0.0.1 until Ctrl-C, or until nobody used it for an hour. Its address
    holds a token: everybody who has it can read your private facts too, so do not pass it on. What
    you do there is done as by the commands, and git mem undo takes it back.

    With --out, one HTML file shows all of it without a server. It has what your private store and
    your own store for all projects have, so only you can read it.

    \b
    Examples:
      git mem dashboard
      git mem dashboard --port 8377 --no-open --read-only
      git mem dashboard --out memory.html
    """
    if force and not out:
        raise click.UsageError("--force goes with --out FILE.")
    if out and (port or read_only or no_open):
        raise click.UsageError("--out starts no server: leave out --port, --no-open, --read-only.")
    with term.open() as app:
        folder = app.location.worktree or app.location.gitdir
        place = DashboardPlace(folder, term.environ, term.clock, read_only)
        if out:
            _write(term, app, place, out, force=force, as_json=as_json)
            return
        home = app.home
        home.make()
    os.chdir(folder)  # paths of the page are meant from the root
    server = _server(place, port)
    if as_json:
        where = {"page_url": server.url, "port": server.gate.port, "is_read_only": read_only}
        term.json({**where, "page_file": None, "page_size": None})
    else:
        term.say(server.url)
        term.note("Ctrl-C ends it; so does an hour without use.")
    sys.stdout.flush()
    with _ended_by_signals(server), _opener(home, server, wanted=not no_open):
        server.run()
    if server.ended_idle:
        term.note("nobody used it for an hour: ended. Start it again: git mem dashboard")


def _server(place: DashboardPlace, port: int) -> DashboardServer:
    try:
        return DashboardServer(place, port, new_token())
    except OSError as error:
        raise External(
            f"port {port} cannot be used: {os.strerror(error.errno or 0)}.",
            "Leave out --port to take any free one.",
        ) from error


@contextmanager
def _ended_by_signals(server: DashboardServer) -> Iterator[None]:
    """Have Ctrl-C and SIGTERM end the server without a trace."""

    def end(*_: Any) -> None:
        # from another thread: this one is in the loop that is to end
        threading.Thread(target=server.shutdown, daemon=True).start()

    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(name, end) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)


@contextmanager
def _opener(home: Home, server: DashboardServer, *, wanted: bool) -> Iterator[None]:
    """Open a browser, by way of a file that only its owner reads.

    Arguments of programs can be read by everybody on the machine, and the address holds the token.
    The file has a name of its own, and is gone as soon as the page has come: programs of the same
    user, agents among them, could read it.
    """
    if not wanted:
        yield
        return
    path = home.join(f"dashboard-{secrets.token_hex(8)}.html")
    url = server.url.replace("&", "&amp;").replace('"', "&quot;")
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>git mem</title>'
    write_atomic(path, page.encode())
    removal = threading.Thread(target=_remove_when_used, args=(path, server.was_used))
    removal.start()
    try:
        webbrowser.open(f"file://{path}")
    except webbrowser.Error:
        pass  # the address is printed too
    try:
        yield
    finally:
        server.was_used.set()
        removal.join()


def _remove_when_used(path: str, was_used: threading.Event) -> None:
    was_used.wait(OPENER_LIFE)
    with suppress(FileNotFoundError):
        os.unlink(path)


def _write(
    term: Terminal, app: App, place: DashboardPlace, out: str, *, force: bool, as_json: bool
) -> None:
    from gitmem.errors import UserError

    path = os.path.abspath(out)
    if os.path.lexists(path) and not force:
        raise UserError(
            f"'{plain(out)}' is there already.", "Take another name, or write over it: --force"
        )
    data = whole_page(snapshot(place))
    has_user = app.has_user() and not app.is_user_store()
    write_output(app.location, path, data, private=True)
    if as_json:
        nowhere = dict.fromkeys(("page_url", "port", "is_read_only"))
        term.json({**nowhere, "page_file": path, "page_size": len(data)})
    else:
        held = (
            "your private facts, and those of your own store," if has_user else "your private facts"
        )
        term.say(f"wrote {plain(out)} ({len(data) / 1e6:.1f} MB). It holds {held} too.")
