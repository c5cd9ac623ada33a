"""What the page changes: an action and what it is given, done as the commands do it.

Each action is one command of whoever started the server, so that `git mem undo` takes it back. An
action inside an agent's session has no more rights than the agent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.dashboard.api import id_of
from gitmem.dashboard.place import DashboardPlace
from gitmem.errors import UserError

Given = Mapping[str, Any]
TEXT = 64 * 1024  # characters of a field
CHOICES = frozenset({"newer", "older", "both", "drop", "verified"})
EDITED = ("title", "message", "type", "importance", "workaround", "severity", "category")


class ChangeDone(NamedTuple):
    """What an action did, in words; `data` is what its command prints with `--json`."""

    message: str
    data: Any
    can_undo: bool = True


def _text(given: Given, name: str, most: int = TEXT) -> str:
    value = given.get(name)
    text = str(value) if isinstance(value, (str, int, float)) else ""
    if len(text) > most or "\0" in text:
        raise UserError(f"'{name}' is too long or holds a zero byte.", "Give a shorter text.")
    return text


def _id(given: Given) -> str:
    return id_of(_text(given, "id", 200))


def _command(*words: str, said: str) -> Callable[[DashboardPlace, Given], ChangeDone]:
    """Return an action that runs a command on one record."""

    def run(place: DashboardPlace, given: Given) -> ChangeDone:
        return ChangeDone(said, place.data(*words, "--", _id(given)))

    return run


def _accept(place: DashboardPlace, given: Given) -> ChangeDone:
    shared = ("--shared",) if given.get("shared") is True else ()
    data = place.data("inbox", f"--accept={_id(given)}", *shared)
    return ChangeDone("Accepted. You vouch for it from now on.", data)


def _reject(place: DashboardPlace, given: Given) -> ChangeDone:
    reason = _text(given, "reason", 1000)
    given_reason = (f"--reason={reason}",) if reason else ()
    data = place.data("inbox", f"--reject={_id(given)}", *given_reason)
    return ChangeDone("Rejected. It will not be proposed again.", data)


def _forget(place: DashboardPlace, given: Given) -> ChangeDone:
    reason = _text(given, "reason", 1000)
    given_reason = (f"--reason={reason}",) if reason else ()
    data = place.data("forget", *given_reason, "--", _id(given))
    return ChangeDone("Forgotten. It will not be told or proposed again.", data)


def _edit(place: DashboardPlace, given: Given) -> ChangeDone:
    options = [f"--{name}={_text(given, name)}" for name in EDITED if name in given]
    if not options:
        raise UserError("there is nothing to change.", "Change the title or the text.")
    if "--message=-" in options:  # would read a terminal
        raise UserError("'-' is no text.", "Write a text.")
    return ChangeDone("Changed.", place.data("edit", *options, "--", _id(given)))


def _resolve(place: DashboardPlace, given: Given) -> ChangeDone:
    """Answer a finding of a check, of one fact or of two."""
    ids, choice = given.get("ids"), given.get("choice")
    if not isinstance(ids, list) or not 1 <= len(ids) <= 2 or choice not in CHOICES:
        raise UserError(
            "a finding is answered with the ids of one or two facts and a choice.",
            f"Choices: {', '.join(sorted(CHOICES))}.",
        )
    names = ",".join(id_of(str(id)) for id in ids)
    data = place.data("check", f"--resolve={names}={choice}")
    said = {"both": "Settled. Both hold.", "drop": "Forgotten.", "verified": "Settled. It holds."}
    return ChangeDone(said.get(str(choice), "Settled. The other one is superseded."), data)


def _merge(place: DashboardPlace, given: Given) -> ChangeDone:
    into = id_of(_text(given, "into", 200))
    data = place.data("inbox", f"--merge={_id(given)}", f"--into={into}")
    return ChangeDone("Merged.", data)


def _undo(place: DashboardPlace, _: Given) -> ChangeDone:
    return ChangeDone("Taken back.", place.data("undo"))


def _redo(place: DashboardPlace, _: Given) -> ChangeDone:
    return ChangeDone("Done again.", place.data("redo"))


def _delete_session(place: DashboardPlace, given: Given) -> ChangeDone:
    data = place.data("session", "forget", "--yes", "--", _id(given))
    return ChangeDone("Deleted. Nothing makes this session again.", data, can_undo=False)


ACTIONS: Mapping[str, Callable[[DashboardPlace, Given], ChangeDone]] = {
    "accept": _accept,
    "reject": _reject,
    "forget": _forget,
    "edit": _edit,
    "resolve": _resolve,
    "merge": _merge,
    "pin": _command("pin", said="Pinned. It never decays."),
    "unpin": _command("unpin", said="Unpinned. It decays again."),
    "done": _command("done", said="Done."),
    "archive": _command("archive", said="Archived."),
    "restore": _command("restore", said="Restored."),
    "resolve-gotcha": _command("gotcha", "resolve", said="Resolved."),
    "reopen-gotcha": _command("gotcha", "reopen", said="Open again."),
    "undo": _undo,
    "redo": _redo,
    "delete-session": _delete_session,
}


def change(place: DashboardPlace, action: str, given: Given) -> dict[str, Any]:
    """Do an action. Raises UserError for one that is unknown, or refused."""
    if place.read_only:
        raise UserError("this dashboard only reads.", "Start it without --read-only.")
    if action not in ACTIONS:
        raise UserError(f"there is no action '{action[:40]}'.", "Reload the page.")
    done = ACTIONS[action](place, given)
    return {"message": done.message, "data": done.data, "can_undo": done.can_undo}


def action_names() -> Sequence[str]:
    """Return the names of all actions."""
    return tuple(ACTIONS)
