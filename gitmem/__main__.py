"""Entry point: a hook takes the hot path, everything else the commands.

Neither pays for the other.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

ASKING = {"-h", "--help", "--settings", "--package"}  # options of `hook` that people give
BACKGROUND = (["drain"], ["read-code"])  # commands that hooks leave work to
INTERRUPTED = 130  # exit code
COLLECTING = 50_000  # new objects until garbage is looked for: most commands end before


def main() -> int:
    """Run `git-mem`; return the exit code."""
    args = sys.argv[1:]
    hook = hook_of(args)
    if not hasattr(os, "fork"):
        return _refuse(args, is_hook=hook is not None)
    if hook is not None:
        import _signal  # type: ignore[import-not-found] # `signal` itself builds enums
        import gc

        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # ctrl-c is for the agent
        gc.disable()  # it ends before there is much to collect
        from gitmem.hooks.main import main as hot

        return hot(hook)
    if args[:1] == ["git-hook"]:
        from gitmem.githooks import main as git_hook

        return git_hook(args[1:])
    if args[:1] == ["__complete"]:
        from gitmem.cli.completion import main as complete

        return complete(args[1:])
    # as `base.detach` starts it
    if args[:1] == ["-C"] and args[2:] in BACKGROUND and os.getsid(0) == os.getpid():
        return _work(args)
    import gc

    gc.set_threshold(COLLECTING)
    from gitmem.cli.main import run

    return run(args)


def _refuse(args: list[str], *, is_hook: bool) -> int:
    """Answer a command line on a system that git-mem does not run on; return the exit code."""
    from gitmem.base import unsupported

    if args in (["--version"], ["version"]):
        from gitmem import __version__

        print(f"git-mem version {__version__}")  # noqa: T201 - click is not loaded here
        return 0
    if is_hook or args[:1] == ["git-hook"]:
        return unsupported.refuse_hook()
    return unsupported.refuse_command(as_json="--json" in args)


def command_line() -> None:
    """Run `git-mem` as a process of its own, and end it without taking it apart first."""
    try:
        code = _finish(main())
    except KeyboardInterrupt:
        code = INTERRUPTED
        try:
            os.write(2, b"interrupted.\n")
        except OSError:
            pass
    os._exit(code)


def _finish(code: int) -> int:
    """Do what Python does before it takes a process apart; return the exit code.

    Threads end, exit handlers run, output is written. That it cannot be written is an error, but
    not that nobody reads it.
    """
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()
    import atexit

    atexit._run_exitfuncs()
    error = _flush(sys.stdout)
    if error is not None:
        from gitmem.cli import failures

        code = code or failures.report(error, sys.argv[1:])
    _flush(sys.stderr)
    return code


def _flush(stream: "TextIO | None") -> OSError | None:
    """Write what a stream holds; return why it cannot be written for somebody who reads it."""
    try:
        if stream is not None:
            stream.flush()
    except (BrokenPipeError, ValueError):  # nobody reads it; it is closed
        pass
    except OSError as error:
        return error
    return None


def _work(args: list[str]) -> int:
    if not os.environ.get("GITMEM_AWAITED"):
        from gitmem.base.priority import stand_back

        stand_back()
    try:
        from gitmem.worker.background import main as background

        return background(args[1], args[2])
    except Exception as error:  # noqa: BLE001 - told as a command that fails tells it
        from gitmem.cli import failures

        return failures.report(error, args)


def hook_of(args: list[str]) -> list[str] | None:
    """Return what follows `hook` on a command line, the folder of `-C` entered.

    None for another command, or its help.

    A hook must not fail, so that nothing before it may either.
    """
    folders, at = [], 0
    while at < len(args) and args[at].startswith("-"):
        word = args[at]
        if word in {"-C", "--color"}:
            folders += args[at + 1 : at + 2] if word == "-C" else []
            at += 1
        elif word.startswith("-C"):
            folders.append(word[2:])
        elif word != "--no-pager" and not word.startswith("--color="):
            return None
        at += 1
    rest = args[at + 1 :]
    if args[at : at + 1] != ["hook"] or rest[:1] in (["off"], ["on"]) or ASKING & set(rest):
        return None
    for folder in folders:
        try:
            os.chdir(folder)
        except (OSError, ValueError):
            break  # the payload says where
    return rest


if __name__ == "__main__":
    command_line()
