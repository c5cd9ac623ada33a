"""Many calls of `git-mem`, each in a process of its own that begins where Python and the package are loaded already."""

import json
import os
import subprocess
import sys
from pathlib import Path

SECONDS = 40


class Runner:
    """A process that forks for each call. What a call leaves to the background runs too, once each, before the runner ends."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self._child = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )

    def call(
        self, folder: Path, *args: str, stdin: str = "", env: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """Run a command in a folder; return (exit code, output and errors)."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        job = {
            "folder": str(folder),
            "args": args,
            "stdin": stdin,
            "env": {**self.env, **(env or {})},
        }
        self._child.stdin.write(json.dumps(job) + "\n")
        self._child.stdin.flush()
        code, said = json.loads(self._child.stdout.readline())
        return code, said

    def end(self) -> list[tuple[int, str]]:
        """Run what waits for the background, and end; return what came of it."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        out = [json.loads(line) for line in self._child.stdout]
        self._child.stdout.close()
        self._child.wait()
        return [(code, said) for code, said in out]


def _serve() -> None:
    import gitmem.app
    import gitmem.cli.main
    import gitmem.cli.terminal
    import gitmem.githooks
    import gitmem.hooks.main  # noqa: F401

    waiting: dict[str, dict[str, object]] = {}
    queue = f"/tmp/gitmem-runner-{os.getpid()}"
    out = os.fdopen(os.dup(1), "w")
    try:
        for line in sys.stdin:
            print(json.dumps(_forked(json.loads(line), queue)), file=out, flush=True)
            for job in _taken(queue):
                waiting.setdefault(json.dumps([job["folder"], job["args"]]), job)
        for job in waiting.values():
            print(json.dumps(_forked(job, queue)), file=out, flush=True)
    finally:
        _taken(queue)


def _taken(queue: str) -> list[dict[str, object]]:
    if not os.path.exists(queue):
        return []
    with open(queue) as file:
        jobs = [json.loads(line) for line in file]
    os.unlink(queue)
    return jobs


def _forked(job: dict[str, object], queue: str) -> tuple[int, str]:
    import tempfile

    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as given:
        given.write(str(job["stdin"]).encode())
        given.seek(0)
        child = os.fork()
        if not child:
            _call(job, queue, given.fileno(), said.fileno())
        status = os.waitpid(child, 0)[1]
        said.seek(0)
        return os.waitstatus_to_exitcode(status), said.read().decode("utf-8", "replace")


def _call(job: dict[str, object], queue: str, given: int, said: int) -> None:
    import signal

    code = 99
    try:
        signal.alarm(SECONDS)
        os.dup2(given, 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        env, folder = job["env"], str(job["folder"])
        assert isinstance(env, dict)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(folder)
        os.posix_spawn = _postponed(queue)  # type: ignore[assignment]
        sys.argv = ["git-mem", *job["args"]]  # type: ignore[misc]
        from gitmem.__main__ import main

        code = main()
        sys.stdout.flush()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 1
    except BaseException:  # noqa: BLE001 - what it was is in the output
        import traceback

        traceback.print_exc()
    os._exit(code)


def _postponed(queue: str):  # type: ignore[no-untyped-def]
    def spawn(path: str, argv: list[str], env: dict[str, str], **_: object) -> int:
        job = {
            "folder": os.getcwd(),
            "args": argv[argv.index("gitmem") + 1 :],
            "stdin": "",
            "env": dict(env),
        }
        with open(queue, "a") as file:
            file.write(json.dumps(job) + "\n")
        return 0

    return spawn


if __name__ == "__main__":
    _serve()
