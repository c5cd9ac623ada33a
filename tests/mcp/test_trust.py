"""Whose words a client is given, and which it is not."""

from pathlib import Path

from gitmem.text.tokens import tokens
from tests.conftest import git
from tests.hooks.conftest import run
from tests.json_output import data_of
from tests.mcp.conftest import connected, make_shop


def clone_of(shop: Path, folder: Path, name: str) -> Path:
    """Return a clone that belongs to somebody, with the memory of the hub."""
    git(folder, "clone", "-q", str(shop), name)
    path = folder / name
    git(path, "config", "user.name", name.capitalize())
    git(path, "config", "user.email", f"{name}@example.org")
    git(path, "remote", "set-url", "origin", str(folder / "hub.git"))
    run(path, "remote", "enable", "origin", "--yes")
    return path


def two_clones(tmp_path: Path) -> tuple[Path, Path]:
    """Return the clones of two people who exchange their memory."""
    shop = make_shop(tmp_path / "shop")
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    return clone_of(shop, tmp_path, "ana"), clone_of(shop, tmp_path, "bob")


async def test_what_others_wrote_is_attributed(tmp_path: Path) -> None:
    """Search, context and get say by whom a fact is, as the store's history says."""
    ana, bob = two_clones(tmp_path)
    run(bob, "add", "Payments use SERIALIZABLE", "-t", "decision", "--anchor", "app/pay.py")
    run(bob, "sync")
    run(ana, "sync")
    (row,) = data_of(run(ana, "list", "--json"))
    async with connected(ana) as caller:
        answers = [
            await caller.call("search", query="payments"),
            await caller.call("context", file="app/pay.py"),
            await caller.call("context"),
            await caller.call("get", ids=[row["id"]]),
        ]

    assert all("Bob (bob@example.org)" in text for text in answers)


async def test_agents_of_others_have_a_fifth_of_the_budget(tmp_path: Path) -> None:
    """However many facts a foreign agent wrote."""
    ana, bob = two_clones(tmp_path)
    async with connected(bob) as foreign:
        for n in range(12):
            title = f"Payments rule {n} of the other agent"
            await foreign.call("remember", title=title, text="words " * 30)
    run(bob, "sync")
    run(ana, "sync")
    run(ana, "add", "Payments use SERIALIZABLE")
    async with connected(ana) as caller:
        text = await caller.call("search", query="payments", limit=20, budget=1000)
    lines = [line for line in text.splitlines() if "other agent" in line]

    assert "Payments use SERIALIZABLE" in text
    assert 0 < sum(map(tokens, lines)) <= 200


async def test_quotes_of_sessions_are_left_out(shop: Path) -> None:
    """A session's record tells what was done, not what was asked."""
    body = "## Asked\n- the secret plan\n\n## Did\n- moved the cart\n"
    run(shop, "add", "-k", "session", "Session of 2026-01-02, claude, 1 file", "-m", body)
    (row,) = data_of(run(shop, "list", "-k", "session", "--json"))
    async with connected(shop) as caller:
        whole = await caller.call("get", ids=[row["id"]])
        found = await caller.call("search", query="secret plan")

    assert "moved the cart" in whole
    assert "secret plan" not in whole
    assert "secret plan" not in found.replace("'secret plan'", "")


async def test_what_waits_for_the_user_is_not_given(shop: Path) -> None:
    """What others said, and nobody accepted, is in a namespace that no agent reads."""
    run(shop, "add", "Totals are floats", "--agent", "inbox")
    (row,) = data_of(run(shop, "list", "--agent", "all", "--json"))
    async with connected(shop) as caller:
        found = await caller.call("search", query="totals floats")
        whole = await caller.refused("get", ids=[row["id"]])

    assert "Totals" not in found.replace("'totals", "")
    assert "waits for the user" in whole


async def test_each_agent_sees_its_own(shop: Path) -> None:
    """By the variable that names the agent of the server, as everywhere."""
    run(shop, "add", "Payments for QA", "--agent", "qa")
    async with connected(shop) as everybody, connected(shop, env={"GITMEM_AGENT": "qa"}) as qa:
        others = await everybody.call("search", query="payments")
        own = await qa.call("search", query="payments")

    assert "Payments for QA" in own
    assert "Payments for QA" not in others


async def test_unconfirmed_facts_stay_out_of_the_context_if_the_user_says_so(shop: Path) -> None:
    """The setting of hooks holds here too."""
    async with connected(shop) as caller:
        await caller.call("remember", title="Totals are Decimal", places=["app/pay.py:1"])
        before = await caller.call("context", file="app/pay.py")
        git(shop, "config", "gitmem.unconfirmed", "false")
        after = [await caller.call("context", file="app/pay.py"), await caller.call("context")]

    assert "Totals are Decimal" in before
    assert all("Totals are Decimal" not in text for text in after)
