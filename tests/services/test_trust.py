"""What is remembered is right: nothing overrules itself, nothing is merged in silence, what is done does not stay pending."""

from pathlib import Path

import pytest

from gitmem.records.summary_entries import replaces
from gitmem.services.sessions import finish
from gitmem.worker.session_jobs import desk
from tests.services.test_finishing import Machine


class Real(Machine):
    """A clone whose sessions are read as they are, offline."""

    def drain(self) -> list[str]:  # type: ignore[override]
        """Finish what sessions asked for."""
        with self.open() as app:
            app.settle()
            return finish.work_off(app.state, desk(app))

    def proposals(self) -> list[str]:
        """Return the titles that wait in the inbox."""
        with self.open() as app:
            return [row["title"] for row in app.rows(kinds=("memory",), unconfirmed=True, limit=50)]


@pytest.fixture
def machine(repo: Path) -> Real:
    return Real(repo)


@pytest.mark.parametrize(
    "said",
    [
        "Let's go with SQLite instead of PostgreSQL for the orders, it is simpler to operate.",
        "Vamos usar SQLite em vez de PostgreSQL para os pedidos, é mais simples de operar.",
        "Vamos a usar SQLite en lugar de PostgreSQL para los pedidos, es más simple de operar.",
    ],
)
def test_a_decision_does_not_overrule_itself_after_a_compaction(machine: Real, said: str) -> None:
    machine.hook("SessionStart", source="startup")
    machine.hook("UserPromptSubmit", prompt=said, after=5)
    machine.hook("PreCompact", trigger="auto", after=30)
    machine.drain()
    assert len(machine.proposals()) == 1
    machine.hook("SessionStart", source="compact", after=5)
    machine.hook("UserPromptSubmit", prompt="Now write the repository class and its tests.", after=60)
    machine.hook("SessionEnd", reason="exit", after=600)
    machine.drain()
    assert len(machine.proposals()) == 1


def test_a_reason_is_no_rival() -> None:
    old = "Use SQLite instead of PostgreSQL for the orders because it is simpler to operate"
    assert not replaces(old.removesuffix(" because it is simpler to operate"), old)
    assert replaces("Use PostgreSQL instead of SQLite for the orders", old)
