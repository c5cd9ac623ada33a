"""Fingerprints of errors: the same error has the same pattern, another error has another."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.fingerprint.fingerprint import fingerprint, normalise
from gitmem.fingerprint.frames import unframed
from gitmem.fingerprint.title import TITLE

TRACEBACK = """Exit code 1
Traceback (most recent call last):
  File "/r/app/pay.py", line 12, in <module>
    rate()
  File "/r/app/tax.py", line 5, in rate
    return int(text)
ValueError: invalid literal for int() with base 10: '{value}'
"""
CHAINED = """Traceback (most recent call last):
  File "/r/a.py", line 3, in <module>
    import yaml
ModuleNotFoundError: No module named 'yaml'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/r/a.py", line 5, in <module>
    raise RuntimeError("no YAML") from None
RuntimeError: no YAML
"""
PYTEST = """============================= test session starts ==============================
collected 2 items

___________________________________ test_x _____________________________________

    def test_x():
>       assert pay(1) == 2
E       assert 1 == 2
E        +  where 1 = pay(1)

tests/test_a.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_x - assert 1 == 2
"""
NODE = """node:internal/modules/cjs/loader:1080
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /r/app.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)
    at Object.<anonymous> (/r/app.js:3:1) {
  code: 'MODULE_NOT_FOUND'
}

Node.js v20.11.0
"""
RUSTC = '   Compiling pay v0.1.0 (/r)\nerror[E0308]: mismatched types\n --> src/main.rs:4:18\n  |\n4 |     let x: i32 = "a";\n'
PANIC = "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 7\nnote: run with `RUST_BACKTRACE=1`\n"
JAVA = 'Exception in thread "main" java.lang.RuntimeException: start\n\tat A.main(A.java:3)\nCaused by: java.io.IOException: Stream closed\n\tat B.read(B.java:5)\n\t... 1 more\n'
NPM = "npm error code E404\nnpm error 404 Not Found - GET https://r.example/left-padd - Not found\nnpm error A complete log of this run can be found in: /root/.npm/_logs/x.log\n"

# output, command -> pattern, category, severity, the surest place
SEEN = [
    ("Exit code 3\nboom", "", "boom", "general", "warning", None),
    (
        TRACEBACK.format(value="x1"),
        "python app/pay.py",
        "ValueError: invalid literal for int() with base <n>: <str>",
        "runtime",
        "warning",
        ("/r/app/tax.py", 5),
    ),
    (CHAINED, "python a.py", "RuntimeError: no YAML", "runtime", "warning", ("/r/a.py", 5)),
    (PYTEST, "pytest -q", "test_x: assert <n> == <n>", "test", "warning", ("tests/test_a.py", 5)),
    (
        NODE,
        "node app.js",
        "Error: Cannot find module 'express'",
        "runtime",
        "warning",
        ("/r/app.js", 3),
    ),
    (
        RUSTC,
        "cargo build",
        "error[E0308]: mismatched types",
        "build",
        "warning",
        ("src/main.rs", 4),
    ),
    (
        PANIC,
        "cargo run",
        "panic: index out of bounds: the len is <n> but the index is <n>",
        "runtime",
        "critical",
        ("src/main.rs", 4),
    ),
    (
        JAVA,
        "java A",
        "Caused by: java.io.IOException: Stream closed",
        "runtime",
        "warning",
        ("B.java", 5),
    ),
    (
        NPM,
        "npm install left-padd",
        "npm error 404 Not Found - GET <url> - Not found",
        "integration",
        "warning",
        None,
    ),
    (
        "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
        "npx tsc",
        "error TS2322: Type 'string' is not assignable to type 'number'.",
        "build",
        "warning",
        ("src/a.ts", 3),
    ),
    (
        "# pay\n./main.go:7:2: undefined: foo",
        "go build ./...",
        "undefined: foo",
        "build",
        "warning",
        ("./main.go", 7),
    ),
    (
        "a.c: In function 'main':\na.c:3:5: error: expected ';' before 'return'\n",
        "gcc a.c",
        "error: expected ';' before 'return'",
        "build",
        "warning",
        ("a.c", 3),
    ),
    (
        "bash: line 1: foo: command not found",
        "foo",
        "foo: command not found",
        "runtime",
        "warning",
        None,
    ),
    (
        "fatal: not a git repository (or any of the parent directories): .git",
        "git status",
        "fatal: not a git repository (or any of the parent directories): .git",
        "general",
        "warning",
        None,
    ),
    (
        "curl: (7) Failed to connect to localhost port 8080 after 0 ms: Connection refused",
        "curl localhost:8080",
        "curl: (<n>) Failed to connect to localhost port <n> after <n> ms: Connection refused",
        "integration",
        "warning",
        None,
    ),
    (
        "Segmentation fault (core dumped)",
        "./a.out",
        "Segmentation fault (core dumped)",
        "runtime",
        "critical",
        None,
    ),
    (
        "Warning: Each child in a list should have a unique key.",
        "",
        "Warning: Each child in a list should have a unique key.",
        "general",
        "warning",
        None,
    ),
    (
        "DeprecationWarning: the imp module is deprecated",
        "python -W error x.py",
        "DeprecationWarning: the imp module is deprecated",
        "general",
        "info",
        None,
    ),
]


@pytest.mark.parametrize(
    ("output", "command", "pattern", "category", "severity", "place"),
    SEEN,
    ids=[row[2][:30] for row in SEEN],
)
def test_known_outputs(output, command, pattern, category, severity, place):
    found = fingerprint(output, "/r2", command)
    assert found is not None
    assert (found.pattern, found.category, found.severity) == (pattern, category, severity)
    assert (found.locations[-1] if found.locations else None) == place
    assert found.title and len(found.title) <= TITLE and "\n" not in found.title
    assert len(found.message) <= 4000


@pytest.mark.parametrize(
    "output",
    [
        "",
        "\n\n",
        "Exit code 1",
        "Exit code 1\n",
        "exit status 2",
        "1 2 3",
        "-----",
        "\x1b[31m\x1b[0m",
        "<tool_use_error>\n</tool_use_error>",
    ],
    ids=repr,
)
def test_output_that_tells_nothing(output):
    assert fingerprint(output) is None


SAME = [
    ("open /tmp/a1/x.txt failed", "open /var/b2/y.txt failed"),
    ("ValueError: bad row 17", "ValueError: bad row 18"),
    (
        "Error: listen EADDRINUSE: address already in use :::3000",
        "Error: listen EADDRINUSE: address already in use :::3001",
    ),
    (
        "request 6f1e2d3c-1111-2222-3333-444455556666 failed",
        "request 00000000-1111-2222-3333-444455556667 failed",
    ),
    ("2026-01-02T10:11:12Z ERROR: no route", "2027-11-12T01:02:03.456+02:00 ERROR: no route"),
    ("fatal: bad object 1a2b3c4d5e6f", "fatal: bad object ffeeddcc0011"),
    (
        "TypeError: Cannot read property 'foo' of undefined at line 42",
        "TypeError: Cannot read property 'foo' of undefined at line 7",
    ),
    ("bad pointer 0xDEADBEEF", "bad pointer 0x1"),
    ("cannot load C:\\Users\\ana\\x.dll", "cannot load D:\\b\\y.dll"),
    ("GET https://a.example/x failed", "GET http://b.example/y?z=1 failed"),
    ("\x1b[31mError: broken\x1b[0m", "Error: broken"),
    ("10%\r50%\r100%\rError: broken", "Error: broken"),
    ("bash: line 1: pytest: command not found", "(eval):1: command not found: pytest"),
    ("bash: pytest: command not found", "zsh:1: command not found: pytest"),
    (
        "bash: line 3: cd: web: No such file or directory",
        "(eval):cd:1: no such file or directory: web",
    ),
    ("run.sh: line 7: pytest: command not found", "/bin/sh: 1: pytest: not found"),
    (
        "--- FAIL: TestParse (0.00s)\n    a_test.go:3: got 4 want 3\nFAIL",
        "--- FAIL: TestParse (1.20s)\n    a_test.go:19: got 5 want 3\nFAIL",
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/tmpabc/x.txt'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/tmpxyz/y.txt'",
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: 'run-81c2.log'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'run-93f0.log'",
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: 'tmpqwe.txt'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'tmprty.txt'",
    ),
    ("cat: conf/a.yml: No such file or directory", "cat: ../conf/a.yml: No such file or directory"),
    ("KeyError: '4711'", "KeyError: '4712'"),
    ("Error: status 200 after 350 ms", "Error: status 200 after 410 ms"),
    (
        "bash: line 1: 130 Segmentation fault      /home/a/server",
        "bash: line 3: 7 Segmentation fault      /home/b/server",
    ),
]
OTHER = [
    ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'click'"),
    ("Error: Cannot find module 'express'", "Error: Cannot find module 'koa'"),
    ("KeyError: 'TAX_RATE'", "KeyError: 'HOST'"),
    ("bash: foo: command not found", "bash: bar: command not found"),
    ("error TS2322: no", "error TS2345: no"),
    ("HTTP 404 from server", "HTTP 500 from server"),
    ("ValueError: bad", "TypeError: bad"),
    ("NameError: name 'foo' is not defined", "NameError: name 'bar' is not defined"),
    ("error[E0308]: no", "error[E0309]: no"),
    ("KeyError: 'line1'", "KeyError: 'line2'"),
    (
        "TypeError: Cannot read properties of undefined (reading 'map')",
        "TypeError: Cannot read properties of undefined (reading 'then')",
    ),
    (
        "--- FAIL: TestParse (0.00s)\n    a_test.go:3: got 4 want 3\nFAIL",
        "--- FAIL: TestMoney (0.00s)\n    a_test.go:3: got 4 want 3\nFAIL",
    ),
    (
        "--- FAIL: TestX (0.00s)\n    x_test.go:3: want no error, got EOF\nFAIL",
        "--- FAIL: TestX (0.00s)\n    x_test.go:3: want no error, got timeout\nFAIL",
    ),
    (
        "bash: line 1: 130 Segmentation fault      ./server",
        "bash: line 1: 130 Segmentation fault      ./client",
    ),
    ("d: d.c:3: main: Assertion `p != NULL' failed.", "d: d.c:3: main: Assertion `n < 10' failed."),
    (
        'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        'ERROR: failed to solve: process "/bin/sh -c pip install -r r.txt" did not complete successfully: exit code: 1',
    ),
    (
        "a.ts(1,2): error TS2322: Type 'string' is not assignable to type 'number'.",
        "a.ts(1,2): error TS2322: Type 'Cart' is not assignable to type 'Order'.",
    ),
    (
        "AssertionError: expected status 200 but got 404",
        "AssertionError: expected status 200 but got 500",
    ),
    (
        "AssertionError: status code was 503, expected 200",
        "AssertionError: status code was 401, expected 200",
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: 'a.yml'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'b.yml'",
    ),
    ("cat: notes.txt: No such file or directory", "cat: orders.txt: No such file or directory"),
    (
        "Error: ENOENT: no such file or directory, open 'rates.json'",
        "Error: ENOENT: no such file or directory, open 'taxes.json'",
    ),
    (
        "subprocess.CalledProcessError: Command '['git', 'push']' returned",
        "subprocess.CalledProcessError: Command '['make', 'all']' returned",
    ),
]


@pytest.mark.parametrize(("one", "two"), SAME, ids=[row[0][:30].strip("\x1b") for row in SAME])
def test_same_error_has_one_pattern(one, two):
    a, b = fingerprint(one), fingerprint(two)
    assert a and b and a.pattern == b.pattern


@pytest.mark.parametrize(("one", "two"), OTHER, ids=[row[0][:30] for row in OTHER])
def test_other_error_has_another_pattern(one, two):
    a, b = fingerprint(one), fingerprint(two)
    assert a and b and a.pattern != b.pattern


TESTIFY = (
    "--- FAIL: TestTotal (0.00s)\n    cart_test.go:12: \n        \tError Trace:\t/r/cart_test.go:12\n        \tError:      \tNot equal: \n"
    "        \t            \texpected: 4\n        \t            \tactual  : 3\n        \tTest:       \tTestTotal\nFAIL\n"
)
# output, command -> pattern, title, category
KEY_LINES = [
    (
        "--- FAIL: TestX\n x_test.go:3: expected no error, got EOF\nFAIL",
        "go test",
        "TestX: expected no error, got EOF",
        "TestX: expected no error, got EOF",
        "test",
    ),
    (
        TESTIFY,
        "go test",
        "TestTotal: Not equal: expected: <n>",
        "TestTotal: Not equal: expected: 4",
        "test",
    ),
    (
        "rate: expected no error, got EOF\nchecked 4 rates\nbye",
        "./check",
        "rate: expected no error, got EOF",
        "rate: expected no error, got EOF",
        "runtime",
    ),
    (
        "collected 0 items\n==== no tests ran in 0.01s ====\nERROR: file or directory not found: t/nofile.py\n\n",
        "pytest t/nofile.py",
        "ERROR: file or directory not found: nofile.py",
        "ERROR: file or directory not found: t/nofile.py",
        "test",
    ),
    (
        "==== test session starts ====\nplatform linux -- Python 3.11.7\ncollected 1 item / 1 deselected / 0 selected\n\n==== 1 deselected in 0.01s ====",
        "pytest -k zz",
        "no tests ran: <n> deselected",
        "no tests ran: 1 deselected",
        "test",
    ),
    (
        "Pseudo-terminal will not be allocated because stdin is not a terminal.\r\nssh: connect to host 127.0.0.1 port 1: Connection refused",
        "ssh shop",
        "ssh: connect to host <n> port <n>: Connection refused",
        "ssh: connect to host 127.0.0.1 port 1: Connection refused",
        "integration",
    ),
    (
        "npm warn deprecated x@1: no\n\n> shop@1.0.0 test\n> exit 3\n\n",
        "npm test",
        "script 'test' failed: exit 3",
        "script 'test' failed: exit 3",
        "test",
    ),
    (
        "(eval):1: command not found: ruff",
        "ruff check .",
        "ruff: command not found",
        "ruff: command not found",
        "runtime",
    ),
    (
        "command not found: pytest",
        "pytest",
        "pytest: command not found",
        "pytest: command not found",
        "runtime",
    ),
    (
        "C:\\Users\\Bob Smith\\app\\x.cs(12,5): error CS0103: The name 'foo' does not exist",
        "dotnet build",
        "error CS0103: The name 'foo' does not exist",
        "error CS0103: The name 'foo' does not exist",
        "build",
    ),
    (
        "bash: cd: frontend: No such file or directory",
        "cd frontend && npm test",
        "cd: frontend: No such file or directory",
        "cd: frontend: No such file or directory",
        "general",
    ),
    (
        "Loading settings...\nDATABASE_URL is empty",
        "bash run.sh",
        "DATABASE_URL is empty",
        "DATABASE_URL is empty",
        "runtime",
    ),
    (
        "FileNotFoundError: [Errno 2] No such file or directory: 'config/settings.toml'",
        "python a.py",
        "FileNotFoundError: [Errno 2] No such file or directory: 'settings.toml'",
        "FileNotFoundError: [Errno 2] No such file or directory: 'config/settings.toml'",
        "runtime",
    ),
]


@pytest.mark.parametrize(
    ("output", "command", "pattern", "title", "category"),
    KEY_LINES,
    ids=[row[2][:30] for row in KEY_LINES],
)
def test_the_line_that_names_the_error(output, command, pattern, title, category):
    found = fingerprint(f"Exit code 1\n{output}", "/r", command)
    assert found is not None
    assert (found.pattern, found.title, found.category) == (pattern, title, category)
    assert found.severity == "warning"


@pytest.mark.parametrize(
    "output",
    [
        "Starting server...\nLoaded 12 modules",
        "1c1\n< a\n---\n> b",
        "shop 1.0\nreads orders\nbye",
        "npm warn deprecated x@1: no\nadded 3 packages\n",
        "> shop@1.0.0 test\n> ./check\n\nten orders\none is odd",
        "checked 3 files, no errors\nwrote a.txt\nwrote b.txt",
    ],
)
def test_output_without_any_sign_of_an_error(output):
    assert fingerprint(f"Exit code 1\n{output}", "/r", "make check") is None


def test_apostrophes_are_no_quotes():
    assert normalise("it's broken, don't retry") == "it's broken, don't retry"


def test_words_inside_of_words_are_no_category():
    assert [
        fingerprint(text).category
        for text in ("latest contest", "rapid scaling", "author list", "leak of information")
    ] == ["general"] * 4  # type: ignore[union-attr]


def test_paths_are_told_from_the_root():
    found = fingerprint("Error: cannot read /home/ana/project/app/x.cfg", "/home/ana/project")
    assert (
        found and found.title == "Error: cannot read app/x.cfg" and "/home/ana" not in found.message
    )


def test_the_deepest_own_frame_is_last():
    found = fingerprint(TRACEBACK.format(value="x"))
    assert found and found.locations == [("/r/app/pay.py", 12), ("/r/app/tax.py", 5)]


PIECES = [
    *"abcXYZ019 _-./\\:'\"`<>()[]{}=,;|@%\t",
    "Error: ",
    "/tmp/x.py",
    "0x1f",
    "12:30:45",
    "é",
    "名",
    "https://a.b/c",
    "No module named ",
]
LINES = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(LINES)
def test_normalising_twice_is_normalising_once(line):
    once = normalise(line)
    assert normalise(once) == once and len(once) <= 200


@given(st.text(max_size=300))
def test_any_text_is_taken(text):
    found = fingerprint(text, "/r", text[:20])
    if found:
        assert found.pattern == normalise(found.pattern)
        assert (
            found.title and found.category and found.severity and isinstance(found.locations, list)
        )


@given(
    st.integers(0, 10**9),
    st.integers(0, 10**9),
    st.sampled_from(
        [
            "row {} of file",
            "took {} ms",
            "port {}: bad",
            "at /a/{}/b.py",
            "job-{} lost",
            "id={} gone",
        ]
    ),
)
def test_numbers_never_split_a_pattern(a, b, template):
    assert normalise("Error: " + template.format(a)) == normalise("Error: " + template.format(b))


@pytest.mark.parametrize(
    "text",
    [
        "a.b/" * 400000,
        "'" * 800000,
        "(x " * 300000,
        "\x1b[" * 400000,
        "1:" * 400000,
        "error: " * 200000,
        ("a" * 1999 + "\n") * 800,
        "a." * 400000,
        "\r" * 800000,
        ("E   x\n") * 200000,
    ],
    ids=lambda t: repr(t[:6]),
)
def test_huge_output_takes_no_time(text):
    """Generous for a slow machine; a quadratic pattern would take minutes."""
    started = time.process_time()
    found = fingerprint(text, "/r", "x")
    if found:
        assert found.title and found.message is not None and found.locations is not None
    assert time.process_time() - started < 3


@pytest.mark.parametrize("shift", range(12))
def test_no_line_is_cut_in_two(shift):
    """Of a long output the two ends are looked at, by whole lines: half a line would be another error each time."""
    assert fingerprint("x" * shift + "\n" + "10 errors\n" * 40_000).pattern == "<n> errors"  # type: ignore[union-attr]
    assert fingerprint("x" * shift + " no error here\n" * 40_000, failed=False) is None


APART = [
    (
        "a.test.ts:\nerror: expect(received).toBe(expected)\n(fail) adds up [3.40ms]\n",
        "a.test.ts:\nerror: expect(received).toBe(expected)\n(fail) is taxed [1ms]\n",
    ),
    (
        "\n  1) a.spec.js:2:1 › adds up ───\n\n    Error: expect(received).toBe(expected)\n",
        "\n  1) a.spec.js:2:1 › is taxed ───\n\n    Error: expect(received).toBe(expected)\n",
    ),
    (
        "\n  1) test adds up (CartTest)\n     a.exs:3\n     Assertion with == failed\n",
        "\n  1) test is taxed (CartTest)\n     a.exs:9\n     Assertion with == failed\n",
    ),
    (
        "Error: ERR_PNPM_NO_SCRIPT\n\n  × Missing script: build\n",
        "Error: ERR_PNPM_NO_SCRIPT\n\n  × Missing script: start\n",
    ),
    (
        "Error: This expression has type string but an expression was expected of type\n         int\n",
        "Error: This expression has type string but an expression was expected of type\n         float\n",
    ),
    ('error: Script not found "start"', 'error: Script not found "build"'),
    (
        "CMake Error at CMakeLists.txt:3 (x):\n  Cannot find source file:\n\n    cart.c\n",
        "CMake Error at CMakeLists.txt:3 (x):\n  Cannot find source file:\n\n    tax.c\n",
    ),
    (
        "╭─ Error ─────────╮\n│ No such option: --rate │\n╰─────────────────╯\n",
        "╭─ Error ─────────╮\n│ No such option: --tax │\n╰─────────────────╯\n",
    ),
]


@pytest.mark.parametrize(("one", "two"), APART, ids=[row[0][:30] for row in APART])
def test_what_stands_on_another_line_tells_errors_apart(one, two):
    """The name of a test that compares, a code's own text, a sentence that goes on."""
    a, b = fingerprint(one), fingerprint(two)
    assert a and b and a.pattern != b.pattern


def test_codes_of_openssl_split_nothing():
    """They begin with the number of a thread."""
    text = "Could not read private key from a.pem\n{}:error:1608010C:STORE routines:load:unsupported:../a.c:149:\n"
    assert (
        fingerprint(text.format("40B70997807F0000")).pattern
        == "Could not read private key from <path>"
    )  # type: ignore[union-attr]
    alone = [
        fingerprint(text.format(thread).split("\n")[1])
        for thread in ("40B70997807F0000", "4007DFB5A57F0000")
    ]
    assert alone[0].pattern == alone[1].pattern  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "output",
    ["ok", "Done.", "5 passed in 0.1s", "Exit code 1\nok", "[INFO] BUILD SUCCESS", "fertig"],
)
def test_a_failed_command_that_says_that_all_went_well_names_no_error(output):
    assert fingerprint(output) is None


@pytest.mark.parametrize(
    "frame",
    ["web-1 | ", "web_1    | ", "web | ", "[CI/test]   | ", "[CI/test] | ", "[0] ", "[web] "],
)
@pytest.mark.parametrize(
    "error", ["KeyError: 'TAX'", "Error: listen EADDRINUSE: address already in use :::3000"]
)
def test_whose_line_it_is_says_nothing_of_the_error(frame: str, error: str):
    """The service, the job or the process in front of a line may be another one next time."""
    alone, framed = fingerprint(error), fingerprint(f"{frame}{error}\n")
    assert alone is not None
    assert framed is not None
    assert (framed.pattern, framed.category) == (alone.pattern, alone.category)


@pytest.mark.parametrize("line", ["[error] Error: no such table", "  12 | error: expected ;"])
def test_levels_and_line_numbers_are_no_frames(line: str):
    """They are no name of what wrote the line."""
    assert list(unframed([line], f"\n{line}")[0]) == [line]
