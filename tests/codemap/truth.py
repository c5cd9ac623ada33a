"""Anchors on random edits, counted: right, wrong, adrift."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.codemap.anchors.placement import Placement
from gitmem.codemap.anchors.resolve import attach, place
from tests.codemap import edits
from tests.codemap.conftest import Tree
from tests.codemap.edits import EDITS, Line, Text, marked, where

LANGUAGES = ("py", "ts", "go", "c", "std")
MIXED = "several, one after the other"
# of a line that is there twice, an edit of one of them makes the other the likelier
TWICE = {"duplicate", "paste below"}


@dataclass(frozen=True)
class Case:
    """A marked line of a text, the text after an edit, and the line's place in it (None: it is gone)."""

    kind: str
    language: str
    old: list[str]
    new: list[str]
    line: int
    truth: int | None

    @property
    def path(self) -> str:
        return f"file.{'py' if self.language == 'std' else self.language}"


def cases(seed: int, count: int, kinds: Iterable[str] = (*EDITS, MIXED)) -> Iterable[Case]:
    """Yield cases, the kinds of edits in turn."""
    names = list(kinds)
    for n in range(count):
        r = random.Random(f"{seed}.{n}")
        language = r.choice(LANGUAGES)
        old = edits.source(r, language)
        line = choose(r, old)
        text: Text = marked(old)
        kind = names[n % len(names)]
        mixed = [name for name in EDITS if name not in TWICE]
        for one in [kind] if kind != MIXED else r.choices(mixed, k=r.randint(2, 3)):
            text = EDITS[one](r, text, line)
        yield Case(kind, language, old, [x.text for x in text], line + 1, where(text, line))


def choose(r: random.Random, lines: list[str]) -> int:
    """Return a line that somebody could mark: mostly one that says something, at times `return None` or `}`."""
    say = 6 if r.random() < 0.9 else 1
    spots = [n for n, x in enumerate(lines) if edits.weight(x) >= say or (say == 1 and x.strip())]
    return r.choice(spots)


def judge(made: Placement, case: Case) -> str:
    """Return right, wrong or adrift; for a line that is gone `gone`, or wrong when a line is claimed to be it."""
    if not made.is_certain:
        return "adrift" if case.truth else "gone"
    return "right" if made.first == case.truth else "wrong"


def run(case: Case, with_text: bool = True) -> Placement:
    """Place a case's anchor, with the old text or by what it remembers alone."""
    anchor = attach(
        {"path": case.path, "lines": [case.line, case.line]}, "\n".join(case.old), "0" * 40
    )
    return place(anchor, case.new, old=case.old if with_text else None)


def rates(counts: Counter[str]) -> tuple[float, float]:
    """Return (share right of the lines that exist, share wrong of all), in percent."""
    live = counts["right"] + counts["adrift"] + counts["wrong"]
    return 100 * counts["right"] / max(1, live), 100 * counts["wrong"] / max(
        1, sum(counts.values())
    )


def change(r: random.Random, files: dict[str, list[Line]], step: int) -> None:
    """Move, split or edit one of the files."""
    name = r.choice(sorted(files))
    text = files[name]
    what = r.random()
    ids = [x.ids[0] for x in text if x.ids]
    mark = r.choice(ids) if ids else 0
    if what < 0.15:
        files[f"src/moved{step}/{name.rsplit('/', 1)[1]}"] = files.pop(name)
    elif what < 0.25:
        files[name], other = edits.split(r, text, mark)
        if other:
            files[name.replace(".", f"_part{step}.")] = other
    else:
        files[name] = EDITS[r.choice(sorted(EDITS))](r, text, mark)


def save(tree: Tree, files: dict[str, list[Line]]) -> None:
    """Commit these files and no others."""
    for path in list((tree.path / "src").rglob("*")) if (tree.path / "src").exists() else []:
        if path.is_file():
            path.unlink()
    for name, text in files.items():
        tree.write(name, "\n".join(x.text for x in text) + "\n")
    tree.commit()


def history(tree: Tree, seed: int, steps: int) -> Counter[str]:
    """Replay edits as commits of a repository, renames and splits among them; count where marks land at the end."""
    r = random.Random(seed)
    files: dict[str, list[Line]] = {}
    base = 0
    for language in r.sample(LANGUAGES, 3):
        lines = edits.source(r, language, 150)
        files[f"src/{language}{seed}.{'py' if language == 'std' else language}"] = [
            Line(x, (base + n,)) for n, x in enumerate(lines)
        ]
        base += len(lines)

    save(tree, files)
    anchors = []
    for name, text in files.items():
        for _ in range(12):
            line = choose(r, [x.text for x in text])
            anchors.append((text[line].ids[0], tree.anchor(f"{name}:{line + 1}")))
    for step in range(steps):
        change(r, files, step)
        save(tree, files)
    follower = tree.follower(60.0)
    counts: Counter[str] = Counter()
    for id, anchor in anchors:
        spot = next(((name, at) for name, text in files.items() if (at := where(text, id))), None)
        made = follower.now(anchor)
        if not made.is_certain:
            counts["adrift" if spot else "gone"] += 1
        else:
            counts["right" if spot == (made.path, made.first) else "wrong"] += 1
    return counts
