"""Repositories with facts that were made and read at any time, through the services that commands use."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitmem.app import App, open_app
from gitmem.clock import Clock, stamp
from gitmem.records.kinds import FACTS
from gitmem.records.record import Record
from gitmem.services.records import write
from tests.command_line import run_command

NOW = 1_780_000_000.0  # 2026-05-28
DAY = 86400.0
AGENT = {"CLAUDECODE": "1"}


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
