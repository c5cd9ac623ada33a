"""VS Code proper: code-server with the packaged extension, driven in Chromium. Not part of a plain run: `make test-vscode`."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.editors.conftest import CODE, OTHER, TITLE, WORKAROUND, missing
from tests.editors.pages import blocks, commands
from tests.vscode import tools

HERE = Path(__file__).parent
OTHER_FILES = {
    "ship.go": "package shop\n\n// Ship sends\nfunc Ship(days int) int {\n\treturn days + 1\n}\n",
    "parse.rs": "fn parse(text: &str) -> u32 {\n    text.len() as u32\n}\n",
    "data.json": '{\n  "rate": 19\n}\n',
}
OTHER_GOTCHAS = {
    "Ships on Mondays": "ship.go:4",
    "Counts bytes": "parse.rs:2",
    "Rates are percents": "data.json:2",
}
DEADLINE = 600.0  # seconds for the whole drive; a slow machine, not a budget
SETTINGS = {
    "chat.disableAIFeatures": True,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.enableExperiments": False,
    "workbench.layoutControl.enabled": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.colorTheme": "Default Dark Modern",
    "window.commandCenter": False,
    "files.autoSave": "afterDelay",
    "files.autoSaveDelay": 1000,
    "telemetry.telemetryLevel": "off",
    "editor.minimap.enabled": False,
    "editor.fontSize": 14,
    "extensions.ignoreRecommendations": True,
    "update.mode": "none",
    "git.openRepositoryInParentFolders": "never",
}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Collect these only when they are named: they install a gigabyte."""
    named = any(
        "tests/vscode" in Path(str(arg)).as_posix() for arg in config.invocation_params.args
    )
    return None if named else True


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where the screenshots go, to be looked at."""
    folder = tools.CACHE / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.png"):
        path.unlink()
    return folder


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory, pictures: Path) -> dict[str, Any]:
    """One run of VS Code through all steps; what it saw, and the repository after it."""
    if not tools.VSIX.is_file() or not tools.code_server().exists():
        missing("code-server with the extension (`make test-vscode` installs them)")
    browser = tools.chromium() or missing("Chromium")
    root = tmp_path_factory.mktemp("vscode")
    home = root / "home"
    home.mkdir()
    env = environment(home)
    repo = make_repository(root, env)
    plain = root / "plain 100% #1 😋"
    make_plain(plain)
    library = root / "library.py"
    library.write_text("# a library\n", encoding="utf-8")
    cell = {"cell_type": "code", "source": ["sum_of_cells = 1"], "metadata": {}, "outputs": []}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (root / "note.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    options = {
        "library": str(library),
        "repo": str(repo),
        "plain": str(plain),
        "pictures": str(pictures),
        "chromium": browser,
        "python": sys.executable,
        "starts": str(home / "starts"),
        "env": env,
        "playwright": str(tools.CACHE / "driver" / "node_modules" / "playwright-core"),
    }
    steps = [
        "empty",
        "born",
        "open",
        "squiggles",
        "view",
        "lens",
        "hover",
        "problems",
        "gutter",
        "currentLine",
        "steps",
        "marks",
        "languages",
        "panel",
        "foreign",
        "draft",
        "reveal",
        "show",
        "resolve",
        "elsewhere",
        "record",
        "snooze",
        "uses",
        "dashboard",
        "settings",
        "missing",
        "refused",
        "found",
    ]
    doubted = drive(
        root / "doubted",
        repo,
        env,
        {**options, "steps": ["doubt", "trust"]},
        {"security.workspace.trust.startupPrompt": "never"},
    )
    seen = drive(
        root / "trusted",
        repo,
        env,
        {**options, "steps": steps},
        {"security.workspace.trust.enabled": False},
    )
    failed = {"failed": doubted["failed"]} if "failed" in doubted else {}
    return {
        **doubted,
        **seen,
        **failed,
        "steps": {**doubted["steps"], **seen["steps"]},
        "repo": repo,
        "env": env,
    }


def drive(
    root: Path, repo: Path, env: dict[str, str], options: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """Run VS Code through some steps; return what was seen."""
    root.mkdir()
    out, given = root / "seen.json", root / "options.json"
    with code_server(root, repo, env, settings) as url:
        own = {
            "url": url,
            "out": str(out),
            "settings": str(root / "data" / "Machine" / "settings.json"),
        }
        given.write_text(json.dumps({**options, **own}), encoding="utf-8")
        node = tools.node_home() / "bin" / "node"
        done = subprocess.run(
            [node, HERE / "driver.cjs", given],
            env=env,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
    assert out.is_file(), f"the driver wrote nothing: {done.stdout}{done.stderr}"
    seen: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    print(json.dumps(seen["steps"]))
    return seen


def environment(home: Path) -> dict[str, str]:
    """Return an environment with a fresh home, Node 24, and this tree's git-mem, whose server notes each start."""
    kept = {
        key: value
        for key, value in tools.environment().items()
        if not key.startswith(("GIT", "XDG_", "npm_", "VSCODE"))
    }
    config = home / "gitconfig"
    config.touch()
    server = home / "bin" / "git-mem-lsp"
    server.parent.mkdir()
    server.write_text(
        f"#!/bin/sh\necho started >> '{home / 'starts'}'\nexec '{Path(sys.executable).parent / server.name}' \"$@\"\n",
        encoding="utf-8",
    )
    server.chmod(0o755)
    (home / "starts").touch()
    path = os.pathsep.join([str(server.parent), str(Path(sys.executable).parent), kept["PATH"]])
    person = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    # the extensions' environment is the one of a login shell
    (home / ".profile").write_text(f"export PATH='{path}'\n", encoding="utf-8")
    return {
        **kept,
        **person,
        "SHELL": "/bin/sh",
        "PATH": path,
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(config),
        "LC_ALL": "C.UTF-8",
    }


def make_repository(root: Path, env: dict[str, str]) -> Path:
    """Make a repository with two gotchas about one file, and one about each of three others."""
    repo = root / "shop"
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / "pay.py").write_text(CODE, encoding="utf-8")
    (repo / "shop.py").write_text("from pay import total\n\nprint(total([]))\n", encoding="utf-8")
    (repo / "README.md").write_text("# Shop\n", encoding="utf-8")
    for name, text in OTHER_FILES.items():
        (repo / name).write_text(text, encoding="utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "pay")
    for title, place in OTHER_GOTCHAS.items():
        mem(repo, env, "add", "-k", "gotcha", title, "--anchor", place, "--severity", "info")
    mem(
        repo,
        env,
        "add",
        "-k",
        "gotcha",
        TITLE,
        "--anchor",
        "pay.py:5",
        "--workaround",
        WORKAROUND,
        "--severity",
        "warning",
    )
    mem(
        repo,
        env,
        "add",
        "-k",
        "gotcha",
        OTHER,
        "--anchor",
        "pay.py:10",
        "--severity",
        "critical",
        "-m",
        "Two refunds ran at once.",
    )
    return repo


def make_plain(repo: Path) -> None:
    """Make a repository that has no store."""
    repo.mkdir()
    git(repo, "init", "-q")
    (repo / "pay.py").write_text(CODE, encoding="utf-8")


def mem(repo: Path, env: dict[str, str], *args: str) -> str:
    """Run `git mem` in a repository."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args],
        cwd=repo,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"git mem {args}: {done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def code_server(
    root: Path, repo: Path, env: dict[str, str], settings: dict[str, Any]
) -> Iterator[str]:
    """Run code-server with the extension on a free port; yield the address of the repository in it. All its processes end."""
    data, extensions, log = root / "data", root / "extensions", root / "code-server.log"
    (data / "User").mkdir(parents=True)
    (data / "Machine").mkdir()
    # where settings of this machine are, as `gitmem.path`
    (data / "Machine" / "settings.json").write_text("{}", encoding="utf-8")
    (data / "User" / "settings.json").write_text(
        json.dumps({**SETTINGS, **settings}), encoding="utf-8"
    )
    base = [
        str(tools.code_server()),
        "--user-data-dir",
        str(data),
        "--extensions-dir",
        str(extensions),
    ]
    install(root, env, base)
    quiet = [
        "--auth",
        "none",
        "--disable-telemetry",
        "--disable-update-check",
        "--disable-getting-started-override",
    ]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*base, *quiet, "--bind-addr", "127.0.0.1:0", str(repo)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield listening(server, log)
    finally:
        end(server)


def install(root: Path, env: dict[str, str], code: list[str]) -> None:
    """Install the extension as docs/editors/vscode.md says, in a checkout that was not built."""
    checkout, bin = root / "checkout", root / "bin"
    for name in git(tools.ROOT, "ls-files", "-z", "Makefile", "gitmem", "lsp").split("\0"):
        if name:
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tools.ROOT / name, checkout / name)
    # what `npm install` would fetch is what was fetched already
    (checkout / "lsp" / "vscode" / "node_modules").symlink_to(
        tools.CACHE / "extension" / "node_modules"
    )
    bin.mkdir()
    (bin / "code").write_text(f'#!/bin/sh\nexec {shlex.join(code)} "$@"\n', encoding="utf-8")
    (bin / "code").chmod(0o755)
    here = {
        **env,
        "PATH": f"{bin}{os.pathsep}{env['PATH']}",
        "PYTHONPATH": f"{checkout}{os.pathsep}{checkout / 'lsp'}",
    }
    build, ask = blocks("vscode.md", "console")
    for command in commands(build):
        type_in(command, checkout, here)
    (command,) = commands(ask)
    printed = type_in(command, checkout, here)
    assert printed.startswith("code --install-extension ") and str(checkout) in printed


def type_in(command: str, folder: Path, env: dict[str, str]) -> str:
    """Run what a page has a person type; return what it printed."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def listening(server: "subprocess.Popen[bytes]", log: Path) -> str:
    """Wait until code-server says where it listens."""
    for _ in range(1200):
        said = log.read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"HTTP server listening on (http://127\.0\.0\.1:\d+)", said):
            return found[1]
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    pytest.fail(f"code-server does not listen: {log.read_text(encoding='utf-8', errors='replace')}")


def end(server: "subprocess.Popen[bytes]") -> None:
    """End code-server and all that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, sign)
            server.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
