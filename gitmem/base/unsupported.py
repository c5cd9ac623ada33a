"""What git-mem says on a system that it does not run on: Windows, where `os.fork` is missing.

It is all that is loaded there: other modules import what POSIX has.
"""

import os

SYSTEM = "git mem needs Linux or macOS; on Windows, run it in WSL"


def is_supported() -> bool:
    """Return whether this system has the processes, locks and signals that git-mem is made of."""
    return hasattr(os, "fork")


def refuse_hook() -> int:
    """Let an agent or git go on as if there was no hook, and say why; return the exit code, 0."""
    return _say(f"git mem: this hook does nothing here: {SYSTEM}.\n", 0)


def refuse_command(*, as_json: bool = False) -> int:
    """Say why a command does nothing, as text or as `--json` has failures; return 1."""
    if as_json:
        line = f'{{"code": "system", "message": "{SYSTEM}.", "hint": ""}}\n'
        return _say(line, 1)
    return _say(f"error: {SYSTEM}.\n", 1)


def _say(line: str, code: int) -> int:
    try:
        os.write(2, line.encode())
    except OSError:  # standard error is closed
        pass
    return code
