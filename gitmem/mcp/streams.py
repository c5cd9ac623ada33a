"""Standard input and output for the protocol alone.

The server speaks through private copies. What else this process or its children read is empty, and
what they print goes to standard error, also when it is flushed at the end.
"""

import io
import os
import sys


def claim_streams() -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """Return streams for the protocol.

    From now on descriptor 0 is empty, and 1 is standard error.
    """
    sys.stdout.flush()
    wire_in, wire_out = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return (
        io.TextIOWrapper(os.fdopen(wire_in, "rb"), encoding="utf-8", errors="replace"),
        io.TextIOWrapper(os.fdopen(wire_out, "wb"), encoding="utf-8"),
    )
