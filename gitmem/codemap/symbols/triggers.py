"""Where a gotcha's triggers fire in a text: a regular expression, or a tree-sitter query.

The patterns come from anybody's records, and an editor must not hang on one. Expressions run on
RE2, which is linear in the text. Queries have no such engine: a few wildcards keep tree-sitter busy
for minutes under any limit of its own, and it cannot be interrupted. So they run in a process of
their own (`querying`), which is ended when the time is up.
"""

import re
import time
from collections.abc import Sequence

from gitmem.codemap import grammars
from gitmem.codemap.symbols.linear_regex import MAX_PATTERN, compiled
from gitmem.errors import UserError

MOST = 50  # hits of one trigger in one text
MAX_LINE = 2_000  # characters of a line that are looked at
_ENDS = re.compile(r"\\[AzZ]|\(\?[A-Za-z]*-")
SECONDS = 0.5  # that a query may take on one text, and all lines for an expression


def check_code(pattern: str) -> None:
    """Raise UserError unless a `code` trigger is an expression searchable in linear time."""
    compiled(pattern)


def check_query(query: str, language: str) -> None:
    """Raise UserError if a `query` trigger is not a query of its language, or is too slow.

    It is too slow if it takes too long on one line of the language.
    """
    if _ask(query, language, "a = b(c)\n", 10 * SECONDS, 1) is None:
        raise UserError(
            "the query takes too long even on one line.",
            "Name the nodes that are meant instead of (_), and repeat none with * or +.",
        )


def code_hits(pattern: str, lines: Sequence[str], path: str = "", most: int = MOST) -> list[int]:  # noqa: ARG001 - an expression fits any language
    """Return the lines, from 1, in which an expression is found.

    Raises UserError for one that is refused.
    """
    search = compiled(pattern).search
    out: list[int] = []
    until = time.monotonic() + SECONDS
    for number, line in enumerate(lines, 1):
        if search(line.rstrip("\r\n")[:MAX_LINE]):
            out.append(number)
            if len(out) >= most:
                break
        if not number % 256 and time.monotonic() > until:
            break
    return out


def one_text(lines: Sequence[str]) -> str:
    """Return lines as the one text that `may_hit` looks into."""
    return "\n".join(line.rstrip("\r\n")[:MAX_LINE] for line in lines)


def may_hit(pattern: str, text: str) -> bool:
    """Return whether `code_hits` may find something in the lines of `one_text`.

    It is a hundred times faster where it finds nothing.

    What is found in a line is found in the text of all lines too, unless the expression speaks of
    the text's ends or turns flags off.
    """
    if _ENDS.search(pattern):
        return True
    try:
        return bool(compiled(f"(?m){pattern}").search(text))
    except UserError:
        return True


def query_hits(
    query: str, language: str, text: str, most: int = MOST, seconds: float = SECONDS
) -> list[int]:
    """Return the lines, from 1, on which a query's matches begin, in order.

    Raises UserError for one that is refused.

    The text must be of that language. A text that cannot be parsed, or a query that does not end in
    time, has none; such a query is not run again.
    """
    if len(text) > grammars.MAX_BYTES or "\0" in text[:8000]:
        return []
    return _ask(query, language, text, seconds, most) or []


_slow: set[tuple[str, str]] = set()


def _ask(query: str, language: str, text: str, seconds: float, most: int) -> list[int] | None:
    known = grammars.language_named(language)
    if not known:
        raise UserError(
            f"'{language}' is not a language that queries can be written for.",
            f"They are: {', '.join(sorted(grammars.GRAMMARS))}.",
        )
    if not query.strip() or len(query) > MAX_PATTERN:
        raise UserError(f"a query has 1 to {MAX_PATTERN} characters, not {len(query)}.")
    if (query, known) in _slow:
        return None
    from gitmem.codemap.symbols import query_worker

    answer = query_worker.ask(
        {"query": query, "language": known, "text": text, "most": most}, seconds
    )
    if answer is None:
        if seconds >= SECONDS:  # less is not a fair trial
            if len(_slow) > 1_000:
                _slow.clear()
            _slow.add((query, known))
        return None
    if "error" in answer:
        raise UserError(str(answer["error"]), str(answer.get("hint") or ""))
    return list(answer["lines"])
