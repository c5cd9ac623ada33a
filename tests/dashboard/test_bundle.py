"""The page that ships is the page that the sources give, and it is small."""

import gzip
import re
import shutil
import subprocess
from pathlib import Path

from tests.dashboard.conftest import missing
from tests.house.conftest import ROOT

SOURCES = ROOT / "dashboard"
STATIC = ROOT / "gitmem" / "dashboard" / "static"
MOST = 600_000  # bytes, compressed


def test_what_ships_is_what_a_build_gives(tmp_path: Path) -> None:
    """`make dashboard` was run after the last change."""
    if not (SOURCES / "node_modules" / "esbuild").is_dir() or not shutil.which("node"):
        missing("esbuild (make dashboard-tools)")
    done = subprocess.run(
        ["node", "build.mjs", str(tmp_path)], cwd=SOURCES, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    built = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert built
    assert {
        name: (STATIC / name).read_bytes() == data for name, data in built.items()
    } == dict.fromkeys(built, True)


def test_the_types_hold() -> None:
    if not (SOURCES / "node_modules" / "typescript").is_dir() or not shutil.which("node"):
        missing("typescript (make dashboard-tools)")
    done = subprocess.run(
        ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
        cwd=SOURCES,
        capture_output=True,
        text=True,
    )

    assert done.stdout == ""


def test_it_is_small() -> None:
    size = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.iterdir())

    assert 10_000 < size < MOST


def test_no_source_makes_markup_of_text() -> None:
    """Content goes to the page as text nodes; nothing reads HTML, and nothing is asked of elsewhere."""
    bad = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?://(?!www\.w3\.org)"
    )
    files = [*(SOURCES / "src").rglob("*.ts*"), *(SOURCES / "src").rglob("*.css")]

    assert files
    assert [path.name for path in files if bad.search(path.read_text("utf-8"))] == []


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (SOURCES / "package-lock.json").read_text("utf-8")
