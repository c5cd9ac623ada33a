"""A hover at a use of a definition tells what is recorded about the definition, and of no other one."""

import asyncio
import subprocess
import sys
import threading

import pytest

from gitmem.errors import External
from gitmem_lsp.features import code, used_here
from gitmem_lsp.workspace.repositories import DocumentPlace, Repositories

PAY = """def charge(amount):
    rounded = round(amount)
    return rounded


class Cart:
    def total(self):
        return charge(1)

    def both(self):
        return self.total()
"""
API = """import pay
from pay import Cart, charge
from pay import charge as bill
from other import charge as refund


def go(client, charge_later):
    charge(1)
    pay.charge(2)
    bill(3)
    refund(4)
    client.charge(5)
    cart = Cart()
    cart.total()


def hide(charge):
    return charge(6)
"""
FILES = {
    "pay.py": PAY,
    "other.py": "def charge(amount):\n    return -amount\n",
    "api.py": API,
    "web.ts": 'import { send } from "./send";\n\nsend(1);\n',
    "send.ts": "export function send(n: number) {\n  return n;\n}\n",
}
# the place of a use in api.py, and whether it is a use of `charge` in pay.py
USES = {
    "    charge(1)": ("charge", True),
    "    pay.charge(2)": ("charge", True),
    "    bill(3)": ("bill", True),
    "    refund(4)": ("refund", False),
    "    client.charge(5)": ("charge", False),
    "    return charge(6)": ("charge", False),
    "def hide(charge):": ("charge", False),
    "def go(client, charge_later):": ("charge_later", False),
    "from pay import Cart, charge": ("charge", False),
    "from other import charge as refund": ("charge", False),
}


def read_code(repo) -> None:
    """Have the code read, as a session or a command does."""
    subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(repo.root), "code", "rank"],
        env=repo.env,
        check=True,
        capture_output=True,
    )


@pytest.fixture
async def world(make_repo, connect):
    """A repository whose `charge` has a gotcha, and an editor with the file that uses it."""
    repo = make_repo(**FILES)
    repo.gotcha("amounts are cents", "pay.py:1", workaround="multiply by 100")
    read_code(repo)
    editor = await connect(repo.root)
    uri = repo.uri("api.py")
    editor.open(uri)
    await editor.until(uri, lambda found: found == [])
    return repo, editor, uri


async def told(editor, uri: str, text: str, row: str, word: str) -> str:
    """Return what is told at a word of a row of a text."""
    line = text.split("\n").index(row)
    hover = await editor.hover(uri, line, row.index(word) + 1)
    return hover.contents.value if hover else ""


@pytest.mark.parametrize("row", USES)
async def test_sure_uses_alone(world, row):
    """By the imported name, another name for it, and its module; not for another function of this name, a parameter, or an unknown receiver."""
    _, editor, uri = world
    word, is_use = USES[row]
    found = await told(editor, uri, API, row, word)
    assert ("amounts are cents" in found) is is_use
    if is_use:
        assert "charge in pay.py:1" in found
        assert "multiply by 100" in found


async def test_all_kinds_of_records(world):
    """Memories of a definition and gotchas of a symbol are told too, what is about a line inside of it, resolved or snoozed is not."""
    repo, editor, uri = world
    repo.memory("charges go through one queue", "pay.py#charge")
    repo.gotcha("rounds to even", "pay.py:2")
    repo.gotcha("totals are net", "pay.py#Cart.total")
    gone = repo.gotcha("charges twice", "pay.py:1")
    await editor.run("gitmem.resolve", gone.id, repo.uri("pay.py"))

    charge = await told(editor, uri, API, "    charge(1)", "charge")
    total = await told(editor, uri, API, "    cart.total()", "total")

    assert "amounts are cents" in charge
    assert "charges go through one queue" in charge
    assert "rounds to even" not in charge
    assert "charges twice" not in charge
    assert "totals are net" in total
    assert "totals are net" not in charge


async def test_in_its_own_file(world):
    """A call in the file of the definition, and one by `self`, tell it too."""
    repo, editor, _ = world
    repo.gotcha("totals are net", "pay.py#Cart.total")
    uri = repo.uri("pay.py")
    editor.open(uri)
    await editor.titles(uri, 2)
    assert "amounts are cents" in await told(editor, uri, PAY, "        return charge(1)", "charge")
    found = await told(editor, uri, PAY, "        return self.total()", "total")
    assert "totals are net" in found
    assert "amounts are cents" not in found


async def test_a_text_that_was_not_saved(world):
    """A use that was typed a moment ago is told, also where the definition has moved on the disk."""
    repo, editor, uri = world
    repo.write("pay.py", "# money\n\n" + PAY)
    editor.edit(uri, (7, 0), (7, 0), "    # now\n    x = charge(charge_later)\n")
    text = API.replace("    charge(1)", "    # now\n    x = charge(charge_later)\n    charge(1)", 1)
    found = await told(editor, uri, text, "    x = charge(charge_later)", "charge")
    assert "amounts are cents" in found
    assert "charge in pay.py:3" in found


async def test_another_language(world):
    """A function of TypeScript is told where it is called."""
    repo, editor, _ = world
    repo.gotcha("send is slow", "send.ts:1")
    uri = repo.uri("web.ts")
    editor.open(uri, language="typescript")
    assert "send is slow" in await told(editor, uri, FILES["web.ts"], "send(1);", "send")


async def test_code_that_nobody_has_read(make_repo, connect):
    """Nothing is told, and nothing is read for it."""
    repo = make_repo(**FILES)
    repo.gotcha("amounts are cents", "pay.py:1")
    editor = await connect(repo.root)
    uri = repo.uri("api.py")
    editor.open(uri)
    assert await told(editor, uri, API, "    charge(1)", "charge") == ""
    assert await told(editor, uri, API, "    pay.charge(2)", "charge") == ""
    read_code(repo)
    assert "amounts are cents" in await told(editor, uri, API, "    charge(1)", "charge")


async def test_what_is_used_waits_for_no_other_work(make_repo, env):
    """A project that is read, or a search for moved code, keeps no hover waiting."""
    repo = make_repo(**FILES)
    repo.gotcha("amounts are cents", "pay.py:1")
    read_code(repo)
    repositories = Repositories(repo.env)
    place = repositories.place(repositories.locate(str(repo.root / "api.py")))
    go_on = threading.Event()
    other = asyncio.ensure_future(place.repository.read_history(go_on.wait))

    used = asyncio.ensure_future(code.used_at(place, "api.py", API, 7, 5))
    await asyncio.wait({used}, timeout=20)
    done = used.done()
    go_on.set()
    await other

    assert done and await used == ("pay.py", "charge")
    assert await code.usage_of(place, "pay.py", "charge")
    repositories.close(5)


async def test_a_file_that_cannot_be_told_of_leaves_the_line(monkeypatch):
    """Whatever is wrong with the file of the definition, the hover has what the line has."""

    async def used_at(*_):
        return "pay.py", "charge"

    async def notes_of(*_, **__):
        raise External("the disk is gone.", "")

    monkeypatch.setattr(used_here.code, "used_at", used_at)
    monkeypatch.setattr(used_here, "notes_of", notes_of)
    place = DocumentPlace(None, "/r/.git", "/r", ("api.py",))

    assert await used_here.notes_of_used(None, place, ["charge()\n"], 0, 0) == ("", [])
