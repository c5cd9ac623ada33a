"""The state of an epic: what is joined never depends on the order, no completed story is lost, an operation twice is an operation once."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.cli.work.epic_view import epic_view
from gitmem.errors import UserError
from gitmem.records import epic as work
from gitmem.records import epic_operations
from gitmem.records.codec import decode, encode
from gitmem.records.merge import merge_bytes
from gitmem.records.record import Record, make
from gitmem.services.work import epics, state_files
from gitmem.text.slugs import slug
from tests.records.strategies import json_values, words
from tests.scale import scaled

STORIES = ("1.1", "1.2", "1.10", "é b")
CLONES = ("aaaa", "bbbb", "cccc")
stories = st.sampled_from(STORIES)
stamps = st.integers(0, 59).map(lambda n: f"2026-01-01T00:00:{n:02d}Z")
notes = st.sampled_from(["", "x", "é\U0001f600"])
holders = st.fixed_dictionaries({"host": st.sampled_from("hk"), "session": st.sampled_from("st")})


def op(act: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """An operation that takes a note, and says who is at it."""
    return st.tuples(
        st.just(act), st.fixed_dictionaries({}, optional={"note": notes, "holder": holders})
    )


OPS = st.one_of(
    st.tuples(
        st.just("start"),
        st.fixed_dictionaries(
            {"stories": st.lists(stories, max_size=4)},
            optional={"total": st.integers(0, 9), "ref": st.sampled_from("EF")},
        ),
    ),
    st.tuples(
        st.just("story"),
        st.fixed_dictionaries(
            {"story": stories},
            optional={"executor": st.sampled_from(["dev", "qa"]), "title": words},
        ),
    ),
    st.tuples(
        st.just("done"), st.fixed_dictionaries({"story": stories}, optional={"next": stories})
    ),
    st.tuples(st.just("reopen"), st.fixed_dictionaries({"story": stories})),
    st.tuples(
        st.just("phase"),
        st.fixed_dictionaries(
            {"phase": st.sampled_from(work.PHASES)},
            optional={
                "story": stories,
                "executor": st.sampled_from(["dev", "qa"]),
                "result": notes,
                "attempt": st.integers(0, 5),
                "files": st.lists(st.sampled_from("pqr"), max_size=2),
            },
        ),
    ),
    op("pause"),
    op("abort"),
    op("complete"),
    op("go"),
    op("restart"),
    op("checkpoint"),
    op("review"),
    op("error"),
    st.tuples(
        st.just("override"),
        st.fixed_dictionaries(
            {
                "set": st.dictionaries(
                    st.sampled_from(["educational_mode", "k"]),
                    st.none() | st.booleans() | words,
                    max_size=2,
                )
            }
        ),
    ),
)


def done(state: Any, act: str, args: dict[str, Any], at: str, by: str) -> Any:
    """Return the state after an operation, the same after one that is refused."""
    try:
        return epic_operations.operate(state, act, args, at, by)
    except UserError:
        return state


@st.composite
def moved(draw: st.DrawFn, start: Any, by: str, most: int = 6) -> Any:
    """A state after what one clone did to it, its clock going anywhere."""
    state = start
    for act, args in draw(st.lists(OPS, max_size=most)):
        state = done(state, act, args, draw(stamps), by)
    return state


@st.composite
def family(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    """A state, and what three clones made of it."""
    base = draw(moved({}, "zzzz", 5))
    return base, [draw(moved(base, name)) for name in CLONES]


def text(state: Any) -> str:
    return json.dumps(state, sort_keys=True)


def record(state: Any, rev: int, updated: str = "2026-01-01T00:00:00Z", **more: Any) -> Record:
    return make(
        "work",
        "wrk-shop",
        "Shop",
        created="2026-01-01T00:00:00Z",
        updated=updated,
        rev=rev,
        state=state,
        phase=work.phase(work.normal(state)) or None,
        **more,
    )


@given(family())
def test_a_join_does_not_depend_on_order_or_repetition(case: tuple[Any, list[Any]]) -> None:
    """Commutative, associative, idempotent; a side that is joined again changes nothing."""
    _, (a, b, c) = case
    assert text(work.join(a, b)) == text(work.join(b, a))
    assert text(work.join(work.join(a, b), c)) == text(work.join(a, work.join(b, c)))
    both = work.join(a, b)
    assert text(work.join(both, a)) == text(work.join(b, both)) == text(both)
    assert text(work.join(a, a)) == text(work.normal(a))


@given(json_values, json_values, json_values)
def test_a_join_answers_any_json(a: Any, b: Any, c: Any) -> None:
    """A state that is none harms nobody."""
    assert text(work.join(work.join(a, b), c)) == text(work.join(a, work.join(b, c)))
    assert text(work.normal(work.normal(a))) == text(work.normal(a))
    work.facts(a), work.progress(a), work.overrides(a)


@given(family(), st.sampled_from(STORIES), stamps)
def test_a_story_completed_on_one_side_is_done(
    case: tuple[Any, list[Any]], story: str, at: str
) -> None:
    """Whatever the others did that did not know of it, but take up a story that they had done before."""
    base, (a, b, c) = case
    if story not in work.normal(base).get("stories", {}) or work.is_done(base, story):
        return
    others = [x for x in (b, c) if x["stories"][story].get("done") is None]
    here = done(
        done(a, "reopen", {"story": story}, at, "aaaa"), "done", {"story": story}, at, "aaaa"
    )
    joined = here
    for other in others:
        joined = work.join(joined, other)
    assert work.is_done(joined, story)
    known = work.progress(joined)
    assert story not in known["stories_pending"] and known["current"] != story
    assert known["current"] not in known["stories_pending"]
    assert known["stories_done"].count(story) == 1 and known["percentage"] <= 100


@given(moved({}, "zzzz", 6), OPS, stamps, stamps)
def test_an_operation_twice_is_an_operation_once(
    state: Any, step: tuple[str, dict[str, Any]], first: str, again: str
) -> None:
    """Run again at any time, on any clone's clock, it changes nothing more."""
    act, args = step
    try:
        once = epic_operations.operate(state, act, args, first, "aaaa")
    except UserError:
        return
    assert text(epic_operations.operate(once, act, args, again, "aaaa")) == text(once)
    # what was done is later than what it was done to
    assert text(work.join(state, once)) == text(work.normal(once))


@settings(max_examples=scaled(150, 40))
@given(
    family(), st.tuples(json_values, json_values, json_values), st.tuples(stamps, stamps, stamps)
)
def test_records_of_three_clones_merge_in_any_order(
    case: tuple[Any, list[Any]], unknown: tuple[Any, ...], times: tuple[str, ...]
) -> None:
    """The bytes are the same, keys of a newer version and states that are none included."""
    start, states = case
    base = record(start, 1)
    sides = []
    for n, (state, extra, at) in enumerate(zip(states, unknown, times, strict=True)):
        whole = (
            extra
            if isinstance(extra, list) and extra
            else {**state, **({"x_new": extra} if extra not in (None, "", [], {}) else {})}
        )
        sides.append(encode(record(whole, 2 + n % 2, at, agent=CLONES[n])))
    a, b, c = sides

    def both(one: bytes, two: bytes) -> bytes:
        return merge_bytes(base.id, encode(base), one, two, {}.get).data

    assert both(a, b) == both(b, a)
    assert both(both(a, b), c) == both(a, both(b, c)) == both(both(a, c), b)
    assert both(both(a, b), a) == both(a, b)
    merged = decode(both(both(a, b), c))
    assert encode(merged) == both(both(a, b), c)
    if isinstance(merged.fields.get("state"), dict):
        assert (merged.fields.get("phase") or "") == work.phase(work.normal(merged.fields["state"]))


def registers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Registers of any value, some of them damaged."""
    return st.fixed_dictionaries(
        {"v": values, "at": stamps},
        optional={
            "by": words | st.integers(-5, 5),
            "n": st.integers(-1, 3) | words,
            "after": stamps | words,
        },
    )


STRANGE = st.fixed_dictionaries(
    {},
    optional={
        **{
            key: registers(
                json_values
                | st.dictionaries(
                    st.sampled_from(["action", "story", "note", "session", "host"]), json_values
                )
            )
            for key in work.REGISTERS
        },
        "stories": st.dictionaries(
            words,
            st.fixed_dictionaries(
                {},
                optional={
                    "order": json_values,
                    "title": registers(json_values),
                    "done": registers(json_values),
                    "run": st.fixed_dictionaries(
                        {},
                        optional={
                            "round": json_values,
                            "phase": registers(json_values),
                            "since": stamps | words,
                            "attempts": json_values,
                            "results": st.dictionaries(words, registers(json_values), max_size=2),
                        },
                    ),
                },
            ),
            max_size=3,
        ),
        "executors": st.dictionaries(
            words, st.dictionaries(words, st.integers(-1, 3), max_size=2), max_size=2
        ),
        "overrides": st.dictionaries(words, registers(json_values), max_size=2),
        "files": st.dictionaries(words, stamps | json_values, max_size=3),
        "checkpoints": st.lists(
            st.fixed_dictionaries({}, optional={"at": stamps, "note": json_values}), max_size=3
        )
        | json_values,
        "total": json_values,
        "changed": json_values,
        "ref": json_values,
        "version": json_values,
    },
)


@given(STRANGE, OPS, stamps)
def test_a_state_of_somebody_else_harms_nobody(
    state: Any, step: tuple[str, dict[str, Any]], at: str
) -> None:
    """Whatever a hand or another program put into it: it is shown, worked on, joined and stored."""
    for one in (state, done(state, *step, at, "aaaa")):
        kept = decode(encode(record(one, 1)))
        epic = epics.Epic(
            kept,
            {**work.facts(one), "id": kept.id},
            {
                "standing": work.rest(work.normal(one)),
                "silent": 0.0,
                "alive": False,
                "session": "",
                "process": "",
                "why": "",
            },
        )
        json.dumps(epic_view(epic)), epics.options(epic)
        assert all(
            isinstance(value, str)
            for value in (*epic.facts["last"].values(), *epic.facts["holder"].values())
        )
    assert text(work.join(state, {})) == text(work.normal(state))


FILE: dict[str, Any] = {
    "version": "1.2",
    "last_updated": "2026-01-01T00:00:00Z",
    "epic": {"id": "E", "title": "T", "total_stories": 2},
    "progress": {"current_story": "b", "stories_done": ["a"], "stories_pending": ["b"]},
    "workflow": {"current_phase": "push", "attempt_count": 1, "phase_results": {}},
    "last_action": {"type": "PAUSE", "timestamp": "2026-01-01T00:00:00Z"},
    "context_snapshot": {
        "files_modified": ["x"],
        "executor_distribution": {"d": 1},
        "last_executor": "d",
        "branch": "m",
    },
    "overrides": {"k": True},
}
PLACES = [(key,) for key in FILE] + [
    (key, inner) for key in FILE if isinstance(FILE[key], dict) for inner in FILE[key]
]


@given(st.dictionaries(st.sampled_from(PLACES), json_values, max_size=3), st.booleans())
def test_any_state_file_is_read_or_refused(
    changes: dict[tuple[str, ...], Any], workflow: bool
) -> None:
    """With a reason; what is read can be stored, and reading it again gives the same."""
    tree: dict[str, Any] = json.loads(json.dumps(FILE))
    for place, value in changes.items():
        inner = tree if len(place) == 1 else tree[place[0]]
        if isinstance(inner, dict):
            inner[place[-1]] = value
    data = json.dumps(
        {**tree, "steps": tree.get("progress"), "workflow_id": "w"}
        if workflow
        else {"session_state": tree}
    ).encode()
    try:
        found = state_files.read(data, "f.yaml")
    except UserError as error:
        assert str(error).startswith("f.yaml is not a state of work: ")
        return
    assert found == state_files.read(data, "f.yaml")
    assert work.normal(found.state) == found.state
    encode(record(found.state, 1))
    assert found.name and slug(found.name)
    known = work.progress(found.state)
    assert not {known["current"]} & {*known["stories_done"], *known["stories_pending"]}


@given(st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Never anything else than a reason."""
    try:
        state_files.read(data, "f.yaml")
    except UserError as error:
        assert str(error).startswith("f.yaml is not a state of work: ")
