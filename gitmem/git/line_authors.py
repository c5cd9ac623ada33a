"""Which lines of a file in the work tree somebody else wrote, and who removed lines of it.

Names and addresses are those of the commits themselves: `.mailmap` and a list of commits that
blame is to pass over are files of the repository, so that whoever writes the lines may write them.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from gitmem.errors import GitFailed
from gitmem.git.code_history import CodeHistory
from gitmem.git.process import is_object_name
from gitmem.git.shallow import shallow_commits
from gitmem.repo.identity import made_by

OPERATIONS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "SQUASH_MSG": "squash merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase or git am",
}
UNKNOWN = "somebody whose commit is not in this shallow clone"
UNREADABLE = "somebody unknown: git blame failed"
COMMITS = 200  # that are looked at for who removed a line, or who has it on another branch
_BLAMED = re.compile(rb"([0-9a-f]{40,64}) \d+ (\d+)(?: \d+)?$")
_FORMAT = "--format=%x01%H%x1f%P%x1f%an%x1f%ae%x1f%ce%x1f"
_HEADS = ("FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


def operation(gitdir: str) -> str:
    """Return the operation that git is in the middle of in a work tree, "" for none."""
    for name, title in OPERATIONS.items():
        if os.path.lexists(os.path.join(gitdir, name)):
            return title
    return ""


@dataclass(frozen=True, slots=True)
class _Made:
    """A commit: its parents, its author as `Name <address>`, and whether it is all this user's."""

    oid: str
    parents: tuple[str, ...]
    author: str
    is_own: bool


class LineAuthors:
    """Asks git about files of one work tree, as they are in it now."""

    def __init__(
        self, history: CodeHistory, gitdir: str, commondir: str, own: frozenset[str]
    ) -> None:
        self._history = history
        self._gitdir = gitdir
        self._own = own
        self._shallow = shallow_commits(commondir)
        self.of_lines = cache(self._of_lines)
        self._others = cache(self._other_texts)
        self._moved = cache(self._lines_at_head)
        self._touching = cache(self._commits_of)

    def _of_lines(self, path: str, data: bytes) -> tuple[str, ...]:
        """Return who wrote each line that is not this user's, "" for those that are.

        A line is this user's when its commit is, by author and committer, or when it is not
        committed and no branch has it from somebody else.
        """
        count = data.count(b"\n") + 1
        if not self._has_commits():
            return ("",) * count
        try:
            out = self._blame(path, "--contents", "-", stdin=data)
        except GitFailed:
            return (UNREADABLE,) * count
        commits = dict(_blamed(out))
        made = {commit.oid: commit for commit in self._looked_up(set(commits.values()))}
        authors = []
        for number, line in enumerate(data.split(b"\n"), 1):
            text = _folded(line)
            authors.append(self._author(path, commits.get(number, ""), text, made) if text else "")
        return tuple(authors)

    def _author(self, path: str, oid: str, text: bytes, made: dict[str, _Made]) -> str:
        if not oid.strip("0"):
            return self._author_elsewhere(path, text)
        return self._committer(oid, made)

    def _committer(self, oid: str, made: dict[str, _Made]) -> str:
        """Return who made a commit, "" for this user."""
        if oid in self._shallow:
            return UNKNOWN
        commit = made.get(oid)
        if commit is None:
            return UNREADABLE
        return "" if commit.is_own else commit.author

    def _author_elsewhere(self, path: str, text: bytes) -> str:
        """Return who else committed a line that is not committed as it stands.

        The line was moved or taken over.
        """
        for who, lines in self._others(path):
            if text in lines:
                return who
        return self._moved(path).get(text, "")

    def _lines_at_head(self, path: str) -> dict[bytes, str]:
        """Return {line: author} of the lines of the last commit that only others wrote."""
        lines = self._blob("HEAD", path).split(b"\n")
        try:
            commits = dict(_blamed(self._blame(path, "HEAD")))
        except GitFailed:
            return {}
        made = {commit.oid: commit for commit in self._looked_up(set(commits.values()))}
        authors: dict[bytes, str] = {}
        own: set[bytes] = set()
        for number, oid in commits.items():
            text = _folded(lines[number - 1]) if number <= len(lines) else b""
            who = self._committer(oid, made)
            if who:
                authors.setdefault(text, who)
            else:
                own.add(text)
        return {text: who for text, who in authors.items() if text not in own}

    def of_removal(self, path: str, since: str, data: bytes, says: Callable[[bytes], bool]) -> str:
        """Return who removed something from a file, "" for this user.

        `says` tells whether a text of the file still says it; `since` is a commit where it did.
        """
        if not self._has_commits():
            return ""
        if says(self._blob("HEAD", path)):
            lines = frozenset(map(_folded, data.split(b"\n")))
            return next((who for who, other in self._others(path) if other == lines), "")
        tip, remover = "HEAD", ""
        for _ in range(COMMITS):
            removal = self._removal(path, since, tip, says)
            if removal is None:
                break
            commit, tip = removal
            remover = self._committer(commit.oid, {commit.oid: commit})
            if not tip:
                break
        return remover

    def _removal(
        self, path: str, since: str, tip: str, says: Callable[[bytes], bool]
    ) -> tuple[_Made, str] | None:
        """Return the last commit that has not what a parent has, None for none.

        A merge comes with the parent from which it took the removal: who merges removes nothing.
        """
        for commit in self._touching(path, since, tip):
            if commit.oid in self._shallow:
                return commit, ""
            if says(self._blob(commit.oid, path)):
                continue
            without = [parent for parent in commit.parents if not says(self._blob(parent, path))]
            if len(without) < len(commit.parents):
                return commit, without[0] if without else ""
        return None

    # -- commits

    def _blame(self, path: str, *what: str, stdin: bytes | None = None) -> bytes:
        # an empty name takes back the lists of commits to ignore that the configuration names
        options = ("--porcelain", "--root", "--no-textconv", "--ignore-revs-file=")
        return self._history.run("blame", *options, *what, "--", path, stdin=stdin)

    def _has_commits(self) -> bool:
        return bool(self._history.run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1, 128)))

    def _commits_of(self, path: str, since: str, tip: str) -> tuple[_Made, ...]:
        spans = [f"{since}..{tip}", tip] if is_object_name(since) else [tip]
        for span in spans:
            try:
                return tuple(self._log(span, "--full-history", "--", _literal(path)))
            except GitFailed:
                continue
        return ()

    def _other_texts(self, path: str) -> tuple[tuple[str, frozenset[bytes]], ...]:
        """Return (author, lines) of a file as others committed it where HEAD has it not."""
        heads = [oid for name in _HEADS for oid in _words(os.path.join(self._gitdir, name))[:1]]
        heads = [oid for oid in heads if re.fullmatch("[0-9a-f]{40,64}", oid)]
        tips = ("--exclude=refs/gitmem/*", "--all", *heads, "--not", "HEAD")
        try:
            commits = list(self._log(*tips, "--", _literal(path)))
        except GitFailed:
            return ()
        texts = []
        for commit in commits:
            if not commit.is_own:
                lines = self._blob(commit.oid, path).split(b"\n")
                texts.append((commit.author, frozenset(map(_folded, lines))))
        return tuple(texts)

    def _log(self, *args: str) -> Iterator[_Made]:
        out = self._history.run("log", "--no-mailmap", f"--max-count={COMMITS}", _FORMAT, *args)
        return self._parsed(out)

    def _looked_up(self, oids: Iterable[str]) -> Iterator[_Made]:
        wanted = [oid for oid in oids if oid.strip("0")]
        if not wanted:
            return iter(())
        stdin = "".join(f"{oid}\n" for oid in wanted).encode()
        args = ("log", "--no-mailmap", "--no-walk=unsorted", _FORMAT, "--stdin")
        return self._parsed(self._history.run(*args, stdin=stdin))

    def _parsed(self, out: bytes) -> Iterator[_Made]:
        for part in out.decode("utf-8", "replace").split("\1")[1:]:
            fields = part.split("\x1f")
            if len(fields) < 6:
                continue
            oid, parents, name, author, committer = fields[:5]
            is_own = made_by(self._own, author, committer)
            yield _Made(oid, tuple(parents.split()), f"{name} <{author}>", is_own)

    def _blob(self, commit: str, path: str) -> bytes:
        try:
            return self._history.run("cat-file", "blob", f"{commit}:{path}")
        except GitFailed:
            return b""


def _folded(line: bytes) -> bytes:
    return b" ".join(line.split())


def _literal(path: str) -> str:
    return f":(top,literal){path}"


def _blamed(out: bytes) -> Iterator[tuple[int, str]]:
    """Yield (line, commit) of `git blame --porcelain`."""
    for line in out.split(b"\n"):
        if not line.startswith(b"\t") and (match := _BLAMED.match(line)):
            yield int(match[2]), match[1].decode()


def _words(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20).split()
    except OSError:
        return []
