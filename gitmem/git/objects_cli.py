"""`Objects` on the git command: for every repository that git itself can open.

Reads go through one `cat-file --batch` child that is started on first use; a write is one new pack
(`new_packs`) and one `update-ref` with the old value.
"""

import errno
import os
import subprocess
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from gitmem.base.regular_files import read_regular
from gitmem.base.sharing import sharing_of
from gitmem.errors import External, GitFailed, MissingObject, Moved
from gitmem.git import objects
from gitmem.git.object_codec import RAW_LENGTH, parse_commit
from gitmem.git.process import DURABLE, Git
from gitmem.git.raw_objects import RawObjects
from gitmem.repo.refs import has_reftable, raw_ref

if TYPE_CHECKING:
    from gitmem.git.new_packs import NewPacks

ROOM_FOR_A_REF = 64 * 1024
READ_PAST = 8 * 1024 * 1024  # of a blob that is not wanted; for a larger one a new child costs less


class CliObjects(RawObjects):
    """Objects and refs through git processes."""

    def __init__(self, git: Git, algorithm: str = "sha1") -> None:
        self.git = self._git = git
        self.traits = objects.Traits("git", algorithm)
        self.written = 0
        self._reftable = has_reftable(git.gitdir)
        self._batch: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._tree = objects.TreeCache(self._read_tree)

    @cached_property
    def _new(self) -> "NewPacks":
        from gitmem.git.new_packs import NewPacks  # who only reads does without

        return NewPacks(
            os.path.join(self._git.gitdir, "objects"),
            self.traits.hash,
            sharing_of(self._git.gitdir),
        )

    def tip(self, ref: str) -> str | None:
        """See Objects."""
        if not self._reftable:
            raw = raw_ref(self._git.gitdir, ref)  # a file read instead of a process
            if raw is None or len(raw) == 2 * RAW_LENGTH[self.traits.hash]:
                return raw
        code, out, _ = self._git.call(
            "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128)
        )
        return out.decode().strip() or None if code == 0 else None

    def refs(self, prefix: str) -> dict[str, str]:
        """See Objects."""
        out = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", prefix.rstrip("/"))
        rows = (line.split(" ", 1) for line in out.decode("utf-8", "surrogateescape").splitlines())
        return {name: oid for oid, name in rows if name.startswith(prefix)}

    def _ask(self, oid: str) -> None:
        if self._batch is None or self._batch.poll() is not None:
            self._batch = self._git.open("cat-file", "--batch")
        assert self._batch.stdin is not None
        self._batch.stdin.write(oid.encode() + b"\n")

    def _answer(self, oid: str, most: int | None = None) -> bytes | int:
        """Return an object's bytes, or how many there are when it is more than `most`.

        Then the child may be gone.
        """
        assert self._batch is not None
        stream = self._batch.stdout
        assert stream is not None
        head = stream.readline().split()
        if len(head) != 3:
            # git before 2.45 ends where it may not fetch what a partial clone lacks
            if head[1:2] == [b"missing"] or (not head and is_partial(self._git.gitdir)):
                if not head:
                    self._end_batch()
                raise MissingObject(
                    f"object {oid[:12]} is missing from the repository.",
                    "Run: git mem doctor --fix",
                )
            self._end_batch()
            raise self._unreadable(oid)
        size = int(head[2])
        if most is not None and size > most:
            self._pass(size + 1)
            return size
        data = stream.read(size)
        stream.read(1)
        return data

    def _unreadable(self, oid: str) -> Exception:
        """Return why an object could not be read: git refuses the repository, or it is damaged."""
        try:
            self._git.run("rev-parse", "--git-dir")
        except (GitFailed, External) as error:
            return error
        return External(
            f"git could not read object {oid[:12]}.", "Run 'git fsck' to see what is damaged."
        )

    def _pass(self, left: int) -> None:
        """Read on to the next answer, or end the child."""
        assert self._batch is not None
        assert self._batch.stdout is not None
        if left > READ_PAST:
            self._end_batch()
            return
        while left and (chunk := self._batch.stdout.read(min(left, 65536))):
            left -= len(chunk)

    def _raw(self, oid: str, most: int | None = None) -> bytes | int:
        with self._lock:
            try:
                self._ask(oid)
                assert self._batch is not None
                assert self._batch.stdin is not None
                self._batch.stdin.flush()
                return self._answer(oid, most)
            except (BrokenPipeError, ValueError) as error:
                self._end_batch()
                raise self._unreadable(oid) from error

    def read(self, oid: str) -> bytes:
        """See Objects."""
        data = self._raw(oid)
        assert isinstance(data, bytes)
        return data

    def read_small(self, oid: str, most: int) -> bytes | None:
        """See Objects."""
        data = self._raw(oid, most)
        return data if isinstance(data, bytes) else None

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """See Objects."""
        for oid, data in self._windows(oids, None):
            assert isinstance(data, bytes)
            yield oid, data

    def read_many_small(self, oids: Iterable[str], most: int) -> Iterator[tuple[str, bytes | None]]:
        """See Objects."""
        return self._windows(oids, most)

    def _windows(self, oids: Iterable[str], most: int | None) -> Iterator[tuple[str, bytes | None]]:
        window: list[str] = []
        for oid in oids:
            window.append(oid)
            # requests of 41 bytes each: 500 fit into a pipe's buffer, so neither side waits for the
            # other
            if len(window) == 500:
                yield from self._many(window, most)
                window = []
        yield from self._many(window, most)

    def _many(self, window: Sequence[str], most: int | None) -> Iterator[tuple[str, bytes | None]]:
        if not window:
            return
        with self._lock:
            rows: list[tuple[str, bytes | None]] = []
            gone: MissingObject | None = None
            asked = 0
            for number, oid in enumerate(window):
                # the first one, or the child was ended at a large blob
                if self._batch is None or number == asked:
                    for other in window[number:]:
                        self._ask(other)
                    asked = len(window)
                    assert self._batch is not None
                    assert self._batch.stdin is not None
                    self._batch.stdin.flush()
                try:
                    data = self._answer(oid, most)
                    rows.append((oid, data if isinstance(data, bytes) else None))
                # read the other answers first, or the pipe is out of step
                except MissingObject as error:
                    gone = gone or error
        if gone:
            raise gone
        yield from rows

    def move(self, ref: str, old: str | None, new: str, message: str) -> None:
        """See Objects."""
        zero = "0" * len(new)
        try:
            self._git.run(
                "update-ref", "--no-deref", "-m", message, ref, new, old or zero, config=DURABLE
            )
        except GitFailed as error:
            raise _ref_failure(ref, error, self._git.gitdir) from error
        self._new.release(new)

    def delete(self, ref: str, old: str) -> None:
        """See Objects."""
        try:
            self._git.run("update-ref", "--no-deref", "-d", ref, old)
        except GitFailed as error:
            raise _ref_failure(ref, error, self._git.gitdir) from error

    def walk(self, tips: Iterable[str], hide: Iterable[str] = ()) -> Iterator[objects.Commit]:
        """See Objects."""
        tips = list(tips)
        if not tips:
            return
        names = "\n".join([*tips, *(f"^{h}" for h in hide), ""]).encode()
        try:
            out = self._git.run("rev-list", "--date-order", "--stdin", stdin=names)
        except GitFailed as error:
            raise MissingObject(
                f"the store's history is incomplete: {error}", "Run: git mem doctor --fix"
            ) from error
        for oid, data in self.read_many(out.decode().split()):
            yield parse_commit(oid, data)

    def bases(self, first: str, second: str) -> tuple[str, ...]:
        """See Objects."""
        _, out, _ = self._git.call("merge-base", "--all", first, second, ok=(0, 1))
        return tuple(sorted(out.decode().split()))

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """See Objects."""
        # 128: not there; 129: no oid at all but an option. Both may be text from somebody else's
        # store
        return (
            self._git.call(
                "merge-base", "--is-ancestor", ancestor, descendant, ok=(0, 1, 128, 129)
            )[0]
            == 0
        )

    def close(self) -> None:
        """See Objects."""
        if "_new" in self.__dict__:
            self._new.close()
        self._end_batch()

    def _end_batch(self) -> None:
        batch, self._batch = self._batch, None
        if batch is not None:
            for stream in (batch.stdin, batch.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:
                        pass
            try:
                batch.wait(1)
            except subprocess.TimeoutExpired:
                batch.kill()
                batch.wait()


def _ref_failure(ref: str, error: GitFailed, gitdir: str) -> Exception:
    text = error.stderr
    refused = disk_failure(error)
    if refused is not error:
        return refused
    retry = (
        "but expected",
        "reference already exists",
        "File exists",
        "cannot lock ref",
        "unable to resolve reference",
        "Unable to create",
    )
    if any(part in text for part in retry):
        return Moved(f"{ref} is being written by another process.")
    if "couldn't write" in text:  # git keeps the reason to itself
        disk = os.statvfs(gitdir)
        part = (
            "No space left" if disk.f_bavail * disk.f_frsize < ROOM_FOR_A_REF else "unable to write"
        )
        why = (
            os.strerror(errno.ENOSPC)
            if part == "No space left"
            else text.splitlines()[-1].removeprefix("fatal: ")
        )
        return External(f"cannot write to the repository: {why}.", dict(objects.DISK_HINTS)[part])
    return error


def disk_failure(error: GitFailed) -> External:
    """Return the error with a hint when the disk is what refused; else the error itself."""
    for part, hint in objects.DISK_HINTS:
        if part in error.stderr:
            line = next(text for text in error.stderr.splitlines() if part in text)
            return External(
                f"cannot write to the repository: "
                f"{line.removeprefix('fatal: ').removeprefix('error: ')}.",
                hint,
            )
    return error


def algorithm_of(git: Git) -> str:
    """Return the repository's object format."""
    return git.run("rev-parse", "--show-object-format").decode().strip() or "sha1"


def is_partial(commondir: str) -> bool:
    """Say whether a repository may lack objects that its remote has."""
    return any(word in _config_of(commondir) for word in ("partialclone", "promisor"))


def needs_git(commondir: str) -> bool:
    """Say whether a repository uses what libgit2 cannot do, judged by its config file alone."""
    text = _config_of(commondir)
    return not text or any(
        word in text
        for word in ("objectformat", "refstorage", "partialclone", "promisor", "sharedrepository")
    )


def _config_of(commondir: str) -> str:
    return (
        read_regular(os.path.join(commondir, "config"), 1 << 22).decode("utf-8", "replace").lower()
    )
