"""Records become a block in agents' memory files: which, how many, and never a byte beside it."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gitmem.services.memory_files import managed_block
from gitmem.services.memory_files.managed_block import check
from tests.cli.conftest import tip
from tests.conftest import git
from tests.memory_files.conftest import Native


def lines(path: Path) -> list[str]:
    """Return the texts of a file's block."""
    return [
        line.text for one in managed_block.find(path.read_text().split("\n")) for line in one.lines
    ]


def test_the_block_holds_records_by_rank(native: Native) -> None:
    """Pinned, critical gotchas, decisions, rules, tasks, the others; a second push has nothing to do."""
    add = native.mem.add
    add("The port is 8080", "--importance", "9")
    add("Write the docs", "-t", "task")
    add("Always test", "-t", "rule")
    add("Use Postgres", "-t", "decision", "--importance", "3")
    add("Use Kafka", "-t", "decision", "--importance", "8")
    native.mem("gotcha", "add", "It hangs", "--severity", "critical", "--workaround", "wait a bit")
    native.mem("gotcha", "add", "It blinks")
    native.mem("pin", add("Remember me"))
    native.mem("archive", add("Not me"))
    native.mem.add("Only here", "--private")
    native.mem.add("Mine everywhere", "--user")
    done = native("push", "--json").json["pushed_files"]
    assert [(one["action"], len(one["ids"]), one["wanted_count"]) for one in done] == [
        ("written", 10, 10)
    ]
    assert lines(native.memory) == [
        "pinned fact: Remember me",
        "critical gotcha: It hangs — workaround: wait a bit",
        "decision: Use Kafka",
        "decision: Use Postgres",
        "rule: Always test",
        "task: Write the docs",
        "fact: The port is 8080",
        "gotcha: It blinks",
        *lines(native.memory)[8:],
    ]
    assert set(lines(native.memory)[8:]) == {"fact: Only here", "fact: Mine everywhere"}
    assert stat.S_IMODE(native.memory.stat().st_mode) == 0o600
    before = native.memory.read_bytes(), native.memory.stat().st_mtime_ns
    assert native("push", "--json").json["pushed_files"][0]["action"] == "same"
    assert (native.memory.read_bytes(), native.memory.stat().st_mtime_ns) == before
    native.memory.unlink()
    native("push")
    assert native.memory.read_bytes() == before[0]


def test_the_limits_of_a_memory_file(native: Native) -> None:
    """200 lines and 25,000 bytes in all, what the agent wrote counted; the best records have the room."""
    native.mem("list")
    for n in range(12):
        native.mem.add(
            f"Rule {n} " + "of many words " * 18, "-t", "rule", "--importance", str(n % 10)
        )
    own = "".join(f"- The agent noted thing number {n} here.\n" for n in range(190))
    native.write(str(native.memory), own)
    done = native("push", "--json").json["pushed_files"][0]
    assert (done["action"], done["line_count"], len(done["ids"])) == ("written", 200, 5)
    assert native.memory.read_text().startswith(own)
    assert all("9" in line or "8" in line or "7" in line for line in lines(native.memory)[:1])
    native.write(
        str(native.memory),
        own[:24_000].rpartition("\n")[0] + "\n" if False else "- " + "x y " * 6_000 + "\n",
    )
    done = native("push", "--json").json["pushed_files"][0]
    assert done["size_bytes"] <= 25_000 and 0 < len(done["ids"]) < 5
    native.write(str(native.memory), own + own)
    done = native("push", "--json").json["pushed_files"][0]
    assert (done["action"], len(done["ids"])) == ("full", 0)
    assert native.memory.read_text() == own + own
    assert "over limit: 380 of 200 lines" in native("status").out


def test_what_the_agent_reads_anyway_is_not_repeated(native: Native) -> None:
    """Records from Claude's files are not in its block, those from others' are; nor is a line of its own file."""
    native.write("CLAUDE.md", "- Claude reads this itself.\n", track=True)
    native.write("GEMINI.md", "- Gemini alone reads this.\n", track=True)
    native.write(str(native.memory), "- Claude noted this itself.\n")
    native.mem.add("Claude noted this itself", "--user")
    native("sync")
    assert lines(native.memory) == ["fact: Gemini alone reads this."]
    native("push", "--to", "gemini")
    assert lines(native.root / "GEMINI.md") == ["fact: Claude reads this itself."]


def test_tracked_files_are_named_and_hold_nothing_private(native: Native) -> None:
    """GEMINI.md and AGENTS.md on request alone, with the shared store; a file that git ignores may hold all."""
    native.mem.add("Everybody knows")
    native.mem.add("Nobody knows", "--private")
    native.mem.add("I know", "--user")
    native.write("GEMINI.md", "# Gemini\r\n\r\nWords here.\r\n", track=True)
    native("push")
    assert git(native.root, "status", "--porcelain") == ""
    done = native("push", "--to", "gemini,agents", "--to", "CLAUDE.md", "--json").json
    assert [one["memory_file"] for one in done["pushed_files"]] == [
        "GEMINI.md",
        "AGENTS.md",
        "CLAUDE.md",
    ]
    for name in ("GEMINI.md", "AGENTS.md", "CLAUDE.md"):
        assert lines(native.root / name) == ["fact: Everybody knows"]
    data = (native.root / "GEMINI.md").read_bytes()
    assert data.startswith(
        b"# Gemini\r\n\r\nWords here.\r\n\r\n<!-- git-mem: begin memory 1 "
    ) and data.count(b"\r\n") == data.count(b"\n")
    native.write(".gitignore", "CLAUDE.local.md\n")
    native("push", "--to", "CLAUDE.local.md")
    assert set(lines(native.root / "CLAUDE.local.md")) == {
        "fact: Everybody knows",
        "fact: Nobody knows",
        "fact: I know",
    }


def test_an_agent_has_a_block_of_its_own(native: Native) -> None:
    """On request, or where its file is and git does not track it; with its records alone."""
    native.mem.add("For all of us")
    native.mem.add("For the reviewer", "--agent", "reviewer")
    native("push")
    assert lines(native.memory) == ["fact: For all of us"]
    mine = native.root / ".claude/agent-memory/reviewer/MEMORY.md"
    assert not mine.exists()
    native("push", "--to", "agent:reviewer")
    assert lines(mine) == ["fact: For the reviewer"]
    native.mem.add("For the reviewer too", "--agent", "reviewer")
    native("push")
    assert len(lines(mine)) == 2
    git(native.root, "add", ".claude")
    git(native.root, "commit", "-qm", "shared")
    native.mem.add("For the reviewer also", "--agent", "reviewer")
    native("push")
    assert len(lines(mine)) == 2 and git(native.root, "status", "--porcelain") == ""


def test_an_edited_line_changes_its_record(native: Native) -> None:
    """Label and id may stay; a workaround is one too. A line that was added is remembered; one that was taken out is told."""
    id = native.mem.add("Use Postgres", "-t", "decision")
    trap = native.mem("gotcha", "add", "It hangs", "--workaround", "wait", "--json").json["id"]
    native.mem.add("Going soon")
    native("push")
    text = (
        native.memory.read_text()
        .replace("decision: Use Postgres", "decision: Use Postgres <17>")
        .replace("workaround: wait", "workaround: restart")
    )
    text = "\n".join(line for line in text.split("\n") if "Going soon" not in line).replace(
        "<!-- git-mem: end", "- Written into the block\n<!-- git-mem: end"
    )
    native.memory.write_text(text)
    done = native("push")
    assert "1 line was taken out of the block" in done.err
    assert (native.mem.show(id)["title"], native.mem.show(trap)["workaround"]) == (
        "Use Postgres <17>",
        "restart",
    )
    assert set(lines(native.memory)) == {
        "decision: Use Postgres ‹17›",
        "gotcha: It hangs — workaround: restart",
        "fact: Going soon",
        "fact: Written into the block",
    }
    before = tip(native.root)
    native("sync")
    assert tip(native.root) == before


@pytest.mark.parametrize(("later", "winner"), [(60, "Use MySQL"), (-3600, "Use SQLite")])
def test_both_changed(native: Native, later: int, winner: str) -> None:
    """The newer one wins; the other is in the record's history."""
    id = native.mem.add("Use Postgres", "-t", "decision")
    native("push")
    native.mem("edit", id, "--title", "Use SQLite")
    native.memory.write_text(native.memory.read_text().replace("Use Postgres", "Use MySQL"))
    now = native.memory.stat().st_mtime
    os.utime(native.memory, (now + later,) * 2)
    out = native("push").out
    assert "conflict" in out and f"git mem log {id[-8:]}" in out
    assert native.mem.show(id)["title"] == winner
    assert lines(native.memory) == [f"decision: {winner}"]
    log = git(native.root, "log", "-p", "refs/gitmem/heads/main")
    assert all(f"# Use {name}" in log for name in ("Postgres", "SQLite", "MySQL"))
    assert "conflict" not in native("sync").out


def test_what_a_record_says_cannot_leave_its_line(native: Native) -> None:
    """No marker, no import, no markup, no second line."""
    native.mem.add(
        "Done. <!-- git-mem: end memory --> @../../etc/passwd\x1b[0m \u202eevil", "-m", "body"
    )
    native.mem("gotcha", "add", "One", "--workaround", "two\n- three\n# four @~/x.md")
    native("push")
    text = native.memory.read_text()
    assert text.count("<!--") == 2 and " @" not in text and len(text.splitlines()) == 6
    assert "\x1b" not in text and "\u202e" not in text


def test_a_link_and_a_mode_are_kept(native: Native, tmp_path: Path) -> None:
    """The user's dotfiles may be elsewhere."""
    native.mem.add("Everybody knows")
    real = tmp_path / "dotfiles.md"
    real.write_text("mine\n")
    real.chmod(0o640)
    native.memory.parent.mkdir(parents=True)
    native.memory.symlink_to(real)
    native("push")
    assert native.memory.is_symlink() and lines(real) == ["fact: Everybody knows"]
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert os.listdir(tmp_path).count("dotfiles.md") == 1 and not [
        name for name in os.listdir(tmp_path) if name.endswith(".tmp")
    ]


def test_files_that_cannot_be_written(native: Native) -> None:
    """A clear message, exit code 1; the other files are written."""
    native.mem.add("Everybody knows")
    path = native.write("GEMINI.md", "words\n")
    path.chmod(0o444)
    done = native("push", "--to", "gemini,agents", code=1)
    assert "GEMINI.md' is read-only" in done.err and "chmod" in done.err
    assert path.read_text() == "words\n" and lines(native.root / "AGENTS.md")
    (native.root / "CLAUDE.md").mkdir()
    assert "not a regular file" in native("push", "--to", "CLAUDE.md", code=1).err
    assert (
        native("push", "--to", "gemini", "--json", code=1)
        .json["failures"][0]["message"]
        .endswith("is read-only.")
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gemni", "not a known memory file"),
        ("README.md", "not a known memory file"),
        ("../GEMINI.md", "not in this repository"),
        ("/etc/AGENTS.md", "not in this repository"),
        ("agent:../x", "not a name of an agent"),
        ("out/AGENTS.md", "leads out of it"),
        ("secret/AGENTS.md", ".gitmemignore"),
    ],
)
def test_names_that_stand_for_nothing(native: Native, tmp_path: Path, name: str, said: str) -> None:
    """Nothing is written, anywhere."""
    native.mem.add("Everybody knows")
    (native.root / "out").symlink_to(tmp_path)
    native.write(".gitmemignore", "secret/\n")
    assert said in native("push", "--to", f"claude,{name}", code=1).err
    assert not native.memory.exists()
    assert "--to is empty" in native("push", "--to", ",", code=2).err


def test_without_claude_and_without_records(native: Native) -> None:
    """No folder is made for a program that was never used, no file for nothing."""
    assert "nothing to write" in native("push").out
    assert not native.memory.exists()
    native.mem.add("Everybody knows")
    (native.home / ".claude").rmdir()
    assert "--to claude" in native("push").out
    assert not (native.home / ".claude").exists()
    native("push", "--to", "claude")
    assert lines(native.memory) == ["fact: Everybody knows"]


def test_the_block_goes_with_its_last_record(native: Native) -> None:
    """What is around it stays."""
    id = native.mem.add("Everybody knows")
    native.write(str(native.memory), "mine")
    native("push")
    assert native.memory.read_text().startswith(
        "mine\n\n<!--"
    ) and not native.memory.read_text().endswith("\n")
    native.mem("archive", id)
    assert "took the block out" in native("push").out
    assert native.memory.read_text() == "mine"


def test_the_way_back(native: Native) -> None:
    """The block can be taken out of a file while its records stay; an edit in it is taken over first."""
    id = native.mem.add("Everybody knows")
    native.write(str(native.memory), "mine\n\n")
    native("push")
    native.memory.write_text(native.memory.read_text().replace("Everybody", "Nobody"))
    assert "took the block out" in native("push", "--remove").out
    assert (
        native.memory.read_text() == "mine\n\n" and native.mem.show(id)["title"] == "Nobody knows"
    )
    assert "has no block" in native("push", "--remove").out


def test_the_way_back_needs_no_name(native: Native) -> None:
    """`--remove` alone finds every file here that has a block, also when the memory is gone; a wipe and an uninstall say so."""
    native.mem.add("Everybody knows")
    native.write("GEMINI.md", "mine\n")
    native("push", "--to", "gemini,agents")
    hint = "GEMINI.md, AGENTS.md have a block of records, which stays; to take it out: git mem native push --remove\n"
    assert hint in native.mem("uninstall", "claude").err
    assert hint in native.mem("uninstall", "--wipe", "--yes").err
    out = native("push", "--remove").out
    assert "out of GEMINI.md" in out and "out of AGENTS.md" in out
    assert (native.root / "GEMINI.md").read_text() == "mine\n" and (
        native.root / "AGENTS.md"
    ).read_text() == ""
    assert "have a block" not in native.mem("uninstall", "claude").err


def test_a_dry_run_writes_nothing(native: Native) -> None:
    """It tells the same."""
    native.mem.add("Everybody knows")
    before = tip(native.root)
    assert "would write 1 of 1 records" in native("sync", "--dry-run").out
    assert not native.memory.exists() and tip(native.root) == before


def test_what_nobody_confirmed_is_not_written(native: Native) -> None:
    """A captured gotcha waits for its confirmation."""
    for _ in range(3):
        native.mem("error", "record", "KeyError: 'TAX'")
    assert native.mem("inbox", "--json").json
    assert "nothing to write" in native("push").out


def test_another_folder_for_auto_memory(native: Native, tmp_path: Path) -> None:
    """As the user's settings or environment have it; long names of folders end in a hash."""
    native.mem.add("Everybody knows")
    native.write("~/.claude/settings.json", '{"autoMemoryDirectory": "~/notes"}')
    native("push")
    assert lines(native.home / "notes/MEMORY.md") == ["fact: Everybody knows"]
    (tmp_path / "config").mkdir()
    native("push", env={"CLAUDE_CONFIG_DIR": str(tmp_path / "config")})
    assert lines(
        tmp_path / "config/projects" / native.memory.parent.parent.name / "memory/MEMORY.md"
    )


def block_of(native: Native, name: str) -> dict[str, Any]:
    """Return what `status` knows of the block of a file."""
    (row,) = (
        row for row in native("status", "--json").json["memory_files"] if row["memory_file"] == name
    )
    found: dict[str, Any] = row["block"]
    return found


def test_a_block_that_is_there_is_kept_current(native: Native) -> None:
    """Named once, each sync writes it, tracked or not; until then status says how far it is behind; no file gets one that had none."""
    native.mem.add("First")
    second = native.mem.add("Second")
    native.write("AGENTS.md", "# Agents\n", track=True)
    native.write("CLAUDE.md", "# Nothing here\n", track=True)
    native("push", "--to", "gemini,agents")
    git(native.root, "add", "AGENTS.md")
    git(native.root, "commit", "-qm", "block")
    assert block_of(native, "GEMINI.md")["in_step"] and block_of(native, "AGENTS.md")["in_step"]
    native.mem.add("Third")
    native.mem("archive", second)
    native.mem("edit", native.record("First")["id"], "--title", "First of all")
    for name in ("GEMINI.md", "AGENTS.md"):
        block = block_of(native, name)
        assert (block["in_step"], block["counts"]) == (False, {"new": 1, "gone": 1, "changed": 1})
        assert (
            "block stale (1 to write, 1 changed, 1 to take out): git mem native sync"
            in native("status").out
        )
    assert "would write 2 of 2 records into GEMINI.md" in native("sync", "--dry-run").out
    native("sync")
    for name in ("GEMINI.md", "AGENTS.md"):
        assert (
            set(lines(native.root / name)) == {"fact: First of all", "fact: Third"}
            and block_of(native, name)["in_step"]
        )
    assert (
        "stale" not in native("status").out
        and "git-mem" not in (native.root / "CLAUDE.md").read_text()
    )
    before = (native.root / "GEMINI.md").stat().st_mtime_ns
    native("sync")
    assert (native.root / "GEMINI.md").stat().st_mtime_ns == before


def test_status_tells_whose_the_records_of_a_block_are(native: Native) -> None:
    """A file that git does not track, with shared records in its block alone, is nobody's private memory."""
    native.mem.add("Everybody knows")
    native("push", "--to", "gemini")
    out = native("status").out
    assert (
        "GEMINI.md: nothing of its own; block: 1 shared record, 5 lines" in out
        and "private" not in out
    )
    assert block_of(native, "GEMINI.md")["record_counts"] == {"shared": 1}
    native.write("GEMINI.md", "- Only here it is said.\n" + (native.root / "GEMINI.md").read_text())
    native("sync")
    assert "GEMINI.md (private): 1 record; in step; block: 1 shared record" in native("status").out


def test_the_order_alone_is_no_change(native: Native) -> None:
    """A record that was looked at goes up, and a file that git may track stays as it is."""
    for title in ("First", "Second", "Third"):
        native.mem.add(title, "-t", "rule")
    native("push", "--to", "gemini")
    path = native.root / "GEMINI.md"
    rows = path.read_text().split("\n")
    told = [n for n, row in enumerate(rows) if row.startswith("- ")]
    rows[told[0]], rows[told[2]] = rows[told[2]], rows[told[0]]
    path.write_text("\n".join(rows))
    assert block_of(native, "GEMINI.md")["in_step"]
    native("sync")
    assert path.read_text() == "\n".join(rows)


def test_a_push_does_not_tell_of_pulls(native: Native) -> None:
    """Nobody asked for one."""
    native.write("CLAUDE.md", "- Always run the tests here.\n", track=True)
    native("pull")
    native.mem.add("Everybody knows")
    native("push", "--to", "gemini")
    text = (native.root / "GEMINI.md").read_text().split("\n")
    native.write("GEMINI.md", "\n".join(row for row in text if not row.startswith("- ")))
    done = native("push", "--to", "gemini")
    assert (
        "pull" not in done.out + done.err
        and "taken out of the block" in done.err
        and "wrote 2 of 2 records" in done.out
    )


def test_a_rule_is_pushed_with_its_exception(native: Native) -> None:
    """From Claude's memory into Gemini's: whoever reads the line reads when it does not hold; steps come with their heading."""
    native.write(
        "CLAUDE.md",
        "- never push\n  - except typos in docs\n\n## Release\n1. run `make dist`\n2. sign the tag\n",
        track=True,
    )
    native("pull")
    native("push", "--to", "gemini")
    assert set(lines(native.root / "GEMINI.md")) == {
        "rule: never push, except typos in docs",
        "fact: Release: 1. run `make dist`; 2. sign the tag",
    }
    assert native.pull() == {"same": 2}


def test_a_clone_that_is_behind_leaves_the_block_of_the_others(
    native: Native, tmp_path: Path
) -> None:
    """A fresh clone has the file and not yet the store: its sync takes nothing out of the file, unless somebody names it."""
    native.mem.add("Everybody knows")
    gone = native.mem.add("Nobody needs this")
    native("push", "--to", "gemini")
    git(native.root, "add", "GEMINI.md")
    git(native.root, "commit", "-qm", "block")
    git(tmp_path, "clone", "-q", str(native.root), "other")
    other = Native(native.mem.at(tmp_path / "other"), tmp_path / "other", native.home)
    other.mem.add("Only here")
    before = (other.root / "GEMINI.md").read_bytes()
    done = other("sync")
    assert (other.root / "GEMINI.md").read_bytes() == before
    assert (
        "GEMINI.md is left as it is." in done.out
        and "2 records that this store never had" in done.err
        and "--to GEMINI.md" in done.err
    )
    assert (
        "block left as it is (2 that this store does not have): git mem sync" in other("status").out
    )
    other("push", "--to", "gemini")
    assert lines(other.root / "GEMINI.md") == ["fact: Only here"]
    native.mem("forget", gone)  # that is not a stranger
    native("sync")
    assert lines(native.root / "GEMINI.md") == ["fact: Everybody knows"]


def test_a_clone_that_is_behind_takes_back_no_words(native: Native, tmp_path: Path) -> None:
    """Another clone gave a record other words, and its block came with a branch: a sync here leaves it until this store has them; what is old here is written."""
    native.mem.add("Deploy on Mondays")
    native.mem.add("Gone soon")
    native("push", "--to", "gemini")
    git(native.root, "add", "GEMINI.md")
    git(native.root, "commit", "-qm", "block")
    old = (native.root / "GEMINI.md").read_bytes()
    assert block_of(native, "GEMINI.md")["in_step"]
    native.mem("edit", native.record("Deploy on Mondays")["id"], "--title", "Deploy on Tuesdays")
    native("sync")
    mine = (native.root / "GEMINI.md").read_bytes()
    assert b"Tuesdays" in mine
    text = mine.decode().replace("fact: Deploy on Tuesdays", "fact: Deploy on Fridays")
    theirs = text.replace(
        f"-{check('fact: Deploy on Tuesdays')})", f"-{check('fact: Deploy on Fridays')})"
    ).encode()
    native.write("GEMINI.md", theirs)
    native.mem.add("And this")
    done = native("sync")
    assert (native.root / "GEMINI.md").read_bytes() == theirs and native.titles() >= {
        "Deploy on Tuesdays"
    }
    assert (
        "GEMINI.md is left as it is." in done.out
        and "1 record that this store never had in these words: git mem sync" in done.err
    )
    assert (
        "block left as it is (1 in words that this store does not have): git mem sync"
        in native("status").out
    )
    native.write("GEMINI.md", old)  # what this store had once is old, and nobody's news
    native("sync")
    assert set(lines(native.root / "GEMINI.md")) == {
        "fact: Deploy on Tuesdays",
        "fact: Gone soon",
        "fact: And this",
    }
