"""Sources of labelled sessions: what their turns and labels say. The README beside this file says how they are written."""

from dataclasses import dataclass

from gitmem.records.items import KINDS


@dataclass(frozen=True)
class Step:
    """A turn as its source tells it: what it is, its first line, the lines below."""

    word: str
    head: str
    body: str
    code: int = 0

    @property
    def text(self) -> str:
        return f"{self.head}\n{self.body}".strip("\n")


@dataclass(frozen=True)
class Label:
    """Something worth keeping; `kinds` that it may be found as, the first is its own. `text` has its wordings, with ` | ` between them."""

    kinds: tuple[str, ...]
    text: str
    detail: str = ""
    must: bool = True

    @property
    def wordings(self) -> list[str]:
        return self.text.split(" | ")


def split(id: str, source: str) -> tuple[str, str, str]:
    """Return the three parts; only the first and the last line `---` separate, a file may have its own."""
    lines = source.splitlines(keepends=True)
    bars = [n for n, line in enumerate(lines) if line.rstrip() == "---"]
    if len(bars) < 2:
        raise ValueError(f"{id}: a source has three parts")
    return (
        "".join(lines[: bars[0]]),
        "".join(lines[bars[0] + 1 : bars[-1]]),
        "".join(lines[bars[-1] + 1 :]),
    )


def label(id: str, line: str) -> Label:
    """Return a label from its line."""
    word, _, rest = line.strip().partition(" ")
    kinds = tuple(word.rstrip("!").split("/"))
    if not set(kinds) <= set(KINDS) or not rest:
        raise ValueError(f"{id}: not a label: {line}")
    text, _, detail = rest.partition(" => ")
    return Label(kinds, text.strip(), detail.strip(), word.endswith("!"))


WORDS = {
    "user",
    "agent",
    "think",
    "run",
    "fail",
    "read",
    "write",
    "edit",
    "meta",
    "hook",
    "side-user",
    "side-agent",
    "compact",
    "stop",
}


def steps(id: str, body: str) -> list[Step]:
    """Return the turns of a source."""
    found: list[tuple[str, str, list[str]]] = []
    for line in body.splitlines():
        if line.startswith("  ") or not line.strip():
            if found:
                found[-1][2].append(line[2:])
            continue
        word, _, rest = line.partition(":")
        found.append((word, rest.strip(), []))
    out = []
    for word, head, lines in found:
        name, _, code = word.partition(" ")
        if name not in WORDS:
            raise ValueError(f"{id}: not a turn: {word}")
        out.append(
            Step(name, head, "\n".join(lines).rstrip("\n"), int(code or 1) if name == "fail" else 0)
        )
    return out


def halves(step: Step) -> tuple[str, str, str]:
    """Return what an edit takes out, what it puts in, and why it failed."""
    lines = step.body.splitlines()
    parts = (
        "\n".join(line[1:].removeprefix(" ") for line in lines if line.startswith(sign))
        for sign in "-+!"
    )
    old, new, why = parts
    return old, new, why
