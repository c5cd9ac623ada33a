"""Commands as an agent types them: known again, proving that something passes, or only looking."""

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.text import shell
from tests.scale import scaled

PIECES = (
    "make test",
    "pytest -q",
    "cd app && ",
    "(cd app && ",
    "cd 'my app'; ",
    "pushd x && ",
    "A=1 ",
    'B="x y" ',
    "export C=2 && ",
    "env ",
    "time ",
    "nice ",
    "timeout 5m ",
    "timeout -k 1 5 ",
    "stdbuf -oL ",
    " 2>&1",
    " >/dev/null",
    " &> /dev/null",
    " | tail -5",
    " | grep -E 'a|b'",
    " | tee log",
    " | head",
    " && ",
    " || true",
    "; ",
    "\n",
    "\\\n",
    " & ",
    ")",
    "(",
    " ",
    "'",
    '"',
    "\\",
    "$(date)",
    "`id`",
    "<<EOF",
    "é",
    "\x00",
    "\ud800",
    "ls",
    "git status",
    "npm install",
    "=",
    ">",
)
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
        "CI=1 make test",
        'NAME="two words" make test',
        "export CI=1 && make test",
        "export CI=1; make test",
        "env CI=1 make test",
        "time make test",
        "timeout 300 make test",
        "timeout -k 5 300s make test",
        "CI=1 make test 2>&1 | tee log | tail -1",
        "make test -q",
        "PYTHONPATH=. \\\n make test",
        "A=$(cat x y) make test",
        "env -i A=1 make test",
        "cd . && make test",
        "cd /r; make test",
        "make \\\n test",
    ],
)
def test_one_command_in_many_dresses(typed: str) -> None:
    """What is set for it, what it is wrapped in and what shows its output make no other command of it."""
    assert "/r\nmake test" == shell.key(typed, "/r")


@pytest.mark.parametrize(
    "other",
    [
        "make",
        "make tests",
        "make test && make lint",
        "make test > out.txt",
        "make test | python check.py",
        "make test || true",
        "cd app && make test",
        "(cd app && make test)",
    ],
)
def test_another_command_is_another(other: str) -> None:
    """What does more, less or something else, or does it elsewhere, has a key of its own."""
    assert shell.key(other, "/r") != shell.key("make test", "/r")


def test_folder_is_followed() -> None:
    """It is the one in which the command runs."""
    keys = {
        shell.key(typed, "/r")
        for typed in (
            "cd app && make",
            "cd /r/app; make",
            "(cd app && make)",
            "cd 'app' && CI=1 make",
            "cd x && cd ../app && make",
        )
    }
    assert {"/r/app\nmake"} == keys


# -- what proves that something passes


@pytest.mark.parametrize(
    "passed",
    [
        "make test",
        "make test 2>&1",
        "make test &> /dev/null",
        "cd . ; make test",
        "export CI=1; make test",
        "CI=1 make test",
        "make test && echo done",
        "make lint && make test",
        "echo start; make test",
        "make \\\n test",
        "set -o pipefail; make test | tail",
        "make test -q",
    ],
)
def test_exit_code_of_its_own_proves(passed: str) -> None:
    """Nothing hides the exit code."""
    assert "/r\nmake test" in shell.proven(passed, "/r")


@pytest.mark.parametrize(
    "passed",
    [
        "make test | tail",
        "make test || true",
        "make test; echo done",
        "make test &",
        "make test & wait",
        "make test\necho done",
        "make test |& cat",
        "cd app && make test",
        "if make test; then echo; fi",
        "! make test",
        "echo 'make test'",
        "bash -c 'make test; true'",
        "make test; true",
        "for i in 1; do make test; done",
        "true # && make test",
        "make test; cd ..",
        "make test; cd .. && ls",
        "make test || cd x",
        "grep pipefail x; make test | tail",
        "set +o pipefail; make test | tail",
        "f() (make test)",
        "cat <<EOF\nmake test\nEOF",
        "(cd app && ls) && make test",
    ],
)
def test_hidden_exit_code_proves_nothing(passed: str) -> None:
    """The code is that of another part, of another command, or of none."""
    assert "/r\nmake test" not in shell.proven(passed, "/r")


def test_typed_alike() -> None:
    """The very command that failed has shown that it can."""
    assert shell.same("make test  | tee log", " make test | tee log")
    assert not shell.same("make test", "make test | tee log")


# -- what may have helped


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("npm install", ["npm install"]),
        ("rm -rf node_modules && npm ci", ["rm -rf node_modules", "npm ci"]),
        (
            "cd app && pip install -r requirements.txt 2>&1 | tail -1",
            ["pip install -r requirements.txt 2>&1"],
        ),
        ("docker compose up -d db", ["docker compose up -d db"]),
        ("sudo apt-get install -y libpq-dev", ["sudo apt-get install -y libpq-dev"]),
        ("export RATE=1", ["export RATE=1"]),
        ("source .venv/bin/activate", ["source .venv/bin/activate"]),
        ("cp .env.example .env", ["cp .env.example .env"]),
        ("python manage.py migrate", ["python manage.py migrate"]),
        ("make setup", ["make setup"]),
        ("pytest tests/test_a.py", []),
        ("mkdir out", []),
        ("cargo fmt", []),
        ("git stash", []),
        ("npm run lint", []),
        ("sed -i s/a/b/ x.py", []),
        ("cat > x.py <<'EOF'\nnpm_install = 1\nEOF", []),
        ("echo npm install", []),
        ("", []),
    ],
)
def test_helping(command: str, parts: list[str]) -> None:
    """What sets up, starts, cleans or configures; most commands that pass have nothing to do with it."""
    assert parts == shell.helping(command)


# -- what only looks


@pytest.mark.parametrize(
    "command",
    [
        "ls",
        "ls -la src 2>/dev/null; cat a.py 2>&1 | head",
        "grep -rE 'foo|bar;baz' src",
        'rg "a > b" .',
        "cd app && cat x.py",
        "(cd app && ls)",
        "ls\npwd",
        "git mem show x",
        "git-mem list",
    ],
)
def test_only_looks(command: str) -> None:
    """That it fails tells nothing about the project."""
    assert shell.only_looks(command)


@pytest.mark.parametrize(
    "command",
    [
        "npm install",
        "ls && npm install",
        "ls\nnpm install",
        "cat a.py | xargs rm",
        "make",
        "git push",
        "lsof",
        "catch me",
        "",
    ],
)
def test_does_more_than_look(command: str) -> None:
    """It may fail for a reason."""
    assert not shell.only_looks(command)


# -- the environment that is given


@pytest.mark.parametrize(
    ("command", "env"),
    [
        ("make", ""),
        ("A=1 make", "A=1"),
        ("cd x && A=1 B='2 3' make", "A=1 B='2 3'"),
        ("export A=1 && make", "A=1"),
        ("make A=1", ""),
        ("time make", ""),
        ("timeout 5 make", ""),
        ("env -i A=1 make", "A=1"),
    ],
)
def test_environment(command: str, env: str) -> None:
    """What is set before a command, not what is given to it, nor what it is wrapped in."""
    assert shell.environment(command)[0] == env


# -- whatever comes


@settings(max_examples=scaled(300, 75), deadline=None)
@given(lines)
def test_nothing_is_too_odd(text: str) -> None:
    """Every text has an answer of the right type, and what hides codes proves nothing."""
    assert isinstance(shell.key(text, "/r"), str)
    assert isinstance(shell.only_looks(text), bool)
    assert isinstance(shell.environment(text), tuple)
    assert all(isinstance(part, str) for part in shell.helping(text))
    assert (
        "/r\nmake check" not in shell.proven(f"make check | cat {text}", "/r") or "pipefail" in text
    )


@pytest.mark.parametrize(
    "piece",
    [
        "A=1 ",
        "A=",
        'A="',
        "A='x",
        "cd x && ",
        "cd x",
        "cd 'x ",
        "(",
        "( ",
        " ",
        "\t\n",
        "| tail ",
        "| tail x;",
        "| grep ",
        ">",
        "> /dev/null ",
        "2>&1 ",
        "'",
        '"',
        "\\",
        '\\"',
        "\"'",
        "timeout -k ",
        "-k ",
        "-a ",
        "timeout -a -b ",
        "env ",
        "export ",
        "stdbuf -o ",
        "git -x ",
        "git -x y ",
        "&",
        "&&",
        ";",
        "x",
        "é",
        "ls\n",
        ")",
        " )",
        "set +",
        "x version ",
    ],
)
def test_huge_commands_are_read_at_once(piece: str) -> None:
    """100 kB of anything take milliseconds: no expression goes back and forth."""
    for before, end in itertools.product(
        ("", "timeout ", "docker compose ", "npm "), ("", ";", "'", "zz")
    ):
        text = before + piece * (100_000 // len(piece)) + end
        began = time.process_time()
        shell.key(text, "/r")
        shell.proven(text)
        shell.only_looks(text)
        shell.environment(text)
        shell.helping(text)
        assert time.process_time() - began < 1.0, (before, end)
