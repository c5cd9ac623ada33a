"""Markdown tables whose rows are points.

An example is `| Engine | SQLite | no server |` under `| What | Choice | Why |`. This module is
pure.
"""

import re

_CELL = re.compile(r"(?<!\\)\|")
_WHY = re.compile(
    r"(?i)^(?:why|reasons?|rationale|because|motiv[oe]s?|raz(?:ón|ones|ão|ões)|por ?qu[êeé]"
    r"|justifica(?:ción|tiva)|原因|理由|为什么)\W*$"
)
# columns that say something about a row and are not part of what it says; and cells by which a row
# does not count
_ASIDE = re.compile(
    r"(?i)^(?:#|no?\.?|nr\.?|id|date|when|owner|who|author|alternatives?\b.*|rejected.*|discarded.*"
    r"|options\b.*|fecha|data|responsable|responsável|alternativas?\b.*|"
    r"descartad[oa]s?.*|rejeitad[oa]s?.*|日期|负责人|编号|备选.*)\W*$"
)
_DROPPED = re.compile(
    r"(?i)^\W*(?:rejected|declined|superseded|deprecated|dropped|discarded|abandoned|won.?t ?fix"
    r"|cancell?ed|obsolete|rejeitad[oa]|rechazad[oa]|descartad[oa]|cancelad[oa]|substituíd[oa]|"
    r"sustituid[oa]|已?(?:取消|拒绝|废弃|否决))\b"
)
_STATE = re.compile(
    r"(?i)^(?:status|state|done|progress|estado|situação|hecho|feito|状态|进度)\W*$"
)
_ENDED = re.compile(
    r"(?i)^\W*(?:done|completed?|finished|shipped|merged|closed|yes|x|✅|✔|concluíd[oa]|feit[oa]"
    r"|pront[oa]|hech[oa]|terminad[oa]|completad[oa]|list[oa]|已?完成|是)\W*$|^[✅✔☑]\ufe0f?$"
)
_OPEN = re.compile(
    r"(?i)^\W*(?:open|todo|to do|pending|in progress|wip|doing|started|blocked|not (?:started|done)"
    r"|no|pendentes?|pendientes?|aberto|abierto|em andamento|en curso|en progreso|por hacer|a fazer"
    r"|待办|进行中|未完成|未开始)\W*$"
)
# tables of reference, of which no row is worth keeping by itself
_REFERENCE = re.compile(
    r"(?i)^(?:codes?|commands?|options?|flags?|fields?|keys?|arguments?|parameters?|methods?"
    r"|endpoints?|routes?|variables?|c[óo]digos?|comandos?|campos?|opç(?:ão|ões)|opci(?:ón|ones)|参数"
    r"|命令|字段|代码)\W*$"
)
CELLS, ROWS = 12, 200  # of a row; of a table


class MarkdownTable:
    """The table whose lines are read."""

    def __init__(self) -> None:
        self._head: list[str] = []
        self._rows = 0  # lines since its head; 0 before it is over

    def row(self, line: str, *, talk: bool = False) -> str:
        """Take a line.

        Return what a row says, as a point with its reason, or a box where it has a state; empty for
        what is none. What is shown in a `talk` is not a note of anybody's.
        """
        bare = line.strip()
        if talk or bare[:1] != "|" or bare.count("|") < 3:
            self._head, self._rows = [], 0
            return ""
        if "-" in bare and not bare.strip("|:- \t"):
            self._rows = int(bool(self._head))
            return ""
        cells = [
            cell.strip().replace("\\|", "|")
            for cell in _CELL.split(bare[1:].removesuffix("|"), CELLS)[:CELLS]
        ]
        if not self._rows:
            self._head = cells
            return ""
        self._rows += 1
        return "" if self._rows > ROWS or _REFERENCE.match(self._head[0]) else self._telling(cells)

    def _telling(self, cells: list[str]) -> str:
        if any(_DROPPED.match(cell) for cell in cells):
            return ""
        named = list(zip(self._head, cells, strict=False))
        state = next((cell for name, cell in named if _STATE.match(name)), "")
        telling = [
            cell
            for name, cell in named
            if not (_WHY.match(name) or _ASIDE.match(name) or _STATE.match(name))
            and re.search(r"\w", cell)
        ]
        if not telling:
            return ""
        said = (": ".join(telling[:2]) + "".join(f", {cell}" for cell in telling[2:])).rstrip(".")
        if _ENDED.match(state) or _OPEN.match(state):
            return f"- [{'x' if _ENDED.match(state) else ' '}] {said}"
        reason = next(
            (cell for name, cell in named if _WHY.match(name) and re.search(r"\w", cell)), ""
        )
        return f"- {said}." + (f" Reason: {reason}" if reason else "")
