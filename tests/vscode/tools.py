"""Puts the tools of this folder's tests into `.cache/vscode`: Node 24, code-server, Playwright, and the built extension.

`python -m tests.vscode.tools` installs what is not there yet; what is there and of the right version is kept.
"""

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "vscode"
SOURCES = ROOT / "lsp" / "vscode"
# what code-server asks for; its native modules are compiled against the headers that come with it
NODE = "24"
CODE_SERVER = "4.139.1"
PLAYWRIGHT = "1.65.1"
TRIES = 3
VSIX = CACHE / "extension" / "gitmem.vsix"


def node_home() -> Path:
    """Return the folder of Node: `bin/node`, and the headers."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return CACHE / "node" / "node_modules" / f"node-linux-{machine}"


def code_server() -> Path:
    """Return the program that is VS Code as a web server."""
    return CACHE / "code-server" / "node_modules" / ".bin" / "code-server"


def environment() -> dict[str, str]:
    """Return the environment in which Node 24 is the Node."""
    home = node_home()
    return {
        **os.environ,
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "npm_config_nodedir": str(home),
    }


def chromium() -> str | None:
    """Return the path of Chromium."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def main() -> int:
    """Install everything; return the exit code."""
    npm = shutil.which("npm")
    if npm is None:
        print("npm is missing: install Node.js first.", file=sys.stderr)
        return 1
    once(
        "node",
        f"{node_home().name}@{NODE}",
        lambda folder: install(npm, folder, f"{node_home().name}@{NODE}", env=dict(os.environ)),
    )
    once(
        "code-server",
        f"code-server@{CODE_SERVER} on {NODE}",
        lambda folder: install(npm, folder, f"code-server@{CODE_SERVER}"),
    )
    once(
        "driver",
        f"playwright-core@{PLAYWRIGHT}",
        lambda folder: install(npm, folder, f"playwright-core@{PLAYWRIGHT}"),
    )
    build(npm)
    return 0


def once(name: str, version: str, make: Callable[[Path], None]) -> None:
    """Make a folder of the cache, unless it is there in that version."""
    folder = CACHE / name
    stamp = folder / ".ready"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == version:
        return
    start = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    make(folder)
    stamp.write_text(version, encoding="utf-8")
    print(f"{version}: {time.monotonic() - start:.0f} s", flush=True)


def install(npm: str, folder: Path, package: str, env: dict[str, str] | None = None) -> None:
    """Install a package of npm into a folder."""
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    run(
        [
            npm,
            "install",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--foreground-scripts",
            package,
        ],
        folder,
        environment() if env is None else env,
    )


def build(npm: str) -> None:
    """Build the extension from a copy of its sources, so that the work tree stays as it is."""
    folder = CACHE / "extension"
    newest = max(
        path.stat().st_mtime
        for path in SOURCES.rglob("*")
        if path.is_file() and "node_modules" not in path.parts
    )
    if VSIX.is_file() and VSIX.stat().st_mtime > newest:
        return
    start = time.monotonic()
    manifest = (SOURCES / "package.json").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name != "node_modules":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(
        SOURCES,
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"),
    )
    installed = folder / "node_modules" / ".installed"
    if not installed.is_file() or installed.read_text(encoding="utf-8") != manifest:
        run([npm, "install"], folder, environment())
        installed.write_text(manifest, encoding="utf-8")
    run([npm, "run", "package"], folder, environment(), tries=1)
    print(
        f"{VSIX.name}, {VSIX.stat().st_size // 1024} KB: {time.monotonic() - start:.0f} s",
        flush=True,
    )


def run(command: Sequence[str], folder: Path, env: dict[str, str], tries: int = TRIES) -> None:
    """Run a program; once more when it fails, for networks do. What it printed is shown when the last try failed."""
    for left in range(tries - 1, -1, -1):
        done = subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return
        print(
            f"{' '.join(command[:3])} in {folder.name}: exit {done.returncode}{', once more' if left else ''}",
            file=sys.stderr,
            flush=True,
        )
        if left:
            time.sleep(5)
        else:
            sys.exit(f"{done.stdout[-4000:]}\n{' '.join(command)} failed.")


if __name__ == "__main__":
    sys.exit(main())
