"""What git's history says of the code: who made a line, what a commit added, which commits are new. Reads only.

Formats: https://git-scm.com/docs/git-blame#_the_porcelain_format, https://git-scm.com/docs/diff-format, https://git-scm.com/docs/git-patch-id.
Paths are str with bytes that are not UTF-8 as surrogates.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.errors import External, GitFailed, UserError
from gitmem.git.process import QUIET, Git
from gitmem.repo.location import Location

NOT_COMMITTED = "0"  # the id that blame gives to lines of the work tree is this and nothing else
PLAIN = ("-c", "core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "diff.renameLimit=2000", "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false")  # fmt: skip
LONG = 2000  # characters of a line that are looked at
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_HEADER = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (\d+) (\d+)(?: (\d+))?")
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-7]{3})')
_ESCAPES = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b'"': b'"', b"\\": b"\\"}


@dataclass(frozen=True, slots=True)
class CodeCommit:
    """A commit as history tells it. Times are epoch seconds; `at` is the committer's."""

    oid: str
    author: str
    mail: str
    authored: int
    at: int
    subject: str
    parents: tuple[str, ...] = ()
    body: str = ""


@dataclass(slots=True)
class Blamed:
    """Lines that stand together now, and that one commit made in one place: `was` and `path` are there, `first` is here. `commit` is None for what is not committed."""

    commit: CodeCommit | None
    first: int
    count: int
    was: int
    path: str


@dataclass(slots=True)
class Added:
    """What a commit, or the work tree, added to a file: runs of (first line, texts). `old` is what the file was called before."""

    path: str
    old: str
    runs: list[tuple[int, list[str]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FileChange:
    """A commit's change of a file: `what` is git's letter (A, M, D, R, C, T), `path` its name then, `was` the one before when it had another."""

    commit: CodeCommit
    what: str
    path: str
    was: str = ""


def unquoted(name: bytes) -> str:
    """Return a path as git prints it, with or without quotes."""
    if name.startswith(b'"') and name.endswith(b'"') and len(name) > 1:
        name = _ESCAPE.sub(lambda m: _ESCAPES.get(m[1]) or bytes([int(m[1], 8) & 255]), name[1:-1])
    return os.fsdecode(name)


class CodeHistory:
    """Asks git about the history of one repository's code."""

    def __init__(self, location: Location, env: Mapping[str, str], *, timeout: float = 120.0) -> None:
        self.root = location.worktree
        self._git = Git(location.gitdir, env, timeout=timeout)

    def _run(self, *args: str, stdin: bytes | None = None, ok: Sequence[int] = (0,)) -> bytes:
        where = ("-C", self.root, "--work-tree", self.root) if self.root else ()
        return self._git.run(*where, *args, stdin=stdin, ok=ok, config=PLAIN)

    def lines(self, *args: str, sep: bytes = b"\n") -> Iterator[bytes]:
        """Yield what a git command prints, part by part, as it comes; whoever stops to read ends the command."""
        where = ("-C", self.root, "--work-tree", self.root) if self.root else ()
        argv = ["git", "--git-dir", self._git.gitdir, *where, *QUIET, *PLAIN, *args]
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._git.env)
        except FileNotFoundError as error:
            raise External("git is not installed, or not on the PATH.", "Install git 2.30 or newer.") from error
        assert child.stdout is not None
        rest = b""
        try:
            while block := os.read(child.stdout.fileno(), 1 << 16):
                *whole, rest = (rest + block).split(sep)
                yield from whole
            if rest:
                yield rest
        finally:
            child.stdout.close()
            child.kill()
            child.wait()

    def resolve(self, revision: str) -> str:
        """Return the commit that a revision names; raises UserError when there is none."""
        try:
            out = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed as error:
            raise UserError(f"'{revision}' names no commit.", "See what there is: git log --oneline --all") from error
        return out.decode().split()[-1]

    def text(self, path: str, revision: str = "", most: int = 16 << 20) -> bytes | None:
        """Return a file of the work tree, or of a commit, as far as `most` bytes; None when there is none."""
        if not revision:
            try:
                with open(os.path.join(self.root or "", path), "rb") as file:
                    return file.read(most)
            except OSError:
                return None
        try:
            return self._run("cat-file", "blob", f"{revision}:{path}")[:most]
        except GitFailed:
            return None

    def blame(self, path: str, spans: Sequence[tuple[int, int]], revision: str = "") -> list[Blamed]:
        """Return who made lines of a file, through renames, moves within it and copies from files changed beside it; in the order of the lines.

        Raises UserError for a file that git does not know, or lines that it does not have.
        """
        ranges = [f"-L{first},{last}" for first, last in spans]
        try:
            # one line moved is found too: -M takes 20 letters and digits for a move, -C 40
            out = self._run("blame", "--porcelain", "-M", "-C", *ranges, *([revision] if revision else []), "--", path)
        except GitFailed as error:
            if "has only" in error.stderr:
                found = re.search(r"has only (\d+) line", error.stderr)
                raise UserError(
                    f"'{path}' has {found[1] if found else 'fewer'} lines.", "Name lines that are there: FILE:LINE or FILE:FIRST-LAST"
                ) from error
            raise UserError(f"git has no history of '{path}'.", "Is it a file that git tracks? See: git ls-files") from error
        return _blamed(out)

    def commits(self, oids: Iterable[str]) -> dict[str, CodeCommit]:
        """Return commits by their ids; what is not there is left out."""
        wanted = [oid for oid in dict.fromkeys(oids) if oid.isalnum()]
        if not wanted:
            return {}
        data = "".join(f"{oid}\n" for oid in wanted).encode()
        try:
            out = self._run("log", "--no-walk=unsorted", "--ignore-missing", "-z", f"--format={FORMAT}", "--stdin", stdin=data)
        except GitFailed:
            return {}
        return {found.oid: found for row in out.split(b"\0") if (found := parse(row)) is not None}

    def added(self, oid: str, paths: Sequence[str] = ()) -> list[Added]:
        """Return what a commit added to text files; nothing for a merge, whose lines are those of its parents."""
        limit = ["--", *(f":(top,literal){path}" for path in paths)] if paths else []
        out = self._run(
            "diff-tree", "-r", "--root", "--no-commit-id", "-p", "-U0", "-M", "--no-color", "--no-ext-diff", "--no-textconv", oid, *limit
        )
        return list(_added(out))

    def uncommitted(self, path: str) -> list[Added]:
        """Return what the work tree adds to a file."""
        out = self._run(
            "-c", "diff.autoRefreshIndex=false", "diff", "HEAD", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--", f":(top,literal){path}", ok=(0, 128),
        )  # fmt: skip
        return list(_added(out))

    def patch_ids(self, oids: Sequence[str]) -> dict[str, str]:
        """Return {commit: what its change is called by `git patch-id --stable`}; merges and empty commits have none."""
        if not oids:
            return {}
        data = "".join(f"{oid}\n" for oid in oids).encode()
        diffs = self._run("diff-tree", "-r", "--root", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--stdin", stdin=data)
        out = self._run("patch-id", "--stable", stdin=diffs).decode()
        return {oid: patch for row in out.splitlines() for patch, _, oid in [row.partition(" ")]}

    def file_changes(self, path: str, heads: Sequence[str], seen: Sequence[str] = ()) -> bytes | None:
        """Return the changes of a file below some heads and not below others, the newest first, through renames, for `parsed_changes`; None when a head is not there."""
        args = [*heads, *(f"^{oid}" for oid in seen)]
        try:
            # a path as it is: with --follow git takes no magic but this
            return self._run(
                "--literal-pathspecs",
                "log",
                "--follow",
                "-M",
                "--name-status",
                "-z",
                f"--format=%x01{SHORT}",
                "--no-show-signature",
                *args,
                "--",
                path,
            )
        except GitFailed:
            return None

    def symbol_changes(self, path: str, first: int, last: int, revision: str) -> list[FileChange]:
        """Return the commits that changed lines of a file, through renames, the newest first; raises UserError for lines that it does not have."""
        try:
            out = self._run("log", f"-L{first},{last}:{path}", "-s", "-z", f"--format=%x01{SHORT}", "--no-show-signature", revision)
        except GitFailed as error:
            raise UserError(
                f"git cannot follow lines {first}-{last} of '{path}'.", "Is the file in the commit? See: git ls-files"
            ) from error
        return [FileChange(found, "M", path) for row in out.split(b"\1") if (found := parse(row.strip(b"\0\n") + b"\x1f")) is not None]

    def not_below_any(self, oids: Sequence[str], heads: Sequence[str]) -> bool:
        """Say whether one of some commits is below none of some heads, or is not there."""
        try:
            return bool(self._run("rev-list", "--max-count=1", *oids, *(f"^{oid}" for oid in heads), "--"))
        except GitFailed:
            return True

    def touched(self, since: float, until: float, most: int) -> Iterator[tuple[float, list[str]]]:
        """Yield (time, files) of the commits of the branches between two times, the newest first; a merge has no files of its own."""
        span = [f"--since=@{int(since)}", f"--until=@{int(until)}", f"--max-count={most}"]
        at, paths = None, list[str]()
        for part in self.lines(
            "log", "HEAD", "--branches", "-z", "--name-only", "--no-renames", "--format=%x01%ct", *span, "--", sep=b"\0"
        ):
            for word in part.split(b"\n"):
                if word.startswith(b"\1"):
                    if at is not None:
                        yield at, paths
                    at, paths = float(word[1:] or 0), []
                elif word:
                    paths.append(os.fsdecode(word))
        if at is not None:
            yield at, paths

    def listed(self, revisions: Sequence[str], most: int) -> list[str]:
        """Return the commits that revisions name, and those of ranges such as `a..b`, the newest first; raises UserError."""
        out: list[str] = []
        for one in revisions:
            if ".." not in one and not one.startswith("^"):
                out.append(self.resolve(one))
                continue
            try:
                out += self._run("rev-list", f"--max-count={most}", "--end-of-options", one, "--").decode().split()
            except GitFailed as error:
                raise UserError(f"'{one}' names no commits.", "See what there is: git log --oneline --all") from error
        return list(dict.fromkeys(out))

    def notes_refs(self) -> list[str]:
        """Return the refs below refs/notes/."""
        return self._run("for-each-ref", "--format=%(refname)", "refs/notes/").decode("utf-8", "surrogateescape").split("\n")[:-1]

    def notes(self, ref: str, most: int) -> Iterator[tuple[str, str]]:
        """Yield (commit, text) of the notes of a ref; those of more than `most` bytes are left out. Raises UserError when there is no such ref."""
        try:
            out = self._run("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", ref)
        except GitFailed as error:
            raise UserError(f"there are no notes in '{ref}'.", "See what there is: git for-each-ref refs/notes/") from error
        rows = []
        for row in out.split(b"\0"):
            about, _, name = row.partition(b"\t")
            words = about.split()
            commit = name.replace(b"/", b"").decode("ascii", "replace")  # git spreads many notes over folders
            if len(words) == 4 and words[3].isdigit() and int(words[3]) <= most and len(commit) in {40, 64}:
                rows.append((commit, words[2].decode()))
        if not rows:
            return
        data = self._run("cat-file", "--batch", stdin="".join(f"{oid}\n" for _, oid in rows).encode())
        at = 0
        for commit, _ in rows:
            head, _, _ = data[at : at + 200].partition(b"\n")
            size = int(head.split()[2])
            at += len(head) + 1
            yield commit, data[at : at + size].decode("utf-8", "replace")
            at += size + 1

    def heads(self) -> list[str]:
        """Return the commits that are checked out and that local branches name."""
        out = self._run("for-each-ref", "--format=%(objectname)", "refs/heads/").decode().split()
        head = self._run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1, 128)).decode().strip()
        return list(dict.fromkeys([head, *out] if head else out))

    def new(self, heads: Sequence[str], seen: Sequence[str], since: float, most: int) -> list[CodeCommit]:
        """Return commits below some heads and not below what was seen before, made since a time, the oldest first."""
        if not heads:
            return []
        args = [*heads, *(f"^{oid}" for oid in seen)]
        data = "".join(f"{one}\n" for one in args).encode()
        span = f"--since=@{max(0, int(since))}"
        out = self._run("log", "--ignore-missing", "-z", f"--max-count={most}", span, f"--format={FORMAT}", "--stdin", stdin=data)
        return [found for row in reversed(out.split(b"\0")) if (found := parse(row)) is not None]

    def not_below(self, oids: Iterable[str], commit: str) -> set[str]:
        """Return those of some commits that a commit does not contain, or that are not there at all."""
        wanted = set(oids)
        if not wanted:
            return set()
        data = "".join(f"{oid}\n" for oid in wanted).encode() + f"^{commit}\n".encode()
        out = self._run("rev-list", "--ignore-missing", "--stdin", stdin=data)
        there = set(self.commits(wanted))
        return (wanted & set(out.decode().split())) | (wanted - there)


SHORT = "%H%x1f%an%x1f%ae%x1f%at%x1f%ct%x1f%x1f%s"  # a commit without parents and text
FORMAT = "%H%x1f%an%x1f%ae%x1f%at%x1f%ct%x1f%P%x1f%s%x1f%b"


def parse(row: bytes) -> CodeCommit | None:
    """Return a commit printed as `FORMAT`; None for another line."""
    parts = row.decode("utf-8", "replace").strip("\n").split("\x1f", 7)
    if len(parts) < 8 or not parts[3].isdigit() or not parts[4].isdigit():
        return None
    oid, author, mail, authored, at, parents, subject, body = parts
    return CodeCommit(oid, author, mail, int(authored), int(at), subject, tuple(parents.split()), body.strip())


def parsed_changes(out: bytes) -> Iterator[FileChange]:
    """Yield the changes of `git log --name-status -z` whose commits begin with a byte 1."""
    for part in out.split(b"\1")[1:]:
        head, _, rest = part.partition(b"\0")
        commit = parse(head + b"\x1f")
        words = rest.strip(b"\0\n").split(b"\0")
        if commit is None or not words[0]:
            continue
        letter = words[0].strip(b"\n").decode("ascii", "replace")[:1]
        names = [os.fsdecode(word) for word in words[1:]]
        if letter in {"R", "C"} and len(names) > 1:
            yield FileChange(commit, letter, names[1], names[0])
        elif names:
            yield FileChange(commit, letter, names[0])


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


def _added(out: bytes) -> Iterator[Added]:
    """Yield what a diff without context adds, file by file."""
    one: Added | None = None
    old, gone, come = "", 0, 0  # lines that are left of the hunk, by their side
    for line in out.split(b"\n"):
        if gone and line.startswith(b"-"):
            gone -= 1
        elif come and line.startswith(b"+"):
            come -= 1
            if one:
                one.runs[-1][1].append(line[1:].decode("utf-8", "replace")[:LONG])
        elif line.startswith(b"diff --git "):
            if one:
                yield one
            one, old, gone, come = None, "", 0, 0
        elif line.startswith(b"--- "):
            old = _name(line[4:])
        elif line.startswith(b"+++ "):
            path = _name(line[4:])
            one = Added(path, old or path) if path else None
        elif hunk := _HUNK.match(line):
            gone, come = (int(count) if count is not None else 1 for count in (hunk[1], hunk[3]))
            if one and come:
                one.runs.append((int(hunk[2]), []))
    if one:
        yield one


def _name(word: bytes) -> str:
    """Return the path of a `---` or `+++` line, '' for /dev/null."""
    name = unquoted(word.rstrip(b"\t") if not word.startswith(b'"') else word)
    return "" if name == "/dev/null" else name[2:]
