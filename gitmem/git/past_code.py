"""What code said before: files that went, versions of files, and where words are or were.

Reads only. Paths are str with bytes that are not UTF-8 as surrogates.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

from gitmem.errors import GitmemError
from gitmem.git.code_history import CodeHistory
from gitmem.git.process import is_object_name

COMMITS = 20_000  # of the history that are looked at, the newest
WORDS = 200  # that one call of git looks for
PATHS = 500  # that one call of git looks into
HITS = 100_000  # words that one call of git finds


_SPECIAL = re.compile(r"[.+*?()\[\]{}|^$\\]")


class PastFile(NamedTuple):
    """A file that a commit removed or renamed: `now` is its new name, else ''.

    Without a commit, the file is gone from the work tree alone.
    """

    path: str
    commit: str
    at: int  # seconds since the epoch
    now: str = ""


class PastVersion(NamedTuple):
    """A change of a file: the blobs before and after, '' where there is none."""

    path: str
    commit: str
    at: int
    old: str
    new: str


class WordHit(NamedTuple):
    """A word on a line, from 1, of a file."""

    path: str
    line: int
    word: str


class PastCode:
    """Asks git about the code of one repository as it was."""

    def __init__(self, history: CodeHistory) -> None:
        self._history = history

    def present(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the files of the work tree, and those that a sparse checkout leaves out.

        Ignored files are in neither; such as are gone are in the first.
        """
        options = ("-z", "-t", "--cached", "--others", "--exclude-standard")
        rows = [os.fsdecode(row) for row in self._history.run("ls-files", *options).split(b"\0")]
        skipped = frozenset(row[2:] for row in rows if row.startswith("S "))
        return frozenset(row[2:] for row in rows if row) - skipped, skipped

    def removed(self, commit: str) -> list[PastFile]:
        """Return the files that commits below one removed or renamed, the newest first."""
        out = []
        for oid, at, parts in self._log(commit, "--diff-filter=DR", "-M", "--name-status"):
            while parts:
                what = parts.pop(0)
                path = parts.pop(0)
                now = parts.pop(0) if what.startswith("R") else ""
                out.append(PastFile(path, oid, at, now))
        return out

    def versions(self, commit: str, paths: Sequence[str]) -> list[PastVersion]:
        """Return the changes of the files that path patterns name, the newest first."""
        out = []
        options = ("--raw", "--no-renames", "--no-abbrev", "--full-history")
        for oid, at, parts in self._log(commit, *options, paths=paths):
            for facts, path in zip(parts[::2], parts[1::2], strict=False):
                _, _, old, new, _ = facts.lstrip(":").split(" ")
                out.append(PastVersion(path, oid, at, _blob(old), _blob(new)))
        return out

    def _log(
        self, commit: str, *options: str, paths: Sequence[str] = ()
    ) -> Iterator[tuple[str, int, list[str]]]:
        """Yield (commit, time, what git says of its files) of the commits below one."""
        head: tuple[str, int] | None = None
        parts: list[str] = []
        paths_due = 0  # a path may look like anything else
        lines = self._history.lines(
            "log",
            "-z",
            "--format=%x01%H %ct",
            f"--max-count={COMMITS}",
            *options,
            commit,
            "--",
            *paths,
            sep=b"\0",
        )
        for line in lines:
            change = line.removeprefix(b"\n")
            if paths_due:
                parts.append(os.fsdecode(line))
                paths_due -= 1
            elif line.startswith(b"\1"):
                if head and parts:
                    yield *head, parts
                oid, _, at = line[1:].decode().partition(" ")
                head, parts = (oid, int(at)), []
            elif change:
                parts.append(os.fsdecode(change))
                paths_due = 2 if change.startswith(b"R") else 1
        if head and parts:
            yield *head, parts

    def dates(self, commit: str) -> list[tuple[int, str]]:
        """Return (time, commit) of the commits below one, in the order of time."""
        option = f"--max-count={COMMITS}"
        rows = self._history.run("log", "--format=%ct %H", option, commit, "--").decode()
        pairs = (row.split(" ") for row in rows.splitlines())
        return sorted((int(at), oid) for at, oid in pairs)

    def uncommitted(self) -> list[PastVersion]:
        """Return the files that the work tree has otherwise than HEAD, or not at all.

        They have no commit; `new` is '' for a file that is gone, else '0'.
        """
        if self._history.root is None:
            return []
        out = self._history.run(
            *("diff-index", "-z", "--no-renames", "--no-abbrev", "--diff-filter=DM", "HEAD"),
            ok=(0, 128),
        )
        parts = [os.fsdecode(part) for part in out.split(b"\0")]
        rows = []
        for facts, path in zip(parts[::2], parts[1::2], strict=False):
            _, _, old, _, what = facts.lstrip(":").split(" ")
            rows.append(PastVersion(path, "", 0, old, "" if what == "D" else "0"))
        return rows

    def mainline(self, commit: str) -> list[str]:
        """Return the first parents below a commit, the newest first."""
        option = f"--max-count={COMMITS}"
        return self._history.run("rev-list", "--first-parent", option, commit).decode().split()

    def differing(self, commit: str, other: str) -> list[str]:
        """Return the files of a commit that are not the same in another one; [] if it is gone."""
        if not (is_object_name(commit) and is_object_name(other)):
            return []
        try:
            out = self._history.run(
                *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=DM"),
                *(commit, other),
            )
        except GitmemError:
            return []
        return [os.fsdecode(name) for name in out.split(b"\0") if name]

    def is_below(self, commit: str, tip: str) -> bool:
        """Return whether a commit is, or is an ancestor of, another one; False for what is gone."""
        if not (is_object_name(commit) and is_object_name(tip)):
            return False
        try:
            self._history.run("merge-base", "--is-ancestor", commit, tip)
        except GitmemError:
            return False
        return True

    def hits(
        self,
        words: Sequence[str],
        commit: str = "",
        *,
        paths: Sequence[str] = (":/",),
        without: Sequence[str] = (),
    ) -> Iterator[WordHit]:
        """Yield where whole words are in files of a commit, or with '' of the work tree.

        Files that the patterns `without` fit are left out, and so are links and binary files. A
        commit that is gone has none.
        """
        if commit and not is_object_name(commit):
            return
        where = ["--cached"] if not commit and self._history.root is None else []
        where = [*where, "--untracked"] if not commit and not where else where
        parts = [paths[start : start + PATHS] for start in range(0, len(paths), PATHS)]
        for start, some in product(range(0, len(words), WORDS), parts):
            # one expression: git looks for several patterns one after the other
            named = "|".join(
                _SPECIAL.sub(r"\\\g<0>", word) for word in words[start : start + WORDS]
            )
            lines = self._history.lines(
                *("grep", "-z", "-n", "-o", "-w", "-I", "-E", "--full-name", "--no-color"),
                *(*where, "-e", named, *([commit] if commit else [])),
                *("--", *some, *(f":(exclude,top,glob){pattern}" for pattern in without)),
            )
            yield from _hits(islice(lines, HITS), f"{commit}:" if commit else "")


def _blob(oid: str) -> str:
    return oid if oid.strip("0") else ""


def _hits(lines: Iterable[bytes], prefix: str) -> Iterator[WordHit]:
    for row in lines:
        path, _, rest = row.partition(b"\0")
        line, _, word = rest.partition(b"\0")
        if line.isdigit():
            name = os.fsdecode(path).removeprefix(prefix)
            yield WordHit(name, int(line), word.decode("utf-8", "replace"))
