"""Which error a task shows, and what waits for it.

Standard library only: the hot path imports this.
"""

import re

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
        self.error = error
        self.root = root
        self.patterns: dict[str, str] = {}  # what it may be, and the text that says so
        self.said = ""  # the lines of an error that name it

    def find(self, files: "FileEvidence", cases: "Cases") -> None:  # noqa: C901
        """Find what waits for an error that the task shows or quotes."""
        texts, said = [], list[str]()
        if self.error.strip():
            texts.append(self.error)
            said += [
                line
                for line in self.error.splitlines()
                if any(sign in line.lower() for sign in SIGNS) and not FRAME.match(line)
            ][:4]
        low = self.text.lower()
        if any(sign in low for sign in SIGNS):
            lines = [
                line
                for line in self.text.splitlines()
                if any(sign in line.lower() for sign in SIGNS)
            ][:8]
            inline = [
                part for line in lines for part in re.split('[`“”"]', line)[1::2] if len(part) > 8
            ][:8]
            after = [
                part
                for line in lines
                for part in (line.partition(": ")[2], *_RAISED.findall(line))
                if part
            ][:8]
            texts += [self.text, *self.text.split("```")[1::2][:4], *lines, *inline, *after]
        if not texts:
            return
        # compiles many patterns
        from gitmem.fingerprint.fingerprint import fingerprint, locate, normalise

        for text in dict.fromkeys(texts):
            mark = fingerprint(text, self.root)
            if mark is None:
                continue
            self.patterns.setdefault(mark.pattern, text)
            if text is self.error:
                said.append(mark.title)
                for path, line in mark.locations[-12:]:
                    files.take(path, line, files.traced)
        if not self.error.strip() and "\n" in self.text:
            for path, line in locate(self.text)[-12:]:
                files.take(path, line, files.traced)
        for path, spots in files.traced.items():
            if path in files.places:
                files.places[path].update(spots)
        self.said = "\n".join(line[:400] for line in said)
        for told in dict.fromkeys([*self.patterns, *(normalise(line, self.root) for line in said)]):
            for part in re.split(r"<\w+>", told.partition(": ")[2] or told):
                # what waits for nearly this error is worth a look
                if len(part) > 15 and part.count(" ") > 1:
                    for n in hits_of(self.index, "anchors", quoted(part), 8):
                        cases.look_at(n)
        if self.patterns:
            for row in self.index.by_patterns(list(self.patterns), 40):
                pattern = next((p for p in self.patterns if p == row["pattern"]), row["pattern"])
                cases[row["n"]].add("error", 1.0, f"the error is the same: {short(pattern)}")

    def shows(self, row: "Row") -> bool:
        """Return whether a line of the task has all words of a row's error, in their order."""
        whole = str(row["pattern"])
        if (
            len(whole) > 11
            and ": " in whole
            and whole[-1] in "'\"`"
            and any(whole in pattern for pattern in self.patterns)
        ):
            return True  # a name at its end: nothing can follow that makes it another error
        pattern = re.sub(r"<\w+>", " ", whole).lower()
        # people quote it without the name of its class
        for part in dict.fromkeys((pattern, pattern.partition(": ")[2])):
            wanted = WORD.findall(part)
            if len(wanted) < 4 or sum(map(len, wanted)) < 20:
                return False
            lines = [
                line
                for text in (self.error, self.text)
                for line in text.lower().splitlines()
                if wanted[0] in line and wanted[-1] in line
            ]
            if any(_in_order(wanted, WORD.findall(line[:2000])) for line in lines[:20]):
                return True
        return False


def _in_order(wanted: "Sequence[str]", have: "Sequence[str]") -> bool:
    rest = iter(have)
    return all(word in rest for word in wanted)
