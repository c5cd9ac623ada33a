"""What a page says that a project is: its own sentence, or nothing."""

import json
import re

import pytest

from tests.codemap.graph.projects import commit, mem, new
from tests.json_output import data_of

BADGES = "[![CI](https://x/a.svg)](https://x/ci)&nbsp;[![Version](https://x/v.svg)](https://x)\n\n"
HTML = """<div align="center">
  <img src="logo.svg">
  <h2><a href="https://shop.example"> Supercharge </a><br><sup>Elevate your day</sup></h2>
  <p><sup><a href="https://x/sponsors">My work is supported by the community</a></sup></p>
</div>

Special thanks to:

<a href="https://x"><b>Fast builds and remote runners for all of you.</b></a>
"""
SPONSORS = """|build| |coverage|

:Version: 5.6
:Keywords: task, queue, job,
  python, distributed, actors

Donations
=========

`Open Collective <https://x>`_ is our community-powered funding platform that fuels this project.

Tasks
=====

acme is a project with minimal funding, so we don't support Windows. Please don't open issues.
"""
NEWS = """# Acme

{badges}## Acme 2.0 is now available!

We're excited to announce the release of **Acme 2.0**! It brings new features for everybody.

---

Acme is a fast router for parcels, written in [Go](https://go.dev). See the docs for more.
"""

# name of the case: (files, what the page says it is; '' for nothing)
WORDS: dict[str, tuple[dict[str, str], str]] = {
    "badges": ({"README.md": f"# acme\n\nFast parcels. {BADGES}"}, "Fast parcels."),
    "short underline": (
        {"README.rst": "dd\n==\nThis is a router for parcels.\n"},
        "This is a router for parcels.",
    ),
    "entities": (
        {"README.md": "# acme\n\nFast &amp; small parcels&#33;\n"},
        "Fast & small parcels!",
    ),
    "archived": (
        {
            "README.md": "# acme\n\n> **Archived**, use shop2.\n\nA fast router for parcels.\n",
            "pyproject.toml": "[project]\nname = 'acme'\ndescription = 'A fast router'\n",
        },
        "Archived, use shop2.",
    ),
    "moved": (
        {"README.md": "# acme\n\nFast parcels.\n\nThis project has moved to acme2. See there.\n"},
        "This project has moved to acme2.",
    ),
    "alert": (
        {"README.md": "# acme\n\n> [!WARNING]\n> acme is no longer maintained.\n\nFast parcels.\n"},
        "acme is no longer maintained.",
    ),
    "not archived": (
        {"README.md": "# acme\n\nA router for archived parcels.\n"},
        "A router for archived parcels.",
    ),
    "sponsors": ({"README.rst": SPONSORS}, ""),
    "promotion": ({"README.md": HTML}, ""),
    "news": (
        {"README.md": NEWS.format(badges=BADGES)},
        "Acme is a fast router for parcels, written in Go.",
    ),
    "orders": ({"README.md": "# acme\n\nClick the **Use this template** button to begin.\n"}, ""),
    "slogan": ({"README.md": "# acme\n\nExplore the ultimate experience of parcels.\n"}, ""),
    "noun": (
        {"README.md": "# acme\n\nOpen source server of parcels.\n"},
        "Open source server of parcels.",
    ),
    "elsewhere": (
        {"README.md": "# acme\n\n## Release Notes\n\nLocated at https://x.org/releases\n"},
        "",
    ),
    "another": ({"README.md": "# acme\n\nVite's browser target is native modules of today.\n"}, ""),
    "tagline": (
        {
            "README.md": "acme - a small mapper of parcels\n===============================\n"
            + BADGES
        },
        "a small mapper of parcels.",
    ),
    "quoted": (
        {"README.md": "# acme\n\n> [!NOTE]\n> It is old.\n\nA queue of parcels for everybody.\n"},
        "A queue of parcels for everybody.",
    ),
    "about": (
        {
            "README.md": "# acme\n\n## Install\n\nnpm i\n\n## Overview\n\nThe acme queue keeps parcels in order.\n"
        },
        "The acme queue keeps parcels in order.",
    ),
    "links": (
        {"README.md": "# acme\n\nThe acme [WSGI] server, with `code`.\n\n[WSGI]: https://x\n"},
        "The acme WSGI server, with `code`.",
    ),
    "rst": (
        {
            "README.rst": "====\nacme\n====\n\n.. image:: https://x/a.png\n   :alt: a\n\n`Acme <https://x>`_ is a :ref:`queue <q>` of parcels.\n"
        },
        "Acme is a queue of parcels.",
    ),
    "adoc": (
        {
            "README.adoc": "= acme\n:toc:\n\nimage::logo.png[Logo]\n\nA queue of parcels by https://x.org[Acme Inc].\n"
        },
        "A queue of parcels by Acme Inc.",
    ),
    "chinese": (
        {"README.md": "# acme\n\nacme 是一个简单的包裹队列。请给我们点星。\n"},
        "acme 是一个简单的包裹队列。请给我们点星。",
    ),
    "german": (
        {"README.md": "# acme\n\nEine Warteschlange für Pakete aller Art.\n"},
        "Eine Warteschlange für Pakete aller Art.",
    ),
    "docstring": (
        {
            "README.md": "# acme\n",
            "acme/__init__.py": '"""Distributed Parcel Queue."""\n',
            "pyproject.toml": "[project]\nname = 'acme'\n",
        },
        "Distributed Parcel Queue.",
    ),
    "go": (
        {
            "go.mod": "module x.org/acme\n",
            "doc.go": "/*\nx\n*/\n\n// Package acme implements\n// a queue of parcels.\n//\n// More.\npackage acme\n",
        },
        "Package acme implements a queue of parcels.",
    ),
    "paid": (
        {
            "package.json": '{"name": "acme", "description": "A queue of parcels. Major Sponsor: Parcels Plus."}'
        },
        "A queue of parcels.",
    ),
    "placeholder": (
        {"pyproject.toml": "[project]\nname = 'acme'\ndescription = 'Add your description here'\n"},
        "",
    ),
}


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the first line of the page of each case, each a workspace of a repository."""
    lines = {}
    every = list(WORDS.items())
    for cases in (every[0::2], every[1::2]):  # a repository has a page for 24 workspaces at most
        repo = new(tmp_path_factory.mktemp("described"))
        files = {"package.json": json.dumps({"name": "all", "workspaces": ["parts/*/acme"]})}
        for case, (given, _) in cases:
            folder = f"parts/{case}/acme"
            files[f"{folder}/package.json"] = '{"name": "acme"}'
            files[f"{folder}/index.js"] = "1;\n"
            files |= {f"{folder}/{path}": text for path, text in given.items()}
        commit(repo, files)
        rows = data_of(mem(repo, "code", "dna", "refresh", "--json").stdout)
        for row in rows:
            shown = mem(repo, "code", "dna", "show", row["path"]).stdout
            lines[row["path"]] = shown.split("\n")[2]
    return lines


@pytest.mark.parametrize("case", WORDS)
def test_a_description_is_the_projects_own_sentence(described: dict[str, str], case: str):
    """No badge, no sponsor, no news, no order, nothing about something else; else nothing."""
    about, *code = re.split(r"(?:JavaScript|Python|Go) \(1 file", described[f"parts/{case}/acme"])
    assert code and about.strip() == WORDS[case][1]
