"""Which packages of others a project uses, by its manifests and its imports. Pure."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from gitmem.codemap.graph.resolve import Resolution
from gitmem.codemap.tags.import_statements import Import
from gitmem.codemap.tags.tags import Tags
from gitmem.services.dna.declared import Declared, is_stub, is_tool
from gitmem.text.test_files import is_aside, is_test

# distributions whose module has another name
MODULES = {
    "pyyaml": "yaml",
    "pillow": "pil",
    "scikit-learn": "sklearn",
    "beautifulsoup4": "bs4",
    "python-dateutil": "dateutil",
    "opencv-python": "cv2",
    "protobuf": "google",
    "python-dotenv": "dotenv",
    "pyjwt": "jwt",
    "psycopg2-binary": "psycopg2",
    "attrs": "attr",
    "pygithub": "github",
    "mysqlclient": "mysqldb",
    "google-re2": "re2",
}
NODE = frozenset(
    "assert buffer child_process cluster console crypto dgram dns events fs http http2 https "
    "module net os path perf_hooks process punycode querystring readline repl stream "
    "string_decoder timers tls tty url util v8 vm worker_threads zlib".split()
)
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
UNDECLARED = 3  # files that import a package which no manifest declares

Dependency = tuple[str, str, int]  # (name, declared version, files that import it)


def dependencies(
    paths: Sequence[str],
    tags: Mapping[str, Tags],
    resolution: Resolution,
    declared: Sequence[Declared],
    own_names: frozenset[str],
) -> tuple[list[Dependency], list[str], list[str]]:
    """Return (dependencies, optional ones, those for development), the most used first.

    `own_names` are the packages of the project itself, in lower case. A package that no manifest
    declares counts only in a language for which none declares any.
    """
    versions = _versions(declared, own_names)
    options: dict[str, str] = {}  # names by themselves in lower case
    development: dict[str, str] = {}
    for manifest in declared:
        options.update((name.lower(), name) for name in manifest.options)
        development.update((name.lower(), name) for name in (*manifest.tools, *manifest.tries))
    users = _users(paths, tags, versions)
    is_tools = any(map(is_tool, own_names))  # what others check and test with needs its like
    for name in [name for name in versions if _is_for_tests(name, users[name], declared, is_tools)]:
        del versions[name]
        development[name.lower()] = name
    for name in _loose(declared, versions, users):
        del versions[name]
        development.update({name.lower(): name} if users[name] else {})
    rows = [(name, version, len(users[name])) for name, version in versions.items()]
    if not any(manifest.uses or manifest.tries for manifest in declared):
        rows += _undeclared(paths, tags, resolution, own_names)
    used = {name.lower() for name in versions}
    optional = _others(options, used | own_names)
    taken = used | own_names | {name.lower() for name in optional}
    return (
        sorted(rows, key=lambda row: (-row[2], row[0])),
        optional,
        _others(development, taken),
    )


def _versions(declared: Sequence[Declared], own_names: frozenset[str]) -> dict[str, str]:
    """Return the dependencies with their versions, without the project's own packages."""
    versions: dict[str, str] = {}
    for manifest in declared:
        for name, version in manifest.uses.items():
            if _last_part(name) not in own_names:
                versions[name] = versions.get(name) or version
    return versions


def _loose(
    declared: Sequence[Declared], versions: Mapping[str, str], users: Mapping[str, set[str]]
) -> list[str]:
    """Return what only lists beside a package name and what its own code does not import."""
    sure = {name for manifest in declared if not manifest.is_loose for name in manifest.uses}
    loose = {name for manifest in declared if manifest.is_loose for name in manifest.uses} - sure
    return [name for name in versions if name in loose and _are_aside(users[name])]


def _others(names: Mapping[str, str], taken: AbstractSet[str]) -> list[str]:
    """Return the names, as they are written, that are not taken in lower case; no type stubs."""
    return [
        name
        for low, name in sorted(names.items())
        if low not in taken and _last_part(name) not in taken and not is_stub(name)
    ]


def _last_part(name: str) -> str:
    """Return the name of a package without Maven's group, in lower case."""
    return name.rpartition(":")[2].lower()


def _is_for_tests(name: str, users: set[str], declared: Sequence[Declared], is_tools: bool) -> bool:
    """Say whether a dependency is for tests only, whatever a manifest calls it.

    Go's manifests do not divide dependencies. `is_tools` says that the project is a tool itself.
    """
    if is_stub(name):
        return True
    is_go = any(name in manifest.uses and manifest.ecosystem == "go" for manifest in declared)
    if is_go and users:
        return all(is_test(path) for path in users)
    is_both = any(name in manifest.tries for manifest in declared)
    return is_tool(name) and (is_both or not is_tools) and _are_aside(users)


def _are_aside(paths: set[str]) -> bool:
    return all(is_aside(path) for path in paths)


def _users(
    paths: Sequence[str], tags: Mapping[str, Tags], versions: Mapping[str, str]
) -> dict[str, set[str]]:
    """Return the files that import each dependency."""
    names = {_module(name): name for name in versions}
    shared = Counter(_module(name) for name in versions)
    # of several packages of one group, imports do not say which is meant
    names = {module: name for module, name in names.items() if shared[module] == 1}
    users: dict[str, set[str]] = {name: set() for name in versions}
    for path in paths:
        for imported in _foreign_imports(tags[path]):
            wanted = _candidates(imported.module, imported.names, tags[path].language)
            module = next((module_name for module_name in wanted if module_name in names), None)
            if module is not None:
                users[names[module]].add(path)
    return users


def _foreign_imports(tags: Tags) -> Iterator[Import]:
    for imported in tags.imports:
        is_relative = imported.module.startswith((".", "/"))
        if not (is_relative and tags.language in {"python", *SCRIPTS}):
            yield imported


def _undeclared(
    paths: Sequence[str],
    tags: Mapping[str, Tags],
    resolution: Resolution,
    own_names: frozenset[str],
) -> list[Dependency]:
    """Return packages that several files import, in a project without manifests."""
    users: dict[str, set[str]] = {}
    for path in paths:
        if is_aside(path):
            continue
        for imported in _foreign_imports(tags[path]):
            module = _package(imported.module, tags[path].language)
            if module and not resolution.imported(path, imported):
                users.setdefault(module, set()).add(path)
    return [
        (name, "", len(some))
        for name, some in users.items()
        if len(some) >= UNDECLARED
        and name.lower() not in own_names
        and not (is_stub(name) or is_tool(name))
    ]


def _module(name: str) -> str:
    low = name.lower()
    low = MODULES.get(low, low)
    return low.rpartition(":")[0] or low.replace("-", "_") if ":" in low else low.replace("-", "_")


def _candidates(module: str, names: Sequence[tuple[str, str]], language: str) -> list[str]:
    """Return what a dependency may be called that an import names, the longest first."""
    low = module.lower().replace("-", "_")
    if language == "go":
        parts = low.split("/")
        return ["/".join(parts[:n]) for n in range(len(parts), 0, -1)]
    if language in SCRIPTS:
        parts = low.split("/")
        return ["/".join(parts[:2] if low.startswith("@") else parts[:1])]
    if language == "ruby":
        return [low.replace("/", "_"), low.split("/")[0]]
    parts = low.split(".")
    if language == "php":
        return [f"{parts[0]}/{parts[1]}" if len(parts) > 1 else parts[0]]
    longer = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    if names and language == "csharp":
        longer.append(f"{low}.{names[0][0]}".lower())
    return longer


def _package(module: str, language: str) -> str:
    """Return the package of another project that an import names.

    '' for what a language brings with it, or that cannot be told.
    """
    if language == "python":
        head = module.split(".")[0]
        return "" if not head or head in sys.stdlib_module_names else head
    if language not in SCRIPTS:
        return ""
    is_own = module.startswith(("node:", "#", "@/", "~", "virtual:", "bun:", "http"))
    parts = module.split("/")
    if is_own or parts[0] in NODE:
        return ""
    return "/".join(parts[:2] if module.startswith("@") else parts[:1])
