"""What kind of work an error comes from, and how bad it is.

Whole words decide, never parts of words (`latest` is not a test).

The error itself is asked first, then the command that failed, then the lines around the error.
"""

from gitmem.base.fast import Lazy

# Signs in the error itself. The first that fits wins.
_SECURITY = Lazy(
    r"(?i)\b(?:csrf|xss|unauthori[sz]ed|forbidden|authentication failed"
    r"|permission denied \(publickey|vulnerabilit(?:y|ies)|sql injection|bad credentials"
    r"|access denied|password authentication|invalid signature|"
    r"host key verification failed|need auth|certificate (?:has expired|verify failed)"
    r"|dubious ownership)\b|returned error: 40[13]$|^(?:\w+Error: )?40[13] "
)
_COMPILER = Lazy(
    r"error\[E\d+\]|\berror TS\d+:|undefined reference|multiple definition of|could not compile"
    r"|linker command|ld returned|cannot find -l|\(\.\w+\+0x|^(?:fatal )?error: .*(?:‘|undeclared"
    r"|no such file or directory$|file not found$)"
)
_LINTED = Lazy(
    r"(?i)\b(?:eslint|ruff|flake8|pylint|mypy|pyright|prettier|stylelint|clippy|rubocop|shellcheck"
    r"|golangci-lint|black|isort)\b"
)
_TESTED = Lazy(
    r"(?i)\b(?:(?:pytest|unittest|jest|vitest|mocha|ctest|rspec|cypress|playwright)(?!\.\w)"
    r"|AssertionFailedError|tests? (?:failed|timed out|suite)|no tests? (?:files? )?(?:ran|found)"
    r"|DID NOT RAISE|fixture '\w+' not found)\b|--- FAIL|"
    r"^[\w.]+: (?:AssertionError|assert|expect\(|Failed:)|^not ok\b|^test .+ \(\w+Test\): "
)
_ASSERTED = Lazy(r"(?i)\bassert(?:ion)?(?:error)?\b")
_BUILT = Lazy(
    r"(?i)\b(?:compil(?:e|ing|ation|er)|linker|webpack|vite|esbuild|rollup|tsc|rustc|gcc|g\+\+"
    r"|clang|cmake|make|ninja|maven|mvn|gradle|(?:pip|npm|yarn|pnpm|apt|apt-get|bundle|poetry|uv"
    r"|cargo) install|"
    r"could not find a version|no matching distribution|unable to locate package"
    r"|no rule to make target)\b"
)
_NETWORK = Lazy(
    r"(?i)\b(?:E?CONN(?:REFUSED|RESET|ECTION)|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH"
    r"|connection (?:refused|reset|timed out|error|closed)|getaddrinfo|could not resolve host"
    r"|name or service not known|(?:GET|POST|PUT|PATCH|DELETE|request to|url:?) https?|HTTP/?\d"
    r"|HTTP \w+|"
    r"SQLITE_[A-Z]+|postgres(?:ql)?|psycopg2?|mysql|pymysql|sqlite3?|sqlalchemy|mongodb|redis|kafka"
    r"|rabbitmq|docker|kubectl|curl|fetch failed|failed to connect|could not connect|cannot connect"
    r"|connect to host|remote end closed|"
    r"certificate|ConnectionError|ConnectionRefusedError|URLError|HTTP\w*Error|ConnectError"
    r"|SocketTimeout|ConnectException|UnknownHostException|SQLException|status code \d{3})\b"
)
_REFUSED = Lazy(r"\bECONNREFUSED\b|\bConnectException\b|\bConnection refused\b|\bENOTFOUND\b")
_WEAK = Lazy(r"(?i)\b(?:database|api|cors|webhook|graphql|ssl|tls)\b(?!\.)")
_RUNS = Lazy(
    r"(?:^|[\s/;&|(])(?:python[\d.]*|node|ruby|perl|php|lua[\d.]*|Rscript|tclsh|sbcl|guile|swipl"
    r"|elixir|escript|ocaml|java|deno|bun|bash|dash|zsh|sh|tsx|ts-node)(?=\s)|(?:^|\s)\./\S|\b(?:go"
    r"|cargo|dotnet|poetry|uv) run\b|\bnpm (?:start|run (?:start|dev))\b"
)
_CRASHED = Lazy(
    r"(?i)\b(?:segmentation fault|segmentation violation|SIGSEGV|SIGKILL|SIGABRT|core dumped"
    r"|bus error|panicked|out of memory|cannot allocate memory|error while loading shared libraries"
    r"|MemoryError|OutOfMemoryError|stack smashing|double free|AddressSanitizer|LeakSanitizer"
    r"|runtime error|invalid (?:read|write) of size|"
    r"stack overflow|heap limit|floating point exception|goroutines are asleep"
    r"|speicherzugriffsfehler|erreur de segmentation|violación de segmento|falha de segmentação"
    r"|ошибка сегментирования)\b|"
    r"\b\d+ (?:killed|aborted)\b|^(?:killed|aborted)\b|^panic: |\b(?:free|malloc|realloc"
    r"|munmap_chunk)\(\): |assertion .{0,200} failed|^std::\w+|terminate called"
    r"|fatal error: (?:sync|all goroutines|concurrent)"
)
_RUNTIME = Lazy(
    r"(?i)(?:\w|^)(?:Error|Exception)\b|\wInterrupt\b|\b(?:traceback|null pointer|exception)\b"
    r"|\b(?:syntax|parse) error\b|fatal error: uncaught|command not found|: not found$"
    r"|is not recognized|"
    r"(?:kommando nicht gefunden|commande introuvable|orden no encontrada|comando (?:não encontrado"
    r"|non trovato)|команда не найдена|未找到命令|コマンドが見つかりません)"
)
_THROWN = Lazy(
    r"^(?:exception in thread|Exception in thread|Caused by: |Uncaught "
    r"|Error: (?:Could not find or load|Main method))|^[\w.]*(?:Error|Exception)(?::|$)"
)
_OF_THE_CODE = Lazy(
    r"^(?:[\w.]+: )?(?:Key|Index|Type|Value|Attribute|Name|ZeroDivision|UnboundLocal|Recursion"
    r"|Overflow|Reference|Range|NullPointer|IllegalArgument|IllegalState|NoMethod|Argument)(?:Error"
    r"|Exception)\b"
)
_LAST = Lazy(r"&&|;|\|\|")
# What a command does. The first that fits wins.
_COMMANDS = (
    (
        "build",
        Lazy(
            r"(?i)\b(?:pip3?|npm|yarn|pnpm|bun|apt|apt-get|bundle|poetry|uv|cargo|gem|composer|brew"
            r"|conda)\b[^|;&\n]{0,80}? (?:install|ci|add|sync|update|upgrade|download)\b"
        ),
    ),
    (
        "lint",
        Lazy(
            r"(?i)\b(?:eslint|ruff|flake8|pylint|mypy|pyright|prettier|stylelint|clippy|rubocop"
            r"|shellcheck|golangci-lint|black|isort|yamllint|biome|oxlint|htmlhint|jsonlint"
            r"|markdownlint|svelte-check|sqlfluff|bandit|pydocstyle|codespell|vulture|interrogate"
            r"|go vet|cargo fmt|gofmt|hadolint|tflint|(?:npm|yarn|pnpm|make)(?: run)? lint)\b"
        ),
    ),
    (
        "test",
        Lazy(
            r"(?i)\b(?:pytest|unittest|jest|vitest|mocha|ctest|rspec|cypress|playwright|prove"
            r"|minitest|ava|jasmine|uvu)\b|\bnode\b[^|;&\n]{0,40} --test\b|"
            r"\b(?:cargo|go|npm|yarn|pnpm|bun|make|gradlew?|mvnw?|tox|nox|dotnet|mix|rake|swift"
            r"|bazel|deno)\b[^|;&\n]{0,80}?[ :](?:unit-?|integration-?)?tests?\b|(?:^"
            r"|[\s/])(?:run-?)?tests?\.(?:sh|rb|py|t)\b"
        ),
    ),
    (
        "build",
        Lazy(
            r"(?i)(?:^|[\s/;&|(=])(?:webpack|vite|esbuild|rollup|tsc|rustc|gcc|g\+\+|cc"
            r"|clang(?:\+\+)?|cmake|g?make|ninja|mvnw?|gradlew?|javac|kotlinc|sass|lessc|postcss"
            r"|terser|swc|parcel|tsup|ocamlc|ocamlopt|gfortran|nasm|protoc|bison|flex|m4|ghc|babel"
            r"|pkg-config|dpkg|apt(?:-get)?|pip3?|msbuild|meson|bazel|terraform)(?=$|[\s;&|)])|"
            r"\b(?:cargo|go|npm run|docker|deno|(?:yarn|pnpm|bun)(?: run)?|dotnet|swift|mix|stack"
            r"|zig) (?:build|check|compile|publish)\b|\b(?:npm|npm run|yarn|pnpm|cargo) (?:ls|audit"
            r"|publish|pack)\b|py_compile"
        ),
    ),
    (
        "integration",
        Lazy(
            r"(?i)(?:^|[\s/;&|(=])(?:curl|wget|psql|mysql|mariadb|sqlite3|redis-cli|mongosh?|docker"
            r"|kubectl|helm|ssh|scp|grpcurl|httpie|alembic|flyway|knex|prisma|sequelize"
            r"|typeorm)(?=$|[\s;&|)])|manage\.py migrate"
        ),
    ),
    ("general", Lazy(r"(?:^|[\s/;&|(])git\s")),
)
# What an output looks like, for when its command is not known. The first that fits wins.
_LOOKS = (
    (
        "test",
        Lazy(
            r"(?m)^={3,} (?:FAILURES|ERRORS|short test summary|test session|no tests)"
            r"|^Ran \d+ tests? in|^[ \t]*--- FAIL|^test result: FAILED|^[ \t]*● |<<< (?:FAILURE"
            r"|ERROR)!|^[ \t]+\d++ failing$|^ FAIL |^FAILED \S+::|^Tests: |^not ok |"
            r"^\d+ runs, \d+ assertions|^E   +\S|^pytest: error: "
        ),
    ),
    (
        "lint",
        Lazy(
            r"(?m)^\S+\.pyi?:\d+(?::\d+)?: (?:error|note): "
            r"|^(?:\S+:\d+:\d+: )?[A-Z]{1,5}\d{3,5}:? (?!\d\d:).*\w|^[ \t]+\d++:\d++\s+(?:error"
            r"|warning|✖)\s|✖ \d+ problems?|\bSC\d{4}\b|^Found \d+ errors?\b|^would reformat "
            r"|^Oops! Something went wrong|"
            r"^  \S+:\d+:\d+ - error: |^\[error\] \S+: |^Checking formatting"
        ),
    ),
    (
        "integration",
        Lazy(
            r"(?m)^(?:psql|mysql|mariadb): |^ERROR \d+ \(\w{5}\)|^(?:psql:\S+ )?ERROR:  "
            r"|^LINE \d+: |^Error: (?:in prepare|stepping), |^Parse error near line|^(?:docker|curl"
            r"|wget|ssh): |^ERR |^WRONGTYPE "
        ),
    ),
    (
        "build",
        Lazy(
            r"(?m)^\S+\.(?:c|cc|cpp|cxx|h|hpp|java|kt|s):\d+(?::\d+)?: .{0,10}?(?:error|erreur"
            r"|Fehler|ошибка|エラー|错误)|^ *--> \S+:\d+:\d+$|^(?:vet: )?\S+\.go:\d+:\d+: "
            r"|^error(?:\[E\d+\])?: .*(?:crate|package|Cargo|rustc|command|target)|"
            r"^go: |^\[ERROR\] |^npm (?:error|ERR!) |^ERROR: (?:Could not|Cannot install"
            r"|Invalid requirement|Directory|Package|Failed|unknown command|No matching)|^E: "
            r"|^BUILD FAIL|^FAILURE: Build|^CMake Error|error during build|"
            r"^(?:g|\w:)?make(?:\[\d+\])?: |^Makefile:\d+: |^ninja: |^(?:gcc|clang|cc1|javac"
            r"|dpkg(?:-\w+)?|collect2): |^/\S+/ld: |\[built\]|compiled with \d+ error"
            r"|^error: (?:release version|file not found|warnings found)|^✘ \[ERROR\]"
        ),
    ),
    (
        "runtime",
        Lazy(
            r"(?m)^\S+: (?:(?:line|Zeile|ligne|línea|linha|riga|行|строка) )?\d+ ?: |^zsh:\d+: "
            r"| at \S+ line \d+\.$|^Node\.js v\d|^lua[\d.]*: |^PHP |^Error in \S+\("
            r"|^exit status \d+$|^\S+\.rb:\d+:in |^usage: "
        ),
    ),
    (
        "general",
        Lazy(
            r"(?m)^(?:fatal|hint|CONFLICT|git): ?|^error: (?:pathspec|patch|The |Your "
            r"|cannot rebase|remote )"
        ),
    ),
)
_CRITICAL = Lazy(
    r"(?i)\b(?:segmentation (?:fault|violation)|SIGSEGV|core dumped|bus error|panic:|panicked"
    r"|panic$|out of memory|oom|killed|corrupt(?:ed|ion)?|data loss|deadlock|stack overflow"
    r"|overflowed its stack|MemoryError|OutOfMemoryError|"
    r"StackOverflowError|stack smashing|double free|AddressSanitizer|no space left on device"
    r"|disk full|cannot allocate memory|heap limit|bad_alloc|speicherzugriffsfehler"
    r"|erreur de segmentation|violación de segmento|"
    r"falha de segmentação|ошибка сегментирования)(?!\w)|\b\d+ aborted\b|^aborted\b"
    r"|goroutines are asleep|fatal error: (?:sync|concurrent)|^panic\b|(?-i:: Assertion [`'‘])"
    r"|\b(?:free|malloc|realloc|munmap_chunk)\(\): "
)
_INFO = Lazy(r"\b(?:deprecat(?:ed|ion)|DeprecationWarning|FutureWarning)\b")


def category(error: str, near: str, command: str) -> str:  # noqa: C901
    """Return one of build, test, lint, runtime, integration, security, general."""
    if _SECURITY.search(error):
        return "security"
    if error.endswith(": command not found"):  # whatever it would have done
        return "runtime"
    if error.startswith("cd: "):
        return "runtime" if _RUNS.search(command) else "general"
    doing = (
        _doing(command)
        if command
        else next((name for name, words in _LOOKS if words.search(near)), "")
    )
    if _COMPILER.search(error) or (error.startswith("error") and "cargo " in command):
        return "lint" if doing == "lint" else "build"
    for name, words in (("lint", _LINTED), ("test", _TESTED)):
        if words.search(error):
            return name
    if doing == "lint":
        return doing
    if doing == "test" and _OF_THE_CODE.search(error):
        return "runtime"  # the code raised it, whoever ran it
    if doing == "test":
        return (
            "build"
            if "[build failed]" in near
            or "error: could not compile" in near
            or "COMPILATION ERROR" in near
            else doing
        )
    # what was built
    is_run = (
        not command or doing != "build" or not _doing(_LAST.sub("\n", command).splitlines()[-1])
    )
    if _CRASHED.search(error):
        return "runtime" if is_run else "build"
    if _NETWORK.search(error):
        return "integration"
    if doing == "build" and is_run and _THROWN.search(error):
        doing = "runtime"
    if doing:
        return "integration" if doing == "runtime" and _REFUSED.search(near) else doing
    if _BUILT.search(error):
        return "build"
    if not command and _ASSERTED.search(error):
        return "test"
    if _RUNTIME.search(error):
        return "integration" if _REFUSED.search(near) else "runtime"
    if _WEAK.search(error):
        return "integration"
    if _RUNS.search(command):
        return "general" if _INFO.search(error) else "runtime"
    for name, words in (
        ("security", _SECURITY),
        ("lint", _LINTED),
        ("test", _TESTED),
        ("build", _BUILT),
        ("integration", _NETWORK),
    ):
        if words.search(near):
            return name
    return "runtime" if _RUNTIME.search(near) or _CRASHED.search(near) else "general"


def severity(error: str, kind: str) -> str:
    """Return one of critical, warning, info.

    A panic in a test or a build is not a crash of its own.
    """
    said = error.removeprefix("panic: ") if kind in {"test", "build"} else error
    return "critical" if _CRITICAL.search(said) else "info" if _INFO.search(error) else "warning"


def _doing(command: str) -> str:
    return next((name for name, words in _COMMANDS if words.search(command)), "") if command else ""
