"""Whatever JSON people write: our hooks get in, nothing else changes, and the bytes come back."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.cli.main import run
from tests.install.conftest import with_ours
from tests.scale import scaled

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
COMMANDS = st.one_of(
    TEXT,
    st.sampled_from(["say hi", "git-mem hook gemini", "git-mem list", "my-git-mem hook claudette"]),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=8,
)
HANDLERS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": COMMANDS},
    optional={"timeout": st.integers(1, 99), "x": JUNK},
)
GROUPS = st.one_of(
    st.fixed_dictionaries(
        {"hooks": st.lists(HANDLERS, max_size=3)},
        optional={"matcher": st.sampled_from(["Bash", "*", ""])},
    ),
    JUNK,
)
EVENTS = st.sampled_from(
    ["SessionStart", "Stop", "PreToolUse", "SessionEnd", "Notification", "Other"]
)
HOOKS = st.dictionaries(EVENTS, st.lists(GROUPS, max_size=3), max_size=4)
DOCUMENTS = st.builds(
    lambda rest, hooks, at: dict(
        [
            *list(rest.items())[:at],
            *([("hooks", hooks)] if hooks is not None else []),
            *list(rest.items())[at:],
        ]
    ),
    st.dictionaries(TEXT.filter(lambda key: key != "hooks"), JUNK, max_size=4),
    st.none() | HOOKS,
    st.integers(0, 4),
)


class Writer:
    """Writes JSON as carelessly as people do: any white space, comments, trailing commas."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.newline = random.choice(["\n", "\r\n"])
        self.spread = random.choice([0.0, 0.5, 1.0])
        self.notes = random.choice([0.0, 0.0, 0.3])
        self.trailing = random.choice([0.0, 0.5])

    def gap(self) -> str:
        out = []
        for _ in range(self.random.randrange(3)):
            if self.random.random() < self.notes:
                out.append(
                    self.random.choice([f'// {{ "a, {self.newline}', '/* } ] , " */', "/**/"])
                )
            out.append(
                self.random.choice([" ", "\t", self.newline + "  "])
                if self.random.random() < self.spread
                else ""
            )
        return "".join(out)

    def write(self, value: Any) -> str:
        if isinstance(value, dict):
            rows = [
                f"{self.string(key)}{self.gap()}:{self.gap()}{self.write(item)}"
                for key, item in value.items()
            ]
            return self.listed("{", rows, "}")
        if isinstance(value, list):
            return self.listed("[", [self.write(item) for item in value], "]")
        return self.string(value) if isinstance(value, str) else json.dumps(value)

    def string(self, text: str) -> str:
        return json.dumps(text, ensure_ascii=self.random.random() < 0.5)

    def listed(self, start: str, rows: list[str], end: str) -> str:
        text = start + self.gap()
        for n, row in enumerate(rows):
            is_last = n == len(rows) - 1
            text += (
                row
                + self.gap()
                + ("," if not is_last or self.random.random() < self.trailing else "")
                + self.gap()
            )
        return text + end


def strict(text: str) -> Any:
    """Return the value of a document with comments and trailing commas: another reader than the product's."""
    out, at, in_string = [], 0, False
    while at < len(text):
        if in_string:
            step = 2 if text[at] == "\\" else 1
            in_string = text[at] != '"'
            out.append(text[at : at + step])
            at += step
        elif text.startswith("//", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        else:
            if text[at] in "]}":
                while out and out[-1].isspace():
                    out.pop()
                if out and out[-1] == ",":
                    out.pop()
            in_string = text[at] == '"'
            out.append(text[at])
            at += 1
    return json.loads("".join(out))


def is_kept(before: bytes, after: bytes) -> bool:
    rest = iter(after)
    return all(byte in rest for byte in before)


@settings(
    max_examples=scaled(150, 40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(value=DOCUMENTS, random=st.randoms(use_true_random=False), bom=st.booleans())
def test_install_and_uninstall(value: dict[str, Any], random: Random, bom: bool) -> None:
    """In, twice, and out again; with the ledger to the byte, without it to the value."""
    home = Path(os.environ["HOME"])
    path = home / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    writer = Writer(random)
    before = (
        ("\ufeff" if bom else "") + writer.gap() + writer.write(value) + writer.gap()
    ).encode()
    path.write_bytes(before)
    assert strict(before.decode("utf-8-sig")) == value

    assert run(["install", "claude", "--user"]) == 0
    after = path.read_bytes()
    assert strict(after.decode("utf-8-sig")) == with_ours(value)
    assert is_kept(before, after)

    assert run(["install", "claude", "--user"]) == 0
    assert path.read_bytes() == after

    assert run(["uninstall", "claude", "--user"]) == 0
    assert path.read_bytes() == before

    path.write_bytes(after)  # the ledger knows nothing of it
    assert run(["uninstall", "claude", "--user"]) == 0
    left = strict(path.read_bytes().decode("utf-8-sig"))
    emptied = {
        key: rows
        for key, rows in value.get("hooks", {}).items()
        if rows or key not in with_ours({})["hooks"]
    }
    assert left == {
        key: item for key, item in {**value, "hooks": emptied}.items() if key != "hooks" or item
    }
