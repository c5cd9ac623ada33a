"""Which files a task is about, and what is anchored at them or beside them.

Standard library only: the hot path imports this.
"""

from gitmem.repo.location import inside
from gitmem.services.retrieval.task import storable
from gitmem.services.retrieval.terms import WORD, hits_of, quoted, short
from gitmem.text.test_files import are_sisters, is_test, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.services.retrieval.task import Case, Cases, Task

    Row = dict[str, Any]

GLOBS = 2000  # patterns that the files are compared with
NAMES = 24  # paths in a text that are looked up
# lines between an anchor and where the task is: as good as on it; the same file, no more
NEAR, FAR = 10, 80

# how the test of a file may be called: (before its name, after it)
_TEST_NAMES = (("", ""), ("", "test"), ("", "tests"), ("", "spec"), ("", "it"), ("test", ""))
_APART = str.maketrans(dict.fromkeys("`'\"()[]{}<>,;|=", " "))


class FileEvidence:
    """The files of one task, in one index."""

    def __init__(self, index: "Index", task: "Task", root: str, cwd: str, cases: "Cases") -> None:
        self.index = index
        self.root = root
        self.cwd = cwd
        self.cases = cases
        self.places: dict[str, set[int]] = {}  # files of the task, and its lines in them
        self.named: list[str] = []  # words of the text that name such a file
        self.traced: dict[str, set[int]] = {}  # files that its error came through
        for name in task.files[:200]:
            path, line = self._inside(*_split(name))
            if path:
                spots = self.places.setdefault(path, set())
                spots.update({line} if line else ())
                spots.update(task.lines.get(name) or task.lines.get(path) or ())

    def _inside(self, name: str, line: int = 0) -> "tuple[str, int]":
        """Return a file's path from the top of the work tree; empty outside of it."""
        name = name.replace("\\", "/") if "\\" in name and "/" not in name else name
        if not self.root:
            name = storable(name)
            return (
                "" if name.startswith("/") or ".." in name.split("/") else name.removeprefix("./")
            ), line
        try:
            return storable(
                inside(name, self.root, self.cwd) or inside(name, self.root, self.root)
            ), line
        except (OSError, ValueError):  # no name that a file can have
            return "", 0

    def without_names(self, text: str) -> str:
        """Return a text without the names of files that were found: they have had their say."""
        for name in sorted(self.named, key=len, reverse=True):
            text = text.replace(name, " ")
        return text

    def _has(self, path: str) -> bool:
        return (
            self.index.db.execute("SELECT 1 FROM places WHERE path = ? LIMIT 1", (path,)).fetchone()
            is not None
        )

    def mentioned(self, said: str) -> None:
        """Add the files that the text names.

        A file is named by its whole path, or by an end that only one anchored file has.
        """
        names: dict[str, tuple[str, int]] = {}
        for word in said.translate(_APART).split():
            word = word.strip(".:!?-@*")
            if (
                "://" not in word
                and 2 < len(word) < 256
                and ("/" in word.strip("/") or "." in word or "\\" in word)
            ):
                names[word] = _split(word)
        for name, line in list(names.values())[:NAMES]:
            if self.take(name, line, self.places):
                self.named.append(name)

    def take(self, name: str, line: int, into: "dict[str, set[int]]") -> bool:
        """Take a file in by the name that somebody gave it; say whether it is one."""
        exact = [
            p
            for p in dict.fromkeys(
                (self._inside(name)[0], name.replace("\\", "/").removeprefix("./"))
            )
            if p and not p.startswith("/")
        ]
        present = [p for p in exact if self._has(p)]
        if not present and not name.startswith("~"):
            present = self._ending(name.replace("\\", "/").removeprefix("./"))
        if not present and exact and "/" in exact[0] and "." in exact[0].rpartition("/")[2]:
            present = exact[:1]  # nothing is anchored there, but beside it
        for path in present:
            into.setdefault(path, set()).update({line} if line else ())
        return bool(present)

    def _ending(self, end: str) -> "list[str]":
        """Return the anchored path that ends so, when there is only one.

        The longest end that fits counts.
        """
        parts = [p for p in end.split("/") if p and p != ".."]
        for start in range(len(parts) if end.startswith("/") else min(1, len(parts))):
            tail = "/".join(parts[start:])
            if not WORD.search(tail):
                continue
            endings = self._paths_ending(tail)
            if endings:
                return endings if len(endings) == 1 else []
        return []

    def _paths_ending(self, tail: str) -> "list[str]":
        """Return the paths of anchors that end so; none where too many records may."""
        rows = hits_of(self.index, "anchors", quoted(tail), 64)
        if not rows or len(rows) > 64:
            return []
        sql = f"SELECT DISTINCT path FROM places WHERE n IN ({','.join('?' * len(rows))})"
        return [
            path
            for (path,) in self.index.db.execute(sql, tuple(rows))
            if path == tail or path.endswith("/" + tail)
        ]

    def anchored(self) -> None:
        """Find what is anchored at the files, at a folder above them, or by a matching pattern."""
        for path in list(self.places)[:200]:
            self._anchored_at(path)
        db = self.index.db
        for path in list(self.traced)[:40]:
            for (n,) in db.execute("SELECT n FROM places WHERE path = ? LIMIT 100", (path,)):
                self.cases[n].add(
                    "beside", 0.9, f"the error came through {path}, which it is about"
                )
        if self.places:
            self._anchored_by_globs()

    def _anchored_at(self, path: str) -> None:
        above = path.split("/")[:-1]
        folders = ["/".join(above[: i + 1]) for i in range(len(above))]
        spots = [path, *(f"{folder}{end}" for folder in folders for end in ("", "/"))]
        for spot, n in self.index.db.execute(
            f"SELECT path, n FROM places WHERE path IN ({','.join('?' * len(spots))}) LIMIT 400",
            spots,
        ):
            self.cases[n].add("anchor", 1.0 if spot == path else 0.8, f"anchored at {spot}")

    def _anchored_by_globs(self) -> None:
        globs: dict[str, list[int]] = {}
        for n, glob in self.index.globs():
            globs.setdefault(glob, []).append(n)
        if not globs:
            return
        from gitmem.text.globs import glob_match

        for glob, numbers in list(globs.items())[:GLOBS]:
            path = next((p for p in self.places if glob_match(glob, p)), "")
            if not path:
                continue
            # a pattern that fits half the repository tells little
            strength = 0.7 + 0.3 * min(1.0, sum(c.isalnum() for c in glob) / 24)
            for n in numbers[:200]:
                self.cases[n].add("glob", strength, f"{path} is one of {short(glob)}")

    def placed(self, case: "Case", row: "Row") -> None:
        """Look at the lines of the anchors, where the task tells its own."""
        if "anchor" not in case.signals and not self.traced:
            return
        for anchor in row["anchors"]:
            path, first, last = _anchor_place(anchor)
            if path:
                self._weigh_place(case, path, first, last)

    def _weigh_place(self, case: "Case", path: str, first: int, last: int) -> None:
        at = f"{path}:{first}" if first else path
        if path in self.places and "anchor" in case.signals:
            _weigh_anchor(case, at, _nearest(self.places[path], first, last) if first else -1)
        lines = self.traced.get(path)
        if lines and first and _nearest(lines, first, last) <= 3:
            case.add("anchor", 0.6, f"the error came through {at}")

    def beside(self) -> None:
        """Find what is about a file's test, the source of a test, or a file in the same folder."""
        for path in list(self.places)[:40]:
            folder, _, name = path.rpartition("/")
            core = stem(name)
            if len(core) > 1:
                self._sisters(path, core)
            if folder:
                self._neighbours(path, folder)

    def _sisters(self, path: str, core: str) -> None:
        expression = " OR ".join(quoted(f"{before}{core}{after}") for before, after in _TEST_NAMES)
        rows = hits_of(self.index, "anchors", expression, 64)
        if not 0 < len(rows) <= 64:
            return
        sql = f"SELECT path, n FROM places WHERE n IN ({','.join('?' * len(rows))})"
        for other, n in self.index.db.execute(sql, tuple(rows)).fetchall():
            if other != path and are_sisters(path, other, core):
                reason = (
                    f"{other} is what {path} tests" if is_test(path) else f"{other} tests {path}"
                )
                self.cases[n].add("sister", 1.0, reason)

    def _neighbours(self, path: str, folder: str) -> None:
        for other, n in self.index.db.execute(
            "SELECT path, n FROM places WHERE path > ? AND path < ? LIMIT 200",
            (folder + "/", folder + "0"),
        ):
            if other != path and "/" not in other[len(folder) + 1 :]:
                self.cases[n].add("beside", 0.7, f"{path} is beside {other}, which it is about")


def _anchor_place(anchor: object) -> "tuple[str, int, int]":
    """Return (path, first, last) of an anchor, the path empty and lines 0 where it has none."""
    path = anchor.get("path") if isinstance(anchor, dict) else None
    if not isinstance(anchor, dict) or not isinstance(path, str):
        return "", 0, 0
    span = anchor.get("lines")
    if isinstance(span, list) and len(span) == 2 and all(type(line) is int for line in span):
        return path, span[0], span[1]
    return path, 0, 0


def _weigh_anchor(case: "Case", at: str, gap: int) -> None:
    """Weigh an anchor by how far it is from the task's lines; -1: nobody says where these are."""
    if 0 <= gap <= NEAR:
        case.add("anchor", 1.2, f"anchored at {at}" + (f", {gap} lines off" if gap > 1 else ""))
    elif gap > FAR:
        strength = max(0.8, case.signals["anchor"][0] - 0.2)
        case.signals["anchor"] = (strength, f"anchored at {at}, elsewhere in the file")
    elif case.signals["anchor"][0] <= 1.0:
        case.signals["anchor"] = (1.0, f"anchored at {at}")


def _split(name: str) -> "tuple[str, int]":
    """Return the path and the line of `path:12`, `path:12:3`, `path#L12`, `path#Symbol`."""
    path, _, symbol = name.partition("#")
    drive = path[:2] if path[1:2] == ":" and path[:1].isalpha() else ""
    path, *rest = path[len(drive) :].split(":")
    digits = rest[0].partition("-")[0] if rest else symbol.removeprefix("L")
    return drive + path, int(digits) if digits.isascii() and digits.isdigit() and len(
        digits
    ) < 8 else 0


def _nearest(lines: "set[int]", first: int, last: int) -> int:
    """Return how far the nearest of some lines is from a span; -1 without lines."""
    return min((_gap(line, first, last) for line in lines), default=-1)


def _gap(line: int, first: int, last: int) -> int:
    return 0 if first <= line <= last else min(abs(line - first), abs(line - last))
