"""The past of a store: revisions, the log of one record, chains of successors."""

from pathlib import Path

import pytest

from gitmem.clock import Clock
from gitmem.errors import UnknownId, UserError
from gitmem.services.records import history
from gitmem.services.records.history import chain
from gitmem.store import operations
from gitmem.store.store import Message, Store
from gitmem.store.tree_merge import merge_commits
from tests.conftest import add, edit, forget, git, git_of, record

AUTHOR = ("Ada", "ada@example.org")


@pytest.fixture
def past(repo: Path, open_store) -> Store:
    return open_store(repo)


def at(store: Store, seconds: float) -> Store:
    store.clock = Clock(now=lambda: seconds)
    return store


# -- revisions


def test_revisions_as_git_takes_them(past, repo):
    """The tip, its ancestors, ids and their short forms."""
    for _ in range(3):
        add(past)
    tips = [c.oid for c in past.objects.walk([past.tip()])]
    git_ = git_of(repo)
    for text, want in (
        ("@", 0),
        ("HEAD", 0),
        ("main", 0),
        ("@~1", 1),
        ("@^", 1),
        ("@~2", 2),
        ("@{1}", 1),
        ("@@{2}", 2),
        (tips[2], 2),
        (tips[2][:12], 2),
        (f"{tips[0]}~2", 2),
        ("@^^", 2),
    ):
        assert tips[want] == history.resolve(past, git_, text), text


def test_revisions_by_date(past, repo):
    """The newest commit that is not younger than a date."""
    made = []
    for day in (1, 5, 9):
        add(at(past, 1_767_225_600 + day * 86400))  # 2026-01-01 and days after it
        made.append(past.tip())
    git_ = git_of(repo)
    assert [made[0], made[1], made[2]] == [
        history.resolve(past, git_, f"@{{2026-01-{d:02d} 12:00:00}}") for d in (4, 8, 20)
    ]
    with pytest.raises(UserError, match="did not exist yet"):
        history.resolve(past, git_, "@{2001-01-01}")


def test_one_clock_that_is_ahead_dates_nobody_else(past, repo):
    """After a commit from the future others carry their own date, and their state is found by it; git's order stays."""
    now = 1_767_225_600
    item = add(at(past, now - 100))
    ahead = edit(at(past, 2_100_000_000), item, title="from the future")
    before = past.tip()
    edit(at(past, now), ahead, title="back in time")
    commit = past.objects.commit(past.tip())
    assert (now, 2_100_000_000) == (commit.author.time, commit.committer.time)
    assert past.tip() == history.at_time(past, now + 5)
    assert [past.tip(), before] == [step.commit.oid for step in history.log(past)][:2]
    forget(past, item.id)
    assert {item.id: Clock(now=lambda: now).stamp()} == history.removed_ids(past)


def test_remote_is_a_revision(past, repo):
    """What was last fetched from a remote is named by the remote."""
    add(past)
    old = past.tip()
    past.objects.move("refs/gitmem/remotes/origin/main", None, old, "fetched")
    add(past)
    assert old == history.resolve(past, git_of(repo), "origin")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nope",
        "@~99",
        "--all",
        "-x",
        "@{nonsense}",
        "@{}",
        "HEAD:x",
        "refs/heads/main",
        "0" * 40,
        "quux",
        "@..@",
        "@^{tree}",
        "a\nb",
        "../x",
        "origin~1",
        "$(x)",
    ],
)
def test_what_is_no_revision_of_the_store_is_refused(past, repo, text):
    """Nonsense, options and revisions of the code are refused with a sentence."""
    add(past)
    with pytest.raises(UserError):
        history.resolve(past, git_of(repo), text)


def test_commit_of_the_code_is_no_revision_of_the_store(past, repo):
    """A commit that holds no store is refused by its id too."""
    add(past)
    with pytest.raises(UserError):
        history.resolve(past, git_of(repo), git(repo, "rev-parse", "HEAD"))


def test_empty_store_has_no_revisions(past, repo):
    """It says so."""
    with pytest.raises(UserError, match="empty"):
        history.resolve(past, git_of(repo), "@")


@pytest.mark.parametrize(
    "text", ["fish", "memory", "nowish", "1 fortnight", "; rm", "--since=x", "yesterdayish"]
)
def test_nonsense_is_no_date(repo, text):
    """Git takes any text for now; we do not."""
    with pytest.raises(UserError, match="not a date"):
        history.when(git_of(repo), text)


# -- log


def test_log_of_one_record(past):
    """Only the commits that changed it, each with what it did; a forgotten and restored one too."""
    item = add(past)
    add(past)
    item = edit(past, item, title="b")
    forget(past, item.id)
    past.write([operations.put(item, revive=True)], Message("restore", "restore", (item.id,)))
    steps = list(history.log(past, [item.id]))
    assert ["added", "removed", "changed", "added"] == [
        what for step in steps for what, _ in step.changes
    ]
    assert ["restore", "forget", "edit", "add"] == [step.trailers["op"][0] for step in steps]
    assert 6 == len(list(history.log(past)))


def test_merge_that_took_one_side_over_is_no_change(past):
    """A merge is in a record's log only when it made something new of it."""
    item = add(past, record(body="one\ntwo\nthree\nfour\nfive\n"))
    base = past.tip()
    edit(past, item, body="ONE\ntwo\nthree\nfour\nfive\n")
    left = past.tip()
    past.objects.move(past.ref, left, base, "back")
    add(past)
    right = past.tip()
    made, _ = merge_commits(past.objects, left, right)
    past.objects.move(past.ref, right, made, "merge")
    assert ["changed", "added"] == [
        what for step in history.log(past, [item.id]) for what, _ in step.changes
    ]


def test_log_of_several_tells_each(past):
    """A commit that changed two of them names both in the order asked for, and no other; a merge names what it joined."""
    one, two, other = (record(title=t) for t in "abc")
    past.write([operations.put(r) for r in (one, two, other)], Message("add", "add"))
    base = past.tip()
    new = [r.touched("2026-02-01T00:00:00Z").change(title="new") for r in (two, other)]
    past.write(
        [operations.put(n, o) for n, o in zip(new, (two, other), strict=True)],
        Message("edit", "edit"),
    )
    side = past.tip()
    git(past.home.path.rsplit("/", 1)[0], "update-ref", past.ref, base)
    edit(past, two, tags=["x"])
    made, _ = merge_commits(past.objects, past.tip(), side)
    past.move(past.tip(), made, "merge")
    forget(past, one.id)
    steps = list(history.log(past, [two.id, one.id]))
    assert [("removed", one.id)] == list(steps[0].changes)
    assert [("merged", two.id)] == list(steps[1].changes)
    assert [("changed", two.id)] * 2 == [change for step in steps[2:4] for change in step.changes]
    assert [("added", two.id), ("added", one.id)] == list(steps[4].changes)


def test_log_of_a_long_chain_opens_what_changed(past, monkeypatch):
    """The log of many records costs the changes of each commit, not records times commits."""
    items = [record(title=str(n)) for n in range(300)]
    for item in items:
        past.write([operations.put(item)], Message("add", "add", (item.id,)))
    opened = 0
    plain = past.objects.tree

    def counted(oid: str):
        nonlocal opened
        opened += 1
        return plain(oid)

    monkeypatch.setattr(past.objects, "tree", counted)
    steps = list(history.log(past, [item.id for item in items]))
    assert [("added", item.id) for item in reversed(items)] == [
        change for step in steps for change in step.changes
    ]
    assert opened < 8 * len(items)


def test_trailers_are_read_from_the_last_paragraph():
    """A body that looks like trailers is none."""
    assert {"op": ["add"], "id": ["a", "b"]} == history.trailers(
        "s\n\nGitmem-Op: fake\n\nGitmem-Op: add\nGitmem-Id: a\nGitmem-Id: b\nOther: x\n"
    )
    assert {} == history.trailers("")


# -- chains


def edges(*pairs: str) -> list[tuple[str, str, str]]:
    return [(p[0], "supersedes", p[1]) for p in pairs]


def test_chain_is_oldest_first():
    """From any member the whole chain is found."""
    for start in "abc":
        assert (["a", "b", "c"], []) == chain(edges("cb", "ba", "yx"), start)


def test_fork_is_shown():
    """Two successors of one record are named."""
    assert (["a", "b", "c"], [("a", ["b", "c"])]) == chain(edges("ba", "ca"), "b")


@pytest.mark.parametrize("pairs", [["ab", "ba"], ["aa"], ["ab", "bc", "ca"]])
def test_cycle_is_followed_once(pairs):
    """A cycle, which two clones can make, ends."""
    found, _ = chain(edges(*pairs), "a")
    assert sorted(set("".join(pairs))) == sorted(found)


def test_other_links_are_no_chain():
    """Only supersedes counts."""
    assert (["a"], []) == chain([("b", "links", "a")], "a")


def test_long_chain():
    """A chain of hundreds of successors is followed to its end."""
    rows = [(f"{n + 1:05d}", "supersedes", f"{n:05d}") for n in range(600)]
    found, _ = chain(rows, "00600")
    assert [f"{n:05d}" for n in range(601)] == found


# -- what is gone


def test_removed_records_are_known(past):
    """Ids that history has and the tip has not; their last version can be had."""
    item, stays = add(past), add(past)
    item = edit(past, item, title="last")
    forget(past, item.id)
    assert [item.id] == list(history.removed_ids(past))
    assert ("last", stays.id) == (
        history.last_version(past, item.id).title,
        history.last_version(past, stays.id).id,
    )
    with pytest.raises(UnknownId):
        history.last_version(past, record().id)
