"""Sessions of the real CLIs, before git mem was installed, are found where these keep them."""

import os
from pathlib import Path

import pytest

from tests.agents.clis import Cli
from tests.agents.fake_model import FakeModel
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of

SAID = "We decided to store all money as NUMERIC."


@pytest.mark.parametrize("agent", ["claude", "gemini", "codex"])
def test_a_session_without_hooks_is_imported(agent: str, tmp_path: Path) -> None:
    """In a subfolder, with spaces and a picture in the name of the repository."""
    repo = tmp_path / "my répo 🎉 v1.2_x"
    (repo / "app").mkdir(parents=True)
    git(tmp_path, "init", "-q", str(repo))
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", str(other))
    home = Path(os.environ["HOME"])
    with FakeModel() as model:
        model.steps = [{"text": "Done."}]
        cli = Cli(agent, home, model)
        cli.run(repo / "app", SAID)
        cli.run(other, SAID)
    for path in home.rglob("*.json*"):
        os.utime(path, (1, 1_700_000_000))

    done = data_of(run(repo, "import", "sessions", "--json"))

    assert [row["agent"] for row in done["past_sessions"]] == [agent]
    facts = data_of(run(repo, "list", "--json"))
    assert [row["title"] for row in facts if row["kind"] == "memory"] == [SAID]
