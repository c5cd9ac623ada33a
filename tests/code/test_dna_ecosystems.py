"""What a page takes from the manifests of each ecosystem: dependencies and commands."""

from pathlib import Path

import pytest

from tests.code.dna_pages import MIX, page, part

REQUIREMENTS = {
    "requirements/default.txt": "kombu>=5\ngit+https://x.org/y.git\npytest\n",
    "requirements/test-ci.txt": "responses\n",
    "requirements/extras/redis.txt": "redis>=4\n",
    "setup.py": "from setuptools import setup\nNAME = 'acme'\nsetup(name=NAME, install_requires=reqs())\n",
    "acme/__init__.py": "import kombu\n",
}
GEMS = {
    "acme.gemspec": "Gem::Specification.new 'acme', '1.0' do |s|\n  s.add_dependency 'rack', '~> 3'\n"
    "  s.add_development_dependency 'yard'\nend\n",
    "Gemfile": "gemspec\ngem 'rake'\ngroup :test do\n  gem 'haml'\nend\n",
    "lib/acme.rb": "require 'rack'\nrequire 'acme/base'\n",
    "lib/acme/base.rb": "1\n",
}
MODULE = {
    "go.mod": "module x.org/acme\n\ngo 1.22\n\nrequire (\n\tx.org/yaml v1.0.0\n\tx.org/testify v1.1.0\n)\n",
    "acme.go": 'package acme\n\nimport "x.org/yaml"\n\nvar A = yaml.A\n',
    "acme_test.go": 'package acme\n\nimport "x.org/testify"\n\nvar B = testify.B\n',
}
PROJECT = {
    "Directory.Packages.props": '<Project><PackageVersion Include="Serilog" Version="3.1.1" /></Project>',
    "Acme.csproj": "\ufeff<Project><PropertyGroup><TargetFrameworks>net8.0;netstandard2.0</TargetFrameworks>"
    '</PropertyGroup><PackageReference Include="Serilog" />'
    '<PackageReference Include="xunit" Version="2.1" />'
    '<PackageReference Include="Acme.Analyzers" Version="1">\n<PrivateAssets>all</PrivateAssets>\n'
    "</PackageReference></Project>",
    "A.cs": "using Serilog;\nclass A {}\n",
}
POM = {
    "pom.xml": "<project><parent><artifactId>base</artifactId><version>7</version></parent>"
    "<artifactId>acme</artifactId><dependencies><dependency><groupId>g</groupId>"
    "<artifactId>a</artifactId><version>${v}</version></dependency><dependency>"
    "<groupId>org.mockito</groupId><artifactId>mockito-core</artifactId></dependency>"
    "</dependencies></project>",
    "src/main/java/A.java": "import g.B;\nclass A {}\n",
}
CMAKE = {
    "CMakeLists.txt": "project(acme)\nset(CMAKE_CXX_STANDARD 20)\nset(CMAKE_CXX_STANDARD 11)\n"
    'option(ACME_TESTS "Tests" OFF)\nfind_package(Threads REQUIRED)\nif(ACME_SSL)\n'
    "  find_package(OpenSSL)\nendif()\nif(ACME_TESTS)\n  enable_testing()\nendif()\n",
    "a.cpp": "class A {};\n",
}
SWIFT = {
    "Package.swift": '// swift-tools-version:5.9\nlet package = Package(\n  name: "Acme",\n'
    '  dependencies: [.package(url: "https://x.org/swift-log.git", from: "1.5.0")])\n',
    **{f"Sources/{name}.swift": "struct A {}\n" for name in "abc"},
}
DART = {
    "pubspec.yaml": "name: acme\nenvironment:\n  sdk: ^3.0.0\ndependencies:\n  http: ^1.0.0\n"
    "  flutter:\n    sdk: flutter\ndev_dependencies:\n  lints: ^3.0.0\n",
    **{f"lib/{name}.dart": "class A {}\n" for name in "abc"},
}
STACKS: dict[str, tuple[dict[str, str], list[str]]] = {
    "requirements": (
        REQUIREMENTS,
        [
            "- Dependencies, by files that import them: kombu >=5 (1 file)",
            "- Optional: redis",
            "- For development: pytest, responses",
        ],
    ),
    "gems": (
        GEMS,
        [
            "- Dependencies, by files that import them: rack ~> 3 (1 file)",
            "- For development: haml, rake, yard",
        ],
    ),
    "go": (
        MODULE,
        [
            "- Go 1.22",
            "- Dependencies, by files that import them: x.org/yaml v1.0.0 (1 file)",
            "- For development: x.org/testify",
        ],
    ),
    "dotnet": (
        PROJECT,
        [
            "- .NET net8.0, netstandard2.0",
            "- Dependencies, by files that import them: Serilog 3.1.1 (1 file)",
            "- For development: Acme.Analyzers, xunit",
        ],
    ),
    "list": (
        {
            "pyproject.toml": "[project]\nname = 'acme'\ndependencies = ['httpcore']\n",
            "requirements.txt": "mkdocs\ntrio==0.31\nattrs\npytest\n",
            "requirements-ci.txt": "invoke\n",
            "acme/a.py": "import httpcore\nimport trio\n",
            "tests/test_a.py": "import attr\n",
        },
        [
            "- Dependencies, by files that import them: httpcore (1 file), trio ==0.31 (1 file)",
            "- For development: attrs, invoke, pytest",
        ],
    ),
    "test tools": (
        {
            "package.json": '{"name": "acme", "dependencies": {"jest": "1", "eslint-config-x": "1", '
            '"typescript": "5", "left": "1"}}',
            "pyproject.toml": "[project]\nname = 'acme'\ndependencies = ['pytest-mock']\n",
            "go.mod": "module acme\n\nrequire github.com/stretchr/testify v1.1.0\n",
            "acme.go": "package acme\n",
        },
        [
            "- Dependencies: left 1",
            "- For development: eslint-config-x, github.com/stretchr/testify, jest, pytest-mock, typescript",
        ],
    ),
    "tools of a tool": (
        {
            "package.json": '{"name": "eslint-plugin-x", "dependencies": {"eslint": "9"}}',
            "index.js": "1;\n",
        },
        ["- Dependencies: eslint 9"],
    ),
    "tools": (
        {**SWIFT, "Gemfile": "gem 'cocoapods'\ngem 'jazzy'\n"},
        [
            "- Swift >=5.9",
            "- Dependencies: swift-log 1.5.0",
            "- For development: cocoapods, jazzy",
        ],
    ),
    "group": (
        {
            "pom.xml": "<project><artifactId>acme</artifactId><dependencies><dependency><groupId>g</groupId>"
            "<artifactId>a</artifactId></dependency><dependency><groupId>g</groupId>"
            "<artifactId>b</artifactId></dependency></dependencies></project>",
            "src/main/java/A.java": "import g.B;\nclass A {}\n",
        },
        ["- Dependencies: g:a, g:b"],
    ),
    "maven": (
        POM,
        [
            "- base 7",
            "- Dependencies, by files that import them: g:a (1 file)",
            "- For development: org.mockito:mockito-core",
        ],
    ),
    "cmake": (CMAKE, ["- C++ >=11", "- Dependencies: Threads", "- Optional: OpenSSL"]),
    "mix": (
        MIX,
        [
            "- Elixir ~> 1.15",
            "- Dependencies: plug ~> 1.14",
            "- Optional: jason",
            "- For development: ex_doc",
        ],
    ),
    "swift": (SWIFT, ["- Swift >=5.9", "- Dependencies: swift-log 1.5.0"]),
    "dart": (
        DART,
        ["- Dart ^3.0.0, Flutter", "- Dependencies: http ^1.0.0", "- For development: lints"],
    ),
}


@pytest.mark.parametrize("case", STACKS)
def test_the_stack_of_an_ecosystem(tmp_path: Path, case: str):
    """What each manifest declares, divided as its ecosystem divides it."""
    files, rows = STACKS[case]
    assert part(page(tmp_path, files), "Stack") == rows


SCRIPTS = '{"name": "acme", "scripts": {"test": "vitest", "build": "tsc", "prebuild": "rm", "prepare": "husky"}}'
JS = {"package.json": SCRIPTS, "index.js": "1;\n"}
PY = {
    "pyproject.toml": "[project]\nname = 'acme'\n[dependency-groups]\ndev = ['pytest']\n",
    "acme/a.py": "1\n",
}
RUNS: dict[str, tuple[dict[str, str], list[str]]] = {
    "npm": (JS, ["- `npm run test`: vitest", "- `npm run build`: tsc"]),
    "pnpm": (
        {**JS, "pnpm-lock.yaml": "lockfileVersion: 9\n"},
        ["- `pnpm run test`: vitest", "- `pnpm run build`: tsc"],
    ),
    "yarn": (
        {**JS, "yarn.lock": "\n"},
        ["- `yarn run test`: vitest", "- `yarn run build`: tsc"],
    ),
    "bun": ({**JS, "bun.lock": "{}\n"}, ["- `bun run test`: vitest", "- `bun run build`: tsc"]),
    "uv": ({**PY, "uv.lock": "\n"}, ["- `uv run pytest`"]),
    "poetry": ({**PY, "poetry.lock": "\n"}, ["- `poetry run pytest`"]),
    "pytest": (PY, ["- `python -m pytest`"]),
    "poe": (
        {
            "pyproject.toml": "[project]\nname = 'acme'\n[tool.poe.tasks]\ntest = 'pytest -q'\n",
            "uv.lock": "\n",
            "acme/a.py": "1\n",
        },
        ["- `uv run poe test`: pytest -q"],
    ),
    "cargo": (
        {"Cargo.toml": "[package]\nname = 'acme'\n", "src/lib.rs": "pub fn a() {}\n"},
        ["- `cargo test`"],
    ),
    "just": (
        {
            "justfile": "set shell := ['sh']\n\n# Run the tests\ntest *args:\n  cargo test\n\nbuild: test\n",
            "Cargo.toml": "[package]\nname = 'acme'\n",
            "src/lib.rs": "pub fn a() {}\n",
        },
        ["- `just test`: Run the tests", "- `just build`"],
    ),
    "cmake": (
        CMAKE,
        [
            "- `cmake -B build -DACME_TESTS=ON && cmake --build build && ctest --test-dir build`",
        ],
    ),
    "make": (
        {"Makefile": "all: test\nhelp:\nclean:\ntest:\n\tx\n", "a.py": "1\n"},
        ["- `make test`"],
    ),
    "django": (
        {"manage.py": "1\n", "requirements.txt": "Django\n", "shop/models.py": "1\n"},
        ["- `python manage.py test`"],
    ),
    "mix": (MIX, ["- `mix test`"]),
    "two": (
        {**MIX, **JS},
        ["- `npm run test`: vitest", "- `mix test`", "- `npm run build`: tsc"],
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_commands_run_as_they_are_written(tmp_path: Path, case: str):
    """The runner is that of the lock file; events and parts of other scripts are not called."""
    files, rows = RUNS[case]
    assert part(page(tmp_path, files), "Run") == rows
