"""Long histories of code, made with `git fast-import`: the same for the same numbers."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

START = 1_700_000_000
# one file that is changed often, and renamed half-way
FORMER, CORE = "src/old_core.py", "src/core.py"
PEOPLE = ("Ada <ada@example.org>", "Grace <grace@example.org>", "Linus <linus@example.org>")


def stream(commits: int, files: int, lines: int, seed: int) -> Iterator[bytes]:
    """Yield the commands that make a history: each commit changes one file, every tenth the core, which has so many lines."""
    rng = random.Random(seed)
    core = [f"def step_{n}(value):\n    return value + {n}\n" for n in range(lines // 2)]
    others = {f"src/p{n % 50}/m{n}.py": [f"X{n} = {k}\n" for k in range(5)] for n in range(files)}
    names = sorted(others)
    yield b"reset refs/heads/main\n"
    for number in range(commits):
        at, who = START + number * 600, PEOPLE[number % len(PEOPLE)]
        yield f"commit refs/heads/main\ncommitter {who} {at} +0000\ndata <<E\nChange {number}\nE\n".encode()
        if number == 0:
            for name, text in others.items():
                yield _file(name, "".join(text))
            yield _file(FORMER, "".join(core))
        elif number == commits // 2:
            yield f"R {FORMER} {CORE}\n".encode()
        elif number % 10 == 0:
            core[rng.randrange(len(core))] = (
                f"def step_{number}(value):\n    return value * {number}\n"
            )
            yield _file(CORE if number > commits // 2 else FORMER, "".join(core))
        else:
            name = names[rng.randrange(len(names))]
            others[name][rng.randrange(5)] = f"Y = {number}\n"
            yield _file(name, "".join(others[name]))
        yield b"\n"


def _file(name: str, text: str) -> bytes:
    data = text.encode()
    return f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n"


def make(path: Path, commits: int, files: int = 200, lines: int = 600, seed: int = 1) -> Path:
    """Make a repository with such a history on `main`, checked out."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(path)], check=True)
    child = subprocess.Popen(
        ["git", "-C", str(path), "fast-import", "--quiet"], stdin=subprocess.PIPE
    )
    assert child.stdin is not None
    for part in stream(commits, files, lines, seed):
        child.stdin.write(part)
    child.stdin.close()
    assert child.wait() == 0
    subprocess.run(["git", "-C", str(path), "checkout", "-q", "-f", "main"], check=True)
    return path
