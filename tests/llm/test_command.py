"""A program as the model: real programs, what they do wrong, and that nothing of them stays."""

import json
import os
import stat
import time
from pathlib import Path

import pytest

from gitmem.llm.command import MOST, CommandModel
from gitmem.llm.provider import ModelFailed

WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@pytest.fixture
def program(tmp_path: Path) -> "Program":
    return Program(tmp_path)


class Program:
    """Makes a model of a shell script, in a folder whose name has a blank."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "my models"
        self.folder.mkdir()

    def __call__(
        self, script: str, *, timeout: float = 10.0, arguments: str = "", **env: str
    ) -> CommandModel:
        path = self.folder / "model.sh"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return CommandModel(
            f"'{path}' {arguments}",
            timeout,
            {"PATH": os.environ["PATH"], "HOME": str(self.folder), **env},
        )


def ask(model: CommandModel, text: str = "ready") -> dict[str, object]:
    """Ask the model for a word."""
    return model.ask("Say the word.", text, WORD)


def running(word: str) -> list[str]:
    """Return the processes whose command line holds a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if word in line:
            found.append(line)
    return found


def is_gone(word: str) -> bool:
    """Say whether no such process is left; the system buries what was killed in its own time."""
    end = time.monotonic() + 30
    while running(word) and time.monotonic() < end:
        time.sleep(0.02)
    return running(word) == []


def test_the_prompt_comes_on_standard_input(program: Program) -> None:
    """Instruction, schema, text, in this order; nothing of it on the command line."""
    model = program(
        'cat > "$HOME/in"; echo "$@" > "$HOME/args"; printf "%s" \'{"word": "ready"}\'',
        arguments="-m 'two words'",
    )

    assert ask(model, "the text of a session") == {"word": "ready"}
    prompt = (program.folder / "in").read_text()
    assert prompt.startswith("Say the word.")
    assert json.dumps(WORD) in prompt
    assert prompt.endswith("the text of a session\n")
    assert (program.folder / "args").read_text() == "-m two words\n"
    assert model.tokens > 0


@pytest.mark.parametrize(
    "answer",
    [
        '{"word": "ready"}',
        'Sure! Here it is:\n\n```json\n{"word": "ready"}\n```\nAnything else?',
        'I think {so}: {"word": "ready"} - done.',
        '{"thought": 1}\n{"word": "ready"}',
        '{"word": "ready", "more": [1, 2]}',
        '\ufeff{"word": "ready"}',
    ],
)
def test_the_json_is_found_in_what_is_printed(answer: str, program: Program) -> None:
    """Alone, in a fence, within prose, after another object."""
    (program.folder / "answer").write_text(answer, encoding="utf-8")

    assert ask(program('cat > /dev/null; cat "$HOME/answer"')) == {"word": "ready"}


def test_a_shell_reads_nothing_of_the_command_line(program: Program) -> None:
    """A `;` or `$( )` is an argument."""
    model = program(
        'echo "$@" > "$HOME/args"; echo \'{"word": "ready"}\'',
        arguments="'; touch $HOME/owned' $(id)",
    )

    ask(model)

    assert (program.folder / "args").read_text() == "; touch $HOME/owned $(id)\n"
    assert not (program.folder / "owned").exists()


def test_a_program_that_does_not_read_may_answer(program: Program) -> None:
    """A prompt larger than a pipe, and nobody who takes it."""
    assert ask(program('exec <&-; echo \'{"word": "ready"}\''), "x" * 3_000_000) == {
        "word": "ready"
    }


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "echo first >&2; echo 'no such model: x' >&2; exit 3",
            "ended with exit code 3: no such model: x",
        ),
        ("exit 1", "ended with exit code 1, and said nothing"),
        ("kill -9 $$", "by signal 9"),
        ("echo 'token=ghp_0123456789abcdefghijABCDEFGHIJ456789' >&2; exit 1", "[redacted"),
        ("yes", f"more than {MOST >> 20} MiB"),
        ("true", "answered nothing"),
        ("echo maybe", "no JSON object"),
    ],
)
def test_what_went_wrong_is_said(script: str, words: str, program: Program) -> None:
    """The exit code, and the last line that it wrote to stderr."""
    with pytest.raises(ModelFailed) as caught:
        ask(program(script))

    assert words in str(caught.value)
    assert "ghp_" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "is empty"),
        ("model 'unclosed", "cannot be read"),
        ("./model.sh", "another program in each folder"),
        ("bin/model", "another program in each folder"),
        ("no-such-program-anywhere", "cannot be started: No such file"),
        ("/", "cannot be started: Permission denied"),
    ],
)
def test_a_command_that_cannot_be_is_explained(command: str, words: str, tmp_path: Path) -> None:
    """Before or when it is started."""
    with pytest.raises(ModelFailed, match=words):
        ask(CommandModel(command, 5.0, {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}))


def test_the_time_out_ends_the_whole_group(program: Program) -> None:
    """A child in the background goes with it."""
    begun = time.monotonic()
    with pytest.raises(ModelFailed, match=r"did not answer in 0\.5 s") as caught:
        ask(program("sleep 61.5 & sleep 61.5", timeout=0.5))

    assert caught.value.kind == "timeout"
    assert time.monotonic() - begun < 5
    assert is_gone("sleep 61.5")


def test_what_a_program_leaves_running_is_ended(program: Program) -> None:
    """It answered and went; its child holds the pipe."""
    begun = time.monotonic()
    answer = ask(program('sleep 62.5 & echo \'{"word": "ready"}\''))

    assert answer == {"word": "ready"}
    assert time.monotonic() - begun < 5
    assert is_gone("sleep 62.5")


def test_it_does_not_run_in_the_repository(
    program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A relative name in its arguments is meant from the home folder, and git's variables are not handed on; hooks of ours are off in it."""
    monkeypatch.chdir(tmp_path)
    model = program(
        'pwd > "$HOME/where"; env > "$HOME/env"; echo \'{"word": "ready"}\'',
        GIT_DIR="/elsewhere/.git",
        LLM_KEY="kept",
    )

    ask(model)

    assert (program.folder / "where").read_text().strip() == os.path.realpath(program.folder)
    lines = (program.folder / "env").read_text().splitlines()
    assert "GITMEM=off" in lines
    assert "LLM_KEY=kept" in lines
    assert not [line for line in lines if line.startswith("GIT_")]
