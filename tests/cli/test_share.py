"""Commands that share: sync and remote, between clones over one bare hub."""

from pathlib import Path

import pytest

from tests.cli.conftest import PRIVATE, SHARED, Mem, spawn, tip
from tests.conftest import git


def test_two_clones_exchange(clones: tuple[Mem, Mem]) -> None:
    """What one remembers, the other has after both have synced; both are at the same commit."""
    one, two = clones
    one("add", "from one")
    two("add", "from two")
    assert one("sync").out == "origin: sent 2 commits\n"
    assert two("sync").out == "origin: received 1 commit, sent 2 commits (merged)\n"
    assert one("sync").out == "origin: received 2 commits\n"

    assert sorted(one.titles()) == sorted(two.titles()) == ["from one", "from two"]
    assert tip(one.folder) == tip(two.folder)
    assert one("sync").out == "origin: everything is up to date.\n"


def test_a_fresh_clone_is_told_how_to_fetch(mem: Mem, hub: Path, tmp_path: Path) -> None:
    """As long as its store is empty; without a look at the remote, which may be gone."""
    mem.add("from one", "-t", "decision")
    git(mem.folder, "push", "-q", str(hub), "HEAD", f"{SHARED}:{SHARED}")
    git(tmp_path, "clone", "-q", str(hub), "clone")
    clone = mem.at(tmp_path / "clone")
    away = hub.rename(tmp_path / "away")
    views = (
        ("status",),
        ("list",),
        ("search", "x"),
        ("page", "summary"),
        ("session", "briefing"),
        ("log",),
    )
    said = [clone(*view) for view in views] + [clone("show", "zzzzzz", code=1)]
    assert all("not fetched yet: git mem sync origin" in done.out + done.err for done in said)

    away.rename(hub)
    clone("sync", "origin")
    assert clone.titles() == ["from one"]
    assert "not fetched" not in clone("search", "zzzzzz").err + clone("status").out


def test_changes_of_one_record_are_merged(clones: tuple[Mem, Mem]) -> None:
    """Different fields changed on two sides are both kept."""
    one, two = clones
    id = one.add("T", "--tag", "a")
    one("sync")
    two("sync")
    one("edit", id, "--tag", "one")
    two("edit", id, "-i", "9")
    for mem in (one, two, one):
        mem("sync")

    for mem in clones:
        row = mem.show(id)
        assert (row["tags"], row["importance"]) == (["a", "one"], 9)


def test_a_conflict_is_kept_and_told(clones: tuple[Mem, Mem]) -> None:
    """Two texts for one record: one wins everywhere, the other is in the attic, and both sides are told."""
    one, two = clones
    id = one.add("T", "-m", "base")
    one("sync")
    two("sync")
    one("edit", id, "-m", "one says this")
    two("edit", id, "-m", "two says that")
    one("sync")
    done = two("sync")
    one("sync")

    assert "1 record changed on both sides" in done.err
    assert one.show(id)["body"] == two.show(id)["body"]
    assert [row["id"] for row in one("list", "--conflicts", "--json").json] == [id]
    attic = git(one.folder, "ls-tree", "-r", "--name-only", SHARED, f"attic/{id}/").splitlines()
    texts = "".join(git(one.folder, "show", f"{SHARED}:{path}") for path in attic)
    won, lost = (
        ("one says this", "two says that")
        if "one says this" in one.show(id)["body"]
        else ("two says that", "one says this")
    )
    assert one.show(id)["body"] == f"{won}\n"
    assert lost in texts
    card = one("show", id).out
    assert f"git mem edit {id[-8:]}" in card
    sides = [line.split("git show ")[1] for line in card.splitlines() if "git show " in line]
    assert any(lost in git(one.folder, "show", side) for side in sides)
    assert "1 record in conflict" in one("status").out


def test_forgotten_here_edited_there(clones: tuple[Mem, Mem]) -> None:
    """What was forgotten on purpose stays forgotten; the edit is kept in the attic."""
    one, two = clones
    id = one.add("T")
    one("sync")
    two("sync")
    one("forget", id)
    two("edit", id, "-m", "still useful")
    for mem in (one, two, one):
        mem("sync")

    for mem in clones:
        assert mem.titles("--all") == []
        assert git(mem.folder, "ls-tree", "-r", "--name-only", SHARED, f"attic/{id}/")


def test_the_private_store_stays_here(clones: tuple[Mem, Mem], hub: Path) -> None:
    """A private memory is never pushed."""
    one, _ = clones
    one("add", "ours")
    one("add", "mine", "--private")
    one("sync")

    refs = git(hub, "for-each-ref", "--format=%(refname)", "refs/gitmem")
    assert refs == SHARED
    assert git(hub, "cat-file", "-e", tip(one.folder, PRIVATE), ok=(0, 1, 128)) == ""
    assert "mine" not in git(hub, "log", "--format=%B", SHARED)


def test_nothing_is_pushed_before_leave_is_given(mem: Mem, hub: Path) -> None:
    """Without `remote enable`, sync only reads, and says what is here only."""
    git(mem.folder, "remote", "add", "origin", str(hub))
    mem("add", "T")
    done = mem("sync")

    assert git(hub, "for-each-ref") == ""
    assert "nothing was pushed: 2 commits" in done.err and done.out == ""
    assert "git mem remote enable origin" in done.err
    mem("remote", "enable", "origin", "--yes")
    mem("sync", "--pull-only")
    assert git(hub, "for-each-ref") == ""
    mem("sync")
    assert tip(hub) == tip(mem.folder)


def test_sync_reads_without_leave(clones: tuple[Mem, Mem]) -> None:
    """A clone that only reads gets what is there."""
    one, two = clones
    one("add", "T")
    one("sync")
    two("remote", "disable")
    assert "received 2 commits" in two("sync").out

    assert two.titles() == ["T"]


def test_remote_show_and_status_tell_what_waits(clones: tuple[Mem, Mem], hub: Path) -> None:
    """What is not sent is counted, and nothing after a sync."""
    one, _ = clones
    one("add", "T")
    row = one("remote", "show", "--json").json
    assert (row["name"], row["url"], row["ref"], row["unpushed_count"]) == (
        "origin",
        str(hub),
        SHARED,
        2,
    )
    assert "not sent: 2 commits" in one("remote", "show").out
    assert "2 commits not sent" in one("status").out

    one("sync")
    assert one("remote", "show", "--json").json["unpushed_count"] == 0
    assert "everything is sent." in one("remote").out
    assert "everything is sent" in one("status").out


def test_remote_disable(clones: tuple[Mem, Mem]) -> None:
    """After disable nothing is pushed any more; a second disable changes nothing."""
    one, _ = clones
    assert "no longer pushed to origin" in one("remote", "disable").out
    assert "nothing changed" in one("remote", "disable").out
    assert one("remote", "show", "--json").json["name"] is None
    assert "git mem remote enable origin" in one("remote", "show").out
    one("remote", "enable", "origin", "--yes")
    assert "nothing changed" in one("remote", "disable", "upstream").out
    assert one("remote", "show", "--json").json["name"] == "origin"


def test_branch_mode(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Where only branches are taken, memory travels on a branch of its own."""
    one, two = clones
    for mem in clones:
        assert (
            "refs/heads/gitmem/main" in mem("remote", "enable", "origin", "--branch", "--yes").err
        )
    one("add", "T")
    one("sync")
    two("sync")

    assert two.titles() == ["T"]
    assert git(hub, "for-each-ref", "--format=%(refname)").splitlines() == [
        "refs/heads/gitmem/main",
        "refs/heads/main",
    ]
    assert git(one.folder, "for-each-ref", "--format=%(refname)", "refs/heads").splitlines() == [
        "refs/heads/main"
    ]


@pytest.mark.parametrize("what", ["path", "url"])
def test_another_repository_by_its_address(mem: Mem, hub: Path, tmp_path: Path, what: str) -> None:
    """A remote need not be configured in git: a path or a URL will do."""
    mem("add", "T")
    mem("remote", "enable", str(hub) if what == "path" else hub.as_uri(), "--yes")
    mem("sync")
    assert tip(hub) == tip(mem.folder)

    git(tmp_path, "init", "-q", "other")
    other = mem.at(tmp_path / "other")
    other("sync", "../hub.git" if what == "path" else hub.as_uri())
    assert other.titles() == ["T"]


def test_bundle(mem: Mem, tmp_path: Path) -> None:
    """Where nothing can be pushed, a file carries the memory."""
    mem("add", "T")
    mem("sync", "--bundle", "../memory.bundle")
    git(tmp_path, "init", "-q", "other")
    other = mem.at(tmp_path / "other")
    other("add", "theirs")
    other("sync", str(mem.folder.parent / "memory.bundle"))

    assert sorted(other.titles()) == ["T", "theirs"]


def test_bundle_of_nothing(mem: Mem) -> None:
    """An empty store makes no bundle."""
    assert "the store is empty" in mem("sync", "--bundle", "../memory.bundle", code=1).err
    assert not (mem.folder.parent / "memory.bundle").exists()


@pytest.mark.parametrize(
    "args",
    [
        ["sync"],
        ["sync", "nowhere"],
        ["sync", "-x"],
        ["remote", "enable", "nowhere"],
        ["remote", "enable", "--", "-x"],
        ["sync", "/nonexistent/x.git"],
    ],
)
def test_sync_with_nobody(mem: Mem, args: list[str]) -> None:
    """Without a remote, or with an unknown one, the error names what there is."""
    mem("add", "T")
    done = mem(*args, code=None)

    assert done.code in ({2} if "-x" in args and "--" not in args else {1})
    assert done.code == 2 or "hint: " in done.err


def test_a_remote_that_is_gone(clones: tuple[Mem, Mem], hub: Path) -> None:
    """An unreachable remote is an error with a reason; the memory stays and is sent later."""
    one, _ = clones
    one("add", "T")
    hub.rename(hub.with_name("moved.git"))
    done = one("sync", code=1)
    assert "origin" in done.err
    assert done.out == ""
    assert one.titles() == ["T"]

    hub.with_name("moved.git").rename(hub)
    one("sync")
    assert tip(hub) == tip(one.folder)


def test_a_remote_that_refuses(clones: tuple[Mem, Mem], hub: Path) -> None:
    """A refusal by policy names the three ways out."""
    one, _ = clones
    hook = hub / "hooks" / "pre-receive"
    hook.write_text(
        "#!/bin/sh\nwhile read a b ref; do case $ref in refs/heads/*) ;; *) echo not allowed >&2; exit 1;; esac; done\n"
    )
    hook.chmod(0o755)
    one("add", "T")
    done = one("sync", code=1)

    assert "refuses the ref" in done.err
    for way in ("--branch", "git mem remote enable URL", "--bundle"):
        assert way in done.err
    one("remote", "enable", "origin", "--branch", "--yes")
    one("sync")
    assert tip(hub, "refs/heads/gitmem/main") == tip(one.folder)


def test_a_remote_that_lost_its_ref(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Absence never means deletion: the memory is published again, and that is said."""
    one, two = clones
    one("add", "T")
    one("sync")
    two("sync")
    git(hub, "update-ref", "-d", SHARED)
    done = two("sync")

    assert "published again" in done.err
    assert tip(hub) == tip(two.folder)
    assert two.titles() == ["T"]


def test_a_remote_that_was_rewritten(clones: tuple[Mem, Mem], hub: Path) -> None:
    """Both histories are kept, after a backup, and that is said."""
    one, two = clones
    one("add", "first")
    one("sync")
    two("sync")
    git(hub, "update-ref", SHARED, f"{tip(hub)}~1")
    two("add", "second")
    two("sync")
    one("sync")

    assert sorted(one.titles()) == sorted(two.titles()) == ["first", "second"]


def test_sync_as_json(clones: tuple[Mem, Mem]) -> None:
    """The outcome as data."""
    one, two = clones
    one("add", "T")
    sent = one("sync", "--json").json
    got = two("sync", "--json").json

    assert (sent["remote"], sent["sent_count"], sent["pushed"], sent["received_count"]) == (
        "origin",
        2,
        True,
        0,
    )
    assert (got["received_count"], got["pushed"], got["merged"], got["conflict_ids"]) == (
        2,
        False,
        False,
        [],
    )


def test_plain_git_does_not_carry_memory(clones: tuple[Mem, Mem], hub: Path) -> None:
    """`git push`, `git pull` and a fresh clone work as ever and know nothing of it."""
    one, _ = clones
    one("add", "T")
    git(one.folder, "commit", "-q", "--allow-empty", "-m", "more")
    git(one.folder, "push", "-q")
    assert git(hub, "for-each-ref", "refs/gitmem") == ""

    one("sync")
    git(one.folder, "fetch", "-q", "--prune")
    assert tip(one.folder)
    assert "gitmem" not in git(one.folder, "branch", "-a")


def test_sync_takes_what_a_clone_has(clones: tuple[Mem, Mem]) -> None:
    """A first `init` in a clone finds that the remote has memory already."""
    one, two = clones
    one("add", "T")
    one("sync")

    assert "git mem sync" in two("init").out
    two("sync")
    assert two.titles() == ["T"]


def test_two_processes_sync_at_once(clones: tuple[Mem, Mem]) -> None:
    """Both ends meet although both pushed at the same time."""
    import threading

    one, two = clones
    one("add", "from one")
    two("add", "from two")
    threads = [threading.Thread(target=spawn, args=(mem.folder, "sync")) for mem in clones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mem in (one, two):
        spawn(mem.folder, "sync")

    assert tip(one.folder) == tip(two.folder)
    assert sorted(one.titles()) == ["from one", "from two"]
