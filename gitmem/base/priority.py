"""Lets a process of the background stand back for what somebody waits for."""

import os

# low, and still a tenth of a full share: a busy machine must not keep what is to be told for ever
NICE = 10


def stand_back() -> None:
    """Let other processes go first, on the processor and on the disk.

    Linux derives the disk priority from the processor priority.
    """
    os.nice(NICE)
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except (AttributeError, OSError):
        pass  # not Linux, or not allowed: being nice is most of it
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            # else a session of its own has a full share of its own, however nice
            file.write(str(NICE))
    except OSError:
        pass
