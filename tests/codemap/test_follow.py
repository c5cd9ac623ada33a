"""Anchors are found again in repositories: renames, moves to other files, histories that are not whole."""

import os
import random
import shutil
import subprocess
import time

import pytest

from gitmem.codemap.anchors import renames
from gitmem.codemap.anchors.resolve import attach
from gitmem.git.object_codec import object_id
from tests.codemap import edits
from tests.codemap.conftest import Tree

PAY = "import os\n\n\nclass Cart:\n    def total(self, items):\n        amount = sum(item.price for item in items)\n        return amount * self.rate\n\n    def clear(self):\n        self.items = []\n"
OTHER = "def refund(order):\n    ledger.append(('refund', order.id))\n    return None\n"


def spot(placement) -> tuple[str, int, str]:
    return placement.path, placement.first, placement.state


def test_committed_file_without_change(tree: Tree):
    """Nothing changed: the same lines, here and at HEAD."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    assert (
        ("pay.py", 6, "same")
        == spot(tree.follower().now(anchor))
        == spot(tree.follower().at(anchor, "HEAD"))
    )


@pytest.mark.parametrize(
    "name",
    ["lib/pay.py", "a b/pay it.py", "😀.py", "new\nline.py", "-x.py", "tab\there.py", 'q"uote.py'],
)
@pytest.mark.parametrize("how", ["committed", "staged", "untracked"])
def test_renamed_file_is_followed(tree: Tree, name, how):
    """To another name and another folder: committed, staged, or with mv alone."""
    tree.write("pay.py", PAY)
    tree.write("other.py", OTHER)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    (tree.path / name).parent.mkdir(parents=True, exist_ok=True)
    if how == "untracked":
        os.rename(tree.path / "pay.py", tree.path / name)
    else:
        tree.git("mv", "--", "pay.py", name)
    tree.write(name, "# new\n" + PAY)
    if how == "committed":
        tree.commit()
        assert (name, 7, "moved") == spot(tree.follower().at(anchor, "HEAD"))
    assert (name, 7, "moved") == spot(tree.follower().now(anchor))


def test_renamed_again_and_again_with_edits(tree: Tree):
    """Each step keeps most of the file, all of them together do not."""
    r = random.Random(3)
    text = edits.marked(edits.python(r, 120))
    mark = next(n for n, x in enumerate(text) if "self." in x.text and n > 20)
    tree.write("a0.py", "\n".join(x.text for x in text))
    tree.commit()
    anchor = tree.anchor(f"a0.py:{mark + 1}")
    for step in range(1, 5):
        low = (len(text) // 5) * step
        text = [
            x
            if abs(n - edits.where(text, mark)) < 5 or not low < n < low + len(text) // 4
            else edits.Line(f"v{n}_{step} = {step}")
            for n, x in enumerate(text)
        ]
        os.remove(tree.path / f"a{step - 1}.py")
        tree.write(f"a{step}.py", "\n".join(x.text for x in text))
        tree.commit()
    found = tree.follower().now(anchor)
    assert ("a4.py", edits.where(text, mark)) == (found.path, found.first)


def test_names_of_a_file_in_its_past(tree: Tree):
    """All of them, or those at the commits that are asked for."""
    tree.write("one.py", PAY)
    first = tree.commit()
    tree.git("mv", "one.py", "two.py")
    second = tree.commit()
    tree.git("mv", "two.py", "three.py")
    tree.commit()
    follower = tree.follower()
    assert ("two.py", "one.py") == follower.earlier("three.py")
    assert ("one.py",) == follower.earlier("three.py", [first])
    assert ("two.py",) == follower.earlier("three.py", [second])
    assert () == follower.earlier("nothing.py")
    tree.git("mv", "three.py", "four.py")
    follower.forget()
    assert ("three.py", "two.py", "one.py") == follower.earlier("four.py")


def test_code_that_went_to_another_file(tree: Tree):
    """A file is split: the anchor goes with its code."""
    tree.write("pay.py", PAY)
    tree.write("other.py", OTHER)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.write(
        "pay.py", "import os\n\n\nclass Cart:\n    def clear(self):\n        self.items = []\n"
    )
    tree.write(
        "sums.py",
        "class Sums:\n    def total(self, items):\n        amount = sum(item.price for item in items)\n        return amount * self.rate\n",
    )
    assert ("sums.py", 3, "moved") == spot(tree.follower().now(anchor))
    tree.commit()
    assert ("sums.py", 3, "moved") == spot(tree.follower().at(anchor, "HEAD"))


def test_code_in_two_other_files_is_not_guessed(tree: Tree):
    """Copied to two places, neither is the one."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    os.remove(tree.path / "pay.py")
    for name in ("a.txt", "b.txt"):
        tree.write(name, "# x\n# y\n" + "\n".join(PAY.split("\n")[4:8]))
    assert "adrift" == tree.follower().now(anchor).state


def test_copy_that_was_always_there_is_not_where_it_went(tree: Tree):
    """A twin in another file is not a place for code that was deleted."""
    tree.write("pay.py", PAY)
    tree.write("twin.txt", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.write("pay.py", "import os\n")
    assert ("pay.py", 1, "adrift") == spot(tree.follower().now(anchor))


def test_symbol_in_another_file_is_approximate(tree: Tree):
    """The definition went elsewhere and was rewritten."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.write("pay.py", "import os\n")
    tree.write("cart.py", "\n\nclass Cart:\n    def total(self, lines):\n        pass\n")
    found = tree.follower().now(anchor)
    assert ("cart.py", 4, "approximate") == spot(found)
    assert found.stale


def test_symbol_stays_when_its_line_is_gone(tree: Tree):
    """The line was deleted; its function is there."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.write(
        "pay.py",
        PAY.replace(
            "        amount = sum(item.price for item in items)\n        return amount * self.rate\n",
            "        raise NotImplementedError\n",
        ),
    )
    assert ("pay.py", 5, "approximate") == spot(tree.follower().now(anchor))


def test_uncommitted_text_is_known_by_its_commit(tree: Tree):
    """The anchored text was never committed as it was: the commit's version stands in."""
    tree.write("pay.py", PAY)
    tree.commit()
    tree.write("pay.py", "# draft\n" + PAY)
    anchor = tree.anchor("pay.py:7")
    tree.write(
        "pay.py",
        "# draft\n" * 30 + PAY.replace("amount", "sum_of_all").replace("    def", "    async def"),
    )
    found = tree.follower().now(anchor)
    assert ("pay.py", 36) == (found.path, found.first)


@pytest.mark.parametrize("commit", ["0" * 40, "", "not a commit", "--output=x"])
def test_unknown_commit_and_blob(tree: Tree, commit):
    """From another clone, or rebased away: the remembered lines are enough, renames included."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = {**tree.anchor("pay.py:6"), "commit": commit, "blob": "1" * 40}
    tree.write("pay.py", "# a\n" + PAY)
    assert ("pay.py", 7, "same") == spot(tree.follower().now(anchor))
    tree.commit()
    tree.git("mv", "pay.py", "cart.py")
    tree.commit()
    assert ("cart.py", 7, "moved") == spot(tree.follower().now(anchor))


@pytest.mark.parametrize("kind", ["bare", "worktree", "shallow", "sha256", "submodule"])
def test_repositories_of_other_kinds(tree: Tree, tmp_path, kind):
    """A rename is followed wherever git can tell of it."""
    if kind == "sha256":
        shutil.rmtree(tree.path)
        subprocess.run(["git", "init", "-q", "--object-format=sha256", str(tree.path)], check=True)
        tree.kind = "sha256"
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.git("mv", "pay.py", "cart.py")
    tree.write("cart.py", "# a\n" + PAY)
    tree.commit()
    path = tmp_path / "copy"
    if kind == "bare":
        subprocess.run(["git", "clone", "-q", "--bare", str(tree.path), str(path)], check=True)
    elif kind == "worktree":
        tree.git("worktree", "add", "-q", "-b", "side", str(path))
    elif kind == "shallow":
        subprocess.run(
            ["git", "clone", "-q", "--depth=1", tree.path.as_uri(), str(path)], check=True
        )
    elif kind == "submodule":
        outer = tmp_path / "outer"
        subprocess.run(["git", "init", "-q", str(outer)], check=True)
        subprocess.run(
            [
                "git",
                "-C",
                str(outer),
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                str(tree.path),
                "sub",
            ],
            check=True,
        )
        path = outer / "sub"
    else:
        path = tree.path
    assert ("cart.py", 7, "moved") == spot(Tree(path).follower().now(anchor))


def test_repository_without_a_commit(tree: Tree):
    """Nothing is committed: the file on disk is enough, and a file that is not there is adrift."""
    tree.write("pay.py", PAY)
    anchor = tree.anchor("pay.py:6", committed=False)
    tree.write("pay.py", "# a\n" + PAY)
    assert ("pay.py", 7, "same") == spot(tree.follower().now(anchor))
    os.remove(tree.path / "pay.py")
    assert ("pay.py", 1, "adrift") == spot(tree.follower().now(anchor))
    assert "adrift" == tree.follower().at(anchor, "HEAD").state
    assert () == tree.follower().earlier("pay.py")


def test_no_path_leads_outside(tree: Tree, tmp_path):
    """A record's path is data: neither dots nor links are followed out of the work tree."""
    (tmp_path / "secret.py").write_text(PAY)
    os.symlink(tmp_path, tree.path / "link")
    os.symlink(tmp_path / "secret.py", tree.path / "one.py")
    tree.write("pay.py", PAY)
    anchor = tree.anchor("pay.py:6", committed=False)
    os.remove(tree.path / "pay.py")
    for path in (
        "../secret.py",
        str(tmp_path / "secret.py"),
        "link/secret.py",
        "one.py",
        ".git/config",
        "a\0b",
        "",
        ".",
    ):
        assert tree.follower().now({**anchor, "path": path}).state in {"adrift", "file"}


def test_name_that_is_no_utf8(tree: Tree):
    """A record holds such a name with a replacement character, and it is found again."""
    raw = os.fsencode(str(tree.path)) + b"/caf\xe9.py"
    with open(raw, "w") as file:
        file.write(PAY)
    tree.commit()
    anchor = attach({"path": "caf�.py", "lines": [6, 6]}, PAY, "2" * 40)
    found = tree.follower().now(anchor)
    assert (6, b"caf\xe9.py") == (found.first, os.fsencode(found.path))
    assert 6 == tree.follower().at(anchor, "HEAD").first


def test_name_with_decomposed_letters(tree: Tree):
    """As some file systems spell it."""
    tree.write("cafe\u0301.py", PAY)
    tree.commit()
    anchor = attach({"path": "caf\u00e9.py", "lines": [6, 6]}, PAY, "2" * 40)
    assert ("cafe\u0301.py", 6) == spot(tree.follower().now(anchor))[:2]


def test_files_and_globs(tree: Tree):
    """An anchor without lines follows its file; a glob is not a place."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py")
    assert ("pay.py", 1, "file") == spot(tree.follower().now(anchor))
    tree.git("mv", "pay.py", "cart.py")
    tree.commit()
    assert ("cart.py", 1, "file") == spot(tree.follower().now(anchor))
    assert ("src/**", 1, "glob") == spot(tree.follower().now({"glob": "src/**"}))
    tree.write("lib/x.py", "")
    assert ("lib", 1, "file") == spot(tree.follower().now({"path": "lib"}))


def test_many_anchors_in_one_text(tree: Tree):
    """All are placed with few calls of git, each by its own old text."""
    lines = [f"value_{n} = compute({n})" for n in range(200)]
    made = []
    for n in range(5):
        tree.write("a.py", "\n".join([f"# {n}"] * n + lines))
        tree.commit()
        made += [tree.anchor(f"a.py:{n + k + 1}") for k in range(0, 200, 20)]
    text = ["# top"] * 9 + lines
    found = tree.follower().place_all(made, "a.py", text)
    assert [text.index(a["context"]["lines"][0]) + 1 for a in made] == [p.first for p in found]
    assert {"same"} == {p.state for p in found}


def test_time_is_kept(tree: Tree):
    """With no time at all the remembered lines are used, and nothing fails."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    tree.write("pay.py", "# a\n" + PAY)
    start = time.monotonic()
    assert ("pay.py", 7, "same") == spot(tree.follower(0.0).now(anchor))
    assert time.monotonic() - start < 15.0


def test_huge_and_binary_files(tree: Tree):
    """Neither is looked into."""
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = tree.anchor("pay.py:6")
    (tree.path / "pay.py").write_bytes(b"x" * 6_000_000)
    assert "adrift" == tree.follower().now(anchor).state
    (tree.path / "pay.py").write_bytes(b"\0\1\2" * 1000)
    assert "adrift" == tree.follower().now(anchor).state


def test_unchanged_files_have_the_text_that_the_index_has(tree: Tree):
    """What git says is as it was has these bytes on the disk; what was changed in any way is left out."""
    names = [f"d{n % 3}/f {n}é.py" for n in range(12)]
    for name in names:
        tree.write(name, f"# {name}\n")
    tree.commit()
    tree.write(names[0], "# changed\n")
    (tree.path / names[1]).unlink()
    tree.git("rm", "-q", "--", names[2])
    tree.write(names[3], "# staged\n")
    tree.git("add", "--", names[3])
    tree.git("update-index", "--assume-unchanged", "--", names[4])
    tree.write(names[4], "# nobody looks\n")
    tree.git("update-index", "--skip-worktree", "--", names[5])
    (tree.path / names[6]).unlink()
    (tree.path / names[6]).symlink_to("elsewhere")
    tree.write("new.py", "# untracked\n")
    os.utime(tree.path / names[7], (1, 1))
    same = tree.follower().unchanged()
    assert {names[3], *names[8:]} <= same.keys() <= {names[3], *names[7:]}
    for name, blob in same.items():
        assert blob == object_id("blob", (tree.path / name).read_bytes(), "sha1")


def test_no_unchanged_files_without_a_work_tree(tree: Tree, tmp_path):
    """A bare repository has no such files."""
    tree.write("pay.py", PAY)
    tree.commit()
    subprocess.run(["git", "clone", "-q", "--bare", tree.path, tmp_path / "bare"], check=True)
    assert Tree(tmp_path / "bare").follower().unchanged() == {}


def test_renames_of_late_are_found_in_a_long_history(tree: Tree, monkeypatch):
    """Only so many commits are looked through for a name: the last ones."""
    monkeypatch.setattr(renames, "RECENT", 5)
    tree.write("pay.py", PAY)
    tree.commit()
    anchor = {"path": "pay.py", "lines": [6, 6]}
    tree.git("mv", "pay.py", "old.py")
    tree.commit()
    for number in range(8):
        tree.write("other.py", f"X = {number}\n")
        tree.commit()
    assert tree.follower().earlier("old.py") == ()
    assert tree.follower().called(anchor) == ""
    tree.git("mv", "old.py", "new.py")
    tree.commit()
    assert tree.follower().earlier("new.py") == ("old.py",)
    assert tree.follower().called({"path": "old.py", "lines": [6, 6]}) == "new.py"
