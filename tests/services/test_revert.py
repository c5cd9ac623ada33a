"""Reverting what a command committed: each file as it was, later changes kept."""

import pytest

from gitmem.clock import Clock
from gitmem.errors import UserError
from gitmem.services.records.revert import Reverted, revert
from gitmem.services.records.undo import CommandCommits, CommandHistory
from gitmem.services.records.write import Writer
from gitmem.store.store import Store
from gitmem.store.tree_merge import merge_commits
from tests.conftest import AUTHOR, add, edit, forget, listed, record

WHO = Writer(Clock(), AUTHOR)


@pytest.fixture
def past(repo, open_store) -> Store:
    return open_store(repo)


def undo(store: Store, back: int = 0) -> Reverted:
    """Revert one commit, the newest unless `back` says otherwise."""
    commit = list(store.objects.walk([store.tip()]))[back]
    return revert(WHO, CommandCommits(commit.oid, [(store, commit)]))


def test_undo_of_an_edit(past):
    """The record is what it was, with a new revision; the undo is a commit that names what it undid."""
    item = add(past, record(title="a"))
    edit(past, item, title="b", tags=["x"])
    target = past.tip()
    done = undo(past)
    found = past.get(item.id).record
    assert ("a", [], (item.id,), 3) == (found.title, found.tags, done.ids, found.rev)
    assert f"Gitmem-Undoes: {target}" in past.objects.commit(done.commits[0]).message


def test_undo_of_an_addition_and_of_that_undo(past):
    """An added record goes, and comes back; the subject says which of the two it was."""
    item = add(past)
    undo(past)
    assert set() == listed(past)
    undo(past)
    assert {item.id} == listed(past)
    assert past.objects.commit(past.tip()).message.startswith(f"redo: add {item.id}\n")


def test_undo_of_forgetting(past):
    """A forgotten record comes back and its tombstone goes."""
    item = add(past)
    forget(past, item.id)
    undo(past)
    assert ({item.id}, None) == (
        listed(past),
        past.read_file(f"tombstones/{item.id[-2:]}/{item.id}"),
    )


def test_undo_keeps_what_came_later(past):
    """Only what that commit did is taken back."""
    item = add(past, record(title="a", body="one\n"))
    item = edit(past, item, title="b")
    edit(past, item, body="two\n", tags=["later"])
    undo(past, 1)
    found = past.get(item.id).record
    assert ("a", "two\n", ["later"]) == (found.title, found.body, found.tags)


def test_undo_of_what_is_gone_already(past):
    """Undoing an addition of what was forgotten meanwhile changes nothing."""
    item = add(past)
    forget(past, item.id)
    tip = past.tip()
    assert ((), tip) == (undo(past, 1).writes, past.tip())


def test_several_commits_are_one(past):
    """Of one command's commits to a store, one commit takes all back, the newest first."""
    item = edit(past, add(past, record(title="a")), title="b")
    edit(past, item, title="c", tags=["x"])
    before = past.tip()
    newest, older, *_ = past.objects.walk([before])
    done = revert(WHO, CommandCommits("x", [(past, newest), (past, older)]))
    found = past.get(item.id).record
    assert ("a", []) == (found.title, found.tags)
    assert done.commits == [past.tip()] and past.objects.commit(past.tip()).parents == (before,)


def test_beginning_and_merges_cannot_be_undone(past):
    """Both are told."""
    add(past)
    base = past.tip()
    with pytest.raises(UserError, match="beginning"):
        undo(past, 1)
    add(past)
    left = past.tip()
    past.objects.move(past.ref, left, base, "back")
    add(past)
    made, _ = merge_commits(past.objects, left, past.tip())
    past.objects.move(past.ref, past.tip(), made, "merge")
    with pytest.raises(UserError, match="merge"):
        undo(past)


def test_undos_that_go_in_a_circle_end(past):
    """Anybody may write a commit that takes itself back."""
    id = "0" * 26
    past.command = lambda: [("Gitmem-Command", id), ("Gitmem-Undoes", id)]
    add(past)
    assert CommandHistory([past]).is_undone(id) in {True, False}
