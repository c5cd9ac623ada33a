"""SQLite with many processes: transactions, what is locked, what is damaged.

The hot path imports this module.
"""

import os
import time

from gitmem.base.fast import sqlite
from gitmem.base.sharing import create, sharing_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Concatenate, ParamSpec, Protocol, TypeVar

    class Healer(Protocol):
        """What owns a database that can be replaced."""

        def heal(self) -> bool:
            """Replace the damaged database by a sound one; False if that cannot be done."""

    Self = TypeVar("Self", bound=Healer)
    P = ParamSpec("P")
    T = TypeVar("T")


class transaction:  # noqa: N801 - used as a statement; `contextlib` is not for the hot path
    """BEGIN IMMEDIATE, then COMMIT; whatever the block raises rolls it back.

    Waits for other writers as long as the connection's timeout.
    """

    __slots__ = ("_db",)

    def __init__(self, db: sqlite.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: "type[BaseException] | None", *_: object) -> None:
        if kind is None:
            try:
                self._db.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
        else:
            self._roll_back()

    def _roll_back(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


def is_locked(error: BaseException) -> bool:
    """Return whether an error means that other processes hold the database past the timeout."""
    return isinstance(error, sqlite.OperationalError) and "locked" in str(error)


class unless_locked:  # noqa: N801 - see above
    """Passes over a database that is locked: for what may be left out. Other errors are raised."""

    __slots__ = ()

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: "BaseException | None", *_: object) -> bool:
        return error is not None and is_locked(error)


def is_damage(error: sqlite.Error) -> bool:
    """Return whether an error means that the database file itself is broken.

    A locked database or a full disk is not meant.
    """
    if isinstance(error, sqlite.OperationalError):
        return any(
            part in str(error)
            for part in (
                "no such table",
                "no such column",
                "disk I/O",
                "malformed",
                "Could not decode",
            )
        )
    return type(error) is sqlite.DatabaseError


def ready(path: str) -> None:
    """Create a database file in one of our folders, if it does not exist.

    SQLite gives its other files the same mode.

    It is for its owner alone, or shared as the repository around it is. A disk that takes no file
    is left for SQLite to tell.
    """
    if os.path.exists(path):
        if not os.path.isfile(path):  # a pipe would block
            raise sqlite.OperationalError("unable to open database file")
    else:
        try:
            os.close(
                create(
                    path, os.O_RDWR | os.O_CREAT, sharing_of(os.path.dirname(os.path.dirname(path)))
                )
            )
        except OSError:
            return


def use_wal(db: sqlite.Connection, patience: float) -> None:
    """Switch a database to write-ahead logging.

    Raises sqlite.OperationalError when others keep it for `patience` seconds.

    Of processes that switch a new file at once, SQLite tells all but one "locked" without waiting
    for its busy timeout (to avoid a deadlock of two readers that both want to write), so the wait
    is here.
    """
    end = time.monotonic() + patience
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite.OperationalError as error:
            if not is_locked(error) or time.monotonic() >= end:
                raise
            time.sleep(0.005)
        else:
            return


def healing(method: "Callable[Concatenate[Self, P], T]") -> "Callable[Concatenate[Self, P], T]":
    """Have a method that finds its database damaged heal it and run again, once."""

    def run(self: "Self", /, *args: "P.args", **options: "P.kwargs") -> "T":
        try:
            return method(self, *args, **options)
        except sqlite.DatabaseError as error:
            if not is_damage(error) or not self.heal():
                raise
        return method(self, *args, **options)

    run.__name__, run.__doc__, run.__wrapped__ = method.__name__, method.__doc__, method  # type: ignore[attr-defined]
    return run  # `functools.wraps` would import `collections`
