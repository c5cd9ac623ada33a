"""What of a program's text is prose: its comments, and what stands between quotes."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitmem.codemap.grammars import cursor, language_of, query, tree_of

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGN = re.compile(r"//|/\*|\"\"\"|'''|\S")  # what a comment begins with


class ProseSpan(NamedTuple):
    """The characters `first` to `last` of a line, from 0; `sign` begins a comment, '' in a text."""

    first: int
    last: int
    sign: str


class Prose:
    """The prose of one text, by line. The text is parsed when the first line is asked for."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        """Take the lines of a text without their ends; `path` names the language."""
        self._path = path
        self._lines = lines
        self._spans: dict[int, list[ProseSpan]] | None = None

    def covers(self, number: int, start: int, end: int, expression: str = "") -> bool:
        """Return whether the characters `start` to `end` of a line, from 1, are all prose.

        Quotes are code, and so is a comment for an expression that names the sign it begins with.
        White space beside prose is prose. Nothing is prose in a text that has no grammar or cannot
        be parsed.
        """
        if self._spans is None:
            self._spans = self._read()
        line = self._lines[number - 1]
        names = expression.replace("\\", "")
        at = start
        for span in self._spans.get(number, ()):
            if line[at : min(end, max(at, span.first))].strip():
                return False
            if span.last > at and not (span.sign and span.sign in names):
                at = span.last
        return at > start and not line[at:end].strip()

    def _read(self) -> dict[int, list[ProseSpan]]:
        language = language_of(self._path)
        rows = [line.encode("utf-8", "replace") for line in self._lines]
        tree = tree_of(b"\n".join(rows), language) if language else None
        spans: dict[int, list[ProseSpan]] = {}
        for node, sign in _nodes(tree.root_node, language) if tree else ():
            _add(spans, rows, node, sign)
        return {line: sorted(some) for line, some in spans.items()}


def _nodes(root: "Node", language: str) -> "Iterator[tuple[Node, str]]":
    """Yield (node, sign of a comment or '') of what is prose below a node."""
    for part in ("comments", "strings"):
        compiled = query(language, part)
        captures = cursor(compiled).captures(root) if compiled else {}
        code = {node.id for node in captures.get("code", ())}
        for node in captures.get("comment", ()):
            yield node, _sign_of(node)
        for node in captures.get("string", ()):
            if node.id not in code:
                yield node, ""


def _sign_of(node: "Node") -> str:
    match = _SIGN.match((node.text or b"")[:9].decode("utf-8", "replace"))
    return match[0] if match else ""


def _add(spans: dict[int, list[ProseSpan]], rows: Sequence[bytes], node: "Node", sign: str) -> None:
    """Add the part of a node in each of its lines."""
    (top, left), (bottom, right) = node.start_point, node.end_point
    for line in range(top, min(bottom, len(rows) - 1) + 1):
        row = rows[line]
        first = _character(row, left) if line == top else 0
        last = _character(row, right if line == bottom else len(row))
        spans.setdefault(line + 1, []).append(ProseSpan(first, last, sign))


def _character(row: bytes, byte: int) -> int:
    return len(row[:byte].decode("utf-8", "replace"))
