"""The packages for agents' CLIs: made from their sources, and what they say can be done."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitmem import __version__
from gitmem.agents import adapter
from gitmem.agents.events import ADAPTERS
from gitmem.install.hook_command import shared
from tests.conftest import git
from tests.house.conftest import ROOT, git_mem
from tests.house.quoted import filled, quoted
from tests.json_output import data_of

HOOKS = ROOT / "agent-hooks"
CLAUDE, GEMINI, READERS = PACKAGES = HOOKS / "claude", HOOKS / "gemini", HOOKS / "agents-md"
NAMES = ("gotcha", "mem", "recall", "snapshot")


def _head(path: Path) -> tuple[dict[str, Any], str]:
    """Return the front matter of a file, and what follows."""
    empty, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    assert empty == ""
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found, body


def _all_quoted() -> list[str]:
    texts = [
        path.read_text(encoding="utf-8")
        for folder in PACKAGES
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return sorted({line for text in texts for line in quoted(text) if line.startswith("git mem ")})


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a gotcha and two memories, to be copied."""
    repo = tmp_path_factory.mktemp("learned") / "repo"
    git(repo.parent, "init", "-q", str(repo))
    (repo / "a.py").write_text("x = 1\n")
    git(repo, "add", "a.py")
    git(repo, "commit", "-qm", "first")
    git_mem("gotcha", "add", "Totals are in cents", "--anchor", "a.py:1", cwd=repo)
    git_mem("add", "Prices are integers", "--anchor", "a.py", cwd=repo)
    git_mem("add", "Taxes are rounded once", cwd=repo)
    return repo


def test_the_packages_are_what_their_sources_make(tmp_path: Path) -> None:
    """Byte by byte; `make packages` mends it."""
    subprocess.run([sys.executable, ROOT / "scripts" / "make_packages.py", tmp_path], check=True)
    made = {
        path.relative_to(tmp_path): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    folders = (CLAUDE, GEMINI, READERS, HOOKS / ".claude-plugin", ROOT / ".claude-plugin")
    there = {
        path.relative_to(ROOT): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    }

    assert sorted(made) == sorted(there)
    assert [str(name) for name in made if made[name] != there[name]] == []


@pytest.mark.parametrize("agent", ["claude", "gemini"])
def test_a_package_has_the_hooks_that_install_writes(agent: str, repo: Path) -> None:
    """Into an empty file, for everybody who uses the repository."""
    packed = json.loads((HOOKS / agent / "hooks" / "hooks.json").read_text(encoding="utf-8"))
    git_mem("install", agent, "--project", cwd=repo)
    written = json.loads((repo / adapter.find(agent).settings.project).read_text(encoding="utf-8"))

    assert packed == {"hooks": written["hooks"]}
    assert shared().hook(agent) in json.dumps(packed, ensure_ascii=False).replace('\\"', '"')


@pytest.mark.parametrize("agent", ADAPTERS)
def test_the_printed_settings_are_those_that_install_writes(
    agent: str, repo: Path, tmp_path: Path
) -> None:
    """Into nothing, for everybody who uses the repository; they are printed outside of one too."""
    git_mem("install", agent, "--project", cwd=repo)

    assert git_mem("hook", agent, "--settings", cwd=tmp_path) == (
        repo / adapter.find(agent).settings.project
    ).read_text(encoding="utf-8")


@pytest.mark.parametrize("agent", ADAPTERS)
def test_the_package_of_an_agent_is_found(agent: str, tmp_path: Path) -> None:
    """A marketplace, an extension, or a section for AGENTS.md."""
    names = {"claude": ".claude-plugin/marketplace.json", "gemini": "gemini-extension.json"}

    assert (
        Path(git_mem("hook", agent, "--package", cwd=tmp_path).strip())
        / names.get(agent, "AGENTS.md")
    ).is_file()


def test_all_packages_have_the_version_of_the_program() -> None:
    """And one name, by which the marketplaces find the plugin that is beside them."""
    manifest = json.loads((CLAUDE / ".claude-plugin" / "plugin.json").read_text(encoding="utf-8"))
    extension = json.loads((GEMINI / "gemini-extension.json").read_text(encoding="utf-8"))

    assert {(item["name"], item["version"]) for item in (manifest, extension)} == {
        ("git-mem", __version__)
    }
    for root in (ROOT, HOOKS):
        market = json.loads(
            (root / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8")
        )
        (entry,) = market["plugins"]
        assert (entry["name"], entry["version"]) == ("git-mem", __version__)
        assert (root / entry["source"]).resolve() == CLAUDE


def test_the_skill_can_be_found_and_read() -> None:
    """Its head is what CLIs ask for: a name as its folder's, a description that fits; all packages have the same."""
    head, _ = _head(CLAUDE / "skills" / "git-mem" / "SKILL.md")

    assert set(head) == {"name", "description"}
    assert head["name"] == "git-mem"
    assert 100 < len(head["description"]) <= 1024
    for name in ("SKILL.md", "reference.md"):
        texts = {(folder / "skills" / "git-mem" / name).read_bytes() for folder in PACKAGES}
        assert len(texts) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_command_says_the_same_to_both(name: str) -> None:
    """In the form of each: front matter and `$ARGUMENTS`, TOML and `{{args}}`."""
    head, body = _head(CLAUDE / "commands" / f"{name}.md")
    toml = tomllib.loads((GEMINI / "commands" / f"{name}.toml").read_text(encoding="utf-8"))

    assert set(head) == {"description", "argument-hint", "allowed-tools"}
    assert set(toml) == {"description", "prompt"}
    assert toml["description"] == head["description"]
    assert toml["prompt"] == body.lstrip("\n").replace("$ARGUMENTS", "{{args}}")
    assert body.count("$ARGUMENTS") == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_command_may_run_what_it_names_and_nothing_else(name: str) -> None:
    """Claude Code asks its user for anything beyond that."""
    head, body = _head(CLAUDE / "commands" / f"{name}.md")
    allowed = set(
        re.findall(r"Bash\(git ((?:mem )?[a-z-]+(?: [a-z]+)?):\*\)", head["allowed-tools"])
    )
    lines = [line.split() for line in quoted(body)]
    # of pages and snapshots only what changes no file
    named = {
        " ".join(words[1 : 4 if words[2] in {"page", "snapshot"} else 3])
        if words[1] == "mem"
        else words[1]
        for words in lines
    }

    assert head["allowed-tools"].count("Bash(") == len(allowed)
    assert named == allowed
    assert not {"mem forget", "mem sync", "mem uninstall"} & allowed


def test_there_are_no_other_commands() -> None:
    """In neither package."""
    assert sorted(path.stem for path in (CLAUDE / "commands").iterdir()) == sorted(NAMES)
    assert sorted(path.stem for path in (GEMINI / "commands").iterdir()) == sorted(NAMES)


def test_readers_of_agents_md_get_a_section_between_marks() -> None:
    """The same text as Gemini CLI's context, short enough to be a part of each session."""
    first, *lines, last = (READERS / "AGENTS.md").read_text(encoding="utf-8").splitlines()

    assert (first, last) == ("<!-- git-mem: begin -->", "<!-- git-mem: end -->")
    assert "\n".join(lines) + "\n" == (GEMINI / "GEMINI.md").read_text(encoding="utf-8")
    assert sum(map(len, lines)) < 2000


def test_commands_are_found_in_the_texts() -> None:
    """In blocks, in blocks with a text of several lines, and in running text."""
    text = "Say `git mem show ID`, or\n\n```sh\ngit mem status\ngit mem add X -m - <<'END'\nline\nEND\ngit mem list\n```\n"

    assert list(quoted(text)) == [
        "git mem status",
        "git mem add X -m - <<'END'\nline\nEND",
        "git mem list",
        "git mem show ID",
    ]
    assert len(_all_quoted()) > 30


@pytest.mark.parametrize("line", _all_quoted())
def test_each_command_that_a_package_names_can_be_run(
    line: str, learned: Path, tmp_path: Path
) -> None:
    """As it stands, with words in place of the capitals."""
    repo = tmp_path / "repo"
    shutil.copytree(learned, repo, symlinks=True)
    kind = "gotcha" if {"gotcha", "--workaround"} & set(line.split()) else "memory"
    ids = git_mem("list", "--kind", kind, "--format", "{id}", cwd=repo).split()
    words = {"ID": ids[0], "OTHER": ids[-1]}
    if "reopen" in line:
        git_mem("gotcha", "resolve", ids[0], cwd=repo)
    if "restore" in line:
        git_mem("archive", ids[0], cwd=repo)
    if line.startswith("git mem snapshot"):
        (repo / "work-in-hand.txt").write_text("new\n")
        git_mem("snapshot", "save", cwd=repo)
    env = dict(os.environ)
    if line.startswith("git mem session "):
        env["GITMEM_SESSION"] = data_of(git_mem("session", "start", "--json", cwd=repo))["id"]
    if line.startswith("git mem done"):
        added = git_mem("add", "Write it down", "-t", "task", "--json", cwd=repo)
        words["ID"] = data_of(added)["id"]
    # what a README tells people to do needs a remote or a terminal: it is enough that its help has
    # it
    alone = {
        "git mem forget --purge",
        "git mem sync",
        "git mem forget",
        "git mem uninstall --wipe",
        "git mem add",
    }
    command = f"{line} --help" if line in alone else filled(line, words)
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=repo,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
