"""Tables of Markdown, whose rows are points: `| Engine | SQLite | no server |` under `| What | Choice | Why |`. Pure."""

import re

_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_WHY = re.compile(
    r"(?i)^(?:why|reasons?|rationale|because|motiv[oe]s?|raz(?:ón|ones|ão|ões)|por ?qu[êeé]|justifica(?:ción|tiva)|原因|理由|为什么)\W*$"
)
# columns that say something about a row and are no part of what it says; and cells by which a row does not count
_ASIDE = re.compile(
    r"(?i)^(?:#|no?\.?|nr\.?|id|date|when|status|state|owner|who|author|alternatives?\b.*|rejected.*|discarded.*|options\b.*|fecha|data|estado|responsable|responsável|alternativas?\b.*|"
    r"descartad[oa]s?.*|rejeitad[oa]s?.*|日期|状态|负责人|编号|备选.*)\W*$"
)
_DROPPED = re.compile(
    r"(?i)^\W*(?:rejected|declined|superseded|deprecated|dropped|discarded|abandoned|won.?t ?fix|cancell?ed|obsolete|rejeitad[oa]|rechazad[oa]|descartad[oa]|cancelad[oa]|substituíd[oa]|"
    r"sustituid[oa]|已?(?:取消|拒绝|废弃|否决))\b"
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
        cells = [cell.strip().replace("\\|", "|") for cell in _CELL.split(bare.strip("|"))][:CELLS]
        if not self._rows:
            self._head = cells
            return ""
        why = next((n for n, name in enumerate(self._head) if _WHY.match(name)), -1)
        if any(_DROPPED.match(cell) for cell in cells):
            return ""
        aside = {why} | {n for n, name in enumerate(self._head) if _ASIDE.match(name)}
        told = [cell for n, cell in enumerate(cells) if n not in aside and re.search(r"\w", cell)]
        reason = cells[why] if 0 <= why < len(cells) and re.search(r"\w", cells[why]) else ""
        if not told:
            return ""
        said = ": ".join(told[:2]) + "".join(f", {cell}" for cell in told[2:])
        return f"- {said.rstrip('.')}." + (f" Reason: {reason}" if reason else "")
