"""What kind of work an error comes from, and how bad it is.

Whole words decide, never parts of words (`latest` is not a test).

The error itself is asked first, then the command that failed, then the lines around the error.
"""

from gitmem.base.fast import Lazy
from gitmem.fingerprint.tables import (
    CATEGORY_WORDS,
    LINE_WORDS,
    TASK_WORDS,
    any_of,
    any_pattern,
    of_tools,
    of_work,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Signs in the error itself. The first that fits wins.
_SECURITY = Lazy(
    rf"(?i)\b{any_of(CATEGORY_WORDS['security'])}\b"
    rf"|{any_pattern(CATEGORY_WORDS['security_patterns'])}"
)
_COMPILER = Lazy(any_pattern(of_work("decides", "build")))
_STARTED = Lazy(any_pattern(of_work("decides", "runtime")))
_LINTED = Lazy(
    rf"(?i:\b{any_of(of_work('mentions', 'lint'))}\b)|{any_pattern(of_work('decides', 'lint'))}"
)
_TESTED = Lazy(
    rf"(?i:\b(?:{any_of(of_work('mentions', 'test'))}(?!\.\w)|{any_of(CATEGORY_WORDS['test'])}"
    rf"|{any_of(CATEGORY_WORDS['no_tests'])})\b|^[\w.]+: {any_of(CATEGORY_WORDS['test_results'])})"
    rf"|{any_pattern(of_work('decides', 'test'))}"
)
_ASSERTED = Lazy(rf"(?i)\b{any_of(CATEGORY_WORDS['assert_words'])}\b")
_BUILT = Lazy(rf"(?i)\b{any_of((*CATEGORY_WORDS['build'], *of_work('mentions', 'build')))}\b")
_NETWORK = Lazy(
    rf"(?i:\b{any_of((*CATEGORY_WORDS['network'], *of_work('mentions', 'integration')))}\b"
    rf"|{any_pattern(CATEGORY_WORDS['network_patterns'])})"
    rf"|{any_pattern(of_work('decides', 'integration'))}"
)
# a module that is called as a service is
_IMPORTED = Lazy(any_pattern(CATEGORY_WORDS["missing_modules"]))
_REFUSED = Lazy(rf"\b{any_of(CATEGORY_WORDS['refused'])}\b")
_WEAK = Lazy(rf"(?i)\b{any_of(CATEGORY_WORDS['weak_network'])}\b(?!\.)")
_ALLOCATOR = rf"\b{any_of(CATEGORY_WORDS['allocators'])}\(\): "
_CRASHED = Lazy(
    rf"(?i)\b{any_of((*CATEGORY_WORDS['faults'], *CATEGORY_WORDS['crashes']))}\b|{_ALLOCATOR}"
    rf"|{any_pattern(CATEGORY_WORDS['crash_patterns'])}"
)
_RUNTIME = Lazy(
    rf"(?i)(?-i:(?:\w|^)(?:Error|Exception)\b)|\wInterrupt\b"
    rf"|\b{any_of(CATEGORY_WORDS['exceptions'])}\b"
    rf"|: not found$|{any_of(CATEGORY_WORDS['missing_command'])}"
)
_THROWN = Lazy(rf"^{any_of(CATEGORY_WORDS['thrown'])}|^[\w.]*(?:Error|Exception)(?::|$)")
_OF_THE_CODE = Lazy(rf"^(?:[\w.]+: )?{any_of(CATEGORY_WORDS['mistakes'])}(?:Error|Exception)\b")
_CRITICAL = Lazy(
    rf"(?i)\b{any_of((*CATEGORY_WORDS['faults'], *CATEGORY_WORDS['critical']))}(?!\w)|{_ALLOCATOR}"
    rf"|{any_pattern(CATEGORY_WORDS['critical_patterns'])}"
)
_INFO = Lazy(rf"\b{any_of(CATEGORY_WORDS['deprecated'])}\b")
_UNBUILT = of_work("unbuilt", "test")
_LAST = Lazy(r"&&|;|\|\|")


def _programs(kind: str) -> str:
    """Return an expression for the programs that do one kind of work whatever follows them."""
    return any_of([command for command in of_work("commands", kind) if " " not in command])


def _tasks(kind: str) -> str:
    """Return an expression for the programs that do one kind of work with a certain word."""
    return any_of([command for command in of_work("commands", kind) if " " in command])


def _patterns(kind: str) -> str:
    """Return an expression for the commands of a kind that words do not describe."""
    return any_pattern(of_work("command_patterns", kind))


# What runs a program of the project.
_RUNS = Lazy(
    rf"(?:^|[\s/;&|(]){_programs('runtime')}(?=\s)|\b{_tasks('runtime')}\b|(?:^|\s)\./\S"
    rf"|{_patterns('runtime')}"
)
_RUNNERS = Lazy(rf"(?i)(?:^|[\s/;&|(=]){any_of(of_tools('runs'))}\b")
# What a command does. The first that fits wins.
_START, _END, _GAP = r"(?:^|[\s/;&|(=])", r"(?=$|[\s;&|)])", r"\b[^|;&\n]{0,80}?"
_COMMANDS = (
    (
        "build",
        Lazy(
            rf"(?i)\b{any_of(of_work('programs', 'build'))}{_GAP} "
            rf"{any_of(TASK_WORDS['build'])}\b"
        ),
    ),
    ("lint", Lazy(rf"(?i:\b{any_of(of_work('commands', 'lint'))}\b)|{_patterns('lint')}")),
    (
        "test",
        Lazy(
            rf"(?i:\b{any_of(of_work('commands', 'test'))}\b"
            rf"|\b{any_of(of_work('programs', 'test'))}{_GAP}[ :]"
            rf"{any_of(TASK_WORDS['test'])}s?\b|(?:^|[\s/])(?:run-?)?tests?\.(?:sh|rb|py|t)\b)"
            rf"|{_patterns('test')}"
        ),
    ),
    (
        "build",
        Lazy(
            rf"(?i:{_START}{_programs('build')}{_END}|\b{_tasks('build')}\b)|{_patterns('build')}"
        ),
    ),
    (
        "integration",
        Lazy(
            rf"(?i:{_START}{_programs('integration')}{_END}|\b{_tasks('integration')}\b)"
            rf"|{_patterns('integration')}"
        ),
    ),
    ("general", Lazy(rf"(?:^|[\s/;&|(]){_programs('general')}\s|{_patterns('general')}")),
)


def _task_words(kind: str) -> str:
    """Return an expression for the words of a kind of work that stand alone in a command."""
    return rf"(?i)(?<![\w./-]){any_of(CATEGORY_WORDS[f'{kind}_tasks'])}(?![\w./-])"


# What the word for a task says, when nobody knows the program. The first that fits wins.
_TASKS = (
    ("lint", Lazy(_task_words("lint"))),
    ("test", Lazy(_task_words("test"))),
    ("build", Lazy(_task_words("build"))),
    ("integration", Lazy(_task_words("integration"))),
)
# How the shells name a line of a script.
_OF_SHELLS = rf"^\S+: (?:{any_of(LINE_WORDS['line'])} )?\d+ ?: "
# What an output looks like, for when its command is not known. The first that fits wins.
_LOOKS = (
    ("test", Lazy(rf"(?m){any_pattern(of_work('looks', 'test'))}")),
    ("lint", Lazy(rf"(?m){any_pattern(of_work('looks', 'lint'))}")),
    ("integration", Lazy(rf"(?m){any_pattern(of_work('looks', 'integration'))}")),
    ("build", Lazy(rf"(?m){any_pattern(of_work('looks', 'build'))}")),
    ("runtime", Lazy(rf"(?m){_OF_SHELLS}|{any_pattern(of_work('looks', 'runtime'))}")),
    ("general", Lazy(rf"(?m){any_pattern(of_work('looks', 'general'))}")),
)
# What the lines around an error say, for when nothing else does. The first that fits wins.
_SURROUNDINGS = (
    ("security", _SECURITY),
    ("lint", _LINTED),
    ("test", _TESTED),
    ("build", _BUILT),
    ("integration", _NETWORK),
    ("runtime", _RUNTIME),
    ("runtime", _CRASHED),
)


def category(error: str, near: str, command: str) -> str:
    """Return one of build, test, lint, runtime, integration, security, general."""
    if _SECURITY.search(error):
        return "security"
    if error.endswith(": command not found"):  # whatever it would have done
        return "runtime"
    if error.startswith("cd: "):
        return "runtime" if _RUNS.search(command) else "general"
    usual = _doing(command) if command else ""
    # what runs other tools is asked only when nothing tells which of them failed
    is_seen = not command or bool(_RUNNERS.search(command))
    doing = _first_fit(_LOOKS, near) if is_seen else usual
    if usual == "general":
        doing = doing or usual
    return (
        _by_tool(error, near, command, doing)
        or _by_task(error, near, command, doing)
        or _by_words(error, near, command)
        or usual
        or _first_fit(_SURROUNDINGS, near)
        or "general"
    )


def _by_tool(error: str, near: str, command: str, doing: str) -> str:
    """Return the category of an error of a compiler, a linter or a test; "" for another error."""
    if _COMPILER.search(error) or (error.startswith("error") and "cargo " in command):
        return "lint" if doing == "lint" else "build"
    if _STARTED.search(error):
        return "runtime"
    if _LINTED.search(error):
        return "lint"
    if _TESTED.search(error):
        return "test"
    if doing != "test":
        return "lint" if doing == "lint" else ""
    if _OF_THE_CODE.search(error):
        return "runtime"  # the code raised it, whoever ran it
    return "build" if any(sign in near for sign in _UNBUILT) else "test"


def _by_task(error: str, near: str, command: str, doing: str) -> str:
    """Return the category of a crash, of a failed connection, or of what the command does."""
    # what was built
    is_run = (
        not command or doing != "build" or not _doing(_LAST.sub("\n", command).splitlines()[-1])
    )
    if _CRASHED.search(error):
        return "runtime" if is_run else "build"
    if _NETWORK.search(error) and not _IMPORTED.search(error):
        return "integration"
    is_thrown = doing == "build" and is_run and _THROWN.search(error)
    if is_thrown or (doing == "integration" and _OF_THE_CODE.search(error)):
        doing = "runtime"
    return _unless_refused(near) if doing == "runtime" else doing


def _by_words(error: str, near: str, command: str) -> str:
    """Return the category that the words of the error say, or that of a program of the project."""
    if _BUILT.search(error):
        return "build"
    if not command and _ASSERTED.search(error):
        return "test"
    if _RUNTIME.search(error):
        return _unless_refused(near)
    if _WEAK.search(error):
        return "integration"
    if _RUNS.search(command):
        return "general" if _INFO.search(error) else "runtime"
    return ""


def _unless_refused(near: str) -> str:
    """Return the category of an error at run time, which a server that is not there may cause."""
    return "integration" if _REFUSED.search(near) else "runtime"


def severity(error: str, kind: str) -> str:
    """Return one of critical, warning, info.

    A panic in a test or a build is not a crash of its own.
    """
    said = error.removeprefix("panic: ") if kind in {"test", "build"} else error
    return "critical" if _CRITICAL.search(said) else "info" if _INFO.search(error) else "warning"


def _doing(command: str) -> str:
    """Return the kind of work that a command does, "" for an unknown one."""
    if not command:
        return ""
    done = _first_fit(_COMMANDS, command)
    return done or ("" if _RUNS.search(command) else _first_fit(_TASKS, command))


def _first_fit(table: "Sequence[tuple[str, Lazy]]", text: str) -> str:
    """Return the category of the first expression that fits a text, "" without one."""
    return next((name for name, words in table if words.search(text)), "")
