"""Whatever a person and an agent did between what hooks wrote: all is undone one by one, and redone one by one."""

import os
import random
from typing import Any

import pytest

from gitmem.app import open_app
from gitmem.services.records import write
from tests.cli.conftest import Mem

CLAUDE = {"CLAUDECODE": "1", "GITMEM_SESSION": "s-1"}
STEPS = 9
SHOWN = ("title", "status", "tags", "supersedes", "confirmed", "agent", "origin")


def state(mem: Mem) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what each store has."""
    rows = mem("list", "--all", "--json").json
    shown = mem("show", *(row["id"] for row in rows), "--json").json if rows else []
    return {(row["store"], row["id"]): {key: row.get(key) for key in SHOWN} for row in shown}


def person(mem: Mem, pick: random.Random, ids: list[str], waiting: list[str]) -> None:
    """Run one command of a person."""
    do = pick.choice(["add", "private", "edit", "pin", "archive", "answer", "forget", "supersede"])
    if do in {"add", "private"}:
        ids.append(mem.add(f"p{pick.random()}", *(["--private"] if do == "private" else [])))
    elif do == "answer" and waiting:
        chosen = [waiting.pop() for _ in range(min(2, len(waiting)))]
        option = pick.choice(["--accept", "--reject"])
        mem("inbox", *(word for id in chosen for word in (option, id)))
    elif do == "forget" and len(ids) > 2:
        mem("forget", *(ids.pop() for _ in range(2)))
    elif do == "supersede" and ids:
        ids.append(mem("supersede", ids.pop(), f"s{pick.random()}", "--json").json["id"])
    elif ids:
        how = {"edit": ["--title", f"e{pick.random()}"]}.get(do, [])
        mem(do if do in {"edit", "pin", "archive"} else "pin", pick.choice(ids), *how)


def agent(mem: Mem, pick: random.Random, mine: list[str], ids: list[str]) -> None:
    """Run one command of an agent: on what is its own, or a tag on a person's."""
    do = pick.choice(["add", "edit", "tag", "forget"])
    if do == "tag" and ids:
        mem("edit", pick.choice(ids), "--tag", f"a{pick.randrange(99)}", env=CLAUDE)
    elif do == "edit" and mine:
        mem("edit", pick.choice(mine), "--title", f"c{pick.random()}", env=CLAUDE)
    elif do == "forget" and mine:
        mem("forget", mine.pop(), env=CLAUDE, code=None)  # refused if a person accepted it
    else:
        added = mem("add", f"a{pick.random()}", "-t", "decision", "--json", env=CLAUDE)
        mine.append(added.json["id"])


def hook(mem: Mem, kept: list[str], number: int) -> None:
    """Have the background add a fact, and a tag to one that nobody forgets."""
    with open_app(str(mem.folder), dict(os.environ)) as app:
        app.is_background = True
        who, store = app.writer(), app.store(["shared", "private"][number % 2])
        write.add(store, who, write.draft(who, "memory", f"h{number}"))
        before = app.store().get(kept[0]).record
        after = before.change(tags=[*before.tags, f"h{number}"])
        write.update(app.store(), who, before, after, "edit")


def repeat(mem: Mem, command: str, env: dict[str, str]) -> int:
    """Undo or redo until there is nothing left; return how often that was."""
    for number in range(100):
        done = mem(*command.split(), env=env, code=None)
        if done.code:
            assert (
                "clone's list" in done.err or "is left to" in done.err or command == "undo --redo"
            )
            return number
    raise AssertionError("it does not end")


@pytest.mark.parametrize("seed", range(4))
def test_all_is_undone_and_redone(mem: Mem, seed: int) -> None:
    pick = random.Random(seed)
    kept = [mem.add("kept")]
    (mem.folder / "n.txt").write_text(
        "Decision: use tabs everywhere\nDecision: keep the logs for a year\nTODO: write the docs\n"
    )
    mem("extract", "--save", "n.txt")
    (mem.folder / ".git/gitmem/state.db").unlink()  # what was so far is nobody's
    waiting = [row["id"] for row in mem("inbox", "--json").json]
    ids, mine = list(kept), list[str]()
    start = state(mem)
    hooks = 0
    for _ in range(STEPS):
        who = pick.choice([person, person, agent, hook])
        if who is person:
            ids.remove(kept[0])
            person(mem, pick, ids, waiting)
            ids.insert(0, kept[0])
        elif who is agent:
            agent(mem, pick, mine, ids)
        else:
            hook(mem, kept, hooks)
            hooks += 1
    end = state(mem)

    undone, agents = repeat(mem, "undo", {}), repeat(mem, "undo", CLAUDE)
    after = state(mem)
    left = {key: row for key, row in after.items() if not row["title"].startswith("h")}
    for row in left.values():
        row["tags"] = [tag for tag in row["tags"] or () if not tag.startswith("h")] or None
    assert (left, len(after) - len(left)) == (start, hooks)

    assert repeat(mem, "undo --redo", CLAUDE) == agents
    assert repeat(mem, "undo --redo", {}) == undone
    assert state(mem) == end
