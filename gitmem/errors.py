"""Every exception that crosses a module border.

```
GitmemError                 root: carries `hint` (what to type next) and `exit_code`
  UserError                 the request cannot be met as it stands
    NotARepository          no git repository here
    NoCommit                nothing was committed in the repository yet
    UnknownId               an id that names no record, or more than one
    InvalidRecord           a record, or a file that should be one, breaks the format
  Precondition              the world is not as the operation needs it
    Moved                   the ref is not where it was: somebody else wrote (retried inside)
    RecordChanged           a record is not as the caller saw it
    Busy                    a lock was not to be had in time
    FormatTooNew            the store was written by a newer gitmem
    UntrustedRepository     git refuses the repository because somebody else owns it
  External                  git, a remote, the disk or a program failed
    GitFailed               a git command ended with an error
    MissingObject           an object that the store names is not there
    RemoteRefused           the remote will not take the ref
```
Usage errors (wrong flags) are click's and exit 2; everything here exits 1.
"""


class GitmemError(Exception):
    """Root of all errors; `str()` is one sentence, `hint` says what to do next."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UserError(GitmemError):
    """The request cannot be met as it stands."""


class NotARepository(UserError):
    """There is no git repository at the path."""


class NoCommit(UserError):
    """Nothing was committed in the repository yet."""


class UnknownId(UserError):
    """No record, or more than one, matches an id."""


class InvalidRecord(UserError):
    """A record, or a file that should hold one, breaks the format."""


class Precondition(GitmemError):
    """The world is not as the operation needs it."""


class Moved(Precondition):
    """A ref no longer has the value that the change was built on."""


class RecordChanged(Precondition):
    """A record is not as the caller saw it when deciding what to do with it."""


class Busy(Precondition):
    """A lock was not to be had in time."""


class Unfinished(Precondition):
    """Work that was stopped by its bounds.

    What was done of it is kept, and it can be gone on with.
    """


class FormatTooNew(Precondition):
    """The store was written by a newer gitmem."""


class UntrustedRepository(Precondition):
    """Git refuses the repository because somebody else owns it."""


class External(GitmemError):
    """Git, a remote, the disk or a program failed."""


class GitFailed(External):
    """A git command ended with an error; `code` and `stderr` tell how."""

    def __init__(self, message: str, hint: str = "", *, code: int = -1, stderr: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
        self.stderr = stderr


class MissingObject(External):
    """An object that the store names is not in the object database."""


class RemoteRefused(External):
    """The remote will not take the ref; `kind` is `policy`, `auth`, `network` or `race`.

    `fetched` is a commit that was fetched and must not stay, as it holds what was purged here; ''
    mostly.
    """

    def __init__(
        self, message: str, hint: str = "", *, kind: str = "policy", fetched: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.fetched = fetched
