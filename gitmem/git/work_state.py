"""The state of a work tree and its index, read without writing either.

It tells what is staged, changed, new and in conflict, and with which flags.

`git status --porcelain=v2 -z` and `git ls-files` say it;
https://git-scm.com/docs/git-status#_porcelain_format_version_2 describes the format. Paths are str
with bytes that are not UTF-8 as surrogates.
"""

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from gitmem.base.regular_files import read_regular
from gitmem.errors import Busy, External, GitFailed, GitmemError, UserError
from gitmem.git.objects import BLOB, EXEC, LINK
from gitmem.git.process import Git
from gitmem.repo.location import Location, locate

# what git keeps beside an index for speed is not for a copy of it
PLAIN_INDEX = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.splitIndex=false",
)
EMPTY = frozenset(
    {
        "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
        "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
    }
)  # no bytes
FLAGGED = 50  # empty files with a flag that are asked about
# the flag of an index entry: https://git-scm.com/docs/index-format (intent-to-add)
INTENDED = 1 << 29
# a copy of the index that is changed first, with the process that does it
SCRATCH = "gitmem-index."
PATIENCE = 3.0  # seconds that another process may hold the lock of the index
FILTERED = 200  # files in one question for their bytes after filters
UNDER_WAY = (
    ("merge", "MERGE_HEAD"),
    ("cherry-pick", "CHERRY_PICK_HEAD"),
    ("revert", "REVERT_HEAD"),
    ("rebase", "rebase-merge"),
    ("rebase", "rebase-apply"),
    ("sequence of picks", "sequencer"),
    ("bisect", "BISECT_LOG"),
)
ABSENT = "0" * 6  # the mode of what is not there


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """A path that differs from the commit or from the index.

    `staged` and `unstaged` are git's letters ('.' unchanged, M, T, A, D, '?' untracked, U in
    conflict); `submodule` is '' or what git says of one. `stages` are (mode, oid) of an entry in
    conflict: of the base, ours and theirs; an absent one has a mode of zeros.
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
    changed: list[ChangedPath] = field(default_factory=list)
    # path -> 'S' skip-worktree, 'h' assumed unchanged, 's' both
    flags: dict[str, str] = field(default_factory=dict)
    # folders end in a slash, and what is in them is not named
    ignored: list[str] = field(default_factory=list)
    # (mode, id, path) of what is in the index and not in conflict
    entries: list[tuple[str, str, str]] = field(default_factory=list)


class Work:
    """Asks git about one work tree; the index of the user is only read.

    Raises UserError in a bare repository.

    Filters of the repository's own configuration run only where it `obeys` that: for what the user
    asked for.
    """

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        *,
        timeout: float = 60.0,
        obeys: bool = False,
    ) -> None:
        if location.worktree is None:
            raise UserError(
                "this repository has no work tree.",
                "Snapshots are of a work tree: run this in one.",
            )
        self.root = location.worktree
        self.gitdir = location.gitdir
        self.environment = env
        self.git_folders = (location.gitdir, location.commondir)
        self._git = Git(location.gitdir, env, timeout=timeout, obeys=obeys)

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        index: str = "",
        ok: Sequence[int] = (0,),
        config: Sequence[str] = (),
    ) -> bytes:
        """Run git in the work tree, with another index when one is named."""
        env = {"GIT_INDEX_FILE": index} if index else None
        where = ("-C", self.root, "--work-tree", self.root, *PLAIN_INDEX, *config)
        return self._git.run(*args, stdin=stdin, env=env, ok=ok, config=where)

    def look(self) -> WorkState:
        """Return the state; raises External when git cannot tell."""
        try:
            out = self.run(
                "status",
                "--porcelain=v2",
                "-z",
                "--branch",
                "--untracked-files=all",
                "--no-renames",
                "--ignore-submodules=none",
                "--ignored=matching",
                config=("-c", "status.showUntrackedFiles=all"),
            )
        except GitFailed as error:
            raise External(
                f"git cannot tell the state of the work tree: {error}",
                "See what it says: git status",
            ) from error
        state = WorkState()
        for row in out.split(b"\0"):
            self._row(os.fsdecode(row), state)
        self._list(state)
        state.changed += self._intended(state)
        return state

    def _list(self, state: WorkState) -> None:
        """Take what is in the index."""
        for row in self.run("ls-files", "-v", "-s", "-z").split(b"\0")[:-1]:
            facts, _, path = os.fsdecode(row).partition("\t")
            letter, mode, oid, stage = facts.split(" ")
            if letter == "S" or letter.islower():
                state.flags[path] = letter
            if stage == "0":
                state.entries.append((mode, oid, path))

    def _intended(self, state: WorkState) -> list[ChangedPath]:
        """Return the files with a flag that are only intended: git's status leaves them out."""
        unlisted = state.flags.keys() - {change.path for change in state.changed}
        empty = [path for _, oid, path in state.entries if oid in EMPTY and path in unlisted]
        return [
            ChangedPath(path, ".", "A", intended=True)
            for path in empty[:FLAGGED]
            if self._is_intended(path)
        ]

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
        elif kind == "!":
            state.ignored.append(rest)
        elif kind == "?":
            state.changed.append(ChangedPath(rest, "?", "?"))
        elif kind == "1":
            letters, sub, _, mode, _, _, oid, path = rest.split(" ", 7)
            # of a file that went since, git says that it was in the commit
            intended = (letters[1] == "A" and mode == ABSENT) or (
                letters == ".D" and oid in EMPTY and self._is_intended(path)
            )
            state.changed.append(
                ChangedPath(
                    path,
                    letters[0],
                    letters[1],
                    "" if sub == "N..." else sub,
                    (mode, oid),
                    (),
                    intended,
                )
            )
        elif kind == "u":
            _, sub, head_mode, index_mode, tree_mode, _, h1, h2, h3, path = rest.split(" ", 9)
            stages = ((head_mode, h1), (index_mode, h2), (tree_mode, h3))
            state.changed.append(
                ChangedPath(path, "U", "U", "" if sub == "N..." else sub, (ABSENT, ""), stages)
            )

    def _is_intended(self, path: str) -> bool:
        out = self.run("ls-files", "--debug", "--", path, config=("--literal-pathspecs",))
        flags = re.search(rb"flags: ([0-9a-f]+)\s*$", out.rstrip())
        return bool(flags and int(flags[1], 16) & INTENDED)

    def flags(self, index: str = "") -> Iterator[tuple[str, str]]:
        """Yield (path, flag) of the entries of an index that have a flag: S, h or s.

        The index is the user's unless one is named.
        """
        for row in self.run("ls-files", "-v", "-z", index=index).split(b"\0"):
            letter, _, path = os.fsdecode(row).partition(" ")
            if path and (letter == "S" or letter.islower()):
                yield path, letter

    def submodule_head(self, path: str) -> str:
        """Return the commit that is checked out in a submodule; empty when it is not there."""
        try:
            where = locate(os.path.join(self.root, path), {})
            if where.worktree is None or os.path.realpath(where.worktree) == os.path.realpath(
                self.root
            ):
                return ""  # not checked out: what was found is the repository around it
            return (
                Git(where.gitdir, self._git.env)
                .run("rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1, 128))
                .decode()
                .strip()
            )
        except GitmemError:
            return ""

    def scratch_index(self) -> str:
        """Copy the user's index, whole also when it is split, beside it; return the path.

        One that is not there yet gives an empty one.
        """
        self.sweep()
        own, path = (
            os.path.join(self.gitdir, "index"),
            os.path.join(self.gitdir, f"{SCRATCH}{os.getpid()}"),
        )
        try:
            # with its mode; the shared half of a split one is found beside it
            import shutil

            shutil.copy(own, path)
        except FileNotFoundError:
            self.run("read-tree", "--empty", index=path)
        else:
            self.run("update-index", "--no-split-index", index=path)
        return path

    def sweep(self) -> list[str]:
        """Remove scratch indexes of processes that are no more; return their paths."""
        return sweep_scratch(self.gitdir)

    def drop(self, index: str) -> None:
        """Remove a scratch index."""
        for left in (index, index + ".lock"):
            with suppress(FileNotFoundError):
                os.unlink(left)

    def check_index_is_free(self) -> None:
        """Raise Busy when another process writes the user's index, or left its lock."""
        if os.path.lexists(os.path.join(self.gitdir, "index.lock")):
            raise self._index_is_busy()

    def _index_is_busy(self) -> Busy:
        lock = os.path.join(self.gitdir, "index.lock")
        return Busy(
            "git is writing to the index.",
            f"Run the command again in a moment; if no git runs, delete {lock}.",
        )

    def install_index(self, index: str) -> None:
        """Put a scratch index in the place of the user's, under git's own lock; raises Busy."""
        own = os.path.join(self.gitdir, "index")
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                os.close(
                    os.open(
                        own + ".lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644
                    )
                )
                break
            except FileExistsError as error:
                if time.monotonic() > deadline:
                    raise self._index_is_busy() from error
                time.sleep(0.02)
        try:
            os.replace(index, own)
        finally:
            os.unlink(own + ".lock")

    def entries(self, index: str = "") -> Iterator[tuple[str, str, str]]:
        """Yield (mode, oid, path) of the entries of an index that are not in conflict."""
        for row in self.run("ls-files", "-s", "-z", index=index).split(b"\0"):
            facts, _, path = os.fsdecode(row).partition("\t")
            if path:
                mode, oid, stage = facts.split(" ")
                if stage == "0":
                    yield mode, oid, path

    def as_checked_out(
        self, files: Sequence[tuple[str, str]], index: str = ""
    ) -> Iterator[tuple[str, bytes]]:
        """Yield (path, bytes) of blobs as git would write them to these paths, with its filters.

        `files` are (path, oid).
        """
        plain = [(path, oid) for path, oid in files if "\n" not in path]
        for at in range(0, len(plain), FILTERED):
            yield from self._filtered(plain[at : at + FILTERED], index)
        for path, oid in files:
            if "\n" in path:
                yield path, self.run("cat-file", "--filters", f"--path={path}", oid, index=index)

    def _filtered(
        self, files: Sequence[tuple[str, str]], index: str
    ) -> Iterator[tuple[str, bytes]]:
        # the size that git would print is the one before the filters, so a word that nobody can
        # know ends each
        token = os.urandom(16).hex()
        asked = b"".join(b"%s %s\n" % (oid.encode(), os.fsencode(path)) for path, oid in files)
        out = self.run("cat-file", f"--batch={token}", "--filters", stdin=asked, index=index)
        parts = (b"\n" + out).split(f"\n{token}\n".encode())[1:]
        if len(parts) != len(files):
            raise External(
                "git did not give the files of the snapshot.", "Look for damaged objects: git fsck"
            )
        last = len(parts) - 1
        for at, ((path, _), data) in enumerate(zip(files, parts, strict=True)):
            yield path, data.removesuffix(b"\n") if at == last else data

    def kinds(self, oids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Return {oid: (type, size)} of objects; those that are not there are left out."""
        asked = "".join(f"{oid}\n" for oid in dict.fromkeys(oids)).encode()
        rows = {}
        for row in (
            self.run("cat-file", "--batch-check", stdin=asked)
            .decode("utf-8", "replace")
            .split("\n")
            if asked
            else ()
        ):
            words = row.split(" ")
            if len(words) == 3:
                rows[words[0]] = words[1], int(words[2])
        return rows

    def settings(self, *names: str) -> dict[str, str]:
        """Return {name in lower case: value} of the settings that are there.

        An empty value is `true`.
        """
        wanted = "|".join(re.escape(name.lower()) for name in names)
        out = self.run("config", "-z", "--get-regexp", f"^({wanted})$", ok=(0, 1))
        rows = (os.fsdecode(row).partition("\n") for row in out.split(b"\0") if row)
        return {name: value if mark else "true" for name, mark, value in rows}

    def attributes(self, paths: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, str]]:
        """Return {path: {attribute: value}} as gitattributes(5) has them."""
        parts = self.run(
            "check-attr",
            "-z",
            "--stdin",
            *names,
            stdin=b"".join(os.fsencode(path) + b"\0" for path in paths),
        ).split(b"\0")
        attributes: dict[str, dict[str, str]] = {}
        for path, name, value in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            attributes.setdefault(os.fsdecode(path), {})[name.decode()] = value.decode(
                "utf-8", "replace"
            )
        return attributes

    def under_way(self) -> dict[str, str]:
        """Return the operations that are under way here.

        Each has the commit that it is about, where one file says it.
        """
        return under_way(self.gitdir)


def sweep_scratch(gitdir: str) -> list[str]:
    """Remove the scratch indexes in a git dir whose process is no more; return their paths."""
    gone = []
    for path in left_scratch(gitdir):
        with suppress(OSError):
            os.unlink(path)
            gone.append(path)
    return gone


def left_scratch(gitdir: str) -> list[str]:
    """Return the scratch indexes in a git dir whose process is no more."""
    try:
        names = sorted(os.listdir(gitdir))
    except OSError:
        return []
    left = []
    for name in names:
        process = (
            name.removeprefix(SCRATCH).removesuffix(".lock") if name.startswith(SCRATCH) else ""
        )
        if process.isdecimal() and not _is_running(int(process)):
            left.append(os.path.join(gitdir, name))
    return left


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return False  # a process has one at a time, and this begins another
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def under_way(gitdir: str) -> dict[str, str]:
    """Return the operations that are under way in a git dir.

    Each has its name, and the commit that it is about where one file says it.
    """
    out: dict[str, str] = {}
    for name, file in UNDER_WAY:
        path = os.path.join(gitdir, file)
        if os.path.lexists(path):
            text = read_regular(path, 64).decode("ascii", "replace").strip()
            out.setdefault(name, text if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text) else "")
    return out


def file_on_disk(root: str, path: str, most: int) -> tuple[int, bytes] | int | None:
    """Return (mode, bytes) of a file or a link as it is on disk.

    Its size when that is more than `most`; None for anything else or nothing.
    """
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
