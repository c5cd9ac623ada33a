"""What a project's manifests declare.

They declare its name, what it needs in which versions, what it starts, and its scripts. This module
is pure.

Only what is written there is told: a range stays a range, and what has no version has none.
"""

import re
from collections.abc import Callable

from gitmem.services.dna.declared import Declared
from gitmem.services.dna.readers import dynamic, jvm, native, node, python, tasks

Reader = Callable[[str, str], Declared]

_REQUIREMENTS = re.compile(
    r"(?:^|/)(?:requirements(?:[-_.][\w.-]{1,80})?\.(?:txt|in)"
    r"|requirements/(?:extras/)?[\w.-]+\.(?:txt|in))$"
)

# files whose first line is the version of one tool
_VERSION_FILES = {
    ".python-version": "Python",
    ".nvmrc": "Node.js",
    ".node-version": "Node.js",
    ".ruby-version": "Ruby",
}


def reader(path: str) -> Reader | None:
    """Return what reads a manifest, by its name; None for a file that is none."""
    name = path.rsplit("/", 1)[-1]
    if name in _READERS:
        return _READERS[name]
    if name.endswith(".gemspec"):
        return dynamic.gemspec
    if name.endswith((".csproj", ".fsproj")):
        return dynamic.csproj
    return python.requirements_file if _REQUIREMENTS.search(path) else None


def version_file(path: str) -> str | None:
    """Return the language whose version a file such as `.python-version` names."""
    return _VERSION_FILES.get(path.rsplit("/", 1)[-1])


def read(path: str, data: bytes) -> Declared:
    """Return what a manifest declares; nothing but its path for one that cannot be read."""
    made = reader(path)
    if made is None:
        return Declared(path, "")
    try:
        return made(path, data.decode("utf-8-sig", "replace"))
    # somebody else's file, of whatever shape; Python's parser has no memory for deep nesting
    except (ValueError, TypeError, AttributeError, RecursionError, SyntaxError, MemoryError):
        return Declared(path, "")


_READERS: dict[str, Reader] = {
    "package.json": node.package_json,
    "pyproject.toml": python.pyproject,
    "setup.cfg": python.setup_cfg,
    "setup.py": python.setup_py,
    "Cargo.toml": native.cargo,
    "go.mod": native.go_mod,
    "pom.xml": jvm.pom,
    "build.gradle": jvm.gradle,
    "build.gradle.kts": jvm.gradle,
    "composer.json": dynamic.composer,
    "Gemfile": dynamic.gemfile,
    "mix.exs": dynamic.mix,
    "Package.swift": dynamic.package_swift,
    "pubspec.yaml": dynamic.pubspec,
    "CMakeLists.txt": native.cmake,
    "Makefile": tasks.makefile,
    "makefile": tasks.makefile,
    "GNUmakefile": tasks.makefile,
    "justfile": tasks.justfile,
    "Justfile": tasks.justfile,
    "Taskfile.yml": tasks.taskfile,
    "Taskfile.yaml": tasks.taskfile,
}
