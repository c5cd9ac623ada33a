"""What a hook passes over, in one table: it must not fail, and it must not hide our own faults.

The hot path imports this module.

Everything else ends in `hooks.main`, which writes one line into `hook.log` and exits with 0.
"""

from gitmem.base.fast import sqlite
from gitmem.errors import GitmemError

# there is no repository here, or it cannot be looked at: nothing to do
NO_REPOSITORY = (GitmemError, OSError)
# a file of ours that is not there, or is not JSON: it is left out
UNREADABLE = (OSError, ValueError, RecursionError)
MALFORMED = (ValueError, TypeError, KeyError)  # a row that another version wrote: it is left out
# other processes keep state.db: what waits for it is done by the next hook or command
BUSY = (sqlite.OperationalError,)
