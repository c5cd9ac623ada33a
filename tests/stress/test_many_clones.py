"""Many clones that sync at once: each fact and one merge a clone in the history, and nothing for who only reads."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitmem.repo.refs import SHARED
from tests.conftest import fsck, git
from tests.json_output import data_of
from tests.scale import scaled
from tests.stress.conftest import mem, mem_argv, mem_env, warm_mem

pytestmark = pytest.mark.stress
WRITERS, READERS = scaled(20, 5), scaled(12, 3)


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository that many share."""
    path = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(path))
    return path


def clones(hub: Path, number: int) -> list[Path]:
    """Return clones in which memory is enabled."""
    paths = [hub.parent / f"clone-{n}" for n in range(number)]
    for path in paths:
        git(hub.parent, "clone", "-q", str(hub), str(path))
        git(path, "config", "gitmem.remote", "origin")
    return paths


def at_once(paths: list[Path]) -> None:
    """Sync all clones at the same time, each again until nobody is quicker any more."""

    def sync(path: Path) -> None:
        for _ in range(100):
            done = subprocess.run(
                mem_argv(path, "sync"), env=mem_env(), capture_output=True, text=True, check=False
            )
            if done.returncode == 0:
                return
            assert "at the same time" in done.stderr, done.stderr
        raise AssertionError(f"{path}: {done.stderr}")

    with ThreadPoolExecutor(len(paths)) as pool:
        list(pool.map(sync, paths))


def history(hub: Path, *args: str) -> list[str]:
    """Return the commits of the shared history."""
    return git(hub, "rev-list", *args, SHARED).split()


def titles(path: Path) -> set[str]:
    """Return what a clone remembers."""
    return {row["title"] for row in data_of(mem(path, "list", "--json").stdout)}


def test_one_merge_for_each_clone(hub: Path):
    """Each adds a fact and syncs: no merge that lost its race is sent, all is there, and one more sync makes all alike."""
    paths = clones(hub, WRITERS)
    for path in paths:
        warm_mem(path, "add", f"fact of {path.name}")
    at_once(paths)

    assert WRITERS == len(history(hub, "--no-merges")) - 1  # but the first one, which all share
    assert WRITERS >= len(history(hub, "--merges"))
    at_once(paths)
    tips = {git(path, "rev-parse", SHARED) for path in (hub, *paths)}
    assert 1 == len(tips)
    wanted = {f"fact of {path.name}" for path in paths}
    assert wanted == titles(paths[0]) == titles(paths[-1])
    assert "" == fsck(hub)


def test_reading_sends_nothing(hub: Path):
    """Each shows a record and syncs: the shared history is as it was."""
    first, *others = clones(hub, READERS + 1)
    id = data_of(mem(first, "add", "T", "--json").stdout)["id"]
    mem(first, "sync")
    at_once(others)
    before = history(hub)
    for path in others:
        mem(path, "show", id)
    at_once(others)

    assert before == history(hub)
    assert 1 == data_of(mem(others[0], "show", id, "--json").stdout)[0]["access_count"]
