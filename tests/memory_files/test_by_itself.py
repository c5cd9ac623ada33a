"""Memory files are kept in step at the start and end of sessions, and watched."""

import json
import subprocess
import sys
import threading
import time

import pytest

from tests.conftest import git
from tests.hooks.conftest import wait_for
from tests.memory_files.conftest import Native


def hook(native: Native, event: str, session: str = "s1") -> None:
    """Let an agent tell of a session."""
    payload = {
        "session_id": session,
        "cwd": str(native.root),
        "hook_event_name": event,
        "source": "startup",
        "reason": "exit",
        "transcript_path": "/none",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", "claude"],
        cwd=native.root,
        input=json.dumps(payload).encode(),
        check=True,
        capture_output=True,
    )
    assert not done.stderr


@pytest.mark.parametrize("setting", ["sync", "pull", "push"])
@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_by_setting(native: Native, setting: str, event: str) -> None:
    """The detached process reads and writes as the setting says."""
    native.write("CLAUDE.local.md", "- Only in this clone it is.\n")
    native.mem.add("Everybody knows")
    native.mem("config", "native", setting)
    if event == "SessionEnd":
        native.mem("config", "native", "off")
        hook(native, "SessionStart")
        native.mem("config", "native", setting)
    hook(native, event)
    if setting != "pull":
        assert wait_for(native.memory.exists)
    if setting != "push":
        assert wait_for(lambda: "Only in this clone it is." in native.titles())
    time.sleep(0.3)
    assert ("Only in this clone it is." in native.titles()) == (setting != "push")
    assert native.memory.exists() == (setting != "pull")


@pytest.mark.parametrize("setting", ["sync", "push"])
@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_blocks_are_kept_by_setting(native: Native, setting: str, event: str) -> None:
    """A block that somebody asked for once has what the store has."""
    native.mem.add("Everybody knows")
    native("push", "--to", "gemini")
    native.mem.add("And this too")
    if event == "SessionEnd":
        hook(native, "SessionStart")
    native.mem("config", "native", setting)
    hook(native, event)
    assert wait_for(lambda: "And this too" in (native.root / "GEMINI.md").read_text())


@pytest.mark.parametrize("setting", ["sync", "push"])
def test_what_git_tracks_is_not_written_by_itself(native: Native, setting: str) -> None:
    """A session dirties no work tree: status says that the block is behind, and the command writes it."""
    native.mem.add("Everybody knows")
    native("push", "--to", "gemini,agents")
    git(native.root, "add", "GEMINI.md")
    git(native.root, "commit", "-qm", "block")
    native.mem.add("And this too")
    native.mem("config", "native", setting)
    hook(native, "SessionStart")
    # not tracked
    assert wait_for(lambda: "And this too" in (native.root / "AGENTS.md").read_text())
    hook(native, "SessionEnd")
    subprocess.run([sys.executable, "-P", "-m", "gitmem", "drain"], cwd=native.root, check=True)
    assert git(native.root, "status", "--porcelain", "--untracked-files=no") == ""
    assert "block stale (1 to write): git mem native sync" in native("status").out
    native("sync")
    assert "And this too" in (native.root / "GEMINI.md").read_text()


def test_off_is_off(native: Native) -> None:
    """Nothing is read or written, and no process is started for it."""
    native.write("CLAUDE.local.md", "- Only in this clone it is.\n")
    native.mem.add("Everybody knows")
    hook(native, "SessionStart")
    hook(native, "SessionEnd")
    # waits for the one before it
    subprocess.run([sys.executable, "-P", "-m", "gitmem", "drain"], cwd=native.root, check=True)
    assert "Only in this clone it is." not in native.titles() and not native.memory.exists()


def test_a_file_that_cannot_be_written_is_told_in_the_trace(native: Native) -> None:
    """The rest of the work is done all the same."""
    native.mem.add("Everybody knows")
    native.memory.mkdir(parents=True)
    native.mem("config", "native", "push")
    hook(native, "SessionStart")
    assert wait_for(lambda: "not a regular file" in native.mem("status").out)


def test_watch_once(native: Native) -> None:
    """It ends with the first change, which it pulled; or in time."""
    native.write("CLAUDE.local.md", "- The first line is here.\n")
    native("pull")
    assert "no memory file changed in 0.2 s" in native("watch-once", "--timeout", "0.2").out
    assert native("watch-once", "--timeout", "0.1", "--json").json["changed_memory_files"] == []
    for name, text in (
        ("CLAUDE.local.md", "- The first line is here now.\n"),
        ("pkg/GEMINI.md", "- A new file is there.\n"),
    ):
        timer = threading.Timer(0.7, native.write, (name, text))
        timer.start()
        began = time.monotonic()
        done = native("watch-once", "--timeout", "30", "--json").json
        timer.join()
        assert done["changed_memory_files"] == [name] and time.monotonic() - began < 10
        assert sum(done["counts"].get(key, 0) for key in ("new", "changed")) == 1
    assert native.titles() == {"The first line is here now.", "A new file is there."}
    assert native("watch-once", "--timeout", "x", code=2).err
