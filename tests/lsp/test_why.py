"""Why code is as it is, in an editor: the command, and the hover where it is set."""

import json
import subprocess
import sys

from tests.hooks.conftest import Agent

TEXT = "import os\n\n\ndef total():\n    return 1\n"


def session(repo) -> None:
    """Have a session of Claude Code write a line, and commit it."""
    agent = Agent(repo.root, "s-one")
    agent.hook("SessionStart", model="claude-test")
    agent.hook("UserPromptSubmit", prompt="Sum the *prices*")
    repo.write("cart.py", TEXT.replace("return 1", "return sum([1, 2])"))
    given = {
        "file_path": str(repo.root / "cart.py"),
        "old_string": "return 1",
        "new_string": "return sum([1, 2])",
    }
    agent.hook("PostToolUse.Edit", tool_input=given, tool_response={})
    repo.git("commit", "-qam", "Sum")
    subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(repo.root), "drain"],
        check=True,
        capture_output=True,
    )


def at(line: int) -> dict[str, dict[str, int]]:
    """Return the range of a line, from 0."""
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}


async def test_the_command_tells_of_the_text_as_the_editor_has_it(make_repo, connect):
    """Lines are those of the buffer; what is not saved is not committed; the page is a file."""
    repo = make_repo(**{"cart.py": TEXT})
    session(repo)
    editor = await connect(repo.root)
    uri = repo.uri("cart.py")
    editor.open(uri)
    editor.edit(uri, (0, 0), (0, 0), "# one more\n")

    answer = await editor.run("gitmem.why", uri, at(5))

    assert answer["title"] == "Why cart.py:6"
    assert "## Sum" in answer["markdown"] and "`s-one` (claude, claude-test)" in answer["markdown"]
    assert "> Sum the \\*prices\\*" in answer["markdown"]
    assert "## Not committed yet" in (await editor.run("gitmem.why", uri, at(0)))["markdown"]
    timeline = (await editor.run("gitmem.timeline", uri, {"line": 5, "character": 0}))["markdown"]
    assert (
        "## Commits that changed it" in timeline
        and "**Sum**" in timeline
        and "claude s-one" in timeline
    )
    assert json.dumps(answer)


async def test_a_hover_tells_it_where_that_is_set(make_repo, connect):
    """Beside the gotchas of a line, or alone; nothing by default."""
    repo = make_repo(**{"cart.py": TEXT})
    session(repo)
    repo.gotcha("sums are slow", "cart.py:5")
    uri = repo.uri("cart.py")
    plain = await connect(repo.root)
    plain.open(uri)
    await plain.until(uri, bool)
    assert await plain.hover(uri, 3, 0) is None
    editor = await connect(repo.root, settings={"whyHover": True})
    editor.open(uri)
    await editor.until(uri, bool)

    told = (await editor.hover(uri, 4, 4)).contents.value
    assert "sums are slow" in told and "Sum" in told and "claude s-one, asked: Sum the" in told
    assert "Ada" in (await editor.hover(uri, 3, 0)).contents.value
