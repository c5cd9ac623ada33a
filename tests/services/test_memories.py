"""Use cases on records: each is one commit with its trailers, and no secret gets into it."""

import subprocess
from pathlib import Path

import pytest

from gitmem.errors import InvalidRecord, UserError
from gitmem.services.records import write
from gitmem.services.records.write import Writer
from gitmem.store.store import Store
from tests.conftest import CLOCK, git, listed, record

SECRET = "gh" + "p_" + "a1B2c3D4" * 5
WHO = Writer(CLOCK, ("Ada", "ada@example.org"), "dev", "s1")


@pytest.fixture
def one(indexed: Store) -> Store:
    return indexed


@pytest.fixture
def indexed(repo: Path, open_store) -> Store:
    return open_store(repo)


def new(store: Store, title: str = "T", **fields):
    return write.add(store, WHO, write.draft(WHO, "memory", title, **fields)).after


def commits(store: Store) -> list:
    return list(store.objects.walk([store.tip()]))


def test_new_record_says_who_when_and_for_whom(one):
    """Author, agent, session and times are filled in; the commit names the operation and the record."""
    item = new(one, importance=7)
    assert ("Ada <ada@example.org>", "dev", "s1", 1, 7) == (
        item.get("author"),
        item.get("agent"),
        item.get("session"),
        item.rev,
        item.get("importance"),
    )
    assert item == one.get(item.id).record
    message = commits(one)[0].message
    for line in (
        "Gitmem-Op: add",
        f"Gitmem-Id: {item.id}",
        "Gitmem-Agent: dev",
        "Gitmem-Session: s1",
    ):
        assert f"\n{line}\n" in message


def test_global_agent_is_not_written(one):
    """The default namespace needs no field and no trailer."""
    who = Writer(CLOCK, ("Ada", "ada@example.org"))
    item = write.add(one, who, write.draft(who, "memory", "T")).after
    assert ("agent" in item.fields, "Gitmem-Agent" in commits(one)[0].message) == (False, False)


def test_update_counts_up_and_keeps_the_rest(one):
    """A change has the next revision; other fields stay."""
    item = new(one, tags=["a"])
    change = write.update(one, WHO, item, item.change(title="U"), "edit")
    assert (2, "U", ["a"]) == (change.after.rev, change.after.title, change.after.tags)
    assert change.after == one.get(item.id).record


def test_update_to_the_same_writes_nothing(one):
    """An edit that changes nothing makes no commit."""
    item, tip = new(one), one.tip()
    change = write.update(one, WHO, item, item.change(title=item.title), "edit")
    assert (None, tip, item) == (change.written.commit, one.tip(), change.after)


def test_edit_of_an_old_version_is_merged(one):
    """An edit made on what was read earlier joins what was written since."""
    item = new(one, body="one\ntwo\nthree\nfour\nfive\n")
    write.update(one, WHO, item, item.change(body="ONE\ntwo\nthree\nfour\nfive\n"), "edit")
    write.update(
        one, WHO, item, item.change(body="one\ntwo\nthree\nfour\nFIVE\n", tags=["late"]), "edit"
    )
    found = one.get(item.id).record
    assert ("ONE\ntwo\nthree\nfour\nFIVE\n", ["late"]) == (found.body, found.tags)


@pytest.mark.parametrize("status", ["pinned", "archived", "active"])
def test_status(one, status):
    """Pin, archive, activate."""
    item = new(one, status="decayed")
    write.set_status(one, WHO, item, status, "status")
    assert status == one.get(item.id).record.status


def test_links_are_added_and_removed(one):
    """A link is there once, and goes when asked; a record cannot link to itself."""
    a, b = new(one, "a"), new(one, "b")
    a = write.link(one, WHO, a, [b.id, b.id]).after
    assert [b.id] == one.get(a.id).record.get("links")
    with pytest.raises(UserError, match="itself"):
        write.link(one, WHO, a, [a.id])
    write.link(one, WHO, a, [b.id], remove=True)
    assert [] == one.get(a.id).record.get("links")


def test_supersede_is_one_commit(one):
    """The new record names the old one, which is archived in the same commit."""
    old = new(one, "old")
    before = len(commits(one))
    change = write.supersede(one, WHO, old, write.draft(WHO, "memory", "new"))
    assert (before + 1, [old.id], "archived") == (
        len(commits(one)),
        one.get(change.after.id).record.get("supersedes"),
        one.get(old.id).record.status,
    )


def test_forget_and_restore(one):
    """A forgotten record leaves a tombstone; restored it is what it was, active again."""
    item = new(one, status="archived")
    write.forget(one, WHO, [item], "outdated")
    assert set() == listed(one)
    mark = one.read_file(f"tombstones/{item.id[-2:]}/{item.id}")
    assert mark is not None
    assert b'"reason": "outdated"' in mark
    back = write.restore(one, WHO, item).after
    assert ({item.id}, "active", None) == (
        listed(one),
        back.status,
        one.read_file(f"tombstones/{item.id[-2:]}/{item.id}"),
    )


def test_pinned_record_comes_back_pinned(one):
    """Only archived and decayed records change their status when restored."""
    item = new(one, status="pinned")
    write.forget(one, WHO, [item])
    assert "pinned" == write.restore(one, WHO, item).after.status


def test_forgotten_gotcha_mutes_its_pattern(one):
    """The tombstone of a captured gotcha has its pattern; a purged one's has not."""
    for purged in (False, True):
        item = write.add(
            one, WHO, write.draft(WHO, "gotcha", "g", triggers={"error": "E: <n>"})
        ).after
        write.forget(one, WHO, [item], purged=purged)
        mark = one.read_file(f"tombstones/{item.id[-2:]}/{item.id}") or b""
        assert purged is not (b"E: <n>" in mark)


def test_several_are_forgotten_at_once(one):
    """Many records are one commit."""
    items = [new(one, str(n)) for n in range(5)]
    before = len(commits(one))
    write.forget(one, WHO, items)
    assert (before + 1, set()) == (len(commits(one)), listed(one))


# -- secrets


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("memory", {"title": f"use {SECRET}"}),
        ("memory", {"body": f"x\n{SECRET}\n"}),
        ("memory", {"tags": [SECRET]}),
        ("memory", {"project": SECRET}),
        ("memory", {"anchors": [{"path": "a.py", "context": {"lines": [SECRET]}}]}),
        ("memory", {"triggers": {"error": f"failed with {SECRET}"}}),
        ("gotcha", {"workaround": f"export TOKEN={SECRET}"}),
        ("session", {"topics": [SECRET]}),
        ("memory", {"sources": [{"in": SECRET}]}),
        ("memory", {"verify": [{"file": "a.py", "contains": SECRET}]}),
        ("snapshot", {"note": SECRET}),
        ("event", {"what": SECRET, "at": "2026-01-01T00:00:00Z"}),
    ],
    ids=lambda v: v if isinstance(v, str) else next(iter(v)),
)
def test_no_secret_reaches_git(one, repo, kind, fields):
    """Whatever text it stands in, a secret is masked before a blob exists, and the caller is told."""
    title = fields.pop("title", "T") if "title" in fields else "T"
    body = fields.get("body", "")
    rest = {k: v for k, v in fields.items() if k != "body"}
    change = write.add(one, WHO, write.draft(WHO, kind, title, body, **rest))
    assert [] != list(change.findings)
    done = subprocess.run(
        ["git", "-C", str(repo), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    assert SECRET.encode() not in done.stdout
    assert b"[redacted: GitHub token]" in done.stdout


def test_no_secret_in_an_edit_a_successor_or_a_reason(one, repo):
    """Edits, successors and reasons of forgetting are scrubbed as new records are."""
    item = new(one)
    after = write.update(one, WHO, item, item.change(title=SECRET), "edit").after
    write.supersede(one, WHO, after, write.draft(WHO, "memory", SECRET))
    write.forget(one, WHO, [after], f"it had {SECRET}")
    done = subprocess.run(
        ["git", "-C", str(repo), "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    assert SECRET.encode() not in done.stdout


def test_allowed_value_is_kept(one):
    """What the setting allows is written as it is."""
    who = Writer(CLOCK, ("Ada", "a@b"), allow=[SECRET])
    change = write.add(one, who, write.draft(who, "memory", f"use {SECRET}"))
    assert ((), f"use {SECRET}") == (change.findings, one.get(change.after.id).record.title)


def test_blob_ids_of_anchors_are_no_secrets(one):
    """An anchor's blob and commit stay, so that the code can be found."""
    anchor = {"path": "a.py", "lines": [1, 2], "blob": "0123456789abcdef" * 2 + "01234567"}
    assert [anchor] == new(one, anchors=[anchor]).anchors


# -- odd input


@pytest.mark.parametrize("title", ["", "  ", "\n"])
def test_title_is_needed(title):
    """A record without a title is refused before anything is written."""
    with pytest.raises(InvalidRecord):
        write.draft(WHO, "memory", title)


def test_title_cannot_forge_trailers(one):
    """Line ends in a title do not make trailers of their own."""
    item = new(one, "T\n\nGitmem-Op: purge\nGitmem-Id: x")
    message = commits(one)[0].message
    assert 1 == sum(line.startswith("Gitmem-Op: ") for line in message.split("\n"))
    assert f"Gitmem-Id: {item.id}" in message


def test_user_of_odd_name(repo, open_store):
    """Names that git's header cannot carry are cleaned, never an error."""
    store = open_store(repo, author=("A <b>\n\0", "x<>\ny"))
    who = Writer(CLOCK, ("A <b>\n\0", "x<>\ny"))
    write.add(store, who, write.draft(who, "memory", "T"))
    assert "" == git(repo, "fsck", "--strict", "--no-dangling")
    assert record().kind == "memory"
