"""Names of the commands that clients may call.

They are part of the server's interface, see docs/language-server.md.
"""

RESOLVE = "gitmem.resolve"
REOPEN = "gitmem.reopen"
SNOOZE = "gitmem.snooze"
SNOOZE_DAYS = 7  # of a snooze for which nobody names a time
UNSNOOZE = "gitmem.unsnooze"
PIN = "gitmem.pin"
UNPIN = "gitmem.unpin"
VERIFY = "gitmem.verify"
REANCHOR = "gitmem.reanchor"
EDIT = "gitmem.edit"
RECORD = "gitmem.record"
SUPERSEDE = "gitmem.supersede"
TIMELINE = "gitmem.timeline"
WHY = "gitmem.why"
CODE = "gitmem.code"
SHOW = "gitmem.show"
LIST = "gitmem.list"
REPORT = "gitmem.report"
STATUS = "gitmem.status"
# notifications to clients that ask for them
CHANGED = "gitmem/changed"
SAVED = "gitmem/saved"
