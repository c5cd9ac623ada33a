"""The commands that a project offers, each with what runs it. Pure."""

import re
from collections.abc import Iterator, Sequence

from gitmem.services.dna.declared import Declared

SCRIPTS = 40  # of a manifest
# lock files, the most telling first, with what runs the scripts of a package.json
_NODE_LOCKS = (
    ("pnpm-lock.yaml", "pnpm run "),
    ("pnpm-workspace.yaml", "pnpm run "),
    ("yarn.lock", "yarn run "),
    ("bun.lock", "bun run "),
    ("bun.lockb", "bun run "),
    ("package-lock.json", "npm run "),
    ("npm-shrinkwrap.json", "npm run "),
)
_PYTHON_LOCKS = (
    ("uv.lock", "uv run "),
    ("poetry.lock", "poetry run "),
    ("pdm.lock", "pdm run "),
    ("Pipfile.lock", "pipenv run "),
)
# events that npm has of its own: nobody calls them by name
_NPM_EVENTS = frozenset(
    "preinstall install postinstall prepare preprepare postprepare prepublish prepublishOnly "
    "publish postpublish prepack pack postpack preversion version postversion preuninstall "
    "uninstall postuninstall dependencies".split()
)
_COMPOSER_EVENT = re.compile(r"(?:pre|post)-[a-z-]+")
# targets that say nothing of what a project can do
_USUAL_TARGETS = frozenset({"all", "default", "help", "clean", "distclean", "FORCE"})
_RUNNERS = {"make": "make ", "composer": "composer ", "just": "just ", "task": "task "}
_TEST_NAMES = frozenset({"test", "tests", "check"})

Command = tuple[str, str]  # (the whole command, what it runs)


def node_runner(top: Sequence[Declared], root: frozenset[str], own: frozenset[str]) -> str:
    """Return what runs the scripts of a package.json: by `packageManager`, else by lock file.

    `root` are the files of the repository, `own` those below the package's folder.
    """
    for manifest in top:
        for manager in ("pnpm", "yarn", "bun", "npm"):
            if manifest.ecosystem == "npm" and manager in manifest.needs:
                return f"{manager} run "
    for files in (own, root):
        for name, runner in _NODE_LOCKS:
            if name in files:
                return runner
    return "npm run "


def commands(
    top: Sequence[Declared], root: frozenset[str], own: frozenset[str], tools: Sequence[str]
) -> list[Command]:
    """Return the commands of manifests, and how tests run where nothing says it."""
    out: list[Command] = []
    tested: set[str] = set()  # ecosystems whose scripts say how tests run
    python = next((runner for name, runner in _PYTHON_LOCKS if name in own or name in root), "")
    for manifest in top:
        runner = _runner(manifest, python)
        if manifest.ecosystem == "npm":
            runner = node_runner([manifest, *top], root, own)
        shown = _called(manifest)
        out += [(f"{runner}{name}", what) for name, what in shown]
        if _TEST_NAMES & {name for name, _ in shown}:
            tested.add(manifest.ecosystem)
    if not tested & {"make", "just", "task"}:
        rest = [manifest for manifest in top if manifest.ecosystem not in tested]
        out += [(command, "") for command in _usual_tests(rest, own, tools, python)][:2]
    return out


def _runner(manifest: Declared, python: str) -> str:
    """Return what the scripts of a manifest are called with; `python` runs tools of Python."""
    if manifest.ecosystem == "python" and manifest.runner in {"poe ", "task "}:
        return python + manifest.runner
    return manifest.runner or _RUNNERS.get(manifest.ecosystem, "")


def _called(manifest: Declared) -> list[Command]:
    return [row for row in manifest.scripts.items() if _is_called(row[0], manifest)][:SCRIPTS]


def _is_called(name: str, manifest: Declared) -> bool:
    """Say whether somebody calls a script by its name: it is no event, no part of another."""
    if manifest.ecosystem == "npm":
        base = re.sub(r"^(?:pre|post)", "", name)
        return name not in _NPM_EVENTS and not (base != name and base in manifest.scripts)
    if manifest.ecosystem == "composer":
        return not _COMPOSER_EVENT.fullmatch(name)
    return name not in _USUAL_TARGETS


def _usual_tests(
    top: Sequence[Declared], files: frozenset[str], tools: Sequence[str], python: str
) -> Iterator[str]:
    """Yield the commands that run tests if no script names them.

    They follow from what is configured, and from what each ecosystem has.
    """
    ecosystems = {manifest.ecosystem for manifest in top}
    if "python" in ecosystems and (command := _python_tests(files, tools, python)):
        yield command
    for ecosystem, command in (
        ("cargo", "cargo test"),
        ("go", "go test ./..."),
        ("mix", "mix test"),
        ("swift", "swift test"),
        (
            "dart",
            "flutter test" if any("Flutter" in manifest.needs for manifest in top) else "dart test",
        ),
    ):
        if ecosystem in ecosystems:
            yield command
    yield from _other_tests(top, ecosystems, files)


def _python_tests(files: frozenset[str], tools: Sequence[str], python: str) -> str:
    is_pytest = "pytest" in tools or any(
        name in {"conftest.py", "pytest.ini"} or name.startswith("tests/") for name in files
    )
    choices = (
        (bool(python) and is_pytest, f"{python}pytest"),
        ("tox.ini" in files or "tox" in tools, "tox"),
        ("noxfile.py" in files, "nox"),
        (is_pytest, "python -m pytest"),
        ("manage.py" in files, "python manage.py test"),
    )
    return next((command for is_it, command in choices if is_it), "")


def _other_tests(
    top: Sequence[Declared], ecosystems: set[str], files: frozenset[str]
) -> Iterator[str]:
    if "dotnet" in ecosystems:
        yield "dotnet test"
    yield from (manifest.tested_by for manifest in top if manifest.tested_by)
    if "maven" in ecosystems:
        yield "./mvnw test" if "mvnw" in files else "mvn test"
    if "gradle" in ecosystems:
        yield "./gradlew test" if "gradlew" in files else "gradle test"
    if "composer" in ecosystems and {"phpunit.xml", "phpunit.xml.dist"} & files:
        yield "vendor/bin/phpunit"
    if "ruby" in ecosystems and "Rakefile" in files:
        yield "rake"
