"""`git mem config` names where each value is from, what does nothing, and how to remove that."""

import re
import shlex

import pytest

from gitmem.config import SETTINGS
from tests.cli.conftest import Mem
from tests.conftest import git


def shown(mem: Mem, key: str) -> list[str]:
    """Return the lines about a setting, which are alike in the list and alone."""
    lines = [line for line in mem("config").out.splitlines() if re.match(rf"[* ] {key} = ", line)]
    assert mem("config", key).out.splitlines()[: len(lines)] == lines
    return lines


@pytest.mark.parametrize("key", [key for key, row in SETTINGS.items() if row[0] == "list"])
def test_each_value_of_a_list_has_its_origin(mem: Mem, key: str) -> None:
    """Of two files that add to a list, each is named beside what it adds."""
    for _ in range(2):  # from git, and from the copy of the settings
        git(mem.folder, "config", "--global", "--replace-all", f"gitmem.{key}", "all.example")
        git(mem.folder, "config", "--replace-all", f"gitmem.{key}", "here.example")
        assert shown(mem, key) == [
            f"* {key} = all.example  (yours)",
            f"* {key} = here.example  (this repository)",
        ]
    row = mem("config", key, "--json").json
    assert row["value"] == ["all.example", "here.example"]
    assert [tuple(origin.values()) for origin in row["origins"]] == [
        ("all.example", "global"),
        ("here.example", "local"),
    ]


@pytest.mark.parametrize(
    ("key", "mine", "here"), [("share", "all", "agents"), ("sign", "true", "false")]
)
def test_a_default_that_is_set_has_its_origin(mem: Mem, key: str, mine: str, here: str) -> None:
    """Somebody sees that a file overrides another, and which."""
    git(mem.folder, "config", "--global", f"gitmem.{key}", mine)
    assert shown(mem, key) == [f"* {key} = {mine}  (yours)"]
    git(mem.folder, "config", f"gitmem.{key}", here)
    assert shown(mem, key) == [f"  {key} = {here}  (this repository)"]
    assert f"      overrides {mine}  (yours)" in mem("config", key).out.splitlines()
    row = mem("config", key, "--json").json
    assert row["scope"] == "local"
    assert [tuple(origin.values()) for origin in row["origins"]] == [
        (mine, "global"),
        (here, "local"),
    ]
    assert mem("config", "inject", "--json").json["origins"] == []


def test_an_invalid_value_is_told_wherever_it_is_read(mem: Mem) -> None:
    """The default that is used instead is from no file; the named command removes the value."""
    git(mem.folder, "config", "--global", "gitmem.captureThreshold", "abc")
    hint = "hint: Remove it: git mem config --global --unset capturethreshold"
    for args in ((), ("captureThreshold",), ("captureThreshold", "--json")):
        err = mem("config", *args).err
        assert "warning: gitmem.captureThreshold is 'abc'; allowed: " in err
        assert hint in err
    assert shown(mem, "captureThreshold") == ["  captureThreshold = 3"]
    assert mem("config", "inject").err == ""
    assert hint in mem("config", "--unset", "captureThreshold").err  # it is in another file
    mem(*hint.partition("git mem ")[2].split())
    assert mem("config").err == ""


@pytest.mark.parametrize("where", ["--local", "--global"])
@pytest.mark.parametrize(
    "key", ["gitmem.startBudget", "gitmem.other-tool", "gitmem.$(touch trap) x.key"]
)
def test_the_named_command_removes_a_key_that_is_no_setting(mem: Mem, where: str, key: str) -> None:
    """Status, config and doctor name it; it is an argument that a shell takes as it stands."""
    git(mem.folder, "config", where, key, "1")
    commands = set()
    for command in ("config", "status", "doctor"):
        done = mem(command)
        lines = re.findall(r"Remove it: git mem (.*)", done.out + done.err)
        assert len(lines) == 1, command
        commands.update(lines)
    (line,) = commands
    words = shlex.split(line)
    assert ("--global" in words) == (where == "--global")

    assert "is removed" in mem(*words).out
    assert git(mem.folder, "config", "--get", key, ok=(1,)) == ""
    assert mem("config").err == ""
    assert "there is no setting" in mem(*words, code=2).err


def test_a_key_that_is_set_elsewhere_stays(mem: Mem) -> None:
    """In the user's file, in both files, or in one that is included: it is said where to look."""
    git(mem.folder, "config", "--global", "gitmem.startBudget", "1")
    err = mem("config", "--unset", "startBudget", code=1).err
    assert "gitmem.startbudget is not in this repository's file." in err
    assert "Remove it: git mem config --global --unset startbudget" in err

    git(mem.folder, "config", "gitmem.startBudget", "2")
    done = mem("config", "--unset", "startBudget")
    assert "is removed" in done.out
    assert "Remove it: git mem config --global --unset startbudget" in done.err
    mem("config", "--global", "--unset", "gitmem.STARTBUDGET")

    (mem.folder / "more").write_text("[gitmem]\n\tstartBudget = 3\n")
    git(mem.folder, "config", "include.path", str(mem.folder / "more"))
    err = mem("config", "--unset", "startBudget", code=1).err
    assert "git config --show-origin --get-all gitmem.startbudget" in err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("shareCaptured", "share"),
        ("gitmem.promptbudget", "injectBudget"),
        ("editorUnconfirmed", "unconfirmed"),
        ("recordSession", "recordSessions"),
        ("sing", "sign"),
        ("captureSessions", ""),
        ("captureWindow", ""),
        ("pager", ""),
        ("syncTimeout", ""),
        ("geminiKey", ""),
        ("summary", ""),
    ],
)
def test_a_setting_is_named_for_what_it_does(mem: Mem, typed: str, meant: str) -> None:
    """For a former key the one that does it now; for a word that is only like one, none."""
    err = mem("config", typed, code=2).err
    assert f"'{typed}'.{f' Did you mean {meant}?' if meant else ''} See all" in err
