"""An export replaces what git mem wrote, and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.conftest import Mem
from tests.interchange.conftest import write

LIST = ".gitmem-export.json"


@pytest.mark.parametrize("text", ['["README.md", "docs/a.md"]', '{"README.md": ["x"]}', "[" * 9999])
def test_a_list_that_came_with_the_repository_removes_nothing(mem: Mem, text: str) -> None:
    """Who made it could name any file."""
    mem.add("Use Redis")
    write(mem, {"README.md": "mine", "docs/a.md": "mine too", LIST: text})

    assert "exported nothing to it" in mem("export", ".", code=1).err
    mem("export", ".", "--force")

    assert (mem.folder / "README.md").read_text() == "mine"
    assert (mem.folder / "docs/a.md").read_text() == "mine too"
    assert (mem.folder / "index.md").exists()


def test_a_file_of_somebody_else_is_not_replaced(mem: Mem) -> None:
    """Nor one that was changed since it was exported; --force replaces both."""
    mem.add("Use Redis")
    write(mem, {"README.md": "my words"})

    assert "no export wrote it" in mem("export", "README.md", code=1).err
    assert (mem.folder / "README.md").read_text() == "my words"
    mem("export", "MEMORY.md")
    mem.add("Use Postgres")
    mem("export", "MEMORY.md")
    assert "Use Postgres" in (mem.folder / "MEMORY.md").read_text()
    write(mem, {"MEMORY.md": "my words"})
    assert "was changed since" in mem("export", "MEMORY.md", code=1).err
    mem("export", "MEMORY.md", "--force")
    assert "Use Redis" in (mem.folder / "MEMORY.md").read_text()


def test_what_was_changed_in_a_folder_stays(mem: Mem) -> None:
    """Also where its fact is gone; what was not changed goes with its fact."""
    ids = [mem.add(title) for title in ("Use Redis", "Use Postgres", "Use Kafka")]
    mem("export", "out")
    edited = mem.folder / "out/memories/fact/use-redis.md"
    edited.write_text("my words")

    assert "was changed since" in mem("export", "out", code=1).err
    mem("forget", ids[0])
    mem("forget", ids[1])
    said = mem("export", "out").err

    assert "use-redis.md was changed since an earlier export, and is left" in said
    assert edited.read_text() == "my words"
    assert not (mem.folder / "out/memories/fact/use-postgres.md").exists()
    assert (mem.folder / "out/memories/fact/use-kafka.md").exists()


def test_another_clone_needs_to_be_told(mem: Mem) -> None:
    """It did not write the folder, so it cannot tell an export from somebody's words."""
    mem.add("Use Redis")
    mem("export", "out")
    (mem.folder / ".git/gitmem/exports.json").unlink()

    assert "--force" in mem("export", "out", code=1).err
    mem("export", "out", "--force")
    mem("export", "out")


@pytest.mark.stress
def test_a_killed_export_is_done_again(mem: Mem) -> None:
    """At any moment: the next one has all facts and no file too many."""
    last = [mem.add(f"Fact number {number}") for number in range(40)][-1]
    argv = [sys.executable, "-P", "-m", "gitmem", "-C", str(mem.folder), "export", "out"]
    began = time.monotonic()
    subprocess.run(argv, check=True, capture_output=True)
    took = time.monotonic() - began
    for round_number in range(12):
        mem("edit", last, "-m", f"Changed {round_number}")
        with subprocess.Popen(
            argv, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        ) as process:
            time.sleep(took * (0.5 + round_number / 24))
            process.send_signal(signal.SIGKILL)
        mem("export", "out")
        paths = [path for path in (mem.folder / "out").rglob("*") if path.is_file()]
        names = {os.path.relpath(path, mem.folder / "out") for path in paths} - {LIST}
        assert names == json.loads((mem.folder / "out" / LIST).read_text()).keys()
        assert len([name for name in names if "fact-number" in name]) == 40
