"""What one manifest declares, and how names and versions are read from it. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")
# tools that check or test code: nothing that a product needs, wherever they are declared
_TOOLS = re.compile(
    r"pytest(?:[-_].+)?|mypy|ruff|flake8(?:-.+)?|black|isort|pylint|coverage|tox|nox|pre-commit"
    r"|codespell|pyright|bandit|factory[-_]boy|hypothesis|freezegun|responses"
    r"|rspec(?:-.+)?|rubocop(?:-.+)?|minitest(?:-.+)?|simplecov|rack-test|capybara|webmock|yard"
    r"|junit|.+:junit.*|.+:mockito-.+|.+:assertj-.+|.+:easymock|.+:truth"
    r"|xunit(?:\..+)?|nunit(?:\..+)?|moq|coverlet\..+|fluentassertions|microsoft\.net\.test\.sdk"
    r"|microsoft\.codeanalysis\..*analyzers|microsoft\.sourcelink\..+|stylecop\..+"
    r"|nerdbank\.gitversioning|githubactionstestlogger|benchmarkdotnet"
    r"|(?:@jest/|@vitest/|@testing-library/|@eslint/|@typescript-eslint/).+|@playwright/test"
    r"|(?:jest|mocha|chai|sinon|jasmine|karma|eslint|prettier|stylelint)(?:-.+)?|ts-jest|babel-jest"
    r"|@[\w.-]+/(?:eslint|prettier|stylelint)-(?:config|plugin).*|vitest|cypress|supertest|nyc|c8"
    r"|tslint|typescript|husky|lint-staged|@biomejs/biome"
    r"|github\.com/(?:stretchr/testify|golang/mock|onsi/gomega|onsi/ginkgo(?:/v\d+)?)"
    r"|go\.uber\.org/mock"
    r"|(?:phpunit|phpstan|squizlabs|friendsofphp|mockery|pestphp)/.+|vimeo/psalm",
    re.IGNORECASE,
)
_STUBS = re.compile(r"@types/.+|types-.+|.+-stubs|_typeshed", re.IGNORECASE)
_DEVELOPMENT = re.compile(
    r"(?i)(?:^|[-_./])(?:devs?|development|tests?|testing|docs?|documentation|lint(?:ers?|ing)?|ci"
    r"|typing|types?|typecheck(?:ing)?|mypy|pkgutils|style|format|bench(?:marks?)?|release|build"
    r"|coverage|pre-commit|nox|tox|pyright|ruff)(?:[-_.]|$)"
)


@dataclass(slots=True)
class Declared:
    """What one manifest declares.

    `needs` are the languages and tools that it asks for, `uses` its dependencies, `tries` those for
    development only, `options` those that a user may ask for.
    """

    path: str
    ecosystem: str
    name: str = ""
    version: str = ""
    description: str = ""
    needs: dict[str, str] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)
    tries: dict[str, str] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    starts: dict[str, str] = field(default_factory=dict)  # what can be started -> where that is
    scripts: dict[str, str] = field(default_factory=dict)  # command -> what it runs
    tools: list[str] = field(default_factory=list)  # that are configured in it
    runner: str = ""  # what its scripts are called with
    is_loose: bool = False  # whether it may list what the package itself does not use
    tested_by: str = ""  # the command that runs its tests, if the manifest says so

    @property
    def dependencies(self) -> dict[str, str]:
        """All dependencies with their versions, whatever they are for."""
        return self.tries | self.options | self.uses


def is_tool(name: str) -> bool:
    """Say whether a dependency is a tool that checks or tests code."""
    return _TOOLS.fullmatch(name) is not None


def is_stub(name: str) -> bool:
    """Say whether a dependency has types only."""
    return _STUBS.fullmatch(name) is not None


def is_development(group: str) -> bool:
    """Say whether a group of dependencies is for who works on the project, by its name."""
    return _DEVELOPMENT.search(group) is not None


def declare(made: Declared, needs: Mapping[str, str]) -> None:
    """Note dependencies that a manifest does not divide: tools are for development."""
    for name, version in needs.items():
        (made.tries if is_tool(name) or is_stub(name) else made.uses)[name] = version


def versions(value: Mapping[str, Any]) -> dict[str, str]:
    """Return {name: version} of a table of dependencies."""
    return {str(key): version_of(entry) for key, entry in value.items()}


def version_of(value: Any) -> str:
    """Return the version that a dependency's entry names, whichever way it is written.

    '' for a path or a repository.
    """
    if isinstance(value, str):
        return value.strip()
    version = value.get("version") if isinstance(value, dict) else None
    return version.strip() if isinstance(version, str) else ""


def requirement(text: str) -> tuple[str, str]:
    """Return (name, version) of a Python requirement; ('', '') when it is none."""
    match = _REQUIREMENT.match(text)
    if re.match(r"\s*(?:\w+\+)?\w+://|\s*git\+|\s*\.{0,2}/", text):
        return "", ""  # a repository or a folder
    if match is None or match[2].lstrip().startswith("@"):
        return (match[1], "") if match else ("", "")
    return match[1], "".join(match[2].split())


def requirements(rows: Iterable[str]) -> dict[str, str]:
    """Return {name: version} of Python requirements."""
    return {name: version for name, version in map(requirement, rows) if name}
