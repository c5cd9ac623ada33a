"""Read-only questions about the user's work tree: what is ignored, what changed since a commit.

Never writes the index.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256

from gitmem.errors import GitmemError
from gitmem.git.process import Git
from gitmem.repo.identity import made_by
from gitmem.repo.location import Location

# without it a file that was touched alone makes git write its index
DIFF = ("-c", "diff.autoRefreshIndex=false", "diff")
# names the commit that is checked out, so it never prints nothing
STATUS = (
    *("--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all"),
    *("--no-renames", "--ignore-submodules=all"),
)
FIELDS_BEFORE_PATH = {b"? ": 1, b"1 ": 8, b"u ": 10}  # of a row, by how it begins
MANY = 2000  # changed files that are looked at
PATHS = 200  # of one question


class WorkTree:
    """One work tree; answers nothing, and fails never, in a bare repository.

    It does not tell of what changed in files that it `hides`.
    """

    def __init__(
        self,
        location: Location,
        env: Mapping[str, str],
        *,
        timeout: float = 10.0,
        hides: Callable[[str], bool] = lambda _: False,
        own: frozenset[str] = frozenset(),
    ) -> None:
        self.hides = hides
        self._own = own  # addresses of the user, whose commits are told
        self.root = location.worktree
        self._git = Git(location.gitdir, env, timeout=timeout)

    def _run(self, *args: str, stdin: bytes | None = None, ok: Iterable[int] = (0,)) -> bytes:
        if self.root is None:
            return b""
        try:
            return self._git.run(
                "-C", self.root, "--work-tree", self.root, *args, stdin=stdin, ok=ok
            )
        # a missing commit, a work tree that is there no more: nothing is known then
        except GitmemError:
            return b""

    def head(self) -> str:
        """Return the commit that is checked out; empty when there is none."""
        return (
            self._run("rev-parse", "--quiet", "--verify", "HEAD", ok=(0, 1, 128)).decode().strip()
        )

    def ignored(self, paths: Sequence[str]) -> set[str]:
        """Return which of some paths (relative to the root) git ignores."""
        if not paths:
            return set()
        # a name that begins with a colon is not a pattern
        data = b"".join(b"./" + os.fsencode(path) + b"\0" for path in paths[:PATHS])
        out = self._run("check-ignore", "-z", "--stdin", stdin=data, ok=(0, 1, 128))
        return {os.fsdecode(path.removeprefix(b"./")) for path in out.split(b"\0") if path}

    def stamp(self) -> str:
        """Return a text that changes when HEAD, the index or a file that is not ignored changes.

        Files are told by their times and sizes. '' in a bare repository, and where git does not
        answer in time.
        """
        out = self._run("--no-optional-locks", "status", *STATUS)
        digest = sha256(out)
        for row in out.split(b"\0"):
            place = row.split(b" ", FIELDS_BEFORE_PATH.get(row[:2], 0))[-1]
            try:
                about = os.lstat(os.path.join(os.fsencode(self.root or ""), place))
            except (OSError, ValueError):
                continue
            facts = (about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            digest.update(f"{facts}".encode())
        return digest.hexdigest()[:24] if out else ""

    def ignored_names(self, paths: Sequence[str]) -> set[str]:
        """Return which of some paths git ignores, as files or as folders, be they there or not."""
        out: set[str] = set()
        for start in range(0, len(paths), PATHS // 2):
            part = paths[start : start + PATHS // 2]
            folders = [f"{path.rstrip('/')}/" for path in part]  # a rule may be for folders alone
            hits = self.ignored([*part, *folders])
            out.update(path for path in part if not hits.isdisjoint({path, f"{path.rstrip('/')}/"}))
        return out

    def submodules(self) -> frozenset[str]:
        """Return the paths at which the index has other repositories."""
        rows = self._run("ls-files", "-z", "--stage").split(b"\0")
        links = (row.partition(b"\t")[2] for row in rows if row.startswith(b"160000 "))
        return frozenset(map(os.fsdecode, links))

    def touched(self, base: str, since: float, until: float) -> list[str]:
        """Return the tracked files that differ from a commit and were written between two times.

        Times are in epoch seconds.
        """
        if self.root is None or base.startswith("-"):
            return []
        out = self._run(
            *DIFF,
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--name-only",
            "-z",
            base or "HEAD",
            "--",
        )
        touched = []
        for name in out.split(b"\0")[:MANY]:
            path = os.fsdecode(name)
            try:
                if (
                    name
                    and not self.hides(path)
                    and since < os.stat(os.path.join(self.root, path)).st_mtime <= until
                ):
                    touched.append(path)
            except OSError:
                continue  # removed: nobody knows when
        return touched

    def changes(self, base: str, paths: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return (path, lines added, lines removed) between a commit and the present files.

        New files count as added.
        """
        if self.root is None or not paths or base.startswith("-"):  # no commit, but an option
            return []
        wanted = [f":(top,literal){path}" for path in paths[:PATHS]]
        out = self._run(
            *DIFF,
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--numstat",
            "-z",
            base or "HEAD",
            "--",
            *wanted,
        )
        rows: dict[str, tuple[str, int, int]] = {}
        for row in out.split(b"\0"):
            added, _, rest = row.partition(b"\t")
            removed, _, name = rest.partition(b"\t")
            if name:
                path = os.fsdecode(name)
                rows[path] = (
                    path,
                    int(added) if added.isdigit() else 0,
                    int(removed) if removed.isdigit() else 0,
                )
        for path in paths[:PATHS]:
            full = os.path.join(self.root, path)
            if path not in rows and os.path.isfile(full) and not self._tracked(path):
                try:
                    with open(full, "rb") as file:
                        rows[path] = path, file.read(1 << 20).count(b"\n"), 0
                except OSError:  # not ours to read, or gone this moment
                    continue
        return [rows[path] for path in paths if path in rows]

    def status(self) -> list[tuple[str, str]]:
        """Return (path, two letters) of what is changed, staged or new.

        The letters are as `git status --porcelain` has them.
        """
        out = self._run(
            "--no-optional-locks",
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--ignore-submodules",
        )
        rows = [os.fsdecode(row) for row in out.split(b"\0")[:MANY] if len(row) > 3]
        return [(row[3:], row[:2].strip()) for row in rows if not self.hides(row[3:])]

    def commits(self, since: float, until: float) -> list[tuple[str, str]]:
        """Return (short id, subject) of the user's own commits between two times, newest first.

        The commits are on the checked-out branch. Times are in epoch seconds.

        What others say in their messages is no word on what was done here.
        """
        out = self._run(
            "log",
            "-z",
            "--max-count=50",
            "--no-show-signature",
            f"--since=@{int(since)}",
            f"--until=@{int(until) + 1}",
            "--format=%h%x1f%ae%x1f%ce%x1f%s",
            "HEAD",
            "--",
            ok=(0, 128),
        )
        rows = [row.decode("utf-8", "replace").split("\x1f", 3) for row in out.split(b"\0") if row]
        return [(row[0], row[3]) for row in rows if len(row) == 4 and made_by(self._own, *row[1:3])]

    def changed_files(self, since: float, until: float) -> list[str]:
        """Return the files that commits of the checked-out branch changed between two times.

        The newest change comes first.
        """
        span = (f"--since=@{int(since)}", f"--until=@{int(until) + 1}")
        out = self._run(
            "log",
            "-z",
            "--max-count=50",
            "--no-show-signature",
            "--name-only",
            *span,
            "--format=",
            "HEAD",
            "--",
            ok=(0, 128),
        )
        return list(
            dict.fromkeys(
                path.strip()
                for row in out.split(b"\0")
                if (path := row.decode("utf-8", "replace")).strip()
            )
        )

    def files_of(self, commit: str) -> list[str]:
        """Return the files that a commit changed, against its first parent."""
        out = self._run(
            "diff-tree",
            "-r",
            "-z",
            "--root",
            "--no-commit-id",
            "--name-only",
            "--no-renames",
            "-m",
            "--first-parent",
            commit,
            ok=(0, 128),
        )
        return [os.fsdecode(name) for name in out.split(b"\0") if name]

    def _tracked(self, path: str) -> bool:
        return bool(self._run("ls-files", "-z", "--", f":(top,literal){path}"))
