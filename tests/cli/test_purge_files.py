"""What a purge does to our own files beside the store: whatever their form, their shape and who has them open."""

import contextlib
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from gitmem.repo.location import Home
from gitmem.state.database import State
from tests.cli.conftest import Mem
from tests.cli.test_purge import holds

SECRET = 'pässwört "x/y"\nline-two'
PLAIN = "xyzzy-plugh-42"


def home(mem: Mem) -> Path:
    """Return our folder, with a folder of sessions."""
    path = mem.folder / ".git" / "gitmem"
    (path / "sessions").mkdir(parents=True, exist_ok=True)
    return path


def history(mem: Mem, name: str = "s1") -> Path:
    """Return the path of a session's live history."""
    return home(mem) / "sessions" / f"history_20260101_000000_{name}.jsonl"


def row(content: str, **more: object) -> dict[str, object]:
    """Return a row as a hook writes it."""
    return {
        "timestamp": "2026-01-01T00:00:00.000Z",
        "role": "user",
        "content": content,
        "metadata": {"event": "prompt", **more},
    }


@pytest.mark.parametrize(
    "text", ['"event"', "event", "role", "content", "metadata", "user", "prompt", "timestamp"]
)
def test_keys_of_a_history_stay(mem: Mem, text: str) -> None:
    """A text that is a word of the format is masked where somebody wrote it, and nowhere else."""
    mem.add("T")
    path = history(mem)
    path.write_text(json.dumps(row(f"say {text} twice")) + "\n" + json.dumps(row("else")) + "\n")
    mem("forget", "--purge", "--text", text, "--yes")

    first, second = map(json.loads, path.read_text().splitlines())
    assert first == row("say [purged] twice")
    assert second == row("else")


def test_every_form_of_a_text_is_masked(mem: Mem) -> None:
    """Escaped, escaped twice, decomposed, with another program's escapes, in keys of what programs sent; and each line stays JSON."""
    mem.add("T")
    path = history(mem)
    inner = json.dumps({"output": SECRET})
    lines = [
        json.dumps(row(SECRET)),
        json.dumps(row(SECRET), ensure_ascii=False),
        json.dumps(row(SECRET)).replace("/", "\\/").replace("\\u00e4", "\\u00E4"),
        json.dumps(row(inner)),
        json.dumps(row(json.dumps({"deep": inner}))),
        json.dumps(row(unicodedata.normalize("NFD", SECRET)), ensure_ascii=False),
        json.dumps(row(SECRET.replace("\n", "\r\n"))),
        json.dumps(row("x", sent={"env": {SECRET: 1}})),
        json.dumps(row("keeps \ud800 and 1e400")).replace('"keeps', ' "keeps'),
    ]
    path.write_text("\n".join(lines) + "\n")
    mem("forget", "--purge", "--text", SECRET, "--yes")

    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["content"] for r in rows[:3]] == ["[purged]"] * 3
    assert json.loads(rows[3]["content"]) == {"output": "[purged]"}
    assert (rows[5]["content"], rows[6]["content"]) == ("[purged]", "[purged]")
    assert rows[7]["metadata"]["sent"] == {"env": {"[purged]": 1}}
    assert path.read_text().splitlines()[8] == lines[8]
    assert "line-two" not in path.read_text()


def test_files_of_a_wrong_shape(mem: Mem) -> None:
    """Bytes that are no UTF-8, a line that was cut off, a line that is no JSON, compressed rows; pipes and links are left alone."""
    mem.add("T")
    folder = home(mem)
    live = history(mem)
    odd = json.dumps(row(f"{PLAIN} caf")).encode().replace(b"caf", b"caf\xe9")
    live.write_bytes(
        odd
        + b"\n"
        + b'{"content": "no end '
        + PLAIN.encode()
        + b"\n"
        + b'{"content": "'
        + PLAIN[:11].encode()
    )
    packed = folder / "sessions" / "history_20260101_000000_s1.0001.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(row(PLAIN)).encode() + b"\n"))
    short = folder / "sessions" / "history_20260101_000000_s1.0001.json"
    short.write_text(json.dumps({"lines": 1, "texts": [PLAIN]}, indent=1))
    (folder / "hook.log").write_text(f"2026 Failed: {PLAIN}\n")
    (folder / "state.db.damaged").write_bytes(b"\0\1" + PLAIN.encode())
    os.mkfifo(folder / "sessions" / "pipe.jsonl")
    outside = mem.folder / "notes.txt"
    outside.write_text(PLAIN)
    (folder / "sessions" / "link.jsonl").symlink_to(outside)
    report = mem("forget", "--purge", "--text", PLAIN, "--yes", "--json").json

    assert (
        live.read_bytes()
        == odd.replace(PLAIN.encode(), b"[purged]")
        + b'\n{"content": "no end [purged]\n{"content": "'
    )
    assert json.loads(gzip.decompress(packed.read_bytes()))["content"] == "[purged]"
    assert json.loads(short.read_text()) == {"lines": 1, "texts": ["[purged]"]}
    assert (folder / "hook.log").read_text() == "2026 Failed: [purged]\n"
    assert not (folder / "state.db.damaged").exists()
    assert outside.read_text() == PLAIN
    places = {place["name"]: place["state"] for place in report["locations"]}
    assert (places["session histories"], places["hook.log"], report["complete"]) == (
        "removed",
        "removed",
        True,
    )


def test_a_large_history_is_read_in_pieces(mem: Mem) -> None:
    """A history of 64 MB, with a line of 20 MB, is masked in little memory, also where the text lies across two pieces."""
    mem.add("T")
    path = history(mem)
    filler = json.dumps(row("x" * 1000)) + "\n"
    with path.open("w") as file:
        file.write(filler * 20_000)
        file.write("y" * (20 << 20) + PLAIN + "z" * ((1 << 20) - 7) + PLAIN + "\n")
        file.write(json.dumps(row(PLAIN)) + "\n" + filler * 20_000)
    size = path.stat().st_size
    code = (
        "import sys; from gitmem.cli.main import run; code = run(sys.argv[1:]);"
        # not `getrusage`: its figure begins with the memory of the process that started this one
        "print(*[r.split()[1] for r in open('/proc/self/status') if r[:5] == 'VmHWM'], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "forget", "--purge", "--text", PLAIN, "--yes"],
        cwd=mem.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert path.stat().st_size == size - 3 * (len(PLAIN) - len("[purged]"))
    assert int(done.stderr.split()[-1]) < 160_000, "kilobytes"
    assert holds(mem.folder, PLAIN) == []


def test_rows_of_the_working_state(mem: Mem) -> None:
    """JSON in a column stays JSON, texts are masked, names by which rows are found stay, and no byte of it is left in the file."""
    mem.add("T")
    with contextlib.closing(State(Home(str(home(mem))))) as state:
        state.db.execute(
            "INSERT INTO outcomes (facts) VALUES (?)",
            (json.dumps({"error": SECRET, "list": [SECRET]}),),
        )
        state.db.execute(
            "INSERT INTO sessions (id, agent, title, kind) VALUES ('s', 'claude', ?, 'agent')",
            (f"about {PLAIN}",),
        )
        state.db.execute("INSERT INTO steps VALUES ('s', 1.0, 'edit', ?)", (f"{PLAIN}.py",))
    mem(
        "forget",
        "--purge",
        "--text",
        SECRET,
        "--text",
        PLAIN,
        "--text",
        "claude",
        "--yes",
        code=None,
    )

    with contextlib.closing(State(Home(str(home(mem))))) as state:
        (facts,) = state.db.execute("SELECT facts FROM outcomes").fetchone()
        assert json.loads(facts) == {"error": "[purged]", "list": ["[purged]"]}
        assert state.db.execute("SELECT agent, title FROM sessions").fetchone() == (
            "claude",
            "about [purged]",
        )
        assert state.db.execute("SELECT what FROM steps").fetchone() == ("[purged].py",)
    assert holds(mem.folder, PLAIN) == []


def test_who_holds_the_working_state_is_named(mem: Mem) -> None:
    """While another process reads an old state of the database, its bytes cannot go: that is said, and a later run ends it."""
    mem.add("T")
    path = home(mem) / "state.db"
    with contextlib.closing(State(Home(str(home(mem))))) as state:
        state.db.execute("INSERT INTO steps VALUES ('s', 1.0, 'edit', ?)", (PLAIN,))
    code = (
        f"import sqlite3, sys; db = sqlite3.connect({str(path)!r}, isolation_level=None); db.execute('BEGIN');"
        "db.execute('SELECT * FROM steps').fetchall(); print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout
        assert reader.stdin
        reader.stdout.readline()
        assert (
            f"process {reader.pid}"
            in mem("forget", "--purge", "--text", PLAIN, "--yes", code=1).err
        )
        reader.stdin.close()
    mem("forget", "--purge", "--text", PLAIN, "--yes")
    assert PLAIN.encode() not in path.read_bytes()
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_removed_index_that_is_open_is_told(mem: Mem) -> None:
    """It holds the text until its process ends: a failure, also when the purge is run again; one made since is none."""
    mem.add("T", "-m", PLAIN)
    code = (
        "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]);"
        "db.execute('SELECT * FROM meta').fetchall(); print('ready', flush=True); sys.stdin.read()"
    )
    for expected in (1, 0):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(home(mem) / "index.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as reader:
            assert reader.stdout
            assert reader.stdin
            reader.stdout.readline()
            for _ in range(2):
                said = mem("forget", "--purge", "--text", PLAIN, "--yes", code=expected).err
                assert (
                    f"index.db: its old bytes are open in process {reader.pid}" in said
                ) == expected
            reader.stdin.close()


def test_a_command_that_reads_the_index_is_waited_for(mem: Mem) -> None:
    """It ends by itself; what hooks leave to the background runs at any time."""
    mem.add("T", "-m", PLAIN)
    code = (
        "import sqlite3, sys, time; db = sqlite3.connect(sys.argv[1]);"
        "db.execute('SELECT * FROM meta').fetchall(); print('ready', flush=True); time.sleep(1.5)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home(mem) / "index.db")], stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout
        reader.stdout.readline()
        mem("forget", "--purge", "--text", PLAIN, "--yes")
        assert reader.wait(0.5) == 0


def test_what_is_written_meanwhile_is_kept(mem: Mem) -> None:
    """A hook that appends while the history is rewritten loses nothing."""
    mem.add("T")
    path = history(mem)
    path.write_text(json.dumps(row(PLAIN)) * 1 + "\n" + (json.dumps(row("x" * 500)) + "\n") * 5000)
    code = (
        "import sys, time; from gitmem.hooks.session_log import append\n"
        "for n in range(4000): append(sys.argv[1], {'content': f'late {n}'}); n or print('ready', flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        writer.stdout.readline()
        mem("forget", "--purge", "--text", PLAIN, "--yes")
    late = [
        r["content"]
        for r in map(json.loads, path.read_text().splitlines())
        if r["content"].startswith("late ")
    ]
    assert sorted(late) == sorted(f"late {n}" for n in range(4000))
    assert PLAIN not in path.read_text()


def test_an_export_is_named(mem: Mem) -> None:
    """A briefing in the work tree is the user's: it is named, not changed."""
    mem.add("T", "-m", PLAIN)
    briefing = mem.folder / "BRIEFING.md"
    briefing.write_text(f"known: {PLAIN}\n")
    assert str(briefing) in mem("forget", "--purge", "--text", PLAIN, "--yes", code=1).err
    assert briefing.read_text() == f"known: {PLAIN}\n"
