"""The files of a project and what its manifests say, as import statements see them.

The module is pure.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

# manifests whose text resolution needs; whatever changes in one of them makes all imports be
# resolved anew
MANIFESTS = frozenset(
    {
        "package.json",
        "pnpm-workspace.yaml",
        "Cargo.toml",
        "go.mod",
        "go.work",
        "composer.json",
        "pyproject.toml",
        "setup.cfg",
        "setup.py",
    }
)
_TSCONFIG = re.compile(r"(?:ts|js)config(?:\.[\w.-]+)?\.json")
_JSON_NOISE = re.compile(
    r'("(?:[^"\\]|\\.)*+(?:"|\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)|,(?=\s*[}\]])', re.DOTALL
)


class Binding(NamedTuple):
    """What an import binds.

    `targets` are files or groups; `name` is what is taken of them: '' the module itself, '*' all of
    it.

    `modules` are files or groups that the name may be by itself, when no target has it. `local` is
    '' when nothing is bound. `passed` says that whoever imports this file sees the name too. `line`
    is where it is imported.
    """

    local: str
    targets: tuple[str, ...]
    name: str = ""
    modules: tuple[str, ...] = ()
    passed: bool = False
    line: int = 0


def is_manifest(path: str) -> bool:
    """Say whether resolution reads a file."""
    if not path.endswith((".json", ".toml", ".mod", ".work", ".yaml", ".cfg", "setup.py")):
        return False
    name = path.rsplit("/", 1)[-1]
    return name in MANIFESTS or _TSCONFIG.fullmatch(name) is not None


class ProjectFiles:
    """The paths of a project, from its root with `/`, and the texts of its manifests by path."""

    def __init__(self, paths: Iterable[str], texts: Mapping[str, bytes]) -> None:
        self.paths = frozenset(paths)
        self.texts = texts

    @cached_property
    def folders(self) -> frozenset[str]:
        """All folders that hold something; '' is the root."""
        out = {""}
        for path in self.paths:
            folder = posixpath.dirname(path)
            while folder and folder not in out:
                out.add(folder)
                folder = posixpath.dirname(folder)
        return frozenset(out)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """Paths by their last part, in order."""
        out: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            out.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return out

    def first(self, candidates: Iterable[str]) -> str:
        """Return the first of some paths that is there, '' when none is."""
        return next((path for path in candidates if path in self.paths), "")

    def named(self, name: str) -> list[str]:
        """Return the manifests of a name, those nearest to the root first."""
        return sorted(
            (path for path in self.texts if path.rsplit("/", 1)[-1] == name),
            key=lambda path: (path.count("/"), path),
        )

    def ending(self, tail: str, near: str) -> str:
        """Return the file whose path ends with `/tail`, or '' when there is none.

        Of several files, the one that shares most folders with `near` is taken.
        """
        some = [
            path
            for path in self.by_name.get(tail.rsplit("/", 1)[-1], ())
            if path == tail or path.endswith("/" + tail)
        ]
        return max(
            some,
            key=lambda path: (shared(path, near), -path.count("/"), [-ord(c) for c in path]),
            default="",
        )

    def json(self, path: str) -> dict[str, Any]:
        """Return a manifest in JSON, comments and last commas allowed; empty when it is none."""
        text = self.texts.get(path, b"").decode("utf-8", "replace")
        return json_object(text)

    def toml(self, path: str) -> dict[str, Any]:
        """Return a manifest in TOML; empty when it is none."""
        return toml_table(self.texts.get(path, b"").decode("utf-8", "replace"))


def parse_json(text: str) -> Any:
    """Return a JSON value, comments and last commas allowed; None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(_JSON_NOISE.sub(lambda m: m[1] or "", text))
    except (ValueError, RecursionError):
        return None


def json_object(text: str) -> dict[str, Any]:
    """Return a JSON object, comments and last commas allowed; empty when it is none."""
    value = parse_json(text)
    return value if isinstance(value, dict) else {}


def parse_toml(text: str) -> dict[str, Any] | None:
    """Return a TOML document; None when it is none."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def toml_table(text: str) -> dict[str, Any]:
    """Return a TOML document; empty when it is none."""
    return parse_toml(text) or {}


def shared(first: str, second: str) -> int:
    """Return how many folders two paths have in common at their beginning."""
    count = 0
    for a, b in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def joined(folder: str, path: str) -> str:
    """Return a path relative to a folder, from the root.

    '..' at the front when it leads out of it.
    """
    whole = posixpath.normpath(posixpath.join(folder, path))
    return "" if whole == "." else whole


def table(value: Any, *keys: str) -> dict[str, Any]:
    """Return the object at some keys; empty when something else is there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def texts(value: Any) -> list[str]:
    """Return the strings of a list, or the one string; empty for anything else."""
    values = value if isinstance(value, list) else [value]
    return [text for text in values if isinstance(text, str)]
