"""The import rules of each language. Pure."""

from collections.abc import Callable, Iterator
from typing import Protocol

from gitmem.codemap.imports import c, ecma, groups, python, ruby, rust
from gitmem.codemap.imports.files import Binding, ProjectFiles
from gitmem.codemap.tags.import_statements import Import


class GraphResolver(Protocol):
    """What knows the import rules of a language."""

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds."""


# languages with the rules of another one
ALIKE = {"cpp": "c", "javascript": "ecma", "typescript": "ecma", "tsx": "ecma"}
_MAKERS: "dict[str, Callable[[ProjectFiles], GraphResolver]]" = {
    "python": python.PythonResolver,
    "ecma": ecma.EcmaResolver,
    "rust": rust.RustResolver,
    "go": groups.Go,
    "c": c.CResolver,
    "ruby": ruby.RubyResolver,
}


class Resolvers:
    """The resolvers of one project, each made when it is first needed."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._made: dict[str, GraphResolver] = {}

    def of(self, language: str) -> GraphResolver:
        """Return what knows the import rules of a language."""
        key = ALIKE.get(language, language)
        if key not in self._made:
            maker = _MAKERS.get(key)
            self._made[key] = (
                maker(self._files) if maker else groups.NamespaceResolver(self._files, key)
            )
        return self._made[key]
