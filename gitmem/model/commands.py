"""Shell commands as an agent types them: which are one and the same, which prove that something passes, which change nothing.

Pure; read by hooks: nothing but `re`.
"""

from gitmem.lazy import Lazy

LONGEST = 400  # characters that tell a command from others

_INTO = Lazy(r"^\s*(?:\(?\s*(?:cd|pushd)\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*)+")
_GIVEN = Lazy(
    r"^(?:(?:export\s+|env\s+)?[A-Za-z_]\w*=(?:\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*(?:&&\s*|;\s*)?|env\s+|time\s+|nice\s+|timeout\s+(?:-\S+\s+)*\d+[smhd]?\s+|stdbuf\s+(?:-\S+\s+)+)+"
)
_SHOWN = Lazy(r"\s*(?:\d?>>?\s*(?:&\d|/dev/null)|&>\s*/dev/null|\|\s*(?:tail|head|cat|less|tee|grep|rg|sed|awk|sort|uniq|wc)\b[^|;&]*)\s*$")
_QUOTED = Lazy(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\\.")
_HIDING = Lazy(r"\||;|(?<![&>])&(?![&>\d])|\bset \+e\b")
# what looks and leaves everything as it was
_LOOKING = Lazy(
    r"^(?:sudo\s+)?(?:ls|cat|head|tail|less|more|grep|egrep|fgrep|rg|ag|find|fd|pwd|echo|printf|which|type|whereis|file|stat|wc|du|df|ps|top|env|printenv|date|"
    r"whoami|id|uname|hostname|tree|diff|cmp|sort|uniq|jq|yq|sleep|true|test|\[|history|man|help|"
    r"git\s+(?:-\S+\s+(?:\S+\s+)?)?(?:status|log|diff|show|branch|blame|grep|ls-files|rev-parse|remote(?:\s+-v)?|describe|reflog|mem|add|commit|push|fetch)|"
    r"sed\s+-n|awk|(?:npm|pnpm|yarn)\s+(?:ls|list|outdated|why|view|info|audit)|pip\d?\s+(?:list|show|freeze|check|index)|python\d?\s+-c|node\s+-e|"
    r"docker\s+(?:ps|images|logs|inspect)|kubectl\s+(?:get|describe|logs)|systemctl\s+status|\S+\s+(?:--version|-V|-v|version|--help|-h))(?:\s|$)"
)


def key(command: str) -> str:
    """Return what is the same each time a command is run: without the folder, the environment and the pipe that only shows it."""
    now = " ".join(command.split())
    now = _INTO.sub("", now)
    now = _GIVEN.sub("", now)
    for _ in range(6):
        last, now = now, _SHOWN.sub("", now)
        if now == last:
            break
    return str(now).strip(" )")[:LONGEST]


def proves(passed: str, failed: str) -> bool:
    """Say whether a command's exit code of 0 means that what failed passes: nothing in it hides the code of its parts.

    The very command that failed has shown that it can.
    """
    if " ".join(passed.split()) == " ".join(failed.split()):
        return True
    return not _HIDING.search(_QUOTED.sub("", _INTO.sub("", passed.strip())))


def given(command: str) -> str:
    """Return the environment that is set before a command; empty when none is."""
    found = _GIVEN.search(_INTO.sub("", " ".join(command.split())))
    return found[0].strip(" ;&") if found else ""


def only_looks(command: str) -> bool:
    """Say whether a command only shows things: it cannot be what helped."""
    bare = _GIVEN.sub("", _INTO.sub("", " ".join(command.split())))
    if not bare:
        return False  # it sets the environment
    parts = [part.strip() for part in bare.replace("&&", "\n").replace("||", "\n").replace(";", "\n").replace("|", "\n").split("\n")]
    if ">" in _SHOWN.sub("", _QUOTED.sub("", bare)).replace("2>&1", ""):
        return False
    return all(not part or _LOOKING.match(part) for part in parts)
