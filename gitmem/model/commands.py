"""Shell commands as an agent types them: which are one and the same, which prove that something passes, which change nothing.

Pure; read by hooks: nothing but `re`.
"""

from gitmem.lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

LONGEST = 400  # characters that tell a command from others
READ = 4096  # characters of one that are looked at

_CD = r"\(?\s*(?:cd|pushd)\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*"
_ENV = r"(?:export\s+|env\s+)?[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*(?:&&\s*|;\s*)?|env\s+|time\s+|nice\s+|timeout\s+(?:-\S+\s+(?:[A-Z]+\s+)?|\d+[smhd]?\s+)+|stdbuf\s+(?:-\S+\s+)+"
_INTO = Lazy(rf"^\s*(?:{_CD})+")
_GIVEN = Lazy(rf"^(?:{_ENV})+")
_BEFORE = Lazy(rf"^\s*(?:{_CD}|{_ENV})+")  # both, in any order
_SHOWN = Lazy(
    r"\s*(?:\d?>>?\s*(?:&\d|/dev/null)|&>\s*/dev/null|\|\s*(?:tail|head|cat|less|tee|grep|rg|sed|awk|sort|uniq|wc)\b(?:[^|;&'\"]|'[^']*'|\"[^\"]*\")*)\s*$"
)
_QUOTED = Lazy(r"\"(?:[^\"\\]|\\[\s\S])*\"|'[^']*'|\\[\s\S]")
_QUIET = Lazy(r"\d?>>?\s*(?:&\d|/dev/null)|&>>?\s*/dev/null")
_HIDING = Lazy(r"\||;|\n|(?<![&>])&(?![&>\d])|\bset \+e\b")
_PARTS = Lazy(r"&&|[;|\n]|(?<![&>])&(?![&>\d])")
# what looks and leaves everything as it was
_LOOKING = Lazy(
    r"^(?:sudo\s+)?(?:ls|cat|head|tail|less|more|grep|egrep|fgrep|rg|ag|find|fd|pwd|echo|printf|which|type|whereis|file|stat|wc|du|df|ps|top|env|printenv|date|"
    r"whoami|id|uname|hostname|tree|diff|cmp|sort|uniq|jq|yq|sleep|true|test|\[|history|man|help|"
    r"git\s+(?:-\S+\s+(?:\S+\s+)?)?(?:status|log|diff|show|branch|blame|grep|ls-files|rev-parse|remote(?:\s+-v)?|describe|reflog|mem|add|commit|push|fetch)|"
    r"sed\s+-n|awk|(?:npm|pnpm|yarn)\s+(?:ls|list|outdated|why|view|info|audit)|pip\d?\s+(?:list|show|freeze|check|index)|python\d?\s+-c|node\s+-e|"
    r"docker\s+(?:ps|images|logs|inspect)|kubectl\s+(?:get|describe|logs)|systemctl\s+status|\S+\s+(?:--version|-V|-v|version|--help|-h))(?:\s|$)"
)


def key(command: str) -> str:
    """Return what is the same each time a command is run: without the folder, the environment and the pipe that only shows it.

    The key of a key is the key itself.
    """
    now = " ".join(command[:READ].split())
    while True:
        last = now
        now = str(_SHOWN.sub("", _BEFORE.sub("", now))).strip(" )")
        if now == last and len(now) <= LONGEST:
            return now
        if now == last:
            now = now[:LONGEST]


def proves(passed: str, failed: str) -> bool:
    """Say whether a command's exit code of 0 means that what failed passes: nothing in it hides the code of its parts.

    The very command that failed has shown that it can.
    """
    if " ".join(passed.split()) == " ".join(failed.split()):
        return True
    return not _HIDING.search(_QUOTED.sub("", _BEFORE.sub("", passed.strip())))


def given(command: str) -> str:
    """Return the environment that is set before a command; empty when none is."""
    found = _GIVEN.search(_INTO.sub("", " ".join(command.split())))
    return found[0].strip(" ;&") if found else ""


def only_looks(command: str) -> bool:
    """Say whether a command only shows things: it cannot be what helped."""
    bare = _BEFORE.sub("", _QUOTED.sub(_word, command[:READ].strip()))
    if not bare:
        return False  # it sets the environment
    bare = _QUIET.sub(" ", bare)
    if ">" in bare:
        return False  # it writes a file
    parts = [part.strip(" \t()") for part in _PARTS.sub("\n", bare).split("\n")]
    return all(not part or _LOOKING.match(part) for part in parts)


def _word(found: "re.Match[str]") -> str:
    """Return what stands for quoted text where a command is split: one word that is no command's name."""
    return " " if found[0] == "\\\n" else "Q"
