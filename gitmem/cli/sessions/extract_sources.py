"""What `git mem extract` reads: files, sessions, commit messages."""

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO

from gitmem.app import App
from gitmem.cli.terminal import plain
from gitmem.errors import External, GitFailed, UserError
from gitmem.repo.location import storable
from gitmem.repo.refs import head
from gitmem.transcripts.turn import Turn

ABBREVIATED = 10  # characters of a commit's id


BROKEN = "bytes that are not UTF-8"


COMMITS = 2000  # commits that are read at most


@dataclass(frozen=True)
class Source:
    """Something to be read: its name, for people, and its turns, with how many there were."""

    name: str
    turns: Callable[[], Iterator[Turn]]
    path: bool = False  # whether the name is that of a file
    evidence: str = ""  # how proposals call it
    flaws: set[str] = field(default_factory=set)  # what came up while it was read: BROKEN


def sources_of(
    app: App, files: Sequence[str], form: str, session: str | None, commits: str | None
) -> list[Source]:
    """Return what a session, commits or files have to be read."""
    if session is not None:
        from gitmem.cli.sessions.find import find_session
        from gitmem.services.session_log import reader as histories
        from gitmem.services.sessions import finish

        named = find_session(app, session)
        turns, source, _ = finish.turns(named, lambda it: histories.lines(app.home, it))
        return [Source(source, lambda: turns)]
    if commits is not None:
        return [Source(f"the commits {commits}", lambda: _log(app, commits))]
    return [file_source(name, form) for name in files]


def without_hidden(app: App, source: Source) -> Source:
    """Return a source without what is never stored of this work tree.

    Its evidence names no place outside of it.
    """
    from gitmem.repo.location import inside
    from gitmem.transcripts import ignored as hidden

    root = app.location.worktree or ""
    ignored = app.hidden(root)
    place = inside(source.name, os.path.realpath(root), os.getcwd()) if source.path and root else ""
    named = (
        "a file"
        if place and ignored.has(place)
        else place or os.path.basename(source.name)
        if source.path
        else source.name
    )
    return replace(
        source, turns=lambda: hidden.shown(source.turns(), ignored, root), evidence=storable(named)
    )


def _log(app: App, wanted: str) -> Iterator[Turn]:
    """Return the commits of a range, the oldest first: what is newer wins."""
    from gitmem.transcripts.formats.commits import printed

    chosen = (
        [wanted]
        if wanted.startswith("-") and wanted[1:].isdigit()
        else ["--end-of-options", wanted]
    )
    if wanted.startswith("-") and not wanted[1:].isdigit():
        raise UserError(
            f"'{plain(wanted)}' is not a range of commits.",
            "Give one as git takes it: main..HEAD, or -20 for the last twenty.",
        )
    options = (
        "--no-color",
        "--no-decorate",
        "--no-notes",
        "--no-show-signature",
        "--encoding=UTF-8",
        "--date=iso-strict",
        "--format=medium",
        "--name-only",
        "--no-merges",
    )
    try:
        output = app.git.run("log", "--reverse", f"--max-count={COMMITS}", *options, *chosen, "--")
    except GitFailed as error:
        if not head(app.location):
            raise UserError(
                "this repository has no commits yet.",
                "Commit something first, or name a FILE to read.",
            ) from error
        raise UserError(
            f"'{plain(wanted)}' names no commits of this repository.",
            "Give a range as git takes it: main..HEAD, or -20.",
        ) from error
    return printed(io.BytesIO(output))


def file_source(name: str, form: str) -> Source:
    """Return a file, or standard input for `-`, as a source; it is opened when it is read."""

    def turns() -> Iterator[Turn]:
        from gitmem.transcripts import reader as reading
        from gitmem.transcripts.jsonl import Utf8

        try:
            with (
                contextlib.nullcontext(sys.stdin.buffer) if name == "-" else _opened(name) as stream
            ):
                checked = Utf8(stream)
                text = reading.readable(
                    io.BufferedReader(checked), made.name if name == "-" else f"'{plain(name)}'"
                )
                yield from reading.read(text, "" if name == "-" else name, form)
                made.flaws.update([BROKEN] if checked.broken else [])
        except OSError as error:
            hints = {
                FileNotFoundError: "Check the path.",
                IsADirectoryError: "Name the files in it.",
            }
            hint = hints.get(type(error), "Check its owner and mode.")
            raise External(
                f"'{plain(name)}' cannot be read: {os.strerror(error.errno or 0)}.", hint
            ) from error

    made = Source("standard input", turns) if name == "-" else Source(name, turns, path=True)
    return made


def _opened(name: str) -> IO[bytes]:
    stream = open(name, "rb")
    if stat.S_ISDIR(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise IsADirectoryError(errno.EISDIR, name)
    return stream
