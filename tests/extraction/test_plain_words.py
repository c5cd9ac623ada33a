"""What anybody would say is found wherever it stands in a session, in each language; and what is said twice counts as what it is said to be."""

import pytest

from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK, Item
from gitmem.transcripts.turn import ASSISTANT, TOOL, USER, Turn

AT = "2026-05-01T10:00:00Z"
OTHER = {USER: ASSISTANT, ASSISTANT: USER}
PLAIN = [
    (DECISION, USER, "We've decided that invoices are generated at night."),
    (DECISION, USER, "The team decided to adopt Bun as the runtime."),
    (DECISION, USER, "We opted for server-side rendering because of SEO."),
    (DECISION, USER, "ok, let's go with the queue then"),
    (DECISION, USER, "we'll go with JWT tokens that expire in 15 minutes"),
    (DECISION, ASSISTANT, "We agreed to use cursor pagination for all list endpoints."),
    (DECISION, USER, "Optamos por usar gRPC entre servicios"),
    (DECISION, USER, "Decidimos guardar os anexos no S3"),
    (DECISION, USER, "团队决定采用 Vue 3"),
    (PREFERENCE, USER, "I prefer functional components over classes"),
    (PREFERENCE, USER, "Prefiero que uses nombres en inglés"),
    (PREFERENCE, USER, "Eu prefiro respostas curtas"),
    (PREFERENCE, USER, "我更喜欢用 async/await"),
    (PATTERN, USER, "By convention all tests live next to the code in this repo."),
    (PATTERN, USER, "Every API response is wrapped in an envelope with data and error."),
    (TASK, USER, "TODO: add rate limiting to the public API"),
    (TASK, ASSISTANT, "Next steps: write the migration guide."),
    (TASK, USER, "Tenemos que añadir pruebas de carga antes del lanzamiento"),
    (TASK, USER, "Ainda falta o tratamento de erros no upload"),
    (TASK, USER, "还需要补充登录模块的单元测试"),
    (DONE, ASSISTANT, "I've implemented pagination for the users endpoint and all tests pass."),
    (DONE, ASSISTANT, "Implementei a paginação no endpoint de usuários e todos os testes passam."),
    (
        ERROR,
        ASSISTANT,
        "The tests failed because the fixture used a fixed date; using freezegun fixed it.",
    ),
]


def found(*turns: tuple[str, str] | Turn) -> tuple[Item, ...]:
    """Return what a session teaches."""
    return extract(
        one if isinstance(one, Turn) else Turn(one[0], one[1], AT, n)
        for n, one in enumerate(turns, start=1)
    ).items


@pytest.mark.parametrize(("kind", "role", "text"), PLAIN)
def test_plain_words_are_found_at_the_beginning_and_in_the_middle(
    kind: str, role: str, text: str
) -> None:
    changed = [Turn(TOOL, "", AT, 0, "Edit", "", ("a.py",), False)] * (kind in (DONE, ERROR))
    first = found(*changed, (role, text), (OTHER[role], "ok"))
    before = [(USER, "Look at the build script"), (ASSISTANT, "It builds the app in three steps.")]
    before = before if role == USER else before[:1]
    middle = found(*before, *changed, (role, text), (OTHER[role], "ok"), (USER, "thanks"))
    assert kind in [item.kind for item in first]
    assert kind in [item.kind for item in middle]


@pytest.mark.parametrize(
    ("kind", "marker", "text"),
    [
        (DECISION, "Decision", "retries are capped at three"),
        (TASK, "TODO", "the export of the old orders"),
        (PATTERN, "Convention", "names end with _ms"),
    ],
)
def test_a_marker_counts_though_the_same_was_said_before_without_it(
    kind: str, marker: str, text: str
) -> None:
    items = found(
        (USER, f"{text}."),
        (ASSISTANT, "Understood. What else?"),
        (USER, f"{marker}: {text}"),
        (ASSISTANT, "Noted."),
        (USER, "ok"),
    )
    assert kind in [item.kind for item in items]
    assert text.split()[0] in " ".join(item.text.lower() for item in items if item.kind == kind)


def test_what_is_decided_anew_replaces_though_it_was_a_guess_before() -> None:
    items = found(
        (USER, "Let's use Redis for the cache."),
        (ASSISTANT, "All right."),
        (USER, "Memcached might do for the cache"),
        (ASSISTANT, "It might."),
        (USER, "Decision: Memcached for the cache instead of Redis"),
        (ASSISTANT, "Understood."),
    )
    assert ["Memcached" in item.text for item in items if item.kind == DECISION] == [True]
