"""The tables of commands: which there are, what they were called, and what people try."""

PLUMBING = "Plumbing"  # the section of what programs and scripts call
# command -> (module below gitmem.cli, or the whole name of one above it; one line for the
# overview; section of the overview)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "help": ("help", "Show all commands, or how to use one", "Start"),
    "version": ("help", "Print the version", "Start"),
    "init": ("setup.init", "Make the store of this repository", "Start"),
    "status": ("setup.status", "Show where you are, and what needs a look", "Start"),
    "config": ("setup.config", "Show and change settings", "Start"),
    "doctor": ("setup.doctor", "Check everything; --fix repairs it", "Start"),
    "install": ("setup.install", "Install hooks for an agent's CLI or git", "Start"),
    "uninstall": ("setup.install", "Remove hooks; --wipe removes everything", "Start"),
    "add": ("records.add_edit", "Add a record", "Write"),
    "edit": ("records.add_edit", "Change a record in your editor or by flags", "Write"),
    "supersede": ("records.add_edit", "Replace a record by a newer one", "Write"),
    "link": ("records.status", "Link a record to others", "Write"),
    "pin": ("records.status", "Pin a record, so that it never decays", "Write"),
    "done": ("records.status", "Say that a task is done", "Write"),
    "archive": ("records.status", "Archive a record", "Write"),
    "restore": ("records.status", "Restore what was archived or forgotten", "Write"),
    "forget": ("records.status", "Delete a record", "Write"),
    "gotcha": ("gotchas.group", "Record, find and resolve gotchas", "Care"),
    "inbox": ("inbox.command", "Confirm or reject what was captured", "Care"),
    "check": ("lifecycle.check", "Find facts that are out of date", "Care"),
    "consolidate": (
        "lifecycle.consolidate",
        "Remove faded facts, merge duplicates",
        "Care",
    ),
    "show": ("records.show", "Show records", "Read"),
    "list": ("records.list", "List records", "Read"),
    "search": ("records.list", "Find records by their words", "Read"),
    "page": ("interchange.page", "Print or write pages of facts", "Read"),
    "dashboard": (
        "gitmem.dashboard.command",
        "Show the memory in a browser, or as one page in a file",
        "Read",
    ),
    "code": (
        "code.group",
        "Show definitions, references, imports, what hangs on which file",
        "Code",
    ),
    "scout": ("code.scout", "Find what matters for a task: files, definitions, memories", "Code"),
    "why": ("code.why", "Show why lines are as they are", "Code"),
    "log": ("records.history", "Show the history of the store", "History"),
    "diff": ("records.history", "Compare two states of the store", "History"),
    "undo": ("records.undo", "Take back your last command", "History"),
    "timeline": ("code.timeline", "Show what happened, in one order", "History"),
    "snapshot": ("snapshot", "Save the work in hand, and bring it back", "History"),
    "sync": ("sync", "Exchange memory with a remote", "Share"),
    "remote": ("sync", "Choose where memory is pushed to", "Share"),
    "import": ("interchange.importing", "Read what another tool remembers", "Share"),
    "export": ("interchange.exporting", "Write facts for other tools", "Share"),
    "session": ("sessions.group", "Start, end, list, show and hand over sessions", "Agents"),
    "work": ("work.group", "Track epics and stories", "Agents"),
    "hook": ("setup.hook", "Answer a hook of an agent's CLI; turn hooks off and on", PLUMBING),
    "drain": ("setup.drain", "Do now what hooks left for later", PLUMBING),
    "mcp": ("setup.mcp", "Serve memory to clients that speak MCP", PLUMBING),
    "native": ("setup.memory_files", "Exchange memory with agents' own files", PLUMBING),
    "event": ("code.timeline", "Note what happened outside of git", PLUMBING),
    "error": ("gotchas.error", "Count an error, and see what is counted", PLUMBING),
    "extract": (
        "sessions.extract",
        "Find decisions, fixes and tasks in a session or a file",
        PLUMBING,
    ),
    "trace": ("code.trace", "Exchange who wrote which lines with other tools", PLUMBING),
    "model": ("setup.model", "Ask the model that reads sessions, as a test", PLUMBING),
    "completion": ("setup.completion", "Print the completion script of a shell", PLUMBING),
}
HIDDEN = {"read-code": "code.dna", "git-hook": "setup.install"}  # name -> module
# command and the word that makes another command of it -> (module, attribute, one line)
VARIANTS: dict[str, tuple[str, str, str]] = {
    "uninstall --wipe": ("setup.wipe", "wipe_command", "Remove gitmem from this repository."),
    "link --remove": ("records.status", "unlink_command", "Remove links between records."),
    "pin --remove": ("records.status", "unpin_command", "Unpin a record: it decays again."),
    "forget --purge": ("records.purge", "purge_command", "Remove a secret from all of history."),
    "check --health": ("lifecycle.health", "health_command", "Show how healthy the memory is."),
    "show --graph": ("records.graph", "graph_command", "Show what links to what."),
    "search --sessions": (
        "sessions.recall",
        "recall_command",
        "Search what was said in sessions, and memory.",
    ),
    "page summary": (
        "sessions.summary",
        "summary_command",
        "Show what is known, section by section.",
    ),
    "undo --redo": ("records.undo", "redo_command", "Do again what you took back last."),
    "timeline --trends": (
        "code.timeline",
        "trends_command",
        "Show hot files, hours, errors, what was learned.",
    ),
}
# former name of a command -> its name
MOVED = {
    "recall": "search --sessions",
    "graph": "show --graph",
    "summary": "page summary",
    "briefing": "session briefing",
    "activate": "session activate",
    "opening": "session opening",
    "dna": "code dna",
    "evolution": "code evolution",
    "drift": "code drift",
    "trends": "timeline --trends",
    "health": "check --health",
    "unlink": "link --remove",
    "unpin": "pin --remove",
    "purge": "forget --purge",
    "redo": "undo --redo",
    "wipe": "uninstall --wipe",
    "off": "hook off",
    "on": "hook on",
    "gotcha show": "show",
    "gotcha edit": "edit",
    "gotcha search": "search --kind gotcha",
    "gotcha context": "scout",
    "gotcha stats": "list --kind gotcha",
}
# words that people try -> the command that does it
GUESSED = {
    "remember": "add",
    "note": "add",
    "decision": "add",
    "save": "add",
    "new": "add",
    "store": "add",
    "memo": "add",
    "tidy": "consolidate",
    "dedupe": "consolidate",
    "contradictions": "check",
    "fix": "doctor",
    "repair": "doctor",
    "fsck": "doctor",
    "remove": "forget",
    "rm": "forget",
    "delete": "forget",
    "del": "forget",
    "where": "status",
    "st": "status",
    "info": "status",
    "now": "status",
    "ls": "list",
    "find": "search",
    "grep": "search",
    "query": "search",
    "history": "log",
    "get": "show",
    "cat": "show",
    "view": "show",
    "trap": "gotcha",
    "gotchas": "gotcha",
    "push": "sync",
    "pull": "sync",
    "share": "sync",
    "fetch": "sync",
    "ingest": "import",
    "load": "import",
    "migrate": "import",
    "dump": "export",
    "todo": "page summary",
    "tasks": "page summary",
    "task": "page summary",
    "finish": "done",
    "close": "done",
    "sessions": "session",
    "resume": "session resume",
    "epic": "work",
    "story": "work",
    "proposals": "inbox",
    "review": "inbox",
    "settings": "config",
    "brief": "session briefing",
    "context": "session briefing",
    "replace": "supersede",
    "update": "edit",
    "change": "edit",
    "setup": "install",
    "hooks": "install",
    "memory": "list",
    "memories": "list",
    "reset": "uninstall --wipe",
    "enable": "hook on",
    "disable": "hook off",
    "revert": "undo",
    "blame": "why",
    "annotate": "why",
    "symbols": "code symbols",
    "refs": "code refs",
    "references": "code refs",
    "imports": "code imports",
    "rank": "code rank",
    "map": "code",
    "gc": "consolidate",
    "locate": "scout",
    "explore": "scout",
    "overview": "code dna",
    "about": "code dna",
}


def words_of(command: str) -> dict[str, str]:
    """Return {word that makes another command of a command: one line about that}."""
    return {
        name.partition(" ")[2]: row[2]
        for name, row in VARIANTS.items()
        if name.partition(" ")[0] == command
    }


def variant_of(command: str, args: list[str]) -> str:
    """Return the word among arguments that makes another command of a command; '' for none.

    An option may stand anywhere before `--`; a plain word is the first argument.
    """
    end = args.index("--") if "--" in args else len(args)
    for word in words_of(command):
        if word in (args[:end] if word.startswith("-") else args[:1]):
            return word
    return ""
