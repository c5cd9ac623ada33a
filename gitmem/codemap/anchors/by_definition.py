"""Where a definition is in a text, by its name.

The language's grammar tells it, else the way in which most languages define something.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.codemap.linemap.indexed_text import Text
from gitmem.errors import UserError

if TYPE_CHECKING:
    from gitmem.codemap.symbols.definitions import Symbol

_WORDS = (
    r"export|pub(?:\([^)]*\))?|public|private|protected|static|async|default|abstract|final"
    r"|override|virtual|inline|unsafe|const|declare"
)
_KINDS = (
    r"def|class|module|function\*?|fn|func(?:\s*\([^)]*\))?|struct|enum|union|trait|impl|interface"
    r"|type|const|let|var|mod|namespace|macro_rules!|\#define"
)


def in_definition(path: str, text: Text, name: str, whole: bool = True) -> tuple[int, int] | None:
    """Return the lines of a definition that is there once.

    `whole`: of this very name, not of one that ends so (`Cart.total` for `total`).
    """
    from gitmem.codemap.symbols import definitions

    symbols = [
        symbol for symbol in definitions.find(text.symbols(path), name) if symbol.kind != "impl"
    ]
    if whole:
        symbols = [
            symbol
            for symbol in symbols
            if definitions.parts(symbol.qualified) == definitions.parts(name)
        ]
    if len(symbols) == 1:
        return symbols[0].at, symbols[0].last
    if symbols or text.symbols(path):
        return None
    spots = _by_words(text.lines, name)
    return (spots[0], spots[0]) if len(spots) == 1 else None


def definition(
    lines: Sequence[str], path: str, name: str, symbols: "Sequence[Symbol]"
) -> tuple[int, int, str]:
    """Return (first line, last line, qualified name) of a definition.

    UserError when there is none or more than one.
    """
    from gitmem.codemap.symbols import definitions

    named = definitions.find(symbols, name)
    if len(named) > 1:
        named = [symbol for symbol in named if symbol.kind != "impl"] or named[:1]
    if len(named) == 1:
        return named[0].at, named[0].last, named[0].qualified
    if named:
        names = sorted({symbol.qualified for symbol in named})
        if len(names) > 1:
            raise UserError(
                f"{path} has more than one '{name}'.", f"Say which: {', '.join(names[:8])}"
            )
        spots = ", ".join(str(symbol.at) for symbol in named[:8])
        raise UserError(
            f"{path} defines '{name}' more than once, in lines {spots}.",
            f"Name the line instead: {path}:{named[0].at}",
        )
    places = _by_words(lines, name)
    if places:
        return places[0], places[0], name
    from gitmem.codemap.grammars import missing

    if reason := missing(path):
        raise UserError(
            f"'{name}' cannot be looked for in {path}.",
            f"Name a line instead: path:12. {reason}",
        )
    raise UserError(
        f"{path} has no '{name}'.", _near(name, [symbol.qualified for symbol in symbols])
    )


def _near(name: str, names: Sequence[str]) -> str:
    if not names:
        return "Name a line instead: path:12"
    from difflib import get_close_matches

    last = {qualified.rsplit(".", 1)[-1]: qualified for qualified in reversed(names)}
    near = [
        *get_close_matches(name, names, 5, 0.6),
        *(last[n] for n in get_close_matches(name.rsplit(".", 1)[-1], list(last), 5, 0.6)),
    ]
    near = list(dict.fromkeys(near))[:5]
    return (
        f"Did you mean {', '.join(near)}?"
        if near
        else f"It has {', '.join(dict.fromkeys(names[:8]))}{', ...' if len(names) > 8 else '.'}"
    )


def _by_words(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines that look like a definition of a name: for languages without a grammar."""
    last = re.escape(re.split(r"[.:#]+", name)[-1])
    test = re.compile(
        rf"^\s*(?:(?:{_WORDS})\s+)*(?:{_KINDS})[\s(]\s*(?:self\.)?[\w.:<>*&]*?\b{last}(?!\w)"
    )
    return [n for n, line in enumerate(lines, 1) if last in line and test.match(line[:500])]
