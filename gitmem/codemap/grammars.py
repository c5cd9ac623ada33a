"""Languages by file name, their tree-sitter grammars, and the queries for them.

The only module that loads grammars.

A grammar that is missing or damaged, a text that is huge or binary: no tree, no error. A query is a
file `queries/<language>/<part>.scm`; its first line may say `; inherits: <language>,...`, as
editors' queries do.
"""

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

from gitmem.base.fast import new_hash

if TYPE_CHECKING:
    from collections.abc import Collection

    from tree_sitter import Language, Query, Tree

MAX_BYTES = 2_000_000
QUERIES = os.path.join(os.path.dirname(__file__), "queries")

# ending -> language
ENDINGS = {
    "py": "python",
    "pyi": "python",
    "pyw": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "mts": "typescript",
    "cts": "typescript",
    "tsx": "tsx",
    "rs": "rust",
    "go": "go",
    "java": "java",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "cxx": "cpp",
    "c++": "cpp",
    "hh": "cpp",
    "hpp": "cpp",
    "hxx": "cpp",
    "h++": "cpp",
    "ipp": "cpp",
    "inl": "cpp",
    "rb": "ruby",
    "rake": "ruby",
    "gemspec": "ruby",
    "ru": "ruby",
    "cs": "csharp",
    "php": "php",
    "phtml": "php",
}
NAMES = {"Rakefile": "ruby", "Gemfile": "ruby", "SConstruct": "python", "wscript": "python"}
ALIASES = {
    "py": "python",
    "python3": "python",
    "js": "javascript",
    "jsx": "javascript",
    "javascriptreact": "javascript",
    "ts": "typescript",
    "typescriptreact": "tsx",
    "rs": "rust",
    "golang": "go",
    "c++": "cpp",
    "rb": "ruby",
    "c#": "csharp",
    "cs": "csharp",
}
# language -> (module of its wheel, function)
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "rust": ("tree_sitter_rust", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
}
TITLES = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "tsx": "TypeScript",
    "rust": "Rust",
    "go": "Go",
    "java": "Java",
    "c": "C",
    "cpp": "C++",
    "ruby": "Ruby",
    "csharp": "C#",
    "php": "PHP",
}
OPTIONAL = frozenset({"cpp", "csharp", "php", "ruby"})  # their grammars, 13 MB, are an extra

_languages: "dict[str, Language | None]" = {}
_queries: "dict[tuple[str, str], Query | None]" = {}


def language_of(path: str) -> str:
    """Return the language of a path by its name, empty when it is none that we know."""
    name = path.rsplit("/", 1)[-1]
    return NAMES.get(name) or (
        ENDINGS.get(name.rsplit(".", 1)[-1].lower(), "") if "." in name else ""
    )


def language_named(name: str) -> str:
    """Return our name of a language, empty for one that we do not know."""
    low = name.strip().lower()
    low = ALIASES.get(low, low)
    return low if low in GRAMMARS else ""


def grammar(language: str) -> "Language | None":
    """Return a grammar, None when its wheel is missing or does not fit."""
    if language not in _languages:
        try:
            import importlib

            from tree_sitter import Language

            module, function = GRAMMARS[language]
            _languages[language] = Language(getattr(importlib.import_module(module), function)())
        except Exception:  # noqa: BLE001 - whatever a damaged wheel raises, anchors must work without it
            _languages[language] = None
    return _languages[language]


def install_command(languages: "Collection[str]") -> str:
    """Return the command that installs the grammars of some languages."""
    from gitmem.base import extras, resources

    if OPTIONAL.issuperset(languages):
        return extras.install_command(extras.GRAMMARS)
    return resources.REINSTALL


def missing(path: str) -> str:
    """Return how to have a file read whose grammar is not installed, in a sentence; '' for others.

    Tries to load the grammar.
    """
    language = language_of(path)
    if not language or grammar(language) is not None:
        return ""
    return (
        f"{TITLES[language]} is not read: the grammar is not installed. "
        f"Install it: {install_command([language])}"
    )


def tree_of(data: bytes, language: str) -> "Tree | None":
    """Return the syntax tree of a text.

    None when it is too large or binary, or its grammar is not to be had.
    """
    if len(data) > MAX_BYTES or b"\0" in data[:8000]:
        return None
    loaded = grammar(language)
    if loaded is None:
        return None
    from tree_sitter import Parser

    try:
        return Parser(loaded).parse(data)
    except (ValueError, TypeError):
        return None


@functools.cache
def query_text(language: str, part: str) -> str:
    """Return a query of a language (`definitions` or `uses`), with what it inherits before it.

    Raises OSError when there is none.
    """
    with open(os.path.join(QUERIES, language, part + ".scm"), encoding="utf-8") as file:
        text = file.read()
    first = text.partition("\n")[0]
    inherited = (
        first.removeprefix("; inherits:").split(",") if first.startswith("; inherits:") else ()
    )
    return "\n".join([*(query_text(name.strip(), part) for name in inherited), text])


def query(language: str, part: str) -> "Query | None":
    """Return a compiled query.

    None when the grammar is missing, or has other nodes than the query names.
    """
    key = language, part
    if key not in _queries:
        loaded = grammar(language)
        if loaded is None:
            return None
        from tree_sitter import Query

        try:
            _queries[key] = Query(loaded, query_text(language, part))
        except Exception:  # noqa: BLE001 - a newer grammar may have other nodes: then there are no symbols
            _queries[key] = None
    return _queries[key]


def cursor(compiled: "Query") -> Any:
    """Return what runs a query, with a bound on what it holds unfinished."""
    from tree_sitter import QueryCursor

    return QueryCursor(compiled, match_limit=4096)


@functools.cache
def version_of(language: str) -> str:
    """Return the version of what a language's trees depend on.

    A tree, and what is read from it, depends on the wheel's version and on the queries. The result
    is '' without a wheel. No grammar is loaded.
    """
    wheel = _wheel_version(GRAMMARS[language][0])
    if not wheel:
        return ""
    text = query_text(language, "definitions") + query_text(language, "uses")
    return f"{language} {wheel} {new_hash('sha256', text.encode()).hexdigest()[:12]}"


def _wheel_version(module: str) -> str:
    """Return the version of a wheel, '' when it is not installed."""
    if version := _installed().get(module):
        return version
    from importlib import metadata

    try:
        return metadata.version(module.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return "?" if _is_there(module) else ""


def _is_there(module: str) -> bool:
    """Say whether a module can be found, without loading it."""
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


@functools.cache
def _installed() -> dict[str, str]:
    """Return {name: version} of installed wheels, by the names of their folders.

    `importlib.metadata` takes longer to load than all of them to list.
    """
    out: dict[str, str] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.startswith("tree_sitter") and name.endswith(".dist-info"):
                wheel, _, version = name.removesuffix(".dist-info").partition("-")
                out.setdefault(wheel, version)
    return out
