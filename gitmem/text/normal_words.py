"""The words of a claim, without what nobody sees: how a tombstone keeps them. Pure.

Two texts that a reader takes for one have the same normal words: whatever their case, white space,
Unicode form, invisible characters, and letters of other alphabets that look like Latin ones. Digits
are never mapped: `0` and `O`, `1` and `l` stay different.
"""

import re
from unicodedata import category, normalize

# Letters after case folding, by the Latin letter that they look like: the single letters of these
# alphabets in Unicode's confusables.txt (UTS #39), the letters whose capitals look alike, and small
# capitals.
_LIKE = {
    "a": "ɑαаᎪꓮᴀ",
    "b": "ƅβвьᏏᏴꓐꞵʙ",
    "c": "сᏟᴄⲥꓚ",
    "d": "ԁᎠᏧꓒꓓᴅ",
    "e": "εеҽᎬꓰꬲᴇ",
    "f": "ϝքẝꓝꞙꬵꜰ",
    "g": "ƍɡԍցᏀᏳᶃꓖɢ",
    "h": "ηнһհᎻᏂⲏꓧʜ",
    "i": "ıɩɪιіӏᎥⲓꙇ",
    "j": "ʝϳјᎫꓙᴊ",
    "k": "κкᏦⲕꓗᴋ",
    "l": "ǀᏞⳑꓡꓲʟ",
    "m": "μϻмᎷⲙꓟᴍ",
    "n": "ոռⲛꓠɴ",
    "o": "οσоօᴏᴑⲟꓳꬽ",
    "p": "ρрᏢⲣꓑᴘ",
    "q": "ԛգզꞯ",
    "r": "ʀгᎡᎱᏒᴦⲅꓣꭇꭈ",
    "s": "ƽѕտᏕᏚꓢꜱ",
    "t": "τтᎢⲧꓔᴛ",
    "u": "ʋυսᴜꓴꞟꭎꭒ",
    "v": "νѵᏙᴠꓦ",
    "w": "ɯѡԝաᎳᏔᴡꓪ",
    "x": "χхⲭꓫꭓ",
    "y": "ɣʏγуүᎩᎽᶌỿⲩꓬꭚ",
    "z": "ζᏃᴢꓜ",
}
_LATIN = {ord(letter): latin for latin, letters in _LIKE.items() for letter in letters}
# two Greek capitals look like other letters than their small ones do
_CAPITALS = {ord("Ν"): "n", ord("Υ"): "y"}
_ONLY_GREEK = re.compile("[δθλξπφψωΔΘΛΞΠΣΦΨΩ]")
# fillers and selectors that are not of the category of invisible characters
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
# strokes through a letter; those of a sign, as of "not equal", are one character with it by then
_STROKES = re.compile("[\u0335-\u0338]")
_SELECTORS = range(0xE0000, 0xE1000)
_BLANK = "\u2800"  # a Braille pattern without dots


def normal_words(text: str) -> str:
    """Return the words of a text as they are compared with those of what was rejected."""
    if text.isascii():
        return " ".join(text.casefold().split())
    seen = "".join(c for c in _UNSEEN.sub("", text).replace(_BLANK, " ") if not _is_unseen(c))
    composed = _STROKES.sub("", normalize("NFKC", seen))
    if not _ONLY_GREEK.search(composed):
        composed = composed.translate(_CAPITALS)
    folded = normalize("NFKC", composed.casefold()).translate(_LATIN)
    return " ".join(folded.split())


def _is_unseen(char: str) -> bool:
    return category(char) == "Cf" or ord(char) in _SELECTORS
