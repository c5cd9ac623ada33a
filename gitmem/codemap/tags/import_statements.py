"""What import statements say, in each language: the module they name and the names they bind.

Pure.
"""

from collections.abc import Callable, Container, Iterator
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
        out += [made._replace(line=line) for made in reader(node)]
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


def _first(node: Any, types: Container[str]) -> Any:
    """Return the first named child of one of some types, None if there is none."""
    return next((child for child in node.named_children if child.type in types), None)


def _name_and_alias(node: Any) -> tuple[str, str]:
    return _text(node.child_by_field_name("name")), _text(node.child_by_field_name("alias"))


# -- Python


def _python(node: Any) -> Iterator[Import]:
    if node.type == "import_statement":
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, alias = _name_and_alias(child)
                yield Import(name, (), alias)
            else:
                yield Import(name := "".join(_text(child).split()), (), name)
        return
    module = "".join(_text(node.child_by_field_name("module_name")).split())
    names = []
    for child in node.children_by_field_name("name"):
        is_aliased = child.type == "aliased_import"
        names.append(_name_and_alias(child) if is_aliased else (_text(child), _text(child)))
    if any(child.type == "wildcard_import" for child in node.named_children):
        names.append((STAR, STAR))
    yield Import(module, tuple(names))


# -- JavaScript and TypeScript


def _ecma(node: Any) -> Iterator[Import]:
    if node.type == "call_expression":
        yield _ecma_call(node)
        return
    clauses = {child.type: child for child in node.named_children if child.type in _ECMA_CLAUSES}
    if (required := clauses.get("import_require_clause")) is not None:
        source = required.child_by_field_name("source")
        yield Import(_string(source), (), _text(required.named_children[0]))
        return
    source = node.child_by_field_name("source")
    if source is None:
        return
    is_export = node.type == "export_statement"
    imported = clauses.pop("import_clause", None)
    parts = [*(imported.named_children if imported is not None else ()), *clauses.values()]
    names = [pair for part in parts for pair in _ecma_names(part)]
    if is_export and not parts:
        names = [(STAR, STAR)]
    alias = ""
    for part in parts:
        if part.type in {"namespace_import", "namespace_export"} and part.named_children:
            alias = _string(part.named_children[-1])
    yield Import(_string(source), tuple(names), alias, how="export" if is_export else "")


_ECMA_CLAUSES = {"import_clause", "export_clause", "namespace_export", "import_require_clause"}


def _ecma_names(part: Any) -> Iterator[tuple[str, str]]:
    """Yield (name there, name here) of a part of an import or export clause."""
    if part.type == "identifier":
        yield DEFAULT, _text(part)
        return
    for child in part.named_children:
        if child.type in {"import_specifier", "export_specifier"}:
            name = _string(child.child_by_field_name("name"))
            yield name, _string(child.child_by_field_name("alias")) or name


def _ecma_call(node: Any) -> Import:
    """Return what `import(...)` or `require(...)` reads, and what it is bound to."""
    module = _string(node.child_by_field_name("arguments").named_children[0])
    parent = node.parent
    member = ""
    while parent is not None and parent.type in _AROUND_CALL:
        if parent.type == "member_expression":
            member = _text(parent.child_by_field_name("property"))
        parent = parent.parent
    if parent is None or parent.type != "variable_declarator":
        return Import(module)
    bound = parent.child_by_field_name("name")
    if bound.type == "object_pattern":
        return Import(module, tuple(_pattern_names(bound)))
    if bound.type != "identifier":
        return Import(module)
    return Import(
        module, ((member, _text(bound)),) if member else (), "" if member else _text(bound)
    )


_AROUND_CALL = {"await_expression", "parenthesized_expression", "member_expression"}


def _pattern_names(pattern: Any) -> Iterator[tuple[str, str]]:
    """Yield (name there, name here) of such as `{ total, tax: vat }`."""
    for child in pattern.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield _text(child), _text(child)
        elif child.type == "pair_pattern":
            there, here = (child.child_by_field_name(field) for field in ("key", "value"))
            yield _text(there), _text(here)


def _common_js(node: Any) -> Iterator[tuple[str, str]]:
    """Yield what a module is by `module.exports = Cart`."""
    name = _own_name(node.child_by_field_name("right"))
    if name:
        yield WHOLE, name


def _own_name(node: Any) -> str:
    """Return what an expression or a definition is called, '' for one without a name."""
    return _text(node if node.type == "identifier" else node.child_by_field_name("name"))


def _default_export(node: Any) -> str:
    """Return the name of what a statement exports as the default; empty where there is none."""
    if not any(child.type == "default" for child in node.children):
        return ""
    inner = node.child_by_field_name("declaration") or node.child_by_field_name("value")
    return _own_name(inner) if inner is not None else ""


def _ecma_exports(node: Any) -> Iterator[tuple[str, str]]:
    if node.child_by_field_name("source") is not None:
        return
    name = _default_export(node)
    if name:
        yield DEFAULT, name
    clauses = [child for child in node.named_children if child.type == "export_clause"]
    for child in (child for clause in clauses for child in clause.named_children):
        name, alias = _name_and_alias(child)
        if name and alias not in {"", name}:
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
    if node.type in {"use_list", "scoped_use_list"}:
        inside = _rust_path(before, node.child_by_field_name("path"))
        for child in (node.child_by_field_name("list") or node).named_children:
            yield from _rust_tree(child, inside)
    elif node.type == "use_as_clause":
        path = _rust_path(before, node.child_by_field_name("path"))
        yield path, _text(node.child_by_field_name("alias"))
    elif node.type == "use_wildcard":
        inner = node.named_children[0] if node.named_children else None
        yield f"{_rust_path(before, inner)}.{STAR}", STAR
    elif node.type in {"self", "identifier", "scoped_identifier", "crate", "super"}:
        path = before if node.type == "self" else _rust_path(before, node)
        yield path, path.rpartition(".")[2]


def _rust_path(before: str, node: Any) -> str:
    """Return the dotted path of a node that stands behind another path."""
    path = _text(node).replace("::", ".").replace(" ", "").strip(".")
    return f"{before}.{path}" if before and path else before or path


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
    path = _text(_first(node, {"scoped_identifier", "identifier"}))
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
    text = _first(node.child_by_field_name("arguments"), {"string"})
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
        yield from _php_include(node)
        return
    group = node.child_by_field_name("body")
    before = _text(_first(node, {"namespace_name"})) if group is not None else ""
    for clause in (group or node).named_children:
        if clause.type != "namespace_use_clause":
            continue
        alias = clause.child_by_field_name("alias")
        start = alias.start_byte if alias is not None else -1
        parts = [child for child in clause.named_children if child.start_byte != start]
        path = _text(parts[0]) if parts else ""
        full = f"{before}\\{path}".strip("\\").replace("\\", ".")
        module, _, name = full.rpartition(".")
        yield Import(module, ((name, _text(alias) or name),))


def _php_include(node: Any) -> Iterator[Import]:
    inside = [node]
    while inside:
        inner = inside.pop()
        if inner.type in {"string", "encapsed_string"}:
            yield Import(_string(inner), (), how="include")
            return
        inside += inner.named_children


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
