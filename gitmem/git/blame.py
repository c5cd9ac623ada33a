"""Who made lines of a file, as `git blame --porcelain` says: https://git-scm.com/docs/git-blame#_the_porcelain_format."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitmem.errors import GitFailed, UserError
from gitmem.git.code_history import CodeHistory
from gitmem.git.commit_log import CodeCommit
from gitmem.git.paths import unquoted

NOT_COMMITTED = "0"  # the id that blame gives to lines of the work tree is this and nothing else
_HEADER = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (\d+) (\d+)(?: (\d+))?")


@dataclass(slots=True)
class Blamed:
    """Lines that stand together now, and that one commit made in one place: `was` and `path` are there, `first` is here. `commit` is None for what is not committed."""

    commit: CodeCommit | None
    first: int
    count: int
    was: int
    path: str


def blame(
    history: CodeHistory, path: str, spans: Sequence[tuple[int, int]], revision: str = "", contents: bytes | None = None
) -> list[Blamed]:
    """Return who made lines of a file, through renames, moves within it and copies from files changed beside it; in the order of the lines.

    `contents` is the text of the file where it is not, or not yet, what the disk has. Raises UserError for a file that git does not know, or lines that it does not have.
    """
    ranges = [f"-L{first},{last}" for first, last in spans]
    try:
        # one line moved is found too: -M takes 20 letters and digits for a move, -C 40
        out = history.run(
            "blame",
            "--porcelain",
            "-M",
            "-C",
            *ranges,
            *(["--contents", "-"] if contents is not None else [revision] if revision else []),
            "--",
            path,
            stdin=contents,
        )
    except GitFailed as error:
        if "has only" in error.stderr:
            found = re.search(r"has only (\d+) line", error.stderr)
            raise UserError(
                f"'{path}' has {found[1] if found else 'fewer'} lines.", "Name lines that are there: FILE:LINE or FILE:FIRST-LAST"
            ) from error
        raise UserError(f"git has no history of '{path}'.", "Is it a file that git tracks? See: git ls-files") from error
    return _blamed(out)


def _blamed(out: bytes) -> list[Blamed]:
    """Return runs of lines of `git blame --porcelain`."""
    facts: dict[str, dict[str, bytes]] = {}
    found: list[Blamed] = []
    oid, was, now = "", 0, 0
    for line in out.split(b"\n"):
        if line.startswith(b"\t"):
            about = facts[oid]
            path = unquoted(about.get("filename", b""))
            last = found[-1] if found else None
            committed = None if not oid.strip(NOT_COMMITTED) else _of_blame(oid, about)
            if last and last.commit == committed and last.path == path and last.first + last.count == now and last.was + last.count == was:
                last.count += 1
            else:
                found.append(Blamed(committed, now, 1, was, path))
            continue
        header = _HEADER.fullmatch(line.decode("ascii", "replace"))
        if header:
            oid, was, now = header[1], int(header[2]), int(header[3])
            facts.setdefault(oid, {})
        elif oid:
            key, _, value = line.partition(b" ")
            facts[oid][key.decode("ascii", "replace")] = value
    return found


def _of_blame(oid: str, about: Mapping[str, bytes]) -> CodeCommit:
    text = {
        key: about.get(key, b"").decode("utf-8", "replace") for key in ("author", "author-mail", "author-time", "committer-time", "summary")
    }
    times = [int(text[key]) if text[key].isdigit() else 0 for key in ("author-time", "committer-time")]
    return CodeCommit(oid, text["author"], text["author-mail"].strip("<>"), times[0], times[1], text["summary"])
