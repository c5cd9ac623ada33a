"""What stands before the routes of a file: the prefix of the server or the router that has them.

Pure. A prefix is known as far as the same file says it; `UNKNOWN` stands for any other.
"""

import re
from collections.abc import Iterator
from typing import Any

UNKNOWN = "…"
LONGEST = 600  # bytes that are read of a call's arguments
DEPTH = 6  # of routers in routers

_QUOTED = rb"""['"`]([^'"`\s]{0,80})['"`]"""
_CLIENT = re.compile(rb"(?i)axios|client|\bgot\b|\bky\b|request|\bmap\b|cache|fetch|supertest")
_SERVER = re.compile(
    r"(?i)\w{0,40}(?:app|application|api|server|fastify|web|engine|echo|mux|endpoints)"
)
_ROUTER = re.compile(r"(?i)\w{0,40}(?:router|routes|bp|blueprint|group)|v\d")
# languages with what gives a name to a server or router: (name, what it is)
_MADE = {
    "python": re.compile(rb"(?:^|(?<=\n))[ \t]*+(\w++)(?:[ \t]*+:[^=\n]{1,60})?[ \t]*+=[ \t]*+"),
    "go": re.compile(
        rb"(?:^|(?<=\n))[ \t]*+(?:var[ \t]++)?(\w++)(?:,[ \t]*+\w++)?[ \t]*+:?=[ \t]*+"
    ),
    "javascript": re.compile(rb"\b(?:const|let|var)\s++([\w$]++)(?:\s*+:[^=\n]{1,60})?\s*+=\s*+"),
    "csharp": re.compile(rb"\bvar\s++(\w++)\s*+=\s*+"),
}
_GO_PARAMETER = re.compile(
    rb"\b(\w++)[ \t]++\*?(?:\w++\.)?"
    rb"(Engine|Echo|ServeMux|App|Mux|RouterGroup|Router|Group|IRouter|IRoutes)\b"
)
_GO_SERVER = re.compile(
    rb"(?:gin\.(?:Default|New)|echo\.New|chi\.New\w{1,10}|mux\.NewRouter|http\.NewServeMux"
    rb"|fiber\.New|httprouter\.New|iris\.(?:New|Default))\("
)
_BELOW = re.compile(
    rb"(?:\w{1,60}\.){0,3}(\w{1,60})\.(?:Group|PathPrefix|MapGroup)\(\s*+(?:\"([^\"\s]{0,80})\")?"
)
_PYTHON_CALL = re.compile(rb"(?:\w++\.){0,4}(\w++)\(")
_PYTHON_PREFIX = re.compile(rb"\b(?:url_)?prefix\s*+=\s*+(?:" + _QUOTED + rb")?")
_JS_ROUTER = re.compile(rb"\b(?:new\s++)?(?:[\w$]++\.){0,2}Router\(")
_JS_SERVER = re.compile(
    rb"(?i)(?:await\s++)?(?:new\s++)?(?:express|fastify|hono|koa|polka|restify\.\w{1,20}|elysia)\("
)
_JS_PREFIX = re.compile(rb"\bprefix\s*+:\s*+(?:" + _QUOTED + rb")?")
_MOUNTED = {
    "python": re.compile(rb"\b(\w++)\.(?:include_router|register_blueprint)(?=\()"),
    "javascript": re.compile(rb"\b([\w$]++)\s*+\.(?:use|route|register)(?=\()"),
}
# a call whose block or function has the routes below it
_SCOPES = {
    "go": re.compile(
        rb"(?:\w{1,60}\.){0,3}(\w{1,60})\.(?:Route|Group)\(\s*+(?:\"([^\"\s]{0,80})\"|(func)|)"
    ),
    "php": re.compile(
        rb"""(?:::|->)(?:prefix|group)\(\s*+['"]([^'"\s]{0,80})['"]"""
        rb"""|['"]prefix['"]\s*+=>\s*+(?:['"]([^'"\s]{0,80})['"])?|(?:::|->)prefix\("""
    ),
    "ruby": re.compile(
        rb"""(namespace|scope|resources?|route_param|path|group)\b[ (]*+(?:[:'"]([\w/:-]++))?"""
    ),
}
_RUBY_PATH = re.compile(rb"\bpath(?::|\s*+=>)\s*+(?:" + _QUOTED + rb")?")
_BODY = re.compile(rb"\bfunc(?:tion)?\b|\bfn\b|\bdo\b|\{")
_FUNCTIONS = frozenset(
    {
        "func_literal",
        "function_declaration",
        "method_declaration",
        "function_definition",
        "function_expression",
        "arrow_function",
        "method_definition",
    }
)
_CALLS = frozenset(
    {
        "call",
        "call_expression",
        "member_call_expression",
        "scoped_call_expression",
        "function_call_expression",
    }
)


def joined(prefix: str, path: str) -> str:
    """Return a path below a prefix."""
    if not prefix or path.startswith(UNKNOWN):
        return path or prefix
    return prefix.rstrip("/") + ("/" + path.lstrip("/") if path else "")


class Prefixes:
    """The servers and routers of one file, each with the prefix of its routes.

    A name may stand for several, one after the other: the last one before a route counts.
    """

    def __init__(self, data: bytes, tree: Any, language: str) -> None:
        """Read the names that a file gives to servers and routers, and where it mounts them."""
        self.data, self.tree = data, tree
        self.language = "javascript" if language in {"typescript", "tsx"} else language
        self._made: dict[str, list[tuple[int, int]]] = {}  # name -> (where it is made, by what)
        self._ends: dict[int, int] = {}
        self._mounts: dict[str, tuple[str, str | None, int]] = {}
        made = _MADE.get(self.language)
        for match in made.finditer(data) if made else ():
            self._made.setdefault(match[1].decode(), []).append((match.start(), match.end()))
        if self.language == "go":
            for match in _GO_PARAMETER.finditer(data):
                row = (match.start(), match.start(2))
                self._made.setdefault(match[1].decode(), []).append(row)
        for rows in self._made.values():
            rows.sort()
        self._read_mounts()

    def _read_mounts(self) -> None:
        mounted = _MOUNTED.get(self.language)
        for match in mounted.finditer(self.data) if mounted else ():
            given = _arguments(self.data, match.end())
            if self.language == "python":
                prefix = _named(_PYTHON_PREFIX, given)
                words = re.findall(rb"\A\(\s*(\w+)", given)
            else:
                first = re.match(rb"\(\s*+" + _QUOTED, given)
                prefix = first[1].decode("utf-8", "replace") if first else ""
                if first is None and b"," in given:
                    prefix = _named(_JS_PREFIX, given) or UNKNOWN
                words = re.findall(rb"[\w$]++", given[first.end() if first else 0 :])
            for word in words:
                row = (match[1].decode("utf-8", "replace"), prefix, match.start())
                self._mounts.setdefault(word.decode("utf-8", "replace"), row)

    def of(self, name: str, at: int, depth: int = 0) -> str | None:
        """Return the prefix of what `name` is at a byte; None if it is no server or router."""
        rows = [row for row in self._made.get(name, ()) if at < self._end(row[0])]
        if not rows or depth > DEPTH:
            return _by_name(name, self.language)
        _, value = next((row for row in reversed(rows) if row[0] < at), rows[0])
        made = {"python": self._python, "go": self._go, "csharp": self._csharp}
        return made.get(self.language, self._javascript)(name, value, depth)

    def _end(self, at: int) -> int:
        """Return where the function ends in which a name is made."""
        if at in self._ends:
            return self._ends[at]
        node = self.tree.root_node.descendant_for_byte_range(at, at + 1)
        while node is not None and node.type not in _FUNCTIONS:
            node = node.parent
        end = len(self.data) if node is None else int(node.end_byte)
        self._ends[at] = end
        return end

    def _python(self, name: str, value: int, depth: int) -> str | None:
        match = _PYTHON_CALL.match(self.data, value)
        if match is None:
            return _by_name(name, "python")
        called = match[1].decode()
        if called == "RouteTableDef":
            return ""
        if re.fullmatch(r"(?i)\w{0,40}(?:router|blueprint|namespace)", called):
            return self._part(name, _PYTHON_PREFIX, match.end() - 1, depth)
        is_server = re.fullmatch(
            r"(?i)(?:\w{0,40}(?:app|api|application)|flask|quart|sanic|starlette|bottle|litestar"
            r"|robyn|chalice)",
            called,
        )
        if is_server:
            return ""
        return None if _CLIENT.search(match[0]) else _by_name(name, "python")

    def _part(
        self, name: str, expression: "re.Pattern[bytes]", value: int, depth: int
    ) -> str | None:
        """Return the prefix of a router: its own, below that of what it is mounted in."""
        own = _named(expression, _arguments(self.data, value))
        own = UNKNOWN if own is None else own
        if name not in self._mounts:
            return own or UNKNOWN
        return self._mounted(name, own, depth)

    def _mounted(self, name: str, own: str, depth: int) -> str | None:
        parent, prefix, at = self._mounts[name]
        lead = self.of(parent, at, depth + 1)
        if lead is None:
            return own or UNKNOWN
        return joined(joined(lead, UNKNOWN if prefix is None else prefix), own)

    def _javascript(self, name: str, value: int, depth: int) -> str | None:
        text = self.data[value : value + 200].split(b"\n")[0]
        router = _JS_ROUTER.match(self.data, value)
        if router:
            return self._part(name, _JS_PREFIX, router.end() - 1, depth)
        if _CLIENT.search(text):
            return None
        is_server = _JS_SERVER.match(text) is not None
        if b".basePath(" in text:
            return UNKNOWN
        if name in self._mounts:
            return self._mounted(name, "", depth)
        return "" if is_server or name == "fastify" else _by_name(name, self.language)

    def _go(self, name: str, value: int, depth: int) -> str | None:
        if below := _BELOW.match(self.data, value):
            return self._below(below, depth)
        if _GO_SERVER.match(self.data, value):
            return ""
        text = self.data[value : value + 200].split(b"\n")[0]
        parameter = re.match(
            rb"(Engine|Echo|ServeMux|App|Mux)?(?:Router\w*|Group|IRout\w+)?\b", text
        )
        if parameter and parameter[0]:
            return "" if parameter[1] else UNKNOWN
        return None if _CLIENT.search(text) else _by_name(name, "")

    def _csharp(self, name: str, value: int, depth: int) -> str | None:
        below = _BELOW.match(self.data, value)
        return self._below(below, depth) if below else _by_name(name, "")

    def _below(self, match: "re.Match[bytes]", depth: int) -> str:
        lead = self.of(match[1].decode("utf-8", "replace"), match.start(), depth + 1)
        own = UNKNOWN if match[2] is None else match[2].decode("utf-8", "replace")
        return joined(UNKNOWN if lead is None else lead, own)

    def scoped(self, name: str, at: int) -> str | None:
        """Return the prefix of a route at a byte, with the scopes around it."""
        lead = ""
        for start, head in self._heads(at):
            prefix, receiver = self._scope(head)
            lead = joined(prefix, lead)
            if receiver:
                name, at = receiver, start
        outer = self.of(name, at) if name else ""
        return None if outer is None else joined(outer, lead)

    def _heads(self, at: int) -> Iterator[tuple[int, bytes]]:
        """Yield what stands before the bodies of the calls around a byte, the nearest first."""
        node = self.tree.root_node.descendant_for_byte_range(at, at + 1)
        while node is not None:
            start = node.start_byte
            if node.type in _CALLS and start < at:
                head = self.data[start : min(at, start + LONGEST)]
                if body := _BODY.search(head):
                    yield start, head[: body.end()]
            node = node.parent

    def _scope(self, head: bytes) -> tuple[str, str]:
        """Return the prefix that a call gives to what is in its body, and what it is called of."""
        expression = _SCOPES.get(self.language)
        if expression is None:
            return "", ""
        if self.language == "php":
            matches = list(expression.finditer(head))
            if not matches:
                return "", "app"  # a group of the application that adds nothing
            path = matches[0][1] or matches[0][2]
            lead = "/" + path.decode("utf-8", "replace").strip("/") if path else UNKNOWN
            return lead, "app"
        match = expression.match(head)
        if match is None:
            return "", ""
        if self.language == "go":
            text = "" if match[3] else UNKNOWN
            path = match[2]
            return (text if path is None else path.decode("utf-8", "replace")), match[1].decode(
                "utf-8", "replace"
            )
        return _ruby_scope(match, head[match.end() :]), ""


def _ruby_scope(match: "re.Match[bytes]", rest: bytes) -> str:
    if match[1] not in {b"namespace", b"scope"}:
        return UNKNOWN
    path = _RUBY_PATH.search(rest)
    if path is None and match[2] is None and re.match(rb":?\w++(?::|\s*+=>)", rest):
        return ""  # a module, or constraints
    text = path[1] if path else match[2]
    return "/" + text.decode("utf-8", "replace").strip("/") if text else UNKNOWN


def _by_name(name: str, language: str) -> str | None:
    """Return the prefix of what a file does not make itself: what it is called as counts."""
    if name == "http" and language == "go":
        return ""
    if language == "javascript" and name.lower() in {"api", "fastify"}:
        return UNKNOWN if name == "fastify" else None  # a plugin, a client
    if _ROUTER.fullmatch(name):
        return UNKNOWN
    return "" if _SERVER.fullmatch(name) else None


def _arguments(data: bytes, at: int) -> bytes:
    """Return the arguments of a call whose bracket opens at a byte."""
    depth = 0
    for offset, byte in enumerate(data[at : at + LONGEST]):
        depth += (byte == 0x28) - (byte == 0x29)
        if depth == 0:
            return data[at : at + offset + 1]
    return data[at : at + LONGEST]


def _named(expression: "re.Pattern[bytes]", given: bytes) -> str | None:
    """Return the prefix among some arguments, '' for none, None for one that is no literal."""
    match = expression.search(given)
    if match is None:
        return ""
    return None if match[1] is None else match[1].decode("utf-8", "replace")
