"""The DNA of a project: what is declared and what is there, within a budget, stored when it says something else."""

import json
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import pytest

from gitmem.clock import Clock
from gitmem.services.dna import manifests
from gitmem.services.dna.facts import KeyFile, ProjectFacts
from gitmem.services.dna.page import page
from gitmem.state import code_progress
from gitmem.text.tokens import tokens
from gitmem.worker import background
from tests.codemap.graph.projects import commit, mem, new
from tests.conftest import git
from tests.json_output import data_of

PYTHON = {
    "pyproject.toml": """[project]
name = "shop"
version = "1.4.0"
description = "Sells things on paper"
requires-python = ">=3.11"
dependencies = ["flask>=3,<4", "PyYAML", "requests[socks] >= 2.31 ; python_version > '3'"]
[project.optional-dependencies]
dev = ["pytest>=8", "ruff"]
[project.scripts]
shop = "shop.__main__:main"
[tool.ruff]
line-length = 100
""",
    "Makefile": "test: install ## Run the tests\n\tpytest\n\nlint:\n\truff check .\n.PHONY: test\n",
    "README.md": "# Shop\n\n[![Build](https://x/y.svg)](https://x)\n\nSells things on paper and by mail.\n",
    "AGENTS.md": "# For agents\n\n- Run make test before each commit\n- Money is in cents\n",
    ".env.example": "SHOP_TOKEN=abc123secret\nexport SHOP_DB=postgres://user:hunter2@db\n# NOT_ONE=1\n",
    "PROGRESS.md": "# Progress\n\nPhase: Beta\n\n- [x] Carts\n- [ ] Invoices\n",
    "tox.ini": "[tox]\n",
    ".github/workflows/ci.yml": "on: push\n",
    "shop/__init__.py": "",
    "shop/__main__.py": "from shop.web import app\n\n\ndef main():\n    app.run()\n\n\nif __name__ == '__main__':\n    main()\n",
    "shop/web.py": "import os\n\nimport flask\nimport yaml\nfrom shop.money import add\n\napp = flask.Flask('x')\nPORT = os.environ['SHOP_PORT']\n\n\n@app.get('/carts')\ndef carts():\n    return str(add(1, 2))\n",
    "shop/money.py": "def add(a, b):\n    return a + b\n",
    "tests/test_money.py": "from shop.money import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A small Python project."""
    repo = new(tmp_path / "shop")
    commit(
        repo,
        PYTHON,
        "Store money in cents instead of floats\n\nFloats lose cents when they are added.",
    )
    return repo


def told(repo: Path, *args: str) -> str:
    """Return the page as text."""
    return mem(repo, "code", "dna", *args).stdout


def test_what_is_declared_and_what_is_there(shop: Path):
    """Each part of the page, from the manifest, the code, the history and the files of people and agents; values of variables are never told."""
    out = told(shop)
    assert out.startswith("# shop\n\nSells things on paper. Python (5 files, 29 lines).\n")
    assert "Python >=3.11" in out
    assert "PyYAML (1 file), flask >=3,<4 (1 file), requests >=2.31" in out
    assert "For development: pytest, ruff" in out
    assert "- shop: `shop.__main__:main`" in out and "__main__.py" not in out
    assert "- routes in `shop/web.py`: GET /carts" in out
    assert "- `make test`: Run the tests\n- `make lint`" in out
    assert (
        "- `shop/money.py`" in out
        and "used by 2: add" in out
        and "tests/test_money.py" not in out.split("## Key files")[1]
    )
    assert "tox.ini, .github/workflows (ci)" in out
    assert "SHOP_TOKEN, SHOP_DB, SHOP_PORT" in out
    assert "hunter2" not in out and "abc123secret" not in out
    assert "Store money" not in out and "Decided" not in out
    assert "- PROGRESS.md: phase Beta, 1 of 2 tasks done, next: Invoices" in out
    assert "AGENTS.md: Run make test before each commit; Money is in cents" in out


WEB = """/**
 *     app.get('/in/a/comment', serve)
 */
app.get('/carts', serve) // process.env.IN_A_COMMENT
const port = `${process.env.SHOP_PORT} not process.env.IN_A_TEXT`
"""


def test_examples_in_comments_and_texts_are_no_code(tmp_path: Path):
    """Nor is what stands beside the project; what npm, Cargo and pytest take without being told is told; what two files say is told once."""
    repo = new(tmp_path / "shop")
    commit(
        repo,
        {
            "package.json": json.dumps({"name": "shop"}),
            "index.js": "module.exports = require('./web')\n",
            "web.js": WEB,
            "docs_src/first.js": WEB,
            "README.rst": "Shop\n====\n\n`The shop <https://x.org/shop>`_ sells things on paper and by mail.\n",
            "AGENTS.md": "- Money is in cents\n",
            "CLAUDE.md": "- Money is in cents\n",
        },
    )
    out = told(repo)
    assert "- (main): `index.js`\n- routes in `web.js`: GET /carts\n" in out
    assert "docs_src" not in out and "## Environment\n- SHOP_PORT\n" in out
    assert "The shop sells things on paper and by mail. JavaScript (3 files" in out
    assert out.count("Money is in cents") == 1
    engine = new(tmp_path / "engine")
    commit(
        engine,
        {
            "Cargo.toml": "[package]\nname = 'engine'\n",
            "build.rs": "fn main() {}\n",
            "src/main.rs": "fn main() {}\n",
            "pyproject.toml": "[project]\nname = 'engine'\n[dependency-groups]\ndev = ['pytest']\n",
        },
    )
    out = told(engine)
    assert "- main: `src/main.rs`" in out and "build.rs" not in out.split("## Key files")[0]
    assert "- `python -m pytest`" in out


def test_it_is_stored_when_it_says_something_else(shop: Path):
    """One commit of the store for each change, which `git mem diff` shows; the same twice writes nothing; a record that lists and searches know."""
    assert "dna-shop: stored" in mem(shop, "code", "dna", "refresh").stdout
    tip = git(shop, "rev-parse", "refs/gitmem/local/main")
    assert "dna-shop: as before" in mem(shop, "code", "dna", "refresh").stdout
    assert git(shop, "rev-parse", "refs/gitmem/local/main") == tip
    commit(
        shop,
        {"shop/tax.py": "from shop.money import add\n\n\ndef tax():\n    return add(1, 1)\n"},
        "Tax",
    )
    assert (
        "is checked out. Read anew with: git mem code dna refresh"
        in mem(shop, "code", "dna").stderr
    )
    assert data_of(mem(shop, "code", "dna", "refresh", "--json").stdout)[0]["outcome"] == "changed"
    diff = mem(shop, "diff", "--private").stdout
    assert "used by 2: add" in diff and "used by 3: add" in diff and "+- " in diff
    shown = data_of(mem(shop, "code", "dna", "--json").stdout)
    assert (shown["id"], shown["stored"], shown["commit"]) == (
        "dna-shop",
        True,
        git(shop, "rev-parse", "HEAD"),
    )
    assert git(shop, "for-each-ref", "refs/gitmem/heads") == ""
    assert "dna-shop: stored" in mem(shop, "code", "dna", "refresh", "--shared").stdout
    assert git(shop, "show", "refs/gitmem/heads/main:dna/shop.md").startswith("---\nid: dna-shop")
    assert {row["id"] for row in data_of(mem(shop, "list", "-k", "dna", "--json").stdout)} == {
        "dna-shop"
    }


def test_any_commit_and_any_repository(shop: Path, tmp_path: Path):
    """`--at` writes nothing; a bare repository has one; an empty repository says so; of a repository without code the page says what its README says, and nothing of code."""
    commit(shop, {"pyproject.toml": PYTHON["pyproject.toml"].replace("flask>=3,<4", "django>=5")})
    assert "flask >=3,<4" in told(shop, "--at", "HEAD~1") and "django >=5" in told(
        shop, "--at", "HEAD"
    )
    assert git(shop, "for-each-ref", "refs/gitmem/") == ""
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(shop), str(bare))
    assert "Sells things on paper" in told(bare)
    assert "there is no commit yet" in mem(new(tmp_path / "empty"), "code", "dna", code=1).stderr
    notes = new(tmp_path / "notes")
    commit(
        notes,
        {
            "README.md": "# Notes\n\nThese are the notes of a garden in the north.\n",
            ".editorconfig": "root = true\n",
            ".github/workflows/links.yml": "on: push\n",
        },
    )
    assert told(notes) == "# notes\n\nThese are the notes of a garden in the north.\n"
    assert "names no commit" in mem(shop, "code", "dna", "--at", "nowhere", code=1).stderr
    assert "there is no workspace 'x'" in mem(shop, "code", "dna", "show", "x", code=1).stderr


def test_a_page_for_each_workspace_and_one_for_the_whole(tmp_path: Path):
    """A monorepo of npm workspaces: each has its own, the overview names them."""
    repo = new(tmp_path / "mono")
    commit(
        repo,
        {
            "package.json": '{"name": "mono", "private": true, "workspaces": ["packages/*"], "scripts": {"test": "vitest"}}',
            "packages/core/package.json": '{"name": "@m/core", "description": "The core", "dependencies": {"zod": "^3.23.0"}}',
            "packages/core/src/index.ts": "import { z } from 'zod';\nexport const core = z.string();\n",
            "packages/web/package.json": '{"name": "@m/web", "dependencies": {"@m/core": "workspace:*", "react": "18.3.1"}, "engines": {"node": ">=20"}}',
            "packages/web/src/app.tsx": "import { core } from '@m/core';\nimport React from 'react';\nexport const App = () => core;\n",
            "examples/one/package.json": '{"name": "one"}',
            "examples/one/a.js": "1;\n",
        },
    )
    rows = data_of(mem(repo, "code", "dna", "refresh", "--json").stdout)
    assert [(row["id"], row["path"]) for row in rows] == [
        ("dna-mono", "."),
        ("dna-mono-packages-core", "packages/core"),
        ("dna-mono-packages-web", "packages/web"),
    ]
    assert "- `packages/core` @m/core: The core" in told(repo)
    web = told(repo, "show", "packages/web")
    assert "react 18.3.1 (1 file)" in web and "Node.js >=20" in web and "zod" not in web
    assert told(repo, "show", "@m/core").splitlines()[0] == "# @m/core"


def test_sessions_keep_it_up_and_are_told(shop: Path):
    """A start has it read in the background, the next one tells it; another commit, and it is read again; setting off makes none."""

    def start(name: str) -> str:
        given = {
            "session_id": name,
            "cwd": str(shop),
            "hook_event_name": "SessionStart",
            "source": "startup",
            "transcript_path": "/nowhere",
        }
        return subprocess.run(
            [sys.executable, "-m", "gitmem", "hook", "claude"],
            input=json.dumps(given),
            capture_output=True,
            text=True,
            check=True,
            cwd=shop,
        ).stdout

    def until(commit: str) -> None:
        for _ in range(3000):
            ref = git(shop, "show", "refs/gitmem/local/main:dna/shop.md", ok=(0, 128))
            if commit in ref:
                return
            time.sleep(0.02)
        raise AssertionError(ref)

    mem(shop, "init")
    assert "[code]" not in start("s1")
    until(git(shop, "rev-parse", "HEAD"))
    out = start("s2")
    assert "- [code] Stack: Python" in out and "- [code] Run: `make test`" in out
    assert tokens(out) < 1500
    assert "dna" not in git(shop, "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main")
    new_commit = commit(
        shop,
        {"shop/tax.py": "from shop.money import add\n\n\ndef tax():\n    return add(1, 1)\n"},
        "Tax",
    )
    assert "[code] Key files" in start("s3")  # what is known meanwhile
    until(new_commit)
    git(shop, "config", "gitmem.dna", "off")
    git(shop, "config", "gitmem.scout", "false")
    last = commit(shop, {"shop/more.py": "X = 1\n"})
    start("s4")
    with mock.patch.object(code_progress, "dna_commit", lambda _: ""):  # as if nobody had begun
        background.main(str(shop), "read-code")
    assert last not in git(shop, "show", "refs/gitmem/local/main:dna/shop.md")


def test_two_clones_agree(shop: Path, tmp_path: Path):
    """Both wrote one of their own: the later stands as it is, nothing is joined, nothing is kept aside."""
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(hub))
    clones = []
    for name in ("a", "b"):
        clone = tmp_path / name
        git(tmp_path, "clone", "-q", str(shop), str(clone))
        git(clone, "remote", "set-url", "origin", str(hub))
        mem(clone, "init")
        mem(clone, "remote", "enable", "origin")
        commit(clone, {".env.example": f"ONLY_{name.upper()}=1\n"})
        git(clone, "config", "gitmem.dna", "shared")
        with mock.patch.object(Clock, "now", lambda _: time.time() + 60 * len(clones)):
            mem(clone, "code", "dna", "refresh")
        clones.append(clone)
    for clone in (*clones, clones[0]):
        mem(clone, "sync")
    pages = {git(clone, "show", "refs/gitmem/heads/main:dna/hub.md") for clone in clones}
    assert len(pages) == 1 and "ONLY_B" in pages.pop()
    assert "attic" not in git(clones[0], "ls-tree", "-r", "--name-only", "refs/gitmem/heads/main")


@pytest.mark.parametrize("budget", [40, 120, 400, 1000])
def test_it_keeps_its_budget(budget: int):
    """However much there is to say, in whatever script."""
    facts = ProjectFacts("x", about="о" * 500 + " " + "word " * 200)
    facts.languages = [("Python", 4000, 123_456)]
    facts.stack = [("Python", ">=3.11")] * 5
    facts.dependencies = [(f"dependency-{n}", f">={n}.0", n) for n in range(60)]
    facts.files = [
        KeyFile(
            f"src/very/long/path/of/a/package/module_{n}.py",
            n,
            ["AClassWithALongName", "another_name", "третий"],
        )
        for n in range(20)
    ]
    facts.entries = [("main", f"cmd/{n}/main.go") for n in range(60)]
    facts.environment = [f"VARIABLE_{n}" for n in range(60)]
    facts.context = [("README.md", "word " * 300)]
    out = page(facts, budget)
    assert 0 < tokens(out) <= budget
    if budget == 1000:
        assert sum("module_" in line for line in out.splitlines()) == 20


MANIFESTS = {
    "package.json": (
        '{"name": "@a/b", "version": "1.2.3", "engines": {"node": ">=20"}, "packageManager": "pnpm@9.1.0+sha512.x", "dependencies": {"x": "^1"}, "bin": {"b": "cli.js"}, "scripts": {"test": "jest", "e2e": "echo \\"Error: no test specified\\" && exit 1"}}',
        {
            "name": "@a/b",
            "version": "1.2.3",
            "needs": {"Node.js": ">=20", "pnpm": "9.1.0"},
            "uses": {"x": "^1"},
            "starts": {"b": "cli.js"},
            "scripts": {"test": "jest"},
        },
    ),
    "Cargo.toml": (
        '[package]\nname = "k"\nversion = "0.1.0"\nedition = "2021"\nrust-version = "1.70"\n[dependencies]\nserde = { version = "1.0", features = ["derive"] }\nown = { path = "../own" }\n[[bin]]\nname = "kk"\n',
        {
            "name": "k",
            "needs": {"Rust edition": "2021", "Rust": ">=1.70"},
            "uses": {"serde": "1.0", "own": ""},
            "starts": {"kk": "src/bin/kk.rs"},
        },
    ),
    "go.mod": (
        "module example.org/m\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.2.3\n\tgithub.com/c/d v0.1.0 // indirect\n)\n",
        {"name": "example.org/m", "needs": {"Go": "1.22"}, "uses": {"github.com/a/b": "v1.2.3"}},
    ),
    "pom.xml": (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><artifactId>m</artifactId><version>2</version><properties><java.version>17</java.version><j>5.10</j></properties><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>1.0</version></dependency><dependency><groupId>org.junit</groupId><artifactId>junit</artifactId><version>${j}</version><scope>test</scope></dependency></dependencies></project>',
        {
            "name": "m",
            "version": "2",
            "needs": {"Java": "17"},
            "uses": {"g:a": "1.0"},
            "tries": {"org.junit:junit": "5.10"},
        },
    ),
    "build.gradle.kts": (
        'java { toolchain { languageVersion.set(JavaLanguageVersion.of(21)) } }\ndependencies { implementation("g:a:1.0")\n testImplementation("t:b:2") }\n',
        {"needs": {"Java": "21"}, "uses": {"g:a": "1.0"}, "tries": {"t:b": "2"}},
    ),
    "composer.json": (
        '{"name": "v/p", "require": {"php": ">=8.1", "ext-json": "*", "monolog/monolog": "^3"}, "scripts": {"test": ["phpunit"]}}',
        {
            "name": "v/p",
            "needs": {"PHP": ">=8.1"},
            "uses": {"monolog/monolog": "^3"},
            "scripts": {"test": "phpunit"},
        },
    ),
    "Gemfile": (
        'source "https://rubygems.org"\nruby "3.2.0"\ngem "rails", "~> 7.1"\ngem "pg"\n',
        {"needs": {"Ruby": "3.2.0"}, "uses": {"rails": "~> 7.1", "pg": ""}},
    ),
    "x.gemspec": (
        'Gem::Specification.new do |s|\n  s.name = "x"\n  s.version = "1.0"\n  s.required_ruby_version = ">= 3.0"\n  s.add_dependency "rack", "~> 3"\nend\n',
        {"name": "x", "version": "1.0", "needs": {"Ruby": ">= 3.0"}, "uses": {"rack": "~> 3"}},
    ),
    "App.csproj": (
        '<Project><PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup><ItemGroup><PackageReference Include="Serilog" Version="3.1.1" /></ItemGroup></Project>',
        {"name": "App", "needs": {".NET": "net8.0"}, "uses": {"Serilog": "3.1.1"}},
    ),
    "CMakeLists.txt": (
        "cmake_minimum_required(VERSION 3.20)\nproject(thing VERSION 1.2 LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 17)\nfind_package(Boost 1.80 REQUIRED)\n",
        {
            "name": "thing",
            "version": "1.2",
            "needs": {"CMake": ">=3.20", "C++": "17"},
            "uses": {"Boost": "1.80"},
        },
    ),
    "setup.cfg": (
        "[metadata]\nname = p\nversion = attr: p.v\n[options]\npython_requires = >=3.9\ninstall_requires =\n    click>=8\n    tomli; python_version < '3.11'\n[options.entry_points]\nconsole_scripts =\n    p = p.cli:main\n",
        {
            "name": "p",
            "version": "",
            "needs": {"Python": ">=3.9"},
            "uses": {"click": ">=8", "tomli": ""},
            "starts": {"p": "p.cli:main"},
        },
    ),
    "setup.py": (
        "from setuptools import setup\nsetup(name='q', version=open('v').read(), install_requires=['a==1'], python_requires='>=3.8')\n",
        {"name": "q", "needs": {"Python": ">=3.8"}, "uses": {"a": "==1"}},
    ),
    "requirements.txt": (
        "# c\n-r other.txt\nDjango==4.2.1  # pinned\nattrs\n",
        {"uses": {"Django": "==4.2.1", "attrs": ""}},
    ),
    "Makefile": (
        "VAR := 1\ntest: all ## Run it\n\tx\n.PHONY: test\ndefine RULE\nfake:\n\tx\nendef\nifeq ($(OS),Windows_NT)\nboth: a\nwinonly:\nelse\nifdef X\nx:\nendif\nboth: b\nendif\nelse\nbuild:\n",
        {"scripts": {"test": "Run it", "build": "", "both": ""}},
    ),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests(name: str):
    """What each kind declares, in the versions that stand there."""
    text, wanted = MANIFESTS[name]
    made = manifests.read(name, text.encode())
    assert {key: getattr(made, key) for key in wanted} == wanted


@pytest.mark.parametrize("name", MANIFESTS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\0",
        b"[1, 2]",
        b"{",
        b"<a>&x;</a>",
        b"[" * 100_000,
        b'{"dependencies": [], "scripts": 3, "name": {}}',
        b"[project]\ndependencies = 3\nname = []\n",
        b"def (:\n",
    ],
)
def test_manifests_of_any_shape(name: str, data: bytes):
    """None of them ends the page."""
    made = manifests.read(name, data)
    assert made.path == name
