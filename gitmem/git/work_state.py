"""The state of a work tree and its index, read without writing either: what is staged, changed, new, in conflict, and with which flags.

`git status --porcelain=v2 -z` and `git ls-files` say it; https://git-scm.com/docs/git-status#_porcelain_format_version_2 describes the format.
Paths are str with bytes that are not UTF-8 as surrogates.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.errors import External, GitFailed, GitmemError, UserError
from gitmem.git.objects import BLOB, EXEC, LINK
from gitmem.git.process import Git
from gitmem.repo.location import Location, locate

KEEP_FSMONITOR_OUT = ("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")
EMPTY = frozenset(
    {"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}
)  # no bytes
FLAGGED = 50  # empty files with a flag that are asked about
INTENDED = 1 << 29  # the flag of an index entry: https://git-scm.com/docs/index-format (intent-to-add)
ABSENT = "0" * 6  # the mode of what is not there


@dataclass(frozen=True, slots=True)
class Changed:
    """A path that differs from the commit or from the index.

    `staged` and `unstaged` are git's letters ('.' unchanged, M, T, A, D, '?' untracked, U in conflict); `submodule` is '' or what git says of one.
    `stages` are (mode, oid) of an entry in conflict: of the base, ours and theirs; an absent one has a mode of zeros.
    """

    path: str
    staged: str
    unstaged: str
    submodule: str = ""
    entry: tuple[str, str] = (ABSENT, "")  # mode and oid in the index
    stages: tuple[tuple[str, str], ...] = ()
    intended: bool = False  # `git add -N`

    @property
    def letters(self) -> str:
        """Two letters as `git status --short` has them."""
        return f"{self.staged}{self.unstaged}".replace(".", " ").replace("?", "??")[:2]

    @property
    def on_disk(self) -> bool:
        """Whether the file on disk may differ from what the index has."""
        return self.unstaged in {"M", "T", "?", "U", "A"} or bool(self.stages) or self.intended


@dataclass(slots=True)
class WorkState:
    """What `look` found. `commit` is '' before the first one, `branch` '' on a detached HEAD."""

    commit: str = ""
    branch: str = ""
    upstream: str = ""
    ahead: int | None = None
    behind: int | None = None
    changed: list[Changed] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)  # path -> 'S' skip-worktree, 'h' assumed unchanged, 's' both


class Work:
    """Asks git about one work tree; the index of the user is only read. Raises UserError in a bare repository.

    Filters of the repository's own configuration run only where it `obeys` that: for what the user asked for.
    """

    def __init__(self, location: Location, env: Mapping[str, str], *, timeout: float = 60.0, obeys: bool = False) -> None:
        if location.worktree is None:
            raise UserError("this repository has no work tree.", "Snapshots are of a work tree: run this in one.")
        self.root = location.worktree
        self.gitdir = location.gitdir
        self._git = Git(location.gitdir, env, timeout=timeout, obeys=obeys)

    def run(self, *args: str, stdin: bytes | None = None, index: str = "", ok: Sequence[int] = (0,), config: Sequence[str] = ()) -> bytes:
        """Run git in the work tree, with another index when one is named."""
        env = {"GIT_INDEX_FILE": index} if index else None
        where = ("-C", self.root, "--work-tree", self.root, *KEEP_FSMONITOR_OUT, *config)
        return self._git.run(*args, stdin=stdin, env=env, ok=ok, config=where)

    def look(self) -> WorkState:
        """Return the state; raises External when git cannot tell."""
        try:
            out = self.run(
                "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames", "--ignore-submodules=none",
                config=("-c", "status.showUntrackedFiles=all"),
            )  # fmt: skip
        except GitFailed as error:
            raise External(f"git cannot tell the state of the work tree: {error}", "See what it says: git status") from error
        state = WorkState()
        for row in out.split(b"\0"):
            self._row(os.fsdecode(row), state)
        state.flags = dict(self.flags())
        if state.flags:  # git says nothing of a file with a flag, not even that it is only intended
            told = {one.path for one in state.changed}
            rows = (os.fsdecode(row).partition("\t") for row in self.run("ls-files", "-s", "-z").split(b"\0") if row)
            empty = [path for facts, _, path in rows if facts.split()[1] in EMPTY and path in state.flags and path not in told]
            state.changed += [Changed(path, ".", "A", intended=True) for path in empty[:FLAGGED] if self._is_intended(path)]
        return state

    def _row(self, row: str, state: WorkState) -> None:
        kind, _, rest = row.partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            if key == "branch.oid":
                state.commit = "" if value == "(initial)" else value
            elif key == "branch.head":
                state.branch = "" if value == "(detached)" else value
            elif key == "branch.upstream":
                state.upstream = value
            elif key == "branch.ab":
                ahead, behind = value.split()
                state.ahead, state.behind = int(ahead), -int(behind)
        elif kind == "?":
            state.changed.append(Changed(rest, "?", "?"))
        elif kind == "1":
            letters, sub, _, mode, _, _, oid, path = rest.split(" ", 7)
            # of a file that went since, git says that it was in the commit
            intended = (letters[1] == "A" and mode == ABSENT) or (letters == ".D" and oid in EMPTY and self._is_intended(path))
            state.changed.append(Changed(path, letters[0], letters[1], "" if sub == "N..." else sub, (mode, oid), (), intended))
        elif kind == "u":
            _, sub, one, two, three, _, h1, h2, h3, path = rest.split(" ", 9)
            stages = ((one, h1), (two, h2), (three, h3))
            state.changed.append(Changed(path, "U", "U", "" if sub == "N..." else sub, (ABSENT, ""), stages))

    def _is_intended(self, path: str) -> bool:
        out = self.run("ls-files", "--debug", "--", path, config=("--literal-pathspecs",))
        found = re.search(rb"flags: ([0-9a-f]+)\s*$", out.rstrip())
        return bool(found and int(found[1], 16) & INTENDED)

    def flags(self, index: str = "") -> Iterator[tuple[str, str]]:
        """Yield (path, flag) of the entries of an index, the user's unless one is named, that have one: S, h or s."""
        for row in self.run("ls-files", "-v", "-z", index=index).split(b"\0"):
            letter, _, path = os.fsdecode(row).partition(" ")
            if path and (letter == "S" or letter.islower()):
                yield path, letter

    def submodule_head(self, path: str) -> str:
        """Return the commit that is checked out in a submodule; empty when it is not there."""
        try:
            where = locate(os.path.join(self.root, path), {})
            if where.worktree is None or os.path.realpath(where.worktree) == os.path.realpath(self.root):
                return ""  # not checked out: what was found is the repository around it
            return Git(where.gitdir, self._git.env).run("rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1, 128)).decode().strip()
        except GitmemError:
            return ""

    def copy_of_index(self, into: str) -> str:
        """Copy the user's index to a path, whole also when it is split; return the path. An index that is not there yet gives an empty one."""
        own = os.path.join(self.gitdir, "index")
        if os.path.exists(own):
            shutil.copyfile(own, into)
            if any(name.startswith("sharedindex.") for name in os.listdir(self.gitdir)):
                # the shared half is found beside the index only
                shutil.copyfile(own, beside := os.path.join(self.gitdir, os.path.basename(into)))
                try:
                    self.run("update-index", "--no-split-index", index=beside)
                    os.replace(beside, into)
                finally:
                    if os.path.exists(beside):
                        os.unlink(beside)
        else:
            self.run("read-tree", "--empty", index=into)
        return into


def file_on_disk(root: str, path: str, most: int) -> tuple[int, bytes] | int | None:
    """Return (mode, bytes) of a file or a link as it is on disk; its size when that is more than `most`; None for anything else or nothing."""
    full = os.path.join(root, path)
    try:
        facts = os.lstat(full)
        if stat.S_ISLNK(facts.st_mode):
            return LINK, os.fsencode(os.readlink(full))
        if not stat.S_ISREG(facts.st_mode):
            return None
        if facts.st_size > most:
            return facts.st_size
        with open(full, "rb") as file:
            return (EXEC if facts.st_mode & 0o100 else BLOB), file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
