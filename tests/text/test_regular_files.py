"""What is no regular file is not read, and is not left open either."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.agents.adapter import tail
from gitmem.base.regular_files import read_regular
from gitmem.repo.source_frames import read_lines
from gitmem_lsp.workspace import file_text

READERS: dict[str, Callable[[str], object]] = {
    "a beginning": lambda path: read_regular(path, 100),
    "an end": lambda path: tail(path, 100),
    "lines": read_lines,
    "of the server": lambda path: file_text.read_regular(path, 100),
}


@pytest.mark.parametrize("reader", READERS)
def test_folders_and_pipes_leave_no_descriptor(reader: str, tmp_path: Path) -> None:
    """However often somebody asks for one."""
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/dev/fd"))
    for path in (str(tmp_path), str(tmp_path / "pipe")):
        try:
            assert not READERS[reader](path)
        except OSError as error:
            assert reader == "of the server", error
    assert len(os.listdir("/dev/fd")) == before


@pytest.mark.parametrize("reader", READERS)
def test_regular_files_are_read(reader: str, tmp_path: Path) -> None:
    """By each of them."""
    (tmp_path / "file").write_text("text")
    assert READERS[reader](str(tmp_path / "file")) in (b"text", ["text"])
