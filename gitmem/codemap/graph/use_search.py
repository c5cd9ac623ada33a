"""Tells uses of some definitions of one name from other things that are called the same. Pure.

What decides is the last name of a chain, and the receiver before it: an import, a module, the class
around the use, or a variable that is declared with a type.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.codemap.graph.c_names import C
from gitmem.codemap.graph.file_names import TYPES
from gitmem.codemap.graph.resolve import ATTRIBUTE, Place, Resolution
from gitmem.codemap.tags.import_statements import DEFAULT, STAR
from gitmem.codemap.tags.uses import ANNOTATION, SELF, SELF_BY_LANGUAGE, TYPED, TYPENAME

MARKS = f"{TYPED}{ANNOTATION}{TYPENAME}\\"
FUNCTIONS = frozenset({"function", "method", "macro"})
ABOVE = frozenset({"super", "parent", "base"})  # of SELF: what a class inherits
# languages in which what is written like a type and is of no file here is a type of elsewhere
TYPE_HEADS = frozenset({"rust", "java", "php"})
# languages in which a name alone may be a member of the object at hand
IMPLICIT = frozenset({"java", "csharp", "cpp", "ruby"})


# kinds of Rust whose types are written behind `Self`
REACHED_BY_SELF = frozenset({"impl", "trait"})


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition in a file; lines from 1."""

    path: str
    name: str
    qualified: str
    kind: str
    first: int
    last: int
    at: int = 0
    column: int = 0


class UseSearch:
    """A search for the uses of some definitions of one name.

    A verdict is True for a use, False for what may be one, None for what is none.
    """

    def __init__(self, resolution: Resolution, wanted: Sequence[Definition]) -> None:
        self._resolution = resolution
        self.name = wanted[0].name
        self._targets = {resolution.identity((symbol.path, symbol.qualified)) for symbol in wanted}
        self._is_type = any(symbol.kind in TYPES for symbol in wanted)
        self._is_inner = all("." in symbol.qualified for symbol in wanted)
        self._bound: dict[str, list[tuple[str, str]]] = {}

    def names_in(self, path: str) -> set[str]:
        """Return the names by which a file may call what is searched."""
        names = {self.name}.union(*self._names_bound(path))
        if self._resolution.language(path) == "csharp" and self.name.endswith(ATTRIBUTE):
            names.add(self.name.removesuffix(ATTRIBUTE))
        return names

    def _names_bound(self, path: str) -> list[tuple[str, str]]:
        """Return (name there, name here) of the imports that lead to what is searched."""
        if path not in self._bound:
            self._bound[path] = [
                (
                    binding.local if binding.name in {"", DEFAULT, STAR} else binding.name,
                    binding.local,
                )
                for binding in self._resolution.bindings(path)
                if binding.local not in {"", STAR}
                and self._hits(self._resolution.bound(binding, path))
            ]
        return self._bound[path]

    def _hits(self, place: Place | None) -> bool:
        return place is not None and self._resolution.identity(place) in self._targets

    def _verdict(self, place: Place) -> bool | None:
        return True if self._hits(place) else None

    def _perhaps(self, used: str) -> bool | None:
        return False if used == self.name else None

    def imports(self, path: str, used: str) -> bool | None:
        """Return the verdict on a name in an import."""
        return True if any(used == there for there, _ in self._names_bound(path)) else None

    def is_use(
        self, path: str, key: str, used: str, around: Sequence[Definition], line: int
    ) -> bool | None:
        """Return the verdict on a use with a key as in `Tags.uses`.

        `used` is the name in it that may be what is searched. `around` are the definitions around
        it, the outermost first, and `line` is its line.
        """
        if key[0] in {ANNOTATION, TYPENAME}:
            return self._as_type(path, key, used, around)
        names = key.lstrip(MARKS).split(".")
        names = names[: names.index(used) + 1]
        if key[0] != TYPED and len(names) == 1:
            place = self._above_in_class(path, names[0], around, line)
            if place is not None:
                return self._verdict(place)
            return self._alone(path, key.partition(".")[0], around)
        if not names[0]:
            return self._perhaps(used)
        if len(names) == 2 and (place := self._own_member(path, names, around)) is not None:
            return self._verdict(place)
        if (nearer := self._nearer(path, names[0], around)) is not None:
            return self._behind(path, nearer, names[1:])
        return self._as_member(path, key, names)

    def _nearer(self, path: str, name: str, around: Sequence[Definition]) -> Place | None:
        """Return what a definition around a use has of a name, None if it is what is usually meant.

        That is a type, or what a function defines.
        """
        types = self._resolution.names.types(path)
        every = self._resolution.names.qualified(path)
        for symbol in reversed(around):
            place = path, f"{symbol.qualified}.{name}"
            seen = every if symbol.kind in FUNCTIONS else types
            if place[1] in seen and symbol.kind not in REACHED_BY_SELF:
                meaning = self._resolution.means(path, name)
                return None if meaning is not None and meaning.place == place else place
        return None

    def _is_in_class(self, place: Place) -> bool:
        """Say whether a definition stands in a class, whose functions do not see it in Python."""
        return place[1].rpartition(".")[0] in self._resolution.names.types(place[0])

    def _behind(self, path: str, place: Place, names: list[str]) -> bool | None:
        """Return the verdict on the last of some names that are written behind a definition."""
        in_doubt = self._resolution.language(path) == "python" and self._is_in_class(place)
        for name in names:
            inner = self._resolution.member(place, name, path)
            if inner is None or in_doubt:
                return self._perhaps(names[-1])
            place = inner
        return self._verdict(place)

    def _as_member(self, path: str, key: str, names: list[str]) -> bool | None:
        """Return the verdict on the last name of a chain; a type before it is not written there."""
        typed = key[0] == TYPED
        if len(names) == 1:
            return None
        mark = key[0] if key[0] in MARKS else ""
        meaning = self._resolution.means(path, mark + ".".join(names))
        if meaning is not None and meaning.length == len(names):
            return self._verdict(meaning.place)
        if meaning is None and self._is_foreign(path, names[0], typed=typed):
            return None
        return self._perhaps(names[-1])

    def _is_foreign(self, path: str, head: str, *, typed: bool) -> bool:
        """Say whether a chain begins with what is of no file of this project."""
        if head in self._resolution.external(path):
            return True
        return self._resolution.language(path) in TYPE_HEADS and not typed and is_type_name(head)

    def _as_type(self, path: str, key: str, used: str, around: Sequence[Definition]) -> bool | None:
        """Return the verdict on a name that can only be one of a type."""
        types = self._resolution.names.types(path)
        for symbol in reversed(around):
            if f"{symbol.qualified}.{used}" in types:
                return self._verdict((path, f"{symbol.qualified}.{used}"))
        meaning = self._resolution.means(path, key)
        if meaning is not None:
            return self._verdict(meaning.place)
        return self._perhaps(used) if self._is_type else None

    def _own_member(
        self, path: str, names: list[str], around: Sequence[Definition]
    ) -> Place | None:
        """Return the member of the class around a use that `self.name` means."""
        own = SELF_BY_LANGUAGE.get(self._resolution.language(path), SELF) | SELF
        if names[0] not in own or names[0] in ABOVE:
            return None
        return self._in_class_around(path, names[1], around)

    def _in_class_around(self, path: str, name: str, around: Sequence[Definition]) -> Place | None:
        """Return the member of a name of the innermost class around a use that has one."""
        for symbol in reversed(around):
            outer = symbol.qualified
            if symbol.kind in FUNCTIONS:
                outer = outer.rpartition(".")[0]
            if not outer or outer.rpartition(".")[2] == name:  # a constructor
                continue
            if (place := self._resolution.member((path, outer), name, path)) is not None:
                return place
        return None

    def _in_function_around(
        self, path: str, name: str, around: Sequence[Definition]
    ) -> Place | None:
        """Return the definition of a name inside of a function, or a module, around a use."""
        has_modules = self._resolution.language(path) not in IMPLICIT
        for symbol in reversed(around):
            if symbol.kind in FUNCTIONS or (has_modules and symbol.kind == "module"):
                place = self._resolution.member((path, symbol.qualified), name, path)
                if place is not None:
                    return place
        return None

    def _above_in_class(
        self, path: str, name: str, around: Sequence[Definition], line: int
    ) -> Place | None:
        """Return what a class of Python has defined of a name above a use in its own body."""
        if self._resolution.language(path) != "python" or not around:
            return None
        inner = around[-1]
        if inner.kind in FUNCTIONS and line < inner.at and len(around) > 1:  # a decorator
            inner = around[-2]
        qualified = f"{inner.qualified}.{name}"
        first = self._resolution.names.lines(path).get(qualified, line)
        return (path, qualified) if inner.kind not in FUNCTIONS and first < line else None

    def _alone(self, path: str, name: str, around: Sequence[Definition]) -> bool | None:
        """Return the verdict on a name that is written without a receiver."""
        plain = name.lstrip(MARKS)
        implicit = self._resolution.language(path) in IMPLICIT
        inner = self._in_function_around(path, plain, around)
        if inner is None and implicit:
            inner = self._in_class_around(path, plain, around)
        meaning = self._resolution.means(path, name)
        if inner is None:
            if meaning is None or self._is_promise(meaning.place):
                return self._outside(path, name, implicit)
            return self._verdict(meaning.place)
        if implicit and meaning is not None and meaning.place != inner:
            # a member that is called like a type: which of the two, only the grammar knows
            return False if self._hits(inner) or self._hits(meaning.place) else None
        return self._verdict(inner)

    def _is_promise(self, place: Place) -> bool:
        """Say whether a place of C only declares what no file that includes it defines."""
        path, qualified = place
        is_defined = not qualified or qualified in self._resolution.names.qualified(path)
        return self._resolution.language(path) in C and not is_defined

    def _outside(self, path: str, name: str, implicit: bool) -> bool | None:
        """Return the verdict on a name that nothing in the project explains."""
        if name in self._resolution.external(path) or (self._is_inner and not implicit):
            return None
        return self._perhaps(name)


def is_type_name(name: str) -> bool:
    """Say whether a name is written like that of a type: `Vec`, not `vec` or `MAX`."""
    return name[:1].isupper() and not (len(name) > 1 and name.isupper())
