"""What one file says of itself: its definitions, what it imports, which names it uses.

Pure; the same bytes give the same answer.

Names that a file uses are keys of `uses`, counted; `gitmem.codemap.tags.uses` tells how a key is
written.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from gitmem.codemap import grammars
from gitmem.codemap.symbols import definitions
from gitmem.codemap.tags import import_statements, routes, uses
from gitmem.codemap.tags.import_statements import Import

FORMAT = "7"  # of what is kept; another one makes everything be read again
_PYTHON_MAIN = re.compile(rb"^if __name__ == ['\"]__main__['\"]", re.MULTILINE)
_CPP = re.compile(
    rb"^[ \t]*+(?:namespace\s++\w|template\s*+<|class\s++\w++[^;\n]*+$|using\s++\w++\s*+=)",
    re.MULTILINE,
)
_MAIN = frozenset({"main", "Main"})
_ENVIRONMENT = re.compile(
    rb"""(?:environ(?:\.get|\.setdefault|\.pop)?[\[(]|[gG]et_?[eE]nv\w{0,30}\(|env::var(?:_os)?\("""
    rb"""|\benv!\(|\bENV(?:\.fetch)?[\[(]|\$_ENV\[|Lookup[Ee]nv\("""
    rb"""|\benv\()\s*['"]([A-Z][A-Z0-9_]{1,60})['"]"""
    rb"|process\.env\.([A-Z][A-Z0-9_]{1,60})|import\.meta\.env\.([A-Z][A-Z0-9_]{1,60})"
    rb"|process\.env\[['\"]([A-Z][A-Z0-9_]{1,60})['\"]"
)


class Tags(NamedTuple):
    """What a file says of itself; lines count from 1.

    `exported` are (name outside, name inside) where they differ; `declared` are names that C
    headers promise; `fallbacks` are definitions of C# that are compiled only where something is
    missing.
    """

    language: str
    package: str
    symbols: tuple[tuple[str, str, str, int, int, int, int, int], ...]  # as `definitions.Symbol`
    imports: tuple[Import, ...]
    uses: dict[str, int]
    declared: tuple[str, ...] = ()
    exported: tuple[tuple[str, str], ...] = ()
    main: bool = False
    environment: tuple[str, ...] = ()  # names of variables that are read
    routes: tuple[tuple[str, str, int], ...] = ()  # (verb or decorator, path, line)
    lines: int = 0
    fallbacks: tuple[str, ...] = ()


def read(data: bytes, language: str) -> Tags | None:
    """Return what a text says of itself; None when it cannot be parsed."""
    language = spoken(data, language)
    tree = grammars.tree_of(data, language)
    compiled = grammars.query(language, "uses")
    if tree is None or compiled is None:
        return None
    symbols = definitions.in_tree(tree, data, language)
    product = _without_tests(data, language)
    captures = grammars.cursor(compiled).captures(tree.root_node)
    imports, exported = import_statements.read(captures, language)
    package = next(
        (
            node.text.decode("utf-8", "replace").replace("\\", ".")
            for node in captures.get("package", ())
        ),
        "",
    )
    return Tags(
        language,
        package,
        tuple(
            (s.name, s.qualified, s.kind, s.first, s.last, s.column, s.end, s.at) for s in symbols
        ),
        imports,
        _uses(captures, data, _name_ends(symbols, data), language),
        tuple(
            sorted({node.text.decode("utf-8", "replace") for node in captures.get("declared", ())})
        ),
        exported,
        _has_main(data, language, symbols, tree),
        _environment(product, tree),
        routes.routes(product, tree, language, captures.get("decorator", ())),
        data.count(b"\n") + bool(data and not data.endswith(b"\n")),
        _fallbacks(captures, symbols),
    )


def spoken(data: bytes, language: str) -> str:
    """Return the language of a text: a header that is named as one of C may be of C++."""
    return "cpp" if language == "c" and _CPP.search(data) else language


def uses_at(data: bytes, tags: Tags) -> "list[tuple[str, int, int, bool]]":
    """Return each use of a name in the text that some tags were read from, in order.

    A use is (key as in `uses`, byte where it begins, byte where it ends, whether in an import).
    There are none when the text cannot be parsed.
    """
    language = tags.language
    tree = grammars.tree_of(data, language)
    compiled = grammars.query(language, "uses")
    if tree is None or compiled is None:
        return []
    captures = grammars.cursor(compiled).captures(tree.root_node)
    ends = _name_ends([definitions.Symbol(*symbol) for symbol in tags.symbols], data)
    imported = uses.inside_of(
        [(node.start_byte, node.end_byte) for node in captures.get("import", ())]
    )
    rows = set(uses.uses(captures, data, language, ends))
    return [
        (key.decode("utf-8", "replace"), start, end, imported(start))
        for key, start, end in sorted(rows, key=lambda row: (row[1], row[2]))
    ]


def _name_ends(symbols: "Sequence[definitions.Symbol]", data: bytes) -> frozenset[int]:
    """Return the bytes at which the names in definitions end."""
    rows = data.split(b"\n")
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    if data.isascii():
        return frozenset(starts[symbol.at - 1] + symbol.end for symbol in symbols)
    return frozenset(
        starts[symbol.at - 1]
        + len(
            rows[symbol.at - 1].decode("utf-8", "replace")[: symbol.end].encode("utf-8", "replace")
        )
        for symbol in symbols
    )


def _uses(
    captures: "dict[str, list[Any]]",
    data: bytes,
    ends: frozenset[int],
    language: str,
) -> dict[str, int]:
    spans = [(node.start_byte, node.end_byte) for node in captures.get("import", ())]
    imported = uses.inside_of(spans)
    counts = Counter(
        [key for key, start, _ in uses.uses(captures, data, language, ends) if not imported(start)]
    )
    own = uses.SELF_BY_LANGUAGE.get(language, uses.SELF)
    out: dict[str, int] = {}
    for name, number in sorted(counts.items()):
        text = name.decode("utf-8", "replace")
        head, dot, rest = text.partition(".")
        if dot and head in own:
            text = "." + rest.rpartition(".")[2]
        out[text] = out.get(text, 0) + number
    return out


def _fallbacks(
    captures: "dict[str, list[Any]]", symbols: "Sequence[definitions.Symbol]"
) -> tuple[str, ...]:
    """Return the definitions in what is compiled only where a condition does not hold."""
    spans: list[tuple[int, int]] = []
    for node in captures.get("fallback", ()):
        otherwise = node.child_by_field_name("alternative")
        last = otherwise.start_point[0] if otherwise is not None else node.end_point[0]
        spans.append((node.start_point[0] + 1, last + 1))
    if not spans:
        return ()
    return tuple(
        sorted(
            {
                symbol.qualified
                for symbol in symbols
                if any(first <= symbol.at <= last for first, last in spans)
            }
        )
    )


def _without_tests(data: bytes, language: str) -> bytes:
    """Return a text up to its tests: those of Rust are at the end of the file that they test."""
    at = data.find(b"\n#[cfg(test)]\nmod ") if language == "rust" else -1
    return data if at < 0 else data[: at + 1]


def _has_main(
    data: bytes, language: str, symbols: "tuple[definitions.Symbol, ...]", tree: Any
) -> bool:
    if language == "python":
        return _PYTHON_MAIN.search(data) is not None
    if language in {"javascript", "typescript", "tsx", "php", "ruby"}:
        return data.startswith(b"#!")
    mains = [
        symbol
        for symbol in symbols
        if symbol.name in _MAIN and symbol.kind in {"function", "method"}
    ]
    if language in {"c", "cpp"}:
        return any(not _is_conditional(tree, main.at, main.column) for main in mains)
    return bool(mains)


def _is_conditional(tree: Any, line: int, column: int) -> bool:
    """Say whether a place of a C text is compiled only if somebody asks for it by `#ifdef`.

    What stands in `#ifndef` or after `#else` is what is compiled without being asked for.
    """
    at = (line - 1, column)
    node = tree.root_node.descendant_for_point_range(at, at)
    while node is not None:
        if node.type in {"preproc_else", "preproc_elif"}:
            return False
        if node.type == "preproc_if" or (
            node.type == "preproc_ifdef" and node.child(0).type == "#ifdef"
        ):
            return True
        node = node.parent
    return False


def _environment(data: bytes, tree: Any) -> tuple[str, ...]:
    names = {
        next(group for group in match.groups() if group).decode()
        for line in _lines(data, b"env", b"ENV", b"Env")
        for match in _ENVIRONMENT.finditer(data, *line)
        if routes.is_code(tree, *match.span())
    }
    return tuple(sorted(names))


def _lines(data: bytes, *needles: bytes) -> set[tuple[int, int]]:
    """Return (begin, end) of the lines that contain one of some texts.

    Each includes the newline before it. An expression then has little to search.
    """
    positions: set[tuple[int, int]] = set()
    for needle in needles:
        at = data.find(needle)
        while at >= 0:
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            positions.add((max(0, data.rfind(b"\n", 0, at)), end))
            at = data.find(needle, end)
    return positions


__all__ = ["FORMAT", "Import", "Tags", "read", "uses_at"]
