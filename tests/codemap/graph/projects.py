"""Projects written for tests: files go in, a graph comes out."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gitmem.codemap.graph.code_map import CodeMap
from gitmem.codemap.graph.graph import Graph
from gitmem.git.code_trees import CodeTrees
from gitmem.repo.location import locate
from tests.command_line import run_command
from tests.conftest import empty_repo, git


def new(path: Path) -> Path:
    """Make an empty repository."""
    return empty_repo(path)


def write(path: Path, files: Mapping[str, str | bytes | None]) -> None:
    """Write files into a work tree; None removes one."""
    for name, text in files.items():
        file = path / name
        if text is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)


def commit(path: Path, files: Mapping[str, str | bytes | None], message: str = "change") -> str:
    """Write files and commit all there is; return the commit."""
    write(path, files)
    git(path, "add", "-Af", ".")
    git(path, "commit", "-q", "--allow-empty", "-m", message)
    return git(path, "rev-parse", "HEAD")


@contextmanager
def code_map(path: Path, folder: Path, **options: object) -> Iterator[CodeMap]:
    """Open a map of a repository, with its cache in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    made = CodeMap(
        CodeTrees(locate(str(path), os.environ), os.environ), str(folder), os.environ, **options
    )  # type: ignore[arg-type]
    try:
        yield made
    finally:
        made.close()


def graph(path: Path, folder: Path, revision: str = "HEAD", **options: bool) -> Graph:
    """Return the graph of a commit."""
    with code_map(path, folder) as made:
        return made.graph(revision, **options)


def arrows(found: Graph) -> set[str]:
    """Return who uses whom, as 'a -> b'."""
    return {f"{one} -> {other}" for one, edges in found.edges.items() for other in edges}


def mem(
    path: Path, *args: str, code: int = 0, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `git mem` in a folder."""
    done = run_command(path, *args, env=env)
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done
