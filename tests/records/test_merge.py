"""The merge of one record: order never matters, nothing is lost."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.records.codec import decode, encode
from gitmem.records.merge import MergedRecord, merge_bytes, restamp
from gitmem.records.record import make
from gitmem.store import operations
from gitmem.text.line_merge import merge3
from tests.records.strategies import edited, lines, records
from tests.scale import scaled


def _with(*maps: dict[str, bytes]):
    joined = {k: v for m in maps for k, v in m.items()}
    return joined.get


@st.composite
def three(draw):
    base = draw(records())
    sides = [encode(draw(edited(base))) for _ in range(3)]
    return base.id, encode(base), *sides


def both(id: str, base: bytes | None, a: MergedRecord, b: MergedRecord) -> MergedRecord:
    """Merge two results with both their attics in reach, as trees do."""
    out = merge_bytes(id, base, a.data, b.data, _with(dict(a.attic), dict(b.attic)))
    return MergedRecord(out.data, {**a.attic, **b.attic, **out.attic}, out.conflict)


@given(three())
def test_sides_may_be_swapped(case):
    """Merging A into B gives the bytes of merging B into A."""
    id, base, a, b, _ = case
    assert merge_bytes(id, base, a, b, {}.get) == merge_bytes(id, base, b, a, {}.get)


@given(three())
def test_merging_again_changes_nothing(case):
    """A side merged into a result that holds it already gives the result."""
    id, base, a, b, _ = case
    once = both(id, base, MergedRecord(a), MergedRecord(b))
    assert both(id, base, once, MergedRecord(a)).data == once.data
    assert both(id, base, MergedRecord(b), once).data == once.data
    assert merge_bytes(id, base, a, a, {}.get).data == a


@settings(max_examples=scaled(400, 100))
@given(three())
def test_order_of_three_sides_does_not_matter(case):
    """(A + B) + C gives the bytes of A + (B + C) and of (A + C) + B."""
    id, base, a, b, c = case
    sides = [MergedRecord(x) for x in (a, b, c)]
    left = both(id, base, both(id, base, sides[0], sides[1]), sides[2])
    right = both(id, base, sides[0], both(id, base, sides[1], sides[2]))
    across = both(id, base, both(id, base, sides[0], sides[2]), sides[1])
    assert left.data == right.data == across.data


@given(three())
def test_order_does_not_matter_without_a_base(case):
    """Records that two clones made apart (one pattern, one id) merge the same in any order."""
    id, _, a, b, c = case
    sides = [MergedRecord(x) for x in (a, b, c)]
    left = both(id, None, both(id, None, sides[0], sides[1]), sides[2])
    right = both(id, None, sides[0], both(id, None, sides[1], sides[2]))
    assert left.data == right.data


@given(three())
def test_result_is_canonical(case):
    """What a merge writes is what the codec writes."""
    id, base, a, b, _ = case
    data = merge_bytes(id, base, a, b, {}.get).data
    assert encode(decode(data)) == data


@given(lines, lines, lines)
def test_text_merge_is_symmetric(base, a, b):
    """The sides of a text merge may be swapped."""
    assert merge3(base, a, b) == merge3(base, b, a)
    assert merge3(base, a, base) == a
    assert merge3(base, a, a) == a


def _memory(**fields):
    return make(
        "memory",
        "mem-" + "0" * 26,
        fields.pop("title", "T"),
        fields.pop("body", ""),
        created="2026-01-01T00:00:00Z",
        **fields,
    )


def test_sets_keep_both_additions_and_removals_hold():
    """Tags added on either side stay, a tag removed on one side goes."""
    base = _memory(tags=["a", "b"], rev=1)
    one, two = base.change(tags=["a", "b", "c"], rev=2), base.change(tags=["b", "d"], rev=2)
    merged = decode(merge_bytes(base.id, encode(base), encode(one), encode(two), {}.get).data)
    assert merged.tags == ["b", "c", "d"]


def test_counts_add_up():
    """Occurrences counted on two clones are summed, not overwritten."""
    base = make("gotcha", "got-" + "0" * 26, "boom", created="2026-01-01T00:00:00Z", occurrences=3)
    one, two = base.change(occurrences=5, rev=2), base.change(occurrences=4, rev=2)
    merged = decode(merge_bytes(base.id, encode(base), encode(one), encode(two), {}.get).data)
    assert merged.get("occurrences") == 6


def test_conflicting_bodies_keep_the_loser():
    """When both sides rewrote one line, the newer stays and the attic holds the older."""
    base = _memory(body="one\n", rev=1)
    old, new = base.change(body="old\n", rev=2), base.change(body="new\n", rev=3)
    out = merge_bytes(base.id, encode(base), encode(old), encode(new), {}.get)
    assert decode(out.data).body == "new\n"
    assert decode(out.data).get("conflict") is True
    assert encode(old) in out.attic.values()


def test_two_new_titles_are_a_conflict():
    """Of two titles the later stays, the attic has the other; a third clone sees the same."""
    base = _memory(rev=1)
    old, new = base.change(title="Use tabs", rev=2), base.change(title="Use spaces", rev=3)
    third = base.change(body="and why\n", rev=4)
    out = merge_bytes(base.id, encode(base), encode(old), encode(new), {}.get)
    merged = decode(out.data)
    assert (merged.title, merged.get("conflict"), out.conflict) == ("Use spaces", True, True)
    assert [*out.attic.values()] == [encode(old)]
    later = decode(merge_bytes(base.id, encode(base), out.data, encode(third), {}.get).data)
    assert (later.title, later.get("conflict")) == ("Use spaces", True)

    kept = restamp(later, later.change(body="other\n", rev=9))
    assert kept.get("conflict") is True  # the title is still in dispute
    settled = restamp(later, later.change(title="Use either", rev=9))
    assert (settled.get("conflict"), settled.get("stamps").get("title")) == (None, None)


def test_the_same_new_title_is_no_conflict():
    """Two people who give the same title agree."""
    base = _memory(rev=1)
    one, two = base.change(title="Use tabs", rev=2), base.change(title="Use tabs", rev=3)
    out = merge_bytes(base.id, encode(base), encode(one), encode(two), {}.get)
    assert (decode(out.data).get("conflict"), dict(out.attic)) == (None, {})


def test_sources_are_joined_and_bounded():
    """Both sides' sources stay: of many the first three and the latest seventeen."""
    base = _memory(rev=1)
    seen = [{"at": f"2026-01-01T00:00:{n:02d}Z", "session": "s"} for n in range(30)]
    one, two = base.change(sources=seen[::2], rev=2), base.change(sources=seen[1::2], rev=2)
    merged = decode(merge_bytes(base.id, encode(base), encode(one), encode(two), {}.get).data)
    assert merged.get("sources") == seen[:3] + seen[-17:]


def test_pinned_beats_decay():
    """A later move of decay does not undo a person's pin."""
    base = _memory(rev=1)
    pin, decay = base.change(status="pinned", rev=2), base.change(status="decayed", rev=9)
    assert (
        decode(merge_bytes(base.id, encode(base), encode(pin), encode(decay), {}.get).data).status
        == "pinned"
    )


def test_damaged_side_is_kept_in_the_attic():
    """A file that cannot be parsed loses to one that can, and its bytes are kept."""
    base = _memory()
    edit = encode(base.change(title="U", rev=2))
    out = merge_bytes(base.id, encode(base), b"\xff not a record", edit, {}.get)
    assert (out.data, list(out.attic.values()), out.damaged) == (edit, [b"\xff not a record"], True)


def test_editing_a_conflict_settles_it():
    """A new body clears the conflict mark and the stamps of what was edited."""
    base = _memory(body="one\n", rev=1)
    sides = [encode(base.change(body=f"{n}\n", rev=n)) for n in (2, 3)]
    merged = decode(merge_bytes(base.id, encode(base), *sides, {}.get).data)
    after = restamp(merged, merged.change(body="settled\n", rev=4))
    assert (after.get("conflict"), "body" in after.get("stamps")) == (None, False)


GOT = make(
    "gotcha",
    "got-" + "0" * 26,
    "boom",
    created="2026-01-01T00:00:00Z",
    occurrences=1,
    last_seen="2026-01-01T00:00:00Z",
)


@dataclass(eq=False)
class Point:
    """A commit of one record: its bytes, its parents, and which hits it has seen."""

    data: bytes | None
    parents: tuple["Point", ...]
    hits: dict[int, int]

    def past(self) -> set["Point"]:
        return {self}.union(*(p.past() for p in self.parents))


def hit(point: Point, clone: str, times: int, number: int) -> Point:
    """Count hits as the store does; `number` tells them from all others."""
    view = operations.View(
        lambda path: point.data if path.startswith("gotchas/") else None, lambda: clone
    )
    operations.apply(
        operations.observe(
            GOT.change(occurrences=times), times, f"2026-01-02T00:00:{number % 60:02d}Z"
        ),
        view,
    )
    return Point(next(iter(view.edits.values())), (point,), {**point.hits, number: times})


def bases(one: Point, two: Point) -> list[Point]:
    """Return the best common ancestors, as git finds them."""
    common = one.past() & two.past()
    return [p for p in common if not any(p is not q and p in q.past() for q in common)]


def joined(one: Point, two: Point) -> Point:
    """Merge as trees are merged: several bases are merged first."""
    if one in two.past() or two in one.past():
        return two if one in two.past() else one
    found = sorted(bases(one, two), key=lambda p: p.data or b"")
    base = found[0]
    for other in found[1:]:
        base = joined(base, other)
    hits = {**one.hits, **two.hits}
    if one.data is None or two.data is None:
        return Point(one.data or two.data, (one, two), hits)
    return Point(merge_bytes(GOT.id, base.data, one.data, two.data, {}.get).data, (one, two), hits)


steps = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["hit", "hit", "edit", "meet", "meet"]),
    st.integers(0, 2),
    st.integers(1, 9),
)


@settings(max_examples=scaled(300, 75), deadline=None)
@given(st.booleans(), st.lists(steps, max_size=16))
def test_every_hit_counts_once(shared, history):
    """Whatever three clones saw, edited and took over from whom: a record counts each hit in its past, and no other."""
    start = Point(None, (), {})
    if shared:
        start = hit(start, "clone0", 1, -1)
    at = [start] * 3
    for number, (who, what, other, times) in enumerate(history):
        if what == "hit":
            at[who] = hit(at[who], f"clone{who}", times, number)
        elif what == "meet":
            at[who] = joined(at[who], at[other])
        elif at[who].data is not None:
            old = decode(at[who].data)
            new = restamp(
                old,
                old.change(
                    severity=("info", "critical")[times % 2], workaround=f"w{number}"
                ).touched("2026-01-03T00:00:00Z"),
            )
            at[who] = Point(encode(new), (at[who],), at[who].hits)
    for point in at:
        if point.data is not None:
            assert sum(point.hits.values()) == decode(point.data).get("occurrences")


def test_hits_after_a_merge_survive_the_next_one():
    """A merge that nobody's count changed since leaves it; hits on a merged record are added to it."""
    root = hit(Point(None, (), {}), "a", 1, 0)
    both_ = joined(hit(root, "a", 2, 1), hit(root, "b", 3, 2))
    edits = [
        Point(
            encode(restamp(r, r.change(workaround=w).touched("2026-01-04T00:00:00Z"))),
            (both_,),
            both_.hits,
        )
        for r in [decode(both_.data)]
        for w in "xy"
    ]
    assert 6 == decode(joined(*edits).data).get("occurrences")
    assert 16 == decode(joined(hit(both_, "a", 10, 3), edits[1]).data).get("occurrences")


def test_counts_of_unnamed_hits_are_added_once():
    """A count that was edited by hand is an addition too, and stays one when it comes twice; a lower one takes away."""
    base = GOT.change(occurrences=5)
    up, down = base.change(occurrences=9, rev=2), base.change(occurrences=3, rev=2)
    once = merge_bytes(GOT.id, encode(base), encode(up), encode(down), {}.get)
    assert 7 == decode(once.data).get("occurrences")
    for side in (up, down):
        assert once.data == merge_bytes(GOT.id, encode(base), once.data, encode(side), {}.get).data


def test_hostile_counts_stay_a_valid_record():
    """Counts of any size and lists of nonsense give a record that can be read."""
    most = 2**53 - 1
    stamps = {"occurrences": {"x": most, "y": -5, "z": "much", "t": True}}
    one, two = GOT.change(occurrences=most, stamps=stamps), GOT.change(occurrences=most, rev=2)
    assert most == decode(
        merge_bytes(GOT.id, encode(GOT), encode(one), encode(two), {}.get).data
    ).get("occurrences")


def test_reopening_keeps_a_conflict():
    """A hit on a resolved record adds to its text, and leaves the conflict in it for a person."""
    item = GOT.change(
        body="a\n",
        resolved={"by": "Ada"},
        conflict=True,
        stamps={"body": ["2 x y"], "title": "2 x y"},
    )
    view = operations.View(lambda path: encode(item) if path.startswith("gotchas/") else None)
    operations.apply(operations.observe(GOT, 1, "2026-01-02T00:00:00Z"), view)
    found = decode(next(iter(view.edits.values())))
    assert (True, ["title"]) == (found.get("conflict"), sorted(found.get("stamps")))
