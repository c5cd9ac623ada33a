"""What a stranger gets: a wheel built from the tree, installed into a fresh environment, run from another folder."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from gitmem import __version__
from gitmem.agents.claude import ADAPTER
from gitmem.codemap.grammars import GRAMMARS, OPTIONAL
from gitmem.install.hook_command import shared
from tests.conftest import git
from tests.house.conftest import ROOT, git_mem, run

SHIPPED = ("completion", "git-hooks", "agent-hooks", "nvim", "setup", "vscode")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies are those of the running one, so no network is needed."""
    root = tmp_path_factory.mktemp("fresh") / "env"
    run(sys.executable, "-m", "venv", "--without-pip", root, cwd=wheel.parent)
    run(
        sys.executable,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "--python",
        root / "bin" / "python",
        "install",
        "--no-deps",
        "--no-index",
        wheel,
        cwd=wheel.parent,
    )
    (packages,) = (root / "lib").glob("python*/site-packages")
    # .pth files in a folder that is named by one are not read: an editable install stays out of
    # sight
    (packages / "dependencies.pth").write_text(
        "\n".join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}) + "\n"
    )
    return root


def test_the_wheel_has_all_that_ships_beside_the_code(wheel: Path) -> None:
    """Each file of the shipped folders, the man page and the completions are in it; nothing of the tests is."""
    names = zipfile.ZipFile(wheel).namelist()
    base = f"git_mem-{__version__}"
    beside = {
        f"gitmem/_shipped/{part}/{path.relative_to(folder).as_posix()}"
        for part, folder in (
            ("completion", ROOT / "docs" / "completion"),
            ("git-hooks", ROOT / "git-hooks"),
            ("agent-hooks", ROOT / "agent-hooks"),
            ("nvim", ROOT / "lsp" / "nvim"),
            ("setup", ROOT / "lsp" / "setup"),
            ("vscode", ROOT / "lsp" / "vscode"),
        )
        for path in folder.rglob("*")
        if path.is_file()
        and not {"node_modules", "dist"} & set(path.parts)
        and path.suffix != ".vsix"
    }
    shared = {
        "man/man1/git-mem.1",
        "bash-completion/completions/git-mem",
        "fish/vendor_completions.d/git-mem.fish",
        "zsh/site-functions/_git-mem",
    }

    assert beside <= set(names)
    assert {f"{base}.data/data/share/{path}" for path in shared} <= set(names)
    assert {name.split("/")[0] for name in names} == {
        "gitmem",
        "gitmem_lsp",
        f"{base}.data",
        f"{base}.dist-info",
    }
    assert f"{base}.dist-info/licenses/LICENSE" in names


def test_no_dependency_is_asked_for_that_is_not_used(wheel: Path) -> None:
    """What the wheel requires is what the code imports, and no more."""
    metadata = zipfile.ZipFile(wheel).read(f"git_mem-{__version__}.dist-info/METADATA").decode()
    asked = set(re.findall(r"^Requires-Dist: ([A-Za-z0-9-]+)[^;\n]*$", metadata, re.MULTILINE))
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for root in ("gitmem", "lsp")
        for path in (ROOT / root).rglob("*.py")
    )
    modules = {
        "click": "click",
        "detect-secrets": "detect_secrets",
        "google-re2": "re2",
        "lsprotocol": "lsprotocol",
        "packaging": "packaging",
        "pygit2": "pygit2",
        "pygls": "pygls",
        "python-frontmatter": "frontmatter",
        "pyyaml": "yaml",
        "snowballstemmer": "snowballstemmer",
        "tree-sitter": "tree_sitter",
        **{
            f"tree-sitter-{x}": f"tree_sitter_{x}"
            for x in "c go java javascript json python rust typescript".split()
        },
        "watchdog": "watchdog",
    }

    assert {name.lower() for name in asked} == set(modules)
    assert [
        module
        for module in modules.values()
        if f"import {module}" not in code
        and f"from {module}" not in code
        and f'"{module}.' not in code
        and f'"{module}"' not in code
    ] == []


def test_what_not_everybody_needs_is_an_extra(wheel: Path) -> None:
    """It is not installed unless it is asked for; `all` is the three of them."""
    metadata = zipfile.ZipFile(wheel).read(f"git_mem-{__version__}.dist-info/METADATA").decode()
    optional = re.findall(
        r"^Requires-Dist: ([A-Za-z0-9-]+)[^;\n]*; extra == '(\w+)'$", metadata, re.MULTILINE
    )
    wheels = {GRAMMARS[language][0].replace("_", "-") for language in OPTIONAL}

    assert {name for name, extra in optional if extra == "mcp"} == {"mcp"}
    assert {name for name, extra in optional if extra == "gemini"} == {"google-genai"}
    assert {name for name, extra in optional if extra == "grammars"} == wheels
    every = {name for name, extra in optional if extra in {"gemini", "grammars", "mcp"}}
    assert {name for name, extra in optional if extra == "all"} == every


def test_one_module_imports_the_sdk_of_mcp() -> None:
    """All else runs without it."""
    imports = re.compile(r"^\s*(?:from|import) mcp\b", re.MULTILINE)
    importers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "gitmem").rglob("*.py")
        if imports.search(path.read_text(encoding="utf-8"))
    ]

    assert importers == ["gitmem/mcp/server.py"]


def test_the_wheel_is_small(wheel: Path) -> None:
    """With the package of VS Code, 0.13 MB, which a release has besides, it is below 3 MB."""
    assert wheel.stat().st_size < 2_850_000


def test_an_installed_git_mem_works_from_another_folder(installed: Path, tmp_path: Path) -> None:
    """A stranger's first minute, by git's own `git mem`."""
    path = f"{installed / 'bin'}{os.pathsep}{os.environ['PATH']}"
    git(tmp_path, "init", "-q", "repo")
    repo = tmp_path / "repo"

    assert run("git", "mem", "--version", cwd=repo, PATH=path) == f"git-mem version {__version__}\n"
    assert "refs/gitmem/heads/main" in run("git", "mem", "init", cwd=repo, PATH=path)
    run("git", "mem", "add", "it works from a wheel", "-t", "decision", cwd=repo, PATH=path)
    assert "it works from a wheel" in run("git", "mem", "list", cwd=repo, PATH=path)
    assert "it works from a wheel" in run("git", "mem", "search", "wheel", cwd=repo, PATH=path)
    assert run("git-mem-lsp", "--version", cwd=repo, PATH=path) == f"git-mem-lsp {__version__}\n"


def test_an_installed_git_mem_uses_its_own_code_and_files(installed: Path, tmp_path: Path) -> None:
    """Nothing is taken from the checkout; each shipped folder is found."""
    folders = "".join(f", s.folder({name!r})" for name in SHIPPED)
    program = f"import gitmem, gitmem_lsp, gitmem.base.resources as s; print(gitmem.__file__, gitmem_lsp.__file__{folders})"
    found = [
        Path(p) for p in run(installed / "bin" / "python", "-c", program, cwd=tmp_path).split()
    ]

    assert len(found) == 2 + len(SHIPPED)
    assert [p for p in found if not p.is_relative_to(installed)] == []


@pytest.mark.parametrize(
    ("shell", "file"), [("bash", "git-mem.bash"), ("zsh", "_git-mem"), ("fish", "git-mem.fish")]
)
def test_an_installed_git_mem_prints_its_completions(
    shell: str, file: str, installed: Path, tmp_path: Path
) -> None:
    """Also outside of a repository."""
    printed = run(installed / "bin" / "git-mem", "completion", shell, cwd=tmp_path)

    assert printed == (ROOT / "docs" / "completion" / file).read_text(encoding="utf-8")


def test_an_installed_man_page_is_found(installed: Path, tmp_path: Path) -> None:
    """It is where man looks for a program of this environment, so `git mem --help` shows it."""
    page = installed / "share" / "man" / "man1" / "git-mem.1"
    assert len(list(page.parent.glob("git-mem*.1"))) > 100

    assert page.read_bytes() == (ROOT / "docs" / "man" / "git-mem.1").read_bytes()
    if shutil.which("man"):
        shown = run(
            "git",
            "mem",
            "--help",
            cwd=tmp_path,
            PATH=f"{installed / 'bin'}{os.pathsep}{os.environ['PATH']}",
            MANPAGER="cat",
            MANWIDTH="100",
        )
        assert re.search(r"git-mem +\S +A memory for coding agents and people", shown)


def test_the_printed_settings_name_each_event_that_is_understood() -> None:
    """The block for Claude Code calls the hook for the events that need it, no more and no less."""
    block = json.loads(git_mem("hook", "claude", "--settings"))
    calls = [hook for rows in block["hooks"].values() for row in rows for hook in row["hooks"]]

    assert set(block["hooks"]) == set(ADAPTER.events) - set(ADAPTER.settings.unasked)
    assert {(hook["type"], hook["command"]) for hook in calls} == {
        ("command", shared().hook("claude"))
    }


def test_the_printed_settingsrun(repo: Path) -> None:
    """A settings file's command, run as the agent runs it, answers a session's start."""
    block = json.loads(git_mem("hook", "claude", "--settings"))
    command = block["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    subprocess.run(
        ["git-mem", "add", "pinned for the start"], cwd=repo, check=True, capture_output=True
    )
    id = subprocess.run(
        ["git-mem", "list", "--format", "{id}"],
        cwd=repo,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    subprocess.run(["git-mem", "pin", id], cwd=repo, check=True, capture_output=True)
    # a hook reads the index as it is
    subprocess.run(["git-mem", "list"], cwd=repo, check=True, capture_output=True)
    payload = json.dumps(
        {
            "hook_event_name": "SessionStart",
            "session_id": "s1",
            "cwd": str(repo),
            "source": "startup",
        }
    )
    done = subprocess.run(
        ["sh", "-c", command], input=payload, cwd=repo, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0
    assert (
        "pinned for the start" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    )
