"""Signed commits, as the user's git configuration has it; a signature that cannot be made costs no memory."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.command_line import run_command
from tests.conftest import fsck, git

TIP = "refs/gitmem/heads/main"


def mem(repo: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    return run_command(repo, *args)


def use_ssh(repo: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada@example.org", "-f", str(key)],
        check=True,
    )
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.org {key.with_suffix('.pub').read_text()}")
    for name, value in (
        ("user.name", "Ada"),
        ("user.email", "ada@example.org"),
        ("gpg.format", "ssh"),
        ("user.signingKey", str(key)),
        ("gpg.ssh.allowedSignersFile", str(allowed)),
        ("gitmem.sign", "true"),
    ):
        git(repo, "config", "--global", name, value)


def use_gpg(repo: Path, home: Path) -> None:
    folder = home / ".gnupg"
    folder.mkdir(mode=0o700)
    made = [
        "gpg",
        "--batch",
        "--quiet",
        "--passphrase",
        "",
        "--quick-generate-key",
        "Ada <ada@example.org>",
        "ed25519",
        "sign",
        "never",
    ]
    subprocess.run(
        made, env={**os.environ, "GNUPGHOME": str(folder)}, check=True, capture_output=True
    )
    for name, value in (
        ("user.name", "Ada"),
        ("user.email", "ada@example.org"),
        ("user.signingKey", "ada@example.org"),
        ("gitmem.sign", "true"),
    ):
        git(repo, "config", "--global", name, value)


def verified(repo: Path) -> bool:
    return (
        subprocess.run(
            ["git", "-C", str(repo), "verify-commit", TIP], capture_output=True, check=False
        ).returncode
        == 0
    )


def test_ssh(repo: Path, tmp_path: Path):
    use_ssh(repo, tmp_path)
    assert mem(repo, "add", "Signed").returncode == 0
    assert verified(repo)
    assert fsck(repo) == ""


def test_gpg(
    repo: Path,
    _sealed: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):
    home = Path("/tmp") / f"g{os.getpid()}"  # its agent's socket has a short path or none
    home.mkdir()
    try:
        monkeypatch.setenv("GNUPGHOME", str(home / ".gnupg"))
        use_gpg(repo, home)
        assert mem(repo, "add", "Signed").returncode == 0
        assert verified(repo)
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=False, capture_output=True)
        shutil.rmtree(home, ignore_errors=True)


def test_not_asked_for(repo: Path, tmp_path: Path):
    use_ssh(repo, tmp_path)
    git(repo, "config", "--global", "gitmem.sign", "false")
    git(repo, "config", "commit.gpgSign", "true")
    assert mem(repo, "add", "Plain").returncode == 0
    assert not verified(repo)


def test_missing_key_costs_nothing(repo: Path, tmp_path: Path):
    use_ssh(repo, tmp_path)
    git(repo, "config", "--global", "user.signingKey", str(tmp_path / "gone"))
    done = mem(repo, "add", "Still there")
    assert done.returncode == 0 and "saved, but not signed" in done.stderr
    assert "Still there" in mem(repo, "list").stdout
    assert not verified(repo)


def test_merges_are_never_signed(repo: Path, tmp_path: Path):
    """Two clones that merge at once must make the same commit."""
    hub, other = tmp_path / "hub.git", tmp_path / "other"
    git(tmp_path, "init", "-q", "--bare", str(hub))
    git(repo, "remote", "add", "origin", str(hub))
    git(repo, "push", "-q", "origin", "HEAD:main")
    git(tmp_path, "clone", "-q", "-b", "main", str(hub), str(other))
    use_ssh(repo, tmp_path)
    for path in (repo, other):
        assert mem(path, "remote", "enable", "origin").returncode == 0
        assert mem(path, "add", f"In {path.name}").returncode == 0
    assert mem(other, "sync").returncode == 0
    assert mem(repo, "sync").returncode == 0
    assert len(git(repo, "log", "-1", "--format=%P", TIP).split()) == 2
    assert "gpgsig" not in git(repo, "cat-file", "commit", TIP)
