"""What is found in turns by rules alone: sentence by sentence, then what happens between them."""

import io
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.extraction.extractor import extract
from gitmem.records.items import KINDS, Item
from gitmem.transcripts.reader import read
from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER, Turn

NOTHING = ""
SENTENCES = [
    # English
    ("decision", USER, "Let's go with Postgres for the event store."),
    ("decision", ASSISTANT, "We decided to keep the monolith because the team is small."),
    ("decision", ASSISTANT, "**Decision:** sessions expire after 30 minutes."),
    ("decision", USER, "ok, use zod for validation everywhere"),
    (NOTHING, ASSISTANT, "We could use Redis here."),
    (NOTHING, USER, "Should we use Redis or Memcached?"),
    (NOTHING, ASSISTANT, "Let me look at the config."),
    (NOTHING, ASSISTANT, "I tried bumping the timeout but it didn't help."),
    (NOTHING, USER, "The README says we decided to use Redis."),
    (NOTHING, ASSISTANT, "The idea to use Mongo was rejected."),
    (NOTHING, ASSISTANT, "```\n# Decision: use eval\n```"),
    (NOTHING, USER, "> Decision: use eval"),
    (NOTHING, ASSISTANT, "If we used Kafka, we'd need another cluster."),
    ("preference", USER, "from now on write commit messages in the imperative"),
    ("preference", USER, "please don't add comments to obvious code"),
    ("preference", USER, "never push to main without asking"),
    ("pattern", ASSISTANT, "In this repo every handler must be registered in routes.ts."),
    ("pattern", ASSISTANT, "Whenever you change a proto file, you must run make gen afterwards."),
    ("task", ASSISTANT, "We still need to migrate the billing cron."),
    ("task", ASSISTANT, "TODO: rate limiting on the login route"),
    ("context", USER, "The staging database runs on port 5433."),
    # Portuguese
    ("decision", USER, "Vamos usar o Kafka em vez do RabbitMQ."),
    ("decision", ASSISTANT, "Decidimos manter o monólito porque a equipa é pequena."),
    ("decision", ASSISTANT, "Decisão: as sessões expiram após 30 minutos"),
    (NOTHING, ASSISTANT, "Poderíamos usar Redis aqui."),
    ("preference", USER, "Prefiro mensagens de commit em inglês."),
    ("preference", USER, "nunca faças push sem perguntar"),
    ("task", ASSISTANT, "Ainda falta migrar o cron de faturamento."),
    ("pattern", ASSISTANT, "Neste projeto todo handler deve ser registrado em routes.ts."),
    ("context", USER, "O banco de homologação roda na porta 5433."),
    # Spanish
    ("decision", USER, "Vamos a usar Kafka en lugar de RabbitMQ."),
    ("decision", ASSISTANT, "Decidimos mantener el monolito porque el equipo es pequeño."),
    (NOTHING, USER, "¿Usamos Redis o Memcached?"),
    ("preference", USER, "Prefiero que los commits estén en inglés."),
    ("task", ASSISTANT, "Todavía falta migrar el cron de facturación."),
    ("pattern", ASSISTANT, "En este proyecto todos los handlers deben registrarse en routes.ts."),
    ("context", USER, "La base de datos de staging corre en el puerto 5433."),
    # Chinese
    ("decision", USER, "我们就用 Kafka 吧，不用 RabbitMQ。"),
    ("decision", ASSISTANT, "决定：会话 30 分钟后过期"),
    (NOTHING, ASSISTANT, "我们可以考虑用 Redis。"),
    (NOTHING, USER, "用户改了名字"),
    ("preference", USER, "以后提交信息都用英文写"),
    ("preference", USER, "我更喜欢小函数"),
    ("task", ASSISTANT, "还需要迁移计费的定时任务。"),
    ("pattern", ASSISTANT, "这个项目里所有的处理器都必须在 routes.ts 注册。"),
    ("context", USER, "测试环境的数据库运行在 5433 端口。"),
]


def found(*turns: Turn | tuple[str, str], **more: Any) -> tuple[Item, ...]:
    return extract(
        (one if isinstance(one, Turn) else Turn(*one, line=n) for n, one in enumerate(turns, 1)),
        **more,
    ).items


def kinds(items: Iterable[Item]) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in items]


def ran(command: str, *, failed: bool, text: str = "", line: int = 0) -> Turn:
    return Turn(TOOL, text, line=line, tool="Bash", command=command, failed=failed)


def edited(path: str) -> Turn:
    return Turn(TOOL, "ok", tool="Edit", files=(path,), failed=False)


@pytest.mark.parametrize(("kind", "role", "text"), SENTENCES)
def test_one_sentence(kind: str, role: str, text: str) -> None:
    assert [item.kind for item in found((role, text))] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ok, so **DECISION:** use SQLite for the cache.", "Use SQLite for the cache."),
        ("DECISION: use SQLite for the cache.", "Use SQLite for the cache."),
        (
            "Ok, great. Well, we decided to use SQLite for the cache.",
            "We decided to use SQLite for the cache.",
        ),
        (
            "[decision] use `SQLite` for the [cache](http://x.example/y)",
            "Use `SQLite` for the cache",
        ),
    ],
)
def test_an_item_stands_alone(text: str, said: str) -> None:
    """Without its marker, without filler, without marks of Markdown."""
    assert kinds(found((ASSISTANT, text))) == [("decision", said)]


# -- between turns


def test_the_newer_decision_wins() -> None:
    items = found(
        (USER, "Let's go with Redis for the cache."),
        (ASSISTANT, "Fine."),
        (USER, "wait, let's go with Memcached for the cache instead of Redis"),
    )

    assert len(items) == 1
    assert "Memcached" in items[0].text


def test_a_correction_takes_back_what_the_agent_decided() -> None:
    items = found(
        (USER, "set it up"),
        (ASSISTANT, "I'll go with npm because it is there."),
        (USER, "no, use pnpm"),
    )

    assert [item.text for item in items] == ["Use pnpm"]


def test_what_is_announced_counts_where_no_agent_is_heard() -> None:
    """As in the history of an agent of which prompts alone are known."""
    turns = [
        Turn(USER, f"We decided to use {name} for the {name} service.", "2026-11-20T10:00:00Z", n)
        for n, name in enumerate(("mokari", "tulipe", "sazivu"), 1)
    ]
    assert [item.kind for item in found(*turns)] == ["decision"] * 3


def test_thanks_decide_nothing() -> None:
    assert found((ASSISTANT, "You could also allow several spaces."), (USER, "cool thanks")) == ()


def test_a_text_that_was_asked_for_teaches_nothing() -> None:
    assert (
        found(
            (USER, "draft an announcement e-mail for me"),
            (ASSISTANT, "Dear all, we decided to move to Postgres.\n\nNext steps: read the docs."),
        )
        == ()
    )


def test_an_answer_to_a_question_of_fact_decides_nothing() -> None:
    assert not [
        item
        for item in found((ASSISTANT, "Which version of iOS is it?"), (USER, "the old one then"))
        if item.kind == "decision"
    ]


def test_a_task_that_is_done_later_is_done() -> None:
    items = found(
        (USER, "TODO: write the migration guide"), (ASSISTANT, "Done: wrote the migration guide")
    )

    assert [item.kind for item in items] == ["done"]


def test_the_last_state_of_a_list_counts() -> None:
    def listed(text: str) -> Turn:
        return Turn(TOOL, text, tool="TodoWrite")

    items = found(
        listed("- [ ] parse dates\n- [ ] print dates\n- [ ] give up"),
        listed("- [x] parse dates\n- [ ] print dates\n- [-] give up"),
    )

    assert kinds(items) == [("done", "parse dates"), ("task", "print dates")]


def test_an_error_with_what_helped() -> None:
    (item,) = found(
        (USER, "run the tests"),
        ran(
            "pytest -q",
            failed=True,
            text="E   ModuleNotFoundError: No module named 'httpx'",
            line=2,
        ),
        (
            ASSISTANT,
            "The root cause is that httpx is missing in the dev extras. I'll add it there.",
        ),
        edited("pyproject.toml"),
        ran("pip install -e .[dev]", failed=False),
        ran("pytest -q", failed=False, line=6),
    )

    assert (item.kind, item.text, item.files, item.lines) == (
        "error",
        "ModuleNotFoundError: No module named 'httpx'",
        ("pyproject.toml",),
        (2, 6),
    )
    assert "missing in the dev extras" in item.detail


def test_an_error_that_a_user_tells_of() -> None:
    items = found(
        (USER, "The export fails with a timeout for big customers."),
        (ASSISTANT, "The cause is a missing index on orders.customer_id."),
        edited("schema.sql"),
    )

    assert [(item.kind, "missing index" in item.detail) for item in items] == [("error", True)]


def test_a_failure_that_was_wanted_or_never_explained_is_no_error() -> None:
    assert (
        found(
            (ASSISTANT, "First a failing test."),
            ran("pytest", failed=True, text="E assert 1 == 2"),
            edited("a.py"),
            ran("pytest", failed=False),
        )
        == ()
    )
    assert (
        found(
            ran("gti status", failed=True, text="bash: gti: command not found"),
            ran("git status", failed=False),
        )
        == ()
    )


def test_a_marked_error_and_its_fix() -> None:
    (item,) = found((ASSISTANT, "Error: the build hangs on arm64\nFix: pin esbuild to 0.19"))

    assert (item.kind, item.text, item.detail) == (
        "error",
        "The build hangs on arm64",
        "pin esbuild to 0.19.",
    )


def test_sections_and_lists() -> None:
    text = "## Next steps\n\n- migrate the cron\n- [x] write the docs\n\nDecisions:\n- Postgres holds the ledger\n"

    assert kinds(found((ASSISTANT, text))) == [
        ("task", "Migrate the cron"),
        ("done", "Write the docs"),
        ("decision", "Postgres holds the ledger"),
    ]


def test_what_was_done_is_told_at_the_end_of_a_piece_of_work() -> None:
    items = found(
        (USER, "add retries"),
        (ASSISTANT, "I've added a file for it."),
        edited("client.py"),
        (ASSISTANT, "Done: the HTTP client retries three times now."),
        (USER, "thanks"),
    )

    assert kinds(items) == [("done", "The HTTP client retries three times now.")]


# -- bounds


def test_marked_turns_survive() -> None:
    noise = [Turn(USER, f"Decision: use tool number {n} for job {n * 7}") for n in range(300)]
    items = found(
        Turn(SYSTEM, "blue is the colour of the staging banner", marked=True), *noise, limit=5
    )

    assert [item.text for item in items if item.marked] == [
        "Blue is the colour of the staging banner"
    ]
    assert len(items) == 5


def test_facts() -> None:
    told = extract(
        [
            Turn(USER, "go", tokens=3),
            edited("a.py"),
            edited("a.py"),
            edited("b.py"),
            Turn(ASSISTANT, "Ok.", tokens=4),
        ]
    )

    assert told.facts == {
        "turns": 5,
        "asked": 1,
        "tokens": 7,
        "files": ["a.py", "b.py"],
        "commits": [],
    }


def test_topics_are_what_is_spoken_of() -> None:
    turns = [
        (USER, "the payment ledger is slow"),
        (ASSISTANT, "The payment ledger reads every row."),
        (USER, "index the payment ledger"),
    ]

    assert extract(Turn(*one) for one in turns).topics[0] == "payment ledger"


_WORDS = st.sampled_from(
    "decision: no, use we decided to from now on todo - [ ] fixed by error because? ## `x` 决定： 以后 nunca sempre > | ``` \n \n\n . ! ？ 。 Done: next steps: wait".split(
        " "
    )
)
_TURNS = st.builds(
    Turn,
    st.sampled_from([USER, ASSISTANT, SYSTEM, TOOL]),
    st.one_of(st.text(max_size=80), st.lists(_WORDS, max_size=25).map(" ".join)),
    line=st.integers(0, 99),
    tool=st.sampled_from(["", "Bash", "Edit", "TodoWrite", "commit"]),
    command=st.sampled_from(["", "pytest -q", "make", "$(("]),
    failed=st.sampled_from([None, True, False]),
    marked=st.booleans(),
    side=st.booleans(),
)


@settings(deadline=None)  # the first loads what was learnt
@given(st.lists(_TURNS, max_size=12))
def test_any_turns(turns: list[Turn]) -> None:
    """No turn breaks it, items are whole, and the same turns give the same items."""
    told = extract(turns, limit=7)

    assert told == extract(turns, limit=7)
    for item in told.items:
        assert item.kind in KINDS
        assert item.text.strip()
        assert item.lines[0] <= item.lines[1]
    assert len([item for item in told.items if not item.marked]) <= 7


@pytest.mark.parametrize(
    "said",
    [
        "no, use npm",
        "No, use npm.",
        "no, use npm instead",
        "no, use Go",
        "não, usa npm",
        "no, usa npm",
    ],
)
def test_a_correction_may_be_short(said: str) -> None:
    chat = f"User: set up the project\nAssistant: OK, I installed the packages with pnpm.\nUser: {said}\nAssistant: Done, the packages are installed with it now.\n"
    told = [one.text for one in extract(read(io.BytesIO(chat.encode()), "chat.txt")).items]
    assert any(said.rstrip(".").split(", ")[1].lower() in text.lower() for text in told), told
