"""Imports of C and C++: `#include`.

A file in quotes is looked for from the file's own folder, else in folders that are named or look
like include folders.
"""

import posixpath
from collections.abc import Iterator

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined
from gitmem.codemap.tags.import_statements import STAR, Import


class CResolver:
    """Resolves the includes of one project.

    compilers' flags are not known, so what is nearest to the file is taken.
    """

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._known: dict[tuple[str, str, str], str] = {}

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an include binds: all names; nothing for what is not of the project."""
        folder = posixpath.dirname(path)
        key = folder, statement.module, statement.how
        if key not in self._known:
            self._known[key] = self._find(folder, path, statement)
        header = self._known[key]
        if header and header != path:
            yield Binding(STAR, (header,), STAR, passed=True, line=statement.line)

    def _find(self, folder: str, path: str, statement: Import) -> str:
        quoted = statement.how == "include"
        if quoted and (beside := self._files.first([joined(folder, statement.module)])):
            return beside
        plain = posixpath.normpath(statement.module).lstrip("./")
        if not quoted and "/" not in plain and "." not in plain:
            return ""  # <vector>
        for base in ("include", "src", "lib", ""):
            if beside := self._files.first([joined(base, plain)]):
                return beside
        beside = self._files.ending(plain, path)
        # <string.h> of the system is not some string.h deep in a test
        return beside if quoted or "/" in plain or "/include/" in f"/{beside}" else ""
