"""What VS Code shows and does with the extension. One run goes through all steps; each test looks at what one of them saw."""

import re
import zipfile
from typing import Any

import pytest

from tests.conftest import git
from tests.editors.conftest import OTHER, REF, TITLE, WORKAROUND
from tests.vscode import tools


@pytest.fixture
def seen(session: dict[str, Any]) -> dict[str, Any]:
    """What was seen; a run that broke off says where."""
    assert "failed" not in session, f"{session['failed']}; on the screen: {session.get('screen')}"
    return session


def test_a_gotcha_is_a_squiggle_of_its_severity(seen: dict[str, Any]) -> None:
    assert seen["squiggles"] == {"info": 1, "warning": 1}


def test_the_problems_view_lists_them(seen: dict[str, Any]) -> None:
    assert any(TITLE in row for row in seen["problems"]) and any(
        OTHER in row for row in seen["problems"]
    )


def test_the_hover_tells_the_record(seen: dict[str, Any]) -> None:
    assert TITLE in seen["hover"] and WORKAROUND in seen["hover"] and OTHER not in seen["hover"]


def test_a_lens_counts_the_gotchas_of_the_file(seen: dict[str, Any]) -> None:
    assert any(re.search(r"\b2 gotchas", text) for text in seen["lens"])


def test_the_view_lists_what_is_recorded_about_the_file(seen: dict[str, Any]) -> None:
    """A click went to the line of the second."""
    first, second = seen["rows"]

    assert TITLE in first and "line 5" in first
    assert OTHER in second and "line 10" in second


def test_the_status_bar_counts_the_gotchas_of_the_file(seen: dict[str, Any]) -> None:
    assert seen["status"] == "2"
    assert "2 gotchas in pay.py" in seen["statusLabel"]


def test_a_record_is_shown_as_a_document(seen: dict[str, Any]) -> None:
    assert OTHER in seen["record"] and "Two refunds ran at once." in seen["record"]


def test_a_quick_fix_resolves_a_gotcha(seen: dict[str, Any]) -> None:
    """The squiggle goes, and the store has a commit that says it came from an editor."""
    log = git(seen["repo"], "log", "--format=%B%x00", REF).split("\0")

    assert any(title.startswith("Resolve gotcha") and TITLE in title for title in seen["actions"])
    assert seen["squigglesAfter"] == 1
    assert [
        "Gitmem-Origin: editor" in message for message in log if "Gitmem-Op: resolve" in message
    ] == [True]


def test_a_gotcha_is_recorded_at_the_cursor(seen: dict[str, Any]) -> None:
    """Beside the one that another process recorded meanwhile."""
    assert any("Refunds are negative" in row and "line 11" in row for row in seen["rowsAtEnd"])
    assert any("Imports decimal on purpose" in row for row in seen["rowsAtEnd"])


def test_the_view_tells_who_uses_the_file(seen: dict[str, Any]) -> None:
    """With its rank; a click on one that does opens it. It is no record, which could be shown or resolved."""
    assert seen["usesActions"] == 0
    assert re.search(r"Used by 1 file ?rank 1 of \d", seen["uses"]) and "uses" in seen["steps"]


def test_a_folder_that_is_not_trusted_starts_nothing(seen: dict[str, Any]) -> None:
    """The view says so; once it is trusted the gotchas are there."""
    assert seen["startsUntrusted"] == 0 and "trust" in seen["steps"]


def test_a_repository_without_a_store_costs_no_process(seen: dict[str, Any]) -> None:
    """Until somebody, here or elsewhere, records the first gotcha: the file that is open shows it."""
    assert seen["startsEmpty"] == seen["startsBefore"]
    assert seen["startsBorn"] == seen["startsBefore"] + 1


def test_a_snooze_is_taken_back(seen: dict[str, Any]) -> None:
    """At once by the message, later in the view."""
    assert "snooze" in seen["steps"]
    assert re.search(r"line \d+, snoozed until \d{4}-\d\d-\d\d", seen["snoozedRow"])


def test_the_dashboard_is_served_until_its_terminal_is_closed(seen: dict[str, Any]) -> None:
    assert "<title>git mem" in seen["dashboard"]
    assert "dashboard" in seen["steps"]


def test_an_icon_stands_in_the_gutter_unless_it_is_unwanted(seen: dict[str, Any]) -> None:
    assert "gutter" in seen["steps"]


def test_the_gotcha_of_the_line_is_behind_it_where_it_is_wanted(seen: dict[str, Any]) -> None:
    """Only there, and at once where a line was typed above."""
    first, other, moved, line, again = seen["behind"]

    assert seen["unasked"] == []
    assert TITLE in first and OTHER in other and OTHER in moved and TITLE in again
    assert line == "11"


def test_commands_go_from_gotcha_to_gotcha(seen: dict[str, Any]) -> None:
    assert seen["goes"] == ["5", "10", "5", "10"]


def test_one_command_takes_all_marks_away(seen: dict[str, Any]) -> None:
    """Also after the window was loaded again; the status bar says so and brings them back."""
    assert "marks are off" in seen["off"]
    assert seen["offSquiggles"] == 0 and "marks" in seen["steps"]


def test_files_of_other_languages_are_marked(seen: dict[str, Any]) -> None:
    assert seen["languages"] == {"ship.go": 1, "parse.rs": 1, "data.json": 1, "pay.py": 2}


def test_the_whole_repository_is_listed(seen: dict[str, Any]) -> None:
    """By file and by severity, worst first; what the filter leaves opens its file at its line."""
    assert seen["panel"][4:7] == ["pay.py2", f"{OTHER}line 10", f"{TITLE}line 5"]
    assert [row for row in seen["panelBySeverity"] if "line" not in row] == [
        "critical1",
        "warning1",
        "info3",
    ]
    assert "panel" in seen["steps"]


def test_a_foreign_document_is_nobodys_error(seen: dict[str, Any]) -> None:
    """Settings, a library, a notebook, a comparison, a commit message, an output: no message of ours, and the view says what it wants."""
    assert seen["foreignToasts"] == [] and "foreign" in seen["steps"]


def test_a_saved_draft_says_so_and_closes(seen: dict[str, Any]) -> None:
    """But not one that VS Code saves by itself, in which somebody is writing."""
    assert seen["draftStays"] == 1 and "draft" in seen["steps"]


def test_settings_take_effect_at_once(seen: dict[str, Any]) -> None:
    """And those that nobody touched, even inside of one that is touched, are git's."""
    assert "settings" in seen["steps"]


def test_nothing_is_asked_for_that_cannot_be_recorded(seen: dict[str, Any]) -> None:
    """Without a server, the command to record says so before anybody types a text that would be lost."""
    assert seen["askedForTitle"] is False


def test_a_server_that_is_there_again_is_used(seen: dict[str, Any]) -> None:
    assert seen["startsFound"] == 1


def test_what_is_packed_has_licences_and_nothing_else(seen: dict[str, Any]) -> None:
    with zipfile.ZipFile(tools.VSIX) as packed:
        names = {
            name.removeprefix("extension/")
            for name in packed.namelist()
            if name.startswith("extension/")
        }
        notices = packed.read("extension/dist/THIRD-PARTY-NOTICES.txt").decode()

    assert names == {
        "package.json",
        "readme.md",
        "changelog.md",
        "LICENSE.txt",
        "images/icon.png",
        "dist/extension.js",
        "dist/THIRD-PARTY-NOTICES.txt",
    }
    assert all(
        name in notices
        for name in (
            "vscode-languageclient",
            "vscode-jsonrpc",
            "semver",
            "Permission is hereby granted",
        )
    )
    assert tools.VSIX.stat().st_size < 200_000


def test_a_missing_server_is_told_with_what_to_do(seen: dict[str, Any]) -> None:
    """The button led to the page that says how to install it."""
    assert "/no/such/server" in seen["missing"] and "How to Install" in seen["missing"]
