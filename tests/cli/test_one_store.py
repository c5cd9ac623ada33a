"""Flags that name a store or a place: one of them counts, never silently the last."""

import pytest

from tests.cli.conftest import PRIVATE, SHARED, Mem, tip


@pytest.mark.parametrize(
    "line",
    [
        "add Title --private --shared",
        "add Title --shared --private",
        "add Title --user --private",
        "gotcha add Title --private --shared",
        "event add Title --user --shared",
        "scout task --save --private --shared",
        "session handover claude --private --shared",
        "log --user --shared",
        "diff --private --shared",
    ],
)
def test_two_stores_are_wrong_usage(mem: Mem, line: str) -> None:
    """Nothing is written, and the message names both."""
    said = mem(*line.split(), code=2).err
    words = [word for word in line.split() if word in {"--private", "--shared", "--user"}]
    assert f"{words[0]} and {words[1]} name two stores: give one of them." in said
    assert not tip(mem.folder, SHARED) and not tip(mem.folder, PRIVATE)


def test_two_places_of_hooks_are_wrong_usage(mem: Mem) -> None:
    said = mem("install", "claude", "--user", "--local", code=2).err
    assert "--user and --local name two places" in said


def test_one_flag_names_the_store(mem: Mem) -> None:
    mem.add("Mine", "--private")
    mem.add("Ours")
    assert mem.titles("--private") == ["Mine"] and mem.titles("--shared") == ["Ours"]
