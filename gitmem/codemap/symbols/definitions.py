"""The definitions in a text, found by tree-sitter.

The captures of a language's query are nested by position to get qualified names.

A grammar that is missing or damaged, a text that is huge or binary, a language nobody knows: no
symbols, no error.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gitmem.codemap.grammars import MAX_BYTES, cursor, language_of, query, tree_of

if TYPE_CHECKING:
    from tree_sitter import Tree

KEPT = 128  # texts whose symbols are remembered


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: lines from 1, inclusive.

    The name is at `column` to `end` (characters from 0) of line `at`.
    """

    name: str
    qualified: str
    kind: str
    first: int
    last: int
    column: int
    end: int
    at: int


_lock = threading.Lock()
_kept: OrderedDict[tuple[str, bytes], tuple[Symbol, ...]] = OrderedDict()


def symbols(text: str, path: str) -> tuple[Symbol, ...]:
    """Return the definitions of a text in order, outer ones first.

    None when they cannot be told.
    """
    language = language_of(path)
    if not language or len(text) > MAX_BYTES:
        return ()
    data = text.encode("utf-8", "replace")
    key = (language, hashlib.sha1(data, usedforsecurity=False).digest())
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    parsed = _read(data, language)
    with _lock:
        _kept[key] = parsed
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return parsed


def enclosing(symbols: Sequence[Symbol], line: int) -> Symbol | None:
    """Return the innermost definition around a line, None outside of all."""
    best: Symbol | None = None
    for symbol in symbols:
        if symbol.first <= line <= symbol.last and (
            best is None or (symbol.first, -symbol.last) >= (best.first, -best.last)
        ):
            best = symbol
    return best


def find(symbols: Sequence[Symbol], name: str) -> list[Symbol]:
    """Return the definitions of a name, by qualified name or else by the end of it.

    For example, `total` finds `Cart.total`.
    """
    want = parts(name)
    if not want:
        return []
    called = [symbol for symbol in symbols if symbol.qualified.endswith(want[-1])]
    exact = [symbol for symbol in called if parts(symbol.qualified) == want]
    return exact or [symbol for symbol in called if parts(symbol.qualified)[-len(want) :] == want]


def parts(name: str) -> list[str]:
    """Return the names in a qualified name, whichever way its language writes it."""
    return [part for part in name.replace("::", ".").replace("#", ".").split(".") if part]


def _read(data: bytes, language: str) -> tuple[Symbol, ...]:
    tree = tree_of(data, language)
    return in_tree(tree, data, language) if tree is not None else ()


def in_tree(tree: "Tree", data: bytes, language: str) -> tuple[Symbol, ...]:
    """Return the definitions in a syntax tree, in order, outer ones first."""
    compiled = query(language, "definitions")
    if compiled is None:
        return ()
    rows = _matches(tree, compiled)
    columns = _Columns(data)
    out: list[Symbol] = []
    around: list[tuple[int, str]] = []  # (end, name) of the definitions that one is in
    for body, name, kind, owner in sorted(rows, key=lambda r: (r[0].start_byte, -r[0].end_byte)):
        label = _label(name, language)
        while around and around[-1][0] <= body.start_byte:
            around.pop()
        prefix = (around[-1][1] if around else "") if owner is None else owner
        qualified = f"{prefix}.{label}" if prefix else label
        if kind != "constant":
            around.append((body.end_byte, qualified))
        first, last = _lines_of(body)
        own = label.rsplit(".", 1)[-1]
        line = name.start_point[0] + 1
        out.append(Symbol(own, qualified, kind, first, last, *columns.of(name), line))
    return tuple(out)


def _lines_of(body: Any) -> tuple[int, int]:
    """Return the first and the last line of a definition, from 1."""
    first = _whole(body).start_point[0] + 1
    end, column = body.end_point
    last = end + 1 if column or end == body.start_point[0] else end
    return first, max(last, first)


class _Columns:
    """Turns the byte columns of nodes into those of characters."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._is_ascii = data.isascii()
        self._lines: list[bytes] | None = None

    def of(self, node: Any) -> tuple[int, int]:
        """Return where a node begins and ends in its line; an end in another line is the begin."""
        row, column = node.start_point
        end = node.end_point[1] if node.end_point[0] == row else column
        if self._is_ascii:
            return column, end
        if self._lines is None:
            self._lines = self._data.split(b"\n")
        line = self._lines[row]
        return len(line[:column].decode("utf-8", "replace")), len(
            line[:end].decode("utf-8", "replace")
        )


def _matches(tree: "Tree", compiled: Any) -> "list[tuple[Any, Any, str, str | None]]":
    """Return (body, name, kind, owner as of `_owner`) of the definitions in a tree."""
    rows: dict[tuple[int, int], tuple[Any, Any, str, str | None]] = {}
    for _, captures in cursor(compiled).matches(tree.root_node):
        kind = next((k for k in captures if k not in {"name", "owner", "declared"}), "")
        name = captures["name"][0] if "name" in captures else _declared(captures["declared"][0])
        if not kind or name is None or not name.text:
            continue
        body = captures[kind][0]
        owner = _owner(captures["owner"][0]) if "owner" in captures else None
        key = (name.start_byte, name.end_byte)
        if key not in rows or kind != "constant":  # `const f = () => 1` is a function
            rows[key] = (body, name, kind, owner)
    return list(rows.values())


def _label(name: Any, language: str) -> str:
    """Return a definition's name as it is kept: with dots, without the types in angle brackets."""
    label = " ".join(name.text.decode("utf-8", "replace").split())[:200]
    if language in {"rust", "java", "cpp"} and "operator" not in label:
        label = _without_arguments(label)
    return label.replace("::", ".")


def _without_arguments(name: str) -> str:
    """Return a name without the types in angle brackets: `Map<K, V>::Map` is `Map::Map`."""
    depth, out = 0, []
    for letter in name:
        depth += letter == "<"
        if not depth:
            out.append(letter)
        depth -= letter == ">" and depth > 0
    return "".join(out).strip()


_EXPORTS = frozenset({"exports", "module.exports"})


def _owner(node: Any) -> str | None:
    """Return what a definition belongs to that is written outside of it.

    It is the type of a receiver in Go, and the object in `Cart.prototype.total = function`. Return
    '' for what a module exports, None when what is around the definition is its owner.
    """
    text = str(node.text.decode("utf-8", "replace")).lstrip("*").split("[")[0]
    if text in _EXPORTS:
        return ""
    text = text.removesuffix(".prototype")
    return text if all(part.isidentifier() for part in text.split(".")) and text != "this" else None


def _whole(node: Any) -> Any:
    """Return a definition with what belongs to it: decorators, `export`, `template`."""
    while (
        node.parent is not None
        and node.parent.type
        in {
            "decorated_definition",
            "export_statement",
            "template_declaration",
            "lexical_declaration",
            "variable_declaration",
            "type_declaration",
        }
        and (
            node.parent.named_child_count == 1
            or node.parent.type
            in {"decorated_definition", "export_statement", "template_declaration"}
        )
    ):
        node = node.parent
    return node


def _declared(node: Any) -> Any:
    """Return the name inside a C declarator, through pointers and parentheses."""
    for _ in range(12):
        if node is None or node.type in {
            "identifier",
            "field_identifier",
            "qualified_identifier",
            "destructor_name",
            "operator_name",
            "operator_cast",
            "template_function",
        }:
            return node
        node = node.child_by_field_name("declarator") or (
            node.named_children[-1] if node.type == "reference_declarator" else None
        )
    return None
