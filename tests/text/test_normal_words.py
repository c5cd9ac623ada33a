"""The words that a tombstone keeps: what a reader takes for one text is one."""

import pytest

from gitmem.text.normal_words import normal_words

CLAIM = "Use PostgreSQL 10 for payments in Novi"
SAME = [
    "use postgresql 10 FOR payments in novi",
    "  Use\tPostgreSQL \u00a0 10\nfor payments in Novi ",
    "Use Postgre\u200bSQL 10 for pay\u00adments in No\ufe0fvi",
    "\u202eUse\u2069 Postgre\u2060SQL 10 for payments\u034f in Novi\U000e0101",
    "Use Роѕtgrе\u0405QL 10 fоr раymеntѕ іn Nоvі",
    "Use \u03a1\u03bfstgreSQL 10 for payments in \u039d\u03bfvi",
    "Ｕｓｅ ＰｏｓｔｇｒｅＳＱＬ １０ ｆｏｒ ｐａｙｍｅｎｔｓ ｉｎ Ｎｏｖｉ",
    "𝐔𝐬𝐞 𝒫𝑜𝓈𝓉𝑔𝓇𝑒𝒮𝒬𝐿 𝟙𝟘 for payments in 𝔑𝔬𝔳𝔦",
    "USE POSTGRESQL 10 FOR PAYMENTS IN NOVI",
    "ᴜsᴇ ᴘᴏsᴛɢʀᴇsǫʟ 10 ꜰᴏʀ ᴘᴀʏᴍᴇɴᴛs ɪɴ ɴᴏᴠɪ".replace("ǫ", "ꞯ"),
    "U\u0336s\u0336e Post\u180egreSQL 10 for pay\u0338ments in Novi",
]


@pytest.mark.parametrize("text", SAME)
def test_the_same_words(text: str) -> None:
    """Case, white space, invisible characters, Unicode forms and look-alike letters do not count."""
    assert normal_words(text) == normal_words(CLAIM) == "use postgresql 10 for payments in novi"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("port 100", "port l00"),
        ("port 10", "port 1O"),
        ("zone 3", "zone З"),
        ("não use", "nao use"),
        ("cache", "caches"),
        ("a = b", "a \u2260 b"),
    ],
)
def test_other_words(one: str, two: str) -> None:
    """Digits are no letters, and accents tell words apart."""
    assert normal_words(one) != normal_words(two)


@pytest.mark.parametrize("text", ["Να χρησιμοποιούμε την Python", "Мы используем Redis"])
def test_other_alphabets_do_not_depend_on_case(text: str) -> None:
    """A sentence of another alphabet is one text in capitals and small letters."""
    assert normal_words(text) == normal_words(text[0].lower() + text[1:])
