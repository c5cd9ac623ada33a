"""Which file, and which definition in it, each use of a name means.

Imports are followed to files, and names through the files that pass them on. The module is pure.

What cannot be told without types, such as the method of some object, is not guessed: it makes no
edge.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gitmem.codemap.graph.c_names import C, CNames
from gitmem.codemap.graph.file_names import NamesByFile
from gitmem.codemap.graph.grouped_names import GroupedNames
from gitmem.codemap.imports import groups, ruby, rust
from gitmem.codemap.imports.files import Binding, ProjectFiles
from gitmem.codemap.imports.resolvers import Resolvers
from gitmem.codemap.tags.import_statements import STAR, WHOLE, Import
from gitmem.codemap.tags.tags import Tags
from gitmem.codemap.tags.uses import ANNOTATION, TYPED, TYPENAME

PASSES = 6  # files through which a name is followed
ATTRIBUTE = "Attribute"  # what C# lets one leave out

# file -> {definition there, '' for the file as a whole: how often}
Edges = dict[str, dict[str, int]]
Place = tuple[str, str]  # file, definition or '' for the file as a whole


class Meaning(NamedTuple):
    """What the first names of a chain mean, and how many these are."""

    place: Place
    length: int


class Resolution:
    """Resolves the names of one state of a project.

    The state consists of its paths, its manifests, and what each parsed file says of itself.
    """

    def __init__(self, files: ProjectFiles, tags: Mapping[str, Tags]) -> None:
        self._tags = tags
        self._resolvers = Resolvers(files)
        self.names = NamesByFile(tags)
        self._bindings: dict[str, tuple[Binding, ...]] = {}
        self._bound: dict[str, dict[str, list[Binding]]] = {}
        self._classes: dict[str, Place | None] = {}
        self._stars: dict[str, list[str]] = {}
        self._external: dict[str, frozenset[str]] = {}
        self._grouped: GroupedNames | None = None
        self._looked: dict[tuple[str, str], tuple[Place | None, frozenset[str]]] = {}
        self._consulted: set[str] = set()
        self._c_names: CNames | None = None
        self._global: tuple[Binding, ...] | None = None

    # -- imports

    def bindings(self, path: str) -> tuple[Binding, ...]:
        """Return what the imports of a file bind, as far as it is of this project."""
        if path not in self._bindings:
            tags = self._tags[path]
            resolver = self._resolvers.of(tags.language)
            self._bindings[path] = tuple(
                binding
                for statement in tags.imports
                for binding in resolver.bindings(path, statement)
            )
        return self._bindings[path]

    def imported(self, path: str, statement: Import) -> list[str]:
        """Return the files that one import of a file means, in order.

        None for what is not of this project. The file itself is among them only in Rust, where a
        module inside of a file imports from what is around it.
        """
        out = dict.fromkeys(
            file
            for binding in self._resolvers.of(self._tags[path].language).bindings(path, statement)
            for file in self._files_of(binding, path)
        )
        is_rust = self._tags[path].language == "rust"
        if is_rust and not out and statement.module.partition(".")[0] in self.names.own(path):
            return [path]  # `use Shape::*`
        return [target for target in out if target != path or is_rust]

    def _files_of(self, binding: Binding, path: str) -> Iterator[str]:
        if binding.name and binding.name != STAR:
            if (place := self.bound(binding, path)) is not None:
                yield place[0]
            return
        for target in binding.targets:
            if target[:1] != "\0":
                yield target
            elif self.grouped.has(target):
                yield from self.grouped.files(target, path)
            elif (place := self._class_of(target, path)) is not None:
                yield place[0]

    def external(self, path: str) -> frozenset[str]:
        """Return the names that the imports of a file bind to what is not of this project."""
        if path not in self._external:
            bound = self._bound_names(path)
            heads = {local.partition(".")[0] for local, b in bound.items() if self._leads(b, path)}
            names = {
                local
                for statement in self._tags[path].imports
                for local in [local for _, local in statement.names]
                or [statement.alias.partition(".")[0]]
            }
            self._external[path] = frozenset(names - heads - {STAR, ""})
        return self._external[path]

    def _leads(self, bindings: "list[Binding]", path: str) -> bool:
        """Say whether one of some bindings leads to something of this project."""
        return any(
            (not binding.name and binding.targets) or self.bound(binding, path) is not None
            for binding in bindings
        )

    # -- definitions

    @property
    def grouped(self) -> GroupedNames:
        """The names of packages and namespaces."""
        if self._grouped is None:
            self._grouped = GroupedNames(self._tags, self.names.inside)
        return self._grouped

    def language(self, path: str) -> str:
        """Return the language of a file."""
        return self._tags[path].language

    def identity(self, place: Place) -> Place:
        """Return what a definition is, whichever of the files it is read from that share it.

        These are the files of a class that several of them open, and those of a Go package for
        several platforms.
        """
        path, qualified = place
        if not qualified or path not in self._tags:
            return place
        tags = self._tags[path]
        if tags.language in groups.REOPENED:
            return groups.of_file(path, tags), qualified
        return place

    def member(self, place: Place, name: str, user: str) -> Place | None:
        """Return what a name means that is written behind a definition or a module."""
        path, outer = place
        if not outer:
            return self.lookup(path, name, user)
        qualified = f"{outer}.{name}"
        if qualified in self.names.qualified(path):
            return path, qualified
        language = self._tags[path].language
        if language in groups.REOPENED:
            other = self.grouped.member(groups.of_file(path, self._tags[path]), qualified, user)
            return (other, qualified) if other else None
        return None

    def lookup(self, target: str, name: str, user: str, passes: int = PASSES) -> Place | None:
        """Return (file, definition) of a name in a file or a group, through files that pass it on.

        None when it is not there. Of several files of a group, the nearest to `user` is taken.
        """
        if target[:1] == "\0":
            if path := self.grouped.file(target, name, user):
                return path, self.names.inside(path).get(name, name)
            outer = self._class_of(target, user)
            return self.member(outer, name, user) if outer is not None else None
        if target not in self._tags:
            return None
        key = target, name
        if key not in self._looked:
            # files that pass names to one another in a circle
            self._looked[key] = None, frozenset()
            outer_consulted, self._consulted = self._consulted, {target}
            place = self._in_file(target, name, passes)
            self._looked[key] = place, frozenset(self._consulted)
            self._consulted = outer_consulted
        place, consulted = self._looked[key]
        self._consulted |= consulted
        return place

    def _class_of(self, target: str, user: str) -> Place | None:
        """Return the class that a group's name is, where it is no package: `org.shop.Cart`."""
        if target not in self._classes:
            language, _, name = target[1:].partition("\0")
            outer, dot, last = name.rpartition(".")
            self._classes[target] = None
            if dot and language != "go" and not self.grouped.has(target):
                self._classes[target] = self.lookup(groups.group(language, outer), last, user)
        return self._classes[target]

    def _in_file(self, target: str, name: str, passes: int) -> tuple[str, str] | None:
        inside = self.names.inside(target)
        if name in inside:
            return target, inside[name]
        if passes == 0 or self._tags[target].language in C:
            return None
        exported = dict(self._tags[target].exported).get(name, name)
        for binding in self.bindings(target):
            if binding.local != exported or not (binding.passed or exported != name):
                continue
            place = self.bound(binding, target, passes - 1)
            if place is not None:
                return place
        return self._through_stars(target, name, passes)

    def _through_stars(self, target: str, name: str, passes: int) -> tuple[str, str] | None:
        """Return where a name is that a file passes on with all others of a third file."""
        for binding in self.bindings(target):
            for further in binding.targets if binding.passed and binding.name == STAR else ():
                place = self.lookup(further, name, target, passes - 1)
                if place is not None:
                    return place
        return None

    def bound(self, binding: Binding, user: str, passes: int = PASSES) -> Place | None:
        """Return (file, definition) of what an import binds.

        The definition is '' for a file as a whole.
        """
        if binding.name and binding.name != STAR:
            for target in binding.targets:
                if (place := self.lookup(target, binding.name, user, passes)) is not None:
                    return place
            if files := [target for target in binding.modules if target[:1] != "\0"]:
                return files[0], ""
        if files := [target for target in binding.targets if target[:1] != "\0"]:
            module = self.names.inside(files[0]) if files[0] in self._tags else {}
            return files[0], module.get(WHOLE, "")
        return None

    # -- uses

    def edges(self, path: str) -> tuple[Edges, list[str]]:
        """Return the definitions of other files that a file uses, by file.

        Also return the further files whose names were looked at for it.

        An import that nothing uses counts once, for the file as a whole.
        """
        out: Edges = {}
        self._consulted = set()
        for key, number in self._tags[path].uses.items():
            if key[:1] == "." or (meaning := self.means(path, key)) is None:
                continue
            place, name = meaning.place
            if place != path:
                names = out.setdefault(place, {})
                names[name] = names.get(name, 0) + number
        for binding in self.bindings(path):
            bound = self.bound(binding, path)
            if bound is not None and bound[0] != path and bound[0] not in out:
                out[bound[0]] = {"": 1}
        return out, sorted(self._consulted.difference(out, (path,)))

    def means(self, path: str, key: str) -> Meaning | None:
        """Return what a name as in `Tags.uses` means in a file, as far as that can be told.

        None when it is not known, or of no file of this project.
        """
        typed = key.startswith(TYPED)
        names = key.lstrip(TYPED + ANNOTATION + TYPENAME).split(".")
        meaning = None
        if key[:1] == ANNOTATION and self.language(path) == "csharp":
            meaning = self._beginning(path, [names[0] + ATTRIBUTE])
        if meaning is None:
            meaning = self._beginning(path, names)
        if meaning is None:
            return None
        place, count = meaning
        while 0 < count < len(names):
            inner = self.member(place, names[count], path)
            if inner is None:
                break
            place, count = inner, count + 1
        return None if typed and count < len(names) else Meaning(place, count)

    def _beginning(self, path: str, names: list[str]) -> Meaning | None:
        """Return what the first names of a chain mean that belong together."""
        tags = self._tags[path]
        head = names[0]
        if tags.language in C:
            place = self._c().means(path, ".".join(names)) if head else None
            return Meaning(*place) if place is not None else None
        if head[:1] == "\\":  # PHP, from the root
            return self._full(tags.language, [head[1:], *names[1:]], path)
        if tags.language != "ruby" and head in self.names.own(path):
            return Meaning((path, self.names.own(path)[head]), 1)
        if not head:
            return None
        return (
            self._imported_meaning(path, names)
            or self._unbound(path, names, self._bound_names(path))
            or self._by_path(path, names)
        )

    def _imported_meaning(self, path: str, names: list[str]) -> Meaning | None:
        """Return what the first names of a chain mean that an import binds, most of them first."""
        bound = self._bound_names(path)
        for count in range(len(names), 0, -1):
            for binding in bound.get(".".join(names[:count]), ()):
                if (meaning := self._through(binding, names, count, path)) is not None:
                    return meaning
        return None

    def _by_path(self, path: str, names: list[str]) -> Meaning | None:
        """Return what a chain means that names packages or modules from their root."""
        tags = self._tags[path]
        if len(names) < 2 or not names[0]:
            return None
        if tags.language == "rust":
            return self._in_rust(path, names)
        if tags.language in {"java", "csharp"}:
            return self._full(tags.language, names, path)
        if tags.language == "php":
            return self._full("php", [*filter(None, tags.package.split(".")), *names], path)
        return None

    def _unbound(
        self, path: str, names: list[str], bound: "dict[str, list[Binding]]"
    ) -> Meaning | None:
        """Return what a name means that no import binds by itself."""
        for target in self._star_targets(path, bound):
            if (place := self.lookup(target, names[0], path)) is not None:
                return Meaning(place, 1)
        tags = self._tags[path]
        if tags.language == "ruby":
            return self._constant(path, names)
        for around in groups.around(path, tags):
            other = self.grouped.file(around, names[0], path)
            if other:
                return Meaning((other, self.names.inside(other).get(names[0], names[0])), 1)
        return None

    def _star_targets(self, path: str, bound: "dict[str, list[Binding]]") -> list[str]:
        """Return the files, groups and classes of this project of which all names are imported."""
        if path not in self._stars:
            self._stars[path] = [
                target
                for binding in bound.get(STAR, ())
                for target in binding.targets
                if target != path
                and (
                    target[:1] != "\0"
                    or self.grouped.has(target)
                    or self._class_of(target, path) is not None
                )
            ]
        return self._stars[path]

    def _bound_names(self, path: str) -> dict[str, list[Binding]]:
        if path not in self._bound:
            out: dict[str, list[Binding]] = {}
            for binding in self.bindings(path):
                if binding.local:
                    out.setdefault(binding.local, []).append(binding)
            if self._tags[path].language == "csharp":
                for binding in self._everywhere():
                    out.setdefault(binding.local, []).append(binding)
            self._bound[path] = out
        return self._bound[path]

    def _everywhere(self) -> tuple[Binding, ...]:
        """Return what C# files bind for the whole project."""
        if self._global is None:
            paths = [
                path
                for path, tags in self._tags.items()
                if tags.language == "csharp"
                and any(statement.how == "global" for statement in tags.imports)
            ]
            self._global = tuple(
                binding
                for path in sorted(paths)
                for binding in self.bindings(path)
                if binding.passed
            )
        return self._global

    def _through(self, binding: Binding, names: list[str], count: int, path: str) -> Meaning | None:
        """Return what a chain means whose first `count` names an import binds."""
        place = self.bound(binding, path) if binding.name else None
        if place is not None and (place[1] or count == len(names)):
            return Meaning(place, count)
        if count < len(names):
            modules = binding.modules if binding.name else binding.targets
            for target in (place[0],) if place is not None else modules:
                if (target_place := self.lookup(target, names[count], path)) is not None:
                    return Meaning(target_place, count + 1)
        whole = place or self.bound(binding, path)
        return Meaning(whole, count) if whole is not None else None

    def _constant(self, path: str, names: list[str]) -> Meaning | None:
        """Return what a constant of Ruby means: looked up from what is around it outwards."""
        if not names[0][:1].isupper() or names[0] in ruby.CORE:
            return None
        for count in range(len(names), 0, -1):
            place = self.grouped.constant(path, ".".join(names[:count]))
            if place is not None:
                return Meaning(place, count)
        return None

    def _in_rust(self, path: str, names: list[str]) -> Meaning | None:
        resolver = self._resolvers.of("rust")
        assert isinstance(resolver, rust.RustResolver)
        module, whole = resolver.module(path, ".".join(names[:-1]))
        if not module:
            return None
        last = len(names) if whole else len(names) - 1
        if last and (place := self.lookup(module, names[last - 1], path)) is not None:
            return Meaning(place, last)
        return Meaning((module, ""), 0) if module != path else None

    def _full(self, language: str, names: list[str], path: str) -> Meaning | None:
        for count in range(len(names) - 1, -1, -1):
            target = groups.group(language, ".".join(names[:count]))
            other = self.grouped.file(target, names[count], path)
            if other:
                return Meaning((other, self.names.inside(other)[names[count]]), count + 1)
        return None

    # -- C and C++

    def _c(self) -> CNames:
        if self._c_names is None:
            self._c_names = CNames(self._tags, self.bindings)
        return self._c_names
