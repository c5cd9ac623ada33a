"""What is said in so many words is found whatever surrounds it: noise, small talk, another matter, nothing."""

import pytest

from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"
NOISE = " ".join(f"Line {n} of the ledger is {n * n}." for n in range(900))
STATED = (
    (
        ASSISTANT,
        "We decided to use SERIALIZABLE isolation for the ledger, because two runs lost updates.",
        {DECISION},
    ),
    (
        ASSISTANT,
        "We decided to use PostgreSQL instead of MongoDB because we need transactions.",
        {DECISION},
    ),
    (USER, "We'll go with option B and keep the old endpoint until March.", {DECISION}),
    (ASSISTANT, "We still need to add tests for the refund path.", {TASK}),
    (USER, "Remember to update the deployment docs tomorrow.", {TASK}),
    (
        ASSISTANT,
        "All handlers in this repo follow the same pattern: validate with zod, call the service, and map errors in one place.",
        {PATTERN},
    ),
    (USER, "Please don't use default exports in this project.", {PREFERENCE}),
    (USER, "I prefer small functions over comments.", {PREFERENCE}),
    (USER, "No, use pnpm instead of npm.", {PREFERENCE, DECISION}),
    (
        ASSISTANT,
        "The login failed because the JWT secret was read before the env file was loaded; loading dotenv first fixed it.",
        {ERROR},
    ),
)
SURROUNDINGS = {
    "nothing": ([], []),
    "noise": (
        [(USER, "Make the ledger safe"), (ASSISTANT, "I read it through.")],
        [(ASSISTANT, NOISE), (ASSISTANT, "The work is done.")],
    ),
    "small talk": (
        [(USER, "hi there"), (ASSISTANT, "Hello. What shall we do?")],
        [(USER, "thanks"), (ASSISTANT, "You are welcome.")],
    ),
    "another matter": (
        [
            (USER, "what does the footer look like on a phone?"),
            (ASSISTANT, "It is one column, with the links below each other."),
        ],
        [(USER, "and on a tablet?"), (ASSISTANT, "Two columns, the links at the right.")],
    ),
}


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize(
    ("role", "text", "kinds"), STATED, ids=[text[:40] for _, text, _ in STATED]
)
def test_wherever_it_is_said(role: str, text: str, kinds: set[str], around: str) -> None:
    before, after = SURROUNDINGS[around]
    said = [*before, (role, text), *after]
    if around == "nothing":
        said = [(USER, "Hello"), (ASSISTANT, "Hello."), (role, text)]
    found = extract([Turn(who, what, AT, n + 1) for n, (who, what) in enumerate(said)]).items
    words = text.rstrip(".").split()[-3:]
    assert any(
        one.kind in kinds and " ".join(words) in f"{one.text} {one.detail}" for one in found
    ), [(one.kind, one.text) for one in found]


def talk(*said: str) -> list[tuple[str, str]]:
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    return [(one.kind, one.text) for one in extract(turns).items]


@pytest.mark.parametrize("said", ["No hace falta, solo era curiosidad", "Não tem iOS nos planos."])
def test_a_no_is_no_correction(said: str) -> None:
    found = talk(
        "¿y si hacemos una app de iOS?",
        "Hace falta una cuenta de Apple, y la app de iOS nos lleva dos semanas. ¿La empiezo?",
        said,
        "Vale.",
    )
    assert not any(
        kind in {DECISION, PREFERENCE} and said.rstrip(".")[:12] in text for kind, text in found
    ), found


@pytest.mark.parametrize(
    "said",
    [
        "We decided to use MongoDB two years ago and it was a mistake.",
        "I wish we had decided to use Postgres instead of MongoDB.",
        "Someone on the forum said: we decided to use Bun because it is fast.",
        "No ano passado decidimos usar MongoDB porque era simples, e foi um erro.",
        "去年我们决定用 MongoDB，因为简单，结果是个错误。",
    ],
)
def test_what_was_decided_elsewhere_or_long_ago(said: str) -> None:
    found = talk("hi", "Hello. What shall we do?", said, "OK.")
    assert not any(kind == DECISION for kind, _ in found), found


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            (
                "el login da 500",
                "Lo arreglé, el secreto se leía demasiado pronto.",
                "¿cuál era la causa?",
                "La causa era que dotenv se cargaba después del módulo de config.",
            ),
            "dotenv",
        ),
        (
            (
                "el informe sale en blanco",
                "Lo arreglé cambiando el filtro de fechas.",
                "nada todavía",
                "La causa era la zona horaria del servidor; pasé todo a UTC.",
            ),
            "UTC",
        ),
    ],
)
def test_a_cause_that_was_asked_for_is_of_the_same_error(said: tuple[str, ...], cause: str) -> None:
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    (one,) = [one for one in extract(turns).items if one.kind == ERROR]
    assert cause in one.detail


@pytest.mark.parametrize("said", ["no, thanks", "no, wrong", "no, Friday", "no, stop"])
def test_a_no_that_names_nothing_takes_nothing_back(said: str) -> None:
    first = "Always use pnpm for installing packages."
    found = talk(
        "set up the project", "The folder is there.", first, "OK, I use pnpm.", said, "Done."
    )
    assert found == [(PREFERENCE, first)]


@pytest.mark.parametrize(
    ("first", "echo", "said"),
    [
        ("Never push to main.", "I push to origin feature-1 now.", "no, use upstream"),
        ("Always write the tests first.", "I write the tests in Jest.", "no, use vitest"),
        ("Always use pnpm for installing packages.", "OK, I use pnpm.", "no, obviously"),
    ],
)
def test_a_rule_that_the_agent_only_touched_stays(first: str, echo: str, said: str) -> None:
    assert first in [
        text
        for _, text in talk(
            "set up the project", "The folder is there.", first, echo, said, "Done."
        )
    ]


def test_lines_of_a_message_in_two_languages_stay_apart() -> None:
    said = (
        "Por favor revisa el login cuando puedas.\nTODO: write the docs for the importer\nTODO: fix the tests for the importer\n"
        "Decision: use Redis for the sessions"
    )
    assert talk(said, "ok") == [
        (TASK, "Write the docs for the importer"),
        (TASK, "Fix the tests for the importer"),
        (DECISION, "Use Redis for the sessions"),
    ]


def test_a_draft_that_is_asked_for_in_one_language_with_thanks_in_another() -> None:
    asked = "Write a blog post about our move to Postgres for the site. Gracias por toda la ayuda con esto."
    draft = "We decided to migrate everything to Postgres. From now on we always use migrations. TODO: announce it to the customers."
    assert talk(asked, draft, "thanks") == []


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        (
            "Todavía no. Falta escribir las pruebas de la importación.",
            "Falta escribir las pruebas de la importación.",
        ),
        ("还没有。导入的测试还没写。", "导入的测试还没写。"),
    ],
)
def test_not_yet_is_no_part_of_what_is_left(answer: str, task: str) -> None:
    assert talk("¿Está todo?", answer, "ok") == [(TASK, task)]


@pytest.mark.parametrize(
    "order", ["Commit please.", "ok commit and push", "haz commit", "faz o commit agora", "提交吧"]
)
def test_an_order_is_no_wish(order: str) -> None:
    assert (
        talk(
            "fix the login", "It works again; the secret was missing in .env.", order, "Committed."
        )
        == []
    )
