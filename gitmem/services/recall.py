"""What a prompt calls for: the records that it is surely about, and none when none is.

By the files that it names, by an error that it quotes, by words that tell something. Standard library
only: the hot path imports this, and only a prompt pays for it.
"""

import re

from gitmem.files import inside
from gitmem.index.words import CJK, STOP, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.index.query import Index

    Row = dict[str, Any]

LIVE = ("active", "pinned")
MOST = 8  # records of one prompt
PROMPT = 8000  # characters of a prompt that are looked at
WORDS = 32  # words of a prompt that are looked up
SIGNS = ("error", "exception", "traceback", "fatal", "panic", "failed", "cannot", "not found", "denied")
_APART = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;|", " "))
_NAME = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Za-z]+\d+\w*|[A-Z]{3,}")
# Words of nearly every request: alone they name no subject.
CHATTER = STOP | frozenset(
    """add answer app ask bad branch break broken bug build call change check class clean clear close code command commit compare continue correct create
    current data delete describe design difference do does doc docs document done easy edit error errors every example exception explain fail failed failing
    fails failure feature file files find fine first fix fixed fixes fixing following folder format full function give good great handle help here hi hello idea
    implement import improve include input install issue issues keep know last later learn let line lines list load long look main make many method might mind
    missing mode module move much name new next nice note now number ok okay old open option order output page part path place plan please print problem
    program project pull push question quick read ready really refactor remove rename repo repository request result return review run running save script
    second see seem set setting setup show simple some start state step still stop string sure system task tell test tested testing tests text thank thanks
    thing things think time todo tool try trying turn type update user value version view wait warning watch well work working works write wrong yes yet""".split()
)


def recall(index: "Index", prompt: str, root: str, cwd: str, agents: "Sequence[str]") -> "list[Row]":
    """Return rows with a `body`, surest first, at most eight."""
    prompt = prompt[:PROMPT]
    wanted: dict[str, Any] = {"kinds": ("gotcha", "memory"), "statuses": LIVE, "agents": agents, "resolved": False}
    found: dict[str, Row] = {}
    patterns = _patterns(prompt, root)
    if patterns:
        for row in index.by_patterns(patterns):
            if row["status"] in LIVE and not row["resolved"] and row["agent"] in agents:
                found.setdefault(row["id"], row)
    paths = _paths(index, prompt, root, cwd)
    if paths:
        for row in index.rows(paths=paths, order="severity", limit=MOST, **wanted):
            found.setdefault(row["id"], row)
    telling = _telling(index, prompt)
    if telling:
        for row in index.search(" ".join(telling), limit=24, snippets=False, **wanted):
            if _is_about(row["n"], telling):
                found.setdefault(row["id"], row)
    rows = list(found.values())[:MOST]
    for row in rows:
        row["body"] = index.body(row["n"]) if row["kind"] == "memory" else ""
    return rows


def _patterns(prompt: str, root: str) -> "list[str]":
    """Return the patterns of errors that a prompt seems to quote."""
    low = prompt.lower()
    if not any(sign in low for sign in SIGNS):
        return []
    from gitmem.model.fingerprint import fingerprint  # compiles many patterns

    quoted = prompt.split("```")[1::2][:4]
    lines = [line for line in prompt.splitlines() if any(sign in line.lower() for sign in SIGNS)][:8]
    inline = [part for line in lines for part in line.split("`")[1::2]][:8]
    marks = (fingerprint(text, root) for text in dict.fromkeys([prompt, *quoted, *lines, *inline]))
    return list(dict.fromkeys(mark.pattern for mark in marks if mark))


def _paths(index: "Index", prompt: str, root: str, cwd: str) -> "list[str]":
    """Return the anchored paths that a prompt names: whole, or by an end that only one of them has."""
    names: dict[str, None] = {}
    for word in prompt.translate(_APART).split():
        word = word.strip(".:!?-@").split("#")[0].split(":")[0]
        if "://" not in word and 2 < len(word) < 256 and ("/" in word.strip("/") or "." in word):
            names[word] = None
    out: dict[str, None] = {}
    for name in list(names)[:24]:
        exact = [p for p in (inside(name, root, cwd), inside(name, root, root)) if p]
        hits = [r[0] for p in exact for r in index.db.execute("SELECT path FROM places WHERE path = ? LIMIT 1", (p,))]
        if not hits and not name.startswith(("/", "~")):
            end = name.removeprefix("./").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            hits = [r[0] for r in index.db.execute("SELECT DISTINCT path FROM places WHERE path LIKE ? ESCAPE '\\' LIMIT 2", ("%/" + end,))]
            hits = hits if len(hits) == 1 else []
        out.update(dict.fromkeys(hits))
    return list(out)


class _Term:
    """Where a word of the prompt stands: rows that have it, rows that have it where it counts, and whether it is a name."""

    __slots__ = ("is_name", "rows", "strong")

    def __init__(self, rows: "set[int]", strong: "set[int]", is_name: bool) -> None:
        self.rows = rows
        self.strong = strong
        self.is_name = is_name


def _telling(index: "Index", prompt: str) -> "dict[str, _Term]":
    """Return the words of a prompt that few records have."""
    size = index.db.execute("SELECT MAX(n) FROM records").fetchone()[0] or 0
    most = max(4, size // 50)
    names = {part.lower() for match in _NAME.finditer(prompt) for part in (match[0], *match[0].split("_"))}
    runs = re.findall(f"[{CJK}]+", prompt)
    terms = {w.rstrip("*") for w in tokens(prompt) if w.isascii() or not re.match(f"[{CJK}]", w)}
    plain = [
        w for w in dict.fromkeys(t for t in tokens(prompt) if t.rstrip("*") in terms) if len(w) > 2 and w not in CHATTER and not w.isdigit()
    ]
    pairs = [f"{run[i]} {run[i + 1]}" for run in runs for i in range(len(run) - 1)]
    out: dict[str, _Term] = {}
    for word in (*plain[:WORDS], *pairs[:WORDS]):
        word = word.rstrip("*")
        rows, strong = (
            {r[0] for r in index.db.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (f'{{{columns}}} : "{word}"', most + 1))}
            for columns in ("title tags body anchors", "title tags anchors")
        )
        if rows and len(rows) <= most:
            out[f'"{word}"' if " " in word else word] = _Term(rows, strong, word in names)
    return out


def _is_about(n: int, telling: "dict[str, _Term]") -> bool:
    """Say whether a row has enough of the words: two, one of them in its title, tags or places, or one that is a name or all there is."""
    hits = [term for term in telling.values() if n in term.rows]
    strong = [term for term in hits if n in term.strong]
    return bool(strong) and (len(hits) >= 2 or strong[0].is_name or len(telling) == 1)
