"""Console transcripts of the documents: what is typed, and the lines that are printed."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# what differs from run to run: ids and commits (an id may look like a word), dates, hosts, folders
CHANGING = re.compile(
    r"\b(?:mem|got)-[0-9a-z]{26}\b|\b[0-9a-z]{8,16}\b|\bin [0-9a-f]{7}\b|\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]+Z)?|just now"
    r"|held by .*|version [0-9.]+|[^ ]*/shop/"
)
Steps = list[tuple[str, list[str]]]


def section(page: str, title: str) -> str:
    """Return what stands below a heading, up to the next heading of its level or above."""
    match = re.search(rf"^(#+) {re.escape(title)}$", page, re.MULTILINE)
    assert match is not None, title
    level = len(match[1])
    rest = page[match.end() :]
    end = re.search(
        rf"^#{{1,{level}}} ",
        re.sub(r"^```.*?^```", _blank, rest, flags=re.MULTILINE | re.DOTALL),
        re.MULTILINE,
    )
    return rest[: end.start()] if end else rest


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def steps(text: str) -> Steps:
    """Return each command of the console blocks, with the lines that it prints."""
    typed: Steps = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                typed.append((line[2:], []))
            else:
                typed[-1][1].append(line)
    return typed


def masked(line: str) -> str:
    """Return a line with a sign in place of what differs from run to run."""
    return CHANGING.sub("*", line.strip())


def play(typed: Sequence[str], folder: Path, env: Mapping[str, str]) -> list[list[str]]:
    """Type commands into one shell; return the lines that each printed, on either stream."""
    lines = [f"{command}\necho '<<>>'" for command in typed]
    done = subprocess.run(
        ["bash"],
        input="exec 2>&1\n" + "\n".join(lines),
        cwd=folder,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    printed = re.split(r"^<<>>\n", done.stdout, flags=re.MULTILINE)
    assert len(printed) == len(typed) + 1, done.stdout
    return [output.splitlines() for output in printed[:-1]]


def assert_as_printed(transcript: Steps, printed: Sequence[Sequence[str]]) -> None:
    """Each line of a transcript was printed by its command; `...` stands for more lines.

    Without it, a command of ours printed no other line.
    """
    for (command, expected), output in zip(transcript, printed, strict=True):
        shown = {masked(line) for line in expected if line != "..."}
        lines = set(map(masked, output))
        assert shown - lines == set(), f"{command}: {output}"
        if command.startswith("git mem ") and "..." not in expected:
            assert lines - shown - {""} == set(), f"{command}: {output}"
