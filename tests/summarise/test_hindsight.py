"""Hindsight: what comes after a sentence changes what it is taken for; what is learnt is stored as it was, and any session can be judged."""

import math
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.item import DECISION, DONE, TASK
from gitmem.model.turn import ASSISTANT, TOOL, USER, Turn
from gitmem.summarise.around import EDIT, FAIL, RUN, Around, Before
from gitmem.summarise.hindsight import Heard, Listening, judged, packed, unpacked, vector
from gitmem.summarise.offline import extract
from gitmem.summarise.scores import CLASSES, scores
from tests.summarise.test_scores import TEXTS

TURNS = st.lists(
    st.tuples(st.sampled_from([USER, ASSISTANT]), st.lists(TEXTS, min_size=1, max_size=3), st.sets(st.sampled_from([EDIT, RUN, FAIL]))),
    min_size=1,
    max_size=5,
)


def heard(*turns: tuple[str, list[str], set[str]], language: str = "en") -> tuple[list[list[Heard]], int]:
    """Return the sentences of each turn as they were heard, and how many turns there were."""
    listening, before, out = Listening(), Before(), []
    for role, texts, used in turns:
        for one in sorted(used):
            listening.tool(one)
        before = Before(before.text, before.role, before.language, frozenset(used))
        first = [scores(text, role, language, Around(texts, n, role, language, before).features()) for n, text in enumerate(texts)]
        out.append([one for one in listening.turn(role, language, texts, first) if one is not None])
        before = Before(texts[-1], role, language)
    return out, listening.turns


def after(texts: list[str], *more: tuple[str, list[str], set[str]]) -> dict[str, float]:
    """Return what an agent's last sentence is by hindsight, when the session goes on so."""
    opening = (USER, ["we need somewhere to put the ledger"], set[str]())
    found, turns = heard(opening, (ASSISTANT, texts, set()), *more)
    return judged(found[1][-1], turns)


@settings(deadline=None, max_examples=40)
@given(TURNS, st.sampled_from(["en", "pt", "es", "zh"]))
def test_any_session_can_be_judged(turns: list[tuple[str, list[str], set[str]]], language: str) -> None:
    found, many = heard(*turns, language=language)
    sizes = {len(vector(one, many)) for part in found for one in part}
    assert len(sizes) <= 1
    for part in found:
        for one in part:
            by = judged(one, many)
            assert set(by) == set(CLASSES)
            assert sum(by.values()) == pytest.approx(1.0)


def test_what_was_learnt_fits_what_is_known_of_a_sentence() -> None:
    data = resources.files("gitmem.summarise").joinpath("phrases", "hindsight.bin").read_bytes()
    found, turns = heard((USER, ["use Postgres"], set()))
    assert len(data) < 100_000
    for inner, outer in unpacked(data):
        assert {len(row) for _, row in inner} == {len(vector(found[0][0], turns))}
        assert (len(outer), {len(row) for _, row in outer}) == (len(CLASSES), {len(inner)})


@given(st.lists(st.floats(-100, 100, width=32), min_size=5, max_size=5))
def test_networks_are_stored_as_they_are(numbers: list[float]) -> None:
    inner = [(numbers[0], numbers[1:4]), (numbers[4], numbers[:3])]
    outer = [(number, numbers[:2]) for number in (*numbers, 0.0, 1.0, 2.0)]
    assert unpacked(packed([(inner, outer)] * 2)) == [(inner, outer)] * 2


def test_a_yes_and_the_work_that_follows_make_a_decision_of_a_proposal() -> None:
    proposal = ["I'd keep the ledger in Postgres, since a transfer touches two rows."]
    taken = after(proposal, (USER, ["yes"], set()), (ASSISTANT, ["The ledger is in Postgres now."], {EDIT}))
    refused = after(proposal, (USER, ["no, too heavy for this"], set()), (ASSISTANT, ["All right."], set()))
    assert taken[DECISION] > 0.5 > refused[DECISION]


def test_what_is_done_next_was_no_task_that_is_left() -> None:
    left = ["The importer is done; the docs still need the new flag."]
    ends = after(left)
    goes_on = after(
        left, (USER, ["do the docs too"], set()), (ASSISTANT, ["The docs have the new flag."], {EDIT}), (USER, ["thanks"], set())
    )
    assert ends[TASK] > goes_on[TASK]


def test_what_was_changed_before_makes_words_a_report() -> None:
    words = ["The client retries three times now, with a pause that doubles."]
    found, turns = heard((USER, ["add retries"], set()), (ASSISTANT, words, {EDIT, RUN}), (USER, ["great"], set()))
    assert judged(found[1][0], turns)[DONE] > 0.5


def test_a_word_that_answers_is_told_with_what_it_answers() -> None:
    """`postgres` alone says little a month later."""
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "we need somewhere to put the ledger", at, 1),
        Turn(ASSISTANT, "SQLite would do for one process. Postgres has transactions over several writers. Which one shall I set up for the ledger?", at, 2),
        Turn(USER, "postgres then", at, 3),
        Turn(TOOL, "", at, 4, "Edit", "", ("ledger/db.py",), False),
        Turn(ASSISTANT, "The ledger writes to Postgres now.", at, 5),
    ]  # fmt: skip
    (decision,) = [item for item in extract(turns).items if item.kind == DECISION]
    assert decision.text.lower().startswith("postgres")
    assert "ledger" in decision.text or "transactions" in decision.text


def test_an_error_and_its_cause_that_come_far_apart_are_one() -> None:
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "the nightly export is empty since Monday", at, 1),
        Turn(ASSISTANT, "I'll look at the job first.", at, 2),
        Turn(TOOL, "0 rows", at, 3, "Bash", "psql -c 'select count(*) from export'", (), False),
        Turn(ASSISTANT, "The table is filled at noon, so the job itself works.", at, 4),
        Turn(USER, "ok and then?", at, 5),
        Turn(ASSISTANT, "The export is empty because the cursor was already consumed by the count.", at, 6),
        Turn(TOOL, "", at, 7, "Edit", "", ("jobs/export.py",), False),
        Turn(ASSISTANT, "The rows are read once now and the export is full again.", at, 8),
    ]
    errors = [item for item in extract(turns).items if item.kind == "error"]
    assert len(errors) == 1
    assert "cursor was already consumed" in f"{errors[0].text} {errors[0].detail}"


def test_scores_of_hindsight_are_plain_numbers() -> None:
    found, turns = heard((USER, ["use Postgres"], set()), (ASSISTANT, ["Fine."], set()))
    assert all(math.isfinite(number) for number in vector(found[0][0], turns))


def test_what_an_agent_said_before_the_command_failed_again_is_no_fix() -> None:
    at = "2026-05-01T10:00:00Z"

    def edit() -> Turn:
        return Turn(TOOL, "", at, 0, "Edit", "", ("sig.py",), False)

    def tests(failed: bool) -> Turn:
        return Turn(TOOL, "E   SignatureError: bad HMAC" if failed else "3 passed", at, 0, "Bash", "pytest tests/test_sig.py", (), failed)

    turns = [
        Turn(USER, "add the signature check for Adyen", at, 1), edit(), tests(True),
        Turn(ASSISTANT, "The key is base64, so it has to be decoded first.", at, 2), edit(), tests(True),
        Turn(ASSISTANT, "The real cause is that Adyen's key is hex encoded; bytes.fromhex reads it.", at, 3), edit(), tests(False),
        Turn(ASSISTANT, "The signature check is in and the tests pass.", at, 4), Turn(USER, "good", at, 5),
    ]  # fmt: skip
    (error,) = [item for item in extract(turns).items if item.kind == "error"]
    assert "bytes.fromhex" in error.detail
    assert "base64" not in error.detail


def test_what_went_well_is_no_error() -> None:
    at = "2026-05-01T10:00:00Z"
    turns = [
        Turn(USER, "the backfill of the old rows ran last night, Ines checked it, all good", at, 1),
        Turn(ASSISTANT, "Great, then the old column can go.", at, 2),
        Turn(TOOL, "", at, 3, "Edit", "", ("models.py",), False),
        Turn(ASSISTANT, "Dropped.", at, 4),
    ]
    assert [item for item in extract(turns).items if item.kind == "error"] == []
