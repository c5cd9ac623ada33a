"""What is taken for harmless at a glance is what the detectors would have left alone."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.base.fast import dumps, loads
from gitmem.redaction import formats
from gitmem.redaction.formats import harmless
from gitmem.redaction.mask import scrub
from tests.cli.conftest import Mem, mem
from tests.redaction import test_mask as test_scrub

__all__ = ["mem"]  # a fixture

WORDS = st.sampled_from(
    [
        "git",
        "status",
        "python -m pytest -q",
        "tests/hooks/test_many.py",
        "--lf",
        "make",
        "npm run build",
        "a1b2c3",
        "Ünïcode",
        "&&",
        "cd ..",
        "x=1",
        "'",
        '"',
        "\n",
        "@host",
    ]
)
SECRETS = st.one_of(
    *(
        st.builds(
            lambda p, b: p + b,
            st.sampled_from(prefixes.split()),
            st.text("abcdefXYZ019_-", min_size=10, max_size=60),
        )
        for _, prefixes, _ in formats.PREFIXED
    ),
    st.from_regex(r"[A-Za-z0-9+/_=-]{16,80}", fullmatch=True),
    st.from_regex(r"(password|api_key|token|passwd) ?[:=] ?[A-Za-z0-9!]{6,20}", fullmatch=True),
    st.from_regex(r"https?://[a-z]{2,8}:[A-Za-z0-9]{6,16}@[a-z]{3,9}\.com", fullmatch=True),
)


@given(
    st.lists(st.one_of(WORDS, SECRETS, st.text(max_size=30)), max_size=6),
    st.sampled_from([" ", "", "\n", "="]),
)
def test_what_is_harmless_has_nothing_to_mask(parts: list[str], glue: str):
    text = glue.join(parts)
    if harmless(text):
        assert scrub(text, quick=True).text == text
        assert scrub(text).text == text


def test_ordinary_commands_are_harmless():
    for command in (
        "ls app",
        "python -m pytest -q tests/hooks/test_many.py",
        "git commit -m 'mend the loop'",
        "npm run build -- --watch",
        "cargo test --workspace",
    ):
        assert harmless(command)
    for command in (
        "curl -u a:b http://x",
        "export API_KEY=1",
        f"deploy {'a1' * 9}",
        "psql postgres://u:p@h/db",
    ):
        assert not harmless(command)


@pytest.mark.parametrize("name", test_scrub.SECRETS)
def test_each_known_secret_is_masked_quickly_too(name: str):
    secret, around = test_scrub.SECRETS[name]
    text = around.format(secret)
    assert not harmless(text)
    assert secret not in scrub(text, quick=True).text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_light_json_is_json(value: object):
    assert dumps(value) == json.dumps(value)
    assert loads(dumps(value)) == value
    assert loads(" \n" + json.dumps(value, ensure_ascii=False, indent=1) + "\t") == value


@given(st.text(max_size=20))
def test_light_json_refuses_what_is_none(text: str):
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = ValueError
    try:
        found = loads(text)
    except ValueError:
        found = ValueError
    assert found == wanted or (found != found and wanted != wanted)


def test_an_anchor_keeps_the_codes_of_the_lines_around_it(mem: Mem) -> None:
    """They look like a token, and an anchor without them is lost more easily; a secret goes."""
    lines = [f"value_{n} = compute({n * 7919})" for n in range(60)]
    lines[28] = 'db_password = "Zebra-Lamp-k3T"'
    (mem.folder / "a.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for at in range(15, 45, 5):
        id = mem("add", f"about {at}", "--anchor", f"a.py:{at}", "--json").json["id"]
        raw = mem("show", id, "--raw").out
        assert "Zebra" not in raw
        far = re.search(r'"far": \["([^"]*)", "([^"]*)"\]', raw)
        assert far is not None and "redacted" not in far[0]
        assert (len(far[1]), len(far[2])) == (36, 36)
