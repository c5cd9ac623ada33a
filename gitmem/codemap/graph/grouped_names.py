"""The names of groups: Go packages, namespaces of Java, C# and PHP, the constants of Ruby.

A name may be in several files: classes are reopened, tests and platforms have their own. A file
means the one that is at home under that name, else the nearest to it. What only tests define is
nothing to other files.
"""

from collections.abc import Callable, Mapping

from gitmem.codemap.imports import groups
from gitmem.codemap.imports.files import shared
from gitmem.codemap.tags.tags import Tags
from gitmem.text.test_files import is_test

Place = tuple[str, str]
FOREIGN = ("System", "Microsoft")  # roots of namespaces that no project owns


class GroupedNames:
    """The files of each name of each group; `inside` gives the names of a file."""

    def __init__(
        self, tags: Mapping[str, Tags], inside: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._tags = tags
        self._inside = inside
        self._files: dict[str, dict[str, list[str]]] = {}
        self._members: dict[str, dict[str, list[str]]] | None = None
        self._around: dict[str, list[str]] = {}
        self._at_home: dict[str, bool] = {}
        for path in self._paths():
            own = self._files.setdefault(groups.of_file(path, tags[path]), {})
            for name in inside(path):
                own.setdefault(name, []).append(path)

    def _paths(self) -> list[str]:
        """Return the files that are in groups."""
        paths = [path for path in sorted(self._tags) if groups.of_file(path, self._tags[path])]
        foreign = {path for path in paths if _is_foreign(self._tags[path])}
        of_csharp = sum(self._tags[path].language == "csharp" for path in paths)
        if len(foreign) * 2 > of_csharp:  # it is the base library itself
            return paths
        return [path for path in paths if path not in foreign]

    def has(self, target: str) -> bool:
        """Say whether a group has files."""
        return target in self._files

    def files(self, target: str, user: str) -> list[str]:
        """Return the files that a group means to a file, sorted."""
        own = self._files.get(target, {})
        out = {path for paths in own.values() for path in paths if path != user}
        return sorted(path for path in out if _is_visible(path, user))

    def file(self, target: str, name: str, user: str) -> str:
        """Return the file that a name of a group means to a file; '' when there is none."""
        return self._choice(self._files.get(target, {}).get(name, ()), name, user)

    def member(self, target: str, qualified: str, user: str) -> str:
        """Return the file that defines a member of a class that several files open, or ''."""
        if self._members is None:
            self._members = {}
            for path, tags in self._tags.items():
                if tags.language in groups.REOPENED:
                    own = self._members.setdefault(groups.of_file(path, tags), {})
                    for symbol in tags.symbols:
                        own.setdefault(symbol[1], []).append(path)
        return self._choice(self._members.get(target, {}).get(qualified, ()), "", user)

    def constant(self, user: str, name: str) -> Place | None:
        """Return where a constant of Ruby is defined, from what is around a file outwards."""
        own = self._files.get(groups.group("ruby", ""), {})
        for prefix in self._nestings(user):
            whole = prefix + name
            if whole not in own:
                continue
            path = self._choice(own[whole], whole, user)
            if path and self._is_reopened(path, whole):
                return None
            if path and (len(own[whole]) == 1 or self._is_home(path, whole)):
                return path, whole
            if path and any(symbol[1] == whole for symbol in self._classes(path)):
                return path, whole
            return None  # a module that only holds others, opened in many files
        return None

    def _is_reopened(self, path: str, name: str) -> bool:
        """Say whether a file only opens what a library defines.

        It does if neither the definition nor the module at its root has a file of its name.
        """
        root = name.partition(".")[0]
        if root == name or self._is_home(path, name):
            return False
        if root not in self._at_home:
            self._at_home[root] = any(
                f"/{file}".replace("_", "").endswith(f"/{root.lower()}.rb")
                for file in self._tags
                if file.endswith(".rb") and not is_test(file)
            )
        return not self._at_home[root] and not is_test(path)

    def _classes(self, path: str) -> list[tuple[str, str, str]]:
        return [symbol[:3] for symbol in self._tags[path].symbols if symbol[2] == "class"]

    def _nestings(self, path: str) -> list[str]:
        """Return the modules and classes that a Ruby file opens, and those around them.

        Each has a dot behind it, and '' comes last.
        """
        if path not in self._around:
            opened = {""}
            for _, qualified, kind, *_ in self._tags[path].symbols:
                if kind in {"class", "module"}:
                    parts = qualified.split(".")
                    opened.update(".".join(parts[:n]) + "." for n in range(1, len(parts) + 1))
            self._around[path] = sorted(opened, key=lambda name: (-name.count("."), name))
        return self._around[path]

    def _choice(self, paths: "list[str] | tuple[()]", name: str, user: str) -> str:
        if not paths:
            return ""
        if len(paths) == 1 and paths[0] == user:
            return user
        usable = [path for path in paths if not is_test(path)]
        if not usable:
            usable = [path for path in paths if _is_visible(path, user)]
        if len(usable) <= 1:
            return usable[0] if usable else ""
        return min(
            usable,
            key=lambda path: (
                not self._is_home(path, name),
                path != user,
                -shared(path, user),
                path,
            ),
        )

    def _is_home(self, path: str, name: str) -> bool:
        """Say whether a file is named after a definition that many files may open."""
        plain = f"/{path}".lower().replace("_", "")
        if path.endswith(".cs"):
            return plain.endswith(f"/{name.lower().replace('_', '')}.cs")
        home = "/" + name.lower().replace(".", "/").replace("_", "") + ".rb"
        return plain.endswith(home)


def _is_visible(path: str, user: str) -> bool:
    """Say whether a file may use another one: what is in tests is for tests."""
    if not is_test(path):
        return True
    if path.endswith("_test.go") and path.rpartition("/")[0] != user.rpartition("/")[0]:
        return False
    return is_test(user)


def _is_foreign(tags: Tags) -> bool:
    return tags.language == "csharp" and tags.package.partition(".")[0] in FOREIGN
