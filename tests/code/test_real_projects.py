"""Real projects, as their authors published them: what was checked by hand once holds."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from gitmem.text.tokens import tokens
from tests.codemap.graph.projects import commit, mem, new

CACHE = Path(__file__).parents[2] / ".cache" / "projects"
# name -> (how it is fetched, name of the archive)
PROJECTS = {
    "flask": ("pip", "flask==3.0.3", "flask-3.0.3.tar.gz"),
    "hiredis": ("pip", "hiredis==3.0.0", "hiredis-3.0.0.tar.gz"),
    "jpype": ("pip", "jpype1==1.5.0", "JPype1-1.5.0.tar.gz"),
    "pythonnet": ("pip", "pythonnet==3.0.3", "pythonnet-3.0.3.tar.gz"),
    "fastify": ("npm", "fastify@5.0.0", "fastify-5.0.0.tgz"),
    "zod": ("npm", "zod@4.1.0", "zod-4.1.0.tgz"),
}


def archive(name: str) -> Path:
    """Return the archive of a project; where it cannot be had the test is skipped, or fails where all is required."""
    how, what, file = PROJECTS[name]
    path = CACHE / file
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        pip = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(CACHE),
            what,
        ]
        npm = ["npm", "pack", "--silent", what, "--pack-destination", str(CACHE)]
        try:
            subprocess.run(
                pip if how == "pip" else npm, check=True, capture_output=True, timeout=180
            )
        except (OSError, subprocess.SubprocessError) as error:
            if os.environ.get("GITMEM_REQUIRE_ALL"):
                raise
            pytest.skip(f"{what} cannot be fetched: {error}")
    return path


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The project that a test names, committed."""
    repo = new(tmp_path / request.param)
    with tarfile.open(archive(request.param)) as tar:
        for member in tar.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name and member.isfile():
                tar.extract(member, repo, filter="data")
    commit(repo, {}, "Import")
    return repo


def of(name: str) -> pytest.MarkDecorator:
    """Say which project a test is about."""
    return pytest.mark.parametrize("project", [name], indirect=True)


def page(repo: Path) -> str:
    """Return its page, which keeps its budget."""
    out = mem(repo, "code", "dna").stdout
    assert tokens(out) <= 1010
    return out


def parts(out: str, title: str) -> list[str]:
    """Return the rows of a part of a page."""
    return out.partition(f"## {title}\n")[2].partition("\n\n")[0].split("\n")


@of("flask")
def test_flask(project: Path):
    """Python in src: ranges as they are declared, the command, no routes of docstrings, tests left out."""
    out = page(project)
    assert "Python >=3.8" in out and "Werkzeug >=3.0.0 (27 files)" in out and "click >=8.1.3" in out
    assert parts(out, "Entry points") == ["- flask: `flask.cli:main`"]
    assert parts(out, "Run") == ["- `tox`"]
    files = parts(out, "Key files")
    assert len(files) == 20
    assert {"`src/flask/globals.py`", "`src/flask/app.py`", "`src/flask/helpers.py`"} == {
        row.split()[1] for row in files[:3]
    }
    assert any(row.startswith("- `src/flask/app.py`") and row.endswith(": Flask") for row in files)
    assert "FLASK_DEBUG" in out
    users = mem(project, "code", "imports", "src/flask/globals.py", "--of").stdout
    assert "src/flask/app.py" in users and "src/flask/helpers.py" in users
    assert (
        "blueprints.py: defines Blueprint"
        in mem(
            project, "scout", "Blueprint registration with a dotted name should raise"
        ).stdout.split("\n")[1]
    )


@of("fastify")
def test_fastify(project: Path):
    """JavaScript with declarations beside it: `require('..')` of tests means the main file."""
    out = page(project)
    assert "pino ^9.0.0 (9 files)" in out and "- (main): `fastify.js`" in out
    assert parts(out, "Run")[0].startswith("- `npm run test`: npm run lint")
    assert parts(out, "Key files")[0].startswith("- `fastify.js`")
    assert "lib/symbols.js" in out
    assert "test/404s.test.js" in mem(project, "code", "imports", "fastify.js", "--of").stdout


@of("zod")
def test_zod(project: Path):
    """TypeScript: `.js` in an import means the `.ts` beside it."""
    rows = mem(project, "code", "imports", "src/v4/core/schemas.ts").stdout
    assert (
        "./checks.js → src/v4/core/checks.ts" in rows and "./util.js → src/v4/core/util.ts" in rows
    )
    assert "- `npm run test`: pnpm vitest run" in page(project)


@of("jpype")
def test_jpype(project: Path):
    """Java, C++ and Python in one project."""
    out = page(project)
    assert "Python (" in out and "C++ (" in out and "Java (" in out
    assert "native/common/include/jp_javaframe.h" in out
    users = mem(project, "code", "imports", "native/common/include/jp_javaframe.h", "--of").stdout
    assert "native/common/jp_array.cpp" in users
    java = mem(project, "code", "imports", "native/java/org/jpype/JPypeContext.java").stdout
    assert (
        "org.jpype.manager (TypeFactoryNative) → native/java/org/jpype/manager/TypeFactoryNative.java"
        in java
    )


@of("hiredis")
def test_hiredis(project: Path):
    """C with a copy of another project, which is not read."""
    out = page(project)
    assert "C (6 files" in out and "vendored" in out
    assert "src/reader.h" in mem(project, "code", "imports", "src/hiredis.c").stdout


@of("pythonnet")
def test_pythonnet(project: Path):
    """C#: names of the own namespace, and `using`."""
    users = mem(project, "code", "imports", "src/runtime/Native/NewReference.cs", "--of").stdout
    assert "src/runtime/Types/ClassBase.cs" in users
    assert "C# (" in page(project)
