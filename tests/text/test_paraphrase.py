"""What says once more what was rejected, in other words; and what only looks like it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.text.paraphrase import Refused, claim, says_again

SAME = [
    ("Always run make lint before pushing", "Run make lint always before you push"),
    ("Use ruff for linting", "Ruff is used for linting"),
    (
        "We decided to use Postgres for the orders store",
        "Postgres is what we use for the orders store",
    ),
    ("Never push to main", "Don’t push to main"),
    (
        "Cache the parsed config between requests",
        "The parsed config should be cached between requests",
    ),
    ("Commit messages are written in English", "Write commit messages in English"),
    ("Never push to main", "Don't push to main"),
    ("You cannot push to main", "You can't push to main"),
    ("Retry failed uploads three times", "Failed uploads should be retried three times"),
    ("Sempre rodar os testes antes do push", "Rodar os testes sempre antes de fazer push"),
    ("Ejecutar las pruebas antes de publicar", "Antes de publicar, ejecutar siempre las pruebas"),
    ("提交前必须运行测试", "我们提交前必须运行测试。"),
    ("Use black, isort and mypy", "Use mypy, black and isort"),
    ("Write everything in Go and Python", "Write everything in Python and Go"),
    ("Before a release, run the tests", "Run the tests before a release"),
    ("Avoid mocking the database in tests", "Never mock the database in tests"),
    ("The user table must never be truncated", "You must never truncate the user table"),
    ("The cache has to be cleared after a deploy", "The cache must be cleared after a deploy"),
]
OTHER = [
    ("Use Postgres for the store", "Use MySQL for the store"),
    ("Never log request bodies in production", "Never log request headers in production"),
    ("Deploy on Fridays", "Never deploy on Fridays"),
    ("Set the timeout to 30s", "Set the timeout to 60s"),
    ("Use C++ for the parser", "Use C# for the parser"),
    ("Write tests for the parser before the code", "Write docs for the parser before the code"),
    ("Use ruff for linting", "Use ruff for formatting"),
    ("Use tabs", "Use tabs in Makefiles"),
    ("Confirm the release", "Configure the release"),
    (
        "Never log the full request bodies of the payments service in production",
        "Never log the full request headers of the payments service in production",
    ),
    ("Use tabs instead of spaces", "Use spaces instead of tabs"),
    ("提交前必须运行测试", "提交前不要运行测试"),
    ("Deploy payments on Fridays", "Deploy payments on Fridays after QA approval"),
    ("Prefer composition over inheritance", "Prefer inheritance over composition"),
    ("Run the linter before the tests", "Run the tests before the linter"),
    ("Merge main into release", "Merge release into main"),
    ("Copy staging data to production nightly", "Copy production data to staging nightly"),
    (
        "The billing service calls the orders service",
        "The orders service calls the billing service",
    ),
    (
        "The billing service is called by the orders service",
        "The orders service is called by the billing service",
    ),
    ("Never deploy without review", "Never deploy with review"),
    ("Never commit without running tests", "Commit without running tests"),
    ("Only admins delete users", "Admins delete users"),
    ("先测试后部署", "先部署后测试"),
    ("从 Postgres 迁移到 MySQL", "从 MySQL 迁移到 Postgres"),
    ("Workers may use the cache", "Workers must use the cache"),
    ("You may use tabs", "You must use tabs"),
    ("Only admins can delete users", "Admins can only delete users"),
    ("Users can delete posts", "Users can't delete posts"),
    ("Do not always run the slow tests", "Do not run the slow tests"),
    ("Copy from staging to production", "Copy to staging from production"),
    ("Use tabs but not spaces", "Use spaces but not tabs"),
    ("Use not tabs but spaces", "Use tabs but not spaces"),
    ("We commit and push", "We push and commit"),
    ("First lint, then test", "First test, then lint"),
    (
        "Deploy the payments service to production on Fridays",
        "Deploy the payments service to production on Fridays after approval",
    ),
    ("Cache files that should be deleted", "Cached files should be deleted"),
    ("We test, you deploy", "You test, we deploy"),
    ("They test and we deploy", "We test and they deploy"),
    ("Use tabs or spaces", "Use tabs and spaces"),
    ("Keep the legacy API", "Drop the legacy API"),
    ("Use A for B and C for D", "Use A for C and B for D"),
    ("Before the tests, run the linter", "Before the linter, run the tests"),
    ("Migrar de Postgres para MySQL", "Migrar de MySQL para Postgres"),
    ("Nunca publicar sin revisión", "Nunca publicar con revisión"),
    ("Log every request", "Do not log every request"),
    ("Users should log in", "Users may log in"),
    ("We used to use Redis", "We use Redis"),
    ("Never not retry", "Never retry"),
    ("Just admins delete users", "Admins delete users"),
    ("Use this, not that", "Use that, not this"),
    ("Use red and green for errors and successes", "Use green and red for errors and successes"),
    ("Nothing is cached", "Cache everything"),
    ("Deploy here", "Deploy there"),
    ("Show the time to users", "Show users"),
    ("Reject signed requests", "Signed requests are not rejected"),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_the_same_in_other_words(one: str, two: str) -> None:
    """Another form of a word, a demand said as what is to be done to something, words that say that it holds, a list in another order."""
    assert says_again(claim(one), claim(two)) and says_again(claim(two), claim(one))
    assert Refused(["Something else", one]).find(two) and Refused([two]).find(one)


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_another_claim(one: str, two: str) -> None:
    """Another choice, order, direction, number, a denial more or less, a condition, who may and who must."""
    assert not says_again(claim(one), claim(two)) and not says_again(claim(two), claim(one))
    assert not Refused([one]).find(two) and not Refused([two]).find(one)


WORDS = st.lists(
    st.sampled_from("amber birch cedar delta ember fjord grove hazel inlet jade".split()),
    min_size=2,
    max_size=8,
    unique=True,
)


@given(WORDS, st.randoms(use_true_random=False))
def test_order_and_denials_count_and_the_frame_does_not(words: list[str], order: object) -> None:
    """Whatever the words are; of a bare list alone the order does not count."""
    other = list(words)
    order.shuffle(other)  # type: ignore[attr-defined]
    one, two = claim("We should " + " ".join(words)), claim("always the " + " ".join(other) + ".")
    assert says_again(one, two) == says_again(two, one) == (words == other)
    assert not says_again(claim("never " + " ".join(words)), one)
    assert not says_again(claim(" ".join(words) + " 12"), one)
    assert says_again(claim("Use " + ", ".join(words)), claim("We use " + " and ".join(other)))


def test_thousands_of_rejections_are_no_burden() -> None:
    """A text is compared with few of them."""
    many = [
        f"Serve town{n} from the {'north' if n % 2 else 'south'} cluster{n * 7} and keep log{n}"
        for n in range(4000)
    ]
    began = time.process_time()
    refused = Refused(many)
    assert not any(
        refused.find(f"Serve place{n} from cluster{n}, never from town{n}") for n in range(200)
    )
    assert refused.find("Town42 should be served from the south cluster294 and keep log42")
    assert not refused.find("Town42 should be served from the north cluster294 and keep log42")
    assert refused.find(many[-1].upper()) and time.process_time() - began < 3
