"""Which file, and which definition in it, each use of a name means.

Imports are followed to files, and names through the files that pass them on. The module is pure.

What cannot be told without types, such as the method of some object, is not guessed: it makes no
edge.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from gitmem.codemap.imports import c, ecma, groups, python, rust
from gitmem.codemap.imports.files import Binding, ProjectFiles
from gitmem.codemap.tags.import_statements import DEFAULT, STAR, Import
from gitmem.codemap.tags.tags import Tags

PASSES = 6  # files through which a name is followed
C = frozenset({"c", "cpp"})
ECMA = frozenset({"javascript", "typescript", "tsx"})
INNER = frozenset({"method"})  # kinds that are reached through what is around them only

# file -> {definition there, '' for the file as a whole: how often}
Edges = dict[str, dict[str, int]]


class GraphResolver(Protocol):
    """What knows the import rules of a language."""

    def bindings(self, path: str, one: Import) -> Iterator[Binding]:
        """Yield what an import binds."""


class Resolution:
    """Resolves the names of one state of a project.

    The state consists of its paths, its manifests, and what each parsed file says of itself.
    """

    def __init__(self, files: ProjectFiles, tags: Mapping[str, Tags]) -> None:
        self._files = files
        self._tags = tags
        self._resolvers: dict[str, GraphResolver] = {}
        self._bindings: dict[str, tuple[Binding, ...]] = {}
        self._inside: dict[str, dict[str, str]] = {}
        self._groups: dict[str, dict[str, str]] | None = None
        self._looked: dict[tuple[str, str], tuple[tuple[str, str] | None, frozenset[str]]] = {}
        self._consulted: set[str] = set()
        self._around: dict[str, list[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}
        self._declared: dict[str, list[str]] | None = None
        self._global: tuple[Binding, ...] | None = None

    # -- imports

    def bindings(self, path: str) -> tuple[Binding, ...]:
        """Return what the imports of a file bind, as far as it is of this project."""
        if path not in self._bindings:
            tags = self._tags[path]
            resolver = self._resolver(tags.language)
            self._bindings[path] = tuple(
                found for one in tags.imports for found in resolver.bindings(path, one)
            )
        return self._bindings[path]

    def imported(self, path: str, one: Import) -> list[str]:
        """Return the files that one import of a file means, in order.

        None for what is not of this project.
        """
        out: dict[str, None] = {}
        for found in self._resolver(self._tags[path].language).bindings(path, one):
            if found.name and found.name != STAR and (place := self.bound(found)) is not None:
                out[place[0]] = None
                continue
            for target in found.targets:
                if target[:1] == "\0":
                    if found.name in {"", STAR}:
                        out.update(dict.fromkeys(sorted(set(self.group(target).values()))))
                elif not (found.modules and found.name):
                    out[target] = None
            if found.name and found.name != STAR:
                out.update(
                    dict.fromkeys(
                        target
                        for target in (*found.targets, *found.modules)
                        if target[:1] != "\0" and not out
                    )
                )
        return [target for target in out if target != path]

    def _resolver(self, language: str) -> GraphResolver:
        key = "c" if language in C else "ecma" if language in ECMA else language
        if key not in self._resolvers:
            files = self._files
            self._resolvers[key] = (
                python.PythonResolver(files)
                if key == "python"
                else ecma.EcmaResolver(files)
                if key == "ecma"
                else rust.RustResolver(files)
                if key == "rust"
                else groups.Go(files)
                if key == "go"
                else c.CResolver(files)
                if key == "c"
                else groups.Ruby(files)
                if key == "ruby"
                else groups.NamespaceResolver(files, key)
            )
        return self._resolvers[key]

    # -- definitions

    def inside(self, path: str) -> dict[str, str]:  # noqa: C901
        """Return {name that can be reached from outside: definition} of a file."""
        if path not in self._inside:
            tags = self._tags[path]
            out: dict[str, str] = {}
            # `mod cart;` has its file
            elsewhere = {one.alias for one in tags.imports if one.how in {"mod", "path"}}
            flat = tags.language in {"go", "ruby", "csharp", "php"} or tags.language in C
            before = (
                tags.package + "." if tags.package and tags.language in {"csharp", "php"} else ""
            )
            for name, qualified, kind, *_ in tags.symbols:
                if before and qualified.startswith(before):
                    qualified = qualified[len(before) :]
                if name == "_" or (kind == "module" and name in elsewhere):
                    continue
                if "." not in qualified:
                    out.setdefault(name, qualified)
                elif tags.language == "ruby" or (
                    flat and kind not in INNER and kind != "constant" and tags.language in C
                ):
                    if kind not in INNER:
                        out.setdefault(qualified, qualified)
                        if tags.language in C:
                            out.setdefault(name, qualified)
                elif tags.language == "csharp" and kind in {
                    "class",
                    "interface",
                    "struct",
                    "enum",
                    "type",
                }:
                    out.setdefault(name, qualified)
            for name in tags.declared:
                out.setdefault(name, name)
            for name, inner in tags.exported:
                if inner in out or name == DEFAULT:
                    out.setdefault(name, inner)
            self._inside[path] = out
        return self._inside[path]

    def group(self, name: str) -> dict[str, str]:
        """Return {name: file that defines it} of a group.

        The first file by path where there are several.
        """
        if self._groups is None:
            self._groups = {}
            for path in sorted(self._tags):
                key = groups.of_file(path, self._tags[path])
                if key:
                    own = self._groups.setdefault(key, {})
                    at_home = _HOMES.get(self._tags[path].language)
                    for one in self.inside(path):
                        if one not in own or _likelier(
                            path, own[one], at_home(one) if at_home else ""
                        ):
                            own[one] = path
        return self._groups.get(name, {})

    def lookup(self, target: str, name: str, passes: int = PASSES) -> tuple[str, str] | None:
        """Return (file, definition) of a name in a file or a group, through files that pass it on.

        None when it is not there.
        """
        if target[:1] == "\0":
            path = self.group(target).get(name)
            return (path, self.inside(path).get(name, name)) if path else None
        if target not in self._tags:
            return None
        key = target, name
        if key not in self._looked:
            # files that pass names to one another in a circle
            self._looked[key] = None, frozenset()
            outer, self._consulted = self._consulted, {target}
            found = self._in_file(target, name, passes)
            self._looked[key] = found, frozenset(self._consulted)
            self._consulted = outer
        place, consulted = self._looked[key]
        self._consulted |= consulted
        return place

    def _in_file(self, target: str, name: str, passes: int) -> tuple[str, str] | None:
        inside = self.inside(target)
        if name in inside:
            return target, inside[name]
        if passes == 0 or self._tags[target].language in C:
            return None
        exported = dict(self._tags[target].exported).get(name, name)
        for one in self.bindings(target):
            if (
                (one.passed or exported != name)
                and one.local == exported
                and (found := self.bound(one, passes - 1)) is not None
            ):
                return found
        for one in self.bindings(target):
            if one.passed and one.name == STAR:
                for further in one.targets:
                    if (found := self.lookup(further, name, passes - 1)) is not None:
                        return found
        return None

    def bound(self, one: Binding, passes: int = PASSES) -> tuple[str, str] | None:
        """Return (file, definition) of what an import binds.

        The definition is '' for a file as a whole.
        """
        if one.name and one.name != STAR:
            for target in one.targets:
                if (found := self.lookup(target, one.name, passes)) is not None:
                    return found
            for target in one.modules:
                if target[:1] != "\0":
                    return target, ""
            return next(((target, "") for target in one.targets if target[:1] != "\0"), None)
        return next(((target, "") for target in one.targets if target[:1] != "\0"), None)

    # -- uses

    def edges(self, path: str) -> tuple[Edges, list[str]]:
        """Return the definitions of other files that a file uses, by file.

        Also return the further files whose names were looked at for it.

        An import that nothing uses counts once, for the file as a whole.
        """
        out: Edges = {}
        self._consulted = set()
        bound = self._bound_names(path)
        for key, number in self._tags[path].uses.items():
            if (
                key[:1] != "."
                and (found := self.means(path, key, bound)) is not None
                and found[0] != path
            ):
                names = out.setdefault(found[0], {})
                names[found[1]] = names.get(found[1], 0) + number
        for one in self.bindings(path):
            place = self.bound(one)
            if place is not None and place[0] != path and place[0] not in out:
                out[place[0]] = {"": 1}
        return out, sorted(self._consulted.difference(out, (path,)))

    def means(  # noqa: C901
        self, path: str, key: str, bound: "dict[str, list[Binding]] | None" = None
    ) -> tuple[str, str] | None:
        """Return (file, definition) that a name as in `Tags.uses` means in a file.

        None when it is not known, or of no file of this project.
        """
        tags = self._tags[path]
        head, dot, _ = key.partition(".")
        if not head:
            return None
        bound = self._bound_names(path) if bound is None else bound
        inside = self.inside(path)
        if head in inside and tags.language not in {"ruby", "csharp"}:
            return path, inside[head]
        if head not in bound and tags.language == "python" and not dot and head in inside:
            return path, inside[head]
        if tags.language in C:
            return self._in_c(path, key)
        prefix = key
        while prefix:
            for one in bound.get(prefix, ()):
                if (found := self._through(one, key[len(prefix) + 1 :])) is not None:
                    return found
            prefix = prefix.rpartition(".")[0]
        for one in bound.get(STAR, ()):
            for target in one.targets:
                if target != path and (found := self.lookup(target, head)) is not None:
                    return found
        for around in groups.around(path, tags):
            if (found := self._in_group(around, key, tags, path)) is not None:
                return found
        if tags.language == "rust" and dot:
            module, _, name = key.rpartition(".")
            return self._in_rust(path, module, name)
        if dot and tags.language in {"java", "csharp", "php"}:
            return self._full(tags.language, key)
        return None

    def _bound_names(self, path: str) -> dict[str, list[Binding]]:
        out: dict[str, list[Binding]] = {}
        for one in self.bindings(path):
            if one.local:
                out.setdefault(one.local, []).append(one)
        if self._tags[path].language == "csharp":
            for one in self._everywhere():
                out.setdefault(one.local, []).append(one)
        return out

    def _everywhere(self) -> tuple[Binding, ...]:
        """Return what C# files bind for the whole project."""
        if self._global is None:
            paths = [
                path
                for path, tags in self._tags.items()
                if tags.language == "csharp" and any(one.how == "global" for one in tags.imports)
            ]
            self._global = tuple(
                one for path in sorted(paths) for one in self.bindings(path) if one.passed
            )
        return self._global

    def _through(self, one: Binding, rest: str) -> tuple[str, str] | None:
        """Return what a chain means whose beginning an import binds."""
        name = rest.partition(".")[0]
        if one.name == "":
            if name:
                for target in one.targets:
                    if (found := self.lookup(target, name)) is not None:
                        return found
            return self.bound(one)
        place = self.bound(one)
        if place is not None and place[1] == "" and name:
            return self.lookup(place[0], name) or place
        if place is None and name:
            for target in one.modules:
                if (found := self.lookup(target, name)) is not None:
                    return found
        return place

    def _in_group(self, name: str, key: str, tags: Tags, path: str) -> tuple[str, str] | None:
        own = self.group(name)
        if tags.language != "ruby":
            head = key.partition(".")[0]
            return (own[head], self.inside(own[head]).get(head, head)) if head in own else None
        if not key[:1].isupper():
            return None
        while key:
            # as Ruby looks constants up: in what is around, from the inside out
            for prefix in self._nestings(path):
                if (whole := prefix + key) in own:
                    return own[whole], whole
            key = key.rpartition(".")[0]
        return None

    def _nestings(self, path: str) -> list[str]:
        """Return the modules and classes that a Ruby file opens, and those around them.

        Each has a dot behind it, and '' comes last.
        """
        if path not in self._around:
            found = {""}
            for _, qualified, kind, *_ in self._tags[path].symbols:
                if kind not in INNER and kind != "constant":
                    parts = qualified.split(".")
                    found.update(".".join(parts[:n]) + "." for n in range(1, len(parts) + 1))
            self._around[path] = sorted(found, key=lambda one: (-one.count("."), one))
        return self._around[path]

    def _in_rust(self, path: str, module: str, name: str) -> tuple[str, str] | None:
        resolver = self._resolver("rust")
        assert isinstance(resolver, rust.RustResolver)
        found, whole = resolver.module(path, module)
        if not found or found == path:
            return None
        return self.lookup(found, name if whole else module.rpartition(".")[2]) or (found, "")

    def _full(self, language: str, key: str) -> tuple[str, str] | None:
        parts = key.split(".")
        for n in range(len(parts) - 1, 0, -1):
            if (
                found := self.lookup(groups.group(language, ".".join(parts[:n])), parts[n])
            ) is not None:
                return found
        return None

    # -- C and C++

    def _in_c(self, path: str, key: str) -> tuple[str, str] | None:
        if self._declared is None:
            self._declared = {}
            for one in sorted(self._tags):
                if self._tags[one].language in C:
                    for name in self.inside(one):
                        self._declared.setdefault(name, []).append(one)
        seen = self.closure(path)
        for name in (key, key.rpartition(".")[2], key.partition(".")[0]):
            for one in self._declared.get(name, ()):
                if one in seen:
                    return one, self.inside(one)[name]
        return None

    def closure(self, path: str) -> frozenset[str]:
        """Return the files that a C file includes, and those that they include."""
        if path not in self._closures:
            out: set[str] = set()
            open_ = [path]
            while open_:
                for one in self.bindings(open_.pop()):
                    for target in one.targets:
                        if target not in out and target in self._tags:
                            out.add(target)
                            open_.append(target)
            self._closures[path] = frozenset(out - {path})
        return self._closures[path]


# where what may be opened in many files is at home, by its name
_HOMES: "dict[str, Callable[[str], str]]" = {
    "ruby": lambda name: "/" + name.lower().replace(".", "/").replace("_", "") + ".rb",
    "csharp": lambda name: f"/{name.lower().replace('_', '')}.cs",
}


def _likelier(path: str, other: str, home: str) -> bool:
    """Return whether a file is more likely to define a name than another file.

    A test file is not. What is opened in many files belongs to the file that is named after it.
    """
    at, there = (f"/{one}".lower().replace("_", "").endswith(home) for one in (path, other))
    return at if home and at != there else "test" in other.lower() and "test" not in path.lower()
