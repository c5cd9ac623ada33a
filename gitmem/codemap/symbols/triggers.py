"""Where a gotcha's triggers fire in a text: a regular expression, or a tree-sitter query.

The patterns come from anybody's records, and an editor must not hang on one. Expressions run on
RE2, which is linear in the text. Queries have no such engine: a few wildcards keep tree-sitter busy
for minutes under any limit of its own, and it cannot be interrupted. So they run in a process of
their own (`querying`), which is ended when the time is up.
"""

import functools
import re
import time
from collections.abc import Sequence
from typing import Any

from gitmem.codemap import grammars
from gitmem.codemap.symbols.linear_regex import MAX_PATTERN, compiled
from gitmem.codemap.symbols.prose import Prose
from gitmem.errors import UserError

MOST = 50  # hits of one trigger in one text
MAX_LINE = 2_000  # characters of a line that are looked at
_ENDS = re.compile(r"\\[AzZ]|\(\?[A-Za-z]*-")
# folders of code that came from elsewhere
_INSTALLED = re.compile(
    r"(?:^|/)(?:node_modules|bower_components|site-packages|vendor|third_party)/"
)
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


class TriggerText:
    """A file's text in which the triggers of many gotchas are looked for."""

    def __init__(self, path: str, lines: Sequence[str]) -> None:
        """Take a path and the lines of its text, with or without their ends."""
        self.lines = [line.rstrip("\r\n") for line in lines]
        self.language = grammars.language_of(path)
        self.is_foreign = bool(_INSTALLED.search(path))
        self._prose = Prose(path, self.lines)

    def hits(
        self, trigger: dict[str, Any], most: int = MOST, seconds: float = SECONDS
    ) -> list[int]:
        """Return the lines, from 1, on which a trigger fires, in order and at most `most`.

        A trigger is a map with `code` (an expression), or `query` and `language`. It fires in
        files of its language alone, and never in code that came from elsewhere. Raises UserError
        for an expression or a query that is refused.
        """
        code, query, language = (trigger.get(key) for key in ("code", "query", "language"))
        named = grammars.language_named(language) if isinstance(language, str) else ""
        if self.is_foreign or (language and (not named or named != self.language)):
            return []
        lines: set[int] = set()
        if isinstance(code, str) and may_hit(code, self._whole):
            lines.update(self.code_hits(code, most))
        if isinstance(query, str) and named:
            lines.update(query_hits(query, named, "\n".join(self.lines), most, seconds))
        return sorted(lines)[:most]

    def code_hits(self, pattern: str, most: int = MOST) -> list[int]:
        """Return the lines, from 1, in whose code an expression is found.

        What lies wholly in a comment or between quotes is no code; a comment is for an expression
        that names the sign it begins with. Raises UserError for an expression that is refused.
        """
        expression = compiled(pattern)
        out: list[int] = []
        until = time.monotonic() + SECONDS
        for number, line in enumerate(self.lines, 1):
            shown = line[:MAX_LINE]
            if expression.search(shown) and self._is_code(number, shown, expression, pattern):
                out.append(number)
                if len(out) >= most:
                    break
            if not number % 256 and time.monotonic() > until:
                break
        return out

    def _is_code(self, number: int, line: str, expression: Any, pattern: str) -> bool:
        return any(
            not self._prose.covers(number, match.start(), match.end(), pattern)
            for match in expression.finditer(line)
        )

    @functools.cached_property
    def _whole(self) -> str:
        return "\n".join(line[:MAX_LINE] for line in self.lines)


def may_hit(pattern: str, text: str) -> bool:
    """Return whether an expression may be found in a line of a text.

    It is a hundred times faster than the search by lines where nothing is found.

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
    grammar = grammars.language_named(language)
    if not grammar:
        raise UserError(
            f"'{language}' is not a language that queries can be written for.",
            f"They are: {', '.join(sorted(grammars.GRAMMARS))}.",
        )
    if not query.strip() or len(query) > MAX_PATTERN:
        raise UserError(f"a query has 1 to {MAX_PATTERN} characters, not {len(query)}.")
    if (query, grammar) in _slow:
        return None
    from gitmem.codemap.symbols import query_worker

    answer = query_worker.ask(
        {"query": query, "language": grammar, "text": text, "most": most}, seconds
    )
    if answer is None:
        if seconds >= SECONDS:  # less is not a fair trial
            if len(_slow) > 1_000:
                _slow.clear()
            _slow.add((query, grammar))
        return None
    if "error" in answer:
        raise UserError(str(answer["error"]), str(answer.get("hint") or ""))
    return list(answer["lines"])
