"""Where a project starts: commands, main functions, applications and their routes. Pure."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gitmem.codemap.tags.tags import Tags
from gitmem.services.dna.declared import Declared
from gitmem.text.test_files import is_aside

STARTERS = frozenset({"manage.py", "__main__.py", "main.rs", "config.ru", "artisan", "index.php"})
ROUTES = 8  # of a file that are told
COMPILED = frozenset({"rust", "java", "csharp", "c", "cpp"})
# files of script languages that start something although no manifest names them
_NAMED = re.compile(r"(?:main|app|server|run|cli|index|bot|start|wsgi|asgi)\.\w+")
_FRAMEWORKS = frozenset(
    "flask fastapi starlette quart sanic litestar aiohttp falcon bottle django".split()
)
# folders of what builds, checks or releases a project
_TOOLING = re.compile(
    r"scripts?|tools?|hack|build|ci|\.ci|\.github|dev|devtools|contrib|release|xtask|config"
    r"|\.config|maintainer|packaging|internal[-_]tools|perf.*|_?build[-_].+|eng|misc"
)
_BUILT = re.compile(r"(?:dist|build|lib|out|es|esm|cjs|umd|src|node)/")
_SOURCES = ("ts", "tsx", "mts", "js", "mjs", "jsx", "cts", "cjs")

Text = Callable[[str], bytes]


def declared_entries(
    top: Sequence[Declared], files: frozenset[str], prefix: str
) -> Iterator[tuple[str, str]]:
    """Yield (what is started, where) that manifests name, as far as it is there.

    `files` are the paths below the project's folder, whose path is `prefix`. A built file that is
    not committed is told as its source.
    """
    for manifest in top:
        folder = posixpath.dirname(manifest.path[len(prefix) :])
        for name, target in manifest.starts.items():
            if manifest.ecosystem == "python":
                if _has_module(target, files):
                    yield name, target
            elif path := _source(posixpath.normpath(posixpath.join(folder, target)), files):
                yield name, prefix + path
        if (
            manifest.ecosystem == "npm"
            and not manifest.starts
            and not folder
            and "index.js" in files
        ):
            yield "(main)", f"{prefix}index.js"  # what npm takes when a package names none


def _has_module(target: str, files: frozenset[str]) -> bool:
    """Say whether the module that a script of Python names is there, in whatever folder."""
    inside = target.partition(":")[0].strip().replace(".", "/")
    wanted = tuple(f"/{inside}{ending}" for ending in (".py", ".pyx", "/__init__.py"))
    return any(f"/{path}".endswith(wanted) for path in files)


def _source(target: str, files: frozenset[str]) -> str:
    """Return a file that is there: the one that is named, or the source that it is built from."""
    if target in files:
        return target
    stem = target
    for _ in range(3):
        stem = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", stem)
        for folder in ("", "src/"):
            for ending in _SOURCES:
                if (path := f"{folder}{stem}.{ending}") in files and (folder or stem != target):
                    return path
        if not _BUILT.match(stem):
            return ""
        stem = _BUILT.sub("", stem, count=1)
    return ""


def other_entries(
    paths: Sequence[str],
    tags: Mapping[str, Tags],
    named: Sequence[tuple[str, str]],
    prefix: str,
    text: Text,
    *,
    is_package: bool,
) -> list[tuple[str, str]]:
    """Return (what is started, where) of what starts without being named by a manifest.

    `is_package` says that a manifest makes a package of script files: then only that names what it
    starts.
    """
    targets = " ".join(where.removeprefix(prefix) for _, where in named)
    rows = []
    for path in paths:
        inside = path[len(prefix) :]
        module = inside.rpartition(".")[0].removeprefix("src/").replace("/", ".")
        package = f"{module.rpartition('.')[0]}."
        is_listed = inside in targets or f"{module}:" in targets
        is_listed |= path.endswith("/__main__.py") and package in targets
        if is_listed or is_aside(path) or is_tooling(inside):
            continue
        if label := _starts(path, inside, tags[path], text, is_package):
            rows.append((label == "main", path.count("/"), path, label))
    return [(label, path) for _, _, path, label in sorted(rows)]


def is_tooling(path: str) -> bool:
    """Say whether a file builds, checks or releases a project, by its path inside it."""
    *folders, name = path.split("/")
    is_build = name in {"build.rs", "setup.py", "conftest.py", "noxfile.py", "tasks.py"}
    # `src/build` and `cmd/release` are parts of a product
    return is_build or any(_TOOLING.fullmatch(folder) for folder in folders[:1])


def _starts(path: str, inside: str, tags: Tags, text: Text, is_package: bool) -> str:
    """Return what a file starts, '' for nothing."""
    name = path.rsplit("/", 1)[-1]
    if name in STARTERS and (tags.main or tags.language != "rust"):
        return "main"
    if framework := _framework(tags, inside):
        return framework
    if tags.language == "go":
        is_main = tags.package == "main" and tags.main
        return "main" if is_main and not _is_ignored(text(path)) else ""
    is_main = tags.main and (tags.language in COMPILED or _is_command(inside, name, is_package))
    return "main" if is_main else ""


def _is_command(inside: str, name: str, is_package: bool) -> bool:
    """Say whether a script is a command of the project, by where it is and what it is called."""
    if inside.count("/") > 1:
        return False
    if inside.startswith(("bin/", "exe/")):
        return True
    return not is_package and ("/" not in inside or _NAMED.fullmatch(name) is not None)


def _framework(tags: Tags, inside: str) -> str:
    """Return the web framework whose application a file of Python has by itself."""
    names = {symbol[1] for symbol in tags.symbols}
    if tags.language != "python" or not names & {"app", "application"} or inside.count("/") > 3:
        return ""
    for imported in tags.imports:
        head = imported.module.split(".")[0]
        if head in _FRAMEWORKS and not imported.module.startswith("."):
            is_made = "application" in names or any(
                use.split(".")[-1].lower() in {head, "application"} for use in tags.uses
            )
            return f"{head} application" if is_made else ""
    return ""


def _is_ignored(data: bytes) -> bool:
    """Say whether Go builds a file only when it is named: a generator."""
    return (
        re.search(rb"(?m)^//\s*(?:go:build|\+build)\s+(?:ignore|tools)\b", data[:4000]) is not None
    )


def route_rows(
    paths: Sequence[str], tags: Mapping[str, Tags], ranks: Mapping[str, float]
) -> list[tuple[str, str, int]]:
    """Return (file, its routes, how many they are), the files on which most depends first."""
    out = []
    for path in paths:
        routes = [route for route in tags[path].routes if "%" not in route[1]]
        if not routes or is_aside(path):
            continue
        labels = list(dict.fromkeys(f"{_verb(verb)}{where or '/'}" for verb, where, _ in routes))
        rest = f" and {len(labels) - ROUTES} more" if len(labels) > ROUTES else ""
        out.append((path, ", ".join(labels[:ROUTES]) + rest, len(labels)))
    return sorted(out, key=lambda row: (-ranks.get(row[0], 0.0), row[0]))


def _verb(verb: str) -> str:
    match = re.match(r"(?i)(?:http)?(get|post|put|patch|delete)", verb)
    return f"{match[1].upper()} " if match else ""
