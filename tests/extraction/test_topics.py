"""What a session is about: names and rare words, not what is said everywhere."""

import pytest

from gitmem.extraction.topics import Topics


def topics(language: str, *turns: str) -> tuple[str, ...]:
    """Return the topics of turns of a user."""
    made = Topics()
    for text in turns:
        made.add(text, language, 2.0)
    return made.best()


@pytest.mark.parametrize(
    ("language", "turns", "wanted", "unwanted"),
    [
        (
            "en",
            (
                "First change the old file again, the importer fails.",
                "The importer reads Parquet now, thanks.",
            ),
            {"importer", "Parquet"},
            {"first", "file", "old", "again"},
        ),
        (
            "es",
            (
                "Así es mejor, el importador falla otra vez.",
                "El importador ya lee Parquet, gracias.",
            ),
            {"importador", "Parquet"},
            {"así", "mejor", "vez"},
        ),
        (
            "pt",
            ("Mesmo assim o importador quebra toda vez.", "O importador já lê Parquet, valeu."),
            {"importador", "Parquet"},
            {"mesmo", "vez"},
        ),
        (
            "zh",
            ("导入器又出问题了，文件读不出来。", "导入器现在读 Parquet 了，谢谢。"),
            {"导入器"},
            {"问题", "文件", "谢谢", "导入", "入器"},
        ),
    ],
)
def test_what_is_said_everywhere_is_no_topic(
    language: str, turns: tuple[str, ...], wanted: set[str], unwanted: set[str]
) -> None:
    found = set(topics(language, *turns))
    assert wanted <= found
    assert not unwanted & {one.lower() for one in found}


def test_a_usual_name_is_a_topic_where_it_is_named() -> None:
    assert topics("en", "We decided to use Postgres.") == ("Postgres",)


def test_two_words_that_stand_together_once_are_no_name() -> None:
    assert not any(
        " " in one for one in topics("en", "The vendor eats bananas and sheet protectors rattle.")
    )
    assert "sheet protectors" in topics(
        "en", "The sheet protectors are loud.", "Buy other sheet protectors."
    )


def test_nothing_said_is_about_nothing() -> None:
    assert topics("en", "", "ok", "and then?") == ()


def test_a_beginning_is_no_name() -> None:
    lists = (
        "- First change\n- Second file\n- Time matters",
        "- First change\n- Second file\n- Time matters",
    )
    assert not {"First", "Second", "Time"} & set(topics("en", *lists))
    assert "Otra" not in topics("es", "¿Otra vez falla?", "¿Otra vez?")


def test_words_are_usual_by_language() -> None:
    assert "pasta" in topics("en", "The pasta page needs a price.", "The pasta page is empty.")


def test_blanks_are_no_topic() -> None:
    assert all(
        one.strip() for one in topics("en", "use `  ` and `   ` here", "use `  ` and `   ` there")
    )
