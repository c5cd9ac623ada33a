"""Where a dashboard works: a repository, opened anew for each request."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from gitmem.app import App, open_app
from gitmem.clock import Clock
from gitmem.dashboard.asking import CommandAnswer, ask
from gitmem.errors import UserError
from gitmem.repo.location import is_there, locate


@dataclass(frozen=True, slots=True)
class DashboardPlace:
    """A folder of a repository, the environment of whoever started the server, and a clock."""

    folder: str
    environ: Mapping[str, str]
    clock: Clock
    read_only: bool = False

    def is_there(self) -> bool:
        """Say whether a repository is still in the folder."""
        try:
            return is_there(locate(self.folder, self.environ))
        except UserError:
            return False

    @contextmanager
    def open(self) -> Iterator[App]:
        """Open the repository for one request: settings and refs are those of now."""
        with open_app(self.folder, self.environ, self.clock, "git") as app:
            yield app

    def ask(self, *args: str) -> CommandAnswer:
        """Run a command of `git mem` here."""
        return ask(self.folder, self.environ, *args)

    def act(self, seen: Mapping[str, str], *args: str) -> CommandAnswer:
        """Run a command on records as they were seen: blobs by id. Raises RecordChanged."""
        return ask(self.folder, self.environ, *args, seen=seen)

    def data(self, *args: str) -> Any:
        """Return what a command prints with `--json`."""
        return self.ask(*args).data

    def as_agent(self, name: str) -> "DashboardPlace":
        """Return this place as an agent sees it; '' is nobody in particular."""
        if not name:
            return self
        return replace(self, environ={**self.environ, "GITMEM_AGENT": name})


def present(**values: str) -> Sequence[str]:
    """Return `--name=text` for each value that is not empty."""
    return [f"--{name.replace('_', '-')}={text}" for name, text in values.items() if text]
