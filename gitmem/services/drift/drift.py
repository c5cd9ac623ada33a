"""Which branches and work trees change the same code since they parted, and how badly: found by merges that leave nothing behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.errors import UserError
from gitmem.git.merges import FileDiff, Merges, Ref, Tree
from gitmem.services.drift import compare
from gitmem.services.drift.compare import Shared

LEVELS = ("none", "low", "medium", "high", "critical")
NONE, LOW, MEDIUM, HIGH, CRITICAL = LEVELS
SIDES = 40  # that are compared with each other
DETAILS = 40  # files of one pair that are looked into
HEADS, REMOTES = "refs/heads/", "refs/remotes/"


@dataclass(frozen=True, slots=True)
class Side:
    """What is compared: a branch, or the work in hand of a work tree. `head` is its newest commit that is there, `tip` that with what is not committed."""

    name: str
    kind: str  # branch, remote or worktree
    head: str
    tip: str
    at: int = 0
    root: str = ""
    author: str = ""


@dataclass(slots=True)
class File:
    """A file that both sides of a pair changed."""

    path: str
    level: str
    conflict: bool
    shared: list[Shared]
    authors: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))


@dataclass(slots=True)
class Pair:
    """Two sides, where they parted, and what both changed; `level` is the worst of its files."""

    one: Side
    two: Side
    base: str
    level: str
    files: list[File]
    advice: str = ""
    changed: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))  # what each side changed, named as it is there


def sides(merges: Merges, names: Sequence[str], resolve: Callable[[str], str], since: int) -> tuple[list[Side], int]:
    """Return what is compared, and how many branches were left out, for they are old or too many.

    Without names: the branches of this repository and of remotes that were committed to since a time (epoch seconds), and the work trees
    with uncommitted work. With names: those, and the work trees that they or nobody has checked out.
    """
    trees = merges.worktrees()
    out: list[Side] = []
    held: set[str] = set()  # branches whose work tree stands for them
    for tree in trees:
        branch = tree.branch.removeprefix(HEADS)
        if names and tree is not trees[0] and not ({branch, tree.branch} & set(names)):
            continue
        if tip := merges.uncommitted(tree):
            held.add(tree.branch)
            out.append(Side(f"{branch or tree.commit[:10]} (uncommitted)", "worktree", tree.commit, tip, 1 << 40, tree.root))
        elif not tree.branch:
            out.append(Side(tree.commit[:10], "worktree", tree.commit, tree.commit, 1 << 40, tree.root))
    if names:
        return _named(out, held, names, resolve, trees), 0
    found = merges.refs(HEADS, REMOTES)
    seen: set[str] = set()
    left = 0
    checked_out = {tree.branch for tree in trees}
    for ref in sorted(found, key=lambda one: (one.name not in checked_out, not one.name.startswith(HEADS), -one.at)):
        if ref.name in held or ref.commit in seen:
            continue  # a remote's branch that is where the local one is
        if (ref.at < since and ref.name not in checked_out) or len(out) >= SIDES:
            left += 1
            continue
        seen.add(ref.commit)
        out.append(_side(ref))
    return out, left


def _side(ref: Ref) -> Side:
    kind = "branch" if ref.name.startswith(HEADS) else "remote"
    return Side(ref.name.removeprefix(HEADS).removeprefix(REMOTES), kind, ref.commit, ref.commit, ref.at, "", ref.author)


def _named(trees: list[Side], held: set[str], names: Sequence[str], resolve: Callable[[str], str], all_trees: Sequence[Tree]) -> list[Side]:
    out = list(trees)
    for name in names:
        if f"{HEADS}{name.removeprefix(HEADS)}" in held:
            continue
        commit = resolve(name)
        out.append(Side(name.removeprefix(HEADS), "branch", commit, commit))
    here = all_trees[0] if all_trees else None
    if here and not any(side.root == here.root for side in out) and all(side.head != here.commit for side in out):
        out.insert(0, Side(here.branch.removeprefix(HEADS) or here.commit[:10], "branch", here.commit, here.commit))
    if len(out) < 2:
        raise UserError("there is nothing to compare with.", "Name another branch: git mem drift BRANCH")
    return out


def parted(ancestry: Sequence[tuple[str, list[str]]], heads: Sequence[str]) -> dict[tuple[int, int], str]:
    """Return {(i, j): the commit where two heads parted}: of what is below both, the first with children before parents."""
    masks: dict[str, int] = {}
    for number, head in enumerate(heads):
        masks[head] = masks.get(head, 0) | 1 << number
    out: dict[tuple[int, int], str] = {}
    done: set[int] = set()
    for commit, parents in ancestry:
        mask = masks.pop(commit, 0)
        if mask & (mask - 1) and mask not in done:
            done.add(mask)
            some = [n for n in range(len(heads)) if mask >> n & 1]
            for at, i in enumerate(some):
                for j in some[at + 1 :]:
                    out.setdefault((i, j), commit)
        for parent in parents:
            masks[parent] = masks.get(parent, 0) | mask
    return out


def drift(
    merges: Merges, some: Sequence[Side], step: Callable[[int, int], None] | None = None, hides: Callable[[str], bool] = lambda _: False
) -> list[Pair]:
    """Return all pairs of sides, the worst first. `step` is told how many are done, and how many there are."""
    bases = parted(merges.ancestry(list(dict.fromkeys(side.head for side in some))), [side.head for side in some])
    wanted: dict[tuple[str, str], int] = {}
    for (i, j), base in bases.items():
        for side in (some[i], some[j]):
            if side.tip != base:
                wanted.setdefault((base, side.tip), len(wanted))
    diffs = merges.diffs(list(wanted))
    changed = {key: {one.was: one for one in diffs[n] if not hides(one.path)} for key, n in wanted.items()}
    both = []
    out: list[Pair] = []
    for i in range(len(some)):
        for j in range(i + 1, len(some)):
            base = bases.get((i, j), "")
            left, right = (changed.get((base, side.tip), {}) for side in (some[i], some[j]))
            names = ([one.path for one in left.values()], [one.path for one in right.values()])
            pair = Pair(some[i], some[j], base, LOW if left and right else NONE, [], changed=names)
            out.append(pair)
            if left and right:
                both.append((pair, left, right))
    for number, ((pair, left, right), conflicts) in enumerate(
        zip(both, merges.merge([(p.one.tip, p.two.tip) for p, _, _ in both]), strict=True)
    ):
        _look(merges, pair, left, right, conflicts or [])
        if step:
            step(number + 1, len(both))
    for pair in out:
        pair.advice = advice(pair)
    return sorted(out, key=lambda pair: (-LEVELS.index(pair.level), pair.one.name, pair.two.name))


def _look(merges: Merges, pair: Pair, left: Mapping[str, FileDiff], right: Mapping[str, FileDiff], conflicts: Sequence[str]) -> None:
    """Find out what both sides of a pair changed."""
    common = [(a, right[was]) for was, a in left.items() if was in right and a.new != right[was].new]
    named = {path for a, b in common for path in (a.path, b.path, a.was)}
    texts = merges.texts([oid for a, b in common[:DETAILS] for oid in (a.old, a.new, b.new)])
    for number, (a, b) in enumerate(common):
        conflict = bool({a.path, b.path, a.was} & set(conflicts))
        known = number < DETAILS
        base, one, two = (texts.get(oid) for oid in (a.old, a.new, b.new)) if known else (None, None, None)
        shared = compare.symbols(base, one, two, a.path) if known else []
        level = CRITICAL if shared else HIGH if conflict else MEDIUM
        if conflict and not shared and known:
            shared = compare.lines(base, one, two)
        pair.files.append(File(a.path, level, conflict, shared))
    pair.files += [File(path, HIGH, True, []) for path in conflicts if path not in named]
    pair.files.sort(key=lambda file: (-LEVELS.index(file.level), file.path))
    pair.level = max((file.level for file in pair.files), key=LEVELS.index, default=LOW)


def name_authors(merges: Merges, pair: Pair, working: Callable[[str], list[str]]) -> None:
    """Add to the worst files of a pair who changed them; `working` tells who is at work in a work tree."""
    for file in [one for one in pair.files if one.level in {HIGH, CRITICAL}][:5]:
        for mine, side in zip(file.authors, (pair.one, pair.two), strict=True):
            mine += working(side.root) if side.root and side.tip != side.head else []
            mine += merges.authors(pair.base, side.head, [file.path])


def advice(pair: Pair) -> str:
    """Return what to do about a pair; '' for nothing."""
    other = pair.two
    name = other.name.removesuffix(" (uncommitted)")
    worst = pair.files[0].path if pair.files else ""
    if pair.level == CRITICAL:
        what = compare.joined(pair.files[0].shared)
        return f"Agree on {what or worst} before either goes on: git diff {pair.base[:10]} {other.head[:10]} -- {worst}"
    if pair.level == HIGH:
        return f"Merge or rebase soon, while both are remembered: git merge {name}"
    if pair.level == MEDIUM:
        return "Git merges these by itself today; the sooner, the surer."
    return ""
