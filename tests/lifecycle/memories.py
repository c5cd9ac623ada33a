"""Repositories with facts that were made and read at any time, through the services that commands use."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import App, open_app
from gitmem.base.sharing import sharing_of
from gitmem.clock import Clock, stamp
from gitmem.records.active_hours import ActiveClock
from gitmem.records.kinds import FACTS
from gitmem.records.record import Record
from gitmem.repo.location import Home, locate
from gitmem.services.lifecycle.score import FactScores
from gitmem.services.records import write
from gitmem.state.database import State
from tests.command_line import run_command

NOW = 1_780_000_000.0  # 2026-05-28
DAY = 86400.0
AGENT = {"CLAUDECODE": "1"}


class EachHour(ActiveClock):
    """A clock on which each hour counts, whether somebody worked or not."""

    def __init__(self) -> None:
        super().__init__({})

    def hours(self, since: float, until: float) -> float:
        """Return the hours between two times."""
        return max(0.0, until - since) / 3600

    def before(self, until: float, hours: float) -> float:
        """Return the time before which more than so many hours passed."""
        return until - max(1.0, hours) * 3600


def work(folder: Path, hours: int, until: float = 0.0) -> None:
    """Have somebody work in a repository for so many hours, one after the other until now."""
    where = locate(str(folder), os.environ)
    state = State(Home(where.home, shared=sharing_of(where.commondir)))
    last = until or time.time()
    state.add_active_hours(last - 3600 * n for n in range(hours))
    state.close()


def count_each_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let facts fade in this process by `EachHour`."""
    monkeypatch.setattr(FactScores, "clock", EachHour())


@contextmanager
def opened(repo: Path, at: float = NOW) -> Iterator[App]:
    """Open a repository whose clock stands at a time."""
    with open_app(str(repo), dict(os.environ), Clock(lambda: at)) as app:
        app.begin_command()
        yield app


def add(
    repo: Path,
    title: str,
    body: str = "",
    *,
    at: float = NOW,
    program: str = "",
    scope: str = "shared",
    **fields: Any,
) -> Record:
    """Add a fact as a person does, or with `program` as an agent does; return it."""
    with opened(repo, at) as app:
        agent = fields.pop("agent", "global")
        who = app.writer()._replace(program=program, agent=agent)
        made = write.draft(who, fields.pop("kind", "memory"), title, body, **fields)
        return write.add(app.store(scope), who, made).after


def data(repo: Path, *args: str, env: Mapping[str, str] | None = None) -> Any:
    """Run a command with `--json`; return its data."""
    done = run_command(repo, *args, "--json", env=env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["data"]


def ids(repo: Path, *args: str) -> set[str]:
    """Return the ids of the facts that `git mem list` names."""
    return {row["id"] for row in data(repo, "list", *args) if row["kind"] in FACTS}


def read(repo: Path, id: str, at: float, scope: str = "shared") -> None:
    """Read a fact at a time."""
    with opened(repo, at) as app:
        app.state.add_reads(scope, [id], stamp(at))
