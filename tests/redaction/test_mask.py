"""Secrets are masked before a blob exists; what only looks like one is left alone.

Every fake secret is put together at run time, so that no scanner takes this file for a leak.
"""

import hashlib
import itertools
import random
import string
import time
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.redaction.mask import scrub, scrub_all
from tests.scale import scaled

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"


def draw(count: int, chars: str = ALNUM, seed: int = 1) -> str:
    """Return characters as a machine draws them, the same at every run, with a capital, a small letter and a digit."""
    rng = random.Random(f"{count}{chars}{seed}")
    while True:
        text = "".join(rng.choice(chars) for _ in range(count))
        if all(
            any(c in kind for c in text)
            for kind in (UPPER, LOWER, DIGITS)
            if set(kind) <= set(chars)
        ):
            return text


def pem(kind: str) -> str:
    rows = "\n".join(draw(64, seed=n) for n in range(4))
    return f"-----BEGIN {kind} " + f"KEY-----\n{rows}\n-----END {kind} " + "KEY-----"


JWT = ".".join(["ey" + "J" + draw(30), "ey" + "J" + draw(60), draw(43)])
SECRETS = {
    "aws access key": ("AK" + "IA" + draw(16, UPPER + "234567"), "{}"),
    "aws session key": ("AS" + "IA" + draw(16, UPPER + "234567"), "id {} was used"),
    "aws secret key": (draw(40, ALNUM), "aws_secret_access_key = {}"),
    "aws secret in json": (draw(40, ALNUM), '{{"SecretAccessKey": "{}"}}'),
    "github classic": ("gh" + "p_" + draw(36), "use {} here"),
    "github oauth": ("gh" + "o_" + draw(36), "{}"),
    "github app": ("gh" + "s_" + draw(36), "https://x-access-token:{}@github.com/o/r"),
    "github fine": ("github" + "_pat_" + draw(22) + "_" + draw(59), "({})"),
    "gitlab": ("gl" + "pat-" + draw(20), "PRIVATE-TOKEN: {}"),
    "gitlab runner": ("gl" + "rt-" + draw(20), "{}"),
    "slack bot": ("xo" + "xb-" + draw(12, DIGITS) + "-" + draw(12, DIGITS) + "-" + draw(24), "{}"),
    "slack user": ("xo" + "xp-" + draw(12, DIGITS) + "-" + draw(24), "'{}'"),
    "slack webhook": (
        "hooks.slack" + ".com/services/T" + draw(8, UPPER) + "/B" + draw(8, UPPER) + "/" + draw(24),
        "https://{}",
    ),
    "stripe live": ("sk" + "_live_" + draw(24), "{}"),
    "stripe restricted": ("rk" + "_live_" + draw(24), "stripe.api_key = '{}'"),
    "stripe webhook": ("wh" + "sec_" + draw(32), "{}"),
    "openai": ("sk" + "-" + draw(48), "OPENAI_API_KEY={}"),
    "openai project": ("sk" + "-proj-" + draw(48), "{}"),
    "anthropic": ("sk" + "-ant-" + "api03-" + draw(80), "{}"),
    "google": ("AI" + "za" + draw(35), "key={}"),
    "google oauth": ("ya" + "29." + draw(60), "{}"),
    "google client": ("GOC" + "SPX-" + draw(28), "{}"),
    "npm": ("np" + "m_" + draw(36), "//registry.example.org/:_authToken={}"),
    "pypi": ("py" + "pi-AgEI" + draw(70), "{}"),
    "hugging face": ("h" + "f_" + draw(34), "{}"),
    "sendgrid": ("S" + "G." + draw(22) + "." + draw(43), "{}"),
    "jwt": (JWT, "Cookie was {}"),
    "bearer": (draw(40), "curl -H 'Authorization: Bearer {}'"),
    "basic": (draw(40) + "==", "Authorization: Basic {}"),
    "rsa key": (pem("RSA PRIVATE"), "before\n{}\nafter"),
    "openssh key": (pem("OPENSSH PRIVATE"), "{}"),
    "pkcs8 key": (pem("PRIVATE"), "key: |\n{}"),
    "ec key": (pem("EC PRIVATE"), "{}"),
    "pgp key": (pem("PGP PRIVATE").replace("KEY-----", "KEY BLOCK-----"), "{}"),
    "postgres": ("s3cr" + "et-Pw9", "postgres://app:{}@db.internal:5432/prod"),
    "postgres, at sign escaped": ("p%40ss" + "W0rd", "postgresql://app:{}@db/prod"),
    "mysql": ("hun" + "ter2x", "mysql://root:{}@127.0.0.1/x"),
    "mongodb": ("Qw" + "erty77", "mongodb+srv://u:{}@cluster0.mongodb.net/db"),
    "redis without user": ("Ab" + "cd1234", "redis://:{}@cache:6379/0"),
    "amqp": ("rab" + "bit99", "amqps://u:{}@mq/vhost"),
    "http basic": ("tops" + "ecret1", "https://deploy:{}@example.com/repo.git"),
    "jdbc": ("Hem" + "lig123", "jdbc:sqlserver://h;user=sa;password={};encrypt=true"),
    "odbc": ("Hem" + "lig123", "Server=h;Database=d;Uid=sa;Pwd={};"),
    "azure storage": (draw(86) + "==", "AccountName=x;AccountKey={};EndpointSuffix=core"),
    "env password": ("Tr0ub" + "4dor&3", "DB_PASSWORD={}"),
    "yaml password": ("Tr0ub" + "4dor3", "  password: {}"),
    "json password": ("Tr0ub" + "4dor3", '{{"password": "{}"}}'),
    "python password": ("Tr0ub" + "4dor3", "password = '{}'"),
    "client secret": (draw(32), "client_secret: {}"),
    "api key": (draw(32, HEX), "api_key = {}"),
    "placeholder with a number": ("Change" + "Me!2024", "password: {}"),
    "placeholder with digits": ("change" + "it99", "keytool -storepass {} -list"),
    "phrase for sshpass": ("correct horse" + " battery", "sshpass -p '{}' ssh x"),
    "phrase for mysql": ("correct horse" + " battery", "mysql -u root -p'{}' d"),
    "phrase in a variable": ("correct horse" + " battery", "export DB_PASSWORD='{}'"),
    "phrase behind an option": ("my long" + " phrase", "gpg --passphrase '{}' -d a"),
    "curl user, options in one": ("Tr0ub" + "4dor.x", "curl -sSu admin:{} https://x.org"),
    "curl user on the next line": ("hunter" + "2x", "curl \\\n  -u admin:{} https://x.org"),
    "zip, options in one": ("Tr0ub" + "4dor.x", "zip -rP {} a.zip b"),
    "here-string": ("Hunter" + "2zz!", 'sudo -S ls <<< "{}"'),
    "curl user": ("Gehe" + "im77", "curl -u bob:{} https://x"),
    "mysql flag": ("Gehe" + "im77", "mysql -u root -p{} db"),
}


@pytest.mark.parametrize("name", SECRETS)
def test_secret_is_masked(name):
    """Of each kind nothing is left of the secret, and the text around it stays."""
    secret, around = SECRETS[name]
    done = scrub(around.format(secret))
    assert secret not in done.text
    assert "[redacted: " in done.text
    body = secret.split("\n")[1] if "\n" in secret else secret[-8:]
    assert body not in done.text
    assert [] != list(done.findings)


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "Ünïcödé 漢字 {} fin",
        "> {}",
        "- `{}`",
        "a\r\n{}\r\nb",
        "|{}|",
        "x" * 5000 + " {} " + "y" * 5000,
    ],
    ids=["alone", "unicode", "quote", "code", "crlf", "table", "long"],
)
def test_secrets_are_masked_wherever_they_stand(around):
    """Markdown, other scripts and long lines around them hide nothing."""
    left = [
        name
        for name, (secret, form) in SECRETS.items()
        if secret in scrub(around.format(form.format(secret))).text
    ]
    assert left == []


@pytest.mark.parametrize("name", SECRETS)
def test_masking_again_changes_nothing(name):
    """A masked text is left as it is, and nothing is found in it."""
    once = scrub("before " + SECRETS[name][1].format(SECRETS[name][0]) + " after")
    again = scrub(once.text)
    assert (once.text, ()) == (again.text, again.findings)


OID1, OID256 = hashlib.sha1(b"x").hexdigest(), hashlib.sha256(b"x").hexdigest()
KEPT = {
    "sha1": OID1,
    "sha256": f"sha256:{OID256}",
    "commit in a sentence": f"fixed by {OID1} on main",
    "commit as a value": f"commit: {OID1}",
    "two oids": f"{OID1}..{OID256}",
    "image digest": f"image: registry.example.com/app@sha256:{OID256}",
    "md5": hashlib.md5(b"x").hexdigest(),
    "uuid": str(uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)),
    "uuid with a name": f"request_id={uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)}",
    "ulid": "01arz3ndektsv4rrffq69g5f1v",
    "record id": "mem-01arz3ndektsv4rrffq69g5f1v supersedes got-01bx5zzkbkactav9wevgemmvrz",
    "ulid in capitals": "01ARZ3NDEKTSV4RRFFQ69G5F1V",
    "path": "src/very/long/path/to/some/Module/TokenAuthenticationProvider.test.tsx:120",
    "absolute path": "/usr/lib/python3.11/site-packages/cryptography/hazmat/primitives/asymmetric/rsa.py",
    "windows path": r"C:\Users\me\AppData\Local\Programs\Python\Python311\python.exe",
    "npm lock": '"integrity": "sha512-' + draw(86, ALNUM) + '=="',
    "yarn lock": "  integrity sha512-" + draw(86, ALNUM) + "==",
    "go sum": "golang.org/x/sys v0.15.0 h1:" + draw(43, ALNUM) + "=",
    "pip hash": f"--hash=sha256:{OID256}",
    "cargo lock": f'checksum = "{OID256}"',
    "angle placeholder": "token: <token>",
    "shell variable": "password=$DB_PASSWORD",
    "token variable": "Authorization: Bearer $TOKEN",
    "braced variable": "token=${GITHUB_TOKEN}",
    "actions variable": "token: ${{ secrets.GITHUB_TOKEN }}",
    "windows variable": "password=%DB_PASSWORD%",
    "jinja": 'password: "{{ vault_password }}"',
    "stars": "password: ********",
    "crosses": "api_key=" + "x" * 32,
    "your key": "api_key = your-api-key-here",
    "change me": "password: changeme",
    "url without a password": "https://user@example.com/path",
    "url with a port": "http://localhost:8080/a@b",
    "url with a variable": "postgres://app:${DB_PASSWORD}@db/prod",
    "ssh remote": "git@github.com:owner/repo.git",
    "npm scope": "https://registry.example.com/@scope/package@1.2.3",
    "code": "const token = await getToken(request.headers.authorization);",
    "code with a type": "def login(password: str, token: str | None = None) -> bool:",
    "code with a call": "password = os.environ['DB_PASSWORD']",
    "prose": "The password is stored in the keychain, the token is refreshed every hour.",
    "prose with keys": "Use the primary key: it is unique. Tokens are split at white space.",
    "error": "KeyError: 'access_token' in handlers/auth.py line 120",
    "public key": "ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAI" + draw(43) + " me@host",
    "public key block": pem("PUBLIC"),
    "certificate": "-----BEGIN CERTIFICATE-----",
    "version": "python-3.11.9-amd64-manylinux_2_17_x86_64.whl",
    "kebab words": "sk-learn-contrib-is-a-package-name-with-many-words",
    "test name": "test_password_reset_token_expires_after_one_hour",
    "camel case": "AbstractAuthenticationTokenProviderFactoryBeanConfiguration",
    "regex": r"password=([^\s;]+)",
    "pages token": "nextPageToken: null",
    "semver": "secret-service==3.3.3",
    "timestamp": "2026-11-21T03:07:30.123456Z",
    "long number": "1234567890123456789012345678901234567890",
    "dashes": "-" * 200,
    "mask": "[redacted: GitHub token]",
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_secret_stays(name):
    """Object ids, UUIDs, paths, lock files, placeholders and prose come back as they are."""
    done = scrub(KEPT[name])
    assert (KEPT[name], ()) == (done.text, done.findings)


def test_finding_names_kind_and_line_and_shows_next_to_nothing():
    """A finding says what and where; its preview is at most four characters of the secret."""
    secret = "gh" + "p_" + draw(36)
    done = scrub(f"one\ntwo {secret}\n")
    (found,) = done.findings
    assert ("GitHub token", 2, "one\ntwo [redacted: GitHub token]\n") == (
        found.kind,
        found.line,
        done.text,
    )
    assert found.preview.rstrip("…") == secret[:4]


def test_several_secrets_are_all_masked_in_order():
    """Each of many is masked; findings are in the order of the text."""
    pair = "\n".join(
        [
            "first " + "gh" + "p_" + draw(36),
            "AK" + "IA" + draw(16, UPPER),
            "x",
            "sk" + "_live_" + draw(24),
        ]
    )
    assert [("GitHub token", 1), ("AWS access key", 2), ("Stripe key", 4)] == [
        (f.kind, f.line) for f in scrub(pair).findings
    ]


def test_lines_stay_lines():
    """Masking a block of a key keeps what stands before and after it."""
    done = scrub("a\n" + pem("RSA PRIVATE") + "\nb\n")
    assert "a\n[redacted: private key]\nb\n" == done.text


def test_key_without_an_end_is_masked_to_the_end():
    """A private key that was cut off by a length limit is masked all the same."""
    cut = pem("RSA PRIVATE")[:150]
    assert "log:\n[redacted: private key]" == scrub("log:\n" + cut).text


def test_allowed_value_is_kept():
    """A value that a setting allows is not masked; others are."""
    known, other = "gh" + "p_" + draw(36), "gh" + "p_" + draw(36, seed=2)
    done = scrub(f"{known} {other}", [known])
    assert f"{known} [redacted: GitHub token]" == done.text


def test_allowance_may_be_a_pattern():
    """An allowance is a regular expression on the value."""
    known = "gh" + "p_" + "TEST" + draw(32)
    assert known == scrub(known, ["^ghp_TEST"]).text


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(", "[", "*", "a{1,99999}{1,99999}", "(?P<x>a)(?P=x)", "\\", "(.*)*x"]
)
def test_bad_allowance_is_taken_as_text(pattern):
    """A setting that is not a regex, or a dangerous one, neither fails nor hangs."""
    start = time.process_time()
    secret = "gh" + "p_" + "a" * 2 + draw(60)
    assert secret not in scrub(f"{secret} {'a' * 5000}!", [pattern]).text
    assert time.process_time() - start < 1.0


@settings(max_examples=scaled(300, 75), deadline=None)
@given(st.text(max_size=300))
def test_any_text(text):
    """Any text can be scrubbed; the result is scrubbed already."""
    once = scrub(text)
    assert once.text == scrub(once.text).text


PIECES = st.sampled_from(
    [
        "password",
        "token",
        "secret",
        "api_key",
        "://",
        ":",
        "@",
        "=",
        " ",
        "\n",
        '"',
        "'",
        "`",
        "\\",
        "[redacted: ",
        "]",
        "[redacted: key]",
        "-----BEGIN PRIVATE " + "KEY-----",
        "-----END PRIVATE " + "KEY-----",
        "gh" + "p_" + "A1b2" * 9,
        "AK" + "IA" + "ABCD2345" * 2,
        "eyJ" + "a1B2" * 9,
        ".",
        "Bearer ",
        "postgres://u",
        "x9Y8z7W6v5",
        "user",
        "<",
        ">",
        "$",
        "{",
        "}",
        "Cookie: ",
        "a=",
        ";",
        ",",
        "sk-",
        "-",
        "_",
    ]
)


@settings(max_examples=scaled(500, 125), deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_idempotent_on_pieces_of_secrets(text):
    """So it is for text made of the pieces that secrets are made of."""
    once = scrub(text)
    again = scrub(once.text)
    assert (once.text, ()) == (again.text, again.findings)


SIZE = 64 * 1024
UNITS = [
    "a",
    "A",
    "0",
    "-",
    "_",
    "=",
    ":",
    "/",
    "@",
    ".",
    " ",
    "\n",
    '"',
    "'",
    "\\",
    "[redacted: ",
    "password",
    "password=",
    "password: ",
    "token ",
    "://",
    "://a:",
    "a:b@",
    "eyJ",
    "eyJa.",
    "eyJhbGciOi.",
    "sk-",
    "xoxb-",
    "-----BEGIN PRIVATE " + "KEY-----\n",
    "Authorization: ",
    "bearer ",
    "curl -u ",
    "mysql -",
    "cookie: a=",
    "sig=",
    "aws ",
    "AKIA",
    "A" * 39 + " ",
    "key\t",
    "secret_key_",
    'p="\\',
    "login x ",
    "ghp_A",
    "a1-",
    "Ab1/",
    "漢字",
    "é",
    "\u2028",
    "x" * 31 + '"',
    "pass pass",
    "docker login -p",
    "SG.",
    "Q~",
    "0" * 9 + ":",
]


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_no_text_is_slow(unit):
    """The longest record made of one repeated piece is scrubbed in about a second, whatever the piece."""
    text = (unit * (SIZE // len(unit) + 1))[:SIZE]
    start = time.process_time()
    scrub(text)
    assert time.process_time() - start < 2.0


PAIRS = list(
    itertools.permutations(["password=", "a:", "@", '"', "\\", "eyJ", ".", "://", "A1", " "], 2)
)


@pytest.mark.parametrize(("one", "two"), PAIRS, ids=ascii)
def test_no_pair_is_slow(one, two):
    """Nor is one made of two pieces."""
    text = ((one + two) * SIZE)[: SIZE // 4]
    start = time.process_time()
    scrub(text)
    assert time.process_time() - start < 1.0


def test_ordinary_text_is_quick():
    """A record's limit of prose and code is scrubbed in well under a second."""
    text = (
        "The pool in src/db/pool.py keeps 10 connections; commit 1a2b3c4 raised the time limit to 30 s.\n"
        * 800
    )[:SIZE]
    start = time.process_time()
    assert text == scrub(text).text
    assert time.process_time() - start < 0.5


def test_only_a_whole_certificate_shields_what_is_in_it():
    """Words behind the first line of a certificate, or of a key of SSH, are looked at as any other."""
    secret = "q7Wm2Kx9Rt4Lp8Zv3Nb6Yc1Hd5Jf"

    assert (
        secret
        not in scrub(f"-----BEGIN CERTIFICATE-----\nMIIB\n then the session is {secret}").text
    )
    assert secret not in scrub(f"ssh-rsa AAAA{secret}").text


def test_two_names_that_become_one_text_keep_both_values() -> None:
    """A name that is masked is no reason to lose what stands under it."""
    masked = scrub_all({"AKIAQYLPMN5HHHFPZAM2": "first", "AKIAQYLPMN5HHHFPZAM3": "second"})

    assert sorted(masked.values()) == ["first", "second"]
    assert not any("AKIA" in name for name in masked)
