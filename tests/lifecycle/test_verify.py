"""The field `verify`: how it is given, what it comes to, and what it never does."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.app import open_app
from gitmem.errors import UserError
from gitmem.services.lifecycle.code_view import CodeView, commit_view
from gitmem.services.lifecycle.evaluation import FAILS, HOLDS, UNKNOWN, evaluate
from gitmem.services.lifecycle.verify_refusal import FORMS, check_refusal
from gitmem.services.lifecycle.verify_spec import format_check, parse_check
from gitmem.services.lifecycle.versions import go_together
from gitmem.worker.code_check import code_view
from tests.conftest import git
from tests.lifecycle.conftest import Code

TEXT = st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip()))
TEXTS = TEXT.filter(lambda text: "\0" not in text and text.isprintable())
NAMES = st.from_regex(r"[a-z]{1,8}(/[a-z]{1,8}){0,2}\.[a-z]{1,3}", fullmatch=True)


@st.composite
def checks(draw: st.DrawFn) -> dict[str, str]:
    """Return a check of any form."""
    form = draw(st.sampled_from(FORMS))
    return {key: draw(NAMES if key in {"path", "file", "dependency"} else TEXT) for key in form}


@given(checks())
def test_a_check_is_read_back_as_it_is_written(check: dict[str, str]) -> None:
    """Whatever its values are: other names with `=`, quotes, spaces, line ends."""
    assert parse_check(format_check(check)) == check


@given(st.text(max_size=60))
def test_any_text_is_a_check_or_refused(text: str) -> None:
    """With a hint that says how to write it; what is accepted can be made."""
    try:
        check = parse_check(text)
    except UserError as error:
        assert error.hint
    else:
        assert check_refusal(check) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("path=src/app.py", {"path": "src/app.py"}),
        ("file=Makefile contains=test: x", {"file": "Makefile", "contains": "test: x"}),
        ("dependency=django version=>=4.2,<5", {"dependency": "django", "version": ">=4.2,<5"}),
        (
            "file=a.toml  key=a.b   equals=x=y",
            {"file": "a.toml", "key": "a.b", "equals": "x=y"},
        ),
        ('file=a contains="b path=c"', {"file": "a", "contains": "b path=c"}),
    ],
)
def test_checks_are_short_to_write(text: str, expected: dict[str, str]) -> None:
    """Names with their values, in any order of words."""
    assert parse_check(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "src/app.py", "path=", "path=a path=b", "path=a symbol=b", "x path=a"),
        *("file=a", "contains=a", "file=a contains=b matches=c", 'path="a', "version=1"),
        *("path=../a", "path=/etc/passwd", "path=.git/config", "file=a/../b contains=x"),
        *("path=a//b", "file=.GIT/config absent=x", "path=" + "a" * 2000),
    ],
)
def test_what_is_no_check_is_refused(text: str) -> None:
    """No other form, no value twice, and no place outside of the work tree."""
    with pytest.raises(UserError, match="verify"):
        parse_check(text)


@pytest.mark.parametrize(
    ("text", "reason", "hint"),
    [
        ("", "it is empty", "path=PATH"),
        ("src/app.py", "it does not say what is to be checked", "path=PATH"),
        ("path = a", "there is a space beside the '=' of path", "Write 'path=PATH'"),
        ("paths=a", "'paths' is no part of a check", "Did you mean path=?"),
        ("PATH=a", "'PATH' is no part of a check", "Did you mean path=?"),
        ("file=a contain=b", "'contain' is no part of a check", "Did you mean contains=?"),
        ("command=make", "'command' is no part of a check", "symbol=NAME"),
        ("path=", "path has no value", "Write 'path=PATH'"),
        ("dependency=a version=", "version has no value", "Write 'version=>=4.2'"),
        ("file=a", "a part of it is missing", "contains=TEXT, matches=REGEX"),
        ("file=a key=b", "equals=VALUE is missing", "Add 'equals=VALUE'"),
        ("version=4", "dependency=NAME is missing", "Add 'dependency=NAME'"),
        ("file=a contains=b matches=c", "contains and matches do not go together", "its own"),
        ("path=a symbol=b", "path and symbol do not go together", "its own"),
        ("path=a path=b", "path is given twice", "its own"),
        ("x path=a", "'x' is before path=", "Begin with path="),
        ('path="a" c', "'c' follows the end of the value of path", "double quotes"),
        ('path="a', "begins with a double quote, and is no JSON string", "End it"),
        ("dependency=django>=4", "has a version in it", "'dependency=django version=>=4'"),
        ("path=/etc/passwd", "it is absolute", "from the root of the work tree"),
        ("path=" + "a" * 2000, "path has 2,000 characters", "at most 1,000"),
    ],
)
def test_a_refusal_names_what_is_wrong(text: str, reason: str, hint: str) -> None:
    """With what to write in its place."""
    with pytest.raises(UserError) as refused:
        parse_check(text)

    assert (reason in str(refused.value), hint in refused.value.hint) == (True, True), refused.value


@given(st.text(min_size=1), st.sampled_from(["", "path=", "file=a contains=", 'path="']))
def test_a_refusal_repeats_little_of_what_was_typed(text: str, start: str) -> None:
    """Whatever is in it: at most some 80 characters, and none that moves a terminal's cursor."""
    with pytest.raises(UserError) as refused:
        parse_check(f"z {start}{text * 500}")

    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 2000


@pytest.fixture
def view(code: Code) -> CodeView:
    """Code with one file of each kind that is looked at."""
    code.commit_files(
        {
            "src/app.py": "class App:\n    def run(self):\n        pass\n\n\ndef main():\n    pass\n",
            "pyproject.toml": '[project]\nname = "x"\nrequires-python = ">=3.11"\n'
            'dependencies = ["Django>=4.2,<5", "pyyaml"]\n[tool.a."b.c"]\nd = [1, {e = "f"}]\n',
            "package.json": json.dumps({"dependencies": {"left-pad": "^1.3.0", "x": "*"}}),
            "a.ini": "top = 1\n",
            "b.cfg": "[S.t]\nKey = Value\n",
            "a.yaml": "a: {b: no, c: 1.0}\n",
            "bad.yaml": "a: &x [*x]\n",
            "deep.yaml": "[" * 5000 + "]" * 5000,
            "bad.toml": "a = \n",
            "bad.json": "{",
            **{f"empty.{ending}": "" for ending in ("toml", "json", "yaml", "ini")},
            **{f"comments.{ending}": "# none\n" for ending in ("toml", "yaml", "ini")},
            "comments.json": "// none\n{}\n",
            "list.json": '[{"a": 1}]',
            "notes.txt": "first\nDEBUG = True\n",
        }
    )
    (code.folder / "binary.dat").write_bytes(b"a\0b")
    (code.folder / "latin.txt").write_bytes("coração".encode("latin-1"))
    (code.folder / "huge.txt").write_bytes(b"x" * (2 << 20))
    (code.folder / "link.txt").symlink_to("notes.txt")
    (code.folder / "outside").symlink_to("/etc")
    (code.folder / "loop").symlink_to("loop")
    os.mkfifo(code.folder / "pipe")
    with open_app(str(code.folder), dict(os.environ)) as app:
        yield code_view(app)


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        ("path=src/app.py", HOLDS, ""),
        ("path=src", HOLDS, ""),
        ("path=src/", HOLDS, ""),
        ("path=src/app.py/x", FAILS, "there is no src/app.py/x"),
        ("path=gone.py", FAILS, "there is no gone.py"),
        ("path=link.txt", HOLDS, ""),
        ("path=outside/passwd", UNKNOWN, "there is no outside/passwd, but outside is a link"),
        ("path=loop", HOLDS, ""),
        ("file=link.txt contains=DEBUG", UNKNOWN, "no text that can be read"),
        ("file=outside/passwd contains=root", UNKNOWN, "outside is a link"),
        ("file=notes.txt contains=DEBUG = True", HOLDS, ""),
        ("file=notes.txt contains=debug", FAILS, "notes.txt does not have 'debug'"),
        ("file=notes.txt matches=^DEBUG\\s*=", HOLDS, ""),
        ("file=notes.txt matches=^ DEBUG", FAILS, "notes.txt has nothing like '^ DEBUG'"),
        ("file=notes.txt absent=(?i)debug", FAILS, "notes.txt:2 has 'DEBUG'"),
        ("file=notes.txt absent=SECRET", HOLDS, ""),
        ("file=notes.txt matches=(", UNKNOWN, "'(' is not an expression"),
        ("file=notes.txt matches=(?=a)", UNKNOWN, "is not an expression"),
        ("file=gone.txt absent=x", UNKNOWN, "there is no gone.txt"),
        ("file=binary.dat contains=a", UNKNOWN, "no text that can be read"),
        ("file=latin.txt contains=a", UNKNOWN, "no text that can be read"),
        ("file=huge.txt contains=x", UNKNOWN, "no text that can be read"),
        ("file=pipe contains=x", UNKNOWN, "no text that can be read"),
        ("file=src contains=x", UNKNOWN, "no text that can be read"),
        ("dependency=django", HOLDS, ""),
        ("dependency=Py_YAML", FAILS, "no manifest has Py_YAML"),
        ("dependency=PyYAML", HOLDS, ""),
        ("dependency=django version=4.2", HOLDS, ""),
        ("dependency=django version=>=5", FAILS, "pyproject.toml:4: django is >=4.2,<5, not >=5"),
        ("dependency=left-pad version=1.4", HOLDS, ""),
        ("dependency=left-pad version=2", FAILS, "left-pad is ^1.3.0, not 2"),
        ("dependency=python version=3.11", HOLDS, ""),
        ("dependency=x version=1", UNKNOWN, "names no version of x"),
        ("dependency=django version=latest", UNKNOWN, "no requirement"),
        ("symbol=App", HOLDS, ""),
        ("symbol=App.run", HOLDS, ""),
        ("symbol=App#run", HOLDS, ""),
        ("symbol=app.App.run", HOLDS, ""),
        ("symbol=main()", HOLDS, ""),
        ("symbol=other.main", FAILS, "nothing defines other.main"),
        ("symbol=App.stop", FAILS, "nothing defines App.stop"),
        ("symbol=a b", UNKNOWN, "no name of a definition"),
        ("file=pyproject.toml key=project.requires-python equals=>=3.11", HOLDS, ""),
        ("file=pyproject.toml key=tool.a.b.c.d.1.e equals=f", HOLDS, ""),
        ("file=pyproject.toml key=project.version equals=1", FAILS, "has no project.version"),
        ("file=a.ini key=top equals=1", HOLDS, ""),
        ("file=b.cfg key=S.t.Key equals=Value", HOLDS, ""),
        ("file=b.cfg key=S.t.key equals=Value", FAILS, "b.cfg has no S.t.key"),
        ("file=a.yaml key=a.b equals=false", HOLDS, ""),
        ("file=a.yaml key=a.c equals=1", HOLDS, ""),
        ("file=a.yaml key=a.c equals=2", FAILS, "a.yaml:1: a.c is 1.0, not 2"),
        ("file=bad.yaml key=a equals=1", UNKNOWN, "bad.yaml cannot be read as YAML"),
        ("file=deep.yaml key=0 equals=1", UNKNOWN, "cannot be read"),
        ("file=bad.toml key=a equals=1", UNKNOWN, "cannot be read as TOML"),
        ("file=bad.json key=a equals=1", UNKNOWN, "cannot be read as JSON"),
        *(
            (f"file={name}.{ending} key=a equals=1", FAILS, f"{name}.{ending} has no a")
            for name in ("empty", "comments")
            for ending in ("toml", "json", "yaml", "ini")
        ),
        ("file=list.json key=0.a equals=1", HOLDS, ""),
        ("file=list.json key=1.a equals=1", FAILS, "list.json has no 1.a"),
        ("file=notes.txt key=a equals=1", UNKNOWN, "is no TOML, JSON, YAML or INI file"),
    ],
)
def test_what_a_check_comes_to(view: CodeView, text: str, state: str, reason: str) -> None:
    """It holds, fails with the place that says so, or cannot be made; no input breaks it."""
    outcome = evaluate(parse_check(text), view)

    assert (outcome.state, reason in outcome.reason) == (state, True), outcome
    assert "\n" not in outcome.reason


@pytest.mark.parametrize(
    "check",
    [
        *({}, {"command": "rm -rf /"}, {"path": ["a"]}, {"path": 3}, {"path": ""}),
        *({"path": "../a"}, {"file": "/etc/passwd", "contains": "root"}),
        *({"file": ".git/config", "contains": "user"}, {"file": ".Git/config", "absent": "x"}),
        {"symbol": "a", "run": "b"},
    ],
)
def test_a_record_of_others_may_hold_anything(view: CodeView, check: dict[str, object]) -> None:
    """What is no check cannot be checked, and fails nothing."""
    assert evaluate(check, view).state == UNKNOWN


def test_a_secret_in_a_reason_is_masked(code: Code) -> None:
    """A reason is kept and shown; a value that is a secret is not."""
    code.commit_files({"conf.ini": "[a]\npassword = hunter2-Zq81xV0pLm\n"})
    with open_app(str(code.folder), dict(os.environ)) as app:
        check = parse_check("file=conf.ini key=a.password equals=x")
        reason = evaluate(check, code_view(app)).reason
    assert "hunter2" not in reason


def test_what_is_ignored_is_not_read(code: Code) -> None:
    """A file that nothing is ever stored of says nothing in a reason either."""
    code.commit_files({".gitmemignore": "private/\n", ".gitignore": ".env\n"})
    code.write({"private/a.txt": "words\n", ".env": "words\n", "a.txt": "words\n"})
    with open_app(str(code.folder), dict(os.environ)) as app:
        view = code_view(app)
        states = [
            evaluate(parse_check(f"file={name} absent=words"), view).state
            for name in ("private/a.txt", ".env", "a.txt")
        ]
    assert states == [UNKNOWN, UNKNOWN, FAILS]


IGNORE = "build/\n.env\n/only/here.txt\n"
ABSENT = {
    "path=.env": UNKNOWN,
    "file=.env contains=A=1": UNKNOWN,
    "path=build": UNKNOWN,
    "path=build/": UNKNOWN,
    "path=a/build/x": UNKNOWN,
    "file=build/x.json key=a equals=1": UNKNOWN,
    "path=only/here.txt": UNKNOWN,
    "path=only/there.txt": FAILS,
    "path=a/only/here.txt": FAILS,
    "path=a/local": UNKNOWN,
    "path=local": FAILS,
    "path=sub/x": UNKNOWN,
    "path=link/x": UNKNOWN,
    "path=link": HOLDS,
    "path=gone": FAILS,
}


def test_what_git_ignores_may_be_missing(code: Code) -> None:
    """A checkout without an ignored file, a submodule or what is behind a link refutes nothing.

    This holds for a work tree and for a commit of a bare repository.
    """
    code.commit_files({".gitignore": IGNORE, "a/.gitignore": "local\n", "b.txt": "b"})
    other = code.folder.parent / "other"
    git(code.folder.parent, "clone", "-q", str(code.folder), str(other))
    allowed = ("-c", "protocol.file.allow=always")
    git(code.folder, *allowed, "submodule", "--quiet", "add", str(other), "sub")
    (code.folder / "link").symlink_to("b.txt")
    code.commit_files({"c.txt": "c"})
    clone, bare = code.folder.parent / "clone", code.folder.parent / "bare.git"
    git(code.folder.parent, "clone", "-q", str(code.folder), str(clone))
    git(code.folder.parent, "clone", "-q", "--bare", str(code.folder), str(bare))
    for folder in (code.folder, clone, bare):
        with open_app(str(folder), dict(os.environ)) as app:
            view = code_view(app)
            states = {text: evaluate(parse_check(text), view).state for text in ABSENT}
        assert states == ABSENT, folder


def test_a_fact_about_an_ignored_file_is_no_finding_in_another_clone(code: Code) -> None:
    """Neither by its check, nor by the name of a file that git no longer tracks."""
    code.commit_files({".gitignore": "build/\n", "conf/local.ini": "[a]\n"})
    code.write({"build/x": "x"})
    checked = code.say("The build leaves x", "--verify", "path=build/x")
    named = code.say("Settings stand in conf/local.ini")
    code.commit_files({".gitignore": "build/\nconf/local.ini\n", "conf/local.ini": None})
    code.write({"build/x": None})

    assert code.found(checked, named) == []


def test_a_sparse_checkout_has_all_files(code: Code) -> None:
    """What it leaves out of the work tree is there, and cannot be read."""
    code.commit_files({"a/x.txt": "x", "b/y.txt": "y"})
    git(code.folder, "sparse-checkout", "set", "a")
    with open_app(str(code.folder), dict(os.environ)) as app:
        view = code_view(app)
        texts = ("path=b/y.txt", "path=b", "file=b/y.txt contains=z", "path=b/z.txt")
        states = [evaluate(parse_check(text), view).state for text in texts]
    assert states == [HOLDS, HOLDS, UNKNOWN, FAILS]


@pytest.mark.parametrize(
    "pointer",
    [
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "/annex/objects/SHA256E-s31390--f50d7ac4c6b9031379986bc362fcefb65f1e52621ce1708d537e.json\n",
    ],
)
def test_a_pointer_to_a_text_is_not_the_text(code: Code, pointer: str) -> None:
    """Nothing is said of a file that Git LFS or git-annex has not fetched."""
    code.commit_files({"data.json": pointer})
    with open_app(str(code.folder), dict(os.environ)) as app:
        view = code_view(app)
        texts = ("path=data.json", "file=data.json contains=x=y", "file=data.json absent=oid")
        states = [evaluate(parse_check(text), view).state for text in texts]
    assert states == [HOLDS, UNKNOWN, UNKNOWN]


def test_a_commit_is_looked_at_like_a_work_tree(code: Code) -> None:
    """The same checks, of any commit's tree, and of a bare repository's HEAD."""
    first = code.commit_files({"a/b.py": "def run():\n    pass\n", "a.txt": "x\n"})
    code.commit_files({"a/b.py": None, "a.txt": "y\n"})
    bare = code.folder.parent / "bare.git"
    git(code.folder.parent, "clone", "-q", "--bare", str(code.folder), str(bare))
    texts = ["path=a/b.py", "path=a", "symbol=run", "file=a.txt contains=x"]
    for folder in (code.folder, bare):
        with open_app(str(folder), dict(os.environ)) as app:
            before, now = commit_view(first, app.code_map), code_view(app)
            states = [
                [evaluate(parse_check(one), view).state for one in texts] for view in (before, now)
            ]
        assert states == [[HOLDS] * 4, [FAILS] * 4]


@pytest.mark.parametrize(
    ("asked", "declared", "ecosystem", "expected"),
    [
        ("4.2", ">=5.1,<6", "python", False),
        ("4.2", "==4.2.7", "python", True),
        ("4", "4.2.7", "python", True),
        ("3.10", ">=3.9", "python", True),
        (">=4.2,<5", "5.1.2", "python", False),
        ("4.2", "^5.0.0", "npm", False),
        ("18", "^18.2.0", "npm", True),
        ("0.3", "^0.2.1", "npm", False),
        ("16", "14 || 16", "npm", True),
        ("18", ">=14 <17", "npm", False),
        ("1.2", "1.0 - 1.4", "npm", True),
        ("5", "~> 4.2", "ruby", False),
        ("1.5", "1.2", "cargo", True),
        ("2", "1.2", "cargo", False),
        ("1.21", "1.22", "go", False),
        ("4.2", "*", "npm", None),
        ("4.2", "workspace:*", "npm", None),
        ("4.2", "git+https://example.org/x.git", "npm", None),
        ("4.2", "", "python", None),
    ],
)
def test_requirements_go_together(
    asked: str, declared: str, ecosystem: str, expected: bool | None
) -> None:
    """Where some version fits both; nothing is said of what names no version."""
    assert go_together(asked, declared, ecosystem) is expected


@given(TEXTS, TEXTS)
def test_any_requirement_is_read_or_not(asked: str, declared: str) -> None:
    """No text of a manifest breaks it."""
    assert go_together(asked, declared) in {True, False, None}


def test_a_check_is_given_with_a_fact(code: Code, tmp_path: Path) -> None:
    """`add` and `edit` take it, `show` says it, `--unverify` removes it; one that fails is refused."""
    mem = code.mem
    code.commit_files({"Makefile": "test:\n\tpytest\n"})
    id = mem.add("Tests by make", "--verify", "file=Makefile contains=test:")
    assert mem.show(id)["verify"] == [{"file": "Makefile", "contains": "test:"}]
    assert "Check:        file=Makefile contains=test:" in mem("show", id).out
    mem("edit", id, "--verify", "path=Makefile")
    assert len(mem.show(id)["verify"]) == 2
    done = mem("edit", id, "--verify", "path=gone", code=1)
    assert "--verify 'path=gone': it fails now: there is no gone." in done.err
    done = mem("add", "x", "--verify", "file=Makefile matches=(", code=1)
    assert "cannot be checked: '(' is not an expression" in done.err
    assert "(?m)" not in done.err
    long = "y" * 900
    done = mem("add", "x", "--verify", f"file=Makefile contains={long}", code=1)
    assert f"{'y' * 90}" not in done.err
    done = mem("add", "x", "--user", "--verify", "path=Makefile", code=1)
    assert "your own store is of no repository" in done.err
    assert "does not go with" in mem("add", "-k", "event", "x", "--verify", "path=a", code=2).err
    mem("edit", id, "--unverify")
    assert "verify" not in mem.show(id)
    gotcha = mem("gotcha", "add", "x", "--verify", "path=Makefile", "--json").json["id"]
    assert mem.show(gotcha)["verify"] == [{"path": "Makefile"}]
