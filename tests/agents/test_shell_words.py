"""The words of shell commands: as bash has them, and whether a command may write files at all."""

import subprocess
import sys
import time

import pytest

from gitmem.agents.shell_reads import read_names
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


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("cd a && cd b && cat y.py", ["a/b/y.py"]),
        ("cd a; cd /b && head -n 3 y.py /z.py", ["/b/3", "/b/y.py", "/z.py"]),
        ("cd a 2>/dev/null || exit; cat y.py", ["a/y.py"]),
        ("(cd sub && cat a.py)", ["sub/a.py"]),
        ("(cd sub && cat a.py); cat b.py", ["sub/a.py", "b.py"]),
        (
            "cd a && (cd b; (cd c; cat d.py); cat e.py) | tail f.py",
            ["a/b/c/d.py", "a/b/e.py", "a/f.py"],
        ),
        ("cat a.py; cd -; cat b.py; cat /c.py", ["a.py", "/c.py"]),
        ("(pushd x; cat a.py) && cat b.py", ["b.py"]),
        ("pushd x >/dev/null && cat a.py; popd; cat b.py", []),
        ("cd $HOME && cat a.py", []),
        ("cd && cat a.py", []),
        ("cat > src/pay.py <<E\nit isn't shown\ncat b.py\nE\ncat c.py", ["c.py"]),
        ("cat a.py > out.py 2>> err.txt; cat <in.py >|out.py &> x", ["a.py", "in.py"]),
        ("sed -n 1,5p a.py 2>&1 | cat -", ["1,5p", "a.py"]),
    ],
)
def test_which_files_a_command_shows(command: str, names: list[str]):
    """In the folder that the shell is in by then; what is written is not shown."""
    assert read_names(command) == names


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
