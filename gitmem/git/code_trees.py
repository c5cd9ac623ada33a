"""The code of a commit, without a checkout.

It tells which files there are, what changed, their bytes and what attributes say of them. The
module only reads.

Paths are str with bytes that are not UTF-8 as surrogates.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gitmem.errors import NoCommit, UserError
from gitmem.git.process import Git
from gitmem.git.work_state import file_on_disk
from gitmem.repo.location import Location

LINGUIST = ("linguist-generated", "linguist-vendored")
REGULAR = (b"100644", b"100755")


class TreeChange(NamedTuple):
    """A file that differs between two trees; '' for the side that lacks it."""

    path: str
    old: str
    new: str


class CodeTrees:
    """Asks git about the trees of one repository's code; works in a bare one too."""

    def __init__(
        self, location: Location, env: Mapping[str, str], *, timeout: float = 120.0
    ) -> None:
        self.root = location.worktree
        self.gitdir = location.gitdir
        self._git = Git(location.gitdir, env, timeout=timeout)

    def resolve(self, revision: str) -> tuple[str, str]:
        """Return (commit, tree) of a revision; raises UserError when it names no commit."""
        asked = "" if "\n" in revision else f"{revision}^{{commit}}\n{revision}^{{tree}}\n"
        rows = [
            row.split()
            for row in self._git.run(
                "cat-file", "--batch-check", stdin=os.fsencode(asked)
            ).splitlines()
        ]
        if len(rows) == 2 and all(len(row) == 3 and row[1] in {b"commit", b"tree"} for row in rows):
            return rows[0][0].decode(), rows[1][0].decode()
        if revision == "HEAD":
            raise NoCommit(
                "there is no commit yet.",
                "Commit something first: what is known of the code is read from commits.",
            )
        raise UserError(
            f"'{revision}' names no commit.", "See what there is: git log --oneline --all"
        )

    def listing(self, tree: str) -> dict[str, str]:
        """Return {path: blob} of the regular files of a tree, sorted by path.

        Links and submodules are left out.
        """
        out: dict[str, str] = {}
        for head, path in self._rows(tree):
            if head[:6] in REGULAR:
                out[path] = head[12:].decode()
        return dict(sorted(out.items()))

    def no_files(self, tree: str) -> dict[str, str]:
        """Return {path: `link` or `submodule`} of what a tree has beside regular files."""
        kinds = {b"120000": "link", b"160000": "submodule"}
        return {path: kinds[head[:6]] for head, path in self._rows(tree) if head[:6] in kinds}

    def _rows(self, tree: str) -> Iterator[tuple[bytes, str]]:
        """Yield (mode, kind and id; path) of what is in a tree and its folders."""
        for row in self._git.run("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0"):
            head, _, path = row.partition(b"\t")
            yield head, os.fsdecode(path)

    def changed(self, old: str, new: str) -> list[TreeChange]:
        """Return the regular files that differ between two trees.

        Raises GitFailed when one is not there.
        """
        out = self._git.run(
            "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new
        )
        parts = out.split(b"\0")
        rows = []
        for head, path in zip(parts[::2], parts[1::2], strict=False):
            was, now, before, after, *_ = head.lstrip(b":").split()
            rows.append(
                TreeChange(
                    os.fsdecode(path),
                    before.decode() if was in REGULAR else "",
                    after.decode() if now in REGULAR else "",
                )
            )
        return [row for row in rows if row.old or row.new]

    def blobs(self, oids: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        """Yield (oid, bytes) of blobs, in order; None for what is not there."""
        if not oids:
            return
        child = self._git.open("cat-file", "--batch")
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            for start in range(0, len(oids), 64):  # so much fits a pipe
                part = oids[start : start + 64]
                child.stdin.write("".join(f"{oid}\n" for oid in part).encode())
                child.stdin.flush()
                for oid in part:
                    words = child.stdout.readline().split()
                    if len(words) != 3:
                        yield oid, None
                        continue
                    data = child.stdout.read(int(words[2]))
                    child.stdout.read(1)
                    yield oid, data if words[1] == b"blob" else None
        finally:
            child.stdin.close()
            child.stdout.close()
            child.wait()

    def blob(self, oid: str) -> bytes:
        """Return the bytes of one blob; nothing for one that is not there."""
        return next((data or b"" for _, data in self.blobs([oid])), b"")

    def attributes(self, tree: str, paths: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return {path: {attribute: value}} of linguist's attributes for some paths.

        They are the attributes of a tree, or with '' of the work tree. No checkout is needed.

        Values are as `git check-attr` prints them: `set`, `unset`, or a text.
        """
        data = b"".join(os.fsencode(path) + b"\0" for path in paths)
        if not data:
            return {}
        if not tree and self.root:
            out = self._git.run(
                "-C",
                self.root,
                "--work-tree",
                self.root,
                "check-attr",
                "-z",
                "--stdin",
                *LINGUIST,
                stdin=data,
            )
        else:
            # git before 2.40 reads attributes of no tree, but of an index
            with tempfile.TemporaryDirectory(prefix="gitmem-") as folder:
                env = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
                self._git.run("read-tree", tree, env=env)
                out = self._git.run(
                    "check-attr", "--cached", "-z", "--stdin", *LINGUIST, stdin=data, env=env
                )
        parts = out.split(b"\0")
        attributes: dict[str, dict[str, str]] = {}
        for path, name, value in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
            if value != b"unspecified":
                attributes.setdefault(os.fsdecode(path), {})[name.decode()] = value.decode(
                    "utf-8", "replace"
                )
        return attributes

    def uncommitted(
        self, hexes: int, wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, str, bytes]]:
        """Yield (path, blob, bytes) of the wanted files that differ from HEAD or are new.

        The blob is the one that the file would be. A file that is gone has '' and no bytes.

        `hexes` is the length of the repository's object ids.
        """
        if self.root is None:
            return
        where = ("-C", self.root, "--work-tree", self.root, "-c", "core.fsmonitor=false")
        out = self._git.run(
            *where,
            "--no-optional-locks",
            "status",
            "--porcelain",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--ignore-submodules=all",
        )
        for row in out.split(b"\0"):
            path = os.fsdecode(row[3:])
            if len(row) < 4 or path.endswith("/") or not wanted(path):
                continue
            on_disk = file_on_disk(self.root, path, 16 << 20)
            if on_disk is None:
                yield path, "", b""
            elif isinstance(on_disk, tuple) and on_disk[0] != 0o120000:
                data = on_disk[1]
                head = b"blob %d\0" % len(data)
                name = (
                    hashlib.sha256(head + data)
                    if hexes == 64
                    else hashlib.sha1(head + data, usedforsecurity=False)
                )
                yield path, name.hexdigest(), data

    def tips(self) -> list[str]:
        """Return the trees that branches, remote branches, tags, work trees and the stash name.

        A cache still needs these trees.
        """
        out = self._git.run(
            "for-each-ref",
            "--format=%(objectname) %(*objectname)",
            "refs/heads/",
            "refs/remotes/",
            "refs/tags/",
            "refs/stash",
        )
        commits = {words[-1] for row in out.decode().splitlines() if (words := row.split())}
        for row in (
            self._git.run("worktree", "list", "--porcelain").decode("utf-8", "replace").splitlines()
        ):
            if row.startswith("HEAD ") and row[5:].strip("0"):
                commits.add(row[5:])
        trees = []
        for commit in sorted(commits):
            tips = (
                self._git.run(
                    "rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}", ok=(0, 1, 128)
                )
                .decode()
                .strip()
            )
            if tips:
                trees.append(tips)
        return sorted(set(trees))
