"""What git's history says of the code: commits and changes, which commits are new, notes.

Reads only.

Paths are str with bytes that are not UTF-8 as surrogates.
"""

import itertools
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from gitmem.errors import External, GitFailed, UserError
from gitmem.git.commit_log import FORMAT, SHORT, CodeCommit, FileChange, parse
from gitmem.git.process import Git
from gitmem.git.symbol_log import parsed_symbol_changes
from gitmem.repo.location import Location

PLAIN = (
    "-c",
    "core.quotePath=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "diff.renameLimit=2000",
    "-c",
    "diff.noprefix=false",
    "-c",
    "diff.mnemonicPrefix=false",
)

PATIENCE = 500  # commits that are older than asked for, after which a history is not read on
T = TypeVar("T")


def within(rows: Iterable[T], at: Callable[[T], float], since: float) -> Iterator[T]:
    """Yield the rows of a history, newest first, that are not older than a time.

    Clocks go wrong: one commit with an old date hides none below it. After `PATIENCE` old rows in
    a row, the rest is taken to be old too.
    """
    old = 0
    for row in rows:
        if at(row) >= since:
            old = 0
            yield row
        elif (old := old + 1) == PATIENCE:
            return


class CodeHistory:
    """Asks git about the history of one repository's code."""

    def __init__(
        self, location: Location, env: Mapping[str, str], *, timeout: float = 120.0
    ) -> None:
        self.root = location.worktree
        self._git = Git(location.gitdir, env, timeout=timeout)

    def run(self, *args: str, stdin: bytes | None = None, ok: Sequence[int] = (0,)) -> bytes:
        """Return what git prints; raises GitFailed for exit codes outside `ok`."""
        where = ("-C", self.root, "--work-tree", self.root) if self.root else ()
        # in large parts: nobody reads along
        return self._git.run(
            *where, *args, stdin=stdin, ok=ok, config=PLAIN, env={"GIT_FLUSH": "0"}
        )

    def lines(self, *args: str, sep: bytes = b"\n", until: float | None = None) -> Iterator[bytes]:
        """Start a git command; return what it prints, part by part, as it comes.

        Whoever stops to read ends the command; it is killed at the time `until` of the monotonic
        clock, whatever it waits for.
        """
        where = ("-C", self.root, "--work-tree", self.root) if self.root else ()
        argv = self._git.command(args, (*where, *PLAIN))
        try:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._git.child_env(args),
            )
        except FileNotFoundError as error:
            raise External(
                "git is not installed, or not on the PATH.", "Install git 2.30 or newer."
            ) from error
        return _parts(child, sep, until)

    def resolve(self, revision: str) -> str:
        """Return the commit that a revision names; raises UserError when there is none."""
        try:
            out = self.run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            )
        except GitFailed as error:
            raise UserError(
                f"'{revision}' names no commit.", "See what there is: git log --oneline --all"
            ) from error
        return out.decode().split()[-1]

    def text(self, path: str, revision: str = "", most: int = 16 << 20) -> bytes | None:
        """Return a file of the work tree, or of a commit, as far as `most` bytes.

        None when there is none.
        """
        if not revision:
            try:
                with open(os.path.join(self.root or "", path), "rb") as file:
                    return file.read(most)
            except OSError:
                return None
        try:
            return self.run("cat-file", "blob", f"{revision}:{path}")[:most]
        except GitFailed:
            return None

    def commits(self, oids: Iterable[str]) -> dict[str, CodeCommit]:
        """Return commits by their ids; what is not there is left out."""
        wanted = [oid for oid in dict.fromkeys(oids) if oid.isalnum()]
        if not wanted:
            return {}
        data = "".join(f"{oid}\n" for oid in wanted).encode()
        try:
            out = self.run(
                "log",
                "--no-walk=unsorted",
                "--ignore-missing",
                "-z",
                f"--format={FORMAT}",
                "--stdin",
                stdin=data,
            )
        except GitFailed:
            return {}
        return {
            commit.oid: commit for row in out.split(b"\0") if (commit := parse(row)) is not None
        }

    def ids(self, commit: str, most: int) -> list[str]:
        """Return the ids of the last commits below one that are no merges, the newest first."""
        return (
            self.run("rev-list", "--no-merges", f"--max-count={most}", commit, "--")
            .decode()
            .split()
        )

    def with_files(self, oids: Sequence[str]) -> Iterator[tuple[CodeCommit, list[str]]]:
        """Yield commits with the files that they changed."""
        data = "".join(f"{oid}\n" for oid in oids).encode()
        out = self.run(
            "log",
            "--no-walk=unsorted",
            "--ignore-missing",
            "-z",
            "--name-only",
            "--no-renames",
            f"--format=%x01{FORMAT}%x02",
            "--stdin",
            stdin=data,
        )
        for part in out.split(b"\1")[1:]:
            head, _, rest = part.partition(b"\2")
            if (commit := parse(head)) is not None:
                yield (
                    commit,
                    [
                        os.fsdecode(path.strip(b"\n"))
                        for path in rest.split(b"\0")
                        if path.strip(b"\n")
                    ],
                )

    def patch_ids(self, oids: Sequence[str]) -> dict[str, str]:
        """Return {commit: what its change is called by `git patch-id --stable`}.

        Merges and empty commits have none.
        """
        if not oids:
            return {}
        data = "".join(f"{oid}\n" for oid in oids).encode()
        diffs = self.run(
            "diff-tree",
            "-r",
            "--root",
            "-p",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--stdin",
            stdin=data,
        )
        out = self.run("patch-id", "--stable", stdin=diffs).decode()
        return {oid: patch for row in out.splitlines() for patch, _, oid in [row.partition(" ")]}

    def file_changes(
        self, path: str, heads: Sequence[str], seen: Sequence[str] = ()
    ) -> bytes | None:
        """Return the changes of a file below some heads and not below others, newest first.

        Renames are followed. The result is for `parsed_changes`, and is None when a head does not
        exist.
        """
        return self._changes([path], heads, seen, "--follow")

    def changes_of(
        self, paths: Sequence[str], heads: Sequence[str], seen: Sequence[str]
    ) -> bytes | None:
        """Return the changes of some files below some heads and not below others.

        The result is for `parsed_changes`, and is None when a head does not exist.
        """
        return self._changes(paths, heads, seen)

    def _changes(
        self, paths: Sequence[str], heads: Sequence[str], seen: Sequence[str], *options: str
    ) -> bytes | None:
        try:
            # a path as it is: with --follow git takes no magic but this
            return self.run(
                "--literal-pathspecs",
                "log",
                *options,
                "-M",
                "--name-status",
                "-z",
                f"--format=%x01{SHORT}",
                "--no-show-signature",
                *heads,
                *(f"^{oid}" for oid in seen),
                "--",
                *paths,
            )
        except GitFailed:
            return None

    def symbol_changes(self, path: str, first: int, last: int, revision: str) -> list[FileChange]:
        """Return the commits that changed lines of a file, through renames, the newest first.

        Raises UserError for lines that it does not have.
        """
        try:
            plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature")
            out = self.run(
                "log", f"-L{first},{last}:{path}", f"--format=%x01{SHORT}", *plain, revision
            )
        except GitFailed as error:
            raise UserError(
                f"git cannot follow lines {first}-{last} of '{path}'.",
                "Is the file in the commit? See: git ls-files",
            ) from error
        return parsed_symbol_changes(out, path)

    def not_below_any(self, oids: Sequence[str], heads: Sequence[str]) -> bool:
        """Say whether one of some commits is below none of some heads, or is not there."""
        try:
            return bool(
                self.run("rev-list", "--max-count=1", *oids, *(f"^{oid}" for oid in heads), "--")
            )
        except GitFailed:
            return True

    def touched(self, since: float, until: float, most: int) -> Iterator[tuple[float, list[str]]]:
        """Yield (time, files) of the commits of the branches between two times, the newest first.

        A merge has no files of its own.
        """
        rows = within(self._with_paths(until), lambda row: row[0], since)
        return itertools.islice(rows, most)

    def _with_paths(self, until: float) -> Iterator[tuple[float, list[str]]]:
        at, paths, first = None, list[str](), False
        for part in self.lines(
            "log",
            "HEAD",
            "--branches",
            "-z",
            "--name-only",
            "--no-renames",
            "--format=%x01%ct",
            f"--until=@{int(until)}",
            "--",
            sep=b"\0",
        ):
            if part.startswith(b"\1"):
                if at is not None:
                    yield at, paths
                at, paths, first = float(part[1:] or 0), [], True
            elif part:
                # an empty line is between a commit and its files
                paths.append(os.fsdecode(part.removeprefix(b"\n") if first else part))
                first = False
        if at is not None:
            yield at, paths

    def listed(self, revisions: Sequence[str], most: int) -> list[str]:
        """Return the commits that revisions and ranges such as `a..b` name, newest first.

        Raises UserError.
        """
        out: list[str] = []
        for revision in revisions:
            if ".." not in revision and not revision.startswith("^"):
                out.append(self.resolve(revision))
                continue
            try:
                out += (
                    self.run("rev-list", f"--max-count={most}", "--end-of-options", revision, "--")
                    .decode()
                    .split()
                )
            except GitFailed as error:
                raise UserError(
                    f"'{revision}' names no commits.", "See what there is: git log --oneline --all"
                ) from error
        return list(dict.fromkeys(out))

    def notes_refs(self) -> list[str]:
        """Return the refs below refs/notes/."""
        return (
            self.run("for-each-ref", "--format=%(refname)", "refs/notes/")
            .decode("utf-8", "surrogateescape")
            .split("\n")[:-1]
        )

    def notes(self, ref: str, most: int) -> Iterator[tuple[str, str]]:
        """Yield (commit, text) of the notes of a ref; those of more than `most` bytes are left out.

        Raises UserError when there is no such ref.
        """
        try:
            out = self.run("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", ref)
        except GitFailed as error:
            raise UserError(
                f"there are no notes in '{ref}'.", "See what there is: git for-each-ref refs/notes/"
            ) from error
        rows = []
        for row in out.split(b"\0"):
            about, _, name = row.partition(b"\t")
            words = about.split()
            # git spreads many notes over folders
            commit = name.replace(b"/", b"").decode("ascii", "replace")
            if (
                len(words) == 4
                and words[3].isdigit()
                and int(words[3]) <= most
                and len(commit) in {40, 64}
            ):
                rows.append((commit, words[2].decode()))
        if not rows:
            return
        data = self.run(
            "cat-file", "--batch", stdin="".join(f"{oid}\n" for _, oid in rows).encode()
        )
        at = 0
        for commit, _ in rows:
            head, _, _ = data[at : at + 200].partition(b"\n")
            size = int(head.split()[2])
            at += len(head) + 1
            yield commit, data[at : at + size].decode("utf-8", "replace")
            at += size + 1

    def heads(self) -> list[str]:
        """Return the commits that are checked out and that local branches name."""
        out = self.run("show-ref", "--head", "--heads", ok=(0, 1)).decode("utf-8", "replace")
        rows = [line.partition(" ") for line in out.splitlines()]
        rows.sort(key=lambda row: row[2] != "HEAD")
        return list(dict.fromkeys(oid for oid, _, _ in rows))

    def new(
        self, heads: Sequence[str], seen: Sequence[str], since: float, most: int
    ) -> list[CodeCommit]:
        """Return commits below some heads that are new, oldest first.

        They are not below what was seen before, and were made since a time.
        """
        if not heads:
            return []
        args = [*heads, *(f"^{oid}" for oid in seen)]
        data = "".join(f"{argument}\n" for argument in args).encode()
        span = f"--since=@{max(0, int(since))}"
        out = self.run(
            "log",
            "--ignore-missing",
            "-z",
            f"--max-count={most}",
            span,
            f"--format={FORMAT}",
            "--stdin",
            stdin=data,
        )
        return [commit for row in reversed(out.split(b"\0")) if (commit := parse(row)) is not None]

    def not_below(self, oids: Iterable[str], commit: str) -> set[str]:
        """Return those of some commits that a commit does not contain or that do not exist."""
        wanted = set(oids)
        if not wanted:
            return set()
        data = "".join(f"{oid}\n" for oid in wanted).encode() + f"^{commit}\n".encode()
        out = self.run("rev-list", "--ignore-missing", "--stdin", stdin=data)
        there = set(self.commits(wanted))
        return (wanted & set(out.decode().split())) | (wanted - there)


def _parts(child: "subprocess.Popen[bytes]", sep: bytes, until: float | None) -> Iterator[bytes]:
    assert child.stdout is not None
    rest = b""
    timer = None
    if until is not None:
        timer = threading.Timer(max(0.0, until - time.monotonic()), child.kill)
        timer.daemon = True
        timer.start()
    try:
        while block := os.read(child.stdout.fileno(), 1 << 16):
            *whole, rest = (rest + block).split(sep)
            yield from whole
        if rest:
            yield rest
    finally:
        if timer is not None:
            timer.cancel()
        child.stdout.close()
        child.kill()
        child.wait()
