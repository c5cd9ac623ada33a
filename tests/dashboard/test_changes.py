"""What an action is given and what it answers: its command, the version that was seen, its words."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.dashboard.given import TEXT
from gitmem.dashboard.server import BODY
from tests.dashboard.conftest import Served
from tests.dashboard.sample import mem


def refused(served: Served, status: int, action: str, **given: object) -> str:
    """Return what the server says when it refuses an action."""
    answer = served.ask("/api/do", "POST", {"action": action, **given})
    assert answer.status == status, answer.body
    return f"{answer.json['error']['message']} {answer.json['error']['hint']}"


def record(served: Served, id: str) -> Any:
    """Return a fact as the page shows it."""
    return served.data(f"facts/{id}")["record"]


def test_an_undo_takes_back_the_command_that_it_names(
    served: Served, shop: Path, ids: dict[str, str]
) -> None:
    """Not the one that was given in a terminal in between."""
    naming = ids["naming"]
    done = served.act("edit", id=naming, title="Name them well", seen=served.seen(naming))
    mem(shop, "pin", ids["refunds"])
    undone = served.act("undo", command=done["command"])

    assert undone["message"] == "Taken back."
    assert record(served, naming)["title"] != "Name them well"
    assert record(served, ids["refunds"])["status"] == "pinned"
    again = served.act("undo", command=done["command"])
    assert (again["command"], again["message"]) == (None, "Nothing is left of it to take back.")


def test_an_undo_names_a_command(served: Served, shop: Path, ids: dict[str, str]) -> None:
    mem(shop, "pin", ids["refunds"])
    for command in ("", "HEAD", "0" * 26):
        assert served.ask("/api/do", "POST", {"action": "undo", "command": command}).status in {
            400,
            404,
        }
    assert record(served, ids["refunds"])["status"] == "pinned"


@pytest.mark.parametrize("action", ["pin", "archive", "accept", "edit"])
def test_what_changes_nothing_is_no_command(
    served: Served, ids: dict[str, str], action: str
) -> None:
    """There is nothing to take back, and the answer says so."""
    id = ids["proposal"] if action == "accept" else ids["naming"]
    given = {"id": id, **({"importance": 8} if action == "edit" else {})}
    first = served.act(action, **given, seen=served.seen(id))
    second = served.act(action, **given, seen=served.seen(id))

    assert first["command"]
    assert second["command"] is None
    assert "Nothing changed." in second["message"]
    assert ("confirmed already" in second["message"]) == (action == "accept")


@pytest.mark.parametrize("action", ["accept", "reject", "edit", "pin", "forget", "archive"])
def test_nobody_decides_about_words_that_they_did_not_see(
    served: Served, shop: Path, ids: dict[str, str], action: str
) -> None:
    id = ids["proposal"]
    seen = served.seen(id)
    mem(shop, "edit", id, "--importance", "9")
    given = {"id": id, **({"title": "Another"} if action == "edit" else {})}
    said = refused(served, 409, action, **given, seen=seen)

    assert "changed meanwhile" in said
    assert "Look at it again" in said
    short = refused(served, 400, action, **{**given, "id": id[-8:]}, seen={id[-8:]: seen[id]})
    assert "is not said" in short
    for unsaid in (None, {}, [], {id: None}, {id: "x"}):
        assert "is not said" in refused(served, 400, action, **given, seen=unsaid)
    assert record(served, id)["importance"] == 9
    assert record(served, id)["status"] == "active"


def test_of_two_edits_the_second_is_refused(served: Served, ids: dict[str, str]) -> None:
    """Both began with the same version; the first one stays."""
    id = ids["naming"]
    seen = served.seen(id)
    served.act("edit", id=id, message="The first.", seen=seen)
    refused(served, 409, "edit", id=id, message="The second.", seen=seen)

    assert record(served, id)["body"] == "The first.\n"


@pytest.mark.parametrize("choice", ["newer", "older", "both"])
@pytest.mark.parametrize("side", ["memcached", "redis"])
def test_a_conflict_is_decided_as_it_was_seen(
    served: Served, shop: Path, ids: dict[str, str], choice: str, side: str
) -> None:
    pair = [ids["memcached"], ids["redis"]]
    seen = served.seen(*pair)
    served.data("check")
    mem(shop, "edit", ids[side], "--importance", "9")
    refused(served, 409, "resolve", ids=pair, choice=choice, seen=seen)
    alone = {ids[side]: served.seen(ids[side])[ids[side]]}
    assert "is not said" in refused(served, 400, "resolve", ids=pair, choice=choice, seen=alone)

    assert [record(served, id)["status"] for id in pair] == ["active", "active"]


def test_an_edit_by_an_agent_is_said_to_be_a_proposal(
    shop: Path, serve: Callable[..., Served], ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a person vouches for stays as it is; the answer does not say that it changed."""
    monkeypatch.setenv("CLAUDECODE", "1")
    served = serve(shop)
    id = ids["serializable"]
    done = served.act("edit", id=id, title="Use READ COMMITTED", seen=served.seen(id))

    assert record(served, id)["title"] == "Use SERIALIZABLE for payments"
    assert done["data"]["id"] != id
    assert done["message"].startswith("Proposed.")
    assert "a person accepts" in done["message"]


@pytest.mark.parametrize("field", ["title", "message", "type", "workaround"])
@pytest.mark.parametrize("value", [True, None, 3, ["x"], {"x": 1}, "a\0b", "\ud800"])
def test_what_is_no_text_is_refused(
    served: Served, ids: dict[str, str], field: str, value: object
) -> None:
    id = ids["naming"]
    before = record(served, id)
    said = refused(served, 400, "edit", id=id, seen=served.seen(id), **{field: value})

    assert f"'{field}'" in said
    assert record(served, id)["blob"] == before["blob"]


@pytest.mark.parametrize("value", [True, None, [8], "x", 1e400])
def test_an_importance_is_a_number(served: Served, ids: dict[str, str], value: object) -> None:
    id = ids["naming"]
    refused(served, 400, "edit", id=id, seen=served.seen(id), importance=value)
    for number in (8, 7.5, "6"):
        served.act("edit", id=id, seen=served.seen(id), importance=number)

    assert record(served, id)["importance"] == 6


def test_ids_and_flags_have_their_kind(served: Served, ids: dict[str, str]) -> None:
    seen = served.seen(ids["proposal"])
    assert "'id'" in refused(served, 400, "accept", id=[ids["proposal"]], seen=seen)
    assert "'shared'" in refused(served, 400, "accept", id=ids["proposal"], shared="no", seen=seen)
    assert "'action'" in refused(served, 400, True)  # type: ignore[arg-type]


def test_a_long_text_fits_however_it_is_escaped(served: Served, ids: dict[str, str]) -> None:
    """A client may write each character with six bytes."""
    id = ids["naming"]
    given = {"action": "edit", "id": id, "message": "TEXT", "seen": served.seen(id)}
    body = json.dumps(given).replace("TEXT", "\\u0061" * 65_000).encode()
    answer = served.ask("/api/do", "POST", body)

    assert answer.status == 200, answer.body
    assert record(served, id)["body"] == "a" * 65_000 + "\n"


def test_a_text_that_is_too_long_is_refused_with_what_it_may_have(
    served: Served, ids: dict[str, str]
) -> None:
    id = ids["naming"]
    said = refused(served, 400, "edit", id=id, message="x" * (TEXT + 1), seen=served.seen(id))
    assert "65,536" in said
    for length in (BODY + 1, 8 * BODY):  # a client that has to send all of it hears the answer
        whole = served.ask("/api/do", "POST", b"x" * length)
        assert whole.status == 413
        assert "65,536" in whole.json["error"]["hint"]
