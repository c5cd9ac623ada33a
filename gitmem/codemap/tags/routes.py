"""The routes that a file serves, by what each language's frameworks write. Pure.

A call of a client, as `axios.get('/carts')`, looks alike in some languages. There the receiver has
to be what serves. A route begins with `…` when the file does not say below which one it is.
"""

import re
from collections.abc import Sequence
from typing import Any

from gitmem.codemap.tags.route_prefixes import UNKNOWN, Prefixes, joined

Route = tuple[str, str, int]  # (verb or decorator, path, line)

MOST = 400  # of a file
_PATH = rb"""\(\s*+r?['"]([/^][^'"\s]{0,80})['"]"""
_VERBS = rb"get|post|put|patch|delete"
_JS = re.compile(rb"(?<![\w$])([\w$]++)\s*+\.\s*+(route|all|" + _VERBS + rb")" + _PATH)
_PYTHON = re.compile(rb"@(?:\w{1,60}\.){0,4}?(?:(\w{1,60})\.)?(route|" + _VERBS + rb")" + _PATH)
# frameworks whose decorators need no application
_BARE = re.compile(rb"\b(?:bottle|litestar|blacksheep)\b")
# a list of routes of Django has paths without a slash at their beginning
_DJANGO = re.compile(rb"""(?<![\w.])()(re_path|path|url)\(\s*+r?['"]([^'"\s]{0,80})['"]""")
_GO = re.compile(
    rb"(?<!\w)(\w++)\.(GET|POST|PUT|PATCH|DELETE|HandleFunc|Handle|Get|Post|Put|Patch|Delete)"
    + _PATH
    + rb"\s*+,"
)
_JAVA = re.compile(
    rb"@((?:Get|Post|Put|Patch|Delete|Request)Mapping|Path)\b(?:\(((?:[^()\"]|\"[^\"\n]*+\")*+)\))?"
)
_CSHARP = re.compile(rb"\[(Http(?:Get|Post|Put|Patch|Delete)|Route)\b(?:\(([^()]{0,200})\))?")
_CSHARP_MAP = re.compile(
    rb"""(?<!\w)(\w++)\s*+\.Map(Get|Post|Put|Patch|Delete)\(\s*+@?"([^"\s]{1,80})\""""
)
_RUBY = re.compile(rb"(?:^|(?<=\n))[ \t]*+()(" + _VERBS + rb""")[ (]\s*+['"](/[^'"\s]{0,80})['"]""")
_PHP = re.compile(
    rb"(?<!\w)(?:Route::|\$(app|router|group|route)->)(" + _VERBS + rb"|any|view)" + _PATH
)
_RUST = re.compile(
    rb"""()\.(route)\(\s*+"(/[^"\s]{0,80})"|#\[(""" + _VERBS + rb""")\("([^"]{1,80})\""""
)
# what puts the routes of Rust below another one
_NESTED = re.compile(rb"\b(?:nest|scope|mount)\(\s*+(?!\"/\")")
# a class that calls the routes of another server
_CLIENT = re.compile(rb"@(?:FeignClient|RegisterRestClient|HttpExchange)\b")
_CLASSES = frozenset({"class_declaration", "interface_declaration", "record_declaration"})
_OTHER_OPTION = re.compile(
    rb"""\b(?!value\b|path\b)\w++\s*+=\s*+(?:\{[^{}]*+\}|"[^"\n]*+"|[\w.]++)"""
)
_OF = {
    "javascript": _JS,
    "typescript": _JS,
    "tsx": _JS,
    "go": _GO,
    "csharp": _CSHARP_MAP,
    "ruby": _RUBY,
    "php": _PHP,
    "rust": _RUST,
}


def routes(data: bytes, tree: Any, language: str, decorators: Sequence[Any]) -> tuple[Route, ...]:
    """Return the routes that a file serves, in order, without those in comments and texts.

    In Python they are in `decorators`, or in a list of Django.
    """
    if b"/" not in data:
        return ()
    if language == "python":
        return _python(data, tree, decorators) if decorators or b"urlpatterns" in data else ()
    expression = _OF.get(language)
    rows: tuple[Route, ...] = ()
    if expression is not None and expression.search(data):
        rows = _rows(Prefixes(data, tree, language), expression)
    annotation = {"java": _JAVA, "csharp": _CSHARP}.get(language)
    if annotation is not None:
        rows += _annotated(data, tree, annotation)
    return rows[:MOST]


def _python(data: bytes, tree: Any, decorators: Sequence[Any]) -> tuple[Route, ...]:
    prefixes = Prefixes(data, tree, "python")
    if b"urlpatterns" in data:
        rows = _rows(prefixes, _DJANGO)
        if rows:
            return rows
    spans = [(max(0, node.start_byte - 1), node.end_byte) for node in decorators]
    rows = tuple(row for span in sorted(set(spans)) for row in _rows(prefixes, _PYTHON, span))
    return rows[:MOST]


def _rows(
    prefixes: Prefixes, expression: "re.Pattern[bytes]", span: tuple[int, int] | None = None
) -> tuple[Route, ...]:
    """Return the routes of servers and routers."""
    out: list[Route] = []
    data = prefixes.data
    for match in expression.finditer(data, *(span or (0, len(data)))):
        *_, verb, path = (group for group in match.groups() if group is not None)
        if not is_code(prefixes.tree, match.start() + 1, match.end()):
            continue
        prefix = _prefix(prefixes, match)
        if prefix is not None:
            line = data.count(b"\n", 0, match.end()) + 1
            where = path.decode("utf-8", "replace")
            out.append((verb.decode(), joined(prefix, where), line))
        if len(out) == MOST:
            break
    return tuple(out)


def _prefix(prefixes: Prefixes, match: "re.Match[bytes]") -> str | None:
    """Return the prefix of a route, None when nothing that serves has it."""
    name = (match[1] or b"").decode("utf-8", "replace")
    data, at = prefixes.data, match.start(2)
    if prefixes.language == "rust":
        return UNKNOWN if _NESTED.search(data) else ""
    if prefixes.language == "ruby":
        return None if _is_in_method(prefixes.tree, at) else prefixes.scoped("", at)
    if prefixes.language == "php":
        return prefixes.scoped(name if name == "group" else "app", at)
    if prefixes.language == "python" and not name:
        return "" if match.re is _DJANGO or _BARE.search(data) else None
    return prefixes.scoped(name, at)


def _is_in_method(tree: Any, at: int) -> bool:
    """Say whether a call of Ruby is in a method: then it asks another server."""
    node = tree.root_node.descendant_for_byte_range(at, at)
    while node is not None:
        if node.type in {"method", "singleton_method"}:
            return True
        node = node.parent
    return False


def _annotated(data: bytes, tree: Any, expression: "re.Pattern[bytes]") -> tuple[Route, ...]:
    """Return the routes that methods of Java or C# have by an annotation, below their class's."""
    out: list[Route] = []
    for match in expression.finditer(data):
        if len(out) >= MOST:
            break
        owner = _owner(tree, match.start(1))
        if owner is None or owner.type != "method_declaration":
            continue
        line = data.count(b"\n", 0, match.end()) + 1
        where = _of_method(data, owner, match, expression)
        out += [(match[1].decode(), path, line) for path in where]
    return tuple(out)


def _of_method(
    data: bytes, method: Any, match: "re.Match[bytes]", expression: "re.Pattern[bytes]"
) -> list[str]:
    """Return the paths of a method, below each of its class."""
    paths = [path for path in _paths(match[2]) if path != UNKNOWN]
    leads = _class_paths(data, method, expression)
    return [where for lead in leads for path in paths if (where := _below(lead, path))]


def _below(lead: str, path: str) -> str:
    if path.startswith(("/", "~/")) and lead.startswith("~"):
        return path.lstrip("~")  # C# says with a slash that a route is below nothing
    lead = lead.removeprefix("~")
    if not lead or lead == UNKNOWN:
        return lead + "/" + path.lstrip("/")
    return joined("/" + lead.strip("/"), path)


def _owner(tree: Any, at: int) -> Any:
    """Return the definition that an annotation stands before."""
    node = tree.root_node.descendant_for_byte_range(at, at)
    while node is not None and not node.type.endswith(("_declaration", "parameter", "comment")):
        node = node.parent
    return node


def _class_paths(data: bytes, method: Any, expression: "re.Pattern[bytes]") -> list[str]:
    """Return the paths that the class of a method has, none for a client of another server."""
    node = method.parent
    while node is not None and node.type not in _CLASSES:
        node = node.parent
    if node is None:
        return [""]
    body = node.child_by_field_name("body")
    head = data[node.start_byte : body.start_byte if body is not None else node.end_byte]
    if _CLIENT.search(head):
        return []
    mark = "~" if expression is _CSHARP else ""
    for match in expression.finditer(head):
        if match[1] in {b"RequestMapping", b"Path", b"Route"}:
            name = node.child_by_field_name("name").text.decode("utf-8", "replace")
            name = name.removesuffix("Controller")
            return [mark + path.replace("[controller]", name) for path in _paths(match[2])]
    return [mark]


def _paths(given: bytes | None) -> list[str]:
    """Return the paths among the arguments of an annotation, as far as they are literals."""
    rest = _OTHER_OPTION.sub(b"", given or b"")
    paths = [
        path_text.decode("utf-8", "replace") for path_text in re.findall(rb'"([^"\s]{0,80})"', rest)
    ]
    if paths:
        return paths
    return [UNKNOWN] if re.search(rb"(?!value\b|path\b|Name\b)\b\w", rest) else [""]


def is_code(tree: Any, start: int, end: int) -> bool:
    """Say whether some bytes are code: not an example in a comment or in a text."""
    node = tree.root_node.descendant_for_byte_range(start, end)
    return node is None or not ("comment" in node.type or "string" in node.type)
