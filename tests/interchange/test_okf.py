"""Open Knowledge Format, both ways."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.records.record import make
from gitmem.services.interchange.exporting import ExportedFact
from gitmem.services.interchange.writers import okf
from tests.cli.conftest import Mem
from tests.conftest import git
from tests.interchange.conftest import imported, record, unmapped, write
from tests.interchange.okf_checker import faults

FOREIGN = {
    "index.md": '---\nokf_version: "0.2"\n---\n\n# Tables\n\n* [Orders](/tables/orders.md) - Orders.\n',
    "log.md": "# Log\n\n## 2025-01-01\n\n* **Creation**: something\n",
    "tables/orders.md": (
        "---\ntype: BigQuery Table\ntitle: Orders\nresource: https://example.org/orders\n"
        "tags: [sales, daily]\ngenerated: {by: crawler/2.1, at: 2025-02-03T04:05:06Z}\n"
        "verified: {by: human:eve, at: 2025-02-04T00:00:00Z}\nstatus: stable\n"
        "owner_team: {name: shop, since: 2024-01-01}\nrows: 12000\n"
        "sources:\n  - {id: s1, resource: https://example.org/doc, usage_count: 3}\n---\n\n"
        "# Orders\n\nJoins [customers](/tables/customers-a8f3k2x9q7.md) and [gone](./gone.md).\n\n"
        "Each row is an order.[^s1]\n\n[^s1]: The page.\n"
    ),
    "tables/customers-a8f3k2x9q7.md": "---\ntype: Decision\ntimestamp: 2024-05-06\n---\nPeople who buy.\n",
    "notes/plain.md": "No front matter.\n",
    "notes/typeless.md": "---\ntitle: No type\n---\nBut a text.\n",
}


def _other(mem: Mem, tmp_path: Path) -> Mem:
    """Return an empty repository beside the first one."""
    git(tmp_path, "init", "-q", "empty")
    return mem.at(tmp_path / "empty")


def _files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _front(text: str) -> Any:
    return yaml.load(text.split("---\n")[1], Loader=yaml.BaseLoader)


def _stock(mem: Mem) -> None:
    """Remember facts of many kinds."""
    first = mem.add("Use Redis for sessions", "-m", "It has a TTL.\n\nAnd more.", "-t", "decision")
    second = mem.add("Use Redis for sessions", "-m", "Another text", "--tag", "db", "--tag", "ação")
    mem("link", second, first)
    mem.add("Never log tokens", "-t", "rule", "--expires", "2030-01-01", "--anchor", "code.py:1")
    mem("archive", mem.add('An old way: it\'s "quoted"', "-m", "---\n# A heading\n\n[link](x.md)"))
    mem("gotcha", "add", "npm fails", "--workaround", "Use Node 20", "--severity", "critical")
    mem.add("Written by an agent", "--private")


def test_an_export_conforms(mem: Mem, tmp_path: Path) -> None:
    """To the rules for concepts, indexes and the log."""
    _stock(mem)

    mem("export", str(tmp_path / "out"))

    assert faults(tmp_path / "out") == []
    front = _front((tmp_path / "out/memories/rule/never-log-tokens.md").read_text("utf-8"))
    assert (front["type"], front["stale_after"], front["status"]) == (
        "Rule",
        "2030-01-01",
        "stable",
    )
    assert front["verified"][0]["by"] == "human:Test <test@example.org>"


def test_the_checker_finds_faults(tmp_path: Path) -> None:
    """Those that other exporters have."""
    files = {
        "index.md": "---\ntitle: x\n---\n",
        "a/index.md": "---\nokf_version: 1\n---\n",
        "a/b.md": "---\ntitle: no type\n---\n",
        "a/c.md": "no front matter",
        "log.md": "## 2025-01-01\n\n## 2025-02-01\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    assert {fault.partition(":")[0] for fault in faults(tmp_path)} == set(files)


def test_nothing_private_is_exported_unless_asked_for(mem: Mem, tmp_path: Path) -> None:
    """With --private the files are for their owner alone."""
    _stock(mem)

    mem("export", str(tmp_path / "out"))
    mem("export", str(tmp_path / "all"), "--private")

    assert "Written by an agent" not in json.dumps(_files(tmp_path / "out"))
    path = tmp_path / "all/memories/fact/written-by-an-agent.md"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_bundle_of_ours_comes_back_the_same(mem: Mem, tmp_path: Path) -> None:
    """Exported, imported into an empty store, and exported again."""
    _stock(mem)
    mem("export", str(tmp_path / "first"))
    other = _other(mem, tmp_path)

    found = imported(other, str(tmp_path / "first"), "--shared")
    other("export", str(tmp_path / "second"))

    assert set(found.values()) == {"new"}
    assert _files(tmp_path / "second") == _files(tmp_path / "first")


def test_all_fields_come_back(mem: Mem, tmp_path: Path) -> None:
    """Links, anchors, workaround, severity, expiry; but nobody vouches for them yet."""
    _stock(mem)
    mem("export", str(tmp_path / "first"))
    other = _other(mem, tmp_path)
    imported(other, str(tmp_path / "first"))

    for title in ("Never log tokens", "npm fails", 'An old way: it\'s "quoted"'):
        before, after = record(mem, title), record(other, title)
        assert after["unconfirmed"]
        for key in ("id", "body", "created", "anchors", "workaround", "severity", "expires"):
            assert after.get(key) == before.get(key), key


def test_a_foreign_bundle_keeps_concepts_keys_and_links(mem: Mem, tmp_path: Path) -> None:
    """Also those that we have no field for."""
    write(mem, {f"okf/{name}": text for name, text in FOREIGN.items()})
    imported(mem, "okf", "--shared")
    mem("export", str(tmp_path / "out"))
    out = _files(tmp_path / "out")

    assert faults(tmp_path / "out") == ["notes/typeless.md: no type"]
    for name in ("tables/orders.md", "tables/customers-a8f3k2x9q7.md", "notes/typeless.md"):
        front, text = _front(FOREIGN[name]), FOREIGN[name].split("---\n", 2)[2].strip()
        assert _front(out[name]) == front, name
        assert out[name].split("---\n", 2)[2].strip() == text, name
    orders, customers = record(mem, "Orders"), record(mem, "People who buy.")
    assert orders["links"] == [customers["id"]]
    assert (orders["created"], orders["tags"]) == ("2025-02-03T04:05:06Z", ["daily", "sales"])
    assert customers["type"] == "decision"
    assert orders["unconfirmed"]  # whatever its `verified` says


def test_a_concept_that_was_edited_keeps_foreign_keys(mem: Mem, tmp_path: Path) -> None:
    """Ours are made anew."""
    write(mem, {f"okf/{name}": text for name, text in FOREIGN.items()})
    imported(mem, "okf", "--shared")
    mem("edit", record(mem, "Orders")["id"], "--title", "All orders")
    mem("export", str(tmp_path / "out"))
    front = _front((tmp_path / "out/tables/orders.md").read_text("utf-8"))

    assert faults(tmp_path / "out") == ["notes/typeless.md: no type"]
    assert (front["title"], front["type"], front["rows"]) == (
        "All orders",
        "BigQuery Table",
        "12000",
    )
    assert front["owner_team"] == {"name": "shop", "since": "2024-01-01"}


def test_what_a_bundle_lacks_is_named(mem: Mem) -> None:
    """A concept without a type is taken all the same."""
    write(mem, {f"okf/{name}": text for name, text in FOREIGN.items()})

    assert unmapped(mem, "okf") == {
        "notes/plain.md": "it has no front matter",
        "notes/typeless.md": "it has no type: it is taken as a fact",
    }


def test_a_bundle_vouches_for_nothing(mem: Mem, tmp_path: Path) -> None:
    """A confirmation in its keys, by the very user who imports it, does not count."""
    mem.add("Use Redis", "-t", "rule")
    mem("export", str(tmp_path / "out"))
    path = tmp_path / "out/memories/rule/use-redis.md"
    text = path.read_text("utf-8")
    forged = (
        '  confirmed: {"at": "2026-01-01T00:00:00Z", "by": "Test", "words": "0123456789abcdef"}\n'
        '  origin: manual\n  status: pinned\n  settled: [{"id": "x"}]\n'
    )
    path.write_text(text.replace("gitmem:\n", f"gitmem:\n{forged}"))
    other = _other(mem, tmp_path)
    imported(other, str(tmp_path / "out"))
    row = record(other, "Use Redis")

    assert (row["unconfirmed"], row["origin"], row["status"]) == (True, "agent", "active")
    assert "confirmed" not in row
    assert "settled" not in row


def test_an_id_of_a_bundle_touches_no_record_of_ours(mem: Mem, tmp_path: Path) -> None:
    """It was not imported, so it is left as it is."""
    id = mem.add("Use Redis")
    mem("export", str(tmp_path / "out"))
    mem("export", str(tmp_path / "again"))
    path = tmp_path / "out/memories/fact/use-redis.md"
    path.write_text(path.read_text("utf-8").replace("Use Redis", "Use Oracle"))

    found = imported(mem, str(tmp_path / "out"))

    assert found == {"Use Oracle": "its id belongs to another record"}
    assert imported(mem, str(tmp_path / "again")) == {"Use Redis": "already known"}
    assert mem.show(id)["title"] == "Use Redis"


def test_a_second_export_replaces_the_first(mem: Mem, tmp_path: Path) -> None:
    """A fact that was forgotten is gone from the folder."""
    gone, _ = mem.add("Forget me"), mem.add("Keep me")
    mem("export", str(tmp_path / "out"))
    mem("forget", gone)
    mem("export", str(tmp_path / "out"))

    assert "Forget me" not in json.dumps(_files(tmp_path / "out"))
    assert faults(tmp_path / "out") == []


@pytest.mark.parametrize(("act", "code"), [("forget", 0), ("forget --purge", 1)])
def test_exports_of_what_is_gone_are_named(mem: Mem, tmp_path: Path, act: str, code: int) -> None:
    """With the command that replaces them; those that never showed it are not."""
    gone = mem.add("Never tell this to anybody", "-t", "rule")
    mem.add("Keep this for good")
    mem("export", str(tmp_path / "out"), "--filter", "type=rule")
    mem("export", str(tmp_path / "facts.json"), "--filter", "type=fact")
    mem("export", str(tmp_path / "gone"))
    shutil.rmtree(tmp_path / "gone")

    done = mem(*act.split(), gone, *(("--yes",) if act != "forget" else ()), code=code)

    assert f"git mem export {tmp_path}/out --format okf --filter type=rule" in done.err
    assert "facts.json" not in done.err
    assert f"{tmp_path}/gone" not in done.err


def test_a_folder_of_somebody_else_is_refused(mem: Mem, tmp_path: Path) -> None:
    """Nothing in it is changed."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out/index.md").write_text("mine")

    assert "is not empty" in mem("export", str(tmp_path / "out"), code=1).err
    assert _files(tmp_path / "out") == {"index.md": "mine"}


def test_a_link_in_the_folder_is_not_followed(mem: Mem, tmp_path: Path) -> None:
    """A folder that became a link since the last export."""
    mem.add("Use Redis")
    mem("export", str(tmp_path / "out"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out/memories").rename(tmp_path / "before")
    (tmp_path / "out/memories").symlink_to(tmp_path / "elsewhere")

    mem("export", str(tmp_path / "out"), code=1)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_in_the_work_tree_leads_nowhere(mem: Mem, tmp_path: Path) -> None:
    """A repository may come with one."""
    mem.add("Use Redis")
    (tmp_path / "elsewhere").mkdir()
    (mem.folder / "knowledge").symlink_to(tmp_path / "elsewhere")
    (mem.folder / "inner").symlink_to(mem.folder / ".git")

    assert "leads it out" in mem("export", "knowledge", code=1).err
    mem("export", "knowledge/deeper", code=1)
    mem("export", "inner/new", code=1)

    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (mem.folder / ".git" / "new").exists()


def test_a_folder_in_the_work_tree(mem: Mem) -> None:
    """New, with folders above it that are new too; and again."""
    mem.add("Use Redis")
    for _ in range(2):
        mem("export", "docs/made/knowledge")
        assert faults(mem.folder / "docs/made/knowledge") == []
    assert "is not empty" in mem("export", ".", code=1).err


def test_a_bundle_without_a_version_is_recognised(mem: Mem) -> None:
    """An index and concepts with types are enough."""
    files = {**FOREIGN, "index.md": "# Tables\n"}
    write(mem, {f"bundle/{name}": text for name, text in files.items()})

    assert imported(mem, "bundle")["Orders"] == "new"


@pytest.mark.parametrize(
    ("filter", "titles"),
    [
        ("type=rule", {"Never log tokens"}),
        ("kind=gotcha", {"npm fails"}),
        ("tag=db,none", {"Use Redis for sessions"}),
    ],
)
def test_filters(mem: Mem, tmp_path: Path, filter: str, titles: set[str]) -> None:
    """Of one filter any value counts."""
    _stock(mem)
    mem("export", str(tmp_path / "out.json"), "--filter", filter)

    facts = json.loads((tmp_path / "out.json").read_text("utf-8"))["facts"]
    assert {fact["title"] for fact in facts} == titles


_TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=80)


@settings(max_examples=100)
@given(title=_TEXT, body=_TEXT, tags=st.lists(_TEXT, max_size=3), workaround=_TEXT)
def test_any_text_conforms(
    tmp_path_factory: pytest.TempPathFactory,
    title: str,
    body: str,
    tags: list[str],
    workaround: str,
) -> None:
    """Whatever characters a fact has."""
    if not re.search(r"\w", title):
        title = "x"
    fact = make(
        "gotcha",
        "got-01m8jgbbhtbppxjm1aynshtq0b",
        title,
        body,
        created="2025-01-01T00:00:00Z",
        updated="2025-01-01T00:00:00Z",
        tags=tags,
        workaround=workaround,
    )
    folder = tmp_path_factory.mktemp("bundle")
    for name, text in okf.files([ExportedFact(fact, "shared", is_vouched=True)]).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8", newline="")

    assert faults(folder) == []


def test_odd_paths_of_a_foreign_bundle_are_replaced(mem: Mem, tmp_path: Path) -> None:
    """A folder with a reserved name, one that is a concept too, one that no disk takes: all are exported again."""
    long = "x" * 200
    names = [
        "log.md/a.md",
        "index.md/b.md",
        "c.md",
        "c.md/d.md",
        f"e/{long}/{long}.md",
        "f\u00a0/g\th.md",
    ]
    files = {f"in/{name}": f"---\ntype: Fact\ntitle: {n}\n---\n" for n, name in enumerate(names)}
    for name in list(files):  # a disk has no file beside a folder of the same name
        path = tmp_path / name.replace("c.md/", "c/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name])
    imported(mem, str(tmp_path / "in"), "--shared")
    row = record(mem, "3")
    assert row["imported"]["path"] == "c/d.md"

    mem("export", str(tmp_path / "out"), "--filter", "kind=memory")

    assert faults(tmp_path / "out") == []
    titles = {
        _front(path.read_text("utf-8"))["title"]
        for path in (tmp_path / "out").rglob("*.md")
        if path.name not in {"index.md", "log.md"}
    }
    assert titles == {str(n) for n in range(len(names))}
