"""The errors of tools that run, build and deploy: `tools/` has what they print for several causes."""

import pytest

from gitmem.fingerprint.fingerprint import Fingerprint, fingerprint
from tests.fingerprint.tool_cases import ROOT, Cause, Tool, read_tools

TOOLS = read_tools()
IDS = [tool.name for tool in TOOLS]
SIGNS = str.maketrans("‘’`", "'''")


def marked(output: str, tool: Tool) -> Fingerprint:
    mark = fingerprint(output, ROOT, tool.command)
    assert mark is not None
    return mark


def squashed(text: str) -> str:
    return " ".join(text.translate(SIGNS).split()).lower()


def test_there_are_many_tools() -> None:
    assert len(set(IDS)) == len(IDS) >= 130
    assert all(len(tool.causes) >= 2 for tool in TOOLS)


@pytest.mark.parametrize("tool", TOOLS, ids=IDS)
def test_the_title_has_the_cause_and_no_wrapper(tool: Tool) -> None:
    """What a task runner, a container or a build says of itself is not the error."""
    titles = {cause.said: marked(cause.output, tool).title for cause in tool.causes}

    for said, title in titles.items():
        assert squashed(said) in squashed(title)
        assert "/home/" not in title and "/Users/" not in title


@pytest.mark.parametrize("tool", TOOLS, ids=IDS)
def test_the_category_is_that_of_the_cause(tool: Tool) -> None:
    found = [cause._replace(category=marked(cause.output, tool).category) for cause in tool.causes]

    assert [_kind(cause) for cause in found] == [_kind(cause) for cause in tool.causes]


def _kind(cause: Cause) -> tuple[str, str]:
    return cause.said, cause.category


@pytest.mark.parametrize("tool", TOOLS, ids=IDS)
def test_two_causes_are_two_errors(tool: Tool) -> None:
    patterns = [marked(cause.output, tool).pattern for cause in tool.causes]

    assert len(set(patterns)) == len(patterns)


@pytest.mark.parametrize("tool", TOOLS, ids=IDS)
def test_a_cause_is_one_error_wherever_and_however_often_it_happens(tool: Tool) -> None:
    """Its numbers, paths, counts, times and ids vary."""
    first, again = marked(tool.causes[0].output, tool), marked(tool.again, tool)

    assert (first.pattern, first.category, first.severity) == (
        again.pattern,
        again.category,
        again.severity,
    )
