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

    def bindings(self, path: str, one: Import) -> Iterator[Binding]:
        """Yield what an include binds: all names; nothing for what is not of the project."""
        folder = posixpath.dirname(path)
        key = folder, one.module, one.how
        if key not in self._known:
            self._known[key] = self._find(folder, path, one)
        found = self._known[key]
        if found and found != path:
            yield Binding(STAR, (found,), STAR, passed=True, line=one.line)

    def _find(self, folder: str, path: str, one: Import) -> str:
        quoted = one.how == "include"
        if quoted and (found := self._files.first([joined(folder, one.module)])):
            return found
        plain = posixpath.normpath(one.module).lstrip("./")
        if not quoted and "/" not in plain and "." not in plain:
            return ""  # <vector>
        for base in ("include", "src", "lib", ""):
            if found := self._files.first([joined(base, plain)]):
                return found
        found = self._files.ending(plain, path)
        # <string.h> of the system is not some string.h deep in a test
        return found if quoted or "/" in plain or "/include/" in f"/{found}" else ""
