"""Adds our hooks to somebody's settings, updates old ones and removes them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from gitmem.install import hook_command
from gitmem.install.jsonc import Added, Document, Edit, kind
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
    out = MergedSettings()
    root = doc.root
    wanted = {} if remove else {event: list(items) for event, items in form.events.items()}
    defaults = {} if remove else form.defaults
    if root is None:
        if not remove:
            out.edits = doc.whole({"hooks": wanted, **_nested(defaults)})
            out.defaults = [".".join(path) for path in defaults]
        return out
    hooks = doc.member(root, "hooks")
    drop: set[int] = set()
    add: list[Added] = []
    keys = [item.key for item in doc.items(root)]
    if hooks is None:
        if wanted:
            add.append(("hooks", wanted))
    else:
        if hooks.value.type != "object":
            raise doc.refuse(
                hooks.value,
                f"'hooks' is {kind(hooks.value)} where {agent} has an object of events",
                HINT,
            )
        edits, left = _events(doc, hooks.value, agent, form, wanted, out)
        if left:
            out.edits += edits
        else:
            drop.add(keys.index("hooks"))
    for path, value in defaults.items():
        add += _default(doc, root, path, value, out)
    for name in made if remove else ():
        dropped = _undefault(doc, root, name.split("."), form, out)
        drop |= {keys.index(dropped)} if dropped else set()
    out.edits += doc.change(root, drop=drop, add=add)
    out.empty = remove and len(drop) == len(keys) > 0
    return out


def _nested(defaults: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for (*sections, last), value in defaults.items():
        at = out
        for section in sections:
            at = at.setdefault(section, {})
        at[last] = value
    return out


def _events(
    doc: Document,
    node: Node,
    agent: str,
    form: Form,
    wanted: dict[str, list[Any]],
    out: MergedSettings,
) -> tuple[list[Edit], bool]:
    """Return the edits of the object of events, and whether anything is left in it."""
    edits: list[Edit] = []
    drop: set[int] = set()
    items = doc.items(node)
    for n, item in enumerate(items):
        if item.key in wanted:
            doc.member(node, item.key)  # raises when it is there twice
            if item.value.type != "array":
                raise doc.refuse(
                    item.value,
                    f"'{item.key}' is {kind(item.value)} where {agent} has a list of hooks",
                    HINT,
                )
        if item.value.type != "array":
            continue
        found, left = _list(doc, item.value, agent, form, wanted.get(item.key, []), out)
        if left:
            edits += found
        else:
            drop.add(n)
    there = {item.key for item in items}
    add: list[Added] = [(event, items_) for event, items_ in wanted.items() if event not in there]
    edits += doc.change(node, drop=drop, add=add)
    return edits, not drop or bool(add) or len(drop) < len(items)


def _list(
    doc: Document,
    node: Node,
    agent: str,
    form: Form,
    items: list[dict[str, Any]],
    out: MergedSettings,
) -> tuple[list[Edit], bool]:
    """Return the edits of one event's list, and whether anything is left that was not ours."""
    edits: list[Edit] = []
    drop: set[int] = set()
    swap: dict[int, Any] = {}
    custom = False
    rows = doc.items(node)
    # what is not there yet; rows that are right already are not given to another
    todo = list(items)
    for row in rows:
        if (value := doc.value(row.value)) in todo:
            todo.remove(value)
    kept = [item for item in items if item not in todo]
    for n, row in enumerate(rows):
        inner = _inner(doc, row.value) if form.grouped else None
        handlers = (
            [handler.value for handler in doc.items(inner)]
            if inner
            else []
            if form.grouped
            else [row.value]
        )
        calls = [_call(doc, handler, agent, form, out) for handler in handlers]
        custom = custom or "custom" in calls
        mine = {i for i, call in enumerate(calls) if call == "ours"}
        if not mine:
            continue
        if len(mine) == len(handlers):  # a group of ours, or a handler
            value = doc.value(row.value)
            if value in kept and not custom:
                kept.remove(value)
            elif todo and not custom:
                swap[n] = todo.pop(0)
            else:
                drop.add(n)
        elif inner:  # somebody's group has ours beside theirs
            matcher = doc.member(row.value, "matcher")
            pattern = doc.value(matcher.value) if matcher else None
            item = (
                next((one for one in todo if one.get("matcher") == pattern), None)
                if not custom
                else None
            )
            first = min(mine)
            again = (
                {first: item["hooks"][0]}
                if item is not None and doc.value(handlers[first]) != item["hooks"][0]
                else {}
            )
            edits += doc.change(
                inner, drop=mine - {first} if item is not None else mine, swap=again
            )
            if item is not None:
                todo.remove(item)
    add: list[Added] = [("", item) for item in todo] if not custom else []
    edits += doc.change(node, drop=drop, swap=swap, add=add)
    return edits, not drop or bool(add) or len(drop) < len(rows)


def _inner(doc: Document, node: Node) -> Node | None:
    """Return the list of a group's handlers."""
    found = (
        next((item.value for item in doc.items(node) if item.key == "hooks"), None)
        if node.type == "object"
        else None
    )
    return found if found is not None and found.type == "array" else None


def _call(doc: Document, node: Node, agent: str, form: Form, out: MergedSettings) -> str:
    """Return whose a handler is: `ours`, `custom` or nothing.

    The value `custom` is for one of the user's that calls us.
    """
    for item in doc.items(node) if node.type == "object" else ():
        if item.key in form.fields and item.value.type == "string":
            text = doc.text(item.value)
            call = hook_command.parse(text)
            if call and call.agent == agent:
                out.ours.append(call)
                return "ours"
            if hook_command.calls(text, agent):
                out.custom.append(doc.data.count(b"\n", 0, item.start) + 1)
                return "custom"
    return ""


def _default(
    doc: Document, root: Node, path: tuple[str, ...], value: Any, out: MergedSettings
) -> list[Added]:
    """Return what to add to the root for a default.

    One inside of a section that is there becomes an edit of that.
    """
    section, *rest = path
    found = doc.member(root, section)
    name = ".".join(path)
    if found is None:
        out.defaults.append(name)
        return [(section, _nested({tuple(rest): value}) if rest else value)]
    if rest and found.value.type == "object" and doc.member(found.value, rest[0]) is None:
        out.defaults.append(name)
        out.edits += doc.change(found.value, add=[(rest[0], value)])
    return []


def _undefault(doc: Document, root: Node, path: list[str], form: Form, out: MergedSettings) -> str:
    """Take back a default that was not changed since.

    Return the key of the root that goes with it.
    """
    found = doc.member(root, path[0])
    if found is None or form.defaults.get(tuple(path)) is None:
        return ""
    if len(path) == 1:
        return path[0] if doc.value(found.value) == form.defaults[tuple(path)] else ""
    items = doc.items(found.value) if found.value.type == "object" else []
    at = next((n for n, item in enumerate(items) if item.key == path[1]), None)
    if at is None or doc.value(items[at].value) != form.defaults[tuple(path)]:
        return ""
    if len(items) == 1:
        return path[0]
    out.edits += doc.change(found.value, drop={at})
    return ""
