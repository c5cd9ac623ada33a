"""`git mem check`: facts that contradict each other, and what a person answers."""

import time
from typing import Any

import pytest

from tests.cli.conftest import Mem, commits, on_terminal
from tests.json_output import data_of
from tests.lifecycle.memories import add

REDIS, MEMCACHED = "The session store is Redis", "The session store is Memcached"
CLAUDE = {"CLAUDECODE": "1"}


@pytest.fixture
def pair(mem: Mem) -> tuple[str, str]:
    """The ids of an older and a newer fact that contradict each other."""
    return mem.add(REDIS, ago=200), mem.add(MEMCACHED, ago=100)


def found(mem: Mem, *args: str) -> list[dict[str, Any]]:
    """Return what a check finds."""
    findings: list[dict[str, Any]] = mem("check", *args, "--json").json
    return findings


def pairs(mem: Mem, *args: str) -> list[set[str]]:
    """Return the ids of the facts of each finding."""
    return [{fact["id"] for fact in finding["facts"]} for finding in found(mem, *args)]


def test_contradictions_are_shown_with_a_proposal(mem: Mem, pair: tuple[str, str]) -> None:
    """The newer fact comes first; others are not named."""
    older, newer = pair
    mem.add("The session store is warmed at start")
    mem.add("The orders table has 12 columns")
    (finding,) = found(mem)
    assert [fact["id"] for fact in finding["facts"]] == [newer, older]
    assert (finding["finding"], finding["reason"]) == ("value", "memcached, not redis")
    assert (finding["choice"], finding["is_sure"]) == ("newer", True)
    out = mem("check").out
    assert out.index(MEMCACHED) < out.index(REDIS)
    assert f"git mem check --resolve {newer[-8:]}=newer" in out
    failed = mem("check", "--fail", code=1)
    assert (failed.out, "error: 1 finding is open." in failed.err) == (out, True)
    assert pairs(mem, older) == [set(pair)]


def test_facts_that_were_not_asked_about_are_left_out(mem: Mem, pair: tuple[str, str]) -> None:
    """Nothing is said of other facts, and that is no failure."""
    other = mem.add("The timeout is 5 s for orders")
    mem.add("The timeout is 30 s for users")
    assert found(mem, other) == []
    done = mem("check", other, "--fail")
    assert (done.out, done.err) == ("", "no contradictions.\n")


@pytest.mark.parametrize(("choice", "kept"), [("newer", MEMCACHED), ("older", REDIS)])
def test_one_takes_the_others_place(
    mem: Mem, pair: tuple[str, str], choice: str, kept: str
) -> None:
    """The other is archived, the chain is kept, and one undo takes it back."""
    before = commits(mem.folder)
    mem("check", "--resolve", f"{pair[0][-8:]}={choice}")
    assert mem.titles() == [kept]
    assert commits(mem.folder) == before + 1
    assert found(mem) == []
    mem("undo")
    assert len(found(mem)) == 1


def test_facts_that_both_hold_are_not_asked_about_again(mem: Mem, pair: tuple[str, str]) -> None:
    """Until the words of one change; other fields do not count."""
    mem("check", "--resolve", f"{pair[0]}=both")
    (answer,) = mem.show(pair[1])["settled"]
    assert (answer["choice"], answer["id"]) == ("both", pair[0])
    mem("edit", pair[1], "--tag", "cache")
    assert found(mem) == []
    mem("edit", pair[0], "--title", "The session store is Valkey")
    assert pairs(mem) == [set(pair)]


def test_a_settled_pair_of_two_stores_is_kept_private(mem: Mem) -> None:
    """The shared record does not name a private one."""
    shared, private = mem.add(REDIS), mem.add(MEMCACHED, "--private")
    mem("check", "--resolve", f"{shared}=both")
    assert "settled" not in mem.show(shared)
    assert [answer["id"] for answer in mem.show(private)["settled"]] == [shared]
    mem("undo")
    assert "others would lose" in mem("check", "--resolve", f"{shared}=newer", code=1).err
    assert sorted(mem.titles()) == sorted([REDIS, MEMCACHED])
    assert mem("check", "--resolve", f"{shared}=older", "--json").json == {
        "superseded_ids": [private],
        "settled_ids": [],
        "verified_ids": [],
        "forgotten_ids": [],
    }
    assert mem.titles() == [REDIS]
    assert private not in str(mem.show(shared))


def test_a_proposal_that_holds_becomes_shared(mem: Mem) -> None:
    """It takes the place of the shared fact for everybody, and one undo takes that back."""
    shared = mem.add(REDIS, ago=100)
    proposal = add(mem.folder, MEMCACHED, at=time.time(), scope="private", origin="extracted")
    done = mem("check", "--resolve", f"{shared},{proposal.id}=newer", "--json").json
    assert done["superseded_ids"] == [shared]
    row = mem.show(proposal.id)
    assert (row["store"], row["supersedes"], row.get("unconfirmed")) == ("shared", [shared], None)
    mem("undo")
    assert mem.show(proposal.id)["store"] == "private"
    assert REDIS in mem.titles()


def test_a_fact_is_forgotten(mem: Mem, pair: tuple[str, str]) -> None:
    """The one that is named."""
    mem("check", "--resolve", f"{pair[0]}=drop")
    assert mem.titles() == [MEMCACHED]
    mem("undo")
    assert len(mem.titles()) == 2


def test_an_answer_names_one_finding(mem: Mem, pair: tuple[str, str]) -> None:
    """A fact that contradicts two others needs both ids; a wrong answer is wrong usage."""
    third = mem.add("The session store is Valkey")
    done = mem("check", "--resolve", f"{third}=both", code=1)
    assert f"{third},{pair[0][-8:]}" in done.err
    mem("check", "--resolve", f"{third},{pair[0]}=both", "--resolve", f"{third},{pair[1]}=both")
    assert pairs(mem) == [set(pair)]
    mem("check", "--resolve", f"{third}=maybe", code=2)
    assert "nothing was found about" in mem("check", "--resolve", f"{third}=both", code=1).err


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        (("0=newer", "0=older"), 2, "answer the same finding"),
        (("0=newer", "1=newer"), 2, "answer the same finding"),
        (("0=both", "0,1=drop"), 2, "name the fact that is to be dropped"),
        (("0=both", "1=drop"), 2, "answer the same finding"),
        (("0=both", "2=maybe"), 2, "write ID=CHOICE"),
        (("0=both", "mem-0000=newer"), 1, "mem-0000"),
        (("0=both", "4=newer"), 1, "nothing was found about"),
        (("0=both", "2=verified"), 1, "'verified' does not settle"),
        (("5,2=newer", "5,3=newer", "2,3=newer"), 1, "is about it too"),
    ],
)
def test_answers_are_given_all_or_none(
    mem: Mem, pair: tuple[str, str], answers: tuple[str, ...], code: int, words: str
) -> None:
    """One that is wrong, or a second one for the same finding, has nothing changed."""
    ids = [*pair]
    for number, title in enumerate(("The timeout is 5 s", "The timeout is 30 s", "Tea is served")):
        ids.append(mem.add(title, ago=50 - number))
    ids.append(mem.add("The timeout is 60 s"))
    before = commits(mem.folder)
    named = [_with_ids(answer, ids) for answer in answers]
    options = [word for answer in named for word in ("--resolve", answer)]
    done = mem("check", *options, code=code)

    assert words in done.err
    assert (commits(mem.folder), done.out) == (before, "")


def _with_ids(answer: str, ids: list[str]) -> str:
    names, _, choice = answer.partition("=")
    full = (ids[int(name)] if len(name) == 1 else name for name in names.split(","))
    return f"{','.join(full)}={choice}"


def test_an_agent_decides_nothing(mem: Mem, pair: tuple[str, str]) -> None:
    """It sees the findings; the person's word is proposed, though the agent's is newer."""
    agents = data_of(mem("add", "The session store is Valkey", "--json", env=CLAUDE).out)["id"]
    mem("archive", pair[0])
    (finding,) = data_of(mem("check", "--json", env=CLAUDE).out)
    assert [fact["id"] for fact in finding["facts"]] == [agents, pair[1]]
    assert finding["choice"] == "older"
    done = mem("check", "--resolve", f"{agents}=newer", env=CLAUDE, code=1)
    assert "an agent cannot decide between facts" in done.err


def test_what_nobody_reads_together_is_not_compared(mem: Mem) -> None:
    """Namespaces of two agents, what is over, and what one would replace."""
    mem.add(REDIS, "--agent", "dev")
    mem.add(MEMCACHED, "--agent", "qa")
    mem.add("The session store is Valkey", "--agent", "qa", "--expires", "2020-01-01")
    assert found(mem, "--against", "facts") == []
    fact = mem.add("Uploads are limited to 5 MB")
    mem("supersede", fact, "Uploads are limited to 9 MB", env=CLAUDE)
    assert len(mem.titles()) == 4
    assert found(mem, "--against", "facts") == []


def test_a_bare_subject_is_read_with_its_text(mem: Mem) -> None:
    """A title that only says what a fact is about does not say what holds."""
    mem.add("Database", "-m", "We use PostgreSQL.\n\nIt is old.")
    mem.add("Database", "-m", "We use MySQL.")
    assert [finding["reason"] for finding in found(mem)] == ["mysql, not postgresql"]


def test_a_terminal_asks(mem: Mem, pair: tuple[str, str]) -> None:
    """One key answers."""
    text = on_terminal(mem.folder, "check", keys="n")
    assert "[n]ewer, [o]lder, [b]oth, [d]rop, [s]kip, [q]uit, ? (proposed: newer)" in text
    assert f"is superseded by {pair[1][-8:]}" in text
    assert mem.titles() == [MEMCACHED]


def test_contradicting_facts_are_marked_in_their_order(mem: Mem, pair: tuple[str, str]) -> None:
    """In a list, among what is searched, and on the fact's own page."""
    mem("drain")
    rows = mem("list", "--json").json
    assert {row["id"]: row["contradicts"] for row in rows} == {
        pair[0]: [pair[1]],
        pair[1]: [pair[0]],
    }
    assert f"(contradicts {pair[0][-8:]})" in mem("list").out.splitlines()[0]
    assert f"(contradicts {pair[0][-8:]})" in mem("search", "Memcached").out
    assert mem.show(pair[0])["contradicts"] == [pair[1]]
    mem("check", "--resolve", f"{pair[0]}=both")
    assert "contradicts" not in mem("list").out + str(mem.show(pair[0]))
