"""Imports of JavaScript and TypeScript.

These are relative paths, omitted endings, index files, tsconfig's paths, package.json's exports and
imports, and workspaces.

The rules are Node's (nodejs.org/api/esm.html, packages.html) and TypeScript's
(typescriptlang.org/docs/handbook/modules/reference.html). What `exports` names in a folder of built
files that is not committed is looked for in the sources.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined, table, texts
from gitmem.codemap.tags.import_statements import DEFAULT, Import
from gitmem.text.globs import glob_match
from gitmem.text.safe_yaml import load_yaml

ENDINGS = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".mts",
    ".cts",
    ".vue",
    ".svelte",
    ".json",
)
CONDITIONS = ("source", "types", "import", "module", "node", "require", "default", "browser")
_JS = re.compile(r"\.([mc]?)jsx?$")
_BUILT = re.compile(r"^(?:dist|build|lib|out|esm|cjs|es|umd)/(?:(?:esm|cjs|types|src|es|umd)/)*")
DEEP = 4  # configurations that extend one another


class EcmaResolver:
    """Resolves the imports of one project's JavaScript and TypeScript files."""

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files
        self._packages = {  # name -> folder, of the packages that the project itself has
            str(name): posixpath.dirname(path)
            for path in reversed(files.named("package.json"))
            if "node_modules" not in path.split("/")
            and (name := files.json(path).get("name"))
            and isinstance(name, str)
        }
        self._configs: dict[str, tuple[str, dict[str, list[str]], str]] = {}
        self._known: dict[tuple[str, str], str] = {}

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; nothing for what is not of the project."""
        file = self.file(path, statement.module)
        if not file or file == path:
            return
        passed = statement.how == "export"
        if statement.alias:
            yield Binding(statement.alias, (file,), passed=passed, line=statement.line)
        for name, local in statement.names:
            yield Binding(
                local,
                (file,),
                name,
                (file,) if name == DEFAULT else (),
                passed=passed,
                line=statement.line,
            )
        if not statement.alias and not statement.names:
            yield Binding("", (file,), line=statement.line)

    def file(self, path: str, module: str) -> str:
        """Return the file that a specifier in a file means, or '' if the project has none."""
        module = module.split("?")[0].removesuffix("/") or "/"
        folder = posixpath.dirname(path)
        if module.startswith(("./", "../")) or module in {".", ".."}:
            return self._at(joined(folder, module))
        key = folder, module
        if key not in self._known:
            self._known[key] = self._named(folder, module)
        return self._known[key]

    def _named(self, folder: str, module: str) -> str:
        base, paths, root = self._config(folder)
        mapped = (joined(root, target) for target in _mapped(paths, module))
        if file := next(filter(None, map(self._at, mapped)), ""):
            return file
        if base and (file := self._at(joined(base, module))):
            return file
        if module.startswith("#"):
            return self._inner(folder, module)
        parts = module.split("/")
        count = 2 if module.startswith("@") else 1
        name, rest = "/".join(parts[:count]), "/".join(parts[count:])
        if name not in self._packages:
            return ""
        return self._in_package(self._packages[name], rest)

    def _in_package(self, folder: str, rest: str) -> str:
        manifest = self._files.json(posixpath.join(folder, "package.json"))
        exports = manifest.get("exports")
        if exports is not None:
            for target in _matches(exports, "./" + rest if rest else "."):
                if source := self._source(folder, target):
                    return source
        if rest:
            return self._at(joined(folder, rest)) or self._at(joined(folder, "src/" + rest))
        for key in ("source", "types", "typings", "module", "main"):
            if isinstance(manifest.get(key), str) and (
                source := self._source(folder, manifest[key])
            ):
                return source
        return (
            self._at(joined(folder, "src"))
            or self._at(joined(folder, "index"))
            or self._at(joined(folder, "src/main"))
        )

    def _inner(self, folder: str, module: str) -> str:
        while True:
            path = posixpath.join(folder, "package.json")
            if path in self._files.texts:
                for target in _matches(self._files.json(path).get("imports"), module):
                    if source := self._source(folder, target):
                        return source
                return ""
            if not folder:
                return ""
            folder = posixpath.dirname(folder)

    def _source(self, folder: str, target: str) -> str:
        """Return the file that a manifest names, or the source that it is built from."""
        plain = posixpath.normpath(target)
        if file := self._at(joined(folder, plain)):
            return file
        source = _BUILT.sub("", plain)
        stem = re.sub(r"(?:\.d)?\.[mc]?[jt]sx?$", "", source)
        return next(
            (
                file
                for base in ("src/", "", "lib/")
                if (file := self._at(joined(folder, base + stem)))
            ),
            "",
        )

    def _at(self, path: str) -> str:
        if path.startswith(".."):
            return ""
        files = self._files.paths
        for name in (path, *_sources(path), *(path + ending for ending in ENDINGS)):
            if name in files:
                return name
        if posixpath.join(path, "package.json") in self._files.texts:
            main = self._files.json(posixpath.join(path, "package.json")).get("main")
            if isinstance(main, str) and (file := self._at(joined(path, main))) and file != path:
                return file
        prefix = f"{path}/index" if path else "index"
        return next((prefix + ending for ending in ENDINGS if prefix + ending in files), "")

    def _config(self, folder: str) -> tuple[str, dict[str, list[str]], str]:
        """Return (baseUrl or '', paths, folder that they are relative to) that hold in a folder."""
        if folder not in self._configs:
            for name in ("tsconfig.json", "jsconfig.json", "tsconfig.base.json"):
                path = posixpath.join(folder, name)
                if path in self._files.texts:
                    config = self._read(path, 0)
                    if config[0] or config[1] or name == "tsconfig.json":
                        break
            else:
                config = self._config(posixpath.dirname(folder)) if folder else ("", {}, "")
            self._configs[folder] = config
        return self._configs[folder]

    def _read(self, path: str, depth: int) -> tuple[str, dict[str, list[str]], str]:
        config = self._files.json(path)
        folder = posixpath.dirname(path)
        options = table(config, "compilerOptions")
        base, paths, root = "", dict[str, list[str]](), folder
        for parent in self._parents(path, config) if depth < DEEP else ():
            base, paths, root = self._read(parent, depth + 1)
            if base or paths:
                break
        if isinstance(options.get("baseUrl"), str):
            base = root = joined(folder, options["baseUrl"]) or "."
        if table(options, "paths"):
            paths = {key: texts(value) for key, value in table(options, "paths").items()}
            root = base or folder
        return base, paths, "" if root == "." else root

    def _parents(self, path: str, config: "dict[str, Any]") -> Iterator[str]:
        """Yield the files that a configuration extends, and those that it refers to."""
        folder = posixpath.dirname(path)
        for name in [*texts(config.get("extends")), *_references(config)]:
            near = joined(folder, name) if name.startswith(".") else ""
            files = (near, near + ".json", near + "/tsconfig.json") if near else ()
            parent = next((file for file in files if file in self._files.texts), path)
            if parent != path:
                yield parent


def _sources(path: str) -> tuple[str, ...]:
    """Return what a file may be built from: TypeScript writes what will be there."""
    match = _JS.search(path)
    if not match:
        return ()
    stem = path[: match.start()]
    return f"{stem}.{match[1]}ts", f"{stem}.{match[1]}tsx", f"{stem}.d.{match[1]}ts"


def _mapped(paths: "dict[str, list[str]]", module: str) -> Iterator[str]:
    """Yield the paths that a configuration has for a module, which may have a `*`."""
    for pattern, targets in paths.items():
        before, star, after = pattern.partition("*")
        if not star and module == pattern:
            yield from (target.replace("*", "") for target in targets)
        elif (
            star
            and module.startswith(before)
            and module.endswith(after)
            and len(module) >= len(pattern) - 1
        ):
            middle = module[len(before) : len(module) - len(after)]
            yield from (target.replace("*", middle) for target in targets)


def _references(config: "dict[str, Any]") -> list[str]:
    """Return the other configurations that one refers to; none where it has paths itself."""
    if table(config, "compilerOptions").get("paths"):
        return []
    rows = config.get("references") or ()
    return [str(row["path"]) for row in rows if isinstance(row, dict) and "path" in row]


def _matches(exports: Any, wanted: str) -> Iterator[str]:
    """Yield the targets that `exports` or `imports` has for a subpath, the best first."""
    if isinstance(exports, str | list) or (
        isinstance(exports, dict) and exports and not any(key[:1] in ".#" for key in exports)
    ):
        exports = {".": exports}
    if not isinstance(exports, dict):
        return
    if wanted in exports:
        yield from _targets(exports[wanted], "")
        return
    for pattern in sorted(
        (key for key in exports if "*" in key), key=lambda key: (-len(key.partition("*")[0]), key)
    ):
        before, _, after = pattern.partition("*")
        if wanted.startswith(before) and wanted.endswith(after) and len(wanted) >= len(pattern):
            yield from _targets(
                exports[pattern], wanted[len(before) : len(wanted) - len(after) or None]
            )


def _targets(value: Any, middle: str) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("*", middle)
    elif isinstance(value, list):
        for entry in value:
            yield from _targets(entry, middle)
    elif isinstance(value, dict):
        for key in sorted(
            value, key=lambda key: CONDITIONS.index(key) if key in CONDITIONS else 99
        ):
            yield from _targets(value[key], middle)


def workspaces(files: ProjectFiles) -> list[str]:
    """Return the package folders that the root's package.json or pnpm-workspace.yaml names."""
    root = files.json("package.json")
    given = root.get("workspaces")
    patterns = texts(given.get("packages") if isinstance(given, dict) else given)
    if "pnpm-workspace.yaml" in files.texts:
        document = load_yaml(files.texts["pnpm-workspace.yaml"].decode("utf-8", "replace"))
        patterns += texts(document.get("packages")) if isinstance(document, dict) else []
    wanted = [
        pattern.removeprefix("./").rstrip("/")
        for pattern in patterns
        if not pattern.startswith("!")
    ]
    unwanted = [
        pattern[1:].removeprefix("./").rstrip("/")
        for pattern in patterns
        if pattern.startswith("!")
    ]
    folders = (posixpath.dirname(path) for path in files.named("package.json"))
    return sorted(
        folder
        for folder in folders
        if folder
        and any(glob_match(pattern, folder) for pattern in wanted)
        and not any(glob_match(pattern, folder) for pattern in unwanted)
    )
