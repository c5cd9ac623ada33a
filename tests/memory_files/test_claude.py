"""The real Claude Code and Gemini CLI are sent what we write, from the files that we take for their memory."""

import os
import re
from pathlib import Path

from gitmem.repo.location import locate
from gitmem.services.memory_files.discover import encoded, main_root
from tests.agents.clis import Cli
from tests.agents.fake_model import FakeModel
from tests.conftest import git
from tests.memory_files.conftest import Native


def asked(model: FakeModel, cli: Cli, folder: Path) -> str:
    """Let a CLI answer one prompt in a folder; return all that its model was sent."""
    model.steps = [{"text": "Noted."}]
    model.requests.clear()
    cli.run(folder, "What do you know?")
    return "\n".join(request.text for request in model.asked)


def test_the_next_session_is_told(native: Native, tmp_path: Path) -> None:
    """In the main work tree, in a linked one, and in a folder with a long and odd name; edits come back."""
    native.mem.add("Refunds are rounded half to even", "-t", "rule")
    linked = tmp_path / "linked tree"
    git(native.root, "worktree", "add", "-q", "-b", "linked", str(linked))
    with FakeModel() as model:
        cli = Cli("claude", native.home, model)
        assert "Refunds are rounded" not in asked(model, cli, native.root)
        assert "1 of 1 records" in native("push").out
        for folder in (native.root, linked):
            told = asked(model, cli, folder)
            assert told.count("rule: Refunds are rounded half to even") == 1, folder
        native.memory.write_text(
            native.memory.read_text().replace("half to even", "half up")
            + "- The agent noted a thing of its own.\n"
        )
        assert Native(native.mem.at(linked), linked, native.home).pull() == {"changed": 1, "new": 1}
        assert native.titles() == {
            "Refunds are rounded half up",
            "The agent noted a thing of its own.",
        }
        far = tmp_path / ("é 😀 " + "long " * 40).strip()
        far.mkdir()
        git(far, "init", "-q")
        other = Native(native.mem.at(far), far, native.home)
        other.mem.add("Dates are stored in UTC", "-t", "rule")
        other("push")
        assert "rule: Dates are stored in UTC" in asked(model, cli, far)


def test_the_limits_are_claude_codes(native: Native) -> None:
    """A file that is full to our limits is loaded whole; a few lines more are cut (it does not count comments), and Claude Code says so."""
    for n in range(30):
        native.mem.add(f"Rule {n:02} of all the rules", "-t", "rule")
    native.write(str(native.memory), "".join(f"- Noted thing {n:03}.\n" for n in range(190)))
    native("push")
    text = native.memory.read_text()
    assert len(text.splitlines()) == 200
    with FakeModel() as model:
        cli = Cli("claude", native.home, model)
        told = asked(model, cli, native.root)
        assert "Noted thing 189." in told and "Only part of it was loaded" not in told
        assert all(line in told for line in text.splitlines() if line.startswith("- rule: "))
        native.memory.write_text("- One line more.\n" * 3 + text)
        assert "Only part of it was loaded" in asked(model, cli, native.root)


def test_the_folder_of_each_kind_of_repository(native: Native, tmp_path: Path) -> None:
    """Bare ones with work trees, submodules, their work trees: the folder is the one that Claude Code takes."""
    bare, dotted, outer = tmp_path / "bare.git", tmp_path / "dotted", tmp_path / "outer"
    git(tmp_path, "clone", "-q", "--bare", str(native.root), str(bare))
    git(bare, "worktree", "add", "-q", "-b", "one", str(tmp_path / "one"))
    dotted.mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(native.root), str(dotted / ".bare"))
    (dotted / ".git").write_text("gitdir: ./.bare\n")
    git(dotted, "worktree", "add", "-q", "-b", "two", str(dotted / "two"))
    git(tmp_path, "init", "-q", str(outer))
    git(
        outer,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(native.root),
        "sub",
    )
    git(outer / "sub", "worktree", "add", "-q", "-b", "three", str(tmp_path / "three"))
    roots = [
        bare,
        tmp_path / "one",
        dotted,
        dotted / ".bare",
        dotted / "two",
        outer,
        outer / "sub",
        outer / ".git/modules/sub",
        tmp_path / "three",
    ]
    for number, root in enumerate(roots):
        native.write(
            f"~/.claude/projects/{encoded(os.path.realpath(root))}/memory/MEMORY.md",
            f"- Mark {number} of all.\n",
        )
    with FakeModel() as model:
        cli = Cli("claude", native.home, model)
        for folder in (tmp_path / "one", dotted / "two", outer / "sub", tmp_path / "three"):
            mark = roots.index(Path(main_root(locate(str(folder), {}))))
            assert re.findall(r"Mark (\d) of all", asked(model, cli, folder)) == [str(mark)], folder


def test_gemini_is_told_by_its_file(native: Native) -> None:
    """With the words of the file around the block; what a record says names no file to load."""
    native.write("GEMINI.md", "# Notes\n\nThe shop sells tea.\n", track=True)
    native.write("secret.md", "Not for a model.\n")
    native.mem.add("Refunds are rounded half to even, see @secret.md", "-t", "rule")
    native("push", "--to", "gemini")
    with FakeModel() as model:
        told = asked(model, Cli("gemini", native.home, model), native.root)
    assert "The shop sells tea." in told and "rule: Refunds are rounded half to even" in told
    assert "Not for a model." not in told
