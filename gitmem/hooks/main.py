"""The hot path: an agent's hook. One event in, at most one JSON object out, always exit code 0.

A hook must cost its host nothing: it says nothing when anything is wrong (one line in `hook.log`
says why), and a watchdog ends it. `hooks.dispatch` says what each event does;
`tests/hooks/test_hot_path.py` holds both to cheap imports.
"""

import os
import time

from gitmem.agents import adapter, events
from gitmem.base.fast import loads
from gitmem.errors import GitmemError
from gitmem.hooks.watch import LIMIT, LOG, Watch
from gitmem.repo.hook_switch import by_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    from gitmem.hooks.context import Hook

PAYLOAD = 8 << 20  # bytes of input that are looked at
STREAM = "GITMEM_HOOK_STREAM"  # set by an agent that keeps the process


class Malformed(GitmemError):
    """What the agent sent cannot be read.

    `doctor` tells it from failures of our own by this name in the log.
    """


def respond(
    agent: str,
    given: str,
    data: bytes,
    env: "Mapping[str, str]",
    now: float,
    ready: "Callable[[Hook | None, str, float], None]" = lambda *_: None,
    before: float = 0.0,
    *,
    heard: bool = True,
) -> bytes:
    """Return what to print for a payload: nothing, or one JSON object.

    `ready` learns the event, and the seconds it has, before work begins. `before` are seconds of
    the processor that the hook took already, in a process that waits for this one.

    Where nobody reads what is printed (not `heard`), the event is kept all the same, and nothing
    counts as told.
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
    name, limit = event.name, speaks.limits.get(event.raw, LIMIT)
    ready(None, name, limit)
    from gitmem.hooks.answer import answer  # half of the time; some CLIs tell much that is not ours

    return answer(
        speaks,
        event,
        data,
        env,
        now,
        lambda hook: ready(hook, name, limit),
        begun,
        before,
        heard=heard,
    )


def _input() -> bytes | None:
    """Return the payload, None when there is none.

    Raises GitmemError for more than is looked at.
    """
    data = bytearray()
    while len(data) <= PAYLOAD:
        part = os.read(0, 1 << 20)
        if not part:
            return bytes(data) or None
        data += part
    return _looked_at(None)


def _looked_at(data: bytes | None) -> bytes:
    """Return a payload that was read. Raises GitmemError for None, more than anyone should send."""
    if data is None:
        raise GitmemError(f"the payload is larger than {PAYLOAD >> 20} MiB and was not looked at")
    return data


def _standard() -> "tuple[bool, bool]":
    """Return whether input and output are open.

    A closed one is plugged, lest a file of ours take its number.
    """
    is_open = []
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
            is_open.append(True)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            is_open.append(False)
    return is_open[0], is_open[1]


def main(args: "Sequence[str]") -> "NoReturn":
    """Answer one hook call and end the process with exit code 0, whatever happened.

    Where the agent keeps the process, answer one for each line that it sends.
    """
    if args and args[0] in events.ADAPTERS and os.environ.get(STREAM):
        from gitmem.hooks.stream import serve

        os.environ.pop(STREAM)  # it is not meant for those that a hook starts
        serve(args[0], lambda line: _answer(args, lambda: _looked_at(line)), PAYLOAD)
    _answer(args, _input)


def _answer(args: "Sequence[str]", read: "Callable[[], bytes | None]") -> "NoReturn":
    """Answer the payload that is read, and end the process."""
    watch, out = Watch(_log_of_here), b""
    try:
        heard = _reads_payload()
        if heard is not None:
            out = _call(args, watch, read, heard=heard)
    except BaseException as error:  # noqa: BLE001 - exit code 2 would block the agent, any other would bother its user
        watch.failed(f"{type(error).__name__}: {error}")
    try:
        while out:
            out = out[os.write(1, out) :]
    except BaseException:  # noqa: BLE001 - nobody listens any more
        pass
    os._exit(0)  # no clean-up: closing state.db would write it back to disk each time


def _reads_payload() -> "bool | None":
    """Return whether anybody hears what is printed; None when there is no payload to read."""
    if by_variable(os.environ):
        return None
    reads, heard = _standard()
    if not reads:
        return None
    if os.isatty(0):
        os.write(
            2,
            b"git mem hook is called by an agent's CLI, with an event's JSON on stdin. See: git "
            b"mem hook --help\n",
        )
        return None
    return heard


def _log_of_here() -> str:
    """Return the log of the repository of the current folder.

    Empty in one of others, where a link may lead anywhere.
    """
    from gitmem.base.tolerated import NO_REPOSITORY
    from gitmem.repo.location import is_own, locate

    try:
        where = locate(os.getcwd(), os.environ)
    except NO_REPOSITORY:
        return ""
    return os.path.join(where.home, LOG) if is_own(where) else ""


def _call(
    args: "Sequence[str]", watch: Watch, read: "Callable[[], bytes | None]", *, heard: bool
) -> bytes:
    watch.start()
    began = time.time()  # two hooks of one event begin at once, and may read it one after the other
    data = read()
    if data and not args:
        raise GitmemError(
            "the hook's command names no agent; for Claude Code it is 'git-mem hook claude'"
        )
    if not data:
        return b""
    agent, given = args[0], args[1] if len(args) > 1 else ""
    return respond(agent, given, data, os.environ, began, watch.ready, watch.processor, heard=heard)
