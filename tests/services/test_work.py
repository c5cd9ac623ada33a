"""Who is at an epic, and whether it crashed: as `state.db` and processes tell; which epic is meant."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitmem.base import processes
from gitmem.clock import stamp
from gitmem.errors import UserError
from gitmem.index import epics as works
from gitmem.records import epic as work
from gitmem.records import epic_operations
from gitmem.records.codec import decode
from gitmem.records.record import make
from gitmem.repo.location import Home
from gitmem.services.work import epics as service
from gitmem.state import epic_holders, session_ends, sessions
from gitmem.state.database import State
from gitmem.state.sessions import Session
from gitmem.store import operations
from gitmem.store.layout import record_path, tombstone_path
from gitmem.text import slugs

NOW = 1_800_000_000.0
LATE = works.CRASH_AFTER + 1


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    found = State(Home(str(tmp_path / "home")))
    yield found
    found.close()


def epic(ago: float = 0, act: str = "", session: str = "", by: str = "mine") -> dict[str, Any]:
    """Return what the state of an epic tells whose last action was so long ago."""
    holder = {"host": "h", **({"session": session} if session else {})}
    at = stamp(NOW - ago)
    found = epic_operations.operate({}, "start", {"stories": ["1", "2"], "holder": holder}, at, by)
    return {
        **work.facts(epic_operations.operate(found, act, {}, at, by) if act else found),
        "id": "wrk-shop",
    }


def processes_of(gone: Mapping[str, bool | None]) -> Callable[[str], bool | None]:
    """Return what tells of processes by a table."""
    return lambda process: gone.get(process)


def session(state: State, id: str, last: float, process: str = "p", *, opens: bool = True) -> None:
    """Let a session give a sign of life."""
    sessions.sign(
        state,
        Session(id, "claude", last, last, f"history_{id}.jsonl", None, "", "/r", "", process),
        opens=opens,
    )


@pytest.mark.parametrize(
    ("gone", "ago", "standing"),
    [
        (False, 9 * 3600, "active"),
        (True, 1800, "left"),
        (True, 1801, "crashed"),
        (None, 1800, "active"),
        (None, 1801, "crashed"),
        (None, -600, "active"),
    ],
)
def test_a_process_decides_where_it_is_known_and_silence_else(
    state: State, gone: bool | None, ago: float, standing: str
) -> None:
    """Alive is alive after hours; gone is left for 30 minutes, then a crash; of one that nothing is known of, silence decides."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "p", NOW - ago, processes_of({}))
    assert works.condition(state, epic(ago), NOW, processes_of({"p": gone}))["standing"] == standing


@pytest.mark.parametrize("act", ["pause", "abort", "complete"])
def test_what_was_put_down_is_no_crash(state: State, act: str) -> None:
    """Though its process is gone, and it was long ago."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "p", NOW, processes_of({}))
    assert works.condition(state, epic(LATE, act), NOW, processes_of({"p": True}))["standing"] in {
        "paused",
        "aborted",
        "completed",
    }


def test_signs_of_life_of_its_session_count(state: State) -> None:
    """Hooks leave them; a session whose process cannot be asked is alive as long as they come."""
    epic_holders.hold(state, "wrk-shop", "mine", "s", "", NOW - 7200, processes_of({}))
    session(state, "s", NOW - 60, "")
    found = works.condition(state, epic(7200, session="s"), NOW, processes_of({}))
    assert (found["standing"], found["silent"]) == ("active", 60)
    assert (
        works.condition(state, epic(7200, session="s"), NOW + LATE, processes_of({}))["standing"]
        == "crashed"
    )


def test_a_session_that_ended_or_was_buried(state: State) -> None:
    """An end without a pause is left, for half an hour; one that was found dead too; the process of the session's row is asked."""
    session(state, "s", NOW, "p")
    epic_holders.hold(state, "wrk-shop", "mine", "s", "other", NOW, processes_of({}))
    assert works.condition(
        state, epic(0, session="s"), NOW, processes_of({"other": True, "p": False})
    )["alive"]
    session_ends.end(state, "s", NOW, "exit")
    assert (
        works.condition(state, epic(0, session="s"), NOW + 1800, processes_of({}))["standing"]
        == "left"
    )
    assert (
        works.condition(state, epic(0, session="s"), NOW + LATE, processes_of({}))["standing"]
        == "crashed"
    )
    session(state, "s", NOW, "p")
    session_ends.mark_interrupted(state, next(one for one in sessions.some(state) if one.id == "s"))
    assert works.condition(state, epic(0, session="s"), NOW, processes_of({}))["standing"] == "left"
    assert (
        works.condition(state, epic(0, session="s"), NOW + LATE, processes_of({}))["standing"]
        == "crashed"
    )


def test_a_story_that_was_completed_last_is_no_crash(state: State) -> None:
    """Nothing was under way, however long ago it was."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "p", NOW - LATE, processes_of({}))
    found = {**epic(LATE), "last": {"action": "STORY_COMPLETED"}}
    assert works.condition(state, found, NOW, processes_of({"p": True}))["standing"] == "left"
    assert works.condition(state, found, NOW, processes_of({}))["standing"] == "left"


def test_one_of_several_is_enough(state: State) -> None:
    """An epic that two are at is alive as long as one of them is; who is gone is forgotten, the number is bounded."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "alive", NOW, processes_of({}))
    epic_holders.hold(state, "wrk-shop", "mine", "", "dead", NOW, processes_of({"alive": False}))
    assert (
        works.condition(state, epic(LATE), NOW, processes_of({"alive": False, "dead": True}))[
            "standing"
        ]
        == "active"
    )
    assert (
        works.condition(state, epic(0), NOW, processes_of({"alive": True, "dead": True}))[
            "standing"
        ]
        == "left"
    )
    for n in range(40):
        epic_holders.hold(state, "wrk-shop", "mine", "", f"p{n}", NOW, processes_of({"dead": True}))
    assert [one.process for one in epic_holders.holders(state, "wrk-shop")[1]] == [
        f"p{n}" for n in range(40 - epic_holders.HOLDERS, 40)
    ]


def test_another_clone_that_went_on_is_not_judged_by_our_processes(state: State) -> None:
    """What was at it here is gone; since then somebody else is at it."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "p", NOW - 60, processes_of({}))
    assert (
        works.condition(state, epic(60, by="theirs"), NOW, processes_of({"p": True}))["standing"]
        == "active"
    )
    assert (
        works.condition(state, epic(LATE, by="theirs"), NOW, processes_of({"p": False}))["standing"]
        == "crashed"
    )


def test_released_means_nobody(state: State) -> None:
    """After a release there is nobody to ask after."""
    epic_holders.hold(state, "wrk-shop", "mine", "", "p", NOW, processes_of({}))
    epic_holders.release(state, "wrk-shop")
    assert epic_holders.holders(state, "wrk-shop") == ("", [])


def test_the_future_is_fresh_but_not_for_ever(state: State) -> None:
    """From when it was seen first, also when our own clock goes back in between; where nothing can be remembered, only the near future is."""
    ahead = epic(-86400)
    for now, standing in (
        (0, "active"),
        (1800, "active"),
        (1801, "crashed"),
        (-5000, "active"),
        (-3000, "crashed"),
    ):
        assert works.condition(state, ahead, NOW + now, processes_of({}))["standing"] == standing
    state.in_memory = True
    assert works.condition(state, ahead, NOW, processes_of({}))["standing"] == "crashed"
    assert works.condition(state, epic(-600), NOW, processes_of({}))["standing"] == "active"


def test_this_process_is_there() -> None:
    """The process of a terminal is named as others are."""
    found = processes.terminal()
    assert not found or processes.is_gone(found) is False


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Checkout rework", "checkout-rework"),
        ("EPIC-12", "epic-12"),
        ("é è/ü..", "e-e-u"),
        ("  --x--  ", "x"),
        ("1.1", "1.1"),
        ("a" * 90, "a" * 60),
        ("\U0001f600", "epic-f0443a34"),
    ],
)
def test_slugs(text: str, slug: str) -> None:
    """A name that a file and an id can have; the same for the same text."""
    assert slugs.slug(text) == slug


def test_an_epic_by_any_of_its_names() -> None:
    """A whole name wins over the beginning of another; two that fit are named."""
    rows = [
        {"id": f"wrk-{name}", "ref": ref, "status": "active"}
        for name, ref in (("shop", "E-1"), ("shopping", ""), ("blog", ""))
    ]
    assert [service.find(rows, text) for text in ("shop", "wrk-shopping", "e-1", "b", "Blog")] == [
        "wrk-shop",
        "wrk-shopping",
        "wrk-shop",
        "wrk-blog",
        "wrk-blog",
    ]
    with pytest.raises(UserError, match="shop, shopping"):
        service.find(rows, "sho")
    with pytest.raises(UserError, match="no epic 'q'"):
        service.find(rows, "q")


def applied(
    files: dict[str, bytes], *todo: dict[str, Any], replica: str = "r" * 26
) -> dict[str, bytes]:
    """Return a tree after operations of the store, as one commit applies them."""
    view = operations.View(files.get, lambda: replica)
    for one in todo:
        operations.apply(one, view)
    return {path: data for path, data in {**files, **view.edits}.items() if data is not None}


def test_an_operation_is_done_to_what_is_there_then() -> None:
    """After a lost race it is applied to the newer tree, and nothing of the other is lost; applied again it changes nothing."""
    new = make("work", "wrk-shop", "Shop", created=stamp(NOW), updated=stamp(NOW), rev=1)
    start = operations.work("wrk-shop", "start", {"stories": ["1", "2"]}, stamp(NOW), new)
    mine, theirs = (
        operations.work("wrk-shop", "done", {"story": story}, stamp(NOW + 1))
        for story in ("1", "2")
    )
    tree = applied({}, start)
    both = applied(applied(tree, theirs), mine)
    assert work.progress(decode(both[record_path("wrk-shop")]).fields["state"])["stories_done"] == [
        "1",
        "2",
    ]
    assert applied(both, start, mine, theirs, mine) == both
    assert decode(both[record_path("wrk-shop")]).rev == 3


def test_an_operation_on_what_is_gone_says_so() -> None:
    """An epic that was forgotten or discarded meanwhile, or never was."""
    new = make("work", "wrk-shop", "Shop", created=stamp(NOW), rev=1)
    pause = operations.work("wrk-shop", "pause", {}, stamp(NOW), new)
    with pytest.raises(UserError, match="there is no epic"):
        applied({}, {**pause, "new": None})
    with pytest.raises(UserError, match="was forgotten"):
        applied({tombstone_path("wrk-shop"): b"{}"}, pause)
    with pytest.raises(UserError, match="was discarded"):
        applied(applied({}, operations.put(new.change(status="archived"))), pause)
    with pytest.raises(UserError, match="nothing that can be done"):
        applied({}, {**pause, "act": "dance"})


def test_a_terminal_that_is_open_says_nothing_of_the_agent_that_went_on_from_there(state):
    epic_holders.hold(state, "wrk-shop", "mine", "", "terminal", NOW - 60, processes_of({}))
    epic_holders.hold(state, "wrk-shop", "mine", "s", "agent", NOW - 30, processes_of({}))
    both = {"terminal": False, "agent": True}
    assert (
        works.condition(state, epic(0, session="s"), NOW, processes_of(both))["standing"] == "left"
    )
    # the person goes on by hand
    epic_holders.hold(state, "wrk-shop", "mine", "", "terminal", NOW, processes_of(both))
    assert works.condition(state, epic(0), NOW, processes_of(both))["standing"] == "active"
