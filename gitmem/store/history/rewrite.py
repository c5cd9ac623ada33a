"""Make a history anew without what must go: same authors, times and shape, other content.

A function of the history, the ids and the mask alone, so two clones that purge the same of one
history make the same commits. Each commit made anew names the one it stands for (`Gitmem-Was`): by
that, clones that still have the old history know what they share with the new one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gitmem.git.objects import Commit, Draft, Objects, TreeEntry
from gitmem.store.history.redact import Mask, purged_mark
from gitmem.store.layout import record_path, tombstone_path

_WAS = re.compile(r"^Gitmem-Was: ([0-9a-f]{40}(?:[0-9a-f]{24})?)$", re.MULTILINE)


@dataclass(slots=True)
class Rewritten:
    """The result of a rewrite.

    It has the new tip, how many commits were made anew, and the oldest old ones. What came before
    these stays.
    """

    tip: str
    replaced: int = 0
    boundaries: list[str] = field(default_factory=list)


def was(commit: Commit) -> list[str]:
    """Return the ids that a commit had before it was made anew."""
    return _WAS.findall(commit.message)


def rewrite(
    objects: Objects,
    tip: str,
    cleaner: "Cleaner",
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Rewritten:
    """Write the history of a tip anew, without what the cleaner removes; moves no ref."""
    commits = list(objects.walk([tip]))
    commits.reverse()
    new: dict[str, str] = {}
    dirty: set[str] = set()  # replaced commits that are not roots
    out = Rewritten(tip)
    for number, commit in enumerate(commits):
        progress(number + 1, len(commits))
        edits = cleaner.edits(commit.tree)
        parents = tuple(new.get(p, p) for p in commit.parents)
        message = cleaner.message(commit.message)
        if not edits and parents == commit.parents and message == commit.message:
            new[commit.oid] = commit.oid
            continue
        text = message if "\n\n" in message else message.rstrip("\n") + "\n\n"
        text = f"{text if text.endswith(chr(10)) else text + chr(10)}Gitmem-Was: {commit.oid}\n"
        new[commit.oid] = objects.write(
            Draft(commit.tree, edits, parents, text, commit.author, commit.committer)
        )
        out.replaced += 1
        if dirty.isdisjoint(commit.parents):
            out.boundaries.append(commit.oid)
        if commit.parents:
            dirty.add(commit.oid)
    out.tip = new[tip]
    return out


class Cleaner:
    """Finds what has to go from a tree.

    Remembers folders and files by oid, so history costs its changes.
    """

    def __init__(self, objects: Objects, ids: Sequence[str] = (), mask: Mask | None = None) -> None:
        self.ids = tuple(ids)
        self.mask = mask or Mask()
        self._objects = objects
        self._trees: dict[tuple[str, str], dict[str, bytes]] = {}
        self._blobs: dict[tuple[str, str], bytes | None] = {}

    def message(self, message: str) -> str:
        """Return a commit message without titles of the records that go, and without the texts."""
        if any(f"Gitmem-Id: {id}\n" in message for id in self.ids):
            message = "gitmem: purged\n" + message.partition("\n")[2]
        return self.mask.message(message) if self.mask else message

    def edits(self, tree: str) -> dict[str, bytes | TreeEntry | None]:
        """Return what to change in a tree."""
        out: dict[str, bytes | TreeEntry | None] = dict(self._masked(tree, "")) if self.mask else {}
        for id in self.ids:
            for path in (record_path(id), f"attic/{id}"):
                if self._objects.find(tree, path) is not None:
                    out = {
                        p: v for p, v in out.items() if p != path and not p.startswith(path + "/")
                    }
                    out[path] = None
            mark = self._objects.find(tree, tombstone_path(id))
            if mark is not None and not mark.is_tree:
                old = self._objects.read(mark.oid)
                clean = purged_mark(old, id)
                if old != clean:
                    out[tombstone_path(id)] = clean
        return out

    def _masked(self, tree: str, prefix: str) -> dict[str, bytes]:
        masked = self._trees.get((tree, prefix))
        if masked is not None:
            return masked
        out: dict[str, bytes] = {}
        for entry in self._objects.tree(tree):
            path = prefix + entry.name
            if entry.is_tree:
                out.update(self._masked(entry.oid, path + "/"))
            elif entry.mode in {0o100644, 0o100755}:
                key = (entry.oid, path)
                if key not in self._blobs:
                    data = self._objects.read(entry.oid)
                    clean = self.mask.file(path, data)
                    self._blobs[key] = None if clean == data else clean
                clean_blob = self._blobs[key]
                if clean_blob is not None:
                    out[path] = clean_blob
        self._trees[(tree, prefix)] = out
        return out
