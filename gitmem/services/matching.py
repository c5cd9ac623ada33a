"""What a task calls for: the records that it is surely about, ranked, each with the reasons why; none when none fits.

Four signals, in this order: a record is anchored at a file of the task, waits for the error that it shows, is
about a file beside one of its files, says in words what the task says. How a word counts: by what it tells
(`vocabulary`), by how few records have it, by where they have it. What comes from the text alone needs enough
such words; a neighbouring file needs some. Severity and age move a match within its signal, never past it.

Standard library only: the hot path imports this, and only a prompt pays for it.
"""

import re

from gitmem.clock import seconds
from gitmem.files import inside
from gitmem.index.state import healing
from gitmem.services.wording import FAINT, FRAME, WORD, Words, hits_of, quoted, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from typing import Any

    from gitmem.index.query import Index

    Row = dict[str, Any]

TEXT = 8000  # characters of a task, and of an error, that are looked at
GLOBS = 2000  # patterns that the files are compared with
NAMES = 24  # paths in a text that are looked up
NEAR, FAR = 10, 80  # lines between an anchor and where the task is: as good as on it; the same file, no more
HELPED = 1.2  # evidence that is enough beside a neighbouring file
RELATIVE = 0.85  # of the best text's evidence: what is further off is not shown
SIGNS = ("error", "exception", "traceback", "fatal", "panic", "failed", "cannot", "not found", "denied", "err!", "warning", "unable", "undefined", "erro:", "错误", "失败")  # fmt: skip
SCORE = {"anchor": 64.0, "glob": 48.0, "error": 32.0, "beside": 16.0, "text": 8.0}
SEVERITY = {"critical": 1.06, "warning": 1.0, "info": 0.97}
ALSO = {"anchor": 0.25, "glob": 0.25, "error": 0.25, "beside": 0.25, "text": 2.0}  # of a signal's score, when another one is stronger
HALF_LIFE = 180 * 86400.0

_APART = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;|=", " "))
_PATH = re.compile(r"[\w.@~+-]*[/\\][\w./\\@+-]+(?::\d+)*|\b[\w-]+\.(?:py|js|jsx|ts|tsx|mjs|go|rs|java|kt|rb|php|c|cc|cpp|h|cs)\b(?::\d+)*")
_RAISED = re.compile(r"[\w.$]*(?:Error|Exception|Fault|fatal|error|panic)(?:\[\w+\])?: .+")
_AFFIX = re.compile(r"(?i)^(?:tests?[_-])?(.+?)(?:[._-](?:tests?|specs?|stories|e2e))?$")
_CAMEL_TEST = re.compile(r"^(?:Test(?=[A-Z]))?(\w+?)(?:Tests?|Spec|IT)?$")


class Task:
    """What is to be done: its text, the files it touches (with the lines, where known), the error it shows."""

    __slots__ = ("error", "files", "lines", "text")

    def __init__(
        self, text: str = "", files: "Iterable[str]" = (), error: str = "", lines: "Mapping[str, Collection[int]] | None" = None
    ) -> None:
        self.text = text
        self.files = tuple(files)
        self.error = error
        self.lines = lines or {}


class Match:
    """A record that fits: how well, for which reasons, and by which signal first (`anchor`, `glob`, `error`, `beside`, `text`)."""

    __slots__ = ("kind", "reasons", "row", "score")

    def __init__(self, row: "Row", score: float, reasons: "list[str]", kind: str) -> None:
        self.row = row
        self.score = score
        self.reasons = reasons
        self.kind = kind

    def __repr__(self) -> str:
        return f"<{self.row['id']} {self.score:.2f} {self.kind}: {'; '.join(self.reasons)}>"


def match(
    indexes: "Index | Sequence[Index]", task: Task, root: str, cwd: str, agents: "Sequence[str]", now: float, snoozed: "Collection[str]" = (), *,
    unconfirmed: bool = True, most: int = 5,
) -> "list[Match]":  # fmt: skip
    """Return the gotchas that a task calls for, best first; none that is resolved, archived, decayed, snoozed or another agent's."""
    found: list[Match] = []
    for index in indexes if isinstance(indexes, (list, tuple)) else (indexes,):
        found += find(index, task, root, cwd, agents, now, ("gotcha",))
    return best(found, snoozed, unconfirmed=unconfirmed, most=most)


def best(found: "Iterable[Match]", snoozed: "Collection[str]" = (), *, unconfirmed: bool = True, most: int = 5) -> "list[Match]":
    """Return the best of what was found, each record once."""
    out: dict[str, Match] = {}
    for one in sorted(found, key=lambda m: (-m.score, str(m.row["id"]))):
        row = one.row
        if row["id"] not in snoozed and (unconfirmed or not is_unconfirmed(row)):
            out.setdefault(row["id"], one)
    return list(out.values())[:most]


def is_unconfirmed(row: "Row") -> bool:
    """Say whether nobody has yet looked at what was captured or extracted."""
    return row["origin"] in {"captured", "extracted"} and not row.get("confirmed")


def fit(found: "Sequence[Match]", budget: int, cost: "Callable[[Match], int]") -> "list[Match]":
    """Return the matches that a budget has room for, best first; one that is too long leaves its place to the next."""
    out = []
    for one in found:
        price = cost(one)
        if price <= budget:
            budget -= price
            out.append(one)
    return out


@healing
def find(index: "Index", task: Task, root: str, cwd: str, agents: "Sequence[str]", now: float, kinds: "Sequence[str]") -> "list[Match]":
    """Return what one index has for a task, unsorted."""
    return _Search(index, task, root, cwd).run(agents, now, kinds)


class _Case:
    """One record under consideration: the best strength of each signal, and its reason."""

    __slots__ = ("signals",)

    def __init__(self) -> None:
        self.signals: dict[str, tuple[float, str]] = {}

    def add(self, kind: str, strength: float, reason: str) -> None:
        if strength > self.signals.get(kind, (0.0, ""))[0]:
            self.signals[kind] = strength, reason


class _Search:
    """One search in one index."""

    def __init__(self, index: "Index", task: Task, root: str, cwd: str) -> None:
        self.index = index
        self.root = root
        self.cwd = cwd
        self.text = _storable(task.text[:TEXT])
        self.error = _storable(task.error if len(task.error) <= TEXT else f"{task.error[: TEXT // 2]}\n{task.error[-TEXT // 2 :]}")
        self.cases: dict[int, _Case] = {}
        self.patterns: dict[str, str] = {}
        self.said = ""  # the lines of an error that name it
        self.places: dict[str, set[int]] = {}  # files of the task, and its lines in them
        self.named: list[str] = []  # words of the text that name such a file
        self.traced: dict[str, set[int]] = {}  # files that its error came through
        for name in task.files[:200]:
            path, line = self._inside(*_split(name))
            if path:
                spots = self.places.setdefault(path, set())
                spots.update({line} if line else ())
                spots.update(task.lines.get(name) or task.lines.get(path) or ())

    def run(self, agents: "Sequence[str]", now: float, kinds: "Sequence[str]") -> "list[Match]":
        """Gather each signal's cases, look at their rows, keep those that hold."""
        self._mentioned()
        self._errors()
        self._anchored()
        self._beside()
        words = Words(self.index, self._without_paths(self.text), _PATH.sub(" ", self.said))
        rows = self._rows(sorted({*self.cases, *words.likely(120)}), agents, kinds)
        texts = words.judge(rows, set(self.patterns))
        top = max((evidence for evidence, alone, _ in texts.values() if alone), default=0.0)
        out = []
        for n, row in rows.items():
            case = self.cases.get(n) or _Case()
            self._placed(case, row)
            if row["pattern"] and "error" not in case.signals and self._shows(row):
                case.add("error", 0.9, f"the error is the same: {short(row['pattern'])}")
            evidence, alone, told = texts.get(n, (0.0, False, ""))
            if not self._holds(case, evidence, alone and evidence >= RELATIVE * top):
                continue
            if told and evidence >= FAINT:
                case.add("text", evidence / (evidence + 1.5), told)
            whole = next((r for r in self.index.get(row["id"]) if r["n"] == n), None)
            if whole is not None:
                out.append(_made(whole, case, now))
        return out

    def _holds(self, case: "_Case", evidence: float, alone: bool) -> bool:
        """Say whether a case is one: a place, an error or a test's file alone, else words, fewer of them beside a file."""
        sister = case.signals.pop("sister", None)
        if sister:
            case.add("beside", *sister)
        if sister or not {"anchor", "glob", "error"}.isdisjoint(case.signals) or ("beside" in case.signals and evidence >= HELPED):
            return True
        case.signals.pop("beside", None)
        return alone

    # -- files

    def _inside(self, name: str, line: int = 0) -> "tuple[str, int]":
        """Return a file's path from the top of the work tree; empty outside of it."""
        name = name.replace("\\", "/") if "\\" in name and "/" not in name else name
        if not self.root:
            name = _storable(name)
            return ("" if name.startswith("/") or ".." in name.split("/") else name.removeprefix("./")), line
        try:
            return _storable(inside(name, self.root, self.cwd) or inside(name, self.root, self.root)), line
        except (OSError, ValueError):  # no name that a file can have
            return "", 0

    def _without_paths(self, text: str) -> str:
        """Return a text without the names of files that were found: they have had their say."""
        for name in sorted(self.named, key=len, reverse=True):
            text = text.replace(name, " ")
        return text

    def _has(self, path: str) -> bool:
        return self.index.db.execute("SELECT 1 FROM places WHERE path = ? LIMIT 1", (path,)).fetchone() is not None

    def _mentioned(self) -> None:
        """Take in the files that the text names: whole, or by an end that only one anchored file has."""
        names: dict[str, tuple[str, int]] = {}
        for word in self.text.translate(_APART).split():
            word = word.strip(".:!?-@*")
            if "://" not in word and 2 < len(word) < 256 and ("/" in word.strip("/") or "." in word or "\\" in word):
                names[word] = _split(word)
        for name, line in list(names.values())[:NAMES]:
            if self._take(name, line, self.places):
                self.named.append(name)

    def _take(self, name: str, line: int, into: "dict[str, set[int]]") -> bool:
        """Take a file in by the name that somebody gave it; say whether it is one."""
        exact = [
            p for p in dict.fromkeys((self._inside(name)[0], name.replace("\\", "/").removeprefix("./"))) if p and not p.startswith("/")
        ]
        known = [p for p in exact if self._has(p)]
        if not known and not name.startswith("~"):
            known = self._ending(name.replace("\\", "/").removeprefix("./"))
        if not known and exact and "/" in exact[0] and "." in exact[0].rpartition("/")[2]:
            known = exact[:1]  # nothing is anchored there, but beside it
        for path in known:
            into.setdefault(path, set()).update({line} if line else ())
        return bool(known)

    def _ending(self, end: str) -> "list[str]":
        """Return the anchored path that ends so, when there is only one; the longest end that fits counts."""
        parts = [p for p in end.split("/") if p and p != ".."]
        for start in range(len(parts) if end.startswith("/") else min(1, len(parts))):
            tail = "/".join(parts[start:])
            if not WORD.search(tail):
                continue
            rows = hits_of(self.index, "anchors", quoted(tail), 64)
            if not rows or len(rows) > 64:
                continue
            sql = f"SELECT DISTINCT path FROM places WHERE n IN ({','.join('?' * len(rows))})"
            found = [p for (p,) in self.index.db.execute(sql, tuple(rows)) if p == tail or p.endswith("/" + tail)]
            if len(found) == 1:
                return found
            if found:
                return []
        return []

    def _anchored(self) -> None:
        """Find what is anchored at the files, at a folder above them, or by a pattern that they fit."""
        if not self.places and not self.traced:
            return
        db = self.index.db
        for path in list(self.places)[:200]:
            above = path.split("/")[:-1]
            spots = [path, *("/".join(above[: i + 1]) + end for i in range(len(above)) for end in ("", "/"))]
            for spot, n in db.execute(f"SELECT path, n FROM places WHERE path IN ({','.join('?' * len(spots))}) LIMIT 400", spots):
                self._case(n).add("anchor", 1.0 if spot == path else 0.8, f"anchored at {spot}")
        for path in list(self.traced)[:40]:
            for (n,) in db.execute("SELECT n FROM places WHERE path = ? LIMIT 100", (path,)):
                self._case(n).add("beside", 0.9, f"the error came through {path}, which it is about")
        globs: dict[str, list[int]] = {}
        for n, glob in self.index.globs() if self.places else ():
            globs.setdefault(glob, []).append(n)
        if globs:
            from gitmem.model.globs import glob_match

            for glob, numbers in list(globs.items())[:GLOBS]:
                path = next((p for p in self.places if glob_match(glob, p)), "")
                if path:
                    plain = sum(c.isalnum() for c in glob)  # a pattern that fits half the repository tells little
                    for n in numbers[:200]:
                        self._case(n).add("glob", 0.7 + 0.3 * min(1.0, plain / 24), f"{path} is one of {short(glob)}")

    def _placed(self, case: _Case, row: "Row") -> None:
        """Look at the lines of the anchors, where the task tells its own."""
        if "anchor" not in case.signals and not self.traced:
            return
        for anchor in row["anchors"]:
            path, span = (anchor.get("path"), anchor.get("lines")) if isinstance(anchor, dict) else (None, None)
            if not isinstance(path, str):
                continue
            first, last = span if isinstance(span, list) and len(span) == 2 and all(type(x) is int for x in span) else (0, 0)
            at = f"{path}:{first}" if first else path
            mine = self.places.get(path)
            if mine is not None and "anchor" in case.signals:
                gap = min((_gap(line, first, last) for line in mine), default=-1) if first else -1
                if 0 <= gap <= NEAR:
                    case.add("anchor", 1.2, f"anchored at {at}" + (f", {gap} lines off" if gap > 1 else ""))
                elif gap > FAR:
                    case.signals["anchor"] = (max(0.8, case.signals["anchor"][0] - 0.2), f"anchored at {at}, elsewhere in the file")
                elif case.signals["anchor"][0] <= 1.0:
                    case.signals["anchor"] = (1.0, f"anchored at {at}")
            lines = self.traced.get(path)
            if lines and first and min(_gap(line, first, last) for line in lines) <= 3:
                case.add("anchor", 0.6, f"the error came through {at}")

    def _beside(self) -> None:
        """Find what is about a file's test, the source of a test, or a file in the same folder."""
        db = self.index.db
        for path in list(self.places)[:40]:
            folder, _, name = path.rpartition("/")
            core = stem(name)
            if len(core) > 1:
                named = " OR ".join(
                    quoted(f"{a}{core}{b}") for a, b in (("", ""), ("", "test"), ("", "tests"), ("", "spec"), ("", "it"), ("test", ""))
                )
                rows = hits_of(self.index, "anchors", named, 64)
                if 0 < len(rows) <= 64:
                    sql = f"SELECT path, n FROM places WHERE n IN ({','.join('?' * len(rows))})"
                    for other, n in db.execute(sql, tuple(rows)).fetchall():
                        if other != path and _are_sisters(path, other, core):
                            self._case(n).add("sister", 1.0, f"{other} is what {path} tests" if _is_test(path) else f"{other} tests {path}")
            if folder:
                for other, n in db.execute(
                    "SELECT path, n FROM places WHERE path > ? AND path < ? LIMIT 200", (folder + "/", folder + "0")
                ):
                    if other != path and "/" not in other[len(folder) + 1 :]:
                        self._case(n).add("beside", 0.7, f"{path} is beside {other}, which it is about")

    # -- errors

    def _errors(self) -> None:
        """Find what waits for an error that the task shows or quotes."""
        texts, said = [], list[str]()
        if self.error.strip():
            texts.append(self.error)
            said += [line for line in self.error.splitlines() if any(sign in line.lower() for sign in SIGNS) and not FRAME.match(line)][:4]
        low = self.text.lower()
        if any(sign in low for sign in SIGNS):
            lines = [line for line in self.text.splitlines() if any(sign in line.lower() for sign in SIGNS)][:8]
            inline = [part for line in lines for part in re.split('[`“”"]', line)[1::2] if len(part) > 8][:8]
            after = [part for line in lines for part in (line.partition(": ")[2], *_RAISED.findall(line)) if part][:8]
            texts += [self.text, *self.text.split("```")[1::2][:4], *lines, *inline, *after]
        if not texts:
            return
        from gitmem.model.fingerprint import fingerprint, locate, normalise  # compiles many patterns

        for text in dict.fromkeys(texts):
            mark = fingerprint(text, self.root)
            if mark is None:
                continue
            self.patterns.setdefault(mark.pattern, text)
            if text is self.error:
                said.append(mark.title)
                for path, line in mark.locations[-12:]:
                    self._take(path, line, self.traced)
        if not self.error.strip() and "\n" in self.text:
            for path, line in locate(self.text)[-12:]:
                self._take(path, line, self.traced)
        for path, spots in self.traced.items():
            if path in self.places:
                self.places[path].update(spots)
        self.said = "\n".join(line[:400] for line in said)
        for told in dict.fromkeys([*self.patterns, *(normalise(line, self.root) for line in said)]):
            for part in re.split(r"<\w+>", told.partition(": ")[2] or told):
                if len(part) > 15 and part.count(" ") > 1:  # what waits for nearly this error is worth a look
                    for n in hits_of(self.index, "anchors", quoted(part), 8):
                        self._case(n)
        if self.patterns:
            for row in self.index.by_patterns(list(self.patterns), 40):
                pattern = next((p for p in self.patterns if p == row["pattern"]), row["pattern"])
                self._case(row["n"]).add("error", 1.0, f"the error is the same: {short(pattern)}")

    def _shows(self, row: "Row") -> bool:
        """Say whether the words of a row's error stand in a line of the task, all of them and in their order."""
        whole = str(row["pattern"])
        if len(whole) > 11 and ": " in whole and whole[-1] in "'\"`" and any(whole in pattern for pattern in self.patterns):
            return True  # a name at its end: nothing can follow that makes it another error
        pattern = re.sub(r"<\w+>", " ", whole).lower()
        for part in dict.fromkeys((pattern, pattern.partition(": ")[2])):  # people quote it without the name of its class
            wanted = WORD.findall(part)
            if len(wanted) < 4 or sum(map(len, wanted)) < 20:
                return False
            lines = [
                line for text in (self.error, self.text) for line in text.lower().splitlines() if wanted[0] in line and wanted[-1] in line
            ]
            if any(_in_order(wanted, WORD.findall(line[:2000])) for line in lines[:20]):
                return True
        return False

    # -- rows

    def _case(self, n: int) -> _Case:
        return self.cases.setdefault(n, _Case())

    def _rows(self, numbers: "Sequence[int]", agents: "Sequence[str]", kinds: "Sequence[str]") -> "dict[int, Row]":
        """Return the rows among these that may be shown, with what is needed to judge them."""
        import json

        names = ("n", "id", "title", "pattern", "anchors")
        out: dict[int, Row] = {}
        for start in range(0, len(numbers), 400):
            part = numbers[start : start + 400]
            marks = [",".join("?" * len(x)) for x in (part, kinds, agents)]
            sql = (
                f"SELECT {', '.join(names)} FROM records WHERE n IN ({marks[0]}) AND kind IN ({marks[1]}) AND agent IN ({marks[2]})"
                " AND status IN ('active', 'pinned') AND resolved = 0"
            )
            for values in self.index.db.execute(sql, (*part, *kinds, *agents)):
                row = dict(zip(names, values, strict=True))
                row["anchors"] = json.loads(row["anchors"]) if row["anchors"] else []
                out[row["n"]] = row
        return out


_EVERYWHERE = frozenset(
    "index main init __init__ mod lib app util utils helpers types common base models views config conftest setup api client server routes".split()
)


def _made(row: "Row", case: _Case, now: float) -> Match:
    """Return the match of a row: its strongest signal first, the others add a little."""
    values = sorted(((SCORE[kind] * strength, kind, reason) for kind, (strength, reason) in case.signals.items()), reverse=True)
    score = values[0][0] + sum(value * ALSO[kind] for value, kind, _ in values[1:])
    seen = str(row["last_seen"] or row["updated"] or row["created"] or "")
    try:
        age = max(0.0, now - seconds(seen))
    except ValueError:
        age = HALF_LIFE
    score *= SEVERITY.get(str(row["severity"]), 1.0) * (0.96 + 0.04 * 0.5 ** (age / HALF_LIFE))
    return Match(row, round(score, 3), [v[2] for v in values], values[0][1])


def _storable(text: str) -> str:
    """Return a text as the index has it: what is no UTF-8 is shown by its numbers."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _split(name: str) -> "tuple[str, int]":
    """Return the path and the line of `path:12`, `path:12:3`, `path#L12`, `path#Symbol`."""
    path, _, symbol = name.partition("#")
    drive = path[:2] if path[1:2] == ":" and path[:1].isalpha() else ""
    path, *rest = path[len(drive) :].split(":")
    digits = rest[0].partition("-")[0] if rest else symbol.removeprefix("L")
    return drive + path, int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 8 else 0


def stem(name: str) -> str:
    """Return what a file and its test share in their names."""
    base = name.split(".", 1)[0] if not name.startswith(".") else name
    rest = name[len(base) :]
    found = _AFFIX.match(base)
    base = found[1] if found else base
    camel = _CAMEL_TEST.match(base)
    return (camel[1] if camel and rest.count(".") >= 1 else base).lower()


def _are_sisters(path: str, other: str, core: str) -> bool:
    """Say whether of two files one tests the other, by their names; a name that many files have needs a folder of one name too."""
    if stem(other.rpartition("/")[2]) != core or _is_test(other) == _is_test(path):
        return False
    above = {part.lower() for part in path.split("/")[:-1]} & {part.lower() for part in other.split("/")[:-1]}
    return core not in _EVERYWHERE or bool(above - {"src", "lib", "app", "test", "tests"})


def _is_test(path: str) -> bool:
    folders, _, name = path.rpartition("/")
    return bool(
        re.search(r"(?i)(?:^|[._-])(?:tests?|specs?|e2e)(?:[._-]|$)", name)
        or re.match(r"Test[A-Z]|\w+(?:Tests?|Spec|IT)\.", name)
        or {"test", "tests", "spec", "specs", "__tests__"} & set(folders.lower().split("/"))
    )


def _in_order(wanted: "Sequence[str]", have: "Sequence[str]") -> bool:
    rest = iter(have)
    return all(word in rest for word in wanted)


def _gap(line: int, first: int, last: int) -> int:
    return 0 if first <= line <= last else min(abs(line - first), abs(line - last))
