"""Operations are pure functions of (operation, parent tree)."""

import json

import pytest

from gitmem.errors import InvalidRecord, UserError
from gitmem.records.codec import decode, encode
from gitmem.records.kinds import gotcha_id
from gitmem.records.record import make
from gitmem.store import operations
from gitmem.store.layout import record_path, tombstone_path, usage_path
from gitmem.store.operations import View, apply
from gitmem.store.usage_file import parse_usage
from tests.conftest import record

AT = "2026-02-03T04:05:06Z"
LATER = "2026-02-04T04:05:06Z"


def tree(*items) -> dict[str, bytes]:
    return {record_path(item.id): encode(item) for item in items}


def after(files: dict[str, bytes], *steps) -> dict[str, bytes]:
    """Return the files after operations that went through JSON, as in the journal."""
    view = View(files.get)
    for op in steps:
        apply(json.loads(json.dumps(op)), view)
    return {k: v for k, v in {**files, **view.edits}.items() if v is not None}


def facts(**more) -> dict:
    return {
        "pattern": "ImportError: no module named <q>",
        "title": "t",
        "category": "test",
        "severity": "info",
        "message": "m",
        "times": 3,
        "more": 1,
        "at": AT,
        **more,
    }


def test_change_back_is_no_edit():
    """A path that ends as it started is not an edit."""
    view = View({"a": b"1"}.get)
    view.set("a", b"2")
    view.set("a", b"1")
    assert {} == view.edits


@pytest.mark.parametrize("kind", ["put", "edit", "forget", "collect"])
def test_applying_twice_is_applying_once(kind):
    """An operation on a tree that holds its result changes nothing."""
    item = record()
    edited = item.touched(LATER).change(title="new")
    op, start = {
        "put": (operations.put(item), {}),
        "edit": (operations.put(edited, item), tree(item)),
        "forget": (operations.forget(item.id, AT, "Ada"), tree(item)),
        "collect": (operations.collect(item.id), tree(item)),
    }[kind]
    once = after(start, op)
    assert once == after(once, op)


def test_forgetting_leaves_a_mark():
    """A forgotten record is gone; who, when and why stay."""
    item = record()
    files = after(tree(item), operations.forget(item.id, AT, "Ada", "wrong"))
    assert [tombstone_path(item.id)] == list(files)
    assert {"id": item.id, "at": AT, "by": "Ada", "reason": "wrong"} == json.loads(
        files[tombstone_path(item.id)]
    )


def test_first_mark_stays():
    """Forgetting twice keeps the first mark."""
    item = record()
    once = after(tree(item), operations.forget(item.id, AT, "Ada"))
    assert once == after(once, operations.forget(item.id, LATER, "Bob"))


def test_collecting_leaves_no_mark():
    """A collected record is gone without a tombstone, so a later use brings it back."""
    item = record()
    gone = after(tree(item), operations.collect(item.id))
    assert ({}, tree(item)) == (gone, after(gone, operations.put(item)))


def test_forgotten_record_stays_forgotten():
    """A put on a tombstone is refused; reviving lifts it."""
    item = record()
    gone = after(tree(item), operations.forget(item.id, AT, "Ada"))
    with pytest.raises(UserError):
        after(gone, operations.put(item))
    assert tree(item) == after(gone, operations.put(item, revive=True))


def test_put_on_another_version_merges():
    """A put whose base is not what is there keeps both changes."""
    item = record(tags=["a"])
    one, two = item.touched(AT).change(tags=["a", "b"]), item.touched(LATER).change(title="new")
    files = after(tree(one), operations.put(two, item))
    merged = decode(files[record_path(item.id)])
    assert ("new", ["a", "b"]) == (merged.title, merged.tags)


def test_put_on_a_collected_record_brings_it_back():
    """An edit of a record that decay collected meanwhile writes it whole."""
    item = record()
    assert tree(item.change(title="x")) == after({}, operations.put(item.change(title="x"), item))


def test_observing_creates_then_counts():
    """The first observation writes the gotcha; later ones add to its count and date."""
    item = record("gotcha", occurrences=3, first_seen=AT, last_seen=AT)
    files = after({}, operations.observe(item, 1, AT), operations.observe(item, 2, LATER))
    found = decode(files[record_path(item.id)])
    assert (5, AT, LATER) == (
        found.get("occurrences"),
        found.get("first_seen"),
        found.get("last_seen"),
    )


def test_observing_an_older_hit_keeps_the_latest_date():
    """A hit that was journaled long ago does not move `last_seen` back."""
    item = record("gotcha", last_seen=LATER)
    found = decode(after(tree(item), operations.observe(item, 1, AT))[record_path(item.id)])
    assert LATER == found.get("last_seen")


def test_observing_a_resolved_gotcha_reopens_it():
    """A hit on a resolved gotcha opens it again and says so in its text."""
    item = record("gotcha", resolved={"at": AT, "by": "Ada"})
    found = decode(after(tree(item), operations.observe(item, 1, LATER))[record_path(item.id)])
    assert (False, True) == (found.resolved, f"Reopened {LATER}" in found.body)


def test_muted_pattern_stays_muted():
    """A hit on a forgotten gotcha does nothing."""
    op = operations.capture(facts())
    gone = after(after({}, op), operations.forget(op["id"], AT, "Ada"))
    assert gone == after(gone, op)


def test_same_pattern_has_the_same_id():
    """Two clones that learn one error agree on its id; another error has another."""
    assert (
        operations.capture(facts(title="a"))["id"]
        == operations.capture(facts(title="b"))["id"]
        != operations.capture(facts(pattern="other"))["id"]
    )


def test_capture_writes_what_was_seen():
    """A captured gotcha carries pattern, message, command and counts."""
    op = operations.capture(facts(command="pytest -q", first="2026-02-01T00:00:00Z"))
    found = decode(after({}, op)[record_path(op["id"])])
    assert ("captured", "auto_detected", 3, facts()["pattern"]) == (
        found.get("origin"),
        found.get("source"),
        found.get("occurrences"),
        found.get("triggers")["error"],
    )
    assert "pytest -q" in found.body


def test_capture_masks_secrets():
    """A token in an error message is not written."""
    token = "ghp_" + "A1b2C3d4E5" * 3 + "abcdef"
    op = operations.capture(
        facts(
            message=f"remote: bad token {token}", command=f"curl -H 'Authorization: token {token}'"
        )
    )
    assert token.encode() not in b"".join(after({}, op).values())


def test_capture_of_huge_output_fits_a_record():
    """A message of a megabyte becomes a record within the limit."""
    op = operations.capture(
        facts(message="x\n" * 500_000, command="y" * 100_000, title="z" * 10_000)
    )
    assert len(after({}, op)[record_path(op["id"])]) < 64 * 1024


def test_capture_of_an_empty_title_takes_the_pattern():
    """A gotcha always has a title."""
    op = operations.capture(facts(title=""))
    assert facts()["pattern"] == decode(after({}, op)[record_path(op["id"])]).title


def test_reads_add_up():
    """Counts of reads are summed, the last date is the latest."""
    path = usage_path("r", "aa")
    files = after(
        {},
        operations.count_reads(path, {"x": {"n": 2, "last": LATER}}),
        operations.count_reads(path, {"x": {"n": 1, "last": AT}}),
    )
    assert {"x": {"n": 3, "last": LATER}} == parse_usage(files[path])


def test_damaged_usage_lines_are_passed_over():
    """A damaged line of counts costs that line alone."""
    assert {"x": {"n": 1, "last": ""}} == parse_usage(
        b'{"id": "x", "n": 1, "last": ""}\n{"id": 3\n[]\nnull\n' + b"[" * 100_000
    )


def test_unknown_operation_is_refused():
    """An operation of a newer gitmem is refused, not passed over."""
    with pytest.raises(InvalidRecord, match="unknown operation"):
        after({}, {"op": "teleport"})


def test_plain_file_is_set_and_removed():
    """A file that is not a record is written and removed."""
    there = after({}, operations.write_file("x/y.json", "é"))
    assert ({"x/y.json": "é".encode()}, {}) == (
        there,
        after(there, operations.write_file("x/y.json", None)),
    )


def test_hit_on_a_gotcha_that_was_combined_counts_on_the_other():
    """A hook whose index is behind still names the old one."""
    old, new = gotcha_id("p"), gotcha_id("q")

    def stored(id, **fields):
        return encode(make("gotcha", id, "t", created="2026-01-01T00:00:00Z", rev=1, **fields))

    files = {
        record_path(old): stored(old, status="archived", links=[new]),
        record_path(new): stored(new, supersedes=[old], occurrences=3),
    }
    done = after(files, operations.capture(facts(pattern="p", times=2)))
    assert 5 == decode(done[record_path(new)]).get("occurrences")
    assert files[record_path(old)] == done[record_path(old)]
