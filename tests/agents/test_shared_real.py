"""Real CLIs and people in the same files and commits: no line of a person is a session's, and the agents' lines are theirs.

Twenty cases an agent, each in a copy of the repository that two of its sessions have left. A part of them is run
unless GITMEM_STRESS is `full`.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.agents import shared_cases as cases
from tests.agents.fake_model import FakeModel
from tests.agents.test_why_real import AGENTS, edit, session
from tests.agents.world import World
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of

SHARE = 5  # one of so many cases in a short run
FULL = os.environ.get("GITMEM_STRESS") == "full"


def worked(world: World) -> dict[str, str]:
    """Let two sessions work beside a person's changes, all of it not committed; return {word: session}."""
    path = world.install(world.first)
    git(path, "config", "user.name", "Grace")
    git(path, "config", "user.email", "grace@example.org")
    app = path / "app"
    (app / "ledger.py").write_text(cases.LEDGER)
    (app / "books.py").write_text(cases.BOOKS)
    cases.commit(path, "Ledger")
    # work that was there before the sessions
    cases.append(path, "ledger.py", "\n\ndef person_early():\n    return None\n")
    made = f"cat > {app / 'made.py'} <<'END'\n{cases.MADE}END"
    one = session(
        world,
        path,
        "Closing",
        *edit(world, app / "ledger.py", cases.OLD_CLOSING, cases.NEW_CLOSING),
        *edit(world, app / "books.py", cases.OLD_BOOKS, cases.NEW_BOOKS),
        world.shell(made),
    )
    two = session(
        world, path, "Fees", *edit(world, app / "ledger.py", cases.OLD_FEES, cases.NEW_FEES)
    )
    run(path, "drain")
    return {"alpha": one, "beta": two}


def told(path: Path, names: Sequence[str]) -> list[list[str]]:
    """Return the session that is told of each line of files, '' for none."""
    answers = data_of(run(path, "why", *(str(path / "app" / name) for name in names), "--json"))
    out = []
    for answer in answers:
        lines = [""] * answer["end_line"]
        for origin in answer["origins"]:
            for part in origin["sessions"]:
                for span in part["spans"]:
                    first, last = span["line"], span["end_line"]
                    lines[first - 1 : last] = [part["id"]] * (last - first + 1)
        out.append(lines)
    return out


@pytest.mark.parametrize("agent", AGENTS)
def test_people_and_agents(agent: str, tmp_path: Path):
    """Over all cases: no line of a person is wrong, and at least 95 of 100 lines of the sessions are right."""
    with FakeModel() as model:
        world = World(agent, tmp_path, model)
        ids = worked(world)
    names = sorted(cases.CASES)
    names = names if FULL else names[AGENTS.index(agent) :: SHARE]
    wrong, missed, people, agents = [], [], 0, 0
    for name in names:
        copy = tmp_path / name
        shutil.copytree(world.first, copy, symlinks=True)
        files = cases.CASES[name](copy)
        run(copy, "drain")
        for file, said_of in zip(files, told(copy, files), strict=True):
            lines = (copy / "app" / file).read_bytes().decode().split("\n")
            for number, (right, said) in enumerate(
                zip(cases.expected(lines, ids), said_of, strict=False), 1
            ):
                people += right == ""
                agents += bool(right)
                if right is not None and said and said != right:
                    wrong.append((name, file, number, lines[number - 1], said))
                elif right and not said:
                    missed.append((name, file, number, lines[number - 1]))
    print(
        f"{agent}: {len(names)} cases, {people} lines of people, {agents} of agents, {len(missed)} missed {missed}"
    )
    assert wrong == []
    assert agents - len(missed) >= 0.95 * agents, missed
