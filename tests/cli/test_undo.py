"""Taking commands back and doing them again: whose they are, all they wrote, in every store."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app import App, open_app
from gitmem.errors import Busy
from gitmem.services.records import write
from gitmem.state import commands
from gitmem.store import operations
from gitmem.store.store import Store
from tests.cli.conftest import PRIVATE, SHARED, Mem, commits, spawn, tip
from tests.conftest import git

CLAUDE = {"CLAUDECODE": "1", "GITMEM_SESSION": "s-1"}
NOTES = "Decision: use tabs everywhere\nDecision: keep the logs for a year\nTODO: write the docs\n"


def proposals(mem: Mem, text: str = NOTES) -> list[str]:
    """Make proposals of notes; return their ids."""
    (mem.folder / "n.txt").write_text(text)
    mem("extract", "--save", "n.txt")
    return [row["id"] for row in mem("inbox", "--json").json]


def stores(mem: Mem) -> dict[str, str]:
    """Return the store of each record."""
    return {row["id"]: row["store"] for row in mem("list", "--all", "--json").json}


def in_background(mem: Mem, work: Callable[[App], object]) -> None:
    """Do what the background does for hooks."""
    with open_app(str(mem.folder), dict(os.environ)) as app:
        app.is_background = True
        work(app)


def note_by_hook(mem: Mem, title: str) -> str:
    """Have the background add a fact; return its command."""

    def add(app: App) -> None:
        who = app.writer()
        write.add(app.store(), who, write.draft(who, "memory", title))

    in_background(mem, add)
    found: str = mem("log", "-n", "1", "--json").json[0]["command"]
    return found


# -- what is taken back


def test_undo_goes_back_and_redo_forward(mem: Mem) -> None:
    """Each undo goes one command further back, each redo one forward; a new command ends that."""
    id = mem.add("one")
    mem("edit", id, "--title", "two")
    mem("edit", id, "--title", "three")
    before = commits(mem.folder)

    done = mem("undo")
    assert done.out == f'took back: edit {id[-8:]} "three" (1 record)\n'
    assert "git mem undo --redo" in done.err
    assert (mem.show(id)["title"], commits(mem.folder)) == ("two", before + 1)
    mem("undo")
    assert mem.show(id)["title"] == "one"
    mem("undo")
    assert mem.titles() == []
    assert "no command is left to take back" in mem("undo", code=1).err

    for title in ("one", "two", "three"):
        assert mem("undo", "--redo").out.startswith(
            f"did it again: {'add' if title == 'one' else 'edit'} "
        )
        assert mem.show(id)["title"] == title
    assert "nothing to redo" in mem("undo", "--redo", code=1).err
    mem("undo")  # what was done again is a candidate again
    assert mem.show(id)["title"] == "two"
    mem("edit", id, "--tag", "x")
    assert "nothing to redo" in mem("undo", "--redo", code=1).err
    mem("undo")
    mem("undo")
    assert (mem.show(id)["title"], mem.show(id).get("tags", [])) == ("one", [])


@pytest.mark.parametrize("args", [["forget"], ["archive"], ["pin"], ["supersede"]])
def test_undo_every_sort_of_change(mem: Mem, args: list[str]) -> None:
    """What a command changed is as before after its undo."""
    id = mem.add("T", "-m", "text")
    before = {k: v for k, v in mem.show(id).items() if k in {"title", "body", "status", "links"}}
    mem(args[0], id, *(["successor"] if args[0] == "supersede" else []))
    mem("undo")

    assert {k: v for k, v in mem.show(id).items() if k in before} == before
    assert mem.titles() == ["T"]


def test_a_command_is_one_in_both_stores(mem: Mem) -> None:
    """Accepting writes to two stores, for each proposal: one undo takes all back, one redo does all again."""
    mem.add("first")
    ids = proposals(mem)
    before = stores(mem)
    options = [word for id in ids for word in ("--accept", id)]
    mem("inbox", *options)
    after = stores(mem)
    assert {after[id] for id in ids} != {"private"}
    assert sum(row["operation"] == "move" for row in mem("log", "--private", "--json").json) > 1

    row = mem("undo", "--json").json
    assert stores(mem) == before and [one["id"] for one in mem("inbox", "--json").json] == ids
    assert set(row["ids"]) == set(ids) and len(row["undone"]) >= 4
    assert row["made"] == [tip(mem.folder, PRIVATE), tip(mem.folder, SHARED)]
    mem("undo", "--redo")
    assert stores(mem) == after and waiting(mem) == []


def waiting(mem: Mem) -> list[str]:
    """Return the ids in the inbox."""
    return [row["id"] for row in mem("inbox", "--json").json]


def test_a_rejection_and_a_forgetting_are_taken_back(mem: Mem) -> None:
    """Of several records, in two stores, and without an option that names a store."""
    ids = proposals(mem)
    said = mem("inbox", "--reject", ids[0], "--reject", ids[1]).err
    assert "git mem undo\n" in said and waiting(mem) == ids[2:]
    mem("undo")
    assert waiting(mem) == ids

    ours = mem.add("ours")
    mem("forget", ours, ids[2])
    mem("undo")
    assert ours in stores(mem) and waiting(mem) == ids


def test_undo_in_the_users_store(mem: Mem, outside: Mem) -> None:
    """One command may write there too, and is taken back from the project, and from anywhere."""
    mem("add", "ours")
    mem("add", "everywhere", "--user")
    mem("undo")
    assert mem.titles() == ["ours"]
    mem("undo", "--redo")
    assert sorted(mem.titles()) == ["everywhere", "ours"]
    outside("add", "from nowhere", "--user")
    outside("undo")
    assert sorted(mem.titles()) == ["everywhere", "ours"]


def test_undo_keeps_later_changes(mem: Mem) -> None:
    """Only what that command did is taken back, by any commit of it."""
    id = mem.add("T", "--tag", "keep")
    mem("edit", id, "--title", "changed")
    commit = tip(mem.folder)
    mem("edit", id, "--tag", "later")
    mem("undo", commit[:10])

    row = mem.show(id)
    assert (row["title"], row["tags"]) == ("T", ["keep", "later"])


def test_undo_names_a_command(mem: Mem) -> None:
    """By the id that the log shows, or by one of its commits; the private store's too."""
    mem("add", "ours")
    id = mem.add("mine", "--private")
    step = mem("log", "--private", "--json").json[0]
    assert step["command"] in mem("log", "--private").out and step["called_by"] is None
    mem.add("last")
    row = mem("undo", step["command"].upper(), "--json").json
    assert (row["command"], row["ids"], row["undone"]) == (step["command"], [id], [step["commit"]])
    assert sorted(mem.titles()) == ["last", "ours"]
    mem("undo", "--redo")
    assert "mine" in mem.titles()
    mem("undo", step["commit"])
    assert "mine" not in mem.titles()
    again = mem("undo", step["commit"], "--json").json
    assert (again["changed"], again["made"]) == (False, [])
    assert "nothing left to take back" in mem("undo", step["commit"]).out


def test_undo_says_no(mem: Mem) -> None:
    """The beginning of a store cannot be undone, nor what no store has."""
    assert "no command is left" in mem("undo", code=1).err
    assert "nothing to redo" in mem("undo", "--redo", code=1).err
    mem.add("T")
    assert "beginning" in mem("undo", "@~1", code=1).err
    assert "not a revision" in mem("undo", "zzzz", code=1).err
    assert "no commit of the stores" in mem("undo", "0" * 26, code=1).err


def test_what_is_gone_anyway_is_passed_over(mem: Mem) -> None:
    """An undo with nothing left to do says so, and takes back the command before."""
    mem.add("first")
    id = mem.add("second")
    in_background(mem, lambda app: write.forget(app.store(), app.writer(), [app.get(id)[1].record]))
    done = mem("undo")
    assert "nothing is left to take back of add" in done.err and "first" in done.out
    assert mem.titles() == []


# -- whose it is


def test_hooks_are_never_taken_back_unnamed(mem: Mem) -> None:
    """Captured errors and what the background wrote stand, until they are named."""
    mem.add("keep")
    mem.add("oops")
    command = note_by_hook(mem, "by a hook")
    assert mem("log", "-n", "1", "--json").json[0]["called_by"] == "git mem"

    assert "oops" in mem("undo").out
    assert "keep" in mem("undo").out
    assert "no command is left" in mem("undo", code=1).err
    assert mem.titles() == ["by a hook"]
    mem("undo", command)
    assert mem.titles() == []
    mem("undo", "--redo")
    assert mem.titles() == ["by a hook"]


def test_each_caller_takes_back_its_own(mem: Mem) -> None:
    """A person, and each session of an agent."""
    other = {**CLAUDE, "GITMEM_SESSION": "s-2"}
    mem.add("a person's")
    mem("add", "an agent's", env=CLAUDE)
    mem("add", "another session's", env=other)

    assert "a person's" in mem("undo").out
    assert "an agent's" in mem("undo", env=CLAUDE).out
    assert "of this session" in mem("undo", env={**CLAUDE, "GITMEM_SESSION": "s-3"}, code=1).err
    assert "a person's" in mem("undo", "--redo").out
    assert (
        mem("undo", "--redo", code=1).err and "an agent's" in mem("undo", "--redo", env=CLAUDE).out
    )
    mem("undo", env=CLAUDE)
    step = mem("log", "-n", "1", "--json").json[0]
    assert (step["called_by"], step["session"]) == ("claude", "s-1")


def test_a_person_is_one_in_all_work_trees(mem: Mem, tmp_path: Path) -> None:
    """The list belongs to the clone; a session of a person makes no difference."""
    mem.add("here")
    git(mem.folder, "worktree", "add", "-q", str(tmp_path / "other"))
    there = mem.at(tmp_path / "other")
    there("undo", env={"GITMEM_SESSION": "mine"})
    assert mem.titles() == []


def test_an_agent_takes_nothing_back_that_a_person_did(mem: Mem) -> None:
    """Not by a command's name, and not by an undo of what is its own."""
    id = mem("add", "Use SQLite", "-t", "decision", "--json", env=CLAUDE).json["id"]
    mem("inbox", "--accept", id)
    accepted = mem("log", "-n", "1", "--json").json[0]["command"]
    said = mem("undo", accepted, env=CLAUDE, code=1).err
    assert "an agent cannot take that back" in said and f"git mem undo {accepted}" in said
    assert "a person has answered" in mem("undo", env=CLAUDE, code=1).err
    assert "unconfirmed" not in mem.show(id)

    other = mem("add", "Use DuckDB", "--json", env=CLAUDE).json["id"]
    mem("edit", other, "--title", "Use Ducks", env=CLAUDE)
    mem("undo", env=CLAUDE)
    mem("inbox", "--reject", other)
    assert "nothing left" in mem("undo", "--redo", env=CLAUDE).out
    rejected = mem("log", "-n", "1", "--json").json[0]["commit"]
    assert "a person did this" in mem("undo", rejected, env=CLAUDE, code=1).err
    assert waiting(mem) == []


def test_an_agent_takes_back_its_own(mem: Mem) -> None:
    """Also what it did and what it added to a person's fact."""
    id = mem.add("Use SQLite", "-t", "task")
    mem("edit", id, "--tag", "db", env=CLAUDE)
    mem("done", id, env=CLAUDE)
    mem("undo", env=CLAUDE)
    assert mem.show(id)["status"] == "active"
    assert mem.show(id)["tags"] == ["db"] and "unconfirmed" not in mem.show(id)
    mem("undo", env=CLAUDE)
    assert "tags" not in mem.show(id) and "unconfirmed" not in mem.show(id)


def test_what_came_by_sync_is_taken_back_only_by_name(clones: tuple[Mem, Mem]) -> None:
    """Also when it is the same person's, from another clone."""
    here, there = clones
    id = here.add("from here")
    here("sync")
    there("sync")
    assert there.titles() == ["from here"]
    command = there("log", "--json").json[0]["command"]
    assert f"git mem undo {command}" in there("undo", code=1).err
    there.add("from there")
    there("undo")
    there("undo", code=1)
    assert there.titles() == ["from here"]
    there("undo", command)
    assert there.titles() == []
    there("undo", "--redo")
    assert there.show(id)["title"] == "from here"


# -- what happens to the list, the journal and the history


@pytest.mark.parametrize("loss", ["deleted", "damaged"])
def test_a_lost_list_costs_a_name(mem: Mem, loss: str) -> None:
    """Without state.db, an undo says which command is next, and how to take it back."""
    mem.add("keep")
    mem.add("oops")
    for path in (mem.folder / ".git/gitmem").glob("state.db*"):
        path.unlink()
    if loss == "damaged":
        (mem.folder / ".git/gitmem/state.db").write_bytes(b"no database" * 1000)
    note_by_hook(mem, "by a hook")
    mem("add", "an agent's", env=CLAUDE)
    said = mem("undo", code=1).err
    assert "oops" in said
    mem(*said.split("git mem ")[-1].split())
    assert sorted(mem.titles()) == ["an agent's", "by a hook", "keep"]
    assert "keep" in mem("undo", code=1).err
    mem("undo", "--redo")
    assert "oops" in mem.titles()


def test_a_write_that_waited_is_taken_back(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """What went into the journal is committed first; as long as that cannot be, the undo waits."""
    mem.add("first")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_locked", _busy)
        patch.setattr(Store, "drain", _busy)
        mem.add("spilled")
        assert "waits in the journal" in mem("undo", code=1).err
    assert "spilled" in mem("undo").out
    assert mem.titles() == ["first"]
    assert len({row["command"] for row in mem("log", "--json").json}) == 4


def _busy(*_: object) -> None:
    raise Busy("busy")


def test_a_command_that_was_killed_between_its_commits(
    mem: Mem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it wrote is taken back."""
    (id, *_) = proposals(mem)
    with monkeypatch.context() as patch:
        patch.setattr(operations, "collect", _killed)
        with pytest.raises(_Killed):
            mem("inbox", "--accept", id)
    assert [row["id"] for row in mem("list", "--all", "--json").json].count(id) == 1
    assert all(id in git(mem.folder, "ls-tree", "-r", ref) for ref in (SHARED, PRIVATE))
    mem("undo")
    assert stores(mem)[id] == "private" and id in waiting(mem)


class _Killed(BaseException):
    pass


def _killed(*_: object) -> None:
    raise _Killed


def test_undo_and_redo_after_history_was_rewritten(mem: Mem) -> None:
    """A purge gives commits new ids; they are found by their trailer."""
    mem.add("keep")
    mem.add("hunter2land", "-m", "hunter2land")
    id = mem.add("oops", "-m", "said after hunter2land")
    mem("undo")
    before = tip(mem.folder)
    mem("forget", "--purge", "--text", "hunter2land", "--yes")
    assert tip(mem.folder) != before
    mem("undo", "--redo")
    assert id in stores(mem)
    mem("undo")
    mem("undo")
    assert mem.titles() == ["keep"]


def test_what_was_purged_stays_away(mem: Mem) -> None:
    """The tombstone of a purge is not lifted, be it for the command that left an older one: it says why."""
    mem.add("keep")
    id = mem.add("oops")
    mem("forget", id)
    mem("forget", "--purge", id, "--yes")
    done = mem("undo")
    assert f"{id} stays away: it was purged." in done.err
    assert mem.titles("--all") == []
    assert f"tombstones/{id[-2:]}/{id}" in git(
        mem.folder, "ls-tree", "-r", "refs/gitmem/heads/main"
    )


def test_the_list_is_bounded(mem: Mem, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps the newest; what is older is named."""
    monkeypatch.setattr("gitmem.state.commands.KEPT", 3)
    monkeypatch.setattr("gitmem.state.commands.SOME", 2)
    for number in range(8):
        mem.add(f"n{number}")
    with open_app(str(mem.folder), dict(os.environ)) as app:
        assert len(commands.listed(app.state)) == 3
    mem("undo")
    mem("undo")
    assert "n5" in mem("undo", code=1).err


def test_writers_at_once_list_all(mem: Mem) -> None:
    """Each process's command is in the list."""
    mem("init")
    threads = [threading.Thread(target=spawn, args=(mem.folder, "add", f"n{i}")) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(4):
        mem("undo")
    assert mem.titles() == []
