"""Servers that start in no time, each a process of its own: forked from one that has loaded the server's modules.

Most of a cold start is loading the protocol's types, and there is a server a test. `nurse` runs in the process that forks; run as
a script this is what a client starts instead of the server: it hands its streams, environment, folder and words over and waits for the exit code.
"""

import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LOST = 70  # the exit code of a server that ended without saying one


@contextlib.contextmanager
def nursery(folder: Path, module: str, *loaded: str) -> Iterator[list[str]]:
    """Run a nursery; give the words that start a server as `python -m MODULE` would, to which arguments may be added."""
    path = str(folder / "socket")
    program = f"from tests.nursery import nurse; nurse({path!r}, {module!r}, *{loaded!r})"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield [sys.executable, "-I", "-S", __file__, path]
        process.kill()


def nurse(path: str, module: str, *loaded: str) -> None:
    """Fork a server for everyone who connects to a socket, until killed."""
    import gc
    from importlib import import_module

    main = import_module(f"{module}.__main__").main
    for name in loaded:
        import_module(name)
    sys.path[:] = [
        folder for folder in sys.path if folder
    ]  # the folder of a server is no place for modules
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        if os.fork():
            connection.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listener.close()
        said, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        given = json.loads(said)
        os.environ.clear()
        os.environ.update(given["env"])
        os.chdir(given["folder"])
        sys.argv[1:] = given["words"]
        connection.sendall(os.getpid().to_bytes(4, "little"))
        code = main()
        sys.stdout.flush()
        connection.sendall(bytes([code]))
        sys.exit(code)


def stand_in(path: str, words: list[str]) -> int:
    """Have a server forked on our streams; return its exit code."""
    given = {"env": dict(os.environ), "folder": os.getcwd(), "words": words}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
        connection.sendmsg([json.dumps(given).encode()], [rights])
        pid = int.from_bytes(connection.recv(4, socket.MSG_WAITALL), "little")
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: os.kill(pid, number))
        return (connection.recv(1) or bytes([LOST]))[0]


if __name__ == "__main__":
    sys.exit(stand_in(sys.argv[1], sys.argv[2:]))
