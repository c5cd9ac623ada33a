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
        known = [p for p in exact if self._has(p)]
        if not known and not name.startswith("~"):
            known = self._ending(name.replace("\\", "/").removeprefix("./"))
        if not known and exact and "/" in exact[0] and "." in exact[0].rpartition("/")[2]:
            known = exact[:1]  # nothing is anchored there, but beside it
        for path in known:
            into.setdefault(path, set()).update({line} if line else ())
        return bool(known)

    def _ending(self, end: str) -> "list[str]":
        """Return the anchored path that ends so, when there is only one.

        The longest end that fits counts.
        """
        parts = [p for p in end.split("/") if p and p != ".."]
        for start in range(len(parts) if end.startswith("/") else min(1, len(parts))):
            tail = "/".join(parts[start:])
            if not WORD.search(tail):
                continue
            rows = hits_of(self.index, "anchors", quoted(tail), 64)
            if not rows or len(rows) > 64:
                continue
            sql = f"SELECT DISTINCT path FROM places WHERE n IN ({','.join('?' * len(rows))})"
            found = [
                p
                for (p,) in self.index.db.execute(sql, tuple(rows))
                if p == tail or p.endswith("/" + tail)
            ]
            if len(found) == 1:
                return found
            if found:
                return []
        return []

    def anchored(self) -> None:  # noqa: C901
        """Find what is anchored at the files, at a folder above them, or by a matching pattern."""
        if not self.places and not self.traced:
            return
        db = self.index.db
        for path in list(self.places)[:200]:
            above = path.split("/")[:-1]
            spots = [
                path,
                *("/".join(above[: i + 1]) + end for i in range(len(above)) for end in ("", "/")),
            ]
            for spot, n in db.execute(
                f"SELECT path, n FROM places WHERE path IN ({','.join('?' * len(spots))}) "
                f"LIMIT 400",
                spots,
            ):
                self.cases[n].add("anchor", 1.0 if spot == path else 0.8, f"anchored at {spot}")
        for path in list(self.traced)[:40]:
            for (n,) in db.execute("SELECT n FROM places WHERE path = ? LIMIT 100", (path,)):
                self.cases[n].add(
                    "beside", 0.9, f"the error came through {path}, which it is about"
                )
        globs: dict[str, list[int]] = {}
        for n, glob in self.index.globs() if self.places else ():
            globs.setdefault(glob, []).append(n)
        if globs:
            from gitmem.text.globs import glob_match

            for glob, numbers in list(globs.items())[:GLOBS]:
                path = next((p for p in self.places if glob_match(glob, p)), "")
                if path:
                    # a pattern that fits half the repository tells little
                    plain = sum(c.isalnum() for c in glob)
                    for n in numbers[:200]:
                        self.cases[n].add(
                            "glob",
                            0.7 + 0.3 * min(1.0, plain / 24),
                            f"{path} is one of {short(glob)}",
                        )

    def placed(self, case: "Case", row: "Row") -> None:
        """Look at the lines of the anchors, where the task tells its own."""
        if "anchor" not in case.signals and not self.traced:
            return
        for anchor in row["anchors"]:
            path, span = (
                (anchor.get("path"), anchor.get("lines"))
                if isinstance(anchor, dict)
                else (None, None)
            )
            if not isinstance(path, str):
                continue
            first, last = (
                span
                if isinstance(span, list) and len(span) == 2 and all(type(x) is int for x in span)
                else (0, 0)
            )
            at = f"{path}:{first}" if first else path
            mine = self.places.get(path)
            if mine is not None and "anchor" in case.signals:
                gap = min((_gap(line, first, last) for line in mine), default=-1) if first else -1
                if 0 <= gap <= NEAR:
                    case.add(
                        "anchor",
                        1.2,
                        f"anchored at {at}" + (f", {gap} lines off" if gap > 1 else ""),
                    )
                elif gap > FAR:
                    case.signals["anchor"] = (
                        max(0.8, case.signals["anchor"][0] - 0.2),
                        f"anchored at {at}, elsewhere in the file",
                    )
                elif case.signals["anchor"][0] <= 1.0:
                    case.signals["anchor"] = (1.0, f"anchored at {at}")
            lines = self.traced.get(path)
            if lines and first and min(_gap(line, first, last) for line in lines) <= 3:
                case.add("anchor", 0.6, f"the error came through {at}")

    def beside(self) -> None:
        """Find what is about a file's test, the source of a test, or a file in the same folder."""
        db = self.index.db
        for path in list(self.places)[:40]:
            folder, _, name = path.rpartition("/")
            core = stem(name)
            if len(core) > 1:
                named = " OR ".join(
                    quoted(f"{a}{core}{b}")
                    for a, b in (
                        ("", ""),
                        ("", "test"),
                        ("", "tests"),
                        ("", "spec"),
                        ("", "it"),
                        ("test", ""),
                    )
                )
                rows = hits_of(self.index, "anchors", named, 64)
                if 0 < len(rows) <= 64:
                    sql = f"SELECT path, n FROM places WHERE n IN ({','.join('?' * len(rows))})"
                    for other, n in db.execute(sql, tuple(rows)).fetchall():
                        if other != path and are_sisters(path, other, core):
                            self.cases[n].add(
                                "sister",
                                1.0,
                                f"{other} is what {path} tests"
                                if is_test(path)
                                else f"{other} tests {path}",
                            )
            if folder:
                for other, n in db.execute(
                    "SELECT path, n FROM places WHERE path > ? AND path < ? LIMIT 200",
                    (folder + "/", folder + "0"),
                ):
                    if other != path and "/" not in other[len(folder) + 1 :]:
                        self.cases[n].add(
                            "beside", 0.7, f"{path} is beside {other}, which it is about"
                        )


def _split(name: str) -> "tuple[str, int]":
    """Return the path and the line of `path:12`, `path:12:3`, `path#L12`, `path#Symbol`."""
    path, _, symbol = name.partition("#")
    drive = path[:2] if path[1:2] == ":" and path[:1].isalpha() else ""
    path, *rest = path[len(drive) :].split(":")
    digits = rest[0].partition("-")[0] if rest else symbol.removeprefix("L")
    return drive + path, int(digits) if digits.isascii() and digits.isdigit() and len(
        digits
    ) < 8 else 0


def _gap(line: int, first: int, last: int) -> int:
    return 0 if first <= line <= last else min(abs(line - first), abs(line - last))
