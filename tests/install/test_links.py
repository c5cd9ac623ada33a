"""A link in a repository leads no command that writes out of the work tree, or into git's folder: it is refused and named."""

import os
from pathlib import Path

import pytest

from tests.conftest import git
from tests.stress.conftest import mem

WRITERS = {
    "install": (".cursor", ("install", "cursor", "--project")),
    "install for oneself": (".claude", ("install", "claude", "--local")),
    "page": ("docs", ("page", "gotchas", "--out", "docs/post-commit")),
    "pages of a folder": ("docs", ("page", "compound", "--out", "docs/memory")),
    "trace export": ("docs", ("trace", "export", "--output", "docs/post-commit")),
    "native push": (".claude", ("native", "push", "--to", ".claude/CLAUDE.md")),
}


def listing(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize(
    "outside", [False, True], ids=["into git's folder", "out of the work tree"]
)
@pytest.mark.parametrize(("link", "command"), WRITERS.values(), ids=WRITERS)
def test_a_link_is_refused_and_named(
    make_repo, tmp_path: Path, link: str, command: tuple[str, ...], outside: bool
) -> None:
    repo = make_repo()
    mem(repo, "init", "--no-remote")
    mem(repo, "add", "--type", "decision", "Use SQLite for the index")
    target = tmp_path / "elsewhere" if outside else repo / ".git/hooks"
    target.mkdir(exist_ok=True)
    (repo / link).symlink_to(target if outside else ".git/hooks")
    before = listing(target), listing(repo / ".git/hooks"), (repo / ".git/config").read_bytes()
    done = mem(repo, *command, ok=(1,))
    assert link in done.stderr
    assert "link" in done.stderr
    assert (
        listing(target),
        listing(repo / ".git/hooks"),
        (repo / ".git/config").read_bytes(),
    ) == before


def test_links_that_stay_inside_are_followed(make_repo) -> None:
    """Teams keep one folder under two names."""
    repo = make_repo()
    (repo / "agents").mkdir()
    (repo / ".cursor").symlink_to("agents")
    mem(repo, "install", "cursor", "--project")
    assert (repo / "agents/hooks.json").is_file()
    assert (repo / ".cursor").is_symlink()


def test_own_settings_may_be_links(make_repo, tmp_path: Path) -> None:
    """A manager of dotfiles keeps them elsewhere."""
    repo = make_repo()
    kept = tmp_path / "dotfiles/claude"
    kept.mkdir(parents=True)
    (kept / "settings.json").write_text("{}\n")
    home = Path(os.environ["HOME"])
    (home / ".claude").symlink_to(kept)
    mem(repo, "install", "claude", "--user")
    assert "git-mem" in (kept / "settings.json").read_text()
    assert (home / ".claude").is_symlink()


def test_an_output_replaces_a_link(make_repo, tmp_path: Path) -> None:
    """The file itself may be a link to anything: it is replaced, what it led to stays."""
    repo = make_repo()
    mem(repo, "init", "--no-remote")
    (tmp_path / "theirs").write_text("theirs\n")
    (repo / "PAGE.md").symlink_to(tmp_path / "theirs")
    mem(repo, "page", "gotchas", "--force", "--out", str(repo / "PAGE.md"))
    assert (tmp_path / "theirs").read_text() == "theirs\n"
    assert not (repo / "PAGE.md").is_symlink()
    assert git(repo, "status", "--short") == "?? PAGE.md"
    mem(repo, "page", "gotchas", "--out", os.devnull)
    assert Path(os.devnull).is_char_device()
