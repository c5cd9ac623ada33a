"""How purged histories meet others.

This covers who still holds what, and how unsent changes get onto a clean history.

A purge leaves a line in `purges.jsonl` with the oldest commit that it replaced, and in each commit
made anew the id of the one it stands for. Both are read from somebody else's store: a line is
believed only when the history that carries it is really rid of the commit it names.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.clock import LAST
from gitmem.errors import GitmemError
from gitmem.git.objects import (
    Commit,
    Draft,
    Identity,
    Objects,
    TreeDifference,
    TreeEntry,
    diff,
    files,
)
from gitmem.git.record_log import steps
from gitmem.records.codec import LARGE_LIMIT
from gitmem.records.record import kind_of
from gitmem.store.history.redact import Mask, taken_out
from gitmem.store.history.rewrite import Cleaner, was
from gitmem.store.layout import FORMAT_PATH, GITMEM, PLAIN_LIMIT, PURGES, id_of_path
from gitmem.store.tree_merge import Edits, Report, merge_commits, merge_trees

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(slots=True)
class Carried:
    """The commit that has the changes of a history that was not purged on top of one that was."""

    commit: str
    report: Report
    masked: set[str] = field(default_factory=set)  # the texts that were taken out of the changes
    # paths whose change could not be told from what was purged
    left_out: list[str] = field(default_factory=list)
    doomed: list[str] = field(default_factory=list)  # commits made on the way, which may hold it
    changed: set[str] = field(default_factory=set)  # paths that the purge gave another form
    # records that it took out and that had changes which nobody else has
    unsent: list[str] = field(default_factory=list)


def purges(objects: Objects, commit: str) -> Iterator[dict[str, str]]:
    """Yield what a store's purges wrote: `{"at", "boundary"}`.

    The boundary is the oldest commit that was replaced.
    """
    entry = objects.find(objects.commit(commit).tree, PURGES)
    if entry is None or entry.is_tree:
        return
    for line in (objects.read_small(entry.oid, PLAIN_LIMIT) or b"").split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if (
            isinstance(row, dict)
            and isinstance(row.get("boundary"), str)
            and _OID.fullmatch(row["boundary"])
        ):
            yield {**row, "at": str(row.get("at", ""))}


def holds(objects: Objects, other: str, purged: str) -> dict[str, str] | None:
    """Return a purge of one history whose text the other still has.

    None when they may be merged.
    """
    rows = [row for row in purges(objects, purged) if _done(objects, row["boundary"], purged)]
    for row in rows:
        if objects.is_ancestor(row["boundary"], other):
            return row
    theirs = list(purges(objects, other))
    if not rows or all(row in theirs for row in rows) or not theirs:
        return None
    return _holds_anew(objects, other, purged, [row for row in rows if row not in theirs])


def _done(objects: Objects, boundary: str, purged: str) -> bool:
    """Say whether a history is rid of a commit that it names as replaced.

    Every store has the first one, so that is none.
    """
    if objects.is_ancestor(boundary, purged):
        return False
    try:
        return bool(objects.commit(boundary).parents)
    except GitmemError:
        return True  # not here: then it can only be the former name of a commit


def _holds_anew(
    objects: Objects, other: str, purged: str, rows: list[dict[str, str]]
) -> dict[str, str] | None:
    """Return the purge that another purged history lacks.

    The other history's form of the replaced commit still has what our form does not have.
    """
    wanted = {row["boundary"]: row for row in rows}
    mine: dict[str, Commit] = {}
    for commit in objects.walk([purged]):
        for name in was(commit):
            mine.setdefault(name, commit)
    for commit in objects.walk([other]):
        for name in was(commit):
            if name in wanted and not _is_clean_twin(objects, mine.get(name), commit):
                return wanted[name]
    return None


def _is_clean_twin(objects: Objects, mine: Commit | None, other: Commit) -> bool:
    """Say whether our form of a replaced commit has all that the other history's form has."""
    if mine is None:
        return False
    return mine.oid == other.oid or _as_clean(objects, mine.tree, other.tree)


def _as_clean(objects: Objects, clean: str, other: str) -> bool:
    """Say whether a tree is a clean one with only more taken out of it."""
    for change in diff(objects, clean, other):
        if change.path == PURGES or change.path.startswith("tombstones/") or change.new is None:
            continue
        if change.old is None or _taken_out(objects, change, set()) is None:
            return False
    return True


def carry_over(objects: Objects, other: str, purged: str) -> Carried:
    """Return a commit on top of a purged history that holds the other's changes.

    It does not hold the other's history.

    What the purge took out is found by comparing the commits that both have, and taken out of the
    changes too. The changes keep their committers, since words are credited to whoever committed
    them.
    """
    kept_commit, purged_commit = objects.commit(other), objects.commit(purged)
    pairs = _shared(objects, other, purged)
    out = Carried(purged, Report())
    difference = _PurgeDifference(objects, out.masked, out.changed)
    for old, twin in pairs:
        difference.add_commit(old, twin)
    ids, forced = difference.ids, difference.forced_outside_folders()
    base = None
    if pairs:
        base = pairs[0][0].oid
        for old, _ in pairs[1:]:
            base, _ = merge_commits(objects, base, old.oid)
            out.doomed.append(base)
    who = Identity(
        *GITMEM, min(max(kept_commit.committer.time, purged_commit.committer.time), LAST)
    )
    cleaner = Cleaner(objects, sorted(ids), Mask(out.masked))

    def clean(tree: str) -> str:
        edits = _clean_edits(cleaner, tree, forced)
        if not edits:
            return tree
        out.doomed.append(objects.write(Draft(tree, edits, (), "gitmem: cleaned\n", who, who)))
        return objects.commit(out.doomed[-1]).tree

    start = objects.commit(base).tree if base else None
    touched = {c.path for c in diff(objects, start, kept_commit.tree)}
    out.left_out = sorted(touched & forced.keys())
    out.unsent = sorted(id for path in touched if (id := id_of_path(path)) and id in ids)
    edits, out.report = merge_trees(
        objects, clean(start) if start else None, purged_commit.tree, clean(kept_commit.tree)
    )
    if edits:
        persons = _last_committers(objects, other, [old.oid for old, _ in pairs])
        out.commit = _committed(objects, purged_commit, edits, persons, who.time)
    return out


def _clean_edits(cleaner: Cleaner, tree: str, forced: Mapping[str, TreeEntry | None]) -> Edits:
    """Return the edits that take out of a tree what a purge took out, files of their form last."""
    inside = tuple(f"{path}/" for path in forced)
    edits = {p: value for p, value in cleaner.edits(tree).items() if not p.startswith(inside)}
    return {**edits, **forced}


def _last_committers(objects: Objects, tip: str, hide: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return who committed the last change of each path; gitmem's own merges change no words."""
    out: dict[str, tuple[str, str]] = {}
    for step in steps(objects.git, tip, hide):
        name, _, rest = step.committer.rpartition(" <")
        person = (name, rest.removesuffix(">"))
        for file in step.files:
            if person != GITMEM or file.path not in out:
                out[file.path] = person
    return out


def _committed(
    objects: Objects,
    base: Commit,
    edits: Edits,
    persons: Mapping[str, tuple[str, str]],
    at: int,
) -> str:
    """Return the last of the commits that make edits: one for each person who had made them.

    What belongs to nobody comes first, with gitmem as its committer.
    """
    shares: dict[tuple[str, str], Edits] = {}
    for path, edit in edits.items():
        shares.setdefault(persons.get(path, GITMEM), {})[path] = edit
    text = "gitmem: carry over\n\nGitmem-Op: merge\n"
    tip, made = base.oid, Edits()
    for person in sorted(shares, key=lambda person: (person != GITMEM, person)):
        made |= shares[person]
        who = Identity(*person, at)
        tip = objects.write(Draft(base.tree, made, (tip,), text, who, who))
    return tip


def _shared(objects: Objects, other: str, purged: str) -> list[tuple[Commit, Commit]]:
    """Return the newest commits of a history that a purged one has too.

    Each comes with the form that it has in the purged history.
    """
    commits: dict[str, Commit] = {}
    for commit in objects.walk([purged]):
        for name in (commit.oid, *was(commit)):
            commits.setdefault(name, commit)
    covered: set[str] = set()
    pairs = []
    for commit in objects.walk([other]):
        if commit.oid not in covered:
            twin = next(
                (commits[name] for name in (commit.oid, *was(commit)) if name in commits), None
            )
            if twin is None:
                continue
            pairs.append((commit, twin))
        covered.update(commit.parents)
    return pairs


@dataclass(slots=True)
class _PurgeDifference:
    """What a purge did to the commits that it made anew.

    `masked` gathers the texts that it took out, `changed` the paths of what it left in another
    form, `ids` the records that it removed, `forced` files whose new form no mask explains.
    """

    objects: Objects
    masked: set[str]
    changed: set[str]
    ids: set[str] = field(default_factory=set)
    forced: dict[str, TreeEntry | None] = field(default_factory=dict)

    def add_commit(self, old: Commit, twin: Commit) -> None:
        """Add what differs between a commit and its new form."""
        for change in diff(self.objects, old.tree, twin.tree):
            path = change.path
            if path not in {PURGES, FORMAT_PATH} and not path.startswith("tombstones/"):
                self._add(change, twin)

    def _add(self, change: TreeDifference, twin: Commit) -> None:
        path, id = change.path, id_of_path(change.path)
        if change.new is None and id:
            self.ids.add(id)
        elif change.old is None or change.new is None:
            self.forced[path] = change.new
        else:
            self.changed.add(path)
            texts = _taken_out(self.objects, change, self.masked)
            if texts is not None:
                self.masked |= texts
                return
            self.forced[path] = change.new
            if id:  # what it lost in a merge quotes it
                self.forced[f"attic/{id}"] = self.objects.find(twin.tree, f"attic/{id}")

    def forced_outside_folders(self) -> dict[str, TreeEntry | None]:
        """Return the forced files that are not inside of something else that is taken out."""
        paths = self.forced.keys()
        folders = {path for path in paths if any(p.startswith(f"{path}/") for p in paths)}
        inside = (*(f"attic/{id}/" for id in self.ids), *(f"{path}/" for path in folders))
        return {path: entry for path, entry in self.forced.items() if not path.startswith(inside)}


def _taken_out(objects: Objects, change: TreeDifference, texts: set[str]) -> set[str] | None:
    old, new = (
        objects.read_small(e.oid, LARGE_LIMIT) if e else None for e in (change.old, change.new)
    )
    return None if old is None or new is None else taken_out(change.path, old, new, texts)


def purged_ids(objects: Objects, commit: str) -> list[str]:
    """Return the ids of the records that a store's tombstones say were purged."""
    tombstones = objects.find(objects.commit(commit).tree, "tombstones")
    listed = list(files(objects, tombstones.oid if tombstones and tombstones.is_tree else None))
    marks = objects.read_many(entry.oid for _, entry in listed)
    ids = (
        path.rsplit("/", 1)[-1]
        for (path, _), (_, data) in zip(listed, marks, strict=True)
        if b'"purged": true' in data
    )
    return sorted(id for id in ids if kind_of(id))
