"""Emacs with eglot, set up as docs/editors/emacs.md says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import HERE, OTHER, TITLE, WORKAROUND, World, missing, program
from tests.editors.pages import blocks

Emacs = Callable[..., dict[str, Any]]
# words of the page's set-ups
EGLOT, NOTES = "eglot-server-programs", "defun gitmem-flymake"


@pytest.fixture
def emacs(drive: Callable[..., dict[str, Any]], world: World, tmp_path: Path) -> Emacs:
    """Run a driver in Emacs, with those of the page's blocks that have a word."""
    path = program("emacs")
    found = world.run(path, "--batch", "-Q", "--eval", _HAS_EGLOT).stderr
    if "yes" not in found:
        missing("eglot")
    set_up = tmp_path / "gitmem.el"

    def run(driver: str, *words: str) -> dict[str, Any]:
        elisp = blocks("emacs.md", "elisp")
        chosen = [next(block for block in elisp if word in block) for word in words]
        set_up.write_text("".join(chosen), encoding="utf-8")
        script = HERE / "emacs" / f"{driver}.el"
        return drive(path, "--batch", "-Q", "-l", script, "pay.py", GITMEM_SETUP=str(set_up))

    return run


_HAS_EGLOT = """(message "%s" (if (or (locate-library "eglot")
  (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/eglot-*")) "yes" "no"))"""


def test_a_gotcha_is_seen_followed_and_resolved(emacs: Emacs, world: World) -> None:
    """Notes by flymake, hover, lines that follow the typing, a code action after which the note and the gotcha are gone."""
    told = emacs("eglot", EGLOT)
    (line, kind, text), (other_line, other_kind, other) = told["diagnostics"]

    assert (line, other_line) == (5, 10)
    assert kind == "eglot-note" and TITLE in text
    assert other_kind == "eglot-warning" and OTHER in other
    assert TITLE in told["hover"] and WORKAROUND in told["hover"] and OTHER not in told["hover"]
    assert any(title.startswith("Resolve gotcha") and TITLE in title for title in told["actions"])
    (message,) = world.messages("resolve")
    assert "Gitmem-Origin: editor" in message
    assert [row["title"] for row in world.gotchas() if row.get("is_resolved")] == [TITLE]


def test_notes_stand_beside_a_language_server(emacs: Emacs) -> None:
    """Eglot takes the buffer for its server, and the notes stay."""
    assert emacs("beside", NOTES, EGLOT) == {"eglot": [5, 10], "notes": [5, 10]}


def test_a_note_of_the_whole_file_takes_no_other_away(emacs: Emacs, world: World) -> None:
    """It is on the first line."""
    world.mem("add", "-k", "gotcha", "the whole file is old", "--anchor", "pay.py")

    assert emacs("beside", NOTES, EGLOT)["notes"] == [1, 5, 10]
