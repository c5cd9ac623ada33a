"""The names of single files: what others reach in them, and what they reach in themselves. Pure."""

from collections.abc import Mapping

from gitmem.codemap.graph.c_names import C
from gitmem.codemap.tags.import_statements import DEFAULT, WHOLE
from gitmem.codemap.tags.tags import Tags

TYPESCRIPT = frozenset({"typescript", "tsx"})
ECMA = TYPESCRIPT | {"javascript"}
INNER = frozenset({"method"})  # kinds that are reached through what is around them only
TYPES = frozenset({"class", "interface", "struct", "enum", "type", "trait"})


class NamesByFile:
    """The names of the files of one state of a project."""

    def __init__(self, tags: Mapping[str, Tags]) -> None:
        self._tags = tags
        self._inside: dict[str, dict[str, str]] = {}
        self._own: dict[str, dict[str, str]] = {}
        self._types: dict[str, frozenset[str]] = {}
        self._qualified: dict[str, frozenset[str]] = {}
        self._lines: dict[str, dict[str, int]] = {}

    def inside(self, path: str) -> dict[str, str]:
        """Return {name that can be reached from outside: definition} of a file."""
        if path not in self._inside:
            self._inside[path] = _reachable(self._tags[path])
        return self._inside[path]

    def own(self, path: str) -> dict[str, str]:
        """Return {name: definition} of what a file reaches in itself without writing a chain."""
        if path not in self._own:
            tags = self._tags[path]
            out = {
                name: qualified
                for name, qualified, kind, *_ in reversed(tags.symbols)
                if "." not in qualified
                and kind not in INNER
                and not _is_elsewhere(tags, name, kind)
            }
            self._own[path] = _nested_types(tags) | out
        return self._own[path]

    def qualified(self, path: str) -> frozenset[str]:
        """Return the definitions of a file."""
        if path not in self._qualified:
            self._qualified[path] = frozenset(symbol[1] for symbol in self._tags[path].symbols)
        return self._qualified[path]

    def lines(self, path: str) -> dict[str, int]:
        """Return the line, from 1, of the first definition of each qualified name of a file."""
        if path not in self._lines:
            self._lines[path] = {
                qualified: at for _, qualified, *_, at in reversed(self._tags[path].symbols)
            }
        return self._lines[path]

    def types(self, path: str) -> frozenset[str]:
        """Return the definitions of a file that are types."""
        if path not in self._types:
            self._types[path] = frozenset(
                symbol[1] for symbol in self._tags[path].symbols if symbol[2] in TYPES
            )
        return self._types[path]


def _is_elsewhere(tags: Tags, name: str, kind: str) -> bool:
    """Say whether a module of Rust has a file of its own: `mod cart;`."""
    return kind == "module" and any(
        statement.alias == name for statement in tags.imports if statement.how in {"mod", "path"}
    )


def _reachable(tags: Tags) -> dict[str, str]:
    out: dict[str, str] = {}
    for name, qualified, kind, *_ in tags.symbols:
        for outside in _outside_names(tags, name, qualified, kind):
            out.setdefault(outside, qualified)
    for name in tags.declared:
        out.setdefault(name, name)
    for name in tags.fallbacks:
        out.pop(name, None)
    for name, inner in tags.exported:
        if inner in out or name == DEFAULT:
            out.setdefault(name, inner)
    if WHOLE in out and tags.language in ECMA:
        out.setdefault(DEFAULT, out[WHOLE])
    return out


def _outside_names(tags: Tags, name: str, qualified: str, kind: str) -> tuple[str, ...]:
    """Return the names by which other files reach a definition."""
    if name == "_" or _is_elsewhere(tags, name, kind):
        return ()
    if "." not in qualified:
        # a method of an object that has no name
        return () if kind in INNER and tags.language in TYPESCRIPT else (name,)
    if tags.language == "ruby" and kind not in INNER:
        return (qualified,)
    if tags.language in C and kind not in INNER and kind != "constant":
        return qualified, name
    return ()


def _nested_types(tags: Tags) -> dict[str, str]:
    """Return the types inside of others that a file can only mean one of, by their last names."""
    out: dict[str, set[str]] = {}
    if tags.language in {"java", "csharp"}:
        for name, qualified, kind, *_ in tags.symbols:
            if "." in qualified and kind in TYPES:
                out.setdefault(name, set()).add(qualified)
    return {name: places.pop() for name, places in out.items() if len(places) == 1}
