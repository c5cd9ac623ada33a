"""What is remembered is right: nothing overrules itself, nothing is merged in silence, what is done does not stay pending."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from gitmem.records.summary_entries import replaces

from gitmem.services.sessions import finish
from gitmem.worker.session_jobs import desk
from tests.conftest import git
from tests.json_output import data_of
from tests.services.test_finishing import Machine, started  # noqa: F401 - a fixture
from tests.stress.conftest import mem as mem_of


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
    told = mem(repo, "summary")
    assert "PostgreSQL" in told and "rollback script" in told  # its owner sees all of it
    id = next(
        row["id"] for row in data_of(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"]
    )
    mem(repo, "inbox", "--accept", id)
    assert [
        e["store"] for e in data_of(mem(repo, "summary", "--json"))["sections"]["key_decisions"]
    ] == ["shared"]
    mem(repo, "sync")
    shared = blobs(hub, "refs/gitmem/heads/main")
    assert "PostgreSQL" in shared and "short answers" not in shared and "rollback" not in shared
    mem(repo, "undo")  # an acceptance is one change
    assert [
        row["id"] for row in data_of(mem(repo, "inbox", "--json")) if "PostgreSQL" in row["title"]
    ] == [id]
    assert [
        e["store"] for e in data_of(mem(repo, "summary", "--json"))["sections"]["key_decisions"]
    ] == ["private"]


def test_the_setting_shares_what_is_extracted(machine: Real, repo: Path) -> None:
    git(repo, "config", "gitmem.shareExtracted", "true")
    machine.hook("UserPromptSubmit", prompt=SAID)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    assert "PostgreSQL" in blobs(repo, "refs/gitmem/heads/main")
    assert mem(repo, "doctor").endswith("everything is in order.\n")


def test_a_store_of_before_is_told_of_and_mended(
    machine: Real, repo: Path, make_repo: Callable[..., Path]
) -> None:
    """An older version put what it extracted into the shared part."""
    git(repo, "config", "gitmem.shareExtracted", "true")
    machine.hook("UserPromptSubmit", prompt=SAID)
    machine.hook("SessionEnd", reason="exit", after=60)
    machine.drain()
    mem(repo, "summary", "add", "Ada reviews the migrations")
    git(repo, "config", "--unset", "gitmem.shareExtracted")
    hub = make_repo("bare")
    git(repo, "remote", "add", "origin", str(hub))
    mem(repo, "remote", "enable", "origin", "--yes")
    told = data_of(mem(repo, "sync", "--json"))
    assert not told["pushed"] and "doctor --fix" in " ".join(told["warnings"])
    assert git(hub, "for-each-ref", "refs/gitmem") == ""
    assert "short answers" in mem(repo, "doctor")
    assert "are private now" in mem(repo, "doctor", "--fix")
    assert mem(repo, "doctor").endswith("everything is in order.\n")
    found = data_of(mem(repo, "summary", "--json"))["sections"]
    assert {e["text"]: e["store"] for part in found.values() for e in part}[
        "Ada reviews the migrations"
    ] == "shared"
    assert {e["store"] for e in found["pending_tasks"]} == {"private"}
    assert data_of(mem(repo, "sync", "--json"))["pushed"]


def test_summary_add_says_what_it_replaced_and_merged_with(repo: Path) -> None:
    for text in (
        "Use billing-v2 because v1 is slow",
        "Use search-v2 because v1 is slow",
        "Use auth-v3 because v1 is slow",
    ):
        assert "added" in mem(repo, "summary", "add", text)
    assert len(data_of(mem(repo, "summary", "--json"))["sections"]["key_decisions"]) == 3
    mem(repo, "summary", "add", "Use MySQL for the orders store")
    out = run(repo, "summary", "add", "Use PostgreSQL instead of MySQL for the orders store")
    assert "replaced" in out and "Use MySQL for the orders store" in out and "git mem undo" in out
    out = run(
        repo,
        "summary",
        "add",
        "We have decided to use PostgreSQL instead of MySQL for the orders store.",
    )
    assert "merged with" in out and "git mem undo" in out
    mem(repo, "undo")
    assert "We have decided" not in mem(repo, "summary")


def tasks(repo: Path) -> list[str]:
    """Return the pending tasks of the summary."""
    return [
        e["text"]
        for e in data_of(mem(repo, "summary", "--json"))["sections"].get("pending_tasks", [])
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
def test_what_is_said_to_be_done_is_pending_no_more(
    machine: Real, repo: Path, task: str, done: str
) -> None:
    session(machine, task, id="s1")
    assert len(tasks(repo)) == 1 and len(machine.proposals()) == 1
    session(machine, "Let us go on.", done, id="s2")
    assert tasks(repo) == [] and machine.proposals() == []


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


def test_what_may_be_done_is_asked_for_in_the_inbox(machine: Real, repo: Path) -> None:
    session(machine, "TODO: write the rollback script for the orders.", id="s1")
    mem(repo, "inbox", "--accept-all")
    session(machine, "Let us go on.", "The rollback script is done.", id="s2")
    assert "perhaps done" in mem(repo, "summary")
    (row,) = [
        one
        for one in data_of(mem(repo, "inbox", "--json"))
        if one["kind"] == "task" and "-" not in one["id"]
    ]
    assert row["reason"] == "rollback script"
    assert "perhaps done" in machine.hook("SessionStart", "s3", source="startup", after=60)
    assert "perhaps done" in mem(repo, "inbox")
    mem(repo, "inbox", "--reject", row["id"])
    assert len(tasks(repo)) == 1 and "perhaps done" not in mem(repo, "summary")
    session(machine, "Let us go on.", "The rollback script is done.", id="s4")
    assert "perhaps done" not in mem(repo, "summary")  # the same words were answered
    session(machine, "Let us go on.", "The script of the rollback is finished.", id="s5")
    mem(repo, "inbox", "--accept", row["id"])
    assert tasks(repo) == []


def test_a_proposed_task_that_may_be_done_can_still_be_accepted(machine: Real, repo: Path) -> None:
    """`--accept` of the proposal confirms it; only the entry of the summary is asked about, and closes both."""
    machine.now -= 10 * 86400  # the commands below have the time of the machine
    session(machine, "TODO: write the rollback script for the orders.", id="s1")
    session(machine, "Let us go on.", "The rollback script is done.", id="s2")
    rows = data_of(mem(repo, "inbox", "--json"))
    (proposal,) = [row["id"] for row in rows if row["kind"] != "task"]
    (entry,) = [row["id"] for row in rows if row["kind"] == "task"]
    assert "-" not in entry
    mem(repo, "inbox", "--accept", proposal)
    assert data_of(mem(repo, "show", proposal, "--json"))[0]["status"] == "active"
    mem(repo, "inbox", "--accept", entry)
    assert (
        tasks(repo) == []
        and data_of(mem(repo, "show", proposal, "--json"))[0]["status"] == "archived"
    )


def test_the_digest_says_what_it_replaced(machine: Real, repo: Path) -> None:
    """With the command that takes it back; also when the session goes on and is read again."""
    session(
        machine,
        "We decided to use MySQL for the orders store.",
        "TODO: write the rollback script.",
        id="s1",
    )
    session(
        machine,
        "We decided to use PostgreSQL instead of MySQL for the orders store.",
        "The rollback script is done.",
        id="s2",
    )
    told = next(
        record.body for record in machine.digests().values() if record.get("session") == "s2"
    )
    assert "In the project summary" in told
    line = next(
        line
        for line in told.splitlines()
        if "replaced: We decided to use MySQL" in line or "replaced: use MySQL" in line.lower()
    )
    assert "PostgreSQL" in line and "closed:" in told
    commit = line.split("git mem undo ")[1].split()[0]
    mem(repo, "undo", commit, "--private")
    assert any(
        "MySQL for the orders" in e["text"] and "instead" not in e["text"]
        for e in data_of(mem(repo, "summary", "--json"))["sections"]["key_decisions"]
    )


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
    assert tasks(repo) == []


def test_commits_of_a_file_that_a_task_names_make_it_perhaps_done(
    machine: Real, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inbox asks; a later session does not ask for the same again."""
    session(machine, "TODO: handle the timeout in client.py.", id="s1")
    committed(machine, repo, monkeypatch, "src/client.py", "Wait for thirty seconds")
    session(machine, "Let us go on with something else.", id="s2")
    (row,) = [
        one
        for one in data_of(mem(repo, "inbox", "--json"))
        if one["kind"] == "task" and "-" not in one["id"]
    ]
    assert row["reason"] == "commits changed src/client.py"
    mem(repo, "inbox", "--reject", row["id"])
    committed(machine, repo, monkeypatch, "src/client.py", "Log what was asked")
    session(machine, "And on.", id="s3")
    assert "perhaps done" not in mem(repo, "summary")
    assert len(tasks(repo)) == 1


def test_a_commit_closes_the_task_that_its_subject_does(
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
    assert [text for text in tasks(repo) if "rollback" in text] == []
    assert len(tasks(repo)) == 1


def test_a_story_that_is_done_closes_its_task(repo: Path) -> None:
    mem(repo, "summary", "add", "--kind", "task", "Write the rollback script")
    mem(repo, "add", "-t", "task", "Write the rollback script")
    mem(repo, "work", "start", "release", "--story", "1.1=The rollback script")
    out = run(repo, "work", "story", "1.1", "--done")
    assert "closed the pending task: Write the rollback script" in out
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
