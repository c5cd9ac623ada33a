"""What all benchmarks share: a sealed world, stores of a size, fair timing, tables.

The machine is shared and noisy, so absolute times say little. Every figure that has a budget is a ratio of
two things that were done in turn, in one run: the median over the ratios of neighbouring pairs. What slows the
machine down for a while slows both halves of a pair.
"""

import argparse
import gc
import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitmem.app import App, open_app
from gitmem.clock import seconds, stamp, ulid
from gitmem.records.kinds import PREFIX
from gitmem.records.record import Record, make
from gitmem.repo.refs import SHARED
from gitmem.services.records.write import Writer
from gitmem.store import operations
from gitmem.store.store import Message, Store

START = seconds("2025-01-01T00:00:00Z")
TELLING = (
    "payment isolation retry timeout migration postgres redis session token cache index deadlock rollback webhook invoice currency rounding locale "
    "encoding unicode timezone scheduler worker queue backoff gateway proxy certificate header cookie login permission fixture snapshot mock schema "
    "column transaction constraint replica shard latency memory leak socket buffer stream parser compiler linker wheel container volume cluster"
).split()


# -- the world


def seal(folder: Path) -> None:
    """Make this process and its children see none of the machine's settings."""
    for key in list(os.environ):
        if key.startswith(("GIT_", "GITMEM_", "XDG_", "CLAUDE")):
            del os.environ[key]
    home = folder / "home"
    home.mkdir(exist_ok=True)
    config = home / "gitconfig"
    config.write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    )
    # cold starts are measured with their byte code cached, as installed
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ |= {
        "HOME": str(home),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(config),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }


def git(
    path: Path | str, *args: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run git in a folder; return its output, stripped."""
    full = {**os.environ, **env} if env else None
    return (
        subprocess.run(
            ["git", "-C", str(path), *args], input=stdin, capture_output=True, check=True, env=full
        )
        .stdout.decode()
        .strip()
    )


@dataclass
class Bench:
    """One run: its options, its folder, the tables it printed, the budgets it missed."""

    name: str
    folder: Path
    quick: bool
    rounds: int | None
    missed: list[str] = field(default_factory=list)

    def size(self, full: int, quick: int) -> int:
        """Return a size of a store for this run."""
        return quick if self.quick else full

    def times(self, full: int, quick: int = 3) -> int:
        """Return how many rounds to do."""
        return self.rounds or (quick if self.quick else full)

    def template(self, count: int) -> Path:
        """Return a repository with a store of `count` records, indexed; made once a folder, not to be changed."""
        path = self.folder / f"store-{count}"
        if not (path / "done").exists():
            shutil.rmtree(path, ignore_errors=True)
            new_repo(path)
            with opened(path) as app:
                fill(app.store(), list(records(count)))
                app.index()
            (path / "done").touch()
        return path

    def copy(self, count: int, name: str, into: Path | None = None) -> Path:
        """Return a copy of a template that may be changed."""
        path = (into or self.folder) / f"{self.name}-{name}"
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self.template(count), path)
        return path

    def fresh(self, name: str) -> Path:
        """Return a new, empty folder's path."""
        path = self.folder / f"{self.name}-{name}"
        shutil.rmtree(path, ignore_errors=True)
        return path

    def verdict(self, what: str, value: float, budget: float) -> str:
        """Return whether a ratio is within its budget, and remember a miss; small stores of a quick run are not judged."""
        good = value <= budget
        if not good and not self.quick:
            self.missed.append(f"{what}: {value:.3g} > {budget:g}")
        return f"{budget:g} {'kept' if good else 'MISSED'}"


def run(name: str, body: Callable[[Bench], None], argv: Sequence[str] | None = None) -> int:
    """Parse options, run a benchmark in its folder, say what it missed; return the exit code."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.benchmarks.{name}")
    parser.add_argument(
        "--quick", action="store_true", help="small stores, few rounds: does the script work?"
    )
    parser.add_argument(
        "--keep", metavar="DIR", help="keep the stores in this folder, and use those that are there"
    )
    parser.add_argument("--rounds", type=int, help="how many pairs to measure")
    args = parser.parse_args(argv)
    folder = (
        Path(args.keep).resolve() if args.keep else Path(tempfile.mkdtemp(prefix="gitmem-bench-"))
    )
    folder.mkdir(parents=True, exist_ok=True)
    bench = Bench(name, folder, args.quick, args.rounds)
    try:
        seal(folder)
        began = time.monotonic()
        print(f"## {name}\n\n{machine()}{', quick' if args.quick else ''}\n")
        body(bench)
        print(f"({time.monotonic() - began:.0f} s)")
    finally:
        for path in folder.glob(f"{name}-*"):
            shutil.rmtree(path, ignore_errors=True)
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for line in bench.missed:
        print(f"over budget: {line}")
    return 1 if bench.missed else 0


def machine() -> str:
    """Return one line about the machine."""
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) / 2**20
    version = subprocess.run(
        ["git", "version"], capture_output=True, check=True, text=True
    ).stdout.split()[2]
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}, git {version}"


# -- stores


def new_repo(path: Path) -> Path:
    """Make a repository with one commit."""
    git(".", "init", "-q", str(path))
    (path / "code.py").write_text("print('hello')\n")
    git(path, "add", "code.py")
    git(path, "commit", "-qm", "first")
    return path


@contextmanager
def opened(path: Path, backend: str = "libgit2") -> Iterator[App]:
    """Open a repository as a process that stays would."""
    with open_app(str(path), os.environ, prefer=backend) as app:
        yield app


def fill(store: Store, items: Sequence[Record]) -> None:
    """Write records as one commit: the product's own batch write."""
    store.write(
        [operations.put(item) for item in items], Message(f"import {len(items)} records", "import")
    )


def vocabulary(rng: random.Random, size: int = 6000) -> list[str]:
    """Return words that look like words; the telling ones are spread among the first thousand."""
    starts, ends = (
        "b c d f g h j k l m n p r s t v w st tr pl br".split(),
        "n r s t l m d ck ng x".split(),
    )
    made = {
        rng.choice(starts)
        + rng.choice("aeiou")
        + "".join(rng.choice(starts) + rng.choice("aeiou") for _ in range(rng.randint(0, 2)))
        + rng.choice(ends)
        for _ in range(size * 2)
    }
    words = sorted(made)
    rng.shuffle(words)
    words = words[:size]
    for at, word in enumerate(TELLING):
        words.insert(12 + at * 17, word)
    return words


def records(count: int, seed: int = 1) -> Iterator[Record]:
    """Yield records as a team would have them, always the same for a seed: four memories to one gotcha, words by Zipf's law."""
    rng = random.Random(seed)
    words = vocabulary(random.Random(7))
    weights = [1 / (rank + 8) for rank in range(len(words))]
    total, cumulative = 0.0, []
    for weight in weights:
        total += weight
        cumulative.append(total)
    for number in range(count):
        at = START + number * 300
        kind = "gotcha" if number % 5 == 4 else "memory"
        text = rng.choices(words, cum_weights=cumulative, k=8 + rng.randint(30, 90))
        lines = [" ".join(text[i : i + 12]) + "." for i in range(8, len(text), 12)]
        fields: dict[str, Any] = {
            "created": stamp(at),
            "updated": stamp(at),
            "rev": 1,
            "author": "Ada <ada@example.org>",
            "session": f"s{number // 30:06d}",
        }
        fields["tags"] = rng.sample(TELLING, 2)
        if number % 3:
            fields["anchors"] = [
                {
                    "path": f"src/{words[number % 40]}/{words[number % 997]}.py",
                    "start": 10,
                    "end": 14,
                }
            ]
        if kind == "gotcha":
            fields |= {
                "category": "general",
                "severity": rng.choice(("info", "warning", "critical")),
                "workaround": " ".join(text[:5]),
                "occurrences": 3,
            }
            fields |= {"first_seen": stamp(at), "last_seen": stamp(at), "source": "auto_detected"}
            if number % 20 != 4:
                fields["resolved"] = {"at": stamp(at + 60), "by": "Ada"}
        else:
            fields |= {
                "type": rng.choice(("fact", "decision", "pattern")),
                "importance": rng.randint(1, 9),
                "status": "pinned" if number % 400 == 0 else None,
            }
        id = f"{PREFIX[kind]}-{ulid(at, rng.randbytes(10))}"
        yield make(kind, id, " ".join(text[:8]).capitalize(), "\n".join(lines) + "\n", **fields)


def writer(app: App) -> Writer:
    """Return who writes."""
    return app.writer()


# -- time


@dataclass(frozen=True)
class Pairs:
    """Times of two things done in turn, in seconds."""

    left: list[float]
    right: list[float]

    @property
    def ratio(self) -> float:
        """The median of the ratios of neighbours."""
        return statistics.median(a / b for a, b in zip(self.left, self.right, strict=True))


def timed(action: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds an action takes."""
    gc.collect()
    began = clock()
    action()
    return clock() - began


def alternate(
    left: Callable[[], Any],
    right: Callable[[], Any],
    rounds: int,
    warm: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Pairs:
    """Time two actions in turn; which goes first changes from pair to pair."""
    for _ in range(warm):
        left()
        right()
    pairs = Pairs([], [])
    for number in range(rounds):
        if number % 2:
            b, a = timed(right, clock), timed(left, clock)
        else:
            a, b = timed(left, clock), timed(right, clock)
        pairs.left.append(a)
        pairs.right.append(b)
    return pairs


# A small process that starts others: forked from a big one, they would inherit its peak of resident
# memory.
_LAUNCHER = """
import json, os, sys, time
for line in sys.stdin:
    job = json.loads(line)
    opened = [(os.POSIX_SPAWN_OPEN, 0, job["stdin"], os.O_RDONLY, 0)] + [(os.POSIX_SPAWN_OPEN, fd, job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for fd in (1, 2)]
    os.chdir(job["cwd"])
    began = time.perf_counter()
    pid = os.posix_spawn(job["argv"][0], job["argv"], job["env"], file_actions=opened)
    _, status, usage = os.wait4(pid, 0)
    took = time.perf_counter() - began
    print(json.dumps([took, usage.ru_maxrss, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime]), flush=True)
"""


class Launcher:
    """Starts cold processes and tells their wall time (s) and peak resident memory (KiB)."""

    def __init__(self, folder: Path) -> None:
        self._out = folder / "launcher-output"
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.peak: dict[str, int] = {}
        self.cpu = 0.0  # processor time of the last command and its children, in seconds

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self,
        argv: Sequence[str],
        cwd: Path,
        stdin: Path | None = None,
        env: Mapping[str, str] | None = None,
        name: str = "",
    ) -> float:
        """Run a command to its end; return its wall time. A failure is an error of the benchmark."""
        job = {
            "argv": list(argv),
            "cwd": str(cwd),
            "stdin": str(stdin or os.devnull),
            "out": str(self._out),
            "env": {**os.environ, **(env or {})},
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        took, peak, code, self.cpu = json.loads(self._process.stdout.readline())
        if code:
            raise RuntimeError(f"{argv}: exit {code}: {self.output()[-2000:]}")
        if name:
            self.peak[name] = max(self.peak.get(name, 0), peak)
        return float(took)

    def output(self) -> str:
        """Return what the last command printed."""
        return self._out.read_text(errors="replace")

    def paired(
        self,
        argv: Callable[[], Sequence[str]],
        cwd: Path,
        rounds: int,
        name: str,
        stdin: Callable[[], Path] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Pairs:
        """Time a command against `python -c pass`, in turn."""
        base = [sys.executable, "-c", "pass"]
        pairs = Pairs([], [])
        for number in range(-1, rounds):
            a = self.run(argv(), cwd, stdin() if stdin else None, env, name)
            b = self.run(base, cwd, None, env, "python -c pass")
            if number >= 0:
                pairs.left.append(a)
                pairs.right.append(b)
        return pairs


# -- tables


def ms(values: Sequence[float]) -> str:
    """Return the median in milliseconds."""
    value = statistics.median(values) * 1000
    return (
        f"{value:.2f} ms"
        if value < 10
        else f"{value:.1f} ms"
        if value < 1000
        else f"{value / 1000:.2f} s"
    )


def times(value: float) -> str:
    """Return a ratio."""
    return f"{value:.3f}x" if value < 1 else f"{value:.2f}x"


def size(number: float) -> str:
    """Return bytes as MiB."""
    return f"{number / 2**20:.1f} MiB"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table."""
    widths = [max(len(str(row[i])) for row in (head, *rows)) for i in range(len(head))]
    print(f"**{title}**\n")
    for number, row in enumerate((head, *rows)):
        print(
            "| "
            + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True))
            + " |"
        )
        if number == 0:
            print("| " + " | ".join("-" * width for width in widths) + " |")
    print(flush=True)


def disk(path: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


__all__ = [
    "SHARED",
    "Bench",
    "Launcher",
    "Pairs",
    "alternate",
    "disk",
    "fill",
    "git",
    "machine",
    "ms",
    "new_repo",
    "opened",
    "records",
    "run",
    "size",
    "table",
    "timed",
    "times",
    "writer",
]
