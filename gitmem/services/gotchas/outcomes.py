"""What a session taught when a failed command passed: a resolved gotcha or a workaround.

An edit of the project's own code ends an error: its captured gotcha is resolved, with the fix
noted. A command that sets up, a setting or the environment does not: what helped here helps the
next one too, and becomes the workaround. A gotcha that a person wrote or confirmed is left to
people.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.errors import GitmemError, UserError
from gitmem.git.worktree import WorkTree
from gitmem.records.kinds import LIVE
from gitmem.records.record import Record
from gitmem.repo.caller import BACKGROUND
from gitmem.services.gotchas import lifecycle
from gitmem.services.records import write
from gitmem.services.records.write import Change, Writer
from gitmem.state import attempts
from gitmem.state.database import State
from gitmem.store.store import Store
from gitmem.text import shell

SHOWN = 3  # commands and files that a text names
LONGEST = 160  # characters of a command in it
OLD = 86400.0  # seconds that an outcome waits for its gotcha to be committed
BY = ("git-mem", "")  # who resolves what nobody looked at
HELPED, RUN_AS = "What helped: ", "Run it as "
PROSE = (
    ".md",
    ".rst",
    ".txt",
    ".adoc",
    ".log",
    ".gitignore",
    ".gitattributes",
    ".editorconfig",
)  # no code: it cannot be why a command passes
# what a package manager writes beside the code: the command that did so is what helped
MANIFESTS = frozenset(
    "package.json package-lock.json yarn.lock pnpm-lock.yaml bun.lockb requirements.txt "
    "poetry.lock pdm.lock uv.lock pipfile.lock pyproject.toml cargo.toml cargo.lock go.mod go.sum "
    "gemfile "
    "gemfile.lock composer.json composer.lock".split()
)

Facts = Mapping[str, Any]


def settle(
    state: State,
    who: Writer,
    find: Callable[[str], Sequence[tuple[Store, str]]],
    tree: Callable[[str], WorkTree],
    waiting: Callable[[], bool],
    home: str,
) -> list[Change]:
    """Draw the conclusions that wait; return the changes.

    `find` gives the gotchas of an error's pattern, each with its store, `tree` the work tree of a
    folder; `waiting` says whether writes wait in the journal, a capture perhaps; `home` is the
    user's folder.
    """
    out = []
    for number, facts in attempts.take_outcomes(state):
        lease = who.clock.now()
        if not attempts.claim(state, number, lease):
            continue  # another process draws this one
        try:
            matching = [(store, store.get(id).record) for store, id in find(str(facts["pattern"]))]
            if not matching and waiting() and lease - float(facts["at"]) < OLD:
                attempts.put_back(state, number, lease)
                continue
            out += _conclude(who, matching, facts, tree(str(facts["root"])), home)
        except (UserError, KeyError, TypeError, ValueError):
            pass  # forgotten meanwhile, or nothing that makes sense any more
        except GitmemError:
            attempts.put_back(state, number, lease)
            return out  # the store cannot be written now: it waits
        attempts.done(state, number, lease)
    return out


def _conclude(
    who: Writer,
    matching: Sequence[tuple[Store, Record]],
    facts: Facts,
    tree: WorkTree,
    home: str,
) -> list[Change]:
    out = []
    for store, record in matching:
        if (
            record.kind != "gotcha"
            or record.resolved
            or record.status not in LIVE
            or not record.unconfirmed
        ):
            continue
        change = _learn(
            store,
            who._replace(author=BY, session=str(facts.get("session", "")), program=BACKGROUND),
            record,
            facts,
            tree,
            home,
        )
        out += [change] if change else []
    return out


def _learn(
    store: Store, who: Writer, record: Record, facts: Facts, tree: WorkTree, home: str
) -> Change | None:
    steps = [(str(action), str(what)) for action, what in facts["steps"]]
    root = str(facts["root"])
    edited = list(dict.fromkeys(what for action, what in steps if action == attempts.EDIT))
    inside = [
        os.path.relpath(path, root) for path in edited if root and path.startswith(root + os.sep)
    ]
    ignored = tree.ignored(inside)
    helped = list(dict.fromkeys(what for action, what in steps if action == attempts.COMMAND))
    head = str(facts.get("head") or "")
    touched = [
        path
        for path in tree.touched(head, float(facts["since"]), float(facts["until"]))
        if path not in inside
    ]
    if helped:
        touched = [path for path in touched if os.path.basename(path).lower() not in MANIFESTS]
    code = [
        path
        for path in (*inside, *touched)
        if path not in ignored and not path.lower().endswith(PROSE)
    ]
    if code:
        return _fixed(store, who, record, facts, code, helped, tree)
    settings = [path for path in inside if path in ignored] + [
        name for path in edited if (name := _setting(path, home))
    ]
    text = workaround(str(facts["command"]), str(facts["failed"]), helped, settings)
    before = str(record.fields.get("workaround") or "")
    if not text or text == before or (before and not before.startswith((HELPED, RUN_AS))):
        return None
    return write.update(
        store,
        who,
        record,
        record.change(workaround=text),
        "learn",
        f"gotcha: workaround for {record.id}",
    )


def _setting(path: str, home: str) -> str:
    """Return how a setting outside of the project is called in every home.

    Empty for a file that is none, such as an agent's own.
    """
    if path.startswith("/etc/"):
        return path
    rest = path[len(home) + 1 :] if home and path.startswith(home + os.sep) else ""
    if not rest.startswith(".") or rest.startswith(
        (".claude", ".gemini", ".codex", ".cursor", ".cache", ".local", ".copilot")
    ):
        return ""
    return f"~/{rest}"


def _fixed(
    store: Store,
    who: Writer,
    record: Record,
    facts: Facts,
    code: Sequence[str],
    helped: Sequence[str],
    tree: WorkTree,
) -> Change:
    changed = tree.changes(str(facts.get("head") or ""), code)
    stat = {path: f"+{added} −{removed}" for path, added, removed in changed}
    files = [f"{path} ({stat[path]})" if path in stat else path for path in code[:SHOWN]]
    more = f" and {len(code) - SHOWN} more" if len(code) > SHOWN else ""
    head = tree.head()
    since = f", committed as {head[:12]}" if head and head != facts.get("head") else ""
    also = f"; {', '.join(map(_quoted, helped[-SHOWN:]))} was run too" if helped else ""
    note = (
        f"{_quoted(str(facts['command']))} passes after an edit of "
        f"{', '.join(files)}{more}{since}{also}."
    )
    total = (
        f"{len(code)} file{'s' if len(code) > 1 else ''}, +{sum(a for _, a, _ in changed)} "
        f"−{sum(r for _, _, r in changed)}"
    )
    return lifecycle.resolve(
        store, who, record, head, note, {"files": list(code[:20]), "stat": total}
    )


def workaround(passed: str, failed: str, done: Sequence[str], settings: Sequence[str]) -> str:
    """Return what helped as one line; empty when nothing is known to have helped."""
    before = ", ".join(
        [*map(_quoted, done[-SHOWN:]), *(f"a change of {path}" for path in settings[:SHOWN])]
    )
    env, bare = shell.environment(passed)
    if env and env != shell.environment(failed)[0]:
        return f"{RUN_AS}{_quoted(f'{env} {bare}')}" + (f", after {before}." if before else ".")
    return f"{HELPED}{before}; then {_quoted(bare or passed)} passed." if before else ""


def _quoted(command: str) -> str:
    line = " ".join(command.split()).replace("`", "'")
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}`"
