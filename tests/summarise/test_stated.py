"""What is said in so many words is found whatever surrounds it: noise, small talk, another matter, nothing."""

import pytest

from gitmem.model.item import DECISION, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.model.turn import ASSISTANT, USER, Turn
from gitmem.summarise.offline import extract

AT = "2026-11-21T10:00:00Z"
NOISE = " ".join(f"Line {n} of the ledger is {n * n}." for n in range(900))
STATED = (
    (ASSISTANT, "We decided to use SERIALIZABLE isolation for the ledger, because two runs lost updates.", {DECISION}),
    (ASSISTANT, "We decided to use PostgreSQL instead of MongoDB because we need transactions.", {DECISION}),
    (USER, "We'll go with option B and keep the old endpoint until March.", {DECISION}),
    (ASSISTANT, "We still need to add tests for the refund path.", {TASK}),
    (USER, "Remember to update the deployment docs tomorrow.", {TASK}),
    (ASSISTANT, "All handlers in this repo follow the same pattern: validate with zod, call the service, and map errors in one place.", {PATTERN}),
    (USER, "Please don't use default exports in this project.", {PREFERENCE}),
    (USER, "I prefer small functions over comments.", {PREFERENCE}),
    (USER, "No, use pnpm instead of npm.", {PREFERENCE, DECISION}),
    (
        ASSISTANT,
        "The login failed because the JWT secret was read before the env file was loaded; loading dotenv first fixed it.",
        {ERROR},
    ),
)  # fmt: skip
SURROUNDINGS = {
    "nothing": ([], []),
    "noise": ([(USER, "Make the ledger safe"), (ASSISTANT, "I read it through.")], [(ASSISTANT, NOISE), (ASSISTANT, "The work is done.")]),
    "small talk": ([(USER, "hi there"), (ASSISTANT, "Hello. What shall we do?")], [(USER, "thanks"), (ASSISTANT, "You are welcome.")]),
    "another matter": (
        [(USER, "what does the footer look like on a phone?"), (ASSISTANT, "It is one column, with the links below each other.")],
        [(USER, "and on a tablet?"), (ASSISTANT, "Two columns, the links at the right.")],
    ),
}


@pytest.mark.parametrize("around", SURROUNDINGS)
@pytest.mark.parametrize(("role", "text", "kinds"), STATED, ids=[text[:40] for _, text, _ in STATED])
def test_wherever_it_is_said(role: str, text: str, kinds: set[str], around: str) -> None:
    before, after = SURROUNDINGS[around]
    said = [*before, (role, text), *after]
    if around == "nothing":
        said = [(USER, "Hello"), (ASSISTANT, "Hello."), (role, text)]
    found = extract([Turn(who, what, AT, n + 1) for n, (who, what) in enumerate(said)]).items
    words = text.rstrip(".").split()[-3:]
    assert any(one.kind in kinds and " ".join(words) in f"{one.text} {one.detail}" for one in found), [
        (one.kind, one.text) for one in found
    ]


def test_a_cause_after_an_error_that_is_solved_is_of_another_one() -> None:
    said = (
        "the import script crashes",
        "ModuleNotFoundError: No module named 'yaml'. Installing pyyaml solved it.",
        "good. now the pool",
        "The root cause was a stale connection in the pool, so I set pool_pre_ping to True.",
        "thanks",
    )
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    first, second = [one for one in extract(turns).items if one.kind == ERROR]
    assert "pyyaml" in first.detail
    assert "stale connection" not in first.detail
    assert "stale connection" in second.text


def talk(*said: str) -> list[tuple[str, str]]:
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    return [(one.kind, one.text) for one in extract(turns).items]


@pytest.mark.parametrize(
    "said",
    [
        "I said date-fns, not moment!",
        "Use date-fns, not moment.",
        "no, use date-fns instead",
        "We don't use moment here, we use date-fns.",
        "Actually, let's use date-fns instead of moment.",
    ],
)
def test_what_is_wanted_instead_of_what_the_agent_has_named(said: str) -> None:
    ask, plan = "Add a date picker to the form.", "I'll add moment.js for the dates and write the component as a class."
    found = talk(ask, plan, said, "OK, done, the form has it now.")
    assert any(kind in {DECISION, PREFERENCE} and "date-fns" in text for kind, text in found), found
    assert not any(kind in {DECISION, PREFERENCE} and "moment.js" in text for kind, text in found), found


@pytest.mark.parametrize("said", ["No hace falta, solo era curiosidad", "Não tem iOS nos planos."])
def test_a_no_is_no_correction(said: str) -> None:
    found = talk(
        "¿y si hacemos una app de iOS?",
        "Hace falta una cuenta de Apple, y la app de iOS nos lleva dos semanas. ¿La empiezo?",
        said,
        "Vale.",
    )
    assert not any(kind in {DECISION, PREFERENCE} and said.rstrip(".")[:12] in text for kind, text in found), found


def test_advice_that_worked_is_not_left_to_do() -> None:
    found = talk(
        "offline the audio stops when I seek",
        "Safari asks for ranges and the cache answers with the whole file. You still need to add the RangeRequestsPlugin of Workbox to the route of the audio files.",
        "That was it! With the plugin it seeks offline too.",
        "Glad to hear it.",
    )
    assert not any(kind == TASK for kind, _ in found), found


def test_a_choice_by_a_number_in_words() -> None:
    found = talk(
        "two boats got the same berth",
        "Two ways:\n\n1. Lock the berth row around check and insert.\n2. An exclusion constraint in Postgres on the berth and the dates.",
        "Number two then, scripts bypass Rails all the time here.",
        "Good choice.",
    )
    assert any(kind == DECISION and "exclusion constraint" in text for kind, text in found), found
