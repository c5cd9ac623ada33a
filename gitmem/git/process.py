"""Run git: a scrubbed environment, explicit options, a deadline, failures by class.

The only module that starts git. Nothing of the caller's environment that could point git at
another repository, open a prompt or run a hook gets through.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gitmem.base.git_guard import (
    GUARDS,
    LIST,
    OFFLINE,
    Overrides,
    as_environment,
    names_transport,
    verb_of,
    without_programs,
)
from gitmem.config import command_settings
from gitmem.errors import External, GitFailed, UntrustedRepository
from gitmem.repo.location import Location, is_own

# `subprocess` is imported where git is started: a command that needs no git does without
if TYPE_CHECKING:
    import subprocess

# What a child may see of GIT_*: how to reach a remote, nothing that names a repository.
KEPT = frozenset(
    {
        "GIT_SSH",  # the user's ssh program
        "GIT_SSH_COMMAND",  # ... and its options
        "GIT_SSH_VARIANT",  # ... and its dialect
        "GIT_ASKPASS",  # a non-interactive credential helper
        # the user's certificates
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_NO_VERIFY",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_PROXY_COMMAND",
        "GIT_HTTP_USER_AGENT",
        "GIT_HTTP_PROXY_AUTHMETHOD",  # the user's proxy
        # where the user's settings are
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        # what transports the user allows
        "GIT_ALLOW_PROTOCOL",
        "GIT_PROTOCOL",
        "GIT_PROTOCOL_FROM_USER",
        # which git, and debugging it
        "GIT_EXEC_PATH",
        "GIT_TRACE",
        "GIT_TRACE_CURL",
        "GIT_CURL_VERBOSE",
        "GIT_TRACE_PACKET",
        "GIT_NO_LAZY_FETCH",  # whether missing objects of a partial clone are fetched
        # how far a search for a repository goes
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)

# -c settings of every call: run no program unasked, never start maintenance, never wait long for a
# ref lock.
QUIET = (
    *GUARDS,
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    # a waiting update-ref can succeed twice for one old value: measured
    "-c",
    "core.filesRefLockTimeout=0",
    "-c",
    "core.packedRefsTimeout=1000",
    "-c",
    "advice.graftFileDeprecated=false",
    "-c",
    "color.ui=false",
)

# verbs that run no program, and tell or write what is configured
_SETTING_UP = frozenset({"config", "init"})

# What a durable write adds: objects and refs reach the disk before git returns (git >= 2.36).
DURABLE = (
    "-c",
    "core.fsync=loose-object,pack,pack-metadata,reference",
    "-c",
    "core.fsyncMethod=fsync",
    "-c",
    "core.fsyncObjectFiles=true",
)


def child_env(env: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a git child: the caller's, without GIT_* that could mislead it."""
    out = {key: value for key, value in env.items() if not key.startswith("GIT_") or key in KEPT}
    out["GIT_TERMINAL_PROMPT"] = "0"
    out["GCM_INTERACTIVE"] = "never"
    out["GIT_OPTIONAL_LOCKS"] = "0"
    out["GIT_NO_REPLACE_OBJECTS"] = "1"
    out["LC_ALL"] = "C.UTF-8"  # error messages are classified by their English text
    out["LANGUAGE"] = ""
    if extra:
        out.update(extra)
    return out


_running: set["subprocess.Popen[bytes]"] = set()  # calls that a thread waits for


OBJECT_NAME = re.compile("[0-9a-f]{4,64}")


def is_object_name(text: str) -> bool:
    """Say whether a text can be an object's id, whole or abbreviated.

    What a record names goes to git only if it is one: git takes a text that begins with a hyphen
    for an option, and some options write files or run programs.
    """
    return OBJECT_NAME.fullmatch(text) is not None


class Git:
    """The git command on one repository, named explicitly, with a fixed environment.

    It runs no program that the repository's own configuration names, and fetches nothing, unless
    it `obeys` that configuration: for what the user asked to write or to exchange.
    """

    def __init__(
        self, gitdir: str, env: Mapping[str, str], *, timeout: float = 60.0, obeys: bool = False
    ) -> None:
        self.gitdir = gitdir
        self.env = child_env(env)
        self.timeout = timeout
        self.obeys = obeys
        self._overrides = Overrides(gitdir, self._listing)

    def obeying(self) -> "Git":
        """Return the same git for what the user asked for.

        Programs of the repository's configuration run, and objects are fetched.
        """
        return Git(self.gitdir, self.env, timeout=self.timeout, obeys=True)

    def names_transport(self) -> bool:
        """Return whether the repository's configuration names a program to reach a remote.

        Git would start that program.
        """
        return names_transport(self._listing())

    def _listing(self) -> bytes:
        return self.run(*LIST)

    def command(self, args: Sequence[str], config: Sequence[str] = ()) -> list[str]:
        """Return the full argument vector of a call."""
        rest = [*config, *args]
        return [
            "git",
            "--git-dir",
            self.gitdir,
            *QUIET,
            *(rest if self.obeys else without_programs(rest)),
        ]

    def child_env(
        self, args: Sequence[str], extra: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Return the environment of a call."""
        env = {**self.env, **(extra or {})}
        if self.obeys:
            return env
        env.update(OFFLINE)
        if verb_of(args) not in _SETTING_UP:
            env.update(as_environment(self._overrides.pairs(), env))
        return env

    def run(
        self,
        *args: str,
        stdin: bytes | None = None,
        config: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        ok: Iterable[int] = (0,),
        timeout: float | None = None,
    ) -> bytes:
        """Run git and return its output.

        Raises GitFailed, External on a missing git or a passed deadline.
        """
        return self.call(*args, stdin=stdin, config=config, env=env, ok=ok, timeout=timeout)[1]

    def call(
        self,
        *args: str,
        stdin: bytes | None = None,
        config: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        ok: Iterable[int] = (0,),
        timeout: float | None = None,
    ) -> tuple[int, bytes, str]:
        """Run git and return (exit code, output, error text).

        Codes outside `ok` raise GitFailed.
        """
        import subprocess

        argv = self.command(args, config)
        full = self.child_env(args, env)
        limit = self.timeout if timeout is None else timeout
        process: subprocess.Popen[bytes] | None = None
        try:
            # stdin is never inherited: a language server's or a hook's input is not git's to read
            with interrupts_after():
                process = subprocess.Popen(
                    argv,
                    stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env=full,
                    start_new_session=True,
                )
                _running.add(process)
            out, err = process.communicate(stdin, timeout=limit)
        except FileNotFoundError as error:
            raise External(
                "git is not installed, or not on the PATH.", "Install git 2.30 or newer."
            ) from error
        except subprocess.TimeoutExpired as error:
            _kill_group(process)
            raise External(
                f"git {verb_of(args)} did not finish in {limit:g} s and was stopped.",
                "Check the network or the disk and try again.",
            ) from error
        except BaseException:
            _kill_group(process)
            raise
        finally:
            if process is not None:
                _running.discard(process)
        text = err.decode("utf-8", "replace").strip()
        if process.returncode not in ok:
            raise failure(verb_of(args), process.returncode, text)
        return process.returncode, out, text

    def open(self, *args: str, config: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
        """Start a long-lived git child with pipes on stdin and stdout; the caller ends it."""
        import subprocess

        return subprocess.Popen(
            self.command(args, config),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.child_env(args),
            start_new_session=True,
        )


@contextlib.contextmanager
def interrupts_after() -> Iterator[None]:
    """Raise KeyboardInterrupt for a Ctrl-C only when the block has ended.

    A child that is being started would otherwise go on, since nobody holds its handle yet.
    """
    import signal
    import threading

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupts:
        raise KeyboardInterrupt


# what git says of a repository that a newer one made: an extension, or a version of the format
_UNKNOWN_FORMAT = re.compile(
    r"extensions? found:\s*(\S+)|Expected git repo version [^\n]{0,40}found (\d+)"
)


def failure(verb: str, code: int, text: str) -> GitFailed | UntrustedRepository:
    """Return the error for a failed git call, by class."""
    if "dubious ownership" in text:
        line = next((part.strip() for part in text.splitlines() if "safe.directory" in part), "")
        return UntrustedRepository(
            "this repository belongs to another user, so git refuses to use it.",
            f"If you trust it, run: {line}",
        )
    if unknown := _UNKNOWN_FORMAT.search(text):
        name = f"extension '{unknown[1]}'" if unknown[1] else f"format version {unknown[2]}"
        return GitFailed(
            f"this git does not know the repository's {name}.",
            "Nothing is damaged. Use the git that made the repository, or a newer one.",
            code=code,
            stderr=text,
        )
    last = text.splitlines()[-1] if text else f"exit code {code}"
    return GitFailed(f"git {verb} failed: {last}", "", code=code, stderr=text)


def _kill_group(process: "subprocess.Popen[bytes] | None") -> None:
    """End a child, if it was started, and whatever it started (ssh, remote helpers)."""
    import signal

    if process is None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (OSError, PermissionError):
        process.kill()
    process.communicate()


def end_running_calls() -> None:
    """End the calls of git that other threads of this process still wait for.

    A process that ends without them would leave a git that hangs behind.
    """
    import signal

    for process in list(_running):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def check_owner(where: Location, start: str, env: Mapping[str, str]) -> None:
    """Raise UntrustedRepository when git would refuse a repository for its owner.

    `--git-dir` switches git's own check off, so it is asked once, without it, when part of it is
    another user's. A `safe.directory` that the user gave for this command counts.
    """
    if is_own(where):
        return
    import subprocess

    result = subprocess.run(
        ["git", *GUARDS, "-C", start, "rev-parse", "--git-dir"],
        env={**child_env(env), **command_settings(env), **OFFLINE},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    text = result.stderr.decode("utf-8", "replace")
    if "dubious ownership" in text:
        raise failure("rev-parse", result.returncode, text)
