"""Who made lines of a file, as `git blame --porcelain` says.

See https://git-scm.com/docs/git-blame#_the_porcelain_format.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import NamedTuple

from gitmem.errors import GitFailed, UserError
from gitmem.git.added_lines import contents as contents_of
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import CodeCommit
from gitmem.git.paths import unquoted
from gitmem.text.plural import counted

NOT_COMMITTED = "0"  # the id that blame gives to lines of the work tree is this and nothing else
_HEADER = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (\d+) (\d+)(?: (\d+))?")


@dataclass(slots=True)
class Blamed:
    """Lines that are together now and that one commit made in one place.

    The fields `was` and `path` are their line and file there, `first` is their line here. `commit`
    is None for what is not committed.
    """

    commit: CodeCommit | None
    first: int
    count: int
    was: int
    path: str


def blame(
    history: CodeHistory,
    path: str,
    spans: Sequence[tuple[int, int]],
    revision: str = "",
    contents: bytes | None = None,
) -> list[Blamed]:
    """Return who made lines of a file, in the order of the lines.

    Lines are followed through renames, moves within the file and copies from files changed beside
    it.

    `contents` is the text of the file where it is not, or not yet, what the disk has. Raises
    UserError for a file that git does not know, or lines that it does not have.
    """
    ranges = [f"-L{first},{last}" for first, last in spans]
    what = ["--contents", "-"] if contents is not None else [revision] if revision else []
    # one line moved is found too: -M takes 20 letters and digits for a move, -C 40
    with_moves, bare = _both(
        lambda: _blame(history, path, ["-M", "-C", *ranges, *what], contents),
        lambda: _blame(history, path, [*ranges, *what], contents),
    )
    moved, plain = _lines(with_moves), _lines(bare)
    there = {line.now: line for line in plain}
    copies = _copied(history, path, moved, there, contents)
    return _joined([there[line.now] if line.now in copies else line for line in moved])


def _both(first: Callable[[], bytes], second: Callable[[], bytes]) -> tuple[bytes, bytes]:
    """Return what two functions return that run at the same time; raises what either raises."""
    results: list[bytes] = []
    failures: list[BaseException] = []

    def run_second() -> None:
        try:
            results.append(second())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits
            failures.append(error)

    thread = Thread(target=run_second)
    thread.start()
    try:
        result = first()
    finally:
        thread.join()
    if failures:
        raise failures[0]
    return result, results[0]


def _blame(history: CodeHistory, path: str, args: Sequence[str], contents: bytes | None) -> bytes:
    try:
        return history.run("blame", "--porcelain", *args, "--", path, stdin=contents)
    except GitFailed as error:
        if "has only" in error.stderr:
            number = re.search(r"has only (\d+) line", error.stderr)
            raise UserError(
                f"'{path}' has {counted(int(number[1]), 'line') if number else 'fewer lines'}.",
                "Name lines that are there: FILE:LINE or FILE:FIRST-LAST",
            ) from error
        raise UserError(
            f"git has no history of '{path}'.", "Is it a file that git tracks? See: git ls-files"
        ) from error


class _Line(NamedTuple):
    """A line of `git blame`.

    It has its number now and in its commit, the file's name there, and its text.
    """

    commit: CodeCommit | None
    now: int
    was: int
    path: str
    text: bytes


def _copied(
    history: CodeHistory,
    path: str,
    moved: Sequence[_Line],
    plain: Mapping[int, _Line],
    contents: bytes | None,
) -> set[int]:
    """Return the lines that git takes for moved but that were copied.

    What they are copies of was not removed.

    Whoever copies a line has put it there; whoever moves one has not written it.
    """
    doubtful = _doubtful(moved, plain)
    names = {
        (oid, side, name): f"{revision}:{name}"
        for oid, *files in doubtful
        for side, revision in (("now", oid), ("before", f"{oid}^" if oid else "HEAD"))
        for name in files
        if oid or side == "before"
    }
    saved = contents_of(history, list(names.values()))
    out: set[int] = set()
    for (oid, *files), lines in doubtful.items():
        counts = {}
        for side in ("now", "before"):
            texts = [
                _text_of(history, path, oid, side, name, names, saved, contents)
                for name in dict.fromkeys(files)
            ]
            counts[side] = Counter(row.strip() for text in texts for row in text.split(b"\n"))
        added = counts["now"] - counts["before"]
        out.update(line.now for line in lines if line.text.strip() in added)
    return out


def _doubtful(
    moved: Sequence[_Line], plain: Mapping[int, _Line]
) -> dict[tuple[str, str, str], list[_Line]]:
    """Return {(commit, file now, file before): lines that only one of two calls takes for moved}.

    The commit is "" for what is not committed.
    """
    doubtful: dict[tuple[str, str, str], list[_Line]] = {}
    for line in moved:
        other = plain[line.now]
        if (other.commit, other.path, other.was) != (line.commit, line.path, line.was):
            key = (other.commit.oid if other.commit else "", other.path, line.path)
            doubtful.setdefault(key, []).append(line)
    return doubtful


def _text_of(
    history: CodeHistory,
    path: str,
    oid: str,
    side: str,
    name: str,
    names: Mapping[tuple[str, str, str], str],
    saved: Mapping[str, bytes],
    contents: bytes | None,
) -> bytes:
    """Return a file in the commit, or the work tree, that a line came with, or before it."""
    if not oid and side == "now":
        if name == path and contents is not None:
            return contents
        return history.text(name) or b""
    return saved.get(names[oid, side, name], b"")


def _lines(out: bytes) -> list[_Line]:
    """Return the lines of `git blame --porcelain`."""
    facts: dict[str, dict[str, bytes]] = {}
    lines: list[_Line] = []
    oid, was, now = "", 0, 0
    for line in out.split(b"\n"):
        if line.startswith(b"\t"):
            about = facts[oid]
            committed = None if not oid.strip(NOT_COMMITTED) else _of_blame(oid, about)
            lines.append(_Line(committed, now, was, unquoted(about.get("filename", b"")), line[1:]))
            continue
        header = _HEADER.fullmatch(line.decode("ascii", "replace"))
        if header:
            oid, was, now = header[1], int(header[2]), int(header[3])
            facts.setdefault(oid, {})
        elif oid:
            key, _, value = line.partition(b" ")
            facts[oid][key.decode("ascii", "replace")] = value
    return lines


def _joined(lines: Sequence[_Line]) -> list[Blamed]:
    """Return runs of lines."""
    runs: list[Blamed] = []
    for line in lines:
        last = runs[-1] if runs else None
        follows = last and (last.first + last.count, last.was + last.count) == (line.now, line.was)
        if last and follows and (last.commit, last.path) == (line.commit, line.path):
            last.count += 1
        else:
            runs.append(Blamed(line.commit, line.now, 1, line.was, line.path))
    return runs


def _of_blame(oid: str, about: Mapping[str, bytes]) -> CodeCommit:
    text = {
        key: about.get(key, b"").decode("utf-8", "replace")
        for key in ("author", "author-mail", "author-time", "committer-time", "summary")
    }
    times = [
        int(text[key]) if text[key].isdigit() else 0 for key in ("author-time", "committer-time")
    ]
    return CodeCommit(
        oid, text["author"], text["author-mail"].strip("<>"), times[0], times[1], text["summary"]
    )
