"""What is remembered is right: nothing overrules itself, nothing is merged in silence, what is done does not stay pending."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem.services.sessions import finish
from gitmem.text.replacement import replaces
from gitmem.worker.session_jobs import desk
from tests.command_line import mem as mem_of
from tests.conftest import git
from tests.json_output import data_of
from tests.services.test_finishing import Machine, started  # noqa: F401 - a fixture


def mem(repo: Path, *args: str) -> str:
    """Run git-mem; return what it prints."""
    return mem_of(repo, *args).stdout


def run(repo: Path, *args: str) -> str:
    """Run git-mem; return what it prints and remarks."""
    done = mem_of(repo, *args)
    return done.stdout + done.stderr


class Real(Machine):
    """A clone whose sessions are read as they are, offline."""

    def drain(self) -> list[str]:  # type: ignore[override]
        """Finish what sessions asked for."""
        with self.open() as app:
            app.settle()
            done = finish.work_off(app.state, desk(app))
            app.index()  # hooks wait for it
            return done

    def proposals(self) -> list[str]:
        """Return the titles that wait in the inbox."""
        with self.open() as app:
            return [row["title"] for row in app.rows(kinds=("memory",), unconfirmed=True, limit=50)]


@pytest.fixture
def machine(repo: Path, started: list[Sequence[str]]) -> Real:  # noqa: F811
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
    machine.hook(
        "UserPromptSubmit", prompt="Now write the repository class and its tests.", after=60
    )
    machine.hook("SessionEnd", reason="exit", after=600)
    machine.drain()
    assert len(machine.proposals()) == 1


def test_a_reason_is_no_rival() -> None:
    old = "Use SQLite instead of PostgreSQL for the orders because it is simpler to operate"
    assert not replaces(old.removesuffix(" because it is simpler to operate"), old)
    assert replaces("Use PostgreSQL instead of SQLite for the orders", old)


SAID = "We decided to use PostgreSQL for the orders store, because two writers lost updates. I prefer short answers. TODO: write the rollback script."


def blobs(repo: Path, *refs: str) -> str:
    """Return every text that refs hold, in any commit."""
    names = git(repo, "rev-list", "--objects", *refs).split("\n")
    return "\n".join(git(repo, "cat-file", "-p", name.split(" ")[0]) for name in names if name)


def test_what_was_extracted_is_private_until_it_is_accepted(
    machine: Real, repo: Path, make_repo: Callable[..., Path]
) -> None:
    hub = make_repo("bare")
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "remote", "enable", "origin", "--yes")
    mem(repo, "add", "Prices are in cents")
    machine.hook("SessionStart", source="startup")
    machine.hook("UserPromptSubmit", prompt=SAID, after=5)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    mem(repo, "sync")
    for words in ("PostgreSQL", "short answers", "rollback"):
        assert words not in blobs(repo, "refs/gitmem/heads/main")
        assert words not in blobs(hub, "refs/gitmem/heads/main")
    told = mem(repo, "page", "summary")
    assert "PostgreSQL" in told and "rollback script" in told  # its owner sees all of it
    id = next(
        row["id"] for row in data_of(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"]
    )
    mem(repo, "inbox", "--accept", id)
    assert stores(repo) == ["shared"]
    mem(repo, "sync")
    shared = blobs(hub, "refs/gitmem/heads/main")
    assert "PostgreSQL" in shared and "short answers" not in shared and "rollback" not in shared
    mem(repo, "undo")  # an acceptance is one change
    assert [
        row["id"] for row in data_of(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"]
    ] == [id]
    assert stores(repo) == ["private"]


def section(repo: Path, name: str) -> list[dict[str, Any]]:
    """Return the facts of a section of the summary."""
    (part,) = data_of(mem(repo, "page", "summary", "--section", name, "--json"))["sections"]
    return list(part["records"])


def stores(repo: Path) -> list[str]:
    """Return where the decisions are."""
    return [fact["store"] for fact in section(repo, "key_decisions")]


def tasks(repo: Path) -> list[str]:
    """Return the open tasks."""
    return [fact["title"] for fact in section(repo, "pending_tasks")]


def asked(repo: Path) -> list[str]:
    """Return the ids of the tasks of which the inbox asks whether they are done."""
    return [
        row["id"] for row in data_of(mem(repo, "inbox", "--json")) if row["kind"] == "statement"
    ]


def session(machine: Real, *prompts: str, id: str) -> None:
    """Run a session with these prompts, a day after the one before."""
    machine.hook("SessionStart", id, source="startup", after=86400)
    for text in prompts:
        machine.hook("UserPromptSubmit", id, prompt=text, after=30)
    machine.hook("SessionEnd", id, reason="exit", after=60)
    machine.drain()


@pytest.mark.parametrize(
    ("task", "done"),
    [
        ("TODO: write the rollback script.", "The rollback script is finished too."),
        (
            "TODO: write the migration for the orders table.",
            "I wrote the migration for the orders table; it is done.",
        ),
        ("TODO: escrever a migração.", "A migração está pronta"),
        ("TODO: write the rollback script.", "Done with the rollback script"),
        ("TODO: escribir la página de facturas.", "La página de facturas ya está lista."),
        ("TODO: 编写回滚脚本。", "回滚脚本写好了。"),
    ],
)
def test_what_is_said_to_be_done_is_asked_about_and_closed(
    machine: Real, repo: Path, task: str, done: str
) -> None:
    """Nothing is changed before somebody answers."""
    session(machine, task, id="s1")
    assert len(tasks(repo)) == 1 and len(machine.proposals()) == 1
    session(machine, "Let us go on.", done, id="s2")
    assert len(tasks(repo)) == 1
    (id,) = asked(repo)
    mem(repo, "inbox", "--accept", id)
    assert tasks(repo) == [] and machine.proposals() == [] and asked(repo) == []


@pytest.mark.parametrize(
    "said",
    [
        "Is the rollback script finished?",
        "The rollback script is not done yet.",
        "When the rollback script is done, deploy it.",
        "The rollback script for payments is done.",
    ],
)
def test_what_is_not_done_stays_pending(machine: Real, repo: Path, said: str) -> None:
    session(machine, "TODO: write the rollback script for the orders.", id="s1")
    session(machine, "Let us go on.", said, id="s2")
    assert any("rollback script for the orders" in text for text in tasks(repo))


def test_a_task_that_is_still_open_stays_so(machine: Real, repo: Path) -> None:
    """The same session is not asked about again; a later one may say it anew."""
    session(machine, "TODO: write the rollback script for the orders.", id="s1")
    mem(repo, "inbox", "--accept-all")
    session(machine, "Let us go on.", "The rollback script is done.", id="s2")
    assert "said to be done" in mem(repo, "page", "summary")
    assert "said to be done" in machine.hook("SessionStart", "s3", source="startup", after=60)
    assert "said to be done in session s2" in mem(repo, "inbox")
    (id,) = asked(repo)
    with pytest.raises(AssertionError, match="no record"):  # a wrong id: nothing is answered
        mem(repo, "inbox", "--accept", id, "--accept", "zzzzzzzz")
    assert len(tasks(repo)) == 1 and asked(repo) == [id]
    mem(repo, "inbox", "--reject", id)
    assert len(tasks(repo)) == 1 and "said to be done" not in mem(repo, "page", "summary")
    assert "said to be done" not in machine.hook("SessionStart", "s4", source="startup", after=60)
    session(machine, "Let us go on.", "The script of the rollback is finished.", id="s5")
    assert asked(repo) == [id]
    mem(repo, "inbox", "--accept", id)
    assert tasks(repo) == []


def committed(
    machine: Real, repo: Path, monkeypatch: pytest.MonkeyPatch, path: str, subject: str
) -> None:
    """Commit a change of a file at the machine's time, an hour later."""
    machine.now += 3600
    monkeypatch.setenv("GIT_AUTHOR_DATE", f"@{int(machine.now)} +0000")
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"@{int(machine.now)} +0000")
    (repo / path).parent.mkdir(exist_ok=True)
    (repo / path).write_text(f"# {subject}\n")
    git(repo, "add", path)
    git(repo, "commit", "-qm", subject)
    monkeypatch.delenv("GIT_AUTHOR_DATE")
    monkeypatch.delenv("GIT_COMMITTER_DATE")


def test_commits_between_sessions_close_tasks_too(
    machine: Real, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What somebody committed while no agent was at work is looked at when the next session ends."""
    git(repo, "config", "user.email", "test@example.org")  # who commits in these tests
    session(machine, "TODO: write the rollback script.", id="s1")
    committed(machine, repo, monkeypatch, "rollback.sql", "Write the rollback script")
    session(machine, "Let us go on with something else.", id="s2")
    assert len(asked(repo)) == 1


def test_commits_of_a_file_that_a_task_names_are_asked_about(
    machine: Real, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(machine, "TODO: handle the timeout in client.py.", id="s1")
    committed(machine, repo, monkeypatch, "src/client.py", "Wait for thirty seconds")
    session(machine, "Let us go on with something else.", id="s2")
    (id,) = asked(repo)
    mem(repo, "inbox", "--reject", id)
    assert len(tasks(repo)) == 1 and asked(repo) == []


def test_a_commit_says_that_the_task_of_its_subject_is_done(
    machine: Real, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(repo, "config", "user.email", "test@example.org")  # who commits in these tests
    session(machine, "TODO: write the rollback script.", "TODO: remove the old cache.", id="s1")
    machine.hook("SessionStart", "s2", source="startup", after=86400)
    machine.hook("UserPromptSubmit", "s2", prompt="Go on.", after=10)
    when = f"@{int(machine.now)} +0000"
    monkeypatch.setenv("GIT_COMMITTER_DATE", when)
    for subject in ("feat(db): add the rollback script", "Start on the old cache"):
        git(repo, "commit", "-q", "--allow-empty", "-m", subject)
    machine.hook("SessionEnd", "s2", reason="exit", after=60)
    machine.drain()
    (id,) = asked(repo)
    assert "rollback" in data_of(mem(repo, "show", id, "--json"))[0]["title"]


def test_a_story_that_is_done_closes_its_task(repo: Path) -> None:
    mem(repo, "add", "-t", "task", "Write the rollback script")
    mem(repo, "work", "start", "release", "--story", "1.1=The rollback script")
    out = run(repo, "work", "story", "1.1", "--done")
    assert "closed the open task: Write the rollback script" in out
    assert tasks(repo) == [] and data_of(mem(repo, "list", "-t", "task", "--json")) == []


def test_a_task_that_nobody_touched_for_30_days_of_work_is_told_no_more(
    machine: Real, repo: Path
) -> None:
    session(machine, "TODO: write the rollback script.", id="s0")
    for n in range(1, 29):
        session(machine, f"We decided to use colour {n} for chart {n}.", id=f"s{n}")
    assert "rollback script" in machine.hook("SessionStart", "before", source="startup", after=60)
    for n in range(29, 32):
        session(machine, f"We decided to use colour {n} for chart {n}.", id=f"s{n}")
    assert "rollback script" not in machine.hook(
        "SessionStart", "after", source="startup", after=60
    )
    assert len(tasks(repo)) == 1
