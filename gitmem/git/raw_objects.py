"""What both ways to reach objects share: trees and commits in the form that git keeps them in."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.git import objects
from gitmem.git.object_codec import build, parse_commit, parse_tree

if TYPE_CHECKING:
    from gitmem.git.new_packs import NewPacks


class RawObjects(ABC):
    """Reads and writes trees and commits as bytes; a subclass knows where the bytes are."""

    traits: objects.Traits
    written: int
    _tree: objects.TreeCache

    @property
    @abstractmethod
    def _new(self) -> "NewPacks":
        """Where new objects go."""

    @abstractmethod
    def _raw(self, oid: str, most: int | None = None) -> bytes | int:
        """Return an object's bytes, or its size where that is more than `most`."""

    def _read_tree(self, oid: str) -> tuple[objects.TreeEntry, ...]:
        return parse_tree(self._parsed(oid), self.traits.hash)

    def _parsed(self, oid: str) -> bytes:
        data = self._raw(oid, objects.MAX_PARSED)
        if isinstance(data, int):
            raise objects.unparsed(oid, data)
        return data

    def tree(self, oid: str) -> tuple[objects.TreeEntry, ...]:
        """See Objects."""
        return self._tree(oid)

    def commit(self, oid: str) -> objects.Commit:
        """See Objects."""
        return parse_commit(oid, self._parsed(oid))

    def find(self, tree: str, path: str) -> objects.TreeEntry | None:
        """See Objects."""
        entry: objects.TreeEntry | None = objects.TreeEntry("", objects.TREE, tree)
        for name in path.split("/"):
            if entry is None or not entry.is_tree:
                return None
            entry = next((e for e in self.tree(entry.oid) if e.name == name), None)
        return entry

    def write(self, draft: objects.Draft) -> str:
        """See Objects."""
        commit, _, raws = build(draft, self.tree, self.traits.hash, self._tree.put)
        self.store(raws)
        return commit

    def adopt(self, oid: str) -> None:
        """See Objects."""
        self.store([(oid, "commit", self._parsed(oid))])

    def store(self, raws: Sequence[objects.Raw]) -> None:
        """See Objects."""
        try:
            self._new.write(raws)
        except OSError as error:
            raise objects.refused(error.strerror or str(error)) from error
        self.written += 1
