"""Servers that start in no time, each a process of its own: forked from one that has loaded the server's modules.

Most of a cold start is loading the protocol's types, and there is a server a test. `nurse` runs in the process that forks; run as
a script this is what a client starts instead of the server: it hands its streams and its environment over and waits for the exit code.
"""

import array
import json
import os
import signal
import socket
import sys

LOST = 70  # the exit code of a server that ended without saying one


def nurse(path: str) -> None:
    """Fork a server for everyone who connects to a socket, until killed."""
    import gc

    import gitmem_lsp.server
    from gitmem_lsp.__main__ import main

    assert gitmem_lsp.server
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
        os.environ.clear()
        os.environ.update(json.loads(said))
        code = main([])
        connection.sendall(bytes([code]))
        sys.exit(code)


def stand_in(path: str) -> int:
    """Have a server forked on our streams; return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
        connection.sendmsg([json.dumps(dict(os.environ)).encode()], [rights])
        return (connection.recv(1) or bytes([LOST]))[0]


if __name__ == "__main__":
    sys.exit(stand_in(sys.argv[1]))
