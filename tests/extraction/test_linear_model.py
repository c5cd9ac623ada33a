"""The learned scores: a few sentences that no cue phrase knows, and that any text has scores."""

import zlib
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.extraction.classify.linear_model import (
    ADDS,
    BUCKETS,
    CLASSES,
    KEEPS,
    MOST,
    ROW,
    bucket,
    features,
    scores,
    weighed,
)
from gitmem.extraction.language.words import senses
from gitmem.records.items import CONTEXT, DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER

TEXTS = st.one_of(
    st.text(max_size=600),
    st.lists(
        st.sampled_from(["we", "用", "`x`", "1.2", "não", "?", "fails", "\0", "\ud800"]),
        max_size=400,
    ).map(" ".join),
)


@settings(deadline=None)
@given(TEXTS, st.sampled_from([USER, ASSISTANT]), st.sampled_from(["en", "pt", "es", "zh"]))
def test_any_text_has_scores_that_are_one_together(text: str, role: str, language: str) -> None:
    found = scores(text, role, language)
    assert set(found) == set(CLASSES)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert sum(found.values()) == pytest.approx(1.0)
    assert scores(text, role, language) == found


def test_the_file_of_weights_is_whole_and_small() -> None:
    data = resources.files("gitmem.extraction").joinpath("data", "linear_model.bin").read_bytes()
    assert len(data) < 600_000
    known, _, rows = zlib.decompress(data).partition(b"\0")
    assert len(rows) == (BUCKETS + 1) * ROW
    assert len(known.split()) > 1000


def test_features_are_bounded_and_in_range() -> None:
    found = features("word " * 5000, USER, "en", (), frozenset({"word"}))
    assert len(found) < MOST
    assert all(0 <= bucket(one) < BUCKETS for one in found)


@pytest.mark.parametrize(
    ("kind", "role", "language", "text"),
    [
        (
            ERROR,
            ASSISTANT,
            "en",
            "The exports came out empty because the cursor was already consumed by the count; reading it once fixed it.",
        ),
        (ERROR, ASSISTANT, "zh", "图片偶尔丢失的原因是缓存没有刷新，改为写入后立即失效就恢复了。"),
        (TASK, ASSISTANT, "en", "The migration guide for plugin authors hasn't been written yet."),
        (TASK, USER, "pt", "amanhã ainda falta escrever os testes do importador"),
        (
            DONE,
            ASSISTANT,
            "es",
            "He migrado el módulo de facturas a la nueva API y todas las pruebas pasan.",
        ),
        (
            DONE,
            ASSISTANT,
            "en",
            "Ported the report generator to the new template engine, all 31 tests pass.",
        ),
        (PREFERENCE, USER, "en", "I like my commits small, one change each, always"),
        (PREFERENCE, USER, "zh", "以后回复都用中文，不要用表格"),
        (DECISION, USER, "en", "we're dropping the XML export, JSON is enough for everyone"),
        (
            CONTEXT,
            ASSISTANT,
            "en",
            "Staging runs on Postgres 15 at `db-4:5433`, production is still on 13.",
        ),
        (PATTERN, USER, "en", "in this repo every endpoint gets an entry in routes.yml"),
        ("none", ASSISTANT, "en", "Let me look at the settings file first."),
        ("none", USER, "en", "what does that function return?"),
        ("none", ASSISTANT, "es", "Voy a revisar los registros del servidor."),
    ],
)
def test_how_people_usually_say_it(kind: str, role: str, language: str, text: str) -> None:
    found = scores(text, role, language)
    assert max(found, key=lambda one: found[one]) == kind


def test_what_the_rules_say_is_taken_back_where_it_is_unlikely_and_markers_stay() -> None:
    from gitmem.extraction.rules.sentence_rules import SentenceReading

    text = "Let me look at the settings file first."
    assert scores(text, ASSISTANT, "en")[DECISION] < KEEPS[DECISION]
    assert weighed(SentenceReading(DECISION, text, 0.8), text, ASSISTANT, "en") is None
    marked = SentenceReading(DECISION, text, 0.95, marker=True)
    assert weighed(marked, text, ASSISTANT, "en") is marked


def test_what_no_cue_knows_is_added_where_it_is_likely() -> None:
    text = "The migration guide for plugin authors hasn't been written yet."
    assert scores(text, ASSISTANT, "en")[TASK] >= ADDS[TASK]
    said = weighed(None, text, ASSISTANT, "en")
    assert said is not None
    assert said.kind == TASK
    assert weighed(None, text, ASSISTANT, "en", deep=False) is None


def test_words_of_all_languages_mean_alike() -> None:
    assert (
        senses(["from", "now", "on"], "en")
        == senses(["以", "后"], "zh")
        == senses(["de", "ahora", "en", "adelante"], "es")
        == ["futures"]
    )
    assert (
        senses(["decidimos"], "pt")
        == senses(["decidimos"], "es")
        == senses(["chose"], "en")
        == ["chose"]
    )
    assert senses(["zebra"], "en") == [""]
