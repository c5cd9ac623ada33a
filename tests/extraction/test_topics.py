"""What a session is about: names and rare words, not what is said everywhere."""

import pytest

from gitmem.extraction.topics import Topics


def topics(*turns: str) -> tuple[str, ...]:
    """Return the topics of turns of a user."""
    made = Topics()
    for text in turns:
        made.add(text, 2.0)
    return made.best()


@pytest.mark.parametrize(
    ("turns", "wanted", "unwanted"),
    [
        (
            (
                "First change the old file again, the importer fails.",
                "The importer reads Parquet now, thanks.",
            ),
            {"importer", "Parquet"},
            {"first", "file", "old", "again"},
        ),
        (
            (
                "Así es mejor, el importador falla otra vez.",
                "El importador ya lee Parquet, gracias.",
            ),
            {"importador", "Parquet"},
            {"así", "mejor", "vez"},
        ),
        (
            ("Mesmo assim o importador quebra toda vez.", "O importador já lê Parquet, valeu."),
            {"importador", "Parquet"},
            {"mesmo", "vez"},
        ),
        (
            ("导入器又出问题了，文件读不出来。", "导入器现在读 Parquet 了，谢谢。"),
            {"Parquet"},
            {"问题", "文件", "谢谢", "导入器"},
        ),
    ],
)
def test_what_is_said_everywhere_is_no_topic(
    turns: tuple[str, ...], wanted: set[str], unwanted: set[str]
) -> None:
    found = set(topics(*turns))
    assert wanted <= found
    assert not unwanted & {one.lower() for one in found}


def test_a_usual_name_is_a_topic_where_it_is_named() -> None:
    assert topics("We decided to use Postgres.") == ("Postgres",)


def test_two_words_that_stand_together_once_are_no_name() -> None:
    assert not any(
        " " in one for one in topics("The vendor eats bananas and sheet protectors rattle.")
    )
    assert "sheet protectors" in topics(
        "The sheet protectors are loud.", "Buy other sheet protectors."
    )


def test_nothing_said_is_about_nothing() -> None:
    assert topics("", "ok", "and then?") == ()


def test_a_beginning_is_no_name() -> None:
    lists = (
        "- First change\n- Second file\n- Time matters",
        "- First change\n- Second file\n- Time matters",
    )
    assert not {"First", "Second", "Time"} & set(topics(*lists))
    assert "Otra" not in topics("¿Otra vez falla?", "¿Otra vez?")


def test_a_usual_word_of_no_phrase_is_a_topic() -> None:
    assert "pasta" in topics("The pasta page needs a price.", "The pasta page is empty.")


def test_blanks_are_no_topic() -> None:
    assert all(one.strip() for one in topics("use `  ` and `   ` here", "use `  ` and `   ` there"))
