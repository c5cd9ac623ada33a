"""A history with missing objects.

This module finds them, reassembles what is left of a store, and makes a history of what is whole.

Only reads and writes objects; the caller moves refs. What another clone or the index has is put
back first (`services/maintenance/mend.py`).
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from gitmem.errors import GitmemError
from gitmem.git.objects import Commit, Draft, Identity, Objects, TreeEntry
from gitmem.git.process import Git

RECENT = 2000  # commits, from the newest on, whose trees may stand in for one that is gone


@dataclass(slots=True)
class DamageSurvey:
    """What some tips reach.

    They reach the commits that can be read, newest first, and the objects that are missing, each
    with its path ('' is a commit).
    """

    commits: list[Commit] = field(default_factory=list)
    gone: dict[str, str] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # trees with something missing below them


def is_whole(git: Git, tips: Sequence[str]) -> bool:
    """Return whether everything that some commits need exists.

    This is git's own walk, which is far quicker than a survey.
    """
    if not tips:
        return True
    listing = "".join(f"{tip}\n" for tip in tips).encode()
    code, out, _ = git.call(
        "rev-list",
        "--objects",
        "--missing=print",
        "--stdin",
        stdin=listing,
        ok=range(256),
        timeout=600,
    )
    return code == 0 and not out.startswith(b"?") and b"\n?" not in out


def survey(objects: Objects, git: Git, tips: Iterable[str]) -> DamageSurvey:
    """Walk all commits and trees from some tips, past what is missing."""
    out = DamageSurvey()
    out.commits = _children_first(_reached(objects, tips, out.gone))
    trees: dict[str, Sequence[TreeEntry]] = {}
    blobs: dict[str, str] = {}
    for commit in out.commits:
        for oid, path, entries in _folders(objects, commit.tree, trees, out.gone):
            trees[oid] = entries
            for entry in entries:
                if not entry.is_tree:
                    blobs.setdefault(entry.oid, _below(path, entry.name))
    out.gone |= {oid: blobs[oid] for oid in _missing(git, blobs)}
    out.broken = _broken(trees, out.gone)
    return out


def _reached(objects: Objects, tips: Iterable[str], gone: dict[str, str]) -> list[Commit]:
    """Return the commits that tips reach; adds those that cannot be read to `gone`."""
    commits: dict[str, Commit] = {}
    todo = list(dict.fromkeys(tips))
    while todo:
        oid = todo.pop()
        if oid in commits or oid in gone:
            continue
        try:
            commits[oid] = objects.commit(oid)
        except GitmemError:
            gone[oid] = ""
        else:
            todo += commits[oid].parents
    return list(commits.values())


def _folders(
    objects: Objects, root: str, trees: Mapping[str, Sequence[TreeEntry]], gone: dict[str, str]
) -> Iterator[tuple[str, str, Sequence[TreeEntry]]]:
    """Yield (oid, path, entries) of the folders of a tree that are not among `trees` yet.

    Adds those that cannot be read to `gone`.
    """
    folders = [(root, "")]
    while folders:
        oid, path = folders.pop()
        if oid in trees or oid in gone:
            continue
        try:
            entries = objects.tree(oid)
        except GitmemError:
            gone[oid] = path + "/"
            continue
        yield oid, path, entries
        folders += [(e.oid, _below(path, e.name)) for e in entries if e.is_tree]


def _below(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _broken(trees: Mapping[str, Sequence[TreeEntry]], gone: Container[str]) -> set[str]:
    """Return the trees that name something that is gone, or a broken tree."""
    broken: set[str] = set()
    grew = True
    while grew:  # from the bottom upwards
        grew = False
        for oid in trees.keys() - broken:
            if any(entry.oid in gone or entry.oid in broken for entry in trees[oid]):
                broken.add(oid)
                grew = True
    return broken


def _children_first(commits: Iterable[Commit]) -> list[Commit]:
    by_oid = {commit.oid: commit for commit in commits}
    children = Counter(
        parent for commit in by_oid.values() for parent in commit.parents if parent in by_oid
    )
    ready = [commit for commit in by_oid.values() if not children[commit.oid]]
    ordered = []
    while ready:
        ready.sort(key=lambda commit: commit.committer.time)
        commit = ready.pop()
        ordered.append(commit)
        parents = [parent for parent in commit.parents if parent in by_oid]
        children.subtract(parents)
        ready += [by_oid[oid] for oid in dict.fromkeys(parents) if not children[oid]]
    return ordered


def _missing(git: Git, oids: Iterable[str]) -> list[str]:
    listing = "".join(f"{oid}\n" for oid in oids).encode()
    out = (
        git.run("cat-file", "--batch-check", stdin=listing, timeout=600).decode().splitlines()
        if listing
        else []
    )
    return [line.split()[0] for line in out if line.endswith(" missing")]


# (path, oid or '') -> what takes the place of a file that is gone
Standing = Callable[[str, str], "TreeEntry | bytes | None"]


def remains(
    objects: Objects, damage: DamageSurvey, instead: Standing
) -> tuple[dict[str, "TreeEntry | bytes"], list[str]]:
    """Return what is left of the newest tree, by path, and the files that nothing stands in for.

    A folder that cannot be read is taken from the newest older tree that has it; so is a file,
    unless `instead` knows better.
    """
    left = _Remains(objects, damage.gone, instead)
    left.add_folder("", [commit.tree for commit in damage.commits[:RECENT]])
    return left.files, left.lost


@dataclass(slots=True)
class _Remains:
    """What is left of trees, the newest first."""

    objects: Objects
    gone: Container[str]
    instead: Standing
    files: "dict[str, TreeEntry | bytes]" = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def add_folder(self, path: str, oids: Iterable[str]) -> None:
        """Add what is left of a folder, given its trees."""
        for name, versions in self._versions(oids).items():
            below = _below(path, name)
            if versions[0].is_tree:
                self.add_folder(below, [entry.oid for entry in versions if entry.is_tree])
            else:
                self._add_file(below, [entry for entry in versions if not entry.is_tree])

    def _versions(self, oids: Iterable[str]) -> dict[str, list[TreeEntry]]:
        """Return the entries of the newest folder by name, each with its older versions."""
        readable = [self.objects.tree(oid) for oid in dict.fromkeys(oids) if oid not in self.gone]
        names = [entry.name for entry in readable[0]] if readable else []
        versions: dict[str, list[TreeEntry]] = {name: [] for name in names}
        for entry in chain.from_iterable(readable):
            if entry.name in versions:
                versions[entry.name].append(entry)
        return versions

    def _add_file(self, path: str, entries: Sequence[TreeEntry]) -> None:
        newest = entries[0]
        whole = next((entry for entry in entries if entry.oid not in self.gone), None)
        best = newest if newest is whole else self.instead(path, newest.oid) or whole
        if best is None:
            self.lost.append(path)
        else:
            self.files[path] = best


def whole_history(objects: Objects, damage: DamageSurvey) -> dict[str, tuple[str, ...]]:
    """Make a history of the commits whose trees are whole.

    Return what stands for each commit: itself, another, or the nearest before it.
    """
    stands: dict[str, tuple[str, ...]] = {}
    for commit in reversed(damage.commits):
        parents = tuple(dict.fromkeys(new for old in commit.parents for new in stands.get(old, ())))
        if commit.tree in damage.gone or commit.tree in damage.broken:
            stands[commit.oid] = parents
        elif parents == commit.parents:
            stands[commit.oid] = (commit.oid,)
        else:
            text = f"{commit.message.rstrip()}\nGitmem-Was: {commit.oid}\n"
            stands[commit.oid] = (
                objects.write(
                    Draft(commit.tree, {}, parents, text, commit.author, commit.committer)
                ),
            )
    return stands


def mended(
    objects: Objects,
    parents: Sequence[str],
    files: "dict[str, TreeEntry | bytes]",
    lost: Sequence[str],
    who: Identity,
) -> str:
    """Return a commit of what is left, on what is whole."""
    text = "gitmem: mend\n\nGitmem-Op: mend\n" + "".join(
        f"Gitmem-Lost: {path}\n" for path in lost[:100]
    )
    return objects.write(Draft(None, dict(files), tuple(parents), text, who, who))
