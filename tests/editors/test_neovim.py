"""Neovim with the plugin of `lsp/nvim`: Debian's, which has the oldest API that it works with, and a current one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.editors.conftest import OTHER, TITLE, WORKAROUND, World

WARNING, INFORMATION = 2, 3  # of vim.diagnostic.severity


def test_a_gotcha_is_seen_followed_and_resolved(
    nvim: Callable[..., dict[str, Any]], world: World
) -> None:
    """Diagnostics and hover on open, lines that follow the typing, a code action after which the diagnostic and the gotcha are gone."""
    told = nvim("shows")

    assert [(d["line"], d["severity"], d["source"]) for d in told["diagnostics"]] == [
        (5, INFORMATION, "gitmem"),
        (10, WARNING, "gitmem"),
    ]
    assert told["diagnostics"][0]["message"].startswith(TITLE)
    assert told["diagnostics"][1]["message"].startswith(OTHER)
    assert told["clients"] == 1
    assert TITLE in told["hover"] and WORKAROUND in told["hover"] and OTHER not in told["hover"]
    assert any(title.startswith("Resolve gotcha") and TITLE in title for title in told["actions"])
    (message,) = world.messages("resolve")
    assert "Gitmem-Origin: editor" in message
    assert [row["title"] for row in world.gotchas() if row.get("is_resolved")] == [TITLE]


def test_the_subcommands_do_what_they_say(
    nvim: Callable[..., dict[str, Any]], world: World
) -> None:
    """Record from a range, list, show, complete, resolve, reopen, snooze, edit by saving; the status line counts along."""
    told = nvim("commands")
    ids = {row["title"]: row["id"] for row in world.gotchas()}

    assert [
        (row["line"], row["file"]) for row in sorted(told["list"], key=lambda row: row["line"])
    ] == [
        (5, "pay.py"),
        (9, "pay.py"),
        (10, "pay.py"),
    ]
    assert "Two refunds ran at once." in told["float"]
    assert told["complete"][0] == ["reanchor", "record", "reopen", "resolve", "restart"]
    assert sorted(told["complete"][1]) == sorted(ids[title][-8:] for title in ids)
    assert set(ids) == {TITLE, OTHER, "An order is None after a timeout"}
    for op in ("resolve", "reopen"):
        assert ["Gitmem-Origin: editor" in message for message in world.messages(op)] == [True], op
    (row,) = [row for row in world.gotchas() if row["title"].startswith("An order")]
    assert [(anchor["path"], anchor["lines"]) for anchor in row["anchors"]] == [("pay.py", [9, 9])]


def test_outside_of_a_repository_nothing_runs(
    nvim: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    """No server is started for a file that is of no repository; a subcommand says why it does nothing."""
    (tmp_path / "note.txt").write_text("text\n", encoding="utf-8")
    told = nvim("outside", tmp_path / "note.txt", "--cmd", f"cd {tmp_path}")

    assert told["running"] is False
    assert told["said"] == ["gitmem: this buffer is not a file of a git repository."]
    assert (
        "OK" in told["health"] and "git-mem-lsp" in told["health"] and "ERROR" not in told["health"]
    )


def test_a_missing_server_is_told_once(nvim: Callable[..., dict[str, Any]]) -> None:
    """One message with what to do, however many files are opened, and a health check that says it too."""
    told = nvim(
        "outside", "pay.py", "--cmd", "lua require('gitmem').setup({ cmd = { 'no-such-server' } })"
    )

    assert told["running"] is False
    assert told["messages"].count("`no-such-server` cannot be run") == 1
    (answer,) = told["said"]  # to the subcommand
    assert ":help gitmem-install" in answer
    assert "ERROR" in told["health"] and "no-such-server" in told["health"]


def test_the_rest_of_the_subcommands(nvim: Callable[..., dict[str, Any]], world: World) -> None:
    """Confirm, pin, unpin, snooze by id, unsnooze, reanchor, list all, timeline, why, code, draft, restart, log."""
    (world.root / "shop.py").write_text(
        "from pay import total\n\nprint(total([]))\n", encoding="utf-8"
    )
    (world.root / "notes.txt").write_text("text\n", encoding="utf-8")
    git(world.root, "add", ".")
    git(world.root, "commit", "-qm", "shop")
    told = nvim("more")
    rows = {row["title"]: row for row in world.gotchas()}

    assert told["log"] == "lsp.log"
    assert told["users"] == ["shop.py"]
    assert [(anchor["path"], anchor["lines"]) for anchor in rows[TITLE]["anchors"]] == [
        ("pay.py", [1, 2])
    ]
    assert [(anchor["path"], anchor["lines"]) for anchor in rows["Rounds down"]["anchors"]] == [
        ("pay.py", [6, 6])
    ]
    assert not rows[OTHER].get("pinned")


def test_marks_of_all_kinds_go_and_come(nvim: Callable[..., dict[str, Any]]) -> None:
    """Signs; the gotcha behind the cursor's line, at once and while typing; next and previous; one command for all of it."""
    told = nvim("marks")
    (five, six, ten), (moved_five, moved_six) = told["behind"], told["typed"]

    assert told["steps"] == [5, 10, 5, 10, 5, 10]
    assert told["unasked"] == told["ended"] == []
    assert [line for line, _ in five + ten] == [5, 10] and six == []
    assert TITLE in five[0][1] and OTHER in ten[0][1]
    assert moved_five == [] and moved_six[0][0] == 6 and TITLE in moved_six[0][1]
    assert told["off"] == [[], [], [], "mem 2 off"]
    assert told["on"] == [1, "mem 2"]
    (_, everywhere, about_all), *about_files = told["all"]
    assert (everywhere, about_all) == (0, "Deploys take an hour")
    assert [(name, line) for name, line, _ in about_files] == [
        ("pay.py", 1),
        ("pay.py", 5),
        ("pay.py", 10),
    ]
    assert "Money is decimal" in about_files[0][2] and "snoozed until" in about_files[2][2]
    assert (
        told["foreign"]
        == ["gitmem: this buffer is not a file of a git repository; open one first."] * 2
    )
    assert [text for text in told["said"] if "off" in text] == [
        "gitmem: marks are off; :Gitmem toggle shows them again."
    ] * 2
