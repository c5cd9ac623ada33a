"""`git mem summary`: entries by hand, its history, two clones, an editor."""

from pathlib import Path

import pytest

from tests.cli.conftest import SHARED, Mem, commits
from tests.conftest import git


def entries(mem: Mem, *args: str) -> list[dict]:
    """Return the entries of the summary."""
    return [
        e
        for part in mem("summary", "show", *args, "--json").json["sections"].values()
        for e in part
    ]


def texts(mem: Mem, *args: str) -> list[str]:
    return [e["text"] for e in entries(mem, *args)]


def test_before_the_first_session_it_says_how_it_begins(mem: Mem):
    done = mem("summary")
    assert done.out == ""
    assert "git mem summary add" in done.err
    assert mem("summary", "--json").json["sections"] == {}
    assert mem("summary", "history", "--json").json == []
    assert mem("summary", "diff").err


def test_a_task_that_is_done_is_put_aside_among_the_records_too(mem: Mem):
    record = mem("add", "-t", "task", "Load-test the new isolation level", "--json").json
    other = mem("add", "-t", "task", "Write the runbook of the backups", "--json").json
    task = mem(
        "summary", "add", "--kind", "task", "Load-test the new isolation level", "--json"
    ).json
    done = mem("summary", "done", task["id"])
    assert record["id"] in done.out + done.err
    assert mem("show", record["id"], "--json").json[0]["status"] == "archived"
    assert mem("show", other["id"], "--json").json[0]["status"] == "active"


def test_an_entry_is_put_in_shown_pinned_done_and_dropped(mem: Mem):
    mem("summary", "add", "Use SERIALIZABLE for payments")
    task = mem(
        "summary", "add", "--kind", "task", "Load-test the new isolation level", "--json"
    ).json
    shown = mem("summary", "--ids").out
    for part in ("Decisions\n", "Pending tasks\n", "Use SERIALIZABLE for payments", task["id"][:8]):
        assert part in shown
    (decision,) = entries(mem, "--kind", "decision")
    mem("summary", "pin", decision["id"][:6])
    assert "pinned" in mem("summary").out
    mem("summary", "done", task["id"])
    assert texts(mem, "--kind", "task") == []
    assert texts(mem, "--kind", "done") == ["Load-test the new isolation level"]
    mem("summary", "unpin", decision["id"])
    (dropped,) = mem("summary", "drop", decision["id"], "--json").json
    assert (dropped["id"], dropped["text"], dropped["store"]) == (
        decision["id"],
        decision["text"],
        "shared",
    )
    assert texts(mem, "--kind", "decision") == []


def test_the_same_entry_is_no_second_one_and_no_commit(mem: Mem):
    mem("summary", "add", "Use SERIALIZABLE for payments")
    before = commits(mem.folder)
    mem("summary", "add", "Use SERIALIZABLE for payments")
    assert len(entries(mem)) == 1
    assert commits(mem.folder) - before <= 1


def test_the_newer_decision_takes_the_older_ones_place_and_history_has_both(mem: Mem):
    mem("summary", "add", "Use MySQL for the orders store", ago=86400)
    mem("summary", "add", "Use PostgreSQL for the orders store")
    assert texts(mem) == ["Use PostgreSQL for the orders store"]
    steps = mem("summary", "history", "--json").json
    assert [len(step["dropped_entries"]) for step in steps] == [1, 0]
    diff = mem("summary", "diff").out
    assert "- decision: Use MySQL" in diff
    assert "+ decision: Use PostgreSQL" in diff
    assert texts(mem, "--at", "@~1") == ["Use MySQL for the orders store"]
    assert (
        mem("summary", "diff", "@~1", "@", "--json")
        .json["added_entries"][0]["text"]
        .startswith("Use PostgreSQL")
    )
    assert "+1 -1" in mem("summary", "history").out


def test_two_clones_grow_apart_and_merge_entry_by_entry(repo: Path, tmp_path: Path, mem: Mem):
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(hub))
    git(repo, "remote", "add", "origin", str(hub))
    git(repo, "push", "-q", "origin", "HEAD:refs/heads/main")
    mem("summary", "add", "Use SERIALIZABLE for payments")
    mem("remote", "enable", "origin")
    mem("sync")
    git(tmp_path, "clone", "-q", str(hub), str(tmp_path / "two"))
    two = mem.at(tmp_path / "two")
    two("remote", "enable", "origin")
    two("sync")
    id = entries(two)[0]["id"]
    two("summary", "pin", id)
    two("summary", "add", "--kind", "task", "Write the migration guide")
    mem("summary", "add", "--kind", "preference", "Answer in Portuguese")
    mem("sync")
    two("sync")
    mem("sync")
    assert (
        sorted(texts(mem))
        == sorted(texts(two))
        == ["Answer in Portuguese", "Use SERIALIZABLE for payments", "Write the migration guide"]
    )
    assert next(e for e in entries(mem) if e["id"] == id)["pinned"]
    assert git(repo, "rev-parse", SHARED) == git(tmp_path / "two", "rev-parse", SHARED)


def test_it_is_edited_as_text(mem: Mem, tmp_path: Path):
    mem("summary", "add", "Use SERIALIZABLE for payments")
    mem("summary", "add", "Deploy on Fridays only")
    editor = tmp_path / "ed.py"
    editor.write_text(
        "import pathlib, re, sys\n"
        "p = pathlib.Path(sys.argv[-1]); t = p.read_text()\n"
        "t = re.sub(r'- .*Fridays.*\\n', '', t)\n"
        "t = re.sub(r'\\[(\\w+)\\] Use', r'[\\1!] Use', t)\n"
        "t = t.replace('## Preferences\\n', '## Preferences\\n\\n- Small commits\\n  one purpose each\\n')\n"
        "p.write_text(t)\n"
    )
    import sys

    mem("summary", "edit", env={"GIT_EDITOR": f"{sys.executable} {editor}"})
    assert sorted(texts(mem)) == ["Small commits", "Use SERIALIZABLE for payments"]
    assert (
        next(e for e in entries(mem) if e["kind"] == "preference")["detail"] == "one purpose each"
    )
    assert next(e for e in entries(mem) if e["kind"] == "decision")["pinned"]
    assert "Deploy on Fridays only" in mem("summary", "diff").out


@pytest.mark.parametrize(
    "text", ["## Nonsense\n- x\n", "## Decisions\nno entry\n", "- before any heading\n"]
)
def test_text_that_cannot_be_read_names_its_line_and_changes_nothing(
    mem: Mem, tmp_path: Path, text: str
):
    mem("summary", "add", "Use SERIALIZABLE for payments")
    (tmp_path / "new").write_text(text)
    done = mem("summary", "edit", env={"GIT_EDITOR": f"cp {tmp_path / 'new'}"}, code=1)
    assert "line " in done.err
    assert texts(mem) == ["Use SERIALIZABLE for payments"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("summary", "pin", "ffffff"), 1, "no entry"),
        (("summary", "add", " "), 1, "text"),
        (("summary", "add", "--kind", "idea", "x"), 2, "idea"),
        (("summary", "done"), 2, "ID"),
        (("summary", "drop", "zz"), 1, "no entry"),
        (("summary", "updat"), 2, "Did you mean update"),
        (("summary", "show", "--at", "nonsense"), 1, "revision"),
        (("summary", "update", "--session", "nope"), 1, "no session"),
    ],
)
def test_wrong_arguments_say_what_to_do(mem: Mem, args: tuple[str, ...], code: int, said: str):
    mem("summary", "add", "Use SERIALIZABLE for payments")
    assert said in mem(*args, code=code).err


def test_a_decision_is_no_task_to_be_done(mem: Mem):
    id = mem("summary", "add", "Use SERIALIZABLE for payments", "--json").json["id"]
    assert "not a task" in mem("summary", "done", id, code=1).err


def test_what_was_dropped_does_not_come_back_by_a_merge(mem: Mem):
    id = mem("summary", "add", "Use SERIALIZABLE for payments", "--json").json["id"]
    mem("summary", "drop", id)
    assert mem.show(mem("summary", "--json").json["id"])["gone"] == [id]
    mem("summary", "add", "Use SERIALIZABLE for payments")  # a person may say it again
    assert texts(mem) == ["Use SERIALIZABLE for payments"]


def test_secrets_are_masked(mem: Mem):
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    mem("summary", "add", f"Deploy with {key}")
    assert key not in mem("summary").out
    assert key not in git(mem.folder, "log", "-p", SHARED)
