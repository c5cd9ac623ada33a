"""Places as a person names them: past the end, folders, globs, from a subfolder, by a name that is no more."""

import contextlib
from pathlib import Path

import pytest

from tests.cli.conftest import Mem
from tests.command_line import run_command
from tests.conftest import git
from tests.json_output import data_of

CODE = "import os\n\n\ndef rate():\n    return 1\n"


def run(folder: Path, *args: str) -> tuple[str, str]:
    """Run `git mem gotcha` in a folder; return what it printed, and what it said."""
    with contextlib.chdir(folder):
        done = run_command(Path("."), "gotcha", *args)
    return done.stdout, done.stderr


@pytest.fixture
def app(mem: Mem) -> Path:
    """A folder with a file of five lines, and one beside it."""
    for name in ("app", "lib"):
        (mem.folder / name).mkdir()
    (mem.folder / "app" / "pay.py").write_text(CODE)
    (mem.folder / "lib" / "tax.py").write_text(CODE.replace("rate", "tax"))
    git(mem.folder, "add", ".")
    git(mem.folder, "commit", "-qm", "files")
    return mem.folder / "app"


@pytest.mark.parametrize("place", ["app/pay.py:6", "app/pay.py:4-6"])
def test_line_after_the_last_one_is_refused(mem, app, place):
    """A file that ends in a newline has no line after it."""
    assert "app/pay.py has 5 lines, not 6." in run(mem.folder, "add", "t", "--anchor", place)[1]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("#hash.py", "#hash.py"),
        ("#hash.py", "./#hash.py"),
        (" lead.py", " lead.py"),
        ("a#b:c.py", "a#b:c.py"),
        ("trail.py ", "trail.py "),
    ],
)
def test_file_with_an_odd_name_is_a_place(mem, app, name, place):
    """Also from its own folder; and blanks around the name of a usual file are none of it."""
    (app / name).write_text(CODE)
    for folder, spec in ((app, f"{place}:2"), (mem.folder, f"app/{place.removeprefix('./')}:2")):
        id = mem.at(folder).add("odd", "--anchor", spec)
        (anchor,) = mem.show(id)["anchors"]
        assert (anchor["path"], anchor["lines"]) == (f"app/{name}", [2, 2])
    assert mem.show(mem.add("usual", "--anchor", " app/pay.py:2 "))["anchors"][0]["path"] == (
        "app/pay.py"
    )


def test_line_breaks_in_names_are_escaped(mem, app):
    """One line is one line, in what is found and in what is not."""
    name = "new\nline.py"
    (app / name).write_text(CODE)
    assert "no new\\nline.txt in" in run(app, "for", "new\nline.txt")[1]
    run(app, "add", "t", "--anchor", f"{name}:2")
    out, _ = run(app, "for", f"{name}:2", "pay.py")
    assert out.startswith("new\\nline.py:2: ") and "anchored at app/new\\nline.py:2" in out


def test_folder_is_no_place(mem, app):
    """It is said how to mean the files in it."""
    said = run(mem.folder, "add", "t", "--anchor", "app/")[1]
    assert "'app' is a folder." in said
    assert "--anchor 'app/**'" in said


def test_glob_that_fits_nothing_is_noted(mem, app):
    """It is kept all the same: the files may come."""
    out, said = run(mem.folder, "add", "t", "--anchor", "migrations/**")
    assert out.startswith("remembered")
    assert "no file fits 'migrations/**' yet." in said
    assert "no file fits" not in run(mem.folder, "add", "t2", "--anchor", "app/**")[1]


def test_for_takes_paths_from_the_current_folder(mem, app):
    """As git does: also those that go up."""
    run(mem.folder, "add", "rates change", "--anchor", "lib/tax.py:5")
    assert "anchored at lib/tax.py:5" in run(app, "for", "../lib/tax.py:5")[0]
    assert "is not in this repository" in run(app, "for", "../../tax.py")[1]


def test_for_a_folder_tells_of_the_files_in_it(mem, app):
    """Each with its name; a glob that fits several is told once."""
    run(mem.folder, "add", "rates change", "--anchor", "lib/tax.py:5")
    run(mem.folder, "add", "rates stay", "--anchor", "app/pay.py:5")
    run(mem.folder, "add", "all of it", "--anchor", "**/*.py")
    out, _ = run(mem.folder, "for", ".")
    assert "lib/tax.py: " in out
    assert "app/pay.py: " in out
    assert out.count("all of it") == 1
    assert "rates change" not in run(mem.folder, "for", "app")[0]


def test_for_says_what_is_odd_about_a_place(mem, app):
    """A line past the end, a file that is not there."""
    assert "app/pay.py has 5 lines, not 999." in run(mem.folder, "for", "app/pay.py:999")[1]
    assert (
        "there is no app/none.py in this repository; nothing is known about it."
        in run(mem.folder, "for", "app/none.py")[1]
    )


@pytest.mark.parametrize("tell_git", [True, False])
def test_name_that_is_no_more_leads_to_the_one_of_today(mem, app, tell_git):
    """`for` the old name shows the place that is there; `list --file` the new name knows what was recorded under the old one."""
    run(mem.folder, "add", "rates change", "--anchor", "lib/tax.py:5")
    if tell_git:
        git(mem.folder, "mv", "lib/tax.py", "lib/duty.py")
        git(mem.folder, "commit", "-qm", "renamed")
    else:
        (mem.folder / "lib" / "tax.py").rename(mem.folder / "lib" / "duty.py")
    out, said = run(mem.folder, "for", "lib/tax.py")
    assert "anchored at lib/duty.py:5" in out
    assert "lib/tax.py is lib/duty.py now." in said
    assert "rates change" in run(mem.folder, "list", "--file", "lib/duty.py")[0]


@pytest.mark.parametrize("is_committed", [True, False])
def test_renamed_file_keeps_its_gotchas_when_the_old_name_comes_back(mem, app, is_committed):
    """The new file under the old name does not take them away, neither of lines nor of the file."""
    run(mem.folder, "add", "rates change", "--anchor", "lib/tax.py:5")
    run(mem.folder, "add", "loaded first", "--anchor", "lib/tax.py")
    git(mem.folder, "mv", "lib/tax.py", "lib/duty.py")
    git(mem.folder, "commit", "-qm", "renamed")
    (mem.folder / "lib" / "tax.py").write_text("from lib.duty import *\n")
    if is_committed:
        git(mem.folder, "add", ".")
        git(mem.folder, "commit", "-qm", "old name")
    for args in (("for", "lib/duty.py"), ("list", "--file", "lib/duty.py")):
        out, _ = run(mem.folder, *args)
        assert "rates change" in out
        assert "loaded first" in out


CART = """import os


class Cart:
    def __init__(self, items):
        self.items = items

    def total(self, tax_rate):
        amount = 0
        for price, count in self.items:
            amount += price * count
        return amount * (1 + tax_rate)


def charge(cart, client):
    return client.post("/charge", data=cart.to_json(), timeout=30)
"""
HEAD, REST = CART.split("class Cart")[0], "def charge" + CART.split("def charge")[1]
CLASS = CART.removeprefix(HEAD).removesuffix(REST)
REWRITTEN = "class Cart:\n    def total(self, country):\n        return sum(map(country.gross, self.lines))\n"

MOVES = {
    "the class went to a new file": {
        "shop/pay.py": HEAD + REST,
        "shop/cart.py": "# carts\n\n" + CLASS,
    },
    "the class went there and was edited": {
        "shop/pay.py": HEAD + REST,
        "shop/cart.py": "# carts\n\n" + CLASS.replace("price * count", "price * count - 1"),
    },
    "only its definition is there": {
        "shop/pay.py": HEAD + REST,
        "shop/cart.py": "# carts\n\n" + REWRITTEN,
    },
    "the file was renamed": {"shop/pay.py": None, "shop/cart.py": CART},
    "it is gone": {"shop/pay.py": HEAD + REST},
    "it went, and a line is like it": {
        "shop/pay.py": CART.replace(
            "amount += price * count", "amount -= prices * counts.get(price, 0)"
        ),
        "shop/cart.py": "# carts\n\n" + CLASS,
    },
}


@pytest.mark.parametrize("tracked", [False, True], ids=["untracked", "committed"])
@pytest.mark.parametrize("moved", MOVES)
def test_show_and_for_tell_the_same_place(mem, moved, tracked):
    """Where `show` says that the code is, `for` says it too: asked about the file that it was in, and about the one that it is in."""
    folder = mem.folder
    (folder / "shop").mkdir()
    (folder / "shop" / "pay.py").write_text(CART)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "shop")
    for place in ("shop/pay.py:11", "shop/pay.py:10-11", "shop/pay.py#Cart.total", "shop/pay.py"):
        run(folder, "add", f"about {place}", "--anchor", place)
    for name, text in MOVES[moved].items():
        (folder / name).unlink(missing_ok=True)
        if text is not None:
            (folder / name).write_text(text)
    if tracked:
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "moved")
    told = {
        name: {
            one["id"]: one["place"]
            for one in data_of(run(folder, "for", name, "--json")[0] or "[]")
        }
        for name in MOVES[moved]
    }
    ids = [one["id"] for one in data_of(run(folder, "list", "--json")[0])]
    for one in mem("show", *ids, "--json").json:
        (shown,) = one["places"]
        for asked in {"shop/pay.py", shown["path"]}:
            place = told[asked][one["id"]]
            assert place | {"state": ""} == shown | {"state": ""}, asked
            # of that file
            assert place["state"] == shown["state"] or (
                moved == "the file was renamed" and place["state"] == "same"
            )


def test_show_tells_the_name_of_today_of_a_whole_file(mem, app):
    """As `for` does, before git is told of the new name."""
    run(mem.folder, "add", "rates change", "--anchor", "lib/tax.py")
    (mem.folder / "lib" / "tax.py").rename(mem.folder / "lib" / "duty.py")
    known = data_of(run(mem.folder, "list", "--json")[0])
    assert "lib/tax.py (now lib/duty.py)" in mem("show", known[0]["id"]).out
    assert "about lib/duty.py" in run(mem.folder, "for", "lib/duty.py")[0]


@pytest.fixture
def crowded(mem, app) -> Path:
    """The file with 23 gotchas about its fourth line, the last of them critical."""
    for number in range(22):
        mem("gotcha", "add", f"trap {number}", "--anchor", "app/pay.py:4")
    mem("gotcha", "add", "worst", "--severity", "critical", "--anchor", "app/pay.py:4")
    return app


def test_hot_file_has_a_limit_and_the_command_that_shows_all(mem, crowded):
    """Of many the worst come first; the last line says how to see the others, and that is so."""
    out, _ = run(mem.folder, "for", "app/pay.py")
    assert "worst" in out.splitlines()[0]
    assert out.count("trap ") == 19
    *_, last = out.splitlines()
    assert last == "and 3 more: git mem gotcha for -n 23 app/pay.py"
    whole, _ = run(mem.folder, *last.partition("gotcha ")[2].split())
    assert (whole.count("trap "), " more: " in whole) == (22, False)


def test_json_of_a_hot_file_has_all_unless_a_limit_is_given(mem, crowded):
    """Programs are not cut short, but where they ask for it."""
    for args, number in (((), 23), (("-n", "3"), 3), (("-n", "20"), 20)):
        out, _ = run(mem.folder, "for", "app/pay.py", "--json", *args)
        assert len(data_of(out)) == number
