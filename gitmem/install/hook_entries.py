"""Adds our hooks to somebody's settings, updates old ones and removes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from gitmem.install import hook_command
from gitmem.install.jsonc import Added, Document, Edit, JsonItem, kind
from gitmem.install.settings_formats import Form

HINT = "Mend it in your editor, then run this again."


@dataclass(slots=True)
class MergedSettings:
    """What is to be done to a document.

    `ours` are the calls of ours that it had, `custom` lines with commands that call us in another
    way.
    """

    edits: list[Edit] = field(default_factory=list)
    ours: list[hook_command.Call] = field(default_factory=list)
    custom: list[int] = field(default_factory=list)
    # settings beside the hooks that are written, or removed
    defaults: list[str] = field(default_factory=list)
    empty: bool = False  # nothing is left


def merge(
    doc: Document, agent: str, form: Form, *, remove: bool = False, made: tuple[str, ...] = ()
) -> MergedSettings:
    """Return what makes a document hold a form, or hold nothing of ours.

    `made` are the defaults that we wrote earlier.
    """
    merging = _SettingsMerge(doc, agent, form, MergedSettings())
    if remove:
        merging.take_out(made)
    else:
        merging.put_in()
    return merging.result


@dataclass(slots=True)
class _SettingsMerge:
    """One document on its way to hold a form; the edits gather in `result`."""

    doc: Document
    agent: str
    form: Form
    result: MergedSettings

    def put_in(self) -> None:
        """Add the hooks and defaults of the form that are not there."""
        root = self.doc.root
        wanted = {event: list(items) for event, items in self.form.events.items()}
        if root is None:
            self.result.edits = self.doc.whole({"hooks": wanted, **_nested(self.form.defaults)})
            self.result.defaults = [".".join(path) for path in self.form.defaults]
            return
        hooks = self._hooks(root)
        add: list[Added] = []
        if hooks is not None:
            self.result.edits += self._events(hooks, wanted)[0]
        elif wanted:
            add.append(("hooks", wanted))
        for path, value in self.form.defaults.items():
            add += self._default(root, path, value)
        self.result.edits += self.doc.change(root, add=add)

    def take_out(self, made: tuple[str, ...]) -> None:
        """Remove our hooks, and the defaults that we wrote and nobody changed."""
        root = self.doc.root
        if root is None:
            return
        keys = [item.key for item in self.doc.items(root)]
        drop: set[int] = set()
        hooks = self._hooks(root)
        if hooks is not None:
            edits, is_left = self._events(hooks, {})
            if is_left:
                self.result.edits += edits
            else:
                drop.add(keys.index("hooks"))
        for name in made:
            if dropped := self._undefault(root, name.split(".")):
                drop.add(keys.index(dropped))
        self.result.edits += self.doc.change(root, drop=drop)
        self.result.empty = len(drop) == len(keys) > 0

    def _hooks(self, root: Node) -> Node | None:
        """Return the object of events."""
        hooks = self.doc.member(root, "hooks")
        if hooks is not None and hooks.value.type != "object":
            raise self.doc.refuse(
                hooks.value,
                f"'hooks' is {kind(hooks.value)} where {self.agent} has an object of events",
                HINT,
            )
        return hooks.value if hooks is not None else None

    def _events(self, node: Node, wanted: dict[str, list[Any]]) -> tuple[list[Edit], bool]:
        """Return the edits of the object of events, and whether anything is left in it."""
        edits: list[Edit] = []
        drop: set[int] = set()
        items = self.doc.items(node)
        for n, item in enumerate(items):
            if item.key in wanted:
                self._check_event(node, item)
            if item.value.type != "array":
                continue
            changes, is_left = _ListMerge(self, item.value, wanted.get(item.key, [])).edits()
            if is_left:
                edits += changes
            else:
                drop.add(n)
        there = {item.key for item in items}
        add: list[Added] = [(event, rows) for event, rows in wanted.items() if event not in there]
        edits += self.doc.change(node, drop=drop, add=add)
        return edits, not drop or bool(add) or len(drop) < len(items)

    def _check_event(self, node: Node, item: JsonItem) -> None:
        self.doc.member(node, item.key)  # raises when it is there twice
        if item.value.type != "array":
            raise self.doc.refuse(
                item.value,
                f"'{item.key}' is {kind(item.value)} where {self.agent} has a list of hooks",
                HINT,
            )

    def handlers(self, row: Node) -> list[Node]:
        """Return the handlers of a row of an event's list: those of a group, or the row."""
        if not self.form.grouped:
            return [row]
        inner = _inner(self.doc, row)
        return [handler.value for handler in self.doc.items(inner)] if inner else []

    def owner(self, node: Node) -> str:
        """Return whose a handler is: `ours`, `custom` or nothing.

        The value `custom` is for one of the user's that calls us.
        """
        for item in self.doc.items(node) if node.type == "object" else ():
            if item.key in self.form.fields and item.value.type == "string":
                text = self.doc.text(item.value)
                call = hook_command.parse(text)
                if call and call.agent == self.agent:
                    self.result.ours.append(call)
                    return "ours"
                if hook_command.calls(text, self.agent):
                    self.result.custom.append(self.doc.data.count(b"\n", 0, item.start) + 1)
                    return "custom"
        return ""

    def _default(self, root: Node, path: tuple[str, ...], value: Any) -> list[Added]:
        """Return what to add to the root for a default.

        One inside of a section that is there becomes an edit of that.
        """
        section, *rest = path
        member = self.doc.member(root, section)
        name = ".".join(path)
        if member is None:
            self.result.defaults.append(name)
            return [(section, _nested({tuple(rest): value}) if rest else value)]
        if rest and member.value.type == "object" and not self.doc.member(member.value, rest[0]):
            self.result.defaults.append(name)
            self.result.edits += self.doc.change(member.value, add=[(rest[0], value)])
        return []

    def _undefault(self, root: Node, path: list[str]) -> str:
        """Take back a default that was not changed since.

        Return the key of the root that goes with it.
        """
        member = self.doc.member(root, path[0])
        default = self.form.defaults.get(tuple(path))
        if member is None or default is None:
            return ""
        if len(path) == 1:
            return path[0] if self.doc.value(member.value) == default else ""
        items = self.doc.items(member.value) if member.value.type == "object" else []
        at = next((n for n, item in enumerate(items) if item.key == path[1]), None)
        if at is None or self.doc.value(items[at].value) != default:
            return ""
        if len(items) == 1:
            return path[0]
        self.result.edits += self.doc.change(member.value, drop={at})
        return ""


class _ListMerge:
    """One event's list on its way to hold the wanted entries instead of ours in it."""

    def __init__(self, merging: _SettingsMerge, node: Node, wanted: list[dict[str, Any]]) -> None:
        self.merging = merging
        self.doc = merging.doc
        self.node = node
        self.rows = self.doc.items(node)
        # what is not there yet; rows that are right already are not given to another
        self.todo = list(wanted)
        for row in self.rows:
            if (value := self.doc.value(row.value)) in self.todo:
                self.todo.remove(value)
        self.kept = [item for item in wanted if item not in self.todo]
        self.has_custom = False  # the user calls us in another way: nothing is added
        self.changes: list[Edit] = []
        self.drop: set[int] = set()
        self.swap: dict[int, Any] = {}

    def edits(self) -> tuple[list[Edit], bool]:
        """Return the edits, and whether anything is left that was not ours."""
        for n, row in enumerate(self.rows):
            self._change_row(n, row.value)
        add: list[Added] = [] if self.has_custom else [("", item) for item in self.todo]
        edits = self.changes + self.doc.change(self.node, drop=self.drop, swap=self.swap, add=add)
        return edits, not self.drop or bool(add) or len(self.drop) < len(self.rows)

    def _change_row(self, n: int, row: Node) -> None:
        handlers = self.merging.handlers(row)
        owners = [self.merging.owner(handler) for handler in handlers]
        self.has_custom = self.has_custom or "custom" in owners
        ours = {i for i, owner in enumerate(owners) if owner == "ours"}
        if ours and len(ours) == len(handlers):
            self._replace_row(n)
        elif ours:
            self._replace_handlers(row, handlers, ours)

    def _replace_row(self, n: int) -> None:
        """Keep, replace or drop a group of ours, or a handler."""
        value = self.doc.value(self.rows[n].value)
        if value in self.kept and not self.has_custom:
            self.kept.remove(value)
        elif self.todo and not self.has_custom:
            self.swap[n] = self.todo.pop(0)
        else:
            self.drop.add(n)

    def _replace_handlers(self, group: Node, handlers: list[Node], ours: set[int]) -> None:
        """Replace the first of our handlers in somebody's group, and drop the others."""
        inner = _inner(self.doc, group)
        assert inner is not None
        entry = None if self.has_custom else self._wanted_for(group)
        if entry is None:
            self.changes += self.doc.change(inner, drop=ours)
            return
        self.todo.remove(entry)
        first, hook = min(ours), entry["hooks"][0]
        is_same = self.doc.value(handlers[first]) == hook
        swap = {} if is_same else {first: hook}
        self.changes += self.doc.change(inner, drop=ours - {first}, swap=swap)

    def _wanted_for(self, group: Node) -> dict[str, Any] | None:
        """Return the wanted entry with the matcher of a group."""
        matcher = self.doc.member(group, "matcher")
        pattern = self.doc.value(matcher.value) if matcher else None
        for entry in self.todo:
            if entry.get("matcher") == pattern:
                return entry
        return None


def _nested(defaults: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for (*sections, last), value in defaults.items():
        at = out
        for section in sections:
            at = at.setdefault(section, {})
        at[last] = value
    return out


def _inner(doc: Document, node: Node) -> Node | None:
    """Return the list of a group's handlers."""
    handlers = (
        next((item.value for item in doc.items(node) if item.key == "hooks"), None)
        if node.type == "object"
        else None
    )
    return handlers if handlers is not None and handlers.type == "array" else None
