"""The definitions in a text, by tree-sitter; the only module that knows the grammars.

A grammar that is missing or damaged, a text that is huge or binary, a language nobody knows: no symbols, no error.
Each language has one small query; what it captures is nested by position to get qualified names.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Language, Query, Tree

MAX_BYTES = 2_000_000
KEPT = 128  # texts whose symbols are remembered

# ending -> language
ENDINGS = {
    "py": "python", "pyi": "python", "pyw": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx", "rs": "rust", "go": "go", "java": "java", "c": "c", "h": "c",
    "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp", "hh": "cpp", "hpp": "cpp", "hxx": "cpp", "h++": "cpp", "ipp": "cpp", "inl": "cpp",
    "rb": "ruby", "rake": "ruby", "gemspec": "ruby", "ru": "ruby",
}  # fmt: skip
NAMES = {"Rakefile": "ruby", "Gemfile": "ruby", "SConstruct": "python", "wscript": "python"}
ALIASES = {
    "py": "python", "python3": "python", "js": "javascript", "jsx": "javascript", "javascriptreact": "javascript", "ts": "typescript",
    "typescriptreact": "tsx", "rs": "rust", "golang": "go", "c++": "cpp", "rb": "ruby",
}  # fmt: skip
# language -> (module of its wheel, function)
GRAMMARS = {
    "python": ("tree_sitter_python", "language"), "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"), "tsx": ("tree_sitter_typescript", "language_tsx"),
    "rust": ("tree_sitter_rust", "language"), "go": ("tree_sitter_go", "language"), "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"), "cpp": ("tree_sitter_cpp", "language"), "ruby": ("tree_sitter_ruby", "language"),
}  # fmt: skip

_JS = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (class)]) @function
(program [(lexical_declaration (variable_declarator name: (identifier) @name) @constant)
  (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @constant))])
(assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
"""
_TS = (
    _JS
    + """
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(internal_module name: (_) @name) @module
(module name: (identifier) @name) @module
(function_signature name: (identifier) @name) @function
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @method
"""
)
_C = """
(function_definition declarator: (_) @declared) @function
(struct_specifier name: (_) @name body: (_)) @struct
(union_specifier name: (_) @name body: (_)) @struct
(enum_specifier name: (_) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_function_def name: (identifier) @name) @macro
(preproc_def name: (identifier) @name) @macro
"""
QUERIES = {
    "python": """
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(module (expression_statement (assignment left: (identifier) @name) @constant))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @constant)))
""",
    "javascript": _JS + "(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @method",
    "typescript": _TS,
    "tsx": _TS,
    "rust": """
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @struct
(trait_item name: (type_identifier) @name) @trait
(impl_item type: (_) @name) @impl
(mod_item name: (identifier) @name) @module
(type_item name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(macro_definition name: (identifier) @name) @macro
""",
    "go": """
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @constant))
""",
    "java": """
(class_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(record_declaration name: (identifier) @name) @class
(annotation_type_declaration name: (identifier) @name) @interface
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @constant
""",
    "c": _C,
    "cpp": _C
    + """
(class_specifier name: (_) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(alias_declaration name: (type_identifier) @name) @type
""",
    "ruby": """
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(class name: (_) @name) @class
(module name: (_) @name) @module
(assignment left: (constant) @name) @constant
""",
}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: lines from 1, inclusive; the name is at `column` to `end` (characters from 0) of line `at`."""

    name: str
    qualified: str
    kind: str
    first: int
    last: int
    column: int
    end: int
    at: int


def language_of(path: str) -> str:
    """Return the language of a path by its name, empty when it is none that we know."""
    name = path.rsplit("/", 1)[-1]
    return NAMES.get(name) or (ENDINGS.get(name.rsplit(".", 1)[-1].lower(), "") if "." in name else "")


def language_named(name: str) -> str:
    """Return our name of a language, empty for one that we do not know."""
    low = name.strip().lower()
    low = ALIASES.get(low, low)
    return low if low in GRAMMARS else ""


_lock = threading.Lock()
_languages: "dict[str, Language | None]" = {}
_queries: "dict[str, Query | None]" = {}
_known: OrderedDict[tuple[str, bytes], tuple[Symbol, ...]] = OrderedDict()


def grammar(language: str) -> "Language | None":
    """Return a grammar, None when its wheel is missing or does not fit."""
    if language not in _languages:
        try:
            import importlib

            from tree_sitter import Language

            module, function = GRAMMARS[language]
            _languages[language] = Language(getattr(importlib.import_module(module), function)())
        except Exception:  # noqa: BLE001 - whatever a damaged wheel raises, anchors must work without it
            _languages[language] = None
    return _languages[language]


def tree_of(data: bytes, language: str) -> "Tree | None":
    """Return the syntax tree of a text; None when it is too large or binary, or its grammar is not to be had."""
    if len(data) > MAX_BYTES or b"\0" in data[:8000]:
        return None
    known = grammar(language)
    if known is None:
        return None
    from tree_sitter import Parser

    try:
        return Parser(known).parse(data)
    except (ValueError, TypeError):
        return None


def symbols(text: str, path: str) -> tuple[Symbol, ...]:
    """Return the definitions of a text in order, outer ones first; none when they cannot be told."""
    language = language_of(path)
    if not language or len(text) > MAX_BYTES:
        return ()
    data = text.encode("utf-8", "replace")
    key = (language, hashlib.sha1(data, usedforsecurity=False).digest())
    with _lock:
        if key in _known:
            _known.move_to_end(key)
            return _known[key]
    found = _read(data, language)
    with _lock:
        _known[key] = found
        while len(_known) > KEPT:
            _known.popitem(last=False)
    return found


def enclosing(found: Sequence[Symbol], line: int) -> Symbol | None:
    """Return the innermost definition around a line, None outside of all."""
    best: Symbol | None = None
    for one in found:
        if one.first <= line <= one.last and (best is None or (one.first, -one.last) >= (best.first, -best.last)):
            best = one
    return best


def find(found: Sequence[Symbol], name: str) -> list[Symbol]:
    """Return the definitions of a name: by qualified name, else by the end of it (`total` finds `Cart.total`)."""
    want = parts(name)
    if not want:
        return []
    exact = [one for one in found if parts(one.qualified) == want]
    return exact or [one for one in found if parts(one.qualified)[-len(want) :] == want]


def parts(name: str) -> list[str]:
    """Return the names in a qualified name, whichever way its language writes it."""
    return [part for part in name.replace("::", ".").replace("#", ".").split(".") if part]


def _query(language: str) -> "Query | None":
    if language not in _queries:
        known = grammar(language)
        if known is None:
            return None
        from tree_sitter import Query

        try:
            _queries[language] = Query(known, QUERIES[language])
        except Exception:  # noqa: BLE001 - a newer grammar may have other nodes: then there are no symbols
            _queries[language] = None
    return _queries[language]


def _read(data: bytes, language: str) -> tuple[Symbol, ...]:
    tree, query = tree_of(data, language), _query(language)
    if tree is None or query is None:
        return ()
    from tree_sitter import QueryCursor

    rows: dict[tuple[int, int], tuple[Any, ...]] = {}
    for _, captures in QueryCursor(query, match_limit=4096).matches(tree.root_node):
        kind = next((k for k in captures if k not in {"name", "owner", "declared"}), "")
        if not kind:
            continue
        body = captures[kind][0]
        name = captures["name"][0] if "name" in captures else _declared(captures["declared"][0])
        if name is None or not name.text:
            continue
        owner = ((captures["owner"][0].text or b"") if "owner" in captures else b"").decode("utf-8", "replace").lstrip("*").split("[")[0]
        key = (name.start_byte, name.end_byte)
        if key not in rows or kind != "constant":  # `const f = () => 1` is a function
            rows[key] = (body, name, kind, owner)
    lines: list[bytes] | None = None
    out: list[Symbol] = []
    around: list[tuple[int, str, str]] = []
    for body, name, kind, owner in sorted(rows.values(), key=lambda r: (r[0].start_byte, -r[0].end_byte)):
        label = " ".join(name.text.decode("utf-8", "replace").split())[:200]
        label = label.split("<")[0] if language in {"rust", "java", "cpp"} and "operator" not in label else label
        label = label.replace("::", ".")
        while around and around[-1][0] <= body.start_byte:
            around.pop()
        prefix = owner or (around[-1][1] if around else "")
        qualified = f"{prefix}.{label}" if prefix else label
        row, column = name.start_point
        end = name.end_point[1] if name.end_point[0] == row else column
        if not data.isascii():
            lines = lines if lines is not None else data.split(b"\n")
            column, end = (len(lines[row][:n].decode("utf-8", "replace")) for n in (column, end))
        last = body.end_point[0] + (1 if body.end_point[1] or body.end_point[0] == body.start_point[0] else 0)
        first = _whole(body).start_point[0] + 1
        if kind != "constant":
            around.append((body.end_byte, qualified, kind))
        out.append(Symbol(label.rsplit(".", 1)[-1], qualified, kind, first, max(last, first), column, end, row + 1))
    return tuple(out)


def _whole(node: Any) -> Any:
    """Return a definition with what belongs to it: decorators, `export`, `template`."""
    while node.parent is not None and node.parent.type in {
        "decorated_definition", "export_statement", "template_declaration", "lexical_declaration", "variable_declaration", "type_declaration",
    } and (node.parent.named_child_count == 1 or node.parent.type in {"decorated_definition", "export_statement", "template_declaration"}):  # fmt: skip
        node = node.parent
    return node


def _declared(node: Any) -> Any:
    """Return the name inside a C declarator, through pointers and parentheses."""
    for _ in range(12):
        if node is None or node.type in {
            "identifier", "field_identifier", "qualified_identifier", "destructor_name", "operator_name", "operator_cast", "template_function",
        }:  # fmt: skip
            return node
        node = node.child_by_field_name("declarator") or (node.named_children[-1] if node.type == "reference_declarator" else None)
    return None
