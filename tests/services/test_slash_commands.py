"""Commands in what people and agents say: found where they are commands, and nowhere else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.services.work.slash_commands import MOST, called, commands, git_commands, story_in
from gitmem.services.work.workflow_table import shipped
from gitmem.state.workflow import WorkflowTable

KNOWN = WorkflowTable(shipped()).known
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,2}", fullmatch=True).filter(
    lambda name: name not in {"exit", "guide", "help", "status", "yolo"}
)
WORDS = st.text(
    st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x17F), min_size=1, max_size=8
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("*develop", ["develop"]),
        ("*develop docs/stories/4.2.md", ["develop docs/stories/4.2.md"]),
        ("first *validate-story-draft, then *develop.", ["validate-story-draft", "develop"]),
        ("Please run `*review-qa docs/a.md` now", ["review-qa"]),
        ("- *create-epic\n- *create-story", ["create-epic", "create-story"]),
        ("1. *create-epic", ["create-epic"]),
        ("> *develop", ["develop"]),
        ("* *develop", ["develop"]),
        ("“*develop”", ["develop"]),
        ("*my-own-command with words", ["my-own-command with words"]),
        ("this is *important* and *very important too*", []),
        ("*important* note", []),
        ("**bold** and ***both***", []),
        ("**develop", []),
        ("*develop import of static pages", ["develop import of static pages"]),
        ("2*x + 3*y", []),
        ("2 *x is bare", []),
        ("* item\n* another", []),
        ("*develop* is emphasis", []),
        ("def f(a, *args, **kwargs): pass", []),
        ("print(*args)", []),
        ("char *name, *other;", []),
        ("int *develop = 0;", []),
        ("ls *.py *_test.go", []),
        ("rm *develop/x", []),
        ("```\n*develop\n```", []),
        ("~~~sh\n*develop\n~~~\n*review-qa", ["review-qa"]),
        ("```\n*develop", []),
        ("`x = *develop`", []),
        ("a*develop", []),
        ("*Develop it", []),
        ("*help", []),
        ("\\*develop", []),
        ("*develop and *review-qa and 2*x", ["develop", "review-qa"]),
        ("/review the last change", ["review the last change"]),
        ("/story:develop docs/a.md", ["develop docs/a.md"]),
        ("/compact", []),
        ("/tmp/x is full", []),
        ("see /review", []),
        ("", []),
    ],
)
def test_examples(text: str, found: list[str]) -> None:
    """Each of these texts holds these commands."""
    assert commands(text, KNOWN) == found


def test_an_agents_slash_is_no_command() -> None:
    """What an agent writes begins with a slash by chance."""
    assert commands("/review it", KNOWN, spoken_by_user=False) == []


@given(NAMES, st.lists(WORDS, max_size=4))
def test_a_command_that_begins_a_line_is_found(name: str, rest: list[str]) -> None:
    """Whatever it is called, and whatever words follow."""
    assert commands(" ".join([f"*{name}", *rest]), KNOWN) == [" ".join([name, *rest])]


@given(st.lists(NAMES, min_size=1, max_size=4))
def test_emphasis_is_none(words: list[str]) -> None:
    """One star before and one behind, one word or many."""
    assert commands(f"this is *{' '.join(words)}* indeed", KNOWN) == []
    assert commands(f"*{' '.join(words)}*", KNOWN) == []


@given(st.text(st.characters(categories=["Nd"], max_codepoint=0x7F), min_size=1), NAMES)
def test_products_are_none(number: str, name: str) -> None:
    """A star between two things multiplies them."""
    assert commands(f"{number}*{name}", KNOWN) == []


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    """Nothing breaks it; what it finds is in the text, and is no more than so many."""
    found = commands(text, KNOWN)
    assert len(found) <= MOST
    assert all(one.partition(" ")[0] in text for one in found)


@given(
    st.lists(
        st.sampled_from(
            [
                "*develop",
                "*x*",
                "`",
                "```",
                "\n",
                " ",
                "2*",
                "*",
                "**",
                "/a",
                "{",
                ";",
                "word",
                "*a-b ",
            ]
        ),
        max_size=40,
    )
)
def test_hostile_texts_end(parts: list[str]) -> None:
    """Stars, quotes and fences in any order."""
    commands("".join(parts), KNOWN)


def test_long_texts_are_quick() -> None:
    """A megabyte of stars costs no more than its beginning."""
    import time

    begun = time.process_time()
    for text in ("*a" * 500_000, "* " * 500_000, "*a b" * 250_000, "`*" * 500_000):
        commands(text, KNOWN)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("git add -A && git commit -m 'x'", ["git add", "git commit"]),
        ("cd a; git -C b push origin main", ["git push"]),
        ("git --no-pager commit", ["git commit"]),
        ("git -c user.name=x commit -m y", ["git commit"]),
        ("git status", []),
        ("git add-thing", []),
        ("echo git commit", []),
        ("digit add", []),
        ("git mem add x", []),
        ("git push; git push", ["git push"]),
    ],
)
def test_git_commands(line: str, found: list[str]) -> None:
    """Those that move work along, as the shell would run them."""
    assert git_commands(line) == found


def test_story_and_agent() -> None:
    """A command may name its story; a prompt may begin with an agent."""
    assert story_in("develop docs/stories/4.2.md yolo") == "docs/stories/4.2.md"
    assert story_in("develop now") == ""
    assert (called("@qa please"), called("@src/x.py"), called("mail a@qa")) == ("qa", "", "")


@pytest.mark.parametrize(
    ("find", "text"),
    [
        (git_commands, "git " + "-c " * 60 + "x"),
        (git_commands, "git " + "--no-pager -c a=b " * 900),
        (commands, "*a " * 6600),
        (commands, "*a b" * 5000),
    ],
)
def test_no_text_takes_long(find, text) -> None:
    """A hook reads these: what an agent runs or says must not hold it up."""
    begun = time.process_time()
    find(text)
    assert time.process_time() - begun < 0.5


def test_options_of_git_before_its_command() -> None:
    """With their values or without."""
    assert git_commands(
        "git -C sub -c a=b --no-pager commit -m x && git --git-dir=.git -p push"
    ) == ["git commit", "git push"]
