"""`git mem install claude` and its like: settings of somebody else, changed where meant, and given back."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.agents.events import ADAPTERS
from tests.cli.conftest import Mem, on_terminal
from tests.conftest import git
from tests.install.conftest import BIN, COMMAND, group, groups, parsed, with_ours

LOCAL = ".claude/settings.local.json"
OTHERS = """{
\t// what I allow
\t"permissions": {"allow": ["Bash(ls:*)"]}, /* more to come */
\t"hooks": {
\t\t"Stop": [
\t\t\t{"hooks": [{"type": "command", "command": "say done"}]} // mine
\t\t],
\t\t"PreToolUse": []
\t},
\t"model": "opus", // the last one
}
"""
OLD = {
    event: [{"hooks": [{"type": "command", "command": "git-mem hook claude", "timeout": 5}]}]
    for event in ("SessionStart", "Stop")
}


def write(path: Path, text: str | bytes) -> bytes:
    """Write a settings file, with its folders; return its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path.read_bytes()


def is_kept(before: bytes, after: bytes) -> bool:
    """Say whether all bytes of a file are in another, in their order."""
    rest = iter(after)
    return all(byte in rest for byte in before)


def test_a_new_file_is_made_and_removed_with_its_folder(mem: Mem, repo: Path) -> None:
    """Nothing of an install is left in the work tree, and git never saw the file."""
    exclude = (repo / ".git/info/exclude").read_bytes()

    out = mem("install", "claude").out
    made = parsed(repo / LOCAL)
    status = git(repo, "status", "--porcelain")
    mem("uninstall", "claude")

    assert out == f"the hooks of Claude Code: installed ({LOCAL})\n"
    assert made == with_ours({})
    assert status == ""
    assert not (repo / ".claude").exists()
    assert (repo / ".git/info/exclude").read_bytes() == exclude


def test_twice_is_once(mem: Mem, repo: Path) -> None:
    """The second install changes nothing, and says so."""
    mem("install", "claude")
    first = (repo / LOCAL).stat()

    out = mem("install", "claude").out

    assert "already installed, nothing changed" in out
    assert ((repo / LOCAL).stat().st_mtime_ns, (repo / LOCAL).stat().st_ino) == (
        first.st_mtime_ns,
        first.st_ino,
    )


@pytest.mark.parametrize(
    "change",
    [
        str.encode,
        lambda t: t.replace("\n", "\r\n").encode(),
        lambda t: b"\xef\xbb\xbf" + t.encode(),
        lambda t: t.rstrip().encode(),
    ],
    ids=["plain", "crlf", "bom", "no-newline"],
)
def test_what_others_wrote_keeps_its_bytes(
    mem: Mem, home: Path, change: Callable[[str], bytes]
) -> None:
    """Comments, tabs, a trailing comma, line ends, a byte order mark; and all of it comes back."""
    path = home / ".claude/settings.json"
    before = write(path, change(OTHERS))

    mem("install", "claude", "--user")
    after = path.read_bytes()
    mem("uninstall", "claude", "--user")

    assert is_kept(before, after)
    assert after.count(b"say done") == 1
    assert after.count(b"\r\n") == (after.count(b"\n") if b"\r\n" in before else 0)
    assert after.decode("utf-8-sig").count("\n\t\t\t{") == 1 + sum(
        map(len, with_ours({})["hooks"].values())
    )
    assert path.read_bytes() == before


def test_only_ours_goes_when_the_file_changed_since(mem: Mem, home: Path) -> None:
    """What was written after the install stays, in a file of others and in one that we made."""
    path = home / ".claude/settings.json"
    write(path, '{\n  "model": "opus"\n}\n')
    mem("install", "claude", "--user")
    path.write_text(path.read_text().replace('"opus"', '"sonnet"'))

    mem("uninstall", "claude", "--user")

    assert path.read_text() == '{\n  "model": "sonnet"\n}\n'


def test_a_file_of_ours_goes_although_it_was_formatted(mem: Mem, repo: Path) -> None:
    """Nothing but our hooks was in it."""
    mem("install", "claude")
    (repo / LOCAL).write_text(json.dumps(parsed(repo / LOCAL), indent=8))

    mem("uninstall", "claude")

    assert not (repo / LOCAL).exists()


def test_what_was_pasted_by_hand_is_brought_up_to_date(mem: Mem, repo: Path) -> None:
    """The block of the documents becomes this version's, in its place; uninstalling takes it out."""
    write(
        repo / LOCAL, json.dumps({"hooks": {**OLD, "Gone": OLD["Stop"]}, "model": "opus"}, indent=2)
    )

    out = mem("install", "claude").out
    after = parsed(repo / LOCAL)
    mem("uninstall", "claude")

    assert "brought up to date" in out
    assert after == with_ours({"model": "opus"}) | {"hooks": with_ours({})["hooks"]}
    assert list(after["hooks"])[:2] == ["SessionStart", "Stop"]
    assert parsed(repo / LOCAL) == {"model": "opus"}


def test_ours_in_a_group_of_theirs(mem: Mem, repo: Path) -> None:
    """A handler of ours that somebody put beside theirs is replaced there; theirs stays."""
    theirs, ours = (
        {"type": "command", "command": "say hi"},
        {"type": "command", "command": "git-mem hook claude"},
    )
    write(
        repo / LOCAL,
        json.dumps(
            {
                "hooks": {
                    "Stop": [{"hooks": [theirs, ours]}],
                    "PostToolUse": [{"matcher": "Grep", "hooks": [ours, theirs]}],
                }
            }
        ),
    )

    mem("install", "claude")
    after = parsed(repo / LOCAL)["hooks"]
    mem("uninstall", "claude")

    assert after["Stop"] == [{"hooks": [theirs, group("Stop")["hooks"][0]]}]
    assert after["PostToolUse"] == [
        {"matcher": "Grep", "hooks": [theirs]},
        *groups("PostToolUse"),
    ]
    assert parsed(repo / LOCAL) == {
        "hooks": {
            "Stop": [{"hooks": [theirs]}],
            "PostToolUse": [{"matcher": "Grep", "hooks": [theirs]}],
        }
    }


def test_a_command_of_the_users_own_is_left_alone(mem: Mem, repo: Path) -> None:
    """One that calls us in another way is not replaced, nor doubled."""
    own = {"hooks": [{"type": "command", "command": "MY=1 git-mem hook claude | tee /tmp/log"}]}
    write(repo / LOCAL, json.dumps({"hooks": {"Stop": [own]}}))

    out = mem("install", "claude").out

    assert "line 1 of .claude/settings.local.json calls our hook in a way of its own" in out
    assert parsed(repo / LOCAL)["hooks"]["Stop"] == [own]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            '{\n  "a": 1\n  "b": 2\n}',
            "line 3, column 3: this is not valid JSON: Expecting ',' delimiter.",
        ),
        ('{"a": 1', "line 1, column 8: this is not valid JSON"),
        ('{"a": [1,,2]}', "line 1, column 10"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": NaN}', "not valid JSON"),
        ('{} {"a": 1}', "line 1, column 4"),
        ("[]", "line 1, column 1: this is a list where settings are an object."),
        (b'{"a": "\xff"}', "line 1, column 8: this is not UTF-8."),
        (
            '{"hooks": []}',
            "line 1, column 11: 'hooks' is a list where claude has an object of events.",
        ),
        ('{"hooks": {"Stop": {}}}', "'Stop' is an object where claude has a list of hooks."),
        ('{"hooks": null}', "'hooks' is null"),
        (
            '{"hooks": {},\n "hooks": {}}',
            "line 2, column 11: 'hooks' is there twice, first at line 1, column 2",
        ),
        ('{"hooks": {"Stop": [],\n "Stop": []}}', "'Stop' is there twice"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_broken_is_refused(mem: Mem, repo: Path, text: str | bytes, says: str) -> None:
    """With the place, what is wrong and what to do; nothing is written."""
    before = write(repo / LOCAL, text)

    done = mem("install", "claude", code=1)

    assert LOCAL in done.err and says in done.err
    assert "Nothing was changed." in done.err
    assert (repo / LOCAL).read_bytes() == before
    assert os.listdir(repo / ".claude") == ["settings.local.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "// nothing yet\n",
        "{}",
        "{ }\n",
        "{\n}\n",
        '{"hooks": {}}',
        '{"a": {"b": [1,],},}',
        '{"a": 1} // end',
    ],
)
def test_files_with_little_in_them(mem: Mem, home: Path, text: str) -> None:
    """Empty ones, ones of comments alone, one-liners: ours gets in, and out again."""
    path = home / ".claude/settings.json"
    before = write(path, text)

    mem("install", "claude", "--user")
    mem("install", "--list", "--json")
    (row,) = mem("install", "--list", "--json").json["installations"]
    after = path.read_bytes()
    mem("install", "claude", "--user")

    assert row["state"] == "current"
    assert is_kept(before, after)
    assert path.read_bytes() == after
    mem("uninstall", "claude", "--user")
    assert path.read_bytes() == before


def test_a_large_file(mem: Mem, home: Path) -> None:
    """Five megabytes keep their bytes."""
    path = home / ".claude/settings.json"
    before = write(
        path,
        json.dumps(
            {"filler": [f"text {n}" * 10 for n in range(60_000)], "hooks": {"Stop": []}}, indent=1
        ),
    )

    mem("install", "claude", "--user")
    after = path.read_bytes()
    mem("uninstall", "claude", "--user")

    assert len(before) > 5_000_000
    assert json.loads(after) == with_ours(json.loads(before))
    assert path.read_bytes() == before


def test_a_link_is_written_through(mem: Mem, home: Path, tmp_path: Path) -> None:
    """Settings kept with other dotfiles stay a link; the file keeps its mode."""
    target, link = tmp_path / "dotfiles" / "claude.json", home / ".claude" / "settings.json"
    write(target, "{}\n")
    target.chmod(0o640)
    link.parent.mkdir()
    link.symlink_to(target)

    mem("install", "claude", "--user")

    assert link.is_symlink()
    assert parsed(target) == with_ours({})
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    mem("uninstall", "claude", "--user")
    assert target.read_bytes() == b"{}\n"


def test_a_read_only_file_is_refused(mem: Mem, home: Path) -> None:
    """Its owner does not want it written."""
    path = home / ".claude/settings.json"
    before = write(path, "{}")
    path.chmod(0o444)

    done = mem("install", "claude", "--user", code=1)

    assert "is read-only." in done.err and "chmod u+w" in done.err
    assert path.read_bytes() == before


def test_a_file_that_is_none_is_refused(mem: Mem, home: Path) -> None:
    """A folder, or a pipe, is not replaced."""
    (home / ".claude/settings.json").mkdir(parents=True)
    os.makedirs(home / ".gemini")
    os.mkfifo(home / ".gemini/settings.json")

    assert "is not a regular file" in mem("install", "claude", "--user", code=1).err
    assert "is not a regular file" in mem("install", "gemini", "--user", code=1).err


def test_what_git_tracks_is_written_for_all_alone(mem: Mem, repo: Path) -> None:
    """Without --project, a file that colleagues get is not touched; with it, no path of this machine gets in."""
    before = write(repo / ".gemini/settings.json", "{}\n")
    git(repo, "add", ".gemini")

    done = mem("install", "gemini", code=1)
    untouched = (repo / ".gemini/settings.json").read_bytes()
    mem("install", "gemini", "--project")

    assert "git tracks .gemini/settings.json" in done.err and "--project" in done.err
    assert untouched == before
    text = (repo / ".gemini/settings.json").read_text()
    assert "git-mem hook gemini" in text and str(BIN) not in text


def test_a_file_that_git_would_track_is_written_for_all_alone(mem: Mem, repo: Path) -> None:
    """The project's file of an agent that has no other is yours only as long as it is new, or ignored."""
    write(repo / ".codex/hooks.json", "{}\n")

    done = mem("install", "codex", code=1)
    mem("install", "gemini")

    assert "git does not ignore it" in done.err
    assert git(repo, "status", "--porcelain") == "?? .codex/"
    assert str(BIN) in (repo / ".gemini/settings.json").read_text()


def test_one_that_cannot_be_installed_stops_the_others(mem: Mem, repo: Path) -> None:
    """All are planned first."""
    write(repo / ".codex/hooks.json", "{ broken")

    mem("install", "claude", "codex", "--project", code=1)

    assert not (repo / ".claude").exists()


def test_gemini_switches_hooks_on_but_not_against_its_user(mem: Mem, home: Path) -> None:
    """`hooksConfig.enabled` is written where it is not there, taken back, and left where somebody chose."""
    path = home / ".gemini/settings.json"
    write(path, '{"hooksConfig": {"disabled": ["x"]}}')
    mem("install", "gemini", "--user")
    first = parsed(path)
    path.write_text(json.dumps(first))
    mem("uninstall", "gemini", "--user")
    left = parsed(path)
    write(path, '{"hooksConfig": {"enabled": false}}')
    mem("install", "gemini", "--user")

    assert first["hooksConfig"] == {"disabled": ["x"], "enabled": True}
    assert {row["hooks"][0]["timeout"] for rows in first["hooks"].values() for row in rows} == {
        5000
    }
    assert left == {"hooksConfig": {"disabled": ["x"]}}
    assert parsed(path)["hooksConfig"] == {"enabled": False}


@pytest.mark.parametrize("agent", ADAPTERS)
@pytest.mark.parametrize("scope", ["--local", "--project", "--user"])
def test_every_agent_comes_and_goes(
    mem: Mem, repo: Path, home: Path, agent: str, scope: str
) -> None:
    """Each is installed, listed as current, and gone without a trace."""
    mem("install", agent, scope)
    (row,) = mem("install", "--list", "--json").json["installations"]
    again = mem("install", agent, scope).out
    mem("uninstall", agent, scope)

    assert (row["target"], row["scope"], row["state"]) == (agent, scope[2:], "current")
    assert "nothing changed" in again
    assert mem("install", "--list", "--json").json["installations"] == []
    assert not os.path.exists(row["settings_file"])
    assert git(repo, "status", "--porcelain", "--ignored") == ""
    assert (
        sorted(os.listdir(home)) == [".local", "gitconfig"] if scope == "--user" else ["gitconfig"]
    )


def test_a_variable_names_the_users_folder(mem: Mem, home: Path, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR stands for ~/.claude."""
    mem("install", "claude", "--user", env={"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")})

    assert parsed(tmp_path / "elsewhere" / "settings.json") == with_ours({})
    assert not (home / ".claude").exists()


def test_a_dry_run_shows_and_writes_nothing(mem: Mem, repo: Path) -> None:
    """The diff is data, what it comes to a remark."""
    before = write(repo / LOCAL, '{\n  "model": "opus"\n}\n')

    done = mem("install", "claude", "--dry-run")
    (row,) = mem("install", "claude", "--dry-run", "--json").json

    assert f"--- {repo / LOCAL}\n+++ {repo / LOCAL}\n@@ -1,3 +1," in done.out
    assert '-  "model": "opus"\n+  "model": "opus",\n+  "hooks": {' in done.out
    assert "would be installed" in done.err
    assert row["diff"] in done.out and row["action"] == "installed"
    assert (repo / LOCAL).read_bytes() == before
    assert "settings.local" not in (repo / ".git/info/exclude").read_text()


def test_the_list_says_what_does_not_work(mem: Mem, repo: Path) -> None:
    """A program that is gone, or whose Python is; hooks of an older version; doctor says it too."""
    mem("install", "claude")
    path = repo / LOCAL
    good = path.read_text()
    gone = repo / "git-mem"
    gone.write_text("#!/nowhere/python\n")
    gone.chmod(0o755)
    seen = {}
    for name, text in {
        "current": good,
        "older": json.dumps({"hooks": OLD}),
        "gone": good.replace(str(BIN), "/nowhere"),
        "dangling": good.replace(str(BIN), str(repo)),
        "unreadable": good[:-3],
    }.items():
        path.write_text(text)
        (row,) = mem("install", "--list", "--json").json["installations"]
        found = [
            f for f in mem("doctor", "--json").json["findings"] if "Claude Code" in f["message"]
        ]
        seen[name] = (row["state"], row["reason"], found[0]["level"])

    assert seen["current"] == ("current", None, "ok")
    assert seen["older"] == ("outdated", None, "note")
    assert seen["gone"] == ("broken", "'/nowhere/git-mem' is not there", "warning")
    assert seen["dangling"] == (
        "broken",
        f"'/nowhere/python', which '{gone}' needs, is not there",
        "warning",
    )
    assert seen["unreadable"][0::2] == ("unreadable", "warning")


def test_hooks_in_two_places_are_told(mem: Mem) -> None:
    """Each event would count twice."""
    mem("install", "claude", "--project")
    mem("install", "claude", "--user")

    (found,) = [f for f in mem("doctor", "--json").json["findings"] if "twice" in f["message"]]

    assert found["hint"] == "Run: git mem uninstall claude --user"
    assert (
        "still installed in ~/.claude/settings.json: git mem uninstall claude --user"
        in mem("uninstall", "claude", "--project").err
    )


def test_listing_runs_nothing(mem: Mem, repo: Path) -> None:
    """A repository of somebody else may name any program."""
    evil = repo / "git-mem"
    evil.write_text(f"#!/bin/sh\ntouch {repo}/ran\n")
    evil.chmod(0o755)
    write(
        repo / ".claude/settings.json",
        json.dumps(
            {
                "hooks": {
                    "Stop": [{"hooks": [{"type": "command", "command": f"{evil} hook claude"}]}]
                }
            }
        ),
    )

    mem("install", "--list")
    mem("doctor")

    assert not (repo / "ran").exists()


def test_outside_of_a_repository(mem: Mem, tmp_path: Path, home: Path) -> None:
    """Your own settings can be written there; for others it is said where to go."""
    outside = mem.at(tmp_path)

    assert "--user" in outside("install", "claude", code=1).err
    outside("install", "claude", "--user")
    assert parsed(home / ".claude/settings.json") == with_ours({})


def test_all_is_what_is_found_here(mem: Mem, repo: Path, home: Path, tmp_path: Path) -> None:
    """The agents whose program or folder is there, and git's hooks."""
    (home / ".codex").mkdir()
    program = tmp_path / "bin" / "claude"
    write(program, "#!/bin/sh\n")
    program.chmod(0o755)

    rows = mem(
        "install", "all", "--dry-run", "--json", env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    ).json

    assert list(dict.fromkeys(row["target"] for row in rows)) == ["claude", "codex", "git-hooks"]


def test_many_installs_at_once(mem: Mem, repo: Path) -> None:
    """Four processes, four agents' hooks, one ledger: all are there, and all go."""
    names = ["claude", "gemini", "codex", "cursor"]
    running = [
        subprocess.Popen([sys.executable, "-P", "-m", "gitmem", "install", name], cwd=repo)
        for name in names
    ]
    codes = [child.wait(60) for child in running]
    listed = mem("install", "--list", "--json").json["installations"]
    mem("uninstall", *names)

    assert codes == [0, 0, 0, 0]
    assert {(row["target"], row["state"]) for row in listed} == {
        (name, "current") for name in names
    }
    assert git(repo, "status", "--porcelain", "--ignored") == ""


def test_one_file_from_many_processes(mem: Mem, home: Path) -> None:
    """Whoever comes second finds it done."""
    before = write(home / ".claude/settings.json", OTHERS)
    running = [
        subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", "install", "claude", "--user"], cwd=home
        )
        for _ in range(4)
    ]

    assert [child.wait(60) for child in running] == [0] * 4
    assert (home / ".claude/settings.json").read_text().count("hook claude 2>") == sum(
        map(len, with_ours({})["hooks"].values())
    )
    mem("uninstall", "claude", "--user")
    assert (home / ".claude/settings.json").read_bytes() == before


def test_init_installs_what_it_is_told(mem: Mem, repo: Path) -> None:
    """By a flag; without one, and without a terminal, nothing."""
    mem("init", "--no-remote")
    nothing = (repo / ".claude").exists()
    out = mem("init", "--agents", "claude,gemini").out

    assert not nothing
    assert parsed(repo / LOCAL) == with_ours({})
    assert (repo / ".gemini/settings.json").exists() and "the hooks of Gemini CLI: installed" in out
    assert "there is no agent 'cluade'" in mem("init", "--agents", "cluade", code=2).err
    assert [
        row["action"] for row in mem("init", "--agents", "claude", "--json").json["hook_changes"]
    ] == ["unchanged"]


def test_init_asks_on_a_terminal(mem: Mem, repo: Path, home: Path) -> None:
    """For the agents that are found here; no answer means none."""
    (home / ".claude").mkdir()

    first = on_terminal(repo, "init", "--no-remote", keys="\n")
    is_there = (repo / LOCAL).exists()
    on_terminal(repo, "init", "--no-remote", keys="claude\n")

    assert "Install hooks for which" in first and "claude (Claude Code)" in first
    assert not is_there
    assert parsed(repo / LOCAL) == with_ours({})


def test_the_command_is_the_link_that_outlives_upgrades(
    mem: Mem, repo: Path, tmp_path: Path
) -> None:
    """As pipx and uv make it, on the PATH, not the script that it leads to."""
    link = tmp_path / "it's a bin" / "git-mem"
    link.parent.mkdir()
    link.symlink_to(BIN / "git-mem")

    mem("install", "claude", env={"PATH": f"{link.parent}:/usr/bin:/bin"})
    command = parsed(repo / LOCAL)["hooks"]["Stop"][0]["hooks"][0]["command"]

    assert command == COMMAND.replace(
        str(BIN / "git-mem"), "'" + str(link).replace("'", "'\\''") + "'"
    )
    assert mem("install", "--list", "--json").json["installations"][0]["program"] == str(link)


def test_wiping_takes_the_hooks_out(mem: Mem, repo: Path) -> None:
    """Those of this user go with the memory; those of everybody are named."""
    before = write(repo / LOCAL, OTHERS)
    mem("init", "--no-remote", "--agents", "claude")
    mem("install", "git-hooks")
    mem("install", "codex", "--project")

    done = mem("uninstall", "--wipe", "--yes")

    assert (repo / LOCAL).read_bytes() == before
    assert not (repo / ".git/hooks/post-commit").exists()
    assert "git mem uninstall codex --project" in done.err
    assert not (repo / ".git/gitmem").exists()


def test_a_link_out_of_the_repository_is_refused(mem: Mem, repo: Path, home: Path) -> None:
    """A repository of somebody else must not have us write elsewhere."""
    (repo / ".claude").symlink_to(home)

    assert "leads out of the repository" in mem("install", "claude", code=1).err
    assert not (home / "settings.local.json").exists()


def test_what_is_not_there_leaves_no_trace(mem: Mem, repo: Path, home: Path) -> None:
    """Uninstalling nothing makes nothing."""
    mem("uninstall", "all")
    mem("uninstall", "all", "--user")

    assert not (repo / ".git/gitmem").exists()
    assert os.listdir(home) == ["gitconfig"]


def test_a_file_that_was_made_anew_is_the_users(mem: Mem, repo: Path) -> None:
    """That we made one there once does not make this one ours."""
    mem("install", "claude")
    (repo / LOCAL).unlink()
    before = write(repo / LOCAL, '{"model": "opus"}\n')

    mem("install", "claude")
    mem("uninstall", "claude")

    assert (repo / LOCAL).read_bytes() == before


def test_an_old_version_is_upgraded_and_goes_to_the_byte(
    mem: Mem, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way back leads over each version that was installed."""
    before = write(repo / LOCAL, OTHERS)
    with monkeypatch.context() as patch:
        patch.setattr("gitmem.install.settings_formats.SECONDS", 9)
        mem("install", "claude")
    (row,) = mem("install", "--list", "--json").json["installations"]

    out = mem("install", "claude").out
    now = (repo / LOCAL).read_text()
    mem("uninstall", "claude")

    assert row["state"] == "outdated" and "brought up to date" in out
    assert '"timeout": 5' in now and '"timeout": 9' not in now
    assert (repo / LOCAL).read_bytes() == before


def test_hooks_in_two_files_are_remarked_upon(mem: Mem, repo: Path) -> None:
    """An agent runs the hooks of all its files."""
    mem("install", "claude", "--user")
    assert "git mem uninstall claude --user" in mem("install", "claude").err


def test_a_command_that_passed_is_not_waited_for(mem: Mem, repo: Path) -> None:
    """It is answered with nothing; an older install, which waited, is brought up to date."""
    mem("install", "claude")
    made = parsed(repo / LOCAL)
    behind = [row for row in made["hooks"]["PostToolUse"] if row["matcher"] == "Bash"]
    assert [handler["async"] for row in behind for handler in row["hooks"]] == [True]
    old = json.loads(json.dumps(made))
    old["hooks"]["PostToolUse"] = [
        {"matcher": "Bash|Read", "hooks": old["hooks"]["PostToolUse"][0]["hooks"]}
    ]
    write(repo / LOCAL, json.dumps(old, indent=2))
    mem("install", "claude")
    assert parsed(repo / LOCAL) == made


@pytest.mark.parametrize(
    ("agent", "path", "off"),
    [
        ("claude", ".claude/settings.json", {"disableAllHooks": True}),
        ("gemini", ".gemini/settings.json", {"hooksConfig": {"enabled": False}}),
    ],
)
def test_hooks_that_are_switched_off_do_not_work(
    mem: Mem, repo: Path, agent: str, path: str, off: dict[str, object]
) -> None:
    """The agent's own switch is the user's; the list says what it means."""
    write(repo / path, json.dumps(off))
    mem("install", agent, "--project")
    (row,) = [
        row
        for row in mem("install", "--list", "--json").json["installations"]
        if row["target"] == agent
    ]
    assert row["state"] == "broken" and "turns all hooks off" in row["reason"]
