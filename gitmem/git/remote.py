"""Exchange one ref with a remote through the system git: its credentials, ssh settings and proxies.

Explicit refspecs, no force, no hooks, no prompts, a deadline; `remote.*` is never written. What a
failure means is read from git's English messages (LC_ALL is fixed in `process.child_env`).
"""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence

from gitmem.errors import External, GitFailed, RemoteRefused, UserError
from gitmem.git.process import Git

# -c settings of an exchange, each against a surprise measured with real git.
ISOLATED = (
    "-c",
    "fetch.prune=false",  # a pruning fetch deletes unpushed refs of ours
    "-c",
    "fetch.pruneTags=false",
    "-c",
    "fetch.writeCommitGraph=false",
    "-c",
    "submodule.recurse=false",
    "-c",
    "push.followTags=false",
    "-c",
    "push.gpgSign=false",
    "-c",
    "push.recurseSubmodules=no",
    "-c",
    "credential.interactive=false",
    "-c",
    "transfer.fsckObjects=false",
)

_AUTH = (
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Permission denied (",
    "terminal prompts disabled",
    "returned error: 403",
    "returned error: 401",
)
_NETWORK = (
    "Could not resolve host",
    "Connection refused",
    "Connection timed out",
    "Operation timed out",
    "Connection reset",
    "Network is unreachable",
    "early EOF",
    "unable to access",
    "hung up unexpectedly",
    "unexpected disconnect",
    "Couldn't connect",
    "No route to host",
    "kex_exchange_identification",
)
_POLICY = (
    "pre-receive hook declined",
    "hook declined",
    "hidden ref",
    "deny updating",
    "prohibited",
    "GH013",
    "protected",
    "not allowed",
    "funny refname",
    "unable to parse branch",
    "is not permitted",
    "refusing to",
    "denied",
    "not permitted",
    "update hook",
)
_RACE = (
    "[rejected]",
    "fetch first",
    "non-fast-forward",
    "stale info",
    "cannot lock ref",
    "incorrect old value",
    "failed to update ref",
    "failed to lock",
    "reference already exists",
    "remote: error: Unable to create",
    "File exists",
)
# a ref is named as a folder of ours
_IN_THE_WAY = ("exists; cannot create", "directory file conflict")
_UNPACK = ("unpacker error", "pack exceeds maximum allowed size", "remote unpack failed")
# the remote's own gc took a folder away while it unpacked: worth another try
_VANISHED = "No such file"


def urls(raw: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the configured remotes with their URLs, from git's configuration (name -> values)."""
    return {
        key[7:-4]: values[-1]
        for key, values in raw.items()
        if key.startswith("remote.") and key.endswith(".url")
    }


def is_partial(raw: Mapping[str, Sequence[str]]) -> bool:
    """Say whether the repository is a partial clone, by git's configuration."""
    return any(
        key.startswith("remote.") and key.endswith((".promisor", ".partialclonefilter"))
        for key in raw
    )


def ssh_command(env: Mapping[str, str], setting: Callable[[str], str]) -> str:
    """Return the ssh command that git would use, empty for its default."""
    return env.get("GIT_SSH_COMMAND") or setting("core.sshcommand")


class Remote:
    """One remote (a configured name, a URL, a path or a bundle) and the ref of memory there."""

    def __init__(
        self,
        git: Git,
        name: str,
        ref: str,
        env: Mapping[str, str],
        *,
        ssh: str = "",
        timeout: float = 60.0,
        partial: bool = False,
    ) -> None:
        self.git = git.obeying()
        self._unasked = git
        self.name = name
        self.ref = ref
        self.timeout = timeout
        self.partial = partial
        self._env = {"GIT_SSH_COMMAND": _quiet_ssh(ssh)} if ssh or "GIT_SSH" not in env else {}

    def _call(self, *args: str) -> tuple[int, bytes, str]:
        if self.name.startswith("-") or "\n" in self.name:
            raise UserError(f"'{self.name}' is not a remote.")
        return self.git.call(
            *args,
            config=(*ISOLATED, *self._unmirrored()),
            env={**self._env, "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"},
            ok=range(256),
            timeout=self.timeout,
        )

    def _unmirrored(self) -> tuple[str, ...]:
        # git takes no refspec for a remote that mirrors; a path or a URL is not a remote with
        # settings, and '=' would end the setting's name
        named = not self.name.startswith("/") and not set(self.name) & set("=:")
        return ("-c", f"remote.{self.name}.mirror=false") if named else ()

    def fetch(self, into: str, *, again: bool = False) -> bool:
        """Fetch the ref into a tracking ref; False when the remote does not have it.

        Raises RemoteRefused.

        `again` also fetches what should be here already, for when it is not (git 2.36 or newer).
        """
        for pause in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 0.0):
            code, text = self._fetch(into, ["--refetch"] if again else [])
            if code == 0:
                return True
            if "couldn't find remote ref" in text or "Couldn't find remote ref" in text:
                return False
            # another sync of this clone holds the tracking ref, or has just moved it
            if not pause or into not in text or not any(part in text for part in _RACE):
                break
            import random  # few have to wait

            time.sleep(pause * random.uniform(0.5, 1.5))
        raise self._refusal(code, text, "read")

    def _fetch(self, into: str, how: Sequence[str]) -> tuple[int, str]:
        # a partial clone would fetch our ref without its blobs
        partial = ["--no-filter"] if self.partial else []
        code, _, text = self._call(
            "fetch",
            "--no-tags",
            "--no-auto-gc",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            # a user's own '+refs/gitmem/*:refs/gitmem/*' would overwrite what is not sent yet
            "--refmap=",
            *partial,
            *how,
            "--",
            self.name,
            f"+{self.ref}:{into}",
        )
        return code, text

    def has(self, timeout: float = 10.0) -> bool:
        """Say whether the remote has the ref; False when it cannot be asked.

        Nobody asked for an exchange, so a program that the repository's configuration names for it
        is not run either.
        """
        try:
            if self._unasked.names_transport():
                return False
            code, out, _ = self.git.call(
                "ls-remote",
                "--",
                self.name,
                self.ref,
                config=ISOLATED,
                env=self._env,
                ok=range(256),
                timeout=timeout,
            )
        except External:
            return False
        return code == 0 and bool(out.strip())

    def push(self, oid: str, lease: str | None = None) -> None:
        """Set the remote's ref to a commit, fast-forward only.

        Raises RemoteRefused (`kind` race: fetch, merge, try again).

        `lease` is the old value that may be replaced against the rule: only a purge that the user
        sent gives it.
        """
        force = [f"--force-with-lease={self.ref}:{lease}"] if lease is not None else []
        plus = "+" if lease is not None else ""
        code, out, text = self._call(
            "push",
            "--no-verify",
            "--porcelain",
            "--no-follow-tags",
            *force,
            "--",
            self.name,
            f"{plus}{oid}:{self.ref}",
        )
        if code:
            detail = " ".join(
                line for line in out.decode("utf-8", "replace").splitlines() if line.startswith("!")
            )
            raise self._refusal(code, f"{text}\n{detail}", "write")

    def delete(self, lease: str) -> None:
        """Delete the remote's ref if it still has a value; raises RemoteRefused."""
        code, out, text = self._call(
            "push",
            "--no-verify",
            "--porcelain",
            f"--force-with-lease={self.ref}:{lease}",
            "--",
            self.name,
            f":{self.ref}",
        )
        if code:
            raise self._refusal(code, text + "\n" + out.decode("utf-8", "replace"), "write")

    def _refusal(self, code: int, text: str, way: str) -> RemoteRefused | GitFailed:
        signs = _signs(text)

        def seen(parts: tuple[str, ...]) -> bool:
            return any(part in signs for part in parts)

        telling = [
            line.strip()
            for line in text.splitlines()
            if line.startswith(("!", "remote: ", "fatal: ", "error: ", "ssh: "))
        ]
        empty = "error: failed to push some refs"  # git's last word, which gives no reason
        said = next(
            (line for line in telling if not line.startswith(empty)), text.strip()[:200]
        ).replace("\t", " ")
        if "does not appear to be a git repository" in signs or (
            "not found" in signs and "repository" in signs.lower()
        ):
            return RemoteRefused(
                f"'{self.name}' is not a remote that can be reached: {said}",
                "See your remotes with 'git remote -v'.",
                kind="network",
            )
        if way == "write" and seen(_IN_THE_WAY):
            folder = self.ref.rpartition("/")[0]
            return RemoteRefused(
                f"{self.name} has no room for {self.ref}: a ref named {folder} is in the way.",
                f"Rename it there ({folder.removeprefix('refs/heads/')}), or keep memory on "
                f"another ref or in another repository: "
                "git mem remote enable --help",
                kind="policy",
            )
        if way == "write" and seen(_UNPACK) and _VANISHED not in signs:
            return RemoteRefused(
                f"{self.name} could not take the objects: {said}",
                "It limits their size, or its disk is full: ask who runs it. Until then carry "
                "memory in a file: git mem sync --bundle FILE",
                kind="policy",
            )
        if way == "write" and (seen(_RACE) or seen(_UNPACK)) and not seen(_POLICY):
            return RemoteRefused(
                f"somebody else wrote to {self.name} at the same time.",
                "Run the command again.",
                kind="race",
            )
        if seen(_AUTH) and not seen(("hook declined", "GH013")):
            return RemoteRefused(
                f"{self.name} did not accept your credentials: {said}",
                "Check that 'git fetch' works without asking for a password.",
                kind="auth",
            )
        if way == "write" and ("[remote rejected]" in signs or seen(_POLICY)):
            return RemoteRefused(
                f"{self.name} refuses the ref {self.ref}: {said}",
                "Three ways out: keep memory on a branch (git mem remote enable NAME --branch), in "
                "another repository "
                "(git mem remote enable URL), or carry it in a file (git mem sync --bundle FILE).",
                kind="policy",
            )
        if seen(_NETWORK):
            return RemoteRefused(
                f"{self.name} cannot be reached: {said}",
                "Nothing is lost: run 'git mem sync' when it is.",
                kind="network",
            )
        return RemoteRefused(
            f"the exchange with {self.name} failed (git exit {code}): {said}",
            "Run 'git mem doctor', or git itself, to see more.",
            kind="network",
        )


def _signs(text: str) -> str:
    """Return what git said without names.

    A folder called `protected` or a `403` in a URL says nothing about the failure.
    """
    lines = (line for line in text.splitlines() if not line.startswith("To "))
    return "\n".join(re.sub(r"'[^'\n]*'|\b[a-z+]+://\S+", "", line) for line in lines)


def _quiet_ssh(command: str) -> str:
    """Return the user's ssh command with prompts off, if it is OpenSSH.

    Anything else is left alone.
    """
    base = command or "ssh"
    program = os.path.basename(base.split()[0]) if base.split() else ""
    return f"{base} -oBatchMode=yes -oConnectTimeout=10" if program == "ssh" else base


def bundle(git: Git, path: str, ref: str) -> None:
    """Write a ref and its history to a file that `git fetch` reads; raises GitFailed."""
    git.run("bundle", "create", "-q", "--", os.path.abspath(path), ref, timeout=600)
