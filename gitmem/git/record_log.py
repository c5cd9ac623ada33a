"""Which commits changed which files of a store, as `git log --raw -c` prints them."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.git.objects import Identity
from gitmem.git.process import Git

ABSENT = "0"  # the id of a side that has no file is this and nothing else
_COMMIT, _FIELD = b"\1", b"\2"
_FORMAT = "--format=%x01%H %P%x02%cn%x02%ce%x02"
PATIENCE = 600.0  # seconds for all of a large store's history


class FileStep(NamedTuple):
    """A commit's change of a file: its blob in each parent, and its blob now; "" for no file."""

    path: str
    before: tuple[str, ...]
    after: str


class CommitStep(NamedTuple):
    """A commit of a store: who committed it, how many parents it has, what it changed.

    A merge changed only what differs from each of its parents.
    """

    committer: str
    parents: int
    files: tuple[FileStep, ...]


def person(identity: Identity) -> str:
    """Return somebody as `Name <address>`."""
    return f"{identity.name} <{identity.email}>"


def committers(
    git: Git, tip: str, hide: Sequence[str] = (), *, timeout: float = PATIENCE
) -> set[tuple[str, int, str]]:
    """Return (committer, number of parents, id where it has none) of the commits up to `tip`."""
    out = git.run("log", _FORMAT, tip, *_hidden(hide), "--", timeout=timeout)
    return {(who, len(ids) - 1, "" if ids[1:] else ids[0]) for who, ids, _ in _parts(out)}


def steps(
    git: Git,
    tip: str,
    hide: Sequence[str] = (),
    paths: Sequence[str] = (),
    *,
    timeout: float = PATIENCE,
) -> Iterator[CommitStep]:
    """Yield the commits up to `tip`, parents first, with what each did to the files."""
    out = git.run(
        "--literal-pathspecs",
        "log",
        "--topo-order",
        "--reverse",
        "--full-history",
        "--raw",
        "-c",
        "--root",
        "--no-abbrev",
        "--no-renames",
        "-z",
        _FORMAT,
        tip,
        *_hidden(hide),
        "--",
        *paths,
        timeout=timeout,
    )
    for committer, ids, rest in _parts(out):
        yield CommitStep(committer, len(ids) - 1, tuple(_files(rest)))


def _hidden(commits: Sequence[str]) -> list[str]:
    return [f"^{commit}" for commit in commits]


def _parts(out: bytes) -> Iterator[tuple[str, list[str], bytes]]:
    """Yield committer, ids of the commit and its parents, and the rest."""
    for part in out.split(_COMMIT)[1:]:
        fields = part.split(_FIELD, 3)
        if len(fields) < 4:
            continue
        name, mail = (field.decode("utf-8", "replace") for field in fields[1:3])
        yield f"{name} <{mail}>", fields[0].decode("ascii", "replace").split(), fields[3]


def _files(rest: bytes) -> Iterator[FileStep]:
    words = rest.strip(b"\0\n").split(b"\0")
    for head, path in zip(words[::2], words[1::2], strict=False):
        text = head.strip().decode("ascii", "replace")
        sides = text.count(":")
        columns = text.split()
        blobs = [
            "" if not blob.strip(ABSENT) else blob for blob in columns[sides + 1 : 2 * sides + 2]
        ]
        if len(blobs) == sides + 1:
            yield FileStep(os.fsdecode(path), tuple(blobs[:-1]), blobs[-1])
