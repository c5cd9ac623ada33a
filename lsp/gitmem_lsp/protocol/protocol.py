"""The protocol of pygls without its traps.

It works in order at its beginning and end, forgets what is done, and is quick where it is used
most.
"""

from typing import Any, Protocol, cast

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

NOT_INITIALIZED, INVALID_REQUEST = -32002, -32600


class Leaver(Protocol):
    """What can end the process."""

    def leave(self, code: int) -> None:
        """Send no more, and end."""


class GuardedProtocol(LanguageServerProtocol):
    """Falls silent after a shutdown and forgets what is done.

    Without the first, work that ends after `exit` writes to a closed pipe, which pygls reports by
    writing to it, and so on. Without the second, each notification leaves a future behind for good.
    """

    leaving = False

    @property
    def asked_to_stop(self) -> bool:
        """Whether the client has sent `shutdown`."""
        return self._shutdown

    def _send_data(self, data: Any) -> None:
        if self.leaving or (
            self._shutdown
            and (hasattr(data, "method") or (isinstance(data, dict) and "method" in data))
        ):
            return
        try:
            super()._send_data(data)
        except BrokenPipeError:  # nobody reads any more, even if our input stays open
            cast("Leaver", self._server).leave(1)

    def structure_message(self, data: Any) -> Any:
        """Return a message as an object.

        A request that is none is answered with an error: pygls leaves its sender waiting.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data:
                self._refuse(data.get("id"), error.code, error.message)
            raise

    def handle_message(self, message: Any) -> None:
        """Hand a message to its handler, unless it comes before `initialize` or after `shutdown`.

        In these cases, pygls leaves the sender waiting.
        """
        method = getattr(message, "method", None)
        if method is None or method == t.EXIT:
            super().handle_message(message)
        elif self._shutdown:
            self._refuse(
                getattr(message, "id", None), INVALID_REQUEST, "the server has been shut down."
            )
        elif self._workspace is None and method != t.INITIALIZE:
            self._refuse(
                getattr(message, "id", None),
                NOT_INITIALIZED,
                "the server has not been initialized.",
            )
        elif self._workspace is not None and method == t.INITIALIZE:  # it would forget what is open
            self._refuse(
                getattr(message, "id", None),
                INVALID_REQUEST,
                "the server has been initialized before.",
            )
        else:
            super().handle_message(message)

    def _refuse(self, id: Any, code: int, message: str) -> None:
        """Answer a request with an error; what has no id is a notification, and gets no answer."""
        if isinstance(id, (int, str)):
            self._send_data(
                {"jsonrpc": self.VERSION, "id": id, "error": {"code": code, "message": message}}
            )

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification whose parameters are plain JSON.

        This takes a third of the time that pygls needs to take objects apart.
        """
        self._send_data({"jsonrpc": self.VERSION, "method": method, "params": params})

    def _execute_handler(
        self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None
    ) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    def cancel_requests(self) -> None:
        """Cancel the requests that are being answered.

        The method of pygls does so too, but fails when an answer ends during its loop.
        """
        for id, future in list(self._request_futures.items()):
            if id != self.msg_id and not future.done():
                future.cancel()
