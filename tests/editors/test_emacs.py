"""Emacs with eglot, set up as docs/editors/emacs.md says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.editors.conftest import HERE, OTHER, TITLE, WORKAROUND, World, missing, program
from tests.editors.pages import blocks


@pytest.fixture
def emacs(
    drive: Callable[..., dict[str, Any]], world: World, tmp_path: Path
) -> Callable[..., dict[str, Any]]:
    """Run the driver in Emacs, with the page's lines for eglot."""
    path = program("emacs")
    found = world.run(path, "--batch", "-Q", "--eval", _HAS_EGLOT).stderr
    if "yes" not in found:
        missing("eglot")
    set_up = tmp_path / "gitmem.el"
    set_up.write_text(
        next(block for block in blocks("emacs.md", "elisp") if "eglot-server" in block)
    )

    def run() -> dict[str, Any]:
        return drive(
            path,
            "--batch",
            "-Q",
            "-l",
            HERE / "emacs" / "eglot.el",
            "pay.py",
            GITMEM_SETUP=str(set_up),
        )

    return run


_HAS_EGLOT = """(message "%s" (if (or (locate-library "eglot")
  (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/eglot-*")) "yes" "no"))"""


def test_a_gotcha_is_seen_followed_and_resolved(
    emacs: Callable[..., dict[str, Any]], world: World
) -> None:
    """Notes by flymake, hover, lines that follow the typing, a code action after which the note and the gotcha are gone."""
    told = emacs()
    (line, kind, text), (other_line, other_kind, other) = told["diagnostics"]

    assert (line, other_line) == (5, 10)
    assert kind == "eglot-note" and TITLE in text
    assert other_kind == "eglot-warning" and OTHER in other
    assert TITLE in told["hover"] and WORKAROUND in told["hover"] and OTHER not in told["hover"]
    assert any(title.startswith("Resolve gotcha") and TITLE in title for title in told["actions"])
    (message,) = world.messages("resolve")
    assert "Gitmem-Origin: editor" in message
    assert [row["title"] for row in world.gotchas() if row.get("is_resolved")] == [TITLE]
