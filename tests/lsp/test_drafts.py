"""The files of drafts: how long they are kept, and what is never thrown away."""

import os
import time
from pathlib import Path

import pytest

from gitmem_lsp.editing.virtual_documents import Editing

MONTH = 31 * 86400


@pytest.fixture
def draft(repo):
    """The documents of a repository, and the path of a draft of a new gotcha with words in it."""
    with repo.app() as app:
        editing = Editing(app, str(repo.root / ".git/gitmem/editing"), str(repo.root))
        path = Path(editing.record([], {}))
        path.write_text(path.read_text() + "\nmy words\n")
        yield editing, path


def make_old(*paths: Path) -> None:
    old = time.time() - MONTH
    for path in paths:
        os.utime(path, (old, old))


def test_a_draft_that_is_worked_on_keeps_its_facts(draft):
    """The facts are written once; they go when the draft was left alone for a month."""
    editing, path = draft
    facts = Path(f"{path}.json")
    make_old(facts)
    editing.sweep()
    assert path.is_file() and facts.is_file()

    make_old(path)
    editing.sweep()
    assert not path.exists() and not facts.exists()


def test_a_draft_without_facts_is_not_deleted(draft):
    """Nobody knows whether something was typed into it."""
    editing, path = draft
    Path(f"{path}.json").unlink()

    assert not editing.close(path.name)
    assert path.read_text().endswith("my words\n")
    assert editing.close(Path(editing.page("gotchas-a.py", "a page")).name)


@pytest.mark.parametrize("has_facts", [True, False])
@pytest.mark.parametrize("mode", ["edit", "supersede"])
def test_words_in_a_draft_stay_when_it_is_opened_again(repo, mode: str, has_facts: bool):
    """Also where the file beside it, which says what it is a draft of, was lost."""
    made = repo.gotcha("Refunds are idempotent")
    with repo.app() as app:
        editing = Editing(app, str(repo.root / ".git/gitmem/editing"), str(repo.root))
        path = Path(getattr(editing, mode)(made.id))
        path.write_text(path.read_text() + "\nmy words\n")
        if not has_facts:
            Path(f"{path}.json").unlink()

        assert Path(getattr(editing, mode)(made.id)) == path
        assert path.read_text().endswith("my words\n")
        saved = editing.save(path.name, path.read_text())

    assert saved and "my words" in saved.record.body
