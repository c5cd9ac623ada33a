"""Which facts say the same, and what a merge of them keeps."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.services.lifecycle.duplicates import statement_words
from tests.command_line import run_command
from tests.lifecycle.memories import AGENT, add, data, ids


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sessions are stored in Redis", "We store sessions in Redis."),
        ("Run the tests with make test", "Tests are run with `make test`"),
        ("Retry payments three times", "Payments are retried 3 times"),
        ("Do not commit generated files", "Never commit generated files"),
        ("Webhook handlers must be idempotent", "webhook handlers have to be idempotent!"),
        ("Use tabs for indentation", "Indentation uses tabs"),
        ("Reintentar los pagos tres veces", "Reintentar el pago 3 veces"),
    ],
)
def test_equal_statements(first: str, second: str) -> None:
    """Inflection, case, politeness, articles, number words and punctuation make no other fact."""
    assert statement_words(first) == statement_words(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Squash before merging", "Never squash before merging"),
        ("The timeout is 5 s for orders", "The timeout is 5 s for users"),
        ("The timeout is 5 s", "The timeout is 50 s"),
        ("Orders call payments", "Payments call orders"),
        ("Prefer ruff over flake8", "Prefer flake8 over ruff"),
        ("Use Redis for sessions", "Use Redis for sessions in tests"),
        ("Insert rows in batches", "Invert rows in batches"),
        ("Deploys run before migrations", "Deploys run after migrations"),
        ("Support Python 3.11", "Support Python 3.12"),
        ("Retry when status is >= 500", "Retry when status is <= 500"),
        ("The limit is -1", "The limit is 1"),
        ("List /users", "List /user"),
        ("Cluster nodes of cluster A", "Cluster nodes of cluster"),
        ("Keep 5% of traces", "Keep 5 of traces"),
        ("Send X_Token", "Send X-Token"),
        ("Is the cache safe for threads?", "The cache is safe for threads"),
        ("Use A and B order", "Use B and A order"),
        ("😀 marks builds", "😡 marks builds"),
        ("git push --force", "git push force"),
        ("Tell the US team", "Tell the us team"),
    ],
)
def test_other_statements(first: str, second: str) -> None:
    """A denial, a scope, a number, an order, one letter: another fact."""
    assert statement_words(first) != statement_words(second)


@given(st.text(max_size=300))
def test_any_text_has_a_statement(text: str) -> None:
    """No text stops the comparison, and a text says the same as itself in capitals."""
    assert statement_words(text) == statement_words(" " + text + " ")


def merged(repo: Path) -> list[str]:
    """Consolidate; return the ids that were merged into others."""
    steps = data(repo, "consolidate", "--steps", "merge")["steps"]
    return [str(id) for id in steps[0]["changed_ids"]]


def test_a_merge_keeps_the_oldest_and_what_others_know(repo: Path) -> None:
    """The smallest id survives; tags, links and sources are joined, and history has both."""
    first = add(repo, "Sessions are stored in Redis", tags=["a"], at=1e9)
    link = add(repo, "The cache has a budget")
    second = add(repo, "We store sessions in Redis", tags=["b"], links=[link.id])

    assert merged(repo) == [second.id]

    kept = data(repo, "show", first.id)[0]
    assert (kept["tags"], kept["links"]) == (["a", "b"], [link.id])
    assert second.id in kept["supersedes"]
    assert data(repo, "show", second.id)[0]["status"] == "archived"
    assert second.id not in ids(repo)
    assert merged(repo) == []


def test_undo_takes_a_merge_back(repo: Path) -> None:
    """A consolidation is one command."""
    both = {add(repo, title).id for title in ("Log as JSON", "Logs are JSON", "Log as JSON.")}
    before = ids(repo)
    run_command(repo, "consolidate")
    assert ids(repo) != before

    assert run_command(repo, "undo").returncode == 0

    assert ids(repo) == before >= both


def test_a_merge_raises_no_trust(repo: Path) -> None:
    """What an agent said first does not take the place of what a person said later."""
    agents = add(repo, "Deploys happen on Fridays", at=1e9, program="claude")
    persons = add(repo, "Deploys happen on Friday")

    assert merged(repo) == [agents.id]
    kept = data(repo, "show", persons.id)[0]
    assert not kept.get("unconfirmed")
    assert not kept.get("sources")


def test_two_unconfirmed_facts_stay_unconfirmed(repo: Path) -> None:
    """A merge is no witness."""
    first = add(repo, "Deploys happen on Fridays", at=1e9, program="claude")
    add(repo, "Deploys happen on Friday", program="gemini")

    assert len(merged(repo)) == 1
    assert data(repo, "show", first.id)[0]["unconfirmed"]


@pytest.mark.parametrize(
    "fields",
    [
        {"agent": "qa"},
        {"project": "other"},
        {"expires": "2030-01-01"},
        {"type": "task"},
        {"kind": "gotcha"},
    ],
)
def test_what_differs_in_more_than_words_stays(repo: Path, fields: dict[str, str]) -> None:
    """Another agent, project, end or kind is another fact."""
    add(repo, "Rotate the signing key")
    add(repo, "Rotate the signing keys", **fields)
    assert merged(repo) == []


def test_a_title_that_was_cut_equals_no_other(repo: Path) -> None:
    """What the rest of it said is not known; health counts it as said once."""
    words = " ".join(f"word{number}" for number in range(60))
    for end in ("and so it is", "but never on Fridays"):
        added = run_command(repo, "add", f"{words} {end}")
        assert "a title has at most 300 characters" in added.stderr
    titles = [row["title"] for row in data(repo, "list")]

    assert titles[0] == titles[1]
    assert "no duplicates" in run_command(repo, "consolidate", "--steps", "merge").stdout
    terms = {term["term"]: term["number"] for term in data(repo, "check", "--health")["terms"]}
    assert terms["duplicates"] == 0


def test_a_body_that_says_more_stays(repo: Path) -> None:
    """Nothing that was written is put aside unread."""
    add(repo, "Rotate the signing key", "Because of the audit.")
    add(repo, "Rotate the signing keys", "With the script in ops/.")
    assert merged(repo) == []


def test_the_fact_with_the_reason_stays(repo: Path) -> None:
    """Of equals the one with a text survives."""
    bare = add(repo, "Rotate the signing key", at=1e9)
    add(repo, "Rotate the signing keys", "Because of the audit.")
    assert merged(repo) == [bare.id]


def test_pinned_and_permanent_facts_survive(repo: Path) -> None:
    """A pin counts more than age, and a decision more than a note."""
    add(repo, "Rotate the signing key", at=1e9)
    decision = add(repo, "Rotate the signing keys", type="decision")
    pinned = add(repo, "Rotate signing keys", status="pinned")
    merged(repo)
    assert pinned.id in ids(repo)
    assert decision.id in data(repo, "show", pinned.id)[0]["supersedes"]


def test_a_private_proposal_that_repeats_a_shared_fact_is_archived(repo: Path) -> None:
    """It would be told twice."""
    shared = add(repo, "Rotate the signing key")
    proposal = add(repo, "Rotate the signing keys", scope="private", origin="extracted")
    assert merged(repo) == [proposal.id]
    assert shared.id in ids(repo)


def test_a_pin_by_an_agent_beats_no_person(repo: Path) -> None:
    """What a person vouches for stays, whatever the other fact claims to be."""
    persons = add(repo, "Never delete customer rows")
    agents = add(repo, "Never delete the customer rows", program="claude", status="pinned", at=1e9)
    assert merged(repo) == [agents.id]
    assert persons.id in ids(repo)


def test_a_persons_fact_is_not_merged_by_its_stems(repo: Path) -> None:
    """Words of one stem may be other words; forms of one word are not."""
    add(repo, "Log operators at night")
    add(repo, "Log operations at night")
    assert merged(repo) == []


def test_an_agent_consolidates_nothing(repo: Path) -> None:
    """It may look."""
    add(repo, "Rotate the signing key")
    add(repo, "Rotate the signing keys")
    assert run_command(repo, "consolidate", env=AGENT).returncode == 1
    assert "would be merged" in run_command(repo, "consolidate", "--dry-run", env=AGENT).stdout
    assert len(ids(repo)) == 2


def test_a_dry_run_changes_nothing(repo: Path) -> None:
    """It names what would change."""
    add(repo, "Rotate the signing key", at=1e9)
    second = add(repo, "Rotate the signing keys")
    before = run_command(repo, "log", "--oneline").stdout
    steps = data(repo, "consolidate", "--dry-run")["steps"]
    assert [step["changed_ids"] for step in steps if step["step"] == "merge"] == [[second.id]]
    assert run_command(repo, "log", "--oneline").stdout == before
