"""Whom a repository's files are shared with, as its configuration file says."""

import pytest

from gitmem.base import sharing

LONG = "".join(
    f'[branch "b{n}"]\n\tremote = origin\n\tmerge = refs/heads/b{n}\n' for n in range(5000)
)


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tsharedRepository = group\n",
        f"{LONG}[CORE] SHAREDREPOSITORY=1\n",
        "[Core]\nsharedrepository",
    ],
)
def test_however_it_is_written(tmp_path, text):
    """Names of settings are the same in capitals."""
    (tmp_path / "config").write_text(text)
    assert sharing.sharing_of(str(tmp_path)) == sharing.GROUP


def test_a_long_file_without_it_is_not_read_by_lines(tmp_path, monkeypatch):
    """Each hook asks: only a file that has the setting is worth its lines."""
    (tmp_path / "config").write_text(LONG)
    monkeypatch.setattr(sharing, "in_config", lambda _: pytest.fail("read by lines"))
    assert sharing.sharing_of(str(tmp_path)) == 0
