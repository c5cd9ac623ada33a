"""Which process an agent is, and whether it is still there.

Standard library only; the hot path imports this.

A process is named by its host, its id and the time it was started, since ids come again. Where
there is no `/proc`, nothing is known.
"""

import os

# between an agent and its hook: what only starts something else
_BETWEEN = frozenset(
    {
        "sh",
        "bash",
        "dash",
        "ash",
        "zsh",
        "ksh",
        "fish",
        "busybox",
        "env",
        "timeout",
        "nice",
        "git",
        "git-mem",
        "sudo",
        "setsid",
    }
)
_DEEP = 8
_passed: "set[int]" = set()


def pass_over(pid: int) -> None:
    """Take a process for one of those that only start something else."""
    _passed.add(pid)


def agent() -> str:
    """Return the process that started this one, shells passed over, as `host pid start`.

    '' when that cannot be told.
    """
    pid = os.getppid()
    for _ in range(_DEEP):
        process_stat = _stat(pid)
        if process_stat is None or pid <= 1:
            return ""
        name, parent, start = process_stat
        if name not in _BETWEEN and pid not in _passed:
            return f"{_host()} {pid} {start}"
        pid = parent
    return ""


def starting_command() -> bytes:
    """Return the command line of what started this process, such as a shell; empty if not known."""
    pid = os.getppid()
    while pid in _passed and (process_stat := _stat(pid)):
        pid = process_stat[1]
    return _command_line(pid)


def arguments(process: str) -> "list[str]":
    """Return the program and the arguments of a process that runs here, as far as is known."""
    pid = process.partition(" ")[2].partition(" ")[0]
    if not pid.isdigit() or is_gone(process) is not False:
        return []
    words = _command_line(int(pid)).split(b"\0")
    return [word.decode("utf-8", "replace") for word in words if word]


def _command_line(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read(1 << 16)
    except OSError:
        return b""


def own() -> str:
    """Return this process, in the form of `agent`; '' when that cannot be told."""
    process_stat = _stat(os.getpid())
    return f"{_host()} {os.getpid()} {process_stat[2]}" if process_stat else ""


def leader() -> str:
    """Return the process that leads this terminal's session, in the form of `agent`.

    '' where there is no terminal, or it cannot be told.
    """
    try:
        pid = os.getsid(0)
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read(4096).decode("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    process_stat = _stat(pid)
    # the field tty_nr
    return (
        f"{_host()} {pid} {process_stat[2]}"
        if process_stat and len(fields) > 4 and fields[4] != "0"
        else ""
    )


def terminal() -> str:
    """Return the process that leads this terminal, a person's shell, in the form of `agent`.

    '' when that cannot be told.
    """
    try:
        leader = os.getsid(0)
    except OSError:
        return ""
    process_stat = _stat(leader)
    return f"{_host()} {leader} {process_stat[2]}" if process_stat and leader > 1 else ""


def is_gone(process: str) -> bool | None:
    """Say whether a process has ended.

    None when it is another host's, or nothing is known of processes.
    """
    host, _, rest = process.partition(" ")
    pid, _, start = rest.partition(" ")
    if host != _host() or not pid.isdigit() or _stat(os.getpid()) is None:
        return None
    process_stat = _stat(int(pid))
    if process_stat is None and _is_hidden(int(pid)):
        return None
    return process_stat is None or process_stat[2] != start


def _host() -> str:
    """Return this machine's name, the id of its boot and the namespace of its process ids."""
    try:
        space = os.readlink("/proc/self/ns/pid")
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            space = f"{file.read(36)}/{space}"
    except (OSError, ValueError):
        space = "-"
    return f"{os.uname().nodename}/{space}".replace(" ", "-")


def _is_hidden(pid: int) -> bool:
    """Return whether a process of another user exists.

    The mount option `hidepid` of `/proc` may hide such a process.
    """
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        pass
    return False


def _stat(pid: int) -> "tuple[str, int, str] | None":
    """Return (name, parent, start) of a process that runs.

    A dead one that nobody has buried does not run.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read(4096).decode("utf-8", "replace")
    except OSError:
        return None
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    if len(fields) < 20 or fields[0] in {"Z", "X"}:
        return None
    # the fields of proc(5) from the third on: 4 is the parent, 22 the start
    return name, int(fields[1]), fields[19]


def runs(pid: str) -> bool:
    """Say whether a process of this machine runs.

    One that has ended and waits for its parent does not.
    """
    try:
        if int(pid) <= 0:
            return False  # a group of processes
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return _stat(int(pid)) is not None or _stat(os.getpid()) is None
