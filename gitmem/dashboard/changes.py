"""What the page changes: an action and what it is given, done as the commands do it.

Each action is one command of whoever started the server; the answer names it, so that the page can
take back that command and no other. An action on records is given the versions that the page
showed, and is refused where one of them is another now. An action inside an agent's session has no
more rights than the agent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.dashboard.given import (
    NAME,
    Given,
    flag_given,
    id_given,
    number_given,
    seen_given,
    text_given,
)
from gitmem.dashboard.place import DashboardPlace
from gitmem.errors import UserError
from gitmem.services.records.undo import is_command
from gitmem.services.views import inbox

CHOICES = frozenset({"newer", "older", "both", "drop", "verified"})
EDITED = ("title", "message", "type", "workaround", "severity", "category")
REASON = 1000  # characters
UNCHANGED = "Nothing changed. It is already in that state."


class ChangeDone(NamedTuple):
    """What an action did, in words; `data` is what its command prints with `--json`.

    `command` is the id by which an undo takes it back, None where nothing can be taken back.
    """

    message: str
    data: Any
    command: str | None


def _done(place: DashboardPlace, seen: Mapping[str, str], said: str, *words: str) -> ChangeDone:
    """Run a command on records as they were seen."""
    answer = place.act(seen, *words)
    return ChangeDone(said if answer.command_id else UNCHANGED, answer.data, answer.command_id)


def _full_id(place: DashboardPlace, given: Given) -> str:
    """Return the id of the record that an action is about. Raises UserError, UnknownId."""
    id = id_given(given)
    with place.open() as app:
        return app.find(id)


def _command(*words: str, said: str) -> Callable[[DashboardPlace, Given], ChangeDone]:
    """Return an action that runs a command on one record."""

    def run(place: DashboardPlace, given: Given) -> ChangeDone:
        id = _full_id(place, given)
        return _done(place, seen_given(given, [id]), said, *words, "--", id)

    return run


def _accept(place: DashboardPlace, given: Given) -> ChangeDone:
    id = _full_id(place, given)
    shared = ("--shared",) if flag_given(given, "shared") else ()
    seen = seen_given(given, _with_successor(place, id))
    said = "Accepted. The fact now counts as confirmed by you."
    done = _done(place, seen, said, "inbox", f"--accept={id}", *shared)
    return _as_answered(
        done, "It was confirmed already. Nothing changed.", "Confirmed. The statement was applied."
    )


def _reject(place: DashboardPlace, given: Given) -> ChangeDone:
    id = _full_id(place, given)
    said = "Rejected. It will not be proposed again."
    seen = seen_given(given, [id])
    done = _done(place, seen, said, "inbox", f"--reject={id}", *_reason(given))
    return _as_answered(done, "It was rejected already. Nothing changed.", "Settled. It holds.")


def _with_successor(place: DashboardPlace, id: str) -> Sequence[str]:
    """Return a fact that is accepted, and the proposal that takes its place by that."""
    with place.open() as app:
        statement = inbox.open_statements(app.indexes()).get(id)
        successor = statement.last["successor"] if statement else ""
        return [id, app.find(successor)] if successor else [id]


def _as_answered(done: ChangeDone, unchanged: str, settled: str) -> ChangeDone:
    """Say what became of an answer to the inbox, if it changed nothing or settled a statement."""
    if done.data["unchanged_ids"]:
        return done._replace(message=unchanged)
    return done._replace(message=settled) if done.data["statement_ids"] else done


def _forget(place: DashboardPlace, given: Given) -> ChangeDone:
    id = _full_id(place, given)
    said = "Forgotten. Agents will not receive it, and it will not be proposed again."
    return _done(place, seen_given(given, [id]), said, "forget", *_reason(given), "--", id)


def _reason(given: Given) -> Sequence[str]:
    reason = text_given(given, "reason", REASON)
    return (f"--reason={reason}",) if reason else ()


def _edit(place: DashboardPlace, given: Given) -> ChangeDone:
    id = _full_id(place, given)
    options = [f"--{name}={text_given(given, name)}" for name in EDITED if name in given]
    if "importance" in given:
        options.append(f"--importance={number_given(given, 'importance')}")
    if not options:
        raise UserError("there is nothing to change.", "Change the title or the text.")
    if "--message=-" in options:  # would read a terminal
        raise UserError("'-' is no text.", "Write a text.")
    done = _done(place, seen_given(given, [id]), "Changed.", "edit", *options, "--", id)
    if done.data["id"] == id:
        return done
    said = "Proposed. The fact stays as it is until a person accepts the proposal in the inbox."
    return done._replace(message=said)


def _resolve(place: DashboardPlace, given: Given) -> ChangeDone:
    """Answer a finding of a check, of one fact or of two."""
    choice = text_given(given, "choice", NAME)
    ids = given.get("ids")
    if not isinstance(ids, list) or not 1 <= len(ids) <= 2 or choice not in CHOICES:
        raise UserError(
            "a finding is answered with the ids of one or two facts and a choice.",
            f"Choices: {', '.join(sorted(CHOICES))}.",
        )
    names = [_full_id(place, {"id": id}) for id in ids]
    settled = {
        "both": "Settled. Both hold.",
        "drop": "Forgotten.",
        "verified": "Settled. It holds.",
    }
    said = settled.get(choice, "Settled. The other one is superseded.")
    answer = f"--resolve={','.join(names)}={choice}"
    return _done(place, seen_given(given, names), said, "check", answer)


def _undo(place: DashboardPlace, given: Given) -> ChangeDone:
    """Take back one command that the page did."""
    command = text_given(given, "command", NAME)
    if not is_command(command):
        raise UserError(
            "which command is to be taken back is not said.",
            "To take back your last command, wherever you gave it: git mem undo",
        )
    done = _done(place, {}, "Taken back.", "undo", "--", command)
    if done.data["changed"]:
        return done
    return done._replace(message="Nothing is left of it to take back.", command=None)


def _delete_session(place: DashboardPlace, given: Given) -> ChangeDone:
    data = place.data("session", "forget", "--yes", "--", id_given(given))
    return ChangeDone("Deleted. Nothing makes this session again.", data, None)


ACTIONS: Mapping[str, Callable[[DashboardPlace, Given], ChangeDone]] = {
    "accept": _accept,
    "reject": _reject,
    "forget": _forget,
    "edit": _edit,
    "resolve": _resolve,
    "pin": _command("pin", said="Pinned. It never decays."),
    "unpin": _command("pin", "--remove", said="Unpinned. It decays again."),
    "done": _command("done", said="Done."),
    "archive": _command("archive", said="Archived."),
    "restore": _command("restore", said="Restored."),
    "resolve-gotcha": _command("gotcha", "resolve", said="Resolved."),
    "reopen-gotcha": _command("gotcha", "reopen", said="Open again."),
    "undo": _undo,
    "delete-session": _delete_session,
}


def change(place: DashboardPlace, given: Given) -> dict[str, Any]:
    """Do the action that is given. Raises UserError for one that is unknown, or refused."""
    if place.read_only:
        raise UserError("this dashboard only reads.", "Start it without --read-only.")
    action = text_given(given, "action")
    if action not in ACTIONS:
        raise UserError(f"there is no action '{action[:40]}'.", "Reload the page.")
    done = ACTIONS[action](place, given)
    return {"message": done.message, "data": done.data, "command": done.command}
