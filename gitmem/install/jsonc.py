"""Change a settings file of somebody else at the places meant, and leave every other byte as it is.

A document is JSON as people write it: with comments, trailing commas, a byte order mark.
tree-sitter says where things are, so that an edit is a few spans of bytes; see
docs/decisions/agents.md.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import tree_sitter_json
from tree_sitter import Language, Node, Parser

from gitmem.errors import UserError

Edit = tuple[int, int, bytes]  # from, to, what stands there instead
Added = tuple[str, Any]  # a member's key, '' for an element of a list; and its value
# the grammar knows 1e5 and 1e-5, but not 1e+5; in a string or a comment it does not matter
_PLUS = re.compile(rb"([0-9][eE])\+(?=[0-9])")
PASSES = 64  # nested trailing commas are found one level after the other
_KINDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class JsonItem:
    """A member of an object, or an element of a list."""

    key: str
    value: Node
    start: int
    end: int
    comma: int | None  # where the comma behind it is
    before: int  # from where white space leads to it


class Document:
    """A JSON document. Raises UserError that names the place for one that is broken."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self._trailing: set[int] = set()
        tree = self._parse()
        # the object that the document is; None when there is nothing but white space and comments
        self.root = next((node for node in tree.children if node.type != "comment"), None)
        if self.root is not None and self.root.type != "object":
            raise self.refuse(
                self.root,
                f"this is {kind(self.root)} where settings are an object",
                "Mend it in your editor, then run this again.",
            )

    def place(self, at: int) -> str:
        """Return a position as people find it."""
        start = self.data.rfind(b"\n", 0, at) + 1
        head = self.data[start:at].decode("utf-8", "replace").removeprefix("\ufeff")
        lines = self.data.count(b"\n", 0, at)
        return f"line {lines + 1}, column {len(head) + 1}"

    def refuse(self, node: Node, what: str, hint: str) -> UserError:
        """Return the error for a place of the document that cannot be dealt with."""
        return UserError(
            f"{self.name}, {self.place(node.start_byte)}: {what}.", f"{hint} Nothing was changed."
        )

    def _parse(self) -> Node:
        try:
            self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{self.name}, {self.place(error.start)}: this is not UTF-8.",
                "Save it as UTF-8 in your editor, then run this again. Nothing was changed.",
            ) from error
        parser = Parser(Language(tree_sitter_json.language()))
        text = bytearray(_PLUS.sub(rb"\g<1>0", self.data))
        for _ in range(PASSES):
            root = parser.parse(bytes(text)).root_node
            ats = (
                [at for at in map(_trailing_comma, _faults(root)) if at is not None]
                if root.has_error
                else []
            )
            if not ats:
                break
            self._trailing.update(ats)
            for at in ats:
                text[at] = 0x20
        self._check(root, text)
        return root

    def _check(self, root: Node, text: bytearray) -> None:
        """Raise UserError unless the document is one JSON object, or nothing.

        Comments do not count.
        """
        for node in _comments(root):
            text[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
        bare = text.decode("utf-8-sig", "replace")
        if not bare.strip() and not root.has_error:
            return
        hint = "Mend it in your editor, then run this again. Nothing was changed."
        try:
            json.loads(bare)
        except json.JSONDecodeError as error:
            at = (
                len(bare[: error.pos].encode())
                + len(self.data)
                - len(self.data.removeprefix(b"\xef\xbb\xbf"))
            )
            raise UserError(
                f"{self.name}, {self.place(at)}: this is not valid JSON: {error.msg}.", hint
            ) from error
        except RecursionError as error:
            raise UserError(f"{self.name} is nested too deeply.", hint) from error
        if root.has_error:
            raise UserError(
                f"{self.name}, {self.place(next(_faults(root)).start_byte)}: this is not valid "
                f"JSON.",
                hint,
            )

    # -- reading

    def text(self, node: Node) -> str:
        """Return the text of a string."""
        return str(json.loads(self.data[node.start_byte : node.end_byte], strict=False))

    def items(self, node: Node) -> list[JsonItem]:
        """Return what an object or a list holds, in order."""
        out: list[JsonItem] = []
        end, line_comment, open_item = node.start_byte + 1, False, False
        for token in node.children[1:-1]:
            if token.type == ",":
                out[-1] = replace(out[-1], comma=token.start_byte)
                open_item = False
            elif token.type != "comment":
                out.append(self._item(token, token.start_byte if line_comment else end))
                open_item = True
            line_comment = token.type == "comment" and self.data.startswith(b"//", token.start_byte)
            end = token.end_byte
        if open_item and self._trailing:
            after = [at for at in self._trailing if out[-1].end <= at < node.end_byte]
            out[-1] = replace(out[-1], comma=after[0] if after else None)
        return out

    def _item(self, token: Node, lead: int) -> JsonItem:
        is_pair = token.type == "pair"
        key, value = (self.text(token.children[0]), token.children[-1]) if is_pair else ("", token)
        return JsonItem(key, value, token.start_byte, token.end_byte, None, lead)

    def member(self, node: Node, key: str) -> JsonItem | None:
        """Return a member of an object, None when there is none.

        Raises UserError when it is there twice.
        """
        members = [item for item in self.items(node) if item.key == key]
        if len(members) > 1:
            first = self.place(members[0].start)
            raise self.refuse(
                members[1].value,
                f"'{key}' is there twice, first at {first}, and only one of them counts",
                "Make them one.",
            )
        return members[0] if members else None

    def value(self, node: Node) -> Any:
        """Return what a node means."""
        if node.type == "object":
            return {item.key: self.value(item.value) for item in self.items(node)}
        if node.type == "array":
            return [self.value(item.value) for item in self.items(node)]
        return json.loads(self.data[node.start_byte : node.end_byte])

    # -- changing

    def change(
        self,
        node: Node,
        *,
        drop: Collection[int] = (),
        swap: Mapping[int, Any] | None = None,
        add: Sequence[Added] = (),
    ) -> list[Edit]:
        """Return the edits that remove, replace and append items of an object or a list.

        Indices are those of `items`. What else is in there keeps its bytes; of two changes in one
        document, one may be inside an item that the other one keeps.
        """
        items = self.items(node)
        edits: list[Edit] = []
        for n, item in enumerate(items):
            if n in drop:
                edits += self._without(item)
            elif swap and n in swap:
                edits.append(
                    (
                        item.value.start_byte,
                        item.value.end_byte,
                        self._render(swap[n], self._indent_of(item.start)),
                    )
                )
        kept = [item for n, item in enumerate(items) if n not in drop]
        trailing = bool(items) and items[-1].comma is not None
        if kept:
            edits += _comma(kept[-1], is_last=not add and not trailing, is_followed=bool(add))
        elif drop and not add and not any(child.type == "comment" for child in node.children):
            return [(node.start_byte + 1, node.end_byte - 1, b"")]
        if add:
            edits.append(self._appended(node, items, bool(kept), trailing, add))
        return sorted(edits, key=lambda edit: edit[0])

    def whole(self, value: Any) -> list[Edit]:
        """Return the edit that writes a first value into a document that has none."""
        end = len(self.data)
        lead = b"" if not self.data.strip() or self.data.endswith(b"\n") else self._newline
        return [(end, end, lead + self._render(value, "") + self._newline)]

    def _without(self, item: JsonItem) -> list[Edit]:
        if item.comma is None:
            return [(item.before, item.end, b"")]
        if not self.data[item.end : item.comma].strip():
            return [(item.before, item.comma + 1, b"")]
        # a comment stands between them
        return [(item.before, item.end, b""), (item.comma, item.comma + 1, b"")]

    def _appended(
        self, node: Node, items: list[JsonItem], follows: bool, trailing: bool, add: Sequence[Added]
    ) -> Edit:
        ends = [
            child.end_byte - self.data[: child.end_byte].endswith(b"\r")
            for child in node.children[:-1]
        ]
        at = max([ends[-1], *(item.comma + 1 for item in items[-1:] if item.comma is not None)])
        spread = b"\n" in self.data[node.start_byte : node.end_byte]
        root = self.root
        assert root is not None
        own_lines = (
            spread
            or node == root
            or (not items and b"\n" in self.data[root.start_byte : root.end_byte])
        )
        after = b"," if trailing else b""
        if not own_lines:
            rows = [self._member(key, json.dumps(value, ensure_ascii=False)) for key, value in add]
            return at, at, (b" " if follows else b"") + b", ".join(rows) + after
        outer = self._indent_of(node.start_byte)
        indent = next(
            (self._indent_of(item.start) for item in items if self._leads(item.start)),
            outer + self._unit,
        )
        lead = self._newline + indent.encode()
        rows = [self._member(key, self._render(value, indent).decode()) for key, value in add]
        text = lead + (b"," + lead).join(rows) + after
        if b"\n" not in self.data[at : node.end_byte - 1] and not (follows and spread):
            text += self._newline + outer.encode()
        elif (
            self.data.startswith(b"//", node.children[-2].start_byte)
            and b"\n" not in self.data[at : node.end_byte]
        ):
            text += self._newline
        return at, at, text

    @staticmethod
    def _member(key: str, text: str) -> bytes:
        return f"{json.dumps(key, ensure_ascii=False)}: {text}".encode() if key else text.encode()

    def _render(self, value: Any, indent: str) -> bytes:
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return (self._newline + indent.encode()).join(line.encode() for line in lines)

    @cached_property
    def _newline(self) -> bytes:
        first = self.data.find(b"\n")
        return b"\r\n" if first > 0 and self.data[first - 1] == 0x0D else b"\n"

    @cached_property
    def _unit(self) -> str:
        """What one level is indented by here."""
        items = self.items(self.root) if self.root is not None else []
        indent = next(
            (self._indent_of(item.start) for item in items if self._leads(item.start)), ""
        )
        return indent or "  "

    def _indent_of(self, at: int) -> str:
        """Return the white space that the line of a position begins with."""
        start = self.data.rfind(b"\n", 0, at) + 1
        line = self.data[start : start + 400]
        return line[: len(line) - len(line.lstrip(b" \t"))].decode()

    def _leads(self, at: int) -> bool:
        """Say whether a position is the first of its line."""
        start = self.data.rfind(b"\n", 0, at) + 1
        return start > 0 and not self.data[start:at].strip()


def _comma(last: JsonItem, *, is_last: bool, is_followed: bool) -> list[Edit]:
    """Return the change of the comma after the last item that stays."""
    if is_followed and last.comma is None:
        return [(last.end, last.end, b",")]
    if is_last and last.comma is not None:
        return [(last.comma, last.comma + 1, b"")]
    return []


def applied(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return bytes with edits made; of two at one place, the first comes first."""
    out, at = [], 0
    for start, end, text in sorted(edits, key=lambda edit: edit[0]):
        assert start >= at, "edits overlap"
        out += [data[at:start], text]
        at = end
    return b"".join([*out, data[at:]])


def inverse(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that lead back from the edited bytes to these."""
    out: list[Edit] = []
    moved = 0
    for start, end, text in sorted(edits, key=lambda edit: edit[0]):
        out.append((start + moved, start + moved + len(text), data[start:end]))
        moved += len(text) - (end - start)
    return out


def kind(node: Node) -> str:
    """Return what a node is, for people."""
    return _KINDS.get(node.type, "a truth value")


def _faults(root: Node) -> Iterator[Node]:
    """Yield the outermost nodes that are wrong or missing, in order."""
    todo = [root]
    while todo:
        node = todo.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            todo += reversed(node.children)


def _comments(root: Node) -> Iterator[Node]:
    cursor, below = root.walk(), True
    while True:
        if below and cursor.node is not None and cursor.node.type == "comment":
            yield cursor.node
        if (below and cursor.goto_first_child()) or cursor.goto_next_sibling():
            below = True
        elif cursor.goto_parent():
            below = False
        else:
            return


def _trailing_comma(node: Node) -> int | None:
    """Return where a trailing comma is, if it is all that is wrong here.

    It is between the last item and the end of a list or an object.
    """
    around = node.parent
    if around is None or around.type not in {"object", "array"}:
        return None
    tokens = [child for child in around.children if child.type != "comment"]
    at = tokens.index(node)
    if at + 2 != len(tokens) or at < 2:  # what follows is the closing bracket
        return None
    comma = node.children[0] if node.is_error and len(node.children) == 1 else tokens[at - 1]
    before = tokens[at - 1] if comma.parent == node else tokens[at - 2]
    if (
        comma.type != ","
        or before.type in {",", "[", "{"}
        or (node.is_missing and node.start_byte != node.end_byte)
    ):
        return None
    return comma.start_byte
