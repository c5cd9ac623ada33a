"""Imports of Python: packages, src layouts, relative imports, scripts beside their modules.

Packages are with and without `__init__.py`.

The rules are those of the import system (docs.python.org/3/reference/import.html), with folders for
`sys.path` guessed from where packages begin.
"""

import posixpath
import sys
from collections.abc import Iterator

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined, table, texts
from gitmem.codemap.tags.import_statements import STAR, Import

STDLIB = sys.stdlib_module_names - {"test"}  # which is Python's own, and many a project's
PACKAGES = ("__init__.py", "__init__.pyi")
ENDINGS = (".py", "/__init__.py", ".pyi", "/__init__.pyi")


class PythonResolver:
    """Resolves the imports of one project's Python files."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._roots = _roots(files)
        self._known: dict[str, str] = {}
        self._is_stdlib = any(joined(root, "os.py") in files.paths for root in self._roots)

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; nothing for what is not of the project."""
        module = self._absolute(path, statement.module)
        if module is None:
            return
        if not statement.names:
            yield from self._of_module(path, module, statement)
            return
        whole = self._file(module, path) if module else ""
        targets = (whole,) if whole and whole != path else ()
        for name, local in statement.names:
            inner = self._file(f"{module}.{name}".strip("."), path) if name != STAR else ""
            if whole or inner:
                modules = (inner,) if inner else ()
                yield Binding(local, targets, name, modules, passed=True, line=statement.line)

    def _of_module(self, path: str, module: str, statement: Import) -> Iterator[Binding]:
        """Yield what `import a.b` binds: a, and a.b, which is meant by it."""
        if statement.alias and statement.alias != statement.module:
            if whole := self._file(module, path):
                yield Binding(statement.alias, (whole,), passed=True, line=statement.line)
            return
        parts = statement.module.split(".")
        for n in range(len(parts), 0, -1):
            name = ".".join(parts[:n])
            if file := self._file(name, path):
                yield Binding(name, (file,), line=statement.line)

    def _absolute(self, path: str, module: str) -> str | None:
        """Return a module's name from one of the roots.

        A relative one is named by its folder, with a slash before it.
        """
        dots = len(module) - len(module.lstrip("."))
        if not dots:
            return module
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            if not folder:
                return None
            folder = posixpath.dirname(folder)
        return (
            f"/{folder}".rstrip("/").replace("/", "\0") + "." + module[dots:]
            if module[dots:]
            else f"/{folder}".replace("/", "\0")
        )

    def _file(self, module: str, path: str) -> str:
        if module.startswith("\0"):  # relative: a folder, then names
            at = module[1:].replace(".", "/").replace("\0", "/").strip("/")
            return self._files.first(f"{at}{ending}".lstrip("/") for ending in ENDINGS)
        at = module.replace(".", "/")
        folder = posixpath.dirname(path)
        if module.partition(".")[0] in STDLIB and not self._is_stdlib:
            # it comes before what is installed, but not before what is beside a script
            return "" if "src" in folder.split("/") else self._beside(folder, at)
        if at not in self._known:
            self._known[at] = self._files.first(
                (f"{root}/{at}" if root else at) + ending
                for root in self._roots
                for ending in ENDINGS
            )
        return self._known[at] or self._beside(folder, at)

    def _beside(self, folder: str, at: str) -> str:
        """Return the file beside a script: one in a folder that is no package."""
        if any(joined(folder, init) in self._files.paths for init in PACKAGES):
            return ""
        return self._files.first(joined(folder, at) + ending for ending in ENDINGS)


def _roots(files: ProjectFiles) -> list[str]:
    """Return the folders in which packages begin, the likeliest first."""
    roots: dict[str, None] = {"": None, "src": None}
    for path in files.named("pyproject.toml") + files.named("setup.cfg") + files.named("setup.py"):
        folder = posixpath.dirname(path)
        for where in _package_folders(files, path):
            roots[posixpath.normpath(posixpath.join(folder, where)).strip(".").strip("/")] = None
        for base in ("src", "lib", "python", ""):
            roots[f"{folder}/{base}".strip("/")] = None
    tops: dict[str, int] = {}
    paths = files.paths
    for path in paths:
        if path.endswith("/__init__.py"):
            parent = path[:-12].rpartition("/")[0]
            if (f"{parent}/__init__.py" if parent else "__init__.py") not in paths:
                tops[parent] = tops.get(parent, 0) + 1
    return list(
        dict.fromkeys(
            [*roots, *sorted(tops, key=lambda folder: (folder.count("/"), -tops[folder], folder))]
        )
    )


def _package_folders(files: ProjectFiles, path: str) -> Iterator[str]:
    """Yield the folders that a pyproject.toml names for packages, as it writes them."""
    if not path.endswith(".toml"):
        return
    setuptools = table(files.toml(path), "tool", "setuptools")
    yield from texts(table(setuptools, "packages", "find").get("where"))
    for where in table(setuptools, "package-dir").values():
        if isinstance(where, str):
            yield where
