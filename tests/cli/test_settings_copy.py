"""The copy of the settings: it saves a call of git, and never says what git would not say."""

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from tests.cli.conftest import Mem, on_terminal
from tests.conftest import git


@pytest.fixture
def user_file(mem: Mem) -> Path:
    """The user's configuration file."""
    mem("init", "--no-remote")
    return Path(os.environ["GIT_CONFIG_GLOBAL"])


def agent_of(mem: Mem, **env: str) -> str:
    """Return the namespace that is configured."""
    return str(mem("config", "agent", "--json", env=env).json["value"])


def copy_of(mem: Mem) -> Path:
    """Return where the copy is."""
    return mem.folder / ".git/gitmem/settings.json"


# -- included files


def test_relative_includes_do_not_multiply(mem: Mem, user_file: Path) -> None:
    """A name is looked up beside the file that names it, and nowhere else."""
    for number in range(6):
        git(mem.folder, "config", "--global", "--add", "include.path", f"d{number}/f.inc")
    nested = user_file.parent / "d3"
    nested.mkdir()
    (nested / "f.inc").write_text("[include]\n\tpath = e/g.inc\n")

    assert agent_of(mem) == ""
    assert copy_of(mem).stat().st_size < 5_000
    (nested / "e").mkdir()
    (nested / "e/g.inc").write_text("[gitmem]\n\tagent = ada\n")
    assert agent_of(mem) == "ada"


def test_of_too_many_files_no_copy_is_kept(mem: Mem, user_file: Path) -> None:
    """Git is asked each time instead."""
    names = "".join(f"\tpath = f{number}.inc\n" for number in range(300))
    agent_of(mem)
    assert copy_of(mem).exists()
    user_file.write_text(f"[include]\n{names}")

    assert agent_of(mem) == ""
    assert not copy_of(mem).exists()
    (user_file.parent / "f299.inc").write_text("[gitmem]\n\tagent = ada\n")
    assert agent_of(mem) == "ada"


def test_a_copy_too_large_to_read_is_not_kept(mem: Mem, user_file: Path) -> None:
    """Nor is one believed that an earlier version left."""
    patterns = "".join(f"\tignore = {'x' * 60}{number}\n" for number in range(9_000))
    user_file.write_text(f"[gitmem]\n{patterns}\tagent = ada\n")

    assert agent_of(mem) == "ada"
    assert not copy_of(mem).exists()
    copy_of(mem).write_text("[" * 3_000_000)
    assert agent_of(mem) == "ada"


# -- where git looks for files


def test_a_file_in_the_users_home_is_followed(mem: Mem, user_file: Path, tmp_path: Path) -> None:
    """`~` is the home of the environment."""
    git(mem.folder, "config", "include.path", "~/more.inc")
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()
        (home / "more.inc").write_text(f"[gitmem]\n\tagent = {home.name}\n")
    assert [agent_of(mem, HOME=str(home)) for home in homes] == ["one", "two"]
    (homes[1] / "more.inc").write_text("[gitmem]\n\tagent = three\n")
    assert agent_of(mem, HOME=str(homes[1])) == "three"


def test_the_environment_that_git_obeys_counts(
    mem: Mem, user_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that was made under other variables is no answer."""
    files = {name: tmp_path / f"{name}.inc" for name in ("system", "user")}
    for name, path in files.items():
        path.write_text(f"[gitmem]\n\tagent = {name}\n")
    config = tmp_path / "xdg/git/config"
    config.parent.mkdir(parents=True)
    config.write_text("[gitmem]\n\tagent = xdg\n")
    system = {"GIT_CONFIG_SYSTEM": str(files["system"])}

    assert agent_of(mem, **system, GIT_CONFIG_NOSYSTEM="0") == "system"
    assert agent_of(mem, **system, GIT_CONFIG_NOSYSTEM="1") == ""
    assert agent_of(mem, **system, GIT_CONFIG_NOSYSTEM="0") == "system"
    assert agent_of(mem, GIT_CONFIG_NOSYSTEM="0", GIT_CONFIG_SYSTEM="") == ""
    assert agent_of(mem, GIT_CONFIG_GLOBAL=str(files["user"])) == "user"
    assert agent_of(mem, GIT_CONFIG_GLOBAL="") == ""
    (Path(os.environ["HOME"]) / ".gitconfig").write_text("[gitmem]\n\tagent = home\n")
    assert agent_of(mem, GIT_CONFIG_GLOBAL="") == ""
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    assert agent_of(mem) == "home"
    (Path(os.environ["HOME"]) / ".gitconfig").unlink()
    assert agent_of(mem) == ""
    assert agent_of(mem, XDG_CONFIG_HOME=str(tmp_path / "xdg")) == "xdg"


def test_the_system_file_of_another_installation_is_followed(
    mem: Mem, user_file: Path, tmp_path: Path
) -> None:
    """Such a git has it in its own folder, and it may be made later."""
    system, program = tmp_path / "own/etc/gitconfig", tmp_path / "own/bin/git"
    elsewhere = tmp_path / "elsewhere"
    for path in (system, program):
        path.parent.mkdir(parents=True)

    def answer(file: Path) -> str:
        program.write_text(
            f'#!/bin/sh\nGIT_CONFIG_NOSYSTEM=0 GIT_CONFIG_SYSTEM="{file}" exec {which("git")} "$@"\n'
        )
        program.chmod(0o755)
        return agent_of(mem, PATH=f"{program.parent}:{os.environ['PATH']}")

    assert answer(system) == ""
    system.write_text("[gitmem]\n\tagent = ada\n")
    assert answer(system) == "ada"
    elsewhere.write_text("[gitmem]\n\tagent = bob\n")
    system.unlink()
    assert answer(elsewhere) == "bob"
    elsewhere.write_text("[gitmem]\n\tagent = eve\n")
    assert answer(elsewhere) == "eve"


# -- conditions


@pytest.fixture
def included(mem: Mem, user_file: Path) -> Path:
    """A file that a condition may include."""
    path = user_file.parent / "more.inc"
    path.write_text("[gitmem]\n\tagent = ada\n")
    return path


def test_a_remote_decides(mem: Mem, included: Path) -> None:
    """`hasconfig:remote.*.url:` follows the remotes."""
    condition = "includeIf.hasconfig:remote.*.url:https://example.org/**.path"
    git(mem.folder, "config", "--global", condition, included.name)

    assert agent_of(mem) == ""
    git(mem.folder, "config", "remote.team.url", "https://example.org/team")
    assert agent_of(mem) == "ada"
    git(mem.folder, "config", "remote.team.url", "https://example.com/team")
    assert agent_of(mem) == ""


def test_the_place_of_the_repository_decides(mem: Mem, included: Path, tmp_path: Path) -> None:
    """`gitdir:` means the place behind links, too."""
    parent, moved = mem.folder.parent, mem.folder.parent.with_name("moved")
    git(mem.folder, "config", "--global", f"includeIf.gitdir:{moved}/.path", included.name)
    link = tmp_path / "link"
    link.symlink_to(mem.folder)
    named = {"GIT_DIR": str(link / ".git")}
    assert agent_of(mem.at(tmp_path), **named) == ""
    parent.rename(moved)
    link.unlink()
    link.symlink_to(moved / mem.folder.name)

    try:
        assert agent_of(mem.at(tmp_path), **named) == "ada"
    finally:
        moved.rename(parent)


@pytest.mark.parametrize("condition", ["onbranch:topic", "weather:fine"])
def test_what_only_git_can_say_is_in_no_copy(mem: Mem, included: Path, condition: str) -> None:
    """The branch of a reftable has no file, and git may learn other conditions."""
    assert agent_of(mem) == ""
    assert copy_of(mem).exists()
    (mem.folder / ".git/reftable").mkdir()
    git(mem.folder, "config", "--global", f"includeIf.{condition}.path", included.name)

    assert agent_of(mem) == ""
    assert not copy_of(mem).exists()


# -- what names a program


@pytest.fixture
def git_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where each call of git leaves a line."""
    log, program = tmp_path / "git.log", tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec {which("git")} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return log


def test_a_list_on_a_terminal_asks_git_nothing(mem: Mem, user_file: Path, git_calls: Path) -> None:
    """That no pager is set is known from the copy."""
    mem("add", "One fact")
    mem("list")
    git_calls.unlink()
    assert "One fact" in on_terminal(mem.folder, "list", env={"PAGER": "cat"})
    assert not git_calls.exists()

    git(mem.folder, "config", "--global", "core.pager", "sed s/^/PAGED:/")
    for _ in range(2):
        assert "PAGED:" in on_terminal(mem.folder, "list", env={"PAGER": "cat"})


def test_a_copy_that_a_stranger_wrote_runs_nothing(
    mem: Mem, user_file: Path, tmp_path: Path
) -> None:
    """A folder `.git` may come from somebody else, with a copy that looks right."""
    program, ran = tmp_path / "program", tmp_path / "ran"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n")
    program.chmod(0o755)
    mem("add", "One fact")
    mem("list")
    saved = json.loads(copy_of(mem).read_text())
    saved["values"] |= {
        **{key: [str(program)] for key in ("core.pager", "gitmem.modelcommand")},
        "gitmem.summariser": ["command"],
        "gitmem.agent": ["ada"],
    }
    saved["unset"] = [*saved["values"], "gitmem.sign"]
    copy_of(mem).write_text(json.dumps(saved))

    assert agent_of(mem) == "ada"
    assert "One fact" in on_terminal(mem.folder, "list", "--all", env={"PAGER": "cat"})
    assert mem("config", "summariser", "--json").json["value"] == "offline"
    assert mem("config", "modelCommand", "--json").json["value"] == ""
    assert not ran.exists()


# -- the copy says what git says


def test_settings_from_the_copy_are_those_of_git(mem: Mem, user_file: Path) -> None:
    """Values, lists, what is ignored and what is wrong; also what the copy must not hold."""
    user_file.write_text(
        "[gitmem]\n\tsign = true\n\tsummariser = command\n\tmodelCommand = ask me\n"
        "\tignore = *.a\n\tignore = *.b\n\tinjectBudget = many\n\tagent = Zoë\n\tinject\n"
    )
    git(mem.folder, "config", "gitmem.modelCommand", "theirs")
    commands = (("config", "--json"), ("config",), ("doctor", "--json"), ("status", "--json"))

    def answers() -> list[str]:
        return [mem(*words, code=None).out for words in commands]

    answers()
    from_copy = answers()
    from_git = []
    for words in commands:
        copy_of(mem).unlink()
        from_git.append(mem(*words, code=None).out)
    assert from_copy == from_git
    assert "Zoë" in from_copy[0] and "ask me" in from_copy[0] and "theirs" not in from_copy[0]
    assert not {"ask me", "theirs"} & set(copy_of(mem).read_text().split('"'))


def test_what_the_copy_lacks_is_asked_once(mem: Mem, user_file: Path, git_calls: Path) -> None:
    """A command that needs several such settings calls git once."""
    mem("config", "agent")
    git_calls.unlink()
    assert agent_of(mem) == ""
    assert not git_calls.exists()
    mem("config", "--json")
    assert sum(" config --list" in call for call in git_calls.read_text().splitlines()) == 1


def test_a_pipe_in_its_place_does_not_block(mem: Mem, user_file: Path) -> None:
    """Nor does a folder, or a link to nowhere."""
    user_file.write_text("[gitmem]\n\tagent = ada\n")
    copy = copy_of(mem)
    for make in (os.mkfifo, os.mkdir, lambda path: path.symlink_to("/nowhere/at/all")):
        copy.unlink(missing_ok=True)
        make(copy)
        assert agent_of(mem) == "ada"
        if copy.is_dir():
            copy.rmdir()


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '{"for": [], "from": [], "values": {}}', "[" * 100_000, "\\xff\\xfe"],
    ids=lambda text: text[:12],
)
def test_a_damaged_copy_is_made_anew(mem: Mem, user_file: Path, text: str) -> None:
    """It is derived: nobody has to hear of it."""
    user_file.write_text("[gitmem]\n\tagent = ada\n")
    assert agent_of(mem) == "ada"
    copy = copy_of(mem).read_text()
    copy_of(mem).write_text(text)

    assert agent_of(mem) == "ada"
    assert copy_of(mem).read_text() == copy


def test_rows_of_a_wrong_kind_do_not_count(mem: Mem, user_file: Path) -> None:
    """A copy with any part of another form is made anew."""
    user_file.write_text("[gitmem]\n\tagent = ada\n")
    agent_of(mem)
    whole = json.loads(copy_of(mem).read_text())
    for key in whole:
        for wrong in (None, 7, [{}], [[]], {"gitmem.agent": 7}, {"gitmem.agent": []}):
            copy_of(mem).write_text(json.dumps(whole | {key: wrong}))
            assert agent_of(mem) == "ada", (key, wrong)


def test_settings_of_one_command_are_in_no_copy(mem: Mem, user_file: Path) -> None:
    """`git -c` is for that command alone."""
    one = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "gitmem.agent",
        "GIT_CONFIG_VALUE_0": "ada",
    }
    assert agent_of(mem, **one) == "ada"
    assert agent_of(mem) == ""
    assert agent_of(mem, **one) == "ada"


def test_a_linked_work_tree_has_settings_of_its_own(
    mem: Mem, user_file: Path, tmp_path: Path
) -> None:
    """Both share a folder, and neither believes the other's copy."""
    git(mem.folder, "config", "extensions.worktreeConfig", "true")
    git(mem.folder, "commit", "-q", "--allow-empty", "-m", "One")
    git(mem.folder, "worktree", "add", "-q", str(tmp_path / "other"))
    other = mem.at(tmp_path / "other")
    git(other.folder, "config", "--worktree", "gitmem.agent", "ada")

    assert [agent_of(at) for at in (mem, other, mem, other)] == ["", "ada", "", "ada"]


def test_hooks_and_commands_share_the_copy(mem: Mem, user_file: Path) -> None:
    """What one of them asked git, the other knows: it makes no copy of its own."""

    def state() -> tuple[int, int]:
        return copy_of(mem).stat().st_ino, copy_of(mem).stat().st_mtime_ns

    mem("config", "agent")
    before = state()
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": str(mem.folder),
        "tool_name": "Edit",
        "tool_input": {"file_path": str(mem.folder / "a.py")},
    }
    subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "claude"],
        input=json.dumps(payload).encode(),
        cwd=mem.folder,
        check=True,
    )
    assert state() == before
    mem("config", "agent")
    assert state() == before
