"""The reference pages are what the commands say of themselves today."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts.make_reference import blocks, files, markdown, roff
from tests.house.conftest import ROOT, commands, options

MANUAL = sorted((ROOT / "docs" / "man").glob("*.1"))


def test_no_page_is_stale() -> None:
    """After a change of a command's help, `make reference` has to be run."""
    made = files()
    stored = ["docs/commands.md", *(str(path.relative_to(ROOT)) for path in MANUAL)]

    assert sorted(made) == sorted(stored)
    assert [name for name in made if (ROOT / name).read_text("utf-8") != made[name]] == []


def test_each_command_and_option_is_in_the_reference() -> None:
    """Each command has a section, with all its options."""
    sections = dict.fromkeys(commands(), "")
    for part in markdown().split("\n## git mem ")[1:]:
        for section in part.replace("\n### git mem ", "\0").split("\0"):
            name, _, text = section.partition("\n")
            sections[name.strip()] += text
    missing = {
        name: [
            option
            for option in options(command) - {"--help"}
            if not re.search(re.escape(option) + r"(?![a-z-])", sections[name])
        ]
        for name, command in commands().items()
    }

    assert {name: lacking for name, lacking in missing.items() if lacking} == {}


@pytest.mark.parametrize("program", ["groff", "mandoc"])
def test_the_manual_pages_are_well_formed(program: str) -> None:
    """Neither formatter has a warning about any of them."""
    if shutil.which(program) is None:
        assert program == "mandoc" or not os.environ.get("GITMEM_REQUIRE_ALL")
        return
    command = {
        "groff": ["groff", "-man", "-ww", "-z", "-K", "utf8", "-T", "utf8"],
        "mandoc": ["mandoc", "-T", "lint", "-W", "error"],
    }[program]
    done = subprocess.run(
        [*command, *map(str, MANUAL)], capture_output=True, text=True, check=False
    )

    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_command_has_a_manual_page(tmp_path: Path) -> None:
    """`man git-mem-gotcha-add` shows its options."""
    (tmp_path / "man1").mkdir()
    shutil.copy(ROOT / "docs" / "man" / "git-mem-gotcha-add.1", tmp_path / "man1")
    env = {**os.environ, "MANPATH": str(tmp_path), "MANPAGER": "cat", "LC_ALL": "C.UTF-8"}
    shown = subprocess.run(
        ["man", "git-mem-gotcha-add"], env=env, capture_output=True, text=True, check=True
    ).stdout

    assert "git-mem-gotcha-add - Record a trap" in shown
    assert "--workaround TEXT" in shown


def test_nothing_in_a_text_is_a_command_of_the_formatter() -> None:
    """Dots and quotes at the start of a line, backslashes, dashes."""
    assert roff(".so /etc/passwd\n'quoted' \\fB --all `code`") == (
        "\\&.so /etc/passwd\n\\&'quoted' \\efB \\-\\-all \\fBcode\\fP"
    )


def test_examples_keep_their_lines() -> None:
    """The mark for them is in no page."""
    assert blocks("One\ntwo.\n\n\b\nExample:\n  git mem log") == [
        (False, "One two."),
        (True, "Example:\n  git mem log"),
    ]
