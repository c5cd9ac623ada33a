"""Every command on every kind of document that is no file of a repository's work tree."""

import os
from pathlib import Path

import pytest

from gitmem.repo.refs import SHARED
from gitmem_lsp.features.commands import COMMANDS

ID = "got-00000000000000000000000000"
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
# the questions about a document, with what is asked beside it, and the empty answer
QUESTIONS = {
    "gitmem.list": ([], []),
    "gitmem.report": ([], None),
    "gitmem.timeline": ([RANGE["start"]], None),
    "gitmem.why": ([RANGE], None),
    "gitmem.code": ([], None),
    "gitmem.status": ([], None),
}
# the commands that change something at a document
CHANGES = {
    "gitmem.record": lambda uri: [uri, RANGE, "a title"],
    "gitmem.reanchor": lambda uri: [ID, uri, RANGE],
    "gitmem.resolve": lambda uri: [ID, uri],
    "gitmem.reopen": lambda uri: [ID, uri],
}
# the commands that take no document
OTHERS = {
    "gitmem.snooze",
    "gitmem.unsnooze",
    "gitmem.pin",
    "gitmem.unpin",
    "gitmem.verify",
    "gitmem.edit",
    "gitmem.supersede",
    "gitmem.show",
}


def foreign(root: Path, outside: Path) -> dict[str, str]:
    """Return documents that are no files of the repository at `root`, by what they are."""
    library = outside / "lib" / "json.py"
    library.parent.mkdir(parents=True)
    library.write_text("x = 1\n")
    bare = outside / "bare.git"
    bare.mkdir()
    for name, text in {"HEAD": "ref: refs/heads/main\n", "a.py": "x = 1\n"}.items():
        (bare / name).write_text(text)
    for name in ("objects", "refs"):
        (bare / name).mkdir()
    message = root / ".git" / "COMMIT_EDITMSG"
    message.write_text("start\n")
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe.py")
    return {
        "settings": (outside / "settings.json").as_uri(),
        "a library's file": library.as_uri(),
        "a new buffer": "untitled:Untitled-1",
        "an old revision": f"git:{root}/a.py?%7B%22ref%22%3A%22HEAD%22%7D",
        "output": "output:extension-output-gitmem.gitmem-%231-git%20mem",
        "a cell of a notebook": f"vscode-notebook-cell:{root}/n.ipynb#W0sZmlsZQ%3D%3D",
        "a file of another machine": "vscode-remote://ssh-remote%2Bhost/home/ada/a.py",
        "a commit message": message.as_uri(),
        "a draft of the server": (root / ".git/gitmem/editing/edit-x.md").as_uri(),
        "git's configuration": (root / ".git" / "config").as_uri(),
        "a file in a bare repository": (bare / "a.py").as_uri(),
        "a file of a folder that is gone": (outside / "gone" / "deep" / "a.py").as_uri(),
        "a file of the repository that is gone": (root / "gone" / "a.py").as_uri(),
        "a folder, which is gone as a file": (root / "folder").as_uri(),
        "a pipe, which is gone as a file": (root / "pipe.py").as_uri(),
        "the work tree": root.as_uri(),
        "the root of the disk": "file:///",
        "a share": "file://host/share/a.py",
        "a name with a null character": "file:///tmp/a%00b.py",
        "a name with half an escape": "file:///tmp/%zz.py",
        "no uri": "nonsense",
    }


def test_all_commands_are_tried():
    """A new command has to be sorted in here."""
    assert set(COMMANDS) == {*QUESTIONS, *CHANGES, *OTHERS}


@pytest.mark.parametrize("is_open", [True, False])
async def test_questions_and_changes(repo, tmp_path, connect, is_open):
    """A question has an empty answer and no message; a change says why it cannot be made, and makes none."""
    repo.gotcha("x must stay odd", "a.py:2")
    tip = repo.git("rev-parse", SHARED)
    documents = foreign(repo.root, tmp_path / "outside")
    editor = await connect(repo.root)
    answers, silent = {}, {}
    for what, uri in documents.items():
        if is_open and "gone" not in what:
            editor.open(uri, text="x = 1\ny = 2\n")
        for name, (arguments, _) in QUESTIONS.items():
            answers[what, name] = await editor.run(name, uri, *arguments)
    asked = editor.messages
    for what, uri in documents.items():
        for name, arguments in CHANGES.items():
            before = len(editor.messages)
            assert await editor.run(name, *arguments(uri)) is None, (what, name)
            if len(editor.messages) == before:
                silent[what, name] = uri

    expected = {(what, name): QUESTIONS[name][1] for what in documents for name in QUESTIONS}
    for what, uri in documents.items():
        if uri.startswith(repo.uri("")) and "/.git/" not in uri and uri != repo.root.as_uri():
            del expected[what, "gitmem.status"]  # of the repository, which is there
    assert {key: answers[key] for key in expected if answers[key] != expected[key]} == {}
    assert asked == []
    assert silent == {}
    assert repo.git("rev-parse", SHARED) == tip
