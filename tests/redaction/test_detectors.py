"""The library's detectors beside our own formats: what they add, and that plain text never pays for them."""

import subprocess
import sys

import pytest

from gitmem.redaction import detectors
from gitmem.redaction.mask import scrub

ARTIFACTORY = "AKC" + "pZ7xK9mQ2wE4rT6y"


def test_format_that_only_the_library_knows():
    found = scrub(f"deploy with {ARTIFACTORY} as the key")
    assert found.text == "deploy with [redacted: Artifactory credential] as the key"
    assert [(f.kind, f.line) for f in found.findings] == [("Artifactory credential", 1)]
    assert scrub(found.text).text == found.text


def test_the_allow_list_holds_for_it_too():
    assert (
        scrub(f"deploy with {ARTIFACTORY} now", ["AKCp"]).text == f"deploy with {ARTIFACTORY} now"
    )


def test_both_are_asked_about_one_text():
    text = "\n".join(
        ["token ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "plain", f"x {ARTIFACTORY} y"]
    )
    assert [(f.kind, f.line) for f in scrub(text).findings] == [
        ("GitHub token", 1),
        ("Artifactory credential", 3),
    ]


def test_far_into_a_long_line():
    assert ARTIFACTORY not in scrub("word " * 2000 + ARTIFACTORY + " end " * 2000).text


@pytest.mark.parametrize(
    "text",
    [
        "We use SERIALIZABLE for payments.",
        "commit 1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d",
        "got-26zdyksa0ss09t1t6wcyyvr12q supersedes mem-01m7yhwe0jvs2qfv3q44nwf45e",
        "docs/decisions/0004-secret-scrubbing.md:12",
        "6f1e2d3c-1111-2222-3333-444455556666",
        "test_some_function_name_12",
        "2026-11-21T14:00:00Z",
        "https://example.org/a/b/issues/1234",
    ],
    ids=lambda t: t[:24],
)
def test_ordinary_text_is_not_suspicious(text):
    assert not detectors.suspicious(text)


def test_the_library_is_loaded_only_when_needed():
    code = "import sys; from gitmem.redaction.mask import scrub; scrub(sys.argv[1]); print('detect_secrets' in sys.modules)"
    for text, loaded in (
        ("Use READ COMMITTED; see commit 1a2b3c4d5e6f", "False"),
        (f"key {ARTIFACTORY} here", "True"),
    ):
        assert (
            subprocess.run(
                [sys.executable, "-c", code, text], capture_output=True, text=True, check=True
            ).stdout.strip()
            == loaded
        )
