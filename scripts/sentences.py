"""The labelled sentences that training reads.

They are in `tests/extraction/sentences.tar.xz`, and are unpacked into `.cache` when they are first
asked for.
"""

import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKED = ROOT / "tests/extraction/sentences.tar.xz"


def folder() -> Path:
    """Return the folder with the files `*.tsv`, unpacked."""
    unpacked = ROOT / ".cache" / "sentences"
    if not unpacked.is_dir() or unpacked.stat().st_mtime < PACKED.stat().st_mtime:
        unpacked.parent.mkdir(exist_ok=True)
        with tarfile.open(PACKED) as packed:
            packed.extractall(unpacked.parent, filter="data")
        unpacked.touch()
    return unpacked
