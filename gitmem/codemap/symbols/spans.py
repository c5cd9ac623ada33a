"""The lines of a definition that somebody named."""

from gitmem.codemap.grammars import missing
from gitmem.codemap.symbols import definitions
from gitmem.errors import UserError

NAMED = 12  # definitions that an error names
CHOICES = 8


def symbol_span(text: str, path: str, symbol: str) -> tuple[int, int, str]:
    """Return (first line, last line, qualified name) of a symbol in a text.

    Raises UserError when it has none of that name, or several, and when nothing reads its language.
    """
    if reason := missing(path):
        raise UserError(f"'{symbol}' cannot be looked for in '{path}'.", reason)
    symbols = definitions.symbols(text, path)
    matches = definitions.find(symbols, symbol)
    if not matches:
        names = ", ".join(dict.fromkeys(row.qualified for row in symbols[:NAMED]))
        hint = (
            f"It defines: {names}"
            if names
            else "Definitions are known in C, C++, C#, Go, Java, JavaScript, PHP, Python, Ruby, "
            "Rust and TypeScript: name lines."
        )
        raise UserError(f"'{path}' defines no '{symbol}'.", hint)
    if len({row.qualified for row in matches}) > 1:
        raise UserError(
            f"'{symbol}' is defined more than once in '{path}'.",
            f"Say which: {', '.join(row.qualified for row in matches[:CHOICES])}",
        )
    return matches[0].first, matches[0].last, matches[0].qualified
