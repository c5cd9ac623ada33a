"""Tables of Markdown, whose rows are points: `| Engine | SQLite | no server |` under `| What | Choice | Why |`. Pure."""

import re

_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_WHY = re.compile(
    r"(?i)^(?:why|reasons?|rationale|because|motiv[oe]s?|raz(?:ón|ones|ão|ões)|por ?qu[êeé]|justifica(?:ción|tiva)|原因|理由|为什么)\W*$"
)
CELLS = 12  # of a row


class Table:
    """The table whose lines are read."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._rows = False  # its head is over

    def row(self, line: str, *, talk: bool = False) -> str:
        """Take a line; return what a row says, as a point with its reason, empty for what is none. What is shown in a `talk` is no note of anybody's."""
        bare = line.strip()
        if talk or not bare.startswith("|") or bare.count("|") < 3:
            self._head, self._rows = [], False
            return ""
        if _RULE.match(bare):
            self._rows = bool(self._head)
            return ""
        cells = [cell.strip() for cell in _CELL.split(bare.strip("|"))][:CELLS]
        if not self._rows:
            self._head = cells
            return ""
        why = next((n for n, name in enumerate(self._head) if _WHY.match(name)), -1)
        told = [cell for n, cell in enumerate(cells) if n != why and re.search(r"\w", cell)]
        reason = cells[why] if 0 <= why < len(cells) and re.search(r"\w", cells[why]) else ""
        if not told:
            return ""
        said = ": ".join(told[:2]) + "".join(f", {cell}" for cell in told[2:])
        return f"- {said.rstrip('.')}." + (f" Reason: {reason}" if reason else "")
