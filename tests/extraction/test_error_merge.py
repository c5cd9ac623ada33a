"""Errors at the end of a session: which of them a cause that the agent tells belongs to."""

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.detect.error_merge import Faults, Told
from gitmem.records.items import ERROR
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"


def told(*said: tuple[int, str, str] | tuple[int, str, str, float]) -> list[Told]:
    """Return the errors of sentences (turn, role, text, how likely hindsight takes it for one)."""
    faults = Faults()
    for born, role, text, *likely in said:
        heard = Heard(text, role, "en", born, {ERROR: 0.9}, [])
        heard.by = {ERROR: likely[0] if likely else 0.9}
        faults.take(heard, Turn(role, text, AT, born), born, born)
    return faults.told([])


def test_a_cause_belongs_to_the_error_whose_words_it_shares() -> None:
    upload, job = told(
        (1, USER, "The upload of large files fails."), (3, USER, "The nightly job does not run on Sundays."),
        (6, ASSISTANT, "The proxy cuts the upload of large files after a minute."),
    )  # fmt: skip
    assert "proxy" in upload.detail
    assert job.detail == ""


def test_words_of_explaining_are_shared_by_all_causes() -> None:
    upload, job = told(
        (1, USER, "The upload of files fails."), (2, ASSISTANT, "The root cause was a socket that is dropped."),
        (5, USER, "The nightly job does not run."), (6, ASSISTANT, "The root cause was a wrong time zone in the scheduler."),
    )  # fmt: skip
    assert "socket" in upload.detail
    assert "scheduler" in job.detail


def test_what_is_told_much_later_of_something_else_is_an_error_of_its_own() -> None:
    found = told(
        (1, USER, "The upload of files fails."), (2, ASSISTANT, "The proxy drops its sockets."),
        (9, ASSISTANT, "Adyen signs its webhooks with a hex key that must be decoded."),
    )  # fmt: skip
    assert [one.text.split(" ")[0] for one in found] == ["The", "Adyen"]


def test_an_explanation_in_two_turns_is_one() -> None:
    (one,) = told(
        (1, USER, "The upload of files fails."), (2, ASSISTANT, "The proxy drops idle sockets."), (3, ASSISTANT, "Nginx had a limit of a minute there."),
    )  # fmt: skip
    assert "proxy" in one.detail
    assert "Nginx" in one.detail


def test_an_error_that_is_told_twice_does_not_explain_itself() -> None:
    (one,) = told((1, USER, "The upload of files fails."), (3, USER, "The upload of files fails!"))
    assert one.detail == ""


def test_what_a_user_perhaps_complains_of_and_an_agent_explains_is_an_error_together() -> None:
    (one,) = told(
        (1, USER, "but one hour late??", 0.3),
        (2, ASSISTANT, "The time zone is not set, so it is UTC.", 0.6),
        (3, USER, "ok, the next one?", 0.05),
    )
    assert (one.text, one.detail, one.role) == ("One hour late??", "The time zone is not set, so it is UTC.", USER)
    assert told((1, USER, "but one hour late??", 0.3), (2, ASSISTANT, "The time zone is not set, so it is UTC.", 0.3)) == []
    assert told((1, USER, "is it late?", 0.15), (2, ASSISTANT, "It is sent at noon.", 0.6)) == []


def test_a_complaint_is_explained_once() -> None:
    one, other = told(
        (1, USER, "the upload is slow", 0.4), (2, ASSISTANT, "The proxy cuts it after a minute.", 0.9), (4, USER, "the map is grey", 0.4),
        (5, ASSISTANT, "The key is bound to another certificate.", 0.9),
    )  # fmt: skip
    assert [(found.text, found.detail[:9]) for found in (one, other)] == [
        ("The upload is slow", "The proxy"),
        ("The map is grey", "The key i"),
    ]


def test_what_a_user_told_is_explained_by_what_is_perhaps_its_cause() -> None:
    (one,) = told(
        (1, USER, "The sensor stops after some hours."), (2, ASSISTANT, "Each try opens the device again and never closes it.", 0.4)
    )
    assert one.detail.startswith("Each try opens")


def test_many_complaints_and_causes_cost_little() -> None:
    said = [(turn, USER, f"it fails again, number {n} of {turn}", 0.25) for turn in (1, 3, 5) for n in range(400)]
    causes = [(turn, ASSISTANT, f"that is the cause {n} of {turn}", 0.3) for turn in (2, 4, 6) for n in range(400)]
    assert told(*sorted(said + causes)) == []
