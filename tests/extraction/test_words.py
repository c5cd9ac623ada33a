"""Which language a text is in: by its own words, not by code, and not by one word that two languages share."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.extraction.extractor import extract
from gitmem.extraction.language.cue_phrases import LANGUAGES
from gitmem.extraction.language.words import content, language, stem
from gitmem.transcripts.reader import read

SHORT = {
    "en": (
        "no need",
        "No, I can't open Outlook here.",
        "Will do.",
        "Agreed, no overlay widget.",
        "what if they say no",
        "nah. error message",
    ),
    "pt": (
        "Vou gravar cada evento numa tabela `events` e devolver 200 logo.",
        "gostei, faz assim",
        "tem como ser no nginx?",
        "boa. abre issue disso",
        "Muito melhor. E nuvem?",
    ),
    "es": (
        "Prefiero respuestas cortas.",
        "Vale, da igual",
        "Suena a zona horaria. Voy a ver cómo se asigna la fecha.",
        "ah vale. o sea que no se pierde nada",
        "De acuerdo, se queda el cifrado por defecto.",
    ),
    "zh": (
        "改 parts_to_throw_insert 到 3000 行不行",
        "那先在 ssh 里加 `-o ServerAliveInterval=30` 试试。",
        "论文里 batch 是16 我这开 16 就爆显存 torch.cuda.OutOfMemoryError: CUDA out of memory.",
    ),
}


@pytest.mark.parametrize(
    ("known", "text"), [(one, text) for one, texts in SHORT.items() for text in texts]
)
def test_what_is_short_stays_in_its_language(known: str, text: str) -> None:
    assert language(text, known) == known


@pytest.mark.parametrize(
    ("before", "known", "text"),
    [
        ("en", "es", "Prefiero respuestas cortas."),
        ("en", "pt", "Decidimos usar o Redis, porque os dados cabem na memória."),
        ("es", "en", "We decided to keep the cron job."),
        ("pt", "es", "Decidimos usar Redis, porque los datos caben en la memoria."),
        ("en", "zh", "我们决定使用 PostgreSQL。"),
        ("zh", "en", "Now the tests pass and the docs are done."),
    ],
)
def test_people_may_change_it(before: str, known: str, text: str) -> None:
    assert language(text, before) == known


@pytest.mark.parametrize("before", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["", "ok", "3.8.2", "```\nfor all of the words in this\n```", "`and the of to`", "👍"]
)
def test_what_tells_nothing_changes_nothing(before: str, text: str) -> None:
    assert language(text, before) == before


@given(st.text(max_size=60), st.sampled_from(LANGUAGES))
def test_any_text(text: str, before: str) -> None:
    assert language(text, before) in LANGUAGES
    assert all(content(text, before))  # no word is empty


def test_a_wish_in_another_language_is_heard() -> None:
    chat = "User: The export is slow, can you look at it?\nAgent: It reads all rows at once; I stream them now.\nUser: Prefiero respuestas cortas.\nAgent: De acuerdo.\n"
    found = extract(read(io.BytesIO(chat.encode()), "chat.txt"))
    assert [(one.kind, one.text) for one in found.items if one.kind == "preference"] == [
        ("preference", "Prefiero respuestas cortas.")
    ]


@pytest.mark.parametrize(
    ("word", "of", "stemmed"),
    [
        ("invalidations", "en", "invalid"),
        ("decisões", "pt", "decisõ"),
        ("decisiones", "es", "decision"),
        ("utf8", "en", "utf8"),
        ("缓存", "zh", "缓存"),
    ],
)
def test_stems(word: str, of: str, stemmed: str) -> None:
    assert stem(word, of) == stemmed
