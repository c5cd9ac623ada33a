"""What an exception means for whoever asked: a sentence, what to do next, and a stable code."""

import errno
import os
import re
from dataclasses import dataclass

from gitmem.errors import GitmemError

ENCODING, SYSTEM, BUSY, FAULT = "encoding", "system", "busy", "internal-fault"


@dataclass(frozen=True)
class CommandFailure:
    """Why a command line failed; `usage` is the line that shows how the command is called."""

    code: str
    message: str
    hint: str = ""
    exit_code: int = 1
    usage: str = ""


# what the system refuses that is no fault of ours: error number -> what to do
_REFUSALS = {
    errno.EMFILE: "This process may open too few files: allow more, such as with 'ulimit -n 256'.",
    errno.ENFILE: "All programs together have too many files open: end some, then run the command "
    "again.",
    errno.ENOSPC: "Free some disk space, or write the output elsewhere, then run it again.",
    errno.EDQUOT: "Your disk quota is used up: free some space, then run the command again.",
    errno.EFBIG: "Files may not become so large here: see 'ulimit -f'.",
    errno.EIO: "The disk or the terminal fails: check it, then run the command again.",
    errno.EROFS: "The disk is read-only: reading works, writing needs a writable one.",
    errno.EACCES: "You may not do that there: check the owner and the mode.",
    errno.EPERM: "You may not do that there: check the owner and the mode.",
    errno.ENOMEM: "There is too little memory: end other programs, or see 'ulimit -v'.",
    errno.EAGAIN: "No further process can be started: end some, or see 'ulimit -u'.",
    errno.ENOTDIR: "A file is where a folder should be: move it away, then run the command again.",
    errno.EISDIR: "A folder is where a file should be: move it away, then run the command again.",
    errno.ELOOP: "A link leads in a circle: remove it, then run the command again.",
    errno.ENAMETOOLONG: "A name is too long for this disk: use a shorter one.",
}


# what a database says that is no fault of ours: (a part of that, code, what to say, what to do)
_DATABASE = (
    (
        "is locked",
        BUSY,
        "another process keeps a database of git mem busy.",
        "Run the command again in a moment. If it lasts: git mem doctor",
    ),
    (
        "disk is full",
        SYSTEM,
        "No space left on device.",
        "Free some disk space and run the command again; nothing was half-written.",
    ),
    (
        "readonly database",
        SYSTEM,
        "Read-only file system.",
        "The repository is on a read-only disk; reading works, writing needs a writable copy.",
    ),
)


def of_exception(error: BaseException, command: str) -> CommandFailure:
    """Return what an exception means for the user.

    What nobody foresaw is written to a file; `command` is what ran, without its arguments.
    """
    if isinstance(error, GitmemError):
        return CommandFailure(code_of(error), str(error), error.hint, error.exit_code)
    if isinstance(error, UnicodeError):
        hint = "Convert it first, for example with iconv."
        return CommandFailure(ENCODING, "some of the text or a name is not UTF-8.", hint)
    return _refused(error) or _of_database(error) or _fault(error, command)


def code_of(error: GitmemError) -> str:
    """Return the code of an error of ours: `unknown-id` for UnknownId."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", type(error).__name__).lower()


def _refused(error: BaseException) -> CommandFailure | None:
    """Return what the system refused; None for what may be a fault of ours."""
    number = errno.ENOMEM if isinstance(error, MemoryError) else getattr(error, "errno", None) or 0
    if not isinstance(error, (OSError, MemoryError)) or number not in _REFUSALS:
        return None
    where = getattr(error, "filename", None)
    name = f": {where}" if isinstance(where, str) else ""
    return CommandFailure(SYSTEM, f"{os.strerror(number)}{name}.", _REFUSALS[number])


def _of_database(error: BaseException) -> CommandFailure | None:
    if type(error).__name__ != "OperationalError":  # of SQLite, which is not imported for this
        return None
    for part, code, message, hint in _DATABASE:
        if part in str(error):
            return CommandFailure(code, message, hint)
    return None


def _fault(error: BaseException, command: str) -> CommandFailure:
    """Write what is needed to find a fault of ours into a file, and name it."""
    import platform
    import tempfile
    import traceback

    from gitmem import __version__

    text = "".join(traceback.format_exception(error))
    head = (
        f"git-mem {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"command: {command}\n\n"
    )
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="git-mem-", suffix=".log", delete=False, encoding="utf-8"
        ) as file:
            file.write(head + text)
        hint = f"What is needed to find it is in {file.name}: please add it to a bug report."
    except OSError:
        hint = text.splitlines()[-1]
    message = f"this is a fault of git mem itself: {type(error).__name__}: {error}"
    return CommandFailure(FAULT, message, hint)
