"""What import statements say, in each language: the module they name and the names they bind.

Pure.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

STAR = "*"
DEFAULT = "default"
INLINE = "inside "
WHOLE = "="  # what a CommonJS module is


class Import(NamedTuple):
    """One import as it is written; line from 1.

    `module` is what is named, with `.` between its parts where the language has names, and as it is
    where it has paths. `names` are (name there, name here) of what is taken out of it, `*` for all.
    `alias` is what the module itself is called here. `how` is '' or what tells the rules apart:
    `export` (passed on to whoever imports this file), `mod`, `include`, `relative`, `path`,
    `static`, `global`, `system`, `inside` with the modules of Rust around it in its own file.
    """

    module: str
    names: tuple[tuple[str, str], ...] = ()
    alias: str = ""
    line: int = 0
    how: str = ""


def read(
    captures: "dict[str, list[Any]]", language: str
) -> tuple[tuple[Import, ...], tuple[tuple[str, str], ...]]:
    """Return the imports of a file in order, and what it exports under other names.

    Each of these exports is (name outside, name inside).
    """
    reader = _READERS[language]
    nodes = sorted(captures.get("import", ()), key=lambda node: (node.start_byte, node.end_byte))
    out: list[Import] = []
    for node in nodes:
        line = node.start_point[0] + 1
        out += [one._replace(line=line) for one in reader(node)]
    exported: set[tuple[str, str]] = set()
    for node in captures.get("export", ()):
        is_common = node.type == "assignment_expression"
        exported |= set(_common_js(node) if is_common else _ecma_exports(node))
    return tuple(out), tuple(sorted(exported))


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace")) if node is not None else ""


def _string(node: Any) -> str:
    """Return what a literal says, without its quotes."""
    return _text(node).strip("\"'`<>")


# -- Python


def _python(node: Any) -> Iterator[Import]:
    if node.type == "import_statement":
        for one in node.children_by_field_name("name"):
            if one.type == "aliased_import":
                yield Import(
                    _text(one.child_by_field_name("name")),
                    (),
                    _text(one.child_by_field_name("alias")),
                )
            else:
                yield Import(name := "".join(_text(one).split()), (), name)
        return
    module = "".join(_text(node.child_by_field_name("module_name")).split())
    names = []
    for one in node.children_by_field_name("name"):
        if one.type == "aliased_import":
            names.append(
                (_text(one.child_by_field_name("name")), _text(one.child_by_field_name("alias")))
            )
        else:
            names.append((_text(one), _text(one)))
    if any(child.type == "wildcard_import" for child in node.named_children):
        names.append((STAR, STAR))
    yield Import(module, tuple(names))


# -- JavaScript and TypeScript


def _ecma(node: Any) -> Iterator[Import]:  # noqa: C901
    if node.type == "call_expression":
        yield from _ecma_call(node)
        return
    passed = node.type == "export_statement"
    source = node.child_by_field_name("source")
    names: list[tuple[str, str]] = []
    alias, clause = "", False
    for child in node.named_children:
        if child.type == "import_require_clause":
            yield Import(
                _string(child.child_by_field_name("source")), (), _text(child.named_children[0])
            )
            return
        if child.type in {"import_clause", "export_clause"}:
            clause = True
            parts = child.named_children if child.type == "import_clause" else [child]
            for part in parts:
                if part.type == "identifier":
                    names.append((DEFAULT, _text(part)))
                elif part.type == "namespace_import":
                    alias = _text(part.named_children[-1]) if part.named_children else ""
                else:
                    for one in part.named_children:
                        if one.type in {"import_specifier", "export_specifier"}:
                            name = _string(one.child_by_field_name("name"))
                            names.append((name, _string(one.child_by_field_name("alias")) or name))
        elif child.type == "namespace_export":
            clause, alias = True, _string(child.named_children[-1]) if child.named_children else ""
    if passed and not clause:
        names.append((STAR, STAR))
    if source is not None:
        yield Import(_string(source), tuple(names), alias, how="export" if passed else "")


def _ecma_call(node: Any) -> Iterator[Import]:
    arguments = node.child_by_field_name("arguments")
    module = _string(arguments.named_children[0])
    parent = node.parent
    member = ""
    while parent is not None and parent.type in {
        "await_expression",
        "parenthesized_expression",
        "member_expression",
    }:
        if parent.type == "member_expression":
            member = _text(parent.child_by_field_name("property"))
        parent = parent.parent
    names: list[tuple[str, str]] = []
    alias = ""
    if parent is not None and parent.type == "variable_declarator":
        bound = parent.child_by_field_name("name")
        if bound.type == "identifier":
            if member:
                names.append((member, _text(bound)))
            else:
                alias = _text(bound)
        elif bound.type == "object_pattern":
            for one in bound.named_children:
                if one.type == "shorthand_property_identifier_pattern":
                    names.append((_text(one), _text(one)))
                elif one.type == "pair_pattern":
                    names.append(
                        (
                            _text(one.child_by_field_name("key")),
                            _text(one.child_by_field_name("value")),
                        )
                    )
    yield Import(module, tuple(names), alias)


def _common_js(node: Any) -> Iterator[tuple[str, str]]:
    """Yield what a module is by `module.exports = Cart`."""
    right = node.child_by_field_name("right")
    name = right if right.type == "identifier" else right.child_by_field_name("name")
    if name is not None:
        yield WHOLE, _text(name)


def _ecma_exports(node: Any) -> Iterator[tuple[str, str]]:
    if node.child_by_field_name("source") is not None:
        return
    if any(child.type == "default" for child in node.children):
        inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
        if inner is not None:
            name = inner if inner.type == "identifier" else inner.child_by_field_name("name")
            if name is not None:
                yield DEFAULT, _text(name)
    for child in node.named_children:
        if child.type == "export_clause":
            for one in child.named_children:
                name, alias = (
                    _text(one.child_by_field_name("name")),
                    _text(one.child_by_field_name("alias")),
                )
                if name and alias and alias != name:
                    yield alias, name


# -- Rust


def _rust(node: Any) -> Iterator[Import]:
    if node.type == "mod_item":
        yield _rust_module(node)
    elif node.type == "extern_crate_declaration":
        name = _text(node.child_by_field_name("name"))
        yield Import(name, (), _text(node.child_by_field_name("alias")) or name)
    elif (argument := node.child_by_field_name("argument")) is not None:
        passed = any(child.type == "visibility_modifier" for child in node.children)
        inline = ".".join(_rust_inline(node))
        for path, here in _rust_tree(argument, ""):
            is_near = path.partition(".")[0] in {"self", "super"}
            how = "export" if passed else ""
            yield _rust_use(path, here, INLINE + inline if inline and is_near else how)


def _rust_use(path: str, here: str, how: str) -> Import:
    module, _, name = path.rpartition(".")
    if module:
        return Import(module, ((name, here),), how=how)
    return Import(name, (), here, how=how)


def _rust_module(node: Any) -> Import:
    path = ""
    before = node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        text = _text(before)
        if text.startswith("#[path"):
            path = text.partition("=")[2].strip(' "]')
        before = before.prev_named_sibling
    name = _text(node.child_by_field_name("name"))
    return Import(path or name, (), name, how="path" if path else "mod")


def _rust_inline(node: Any) -> list[str]:
    """Return the modules that are written around a node in its file, the outermost first."""
    names: list[str] = []
    around = node.parent
    while around is not None:
        if around.type == "mod_item":
            names.insert(0, _text(around.child_by_field_name("name")))
        around = around.parent
    return names


def _rust_tree(node: Any, before: str) -> Iterator[tuple[str, str]]:
    """Yield (dotted path, name here) of each leaf of a use tree.

    `self` names the path before it.
    """

    def joined(part: str) -> str:
        part = part.replace("::", ".").replace(" ", "").strip(".")
        return f"{before}.{part}" if before and part else before or part

    kind = node.type
    if kind == "use_as_clause":
        yield (
            joined(_text(node.child_by_field_name("path"))),
            _text(node.child_by_field_name("alias")),
        )
    elif kind == "use_wildcard":
        inner = node.named_children[0] if node.named_children else None
        yield joined(_text(inner)) + "." + STAR, STAR
    elif kind == "scoped_use_list":
        inside = joined(_text(node.child_by_field_name("path")))
        for child in node.child_by_field_name("list").named_children:
            yield from _rust_tree(child, inside)
    elif kind == "use_list":
        for child in node.named_children:
            yield from _rust_tree(child, before)
    elif kind == "self":
        yield before, before.rpartition(".")[2]
    elif kind in {"identifier", "scoped_identifier", "crate", "super"}:
        path = joined(_text(node))
        yield path, path.rpartition(".")[2]


# -- Go, Java, C, Ruby, C#, PHP


def _go(node: Any) -> Iterator[Import]:
    name = node.child_by_field_name("name")
    module = _string(node.child_by_field_name("path"))
    if name is not None and name.type == "dot":
        yield Import(module, ((STAR, STAR),))
    elif name is not None:
        yield Import(module, (), "" if name.type == "blank_identifier" else _text(name))
    else:
        last = module.rstrip("/").rpartition("/")[2]
        # a major version is not the package's name
        if last[:1] == "v" and last[1:].isdigit() and "/" in module:
            last = module.rstrip("/").split("/")[-2]
        yield Import(module, (), last.removeprefix("go-").split(".")[0].replace("-", "_"))


def _java(node: Any) -> Iterator[Import]:
    path = next(
        (
            _text(child)
            for child in node.named_children
            if child.type in {"scoped_identifier", "identifier"}
        ),
        "",
    )
    static = "static" if any(child.type == "static" for child in node.children) else ""
    if any(child.type == "asterisk" for child in node.named_children):
        yield Import(path, ((STAR, STAR),), how=static)
    else:
        module, _, name = path.rpartition(".")
        yield Import(module, ((name, name),), how=static)


def _c(node: Any) -> Iterator[Import]:
    path = node.child_by_field_name("path")
    if path is not None and path.type in {"string_literal", "system_lib_string"}:
        yield Import(
            _string(path),
            ((STAR, STAR),),
            how="include" if path.type == "string_literal" else "system",
        )


def _ruby(node: Any) -> Iterator[Import]:
    called = _text(node.child_by_field_name("method"))
    text = next(
        (
            child
            for child in node.child_by_field_name("arguments").named_children
            if child.type == "string"
        ),
        None,
    )
    if text is not None and not any(child.type == "interpolation" for child in text.named_children):
        yield Import(_string(text), (), how="relative" if called == "require_relative" else "")


def _csharp(node: Any) -> Iterator[Import]:
    kinds = {child.type for child in node.children}
    how = "global" if "global" in kinds else ""
    name = node.child_by_field_name("name")
    parts = [
        child
        for child in node.named_children
        if name is None or child.start_byte != name.start_byte
    ]
    path = _text(parts[-1]) if parts else ""
    if name is not None and path:
        module, _, last = path.rpartition(".")
        yield Import(module, ((last, _text(name)),), how=how)
    elif "static" in kinds:
        yield Import(path, ((STAR, STAR),), how="static")
    elif path:
        yield Import(path, ((STAR, STAR),), how=how)


def _php(node: Any) -> Iterator[Import]:
    if node.type != "namespace_use_declaration":
        inside = [node]
        while inside:
            one = inside.pop()
            if one.type in {"string", "encapsed_string"}:
                yield Import(_string(one), (), how="include")
                return
            inside += one.named_children
        return
    group = node.child_by_field_name("body")
    before = ""
    if group is not None:
        before = next(
            (_text(child) for child in node.named_children if child.type == "namespace_name"), ""
        )
    for clause in (group or node).named_children:
        if clause.type != "namespace_use_clause":
            continue
        alias = clause.child_by_field_name("alias")
        path = next(
            (
                _text(child)
                for child in clause.named_children
                if alias is None or child.start_byte != alias.start_byte
            ),
            "",
        )
        full = f"{before}\\{path}".strip("\\").replace("\\", ".")
        module, _, name = full.rpartition(".")
        yield Import(module, ((name, _text(alias) or name),))


_READERS: "dict[str, Callable[[Any], Iterator[Import]]]" = {
    "python": _python,
    "javascript": _ecma,
    "typescript": _ecma,
    "tsx": _ecma,
    "rust": _rust,
    "go": _go,
    "java": _java,
    "c": _c,
    "cpp": _c,
    "ruby": _ruby,
    "csharp": _csharp,
    "php": _php,
}
