"""The project summary: what goes in, what it takes the place of, what gives way when it is too long."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.records.items import CONTEXT, DECISION, DONE, PREFERENCE, SECTION, TASK, item_id
from gitmem.services.sessions.summary_merge import condense, integrate, size
from tests.scale import scaled

TODAY = "2026-11-21T12:00:00Z"
NAMES = ("billing", "catalog", "search", "shipping", "ratings", "accounts", "mailing", "reports")


def entry(kind: str, text: str, at: str = "2026-11-20", session: str = "s1", **more):
    return {
        "id": item_id(text),
        "kind": kind,
        "text": text,
        "at": f"{at}T10:00:00Z",
        "session": session,
        **more,
    }


def sections(*entries):
    out: dict[str, list] = {}
    for one in entries:
        out.setdefault(SECTION[one["kind"]], []).append(one)
    return out


def texts(found, kind=None):
    return [e["text"] for part in found.values() for e in part if kind in {None, e["kind"]}]


def test_the_same_thing_is_said_once_in_the_newer_words_with_both_dates():
    old = sections(entry(DECISION, "Retries use exponential backoff with jitter", "2026-10-01"))
    after, grown = integrate(
        old, sections(entry(DECISION, "Retry uses exponential backoff, with jitter", session="s2"))
    )
    (one,) = after["key_decisions"]
    assert (one["text"], one["since"][:10], one["at"][:10], one["session"]) == (
        "Retry uses exponential backoff, with jitter",
        "2026-10-01",
        "2026-11-20",
        "s2",
    )
    assert (len(grown.added), len(grown.again)) == (0, 1)


def test_the_newer_decision_wins_whichever_comes_first():
    old, new = (
        entry(DECISION, "Use MySQL for the orders store", "2026-10-01"),
        entry(DECISION, "Use PostgreSQL for the orders store"),
    )
    for first, second in ((old, new), (new, old)):
        after, _ = integrate(integrate({}, sections(first))[0], sections(second))
        assert texts(after) == [new["text"]]


def test_a_pinned_decision_is_not_overruled_by_a_session():
    pinned = entry(DECISION, "Use MySQL for the orders store", "2026-10-01", pinned=True)
    after, _ = integrate(
        sections(pinned), sections(entry(DECISION, "Use PostgreSQL for the orders store"))
    )
    assert pinned["text"] in texts(after)


def test_a_task_that_was_done_leaves_and_does_not_come_back():
    task = entry(TASK, "Load-test the new isolation level", "2026-11-01")
    done = entry(DONE, "Load-tested the isolation level", "2026-11-10", session="s2")
    after, _ = integrate(sections(task), sections(done))
    assert texts(after, TASK) == []
    again, _ = integrate(after, sections(task))  # the first session's digest is written anew
    assert texts(again, TASK) == []
    later, _ = integrate(after, sections({**task, "at": TODAY}))
    assert texts(later, TASK) == [task["text"]]  # it is to be done once more


def test_what_is_of_one_session_alone_stays_out():
    after, grown = integrate({}, {"general_context": [entry("session", "claude, 3 prompts")]})
    assert after == {}
    assert not grown.changed


WORDS = st.sampled_from("alpha beta gamma delta cache queue retry token index shard".split())
TEXTS = st.lists(WORDS, min_size=3, max_size=6).map(" ".join)
LISTS = st.lists(
    st.builds(
        lambda kind, text, month, day, pinned: entry(
            kind, text, f"2026-{month:02d}-{day:02d}", **({"pinned": True} if pinned else {})
        ),
        st.sampled_from((DECISION, TASK, PREFERENCE, CONTEXT, DONE)),
        TEXTS,
        st.integers(1, 11),
        st.integers(1, 20),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=scaled(400, 100))
@given(LISTS, LISTS)
def test_integrating_again_changes_nothing(first, second):
    once, _ = integrate(integrate({}, sections(*first))[0], sections(*second))
    assert integrate(once, sections(*second))[0] == once


@given(LISTS, st.integers(0, 400))
def test_it_fits_and_keeps_what_must_stay(entries, limit):
    whole, _ = integrate({}, sections(*entries))
    found = condense(whole, limit, TODAY)
    must = [e for part in whole.values() for e in part if e.get("pinned")]
    kept = [e for part in found.values() for e in part]
    assert all(e in kept for e in must)
    assert size(found) <= max(limit, size({"x": must}))
    assert condense(found, limit, TODAY) == found


def test_the_oldest_gives_way_first_and_is_still_named():
    old = [
        entry(DECISION, f"Old decision number {n} about matter{n}", f"2026-03-{n + 1:02d}")
        for n in range(12)
    ]
    new = [
        entry(DECISION, f"Fresh choice {n} of subject{n}", f"2026-11-{n + 10}") for n in range(5)
    ]
    found = condense(sections(*old, *new), 480, TODAY)["key_decisions"]
    (condensed,) = [e for e in found if e.get("of")]
    assert condensed["of"] == 12
    assert condensed["text"].startswith("2026-03, 12 decisions: ")
    assert "Old decision number 11" in condensed["text"]
    assert [e["text"] for e in found if not e.get("of")] == [e["text"] for e in new]


def test_what_was_condensed_is_not_counted_again_when_its_session_is_read_anew():
    old = sections(
        *(
            entry(DECISION, f"The {name} service has its own database", f"2026-08-{n + 10}")
            for n, name in enumerate(NAMES)
        )
    )
    once = condense(integrate({}, old)[0], 300, TODAY)
    (joined,) = once["key_decisions"]
    assert joined["of"] == len(NAMES)
    again, grown = integrate(once, old)
    assert not grown.changed
    assert condense(again, 300, TODAY) == once


def test_a_clause_that_speaks_of_more_is_kept_when_its_month_grows():
    many = [
        entry(DECISION, f"The {name} service has its own database", f"2026-08-{n + 10}")
        for n, name in enumerate(NAMES)
    ]
    last = entry(DECISION, "Workers get 2 more threads each", "2026-08-19")
    once = condense(integrate({}, sections(*many, last))[0], 300, TODAY)
    assert "2 more threads" in texts(once)[0]
    late = entry(DECISION, "Nightly backups are encrypted with age", "2026-08-20")
    again = condense(integrate(once, sections(late))[0], 250, TODAY)
    assert "2 more threads" in texts(again)[0]
