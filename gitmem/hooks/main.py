"""The hot path: an agent's hook. One event in, at most one JSON object out, always exit code 0.

A hook must cost its host nothing: it says nothing when anything is wrong (one line in `hook.log` says
why), and a watchdog ends it. `hooks.dispatch` says what each event does; `tests/hooks/test_hot_path.py` holds
both to cheap imports.
"""

import os
import time

from gitmem.agents import adapter, events
from gitmem.agents.prompt_text import clean, fence
from gitmem.base.fast import dumps, loads, sqlite
from gitmem.base.sharing import create, sharing_of
from gitmem.base.tolerated import NO_REPOSITORY
from gitmem.clock import stamp
from gitmem.errors import GitmemError, NotARepository
from gitmem.hooks.context import Hook
from gitmem.hooks.dispatch import react
from gitmem.hooks.session_log import note, own_id
from gitmem.repo.hook_switch import by_variable, is_off
from gitmem.repo.location import is_own, locate
from gitmem.text.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

LIMIT = 3.0  # seconds until the watchdog ends a hook, where an adapter names no other limit; a CLI gives it five
PAYLOAD = 8 << 20  # bytes of input that are looked at
LOG, LOG_SIZE = "hook.log", 256 << 10


class Malformed(GitmemError):
    """What the agent sent cannot be read; `doctor` tells it from failures of our own by this name in the log."""


def respond(
    agent: str,
    given: str,
    data: bytes,
    env: "Mapping[str, str]",
    now: float,
    ready: "Callable[[Hook | None, str, float], None]" = lambda *_: None,
    *,
    heard: bool = True,
) -> bytes:
    """Return what to print for a payload: nothing, or one JSON object. `ready` learns the event, and the seconds it has, before work begins.

    Where nobody reads what is printed (not `heard`), the event is kept all the same, and nothing counts as told.
    """
    begun = time.monotonic()
    if agent not in events.ADAPTERS:
        raise GitmemError(f"there is no agent '{agent[:40]}'; known: {', '.join(events.ADAPTERS)}")
    speaks = adapter.find(agent)
    try:
        payload = loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
        event = adapter.read(speaks, payload, given) if isinstance(payload, dict) else None
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error
    if event is None:
        return b""
    limit = speaks.limits.get(event.raw, LIMIT)
    ready(None, event.name, limit)
    try:
        compacts = events.AFTER_COMPACT in speaks.events.values()
        hook = Hook(event, env, now, hears=heard and event.raw in speaks.told, hears_after_compact=compacts, loads=speaks.loads)
    except NotARepository:
        return b""
    if not hook.trusted() or is_off(hook.home, env, now, event.session):
        return b""
    ready(hook, event.name, limit)
    hook.look()
    id = event.session
    event.session = own_id(hook)
    if event.session != id and is_off(hook.home, env, now, event.session):
        return b""
    note(hook)
    try:
        lines = react(hook)
    except sqlite.DatabaseError as error:
        hook.mend(error)
        raise
    told = bool(lines) and (event.raw in speaks.told or (event.name == events.TURN_END and speaks.ask is not None))
    words = fence(lines) if told else ""
    hook.spend(tokens(words), time.monotonic() - begun)
    if not words:
        return b""
    answer = speaks.ask(event, words) if event.name == events.TURN_END and speaks.ask else speaks.answer(event, words)
    return dumps(answer).encode()


class Watch:
    """Ends the process in time, from a thread of its own: input may never come, a disk may hang."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.until = self.begun + LIMIT
        self.name = ""
        self.log = ""

    def start(self) -> None:
        """Begin to watch."""
        from _thread import start_new_thread

        start_new_thread(self._wait, ())

    def ready(self, hook: Hook | None, name: str, limit: float) -> None:
        """Learn the event, how long it may take, and once it is known the repository whose log takes a failure."""
        self.name = name
        self.until = self.begun + limit
        if hook:
            self.log = hook.home.join(LOG)

    def _wait(self) -> None:
        from _thread import start_new_thread

        while (left := self.until - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))  # the limit may have become shorter
        start_new_thread(self.failed, ("it took too long and was ended",))  # the disk may be what hangs
        time.sleep(0.05)
        os._exit(0)

    def failed(self, why: str) -> None:
        """Append one line to the log, if there is a folder for it."""
        if not self.log or not os.path.isdir(os.path.dirname(self.log)):
            return
        try:
            if os.path.exists(self.log) and os.path.getsize(self.log) > LOG_SIZE:
                os.replace(self.log, self.log + ".1")
            common = os.path.dirname(os.path.dirname(self.log))
            handle = create(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, sharing_of(common))
            os.write(handle, f"{stamp(time.time())} {self.name or '-'} {clean(why, 400)}\n".encode("utf-8", "replace"))
            os.close(handle)
        except OSError:
            pass  # there is nowhere left to say it


def _input() -> bytes | None:
    """Return the payload, None when there is none; raises GitmemError for more than anyone should send."""
    data = bytearray()
    while len(data) <= PAYLOAD:
        part = os.read(0, 1 << 20)
        if not part:
            return bytes(data) or None
        data += part
    raise GitmemError(f"the payload is larger than {PAYLOAD >> 20} MiB and was not looked at")


def _standard() -> "tuple[bool, bool]":
    """Return whether input and output are open; a closed one is plugged, lest a file of ours take its number."""
    is_open = []
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
            is_open.append(True)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            is_open.append(False)
    return is_open[0], is_open[1]


def main(args: "Sequence[str]") -> int:
    """Answer one hook call and end the process with exit code 0, whatever happened."""
    watch, out = Watch(), b""
    try:
        out = _call(args, watch)
    except BaseException as error:  # noqa: BLE001 - exit code 2 would block the agent, any other would bother its user
        watch.failed(f"{type(error).__name__}: {error}")
    try:
        while out:
            out = out[os.write(1, out) :]
    except BaseException:  # noqa: BLE001 - nobody listens any more
        pass
    os._exit(0)  # no clean-up: closing state.db would write it back to disk each time


def _call(args: "Sequence[str]", watch: Watch) -> bytes:
    if by_variable(os.environ):
        return b""
    reads, heard = _standard()
    if not reads:
        return b""
    if os.isatty(0):
        os.write(2, b"git mem hook is called by an agent's CLI, with an event's JSON on stdin. See: git mem hook --help\n")
        return b""
    watch.start()
    try:
        where = locate(os.getcwd(), os.environ)  # for what goes wrong before the payload says where
        watch.log = os.path.join(where.home, LOG) if is_own(where) else ""  # in a repository of others, a link may lead anywhere
    except NO_REPOSITORY:
        pass
    began = time.time()  # two hooks of one event begin at once, and may read it one after the other
    data = _input()
    if data and not args:
        raise GitmemError("the hook's command names no agent; for Claude Code it is 'git-mem hook claude'")
    if not data:
        return b""
    return respond(args[0], args[1] if len(args) > 1 else "", data, os.environ, began, watch.ready, heard=heard)
