"""Which branches and work trees change the same code since they diverged, and how badly.

This is found by merges that leave nothing behind.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from threading import Thread

from gitmem.errors import UserError
from gitmem.git.merges import FileDiff, Merges, Ref, Tree
from gitmem.services.drift import compare
from gitmem.services.drift.compare import Shared

LEVELS = ("none", "low", "medium", "high", "critical")
NONE, LOW, MEDIUM, HIGH, CRITICAL = LEVELS
SIDES = 40  # that are compared with each other
DETAILS = 40  # files of one pair that are looked into
BLOBS = 5000  # texts that are read
HEADS, REMOTES = "refs/heads/", "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Side:
    """What is compared: a branch, or the work in hand of a work tree.

    `head` is its newest commit that is there, `tip` that with what is not committed.
    """

    name: str
    kind: str  # branch, remote or worktree
    head: str
    tip: str
    at: int = 0
    root: str = ""
    author: str = ""
    mail: str = ""  # of the author, in angle brackets


@dataclass(slots=True)
class DriftFile:
    """A file that both sides of a pair changed."""

    path: str
    level: str
    conflict: bool
    shared: list[Shared]
    names: tuple[str, ...] = ()  # what it is called at the base and on both sides
    authors: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))


@dataclass(slots=True)
class Pair:
    """Two sides, where they parted, and what both changed; `level` is the worst of its files."""

    left: Side
    right: Side
    base: str
    level: str
    files: list[DriftFile]
    advice: str = ""
    # what each side changed, named as it is there
    changed: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))


# a pair with what its sides changed
Both = tuple[Pair, Mapping[str, FileDiff], Mapping[str, FileDiff]]


def sides(
    merges: Merges, names: Sequence[str], resolve: Callable[[str], str], since: int
) -> tuple[list[Side], int]:
    """Return what is compared, and how many branches were left out, for they are old or too many.

    Without names: the branches of this repository and of remotes that were committed to since a
    time (epoch seconds), and the work trees with uncommitted work. With names: those, and the work
    trees that they or nobody has checked out.
    """
    trees = merges.worktrees()
    out, held = _of_trees(merges, trees, names)
    if names:
        return _named(out, held, names, resolve, trees), 0
    seen: set[str] = set()
    left = 0
    checked_out = {tree.branch for tree in trees}
    for ref in sorted(
        merges.refs(HEADS, REMOTES),
        key=lambda ref: (ref.name not in checked_out, not ref.name.startswith(HEADS), -ref.at),
    ):
        if ref.name in held or ref.commit in seen:
            continue  # a remote's branch that is where the local one is
        if (ref.at < since and ref.name not in checked_out) or len(out) >= SIDES:
            left += 1
            continue
        seen.add(ref.commit)
        out.append(_side(ref))
    return out, left


def _of_trees(
    merges: Merges, trees: Sequence[Tree], names: Sequence[str]
) -> tuple[list[Side], set[str]]:
    """Return the work trees that are compared, and the branches that they stand for."""
    out: list[Side] = []
    held: set[str] = set()
    for tree in trees:
        branch = tree.branch.removeprefix(HEADS)
        if names and tree is not trees[0] and not ({branch, tree.branch} & set(names)):
            continue
        tip = merges.uncommitted(tree)
        if tip:
            held.add(tree.branch)
            name = f"{branch or tree.commit[:10]} (uncommitted)"
            out.append(Side(name, "worktree", tree.commit, tip, 1 << 40, tree.root))
        elif not tree.branch:
            name = tree.commit[:10]
            out.append(Side(name, "worktree", tree.commit, tree.commit, 1 << 40, tree.root))
    return out, held


def _side(ref: Ref) -> Side:
    kind = "branch" if ref.name.startswith(HEADS) else "remote"
    return Side(
        ref.name.removeprefix(HEADS).removeprefix(REMOTES),
        kind,
        ref.commit,
        ref.commit,
        ref.at,
        "",
        ref.author,
        ref.mail,
    )


def _named(
    trees: list[Side],
    held: set[str],
    names: Sequence[str],
    resolve: Callable[[str], str],
    all_trees: Sequence[Tree],
) -> list[Side]:
    out = list(trees)
    for name in names:
        if f"{HEADS}{name.removeprefix(HEADS)}" in held:
            continue
        commit = resolve(name)
        out.append(Side(name.removeprefix(HEADS), "branch", commit, commit))
    here = all_trees[0] if all_trees else None
    if (
        here
        and not any(side.root == here.root for side in out)
        and all(side.head != here.commit for side in out)
    ):
        out.insert(
            0,
            Side(
                here.branch.removeprefix(HEADS) or here.commit[:10],
                "branch",
                here.commit,
                here.commit,
            ),
        )
    if len(out) < 2:
        raise UserError(
            "there is nothing to compare with.", "Name another branch: git mem code drift BRANCH"
        )
    return out


def parted(
    ancestry: Sequence[tuple[str, list[str]]], heads: Sequence[str]
) -> dict[tuple[int, int], str]:
    """Return {(i, j): the commit where two heads diverged}.

    This is the first commit that is below both heads, with children before parents.
    """
    masks: dict[str, int] = {}
    for number, head in enumerate(heads):
        masks[head] = masks.get(head, 0) | 1 << number
    out: dict[tuple[int, int], str] = {}
    done: set[int] = set()
    for commit, parents in ancestry:
        mask = masks.pop(commit, 0)
        if mask & (mask - 1) and mask not in done:
            done.add(mask)
            numbers = [n for n in range(len(heads)) if mask >> n & 1]
            for pair in combinations(numbers, 2):
                out.setdefault(pair, commit)
        for parent in parents:
            masks[parent] = masks.get(parent, 0) | mask
    return out


def drift(
    merges: Merges,
    some: Sequence[Side],
    step: Callable[[int, int], None] | None = None,
    hides: Callable[[str], bool] = lambda _: False,
) -> list[Pair]:
    """Return all pairs of sides, the worst first.

    `step` is told how many are done, and how many there are.
    """
    compared = _compared(merges, some, hides)
    both = [(pair, left, right) for pair, left, right in compared if left and right]
    merging = _Merging(merges, [(pair.left.tip, pair.right.tip) for pair, _, _ in both])
    merging.start()  # git merges while definitions are read
    texts = _BranchTexts(merges)
    texts.want(both)
    for number, (pair, left, right) in enumerate(both):
        _look(texts, pair, left, right)
        if step:
            step(number + 1, len(both))
    conflicts = merging.result()
    for (pair, left, right), paths in zip(both, conflicts, strict=True):
        _conflict(texts, pair, _common(left, right), paths or [])
    pairs = [pair for pair, _, _ in compared]
    for pair in pairs:
        pair.advice = advice(pair)
    return sorted(
        pairs, key=lambda pair: (-LEVELS.index(pair.level), pair.left.name, pair.right.name)
    )


def _compared(merges: Merges, some: Sequence[Side], hides: Callable[[str], bool]) -> list[Both]:
    """Return every pair of sides with what each of them changed since they parted."""
    heads = [side.head for side in some]
    bases = parted(merges.ancestry(list(dict.fromkeys(heads))), heads)
    changed = _changes(merges, some, bases, hides)
    out: list[Both] = []
    for (i, first), (j, second) in combinations(enumerate(some), 2):
        base = bases.get((i, j), "")
        left, right = (changed.get((base, side.tip), {}) for side in (first, second))
        paths = ([diff.path for diff in left.values()], [diff.path for diff in right.values()])
        level = LOW if left and right else NONE
        out.append((Pair(first, second, base, level, [], changed=paths), left, right))
    return out


def _changes(
    merges: Merges,
    some: Sequence[Side],
    bases: Mapping[tuple[int, int], str],
    hides: Callable[[str], bool],
) -> dict[tuple[str, str], dict[str, FileDiff]]:
    """Return {(base, tip): {path at the base: what changed}}."""
    wanted = dict.fromkeys(
        (base, some[number].tip)
        for numbers, base in bases.items()
        for number in numbers
        if some[number].tip != base
    )
    diffs = merges.diffs(list(wanted))
    return {
        key: {diff.was: diff for diff in diffs[n] if not hides(diff.path)}
        for n, key in enumerate(wanted)
    }


class _Merging(Thread):
    """Merges pairs of commits beside other work."""

    def __init__(self, merges: Merges, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__(daemon=True)
        self._merges = merges
        self._pairs = pairs
        self._found: list[list[str] | None] | Exception = []

    def run(self) -> None:
        try:
            self._found = self._merges.merge(self._pairs)
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for
            self._found = error

    def result(self) -> list[list[str] | None]:
        """Wait for the end; return what `Merges.merge` does, or raise what it raises."""
        self.join()
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def _common(
    left: Mapping[str, FileDiff], right: Mapping[str, FileDiff]
) -> list[tuple[FileDiff, FileDiff]]:
    """Return the files that both sides changed, and not to the same."""
    return [(a, right[was]) for was, a in left.items() if was in right and a.new != right[was].new]


class _BranchTexts:
    """The texts of files and the definitions in them, each read once."""

    def __init__(self, merges: Merges) -> None:
        self._merges = merges
        self._texts: dict[str, str] = {}
        self._own: dict[tuple[str, str], compare.Own] = {}

    def want(self, both: Sequence[Both]) -> None:
        """Read what is going to be asked for, in one call of git."""
        some = (pair for _, left, right in both for pair in _common(left, right)[:DETAILS])
        self._texts = self._merges.texts(
            [oid for a, b in some for oid in (a.old, a.new, b.new)][:BLOBS]
        )

    def get(self, oid: str) -> str | None:
        """Return a text; None for one that is not there, or is not looked at."""
        return self._texts.get(oid)

    def own(self, oid: str, path: str) -> compare.Own:
        """Return the definitions of a text."""
        key = (oid, path)
        if key not in self._own:
            self._own[key] = compare.own(self._texts.get(oid), path)
        return self._own[key]


def _look(
    texts: _BranchTexts, pair: Pair, left: Mapping[str, FileDiff], right: Mapping[str, FileDiff]
) -> None:
    """Find out which definitions both sides of a pair changed."""
    for number, (a, b) in enumerate(_common(left, right)):
        shared = (
            compare.symbols(*(texts.own(oid, a.path) for oid in (a.old, a.new, b.new)))
            if number < DETAILS
            else []
        )
        pair.files.append(
            DriftFile(
                a.path,
                CRITICAL if shared else MEDIUM,
                False,
                shared,
                tuple(dict.fromkeys((a.path, b.path, a.was))),
            )
        )


def _conflict(
    texts: _BranchTexts,
    pair: Pair,
    common: Sequence[tuple[FileDiff, FileDiff]],
    conflicts: Sequence[str],
) -> None:
    """Take in which files of a pair a merge would conflict in."""
    named = {path for a, b in common for path in (a.path, b.path, a.was)}
    for number, (file, (a, b)) in enumerate(zip(pair.files, common, strict=True)):
        file.conflict = bool({a.path, b.path, a.was} & set(conflicts))
        if file.conflict and not file.shared:
            file.level = HIGH
            file.shared = (
                compare.lines(*(texts.get(oid) for oid in (a.old, a.new, b.new)))
                if number < DETAILS
                else []
            )
    pair.files += [DriftFile(path, HIGH, True, []) for path in conflicts if path not in named]
    pair.files.sort(key=lambda file: (-LEVELS.index(file.level), file.path))
    pair.level = max((file.level for file in pair.files), key=LEVELS.index, default=LOW)


def name_authors(
    merges: Merges,
    pair: Pair,
    working: Callable[[str], list[str]],
    *,
    with_mail: bool = False,
) -> None:
    """Add to the worst files of a pair who changed them.

    `working` tells who is at work in a work tree.
    """
    for file in [file for file in pair.files if file.level in {HIGH, CRITICAL}][:5]:
        for mine, side in zip(file.authors, (pair.left, pair.right), strict=True):
            mine += working(side.root) if side.root and side.tip != side.head else []
            mine += merges.authors(
                pair.base, side.head, file.names or [file.path], with_mail=with_mail
            )


def _difference(pair: Pair, path: str) -> str:
    """Return the command that shows what the other side changed in a file."""
    where = shlex.quote(path)
    if pair.right.tip != pair.right.head:  # what is not committed is in the work tree alone
        return f"git -C {shlex.quote(pair.right.root)} diff {pair.base[:10]} -- {where}"
    return f"git diff {pair.base[:10]} {pair.right.head[:10]} -- {where}"


def advice(pair: Pair) -> str:
    """Return what to do about a pair; '' for nothing."""
    other = pair.right
    name = other.name.removesuffix(" (uncommitted)")
    worst = pair.files[0].path if pair.files else ""
    if pair.level == CRITICAL:
        what = compare.joined(pair.files[0].shared)
        difference = _difference(pair, worst)
        return f"Agree on {what or worst} before work continues on either side: {difference}"
    if pair.level == HIGH and other.tip != other.head:
        return f"Commit the work in {other.root}, then merge soon, while both are remembered."
    if pair.level == HIGH:
        return f"Merge or rebase soon, while both are remembered: git merge {name}"
    if pair.level == MEDIUM:
        return "Git can merge these now. Merge soon, before they conflict."
    return ""
