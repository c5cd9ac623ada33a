"""What a person forgot or rejected does not come back by itself, whoever says it again and however."""

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import PRIVATE, SHARED, Mem
from tests.cli.test_proposals import found
from tests.conftest import git
from tests.hooks.conftest import Agent, wait_for_session_record

CLAIM = "Use Kafka for the order events"
AGAIN = [
    "use KAFKA for the  order events",
    "Use Ka\u200bfka for the order ev\u00adents",
    "Use Kаfkа fоr the оrdеr events",
    "Ｕｓｅ Ｋａｆｋａ ｆｏｒ ｔｈｅ ｏｒｄｅｒ ｅｖｅｎｔｓ",
    "\u202aUse Kafka\ufe0e for the order events.\u202c",
]
AGENT = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1"}
OTHER_AGENT = {"GEMINI_CLI": "1"}


def proposed(mem: Mem, *texts: str, session: str = "s1") -> list[str]:
    """Propose decisions as the end of a session does; return the titles of the new ones."""
    return found(mem, session, *texts)


def pulled(mem: Mem, line: str) -> list[str]:
    """Write a line into CLAUDE.md, pull it, and return the titles of the facts that are there."""
    (mem.folder / "CLAUDE.md").write_text(f"# Rules\n\n- {line}\n")
    mem("native", "pull")
    return mem.titles("--all")


def made_by(mem: Mem, origin: str) -> str:
    """Make a fact of an origin; return its id."""
    if origin == "manual":
        return mem.add(CLAIM)
    if origin == "private":
        return mem.add(CLAIM, "--private")
    if origin == "agent":
        return str(mem("add", CLAIM, "--json", env=AGENT).json["id"])
    if origin == "extracted":
        mem("init")
        assert proposed(mem, CLAIM) == [CLAIM]
    else:
        pulled(mem, CLAIM)
        (mem.folder / "CLAUDE.md").unlink()
    return str(mem("list", "--all", "--json").json[0]["id"])


@pytest.mark.parametrize("origin", ["manual", "private", "agent", "extracted", "imported"])
@pytest.mark.parametrize("reason", [(), ("--reason", "we left it")])
def test_a_forgotten_fact_of_any_origin_stays_away(
    mem: Mem, origin: str, reason: tuple[str, ...]
) -> None:
    """With a reason or without: no session proposes it, no agent adds it, no file brings it back."""
    mem("forget", made_by(mem, origin), *reason)

    for text in (CLAIM, *AGAIN):
        assert proposed(mem, text, session="s2") == []
        for agent in (AGENT, OTHER_AGENT):
            refused = mem("add", text, code=1, env=agent)
            assert "was rejected on 20" in refused.err
            assert "ask the user" in refused.err
    assert pulled(mem, AGAIN[0]) == []
    assert proposed(mem, "Use Kafka for the order exports") != []


@pytest.mark.parametrize("reason", [(), ("--reason", "nobody said so")])
def test_what_was_rejected_in_the_inbox_stays_away(mem: Mem, reason: tuple[str, ...]) -> None:
    """It is rejected in the private store, and no agent writes it to the shared one."""
    id = made_by(mem, "extracted")
    mem("inbox", "--reject", id, *reason)

    assert proposed(mem, *AGAIN) == []
    mem("add", AGAIN[2], code=1, env=AGENT)
    assert mem.titles("--all") == []


def test_a_person_can_say_it_again(mem: Mem) -> None:
    """By adding it, and by restoring it; an agent can do neither."""
    first = made_by(mem, "extracted")
    mem("inbox", "--reject", first)
    mem("restore", first, code=1, env=AGENT)
    second = mem.add(CLAIM)
    mem("add", "Use Kafka for order events", "--json", env=AGENT, code=1)
    mem("forget", second)
    mem("restore", second)
    assert mem.titles() == [CLAIM]


def test_tombstones_outlive_the_index_the_state_and_garbage_collection(mem: Mem) -> None:
    """They are in the store alone."""
    mem("forget", mem.add(CLAIM))
    shutil.rmtree(mem.folder / ".git/gitmem")
    git(mem.folder, "reflog", "expire", "--expire=now", "--all")
    git(mem.folder, "gc", "-q", "--prune=now")
    assert proposed(mem, *AGAIN) == []
    mem("add", AGAIN[1], code=1, env=AGENT)


def test_a_clone_knows_what_was_forgotten_elsewhere(mem: Mem, tmp_path: Path) -> None:
    """An old bundle does not bring the record back, and no agent of the clone says it again."""
    git(tmp_path, "init", "-q", "--bare", str(tmp_path / "hub.git"))
    git(mem.folder, "remote", "add", "origin", str(tmp_path / "hub.git"))
    id = mem.add(CLAIM)
    mem("sync", "--bundle", str(tmp_path / "old.bundle"))
    mem("forget", id)
    mem("remote", "enable", "origin")
    mem("sync")
    git(tmp_path, "clone", "-q", str(tmp_path / "hub.git"), str(tmp_path / "clone"))
    clone = mem.at(tmp_path / "clone")
    clone("remote", "enable", "origin")
    clone("sync")
    clone("add", AGAIN[3], code=1, env=AGENT)
    clone("sync", str(tmp_path / "old.bundle"), code=None)
    assert clone.titles("--all") == []
    assert proposed(clone, CLAIM) == []


def test_an_id_that_was_forgotten_is_no_unknown_one(mem: Mem) -> None:
    """Each command says when it went and how it comes back; what was purged does not."""
    id, other, purged = (mem.add(f"Claim number {number}") for number in range(3))
    mem("forget", id, "--reason", "we left it")
    mem("forget", "--purge", purged, "--yes")
    for args in (("show", id), ("edit", id[-8:], "-i", "9"), ("forget", id), ("link", other, id)):
        said = mem(*args, code=1).err
        assert f"{id} was rejected or forgotten on 20" in said and "(we left it)" in said
        assert f"git mem restore {id}" in said
    for args in (("show", purged), ("restore", purged), ("inbox", "--accept", purged)):
        said = mem(*args, code=1).err
        assert f"{purged} was purged on 20" in said and "git mem restore" not in said
    mem("restore", id)
    mem("show", id)


def test_an_error_whose_gotcha_was_forgotten_is_not_captured_by_another_id(mem: Mem) -> None:
    """A gotcha that a session proposed has no pattern: the error is known by its words."""
    message = "KeyError: 'TAX_RATE'"
    mem("forget", mem.add(message, "-k", "gotcha"))
    for _ in range(4):
        mem("error", "record", message)
    assert mem.titles("--all") == []


def test_a_session_record_names_no_rejected_claim(mem: Mem) -> None:
    """Neither as a topic nor in what was asked."""
    mem("forget", mem.add(CLAIM))

    agent = Agent(mem.folder, "s9")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt=f"Please note: {AGAIN[0]}, and fix the build.")
    agent.hook("UserPromptSubmit", prompt="Then write the release notes.")
    agent.hook("SessionEnd")
    wait_for_session_record(mem.folder)

    tree = git(mem.folder, "grep", "-iE", "kafka|release", PRIVATE, ok=(0, 1)).lower()
    assert "release notes" in tree
    assert "use kafka" not in tree
    assert "order events" not in tree
    assert "kafka" in git(mem.folder, "grep", "-i", "kafka", SHARED)  # the tombstone


def test_a_forgotten_text_is_in_no_view(mem: Mem) -> None:
    """Neither the fact nor what a session or a snapshot quotes of it; exports are rewritten or named."""
    mem("init")
    agent = Agent(mem.folder, "s9")
    agent.hook("SessionStart")
    agent.hook("UserPromptSubmit", prompt=f"Decision: {CLAIM}.")
    (mem.folder / "code.py").write_text("print('changed')\n")
    agent.hook("SessionEnd")
    wait_for_session_record(mem.folder)
    (id,) = [row["id"] for row in mem("inbox", "--json").json]
    mem("inbox", "--accept", id)
    claude = mem.folder / "CLAUDE.md"
    claude.write_text("# Rules\n\n- Be kind.\n")
    mem("native", "push", "--to", str(claude))
    mem("page", "briefing", "--out", "BRIEFING.md")
    views = [
        ("list", "--all"),
        ("search", "Kafka order events"),
        ("page", "summary"),
        ("session", "briefing"),
        ("timeline", "--since", "yesterday"),
        ("inbox",),
        ("code", "dna"),
        ("snapshot", "list"),
        ("session", "opening"),
        ("gotcha", "for", "code.py"),
        ("show", "ses-"),
    ]

    def showing() -> set[str]:
        return {
            " ".join(view[:2]) for view in views if "kafka for" in mem(*view, code=None).out.lower()
        }

    told = {"list --all", "search Kafka order events", "page summary", "session briefing"}
    assert told <= showing()
    assert "Kafka" in claude.read_text()

    done = mem("forget", id)
    assert f"taken out of {claude} too" in done.err
    assert f"taken out of {mem.folder / 'BRIEFING.md'} too" in done.err
    assert "Kafka" not in claude.read_text()
    assert showing() == set()
    assert "Kafka" not in Agent(mem.folder, "s10").hook("SessionStart")
    later = Agent(mem.folder, "s10")
    assert "Kafka" not in later.hook("UserPromptSubmit", prompt="Kafka for the order events?")
    assert "kafka" not in git(mem.folder, "grep", "-ihE", "kafka (for|orders)", PRIVATE, ok=(0, 1))
