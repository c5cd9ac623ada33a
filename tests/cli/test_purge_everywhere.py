"""A text that came in through every door is purged, and no byte of the repository holds it afterwards."""

import gzip
import os
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.conftest import git
from tests.hooks.conftest import Agent, wait_for_session_record

SECRET = "Wombat Horizon"
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}


def forms(text: str) -> list[bytes]:
    """Return the text as it was, and as what is compared has it."""
    return [text.encode(), text.lower().encode()]


def unpacked(path: Path) -> bytes:
    """Return a file's bytes, with what is compressed in it."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        return data + gzip.decompress(data)
    if len(path.parent.name) == 2 and len(path.name) in {38, 62}:
        return data + zlib.decompress(data)
    return data


def places_of(root: Path, text: str) -> list[str]:
    """Return every file of a repository and its work tree, and every git object, that holds a text."""
    found = [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*"))
        if path.is_file() and any(form in unpacked(path) for form in forms(text))
    ]
    listed = subprocess.run(
        ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=True,
    ).stdout
    return found + ["git objects"] * any(form in listed for form in forms(text))


def plant(mem: Mem, tmp_path: Path) -> list[str]:
    """Bring the text in through every door; return the ids of the records whose own text it is."""
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "hub.git"))
    git(mem.folder, "remote", "add", "origin", str(tmp_path / "hub.git"))
    ids = [mem.add(f"Call {SECRET} before a release", "-m", f"It is {SECRET} in prose.")]
    ids.append(mem.add(f"Keep {SECRET} private", "--private"))
    mem("remote", "enable", "origin")
    mem("sync")
    agent = Agent(mem.folder, "s1")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt=f"Decision: use the {SECRET} gateway for invoices.")
    for _ in range(3):
        agent.fail(f"KeyError: '{SECRET}'", command=f"python pay.py --gateway {SECRET}")
    mem("session", "note", f"Remember {SECRET}", env=AGENT)
    mem("session", "mark", f"Marked {SECRET}", env=AGENT)
    mem("session", "handover", "gemini", "-m", f"Go on with {SECRET}", env=AGENT)
    agent.hook("SessionEnd")
    wait_for_session_record(mem.folder)
    proposals = [row["id"] for row in mem("inbox", "--json").json]
    mem("inbox", "--reject", proposals[0], "--reason", f"{SECRET} is not ours")
    ids += proposals[1:]
    mem("snapshot", "save", f"before {SECRET}")
    forgotten = mem.add(f"Never deploy {SECRET}")
    mem("forget", forgotten, "--reason", f"{SECRET} went away")
    mem("work", "start", "gateway", "--story", "S1")
    mem("work", "checkpoint", "-m", f"half of {SECRET}", code=None)
    mem("page", "briefing", "--private", "--out", "BRIEFING.md")
    (mem.folder / "CLAUDE.md").write_text("# Rules\n\n- Be kind.\n")
    mem("native", "push", "--to", str(mem.folder / "CLAUDE.md"))
    mem("search", SECRET)
    return ids


@pytest.fixture
def planted(mem: Mem, tmp_path: Path) -> tuple[Mem, list[str]]:
    """A repository with the text in it, and the records that have it."""
    ids = plant(mem, tmp_path)
    assert len(places_of(mem.folder, SECRET)) > 5
    return mem, ids


def test_no_byte_holds_a_purged_text(planted: tuple[Mem, list[str]], tmp_path: Path) -> None:
    """By id and by text; blocks and pages of ours are written anew."""
    mem, ids = planted
    git(tmp_path, "clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / "clone"))
    clone = mem.at(tmp_path / "clone")
    clone("remote", "enable", "origin")
    clone("sync")
    clone("search", SECRET)
    assert places_of(clone.folder, SECRET) != []

    done = mem("forget", "--purge", *ids, "--text", SECRET, "--remote", "origin", "--yes", "--json")
    rows = {row["name"]: row for row in done.json["locations"]}
    assert done.json["complete"]
    assert {row["name"] for row in rows.values() if row["state"] == "held"} == set()
    assert rows[str(mem.folder / "CLAUDE.md")]["state"] == "removed"
    assert rows[str(mem.folder / "BRIEFING.md")]["state"] == "removed"
    again = mem("forget", "--purge", "--text", SECRET, "--yes")
    assert "nowhere on this machine" in again.out
    assert places_of(mem.folder, SECRET) == []
    git(tmp_path / "hub.git", "gc", "-q", "--prune=now")  # which the command says is the host's
    assert places_of(tmp_path / "hub.git", SECRET) == []

    clone("sync", "--follow-purge")
    clone("search", SECRET)
    assert {os.path.dirname(p) for p in places_of(clone.folder, SECRET)} == {
        ".git/gitmem/quarantine"
    }
    clone("forget", "--purge", "--quarantine-drop")
    assert places_of(clone.folder, SECRET) == []


def test_a_record_that_others_quote_is_not_gone(mem: Mem) -> None:
    """A purge by id says which records still have its words, and fails until they are gone."""
    id = mem.add("Call the wombat desk before a release", "-m", "Ask for Ines on line seven.")
    other = mem.add("Wombats", "-m", "As said: call the wombat desk before a release.")
    done = mem("forget", "--purge", id, "--yes", "--json", code=1)
    (row,) = [row for row in done.json["locations"] if row["name"] == "shared records"]
    assert row["state"] == "held"
    assert other in row["detail"]
    mem("edit", other, "-m", "As said.")
    assert "are not known any more" in mem("forget", "--purge", id, "--yes").err
    mem("forget", "--purge", "--text", "Call the wombat desk before a release", "--yes")
    assert "nowhere on this machine" in mem("forget", "--purge", id, "--yes").out
    assert places_of(mem.folder, "wombat desk") == []


def test_saved_work_stays_unless_it_holds_the_text(mem: Mem) -> None:
    """The title of a snapshot is masked, and its work comes back; what has the text in a file goes, and is named."""
    (mem.folder / "new.py").write_text("x = 1\n")
    mem("snapshot", "save", f"before {SECRET}")
    (first,) = ids = [row["id"] for row in mem("snapshot", "list", "--json").json]
    (mem.folder / "other.py").write_text(f"# {SECRET}\n")
    mem("snapshot", "save", "later")
    (second,) = {row["id"] for row in mem("snapshot", "list", "--json").json} - set(ids)
    (mem.folder / "other.py").unlink()
    said = mem("forget", "--purge", "--text", SECRET, "--yes").out
    assert f"masked the words of snapshots, and kept their work: {first}" in said
    assert f"removed the work of snapshots, which held it: {second}." in said
    assert places_of(mem.folder, SECRET) == []
    (mem.folder / "new.py").unlink()
    mem("snapshot", "restore", first, "--worktree")
    assert (mem.folder / "new.py").read_text() == "x = 1\n"
    assert "before [purged]" in mem("snapshot", "list").out


def test_a_name_that_was_made_of_the_text_is_told(mem: Mem) -> None:
    """An epic is found by a name made of its title: a failure that names it; ids of stories are masked."""
    mem("work", "start", f"{SECRET} gateway", "--story", "S1")
    mem("work", "story", "--add", "wombat-horizon-x=prices")
    said = mem("forget", "--purge", "--text", SECRET, "--yes", code=1).err
    assert "work/wombat-horizon-gateway.md" in said
    assert "[purged]-x" in mem("work", "show", "wombat-horizon-gateway").out
