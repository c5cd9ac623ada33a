"""What git and the disk know of one repository's code.

The module gives present and past texts, renames and searches, and gives nothing after a deadline.
"""

import os
import re
import stat
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from gitmem.errors import GitmemError
from gitmem.git.blobs import read_blobs
from gitmem.git.process import Git

MAX_BYTES = 5_000_000
TEXTS = 64  # texts of old blobs that are kept
FEW = 200  # files that git is told the names of
HERE = ""  # the work tree, where a revision is named

_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_QUIET = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.renameLimit=2000",
    "-c",
    "merge.renameLimit=2000",
)


class TextSources:
    """Reads a repository; what cannot be read in time, or at all, is None or nothing.

    Keeps what git said until `forget`. `was_late` says whether a deadline passed since then.
    """

    def __init__(self, git: Git, worktree: str | None, seconds: float) -> None:
        self.git = git
        self.worktree = os.path.realpath(worktree) if worktree else None
        self.seconds = seconds
        self.until = 0.0
        self.was_late = False
        self._texts: OrderedDict[str, list[str] | None] = OrderedDict()
        self._renames: dict[tuple[str, str], dict[str, str]] = {}
        self._checked: dict[str, str] = {}
        self._head: tuple[float, str] = (0.0, "")

    def forget(self) -> None:
        """Forget what git said of HEAD and of the work tree."""
        self._renames.clear()
        self._checked.clear()
        self._head = (0.0, "")
        self.was_late = False

    def begin(self) -> None:
        """Set the deadline of what is asked for from now on."""
        self.until = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        """Say whether the deadline has passed."""
        is_over = time.monotonic() >= self.until
        self.was_late |= is_over
        return is_over

    # -- old texts

    def text(self, oid: str) -> list[str] | None:
        """Return the lines of a blob, None when it is not there."""
        self.read([oid])
        return self._texts.get(oid)

    def read(self, oids: Iterable[str]) -> None:
        """Read blobs that are not known yet, all in one call."""
        wanted = [
            oid for oid in dict.fromkeys(oids) if _OID.fullmatch(oid) and oid not in self._texts
        ][:1_000]
        if not wanted:
            return
        for oid, data in zip(wanted, self._blobs(wanted), strict=False):
            self._keep(oid, None if data is None else split(data.decode("utf-8", "replace")))

    def read_committed(self, commit: str, paths: Iterable[str]) -> None:
        """Read the texts of files at a commit that are not known yet, all in one call."""
        keys = {f"{commit}:{path}": path for path in paths if safe(path) and "\n" not in path}
        wanted = [key for key in keys if key not in self._texts][:1_000]
        for key, data in zip(wanted, self._blobs(wanted), strict=False):
            self._keep_committed(key, data)

    def _keep_committed(self, key: str, data: bytes | None) -> None:
        is_text = data is not None and b"\0" not in data[:8000]
        self._keep(key, split(data.decode("utf-8", "replace")) if data and is_text else None)

    def _blobs(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the contents of blobs by name, in order; those that the time is enough for."""
        if not names:
            return
        try:
            yield from read_blobs(self.git, names, MAX_BYTES, self.until, _QUIET)
        except (GitmemError, OSError, ValueError):
            pass
        self.is_over()

    def _keep(self, key: str, lines: list[str] | None) -> None:
        self._texts[key] = lines
        while len(self._texts) > max(TEXTS, 1_000 if lines is None else TEXTS):
            self._texts.popitem(last=False)

    def committed(self, commit: str, path: str) -> list[str] | None:
        """Return the lines of a file at a commit, None when either is not there."""
        if not _OID.fullmatch(commit) or not path:
            return None
        key = f"{commit}:{path}"
        if key not in self._texts:
            self._keep_committed(key, self.content(path, commit))
        return self._texts.get(key)

    # -- git, and the disk

    def run(self, *args: str, stdin: bytes | None = None) -> bytes | None:
        """Return git's output, None when it failed or the time is up."""
        if self.is_over():
            return None
        try:
            # objects that a partial clone left at its remote stay there: an editor does not wait
            # for a network
            return self.git.run(
                *args,
                stdin=stdin,
                config=_QUIET,
                env={"GIT_NO_LAZY_FETCH": "1"},
                ok=(0, 1),
                timeout=max(0.0, self.until - time.monotonic()),
            )
        except (GitmemError, OSError, ValueError):
            self.is_over()
            return None

    def run_here(self, *args: str) -> bytes | None:
        """Return git's output of a command that looks at the work tree."""
        return (
            self.run(f"--work-tree={self.worktree}", "-C", str(self.worktree), *args)
            if self.worktree
            else None
        )

    def head_id(self) -> str:
        """Return the commit that is checked out; asked once a second at most."""
        at, head = self._head
        if time.monotonic() - at > 1.0:
            head = self.commit("HEAD")
            self._head = (time.monotonic(), head)
        return head

    def commit(self, revision: str) -> str:
        """Return a revision's commit, empty when there is none."""
        return (
            (
                self.run(
                    "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
                )
                or b""
            )
            .decode("utf-8", "replace")
            .strip()
        )

    def renamed(self, source: str, target: str) -> dict[str, str]:
        """Return {old name: new name} of what git sees as renamed between a commit and a target."""
        key = (source, target)
        if key not in self._renames:
            start = source if _OID.fullmatch(source) else self._checked_commit(source)
            options = (
                "-M50%",
                "--diff-filter=R",
                "--name-status",
                "-z",
                "--no-ext-diff",
                "--no-textconv",
                "--ignore-submodules=all",
            )
            data = None
            if start:
                data = (
                    self.run_here("diff", *options, start, "--")
                    if target == HERE
                    else self.run("diff-tree", "-r", *options, start, target, "--")
                )
            if data is None and start:
                return {}
            self._renames[key] = dict(pairs(data or b""))
        return self._renames[key]

    def _checked_commit(self, revision: str) -> str:
        if revision not in self._checked:
            self._checked[revision] = self.commit(revision)
        return self._checked[revision]

    def grep(self, what: Sequence[str], target: str, within: Sequence[str] = ()) -> list[str]:
        """Return the files that `git grep` finds, of some files or of all.

        In a work tree, untracked files are searched too.
        """
        options = ("-l", "-z", "-I", "--full-name", "--no-color", *what)
        files = ("--", *(f":(top,literal){name}" for name in within))
        if target == HERE:
            data = self.run_here("grep", "--untracked", *options, *files) or b""
            return [raw.decode("utf-8", "surrogateescape") for raw in data.split(b"\0") if raw]
        data = self.run("grep", *options, target, *files) or b""
        return [
            raw.split(b":", 1)[-1].decode("utf-8", "surrogateescape")
            for raw in data.split(b"\0")
            if raw
        ]

    def holding(self, probes: Sequence[str], target: str) -> Iterator[list[str]]:
        """Yield for each text, which is within a line, the files that hold it, as `grep` does.

        Lines are not read: one may be as long as a file.
        """
        patterns = [part for probe in probes for part in _fixed(probe)]
        files = self.grep(patterns, target) if probes else []
        within = files if len(files) <= FEW else []
        for probe in probes if files else ():
            yield self.grep(_fixed(probe), target, within)

    def content(self, path: str, target: str) -> bytes | None:
        """Return a file's content in the work tree or at a commit.

        None when it is not a file, too large, or outside.
        """
        if not safe(path):
            return None
        if target == HERE:
            return self._on_disk(path)
        name = f"{target}:{path}"
        if "\n" in path:
            return self.run("cat-file", "blob", name)
        return next(self._blobs([name]), None)

    def names(self, target: str) -> list[str]:
        """Return the files of git's index, or of a commit."""
        if target == HERE:
            data = self.run_here("ls-files", "-z")
        else:
            data = self.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", target)
        return (data or b"").decode("utf-8", "surrogateescape").split("\0")[:-1]

    def unchanged(self) -> dict[str, str]:
        """Return {path: blob} of the files that the work tree has as git's index has them.

        Files that git is told not to look at are left out.
        """
        listed = self.run_here("ls-files", "-s", "-v", "-z")
        changed = self.run_here("diff-files", "--name-only", "-z", "--ignore-submodules=all")
        if listed is None or changed is None:
            return {}
        out: dict[str, str] = {}
        for row in listed.decode("utf-8", "surrogateescape").split("\0"):
            about, _, path = row.partition("\t")
            tag, _, rest = about.partition(" ")
            mode, _, oid = rest.removesuffix(" 0").partition(" ")
            if tag == "H" and mode.startswith("100") and " " not in oid:
                out[path] = oid
        for raw in changed.split(b"\0"):
            out.pop(raw.decode("utf-8", "surrogateescape"), None)
        return out

    def _on_disk(self, path: str) -> bytes | None:
        assert self.worktree is not None
        full = os.path.join(self.worktree, path)
        try:
            if os.path.realpath(os.path.dirname(full)) != os.path.normpath(os.path.dirname(full)):
                return None  # through a link: it may lead outside
            handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return None
        try:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
                return None
            with open(handle, "rb", closefd=False) as file:
                return file.read()
        except OSError:
            return None
        finally:
            os.close(handle)


def _fixed(probe: str) -> tuple[str, ...]:
    """Return the options of a search for a text."""
    return ("-F", "-e", probe)


def safe(path: str) -> bool:
    """Say whether a path from a record stays within the work tree, and out of git's own folder."""
    parts = path.split("/")
    return (
        bool(path)
        and "\0" not in path
        and not path.startswith("/")
        and not {"..", ".", ""} & set(parts)
        and parts[0].lower() != ".git"
    )


def split(text: str) -> list[str]:
    """Return the lines of a text."""
    return text.split("\n")


def pairs(data: bytes) -> list[tuple[str, str]]:
    """Return (old, new) of `--name-status -z` output that has renames only."""
    parts = [part.decode("utf-8", "surrogateescape") for part in data.lstrip(b"\n").split(b"\0")]
    out = []
    at = 0
    while at + 2 < len(parts):
        if re.fullmatch(r"\n*R\d+", parts[at]):
            out.append((parts[at + 1], parts[at + 2]))
            at += 3
        else:
            at += 1
    return out
