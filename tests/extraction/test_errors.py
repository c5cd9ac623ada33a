"""Errors at the end of a session: which of them a cause that the agent tells belongs to."""

from gitmem.extraction.classify.session_model import Heard
from gitmem.extraction.detect.errors import ErrorTracker, ExplainedError
from gitmem.extraction.extractor import extract
from gitmem.records.items import ERROR
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

AT = "2026-11-21T10:00:00Z"


def told(*said: tuple[int, str, str] | tuple[int, str, str, float]) -> list[ExplainedError]:
    """Return the errors of sentences (turn, role, text, how likely it tells of an error)."""
    errors = ErrorTracker()
    for born, role, text, *likely in said:
        heard = Heard(text, role, "en", born, {ERROR: 0.9}, [])
        heard.by = {ERROR: likely[0] if likely else 0.9}
        errors.turn = born
        errors.hear(heard, Turn(role, text, AT, born), born)
    return errors.found()


def test_a_cause_belongs_to_the_error_whose_words_it_shares() -> None:
    upload, job = told(
        (1, USER, "The upload of large files fails."),
        (3, USER, "The nightly job does not run on Sundays."),
        (6, ASSISTANT, "The proxy cuts the upload of large files after a minute."),
    )
    assert "proxy" in upload.detail
    assert job.detail == ""


def test_words_of_explaining_are_shared_by_all_causes() -> None:
    upload, job = told(
        (1, USER, "The upload of files fails."),
        (2, ASSISTANT, "The root cause was a socket that is dropped."),
        (5, USER, "The nightly job does not run."),
        (6, ASSISTANT, "The root cause was a wrong time zone in the scheduler."),
    )
    assert "socket" in upload.detail
    assert "scheduler" in job.detail


def test_what_is_told_much_later_of_something_else_is_an_error_of_its_own() -> None:
    found = told(
        (1, USER, "The upload of files fails."),
        (2, ASSISTANT, "The proxy drops its sockets."),
        (9, ASSISTANT, "Adyen signs its webhooks with a hex key that must be decoded."),
    )
    assert [one.text.split(" ")[0] for one in found] == ["The", "Adyen"]


def test_an_explanation_in_two_turns_is_one() -> None:
    (one,) = told(
        (1, USER, "The upload of files fails."),
        (2, ASSISTANT, "The proxy drops idle sockets."),
        (3, ASSISTANT, "Nginx had a limit of a minute there."),
    )
    assert "proxy" in one.detail
    assert "Nginx" in one.detail


def test_an_error_that_is_told_twice_is_one_item() -> None:
    turns = [
        Turn(USER, "The upload of files fails.", AT, 1),
        Turn(ASSISTANT, "I see.", AT, 2),
        Turn(USER, "The upload of files fails!", AT, 3),
    ]
    assert len([item for item in extract(turns).items if item.kind == ERROR]) <= 1


def test_what_a_user_perhaps_complains_of_and_an_agent_explains_is_an_error_together() -> None:
    (one,) = told(
        (1, USER, "but one hour late??", 0.3),
        (2, ASSISTANT, "The time zone is not set, so it is UTC.", 0.6),
        (3, USER, "ok, the next one?", 0.05),
    )
    assert (one.text, one.detail, one.turn.role) == (
        "One hour late??",
        "The time zone is not set, so it is UTC.",
        USER,
    )
    assert (
        told(
            (1, USER, "but one hour late??", 0.3),
            (2, ASSISTANT, "The time zone is not set, so it is UTC.", 0.1),
        )
        == []
    )
    assert told((1, USER, "is it late?", 0.15), (2, ASSISTANT, "It is sent at noon.", 0.55)) == []


def test_a_complaint_is_explained_once() -> None:
    one, other = told(
        (1, USER, "the upload is slow", 0.4),
        (2, ASSISTANT, "The proxy cuts it after a minute.", 0.9),
        (4, USER, "the map is grey", 0.4),
        (5, ASSISTANT, "The key is bound to another certificate.", 0.9),
    )
    assert [(found.text, found.detail[:9]) for found in (one, other)] == [
        ("The upload is slow", "The proxy"),
        ("The map is grey", "The key i"),
    ]


def test_what_a_user_told_is_explained_by_what_is_perhaps_its_cause() -> None:
    (one,) = told(
        (1, USER, "The sensor stops after some hours."),
        (2, ASSISTANT, "Each try opens the device again and never closes it.", 0.4),
    )
    assert one.detail.startswith("Each try opens")


def test_many_complaints_and_causes_cost_little() -> None:
    said = [
        (turn, USER, f"it fails again, number {n} of {turn}", 0.25)
        for turn in (1, 3, 5)
        for n in range(400)
    ]
    causes = [
        (turn, ASSISTANT, f"that is the cause {n} of {turn}", 0.3)
        for turn in (2, 4, 6)
        for n in range(400)
    ]
    assert told(*sorted(said + causes)) == []


def session(*steps: tuple[str, str] | tuple[str, str, str]) -> list[tuple[str, str]]:
    """Return (text, detail) of the errors of a session: what somebody said, `run` and `fail` of a command with its output, `edit` of a file."""
    turns = []
    for n, (who, text, *output) in enumerate(steps, 1):
        if who in (USER, ASSISTANT):
            turns.append(Turn(who, text, AT, n))
        elif who == "edit":
            turns.append(Turn(TOOL, "", AT, n, "Edit", "", (text,), False))
        else:
            turns.append(Turn(TOOL, output[0], AT, n, "Bash", text, (), who == "fail"))
    return [(item.text, item.detail) for item in extract(turns).items if item.kind == ERROR]


def test_a_command_that_shares_no_word_with_a_complaint_is_another_error() -> None:
    found = session(
        (USER, "The login page crashes on Safari with a blank screen."),
        (
            "fail",
            "pip install -r requirements.txt",
            "ERROR: No matching distribution found for foo==1.2",
        ),
        (ASSISTANT, "The cause is that foo 1.2 was yanked from PyPI, pinning 1.3."),
        ("edit", "requirements.txt"),
        ("run", "pip install -r requirements.txt", "ok"),
    )
    assert not [one for one in found if "login" in " ".join(one) and "foo" in " ".join(one)]
    assert [one for one in found if "foo" in one[0] and "yanked" in one[1]]


def test_a_cause_goes_to_the_command_that_failed_and_not_to_every_complaint() -> None:
    found = session(
        (USER, "The login page crashes on Safari. The invoice PDF fails with a font error."),
        (
            "fail",
            "pytest tests/login",
            "TypeError: structuredClone is missing on the Safari login page",
        ),
        (ASSISTANT, "The cause is that Safari 15.3 has no structuredClone."),
        ("edit", "login.ts"),
        ("run", "pytest tests/login", "1 passed"),
    )
    assert [one for one in found if "structuredClone" in one[0] and "no structuredClone" in one[1]]
    assert not [one for one in found if "invoice" in one[0] and "structuredClone" in one[1]]


def test_an_explanation_stays_when_the_fault_is_then_shown() -> None:
    ((text, detail),) = session(
        (USER, "The upload client fails with ECONNRESET after a minute."),
        (ASSISTANT, "The cause is that keep-alive is off in the upload client."),
        ("fail", "pytest tests/test_upload.py", "Error: read ECONNRESET in upload"),
        ("edit", "client.ts"),
        ("run", "pytest tests/test_upload.py", "3 passed"),
        (ASSISTANT, "It passes now."),
    )
    assert text.startswith("The upload client fails")
    assert "keep-alive is off" in detail


def test_a_greeting_explains_no_failure() -> None:
    found = session(
        (USER, "导出的 CSV 在 Excel 里打开报错。"),
        (ASSISTANT, "早上好，我先跑一下导出的测试。"),
        ("fail", "python -m pytest -q", "UnicodeDecodeError: 'gbk' codec can't decode byte 0xad"),
        (ASSISTANT, "原因是文件没有写 BOM。"),
        ("edit", "csv.py"),
        ("run", "python -m pytest -q", "1 passed"),
    )
    assert [one for one in found if "UnicodeDecodeError" in one[0] and "BOM" in one[1]]
    assert "早上好" not in str(found)
