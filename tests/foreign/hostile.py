"""Repositories of somebody else whose configuration names a tripwire wherever git takes a program."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import git
from tests.foreign.runner import Runner

ATTRIBUTES = "* filter=evil diff=evil merge=evil\n*.py filter=a=b diff=evil\n"
CONFIG = """
[core]
\tfsmonitor = {trip}
\thooksPath = {hooks}
\tsshCommand = {trip}
\tgitProxy = {trip}
\taskPass = {trip}
\tpager = {trip}
\teditor = {trip}
\talternateRefsCommand = {trip}
[pager]
\tlog = {trip}
\tdiff = {trip}
\tstatus = {trip}
[sequence]
\teditor = {trip}
[credential]
\thelper = !{trip}
[diff]
\texternal = {trip}
[diff "evil"]
\tcommand = {trip}
\ttextconv = {trip}
[filter "evil"]
\tclean = {trip}
\tsmudge = {trip}
\tprocess = {trip}
\trequired = true
[filter "a=b"]
\tclean = {trip}
\tsmudge = {trip}
[merge "evil"]
\tdriver = {trip} %O %A %B
[gpg]
\tprogram = {trip}
\tformat = ssh
[gpg "openpgp"]
\tprogram = {trip}
[gpg "ssh"]
\tprogram = {trip}
\tdefaultKeyCommand = {trip}
[commit]
\tgpgSign = true
[tag]
\tgpgSign = true
[log]
\tshowSignature = true
[uploadpack]
\tpackObjectsHook = {trip}
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = ext::{trip}
\tpromisor = true
\tpartialclonefilter = blob:none
\tuploadpack = {trip}
\treceivepack = {trip}
\tfetch = +refs/heads/*:refs/remotes/origin/*
[remote "helper"]
\turl = trip::somewhere
\tvcs = trip
[url "ext::{trip} "]
\tinsteadOf = https://
[protocol]
\tallow = always
[protocol "ext"]
\tallow = always
[alias]
\tstatus = !{trip}
\tconfig = !{trip}
\tlog = !{trip}
[trailer "gitmem-session"]
\tcommand = {trip}
\tcmd = {trip}
[trailer "other"]
\tcommand = {trip}
[interactive]
\tdiffFilter = {trip}
[submodule "part"]
\tupdate = !{trip}
[gc]
\trecentObjectsHook = {trip}
\tauto = 1
[gitmem]
\tsign = true
\tpager = {trip}
\tsummariser = command
\tmodelCommand = {trip}
\tsyncOnPush = true
\tremote = origin
\tcommitTrailer = true
\tpreCommit = block
\tnative = pull
[include]
\tpath = {more}
"""
MORE = '[FILTER "evil"]\n\tclean = {trip}\n[gpg "x509"]\n\tprogram = {trip}\n'


@dataclass
class World:
    """Where the repositories are; `trip` is the program that must never run, `log` what it writes."""

    base: Path
    trip: Path
    log: Path
    clone: Path
    archive: Path
    bare: Path

    def folders(self) -> list[Path]:
        """Return every folder that an agent or a person may stand in."""
        inside = [
            self.clone,
            self.clone / "docs",
            self.clone / "sub",
            self.clone / "sub/refs",
            self.clone / "sub/gitmem",
        ]
        return [*inside, self.archive, self.archive / "part", self.bare]

    def obeyed(self, folder: Path) -> bool:
        """Say whether a folder's configuration is what git would take for the user's own: a `.git`."""
        return self.archive in (folder, *folder.parents)


def build(base: Path, runner: Runner) -> World:
    """Make a clone with an embedded git directory, an unpacked archive with a hostile `.git`, and a bare repository."""
    trip, log = base / "bin/trip", base / "ran"
    trip.parent.mkdir(parents=True)
    trip.write_text(f'#!/bin/sh\necho "$0 $* in $PWD" >>{log}\nexit 1\n')
    trip.chmod(0o755)
    shutil.copy(trip, base / "bin/git-remote-trip")
    world = World(base, trip, log, base / "clone", base / "archive", base / "plain")
    source = base / "source"
    _repository(source, runner)
    embedded = source / "sub"
    shutil.copytree(source / ".git", embedded)
    shutil.rmtree(embedded / "hooks", ignore_errors=True)
    _lose(embedded)
    _poison(embedded / "config", world)
    for folder in ("refs", "objects", "gitmem"):  # git keeps no empty folder
        for here, _, _ in os.walk(embedded / folder):
            (Path(here) / ".keep").touch()
    git(source, "add", "-fA", ".")
    git(source, "commit", "-qm", "all")
    git(base, "clone", "-q", str(source), str(world.clone))
    runner.call(world.clone, "init", "--no-remote")
    shutil.copytree(embedded, world.bare)
    _archive(world, runner)
    return world


def _repository(path: Path, runner: Runner) -> None:
    (path / "docs").mkdir(parents=True)
    (path / "docs/guide.md").write_text("# Guide\n")
    (path / "pay.py").write_text("def charge():\n    return 1\n")
    (path / "CLAUDE.md").write_text("# Rules\n- Use tabs.\n")
    git(path, "init", "-q")
    (path / ".gitattributes").write_text(ATTRIBUTES)
    git(path, "add", ".")
    git(path, "commit", "-qm", "first")
    (path / "pay.py").write_text("def charge():\n    return 2\n")
    git(path, "commit", "-qam", "second")
    runner.call(path, "init", "--no-remote")
    runner.call(path, "add", "Shipped memory", "--pin")
    runner.call(
        path, "gotcha", "add", "Charged twice", "--file", "pay.py", "--severity", "critical"
    )
    runner.call(path, "list")


def _archive(world: World, runner: Runner) -> None:
    path = world.archive
    _repository(path, runner)
    part = path / "part"
    part.mkdir()
    git(part, "init", "-q")
    (part / "a.txt").write_text("a\n")
    (part / ".gitattributes").write_text(ATTRIBUTES)
    git(part, "add", ".")
    git(part, "commit", "-qm", "part")
    git(path, "add", "part")
    git(path, "commit", "-qm", "with a part")
    _lose(path / ".git")
    for repository in (path, part):
        (repository / "pay.py").write_text("def charge():\n    return 3\n")
        os.utime(repository / ".gitattributes")
        _poison(repository / ".git/config", world)
    for name in os.listdir(path / ".git/hooks"):
        shutil.copy(world.trip, path / ".git/hooks" / name.removesuffix(".sample"))


def _lose(gitdir: Path) -> None:
    """Take a blob away: git would fetch it."""
    blob = git(gitdir, f"--git-dir={gitdir}", "rev-parse", "HEAD:docs/guide.md")
    (gitdir / "objects" / blob[:2] / blob[2:]).unlink()


def _poison(config: Path, world: World) -> None:
    more = world.base / "more.config"
    more.write_text(MORE.format(trip=world.trip))
    hooks = world.base / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "pre-push", "post-checkout"):
        shutil.copy(world.trip, hooks / name)
    text = config.read_text().replace("repositoryformatversion = 0", "repositoryformatversion = 1")
    config.write_text(text + CONFIG.format(trip=world.trip, hooks=hooks, more=more))
