"""Commands as an agent types them: known again, proving that something passes, or only looking."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model import commands

PIECES = (
    "make test", "pytest -q", "cd app && ", "(cd app && ", "cd 'my app'; ", "pushd x && ", "A=1 ", 'B="x y" ', "export C=2 && ", "env ", "time ", "nice ",
    "timeout 5m ", "timeout -k 1 5 ", "stdbuf -oL ", " 2>&1", " >/dev/null", " &> /dev/null", " | tail -5", " | grep -E 'a|b'", " | tee log", " | head", " && ",
    " || true", "; ", "\n", "\\\n", " & ", ")", "(", " ", "'", '"', "\\", "$(date)", "`id`", "<<EOF", "é", "\x00", "\ud800", "ls", "git status", "npm install", "=", ">",
)  # fmt: skip
lines = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


# -- what is one and the same


@pytest.mark.parametrize(
    "typed",
    [
        "make test",
        "  make   test  ",
        "make test 2>&1",
        "make test 2>&1 | tail -40",
        "make test >/dev/null 2>&1",
        "make test | grep -E 'FAILED|ERROR' | head -3",
        "cd app && make test",
        "cd '/home/me/my app' && make test",
        "cd /x; make test",
        "(cd app && make test)",
        "CI=1 make test",
        'NAME="two words" make test',
        "export CI=1 && make test",
        "export CI=1; make test",
        "env CI=1 make test",
        "time make test",
        "timeout 300 make test",
        "timeout -k 5 300s make test",
        "cd app && CI=1 make test 2>&1 | tee log | tail -1",
        "CI=1 cd app && A=2 make test",
        "make \\\n test".replace("\\\n", "\n"),
    ],
)
def test_one_command_in_many_dresses(typed: str) -> None:
    """Where it runs, what is set for it and what shows its output make no other command of it."""
    assert "make test" == commands.key(typed)


@pytest.mark.parametrize(
    "other", ["make", "make tests", "make test && make lint", "make test > out.txt", "make test | python check.py", "make test || true"]
)
def test_another_command_is_another(other: str) -> None:
    """What does more, less or something else has a key of its own."""
    assert commands.key(other) != commands.key("make test")


@settings(max_examples=400, deadline=None)
@given(lines)
def test_key_of_a_key_is_itself(text: str) -> None:
    """It is short, one line, and stays as it is."""
    key = commands.key(text)
    assert commands.key(key) == key
    assert len(key) <= commands.LONGEST
    assert "\n" not in key


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab =|&;()'\"\\>"), min_size=380, max_size=440))
def test_key_of_a_key_is_itself_where_it_is_cut(text: str) -> None:
    """What is cut off at the limit may leave a new end."""
    key = commands.key("x" * 20 + text)
    assert commands.key(key) == key


# -- what proves that something passes


@pytest.mark.parametrize(
    "passed",
    [
        "make test",
        "make test 2>&1",
        "make test &> /dev/null",
        "cd app && make test",
        "cd app; make test",
        "export CI=1; make test",
        "CI=1 make test",
        "make test && echo done",
        "make test 'a;b|c&d'",
        'make test "a || b"',
        "make \\\n test",
    ],
)
def test_exit_code_of_its_own_proves(passed: str) -> None:
    """Nothing hides the exit code; signs in quotes hide none."""
    assert commands.proves(passed, "make test 2>&1 | tail")


@pytest.mark.parametrize(
    "passed",
    [
        "make test | tail",
        "make test || true",
        "make test; echo done",
        "make test &",
        "make test & wait",
        "make test\necho done",
        "set +e && make test",
        "make test |& cat",
    ],
)
def test_hidden_exit_code_proves_nothing(passed: str) -> None:
    """The code is that of another part, or of none."""
    assert not commands.proves(passed, "make test")


def test_the_very_command_proves() -> None:
    """It failed with this pipe, so the pipe lets a failure through (pipefail, or the last part's own code)."""
    assert commands.proves("make test  | tee log", "make test | tee log")


@settings(max_examples=200, deadline=None)
@given(lines)
def test_a_command_always_proves_itself(text: str) -> None:
    """Whatever it is, it failed in this form."""
    assert commands.proves(text, text)


# -- what only looks


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls -la src 2>/dev/null; cat a.py 2>&1 | head",
        "grep -rE 'foo|bar;baz' src",
        'rg "a > b" .',
        "git status && git diff",
        "git -C app log --oneline",
        "cd app && cat x.py",
        "A=1 printenv A",
        "python3 -c 'import os; print(os.environ)'",
        "pip list | grep -i tax",
        "(cd app && ls)",
        "node --version",
        "ls\npwd",
        "find . -name '*.py' \\\n | wc -l",
    ],
)
def test_only_looks(command: str) -> None:
    """It cannot be what helped."""
    assert commands.only_looks(command)


@pytest.mark.parametrize(
    "command",
    [
        "npm install",
        "ls && npm install",
        "ls\nnpm install",
        "ls & npm install",
        "cat a.py | xargs rm",
        "echo x > settings.ini",
        "echo 'rate = 1' >> .env",
        "sed -i s/a/b/ x.py",
        "export RATE=1",
        "RATE=1",
        "'./deploy.sh' now",
        "lsof",
        "docker compose up -d",
        "",
    ],
)
def test_may_have_helped(command: str) -> None:
    """It changes something, or may."""
    assert not commands.only_looks(command)


# -- the environment that is given


@pytest.mark.parametrize(
    ("command", "env"),
    [
        ("make", ""),
        ("A=1 make", "A=1"),
        ("cd x && A=1 B='2 3' make", "A=1 B='2 3'"),
        ("export A=1 && make", "export A=1"),
        ("make A=1", ""),
    ],
)
def test_given(command: str, env: str) -> None:
    """What is set before a command, not what is given to it."""
    assert commands.given(command) == env


# -- whatever comes


@settings(max_examples=300, deadline=None)
@given(lines, lines)
def test_nothing_is_too_odd(one: str, two: str) -> None:
    """Every text has an answer of the right type."""
    assert isinstance(commands.key(one), str)
    assert isinstance(commands.proves(one, two), bool)
    assert isinstance(commands.only_looks(one), bool)
    assert isinstance(commands.given(one), str)


@pytest.mark.parametrize(
    "piece",
    [
        "A=1 ", "A=", 'A="', "A='x", "cd x && ", "cd x", "cd 'x ", "(", "( ", " ", "\t\n", "| tail ", "| tail x;", "| grep ", ">", "> /dev/null ", "2>&1 ", "'", '"', "\\", '\\"',
        "\"'", "timeout -k ", "timeout -a -b ", "env ", "export ", "stdbuf -o ", "git -x ", "git -x y ", "&", "&&", ";", "x", "é", "ls\n", ")", " )", "set +", "x version ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", ";", "'", "zz"])
def test_huge_commands_are_read_at_once(piece: str, end: str) -> None:
    """100 kB of anything take milliseconds: no expression goes back and forth."""
    text = piece * (100_000 // len(piece)) + end
    began = time.process_time()
    commands.key(text)
    commands.proves(text, "make")
    commands.only_looks(text)
    commands.given(text)
    assert time.process_time() - began < 1.0
