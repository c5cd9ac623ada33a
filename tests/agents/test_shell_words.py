"""The words of shell commands: as bash has them, and whether a command may write files at all."""

import subprocess
import sys
import time

import pytest

from gitmem.agents.shell_words import may_write, simple_commands
from gitmem.agents.shell_writes import NAMES, edited_names, writes

COMMANDS = [
    "echo a+b.py c:d,e@f%g s,a,b, x=1",
    r"""echo 'a b' "c \"d\" \$e \x" f\ g h'i'"j" '' "" \\ 'k>l' "&&" """,
    "echo one \\\n  two#three",
    'echo "a\\\nb"',
]


@pytest.mark.parametrize("command", COMMANDS)
def test_words_are_those_of_bash(command):
    """Quotes, escapes, and signs within words."""
    (words,) = simple_commands(command)
    said = subprocess.run(
        ["bash", "-c", command.replace("echo", "printf '%s\\0'", 1)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert words[1:] == said.stdout.split("\0")[:-1]


def test_operators():
    """They need no spaces; a number before a redirection is no word."""
    text = '(cd a;ls)|tee b&&cat<c>d 2>e 1>>f 2>&1;x>|y|&z "&&" 3 >g'
    assert list(simple_commands(text)) == [
        ["(", "cd", "a"],
        ["ls", ")"],
        ["tee", "b"],
        ["cat", "<", "c", ">", "d", "2>", "e", ">>", "f", "2>", "1"],
        ["x", ">|", "y"],
        ["z", "&&", "3", ">", "g"],
    ]
    assert (
        list(simple_commands("echo a; echo 'b"))
        == list(simple_commands('echo a; echo "b\\"'))
        == [["echo", "a"]]
    )
    assert [
        (write.path, write.text) for write in writes("echo hi > f 2>/dev/null; echo no 2> g")
    ] == [("f", "hi\n")]


def test_which_commands_may_write():
    """A program's name is a whole word; where only errors are joined or thrown away nothing is written."""
    for command in (
        "sed -i s/a/b/ c",
        "cd x;/bin/cp a b",
        "echo $(tee a)",
        "apply_patch <<'E'",
        "echo a>b",
        "x |tee y",
    ):
        assert may_write(command), command
    for command in (
        "curl tcp://host",
        "git commit -m used",
        "pytest mvn 2>&1 | tail",
        "ls steel 2>/dev/null",
        "perldoc x",
    ):
        assert not may_write(command), command


def test_thousands_of_names_take_no_time():
    """The first ones are returned, at once and without regular expressions."""
    command = "; ".join(f"sed -i s/a/b/ src/f{n}.py" for n in range(1000))
    started = time.process_time()
    assert len(edited_names(command)) == NAMES
    assert time.process_time() - started < 0.5
    code = (
        "import sys; from gitmem.agents.shell_writes import edited_names, writes\n"
        "edited_names('sed -i s/a/b/ c.py'); writes('echo a > b'); assert not {'re', 'shlex'} & sys.modules.keys()"
    )
    subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"], check=True
    )
