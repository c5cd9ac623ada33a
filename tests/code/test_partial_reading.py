"""Code that cannot be read in time: an answer of a part of it, which says so, and the next run goes on."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gitmem.codemap.graph import reading_time
from gitmem.codemap.graph.reading_time import ReadingTime
from tests.codemap.graph.projects import code_map, commit, mem, new
from tests.json_output import data_of

FILES = {f"shop/m{n}.py": f"def step_{n}(order):\n    return order + {n}\n" for n in range(240)} | {
    "shop/money.py": "def round_half(x):\n    return int(x + 0.5)\n",
    "shop/cart.py": "from shop.money import round_half\n\ndef total(rows):\n    return round_half(sum(rows))\n",
}
TASK = "round_half is wrong for negative amounts"
# a single process reads: of several, the others may be done before the first part comes
HURRIED = (
    "import os, sys; from gitmem.codemap.graph import reading_time; "
    "reading_time.ANSWER = reading_time.LEAST = 0.0; "
    "os.sched_getaffinity = lambda pid: {0}; os.cpu_count = lambda: 1; "
    "from gitmem.__main__ import main; sys.exit(main())"
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with more files than one process reads at once."""
    repo = new(tmp_path / "shop")
    commit(repo, FILES)
    return repo


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process stop to read at once."""
    monkeypatch.setattr(reading_time, "LEAST", 0.0)


def hurried(repo: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a command that has no time to read code."""
    return subprocess.run(
        [sys.executable, "-c", HURRIED, *args],
        cwd=repo,
        capture_output=True,
        text=True,
        check=True,
    )


def data(repo: Path, *args: str) -> Any:
    """Return the data of a command that has no time."""
    return data_of(hurried(repo, *args, "--json").stdout)


def paths(answer: dict[str, Any]) -> list[str]:
    """Return the files of an answer."""
    return [row["path"] for row in answer["files"]]


def test_scout_answers_of_what_it_could_read(shop: Path):
    """The files with the task's words are read first, so that they are found at once."""
    answer = data(shop, "scout", TASK)
    assert 0 < answer["unread_count"] < len(FILES)
    assert {"shop/money.py", "shop/cart.py"} <= set(paths(answer))


def test_scout_says_that_it_did_not_read_all(shop: Path):
    """People are told how much was read, and how to have the rest; not when all was."""
    told = hurried(shop, "scout", TASK).stderr
    assert f" of {len(FILES)} files of code" in told
    assert "--all" in told
    assert "files of code" not in mem(shop, "scout", TASK, "--all").stderr


def test_next_run_goes_on_to_the_answer_of_all(shop: Path):
    """Each run has fewer files left; the last one answers as if all had been read at once."""
    left = [data(shop, "scout", TASK)["unread_count"]]
    while left[-1]:
        answer = data(shop, "scout", TASK)
        left.append(answer["unread_count"])
        assert left[-1] < left[-2]
    assert len(left) > 1
    for name in ("codemap.db", "codesearch.db"):
        (shop / ".git/gitmem" / name).unlink()
    assert data_of(mem(shop, "scout", TASK, "--all", "--json").stdout) == answer


def test_graph_that_was_read_in_parts_is_that_of_one_reading(shop, tmp_path, no_time):
    """What is kept of a part of the code leads to no other graph."""
    whole = new(tmp_path / "whole")
    commit(whole, FILES)
    unread = [1]
    while unread[-1]:
        with code_map(shop, tmp_path / "parts", workers=1) as code:
            graph = code.graph(reading=ReadingTime(0.0))
        unread.append(graph.unread)
    with code_map(whole, tmp_path / "one") as code:
        wanted = code.graph()
    assert len(unread) > 2
    assert (wanted.files, wanted.edges, wanted.words) == (graph.files, graph.edges, graph.words)


def test_part_of_the_code_does_not_hide_an_older_graph(shop, tmp_path, no_time):
    """After a large change that there is no time for, the edges that are known are still there."""
    with code_map(shop, tmp_path / "cache", workers=1) as code:
        code.graph()
    commit(shop, {f"shop/n{n}.py": f"import shop.m{n}\nY = {n}\n" for n in range(240)})
    with code_map(shop, tmp_path / "cache", workers=1) as code:
        graph = code.graph(reading=ReadingTime(0.0))
        assert graph.unread
        assert "shop/money.py" in graph.edges["shop/cart.py"]
        assert not code.graph(reading=ReadingTime(time.monotonic() + 600)).unread


def test_each_run_has_some_time(shop, tmp_path):
    """Also where the time is over before the first file is read, as on a busy machine, a run reads more than one part."""
    with code_map(shop, tmp_path / "cache", workers=1) as code:
        assert code.graph(reading=ReadingTime(0.0)).unread < len(FILES) - 24


def test_dna_of_a_part_says_so_and_is_not_stored(shop: Path):
    """A page of a part is shown and told as such; it is stored when all was read."""
    shown = hurried(shop, "code", "dna", "show")
    assert f" of {len(FILES)} files of code" in shown.stderr
    assert "Python" in shown.stdout
    assert data(shop, "code", "dna", "show")["unread_count"] > 0
    rows = data(shop, "code", "dna", "refresh")
    assert ["partial"] == [row["outcome"] for row in rows]
    assert not data(shop, "code", "dna", "show")["stored"]
    done = data_of(mem(shop, "code", "dna", "refresh", "--all", "--json").stdout)
    assert [("made", 0)] == [(row["outcome"], row["unread_count"]) for row in done]
    page = json.loads(mem(shop, "code", "dna", "show", "--json").stdout)["data"]
    assert (True, 0) == (page["stored"], page["unread_count"])
