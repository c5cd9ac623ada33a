"""How much of the program runs when a file is opened, in functions: a count that no machine changes."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from tests.lsp.raw import PATIENCE, Raw

ROOT = Path(__file__).parents[2]
TEXT = "".join(f"def f{n}(x):\n    return charge(x + {n})\n\n" for n in range(50))
REST = 4.0  # seconds in which a server that was started gets ready
SETTLE = 1.5  # seconds in which what follows the first diagnostics is over


@pytest.mark.parametrize(
    ("before", "counted_in", "functions", "files"),
    [("", "", 85, 21), ("# one line more\n", "lsp", 115, 22)],
    ids=["text as recorded", "text edited since: the server's own"],
)
async def test_opening_a_file(make_repo, tmp_path, before, counted_in, functions, files):
    """The first opening of a file runs few functions, with all that follows it; to place gotchas in a text that has changed is the work of others."""
    repo = make_repo(**{"a.py": TEXT, "b.py": TEXT})
    repo.gotcha("careful", "a.py:5")
    repo.gotcha("careful too", "b.py:8")
    counted = tmp_path / "counted.json"
    env = repo.env | {"GITMEM_COUNTED": str(counted), "PYTHONPATH": str(ROOT)}
    server = await Raw.start(env, command=[sys.executable, "-m", "tests.lsp.counted_server"])
    try:
        await server.initialize(repo.root)
        await asyncio.sleep(REST)
        if before:
            repo.write("a.py", before + TEXT)
        server.process.send_signal(signal.SIGUSR1)
        await asyncio.sleep(0.2)
        server.open(repo.root / "a.py")
        await server.shown(repo.root / "a.py")
        await asyncio.sleep(SETTLE)
        server.process.send_signal(signal.SIGUSR2)
        async with asyncio.timeout(PATIENCE):
            while not counted.exists():
                await asyncio.sleep(0.05)
    finally:
        await server.close()

    within = str(ROOT / counted_in)
    ran = {tuple(one) for one in json.loads(counted.read_text()) if one[0].startswith(within)}
    named = sorted(f"{Path(file).relative_to(ROOT)}: {name}" for file, name in ran)
    assert 30 < len(ran) <= functions, named
    assert len({file for file, _ in ran}) <= files, named
