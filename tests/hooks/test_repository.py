"""What hooks know of a repository without the services of commands."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import External, NotARepository
from gitmem.repository import Repository, find_repository
from tests.conftest import HAS_REFTABLE, SHARED, git
from tests.hooks.conftest import run


def found(path: Path, **env: str) -> Repository:
    return find_repository(str(path), {**os.environ, **env})


def test_a_reader_sees_its_own_namespace_and_global(repo: Path) -> None:
    """The environment comes before the setting."""
    assert found(repo).namespaces == ("global",)
    git(repo, "config", "gitmem.agent", "qa")
    assert found(repo).namespaces == ("global", "qa")
    assert found(repo, GITMEM_AGENT="dev").namespaces == ("global", "dev")


def test_settings_follow_the_configuration(repo: Path) -> None:
    """They are cached; a file that changed is read again."""
    run(repo, "init")
    assert found(repo).settings.get("injectBudget") != 77
    git(repo, "config", "gitmem.injectBudget", "77")
    assert found(repo).settings.get("injectBudget") == 77
    git(repo, "config", "gitmem.injectBudget", "78")
    assert found(repo).settings.get("injectBudget") == 78


@pytest.mark.parametrize("kind", ["plain", *(["reftable"] if HAS_REFTABLE else [])])
def test_an_index_that_is_behind_is_noticed_and_refreshed(
    make_repo: Callable[..., Path], kind: str
) -> None:
    """Of a reftable only git knows where the refs are."""
    repo = make_repo(kind)
    run(repo, "add", "One record")
    here = found(repo)
    assert here.is_current() and here.indexed_tips() == here.tips_by_git()
    before = here.tips_by_git()["shared"]
    run(repo, "add", "Another record")
    git(repo, "update-ref", SHARED, before)
    again = found(repo)
    assert again.indexed_tips() != again.tips_by_git() == {"shared": before}
    assert again.refresh(asks_git=True)
    index = again.stored_index
    assert index is not None and again.indexed_tips() == {"shared": before}
    assert [row["title"] for row in index.rows()] == ["One record"]


def test_a_git_directory_among_the_files_of_another_repository_is_refused(repo: Path) -> None:
    """It came with a clone: whoever made that wrote its configuration."""
    inner = repo / "vendor" / "inner.git"
    git(repo, "init", "-q", "--bare", str(inner))
    with pytest.raises(NotARepository, match="lies in another repository"):
        found(repo, GIT_DIR=str(inner))


def test_damaged_indexes_are_discarded(repo: Path) -> None:
    """The next reader makes them anew."""
    run(repo, "add", "One record")
    here = found(repo)
    assert here.stored_index is not None
    here.discard_indexes()
    assert here.stored_index is None
    assert "One record" in run(repo, "list")
    here.reopen_indexes()
    assert here.stored_index is not None


def test_a_bare_folder_beside_a_git_file_is_one_repository(repo: Path, tmp_path: Path) -> None:
    """`.bare` with a `.git` file that names it: the usual layout for many work trees."""
    home = tmp_path / "layout"
    home.mkdir()
    git(home, "clone", "-q", "--bare", str(repo), ".bare")
    (home / ".git").write_text("gitdir: ./.bare\n")
    git(home, "worktree", "add", "-q", "tree")
    assert found(home / "tree").root == str((home / "tree").resolve())
    run(home / "tree", "session", "start", "--title", "Here")
    assert "Here" in run(home / "tree", "session", "current")


def test_a_broken_ref_is_not_taken_for_what_the_index_has(repo: Path) -> None:
    """A commit must not pass as if nothing were known; an agent's hook goes on with the index."""
    run(repo, "add", "One record")
    (repo / ".git" / SHARED).write_text("no commit\n")
    here = found(repo)
    assert here.tips() == here.indexed_tips()
    with pytest.raises(External):
        here.tips_by_git()
