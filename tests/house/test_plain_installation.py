"""A plain installation: the wheel and what it requires, without the extras.

The environment is real, and has links to the files of the required packages alone.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import git
from tests.house.conftest import run

MEGABYTE = 1_000_000
CPP = "int total(int a) { return a; }\nint twice(int a) { return total(a) + total(a); }\n"
Mem = Callable[..., "subprocess.CompletedProcess[str]"]


def _required(name: str, seen: dict[str, metadata.Distribution]) -> None:
    """Note a package and all that it requires, by their names."""
    for text in metadata.requires(name) or ():
        wanted = Requirement(text)
        key = re.sub(r"[-_.]+", "-", wanted.name).lower()
        is_wanted = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if is_wanted and key not in seen:
            seen[key] = metadata.distribution(key)
            _required(key, seen)


@pytest.fixture(scope="module")
def required() -> dict[str, metadata.Distribution]:
    """The packages that git-mem requires."""
    packages: dict[str, metadata.Distribution] = {}
    _required("git-mem", packages)
    return packages


def _parts(package: metadata.Distribution) -> Iterator[Path]:
    """Yield the modules, folders and data of a package, not its programs."""
    tops = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
    yield from (Path(str(package.locate_file(top))) for top in sorted(tops))


@pytest.fixture(scope="module")
def plain(
    wheel: Path,
    required: dict[str, metadata.Distribution],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """An environment with the wheel and what it requires."""
    root = tmp_path_factory.mktemp("plain") / "env"
    run(sys.executable, "-m", "venv", "--without-pip", root, cwd=wheel.parent)
    python = root / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pip += ["--python", str(python), "install", "--no-deps", "--no-index"]
    run(*pip, wheel, cwd=wheel.parent)
    (packages,) = (root / "lib").glob("python*/site-packages")
    for package in required.values():
        for path in _parts(package):
            (packages / path.name).symlink_to(path)
    return root


@pytest.fixture
def mem(plain: Path, tmp_path: Path) -> Mem:
    """`git mem` of the plain environment, in a repository with a file of C++ and one of Python."""
    repo = tmp_path / "repo"
    git(tmp_path, "init", "-q", "repo")
    (repo / "cart.cpp").write_text(CPP)
    (repo / "shop.py").write_text("def price():\n    return 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "shop")

    def call(*args: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(plain / "bin" / "git-mem"), *args],
            cwd=repo,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def _pip(plain: Path, extra: str) -> str:
    return f"uv pip install --python {plain / 'bin' / 'python'} 'git-mem[{extra}]'"  # it has no pip


def test_a_plain_installation_is_small(
    plain: Path, required: dict[str, metadata.Distribution]
) -> None:
    """It has at most 100 MB, to which an environment may add pip."""
    files = {file for folder in (plain / "lib").glob("python*") for file in folder.rglob("*")}
    files |= {
        Path(str(package.locate_file(file)))
        for package in required.values()
        for file in package.files or ()
    }
    size = sum(file.stat().st_size for file in files if file.is_file() and not file.is_symlink())

    assert 20 * MEGABYTE < size < 100 * MEGABYTE


def test_a_plain_installation_works(mem: Mem) -> None:
    """What everybody needs is there: facts, search, code, the checks of an installation."""
    assert mem("init").returncode == 0
    assert mem("add", "Prices are whole cents", "-t", "decision").returncode == 0

    assert "Prices are whole cents" in mem("search", "cents").stdout
    assert "price" in mem("code", "symbols", "shop.py").stdout
    assert "shop.py" in mem("scout", "the price is wrong").stdout
    assert "Traceback" not in mem("doctor").stderr


def test_code_says_which_extra_reads_a_language(mem: Mem, plain: Path) -> None:
    """In one line, while the other languages are read."""
    line = f"C++ is not read: the grammar is not installed. Install it: {_pip(plain, 'grammars')}"
    ranked = mem("code", "rank")
    scouted = mem("scout", "total of the cart")

    assert (ranked.returncode, scouted.returncode) == (0, 0)
    assert "shop.py" in ranked.stdout
    assert [line in " ".join(done.stderr.split()) for done in (ranked, scouted)] == [True, True]


def test_a_file_whose_language_is_not_read(mem: Mem) -> None:
    """Its name alone does not make it unknown, and it is not called generated."""
    done = mem("code", "symbols", "cart.cpp")

    assert done.returncode == 1
    assert "'cart.cpp' was not read: its grammar is not installed" in done.stderr
    assert "generated" not in mem("code", "dna", "show").stdout


def test_the_mcp_server_says_how_to_install_it(mem: Mem, plain: Path) -> None:
    """It ends with 1; the command is that of whatever installed git mem."""
    marks = {
        "pipx_metadata.json": "pipx inject --force env 'git-mem[mcp]'",
        "uv-receipt.toml": "uv tool install 'git-mem[mcp]'",
    }

    assert f"Install it: {_pip(plain, 'mcp')}" in " ".join(mem("mcp").stderr.split())
    for mark, command in marks.items():
        (plain / mark).touch()
        done = mem("mcp")
        (plain / mark).unlink()
        assert (done.returncode, done.stdout) == (1, "")
        assert f"Install it: {command}" in done.stderr


def test_no_client_is_told_to_start_a_server_that_cannot_run(mem: Mem) -> None:
    """`install --mcp` writes nothing, and says why."""
    done = mem("install", "cursor", "--mcp")

    assert done.returncode == 1
    assert "the MCP server cannot run: the package 'mcp' is not installed" in done.stderr
    assert "'git-mem[mcp]'" in done.stderr
    assert not (Path(os.environ["HOME"]) / ".cursor").exists()


def test_an_entry_for_a_server_that_cannot_run_is_broken(mem: Mem, plain: Path) -> None:
    """As after an installation that was made anew without the extra; doctor says so too."""
    settings = Path(os.environ["HOME"]) / ".cursor" / "mcp.json"
    entry = {"command": str(plain / "bin" / "git-mem"), "args": ["mcp"]}
    settings.parent.mkdir()
    settings.write_text(json.dumps({"mcpServers": {"git-mem": entry}}))
    (row,) = json.loads(mem("install", "--list", "--json").stdout)["data"]["installations"]

    assert (row["state"], row["reason"]) == ("broken", "the package 'mcp' is not installed")
    assert "the MCP settings of Cursor" in mem("doctor").stdout


def test_gemini_says_how_to_install_it(mem: Mem, plain: Path) -> None:
    """Where its key is there and its client is not."""
    mem("config", "--global", "summariser", "gemini")
    done = mem("model", "check", GEMINI_API_KEY="AIza-test")

    assert done.returncode == 1
    assert "google-genai, which asks Gemini, is not installed" in done.stderr + done.stdout
    assert _pip(plain, "gemini") in " ".join((done.stderr + done.stdout).split())


def test_a_query_for_a_language_that_is_not_read(mem: Mem, plain: Path) -> None:
    """A gotcha by a query of C++ names the extra."""
    mem("init")
    words = ["gotcha", "add", "Totals are in cents", "--query", "(call_expression) @here"]
    done = mem(*words, "--language", "cpp")

    assert done.returncode == 2
    assert _pip(plain, "grammars") in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "words",
    [
        ("code", "evolution", "cart.cpp:total"),
        ("why", "cart.cpp#total"),
        ("gotcha", "add", "Totals are in cents", "--anchor", "cart.cpp#total"),
        ("add", "Totals are in cents", "-t", "fact", "--verify", "symbol=total"),
    ],
    ids=lambda words: words[0],
)
def test_a_name_in_a_language_that_is_not_read(mem: Mem, plain: Path, words: list[str]) -> None:
    """It is not said to be missing: the command names the extra."""
    mem("init")
    done = mem(*words)
    said = " ".join(done.stderr.split())

    assert done.returncode in {1, 2}
    assert f"Install it: {_pip(plain, 'grammars')}" in said
    assert not re.search("defines no|has no|nothing defines|is known in", said.lower())
