"""What the user complains of, and a command that then fails: one error where they are about the same thing, two where they are not. By rules alone."""

from gitmem.extraction.detect.command_errors import Errors
from gitmem.extraction.language.sentences import sentences
from gitmem.extraction.language.words import language
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

AT = "2026-11-21T10:00:00Z"


def told(*steps: tuple[str, str] | tuple[str, str, str]) -> list[tuple[str, str]]:
    """Return (text, detail) of the errors of a session: what somebody said, `run` and `fail` of a command with its output, `edit` of a file."""
    errors = Errors()
    for n, (who, text, *output) in enumerate(steps, 1):
        if who in (USER, ASSISTANT):
            turn = Turn(who, text, AT, n)
            errors.begins(who)
            for sentence in sentences(text):
                errors.said(sentence, turn, language(text), n)
        elif who == "edit":
            errors.tool(Turn(TOOL, "", AT, n, "Edit", "", (text,), False), n)
        else:
            errors.tool(Turn(TOOL, output[0], AT, n, "Bash", text, (), who == "fail"), n)
    return [(text, detail) for _, text, detail, score in errors.told() if score]


def test_a_command_that_shares_no_word_with_a_complaint_is_another_error() -> None:
    found = told(
        (USER, "The login page crashes on Safari with a blank screen."),
        ("fail", "pip install -r requirements.txt", "ERROR: No matching distribution found for foo==1.2"),
        (ASSISTANT, "The cause is that foo 1.2 was yanked from PyPI, pinning 1.3."), ("edit", "requirements.txt"),
        ("run", "pip install -r requirements.txt", "ok"),
    )  # fmt: skip
    assert not [one for one in found if "login" in " ".join(one) and "foo" in " ".join(one)]
    assert [one for one in found if "foo" in one[0] and "yanked" in one[1]]


def test_the_complaint_whose_words_a_command_shows_is_the_one_that_it_shows() -> None:
    found = told(
        (USER, "The login page crashes on Safari. The invoice PDF fails with a font error."),
        ("fail", "pytest tests/login", "TypeError: structuredClone is missing on the Safari login page"),
        (ASSISTANT, "The cause is that Safari 15.3 has no structuredClone."), ("edit", "login.ts"), ("run", "pytest tests/login", "1 passed"),
    )  # fmt: skip
    assert [one for one in found if one[0].startswith("The login page") and "structuredClone" in one[1]]
    assert not [one for one in found if "invoice" in one[0] and "structuredClone" in one[1]]


def test_an_explanation_stays_when_the_fault_is_then_shown() -> None:
    ((text, detail),) = told(
        (USER, "The upload client fails with ECONNRESET after a minute."),
        (ASSISTANT, "The cause is that keep-alive is off in the upload client."),
        ("fail", "pytest tests/test_upload.py", "Error: read ECONNRESET in upload"), ("edit", "client.ts"), ("run", "pytest tests/test_upload.py", "3 passed"),
        (ASSISTANT, "It passes now."),
    )  # fmt: skip
    assert text.startswith("The upload client fails")
    assert "keep-alive is off" in detail


def test_a_complaint_that_names_nothing_is_shown_by_what_fails_at_once() -> None:
    found = told(
        (USER, "导出的 CSV 在 Excel 里打开报错。"), (ASSISTANT, "早上好，我先跑一下导出的测试。"),
        ("fail", "python -m pytest -q", "UnicodeDecodeError: 'gbk' codec can't decode byte 0xad"), (ASSISTANT, "原因是文件没有写 BOM。"), ("edit", "csv.py"),
        ("run", "python -m pytest -q", "1 passed"),
    )  # fmt: skip
    ((text, detail),) = found
    assert text.startswith("导出的 CSV")
    assert "UnicodeDecodeError" in detail
    assert "BOM" in detail
    assert "早上好" not in detail


def test_files_that_are_edited_long_after_a_complaint_are_not_its() -> None:
    errors = Errors()
    errors.begins(USER)
    turn = Turn(USER, "The export fails.", AT, 1)
    (sentence,) = sentences(turn.text)
    errors.said(sentence, turn, "en", 1)
    for n in range(2, 12):
        errors.begins(ASSISTANT)
        errors.tool(Turn(TOOL, "", AT, n, "Edit", "", (f"file{n}.py",), False), n)
    assert "file2.py" in errors.open[0].files
    assert "file11.py" not in errors.open[0].files
