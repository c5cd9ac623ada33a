"""The type that a variable is declared with, or made of: `Cart cart`, `cart = new Cart()`. Pure.

Only a type that is a plain name counts. What a call returns is not known.
"""

from typing import Any

_NAMES = frozenset({"type_identifier", "identifier", "name", "constant"})
_AROUND_TYPES = frozenset(
    {"type", "pointer_type", "reference_type", "type_annotation", "named_type", "nullable_type"}
)
# what stands between a variable's name and its declaration
_AROUND_NAMES = frozenset(
    {
        "variable_declarator",
        "init_declarator",
        "reference_declarator",
        "pointer_declarator",
        "expression_list",
    }
)
# what these have on the right side is no value of the variable, or not always
_NO_VALUE = frozenset(
    {
        "default_parameter",
        "assignment_pattern",
        "augmented_assignment",
        "for_statement",
        "for_in_clause",
        "for_in_statement",
        "for_range_loop",
        "for_expression",
        "foreach_statement",
        "enhanced_for_statement",
        "range_clause",
    }
)
_MAKERS = frozenset({"new", "default"})  # of Rust, by convention


def variable_type(node: Any) -> bytes:
    """Return the name of the type of a variable where it is bound, b'' if it is not known."""
    parents: list[Any] = []
    parent = node.parent
    while parent is not None and len(parents) < 4:
        parents.append(parent)
        if parent.type not in _AROUND_NAMES:
            break
        parent = parent.parent
    for parent in parents:
        kind = parent.child_by_field_name("type")
        if kind is not None and _is_written(kind):
            return _plain(kind)
    for parent in parents:
        if (value := _value(parent)) is not None:
            return _made(value) if _is_left(node, parent) else b""
    return b""


def _value(parent: Any) -> Any:
    """Return what a variable is set to where it is bound, None if it is not."""
    if parent.type in _NO_VALUE:
        return None
    value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
    if value is None and parent.type == "variable_declarator" and parent.named_child_count == 2:
        return parent.named_children[1]  # of C#
    return value


def _is_written(kind: Any) -> bool:
    return kind.type not in {"implicit_type", "placeholder_type_specifier"} and kind.text != b"var"


def _is_left(node: Any, parent: Any) -> bool:
    """Say whether a variable is all that is on the left side of an assignment."""
    left = next(
        (
            child
            for name in ("left", "name", "pattern", "declarator")
            if (child := parent.child_by_field_name(name)) is not None
        ),
        None,
    )
    return left is not None and left.text == node.text


def _plain(kind: Any) -> bytes:
    """Return a type that is a name, behind pointers and references; b'' for any other."""
    while kind.named_child_count:
        if kind.type in _AROUND_TYPES:
            kind = kind.named_children[-1]
        elif kind.type in {"generic_type", "generic_name"}:
            kind = kind.named_children[0]
        else:
            break
    return bytes(kind.text) if kind.type in _NAMES else b""


def _made(value: Any) -> bytes:
    """Return the type of what an expression makes, b'' when it does not say so."""
    if value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    if value.type == "unary_expression" and value.named_child_count:  # `&Cart{}`
        value = value.named_children[0]
    kind = None
    if value.type == "new_expression":
        kind = value.child_by_field_name("constructor")
    elif value.type in {"object_creation_expression", "composite_literal"}:
        kind = value.child_by_field_name("type") or (value.named_children or [None])[0]
    elif value.type == "struct_expression":
        kind = value.child_by_field_name("name")
    elif value.type == "call":  # of Python and Ruby
        kind = value.child_by_field_name("function")
        method = value.child_by_field_name("method")
        if method is not None and method.text == b"new":
            kind = value.child_by_field_name("receiver")
    elif value.type == "call_expression":
        kind = _maker(value.child_by_field_name("function"))
    return _plain(kind) if kind is not None else b""


def _maker(function: Any) -> Any:
    """Return the type in `Cart::new`, None for other calls."""
    if function is None or function.type != "scoped_identifier":
        return None
    name = function.child_by_field_name("name")
    return function.child_by_field_name("path") if name.text.decode() in _MAKERS else None
