"""Merges and differences of many commits at once.

They leave nothing in the repository: what git writes for them goes into a scratch folder.

Formats: https://git-scm.com/docs/git-merge-tree#_output and
https://git-scm.com/docs/git-diff-tree#_raw_output_format.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitmem.errors import GitFailed, GitmemError
from gitmem.git.code_history import PLAIN
from gitmem.git.process import Git
from gitmem.repo.location import Location

NOBODY = {
    "GIT_AUTHOR_NAME": "git-mem",
    "GIT_AUTHOR_EMAIL": "git-mem",
    "GIT_COMMITTER_NAME": "git-mem",
    "GIT_COMMITTER_EMAIL": "git-mem",
    "GIT_AUTHOR_DATE": "@1 +0000",
    "GIT_COMMITTER_DATE": "@1 +0000",
}
NEW_FILE = 1 << 20  # bytes of a new file that is taken in
NEW_FILES = 500
# of scratch folders; seconds after which one is nobody's any more
PREFIX, STALE = "git-mem-merge-", 3600.0
SHM, ROOM = "/dev/shm", 512 << 20  # noqa: S108 - a folder of random name is made in it, for its owner alone


@dataclass(frozen=True, slots=True)
class Ref:
    """A local or remote branch: its full name, commit, commit time (epoch seconds) and author.

    `mail` is in angle brackets.
    """

    name: str
    commit: str
    at: int
    author: str
    mail: str


@dataclass(frozen=True, slots=True)
class Tree:
    """A work tree: its folder, the commit and branch ('' for none) that are checked out."""

    root: str
    gitdir: str
    commit: str
    branch: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A file that differs between two trees.

    The field `was` is its name in the first tree, `old` and `new` are its blobs in the two (''
    where it does not exist).
    """

    path: str
    was: str
    old: str
    new: str


class Merges:
    """Compares commits of one repository.

    Use it as a context manager: its scratch folder goes with it.
    """

    def __init__(
        self, location: Location, env: Mapping[str, str], *, timeout: float = 120.0
    ) -> None:
        self._location = location
        self._git = Git(location.commondir, env, timeout=timeout)
        self._folder = ""

    def __enter__(self) -> "Merges":
        place = _in_memory() or tempfile.gettempdir()
        _sweep(place)
        self._folder = tempfile.mkdtemp(prefix=PREFIX, dir=place)
        # without it git takes this for no repository
        os.mkdir(os.path.join(self._folder, "objects"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(
        self,
        *args: str,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        ok: Sequence[int] = (0,),
        git: Git | None = None,
    ) -> bytes:
        objects = os.path.join(self._location.commondir, "objects")
        scratch = {
            "GIT_OBJECT_DIRECTORY": os.path.join(self._folder, "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(objects),
        }
        return (git or self._git).run(
            *args,
            stdin=stdin,
            env={**scratch, **(env or {})},
            ok=ok,
            config=(*PLAIN, "-c", "core.looseCompression=0"),
        )

    def refs(self, *patterns: str) -> list[Ref]:
        """Return branches, those that were committed to last first; symbolic ones are left out."""
        fields = "%00".join(
            (
                "%(refname)",
                "%(objectname)",
                "%(committerdate:unix)",
                "%(authorname)",
                "%(authoremail)",
                "%(symref)",
            )
        )
        out = self._git.run(
            "for-each-ref", "--sort=-committerdate", f"--format={fields}", *patterns
        )
        rows = [
            line.decode("utf-8", "surrogateescape").split("\0") for line in out.split(b"\n") if line
        ]
        return [
            Ref(name, commit, int(at) if at.isdigit() else 0, author, mail)
            for name, commit, at, author, mail, link in rows
            if not link and at
        ]

    def worktrees(self) -> list[Tree]:
        """Return the work trees that are there and have a commit, the one that was opened first."""
        out = self._git.run("worktree", "list", "--porcelain")
        worktrees = []
        for block in out.decode("utf-8", "surrogateescape").split("\n\n"):
            facts = dict(line.partition(" ")[::2] for line in block.split("\n") if line)
            root, commit = facts.get("worktree", ""), facts.get("HEAD", "")
            dot = os.path.join(root, ".git")
            if "bare" in facts or not commit.strip("0") or not os.path.lexists(dot):
                continue
            gitdir = dot
            if not os.path.isdir(dot):
                try:
                    with open(dot, encoding="utf-8", errors="surrogateescape") as file:
                        gitdir = os.path.join(
                            root, file.read(8192).partition("gitdir: ")[2].strip()
                        )
                except OSError:
                    continue
            worktrees.append(Tree(root, gitdir, commit, facts.get("branch", "")))
        here = os.path.realpath(self._location.worktree or "/nowhere")
        return sorted(worktrees, key=lambda tree: os.path.realpath(tree.root) != here)

    def uncommitted(self, tree: Tree) -> str:
        """Return a commit of the scratch folder that has a work tree as it is now.

        '' when it is as its commit. The user's index is only read.
        """
        index = os.path.join(self._folder, "index")
        git = Git(tree.gitdir, self._git.env, timeout=self._git.timeout)
        where = ("-C", tree.root, "--work-tree", tree.root, "-c", "core.untrackedCache=false")
        env = {"GIT_INDEX_FILE": index}
        try:
            if not self._run(
                *where,
                "status",
                "--porcelain",
                "-uall",
                "--ignore-submodules",
                env={"GIT_OPTIONAL_LOCKS": "0"},
                git=git,
            ):
                return ""
            if os.path.exists(own := os.path.join(tree.gitdir, "index")):
                shutil.copyfile(own, index)
            self._run(
                *where, "add", "-u", "--ignore-errors", "--", ":/", env=env, ok=(0, 1, 128), git=git
            )
            out = self._run(
                *where, "ls-files", "-z", "--others", "--exclude-standard", env=env, git=git
            )
            fresh = [name for name in out.split(b"\0") if name][:NEW_FILES]
            small = [
                name for name in fresh if _is_small(os.path.join(os.fsencode(tree.root), name))
            ]
            if small:
                data = b"\0".join(small)
                self._run(
                    *where,
                    "--literal-pathspecs",
                    "add",
                    "--ignore-errors",
                    "--pathspec-from-file=-",
                    "--pathspec-file-nul",
                    stdin=data,
                    env=env,
                    ok=(0, 1, 128),
                    git=git,
                )
            written = self._run(*where, "write-tree", env=env, git=git).decode().strip()
            if written == self._run("rev-parse", f"{tree.commit}^{{tree}}").decode().strip():
                return ""
            return (
                self._run(
                    "commit-tree", written, "-p", tree.commit, "-m", "work in hand", env=NOBODY
                )
                .decode()
                .strip()
            )
        except (OSError, GitmemError):
            return ""  # conflicts in the index, a folder of somebody else
        finally:
            if os.path.exists(index):
                os.unlink(index)

    def ancestry(self, commits: Sequence[str]) -> list[tuple[str, list[str]]]:
        """Return (commit, parents) of all that is below some commits down to where they parted.

        Children come before parents.
        """
        if len(commits) < 2:
            return [(commit, []) for commit in commits]
        base = self._run("merge-base", "--octopus", *commits, ok=(0, 1)).decode().split()
        args = [*commits, *(f"^{oid}^@" for oid in base)]
        out = self._run(
            "rev-list",
            "--topo-order",
            "--parents",
            "--stdin",
            stdin="".join(f"{argument}\n" for argument in args).encode(),
        )
        return [
            (words[0], words[1:]) for line in out.decode().splitlines() if (words := line.split())
        ]

    def diffs(self, pairs: Sequence[tuple[str, str]]) -> list[list[FileDiff]]:
        """Return, for each pair of commits, the files that differ between them, renames told."""
        if not pairs:
            return []
        # a commit, and what is to be taken for its parent
        data = "".join(f"{new} {old}\n" for old, new in pairs).encode()
        out = self._run(
            "diff-tree", "-r", "-M", "-z", "--raw", "--no-abbrev", "--always", "--stdin", stdin=data
        )
        diffs: list[list[FileDiff]] = []
        words = iter(out.split(b"\0"))
        for word in words:
            if not word.startswith(b":"):
                if word.strip():
                    diffs.append([])
                continue
            _, mode, old, new, letter = word.split(b" ")
            was = os.fsdecode(next(words))
            path = os.fsdecode(next(words)) if letter[:1] in {b"R", b"C"} else was
            if mode != b"160000":  # a submodule has no lines
                diffs[-1].append(FileDiff(path, was, _blob(old), _blob(new)))
        return diffs

    def merge(self, pairs: Sequence[tuple[str, str]]) -> list[list[str] | None]:
        """Return, for each pair of commits, the files in which a merge of them would conflict.

        None where git cannot tell (before 2.38).
        """
        if not pairs:
            return []
        data = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode()
        try:
            out = self._run(
                "merge-tree",
                "--write-tree",
                "--stdin",
                "-z",
                "--name-only",
                "--no-messages",
                "--allow-unrelated-histories",
                stdin=data,
                ok=(0, 1),
            )
        except GitFailed:
            return [self._merged_pair(ours, theirs) for ours, theirs in pairs]
        conflicts: list[list[str] | None] = []
        words = out.split(b"\0")
        at = 0
        while at < len(words) - 1 and len(conflicts) < len(pairs):
            at += 2  # whether it is clean, and the tree
            names = []
            while at < len(words) and words[at]:
                names.append(os.fsdecode(words[at]))
                at += 1
            at += 1
            conflicts.append(list(dict.fromkeys(names)))
        return [*conflicts, *[None] * (len(pairs) - len(conflicts))]

    def _merged_pair(self, ours: str, theirs: str) -> list[str] | None:
        try:
            out = self._run(
                "merge-tree",
                "--write-tree",
                "-z",
                "--name-only",
                "--no-messages",
                "--allow-unrelated-histories",
                ours,
                theirs,
                ok=(0, 1),
            )
        except GitFailed:
            return None
        return list(dict.fromkeys(os.fsdecode(name) for name in out.split(b"\0")[1:] if name))

    def texts(self, oids: Iterable[str], most: int = 1 << 20) -> dict[str, str]:
        """Return the texts of blobs.

        Binary ones and those of more than `most` bytes are left out.
        """
        wanted = [oid for oid in dict.fromkeys(oids) if oid]
        if not wanted:
            return {}
        data = self._run(
            "cat-file", "--batch", stdin="".join(f"{oid}\n" for oid in wanted).encode()
        )
        texts: dict[str, str] = {}
        at = 0
        for oid in wanted:
            head = data[at : at + 200].partition(b"\n")[0]
            at += len(head) + 1
            if head.endswith(b"missing"):
                continue
            size = int(head.split()[2])
            body = data[at : at + size]
            at += size + 1
            if size <= most and b"\0" not in body[:8000]:
                texts[oid] = body.decode("utf-8", "replace")
        return texts

    def authors(
        self, base: str, tip: str, paths: Sequence[str], *, with_mail: bool = False
    ) -> list[str]:
        """Return who changed some files between two commits, the last first."""
        try:
            out = self._run(
                "--literal-pathspecs",
                "log",
                "--max-count=200",
                "--no-show-signature",
                "--format=%an <%ae>" if with_mail else "--format=%an",
                f"{base}..{tip}",
                "--",
                *paths,
            )
        except GitFailed:
            return []
        return [
            name
            for name in dict.fromkeys(out.decode("utf-8", "replace").splitlines())
            if name and name != "git-mem"
        ]


def _sweep(place: str) -> None:
    """Remove scratch folders of this user that a process which was killed has left."""
    for entry in os.scandir(place):
        try:
            facts = entry.stat(follow_symlinks=False)
            if (
                entry.name.startswith(PREFIX)
                and entry.is_dir(follow_symlinks=False)
                and facts.st_uid == os.geteuid()
                and time.time() - facts.st_mtime > STALE
            ):
                shutil.rmtree(entry.path, ignore_errors=True)
        except OSError:
            continue


def _in_memory() -> str | None:
    """Return a folder that is no disk, four times as quick for what nobody keeps.

    None where there is none with room.
    """
    try:
        room = os.statvfs(SHM)
        return SHM if room.f_bavail * room.f_frsize > ROOM and os.access(SHM, os.W_OK) else None
    except OSError:
        return None


def _blob(oid: bytes) -> str:
    text = oid.decode()
    return text if text.strip("0") else ""


def _is_small(path: bytes) -> bool:
    try:
        return os.lstat(path).st_size <= NEW_FILE
    except OSError:
        return False


def _quoted(path: str) -> str:
    """Return a path as it stands in a list that colons part."""
    return (
        '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if ":" in path or path.startswith('"')
        else path
    )
