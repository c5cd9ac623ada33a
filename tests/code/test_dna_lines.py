"""Lines of a page that real projects made wrong: each says something true, or is not there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.code.dna_pages import MIX, page, part
from tests.codemap.graph.projects import commit, mem, new

PROMOTION = """<p><a href="https://x/sponsors">My work is supported by the community</a></p>

Special thanks to:

<a href="https://x"><b>Fast builds and remote runners for all of you.</b></a>
"""
MAIN = "int main(void) { return 0; }\n"


def test_an_entry_point_is_compiled_without_being_asked_for(tmp_path: Path):
    """A main function of a self-test behind `#ifdef` starts nothing; one after `#else` does."""
    out = page(
        tmp_path,
        {
            "sds.c": f"int used;\n#ifdef SDS_TEST_MAIN\n{MAIN}#endif\n",
            "tool.c": f"#ifndef NO_TOOL\n{MAIN}#endif\n",
            "both.c": f"#ifdef _WIN32\nint wmain(void) {{ return 0; }}\n#else\n{MAIN}#endif\n",
        },
    )
    assert part(out, "Entry points") == ["- main: `both.c`", "- main: `tool.c`"]


def test_tools_of_a_project_are_no_entry_points(tmp_path: Path):
    """Generators, releases and checks start nothing of a product, nor do modules with a guard."""
    guard = "if __name__ == '__main__':\n    pass\n"
    go = "package main\n\nfunc main() {}\n"
    out = page(
        tmp_path,
        {
            "pyproject.toml": "[project]\nname = 'acme'\n[project.scripts]\nacme = 'acme.cli:main'\n",
            "acme/cli.py": f"def main():\n    pass\n\n\n{guard}",
            "acme/__main__.py": f"from acme.cli import main\n\n{guard}",
            "acme/help.py": guard,
            "scripts/release.py": guard,
            "noxfile.py": guard,
            "t/main.py": guard,
            "go.mod": "module x.org/acme\n",
            "cmd/acme/main.go": go,
            "internal/gen.go": f"//go:build ignore\n\n{go}",
            "examples/one/main.go": go,
            "xtask/src/main.rs": "fn main() {}\n",
        },
    )
    assert part(out, "Entry points") == ["- acme: `acme.cli:main`", "- main: `cmd/acme/main.go`"]


def test_a_built_file_is_told_as_its_source_or_not_at_all(tmp_path: Path):
    """`dist` is not committed: what it is built from starts the package."""
    manifest = {
        "name": "acme",
        "main": "./dist/node/index.js",
        "bin": {"acme": "dist/cli.js", "gone": "dist/gone.js"},
    }
    out = page(
        tmp_path,
        {
            "package.json": json.dumps(manifest),
            "src/node/index.ts": "export const a = 1;\n",
            "src/cli.ts": "export const b = 1;\n",
        },
    )
    assert part(out, "Entry points") == ["- acme: `src/cli.ts`", "- (main): `src/node/index.ts`"]


def test_a_script_of_python_needs_its_module(tmp_path: Path):
    """A module, or a package, below whatever folder; none that is not there."""
    scripts = "shop = 'shop.missing:main'\nrun = 'shop.run:main'\nall = 'shop:main'\n"
    out = page(
        tmp_path,
        {
            "pyproject.toml": f"[project]\nname = 'shop'\n[project.scripts]\n{scripts}",
            "src/shop/__init__.py": "",
            "src/shop/run.py": "def main():\n    pass\n",
        },
    )
    assert part(out, "Entry points") == ["- run: `shop.run:main`", "- all: `shop:main`"]


def test_routes_say_how_many_are_left_out(tmp_path: Path):
    """Of a file, and of files; they have the prefix of their router."""
    api = "from fastapi import APIRouter\n\nrouter = APIRouter(prefix='/{0}', tags=['x'])\n"
    route = "\n\n@router.get('/r{0}')\ndef r{0}():\n    return 1\n"
    files = {
        f"app/routes/{name}.py": api.format(name) + "".join(route.format(n) for n in range(17))
        for name in "abcdefg"
    }
    files["app/main.py"] = "from fastapi import FastAPI\n\napp = FastAPI()\n"
    out = page(tmp_path, files)
    rows = part(out, "Entry points")
    assert rows[0] == "- fastapi application: `app/main.py`"
    first = ", ".join(f"GET /a/r{number}" for number in range(8))
    assert f"- routes in `app/routes/a.py`: {first} and 9 more" in rows
    assert sum(row.startswith("- routes in") for row in rows) == 5
    assert rows[-1] == "- and 34 more routes in 2 more files"


def test_routes_of_django_and_laravel_have_no_slash_before_them(tmp_path: Path):
    """`path('carts/')` is a route; what is in a comment is none, nor is a client's call, nor what a test has; a class has a prefix."""
    out = page(
        tmp_path,
        {
            "shop/urls.py": "urlpatterns = [\n    path('', home),\n    path('carts/<int:id>', cart),\n"
            "    # path('old/', old),\n]\n",
            "routes/web.php": "<?php\nRoute::get('/parcels', [P::class, 'all']);\n",
            "web/client.js": "axios.post('/carts', data);\napi.get('/x', {});\n",
            "src/main/java/com/example/demo/Pets.java": '@RequestMapping("/owners/{id}")\nclass Pets {\n'
            '  @GetMapping("/pets") String all() { return ""; }\n}\n',
            "src/lib.rs": 'fn f(r: Router) { r.route("/live", get(h)); }\n\n#[cfg(test)]\nmod tests {\n'
            '    fn t(r: Router) { r.route("/test", get(h)); }\n}\n',
            "app.rb": "get '/hello' do\n  'hi'\nend\n",
        },
    )
    assert set(part(out, "Entry points")) >= {
        "- routes in `shop/urls.py`: /, carts/<int:id>",
        "- routes in `routes/web.php`: GET /parcels",
        "- routes in `app.rb`: GET /hello",
        "- routes in `src/main/java/com/example/demo/Pets.java`: GET /owners/{id}/pets",
        "- routes in `src/lib.rs`: /live",
    }
    assert "client.js" not in out.partition("## Key files")[0]


def test_dependencies_are_what_the_product_needs(tmp_path: Path):
    """Extras are optional, test tools and groups are for development, stubs are not told."""
    out = page(
        tmp_path,
        {
            "pyproject.toml": "[project]\nname = 'acme'\ndependencies = ['httpx>=0.27']\n"
            "[project.optional-dependencies]\nsocks = ['pysocks', 'types-mock']\n"
            "testing = ['trustme']\nall = ['acme[socks]']\n"
            "[dependency-groups]\ndev = ['pytest', 'types-requests', 'acme']\n",
            "acme/__init__.py": "import httpx\nfrom _typeshed import Incomplete\n",
            "acme/a.py": "from _typeshed import Incomplete\nimport certifi\n",
            "acme/b.py": "from _typeshed import Incomplete\nimport certifi\n",
            "acme/c.py": "import certifi\n",
        },
    )
    assert part(out, "Stack") == [
        "- Dependencies, by files that import them: httpx >=0.27 (1 file)",
        "- Optional: pysocks",
        "- For development: pytest, trustme",
    ]


def test_key_files_are_the_projects_own(tmp_path: Path):
    """No bundled copy, no generated client, no test; what one other file uses is none."""
    files = {
        "src/bundled/fmt.h": "#pragma once\nclass fmt {};\n",
        "src/client/sdk.gen.ts": "export const a = 1;\n",
        "src/client/api.ts": "// This file is auto-generated by a tool\nexport const b = 1;\n",
        "src/once.ts": "export const once = 1;\n",
        "acme.tests/helper.ts": "export const h = 1;\n",
        ".site/theme.ts": "export const t = 1;\n",
        "scripts/tool.ts": "export const s = 1;\n",
    }
    uses = ""
    for name in "abcdef":
        files[f"src/{name}.ts"] = f"export const {name} = 1;\n"
        uses += f"import {{ {name} }} from './{name}';\n"
    for number in range(3):
        files[f"src/user{number}.ts"] = (
            f"{uses}import {{ b }} from './client/api';\nimport {{ h }} from '../acme.tests/helper';\n"
            "import { t } from '../.site/theme';\nimport { s } from '../scripts/tool';\n"
            "console.log(a, b, c, d, e, f, h);\n"
        )
    files["src/user0.ts"] += "import { once } from './once';\n"
    out = page(tmp_path, files)
    rows = part(out, "Key files")
    assert [row.split("`")[1] for row in rows] == [f"src/{name}.ts" for name in "abcdef"]
    assert rows[0] == "- `src/a.ts` used by 3: a"
    assert "3 generated, vendored or minified not read" in out


def test_a_standard_module_is_not_a_file_of_its_name(tmp_path: Path):
    """In a package `import typing` is Python's own; a script finds what is beside it."""
    out = page(
        tmp_path,
        {
            "acme/__init__.py": "",
            "acme/typing.py": "Any = 1\n",
            "acme/a.py": "import typing as t\n\nX: t.Any = 1\n",
            "acme/b.py": "from . import typing as ft\n\nY = ft.Any\n",
            "jobs/run.py": "import helper\n\nhelper.go()\n",
            "jobs/helper.py": "def go():\n    pass\n",
        },
    )
    assert "- `acme/typing.py` used by 1: Any" in out and "- `jobs/helper.py` used by 1" in out


def test_the_page_of_several_packages(tmp_path: Path):
    """It has the repository's name, says what its main package says, and no package as dependency."""
    repo = new(tmp_path / "acme")
    commit(
        repo,
        {
            "package.json": '{"name": "acme-monorepo", "private": true}',
            "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n",
            "packages/acme/package.json": '{"name": "acme", "description": "A queue of parcels", "dependencies": {"ws": "^8.0.0"}}',
            "packages/acme/index.js": "import ws from 'ws';\n",
            "packages/cli/package.json": '{"name": "@acme/cli", "dependencies": {"acme": "workspace:*"}, "devDependencies": {"@types/node": "1", "vitest": "2"}}',
            "packages/cli/index.js": "import acme from 'acme';\n",
            "packages/cli/template-react/package.json": '{"name": "x", "dependencies": {"react": "19"}}',
            "packages/cli/template-react/a.jsx": "import React from 'react';\n",
            "playground/package.json": '{"name": "play"}',
            "playground/a.js": "1;\n",
            "assets/package.json": '{"type": "module"}',
            "assets/a.js": "1;\n",
        },
    )
    out = mem(repo, "code", "dna").stdout
    assert out.startswith("# acme\n\nA queue of parcels. JavaScript")
    assert part(out, "Workspaces") == [
        "- `packages/acme`: A queue of parcels",
        "- `packages/cli` @acme/cli",
    ]
    assert part(out, "Stack") == [
        "- Dependencies, by files that import them: ws ^8.0.0 (1 file)",
        "- For development: vitest",
    ]


@pytest.mark.parametrize(
    ("files", "folders"),
    [
        (
            {
                "go.work": "go 1.22\n\nuse (\n\t./api\n\t./tool\n)\n",
                "api/go.mod": "module x.org/api\n",
                "api/a.go": "package api\n",
                "tool/go.mod": "module x.org/tool\n",
                "tool/a.go": "package tool\n",
                "old/go.mod": "module x.org/old\n",
                "old/a.go": "package old\n",
            },
            ["api", "tool"],
        ),
        (
            {
                "Acme.sln": "\n",
                "Acme/Acme.csproj": "<Project></Project>",
                "Acme/A.cs": "class A {}\n",
                "Acme.Web/Acme.Web.csproj": "<Project></Project>",
                "Acme.Web/B.cs": "class B {}\n",
                "Acme.Tests/Acme.Tests.csproj": "<Project></Project>",
                "Acme.Tests/C.cs": "class C {}\n",
            },
            ["Acme", "Acme.Web"],
        ),
        (
            {
                "pom.xml": "<project><artifactId>acme-parent</artifactId></project>",
                "core/pom.xml": "<project><artifactId>core</artifactId></project>",
                "core/src/A.java": "class A {}\n",
                "web/pom.xml": "<project><artifactId>web</artifactId></project>",
                "web/src/B.java": "class B {}\n",
                "test-shrinker/pom.xml": "<project><artifactId>t</artifactId></project>",
                "test-shrinker/src/C.java": "class C {}\n",
            },
            ["core", "web"],
        ),
    ],
)
def test_packages_of_a_repository(tmp_path: Path, files: dict[str, str], folders: list[str]):
    """What belongs together, by what says so; tests of a project are no package of it."""
    out = page(tmp_path, files)
    assert out.startswith("# acme\n")
    assert [row.split("`")[1] for row in part(out, "Workspaces")] == folders


def test_variables_of_the_system_are_not_the_projects(tmp_path: Path):
    """Nor are those that only a release script reads; configuration of examples is none."""
    out = page(
        tmp_path,
        {
            "acme.py": "import os\n\nA = os.environ['ACME_URL'], os.environ['PATH'], os.getenv('TERM')\n",
            "scripts/bench.py": "import os\n\nB = os.environ['ROUNDS']\n",
            "tests/docker-compose.yml": "services: {}\n",
            "tox.ini": "[tox]\n",
        },
    )
    assert part(out, "Environment") == ["- ACME_URL"]
    assert part(out, "Configuration") == ["- tox.ini"]


def test_points_for_agents_are_whole(tmp_path: Path):
    """A point that does not fit is counted, not cut; a reviewer's part is not the project's word."""
    point = "Money is in cents, and carts are never changed in place"
    out = page(
        tmp_path,
        {
            "acme.py": "1\n",
            "AGENTS.md": "# Rules\n\n" + "".join(f"- {point} ({n})\n" for n in range(7)),
            ".github/copilot-instructions.md": "- Role: assist maintainers\n",
        },
    )
    said = "; ".join(f"{point} ({n})" for n in range(4))
    assert part(out, "In its own words") == [f"- AGENTS.md: {said}; and 3 more"]


def test_languages_that_are_not_parsed_are_named(tmp_path: Path):
    """A page of a project of Elixir does not speak of its few scripts alone."""
    out = page(tmp_path, {**MIX, "assets/a.js": "1;\n", "README.md": "# acme\n"})
    assert out.split("\n")[2] == "Elixir (4 files, not parsed), JavaScript (1 file, 1 line)."


def test_a_repository_without_code_says_nothing_of_code(tmp_path: Path):
    """Neither a page nor the start of a session does."""
    repo = new(tmp_path / "lists")
    commit(repo, {"README.md": PROMOTION, ".editorconfig": "root = true\n"})
    mem(repo, "init")
    assert mem(repo, "code", "dna", "refresh", "--json").stdout.count("dna-lists") <= 1
    assert mem(repo, "code", "dna").stdout == (
        "# lists\n\nNo file describes this project, and there is no code to read.\n"
    )
    commit(repo, {"README.md": "# Lists\n\nLists of good books about the sea.\n"})
    mem(repo, "code", "dna", "refresh")
    assert mem(repo, "code", "dna").stdout == "# lists\n\nLists of good books about the sea.\n"
    given = {
        "session_id": "s1",
        "cwd": str(repo),
        "hook_event_name": "SessionStart",
        "source": "startup",
        "transcript_path": "/nowhere",
    }
    started = subprocess.run(
        [sys.executable, "-m", "gitmem", "hook", "claude"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        cwd=repo,
    )
    assert "[code]" not in started.stdout
