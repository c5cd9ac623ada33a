"""The phrases of each language: the form of their files, and what a phrase means."""

from collections.abc import Iterator

import pytest

from gitmem.extraction.extractor import extract
from gitmem.extraction.phrases import LANGUAGES, PhraseList, language_data, language_of, tokenized
from gitmem.records.items import KINDS
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"
STOP = frozenset("the a it to".split())
TEXTS = {"stop", "lead_in", "lead_in_bare"}
TYPES = {"fix_types", "dull_types", "other_types"}  # of commits, whatever their language
LISTS = {
    "guards": {
        *("question", "before", "anywhere", "reported", "writing", "pasted", "retract"),
        *("overrule", "correct", "now", "request", "announces", "back", "confirms", "instruction"),
        *("dropped", "nothing", "hearsay", "own", "after", "amend"),
    },
    "change": {
        *("drops", "drops_user", "gone", "moves", "move_ends", "points", "not", "stops"),
        *("chooses", "keeps", "becomes", "unsettled", "subjects", "closed"),
    },
    "headings": {*KINDS, "about_errors", "refused", "rejected", "options", "ends"},
    "commits": {"empty", "choice", "settles", "rule", "fix", "work"},
    "error": {"cause", "fix", "symptom", "not"},
    **{kind: {"any", "user", "agent", "not"} for kind in KINDS if kind != "error"},
}


def phrases(language: str) -> Iterator[tuple[str, str, str]]:
    """Yield (section, list, phrase) of a language."""
    for section in LISTS:
        for name, entries in language_data(language).data.get(section, {}).items():
            if name in TYPES:
                continue
            for phrase in entries:
                yield section, name, phrase


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_has_the_lists_that_are_read(language: str) -> None:
    data = language_data(language).data
    assert {*data, "change"} == {*TEXTS, "parts", "markers", *LISTS}  # Chinese has no changes
    assert all(isinstance(data[name], str) for name in TEXTS)
    assert set(data["markers"]) == {*KINDS, "fix", "reason"}
    for section, names in LISTS.items():
        assert set(data.get(section, {})) - TYPES <= names, section
        for name, entries in data.get(section, {}).items():
            if name in TYPES:
                assert isinstance(entries, str)
                continue
            assert isinstance(entries, list) and all(map(str, entries)), (section, name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_phrase_compiles_and_is_there_once(language: str) -> None:
    parts = language_data(language).data["parts"]
    every = list(phrases(language))
    assert len(set(every)) == len(every), [one for one in every if every.count(one) > 1]
    for _, _, phrase in every:
        PhraseList([phrase], parts)


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("we [have] (decided|agreed) to", "Today we have agreed to ship it early.", True),
        ("we [have] (decided|agreed) to", "We decided to", False),
        ("we [have] (decided|agreed) to", "We decided to the", False),
        ("{we} use * for", "We use one big Redis for sessions", True),
        ("{we} use * for", "We use one very big old Redis, for sessions", False),
        ("^ always", "Always lock rows", True),
        ("^ always", "It always locks rows", False),
        ("> never", "Locks are cheap, never skip them", True),
        ("^ ~ed the", "Moved the rows", True),
        ("^ ~ed the", "Move the rows", False),
        ("is done .", "The export of rows is done.", True),
        ("we decided to", 'He wrote "we decided to use tabs" there', False),
        ("we decided to", "`we decided to` use tabs", False),
    ],
)
def test_a_phrase(phrase: str, text: str, found: bool) -> None:
    one = PhraseList([phrase], {"we": "we|i"})
    assert (one.find(tokenized(text), STOP) is not None) is found


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We decided to keep it.", "en"),
        ("Decidimos que não vamos manter isso.", "pt"),
        ("Decidimos que no lo vamos a mantener.", "es"),
        ("我们决定保留它。", "zh"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


# -- what keeps a sentence out


def found(*said: str) -> list[str]:
    turns = [Turn(ASSISTANT if n % 2 else USER, text, AT, n + 1) for n, text in enumerate(said)]
    return [item.text for item in extract(turns).items]


@pytest.mark.parametrize(
    "said",
    [
        "Should we decide to use Redis for the queue?",
        "If we decided to use Redis, the queue would be faster.",
        "Maybe we decided to use Redis too early.",
        "We haven't decided to use Redis yet.",
        "The README says we decided to use Redis.",
        "According to Tom we decided to use Redis.",
        'The page has "we decided to use Redis" on it.',
        "> We decided to use Redis for the queue.",
        "```\nWe decided to use Redis for the queue.\n```",
        "This is from the wiki:\nWe decided to use Redis for the queue.",
        "My cousin's team is odd. In his old company we decided to use Redis.",
        "We decided to use Redis. Scratch that.",
        "¿Decidimos usar Redis para la cola?",
        "Se decidimos usar Redis, a fila fica mais rápida.",
        "我们还没决定用 Redis。",
    ],
)
def test_what_is_no_statement(said: str) -> None:
    assert found("hi", "Hello.", said, "OK.") == []


def test_a_pasted_text_is_not_what_its_user_says() -> None:
    page = "\n\n".join(
        f"We decided to use tool {n} for the job {n}. " + "x" * 90 for n in range(20)
    )
    said = f"Please sum this up.\n\n{page}\n\nFrom now on keep summaries short."
    assert found("hi", "Hello.", said, "OK.") == ["From now on keep summaries short."]


# -- what is the same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We decided to use Redis for orders.", "We decided to use Redis for users."),
        ("We decided to use Postgres for orders.", "We decided to use MySQL for users."),
        ("We decided to pin numpy to 1.26.", "We decided to pin pandas to 1.26."),
        ("Always run the tests on Python 3.11.", "Always run the tests on Python 3.12."),
        ("Always lock the row before a refund.", "Never lock the row before a payment."),
        ("We'll keep logs for 30 days in staging.", "We'll keep logs for 90 days in production."),
        ("We'll store dates in UTC in the API.", "We'll store dates in local time in reports."),
        ("We agreed to name branches by ticket.", "We agreed to name releases by date."),
        ("We'll put configs in /etc/app.", "We'll put logs in /var/log/app."),
        ("Decision: retry uploads three times", "Decision: retry downloads three times"),
    ],
)
def test_different_decisions_stay_different(one: str, other: str) -> None:
    assert len(found("hi", "Hello.", one, "OK.", other, "OK.")) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We decided to use Redis for orders.", "We've decided to use Redis for orders."),
        ("We decided to use Redis for orders.", "Decision: use Redis for the orders"),
        ("Let's go with Redis for orders.", "We'll use Kafka for orders instead of Redis."),
    ],
)
def test_what_is_said_again_or_replaced_is_one(one: str, other: str) -> None:
    assert len(found("hi", "Hello.", one, "OK.", other, "OK.")) == 1
