"""What of a program's text is prose: its comments, and what stands between quotes."""

from collections.abc import Sequence

from gitmem.codemap.grammars import cursor, language_of, query, tree_of

Span = tuple[int, int]  # the first character and the one after the last, from 0


class Prose:
    """The prose of one text, by line. The text is parsed when the first line is asked for."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        """Take the lines of a text, with or without their ends; `path` names the language."""
        self._path = path
        self._lines = lines
        self._spans: dict[int, list[Span]] | None = None

    def covers(self, number: int, start: int, end: int) -> bool:
        """Return whether the characters `start` to `end` of a line, from 1, are all prose.

        Quotes are code. Nothing is prose in a text that has no grammar or cannot be parsed.
        """
        if self._spans is None:
            self._spans = self._read()
        at = start
        for first, last in self._spans.get(number, ()):
            if first > at:
                return False
            at = max(at, last)
            if at >= end:
                return True
        return False

    def _read(self) -> dict[int, list[Span]]:
        language = language_of(self._path)
        queries = [query(language, part) for part in ("comments", "strings")] if language else []
        rows = [line.rstrip("\r\n").encode("utf-8", "replace") for line in self._lines]
        data = b"\n".join(rows)
        tree = tree_of(data, language) if queries else None
        spans: dict[int, list[Span]] = {}
        if tree is None:
            return spans
        for compiled in queries:
            if compiled is None:
                continue
            for nodes in cursor(compiled).captures(tree.root_node).values():
                for node in nodes:
                    _add(spans, rows, node.start_point, node.end_point)
        for found in spans.values():
            found.sort()
        return spans


def _add(
    spans: dict[int, list[Span]],
    rows: Sequence[bytes],
    start: tuple[int, int],
    end: tuple[int, int],
) -> None:
    """Add the part of a node in each of its lines; points are (line from 0, byte)."""
    for line in range(start[0], min(end[0], len(rows) - 1) + 1):
        first = start[1] if line == start[0] else 0
        last = end[1] if line == end[0] else len(rows[line])
        span = (_character(rows[line], first), _character(rows[line], last))
        spans.setdefault(line + 1, []).append(span)


def _character(row: bytes, byte: int) -> int:
    return len(row[:byte].decode("utf-8", "replace"))
