"""Messages of commits of the code: who wrote them, and their trailers as git itself reads them.

Reads only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitmem.errors import GitFailed
from gitmem.git.process import Git
from gitmem.repo.identity import made_by
from gitmem.repo.location import Location

# Raw names and addresses: a .mailmap comes with the code, so whoever writes it could name anybody.
FORMAT = "%H%x00%an%x00%ae%x00%cn%x00%ce%x00%at%x00%s%x00%(trailers:only=true)%x00%x01"
SEARCH = "%H%x00%an%x00%ae%x00%B%x01"
ENCODED = "--encoding=UTF-8"
OBJECT_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
SEARCHED = 200  # characters of a trailer that git searches for: an argument has a limit
INVALID = "\N{REPLACEMENT CHARACTER}"  # stands for bytes that are not UTF-8

# of entries in a reflog, for a commit whose author is who made it
MADE = ("commit:", "commit (initial):", "commit (merge):")


class Person(NamedTuple):
    """A name and an address, as a commit has them."""

    name: str
    mail: str

    def __str__(self) -> str:
        return f"{self.name} <{self.mail}>"


class Trailer(NamedTuple):
    """A trailer of a commit message.

    The field `name` is in lower case, `value` is in one line, and `first` is the first line of it
    that is not empty.
    """

    name: str
    value: str
    first: str


class CommitMessage(NamedTuple):
    """A commit of the code with what its message says.

    `written` is when its author made it, in seconds since the epoch, None if nobody knows.
    """

    oid: str
    author: Person
    committer: Person
    subject: str
    trailers: tuple[Trailer, ...]
    written: int | None = None

    def is_by(self, own: frozenset[str]) -> bool:
        """Say whether this user, by `identity.own_addresses`, is both author and committer."""
        return made_by(own, self.author.mail, self.committer.mail)


class CommitMessages:
    """Reads messages from one repository."""

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        *,
        timeout: float = 120.0,
    ) -> None:
        self._git = Git(location.gitdir, env, timeout=timeout)

    def read(self, oids: Iterable[str]) -> list[CommitMessage]:
        """Return the messages of commits, in this order; what is not there is left out.

        Raises External when git cannot be run.
        """
        wanted = list(filter(OBJECT_ID.fullmatch, dict.fromkeys(oids)))
        if not wanted:
            return []
        args = ("log", "--no-walk=unsorted", "--ignore-missing", ENCODED, f"--format={FORMAT}")
        data = "".join(f"{oid}\n" for oid in wanted).encode()
        try:
            out = self._git.run(*args, "--stdin", stdin=data)
        except GitFailed:
            if len(wanted) == 1:
                return []  # a damaged commit
            middle = len(wanted) // 2
            return self.read(wanted[:middle]) + self.read(wanted[middle:])
        return _messages(out)

    def latest(self, number: int) -> list[CommitMessage]:
        """Return the messages of the last commits of HEAD, newest first; none without a commit."""
        args = ("log", f"--max-count={number}", ENCODED, f"--format={FORMAT}", "HEAD", "--")
        status, out, _ = self._git.call(*args, ok=(0, 128))
        return [] if status else _messages(out)

    def made_here(self) -> frozenset[str]:
        """Return the commits that were made in this work tree, as far as HEAD's reflog goes back.

        A commit that was fetched has whatever author its sender chose.
        """
        args = ("log", "--walk-reflogs", "--format=%H %gs", "HEAD", "--")
        status, out, _ = self._git.call(*args, ok=(0, 128))
        rows = (line.partition(" ") for line in out.decode("utf-8", "replace").splitlines())
        return frozenset(oid for oid, _, how in rows if not status and how.startswith(MADE))

    def writer_of(self, trailer: Trailer, own: frozenset[str]) -> Person | None:
        """Return somebody else who wrote a trailer in a commit of this repository.

        None if nobody did.

        A squash, an amend and `git commit -c` give the words of others to whoever makes the commit.
        """
        args = (
            "log",
            "--all",
            "--reflog",
            ENCODED,
            "-F",
            f"--grep={_searched(trailer.first)}",
            f"--format={SEARCH}",
        )
        wanted = line_of(trailer)
        for author, lines in _rows(self._git.run(*args)):
            if wanted in lines and not made_by(own, author.mail):
                return author
        return None

    def lines_of_others(self, names: Sequence[str], own: frozenset[str]) -> dict[str, Person]:
        """Return {line of a trailer: who else wrote it} of all commits of this repository.

        `names` are those of the trailers, lines are as `line_of` has them. It is what `writer_of`
        finds, for many trailers at once.
        """
        begins = "|".join(names)
        args = ("--all", "--reflog", ENCODED, "-i", "-E", f"--grep=^({begins})[ \t]*:")
        beginnings = tuple(f"{name}:" for name in names)
        out: dict[str, Person] = {}
        for author, lines in _rows(self._git.run("log", *args, f"--format={SEARCH}")):
            if not made_by(own, author.mail):
                said = (line for line in lines if line.startswith(beginnings))
                out.update((line, author) for line in said if line not in out)
        return out


def _messages(out: bytes) -> list[CommitMessage]:
    rows = (parsed(row) for row in out.decode("utf-8", "replace").split("\1"))
    return [row for row in rows if row is not None]


def line_of(trailer: Trailer) -> str:
    """Return the first line of a trailer as two of them are compared."""
    return _plain(f"{trailer.name}:{trailer.first}")


def parsed(row: str) -> CommitMessage | None:
    """Return a commit printed as `FORMAT`; None for another line."""
    parts = row.lstrip("\n").split("\0")
    if len(parts) != 9:
        return None
    oid, name, mail, committer, address, at, subject, block, _ = parts
    people = Person(name, mail), Person(committer, address)
    written = int(at) if at.isdecimal() else None
    return CommitMessage(oid, *people, subject, tuple(_trailers(block)), written)


def _trailers(block: str) -> Iterable[Trailer]:
    """Yield the trailers of a block as git prints it.

    A line that begins with a space continues the one before.
    """
    lines = re.sub(r"\r?\n[ \t]+", "\n ", block).split("\n")
    rows: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and rows:
            rows[-1].append(line.strip())
        elif line.strip():
            name, _, value = line.partition(":")
            rows.append([name.strip().lower(), value.strip()])
    for name, *parts in rows:
        said = [part for part in parts if part]
        yield Trailer(name, " ".join(said), said[0] if said else "")


def _rows(out: bytes) -> Iterator[tuple[Person, list[str]]]:
    """Yield the author and the lines of each commit that was printed as `SEARCH`."""
    for row in out.decode("utf-8", "replace").split("\1"):
        parts = row.strip("\n").split("\0", 3)
        if len(parts) == 4:
            yield Person(parts[1], parts[2]), [_plain(line) for line in parts[3].split("\n")]


def _searched(line: str) -> str:
    """Return the part of a line to search for.

    It is short enough for an argument, and has only valid bytes.
    """
    return max(line[:SEARCHED].split(INVALID), key=len)


def _plain(line: str) -> str:
    """Return a line without spaces and letter case, as two trailers are compared."""
    return "".join(line.lower().split())
