"""Shell commands as an agent types them.

This module says which are the same, what a passing one proves, and which may have helped.

Pure; read by hooks: nothing but `re`, in time that is linear in the text. A shell's grammar is read
as far as agents use it: quotes, substitutions, lists (`&&`, `||`, `;`, `&`), pipes, redirections,
assignments. What is not understood proves nothing.
"""

import posixpath

from gitmem.base.fast import Lazy

READ = 4096  # characters of a command that are looked at
LONGEST = 2000  # characters of a key
HEAD = 8  # words that a command is known by

_TOKEN = Lazy(
    r"\\\n|\\[\s\S]|\"(?:[^\"\\]|\\[\s\S])*\"|'[^']*'|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`"
    r"|\d?>>?&\d?-?|&>>?|&&|\|\||[;&|\n]|[^\"'$`\\;&|\n>]+|[\s\S]"
)
_VALUE = (
    r"(?:\"(?:[^\"\\]|\\[\s\S])*\"|'[^']*'|\$\((?:[^()]|\([^()]*\))*\)|\\[\s\S]|[^\s\"'$\\]"
    r"|\$(?!\())*"
)
_CD = Lazy(r"^(?:cd|pushd)\s+(?:--\s+)?(\"[^\"]*\"|'[^']*'|\S+)$")
_ASSIGNED = Lazy(rf"^([A-Za-z_]\w*={_VALUE})(?:\s+|$)")
_EXPORT = Lazy(rf"^export\s+((?:[A-Za-z_]\w*={_VALUE}(?:\s+|$))+)$")
_WRAPPER = Lazy(
    r"^(?:(?:time|command|exec|nohup)(?:\s+-p)?|env(?:\s+(?:-i|-u\s+\S+|--))*|nice(?:\s+-n\s*-?\d+"
    r"|\s+-\d+)?|stdbuf(?:\s+-\S+)+|"
    r"timeout(?:\s+(?:-[ks]\s+(?!-)\S+|-(?![ks]\s)\S+))*\s+\d+(?:\.\d+)?[smhd]?)\s+"
)
_HIDDEN = Lazy(r"(?<!\s)\s*+(?:\d?>>?&\d?-?|(?:&|\d)?>>?\s*+/dev/null|<\s*+/dev/null)")
_FLAGS = Lazy(
    r"(?<!\s)\s++(?:-q+|-v+|-s|-x|--quiet|--verbose|--silent|--no-header|--colou?r(?:=\w+)?"
    r"|--tb=\w+|--)(?=\s|$)"
)
_RUNNER = Lazy(
    r"^(?:(?:uv|poetry|pdm|hatch|pipenv)\s+run\s+|python\d?(?:\.\d+)?\s+-m\s+|npx\s+)?(?:pytest"
    r"|unittest|npm|pnpm|yarn|bun|make|cargo|go|tox|nox|jest|vitest|mocha|mvn|gradle|ruff|mypy|tsc"
    r"|eslint|pre-commit)\b"
)
_ODD = Lazy(
    r"[(){}]|<<|(?:^|\s)#|(?:^|[;&|\n][^\S\n]*+)(?:if|then|else|elif|fi|for|while|until|do|done"
    r"|case|esac|function|select|!|set\s+\+)(?:\s|$)"
)
_PIPEFAIL = Lazy(r"^set\s+-(?:\w*o\s+pipefail|\w+\s+-o\s+pipefail)(?:\s|$)")
_SHOWING = Lazy(r"^(?:tail|head|cat|less|tee|grep|egrep|rg|sed|awk|sort|uniq|wc)\b")
_LOOKING = Lazy(
    r"^(?:ls|cat|head|tail|less|grep|egrep|fgrep|rg|ag|(?:find|fd)(?!.*\s-(?:exec|delete))|stat"
    r"|test|\[|which|type|pwd|echo|cd|diff|cmp|file|git[ -]mem)(?:\s|$)"
)
# what sets up, starts, cleans or configures: it may be why the same command passes now, with the
# same code
_HELPING = Lazy(
    r"^(?:sudo\s+(?:-\S+\s+)*)?(?:"
    r"(?:pip|pip3|pipx|pipenv|poetry|pdm|uv|conda|mamba|npm|pnpm|yarn|bun|cargo|gem|bundle|composer"
    r"|apt|apt-get|apk|dnf|yum|brew|go|rustup|nvm|pyenv|asdf|sdk|dotnet|helm|mix|corepack)"
    r"\s+(?:-\S+\s+|pip\s+|mod\s+|tool\s+|toolchain\s+)*(?:install|i|ci|add|sync|update|upgrade|get"
    r"|download|tidy|vendor|use|enable|rebuild|restore|dedupe|prune|cache\s+clean|clean-install)\b|"
    r"python\d?(?:\.\d+)?\s+-m\s+(?:pip\s+install|venv|ensurepip|playwright\s+install)"
    r"|npx\s+(?:-\S+\s+)*(?:playwright\s+install|prisma\s+(?:generate|migrate|db))|"
    r"docker(?:-|\s+)compose\s+(?:-\S+\s+(?:(?!-)\S+\s+)??)*(?:up|start|restart|build|pull)"
    r"|docker\s+(?:start|restart|run|pull|login)|"
    r"systemctl\s+(?:--user\s+)?(?:start|restart|enable)|service\s+\S+\s+(?:start|restart)"
    r"|brew\s+services\s+(?:start|restart)|pg_ctl\s+.*start|pg_ctlcluster|redis-server"
    r"|minikube\s+start|"
    r"kubectl\s+(?:apply|create|rollout|port-forward)|createdb|dropdb|alembic\s+(?:upgrade|stamp)"
    r"|flyway\s+migrate|dbmate\s+up|knex\s+migrate|prisma\s+(?:generate|migrate|db)|"
    r"(?:\S*/)?(?:python\d?\s+)?(?:\./)?manage\.py\s+migrate|(?:bin/)?(?:rails|rake)\s+db:\w+|"
    r"rm\s+(?:-\S+\s+)*(?:\S*/)?(?:node_modules|dist|build|target|\.next|\.venv|venv|__pycache__"
    r"|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.cache|\.turbo|\.gradle|\S*\.lock|\S*\.pid"
    r"|\S*\.sock)\b|"
    r"(?:make|just|task)\s+(?:setup|bootstrap|deps|install|generate|gen|codegen|proto|migrate|init"
    r"|up|seed|env|venv)\b|"
    r"(?:npm|pnpm|yarn|bun)\s+run\s+(?:setup|prepare|generate|codegen|gen|migrate|db:\w+"
    r"|postinstall)\b|protoc\s|buf\s+generate|go\s+generate|"
    r"(?:make|cargo|gradle|\./gradlew|mvn|\./mvnw|go|flutter|dotnet)\s+(?:-\S+\s+)*clean\b|(?:chmod"
    r"|chown|ulimit|sysctl|kill|pkill|killall|fuser)\s|"
    r"(?:git\s+(?:submodule\s+update|lfs\s+(?:pull|install)|config)|npm\s+config\s+set"
    r"|pip\s+config\s+set|direnv\s+allow|gcloud\s+auth|aws\s+(?:sso\s+login|configure)|az\s+login"
    r"|gh\s+auth)\b|"
    r"(?:cp|ln)\s+(?:-\S+\s+)*\S+\s+(?:\S*/)?\.[\w.]+$|(?:source|\.)\s+\S+|export\s+[A-Za-z_]\w*=)"
)


class ShellCommand:
    """One simple command of a line.

    It has the operator before it, the folder that it runs in, what is set before it, and the rest.

    `kind` is `cd` or `export` for what only changes the folder or the environment of what follows.
    """

    __slots__ = ("bare", "env", "folder", "kind", "operator", "text")

    def __init__(
        self, operator: str, folder: str, env: str, bare: str, text: str, kind: str = ""
    ) -> None:
        self.operator = operator
        self.folder = folder
        self.env = env
        self.bare = bare
        self.text = text
        self.kind = kind

    @property
    def key(self) -> str:
        """The part of a command that is the same each time it is run.

        It says where and what is run, without how much a runner prints.
        """
        return (
            f"{self.folder}\n{_FLAGS.sub('', self.bare) if _RUNNER.match(self.bare) else self.bare}"
        )


def parts(command: str, cwd: str = "") -> "list[ShellCommand]":
    """Return the simple commands of a line, in their order."""
    out: list[ShellCommand] = []
    folder, exported = cwd, ""
    for sign, text in _split(command[:READ]):
        moved = _CD.match(text)
        named = _EXPORT.match(text)
        if moved:
            folder = posixpath.normpath(posixpath.join(folder or ".", moved[1].strip("\"'")))
            out.append(ShellCommand(sign, folder, exported, text, text, "cd"))
        elif named:
            exported = f"{exported} {named[1].strip()}".strip()
            out.append(ShellCommand(sign, folder, exported, text, text, "export"))
        else:
            env, bare = _bare(text)
            out.append(ShellCommand(sign, folder, f"{exported} {env}".strip(), bare, text))
    return out


def key(command: str, cwd: str = "") -> str:
    """Return the key that identifies a command that failed.

    It is the last folder and the simple commands, without the pipe that only shows the output.
    """
    run = _run(parts(command, cwd))
    if not run:
        return ""
    return (
        f"{run[-1].folder}\n" + " && ".join(part.key.partition("\n")[2] for part in run)[:LONGEST]
    )


def proven(command: str, cwd: str = "") -> "set[str]":
    """Return the keys of what has surely passed when a command's exit code is 0.

    Nothing hides the exit code of such a part.

    What is not understood proves nothing: subshells within a line, keywords, here-documents,
    comments, folders that only the shell knows.
    """
    plain = _TOKEN.sub(lambda match: " " if match[0][0] in "\"'$`\\" else match[0], command).strip()
    if plain.startswith("(") and plain.endswith(")"):
        plain = plain[1:-1]
    if len(command) > READ or _ODD.search(plain) or plain.endswith("&"):
        return set()
    commands = parts(command, cwd)
    # only the last list's code is told
    start = max((n for n, part in enumerate(commands) if part.operator in {";", "\n"}), default=0)
    tail = commands[start:]
    signs = {part.operator for part in tail[1:]}
    failing = any(_PIPEFAIL.match(part.bare) for part in commands[:start])
    if not tail or "||" in signs or "&" in signs or ("|" in signs and not failing):
        return set()
    run = [part for part in tail if part.operator != "|" and not part.kind]
    if (
        not run
        or any(sign in run[-1].folder for sign in "$~`")
        or any(_CD.match(part.text) and part.text.endswith("-") for part in commands)
    ):
        return set()
    return {part.key for part in run} | {
        f"{run[-1].folder}\n" + " && ".join(part.key.partition("\n")[2] for part in run)[:LONGEST]
    }


def same(first: str, other: str) -> bool:
    """Say whether two commands are typed alike."""
    return " ".join(first.split()) == " ".join(other.split())


def environment(command: str) -> "tuple[str, str]":
    """Return (what is set for the last simple command, that command).

    Empty texts when there is none.
    """
    run = _run(parts(command))
    return (run[-1].env, run[-1].bare) if run else ("", "")


def heads(command: str) -> "list[str]":
    """Return the names that a command may be known by.

    They are the first words of each of its simple commands, from one to eight.
    """
    beginnings = []
    for part in parts(command):
        words = part.bare.split()[:HEAD] if not part.kind else []
        beginnings += [" ".join(words[:n])[:LONGEST] for n in range(1, len(words) + 1)]
    return list(dict.fromkeys(beginnings))[:400]


def head(command: str) -> str:
    """Return the name that a failed command is known by.

    It is the first words of the last of its simple commands, and empty if there is none.
    """
    run = _run(parts(command))
    return " ".join(run[-1].bare.split()[:HEAD])[:LONGEST] if run else ""


def helping(command: str) -> "list[str]":
    """Return the simple commands that set up, start, clean or configure something.

    They may be the reason why another command passes.
    """
    if "<<" in command:
        return []  # the text of a here-document is not a command
    return [
        " ".join(part.text.split())
        for part in parts(command)
        if _HELPING.match(part.bare if part.kind != "export" else part.text)
    ]


def only_looks(command: str) -> bool:
    """Return whether a command only looks at files, or only asks git mem.

    That it fails says nothing about the project.
    """
    commands = [part for part in parts(command) if not part.kind]
    return bool(commands) and all(_LOOKING.match(part.bare) for part in commands)


def _run(commands: "list[ShellCommand]") -> "list[ShellCommand]":
    return [
        part
        for part in commands
        if not part.kind and not (part.operator == "|" and _SHOWING.match(part.bare))
    ]


def _split(command: str) -> "list[tuple[str, str]]":
    """Return (operator before, text) of each piece of a line."""
    out, sign, piece = [], "", ""
    for match in _TOKEN.finditer(command):
        word = match[0]
        if word == "\\\n":
            piece += " "
        elif word in {"&&", "||", ";", "&", "|", "\n"}:
            if piece.strip():
                out.append((sign, piece.strip(" \t()")))
                sign = ""
            sign = word if word != "\n" or not sign else sign
            piece = ""
        else:
            piece += word
    if piece.strip():
        out.append((sign, piece.strip(" \t()")))
    return out


def _bare(text: str) -> "tuple[str, str]":
    """Return (assignments, the rest without wrappers and silenced output) of a simple command."""
    env: list[str] = []
    while True:
        match = _ASSIGNED.match(text)
        if match:
            env.append(match[1])
            text = text[match.end() :]
            continue
        wrapped = _WRAPPER.match(text)
        if not wrapped:
            break
        text = text[wrapped.end() :]
    return " ".join(env), " ".join(_HIDDEN.sub("", text).split())
