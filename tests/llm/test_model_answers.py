"""From what a model printed to a value that fits: what is found, what is left out, what is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.llm.prompts import SCHEMA, read
from gitmem.llm.provider import ModelFailed

KINDS = SCHEMA["properties"]["items"]["items"]["properties"]["kind"]["enum"]
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(KINDS), "text": st.text(min_size=1), "turn": st.integers(-5, 500)},
        optional={
            "detail": st.text(),
            "files": st.lists(st.text()),
            "confidence": st.floats(allow_nan=False, allow_infinity=False),
        },
    ),
    max_size=4,
)
ANSWERS = st.fixed_dictionaries({"items": ITEMS, "topics": st.lists(st.text(), max_size=3)})
PROSE = st.text(alphabet=st.characters(blacklist_characters="`{"), max_size=60)


@given(answer=ANSWERS, before=PROSE, after=PROSE, fenced=st.booleans())
def test_an_answer_is_found_in_any_prose(
    answer: dict[str, Any], before: str, after: str, fenced: bool
) -> None:
    """What fits comes back as it was, whatever stands around it."""
    text = json.dumps(answer)

    assert (
        read(
            f"{before}\n```json\n{text}\n```\n{after}" if fenced else f"{before}{text}{after}",
            SCHEMA,
        )
        == answer
    )


@given(text=st.text(alphabet='{}[]",:`\n ab1-e.', max_size=200) | st.text(max_size=100))
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    """No other exception leaves, and no value that does not fit."""
    try:
        value = read(text, SCHEMA)
    except ModelFailed as failed:
        assert failed.kind in {"empty", "nonsense"}
        assert "\n" not in str(failed)
    else:
        assert set(value) == {"items", "topics"}


@given(
    good=ITEMS.filter(len),
    bad=st.sampled_from(
        [{"kind": "joke", "text": "x", "turn": 1}, {"kind": "task", "turn": 1}, "text", 7, None]
    ),
)
def test_a_part_that_does_not_fit_costs_no_other(good: list[dict[str, Any]], bad: Any) -> None:
    """Those that fit stay, in their order."""
    assert read(json.dumps({"items": [*good, bad], "topics": []}), SCHEMA)["items"] == good


@pytest.mark.parametrize(
    "items", [[{"kind": "joke", "text": "x", "turn": 1}], ["text"], {"kind": "task"}, "none"]
)
def test_where_nothing_fits_the_answer_is_refused(items: Any) -> None:
    """All parts wrong is another form, not a session that taught nothing."""
    with pytest.raises(ModelFailed, match="does not fit"):
        read(json.dumps({"items": items, "topics": []}), SCHEMA)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "{" * 100_000, '{"items": [' * 5000]
)
def test_depth_is_no_trap(text: str) -> None:
    """Deeper than any answer: refused, quickly."""
    with pytest.raises(ModelFailed, match="no JSON object"):
        read(text, SCHEMA)


def test_names_that_nobody_asked_for_are_left_out() -> None:
    """At the top and within."""
    answer = {
        "items": [
            {"kind": "task", "text": "Ship it.", "turn": 1.0, "detail": None, "mood": "good"}
        ],
        "topics": [],
        "note": "x",
    }

    assert read(json.dumps(answer), SCHEMA) == {
        "items": [{"kind": "task", "text": "Ship it.", "turn": 1}],
        "topics": [],
    }
