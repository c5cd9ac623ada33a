"""The watchdog of a hook: a process that does nothing but wait for the one that works.

A thread cannot do it: an expression in `re`, a query in SQLite or a disk that hangs may hold the
interpreter's lock. docs/decisions/agents.md says what else was tried.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself builds enums
import os
import time

from gitmem.base.fast import dumps, loads
from gitmem.base.processes import pass_over

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import LockType
    from collections.abc import Callable
    from typing import NoReturn

    from gitmem.hooks.context import Hook

LIMIT = 3.0  # seconds a hook has where an adapter names no other limit; a CLI gives it five
LATER = 0.3  # seconds until the kernel ends a hook whose watchdog was ended by the agent
SAYING = 0.3  # seconds that a line in the log may take
LOG, LOG_SIZE = "hook.log", 256 << 10


class Watch:
    """Ends the work of a hook in time, whatever it does, and leaves a line in `hook.log`."""

    def __init__(self, log_of_here: "Callable[[], str]") -> None:
        self._log_of_here = log_of_here  # where nothing else says which log it is
        self.begun = time.monotonic()
        self.limit = LIMIT
        self.name = ""
        self.log = ""
        self.processor = 0.0  # seconds of it that were taken before the work began
        self._pipe = -1

    def start(self) -> None:
        """Go on in a process of its own; this one waits for it and ends with exit code 0.

        Raises OSError when the system has no room for a process.
        """
        self.processor = time.process_time()
        reads, writes = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writes)
            self._wait(pid, reads)
        os.close(reads)
        self._pipe = writes
        pass_over(os.getppid())
        _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
        self._arm(LATER)

    def ready(self, hook: "Hook | None", name: str, limit: float) -> None:
        """Set the event, its time limit and, once known, the repository whose log gets failures."""
        self.name = name
        self.limit = limit
        if hook:
            self.log = hook.repo.home.join(LOG)
        if self._pipe >= 0:
            self._arm(LATER)
            self.tell()

    def tell(self) -> None:
        """Tell the process that waits how long it has to, and where the log is."""
        message = dumps({"limit": self.limit, "name": self.name, "log": self.log})
        os.write(self._pipe, message.encode() + b"\n")

    def failed(self, why: str) -> None:
        """Append one line to the log, if there is a folder for it."""
        self.log = self.log or self._log_of_here()
        if not self.log or not os.path.isdir(os.path.dirname(self.log)):
            return
        # failures are rare
        from gitmem.agents.prompt_text import clean
        from gitmem.base.sharing import create, sharing_of
        from gitmem.clock import stamp

        line = f"{stamp(time.time())} {self.name or '-'} {clean(why, 400)}\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        common = os.path.dirname(os.path.dirname(self.log))
        try:
            if os.path.exists(self.log) and os.path.getsize(self.log) > LOG_SIZE:
                os.replace(self.log, self.log + ".1")
            handle = create(self.log, flags, sharing_of(common))
            os.write(handle, line.encode("utf-8", "replace"))
            os.close(handle)
        except OSError:
            pass  # there is nowhere left to say it

    def _arm(self, later: float) -> None:
        """Have the kernel send SIGALRM when the time is over, and so much later."""
        left = self.begun + self.limit + later - time.monotonic()
        _signal.setitimer(_signal.ITIMER_REAL, max(left, 0.001))

    def _wait(self, pid: int, reads: int) -> "NoReturn":
        """Wait for the working process, kill it when its time is over, and end with exit code 0."""
        why = ""
        try:
            _signal.signal(_signal.SIGALRM, _time_is_over)
            self._arm(0.0)
            why = self._listen(pid, reads)
        except TimeoutError:
            os.kill(pid, _signal.SIGKILL)
            why = "it took too long and was ended"
        except BaseException as error:  # noqa: BLE001 - a watchdog that fails must not bother the agent
            why = f"{type(error).__name__}: {error}"
        if why:
            from _thread import allocate_lock, start_new_thread

            written = allocate_lock()
            written.acquire()
            start_new_thread(self._say, (why, written))  # the disk may be what hangs
            written.acquire(timeout=SAYING)
        os._exit(0)

    def _say(self, why: str, written: "LockType") -> None:
        """Write a line, and let go of whoever waits for it."""
        try:
            self.failed(why)
        finally:
            written.release()

    def _listen(self, pid: int, reads: int) -> str:
        """Take what the process that works says, until it ends.

        Return why it failed, '' if it did not.
        """
        heard = b""
        while part := os.read(reads, 1 << 16):
            *messages, heard = (heard + part).split(b"\n")
            for message in messages:
                said = loads(message.decode())
                self.limit, self.name, self.log = said["limit"], said["name"], said["log"]
                self._arm(0.0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return f"it was ended by signal {-code}" if code < 0 else ""


def _time_is_over(*_: object) -> None:
    raise TimeoutError
