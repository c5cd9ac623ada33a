"""What a session taught when a command that failed came to pass: a gotcha that is dealt with, or a workaround.

An edit of the project's own code ends an error: its captured gotcha is resolved, with the fix noted. A command, a setting or the environment
does not: what helped here helps the next one too, and becomes the workaround. A gotcha that a person wrote or confirmed is left to people.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.errors import GitmemError, UserError
from gitmem.git.worktree import WorkTree
from gitmem.index import trials
from gitmem.index.state import State
from gitmem.model import commands
from gitmem.model.record import Record
from gitmem.services import gotchas, memories
from gitmem.services.memories import Change, Writer
from gitmem.store.records import Store

SHOWN = 3  # commands and files that a text names
LONGEST = 160  # characters of a command in it
BY = ("git-mem", "")  # who resolves what nobody looked at

Facts = Mapping[str, Any]


def settle(store: Store, state: State, who: Writer, find: Callable[[str], Sequence[str]], tree: WorkTree) -> list[Change]:
    """Draw the conclusions that wait; return the changes. `find` gives the ids of the gotchas of an error's pattern."""
    out = []
    for number, facts in trials.take_outcomes(state):
        if not trials.done(state, number):
            continue  # another process draws this one
        try:
            out += _conclude(store, who, facts, find, tree)
        except (UserError, KeyError, TypeError, ValueError):
            pass  # forgotten meanwhile, or nothing that makes sense any more
        except GitmemError:
            trials.put_back(state, facts)
            return out  # the store cannot be written now: it waits
    return out


def _conclude(store: Store, who: Writer, facts: Facts, find: Callable[[str], Sequence[str]], tree: WorkTree) -> list[Change]:
    out = []
    for id in find(str(facts["pattern"])):
        record = store.get(id).record
        if record.kind != "gotcha" or record.resolved or record.status not in {"active", "pinned"} or not record.unconfirmed:
            continue
        change = _learn(store, Writer(who.clock, BY, who.agent, str(facts.get("session", "")), who.allow), record, facts, tree)
        out += [change] if change else []
    return out


def _learn(store: Store, who: Writer, record: Record, facts: Facts, tree: WorkTree) -> Change | None:
    steps = [(str(action), str(what)) for action, what in facts["steps"]]
    edited = list(dict.fromkeys(what for action, what in steps if action == trials.EDIT))
    inside = [path for path in edited if not os.path.isabs(path)]
    ignored = tree.ignored(inside)
    code = [path for path in inside if path not in ignored]
    if code:
        return _fixed(store, who, record, facts, code, tree)
    settings = [path for path in edited if path in ignored or os.path.isabs(path)]
    helped = workaround(str(facts["command"]), str(facts["failed"]), [what for action, what in steps if action == trials.COMMAND], settings)
    if not helped or record.fields.get("workaround"):
        return None
    return memories.update(store, who, record, record.change(workaround=helped), "learn", f"gotcha: workaround for {record.id}")


def _fixed(store: Store, who: Writer, record: Record, facts: Facts, code: Sequence[str], tree: WorkTree) -> Change:
    changed = tree.changes(str(facts.get("head") or ""), code)
    stat = {path: f"+{added} −{removed}" for path, added, removed in changed}
    files = [f"{path} ({stat[path]})" if path in stat else path for path in code[:SHOWN]]
    more = f" and {len(code) - SHOWN} more" if len(code) > SHOWN else ""
    head = tree.head()
    since = f", committed as {head[:12]}" if head and head != facts.get("head") else ""
    note = f"{_quoted(str(facts['command']))} passes after an edit of {', '.join(files)}{more}{since}."
    total = f"{len(code)} file{'s' if len(code) > 1 else ''}, +{sum(a for _, a, _ in changed)} −{sum(r for _, _, r in changed)}"
    return gotchas.resolve(store, who, record, head, note, {"files": list(code[:20]), "stat": total})


def workaround(passed: str, failed: str, done: Sequence[str], settings: Sequence[str]) -> str:
    """Return what helped as one line; empty when nothing is known to have helped."""
    parts = [_quoted(command) for command in done[-SHOWN:]]
    parts += [f"a change of {path}" for path in settings[:SHOWN]]
    before = ", ".join(parts)
    env = commands.given(passed)
    if env and env != commands.given(failed):
        return f"Run it as {_quoted(passed)}" + (f", after {before}." if before else ".")
    return f"What helped: {before}; then {_quoted(passed)} passed." if before else ""


def _quoted(command: str) -> str:
    line = " ".join(command.split()).replace("`", "'")
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}`"
