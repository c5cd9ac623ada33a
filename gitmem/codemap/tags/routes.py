"""The routes that a file serves, by what each language's frameworks write. Pure.

A call of a client, as `axios.get('/carts')`, looks alike in some languages. There the receiver has
to be called as what serves: `app`, `router` and the like.
"""

import re
from collections.abc import Sequence
from typing import Any

Route = tuple[str, str, int]  # (verb or decorator, path, line)

MOST = 400  # of a file
_PATH = rb"""\(\s*+r?['"]([/^][^'"\s]{0,80})['"]"""
_VERBS = rb"get|post|put|patch|delete"
_SERVER = rb"(?:app|router|server|fastify|web|[\w$]{0,40}(?:[rR]outer|App))"
_JS = re.compile(
    rb"(?<![\w$])" + _SERVER + rb"\s*\.\s*(route|all|" + _VERBS + rb")" + _PATH, re.IGNORECASE
)
_PYTHON = re.compile(rb"@(?:[\w.]+\.)?(route|" + _VERBS + rb")" + _PATH)
# a list of routes of Django has paths without a slash at their beginning
_DJANGO = re.compile(rb"""(?<![\w.])(re_path|path|url)\(\s*+r?['"]([^'"\s]{0,80})['"]""")
_PREFIX = re.compile(rb"""APIRouter\([^()]{0,200}prefix\s*+=\s*+['"](/[^'"\s]{0,80})['"]""")
_GO = re.compile(
    rb"(?<=\.)(GET|POST|PUT|PATCH|DELETE|HandleFunc|Handle|Get|Post|Put|Patch|Delete)"
    + _PATH
    + rb"\s*+,"
)
_JAVA = re.compile(
    rb"@(GetMapping|PostMapping|PutMapping|PatchMapping|DeleteMapping|RequestMapping|Path)"
    rb"""\(\s*+(?:(?:value|path)\s*+=\s*+)?\{?\s*+"(/[^"\s]{0,80})\""""
)
_CSHARP = re.compile(
    rb"(?:\[(HttpGet|HttpPost|HttpPut|HttpPatch|HttpDelete|Route)|\.Map(Get|Post|Put|Patch|Delete))"
    rb"""\(\s*+@?"([^"\s]{1,80})\""""
)
_RUBY = re.compile(rb"(?:^|(?<=\n))[ \t]*+(" + _VERBS + rb""")[ (]\s*+['"](/[^'"\s]{0,80})['"]""")
_PHP = re.compile(
    rb"(?:\bRoute::|\$(?:app|router|group|route)->)(" + _VERBS + rb"|any|view)" + _PATH
)
_RUST = re.compile(
    rb"""\.(route)\(\s*+"(/[^"\s]{0,80})"|#\[(""" + _VERBS + rb""")\("([^"]{1,80})\""""
)
# the route of a whole class of Java or C#
_OF_A_CLASS = re.compile(
    rb"""(?:@(?:RequestMapping|Path)\(\s*+(?:(?:value|path)\s*+=\s*+)?"([^"\s]{1,80})\"\s*+\)"""
    rb"""|\[Route\(\s*+"([^"\s]{1,80})"\)\])[^{;]{0,400}?\bclass\s"""
)
_OF = {
    "javascript": _JS,
    "typescript": _JS,
    "tsx": _JS,
    "go": _GO,
    "java": _JAVA,
    "csharp": _CSHARP,
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
        return _python(data, tree, decorators)
    expression = _OF.get(language)
    if expression is None:
        return ()
    rows = _rows(data, tree, expression)
    if language in {"java", "csharp"} and (prefix := _OF_A_CLASS.search(data)):
        return _prefixed(rows, (prefix[1] or prefix[2]).decode("utf-8", "replace"))
    return rows


def _prefixed(rows: tuple[Route, ...], prefix: str) -> tuple[Route, ...]:
    """Return the routes of a class below the route that the class has itself."""
    lead = prefix.strip("/")
    return tuple(
        (verb, f"/{lead}/{path.lstrip('/')}".rstrip("/"), line)
        for verb, path, line in rows
        if path != prefix or verb not in {"RequestMapping", "Path", "Route"}
    )


def _python(data: bytes, tree: Any, decorators: Sequence[Any]) -> tuple[Route, ...]:
    if b"urlpatterns" in data:
        rows = _rows(data, tree, _DJANGO)
        if rows:
            return rows
    spans = [(max(0, node.start_byte - 1), node.end_byte) for node in decorators]
    rows = tuple(row for span in sorted(set(spans)) for row in _rows(data, tree, _PYTHON, span))
    prefix = _PREFIX.search(data)
    if prefix is None:
        return rows[:MOST]
    lead = prefix[1].decode("utf-8", "replace").rstrip("/")
    return tuple((verb, lead + path, line) for verb, path, line in rows[:MOST])


def _rows(
    data: bytes, tree: Any, expression: "re.Pattern[bytes]", span: tuple[int, int] | None = None
) -> tuple[Route, ...]:
    out: list[Route] = []
    for match in expression.finditer(data, *(span or (0, len(data)))):
        verb, path = (group for group in match.groups() if group is not None)
        if is_code(tree, match.start() + 1, match.end()):
            line = data.count(b"\n", 0, match.end()) + 1
            out.append((verb.decode(), path.decode("utf-8", "replace"), line))
        if len(out) == MOST:
            break
    return tuple(out)


def is_code(tree: Any, start: int, end: int) -> bool:
    """Say whether some bytes are code: not an example in a comment or in a text."""
    node = tree.root_node.descendant_for_byte_range(start, end)
    return node is None or not ("comment" in node.type or "string" in node.type)
