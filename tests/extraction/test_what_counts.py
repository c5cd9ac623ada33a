"""What a sentence counts for beside others: what is left to do, what others said, conditions, corrections, courtesies."""

import pytest

from gitmem.extraction.commits import lessons
from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"


def told(said: str, role: str = USER) -> list[tuple[str, str]]:
    """Return (kind, text) of what one turn of a dialogue teaches."""
    other = ASSISTANT if role == USER else USER
    turns = [Turn(other, "Hello.", AT, 1), Turn(role, said, AT, 2), Turn(other, "ok", AT, 3)]
    return [(item.kind, item.text) for item in extract(turns).items]


def kinds(said: str, role: str = USER) -> list[str]:
    return [kind for kind, _ in told(said, role)]


def noted(*paragraphs: str) -> list[str]:
    """Return what a text that somebody wrote down teaches."""
    turns = [Turn(USER, text, "", line) for line, text in enumerate(paragraphs, start=1)]
    return [item.text for item in extract(turns).items]


# -- what is done, and what is left


@pytest.mark.parametrize("role", [USER, ASSISTANT])
@pytest.mark.parametrize(
    "said",
    [
        "I've finished the seating plan. We still need to print the menus.",
        "The seating plan is done. The menus are still missing.",
        "I've added the seating plan. We still need to add a search.",
        "Terminei o plano das mesas. Ainda falta imprimir as ementas.",
        "Já publiquei a página de ajuda. Ainda falta traduzir os e-mails.",
        "He terminado el plano de las mesas. Todavía falta imprimir los menús.",
        "Ya he migrado los pedidos. Todavía falta documentar el despliegue.",
        "我已经完成了座位表。还需要打印菜单。",
    ],
)
def test_what_is_done_stays_beside_another_task(said: str, role: str) -> None:
    assert kinds(said, role) == [DONE, TASK]


@pytest.mark.parametrize(
    "said",
    [
        "I've finished the seating plan. We still need to test the seating plan.",
        "I've migrated the guests to the new table. The tables still have to be migrated.",
        "I've migrated two of the five tables. We still need to migrate the other three.",
        "Terminei a primeira parte do plano. Ainda falta imprimir as ementas.",
        "He terminado las dos primeras mesas. Todavía falta imprimir los menús.",
    ],
)
def test_what_is_done_in_part_gives_way_to_the_rest(said: str) -> None:
    assert kinds(said, ASSISTANT) == [TASK]


# -- what others said


@pytest.mark.parametrize(
    "said",
    [
        "Olga said we'll use stamps for the invitations.",
        "Pedro told me that we decided to rent the hall.",
        "Ines thinks we still need to print the menus.",
        "Marta told us the team prefers buffets.",
        "I heard that we decided to rent the hall.",
        "We'll use stamps for the invitations, Olga said.",
        "A Inês disse que vamos usar selos nos convites.",
        "O Pedro acha que decidimos alugar a sala.",
        "A Marta garante que decidimos mudar de sala.",
        "Inés dijo que vamos a usar sellos en las invitaciones.",
        "Pedro cree que hemos decidido alquilar la sala.",
        "Me ha dicho Marta que hemos decidido cambiar de sala.",
        "小王说我们统一用邮票。",
    ],
)
def test_what_others_said_is_left_out(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I said we'll use stamps for the invitations.",
        "As I told Pedro, we'll use stamps for the invitations.",
        "That said, we'll use stamps for the invitations.",
        "Pedro thinks e-mail is rude, so we'll use stamps for the invitations.",
        "We'll use stamps for the invitations, as I said.",
        "Como eu disse, vamos usar selos nos convites.",
        "O Pedro acha feio, por isso vamos usar selos nos convites.",
        "Pedro lo ve feo, así que vamos a usar sellos en las invitaciones.",
        "我说过，我们统一用邮票。",
    ],
)
def test_what_speakers_say_themselves_stays(said: str) -> None:
    assert kinds(said) == [DECISION]


# -- conditions and doubts after a decision


@pytest.mark.parametrize(
    "said",
    [
        "We've decided to rent the hall, if the budget allows.",
        "We'll rent the hall if the owner agrees.",
        "We'll rent the hall unless it's too loud.",
        "We'll use stamps, or maybe not.",
        "We'll go with the buffet, probably.",
        "Vamos usar selos, ou talvez não.",
        "Decidimos alugar a sala, se o orçamento deixar.",
        "Vamos usar o salão, desde que o dono aceite.",
        "Vamos a usar sellos, o quizá no.",
        "Hemos decidido alquilar la sala, si el presupuesto lo permite.",
        "Vamos a usar el salón, siempre y cuando el dueño acepte.",
        "我们决定租大厅，如果预算够的话。",
    ],
)
def test_a_decision_with_a_condition_after_it_is_none(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "We decided to return 404 if the guest is missing.",
        "We'll use stamps, not e-mail.",
        "Decidimos devolver 404 se o convidado não existir.",
        "Hemos decidido devolver 404 si el invitado no existe.",
    ],
)
def test_a_decision_about_a_condition_stays(said: str) -> None:
    assert kinds(said) == [DECISION]


# -- corrections in the same turn


CORRECTED = (
    ("We'll use stamps for the invitations. No, use labels for the invitations.", "labels"),
    ("We'll use stamps for the invitations. Actually, let's use labels.", "labels"),
    ("Vamos usar selos nos convites. Não, usa etiquetas nos convites.", "etiquetas"),
    ("Vamos usar selos nos convites. Afinal, vamos usar etiquetas.", "etiquetas"),
    ("Vamos a usar sellos en las cartas. No, usa etiquetas en las cartas.", "etiquetas"),
    ("Vamos a usar sellos en las cartas. Perdón, mejor usar etiquetas.", "etiquetas"),
    ("我们统一用邮票。不对，用标签。", "标签"),
)


@pytest.mark.parametrize(("said", "stays"), CORRECTED)
def test_the_next_sentence_corrects_a_decision(said: str, stays: str) -> None:
    for texts in ([text for _, text in told(said)], noted(said)):
        assert len(texts) == 1 and stays in texts[0]


TAKEN_BACK = (
    "We'll use stamps for the invitations. Or no, wait, labels.",
    "We'll use stamps for the invitations. Scratch that.",
    "We'll use stamps for the invitations. Sorry, I meant labels.",
    "Vamos usar selos nos convites. Ou não, espera, etiquetas.",
    "Vamos usar selos nos convites. Esquece isso.",
    "Vamos a usar sellos en las cartas. O no, espera, etiquetas.",
    "Vamos a usar sellos en las cartas. Olvídalo.",
)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Decision: use stamps. No, use labels.", ["Use labels."]),
        ("Decision: use stamps. Scratch that.", []),
        ("Decisão: usar selos. Não, usa etiquetas.", ["Usa etiquetas."]),
        ("Decisión: usar sellos. No, usa etiquetas.", ["Usa etiquetas."]),
        ("Decision: use stamps. They look better.", ["Use stamps."]),
    ],
)
def test_the_next_sentence_corrects_a_marked_one(said: str, expected: list[str]) -> None:
    assert [text for _, text in told(said)] == expected
    assert noted(said) == expected


@pytest.mark.parametrize("said", TAKEN_BACK)
def test_the_next_sentence_takes_a_decision_back(said: str) -> None:
    assert told(said) == []
    assert noted(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "We'll use stamps for the invitations. No worries, there are plenty.",
        "We'll use stamps for the invitations. Two per letter? No, use three.",
        "Vamos usar selos nos convites. Não te preocupes, há muitos.",
        "Vamos a usar sellos en las cartas. No te preocupes, hay muchos.",
    ],
)
def test_a_no_about_something_else_takes_nothing_back(said: str) -> None:
    assert kinds(said) == [DECISION]


def test_a_paragraph_takes_back_only_the_one_before_it() -> None:
    first, second = "We decided to rent the hall.", "We decided to hire a band."
    assert noted(first, second, "Scratch that.") == [first]
    assert noted(first, "The hall has two doors.", "Scratch that.") == [first]


# -- courtesies and what is worth nothing


@pytest.mark.parametrize(
    "said",
    [
        "Please don't hesitate to call the office.",
        "Don't worry about the menus.",
        "I prefer not to say who it was.",
        "Let's go with the flow.",
        "Let's keep in touch.",
        "Please don't be mad.",
        "We still need to talk.",
        "The next step is unclear.",
        "I've finished reading your letter.",
        "I've finished lunch.",
        "Prefiro não dizer quem foi.",
        "Por favor, não hesites em perguntar.",
        "Terminei de ler a tua carta.",
        "Prefiero no decir quién fue.",
        "Por favor, no dudes en preguntar.",
        "He terminado de leer tu carta.",
    ],
)
def test_a_courtesy_is_nothing(said: str) -> None:
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I prefer not to use plastic cups.", PREFERENCE),
        ("Let's go with paper cups.", DECISION),
        ("I've finished the reading corner.", DONE),
        ("Prefiro não usar copos de plástico.", PREFERENCE),
        ("Terminei a página dos convites.", DONE),
        ("Prefiero no usar vasos de plástico.", PREFERENCE),
        ("He terminado la página de las cartas.", DONE),
    ],
)
def test_the_same_words_for_something_that_counts(said: str, kind: str) -> None:
    assert kinds(said) == [kind]


# -- wishes for more than a moment


@pytest.mark.parametrize(
    "said",
    [
        "Please don't touch the signed contracts.",
        "Don't commit to the release branch.",
        "Don't push without asking.",
        "Não mexas nos contratos assinados.",
        "Por favor, não faças commit na main.",
        "Não apagues cartas sem perguntar.",
        "No toques los contratos firmados.",
        "Por favor, no subas nada a main sin preguntar.",
        "No borres cartas sin preguntar.",
    ],
)
def test_a_prohibition_of_any_verb_is_a_preference(said: str) -> None:
    assert kinds(said) == [PREFERENCE]


@pytest.mark.parametrize(
    "said",
    [
        "Don't touch it yet.",
        "Please don't push anything for now.",
        "Don't run them.",
        "Não toques nisso ainda.",
        "Não mudes nada por enquanto.",
        "No toques eso todavía.",
        "No cambies nada por ahora.",
    ],
)
def test_an_order_for_the_moment_is_none(said: str) -> None:
    assert told(said) == []


# -- rules for whenever something happens


@pytest.mark.parametrize(
    "said",
    [
        "Whenever you change the menu, the allergy list must be checked.",
        "Sempre que mudares a ementa, atualiza a lista de alergias.",
        "Toda vez que se mudar a ementa, a lista de alergias deve ser revista.",
        "Siempre que cambies el menú, debes revisar la lista de alergias.",
        "Cada vez que añadas un plato, actualiza la lista de alergias.",
    ],
)
def test_whenever_is_a_pattern(said: str) -> None:
    assert kinds(said) == [PATTERN]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Sempre escreve a ementa primeiro.", [PREFERENCE]),
        ("Siempre escribe el menú primero.", [PREFERENCE]),
        ("Sempre que abro a ementa, dá erro.", []),
        ("Siempre que abro el menú, da error.", []),
    ],
)
def test_always_and_a_complaint_are_no_pattern(said: str, expected: list[str]) -> None:
    assert kinds(said) == expected


# -- requests at the end


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            "ok so, we've decided to rent the hall so could you write the letter?",
            "We've decided to rent the hall",
        ),
        ("We'll go with paper cups but can you count them?", "We'll go with paper cups"),
        ("Decidimos alugar a sala então você pode escrever a carta?", "Decidimos alugar a sala"),
        (
            "Hemos decidido alquilar la sala así que puedes escribir la carta?",
            "Hemos decidido alquilar la sala",
        ),
    ],
)
def test_a_request_without_a_comma_before_it(said: str, text: str) -> None:
    assert told(said) == [(DECISION, text)]


# -- further phrases


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("The seating test passes now.", [DONE]),
        ("It passes now.", []),
        ("The seating test doesn't pass now.", []),
        ("O teste das mesas passa agora.", [DONE]),
        ("Vai ser PostgreSQL.", [DECISION]),
        ("Vai ser difícil.", []),
        ("Vai ser testado amanhã.", []),
        ("Va a ser PostgreSQL.", [DECISION]),
        ("Va a ser difícil.", []),
        ("Todo convite deve ter um nome claro.", [PATTERN]),
        ("O erro deve ter sido o cache.", []),
        ("Decidimos que a API devolve datas ISO.", [DECISION]),
        ("Fix: close the door of the cache", [ERROR]),
        ("Correção: fechar o cursor", [ERROR]),
        ("Fix: none yet", []),
    ],
)
def test_a_phrase_and_what_only_looks_like_it(said: str, expected: list[str]) -> None:
    assert kinds(said) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Add payments", [DONE]),
        ("Support IPv6", [DONE]),
        ("Add the cart", [DONE]),
        ("Add tests", []),
        ("Fix crash", []),
        ("Add", []),
    ],
)
def test_a_subject_of_two_words(subject: str, expected: list[str]) -> None:
    assert [kind for kind, _, _ in lessons(subject, "en")] == expected
