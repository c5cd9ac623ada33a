"""What says once more what was rejected, in other words; and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.model.again import claim, says_again

SAME = [
    ("Always run make lint before pushing", "Run make lint always before you push"), ("Use ruff for linting", "Ruff is used for linting"),
    ("The user prefers short answers", "The user wants answers to be short"), ("We decided to use Postgres for the orders store", "Postgres is what we use for the orders store"),
    ("Deploys go through the staging cluster first", "Deployments first go to the staging cluster"), ("Cache the parsed config between requests", "The parsed config should be cached between requests"),
    ("Commit messages are written in English", "Write commit messages in English"), ("Never push to main", "Don't push to main"),
    ("Sempre rodar os testes antes do push", "Rodar os testes sempre antes de fazer push"), ("提交前必须运行测试", "提交前必须先运行测试"), ("Use C++ for the parser", "The parser uses C++"),
    ("Ejecutar las pruebas antes de publicar", "Antes de publicar, ejecutar siempre las pruebas"), ("Retry failed uploads three times", "Failed uploads should be retried three times"),
    ("Avoid mocking the database in tests", "Tests should not mock the database"),
]  # fmt: skip
OTHER = [
    ("Use Postgres for the store", "Use MySQL for the store"), ("Never log request bodies in production", "Never log request headers in production"), ("Deploy on Fridays", "Never deploy on Fridays"),
    ("Set the timeout to 30s", "Set the timeout to 60s"), ("Use C++ for the parser", "Use C# for the parser"), ("Write tests for the parser before the code", "Write docs for the parser before the code"),
    ("Use ruff for linting", "Use ruff for formatting"), ("Use tabs", "Use tabs in Makefiles"), ("Confirm the release", "Configure the release"),
    ("Never log the full request bodies of the payments service in production", "Never log the full request headers of the payments service in production"),
    ("Use tabs instead of spaces", "Use spaces instead of tabs"), ("提交前必须运行测试", "提交前不要运行测试"), ("Deploy payments on Fridays", "Deploy payments on Fridays after QA approval"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_in_other_words(one: str, two: str) -> None:
    """Another order, another form of a word, words that say that it holds."""
    assert says_again(claim(one), claim(two)) and says_again(claim(two), claim(one))


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_another_claim(one: str, two: str) -> None:
    """Another choice, another number, a denial, a condition that makes it narrower."""
    assert not says_again(claim(one), claim(two)) and not says_again(claim(two), claim(one))


@given(
    st.lists(st.sampled_from("amber birch cedar delta ember fjord grove hazel inlet jade".split()), min_size=2, max_size=8, unique=True),
    st.randoms(use_true_random=False),
)
def test_order_and_frame_do_not_count_and_a_denial_does(words: list[str], order: object) -> None:
    """Whatever the words are."""
    other = list(words)
    order.shuffle(other)  # type: ignore[attr-defined]
    one, two = claim("We should " + " ".join(words)), claim("always the " + " ".join(other) + ".")
    assert says_again(one, two) and says_again(two, one)
    assert not says_again(claim("never " + " ".join(words)), one)
    assert not says_again(claim(" ".join(words) + " 12"), one)
