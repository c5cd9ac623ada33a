"""A history with missing objects.

This module finds them, reassembles what is left of a store, and makes a history of what is whole.

Only reads and writes objects; the caller moves refs. What another clone or the index has is put
back first (`services/maintenance/mend.py`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

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


def survey(objects: Objects, git: Git, tips: Iterable[str]) -> DamageSurvey:  # noqa: C901
    """Walk all commits and trees from some tips, past what is missing."""
    out = DamageSurvey()
    todo, seen = list(dict.fromkeys(tips)), set()
    while todo:
        oid = todo.pop()
        if oid in seen:
            continue
        seen.add(oid)
        try:
            commit = objects.commit(oid)
        except GitmemError:
            out.gone[oid] = ""
            continue
        out.commits.append(commit)
        todo += commit.parents
    out.commits = _children_first(out.commits)
    trees: dict[str, list[TreeEntry]] = {}
    blobs: dict[str, str] = {}
    for commit in out.commits:
        folders = [(commit.tree, "")]
        while folders:
            oid, path = folders.pop()
            if oid in trees or oid in out.gone:
                continue
            try:
                entries = list(objects.tree(oid))
            except GitmemError:
                out.gone[oid] = path + "/"
                continue
            trees[oid] = entries
            for entry in entries:
                below = f"{path}/{entry.name}" if path else entry.name
                if entry.is_tree:
                    folders.append((entry.oid, below))
                else:
                    blobs.setdefault(entry.oid, below)
    out.gone |= {oid: blobs[oid] for oid in _missing(git, blobs)}
    # bottom-up: a tree that names something that is gone, or a broken tree
    grew = True
    while grew:
        grew = False
        for oid, entries in trees.items():
            if oid not in out.broken and any(
                e.oid in out.gone or e.oid in out.broken for e in entries
            ):
                out.broken.add(oid)
                grew = True
    return out


def _children_first(commits: Sequence[Commit]) -> list[Commit]:
    by = {commit.oid: commit for commit in commits}
    waiting = dict.fromkeys(by, 0)
    for commit in commits:
        for parent in commit.parents:
            if parent in waiting:
                waiting[parent] += 1
    ready = sorted((by[oid] for oid, n in waiting.items() if not n), key=lambda c: c.committer.time)
    out = []
    while ready:
        commit = ready.pop()
        out.append(commit)
        for parent in commit.parents:
            if parent in waiting:
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(by[parent])
        ready.sort(key=lambda c: c.committer.time)
    return out


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
    objects: Objects, found: DamageSurvey, instead: Standing
) -> tuple[dict[str, "TreeEntry | bytes"], list[str]]:
    """Return what is left of the newest tree, by path, and the files that nothing stands in for.

    A folder that cannot be read is taken from the newest older tree that has it; so is a file,
    unless `instead` knows better.
    """
    out: dict[str, TreeEntry | bytes] = {}
    lost: list[str] = []

    def file(path: str, entries: Sequence[TreeEntry]) -> None:
        newest = entries[0]
        whole = next((e for e in entries if e.oid not in found.gone), None)
        better = newest if newest is whole else instead(path, newest.oid) or whole
        if better is None:
            lost.append(path)
        else:
            out[path] = better

    def folder(path: str, oids: Sequence[str]) -> None:
        readable = [list(objects.tree(oid)) for oid in dict.fromkeys(oids) if oid not in found.gone]
        names = [e.name for e in readable[0]] if readable else []
        for name in names:
            same = [e for entries in readable for e in entries if e.name == name]
            below = f"{path}/{name}" if path else name
            if same[0].is_tree:
                folder(below, [e.oid for e in same if e.is_tree])
            else:
                file(below, [e for e in same if not e.is_tree])

    folder("", [commit.tree for commit in found.commits[:RECENT]])
    return out, lost


def whole_history(objects: Objects, found: DamageSurvey) -> dict[str, tuple[str, ...]]:
    """Make a history of the commits whose trees are whole.

    Return what stands for each commit: itself, another, or the nearest before it.
    """
    stands: dict[str, tuple[str, ...]] = {}
    for commit in reversed(found.commits):
        parents = tuple(dict.fromkeys(new for old in commit.parents for new in stands.get(old, ())))
        if commit.tree in found.gone or commit.tree in found.broken:
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
