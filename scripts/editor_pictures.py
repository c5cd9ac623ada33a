# ruff: noqa: T201 - its output is what it is for
"""Take the pictures of the editors in `docs/images`.

Run `python -m scripts.editor_pictures` after `make test-vscode editors`.

Neovim runs in tmux, whose screen is drawn in Chromium with its colours; VS Code's picture is one
that its tests took, cut to what matters.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
CACHE = ROOT / ".cache"
COLUMNS, LINES = 100, 18
PATIENCE = 30.0
BASIC = ("#14161b", "#ffc0b9", "#b3f6c0", "#fce094", "#a6dbff", "#ffcaff", "#8cf8f7", "#eef1f8")
BACKGROUND, FOREGROUND = "#14161b", "#e0e2ea"
INIT = """\
vim.opt.runtimepath:prepend({plugin!r})
vim.o.number, vim.o.signcolumn, vim.o.laststatus, vim.o.ruler = true, 'yes', 2, false
vim.o.statusline = " %f %m%= %{{v:lua.require'gitmem'.statusline()}} "
vim.o.swapfile, vim.o.shortmess, vim.o.winborder = false, vim.o.shortmess .. 'I', 'rounded'
vim.diagnostic.config({{ virtual_text = true, severity_sort = true }})
"""
CODE = """\
import decimal


def total(cart):
    cents = sum(item.price for item in cart)
    return decimal.Decimal(cents) / 100


def refund(order):
    order.lock()
    return order.total * -1
"""


def make_repository(folder: Path, env: dict[str, str]) -> Path:
    """Make a repository with two gotchas."""
    repo = folder / "shop"
    repo.mkdir()
    (repo / "pay.py").write_text(CODE, encoding="utf-8")
    for command in (["git", "init", "-q"], ["git", "add", "."], ["git", "commit", "-qm", "pay"]):
        subprocess.run(command, cwd=repo, env=env, check=True)
    mem = [sys.executable, "-m", "gitmem", "add", "-k", "gotcha"]
    first = ["Totals are in cents", "--anchor", "pay.py:5", "--workaround", "divide by 100 first"]
    second = [
        "Lock before the refund",
        "--anchor",
        "pay.py:10",
        "--severity",
        "critical",
        "-m",
        "Two refunds ran at once.",
    ]
    for facts in (first, second):
        subprocess.run([*mem, *facts], cwd=repo, env=env, check=True, stdout=subprocess.DEVNULL)
    return repo


def screen_of_neovim(folder: Path, env: dict[str, str]) -> str:
    """Return the screen of Neovim with a hover, as tmux prints it."""
    repo = make_repository(folder, env)
    init = folder / "init.lua"
    init.write_text(INIT.format(plugin=str(ROOT / "lsp" / "nvim")), encoding="utf-8")
    tmux = ["tmux", "-L", f"pictures-{os.getpid()}"]
    nvim = f"{CACHE / 'neovim' / 'bin' / 'nvim'} --clean -u {init} pay.py"
    size = ["-x", str(COLUMNS), "-y", str(LINES)]
    subprocess.run(
        [*tmux, "-f", os.devnull, "new-session", "-d", *size, nvim],
        cwd=repo,
        env={**env, "COLORTERM": "truecolor", "TERM": "xterm-256color"},
        check=True,
    )
    try:
        subprocess.run([*tmux, "set", "-g", "status", "off"], check=True, env=env)
        subprocess.run([*tmux, "set", "-ga", "terminal-overrides", ",*:Tc"], check=True, env=env)
        wait_for(tmux, "Lock before", env)
        subprocess.run([*tmux, "send-keys", "5G^K"], check=True, env=env)
        return wait_for(tmux, "Workaround", env)
    finally:
        subprocess.run([*tmux, "kill-server"], check=False, env=env)


def wait_for(tmux: list[str], text: str, env: dict[str, str]) -> str:
    """Return the screen once it shows a text and has come to rest."""
    end, before = time.monotonic() + PATIENCE, ""
    while time.monotonic() < end:
        screen = subprocess.run(
            [*tmux, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True, env=env
        ).stdout
        if text in screen and screen == before:
            return screen
        before = screen
        time.sleep(0.2)
    sys.exit(f"Neovim never showed {text!r}:\n{before}")


def color(codes: list[int]) -> str:
    """Return the colour that codes of the terminal name, and take them off the list."""
    if codes and codes[0] == 2:
        red, green, blue = codes[1:4]
        del codes[:4]
        return f"rgb({red},{green},{blue})"
    number = codes[1]
    del codes[:2]
    if number < 16:
        return BASIC[number % 8]
    if number > 231:
        return f"rgb({(number - 232) * 10 + 8},{(number - 232) * 10 + 8},{(number - 232) * 10 + 8})"
    levels = (0, 95, 135, 175, 215, 255)
    red, green, blue = (levels[(number - 16) // step % 6] for step in (36, 6, 1))
    return f"rgb({red},{green},{blue})"


SET = {
    1: {"font-weight": "bold"},
    3: {"font-style": "italic"},
    4: {"text-decoration": "underline"},
    **{number: {"color": BASIC[number % 10]} for number in (*range(30, 38), *range(90, 98))},
    **{number: {"background": BASIC[number % 10]} for number in (*range(40, 48), *range(100, 108))},
}
RESET = {
    22: "font-weight",
    23: "font-style",
    24: "text-decoration",
    39: "color",
    49: "background",
}


def style(given: str, now: dict[str, str]) -> dict[str, str]:
    """Return the look of a text after an escape sequence."""
    codes = [int(code or 0) for code in re.split("[;:]", given)] or [0]
    out = dict(now)
    while codes:
        code = codes.pop(0)
        if code == 0:
            out = {}
        elif code in SET:
            out |= SET[code]
        elif code in RESET:
            out.pop(RESET[code], None)
        elif code == 7:
            background, foreground = out.get("background", BACKGROUND), out.get("color", FOREGROUND)
            out |= {"color": background, "background": foreground}
        elif code in {38, 48}:
            out["color" if code == 38 else "background"] = color(codes)
    return out


def page(screen: str) -> str:
    """Return the screen as a page."""
    out, now = [], dict[str, str]()
    for part in re.split("(\x1b\\[[0-9;:]*m)", screen):
        if found := re.fullmatch("\x1b\\[([0-9;:]*)m", part):
            now = style(found[1], now)
        elif part:
            look = ";".join(f"{key}:{value}" for key, value in now.items())
            out.append(f'<span style="{look}">{html.escape(part)}</span>')
    font = "font:17px/20px 'DejaVu Sans Mono',monospace"
    return (
        f'<body style="margin:0;background:{BACKGROUND}"><pre '
        f'style="margin:0;padding:10px;display:inline-block;color:{FOREGROUND};{font}">{"".join(out)}</pre>'
    )


def picture(content: str, file: Path, clip: tuple[int, int, int, int] | None = None) -> None:
    """Draw a page with Chromium into a file."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(f'<!doctype html><meta charset="utf-8">{content}', encoding="utf-8")
        area = (
            f", clip: {{ x: {clip[0]}, y: {clip[1]}, width: {clip[2]}, height: {clip[3]} }}"
            if clip
            else ""
        )
        shot = (
            f"page.screenshot({{ path: {json.dumps(str(file))}{area} }})"
            if clip
            else f"page.locator('pre').screenshot({{ path: {json.dumps(str(file))} }})"
        )
        playwright = CACHE / "vscode" / "driver" / "node_modules" / "playwright-core"
        program = f"""
          const {{ chromium }} = require({json.dumps(str(playwright))});
          (async () => {{
            const browser = await chromium.launch({{
              executablePath: {json.dumps(shutil.which("chromium"))}, args: ["--no-sandbox"] }});
            const page = await browser.newPage({{ viewport: {{ width: 1280, height: 760 }} }});
            await page.goto({json.dumps(source.as_uri())});
            await {shot};
            await browser.close();
          }})();"""
        subprocess.run(["node", "-e", program], check=True)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} KB")


def main() -> int:
    """Take the pictures; return the exit code."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        person = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {
            "PATH": path,
            "HOME": name,
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **person,
        }
        picture(page(screen_of_neovim(folder, env)), IMAGES / "neovim.png")
    taken = CACHE / "vscode" / "pictures" / "2-hover.png"
    if taken.is_file():
        picture(
            f'<body style="margin:0"><img src="{taken.as_uri()}">',
            IMAGES / "vscode.png",
            (0, 0, 1280, 760),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
