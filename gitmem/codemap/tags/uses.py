"""Which names a text uses, and what is known of them in that text alone. Pure.

A name is written as a key. `total` stands on its own. `cart.total` is a chain, whatever its
language writes between the names. `.total` is the member of something that has no name, or whose
type is not known; `~Cart.total` is the member of a variable that was declared with the type `Cart`.
`@Test` is an annotation, `^Cart` a type where the name alone does not tell so. `\\Cart.total` is
what PHP names from the root.

A variable or a parameter of a function is no use of a definition with the same name elsewhere, so
it has no key.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from gitmem.codemap.tags import macro_bodies
from gitmem.codemap.tags.variable_types import variable_type

LONGEST_CHAIN = 120  # bytes
SELF = frozenset({"self", "cls", "this", "super", "Self"})
SELF_BY_LANGUAGE = {
    "rust": frozenset({"Self"}),  # its `self` and `super` are modules, too
    "php": SELF | {"static", "parent"},
    "csharp": SELF | {"base"},
}
TYPED = "~"
ANNOTATION = "@"
TYPENAME = "^"
_TYPE_MARKS = {"annotation": ANNOTATION, "typename": TYPENAME}
_SELF = frozenset(name.encode() for name in SELF)
# here a method may have the name of a variable; the parenthesis tells
_CALLABLE_APART = frozenset({"java", "ruby"})

# of the definition around them; the receiver of Go binds those of its type anew
_TYPE_PARAMETERS = frozenset(
    {
        "type_parameters",
        "type_parameter_list",
        "template_parameter_list",
        "type_parameter",
        "parameter_list",
    }
)

_CHAIN = re.compile(rb"\\?[^\W\d]\w*(?:(?:\.|::|\\|\?\.)[^\W\d]\w*)*")
_JOINT = re.compile(rb"::|->|\\|\?->|[?!&]?\.")
_LAST = re.compile(rb"(?<!\w)\w++$")
_BEFORE = frozenset(b".>:")
_MARKS = (b"$", b"\\")  # before a variable of PHP, and a part of a qualified name
_NO_NAME = frozenset(b"".join(_MARKS))
# a receiver, read backwards from the joint behind it
_RECEIVER = re.compile(rb"[?!&]?(\w+(?:(?:\.[?!&]?|::|>-\??|\\)\w+)*)\\?")


# key, and the bytes where the name begins and ends; a plain tuple, since there are so many
Use = tuple[bytes, int, int]


class Variable:
    """A variable of a function: where it holds, and where it is bound."""

    __slots__ = ("_type", "end", "is_imported", "nodes", "start")

    def __init__(self, start: int, end: int, *, is_imported: bool = False) -> None:
        self.start = start
        self.end = end
        self.is_imported = is_imported  # what it leads to is not told here
        self.nodes: list[Any] = []
        self._type: bytes | None = None

    @property
    def type(self) -> bytes:
        """The type that it has wherever it is bound; b'' when that is not one, or not known."""
        if self._type is None:
            kinds = {variable_type(node) for node in self.nodes}
            self._type = kinds.pop() if len(kinds) == 1 else b""
        return self._type

    def forget_type(self) -> None:
        """Take the type for not known, since something else binds the name anew."""
        self._type = b""


def uses(
    captures: "dict[str, list[Any]]", data: bytes, language: str, named: "frozenset[int]"
) -> list[Use]:
    """Return the uses of names in a text; `named` are the ends of the names in definitions."""
    variables = _variables(captures, data, named)
    plain, chains, out = _sorted_out(captures, data)
    no_use = _no_uses(captures)
    apart = language in _CALLABLE_APART

    def is_variable(name: bytes, start: int, end: int) -> bool:
        if apart and data[end : end + 1] == b"(":
            return False
        variable = _at(variables.get(name, []), start)
        if variable is not None and variable.is_imported:
            out.append((b"." + name, start, end))
        return variable is not None

    out += [
        (name, start, end)
        for start, end in plain
        if start not in no_use
        and ((name := data[start:end]) not in variables or not is_variable(name, start, end))
    ]
    out += [
        (mark + name, start, end)
        for mark, name, start, end in _marked(captures, data)
        if not is_variable(name, start, end)
    ]
    out += chain.from_iterable(map(macro_bodies.names, captures.get("macro", ())))
    out += [_of_chain(key, start, end, variables) for start, (key, end) in chains.items()]
    return [use for use in out if use[2] not in named]


def _no_uses(captures: "dict[str, list[Any]]") -> set[int]:
    """Return where names begin that are no uses, or uses of another kind."""
    return {
        node.start_byte
        for kind in ("label", "parameter", "declared", *_TYPE_MARKS)
        for node in captures.get(kind, ())
    }


def _marked(
    captures: "dict[str, list[Any]]", data: bytes
) -> Iterator[tuple[bytes, bytes, int, int]]:
    """Yield (mark, name, begin, end) of the names that stand where only some kinds can."""
    for kind, mark in _TYPE_MARKS.items():
        for node in captures.get(kind, ()):
            start, end = node.start_byte, node.end_byte
            yield mark.encode(), data[start:end], start, end


def _of_chain(key: bytes, start: int, end: int, variables: dict[bytes, list[Variable]]) -> Use:
    head, _, rest = key.partition(b".")
    if head in variables and (variable := _at(variables[head], start)) is not None:
        start += len(head)
        if variable.type and not _is_shadowed(variable, variables):
            return (TYPED.encode() + variable.type + b"." + rest, start, end)
        return (b"." + rest, start, end)
    return (b"." + rest if key[:1] == b"$" else key, start, end)


def _is_shadowed(variable: Variable, variables: dict[bytes, list[Variable]]) -> bool:
    """Say whether the type of a variable is called as what a function or a generic type binds."""
    others = variables.get(variable.type)
    return others is not None and any(_at(others, node.start_byte) for node in variable.nodes)


def _sorted_out(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[list[tuple[int, int]], dict[int, tuple[bytes, int]], list[Use]]":
    """Return single names, chains by where they begin, and members of what has no name.

    Of the chains that begin at one place, the longest is returned.
    """
    chains, members, begins = _chains(captures, data)
    rows = [(node.start_byte, node.end_byte) for node in captures.get("name", ())]
    rows.sort()
    # what a parser missed has no bytes
    rows = [(start, end) for start, end in rows if end not in begins and start < end]
    behind = _behind_joints(data, rows)
    joined = {start for start, _, _ in behind}
    plain = [row for row in rows if row[0] not in joined]
    if any(mark in data for mark in _MARKS):
        plain = [row for row in plain if data[row[0] - 1] not in _NO_NAME]
    begins.update([(end, start) for start, end in plain])
    _add_joined(data, behind, (chains, members, begins))
    return [row for row in plain if row[0] not in chains], chains, members


def _behind_joints(data: bytes, rows: "list[tuple[int, int]]") -> "list[tuple[int, int, int]]":
    """Return the names behind joints, as (begin, end, bytes of the joint)."""
    # the byte before the first one is the last of the text, which is no joint for it
    return [
        (start, end, joint)
        for start, end in rows
        if data[start - 1] in _BEFORE and (joint := _joint(data, start))
    ]


def _add_joined(
    data: bytes,
    behind: "list[tuple[int, int, int]]",
    out: "tuple[dict[int, tuple[bytes, int]], list[Use], dict[int, int]]",
) -> None:
    """Add names, as of `_behind_joints`, to what `_chains` returned."""
    chains, members, begins = out
    for start, end, joint in behind:
        first = _first_of(begins, data, start - joint)
        begins[end] = first
        if first < 0:
            members.append((b"." + data[start:end], start, end))
        elif first not in chains or chains[first][1] < end:
            chains[first] = _joined(data[first:end]), end


def _first_of(begins: dict[int, int], data: bytes, behind: int) -> int:
    """Return where the chain begins that ends before a joint, or -1 when that is no chain."""
    first = begins.get(behind, -1)
    return first if first >= 0 else _receiver(data, behind)


def _chains(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[dict[int, tuple[bytes, int]], list[Use], dict[int, int]]":
    """Return chains, members, and where each chain begins, by where it ends."""
    begins: dict[int, int] = {}  # of the longest chain that ends at a byte
    chains: dict[int, tuple[bytes, int]] = {}
    members: list[Use] = []
    unknown: list[int] = []
    for node in captures.get("chain", ()):
        end, start = node.end_byte, node.start_byte
        if start < begins.get(end, end):
            begins[end] = start
    for end, start in begins.items():
        text = data[start:end]
        if text[:2] == b"::":  # from the root
            text, start = text[2:], start + 2
        if end - start <= LONGEST_CHAIN and _CHAIN.fullmatch(text):
            if start not in chains or chains[start][1] < end:
                chains[start] = _joined(text), end
        elif last := _LAST.search(text[-LONGEST_CHAIN:]):
            members.append((b"." + last[0], end - len(last[0]), end))
            unknown.append(end)
    for end in unknown:
        begins[end] = -1
    return chains, members, begins


def _joined(text: bytes) -> bytes:
    if text.count(b".") and text.isascii() and text.replace(b".", b"").isalnum():
        return text
    root = b"\\" if text[:1] == b"\\" else b""
    return root + _JOINT.sub(b".", text.lstrip(b"\\:"))


def _joint(data: bytes, at: int) -> int:
    """Return how many bytes the joint has that ends at a byte; 0 when there is none."""
    last, before = data[at - 1 : at], data[max(0, at - 2) : max(0, at - 1)]
    if last == b".":
        return 0 if before == b"." else 1
    if last == b":":
        return 2 if before == b":" else 0
    return 2 if last == b">" and before == b"-" else 0


def _receiver(data: bytes, end: int) -> int:
    """Return where the names before a joint begin, or -1 where that is no name."""
    begin = max(0, end - LONGEST_CHAIN)
    window = data[begin:end][::-1]
    match = _RECEIVER.match(window)
    if match is None:
        return -1
    start = end - match.end()
    if data[start : start + 1].isdigit():
        return -1
    before = data[start - 1 : start] if start else b""
    if before == b"$":
        return start - 1 if data[start : start + 4] != b"this" else start
    if before in {b".", b"@"} or data[start - 2 : start] in {b"->", b"::"}:
        return -1
    return start


# -- variables


def _variables(
    captures: "dict[str, list[Any]]", data: bytes, named: "frozenset[int]"
) -> dict[bytes, list[Variable]]:
    """Return where the variables of functions hold, by name."""
    imported = {node.start_point[0] for node in captures.get("import", ())}
    scopes = sorted(
        {(node.start_byte, node.end_byte) for node in captures.get("scope", ())},
        key=lambda span: (span[0], -span[1]),
    )
    nodes = [
        node
        for node in captures.get("local", ())
        if node.end_byte not in named and node.start_point[0] not in imported
    ]
    out: dict[bytes, list[Variable]] = {}
    for node, (start, end) in _placed(sorted(nodes, key=lambda node: node.start_byte), scopes):
        name = data[node.start_byte : node.end_byte]
        if name in _SELF:
            continue
        held = out.setdefault(name, [])
        variable = next(
            (candidate for candidate in reversed(held) if candidate.start == start), None
        )
        if variable is None or variable.end != end:
            variable = Variable(start, end)
            held.append(variable)
        variable.nodes.append(node)
    _add_type_parameters(out, captures, data)
    _add_imported(out, captures, data, (scopes, named))
    for node in captures.get("rebound", ()):
        _rebind(out.get(data[node.start_byte : node.end_byte], ()), node)
    return out


def _add_type_parameters(
    variables: dict[bytes, list[Variable]], captures: "dict[str, list[Any]]", data: bytes
) -> None:
    """Add the type parameters of functions and generic types."""
    for node in captures.get("type_parameter", ()):
        if (generic := _generic(node)) is not None:
            name = data[node.start_byte : node.end_byte]
            variables.setdefault(name, []).append(Variable(generic.start_byte, generic.end_byte))


def _add_imported(
    variables: dict[bytes, list[Variable]],
    captures: "dict[str, list[Any]]",
    data: bytes,
    rest: "tuple[list[tuple[int, int]], frozenset[int]]",
) -> None:
    """Add what a function imports under the name of a definition outside of all others.

    `rest` are the scopes, and the ends of the names in definitions.
    """
    scopes, named = rest
    nodes = sorted(captures.get("imported", ()), key=lambda node: node.start_byte)
    placed = list(_placed(nodes, scopes))
    outermost = _outermost(data, named) if placed else frozenset()
    for node, (start, end) in placed:
        name = data[node.start_byte : node.end_byte]
        if name in outermost:
            variables.setdefault(name, []).append(Variable(start, end, is_imported=True))


def _outermost(data: bytes, named: "frozenset[int]") -> "frozenset[bytes]":
    """Return the names that are defined in lines without indentation."""
    out: set[bytes] = set()
    for end in named:
        line = data[data.rfind(b"\n", 0, end) + 1 : end]
        if not line[:1].isspace() and (last := _LAST.search(line[-LONGEST_CHAIN:])):
            out.add(last[0])
    return frozenset(out)


def _rebind(variables: "Iterable[Variable]", node: Any) -> None:
    """Forget the types of the variables that a name may mean where it is bound anew."""
    # the name of a function is bound around it
    at = (
        node.parent.start_byte - 1 if node.parent.type == "function_definition" else node.start_byte
    )
    for variable in variables:
        is_own = any(bound.start_byte == node.start_byte for bound in variable.nodes)
        if variable.start <= at < variable.end and not is_own:
            variable.forget_type()


def _generic(node: Any) -> Any:
    """Return the definition whose type parameter a node names."""
    around = node.parent
    while around is not None and around.type not in _TYPE_PARAMETERS:
        around = around.parent
    while around is not None and around.type in _TYPE_PARAMETERS:
        around = around.parent
    return around


def _placed(
    nodes: Iterable[Any], scopes: "list[tuple[int, int]]"
) -> "Iterator[tuple[Any, tuple[int, int]]]":
    """Yield nodes with the innermost scope around each; both are in order."""
    stack: list[tuple[int, int]] = []
    number = 0
    for node in nodes:
        at = node.start_byte
        while number < len(scopes) and scopes[number][0] <= at:
            while stack and stack[-1][1] <= scopes[number][0]:
                stack.pop()
            stack.append(scopes[number])
            number += 1
        while stack and stack[-1][1] <= at:
            stack.pop()
        if stack:
            yield node, stack[-1]


def _at(variables: "list[Variable]", at: int) -> Variable | None:
    """Return the innermost variable of a name that holds at a byte."""
    best: Variable | None = None
    for variable in variables:
        if variable.start <= at < variable.end and (best is None or variable.start >= best.start):
            best = variable
    return best


def inside_of(spans: "list[tuple[int, int]]") -> "Callable[[int], bool]":
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
