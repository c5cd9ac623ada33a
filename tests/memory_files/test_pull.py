"""Agents' memory files become records: which, where, and what happens when they change."""

import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.services.memory_files import statements
from tests.cli.conftest import PRIVATE, Mem, commits, spawn, tip
from tests.conftest import fsck, git
from tests.json_output import data_of
from tests.memory_files.conftest import Native

RULES = "# Shop\n\n- Always run the tests before a commit.\n- Never push to main.\n- We decided to use Postgres.\n"


def test_each_statement_becomes_a_record_once(native: Native) -> None:
    """A second pull changes nothing, not even a commit."""
    native.write("CLAUDE.md", RULES, track=True)
    assert native.pull() == {"new": 3}
    record = native.record("Never push to main.")
    assert (record["type"], record["origin"], record["kind"]) == ("rule", "imported", "memory")
    assert [(a["path"], a["lines"]) for a in record["anchors"]] == [("CLAUDE.md", [4, 4])]
    assert (record["source"]["file"], record["source"]["line"]) == ("CLAUDE.md", 4)
    before = commits(native.root)
    assert native.pull() == {"same": 3}
    assert commits(native.root) == before
    assert commits(native.root) == 2  # the store's first, and one for all


def test_lines_that_change_move_and_go(native: Native) -> None:
    """The same record follows; one that is gone is put aside, and comes back with its line."""
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    pg, push = (
        native.record("We decided to use Postgres.")["id"],
        native.record("Never push to main.")["id"],
    )
    native.write(
        "CLAUDE.md",
        "# Shop\n\n- A new line is at the top.\n- Always run the tests before a commit.\n- We decided to use Postgres with pgbouncer.\n",
        track=True,
    )
    assert native.pull() == {"archived": 1, "changed": 1, "moved": 1, "new": 1}
    record = native.record("We decided to use Postgres with pgbouncer.")
    assert (record["id"], record["anchors"][0]["lines"]) == (pg, [5, 5])
    assert native.record("Always run the tests before a commit.")["anchors"][0]["lines"] == [4, 4]
    assert native.record("Never push to main.")["status"] == "archived"
    assert "Never push to main." not in native.titles()
    native.write("CLAUDE.md", RULES, track=True)
    assert native.pull() == {"archived": 1, "changed": 1, "moved": 1, "restored": 1}
    assert native.record("Never push to main.")["id"] == push
    native.mem("restore", native.record("A new line is at the top.")["id"])


def test_what_a_person_put_aside_or_forgot_stays_so(native: Native) -> None:
    """Their line is still in the file, in another one too."""
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    native.mem("archive", native.record("Never push to main.")["id"])
    native.mem("forget", native.record("We decided to use Postgres.")["id"])
    native.write("GEMINI.md", "- Never push to main.\n- We decided to use Postgres.\n", track=True)
    assert native.pull() == {"same": 3, "forgotten": 2}
    assert native.titles() == {"Always run the tests before a commit."}


def test_a_pinned_record_outlives_its_line(native: Native) -> None:
    """It is no more the file's."""
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    native.mem("pin", native.record("Never push to main.")["id"])
    native.write("CLAUDE.md", RULES.replace("- Never push to main.\n", ""), track=True)
    native.pull()
    record = native.record("Never push to main.")
    assert record["status"] == "pinned" and "source" not in record
    assert "moved" not in native.pull()


def test_what_is_there_is_not_taken_twice(native: Native) -> None:
    """A record by hand, and the same line in two files; a line that goes to the other file takes its record along."""
    native.mem.add("Never push to MAIN")
    native.write("CLAUDE.md", RULES, track=True)
    native.write("AGENTS.md", "- We decided to use Postgres.\n", track=True)
    assert native.pull() == {"new": 2, "duplicate": 2}
    id = native.record("Always run the tests before a commit.")["id"]
    native.write("CLAUDE.md", "- We decided to use Postgres.\n", track=True)
    native.write("AGENTS.md", "- Always run the tests before a commit.\n", track=True)
    assert native.pull() == {"moved": 2}
    record = native.record("Always run the tests before a commit.")
    assert (record["id"], record["source"]["file"], record["anchors"][0]["path"]) == (
        id,
        "AGENTS.md",
        "AGENTS.md",
    )


def test_each_file_has_its_store(native: Native) -> None:
    """Tracked: shared; untracked, local and auto memory: private; the user's: the user's own; an agent's: its namespace."""
    native.write("CLAUDE.md", "- In the shared store it is.\n", track=True)
    native.write("pkg/CLAUDE.md", "- Nested it is shared too.\n", track=True)
    native.write(".claude/CLAUDE.md", "- In the folder it is shared.\n", track=True)
    native.write(
        ".claude/agent-memory/reviewer/MEMORY.md", "- The reviewer knows it well.\n", track=True
    )
    native.write(".claude/agent-memory-local/tester/MEMORY.md", "- The tester knows it here.\n")
    native.write("GEMINI.md", "- Untracked it is private.\n")
    native.write("CLAUDE.local.md", "- Local it is private.\n", track=True)
    native.write(str(native.memory), "- Auto memory is private.\n")
    native.write(str(native.root.parent / "CLAUDE.md"), "- The workspace is private.\n")
    native.write("~/.claude/CLAUDE.md", "- Of mine it is everywhere.\n")
    native.write("~/.claude/agent-memory/helper/MEMORY.md", "- The helper knows it everywhere.\n")
    native.write(
        "~/.gemini/GEMINI.md", "# Me\n\n## Gemini Added Memories\n- The user likes tea a lot.\n"
    )
    native.write("~/.codex/AGENTS.md", "- Codex is told this everywhere.\n")
    assert native.pull() == {"new": 13}
    rows = {
        row["title"]: (row["store"], row["agent"])
        for row in native.mem("list", "--agent", "all", "--json").json
    }
    assert rows == {
        "In the shared store it is.": ("shared", "global"),
        "Nested it is shared too.": ("shared", "global"),
        "In the folder it is shared.": ("shared", "global"),
        "The reviewer knows it well.": ("shared", "reviewer"),
        "The tester knows it here.": ("private", "tester"),
        "Untracked it is private.": ("private", "global"),
        "Local it is private.": ("private", "global"),
        "Auto memory is private.": ("private", "global"),
        "The workspace is private.": ("private", "global"),
        "Of mine it is everywhere.": ("user", "global"),
        "The helper knows it everywhere.": ("user", "helper"),
        "The user likes tea a lot.": ("user", "global"),
        "Codex is told this everywhere.": ("user", "global"),
    }
    told = native.record("The user likes tea a lot.")
    assert told["source"]["file"] == "~/.gemini/GEMINI.md"
    assert "From:         ~/.gemini/GEMINI.md:4\n" in native.mem("show", told["id"]).out
    assert native.pull() == {"same": 13}


def test_a_file_that_becomes_everybodys(native: Native) -> None:
    """Its records go to the shared store, with their ids."""
    native.write("CLAUDE.md", RULES)
    native.pull()
    id = native.record("Never push to main.")["id"]
    assert native.mem.show(id)["store"] == "private"
    git(native.root, "add", "CLAUDE.md")
    git(native.root, "commit", "-qm", "ours")
    assert native.pull() == {"moved": 3}
    assert native.mem.show(id)["store"] == "shared"
    assert not data_of(native.mem("list", "--private", "--json").out)
    assert native.pull() == {"same": 3}


def test_rules_have_their_globs_and_topics_are_whole(native: Native) -> None:
    """A rule's paths are its places; a topic file of auto memory is one record, and the index's line for it none."""
    native.write(
        ".claude/rules/web/ts.md",
        '---\npaths:\n  - "web/**/*.{ts,tsx}"\n  - pkg\n---\n# Components\n\n- Components never use classes.\n',
        track=True,
    )
    (native.root / "pkg").mkdir()
    native.write(
        str(native.memory),
        "- [Tone](user_tone.md) — how to answer\n- [Gone](gone.md) is not there\n",
    )
    native.write(
        str(native.memory.parent / "user_tone.md"),
        "---\nname: tone\ndescription: The user wants short answers\nmetadata:\n  type: user\n---\n\nNo greetings.\n\nNo lists.\n",
    )
    native.pull()
    globs = [
        a["glob"] for a in native.record("Components never use classes.")["anchors"] if "glob" in a
    ]
    assert globs == ["pkg/**", "web/**/*.ts", "web/**/*.tsx"]
    record = native.record("The user wants short answers")
    assert (record["type"], record["body"]) == ("preference", "No greetings.\n\nNo lists.\n")
    assert native.titles() == {
        "Components never use classes.",
        "The user wants short answers",
        "[Gone](gone.md) is not there",
    }


def test_imports_are_followed_inside_only(native: Native) -> None:
    """Round in a circle too; what is outside is told."""
    native.write(
        "CLAUDE.md", "@docs/a.md\n@../out.md\n@~/mine.md\n@docs/none.md\n@code.py\n", track=True
    )
    native.write("docs/a.md", "- Dates are stored in UTC.\nSee @b.md too.\n", track=True)
    native.write("docs/b.md", "- Money is stored in cents.\n@a.md\n", track=True)
    native.write(str(native.root.parent / "out.md"), "- Not to be read at all.\n")
    native.write("~/mine.md", "- Not to be read either.\n")
    done = native("pull")
    assert native.titles() == {
        "Dates are stored in UTC. See @b.md too.",
        "Money is stored in cents.",
    }
    assert done.err.count("outside of the repository") == 2
    assert (
        "docs/none.md, which is not there" in done.err
        and "code.py, which is not Markdown" in done.err
    )


def test_links_do_not_lead_out(native: Native) -> None:
    """A file outside is not read through a link; a link inside is the same file."""
    secret = native.write(
        str(native.root.parent / "elsewhere.md"), "- The password list is here.\n"
    )
    (native.root / "CLAUDE.md").symlink_to(secret)
    native.write("AGENTS.md", "- Inside it is read once.\n", track=True)
    (native.root / "GEMINI.md").symlink_to("AGENTS.md")
    (native.root / "sub").mkdir()
    (native.root / "sub/CLAUDE.md").symlink_to("nowhere.md")
    done = native("pull")
    assert native.titles() == {"Inside it is read once."}
    assert (
        "CLAUDE.md is a link that leads out of the repository" in done.err
        and "sub/CLAUDE.md is a link that leads nowhere" in done.err
    )


def test_ignored_files_and_secrets_stay_out(native: Native) -> None:
    """.gitmemignore is heeded; a key is masked, and the masked text stays in step."""
    native.write(".gitmemignore", "secret/\nGEMINI.md\n")
    native.write("secret/CLAUDE.md", "- The plan is secret here.\n", track=True)
    native.write("GEMINI.md", "- Gemini is ignored here.\n", track=True)
    native.write(
        "CLAUDE.md", "- The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789 for CI.\n", track=True
    )
    done = native("pull")
    assert native.titles() == {"The token is [redacted: GitHub token] for CI."}
    assert done.err.count("is not read: .gitmemignore") == 2
    assert native.pull() == {"same": 1}
    assert "ghp_" not in git(native.root, "log", "-p", "refs/gitmem/heads/main")


@pytest.mark.parametrize(
    ("data", "said", "titles"),
    [
        (b"- Caf\xe9 is latin.\n- Plain is fine here.\n", "is not UTF-8", {"Plain is fine here."}),
        (b"\xef\xbb\xbf- A mark is not a letter.\r\n", "", {"A mark is not a letter."}),
        ("- Sixteen bits are read.\n".encode("utf-16"), "", {"Sixteen bits are read."}),
        (b"- Some zeros\0are in here.\n", "is not a text file", set()),
        (
            b"- Kept is the beginning.\n" + b"x" * (1 << 20),
            "only its beginning is read",
            {"Kept is the beginning."},
        ),
        (
            b"- Emoji \xf0\x9f\x98\x80 and \xe4\xb8\xad\xe6\x96\x87 are fine.\n",
            "",
            {"Emoji 😀 and 中文 are fine."},
        ),
        (b"- \x1b[31mRed\x1b[0m is shown plainly.\n", "", {"�[31mRed�[0m is shown plainly."}),
        (b"", "", set()),
    ],
    ids=["latin-1", "bom", "utf-16", "binary", "huge", "emoji", "escapes", "empty"],
)
def test_odd_bytes(native: Native, data: bytes, said: str, titles: set[str]) -> None:
    """What can be read is; a pull again finds it in step."""
    native.write("CLAUDE.md", data, track=True)
    done = native("pull")
    assert native.titles() == titles
    assert said in done.err
    assert native.pull() == ({"same": len(titles)} if titles else {})


def test_odd_names(native: Native) -> None:
    """Folders with spaces, emoji, line ends, and bytes that are no UTF-8."""
    native.write("a b/CLAUDE.md", "- One is in a space.\n", track=True)
    native.write("é😀/CLAUDE.md", "- Two is in an emoji.\n", track=True)
    native.write("x\ny/CLAUDE.md", "- Three is in a line end.\n", track=True)
    path = os.path.join(os.fsencode(native.root), b"\xff")
    os.mkdir(path)
    with open(os.path.join(path, b"CLAUDE.md"), "wb") as file:
        file.write(b"- Four is in a byte.\n")
    assert native.pull() == {"new": 4}
    assert native.pull() == {"same": 4}
    shutil.rmtree(native.root / "a b")
    git(native.root, "commit", "-qam", "gone")
    assert native.pull() == {"archived": 1, "same": 3}


def test_many_and_a_named_pipe(native: Native) -> None:
    """A file has an end for us, and a pipe does not block."""
    native.write(
        "CLAUDE.md", "".join(f"- Rule number {n} is that.\n" for n in range(600)), track=True
    )
    os.mkfifo(native.root / "GEMINI.md")
    done = native("pull", "--json").json
    assert done["counts"] == {"new": 500}
    assert any("100 statements too many" in note for note in done["notes"])
    assert native.pull() == {"same": 500}


def test_a_change_on_both_sides(native: Native) -> None:
    """The newer one wins, and history has the other; once settled it is settled."""
    native.write("CLAUDE.md", RULES, track=True)
    for ago, winner in (
        (-60, "Never push to main or release."),
        (3600, "Nobody pushes to main, ever."),
    ):
        native.write("CLAUDE.md", RULES, track=True) if (
            native.root / "CLAUDE.md"
        ).read_text() != RULES else None
        native.pull()
        id = next(
            r["id"]
            for r in native.mem("list", "--json").json
            if r["source" if False else "title"].startswith(("Never push", "Nobody"))
        )
        native.mem("edit", id, "--title", "Nobody pushes to main, ever.")
        path = native.write(
            "CLAUDE.md",
            RULES.replace("Never push to main.", "Never push to main or release."),
            track=True,
        )
        os.utime(path, (path.stat().st_mtime - ago,) * 2)
        done = native("pull", "--json").json
        (conflict,) = [one for one in done["pulled_lines"] if one["action"] == "conflict"]
        assert conflict["id"] == id and conflict["title"] == winner
        log = git(native.root, "log", "-p", "refs/gitmem/heads/main")
        assert "# Never push to main or release." in log and "# Nobody pushes to main, ever." in log
        assert set(native.pull()) == {"same"}
        native.mem("edit", id, "--title", "Never push to main.")


def test_another_branch_is_no_deletion(
    native: Native, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A work tree whose history lacks the line leaves the record alone; one that removed it does not."""
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    git(native.root, "branch", "old")
    native.write("CLAUDE.md", RULES + "- A line came later here.\n", track=True)
    native.write(
        "CLAUDE.md",
        (RULES + "- A line came later here.\n").replace("Postgres.", "Postgres with pgbouncer."),
        track=True,
    )
    native.pull()
    other = tmp_path / "linked"
    git(native.root, "worktree", "add", "-q", str(other), "old")
    before = tip(native.root)
    linked = Native(native.mem.at(other), other, native.home)
    assert linked.pull() == {"held": 2, "same": 2}
    assert tip(native.root) == before
    native.write("CLAUDE.md", RULES.replace("- Never push to main.\n", ""), track=True)
    assert native.pull()["archived"] == 2


def test_work_trees_have_files_of_their_own(native: Native, tmp_path: Path) -> None:
    """What git does not track is in one work tree alone; auto memory is for all."""
    native.write("CLAUDE.local.md", "- Only in the first one.\n")
    native.write(str(native.memory), "- In all work trees alike.\n")
    native.pull()
    other = tmp_path / "linked"
    git(native.root, "worktree", "add", "-q", str(other))
    linked = Native(native.mem.at(other), other, native.home)
    linked.write("CLAUDE.local.md", "- Only in the second one.\n")
    assert linked.pull() == {"new": 1, "same": 1}
    assert native.pull() == {"same": 2}
    shutil.rmtree(other)
    assert native.pull() == {"same": 2, "archived": 1}


def test_a_work_tree_inside_of_the_main_one(native: Native) -> None:
    """The main one's files are no workspace to it: it has them itself."""
    native.write("CLAUDE.md", RULES, track=True)
    native.write("CLAUDE.local.md", "- Only in the main one.\n")
    path = native.root / ".claude/worktrees/inner"
    git(native.root, "worktree", "add", "-q", str(path))
    inner = Native(native.mem.at(path), path, native.home)
    assert inner.pull() == {"new": 3}
    assert native.pull() == {"same": 3, "new": 1}
    assert inner.pull() == {"same": 3}


def test_two_clones_that_read_the_same(clones: tuple[Mem, Mem], native: Native) -> None:
    """They make the same records, before they have met and after."""
    one, two = (Native(mem, mem.folder, native.home) for mem in clones)
    one.write("CLAUDE.md", RULES, track=True)
    git(one.root, "push", "-q", "origin", "HEAD")
    git(two.root, "pull", "-q", "origin", git(one.root, "branch", "--show-current"))
    assert one.pull() == two.pull() == {"new": 3}
    for mem in (*clones, clones[0]):
        mem("sync")
    assert len(one.titles()) == 3 and tip(one.root) == tip(two.root)
    assert one.pull() == two.pull() == {"same": 3}


def test_a_file_in_the_middle_of_a_merge(native: Native) -> None:
    """Both sides of a conflict are nobody's word: it is not read, and its records stay."""
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    native.write(
        "CLAUDE.md",
        RULES.replace(
            "- Never push to main.\n",
            "<<<<<<< HEAD\n- Never push.\n=======\n- Always push.\n>>>>>>> other\n",
        ),
    )
    done = native("pull")
    assert "in the middle of a merge" in done.err and "nothing to pull" in done.out
    assert "Never push to main." in native.titles()


def test_killed_at_any_moment(native: Native) -> None:
    """The next pull brings what is missing, each once, in one store."""
    import subprocess
    import sys

    native.write("CLAUDE.md", RULES)
    native.pull()
    for number, delay in enumerate((0.15, 0.25, 0.3, 0.35, 0.45)):
        native.write("CLAUDE.md", RULES + f"- Rule number {number} is new.\n", track=True)
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", "native", "pull"],
            cwd=native.root,
            stdout=subprocess.DEVNULL,
        )
        try:
            child.wait(delay)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        native.pull()
        assert native.pull() == {"same": 4}
        rows = [row for row in native.mem("list", "--json").json if row["status"] == "active"]
        assert len(rows) == 4 and {row["store"] for row in rows} == {"shared"}
    assert fsck(native.root) == ""


def test_left_in_two_stores(native: Native) -> None:
    """As a kill between the two commits of a move leaves it: the shared ones count; a drain ends it."""
    native.write("CLAUDE.md", RULES)
    native.pull()
    before = tip(native.root, PRIVATE)
    native.write("CLAUDE.md", RULES, track=True)
    native.pull()
    git(native.root, "update-ref", PRIVATE, before)
    assert native.pull() == {"same": 3}
    native.mem("drain")
    assert not git(native.root, "ls-tree", "-r", "--name-only", PRIVATE, "--", "memories/")
    assert not native.mem("list", "--all", "--private", "--json").json and len(native.titles()) == 3


def test_a_sparse_checkout_is_no_deletion(native: Native) -> None:
    """A file that is left out of the work tree is there all the same."""
    native.write("pkg/CLAUDE.md", RULES, track=True)
    native.pull()
    git(native.root, "sparse-checkout", "set", "--no-cone", "/*", "!pkg/")
    assert not (native.root / "pkg/CLAUDE.md").exists()
    assert native.pull() == {}


@pytest.mark.parametrize("kind", ["empty", "detached", "sha256", "submodule"])
def test_odd_repositories(native: Native, make_repo: object, tmp_path: Path, kind: str) -> None:
    """No commit yet, no branch, other ids."""
    if kind == "empty":
        path = tmp_path / "empty"
        git(tmp_path, "init", "-q", str(path))
    elif kind == "detached":
        path = native.root
        git(path, "checkout", "-q", "--detach")
    else:
        path = make_repo(kind)  # type: ignore[operator]
    one = Native(native.mem.at(path), path, native.home)
    one.write("CLAUDE.md", RULES)
    assert one.pull() == {"new": 3}
    assert one.pull() == {"same": 3}


def test_where_no_agent_works(native: Native, outside: Mem, make_repo: object) -> None:
    """Outside of a repository, in a bare one, without a home: one line that says so."""
    assert "not in a git repository" in outside("native", "pull", code=1).err
    bare = native.mem.at(make_repo("bare"))  # type: ignore[operator]
    for part in ("pull", "push", "sync", "status", "watch-once"):
        assert "bare" in bare("native", part, code=1).err
    assert "HOME" in native("pull", code=1, env={"HOME": ""}).err
    assert "none of its commands" in native("pul", code=2).err


def test_a_dry_run_changes_nothing(native: Native) -> None:
    """It says what a pull would do."""
    native.write("CLAUDE.md", RULES, track=True)
    assert "would be: 3 new" in native("pull", "--dry-run").out
    assert native.pull("--dry-run") == {"new": 3}
    assert tip(native.root) == "" and tip(native.root, PRIVATE) == ""


def test_two_at_once(native: Native) -> None:
    """One waits for the other; each statement is there once."""
    import subprocess
    import sys

    native.write(
        "CLAUDE.md", RULES + "".join(f"- Rule number {n} is that.\n" for n in range(50)), track=True
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-P", "-m", "gitmem", "native", "pull"],
            cwd=native.root,
            stdout=subprocess.DEVNULL,
        )
        for _ in range(3)
    ]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(native.mem("list", "--json").json) == 53


def test_status_counts_each_file(native: Native) -> None:
    """In step, new, changed, deleted, gone: for people and as JSON."""
    native.write("CLAUDE.md", RULES, track=True)
    native.write("GEMINI.md", "- Gemini is told this too.\n", track=True)
    native.pull()
    native.write(
        "CLAUDE.md",
        "- Never push to main or release.\n- We decided to use Postgres.\n- Quite another thing is new here.\n",
    )
    git(native.root, "rm", "-q", "GEMINI.md")
    rows = {row["memory_file"]: row for row in native("status", "--json").json["memory_files"]}
    found = rows["CLAUDE.md"]["counts"]
    assert {
        key: found[key] for key in ("records", "in_step", "new", "changed", "moved", "deleted")
    } == {
        "records": 3,
        "in_step": 0,
        "new": 1,
        "changed": 1,
        "moved": 1,
        "deleted": 1,
    }
    assert (rows["GEMINI.md"]["missing"], rows["GEMINI.md"]["counts"]["deleted"]) == (True, 1)
    out = native("status").out
    assert (
        "CLAUDE.md (shared): 3 records; 1 new, 1 changed, 1 moved, 1 deleted" in out
        and "the file is gone" in out
    )


LINES = st.lists(
    st.sampled_from(
        [
            f"{word} is the {n}th thing of all"
            for n, word in enumerate("amber birch cedar delta ember fjord grove hazel".split())
        ]
    ),
    unique=True,
    max_size=8,
)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(LINES, min_size=2, max_size=4))
def test_the_store_follows_the_file(native: Native, steps: list[list[str]]) -> None:
    """After any row of versions the told records are the file's lines, at their places, and a pull again is idle."""
    for lines in steps:
        native.write("CLAUDE.md", "# Head\n" + "".join(f"- {line}\n" for line in lines))
        native.pull()
        rows = [
            row
            for row in native.mem("list", "--json").json
            if row.get("status", "active") == "active"
        ]
        assert {row["title"]: row["anchors"][0]["lines"][0] for row in rows} == {
            line: n + 2 for n, line in enumerate(lines)
        }
        assert set(native.pull()) <= {"same"}


def test_a_child_process(native: Native) -> None:
    """As `git mem native pull`, with no name for the author."""
    native.write("CLAUDE.md", RULES)
    assert "3 new." in spawn(native.root, "native", "pull").out


def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read files as it was done when a rule and its exception were two records."""
    monkeypatch.setattr(
        statements, "title_with_details", lambda title, below, kind, steps=False: (title, below)
    )
    monkeypatch.setattr(statements, "_SIBLING", re.compile("(?!)"))


GROWN = "# Rules\n\n- Never push to main.\n  - except typos in the documentation of this project\n- Deploy.\n- Always cut from main\n- except for hotfixes of the current release\n- Use tabs here.\n"


def test_records_of_before_keep_their_ids(native: Native) -> None:
    """What was read as a rule alone is one record with its exception afterwards: the same record, with its history, in one pull."""
    native.write("CLAUDE.md", GROWN, track=True)
    with pytest.MonkeyPatch.context() as patch:
        as_before(patch)
        assert native.pull() == {"new": 4}
    rule, cut = (
        native.record("Never push to main.")["id"],
        native.record("Always cut from main")["id"],
    )
    assert native.pull() == {"changed": 2, "archived": 1, "same": 1}
    assert (
        native.record("Never push to main, except typos in the documentation of this project")["id"]
        == rule
    )
    assert (
        native.record("Always cut from main, except for hotfixes of the current release")["id"]
        == cut
    )
    assert native.record("except for hotfixes of the current release")["status"] == "archived"
    assert native.pull() == {"same": 3}


def test_what_was_made_of_records_of_before_stays(native: Native) -> None:
    """Reworded, put aside, forgotten: no conflict, and nothing comes back."""
    native.write(
        "CLAUDE.md",
        GROWN.replace("- Use tabs", "- Never use spaces\n  - except in YAML\n- Use tabs"),
        track=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        as_before(patch)
        native.pull()
    rule = native.record("Never push to main.")["id"]
    native.mem("edit", rule, "--title", "Nobody pushes to main.")
    native.mem("archive", native.record("Always cut from main")["id"])
    native.mem("forget", native.record("Never use spaces")["id"])
    assert native.pull() == {"changed": 1, "archived": 1, "same": 2, "forgotten": 1}
    assert native.titles() == {
        "Nobody pushes to main, except typos in the documentation of this project",
        "Use tabs here.",
    }
    assert (
        native.record("Nobody pushes to main, except typos in the documentation of this project")[
            "id"
        ]
        == rule
    )
    assert native.pull() == {"same": 3, "forgotten": 1}


def test_a_deep_list_stops_no_command(native: Native) -> None:
    """However many bullets are below one another."""
    native.write(
        "CLAUDE.md", "\n".join("  " * n + f"- never nest {n}" for n in range(520)), track=True
    )
    assert "1 new" in native("status").out and native.pull() == {"new": 1}
