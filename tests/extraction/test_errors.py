"""Errors of a session: which of them what somebody says belongs to."""

from gitmem.extraction.extractor import extract
from gitmem.records.items import ERROR
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

AT = "2026-11-21T10:00:00Z"


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
