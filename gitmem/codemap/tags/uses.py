"""Which names a text uses, and what is known of them in that text alone. Pure.

A name is written as a key: `total` on its own, `cart.total` in a chain (whatever its language
writes between the names), `.total` as the member of something that has no name or whose type is not
known, `~Cart.total` as the member of a variable that was declared with the type `Cart`, `@Test` for
an annotation, and `\\Cart.total` where PHP names it from the root.

A variable or a parameter of a function is no use of a definition with the same name elsewhere, so
it has no key.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

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
_SELF = frozenset(name.encode() for name in SELF)
# here a method may have the name of a variable; the parenthesis tells
_CALLABLE_APART = frozenset({"java", "ruby"})

_CHAIN = re.compile(rb"\\?[^\W\d]\w*(?:(?:\.|::|\\|\?\.)[^\W\d]\w*)*")
_JOINT = re.compile(rb"::|->|\\|\?->|[?!&]?\.")
_LAST = re.compile(rb"(?<!\w)\w++$")
_BEHIND = (b".", b">", b":")
# a receiver, read backwards from the joint behind it
_RECEIVER = re.compile(rb"[?!&]?(\w+(?:(?:\.[?!&]?|::|>-\??|\\)\w+)*)\\?")


class Use(NamedTuple):
    """A use of a name: its key, and the bytes where the name begins and ends."""

    key: bytes
    start: int
    end: int


class Variable(NamedTuple):
    """Where a variable of a function holds, and the type that it was declared with, or b''."""

    start: int
    end: int
    type: bytes


def uses(
    captures: "dict[str, list[Any]]", data: bytes, language: str, named: "frozenset[int]"
) -> list[Use]:
    """Return the uses of names in a text; `named` are the ends of the names in definitions."""
    variables = _variables(captures, named)
    no_use = {node.start_byte for node in captures.get("label", ())}
    no_use.update(node.start_byte for node in captures.get("parameter", ()))
    no_use.update(node.start_byte for node in captures.get("declared", ()))
    annotations = {node.start_byte for node in captures.get("annotation", ())}
    plain, chains, out = _sorted_out(captures, data)
    for start, end in plain:
        if end in named or start in no_use:
            continue
        name = data[start:end]
        if start in annotations:
            out.append(Use(ANNOTATION.encode() + name, start, end))
            continue
        hidden = name in variables and _at(variables[name], start) is not None
        if not hidden or (language in _CALLABLE_APART and data[end : end + 1] == b"("):
            out.append(Use(name, start, end))
    for start, (key, end) in chains.items():
        if end not in named:
            out.append(_of_chain(key, start, end, variables))
    return [use for use in out if use.end not in named]


def _of_chain(key: bytes, start: int, end: int, variables: dict[bytes, list[Variable]]) -> Use:
    head, _, rest = key.partition(b".")
    if head in variables and (variable := _at(variables[head], start)) is not None:
        last = rest.rpartition(b".")[2]
        if variable.type and b"." not in rest:
            return Use(TYPED.encode() + variable.type + b"." + rest, end - len(last), end)
        return Use(b"." + last, end - len(last), end)
    if key[:1] == b"$":
        last = rest.rpartition(b".")[2]
        return Use(b"." + last, end - len(last), end)
    return Use(key, start, end)


def _sorted_out(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[list[tuple[int, int]], dict[int, tuple[bytes, int]], list[Use]]":
    """Return single names, chains by where they begin, and members of what has no name.

    Of the chains that begin at one place, the longest is returned.
    """
    chains, members, ends = _chains(captures, data)
    plain: list[tuple[int, int]] = []
    for node in captures.get("name", ()):
        start, end = node.start_byte, node.end_byte
        if end in ends or start == end:  # what a parser missed has no bytes
            continue
        before = data[start - 1 : start]
        if before in _BEHIND and (joint := _joint(data, start)):
            first = _receiver(data, start - joint)
            if first < 0:
                members.append(Use(b"." + data[start:end], start, end))
            elif first not in chains or chains[first][1] < end:
                chains[first] = _joined(data[first:end]), end
        elif before not in {b"$", b"\\"}:  # a variable of PHP, a part of a qualified name
            plain.append((start, end))
    return [row for row in plain if row[0] not in chains], chains, members


def _chains(
    captures: "dict[str, list[Any]]", data: bytes
) -> "tuple[dict[int, tuple[bytes, int]], list[Use], set[int]]":
    """Return chains, members, and where the last names of all chains end."""
    begins: dict[int, int] = {}  # of the longest chain that ends at a byte
    chains: dict[int, tuple[bytes, int]] = {}
    members: list[Use] = []
    for node in captures.get("chain", ()):
        end = node.end_byte
        begins[end] = min(node.start_byte, begins.get(end, end))
    for end, start in begins.items():
        text = data[start:end]
        if end - start <= LONGEST_CHAIN and _CHAIN.fullmatch(text):
            if start not in chains or chains[start][1] < end:
                chains[start] = _joined(text), end
        elif last := _LAST.search(text[-LONGEST_CHAIN:]):
            members.append(Use(b"." + last[0], end - len(last[0]), end))
    return chains, members, set(begins)


def _joined(text: bytes) -> bytes:
    root = b"\\" if text[:1] == b"\\" else b""
    return root + _JOINT.sub(b".", text.lstrip(b"\\:"))


def _joint(data: bytes, at: int) -> int:
    """Return how many bytes the joint has that ends at a byte; 0 when there is none."""
    last, before = data[at - 1 : at], data[at - 2 : at - 1]
    if last == b".":
        return 0 if before == b"." else 1
    if last == b":":
        return 2 if before == b":" else 0
    return 2 if before == b"-" else 1  # `->`, or the end of the types in `List.<T>of`


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
    captures: "dict[str, list[Any]]", named: "frozenset[int]"
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
    held: dict[tuple[bytes, int, int], bytes] = {}
    for node, (start, end) in _placed(sorted(nodes, key=lambda node: node.start_byte), scopes):
        key = node.text, start, end
        kind = variable_type(node)
        # one thing here and another there is of no type
        held[key] = kind if held.get(key, kind) == kind else b""
    out: dict[bytes, list[Variable]] = {}
    for (name, start, end), kind in held.items():
        if name not in _SELF:
            out.setdefault(name, []).append(Variable(start, end, kind))
    return out


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
