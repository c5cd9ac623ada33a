"""Files of the past whatever they are called."""

import os

import pytest

from gitmem.app import open_app
from gitmem.git.past_code import PastCode
from tests.lifecycle.conftest import Code

NAMES = ("\1x y", "\1" + "a" * 40 + " 1", "\nx", "\n", "R100", ":000000 x", " ", "D")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_any_name_is_read_from_the_history(code: Code, name: str) -> None:
    """As it was removed and renamed; `check` finds what is said of other files."""
    code.commit_files({name: "a\n" * 9, "package.json": '{"dependencies": {"left-pad": "1"}}'})
    moved = f"lib/{name}"
    code.commit_files({name: None, moved: "a\n" * 9, "src/app.py": "x = 1\n"})
    id = code.say("The port is in src/app.py")
    code.commit_files({moved: None, "src/app.py": None})
    with open_app(str(code.folder), os.environ) as app:
        past = PastCode(app.code_history)
        removed = [(file.path, file.now) for file in past.removed("HEAD")]
        changes = [change.path for change in past.versions("HEAD", [":(top,literal)" + name])]
    assert sorted(removed[:2]) == sorted([(moved, ""), ("src/app.py", "")])
    assert removed[2:] == [(name, moved)]
    assert changes == [name, name]
    assert [row["facts"][0]["id"] for row in code.rows()] == [id]
