"""Which error a task shows, and what waits for it.

Standard library only: the hot path imports this.
"""

import re

from gitmem.services.retrieval.task import storable
from gitmem.services.retrieval.terms import FRAME, WORD, hits_of, quoted, short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from gitmem.index.reader import Index
    from gitmem.services.retrieval.file_evidence import FileEvidence
    from gitmem.services.retrieval.task import Cases

    Row = dict[str, Any]

SIGNS = (
    "error",
    "exception",
    "traceback",
    "fatal",
    "panic",
    "failed",
    "cannot",
    "not found",
    "denied",
    "err!",
    "warning",
    "unable",
    "undefined",
    "erro:",
    "错误",
    "失败",
)
_RAISED = re.compile(
    r"(?<![\w.$])[\w.$]*?(?:Error|Exception|Fault|fatal|error|panic)(?:\[\w++\])?: .+"
)


class ErrorEvidence:
    """The error that one task shows or quotes, in one index."""

    def __init__(self, index: "Index", text: str, error: str, root: str) -> None:
        self.index = index
        self.text = text
        self.error = _bounded(error) if error.strip() else ""
        self.root = root
        self.patterns: dict[str, str] = {}  # what it may be, and the text that says so
        self.said = ""  # the lines of an error that name it, without those that the text has
        self._lines: list[str] = []  # of both, in small letters; filled when they are asked for

    def find(self, files: "FileEvidence", cases: "Cases") -> None:
        """Find what waits for an error that the task shows or quotes."""
        texts = self._texts()
        if not texts:
            return
        said = [*self._error_lines(), *self._titles(texts, files)]
        self._take_places(files)
        if self.error != self.text:  # what may be a task in words is no error for sure
            self.said = "\n".join(line[:400] for line in said if line not in self.text)
        self._look_alike(said, cases)
        if self.patterns:
            for row in self.index.by_patterns(list(self.patterns), 40):
                pattern = next((p for p in self.patterns if p == row["pattern"]), row["pattern"])
                cases[row["n"]].add("error", 1.0, f"the error is the same: {short(pattern)}")

    def _texts(self) -> "list[str]":
        """Return the texts that may be an error: the error, and what the task quotes of one."""
        texts = [self.error] if self.error else []
        if not _has_sign(self.text):
            return texts
        lines = [line for line in self.text.splitlines() if _has_sign(line)][:8]
        quotes = [part for line in lines for part in re.split('[`“”"]', line)[1::2]]
        ends = [
            part for line in lines for part in (line.partition(": ")[2], *_RAISED.findall(line))
        ]
        return [
            *texts,
            self.text,
            *self.text.split("```")[1::2][:4],
            *lines,
            *[part for part in quotes if len(part) > 8][:8],
            *list(filter(None, ends))[:8],
        ]

    def _error_lines(self) -> "list[str]":
        lines = self.error.splitlines()
        return [line for line in lines if _has_sign(line) and not FRAME.match(line)][:4]

    def _titles(self, texts: "list[str]", files: "FileEvidence") -> "list[str]":
        """Note the patterns of texts and the files that the error came through.

        Return what the error itself is called.
        """
        # compiles many patterns
        from gitmem.fingerprint.fingerprint import fingerprint

        titles = []
        for text in dict.fromkeys(texts):
            mark = fingerprint(text, self.root)
            if mark is None:
                continue
            self.patterns.setdefault(mark.pattern, text)
            if text is self.error:
                titles.append(mark.title)
                for path, line in mark.locations[-12:]:
                    files.take(path, line, files.traced)
        return titles

    def _take_places(self, files: "FileEvidence") -> None:
        """Take in the places that the text names, where it has no error beside it."""
        from gitmem.fingerprint.fingerprint import locate

        if not files.traced and "\n" in self.text:
            for path, line in locate(self.text)[-12:]:
                files.take(path, line, files.traced)
        for path, spots in files.traced.items():
            if path in files.places:
                files.places[path].update(spots)

    def _look_alike(self, said: "list[str]", cases: "Cases") -> None:
        """Look at what waits for nearly this error."""
        from gitmem.fingerprint.fingerprint import normalise

        lines = [*self.patterns, *(normalise(line, self.root) for line in said)]
        for line in dict.fromkeys(lines):
            for part in re.split(r"<\w+>", line.partition(": ")[2] or line):
                if len(part) > 15 and part.count(" ") > 1:
                    for n in hits_of(self.index, "anchors", quoted(part), 8):
                        cases.look_at(n)

    def shows(self, row: "Row") -> bool:
        """Return whether a line of the task has all words of a row's error, in their order."""
        whole = str(row["pattern"])
        is_closed = len(whole) > 11 and ": " in whole and whole[-1] in "'\"`"
        if is_closed and any(whole in pattern for pattern in self.patterns):
            return True  # a name at its end: nothing can follow that makes it another error
        pattern = re.sub(r"<\w+>", " ", whole).lower()
        # people quote it without the name of its class
        for part in dict.fromkeys((pattern, pattern.partition(": ")[2])):
            wanted = WORD.findall(part)
            if len(wanted) < 4 or sum(map(len, wanted)) < 20:
                return False
            if self._has_line(wanted):
                return True
        return False

    def _has_line(self, wanted: "list[str]") -> bool:
        """Return whether a line of what is at hand has these words in their order."""
        if not self._lines:
            said = f"{self.error}\n{self.text}" if self.error != self.text else self.text
            self._lines = said.lower().splitlines()
        lines = [line for line in self._lines if wanted[0] in line and wanted[-1] in line]
        return any(_in_order(wanted, WORD.findall(line[:2000])) for line in lines[:20])


def _bounded(error: str) -> str:
    """Return the two ends of an error, as a pattern is made of it."""
    from gitmem.fingerprint.fingerprint import bounded

    return storable(bounded(error))


def _has_sign(text: str) -> bool:
    low = text.lower()
    return any(sign in low for sign in SIGNS)


def _in_order(wanted: "Sequence[str]", have: "Sequence[str]") -> bool:
    rest = iter(have)
    return all(word in rest for word in wanted)
