"""Configuration files, environment variables, and languages that are not read as code. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from gitmem.codemap.grammars import TITLES
from gitmem.codemap.graph.sources import why_not
from gitmem.codemap.tags.tags import Tags
from gitmem.services.dna.entries import is_tooling
from gitmem.text.test_files import is_aside

CONFIGURATION = re.compile(
    r"^(?:tsconfig(?:\.\w+)?\.json|jsconfig\.json|\.?eslint(?:rc)?(?:\.config)?\.\w+|\.eslintrc"
    r"|\.?prettier(?:rc)?(?:\.config)?(?:\.\w+)?|biome\.jsonc?|babel\.config\.\w+|vite\.config\.\w+"
    r"|vitest\.config\.\w+|jest\.config\.\w+|webpack\.config\.\w+|rollup\.config\.\w+"
    r"|next\.config\.\w+|tailwind\.config\.\w+|playwright\.config\.\w+|nx\.json|turbo\.json"
    r"|lerna\.json"
    r"|tox\.ini|noxfile\.py|pytest\.ini|\.?mypy\.ini|\.?ruff\.toml|\.flake8|\.pylintrc|\.coveragerc"
    r"|\.pre-commit-config\.yaml|Dockerfile|docker-compose\.ya?ml|compose\.ya?ml"
    r"|\.editorconfig|rustfmt\.toml|clippy\.toml|\.golangci\.ya?ml|\.rubocop\.ya?ml"
    r"|phpunit\.xml(?:\.dist)?|phpstan\.neon(?:\.dist)?|\.clang-format|checkstyle\.xml"
    r"|Directory\.(?:Build|Packages)\.props|global\.json|\.credo\.exs|\.formatter\.exs"
    r"|analysis_options\.yaml|\.swiftlint\.yml"
    r"|appsettings\.json|Procfile|Jenkinsfile|\.gitlab-ci\.yml)$"
)
WORKFLOW = re.compile(r"^\.github/workflows/([^/]+)\.ya?ml$")
WORKFLOWS = 12  # that are named
FEW = 10  # a language with fewer files than a tenth of all code is not told
EXAMPLE = re.compile(
    r"^\.?env\.(?:example|sample|template|dist|defaults?)$|^\.env\.(?:example|sample|template|dist"
    r"|defaults?)$|^example\.env$"
)
# variables of operating systems, terminals and build tools: a project does not define them
_OF_OTHERS = frozenset(
    "PATH PWD OLDPWD HOME USER USERNAME LOGNAME SHELL TERM COLORTERM TMPDIR TEMP TMP LANG LC_ALL "
    "COMPUTERNAME HOSTNAME APPDATA LOCALAPPDATA USERPROFILE PROGRAMFILES SYSTEMROOT WINDIR COMSPEC "
    "EDITOR VISUAL PAGER DISPLAY HOMEDRIVE HOMEPATH ANSICON "
    " OUT_DIR TARGET HOST PROFILE CI PYTHONSTARTUP PYTHONPATH "
    "GITHUB_ACTIONS".split()
)
_PREFIXES = ("CARGO_", "XDG_", "npm_")
OTHER_LANGUAGES = {
    "ex": "Elixir",
    "exs": "Elixir",
    "erl": "Erlang",
    "swift": "Swift",
    "kt": "Kotlin",
    "kts": "Kotlin",
    "scala": "Scala",
    "dart": "Dart",
    "hs": "Haskell",
    "ml": "OCaml",
    "lua": "Lua",
    "sh": "Shell",
    "pl": "Perl",
    "pm": "Perl",
    "r": "R",
    "jl": "Julia",
    "clj": "Clojure",
    "zig": "Zig",
    "nim": "Nim",
    "vue": "Vue",
    "svelte": "Svelte",
    "m": "Objective-C",
    "mm": "Objective-C",
    "fs": "F#",
    "vb": "Visual Basic",
    "tf": "Terraform",
    "sol": "Solidity",
    "groovy": "Groovy",
}


def other_languages(
    listed: Iterable[str], prefix: str, parsed: int, unreadable: Mapping[str, str]
) -> list[tuple[str, int]]:
    """Return (language, files) of code that no grammar here reads, the most files first.

    A few scripts beside `parsed` files of code are not told. `unreadable` has the language of each
    file whose grammar is not installed.
    """
    counts: Counter[str] = Counter()
    for path in listed:
        ending = path.rsplit("/", 1)[-1].rpartition(".")[2].lower()
        language = OTHER_LANGUAGES.get(ending) or TITLES.get(unreadable.get(path, ""))
        if language and path.startswith(prefix) and not why_not(path, {}):
            counts[language] += 1
    least = max(3, (parsed + counts.total()) // FEW)
    rows = [(language, number) for language, number in counts.items() if number >= least]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def configuration(listed: Sequence[str], prefix: str) -> list[str]:
    """Return configuration files near a folder, and the names of CI workflows as one entry."""
    out = []
    for path in listed:
        inside = path[len(prefix) :]
        is_configuration = CONFIGURATION.match(path.rsplit("/", 1)[-1]) is not None
        is_beside = is_aside(inside) or (inside.startswith(".") and "/" in inside)
        if is_configuration and inside.count("/") <= 1 and not is_beside:
            out.append(path)
    names = [match[1] for path in listed if not prefix and (match := WORKFLOW.match(path))]
    if names:
        rest = f" and {len(names) - WORKFLOWS} more" if len(names) > WORKFLOWS else ""
        out.append(f".github/workflows ({', '.join(names[:WORKFLOWS])}{rest})")
    return out


def environment(
    paths: Sequence[str],
    listed: Sequence[str],
    tags: Mapping[str, Tags],
    text: Callable[[str], bytes],
    prefix: str,
) -> list[str]:
    """Return names of variables: of an example file first, then those that most files read."""
    names: dict[str, None] = {}
    for path in listed:
        if EXAMPLE.match(path.rsplit("/", 1)[-1]) and path[len(prefix) :].count("/") <= 1:
            for name in re.findall(
                rb"^\s*(?:export\s+)?([A-Z][A-Z0-9_]+)\s*=", text(path), re.MULTILINE
            ):
                names[name.decode()] = None
    used = Counter(
        name
        for path in paths
        if not is_aside(path) and not is_tooling(path[len(prefix) :])
        for name in tags[path].environment
        if not (name in _OF_OTHERS or name.startswith(_PREFIXES))
    )
    for name, _ in sorted(used.items(), key=lambda row: (-row[1], row[0])):
        names[name] = None
    return list(names)
