"""Sync with a remote through real git: what is there on both sides stays, nothing else is touched."""

import hashlib
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import External, FormatTooNew, InvalidRecord, RemoteRefused, UserError
from gitmem.git.remote import Remote, bundle
from gitmem.records.record import Record
from gitmem.repo.refs import BACKUP, BRANCH, REMOTES, SHARED
from gitmem.store import operations
from gitmem.store.history.propagate import purges
from gitmem.store.history.prune import prune
from gitmem.store.history.redact import Mask
from gitmem.store.history.rewrite import Cleaner, rewrite
from gitmem.store.layout import PURGES, attic_path, tombstone_path
from gitmem.store.purge import Sent, purge, send
from gitmem.store.store import Message, Store
from gitmem.store.sync import TRIES, SyncOutcome, backup, count, sync, tracking_ref, unpushed
from gitmem.store.tree_merge import merge_commits
from tests.command_line import run_command
from tests.conftest import (
    CLOCK,
    add,
    edit,
    forget,
    fsck,
    git,
    git_of,
    listed,
    new_store,
    record,
    remote_of,
)

TRACKING = f"{REMOTES}origin/main"


class World:
    """A bare hub and clones of it, each with a store."""

    def __init__(self, root: Path, open_store: Callable[..., Store]) -> None:
        self.root = root
        self.hub = root / "hub.git"
        self._open = open_store
        git(root, "init", "-q", "--bare", str(self.hub))

    def clone(self, name: str, backend: str = "libgit2") -> Store:
        path = self.root / name
        git(self.root, "clone", "-q", str(self.hub), str(path))
        return self._open(path, backend, author=(name, f"{name}@example.org"))

    def path(self, store: Store) -> Path:
        return Path(store.home.path).parents[1]

    def sync(self, store: Store, *, push: bool = True, **options: object) -> SyncOutcome:
        return sync(
            store, remote_of(self.path(store), **options), push=push, consent=lambda _: True
        )

    def tip(self, ref: str = SHARED) -> str:
        return git(self.hub, "rev-parse", "--verify", "-q", ref, ok=(0, 1))

    def hook(self, name: str, script: str) -> None:
        path = self.hub / "hooks" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture
def world(tmp_path: Path, open_store: Callable[..., Store]) -> World:
    return World(tmp_path, open_store)


def edit_alone(store: Store, before: Record, **changes: object) -> Record:
    return edit(store, store.get(before.id).record, **changes)


# -- the ordinary way


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_two_clones_have_the_same(world, backend):
    """What one adds the other gets; both end at one commit."""
    a, b = world.clone("a", backend), world.clone("b", backend)
    one, two = add(a), add(b)
    assert (True, 2) == ((out := world.sync(a)).pushed, out.sent)
    out = world.sync(b)
    assert (True, True, 1) == (out.pushed, out.merged, out.received)
    world.sync(a)
    assert {one.id, two.id} == listed(a) == listed(b)
    assert a.tip() == b.tip() == world.tip()
    assert "" == fsck(world.hub) + fsck(world.path(a)) + fsck(world.path(b))


def test_second_sync_does_nothing(world):
    """Without changes nothing is sent, received or written."""
    a = world.clone("a")
    add(a)
    world.sync(a)
    tip = world.tip()
    out = world.sync(a)
    assert (0, 0, False, False, []) == (
        out.received,
        out.sent,
        out.pushed,
        out.merged,
        out.warnings,
    )
    assert tip == world.tip() == a.tip()


def test_clone_without_a_store_takes_the_remotes(world):
    """A fresh clone becomes what the remote is, by fast-forward."""
    a, b = world.clone("a"), world.clone("b")
    item = add(a)
    world.sync(a)
    out = world.sync(b)
    assert ({item.id}, 2, False, False) == (listed(b), out.received, out.merged, out.pushed)
    assert a.tip() == b.tip()


def test_nothing_anywhere(world):
    """An empty store and an empty hub stay so."""
    a = world.clone("a")
    out = world.sync(a)
    assert (0, 0, False, None, "") == (out.received, out.sent, out.pushed, a.tip(), world.tip())


def test_without_push_nothing_leaves(world):
    """Reading a remote merges here and sends nothing."""
    a, b = world.clone("a"), world.clone("b")
    theirs = add(a)
    world.sync(a)
    mine = add(b)
    before = world.tip()
    out = world.sync(b, push=False)
    assert ({theirs.id, mine.id}, before, False) == (listed(b), world.tip(), out.pushed)
    assert unpushed(b, "origin")[0] > 0


def test_what_is_unpushed_is_known(world):
    """How many commits a remote lacks, and since when."""
    a = world.clone("a")
    assert (0, "") == unpushed(a, "origin")
    add(a, record(created="2026-01-01T00:00:00Z"))
    waiting, since = unpushed(a, "origin")
    assert (2, True) == (waiting, since.endswith("Z"))
    world.sync(a)
    assert (0, "") == unpushed(a, "origin")


def test_conflict_is_told_and_both_texts_are_kept(world):
    """The outcome names a record that both sides rewrote."""
    a, b = world.clone("a"), world.clone("b")
    item = add(a, record(body="base\n"))
    world.sync(a)
    world.sync(b)
    edit_alone(a, item, body="left\n")
    edit_alone(b, item, body="right\n")
    world.sync(a)
    assert [item.id] == world.sync(b).conflicts
    texts = b"".join(
        b.objects.read(oid)
        for oid in git(world.path(b), "ls-tree", "-r", "--format=%(objectname)", SHARED).split("\n")
    )
    assert (True, True) == (b"left" in texts, b"right" in texts)


def test_forgotten_here_stays_forgotten(world):
    """A record that one side forgot does not come back from the other."""
    a, b = world.clone("a"), world.clone("b")
    item = add(a)
    world.sync(a)
    world.sync(b)
    forget(a, item.id)
    edit_alone(b, item, title="edited")
    world.sync(b)
    world.sync(a)
    world.sync(b)
    assert set() == listed(a) == listed(b)


def test_hostile_file_of_a_remote_is_named(world):
    """What may not come in is left out of the merge and told."""
    a, b = world.clone("a"), world.clone("b")
    add(a)
    world.sync(a)
    world.sync(b)
    path = world.path(b)
    blob = git(path, "hash-object", "-w", "--stdin", stdin=b"/etc/passwd")
    tree = git(
        path,
        "mktree",
        stdin=(git(path, "ls-tree", SHARED) + f"\n120000 blob {blob}\tlink\n").encode(),
    )
    evil = git(path, "commit-tree", "-p", SHARED, "-m", "evil", tree)
    git(path, "push", "-q", "origin", f"{evil}:{SHARED}")
    add(a)
    out = world.sync(a)
    assert ["link"] == out.refused
    assert "link" not in git(world.hub, "ls-tree", "--name-only", SHARED).split("\n")


# -- remotes that lost or changed their ref


def test_vanished_ref_is_published_again(world):
    """Absence never means deletion: the ref is sent again, with a word."""
    a = world.clone("a")
    item = add(a)
    world.sync(a)
    git(world.hub, "update-ref", "-d", SHARED)
    out = world.sync(a)
    assert (True, a.tip(), {item.id}) == (out.pushed, world.tip(), listed(a))
    assert "published again" in " ".join(out.warnings)


def test_vanished_ref_is_told_once(world):
    """A ref that was never there is nothing to warn about."""
    a = world.clone("a")
    add(a)
    assert [] == world.sync(a).warnings


def test_rewritten_ref_is_merged_after_a_backup(world):
    """A remote whose history was replaced keeps both; our old tip has a backup ref."""
    a, b = world.clone("a"), world.clone("b")
    mine = add(a)
    world.sync(a)
    theirs = add(b)
    git(world.path(b), "push", "-qf", "origin", f"{SHARED}:{SHARED}")
    before = a.tip()
    out = world.sync(a)
    assert {mine.id, theirs.id} == listed(a)
    assert "rewritten" in " ".join(out.warnings)
    assert [before] == list(a.objects.refs(BACKUP).values())
    assert a.tip() == world.tip()
    assert [] == world.sync(a).warnings


def test_remote_that_went_back_gets_our_commits_again(world):
    """A remote restored from an old backup is brought forward; nothing is lost here."""
    a = world.clone("a")
    one = add(a)
    world.sync(a)
    old = world.tip()
    two = add(a)
    world.sync(a)
    git(world.hub, "update-ref", SHARED, old)
    world.sync(a)
    assert ({one.id, two.id}, a.tip()) == (listed(a), world.tip())


def test_old_backups_expire(world):
    """A backup is kept for thirty days, younger ones stay."""
    a = world.clone("a")
    add(a)
    tip = a.tip()
    now = CLOCK.now()
    from gitmem.clock import ulid

    old, young = (
        BACKUP + ulid(now - 31 * 86400, os.urandom(10)),
        BACKUP + ulid(now - 29 * 86400, os.urandom(10)),
    )
    for ref in (old, young, BACKUP + "not-a-ulid"):
        a.objects.move(ref, None, tip, "backup")
    world.sync(a)
    assert {young, BACKUP + "not-a-ulid"} == set(a.objects.refs(BACKUP))


def test_ref_that_holds_no_store_is_refused(world):
    """A remote whose ref is somebody's code is not merged, and not overwritten."""
    a = world.clone("a")
    add(a)
    path = world.path(a)
    (path / "x").write_text("x")
    git(path, "add", "x")
    git(path, "commit", "-qm", "code")
    git(path, "push", "-q", "origin", f"HEAD:{SHARED}")
    before, there = a.tip(), world.tip()
    with pytest.raises(InvalidRecord, match="does not hold a gitmem store"):
        world.sync(a)
    assert (before, there) == (a.tip(), world.tip())


def test_newer_format_is_refused(world):
    """A store of a format from the future is neither read as empty nor overwritten."""
    a, b = world.clone("a"), world.clone("b")
    add(a)
    b.create()
    b.write([operations.write_file("gitmem.json", '{"format": 99}\n')], Message("newer", "init"))
    git(world.path(b), "push", "-q", "origin", SHARED)
    there = world.tip()
    with pytest.raises(FormatTooNew, match="99"):
        world.sync(a)
    assert there == world.tip()


# -- refusals


def refusal(world: World, store: Store, **options: object) -> RemoteRefused:
    with pytest.raises(RemoteRefused) as caught:
        world.sync(store, **options)
    return caught.value


POLICIES = {
    "pre-receive": lambda w: w.hook(
        "pre-receive",
        'while read old new ref; do case $ref in refs/gitmem/*) echo "only branches here" >&2; exit 1;; esac; done',
    ),
    "update": lambda w: w.hook(
        "update", 'case $1 in refs/gitmem/*) echo "ref is protected" >&2; exit 1;; esac'
    ),
    "hidden": lambda w: git(w.hub, "config", "receive.hideRefs", "refs/gitmem"),
    "hidden altogether": lambda w: git(w.hub, "config", "transfer.hideRefs", "refs/gitmem"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_refusal_by_policy_names_three_ways_out(world, name):
    """A host that takes no such ref is told as policy, at once, with branch mode, another repository and a bundle."""
    POLICIES[name](world)
    a = world.clone("a")
    item = add(a)
    start = time.monotonic()
    error = refusal(world, a)
    assert time.monotonic() - start < 10
    assert ("policy", True) == (error.kind, SHARED in str(error))
    for way in ("remote enable NAME --branch", "remote enable URL", "sync --bundle FILE"):
        assert way in error.hint
    assert ({item.id}, "") == (listed(a), world.tip())


def test_branch_mode_gets_past_such_a_policy(world):
    """The first way out: a branch is taken where our ref is not."""
    POLICIES["pre-receive"](world)
    a, b = world.clone("a"), world.clone("b")
    item = add(a)
    assert world.sync(a, ref=BRANCH).pushed
    world.sync(b, ref=BRANCH)
    assert ({item.id}, a.tip()) == (listed(b), world.tip(BRANCH))


def test_another_repository_is_the_second_way(world, tmp_path):
    """A URL that is not a configured remote is synced with, under a tracking ref of its own."""
    POLICIES["pre-receive"](world)
    a, b = world.clone("a"), world.clone("b")
    item = add(a)
    other = tmp_path / "memory.git"
    git(tmp_path, "init", "-q", "--bare", str(other))
    for store in (a, b):
        sync(store, remote_of(world.path(store), str(other)), push=True)
    assert {item.id} == listed(b)
    assert [tracking_ref(str(other))] == list(b.objects.refs(REMOTES))


def test_bundle_is_the_third_way(world, tmp_path):
    """A file carries the store; it is read like a remote."""
    a, b = world.clone("a"), world.clone("b")
    item, mine = add(a), add(b)
    bundle(git_of(world.path(a)), str(tmp_path / "m.bundle"), SHARED)
    out = sync(b, remote_of(world.path(b), str(tmp_path / "m.bundle")), push=False)
    assert ({item.id, mine.id}, True) == (listed(b), out.merged)


def test_branch_policy_does_not_touch_the_checked_out_branch(world):
    """A push into a work tree's checked-out branch is git's to refuse; ours is none."""
    a = world.clone("a")
    add(a)
    target = world.clone("target")
    out = sync(a, remote_of(world.path(a), str(world.path(target))), push=True)
    assert (True, "") == (out.pushed, git(world.path(target), "status", "--porcelain"))


@pytest.mark.parametrize(
    "url",
    [
        "/nowhere/at/all.git",
        "file:///nowhere/at/all.git",
        "http://127.0.0.1:9/x.git",
        "ssh://127.0.0.1:9/x.git",
    ],
)
def test_unreachable_remote_is_told(world, url):
    """A remote that is not there is an error that says so; the store is as it was."""
    a = world.clone("a")
    item = add(a)
    with pytest.raises(RemoteRefused) as caught:
        sync(a, remote_of(world.path(a), url, timeout=20), push=True)
    assert ("network", True) == (caught.value.kind, "reached" in str(caught.value))
    assert {item.id} == listed(a)


@pytest.mark.parametrize("name", ["--upload-pack=touch /tmp/x", "-x", "a\nb", ""])
def test_remote_that_looks_like_an_option_is_refused(world, name):
    """A name is never taken for an option of git's."""
    a = world.clone("a")
    add(a)
    with pytest.raises((UserError, RemoteRefused)):
        sync(a, remote_of(world.path(a), name), push=True)


@pytest.mark.parametrize("name", ["ext::sh -c 'touch pwned'", "ext::touch pwned"])
def test_remote_helper_that_runs_commands_is_refused(world, name, monkeypatch):
    """Git's command transport stays off, as git has it."""
    a = world.clone("a")
    add(a)
    monkeypatch.chdir(world.root)
    with pytest.raises(RemoteRefused):
        sync(a, remote_of(world.path(a), name), push=True)
    assert not (world.root / "pwned").exists()


def test_remote_that_never_answers_is_given_up(world):
    """A remote that hangs is left after the deadline, with everything it started."""
    a = world.clone("a")
    add(a)
    path = world.path(a)
    slow = world.root / "ssh"
    slow.write_text(f'#!/bin/sh\necho $$ > "{world.root}/pid"\nexec sleep 60\n')
    slow.chmod(0o755)
    remote = Remote(
        git_of(path), "ssh://example.org/x.git", SHARED, os.environ, ssh=str(slow), timeout=1.0
    )
    start = time.monotonic()
    with pytest.raises(External, match="did not finish in 1 s"):
        sync(a, remote, push=True)
    assert time.monotonic() - start < 10
    pid = int((world.root / "pid").read_text())
    for _ in range(100):
        if not _alive(pid):
            break
        time.sleep(0.02)
    assert not _alive(pid)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_nobody_is_asked_for_a_password(world):
    """A server that wants credentials is an error of kind auth, not a prompt."""
    import http.server

    class Closed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Closed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        a = world.clone("a")
        add(a)
        with pytest.raises(RemoteRefused) as caught:
            sync(
                a,
                remote_of(
                    world.path(a), f"http://127.0.0.1:{server.server_port}/x.git", timeout=20
                ),
                push=True,
            )
        server.shutdown()
    assert "auth" == caught.value.kind


# -- nothing else is touched


def snapshot(path: Path) -> dict[str, str]:
    """Return what a sync must leave alone: settings, hooks, refs that are not ours, index, HEAD, FETCH_HEAD."""
    out = {}
    for name in ("config", "HEAD", "index", "FETCH_HEAD", "ORIG_HEAD", "packed-refs"):
        file = path / ".git" / name
        out[name] = hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""
    for file in sorted((path / ".git" / "hooks").iterdir()):
        out[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    refs = git(path, "for-each-ref", "--format=%(refname) %(objectname)").split("\n")
    out["refs"] = "\n".join(r for r in refs if not r.startswith("refs/gitmem/"))
    out["status"] = git(path, "--no-optional-locks", "status", "--porcelain=v2", "--branch")
    return out


def test_only_our_refs_change(world):
    """No setting, hook, branch, tag, index or HEAD changes, here or there; no tag and no branch travels."""
    a, b = world.clone("a"), world.clone("b")
    path = world.path(a)
    (path / "f").write_text("x")
    git(path, "add", "f")
    git(path, "commit", "-qm", "one")
    git(path, "tag", "-am", "t", "v1")
    git(path, "config", "push.followTags", "true")
    git(path, "config", "fetch.prune", "true")
    add(a)
    add(b)
    world.sync(b)
    before, hub = snapshot(path), (world.hub / "config").read_bytes()
    world.sync(a)
    assert before == snapshot(path)
    assert (hub, [SHARED]) == (
        (world.hub / "config").read_bytes(),
        git(world.hub, "for-each-ref", "--format=%(refname)").split("\n"),
    )
    assert [SHARED, TRACKING] == git(
        path, "for-each-ref", "--format=%(refname)", "refs/gitmem"
    ).split("\n")


def test_fetch_setting_of_the_user_cannot_overwrite_ours(world):
    """A refspec that maps our ref onto itself, by force, costs nothing that was not sent."""
    a, b = world.clone("a"), world.clone("b")
    git(
        world.path(a),
        "config",
        "--add",
        "remote.origin.fetch",
        "+refs/gitmem/heads/*:refs/gitmem/heads/*",
    )
    theirs, mine = add(b), add(a)
    world.sync(b)
    world.sync(a)
    assert {theirs.id, mine.id} == listed(a)


HOOKS = (
    "pre-push",
    "reference-transaction",
    "post-merge",
    "pre-auto-gc",
    "post-rewrite",
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
)


@pytest.mark.parametrize("where", ["folder", "core.hooksPath"])
def test_no_hook_of_the_clone_runs(world, where):
    """A sync runs none of the user's hooks, wherever git would look for them."""
    a, b = world.clone("a"), world.clone("b")
    path = world.path(a)
    folder = path / ".git" / "hooks" if where == "folder" else world.root / "my-hooks"
    folder.mkdir(exist_ok=True)
    if where != "folder":
        git(path, "config", "core.hooksPath", str(folder))
    add(b)
    world.sync(b)
    for name in HOOKS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> '{world.root}/ran'\nexit 1\n")
        (folder / name).chmod(0o755)
    add(a)
    assert world.sync(a).pushed
    assert not (world.root / "ran").exists()


def test_force_in_the_users_settings_is_not_followed(world):
    """A refspec with a plus for everything does not make our push a forced one."""
    a, b = world.clone("a"), world.clone("b")
    git(world.path(a), "config", "remote.origin.push", "+refs/*:refs/*")
    git(world.path(a), "config", "remote.origin.mirror", "false")
    theirs = add(b)
    world.sync(b)
    mine = add(a)
    world.sync(a)
    world.sync(b)
    assert {theirs.id, mine.id} == listed(b)


def test_names_of_remotes_give_safe_refs():
    """A tracking ref is made of a plain name, or of a digest for anything else."""
    assert TRACKING == tracking_ref("origin")
    for name in (
        "https://x/y.git",
        "git@host:a/b",
        "../x",
        "a..b",
        "x.lock",
        ".",
        "-x",
        "a b",
        "/abs",
        "x/",
        "é",
        "a@{b}",
    ):
        ref = tracking_ref(name)
        assert ref.startswith(f"{REMOTES}url-"), name
        assert 0 == subprocess.run(["git", "check-ref-format", ref], check=False).returncode


# -- many at once


def test_race_is_tried_again(world, monkeypatch):
    """Somebody who pushes between our fetch and our push costs a round, nothing else."""
    a, b = world.clone("a"), world.clone("b")
    theirs, mine = add(b), add(a)
    first = [True]
    real = Remote.push

    def late(self: Remote, oid: str, lease: str | None = None) -> None:
        if self.git.gitdir.startswith(str(world.path(a))) and first.pop():
            first.append(False)
            world.sync(b)
        elif not first:
            first.append(False)
        real(self, oid, lease)

    monkeypatch.setattr(Remote, "push", late)
    out = world.sync(a)
    assert (True, True) == (out.pushed, out.merged)
    assert {theirs.id, mine.id} == listed(a)
    assert a.tip() == world.tip()


def lose_races(
    monkeypatch: pytest.MonkeyPatch, times: int, meanwhile: Callable[[], object]
) -> list[str]:
    """Have somebody be quicker at the next pushes; return the commits whose push was lost."""
    lost: list[str] = []
    real = Remote.push
    inside = [False]

    def late(self: Remote, oid: str, lease: str | None = None) -> None:
        if not inside[0] and len(lost) < times:
            inside[0] = True
            meanwhile()
            inside[0] = False
            lost.append(oid)
        real(self, oid, lease)

    monkeypatch.setattr(Remote, "push", late)
    return lost


def merges(path: Path, ref: str = SHARED) -> list[str]:
    """Return the merges of a store's history."""
    return git(path, "rev-list", "--merges", ref).split()


@pytest.mark.parametrize("backend", ["libgit2", "git"])
def test_merge_that_lost_its_race_is_discarded(world, monkeypatch, backend):
    """Each round merges the own tip with what is there by then: one merge in the end, and none of the lost."""
    a, b = world.clone("a", backend), world.clone("b")
    mine, own = add(a), a.tip()
    lost = lose_races(monkeypatch, 3, lambda: (add(b), world.sync(b)))
    assert world.sync(a).pushed
    assert 3 == len(set(lost))
    assert (4, [world.tip()]) == (len(listed(a)), merges(world.hub))
    assert mine.id in listed(a) and own in git(world.hub, "rev-list", SHARED)
    assert not set(lost[1:]) & set(git(world.hub, "rev-list", SHARED).split())
    assert "" == fsck(world.hub) + fsck(world.path(a))


def test_write_beside_a_lost_race_is_kept(world, monkeypatch):
    """Who writes while a sync loses its race builds on the own tip; both come out, in this sync and the next."""
    a, b = world.clone("a"), world.clone("b")
    add(a)
    beside = []

    def meanwhile() -> None:
        add(b)
        world.sync(b)
        beside.append(add(a).id)

    lost = lose_races(monkeypatch, 2, meanwhile)
    out = world.sync(a)
    assert (True, 5) == (out.pushed, len(listed(a)))
    assert set(beside) <= listed(a)
    world.sync(a)
    world.sync(b)
    assert (listed(a), a.tip()) == (listed(b), world.tip())
    assert not set(lost[1:]) & set(git(world.hub, "rev-list", SHARED).split())


def test_write_after_the_last_fetch_waits_for_the_next_sync(world, monkeypatch):
    """What is written while the push goes through is joined here, and sent by the next sync."""
    a, b = world.clone("a"), world.clone("b")
    add(b)
    world.sync(b)
    add(a)
    beside: list[str] = []
    real = Remote.push

    def push(self: Remote, oid: str, lease: str | None = None) -> None:
        real(self, oid, lease)
        if not beside:
            beside.append(add(a).id)

    monkeypatch.setattr(Remote, "push", push)
    world.sync(a)
    assert (3, True) == (
        len(listed(a)),
        git(world.path(a), "merge-base", SHARED, TRACKING) == world.tip(),
    )
    world.sync(a)
    world.sync(b)
    assert (listed(a), a.tip()) == (listed(b), world.tip())


def test_merge_that_was_never_sent_is_made_anew(world, monkeypatch):
    """A merge that stayed here, as all races were lost or nothing was pushed, is in no later history."""
    a, b = world.clone("a"), world.clone("b")
    add(a)
    left = []
    for _ in range(3):
        add(b)
        world.sync(b)
        world.sync(a, push=False)
        left.append(a.tip())
    assert [a.tip()] == merges(world.path(a))
    add(b)
    world.sync(b)
    assert world.sync(a).pushed
    assert (5, [world.tip()]) == (len(listed(a)), merges(world.hub))
    assert not set(left) & set(git(world.hub, "rev-list", SHARED).split())


def test_merge_with_another_remote_stays(world, tmp_path):
    """A merge whose other side this remote does not have is no leftover."""
    a, b, c = world.clone("a"), world.clone("b"), world.clone("c")
    other = tmp_path / "other.git"
    git(tmp_path, "init", "-q", "--bare", str(other))
    for store in (add(a), add(b), add(c)):
        assert store
    sync(b, remote_of(world.path(b), str(other)), push=True)
    sync(a, remote_of(world.path(a), str(other)), push=False)
    world.sync(c)
    world.sync(a)
    assert (3, 2) == (len(listed(a)), len(merges(world.hub)))


def test_race_that_never_ends_is_given_up(world, monkeypatch):
    """After eight rounds the race is told, and the store has everything."""
    a = world.clone("a")
    item = add(a)
    tries = []

    def lost(self: Remote, oid: str, lease: str | None = None) -> None:
        tries.append(oid)
        raise RemoteRefused("somebody else", kind="race")

    monkeypatch.setattr(Remote, "push", lost)
    with pytest.raises(RemoteRefused) as caught:
        sync(a, remote_of(world.path(a)), push=True, sleep=lambda _: None)
    assert ("race", TRIES, {item.id}) == (caught.value.kind, len(tries), listed(a))


def test_what_was_fetched_is_there_though_the_push_fails(world):
    """A remote that may only be read gives what it has, whatever becomes of the push."""
    a, b = world.clone("a"), world.clone("b")
    mine, theirs = add(a), add(b)
    world.sync(b)
    POLICIES["pre-receive"](world)
    assert "policy" == refusal(world, a).kind
    assert {mine.id, theirs.id} == listed(a)


def _sync_in_a_process(path: str, number: int) -> None:
    store = new_store(path, author=(f"w{number}", "w@example.org"))
    for n in range(3):
        add(store, record(title=f"{number} {n}"))
        for _ in range(20):
            try:
                sync(store, remote_of(path), push=True)
                break
            except RemoteRefused as error:
                assert error.kind == "race", error
    store.objects.close()


def test_concurrent_pushes_lose_nothing(world):
    """Four clones that push at once are all there in the end, at the hub and everywhere."""
    stores = [world.clone(f"c{n}") for n in range(4)]
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_sync_in_a_process, args=(str(world.path(s)), n))
        for n, s in enumerate(stores)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [0] * 4 == [worker.exitcode for worker in workers]
    for store in stores:
        world.sync(store)
    assert {f"{a} {b}" for a in range(4) for b in range(3)} == {
        row.record.title for row in stores[0].records()
    }
    assert [world.tip()] * 4 == [store.tip() for store in stores]
    assert "" == fsck(world.hub)


def test_two_syncs_of_one_clone_at_once(world):
    """Two processes that sync one clone do not disturb each other."""
    a, b = world.clone("a"), world.clone("b")
    for _ in range(5):
        add(a)
    add(b)
    world.sync(b)
    code = "import sys; from tests.conftest import *; from gitmem.store.sync import sync; s = new_store(sys.argv[1]); sync(s, remote_of(sys.argv[1]), push=True); s.objects.close()"
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(world.path(a))],
            cwd=Path(__file__).parents[2],
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    assert [(0, "")] * 3 == [(run.wait(), err) for run in runs for err in [run.communicate()[1]]]
    assert (6, a.tip()) == (len(listed(a)), world.tip())


# -- purged


def test_purged_history_is_followed(world):
    """A clone whose remote was purged follows it and keeps what it had not sent; the secret is not sent back."""
    a, b = world.clone("a"), world.clone("b")
    bad, good = add(a, record(body="the hidden word\n")), add(a)
    world.sync(a)
    world.sync(b)
    forget(a, bad.id, purged=True)
    old = world.tip()
    purge(a, git_of(world.path(a)), [bad.id], None)
    remote_of(world.path(a)).push(a.tip(), old)
    mine = add(b)
    out = world.sync(b)
    assert {good.id, mine.id} == listed(b)
    assert ([old] != [], "purged" in " ".join(out.warnings)) == (bool(out.abandoned), True)
    prune(git_of(world.path(b)), b.home, out.abandoned)
    for path in (world.path(b), world.path(a)):
        assert "" == git(path, "log", "--all", "-S", "hidden word", "--format=%H")
    assert "" == git(world.hub, "log", SHARED, "-S", "hidden word", "--format=%H")
    world.sync(a)
    assert {good.id, mine.id} == listed(a)
    assert a.tip() == b.tip() == world.tip()


def test_remote_that_still_holds_what_was_purged_is_not_merged(world):
    """A purge here is not undone by a sync with a remote that was not purged."""
    a = world.clone("a")
    bad = add(a, record(body="the hidden word\n"))
    world.sync(a)
    forget(a, bad.id, purged=True)
    purge(a, git_of(world.path(a)), [bad.id], None)
    error = refusal(world, a)
    assert ("still holds" in str(error), "purge --remote" in error.hint) == (True, True)
    assert "" == git(
        world.path(a), "log", "--glob=refs/gitmem/heads", "-S", "hidden word", "--format=%H"
    )


WORD, OTHER = "the-hidden-word", "another-secret"


def holders_of(text: str, *places: Path) -> list[str]:
    """Return which repositories' memory still has a text: in any file of any commit, or in a message."""
    found = []
    for path in places:
        refs = git(path, "for-each-ref", "--format=%(refname)", "refs/gitmem").split()
        if refs and (
            git(path, "log", *refs, "-S", text, "--format=%H", "-m")
            or text in git(path, "log", *refs, "--format=%B")
        ):
            found.append(path.name)
    return found


def remove(world: World, store: Store, *ids: str, text: str = "") -> None:
    """Purge in one clone."""
    for id in ids:
        forget(store, id, purged=True)
    purge(store, git_of(world.path(store)), ids, Mask([text] if text else []))


def publish(world: World, store: Store, *ids: str, text: str = "") -> Sent:
    """Send a purge to the hub, naming again what it was of."""
    sent = send(
        store,
        git_of(world.path(store)),
        remote_of(world.path(store)),
        ids,
        Mask([text] if text else []),
        lambda _: True,
    )
    assert sent
    return sent


def shared(world: World, *records: Record) -> tuple[Store, Store]:
    """Return two clones that have the same records."""
    a, b = world.clone("a"), world.clone("b")
    for item in records:
        add(a, item)
    world.sync(a)
    world.sync(b)
    return a, b


@pytest.mark.parametrize("where", ["title", "body"])
def test_purged_text_of_the_newest_record_is_not_carried_back(world, where):
    """The commit that holds it is made anew with another message; the hub's old one is recognised all the same."""
    a, _ = shared(
        world,
        record(),
        record(title=f"it is {WORD}" if where == "title" else "T", body=f"{WORD}\n"),
    )
    item = add(a, record(title=f"newest {WORD}"))
    a.write(
        [operations.put(item.change(body="x\n"), item)],
        Message(f'memory: edit {item.id} "{item.title}"', "edit", (item.id,)),
    )
    world.sync(a)
    remove(world, a, text=WORD)
    publish(world, a)
    assert [] == holders_of(WORD, world.path(a), world.hub)
    assert a.tip() == world.tip()


def test_changes_of_others_are_joined_when_a_purge_is_sent(world):
    """What others pushed since is kept, cleaned of the same: a new record, an edit, another record with the text."""
    item, other = record(body=f"it is {WORD}\n"), record(title="other")
    a, b = shared(world, item, other)
    edit(b, item, body=f"it is {WORD}\nand more\n")
    mine = add(b, record(title=f"also {WORD}", body="kept\n"))
    world.sync(b)
    remove(world, a, text=WORD)
    publish(world, a, text=WORD)
    assert [] == holders_of(WORD, world.path(a), world.hub)
    assert ({item.id, other.id, mine.id}, "it is [purged]\nand more\n") == (
        listed(a),
        a.get(item.id).record.body,
    )
    world.sync(b)
    assert [] == holders_of(WORD, world.path(b), world.hub)
    assert a.tip() == b.tip() == world.tip()


def test_changes_of_others_are_masked_when_the_text_is_not_given_again(world):
    """An earlier purge is sent without its text: what it took out is found by comparing, and masked in what others changed."""
    item = record(body=f"it is {WORD}\n")
    a, b = shared(world, item, record())
    edit(b, item, body=f"it is {WORD}, still\n")
    world.sync(b)
    remove(world, a, text=WORD)
    sent = publish(world, a)
    assert [] == holders_of(WORD, world.path(a), world.hub)
    assert ("it is [purged], still\n", [WORD]) == (a.get(item.id).record.body, sorted(sent.masked))


def test_unsent_edit_of_a_purged_text_keeps_its_other_words(world):
    """A clone that follows masks its own unsent changes too: an edit of that very line, a new record, a message."""
    item = record(body=f"pw {WORD}\n")
    a, b = shared(world, item, record())
    remove(world, a, text=WORD)
    publish(world, a)
    edit(b, item, body=f"pw {WORD} and more\n", tags=["mine"])
    new = add(b, record(title=f"new {WORD}"))
    out = world.sync(b)
    prune(git_of(world.path(b)), b.home, out.abandoned)
    assert [] == holders_of(WORD, world.path(a), world.path(b), world.hub)
    kept = b.get(item.id).record
    assert ("pw [purged] and more\n", ["mine"], "new [purged]") == (
        kept.body,
        kept.tags,
        b.get(new.id).record.title,
    )
    assert ({WORD}, False) == (out.masked, kept.get("conflict") or False)


def test_unsent_change_that_cannot_be_told_from_the_purge_is_left_out(world):
    """Where no mask explains what a purge made of a file, its form stays, and the one who follows is told."""

    class Blank(Mask):
        def text(self, text: str) -> str:
            return "nothing" if WORD in text else text

    item, other = record(body=f"pw {WORD}\n"), record(title="other")
    a, b = shared(world, item, other)
    old = a.tip()
    purge(a, git_of(world.path(a)), [], Blank([WORD]))
    remote_of(world.path(a)).push(a.tip(), old)
    edit(b, item, body=f"pw {WORD} and more\n")
    edit(b, other, body="mine\n")
    out = world.sync(b)
    assert [] == holders_of(WORD, world.hub)
    assert ("nothing\n", "mine\n") == (b.get(item.id).record.body, b.get(other.id).record.body)
    assert [
        a.get(item.id).path in warning for warning in out.warnings if "left out" in warning
    ] == [True]


def test_losing_sides_of_merges_are_masked_too(world):
    """The attic that an unsent merge made does not bring the text back, neither of a masked record nor of a removed one."""
    kept, gone = record(body=f"{WORD}\n"), record(body=f"{WORD}\n")
    a, b = shared(world, kept, gone)
    sides = [
        operations.write_file(attic_path(i.id, "a" * 16), b.read_file(b.get(i.id).path).decode())
        for i in (kept, gone)
    ]
    b.write(sides, Message("gitmem: merge", "merge"))
    remove(world, a, gone.id)
    remove(world, a, text=WORD)
    publish(world, a)
    out = world.sync(b)
    prune(git_of(world.path(b)), b.home, out.abandoned)
    assert [] == holders_of(WORD, world.path(b), world.hub)
    assert ({kept.id}, None) == (listed(b), b.objects.find(b.tree(), f"attic/{gone.id}"))


def two_purges(world: World) -> tuple[Store, Store, tuple[Record, Record]]:
    """Return two clones of which each purged another text; the first has sent it, both have more to send."""
    one, two = record(body=f"x {WORD}\n"), record(body=f"y {OTHER}\n")
    a, b = shared(world, one, two)
    remove(world, a, text=WORD)
    publish(world, a)
    remove(world, b, text=OTHER)
    return a, b, (add(a), add(b))


def test_two_purges_in_two_clones_are_not_undone_by_a_sync(world):
    """Neither can be joined with the other: the sync names both, and changes nothing."""
    _, b, _ = two_purges(world)
    before, there = b.tip(), world.tip()
    error = refusal(world, b)
    assert ("still holds what was purged here", True) == (
        str(error)[7:39],
        "purged there" in error.hint,
    )
    assert "Name once more" in error.hint
    with pytest.raises(UserError, match="this clone what was purged there"):
        publish(world, b)
    assert (before, there) == (b.tip(), world.tip())
    assert [] == holders_of(OTHER, world.path(b))


def test_two_purges_in_two_clones_both_hold_at_the_end(world):
    """Named again when it is sent, the second is made in the remote's history too; the first clone follows."""
    a, b, (mine, yours) = two_purges(world)
    assert publish(world, b, text=OTHER).rewritten
    out = world.sync(a)
    prune(git_of(world.path(a)), a.home, out.abandoned)
    world.sync(b)
    for text in (WORD, OTHER):
        assert [] == holders_of(text, world.path(a), world.path(b), world.hub)
    assert a.tip() == b.tip() == world.tip()
    assert {mine.id, yours.id} < listed(a)
    assert 3 <= len(list(purges(a.objects, a.tip())))


def test_two_purges_by_id_need_no_second_naming(world):
    """Tombstones say what was purged: sending is enough."""
    one, two, three = record(body=WORD), record(body=OTHER), record()
    a, b = shared(world, one, two, three)
    remove(world, a, one.id)
    publish(world, a)
    remove(world, b, two.id)
    assert "purged there" in refusal(world, b).hint
    publish(world, b)
    world.sync(a)
    for text in (WORD, OTHER):
        assert [] == holders_of(text, world.path(b), world.hub)
        assert [] == holders_of(text, world.path(a))
    assert {three.id} == listed(a) == listed(b)


def test_the_same_purge_in_two_clones_is_joined(world):
    """Two who remove the same text make the same history: it is merged without a question."""
    a, b = shared(world, record(body=f"{WORD}\n"), record())
    remove(world, a, text=WORD)
    publish(world, a)
    remove(world, b, text=WORD)
    mine = add(b)
    world.sync(b)
    world.sync(a)
    assert a.tip() == b.tip() == world.tip()
    assert mine.id in listed(a)
    assert [] == holders_of(WORD, world.path(a), world.path(b), world.hub)


def test_every_branch_that_held_it_has_its_boundary(world):
    """A text that two clones wrote apart: one that has only its own branch follows as well."""
    a, b = shared(world, record())
    add(b, record(body=f"{WORD} here\n"))
    world.sync(b)
    add(a, record(body=f"{WORD} there\n"))
    world.sync(a)
    remove(world, a, text=WORD)
    publish(world, a)
    assert 2 == len(list(purges(a.objects, a.tip())))
    before = b.tip()
    out = world.sync(b)
    assert before == out.abandoned[0]  # what was made on the way goes too
    assert [] == holders_of(WORD, world.path(b), world.hub)


@pytest.mark.parametrize("named", ["root", "common"])
def test_hostile_list_of_purges_drops_no_history(world, named):
    """Whoever can push can write a line; a commit that the history still has was not replaced, whatever the line says."""
    a, b = shared(world, record(), record())
    add(b)
    spare = backup(b, b.tip())
    oid = git(world.path(a), "rev-list", "--max-parents=0", a.ref) if named == "root" else a.tip()
    line = f'{{"at": "2026-11-21T00:00:00Z", "boundary": "{oid}"}}\n'
    a.write([operations.write_file(PURGES, line)], Message("evil", "file"))
    old = b.tip()
    world.sync(a)
    out = world.sync(b)
    assert b.objects.is_ancestor(old, b.tip())
    assert ([], {spare: old}) == (out.abandoned, b.objects.refs(BACKUP))
    assert [] == [w for w in out.warnings if "purged" in w]


def test_hostile_history_without_the_first_commit_drops_none(world):
    """The first commit is every store's: a history that is rid of it and names it as replaced is merged, after a backup."""
    a, b = shared(world, record())
    mine = add(b)
    root = git(world.path(a), "rev-list", "--max-parents=0", a.ref)
    line = f'{{"at": "2026-11-21T00:00:00Z", "boundary": "{root}"}}\n'
    a.write([operations.write_file(PURGES, line)], Message("evil", "file"))
    evil = git(world.path(a), "commit-tree", "-m", "evil", f"{a.tip()}^{{tree}}")
    remote_of(world.path(a)).push(evil, world.tip())
    old = b.tip()
    out = world.sync(b)
    assert b.objects.is_ancestor(old, b.tip())
    assert ([], 1, True) == (out.abandoned, len(b.objects.refs(BACKUP)), mine.id in listed(b))


def test_lists_of_purges_are_joined(world):
    """A merge keeps the lines of both sides."""
    a = world.clone("a")
    add(a)
    base, tips = a.tip(), []
    for number in (1, 2):
        line = f'{{"at": "2026-11-2{number}T00:00:00Z", "boundary": "{str(number) * 40}"}}\n'
        tips.append(a.write([operations.write_file(PURGES, line)], Message("x", "file")).commit)
        a.objects.move(a.ref, a.tip(), base, "back")
    made, _ = merge_commits(a.objects, *tips)
    assert a.objects.find(a.objects.commit(made).tree, "attic") is None
    assert ["2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"] == [
        row["at"] for row in purges(a.objects, made)
    ]


def test_mark_of_a_purge_wins_over_that_of_a_forget(world):
    """Forgotten in one clone and purged in another: the mark says purged, whichever is the lesser."""
    item = record()
    a, b = shared(world, item)
    forget(a, item.id, reason="a reason")
    remove(world, b, item.id)
    old = world.tip()
    remote_of(world.path(b)).push(b.tip(), old)
    world.sync(a)
    mark = a.read_file(tombstone_path(item.id))
    assert (True, False) == (b'"purged": true' in mark, b"reason" in mark)


def test_reflogs_and_other_remotes_are_cleaned_when_a_purge_is_followed(world):
    """What else of the old history a clone kept goes; a backup that never had the text stays."""
    a, b = world.clone("a"), world.clone("b")
    git(world.path(b), "config", "core.logAllRefUpdates", "always")
    add(b)
    clean = backup(b, b.tip())
    add(a, record(body=f"{WORD}\n"))
    world.sync(b)
    world.sync(a)
    world.sync(b)
    backup(b, b.tip())
    b.objects.move(tracking_ref("other"), None, b.tip(), "fetched")
    remove(world, a, text=WORD)
    publish(world, a)
    out = world.sync(b)
    b.objects.close()  # as who follows a purge does: our own packs are no longer held back
    pruned = prune(git_of(world.path(b)), b.home, out.abandoned)
    assert ([], []) == (list(pruned.kept), list(pruned.busy))
    assert ({clean}, {TRACKING}) == (b.objects.refs(BACKUP).keys(), b.objects.refs(REMOTES).keys())
    every = ["cat-file", "--batch-all-objects", "--batch"]
    assert (
        WORD.encode()
        not in subprocess.run(
            ["git", "-C", world.path(b), *every], capture_output=True, check=True
        ).stdout
    )


def test_history_that_was_joined_with_the_old_one_again_is_refused(world):
    """A commit that was replaced may not come back as somebody's merge, whatever its list of purges says."""
    a, b = shared(world, record(body=f"{WORD}\n"))
    remove(world, a, text=WORD)
    publish(world, a)
    remote = remote_of(world.path(b))
    remote.fetch(TRACKING)
    made, _ = merge_commits(b.objects, b.tip(), b.objects.tip(TRACKING))
    remote.push(made)
    assert "still holds" in str(refusal(world, a))
    assert [] == holders_of(WORD, world.path(a))


def test_rewriting_is_a_function_of_history(world):
    """Two clones that remove the same make the same commits, each naming the one it stands for."""
    a, b = shared(world, record(), record(title=f"x {WORD}"), record())
    made = [rewrite(s.objects, s.tip(), Cleaner(s.objects, [], Mask([WORD]))) for s in (a, b)]
    assert made[0] == made[1]
    assert 2 == made[0].replaced
    assert f"Gitmem-Was: {a.tip()}\n" in a.objects.commit(made[0].tip).message
    assert 0 == rewrite(a.objects, made[0].tip, Cleaner(a.objects, [], Mask([WORD]))).replaced


def test_count_of_unrelated_commits(world):
    """Counting what a tip has never fails for a history that is not there."""
    a = world.clone("a")
    add(a)
    assert (2, 0) == (count(a.objects, a.tip(), None), count(a.objects, "0" * 39 + "1", None))


# -- asked for before anything is pushed


def cli(path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return run_command(path, *args)


def test_nothing_is_pushed_before_a_remote_is_enabled(world):
    """`sync` alone reads; `remote enable` is asked for, then it pushes; `disable` ends that."""
    path = world.path(world.clone("a"))
    assert 0 == cli(path, "add", "a memory").returncode
    before = (path / ".git" / "config").read_bytes()
    done = cli(path, "sync")
    assert (0, "") == (done.returncode, world.tip())
    assert "git mem remote enable origin" in done.stderr
    assert before == (path / ".git" / "config").read_bytes()
    assert 0 == cli(path, "remote", "enable", "origin").returncode
    assert "" == world.tip()
    assert 0 == cli(path, "sync").returncode
    there = world.tip()
    assert "" != there
    assert 0 == cli(path, "remote", "disable").returncode
    cli(path, "add", "another")
    cli(path, "sync")
    assert there == world.tip()
    assert before == (path / ".git" / "config").read_bytes()


def test_refusal_is_told_with_its_ways_out_on_the_command_line(world):
    """The command ends with exit code 1 and the three ways."""
    POLICIES["pre-receive"](world)
    path = world.path(world.clone("a"))
    cli(path, "add", "a memory")
    cli(path, "remote", "enable", "origin")
    done = cli(path, "sync")
    assert (1, True, True) == (
        done.returncode,
        "only branches here" in done.stderr,
        "--branch" in done.stderr,
    )
