"""Imports of Rust: modules in files, `crate`, `self` and `super`, crates of the workspace.

See doc.rust-lang.org/reference/items/modules.html.
"""

import posixpath
from collections.abc import Iterator
from typing import Any

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined, table
from gitmem.codemap.tags.import_statements import INLINE, STAR, Import

_AT_HOME = frozenset({"mod.rs", "lib.rs", "main.rs", "build.rs"})
_CRATES = frozenset({"tests", "examples", "benches", "bin"})  # each file is a crate
ROOTS = ("src/lib.rs", "src/main.rs", "lib.rs", "main.rs")


class RustResolver:
    """Resolves the imports of one project's Rust files."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._crates: dict[str, str] = {}  # name in code -> its root file
        self._folders: dict[str, str] = {}  # folder of a Cargo.toml -> the crate's root file
        self._roots: set[str] = set()  # files in which other crates of a package begin
        for path in files.named("Cargo.toml"):
            folder = posixpath.dirname(path)
            manifest = files.toml(path)
            lib = table(manifest, "lib")
            given = [joined(folder, lib["path"])] if isinstance(lib.get("path"), str) else []
            root = files.first([*given, *(joined(folder, name) for name in ROOTS)])
            name = lib.get("name") or table(manifest, "package").get("name")
            if root:
                self._folders[folder] = root
            self._roots.update(_named_targets(manifest, folder))
            if isinstance(name, str) and root:
                self._crates.setdefault(name.replace("-", "_"), root)
        self._known: dict[tuple[str, str], tuple[str, bool]] = {}

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; nothing for what is not of the project."""
        if statement.how in {"mod", "path"}:
            file = self._declared(path, statement)
            if file:
                yield Binding(statement.alias, (file,), passed=True, line=statement.line)
            return
        if statement.names:
            yield from self._of_names(path, statement)
            return
        file, whole = self.module(path, statement.module)
        if file and whole:
            yield Binding(
                statement.alias, (file,), passed=statement.how == "export", line=statement.line
            )

    def _of_names(self, path: str, statement: Import) -> Iterator[Binding]:
        written = statement.module
        if statement.how.startswith(INLINE):
            written = _outside(written, statement.how.removeprefix(INLINE).split("."))
        file, whole = self.module(path, written)
        targets = (file,) if file else ()
        for name, local in statement.names:
            modules = self._module_of(path, f"{written}.{name}") if name != STAR else ()
            if targets or modules:
                # `use shapes::Shape::Square` names something of an enum
                taken = name if whole or name == STAR else written.rpartition(".")[2]
                passed = statement.how == "export"
                yield Binding(local, targets, taken, modules, passed=passed, line=statement.line)

    def _declared(self, path: str, statement: Import) -> str:
        """Return the file of a `mod` declaration, which may name its path."""
        if statement.how == "path":
            return self._files.first([joined(posixpath.dirname(path), statement.module)])
        return self._files.first(_named(self._children(path), statement.module))

    def _module_of(self, path: str, dotted: str) -> tuple[str, ...]:
        file, whole = self.module(path, dotted)
        return (file,) if whole else ()

    def module(self, path: str, dotted: str) -> tuple[str, bool]:
        """Return (file of a module's path, whether it is the whole of the path).

        If only a part of the path is a module, the file of that part is returned. Returns ('',
        False) for what is of no crate here.
        """
        key = path, dotted
        if key not in self._known:
            self._known[key] = self._module(path, dotted)
        return self._known[key]

    def _module(self, path: str, dotted: str) -> tuple[str, bool]:
        head, _, rest = dotted.partition(".")
        names = rest.split(".") if rest else []
        if head == "crate":
            return self._down(self._root(path), names)
        if head == "self":
            return self._down(path, names)
        if head == "super":
            at = self._parent(path)
            while names and names[0] == "super":
                at, names = self._parent(at), names[1:]
            return self._down(at, names) if at else ("", False)
        if file := self._files.first(_named(self._children(path), head)):
            return self._down(file, names)
        if head in self._crates:
            return self._down(self._crates[head], names)
        root = self._root(path)  # as the edition of 2015 has it
        if root and (file := self._files.first(_named(self._children(root), head))):
            return self._down(file, names)
        return "", False

    def _down(self, at: str, names: list[str]) -> tuple[str, bool]:
        for name in names:
            file = self._files.first(_named(self._children(at), name)) if at else ""
            if not file:
                return at, False
            at = file
        return at, bool(at)

    def _root(self, path: str) -> str:
        folder = posixpath.dirname(path)
        base = posixpath.basename(folder)
        if path in self._roots or path.endswith("/main.rs"):
            return path  # a crate of its own
        if base in _CRATES:
            return path
        at = folder
        while at not in self._folders:
            if not at:
                break
            at = posixpath.dirname(at)
        root = self._folders.get(at, "")
        beside = self._beside(folder, posixpath.dirname(root) if root else None)
        return beside or root

    def _beside(self, folder: str, above: str | None) -> str:
        """Return the crate's root in a folder or above it, below the folder of another root.

        `src/bin/tool/main.rs` is the root of what is beside it, not `src/lib.rs`.
        """
        while folder != above:
            for root in sorted(self._roots):
                if posixpath.dirname(root) == folder:
                    return root
            if main := self._files.first([joined(folder, "main.rs")]):
                return main
            if not folder:
                break
            folder = posixpath.dirname(folder)
        return ""

    def _parent(self, path: str) -> str:
        folder, name = posixpath.split(path)
        if name in {"lib.rs", "main.rs"} or path in self._roots:
            return ""
        if name == "mod.rs":
            folder = posixpath.dirname(folder)
        above = [posixpath.join(folder, name) for name in ("mod.rs", "lib.rs", "main.rs")]
        roots = [root for root in sorted(self._roots) if posixpath.dirname(root) == folder]
        return self._files.first([*above, f"{folder}.rs", *roots])

    def _children(self, path: str) -> str:
        """Return the folder in which the modules inside a file are."""
        folder, name = posixpath.split(path)
        if path in self._roots or name in _AT_HOME or posixpath.basename(folder) in _CRATES:
            return folder
        return posixpath.join(folder, name.removesuffix(".rs"))


def _outside(path: str, inline: list[str]) -> str:
    """Return a path as the file itself would write it, of one in a module inside of the file."""
    parts = path.split(".")
    up = 0
    while up < len(parts) and parts[up] == "super":
        up += 1
    if up > len(inline):
        return ".".join(parts[len(inline) :])
    return ".".join(["self", *inline[: len(inline) - up], *parts[max(up, 1) :]])


def _named_targets(manifest: dict[str, Any], folder: str) -> list[str]:
    """Return the root files that a Cargo.toml names for programs, tests, examples, benchmarks."""
    out: list[str] = []
    for kind in ("bin", "test", "example", "bench"):
        rows = manifest.get(kind)
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and isinstance(row.get("path"), str):
                out.append(joined(folder, row["path"]))
    return out


def _named(folder: str, name: str) -> tuple[str, str]:
    name = name.removeprefix("r#")
    return joined(folder, f"{name}.rs"), joined(folder, f"{name}/mod.rs")
