"""`Objects` on libgit2: no process, the quickest for anything that lives longer than one command.

Cannot open SHA-256 or reftable repositories, does not fetch what a partial clone lacks, and ignores
`core.sharedRepository`: `open_objects` sends those to the git command.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from gitmem.base.sharing import sharing_of
from gitmem.errors import External, MissingObject, Moved, UntrustedRepository
from gitmem.git import objects
from gitmem.git.new_packs import NewPacks
from gitmem.git.object_codec import parse_commit
from gitmem.git.objects_cli import CliObjects
from gitmem.git.process import Git
from gitmem.git.raw_objects import RawObjects


class Pygit2Objects(RawObjects):
    """Objects and refs through libgit2; batches and merge bases through git itself."""

    def __init__(self, git: Git, commondir: str) -> None:
        import pygit2
        import pygit2.enums

        self._pygit2 = pygit2
        # fsync of objects, packs and refs: a write is durable before it is acknowledged
        pygit2.settings.enable_fsync_gitdir(True)
        try:
            self._repo: Any = pygit2.Repository(commondir)
        except pygit2.GitError as error:
            if "not owned by" in str(error):
                raise UntrustedRepository(
                    "this repository belongs to another user, so git refuses to use it.",
                    f"If you trust it, run: git config --global --add safe.directory {commondir}",
                ) from error
            raise External(f"libgit2 cannot open the repository: {error}.") from error
        self.git = git
        self._cli = CliObjects(git)
        self.written = 0
        self._packs = NewPacks(os.path.join(commondir, "objects"), "sha1", sharing_of(commondir))
        self.traits = objects.Traits("libgit2", "sha1")
        self._tree = objects.TreeCache(self._read_tree)
        # not in every pygit2 that we work with
        self._tells_size = hasattr(self._repo.odb, "read_header")

    def tip(self, ref: str) -> str | None:
        """See Objects."""
        try:
            return str(self._repo.lookup_reference(ref).resolve().target)
        except (KeyError, ValueError):  # not there, or no name that a ref can have
            return None
        except self._pygit2.GitError as error:
            raise External(
                f"{ref} cannot be read: {error}.", "Run: git mem doctor --fix"
            ) from error

    def refs(self, prefix: str) -> dict[str, str]:
        """See Objects."""
        out = {}
        for ref in self._repo.references.iterator():
            if ref.name.startswith(prefix):
                out[ref.name] = str(ref.resolve().target)
        return out

    @property
    def _new(self) -> NewPacks:
        return self._packs

    def _raw(self, oid: str, most: int | None = None) -> bytes | int:
        if most is not None and not self._tells_size:
            return self._cli._raw(oid, most)
        try:
            if most is not None and (size := int(self._repo.odb.read_header(oid)[1])) > most:
                return size
            data: bytes = self._repo.odb.read(oid)[1]
        except (KeyError, ValueError) as error:
            raise MissingObject(
                f"object {oid[:12]} is missing from the repository.", "Run: git mem doctor --fix"
            ) from error
        except self._pygit2.GitError as error:
            raise External(
                f"object {oid[:12]} cannot be read: {error}.",
                "Run 'git fsck' to see what is damaged.",
            ) from error
        return data

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
        for oid in oids:
            yield oid, self.read(oid)

    def read_many_small(self, oids: Iterable[str], most: int) -> Iterator[tuple[str, bytes | None]]:
        """See Objects."""
        for oid in oids:
            yield oid, self.read_small(oid, most)

    def move(self, ref: str, old: str | None, new: str, message: str) -> None:
        """See Objects."""
        try:
            if old is None:
                self._create(ref, new, message)
            else:
                reference = self._repo.lookup_reference(ref)
                # set_target swaps against the target that THIS object was read with: no second
                # look-up in between
                if str(reference.target) != old:
                    raise Moved(f"{ref} has moved.")
                reference.set_target(new, message)
        except KeyError as error:
            raise Moved(f"{ref} has gone.") from error
        except (self._pygit2.GitError, OSError, ValueError) as error:
            # git may have packed the ref by now, and removed the folder that was to be synced
            if self.tip(ref) != new:
                raise ref_error(ref, error) from error
        self._new.release(new)

    def _create(self, ref: str, new: str, message: str) -> None:
        with self._repo.transaction() as transaction:
            transaction.lock_ref(ref)
            try:
                self._repo.lookup_reference(ref)
            except KeyError:
                transaction.set_target(ref, self._pygit2.Oid(hex=new), message=message)
            else:
                raise Moved(f"{ref} exists already.")

    def delete(self, ref: str, old: str) -> None:
        """See Objects."""
        self._cli.delete(ref, old)

    def walk(self, tips: Iterable[str], hide: Iterable[str] = ()) -> Iterator[objects.Commit]:
        """See Objects."""
        tips = list(tips)
        if not tips:
            return
        sort = self._pygit2.enums.SortMode
        walker = self._repo.walk(None, sort.TOPOLOGICAL | sort.TIME)
        try:
            for tip in tips:
                walker.push(tip)
            for tip in hide:
                walker.hide(tip)
            for commit in walker:
                yield parse_commit(str(commit.id), commit.read_raw())
        except (KeyError, self._pygit2.GitError) as error:
            raise MissingObject(
                f"the store's history is incomplete: {error}.", "Run: git mem doctor --fix"
            ) from error

    def bases(self, first: str, second: str) -> tuple[str, ...]:
        """See Objects."""
        return self._cli.bases(first, second)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """See Objects."""
        if ancestor == descendant:
            return True
        try:
            return bool(self._repo.descendant_of(descendant, ancestor))
        except (KeyError, ValueError, self._pygit2.GitError):
            return False

    def close(self) -> None:
        """See Objects."""
        self._new.close()
        self._cli.close()
        self._repo.free()


RETRY = (
    "does not match",
    "not the first parent",
    "failed to lock",
    "failed to create locked",
    "locked file",
    "lock file",
    "already exists",
    "failed to rename",
)


def ref_error(ref: str, error: Exception) -> Exception:
    """Return Moved for what another writer causes, External for the rest."""
    text = str(error)
    if (
        any(part in text for part in RETRY)
        and "Permission denied" not in text
        and "Read-only" not in text
        and "No space" not in text
    ):
        return Moved(f"{ref} is being written by another process.")
    return objects.refused(text)
