"""A model that is a program: it reads a prompt on its standard input and prints an answer.

Agents' own CLIs are presets of it.
"""

import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gitmem.llm.prompts import read
from gitmem.llm.provider import ModelFailed
from gitmem.redaction.mask import scrub

MOST = 1 << 20  # bytes of an answer
ERRORS = 64 << 10  # bytes of what it says beside, of which the last line is shown
# seconds for what is still in the pipe when the program has ended and a child of it holds the pipe
GRACE = 0.5
STEP = 64 << 10


class Preset(NamedTuple):
    """How an agent's CLI answers one question.

    It answers without hooks, without tools, and without a trace in its list of sessions.
    """

    argv: tuple[str, ...]
    settings: str = ""  # JSON of a settings file for this run
    variable: str = ""  # that names the settings file


PRESETS: Mapping[str, Preset] = {
    "claude": Preset(
        (
            "claude",
            "-p",
            "--tools",
            "",
            "--settings",
            '{"disableAllHooks": true}',
            "--strict-mcp-config",
            "--disable-slash-commands",
            "--no-session-persistence",
            "--system-prompt",
            "You answer with one JSON object and nothing else.",
            "--output-format",
            "text",
        ),
    ),
    "gemini": Preset(
        (
            "gemini",
            "--extensions",
            "none",
            "--output-format",
            "text",
            "-p",
            "Answer with the JSON object alone.",
        ),
        '{"hooksConfig": {"enabled": false}, "tools": {"core": ["none"]}, "mcp": {"allowed": []}}',
        "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    ),
    "codex": Preset(
        (
            "codex",
            "exec",
            "--skip-git-repo-check",
            "--ephemeral",
            "--sandbox",
            "read-only",
            "--disable",
            "hooks",
            "--disable",
            "shell_tool",
            "--disable",
            "apps",
            "--disable",
            "plugins",
            "-c",
            'web_search="disabled"',
            "--color",
            "never",
            "-",
        ),
    ),
}


class CommandModel:
    """Asks a program; no shell reads the command line.

    When `ask` returns, nothing that the program started in its group is left.
    """

    remark = ""

    def __init__(
        self,
        command: str,
        timeout: float,
        env: Mapping[str, str],
        allow: Sequence[str] = (),
        preset: str = "",
    ) -> None:
        self.name = preset or "command"
        self.command = command
        self._preset = PRESETS.get(preset)
        self.timeout = timeout
        self.tokens = 0
        self._allow = allow
        # not git's variables, which name a repository; and if it is an agent, its hooks must not
        # record this as a session
        self._env = {k: v for k, v in env.items() if not k.startswith("GIT_")} | {"GITMEM": "off"}
        self._home = env.get("HOME") or "/"

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the program answers; raises ModelFailed."""
        text = scrub(text, self._allow).text  # whoever asks: no secret leaves here
        form = json.dumps(schema, ensure_ascii=False)
        prompt = (
            f"{instruction}\n\nAnswer with one JSON object and nothing else. It has this JSON "
            f"Schema:\n{form}\n\n{text}\n"
        )
        argv = list(self._preset.argv) if self._preset else words(self.command, self._home)
        answer = self._run(argv, prompt.encode("utf-8", "replace"))
        self.tokens += (len(prompt) + len(answer)) // 4  # about: a program says nothing of it
        return read(answer, schema)

    def _run(self, argv: list[str], prompt: bytes) -> str:
        # from the home folder: a relative file in its arguments must not be found in a repository
        if self._preset is None:
            return self._asked(
                argv, prompt, self._home if os.path.isdir(self._home) else "/", self._env
            )
        folder = tempfile.mkdtemp(prefix="git-mem-")
        try:
            env, work = dict(self._env), os.path.join(folder, "empty")
            os.mkdir(work)
            if self._preset.variable:
                env[self._preset.variable] = os.path.join(folder, "settings.json")
                with open(env[self._preset.variable], "w", encoding="utf-8") as file:
                    file.write(self._preset.settings)
            return self._asked(argv, prompt, work, env)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _asked(self, argv: list[str], prompt: bytes, folder: str, env: Mapping[str, str]) -> str:
        end = time.monotonic() + self.timeout
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=env,
                cwd=folder,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelFailed(
                f"the program '{argv[0]}' cannot be started: {os.strerror(error.errno or 0)}.",
                f"Install it, or put it on the PATH: which {argv[0]}"
                if self._preset
                else "Check it: git mem config modelCommand",
                kind="program",
            ) from None
        try:
            out, err = _talk(process, prompt, end)
            code = process.wait(max(0.1, end - time.monotonic()))
        except (TimeoutError, subprocess.TimeoutExpired):
            raise ModelFailed(
                f"the program '{argv[0]}' did not answer in {self.timeout:g} s and was stopped.",
                "Use a quicker model.",
                kind="timeout",
            ) from None
        finally:
            _end(process)
        if code:
            said = [
                line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()
            ]
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            why = f": {scrub(said[-1][-300:]).text}" if said else ", and said nothing on stderr."
            raise ModelFailed(
                f"the program '{argv[0]}' ended {how}{why}",
                "Try it by hand: git mem model check",
                kind="program",
            )
        return out.decode("utf-8", "replace")


def words(command: str, home: str) -> list[str]:
    """Return a command line's words.

    Raises ModelFailed for one that cannot be, or that the current folder would decide.
    """
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise ModelFailed(
            f"gitmem.modelCommand cannot be read: {str(error).lower()}.",
            "Quote it as for a shell: git mem config --global modelCommand 'PROGRAM ARGUMENTS'",
            kind="missing",
        ) from None
    if not argv:
        raise ModelFailed(
            "gitmem.modelCommand is empty.",
            "Set it: git mem config --global modelCommand PROGRAM",
            kind="missing",
        )
    if argv[0].startswith("~/"):
        argv[0] = os.path.join(home, argv[0][2:])
    if "/" in argv[0] and not argv[0].startswith("/"):
        raise ModelFailed(
            f"gitmem.modelCommand names '{argv[0]}', which would be another program in each "
            f"folder.",
            "Give its full path, or a name that is found on the PATH.",
            kind="missing",
        )
    return argv


def _talk(process: "subprocess.Popen[bytes]", prompt: bytes, end: float) -> tuple[bytes, bytes]:
    """Write the prompt and read both outputs, at once and without threads.

    Raises TimeoutError, ModelFailed for too long an answer.
    """
    with selectors.DefaultSelector() as selector:
        pipes = _Pipes(process, prompt, selector)
        gone = 0.0
        while pipes.is_reading():
            now = time.monotonic()
            if now > end:
                raise TimeoutError
            if process.poll() is not None:
                gone = gone or now + GRACE
                if now > gone:
                    break
            pipes.move(min(0.05, end - now))
    return bytes(pipes.answer), bytes(pipes.errors)


class _Pipes:
    """The pipes to and from a program."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", prompt: bytes, selector: selectors.BaseSelector
    ) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.answer = bytearray()
        self.errors = bytearray()  # the end of what the program said of them
        self._rest = memoryview(prompt)
        self._input = process.stdin
        self._kept = {process.stdout: self.answer, process.stderr: self.errors}
        self._selector = selector
        for pipe in (self._input, *self._kept):
            os.set_blocking(pipe.fileno(), False)
            is_input = pipe is self._input
            selector.register(pipe, selectors.EVENT_WRITE if is_input else selectors.EVENT_READ)

    def is_reading(self) -> bool:
        """Return whether the program may still print something."""
        return any(key.fileobj is not self._input for key in self._selector.get_map().values())

    def move(self, seconds: float) -> None:
        """Write and read what can be, waiting so long for it; close what has ended.

        Raises ModelFailed for too long an answer.
        """
        for key, _ in self._selector.select(seconds):
            pipe: Any = key.fileobj
            try:
                ended = self._write(key.fd) if pipe is self._input else self._read(pipe, key.fd)
            except BlockingIOError:
                continue
            except OSError:  # it closed its input: it may answer all the same
                ended = True
            if ended:
                self._selector.unregister(pipe)
                pipe.close()
        del self.errors[:-ERRORS]
        if len(self.answer) > MOST:
            raise ModelFailed(
                f"the program printed more than {MOST >> 20} MiB and was stopped.",
                "It should print one JSON object.",
                kind="program",
            )

    def _write(self, fd: int) -> bool:
        self._rest = self._rest[os.write(fd, self._rest[:STEP]) :]
        return not self._rest

    def _read(self, pipe: Any, fd: int) -> bool:
        data = os.read(fd, STEP)
        self._kept[pipe] += data
        return not data


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the program and its whole group, which is there as long as one of it runs."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass  # nobody is left
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
    process.wait()
