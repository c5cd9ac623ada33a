"""What each event of an agent's session does: what it leaves behind, and what it is answered.

Part of the hot path: nothing here writes git. An error that repeats goes to the journal, and a detached
`git mem drain` commits it. Imports are the standard library's cheap modules and ours that keep to them.
"""

import json
import os
import time

from gitmem import config
from gitmem.agents import events
from gitmem.agents.render import OVERHEAD, record_line
from gitmem.background import detach, wait
from gitmem.clock import base32, stamp, ulid
from gitmem.errors import GitmemError
from gitmem.files import Home, Location, has_reftable, inside, is_shared, locate, raw_ref
from gitmem.index.state import State
from gitmem.store import journal
from gitmem.store.refs import PRIVATE, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gitmem.index.query import Index

    Row = dict[str, Any]

BUSY = 0.5  # seconds to wait for another process that writes state.db
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
        """Say whether git would use this repository: it is the user's, or git says so."""
        try:
            if os.stat(self.where.gitdir).st_uid == os.geteuid():
                return True
        except OSError:
            return False
        return self._git("-C", self.where.worktree or self.where.gitdir, "rev-parse", "--git-dir") is not None

    @property
    def settings(self) -> config.Settings:
        """The settings, from the cache; from git when a configuration file has changed."""
        if self._settings is None:
            try:
                self._settings = config.cached(self.home, config.sources(self.where.commondir, self.env), self._ask)
            except GitmemError:  # no git to ask: what is known of the repository still holds
                self._settings = config.Settings({})
        return self._settings

    def _ask(self) -> config.Settings:
        output = self._git("--git-dir", self.where.commondir, "config", "--list", "-z")
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
        data = self.env.get("XDG_DATA_HOME") or os.path.join(self.env.get("HOME") or os.path.expanduser("~"), ".local", "share")
        path = os.path.join(data, "gitmem", "user.git", "gitmem", "index.db")
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

    def tell(self, rows: "Sequence[Row]", budget: int, lines: "Callable[[Row], str]", used: int = OVERHEAD) -> "list[str]":
        """Return the lines of the rows that are new to this context and fit, and note that they are told."""
        context, room = self.event.context, budget * 4 - used
        known = self.state.known(context)
        chosen: dict[str, tuple[str, str]] = {}
        for row in rows:
            form = _form(row)
            if row["id"] in chosen or known.get(row["id"]) == form:
                continue
            line = lines(row)
            if len(line) + 1 > room:
                continue
            room -= len(line) + 1
            chosen[row["id"]] = form, line
        # hooks of one event run in parallel: only what this process was first to tell
        fresh = self.state.tell(context, [(id, form) for id, (form, _) in chosen.items()]) if chosen else ()
        return [chosen[id][1] for id in fresh]

    # -- work for later

    def tips(self) -> "dict[str, str]":
        """Return the stores' commits as the refs have them now."""
        pairs = (("shared", SHARED), ("private", PRIVATE))
        return {name: tip for name, ref in pairs if (tip := raw_ref(self.where.commondir, ref))}

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
        db = self.state.db
        db.execute("BEGIN IMMEDIATE")
        try:
            at, _, last = (self.state.marked("drain") or "0 ").partition(" ")
            gone = abs(self.now - float(at))
            due = sure or gone > (RETRY_GAP if last == why else DRAIN_GAP)
            if due:
                self.state.mark("drain", f"{self.now} {why}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
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
    budget, used, lines = int(hook.settings.get("startBudget")), OVERHEAD, []
    # half for gotchas, three quarters with what is pinned; what a part leaves over goes to the next
    for rows, share in ((gotchas, 0.5), (pinned, 0.75), (decisions, 1.0), (gotchas, 1.0)):
        new = hook.tell(rows, int(budget * share), lambda row: record_line(row, most=160), used)
        used += sum(len(line) + 1 for line in new)
        lines += new
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
    if not path or hook.index is None or not hook.settings.get("inject"):
        return []
    rows = hook.index.rows(kinds=("gotcha",), statuses=LIVE, agents=hook.agents, paths=(path,), resolved=False, order="severity", limit=20)
    return hook.tell(rows, int(hook.settings.get("fileBudget")), record_line) if rows else []


def _failed(hook: Hook) -> "list[str]":
    event = hook.event
    if event.interrupted or not event.error.strip():
        return []
    from gitmem.model.fingerprint import fingerprint  # only a failure pays for it

    mark = fingerprint(event.error, hook.root, event.command)
    if mark is None:
        return []
    id = gotcha_id(mark.pattern)
    known = [row for row in _known(hook, mark.pattern, id) if row["status"] in LIVE]
    window = float(hook.settings.get("captureWindow")) * 3600
    count = hook.state.add_error(mark.pattern, hook.now, event.session, window)
    threshold = max(1, int(hook.settings.get("captureThreshold")))
    captured = next((row["id"] for row in known if row["id"] == id), None)
    if count >= threshold or captured:
        # the entry that reaches the threshold speaks for the hits before it, each other one for itself:
        # however the journal is ordered, they add up
        times = threshold if count == threshold and not captured else 1
        first = hook.state.db.execute(
            "SELECT MIN(at) FROM errors WHERE pattern = ? AND at > ?", (mark.pattern, hook.now - window)
        ).fetchone()[0]
        facts = {
            "pattern": mark.pattern, "title": mark.title, "category": mark.category, "severity": mark.severity, "message": mark.message[:4000], "command": event.command[:500],
            "times": times, "more": times, "at": stamp(hook.now), "first": stamp(first or hook.now), "session": event.session, "agent": "",
            "anchors": _anchors(hook, mark.locations),
        }  # fmt: skip
        _capture(hook, id, facts)
    if not hook.settings.get("inject"):
        return []
    rows = [row for row in known if row["workaround"] and row["agent"] in hook.agents]
    return hook.tell(rows, int(hook.settings.get("fileBudget")), lambda row: record_line(row, lead="this error is known: "))


def _known(hook: Hook, pattern: str, id: str) -> "list[Row]":
    if hook.index is None:
        return []
    ids = [r[0] for r in hook.index.db.execute("SELECT DISTINCT id FROM records WHERE pattern = ? AND pattern <> '' LIMIT 4", (pattern,))]
    return [rows[0] for one in dict.fromkeys([id, *ids]) if (rows := hook.index.get(one))]


def _capture(hook: Hook, id: str, facts: "dict[str, Any]") -> None:
    """Leave a repeated error in the journal as `store.ops.capture` would have it, and have it committed."""
    key = ulid(hook.now, os.urandom(10))
    # no title in the subject: a commit's message is not scrubbed of secrets
    trailers = ["capture", [id], "" if hook.namespace == "global" else hook.namespace, hook.event.session, []]
    entry = {
        "key": key,
        "ref": SHARED,
        "since": raw_ref(hook.where.commondir, SHARED),
        "subject": f"gotcha: capture {id}",
        "trailers": trailers,
    }
    journal.add(hook.home, {**entry, "author": ["", ""], "at": stamp(hook.now), "ops": [{"op": "capture", "id": id, "facts": facts}]})
    hook.drain(f"journal {key}.json")


def gotcha_id(pattern: str) -> str:
    """Return the id of a captured gotcha, as `store.ops.gotcha_id` does."""
    from hashlib import sha256  # a failure is rare enough

    return "got-" + base32(int.from_bytes(sha256(pattern.encode("utf-8", "replace")).digest()[:16], "big"))


def _anchors(hook: Hook, locations: "Sequence[tuple[str, int]]") -> "list[dict[str, Any]]":
    """Return the anchor of the deepest location that is the project's own code; none when there is none."""
    for path, line in list(locations)[-20:][::-1]:
        for folder in (_folder(hook.event.cwd), hook.root):
            place = inside(path, hook.root, folder)
            parts = place.lower().split("/")
            if not place or FOREIGN & set(parts) or parts[-1].startswith((".env", "id_")) or parts[-1].endswith(SECRET_ENDS):
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
    """Give a sign of life, and append the event to the session's history."""
    event = hook.event
    made = stamp(hook.now)
    named = f"history_{made[:10].replace('-', '')}_{made[11:19].replace(':', '')}_{event.session[:8]}.jsonl"
    file = hook.state.open_session(event.session, event.agent, hook.now, named)
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
    handle = os.open(
        os.path.join(hook.home.make("sessions"), os.path.basename(file)), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
    )
    try:
        os.write(handle, json.dumps(row).encode() + b"\n")  # one write: lines of parallel hooks do not mix
    finally:
        os.close(handle)
