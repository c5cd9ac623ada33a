"""What one file says of itself: its definitions, what it imports, which names it uses.

Pure; the same bytes give the same answer.

Names that a file uses are keys of `uses`, counted: `total` for a name on its own, `cart.total` for
a chain of names (whatever its language writes between them), `.total` for a member of something
that has no name, as in `f().total`.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gitmem.codemap import grammars
from gitmem.codemap.symbols import definitions
from gitmem.codemap.tags import import_statements
from gitmem.codemap.tags.import_statements import Import

FORMAT = "4"  # of what is kept; another one makes everything be read again
LONGEST_CHAIN = 120  # bytes
SELF = frozenset({"self", "cls", "this", "super", "Self"})
RUST_SELF = frozenset({"Self"})  # its `self` and `super` are modules

_CHAIN = re.compile(rb"\\?[^\W\d]\w*(?:(?:\.|::|\\|\?\.)[^\W\d]\w*)*")
_JOINT = re.compile(rb"::|\\|\?\.")
_LAST = re.compile(rb"(?<!\w)\w++$")
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
_ROUTE = re.compile(
    rb"""(?:^|[\s;(])[@#]?\[?(?:\w+\.)?(route|get|post|put|patch|delete|GetMapping|PostMapping"""
    rb"""|PutMapping|DeleteMapping|RequestMapping|HttpGet|HttpPost|HandleFunc|GET|POST|PUT|DELETE"""
    rb"""|re_path|path)\(\s*r?['"]([/^][^'"\s]{0,80})['"]""",
)


class Tags(NamedTuple):
    """What a file says of itself; lines count from 1.

    `exported` are (name outside, name inside) where they differ; `declared` are names that C
    headers promise.
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


def read(data: bytes, language: str) -> Tags | None:
    """Return what a text says of itself; None when it cannot be parsed."""
    language = spoken(data, language)
    tree = grammars.tree_of(data, language)
    compiled = grammars.query(language, "uses")
    if tree is None or compiled is None:
        return None
    found = definitions.in_tree(tree, data, language)
    captures = grammars.cursor(compiled).captures(tree.root_node)
    imports, exported = import_statements.read(captures, language)
    spans = [(node.start_byte, node.end_byte) for node in captures.get("import", ())]
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
        tuple((s.name, s.qualified, s.kind, s.first, s.last, s.column, s.end, s.at) for s in found),
        imports,
        _uses(captures, data, spans, [s.name for s in found], language),
        tuple(
            sorted({node.text.decode("utf-8", "replace") for node in captures.get("declared", ())})
        ),
        exported,
        _has_main(data, language, found),
        _environment(data, tree),
        _routes(data, tree, captures.get("decorator", ()) if language == "python" else None)
        if language not in {"c", "cpp"}
        else (),
        data.count(b"\n") + bool(data and not data.endswith(b"\n")),
    )


def spoken(data: bytes, language: str) -> str:
    """Return the language of a text: a header that is named as one of C may be of C++."""
    return "cpp" if language == "c" and _CPP.search(data) else language


def uses_at(data: bytes, language: str) -> "list[tuple[str, int, int, bool]]":
    """Return each use of a name in a text, in order.

    A use is (name as in `uses`, byte where it begins, byte where it ends, whether in an import).
    There are none when the text cannot be parsed.
    """
    language = spoken(data, language)
    tree = grammars.tree_of(data, language)
    compiled = grammars.query(language, "uses")
    if tree is None or compiled is None:
        return []
    captures = grammars.cursor(compiled).captures(tree.root_node)
    plain, chains, members = _sorted_out(captures, data)
    rows = [*plain, *((name, start, end) for start, (name, end) in chains.items()), *members]
    imported = _inside([(node.start_byte, node.end_byte) for node in captures.get("import", ())])
    return [
        (name.decode("utf-8", "replace"), start, end, imported(start))
        for name, start, end in sorted(set(rows), key=lambda row: (row[1], row[2]))
    ]


def _inside(spans: "list[tuple[int, int]]") -> "Callable[[int], bool]":
    """Return what says whether a byte is in one of some spans, which may be inside one another."""
    spans = sorted(spans)
    firsts = [start for start, _ in spans]
    lasts: list[int] = []
    for _, end in spans:
        lasts.append(max(end, lasts[-1]) if lasts else end)

    def inside(at: int) -> bool:
        if not lasts or at >= lasts[-1]:  # nearly always: imports come first
            return False
        number = bisect_right(firsts, at)
        return number > 0 and lasts[number - 1] > at

    return inside


Use = tuple[bytes, int, int]


def _sorted_out(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[list[Use], dict[int, tuple[bytes, int]], list[Use]]":
    """Return single names, chains by where they begin, and members of what has no name.

    Of the chains that begin at one place, the longest is returned.
    """
    chains, others, ends = _chains(captures, data)
    plain = [
        (data[start:end], start, end)
        for node in captures.get("name", ())
        if (end := node.end_byte) not in ends
        and (start := node.start_byte) not in chains
        and start < end  # what a parser missed has no bytes
    ]
    return plain, chains, others


def _chains(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[dict[int, tuple[bytes, int]], list[Use], set[int]]":
    """Return chains, members, and where the last names of all chains end."""
    ends: set[int] = set()
    chains: dict[int, tuple[bytes, int]] = {}
    others: list[Use] = []
    for node in captures.get("chain", ()):
        start, end = node.start_byte, node.end_byte
        ends.add(end)
        text = data[start:end]
        if end - start <= LONGEST_CHAIN and _CHAIN.fullmatch(text):
            if start not in chains or chains[start][1] < end:
                chains[start] = _JOINT.sub(b".", text).lstrip(b"."), end
        elif last := _LAST.search(text[-LONGEST_CHAIN:]):
            others.append((b"." + last[0], end - len(last[0]), end))
    return chains, others, ends


def _uses(
    captures: "dict[str, list[Any]]",
    data: bytes,
    spans: "list[tuple[int, int]]",
    defined: "list[str]",
    language: str,
) -> dict[str, int]:
    chains, members, ends = _chains(captures, data)
    imported = _inside(spans)
    edge = max((end for _, end in spans), default=0)  # imports come first: most names are beyond
    counts = Counter(
        [
            data[start:end]
            for node in captures.get("name", ())
            if (end := node.end_byte) not in ends
            and (start := node.start_byte) not in chains
            and start < end
            and (start >= edge or not imported(start))
        ]
    )
    counts.update(
        [name for start, (name, _) in chains.items() if start >= edge or not imported(start)]
    )
    counts.update([name for name, start, _ in members if start >= edge or not imported(start)])
    out: dict[str, int] = {}
    for name, number in sorted(counts.items()):
        text = name.decode("utf-8", "replace")
        head, dot, rest = text.partition(".")
        if dot and head in (RUST_SELF if language == "rust" else SELF):
            text = "." + rest.rpartition(".")[2]
        out[text] = out.get(text, 0) + number
    for one in defined:  # the name in a definition is no use
        if out.get(one, 0) > 1:
            out[one] -= 1
        else:
            out.pop(one, None)
    return out


def _has_main(data: bytes, language: str, found: "tuple[definitions.Symbol, ...]") -> bool:
    if language == "python":
        return _PYTHON_MAIN.search(data) is not None
    if language in {"javascript", "typescript", "tsx", "php", "ruby"}:
        return data.startswith(b"#!")
    return any(one.name in _MAIN and one.kind in {"function", "method"} for one in found)


def _environment(data: bytes, tree: Any) -> tuple[str, ...]:
    found = {
        next(group for group in match.groups() if group).decode()
        for line in _lines(data, b"env", b"ENV", b"Env")
        for match in _ENVIRONMENT.finditer(data, *line)
        if _is_code(tree, *match.span())
    }
    return tuple(sorted(found))


def _routes(
    data: bytes, tree: Any, decorators: "Sequence[Any] | None"
) -> "tuple[tuple[str, str, int], ...]":
    """Return the routes that a file serves.

    With `decorators`, those that are in them, or in a list of Django: documentation has others.
    """
    lines = _lines(data, b'("/', b"('/", b'("^', b"('^", b'(r"^', b"(r'^")
    if decorators is not None and b"urlpatterns" not in data:
        lines = (
            {(max(0, node.start_byte - 1), node.end_byte) for node in decorators}
            if lines
            else set()
        )
    rows = [
        (
            match[1].decode(),
            match[2].decode("utf-8", "replace"),
            data.count(b"\n", 0, match.start(1)) + 1,
        )
        for line in sorted(lines)
        for match in _ROUTE.finditer(data, *line)
        if _is_code(tree, match.start(1), match.end(2))
    ]
    return tuple(rows[:50])


def _is_code(tree: Any, start: int, end: int) -> bool:
    """Say whether some bytes are code: not an example in a comment or in a text."""
    node = tree.root_node.descendant_for_byte_range(start, end)
    return node is None or not ("comment" in node.type or "string" in node.type)


def _lines(data: bytes, *needles: bytes) -> set[tuple[int, int]]:
    """Return (begin, end) of the lines that contain one of some texts.

    Each includes the newline before it. An expression then has little to search.
    """
    found: set[tuple[int, int]] = set()
    for needle in needles:
        at = data.find(needle)
        while at >= 0:
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            found.add((max(0, data.rfind(b"\n", 0, at)), end))
            at = data.find(needle, end)
    return found


__all__ = ["FORMAT", "Import", "Tags", "read", "uses_at"]
