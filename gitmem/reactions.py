"""What each event of an agent's session does: what it leaves behind, and what it is answered.

Part of the hot path: nothing here writes git. An error that repeats goes to the journal, and a detached
`git mem drain` commits it. Imports are the standard library's cheap modules and ours that keep to them.
"""

import json
import os
import time

from gitmem import config
from gitmem.agents import events
from gitmem.agents.render import LIMIT, OVERHEAD, record_line, tokens, units
from gitmem.background import detach, wait
from gitmem.clock import stamp, ulid
from gitmem.errors import External, GitmemError
from gitmem.files import Home, Location, has_reftable, inside, is_own, is_shared, locate, raw_ref, user_repository
from gitmem.index.state import State
from gitmem.model.kinds import gotcha_id
from gitmem.store import journal
from gitmem.store.refs import PRIVATE, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gitmem.index.query import Index

    Row = dict[str, Any]

BUSY = 0.5  # seconds to wait for another process that writes state.db
SPILL = "errors.jsonl"  # hits that found state.db busy
COMMAND = 8000  # characters of a command
HISTORY_TEXT = 200  # characters of a prompt or an answer that the history keeps
SOURCE = 1 << 20  # bytes of a source file that are read for an anchor
AROUND = 3  # lines of context beside an anchored line
DRAIN_GAP, RETRY_GAP = 2.0, 60.0  # seconds between two drains, and between two for the same reason
PATIENCE = 0.8  # seconds that the start of a session waits for a refresh that it needs
LIVE = ("active", "pinned")
# An error inside of these is where it came up, not where it belongs.
FOREIGN = frozenset(
    {"node_modules", "site-packages", "dist-packages", "vendor", "third_party", ".git", ".venv", "venv", ".tox", "target", "build", "dist"}
)
SECRET_NAMES = frozenset(
    {
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
        "id_ecdsa_sk",
        "id_ed25519_sk",
        "credentials",
        "secrets.yaml",
        "secrets.yml",
        "secrets.json",
    }
)
SECRET_ENDS = (".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".tfvars", ".kdbx", ".netrc", ".npmrc", ".pypirc")


class Hook:
    """One call: the event, the repository, and what is opened on first use. Times are read once."""

    def __init__(self, event: events.Event, env: "Mapping[str, str]", now: float) -> None:
        self.event = event
        self.env = env
        self.now = now
        self.where: Location = locate(_folder(event.cwd), env)
        self.root = os.path.realpath(self.where.worktree) if self.where.worktree else ""
        self.home = Home(self.where.home, shared=is_shared(self.where.commondir))
        self._settings: config.Settings | None = None
        self._state: State | None = None
        self._index: Index | None = None
        self._looked = False

    def trusted(self) -> bool:
        """Say whether git would use this repository: all of it is the user's, or git says so."""
        return is_own(self.where) or self._git("-C", self.where.worktree or self.where.gitdir, "rev-parse", "--git-dir") is not None

    @property
    def settings(self) -> config.Settings:
        """The settings, from the cache; from git when a configuration file has changed."""
        if self._settings is None:
            try:
                if config.one_off(self.env):
                    self._settings = self._ask()
                else:
                    self._settings = config.cached(self.home, config.sources(self.where, self.env), self._ask)
            except GitmemError:  # no git to ask: what is known of the repository still holds
                self._settings = config.Settings({})
        return self._settings

    def _ask(self) -> config.Settings:
        output = self._git("--git-dir", self.where.gitdir, "config", "--list", "-z")
        if output is None:
            raise GitmemError("git did not tell its configuration")
        return config.from_git(output)

    def _git(self, *args: str) -> bytes | None:
        """Return what git prints, None when it fails: `subprocess` alone would cost more than this whole hook."""
        env = {k: v for k, v in self.env.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG_") or k == "GIT_EXEC_PATH"}
        out, into = os.pipe()
        with os.fdopen(out, "rb") as file:
            try:
                null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 2)]
                child = os.posix_spawnp("git", ["git", *args], env, file_actions=[*null, (os.POSIX_SPAWN_DUP2, into, 1)])
            except OSError:
                return None
            finally:
                os.close(into)
            data = file.read()
        return data if os.waitpid(child, 0)[1] == 0 else None

    @property
    def state(self) -> State:
        """The working state. Raises GitmemError when it would be lost: a disk that cannot be written."""
        if self._state is None:
            self.home.make()
            started = time.monotonic()
            state = State(self.home, timeout=BUSY)
            # many hooks that make the file at once get in one another's way; a moment later it is there
            while state.in_memory and time.monotonic() - started < BUSY / 2 and os.access(self.home.path, os.W_OK):
                time.sleep(0.02)
                state = State(self.home, timeout=BUSY)
            if state.in_memory:
                raise GitmemError("state.db cannot be written")
            self._state = state
        return self._state

    @property
    def index(self) -> "Index | None":
        """The index as it is, None when there is none."""
        if not self._looked:
            self._looked = True
            path = self.home.join("index.db")
            if os.path.exists(path):
                from gitmem.index.query import open_index  # compiles patterns: most tool calls do without

                self._index = open_index(path)
        return self._index

    @property
    def indexes(self) -> "list[Index]":
        """The indexes that a reader joins: this repository's, then the user's own."""
        found = [self.index] if self.index else []
        path = os.path.join(user_repository(self.env), "gitmem", "index.db")
        if os.path.exists(path) and path != self.home.join("index.db"):
            from gitmem.index.query import open_index

            user = open_index(path)
            found += [user] if user else []
        return found

    @property
    def agents(self) -> "tuple[str, ...]":
        """The namespaces that this reader sees."""
        return tuple(dict.fromkeys(("global", self.namespace)))

    @property
    def namespace(self) -> str:
        """The reader's own namespace."""
        return str(self.env.get("GITMEM_AGENT") or self.settings.get("agent") or "global")

    # -- what was told

    def tell(self, rows: "Sequence[Row]", budget: int, lines: "Callable[[Row], str]", told: "Sequence[str]" = ()) -> "list[str]":
        """Return the lines of the rows that are new to this context and fit, and note that they are told.

        `budget` is in tokens, of which the fence and what is `told` in this answer already take their part.
        """
        context = self.event.context
        room = budget - OVERHEAD // 4 - sum(map(tokens, told))
        length = LIMIT - OVERHEAD - sum(map(units, told))
        known = self.state.known(context)
        chosen: dict[str, tuple[str, str]] = {}
        for row in rows:
            form = _form(row)
            if row["id"] in chosen or known.get(row["id"]) == form:
                continue
            line = lines(row)
            if tokens(line) > room or units(line) > length:
                continue
            room -= tokens(line)
            length -= units(line)
            chosen[row["id"]] = form, line
        # hooks of one event run in parallel: only what this process was first to tell
        fresh = self.state.tell(context, [(id, form) for id, (form, _) in chosen.items()]) if chosen else ()
        return [chosen[id][1] for id in fresh]

    # -- work for later

    def tips(self) -> "dict[str, str]":
        """Return the stores' commits as the refs have them now; where a ref is broken, as the index has them."""
        pairs = (("shared", SHARED), ("private", PRIVATE))
        try:
            return {name: tip for name, ref in pairs if (tip := raw_ref(self.where.commondir, ref))}
        except External:  # nothing can follow it before it is repaired
            return self.index.tips() if self.index else {}

    def catch_up(self, patience: float = 0.0) -> None:
        """Start a drain when writes wait or the index is behind its refs; wait for it so long."""
        pid = self._catch_up(sure=patience > 0)
        if pid and patience and wait(pid, patience):
            self._index, self._looked = None, False

    def _catch_up(self, *, sure: bool) -> int:
        waiting = _journal(self.home)
        if waiting:
            return self.drain(f"journal {max(waiting)}", sure=sure)
        tips = self.tips()
        if has_reftable(self.where.commondir):
            return self.drain("reftable") if sure else 0  # only git can tell where the refs are
        if tips != (self.index.tips() if self.index else {}):
            return self.drain("stale " + " ".join(sorted(tips.values())), sure=sure)
        return 0

    def drain(self, why: str, *, sure: bool = False) -> int:
        """Start a detached drain, unless one was started a moment ago, or lately for the same reason; return its process id, or 0."""
        due = self.state.claim_drain(why, self.now, DRAIN_GAP, RETRY_GAP, sure=sure)
        return detach(["-C", self.where.worktree or self.where.gitdir, "drain"], self.env) if due else 0


def _journal(home: Home) -> "Sequence[str]":
    try:
        return [name for name in os.listdir(home.join(journal.FOLDER)) if name.endswith(".json")]
    except OSError:
        return ()


def _folder(cwd: str) -> str:
    return cwd if os.path.isabs(cwd) and "\0" not in cwd and os.path.isdir(cwd) else os.getcwd()


def _form(row: "Row") -> str:
    """Return what changes when a record says something new; counting a gotcha's hits does not."""
    if row["kind"] != "gotcha":
        return str(row["oid"])
    from binascii import crc32

    return f"{crc32(repr((row['title'], row['workaround'], row['severity'], row['resolved'])).encode('utf-8', 'replace')):08x}"


# -- answers


def _start(hook: Hook) -> "list[str]":
    event = hook.event
    if event.source in {"compact", "clear"}:
        hook.state.forget_told(event.context)
    hook.catch_up(PATIENCE)
    if not hook.settings.get("inject"):
        return []
    gotchas: list[Row] = []
    pinned: list[Row] = []
    decisions: list[Row] = []
    for index in hook.indexes:
        both: dict[str, Any] = {"agents": hook.agents, "limit": 60}
        gotchas += index.rows(kinds=("gotcha",), statuses=LIVE, resolved=False, order="severity", **both)
        pinned += index.rows(kinds=("memory",), statuses=("pinned",), order="importance", **both)
        decisions += index.rows(kinds=("memory",), statuses=("active",), types=("decision", "rule"), **both)
    gotchas.sort(key=lambda row: str(row["last_seen"]), reverse=True)
    gotchas.sort(key=lambda row: row["severity"] != "critical")
    budget, lines = int(hook.settings.get("startBudget")), list[str]()
    # half for gotchas, three quarters with what is pinned; what a part leaves over goes to the next
    for rows, share in ((gotchas, 0.5), (pinned, 0.75), (decisions, 1.0), (gotchas, 1.0)):
        lines += hook.tell(rows, int(budget * share), lambda row: record_line(row, most=160), lines)
    return lines


def _prompt(hook: Hook) -> "list[str]":
    hook.catch_up()
    if not hook.event.prompt.strip() or not hook.settings.get("inject"):
        return []
    from gitmem.services.recall import MOST, recall  # only a prompt pays for it

    found: list[Row] = []
    for index in hook.indexes:
        found += recall(index, hook.event.prompt, hook.root, _folder(hook.event.cwd), hook.agents)
    return hook.tell(found[:MOST], int(hook.settings.get("promptBudget")), lambda row: record_line(row, body=row["body"]))


def _file(hook: Hook) -> "list[str]":
    path = inside(hook.event.path, hook.root, _folder(hook.event.cwd)) if hook.event.path else ""
    if not path or not hook.settings.get("inject"):
        return []
    wanted: dict[str, Any] = {"kinds": ("gotcha",), "statuses": LIVE, "agents": hook.agents, "resolved": False}
    rows = [row for index in hook.indexes for row in index.rows(paths=(path,), order="severity", limit=20, **wanted)]
    return hook.tell(rows, int(hook.settings.get("fileBudget")), record_line) if rows else []


def _failed(hook: Hook) -> "list[str]":
    event = hook.event
    # an edit that did not apply is the agent's own slip, and no news about the project
    if event.interrupted or event.action in {events.READ, events.WRITE} or not event.error.strip():
        return []
    from gitmem.model.fingerprint import bounded, fingerprint  # only a failure pays for it

    mark = fingerprint(event.error, hook.root, event.command)
    if mark is None:
        return []
    id = gotcha_id(mark.pattern)
    known = [row for row in _known(hook, mark.pattern, id) if row["status"] in LIVE]
    window = float(hook.settings.get("captureWindow")) * 3600
    if not _counted(hook, mark.pattern, window):
        return []
    count = hook.state.hits(mark.pattern, hook.now, window)
    if hook.settings.get("capture") and (
        count >= max(1, int(hook.settings.get("captureThreshold"))) or any(row["id"] == id for row in known)
    ):
        times, first = hook.state.claim_hits(mark.pattern, hook.now, window)
        if times:
            facts = {
                "pattern": mark.pattern, "output": bounded(event.error), "command": event.command[:COMMAND], "root": hook.root, "times": times, "at": stamp(hook.now),
                "first": stamp(first), "session": event.session, "agent": "", "anchors": _anchors(hook, mark.locations),
            }  # fmt: skip
            try:
                _capture(hook, id, facts)
            except BaseException:
                hook.state.return_hits(mark.pattern, hook.now)
                raise
    if not hook.settings.get("inject"):
        return []
    rows = [row for row in known if row["workaround"] and row["agent"] in hook.agents]
    return hook.tell(rows, int(hook.settings.get("fileBudget")), lambda row: record_line(row, lead="this error is known: "))


def _counted(hook: Hook, pattern: str, window: float) -> bool:
    """Count a hit, and those that found the database busy before; leave it for the next when it is busy now."""
    spill = hook.home.join(SPILL)
    try:
        hook.state.add_error(pattern, hook.now, hook.event.session, window)
    except Exception as error:  # sqlite3 is imported where it is used
        if "locked" not in str(error):
            raise
        append(spill, {"pattern": pattern, "at": hook.now, "session": hook.event.session})
        return False
    taken = f"{spill}.{os.getpid()}"
    try:
        os.rename(spill, taken)  # one process takes them
    except FileNotFoundError:
        return True
    with open(taken, encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            hook.state.add_error(str(row["pattern"]), float(row["at"]), str(row["session"]), window)
    os.unlink(taken)
    return True


def _known(hook: Hook, pattern: str, id: str) -> "list[Row]":
    found = {row["id"]: row for index in hook.indexes for row in (*index.get(id), *index.by_patterns([pattern]))}
    return list(found.values())


def _capture(hook: Hook, id: str, facts: "dict[str, Any]") -> None:
    """Leave a repeated error in the journal as `store.ops.capture` would have it, and have it committed."""
    key = ulid(hook.now, os.urandom(10))
    # no title in the subject: a commit's message is not scrubbed of secrets
    trailers = ["capture", [id], "" if hook.namespace == "global" else hook.namespace, hook.event.session, []]
    entry = {
        "key": key,
        "ref": SHARED,
        "since": hook.tips().get("shared"),
        "subject": f"gotcha: capture {id}",
        "trailers": trailers,
    }
    journal.add(hook.home, {**entry, "author": ["", ""], "at": stamp(hook.now), "ops": [{"op": "capture", "id": id, "facts": facts}]})
    hook.drain(f"journal {key}.json", sure=True)


def _anchors(hook: Hook, locations: "Sequence[tuple[str, int]]") -> "list[dict[str, Any]]":
    """Return the anchor of the deepest location that is the project's own code; none when there is none."""
    for path, line in list(locations)[-20:][::-1]:
        for folder in (_folder(hook.event.cwd), hook.root):
            place = inside(path, hook.root, folder)
            parts = place.lower().split("/")
            if (
                not place
                or FOREIGN & set(parts)
                or parts[-1].startswith(".env")
                or parts[-1] in SECRET_NAMES
                or parts[-1].endswith(SECRET_ENDS)
            ):
                continue
            lines = _lines(os.path.join(hook.root, place))
            if 1 <= line <= len(lines):
                around = {
                    "before": lines[max(0, line - 1 - AROUND) : line - 1],
                    "lines": lines[line - 1 : line],
                    "after": lines[line : line + AROUND],
                }
                return [
                    {"path": place, "lines": [line, line], "context": {k: [x.rstrip("\r\n ")[:200] for x in v] for k, v in around.items()}}
                ]
    return []


def _lines(path: str) -> "list[str]":
    """Return the lines of a regular file, as far as they are looked at; none of anything else."""
    import stat

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not block
    except OSError:
        return []
    with os.fdopen(handle, "rb") as file:
        data = file.read(SOURCE) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    return [] if b"\0" in data else data.decode("utf-8", "replace").split("\n")


def _end(hook: Hook) -> "list[str]":
    hook.state.end_session(hook.event.session, hook.now)
    hook.drain(f"end {hook.event.session}", sure=bool(_journal(hook.home)))
    return []


def _turn(hook: Hook) -> "list[str]":
    hook.catch_up()
    return []


HANDLERS: "dict[str, Callable[[Hook], list[str]]]" = {
    events.SESSION_START: _start, events.PROMPT: _prompt, events.BEFORE_TOOL: _file, events.AFTER_TOOL: _file, events.TOOL_FAILED: _failed,
    events.TURN_END: _turn, events.SESSION_END: _end,
}  # fmt: skip


def note(hook: Hook) -> None:
    """Append the event to the session's history, and give a sign of life."""
    event = hook.event
    made = stamp(hook.now)
    role, content = "system", event.source
    if event.name == events.PROMPT:
        role, content = "user", event.prompt
    elif event.name == events.TURN_END:
        role, content = "assistant", event.message
    elif event.tool:
        role, content = "tool", "failed" if event.name == events.TOOL_FAILED else ""
    files = [inside(event.path, hook.root, _folder(event.cwd)) or event.path] if event.path else []
    row = {
        "timestamp": made, "role": role, "content": content[:HISTORY_TEXT],
        "metadata": {"event": event.name, "tool": event.tool, "files": files, **({"agent_id": event.subagent} if event.subagent else {})},
    }  # fmt: skip
    named = f"history_{made[:10].replace('-', '')}_{made[11:19].replace(':', '')}_{event.session[:8]}.jsonl"
    folder = hook.home.make("sessions")
    try:
        named = os.path.basename(hook.state.open_session(event.session, event.agent, hook.now, named))
    except Exception as error:  # the event is durable, whatever the database does
        if "locked" not in str(error):
            raise
        mine = sorted(name for name in os.listdir(folder) if name.endswith(f"_{event.session[:8]}.jsonl"))
        named = mine[-1] if mine else named
    append(os.path.join(folder, named), row)


def append(path: str, row: "Mapping[str, Any]") -> None:
    """Append a row to a file that only its owner reads: one write, so that lines of parallel hooks do not mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, json.dumps(row).encode() + b"\n")
    finally:
        os.close(handle)
