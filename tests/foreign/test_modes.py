"""Who may read what we write: its owner alone, or whoever may read what git itself writes in a shared repository."""

import json
import os
import stat
from pathlib import Path

import pytest

from tests.conftest import git
from tests.foreign.runner import Runner

SHARED = ("", "umask", "group", "all", "true", "0660", "0640", "0666")
SAMPLED = ("", "umask", "group", "0640")
FULL = os.environ.get("GITMEM_STRESS") == "full"
PERSONAL = {"sessions"}  # histories of what a person said: never shared


def use(runner: Runner, path: Path, many: bool) -> None:
    """Do what makes files of a kind, or of every kind."""
    start = json.dumps(
        {
            "session_id": "s1",
            "hook_event_name": "SessionStart",
            "cwd": str(path),
            "source": "startup",
        }
    )
    prompt = json.dumps(
        {
            "session_id": "s1",
            "hook_event_name": "UserPromptSubmit",
            "cwd": str(path),
            "prompt": "why?",
        }
    )
    calls = (
        (("init", "--no-remote"), ""),
        (("add", "Private thing", "--private"), ""),
        (("list",), ""),
        (("hook", "nobody"), prompt),
        (("add", "Own thing", "--user"), ""),
        (("code", "rank"), ""),
        (("scout", "change the a function"), ""),
        (("hook", "claude"), start),
        (("hook", "claude"), prompt),
        (("snapshot", "save"), ""),
    )
    for args, stdin in calls if many else calls[:4]:
        code, said = runner.call(path, *args, stdin=stdin)
        assert code == 0, said


@pytest.mark.parametrize("umask", [0o022, 0o000, 0o077])
def test_modes(tmp_path: Path, umask: int) -> None:
    """Files are 0600 and folders 0700; in a shared repository both are as git makes its own."""
    settings = SHARED if FULL or umask == 0o022 else SAMPLED
    old = os.umask(umask)
    try:
        runner = Runner(dict(os.environ))
        for shared in settings:
            path = tmp_path / (shared or "own")
            git(tmp_path, "init", "-q", *([f"--shared={shared}"] if shared else []), str(path))
            (path / "a.py").write_text("def a():\n    return 1\n")
            git(path, "add", ".")
            git(path, "commit", "-qm", "first")
            use(runner, path, shared in {"", "group"})
        runner.end()
    finally:
        os.umask(old)
    for shared in settings:
        gitdir = tmp_path / (shared or "own") / ".git"
        alone = shared in {"", "umask"}
        file = 0o600 if alone else stat.S_IMODE((gitdir / "index").stat().st_mode)
        folder = 0o700 if alone else stat.S_IMODE((gitdir / "objects/info").stat().st_mode)
        made = [gitdir / "gitmem", *(gitdir / "gitmem").rglob("*")]
        kinds = {
            "index.db",
            "hook.log",
            *({"state.db", "codemap.db"} if shared in {"", "group"} else ()),
        }
        assert kinds <= {one.name for one in made}
        wrong = []
        for one in made:
            mode = stat.S_IMODE(one.stat().st_mode)
            personal = (
                bool(PERSONAL & {part.name for part in (one.parent, one.parent.parent)})
                and one.is_file()
            )
            if mode != (folder if one.is_dir() else 0o600 if personal else file):
                wrong.append((shared, one.name, oct(mode)))
        assert wrong == []
    mine = Path(os.environ["HOME"]) / ".local/share/gitmem"
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700
