"""The files that are read first, in a repository where git takes long."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from gitmem.codemap.search import first_files
from gitmem.git.code_history import CodeHistory
from gitmem.repo.location import locate
from tests.conftest import git


def test_a_search_that_prints_nothing_ends(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed at the deadline; what the names say is still returned."""
    (repo / "refund.py").write_text("x = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "code")
    waited = tmp_path / "waited"
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    late = tmp_path / "late.py"
    late.write_text(f"import time\ntime.sleep(15)\nopen({str(waited)!r}, 'w')\n")
    slow.write_text(
        f'#!/bin/sh\nfor arg; do [ "$arg" = grep ] && exec {sys.executable} {late}; done\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    slow.chmod(0o755)
    env = {**os.environ, "PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", env["PATH"])
    monkeypatch.setattr(first_files, "SECONDS", 2.0)
    history = CodeHistory(locate(str(repo), env), env)

    assert "refund.py" in first_files.first_files(history, "the refund is late")
    assert not waited.exists()
