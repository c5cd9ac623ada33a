"""Stores with a long history of many replicas, made with `git fast-import`: the same for the same numbers.

A round is 21 commits at most: three replicas go on from the tip, and two merges join
them. Each round adds ten records and changes eight; one of these is changed on two sides.
"""

import random
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.clock import stamp, ulid
from gitmem.records.codec import encode
from gitmem.records.kinds import PREFIX
from gitmem.records.record import Record, make
from gitmem.repo.refs import SHARED
from gitmem.store.layout import record_path
from gitmem.store.store import Message

ROUND, ADDED, STEP = 21, 10, 600  # commits, records, seconds from one commit to the next
FIRST = 1_577_836_800  # of the first commit, the same everywhere
HOT = "src/hot.py"  # the file that `HOT_GOTCHAS` gotchas are anchored to
HOT_GOTCHAS = 300
REPLICAS = 40
AHEAD = "Person 3 <p3@example.org>"  # whose clock is an hour ahead
BOOK = b"gitmem <gitmem@localhost>"
WORDS = (
    "payment isolation retry timeout migration postgres redis session token cache index deadlock "
    "rollback webhook invoice currency rounding locale encoding unicode timezone scheduler worker "
    "queue backoff gateway proxy certificate header cookie login permission fixture snapshot mock"
).split()


class _Change(NamedTuple):
    """A change of one record by its author: its id, what was done, its subject, its bytes."""

    id: str
    op: str
    title: str
    data: bytes
    author: str


class _Commit(NamedTuple):
    """The mark of a commit, and when it was made, in epoch seconds."""

    mark: int
    at: int


class _History:
    """The commands of `git fast-import`, one round after the other."""

    def __init__(self, records: int, end: int, blobs: Mapping[str, str]) -> None:
        self.count = records
        self.blobs = blobs
        self.start = end - (records // ADDED) * ROUND * STEP
        self.made: list[Record] = []
        self.rng = random.Random(records)
        self.commits = 0

    def stream(self) -> Iterator[bytes]:
        """Yield all commands."""
        yield (
            b"reset %s\ncommit %s\nmark :1\nauthor %s %d +0000\ncommitter %s %d +0000\n"
            % (SHARED.encode(), SHARED.encode(), BOOK, FIRST, BOOK, FIRST)
        )
        yield _data(b"gitmem: init\n\nGitmem-Op: init\n")
        yield b"M 100644 inline gitmem.json\n" + _data(b'{"format": 1}\n')
        self.commits, tip = 1, _Commit(1, FIRST)
        while len(self.made) < self.count:
            sides = self.sides()
            parts = list[bytes]()
            tips = [self.side(tip, changes, parts) for changes in sides]
            joined = self.join(tips[0], tips[1], sides[1], parts)
            tip = self.join(joined, tips[2], sides[2], parts)
            yield from parts

    def sides(self) -> list[list[_Change]]:
        """Return the changes of three replicas: ten records added, eight changed."""
        added = [self.add() for _ in range(min(ADDED, self.count - len(self.made)))]
        old = self.made[: -len(added)] or self.made
        shared = self.rng.choice(old)
        chosen = [self.rng.choice(old) for _ in range(7)]
        edits = [self.edit(record) for record in chosen if record.id != shared.id]
        both = [self.edit(shared), self.edit(shared)]
        sides = [[*added[:4], both[0]], [*added[4:7], both[1]], added[7:]]
        for number, change in enumerate(edits):
            sides[(number % 4) and (number % 3)].append(change)
        return sides

    def add(self) -> _Change:
        """Return a new record: four memories to one gotcha."""
        number, rng = len(self.made), self.rng
        at = self.start + number * 2 * STEP
        kind = "gotcha" if number % 5 == 4 else "memory"
        text = [f"{rng.choice(WORDS)}{rng.randrange(60) or ''}" for _ in range(rng.randint(20, 70))]
        title = f"{' '.join(text[:6]).capitalize()} {number}"
        body = "\n".join(" ".join(text[i : i + 10]) + "." for i in range(6, len(text), 10)) + "\n"
        author = f"Person {number % REPLICAS} <p{number % REPLICAS}@example.org>"
        fields: dict[str, object] = {
            "created": stamp(at),
            "updated": stamp(at),
            "rev": 1,
            "author": author,
            "tags": rng.sample(WORDS, 2),
            "anchors": [self.anchor(number, kind)],
        }
        if number % 10 == 7:
            fields["links"] = [self.made[number - 1].id]
        if kind == "gotcha":
            fields |= {"category": "general", "occurrences": 3, "first_seen": stamp(at)}
            fields |= {"last_seen": stamp(at), "source": "auto_detected"}
            fields["severity"] = ("info", "warning", "critical")[number // 5 % 3]
            fields["workaround"] = " ".join(text[:5])
            if number % 20 != 4 and number >= HOT_GOTCHAS * 5:
                fields["resolved"] = {"at": stamp(at + 60), "by": "Ada"}
        else:
            fields |= {"type": ("fact", "decision", "pattern")[number % 3]}
            fields["importance"] = rng.randint(1, 9)
            if number % 50 == 30:
                fields["supersedes"] = [self.made[number - 10].id]
        record = make(kind, f"{PREFIX[kind]}-{ulid(at, rng.randbytes(10))}", title, body, **fields)
        self.made.append(record)
        return _Change(record.id, "add", title, encode(record), author)

    def anchor(self, number: int, kind: str) -> dict[str, object]:
        """Return where a record stands in the code: in two lines of a file as it is now."""
        path = self.path(number, kind)
        anchor: dict[str, object] = {"path": path, "lines": [1, 2]}
        if path in self.blobs:
            anchor["blob"] = self.blobs[path]
        return anchor

    def path(self, number: int, kind: str) -> str:
        """Return the file that a record is anchored to: the first gotchas to the hot one.

        Ten records share a file, as `tests.histories` names it; every 97th names one that is gone.
        """
        if kind == "gotcha" and number < HOT_GOTCHAS * 5:
            return HOT
        file = number // ADDED
        return f"src/gone{file}.py" if number % 97 == 5 else f"src/p{file % 50}/m{file}.py"

    def edit(self, record: Record) -> _Change:
        """Return a change of one line of a record."""
        line = f"Seen again {self.rng.randrange(10**6)}.\n"
        changed = record.change(body=record.body + line, rev=record.rev + 1)
        return _Change(record.id, "edit", record.title, encode(changed), record.get("author"))

    def side(self, base: _Commit, changes: list[_Change], out: list[bytes]) -> _Commit:
        """Add the commits of one side."""
        tip = base
        for change in changes:
            at = max(self.start + self.commits * STEP, tip.at)
            message = Message(f'{change.op}: "{change.title}"', change.op, (change.id,)).text()
            authored = at + 3600 * (change.author == AHEAD)
            parents = b"from :%d\n" % tip.mark
            who = change.author.encode()
            tip = self.commit(at, who, authored, message.encode(), parents, out)
            out.append(_file(change))
        return tip

    def join(self, one: _Commit, two: _Commit, changes: list[_Change], out: list[bytes]) -> _Commit:
        """Add a merge, which takes over what the second side did."""
        at = max(one.at, two.at)
        parents = b"from :%d\nmerge :%d\n" % (one.mark, two.mark)
        message = b"gitmem: merge\n\nGitmem-Op: merge\n"
        tip = self.commit(at, BOOK, at, message, parents, out)
        for change in changes:
            merged = change.data + b"Joined.\n" if change.op == "edit" else change.data
            out.append(_file(change._replace(data=merged)))
        return tip

    def commit(
        self, at: int, name: bytes, authored: int, message: bytes, parents: bytes, out: list[bytes]
    ) -> _Commit:
        """Add a commit's head, to the store's ref."""
        self.commits += 1
        out.append(
            b"commit %s\nmark :%d\nauthor %s %d +0000\ncommitter %s %d +0000\n"
            % (SHARED.encode(), self.commits, name, authored, name, at)
        )
        out.append(_data(message) + parents)
        return _Commit(self.commits, at)


def _data(text: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(text), text)


def _file(change: _Change) -> bytes:
    path = record_path(change.id).encode()
    return b"M 100644 inline %s\n" % path + _data(change.data)


def write(repo: Path, records: int, end: int) -> None:
    """Write a store of so many records, and twice as many commits up to a time, into a repository.

    It must have no shared store yet. `end` is in epoch seconds. Records are anchored in the files
    of HEAD, if there is one.
    """
    listed = subprocess.run(
        ["git", "-C", str(repo), "ls-tree", "-r", "HEAD"], capture_output=True, check=False
    )
    rows = [row.split(maxsplit=3) for row in listed.stdout.decode().splitlines()]
    blobs = {path: oid for _, _, oid, path in rows}
    child = subprocess.Popen(
        ["git", "-C", str(repo), "fast-import", "--quiet", "--force"], stdin=subprocess.PIPE
    )
    assert child.stdin is not None
    for part in _History(records, end, blobs).stream():
        child.stdin.write(part)
    child.stdin.close()
    if child.wait():
        raise RuntimeError("git fast-import failed")
