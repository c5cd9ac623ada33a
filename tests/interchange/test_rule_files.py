"""Rule files of editors and agents come in through the bridge of memory files."""

from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange.conftest import imported, record, write

MDC = "---\ndescription: Python\nglobs: *.py\nalwaysApply: false\n---\n\n- Use type hints.\n"


def _commit(mem: Mem, *author: str) -> None:
    git(mem.folder, "add", "-A")
    git(mem.folder, "commit", "-qm", "rules", *author)


def test_rules_of_several_editors(mem: Mem) -> None:
    """Globs become places; what git tracks and this user wrote is shared."""
    write(
        mem,
        {
            ".cursor/rules/python.mdc": MDC,
            ".windsurf/rules/go.md": "- Run gofmt.\n",
            ".github/copilot-instructions.md": "- Answer in English.\n",
        },
    )
    _commit(mem)

    found = imported(mem, "--from", "rules")

    assert set(found.values()) == {"new"}
    rule = record(mem, "Use type hints.")
    assert (rule["store"], rule["origin"]) == ("shared", "imported")
    assert {"glob": "*.py"} in rule["anchors"]
    assert set(imported(mem, "--from", "rules").values()) == {"unchanged"}
    assert len(found) == 3


def test_one_file_alone(mem: Mem) -> None:
    """The others stay out."""
    write(mem, {"CLAUDE.md": "- Never push.\n", "AGENTS.md": "- Always test.\n"})

    assert imported(mem, "AGENTS.md") == {"Always test.": "new"}


def test_somebody_elses_rules_wait(mem: Mem) -> None:
    """In the private inbox."""
    write(mem, {".cursor/rules/python.mdc": MDC})
    _commit(mem, "--author", "Eve <eve@example.org>")
    imported(mem, ".cursor/rules")

    rule = record(mem, "Use type hints.")
    assert (rule["store"], rule["unconfirmed"]) == ("private", True)


def test_a_later_pull_leaves_them(mem: Mem) -> None:
    """It knows nothing of the file, so it archives nothing."""
    write(mem, {".cursor/rules/python.mdc": MDC, "CLAUDE.md": "- Never push.\n"})
    imported(mem, ".cursor/rules/python.mdc")

    mem("native", "pull")

    assert set(mem.titles()) == {"Use type hints.", "Never push."}


def test_blocks_of_other_tools_are_left_out(mem: Mem) -> None:
    """Each tool has its own store for them."""
    write(
        mem,
        {
            "CLAUDE.md": "- Never push.\n\n<claude-mem-context>\n- Something recent\n"
            "</claude-mem-context>\n\n<!-- BEGIN BEADS INTEGRATION -->\n- Use bd\n"
            "<!-- END BEADS INTEGRATION -->\n<!-- OPENSPEC:START -->\n- Open spec\n"
            "<!-- OPENSPEC:END -->\n- Always test.\n\n<some-context>\n- Not closed, so ours\n"
        },
    )

    assert set(imported(mem, "CLAUDE.md")) == {
        "Never push.",
        "Always test.",
        "<some-context>",
        "Not closed, so ours",
    }


def test_one_undo_takes_them_back(mem: Mem) -> None:
    """As for any import."""
    write(mem, {".cursor/rules/python.mdc": MDC})
    imported(mem, ".cursor/rules")

    mem("undo")

    assert mem.titles("--all") == []
