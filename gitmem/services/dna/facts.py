"""Facts about a project, or about one part of it.

They are read from the graph of its code, its manifests and its own words. This module is pure.
"""

import io
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.codemap.graph.graph import Graph
from gitmem.codemap.graph.resolve import Resolution
from gitmem.codemap.tags.tags import Tags
from gitmem.services.dna.manifests import Declared
from gitmem.text.test_files import is_aside
from gitmem.transcripts.formats import plan_files

NAMES = {
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
    r"|appsettings\.json|Procfile|Jenkinsfile|\.gitlab-ci\.yml)$"
)
WORKFLOW = re.compile(r"^\.github/workflows/[^/]+\.ya?ml$")
EXAMPLE = re.compile(
    r"^\.?env\.(?:example|sample|template|dist|defaults?)$|^\.env\.(?:example|sample|template|dist"
    r"|defaults?)$|^example\.env$"
)
README = re.compile(r"^readme(?:\.(?:md|rst|txt|markdown|adoc))?$", re.IGNORECASE)
PLANS = frozenset({"plan.md", "progress.md", "state.json"})
AGENT_FILES = frozenset(
    {"CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"}
)
STARTERS = frozenset({"manage.py", "__main__.py", "main.rs", "config.ru", "artisan", "index.php"})
SCRIPTS = 40  # of a manifest
KEEP = 60  # of what is gathered of one kind


@dataclass(slots=True)
class KeyFile:
    """A file that other code depends on.

    `rank` is its share of the whole, `users` is how many files use it, and `symbols` is what they
    use most.
    """

    path: str
    rank: float
    users: int
    symbols: list[str]


@dataclass(slots=True)
class ProjectFacts:
    """What is told of a project or of a workspace; `folder` is '' for the root.

    Rows are in the order of how much they matter.
    """

    name: str
    folder: str = ""
    about: str = ""
    languages: list[tuple[str, int, int]] = field(default_factory=list)  # (language, files, lines)
    stack: list[tuple[str, str]] = field(default_factory=list)  # (language or tool, version)
    # (name, declared version, files that import it)
    dependencies: list[tuple[str, str, int]] = field(default_factory=list)
    development: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)  # (what is started, where)
    routes: list[tuple[str, str]] = field(default_factory=list)  # (file, routes)
    # (command, what it runs, manifest)
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    files: list[KeyFile] = field(default_factory=list)
    configuration: list[str] = field(default_factory=list)
    environment: list[tuple[str, str]] = field(default_factory=list)  # (name, file)
    plans: list[str] = field(default_factory=list)  # how far plan and progress files are
    context: list[tuple[str, str]] = field(default_factory=list)  # (file, what it says)
    workspaces: list[tuple[str, str, str]] = field(default_factory=list)  # (folder, name, about)
    skipped: int = 0


def gather(
    folder: str,
    graph: Graph,
    tags: Mapping[str, Tags],
    ranks: Mapping[str, float],
    resolution: Resolution,
    declared: Sequence[Declared],
    text: Callable[[str], bytes],
    inner: Sequence[str] = (),
) -> ProjectFacts:
    """Return the facts about a folder ('' for the root).

    What is in the workspaces `inner` is left out, except in the root's rows of files.
    """
    prefix = folder + "/" if folder else ""

    def own(path: str) -> bool:
        return path.startswith(prefix) and not any(
            path.startswith(one + "/") for one in inner if one != folder
        )

    paths = [path for path in tags if path.startswith(prefix)]
    here = [one for one in declared if own(one.path)]
    top = [one for one in here if one.path[len(prefix) :].count("/") == 0] or sorted(
        here, key=lambda one: (one.path.count("/"), one.path)
    )[:3]
    name = (
        next((one.name for one in top if one.name and one.ecosystem != "make"), "")
        or folder.rpartition("/")[2]
    )
    made = ProjectFacts(name.rpartition("/")[2] if name.count("/") > 1 else name, folder)
    made.about = next((one.description for one in top if one.description), "")
    counts: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for path in paths:
        language = NAMES[tags[path].language]
        counts[language] += 1
        lines[language] += tags[path].lines
    made.languages = [
        (language, number, lines[language])
        for language, number in sorted(counts.items(), key=lambda row: (-lines[row[0]], row[0]))
    ]
    made.skipped = sum(path.startswith(prefix) for path in graph.skipped)
    _declarations(made, top, graph.listing, prefix)
    _dependencies(made, paths, tags, resolution, [*here, *top])
    _entries(made, [path for path in paths if own(path)], tags, ranks, prefix)
    made.files = [
        KeyFile(
            path,
            value,
            len(graph.dependents(path)),
            [
                one.rpartition(".")[2]
                for one, _ in sorted(graph.used(path).items(), key=lambda row: (-row[1], row[0]))
                if one and not one.rpartition(".")[2].startswith("__")
            ][:4],
        )
        for path, value in [
            (path, value)
            for path, value in ranks.items()
            if path.startswith(prefix) and not is_aside(path)
        ][:20]
    ]
    made.files = [one for one in made.files if one.users] or made.files[:3]
    listed = [path for path in graph.listing if own(path)]
    made.configuration = [
        path
        for path in listed
        if CONFIGURATION.match(path.rsplit("/", 1)[-1]) and path[len(prefix) :].count("/") <= 1
    ][:KEEP]
    made.configuration += [path for path in listed if not folder and WORKFLOW.match(path)][:KEEP]
    _environment(made, paths, listed, tags, text, prefix)
    _context(made, listed, text, prefix)
    return made


def _declarations(
    made: ProjectFacts, top: Sequence[Declared], listed: Iterable[str], prefix: str
) -> None:
    stack: dict[str, str] = {}
    for one in top:
        for name, version in one.needs.items():
            stack.setdefault(name, version)
    made.stack = list(stack.items())
    files = {path[len(prefix) :] for path in listed if path.startswith(prefix)}
    for one in top:
        where = one.path.rsplit("/", 1)[-1]
        for name, target in one.starts.items():
            made.entries.append((name, target))
        for name, command in list(one.scripts.items())[:SCRIPTS]:
            made.commands.append((name, command, where))
    if (
        not made.entries
        and "index.js" in files
        and any(one.path.endswith("package.json") for one in top)
    ):
        made.entries.append(("(main)", "index.js"))  # what npm takes when a package names none
    made.development = sorted(
        {name.lower() for one in top for name in one.tries}
        | {tool for one in top for tool in one.tools}
    )
    names = {name for name, _, _ in made.commands}
    if not names & {"test", "tests", "check"}:
        made.commands += [
            (command, "", "")
            for command in _usual({one.ecosystem for one in top}, files, made.development)
        ][:1]


def _usual(ecosystems: set[str], files: set[str], tools: Sequence[str]) -> Iterator[str]:
    """Yield the commands that run tests if no script names them.

    They follow from what is configured, and from what each ecosystem has.
    """
    if "tox.ini" in files:
        yield "tox"
    if "noxfile.py" in files:
        yield "nox"
    if "python" in ecosystems and (
        "pytest" in tools
        or any(
            name == "conftest.py" or name.startswith("tests/") or name == "pytest.ini"
            for name in files
        )
    ):
        yield "python -m pytest"
    for ecosystem, command in (
        ("cargo", "cargo test"),
        ("go", "go test ./..."),
        ("dotnet", "dotnet test"),
        ("cmake", "ctest"),
    ):
        if ecosystem in ecosystems:
            yield command
    if "maven" in ecosystems:
        yield "./mvnw test" if "mvnw" in files else "mvn test"
    if "gradle" in ecosystems:
        yield "./gradlew test" if "gradlew" in files else "gradle test"
    if "phpunit.xml" in files or "phpunit.xml.dist" in files:
        yield "vendor/bin/phpunit"
    if "Rakefile" in files:
        yield "rake"


def _dependencies(
    made: ProjectFacts,
    paths: Sequence[str],
    tags: Mapping[str, Tags],
    resolution: Resolution,
    declared: Sequence[Declared],
) -> None:
    versions: dict[str, str] = {}
    tried: set[str] = set()
    for one in declared:
        for name, version in one.uses.items():
            if name.lower() != made.name.lower():  # its own build may look for it
                versions.setdefault(name, version)
        tried |= {name.lower() for name in one.tries}
    known = {_module(name): name for name in versions}
    users: dict[str, set[str]] = {name: set() for name in versions}
    for path in paths:
        language = tags[path].language
        for one_import in tags[path].imports:
            if one_import.module.startswith((".", "/")) and language in {
                "python",
                "javascript",
                "typescript",
                "tsx",
            }:
                continue
            wanted = next(
                (
                    known[module]
                    for module in _candidates(one_import.module, one_import.names, language)
                    if module in known
                ),
                None,
            )
            if wanted is not None:
                users[wanted].add(path)
            else:
                module = _foreign(one_import.module, language)
                if (
                    module
                    and module.lower() not in tried
                    and not resolution.imported(path, one_import)
                ):
                    users.setdefault(module, set()).add(path)
    rows = [
        (name, versions.get(name, ""), len(some))
        for name, some in users.items()
        if name in versions or (len(some) > 2 and not _is_only_aside(some))
    ]
    made.dependencies = sorted(rows, key=lambda row: (-row[2], row[0] not in versions, row[0]))[
        :KEEP
    ]


def _is_only_aside(paths: set[str]) -> bool:
    return all(is_aside(path) for path in paths)


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
    if language in {"javascript", "typescript", "tsx"}:
        parts = low.split("/")
        return ["/".join(parts[:2] if low.startswith("@") else parts[:1])]
    if language == "ruby":
        return [low.replace("/", "_"), low.split("/")[0]]
    parts = low.split(".")
    if language == "php":
        return [f"{parts[0]}/{parts[1]}" if len(parts) > 1 else parts[0]]
    found = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    return found + ([f"{low}.{names[0][0]}".lower()] if names and language == "csharp" else [])


def _foreign(module: str, language: str) -> str:
    """Return the package of another project that an import names.

    '' for what a language brings with it, or that cannot be told.
    """
    if language == "python":
        head = module.split(".")[0]
        return "" if not head or head in sys.stdlib_module_names else head
    if language in {"javascript", "typescript", "tsx"}:
        if (
            module.startswith(("node:", "#", "@/", "~", "virtual:", "bun:", "http"))
            or module.split("/")[0] in NODE
        ):
            return ""
        parts = module.split("/")
        return "/".join(parts[:2] if module.startswith("@") else parts[:1])
    return ""


def _entries(
    made: ProjectFacts,
    paths: Sequence[str],
    tags: Mapping[str, Tags],
    ranks: Mapping[str, float],
    prefix: str,
) -> None:
    named = " ".join(where for _, where in made.entries)
    mains = []
    for path in paths:
        name = path.rsplit("/", 1)[-1]
        one = tags[path]
        inside = path[len(prefix) :]
        if (
            is_aside(path)
            or inside in named
            or inside.rpartition(".")[0].removeprefix("src/").replace("/", ".") + ":" in named
        ):
            continue
        serves = name in {"wsgi.py", "asgi.py"} and any(
            symbol[1] == "application" for symbol in one.symbols
        )
        starts = (
            name in STARTERS
            or serves
            or (one.language == "go" and one.package == "main" and one.main)
            # that one builds
            or (
                one.language in {"rust", "java", "csharp", "c", "cpp"}
                and one.main
                and name != "build.rs"
            )
        )
        if starts or (
            one.main
            and one.language in {"python", "javascript", "typescript", "php", "ruby"}
            and path[len(prefix) :].count("/") <= 1
        ):
            mains.append((name not in STARTERS, path.count("/"), path))
    made.entries += [("main", path) for _, _, path in sorted(mains)][:KEEP]
    routes = [
        (path, some)
        for path in paths
        if not is_aside(path) and (some := [one for one in tags[path].routes if "%" not in one[1]])
    ]
    for path, some in sorted(routes, key=lambda row: (-ranks.get(row[0], 0.0), row[0]))[:KEEP]:
        shown = ", ".join(dict.fromkeys(f"{_verb(verb)}{where}" for verb, where, _ in some[:8]))
        made.routes.append((path, shown + (f" and {len(some) - 8} more" if len(some) > 8 else "")))


def _verb(verb: str) -> str:
    found = re.match(r"(?i)(?:http)?(get|post|put|patch|delete)", verb)
    return f"{found[1].upper()} " if found else ""


def _environment(
    made: ProjectFacts,
    paths: Sequence[str],
    listed: Sequence[str],
    tags: Mapping[str, Tags],
    text: Callable[[str], bytes],
    prefix: str,
) -> None:
    found: dict[str, str] = {}
    for path in listed:
        if EXAMPLE.match(path.rsplit("/", 1)[-1]) and path[len(prefix) :].count("/") <= 1:
            for name in re.findall(
                rb"^\s*(?:export\s+)?([A-Z][A-Z0-9_]+)\s*=", text(path), re.MULTILINE
            ):
                found.setdefault(name.decode(), path)
    used = Counter(name for path in paths if not is_aside(path) for name in tags[path].environment)
    for name, _ in sorted(used.items(), key=lambda row: (-row[1], row[0])):
        if name not in found:
            found[name] = next(
                path
                for path in sorted(paths)
                if name in tags[path].environment and not is_aside(path)
            )
    made.environment = list(found.items())[:KEEP]


def _context(
    made: ProjectFacts, listed: Sequence[str], text: Callable[[str], bytes], prefix: str
) -> None:
    for path in sorted(listed, key=lambda one: (one.count("/"), one)):
        short = path[len(prefix) :]
        if README.match(short):
            said = _prose(text(path).decode("utf-8", "replace"))
            if said and not any(one[0].lower().startswith("readme") for one in made.context):
                made.context.append((short, said))
        elif short in AGENT_FILES:
            said = _told(text(path).decode("utf-8", "replace"))
            # one file for all agents, under several names
            if said and all(said != other for _, other in made.context):
                made.context.append((short, said))
    for path in listed:
        if path[len(prefix) :].lower() in PLANS:
            made.plans += _plan(path[len(prefix) :], text(path))
    if not made.about:  # not what agents are told by their own files
        made.about = next((said for name, said in made.context if README.match(name)), "")


def _plan(name: str, data: bytes) -> list[str]:
    """Return in one line how far a plan is: its phase, how many of its tasks are done."""
    read = plan_files.state if name.endswith(".json") else plan_files.plan
    how = plan_files.progress(read(io.BytesIO(data)))
    said = [f"phase {how.phase}"] if how.phase else []
    said += [f"{how.done} of {how.total} tasks done"] if how.total else []
    said += [f"next: {how.pending[0]}"] if how.pending else []
    return [f"{name}: {', '.join(said)}"] if said else []


def _prose(text: str) -> str:
    """Return the first paragraph of a README that is prose: no badge, no heading, no picture."""
    text = re.sub(r"<!--.*?(?:-->|\Z)|```.*?(?:```|\Z)", "", text, flags=re.DOTALL)
    # a link of reStructuredText
    text = re.sub(r"`([^`<]++)<[^>`]*+>`_++", lambda link: link[1].rstrip(), text)
    text = re.sub(r"</?[A-Za-z][^<>]*+>", "", text)
    # a heading, underlined
    text = re.sub(r"^[^\n]+\n[=\-~^]{3,}[ \t]*$", "", text, flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n", text):
        lines = [row.strip() for row in part.splitlines() if row.strip()]
        plain = " ".join(
            row
            for row in lines
            if not re.match(r"[#=~*\-|<>!:]|\.\. |\[!\[|\[\S+\]:|https?://", row)
        )
        plain = re.sub(r"!\[[^\[\]]*+\]\([^)]{0,500}\)|<[^<>]++>|\|\w++\|", "", plain)
        plain = re.sub(r"\[([^\[\]]++)\]\([^)]{0,500}\)", r"\1", plain)
        plain = " ".join(plain.split())
        if len(plain) > 30 and " " in plain and not re.fullmatch(r"[=\-~^*#]+", plain):
            return plain
    return ""


def _told(text: str) -> str:
    """Return what a file for agents says, as one line: its points, else its first words."""
    text = re.sub(r"<!--.*?(?:-->|\Z)|```.*?(?:```|\Z)", "", text, flags=re.DOTALL)
    points = [
        " ".join(row.strip().lstrip("-*0123456789. ").split())
        for row in text.splitlines()
        if re.match(r"\s*(?:[-*]|\d+\.)\s+\S", row)
    ]
    return "; ".join(points[:8]) or _prose(text)
