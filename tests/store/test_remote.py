"""What a remote's refusal means, each made by real git: the kind decides whether sync tries again, the words what the user does."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import GitFailed, RemoteRefused
from gitmem.git.process import Git, interrupts_after
from gitmem.git.remote import Remote
from gitmem.repo.location import locate
from gitmem.repo.refs import BRANCH, SHARED
from gitmem.store.store import Store
from tests.conftest import add, git


@pytest.fixture
def sender(repo: Path, open_store: Callable[..., Store]) -> Path:
    """A repository with one memory to send."""
    add(open_store(repo))
    return repo


def hub(folder: Path, name: str = "hub.git", **settings: str) -> Path:
    """Make a bare repository with settings, `receive.` before each."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "--bare", str(path))
    for key, value in settings.items():
        git(path, "config", f"receive.{key}", value)
    return path


def remote(sender: Path, name: str, ref: str = SHARED) -> Remote:
    return Remote(Git(locate(str(sender), os.environ).commondir, os.environ), name, ref, os.environ)


def refused(sender: Path, name: Path | str, ref: str = SHARED) -> RemoteRefused:
    """Push, and return why that was refused."""
    with pytest.raises(RemoteRefused) as caught:
        remote(sender, str(name), ref).push(git(sender, "rev-parse", SHARED))
    return caught.value


@pytest.mark.parametrize(
    "name",
    ["issue-403.git", "401/hub.git", "Permission denied (x)/hub.git", "cannot lock ref/hub.git"],
)
def test_a_name_says_nothing_about_a_failure(sender: Path, tmp_path: Path, name: str) -> None:
    """A remote that refuses the ref is told as such, whatever words its path has."""
    error = refused(sender, hub(tmp_path, name, hideRefs="refs/gitmem"))

    assert error.kind == "policy"
    assert "refuses the ref" in str(error)
    assert "deny updating a hidden ref" in str(error)


def test_a_failure_names_the_verb(sender: Path) -> None:
    """Behind git's own options, whatever these are."""
    git_here = Git(str(sender / ".git"), os.environ)
    for options in (
        (),
        ("-C", str(sender), "--work-tree", str(sender)),
        (f"--work-tree={sender}", "-c", "a.b=c"),
    ):
        with pytest.raises(GitFailed, match=r"^git rev-parse failed: "):
            git_here.run(*options, "rev-parse", "--verify", "no-such-name")


def test_a_limit_on_size_is_no_race(sender: Path, tmp_path: Path) -> None:
    """Trying again would not help: the remote's words and a way out are given."""
    error = refused(sender, hub(tmp_path, maxInputSize="50"))

    assert error.kind == "policy"
    assert "exceeds maximum allowed size" in str(error)
    assert "--bundle" in error.hint


def test_a_branch_in_the_way_is_named(sender: Path, tmp_path: Path) -> None:
    """A branch that is named as the folder of ours is not a race either."""
    path = hub(tmp_path)
    git(sender, "push", "-q", str(path), "HEAD:refs/heads/gitmem")
    error = refused(sender, path, BRANCH)

    assert error.kind == "policy"
    assert "refs/heads/gitmem is in the way" in str(error)


def test_a_remote_that_mirrors_takes_memory(sender: Path, tmp_path: Path) -> None:
    """`git remote add --mirror=push` does not stop an exchange; nothing else is pushed."""
    path = hub(tmp_path)
    git(sender, "remote", "add", "--mirror=push", "origin", str(path))
    there = remote(sender, "origin")
    there.push(git(sender, "rev-parse", SHARED))
    assert git(path, "for-each-ref", "--format=%(refname)") == SHARED

    there.delete(git(sender, "rev-parse", SHARED))
    assert git(path, "for-each-ref") == ""


@pytest.mark.parametrize("name", ["plain.git", "a=b.git", "a.b c.git"])
def test_a_path_is_a_remote(sender: Path, tmp_path: Path, name: str) -> None:
    """A path works as a remote's name, whatever characters it has."""
    path = hub(tmp_path, name)
    there = remote(sender, str(path))
    there.push(git(sender, "rev-parse", SHARED))

    assert there.has()
    assert there.fetch("refs/gitmem/remotes/x/main")


def test_another_writer_is_a_race(
    sender: Path, tmp_path: Path, make_repo: Callable[..., Path], open_store: Callable[..., Store]
) -> None:
    """A push that does not follow what is there is to be tried again after a merge."""
    path = hub(tmp_path)
    other = make_repo("plain")
    add(open_store(other))
    git(other, "push", "-q", str(path), f"{SHARED}:{SHARED}")

    assert refused(sender, path).kind == "race"


def test_a_hook_that_declines_is_policy(sender: Path, tmp_path: Path) -> None:
    """What a hook says is passed on, also when it speaks of locks and passwords."""
    path = hub(tmp_path)
    (path / "hooks" / "pre-receive").write_text(
        "#!/bin/sh\necho 'Authentication failed: cannot lock ref'; exit 1\n"
    )
    (path / "hooks" / "pre-receive").chmod(0o755)
    error = refused(sender, path)

    assert error.kind == "policy"
    assert "cannot lock ref" in str(error)


def test_a_remote_that_is_not_there(sender: Path, tmp_path: Path) -> None:
    """A wrong path is a matter of reaching it, whatever it is called."""
    error = refused(sender, tmp_path / "denied-403.git")

    assert error.kind == "network"
    assert "git remote -v" in error.hint


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (
            "fatal: unable to access 'https://example.org/x.git/': The requested URL returned error: 403",
            "auth",
        ),
        ("error: RPC failed; HTTP 401 curl 22 The requested URL returned error: 401", "auth"),
        (
            "fatal: unable to access 'https://example.org/issue-403.git/': Could not resolve host: example.org",
            "network",
        ),
        (
            "git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.",
            "auth",
        ),
        (
            "remote: error: GH013: Repository rule violations found for refs/heads/gitmem/main.\n! [remote rejected] a -> b (push declined)",
            "policy",
        ),
        ("! a:b [remote rejected] (directory file conflict)", "policy"),
        (
            "remote: fatal: unable to create temporary file: No such file or directory\n! a:b [remote rejected] (unpacker error)",
            "race",
        ),
    ],
)
def test_what_hosts_say(
    sender: Path, monkeypatch: pytest.MonkeyPatch, text: str, kind: str
) -> None:
    """Messages of hosts that a test cannot ask."""
    there = remote(sender, "origin")
    monkeypatch.setattr(there.git, "call", lambda *_, **__: (1, b"", text))
    with pytest.raises(RemoteRefused) as caught:
        there.push("0" * 40)

    assert caught.value.kind == kind


def test_an_interrupt_while_a_git_starts_comes_after_it():
    """Ctrl-C that arrives before anybody holds the child would leave the child behind."""
    steps = []
    # in the background, a shell has its commands ignore it
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_after():
            signal.raise_signal(signal.SIGINT)
            steps.append("started")
        assert steps == ["started"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, inherited)
