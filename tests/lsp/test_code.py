"""What hangs on code, in an editor: who uses a file, and in a hover how often a definition with a gotcha is used."""

import subprocess
import sys

CART = "class Cart:\n    def total(self):\n        return 1\n\n\ndef fee():\n    return 2\n"
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": CART,
    "shop/pay.py": "from shop.cart import Cart, fee\n\nprint(Cart().total(), fee(), fee())\n",
    "shop/ship.py": "from shop import cart\n\ncart.fee()\n",
    "README.md": "# Shop\n",
}


async def test_who_uses_a_file(make_repo, connect):
    """Its rank and its users, of the commit that is checked out; null for what is no code."""
    repo = make_repo(**FILES)
    editor = await connect(repo.root)
    uri = repo.uri("shop/cart.py")
    editor.open(uri)

    told = await editor.run("gitmem.code", uri)

    assert (told["path"], told["place"], told["of"], told["users"]) == ("shop/cart.py", 1, 4, 2)
    assert sorted(told["usedBy"]) == ["shop/pay.py", "shop/ship.py"]
    assert told["uses"] == []
    assert told["names"] == {"Cart": 1, "fee": 3}
    assert await editor.run("gitmem.code", repo.uri("README.md")) is None
    repo.write("shop/more.py", "from shop.cart import fee\n\nfee()\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "more")
    assert (await editor.run("gitmem.code", uri))["users"] == 3


async def test_a_hover_tells_how_much_hangs_on_a_definition_with_a_gotcha(make_repo, connect):
    """On its first line, once the code was read by anybody; lines without a gotcha say nothing."""
    repo = make_repo(**FILES)
    repo.gotcha("the fee is net", "shop/cart.py:6")
    uri = repo.uri("shop/cart.py")
    editor = await connect(repo.root)
    editor.open(uri)
    await editor.until(uri, bool)
    hover = await editor.hover(uri, 5, 6)
    assert "the fee is net" in hover.contents.value
    assert "hang" not in hover.contents.value
    subprocess.run(
        [sys.executable, "-m", "gitmem", "-C", str(repo.root), "code", "rank"],
        check=True,
        capture_output=True,
    )

    hover = await editor.hover(uri, 5, 6)

    assert "fee is used 3 times in 2 files." in hover.contents.value
    assert await editor.hover(uri, 0, 6) is None
