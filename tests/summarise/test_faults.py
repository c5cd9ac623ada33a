"""Errors at the end of a session: which of them a cause that the agent tells belongs to."""

from gitmem.model.item import ERROR
from gitmem.model.turn import ASSISTANT, USER, Turn
from gitmem.summarise.faults import Faults, Told
from gitmem.summarise.hindsight import Heard

AT = "2026-11-21T10:00:00Z"


def told(*said: tuple[int, str, str]) -> list[Told]:
    """Return the errors of sentences (turn, role, text), all of which hindsight takes for one."""
    faults = Faults()
    for born, role, text in said:
        heard = Heard(text, role, "en", born, {ERROR: 0.9}, [])
        heard.by = {ERROR: 0.9}
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
