"""One call of a hook: its event and its repository.

Part of the hot path: standard library's cheap modules, and ours that keep to them.
"""

import os
import time

from gitmem.agents import events
from gitmem.base.detach import wait
from gitmem.base.fast import sqlite
from gitmem.base.sqlite import is_damage
from gitmem.base.tolerated import BUSY
from gitmem.redaction.formats import harmless, public
from gitmem.repo.location import ignore_text, inside, storable
from gitmem.repo.refs import code_state
from gitmem.repository import find_repository
from gitmem.state import moved_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitmem.repo.ignore import Ignored
    from gitmem.services.lifecycle.pairs import ContradictingFacts
    from gitmem.services.records.attribution import Shares

LOOKS = 200_000  # comparisons of names with patterns that a hook has time for
SHORT = 8000  # characters of an output that may be seen to be harmless at once
FILES = 20  # files of one tool call that are looked at


class Hook:
    """One call: the event, the repository, and when it was (`now`, epoch seconds)."""

    def __init__(
        self,
        event: events.HookEvent,
        env: "Mapping[str, str]",
        now: float,
        *,
        hears: bool = True,
        hears_after_compact: bool = True,
        is_kept: bool = True,
        loads: "frozenset[str]" = frozenset(),
    ) -> None:
        self.event = event
        self.now = now
        self.loads = loads  # memory files that the model has read already
        self.hears = hears  # whether the model reads what is told beside this event
        self.hears_after_compact = hears_after_compact
        self.is_kept = is_kept  # whether what is told now is there when the session goes on later
        self.folder = _folder(event.cwd)
        self.stored_folder = storable(self.folder)  # as state.db has it
        self.repo = find_repository(self.folder, env)
        self.shares: Shares | None = None  # of other people, in what this call gives
        self.contradicting: ContradictingFacts | None = None  # once they were looked for
        self.paths: list[str] = []  # of the files that a tool uses, from the work tree's root
        self._ignored: Ignored | None = None
        self._has_ignored = False  # whether it was looked for

    def look(self) -> None:
        """Find the files of the event, and remove from the event what must not be stored.

        This is what is ignored, private or secret.
        """
        event, root = self.event, self.repo.root
        within = {
            given: storable(inside(given, root, self.folder)) for given in event.paths[:FILES]
        }
        if self.ignored:
            within = self._shown(self.ignored, within)
        event.changes = [change for change in event.changes if within.get(change.path)]
        for change in event.changes:
            change.path = within[change.path]
        event.paths = tuple(within)
        event.path = event.paths[0] if event.paths else ""
        self.paths = [path for path in within.values() if path]
        if event.command:
            event.command = masked(public(event.command))
        if event.error:
            event.error = masked_output(event.error)

    def _shown(self, hidden: "Ignored", within: "dict[str, str]") -> "dict[str, str]":
        """Return the files that are not ignored, by what they were given as.

        Empties what of the event may quote an ignored one.
        """
        event, root = self.event, self.repo.root
        roots = [root for root in dict.fromkeys((root, self.repo.location.worktree)) if root]
        shown = {given: path for given, path in within.items() if not hidden.has(path)}
        if hidden.used_by(event.command, roots, self.folder) or (within and not shown):
            event.action = event.command = event.error = ""
        if hidden.without(event.error, roots, self.folder) != event.error:
            # what it says may quote them: the lines that name them are not all
            event.error = ""
        return shown

    @property
    def ignored(self) -> "Ignored | None":
        """What is never stored; None where nothing is said.

        All of a call shares its comparisons.
        """
        if not self._has_ignored:
            self._has_ignored = True
            text = ignore_text(self.repo.root)
            patterns = self.repo.settings.get("ignore")
            if text or patterns:
                from gitmem.repo.ignore import ignored

                self._ignored = ignored([text], patterns, LOOKS) or None
        return self._ignored

    @property
    def agent_name(self) -> str:
        """The name of the agent.

        It is the agent's namespace, what it was started as, or else its CLI.
        """
        namespace = self.repo.namespace
        return namespace if namespace != "global" else self.event.role or self.event.agent

    def mend(self, error: sqlite.DatabaseError) -> None:
        """Have an index that turned out to be damaged built anew, for the next call.

        state.db heals itself.
        """
        if is_damage(error):
            self.repo.discard_indexes()
            self.start_drain("damage", sure=True)

    def note_cost(self, words: int, begun: float, before: float) -> None:
        """Add this call to what the session's hooks cost; a busy database costs the count.

        It began at `begun` on the monotonic clock, when it had taken `before` seconds of the
        processor: to start takes little else.
        """
        from gitmem.state import hook_costs

        event = self.event
        try:
            seconds = before + time.monotonic() - begun
            processor = before + hook_costs.processor_time()
            hook_costs.add(self.repo.state, event.session, event.name, words, seconds, processor)
        except BUSY:
            pass

    # -- work for later

    def start_drain(self, reason: str, *, sure: bool = False) -> int:
        """Start a detached drain and return its process id, or 0: see `Repository`."""
        return self.repo.start_drain(reason, self.now, sure=sure)

    def catch_up(self) -> None:
        """Start a drain when writes wait or the index is behind its refs: see `Repository`."""
        self.repo.catch_up(self.now)

    def code_moved(self, patience: float) -> bool:
        """Have code that may have moved to another file searched for.

        This is done once for each commit that is checked out. Returns whether it was done in time.
        """
        repository = self.repo
        if not repository.root or not repository.stored_index:
            return False
        code = code_state(repository.location, repository.tips())
        if moved_code.searched(repository.state, repository.stored_root)[0] == code:
            return False
        pid = self.start_drain(f"moved {code}")
        return bool(pid) and wait(pid, patience)


def _folder(cwd: str) -> str:
    return cwd if os.path.isabs(cwd) and "\0" not in cwd and os.path.isdir(cwd) else os.getcwd()


def masked(text: str) -> str:
    """Return a command without secrets.

    What stands for one is a single word, so that the rest still reads as a command.
    """
    if harmless(text):
        return text
    import re

    from gitmem.redaction.formats import MARKER
    from gitmem.redaction.mask import scrub

    scrubbed = scrub(text, quick=True)
    return re.sub(MARKER, lambda mark: mark[0].replace(": ", ":").replace(" ", "-"), scrubbed.text)


def masked_output(text: str) -> str:
    """Return as much of an output as is looked at, without secrets."""
    if len(text) <= SHORT and harmless(text):
        return text
    from gitmem.fingerprint.fingerprint import bounded
    from gitmem.redaction.mask import scrub

    return scrub(bounded(text), quick=True).text
