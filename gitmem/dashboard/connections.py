"""The connections of a server: a bounded number, of which those that prove nothing give way."""

import socket
import threading
from contextlib import suppress

MOST = 128  # at once; each has a thread
TRUSTED_MOST = 64  # of them with a token
STREAMS_MOST = 24  # of those that are open streams of events: one for each page


class Connections:
    """Open connections, oldest first; those that have shown the token are never closed for others.

    Streams of events are the exception: the oldest gives way to a new one.

    A flood of connections costs threads up to `MOST`, and never those of the page.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unproved: dict[socket.socket, None] = {}
        self._proved: set[socket.socket] = set()
        self._streams: dict[socket.socket, None] = {}

    def add(self, connection: socket.socket) -> None:
        """Take a connection; when there are too many, the oldest that proved nothing is closed."""
        with self._lock:
            self._unproved[connection] = None
            if len(self._unproved) + len(self._proved) <= MOST:
                return
            oldest = next(iter(self._unproved))
            del self._unproved[oldest]
        _shut(oldest)

    def prove(self, connection: socket.socket) -> bool:
        """Note that a connection showed the token; False where too many did."""
        with self._lock:
            if connection in self._proved:
                return True
            if connection not in self._unproved or len(self._proved) >= TRUSTED_MOST:
                return False
            del self._unproved[connection]
            self._proved.add(connection)
            return True

    def open_stream(self, connection: socket.socket) -> bool:
        """Note that a connection is a stream of events; say whether the oldest one was closed.

        A page that is told of no change still reads: streams give way to others, never to them.
        """
        with self._lock:
            self._streams[connection] = None
            if len(self._streams) <= STREAMS_MOST:
                return False
            oldest = next(iter(self._streams))
            del self._streams[oldest]
        _shut(oldest)
        return True

    def is_stream(self, connection: socket.socket) -> bool:
        """Say whether a connection is a stream that was not closed."""
        with self._lock:
            return connection in self._streams

    def remove(self, connection: socket.socket) -> None:
        """Forget a connection that ended."""
        with self._lock:
            self._unproved.pop(connection, None)
            self._proved.discard(connection)
            self._streams.pop(connection, None)

    def close_all(self) -> None:
        """Close all, so that their threads end."""
        with self._lock:
            every = [*self._unproved, *self._proved]
        for connection in every:
            _shut(connection)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # it is gone already
        connection.shutdown(socket.SHUT_RDWR)
