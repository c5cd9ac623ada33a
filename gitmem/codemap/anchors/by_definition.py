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

    found = [one for one in definitions.find(text.symbols(path), name) if one.kind != "impl"]
    if whole:
        found = [
            one for one in found if definitions.parts(one.qualified) == definitions.parts(name)
        ]
    if len(found) == 1:
        return found[0].at, found[0].last
    if found or text.symbols(path):
        return None
    spots = _by_words(text.lines, name)
    return (spots[0], spots[0]) if len(spots) == 1 else None


def definition(
    lines: Sequence[str], path: str, name: str, known: "Sequence[Symbol]"
) -> tuple[int, int, str]:
    """Return (first line, last line, qualified name) of a definition.

    UserError when there is none or more than one.
    """
    from gitmem.codemap.symbols import definitions

    found = definitions.find(known, name)
    if len(found) > 1:
        found = [one for one in found if one.kind != "impl"] or found[:1]
    if len(found) == 1:
        return found[0].at, found[0].last, found[0].qualified
    if found:
        names = sorted({one.qualified for one in found})
        if len(names) > 1:
            raise UserError(
                f"{path} has more than one '{name}'.", f"Say which: {', '.join(names[:8])}"
            )
        spots = ", ".join(str(one.at) for one in found[:8])
        raise UserError(
            f"{path} defines '{name}' more than once, in lines {spots}.",
            f"Name the line instead: {path}:{found[0].at}",
        )
    places = _by_words(lines, name)
    if places:
        return places[0], places[0], name
    raise UserError(f"{path} has no '{name}'.", _near(name, [one.qualified for one in known]))


def _near(name: str, known: Sequence[str]) -> str:
    if not known:
        return "Name a line instead: path:12"
    from difflib import get_close_matches

    last = {one.rsplit(".", 1)[-1]: one for one in reversed(known)}
    near = [
        *get_close_matches(name, known, 5, 0.6),
        *(last[n] for n in get_close_matches(name.rsplit(".", 1)[-1], list(last), 5, 0.6)),
    ]
    near = list(dict.fromkeys(near))[:5]
    return (
        f"Did you mean {', '.join(near)}?"
        if near
        else f"It has {', '.join(dict.fromkeys(known[:8]))}{', ...' if len(known) > 8 else '.'}"
    )


def _by_words(lines: Sequence[str], name: str) -> list[int]:
    """Return the lines that look like a definition of a name: for languages without a grammar."""
    last = re.escape(re.split(r"[.:#]+", name)[-1])
    test = re.compile(
        rf"^\s*(?:(?:{_WORDS})\s+)*(?:{_KINDS})[\s(]\s*(?:self\.)?[\w.:<>*&]*?\b{last}(?!\w)"
    )
    return [n for n, line in enumerate(lines, 1) if last in line and test.match(line[:500])]
