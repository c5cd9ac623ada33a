"""Languages whose imports name packages or namespaces, not files: Go, Java, C#, PHP.

A group stands for the files of one.

A group's name begins with NUL, so it is no path: NUL, the language, NUL, and the folder (Go) or the
namespace.
"""

import posixpath
import re
from collections.abc import Iterator

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined
from gitmem.codemap.tags.import_statements import STAR, Import
from gitmem.codemap.tags.tags import Tags

# languages in which several files define parts of one class
REOPENED = frozenset({"ruby", "csharp", "go"})


def group(language: str, name: str) -> str:
    """Return the name of a group."""
    return f"\0{language}\0{name}"


def of_file(path: str, tags: Tags) -> str:
    """Return the group that a file's names belong to, '' for languages without groups."""
    language = tags.language
    if language == "go":
        # tests in a package of their own see the other one only by its name
        own = "\0test" if path.endswith("_test.go") and tags.package.endswith("_test") else ""
        return group("go", posixpath.dirname(path) + own)
    if language in {"java", "csharp", "php"}:
        return group(language, tags.package)
    return group("ruby", "") if language == "ruby" else ""


def around(path: str, tags: Tags) -> list[str]:
    """Return the groups whose names a file sees without an import, the nearest first."""
    own = of_file(path, tags)
    if tags.language != "csharp":
        return [own] if own else []
    out, name = [own], tags.package
    while name:  # a namespace sees those around it
        name = name.rpartition(".")[0]
        out.append(group("csharp", name))
    return out


class Go:
    """Modules of go.mod and go.work: an import names a folder (go.dev/ref/mod)."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._modules: list[tuple[str, str]] = []  # (module, folder), the longest first
        for path in files.named("go.mod"):
            text = files.texts[path].decode("utf-8", "replace")
            folder = posixpath.dirname(path)
            if match := re.search(r'^\s*module\s+"?([^\s"]+)', text, re.MULTILINE):
                self._modules.append((match[1], folder))
            for line in re.findall(
                r"^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\.\.?/\S*)", text, re.MULTILINE
            ):
                self._modules.append((line[0], joined(folder, line[1])))
        self._modules.sort(key=lambda module: (-len(module[0]), module))

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; nothing for what is not of the project."""
        for module, folder in self._modules:
            if statement.module == module or statement.module.startswith(module + "/"):
                inner = joined(folder, statement.module[len(module) :].strip("/"))
                if inner in self._files.folders and (
                    inner != posixpath.dirname(path) or path.endswith("_test.go")
                ):
                    name = STAR if statement.names else ""
                    yield Binding(
                        STAR if statement.names else statement.alias,
                        (group("go", inner),),
                        name,
                        line=statement.line,
                    )
                return


class NamespaceResolver:
    """Java, C# and PHP: an import names a namespace and what is in it."""

    def __init__(self, files: ProjectFiles, language: str) -> None:
        self._files = files
        self._language = language

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; that nothing is there is for the groups to say."""
        language = self._language
        if statement.how == "include":
            file = self._files.first(
                [joined(posixpath.dirname(path), statement.module.lstrip("/"))]
            ) or self._files.ending(statement.module.lstrip("./"), path)
            if file and file != path:
                yield Binding("", (file,), line=statement.line)
            return
        here = group(
            language, statement.module
        )  # a class, if the import is one of what is inside it
        for name, local in statement.names:
            inner = group(language, f"{statement.module}.{name}") if name != STAR else ""
            yield Binding(
                local,
                (here,),
                name,
                (inner,) if inner and statement.how != "static" else (),
                passed=statement.how == "global",
                line=statement.line,
            )
