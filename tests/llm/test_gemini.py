"""Gemini through the real SDK, against a server on loopback that speaks its API: answers, refusals, faults, and what must not get out."""

import datetime
import gc
import ipaddress
import logging
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gitmem.llm.gemini import DEFAULT, GenaiModel, usable
from gitmem.llm.prompts import INSTRUCTION, SCHEMA
from gitmem.llm.provider import ModelFailed
from tests.llm.gemini_server import Gemini, Reply, blocked, error, said, serving

KEY = "AIzaSyTestTestTestTestTestTestTestTest1"
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
GOOD = said('{"word": "ready"}')
RETRY = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}]


def ask(
    gemini: Gemini,
    *,
    timeout: float = 10.0,
    model: str = DEFAULT,
    url: str = "",
    schema: Any = WORD,
) -> dict[str, Any]:
    """Ask one question, without the long waits between tries."""
    return GenaiModel(model, KEY, url or gemini.url, timeout, lambda tried: 0.01).ask(
        "Say the word.", "ready", schema
    )


def failure(
    *replies: Reply, asked: int | None = None, timeout: float = 10.0, **how: Any
) -> ModelFailed:
    """Return the failure of one question; `asked` says how often the server must have been asked."""
    with serving(*replies, **how) as gemini, pytest.raises(ModelFailed) as caught:
        ask(gemini, timeout=timeout)
    if asked is not None:
        assert len(gemini.asked) == asked
    return caught.value


def self_signed(folder: Path) -> Path:
    """Make a key and a certificate for 127.0.0.1 that no authority has signed; return the file of both."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    raw = serialization
    secret = key.private_bytes(raw.Encoding.PEM, raw.PrivateFormat.PKCS8, raw.NoEncryption())
    path = folder / "chain.pem"
    path.write_bytes(secret + made.public_bytes(raw.Encoding.PEM))
    return path


def test_a_question_is_asked_with_its_schema_and_the_key_in_a_header_alone() -> None:
    """What the SDK sends is a generateContent request with a response schema; the URL holds no key."""
    with serving(GOOD) as gemini:
        model = GenaiModel(DEFAULT, KEY, gemini.url, 10.0)
        answer = model.ask("Say the word.", "ready", WORD)

    assert answer == {"word": "ready"}
    assert model.name == f"gemini:{DEFAULT}"
    assert model.tokens == 15
    (body,) = gemini.asked
    assert body["contents"][0]["parts"] == [{"text": "ready"}]
    assert body["systemInstruction"]["parts"] == [{"text": "Say the word."}]
    assert body["generationConfig"]["responseMimeType"] == "application/json"
    assert body["generationConfig"]["responseSchema"]["required"] == ["word"]
    assert gemini.paths[0].endswith(f"/models/{DEFAULT}:generateContent")
    assert gemini.headers[0]["x-goog-api-key"] == KEY


def test_the_schema_of_an_extraction_reaches_the_server_whole() -> None:
    """Kinds as an enumeration, parts that must be there."""
    with serving(said('{"items": [], "topics": []}')) as gemini:
        GenaiModel(DEFAULT, KEY, gemini.url, 10.0).ask(INSTRUCTION, "text", SCHEMA)

    row = gemini.asked[0]["generationConfig"]["responseSchema"]["properties"]["items"]["items"]
    assert row["properties"]["kind"]["enum"] == [
        "decision",
        "error",
        "pattern",
        "task",
        "done",
        "preference",
        "context",
    ]
    assert row["required"] == ["kind", "text"]


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (blocked("SAFETY"), "refused", "SAFETY"),
        (blocked("PROHIBITED_CONTENT"), "refused", "PROHIBITED_CONTENT"),
        (said("", "SAFETY"), "refused", "SAFETY"),
        (said("", "RECITATION"), "refused", "RECITATION"),
        (said("", "A_REASON_OF_TOMORROW"), "refused", "A_REASON_OF_TOMORROW"),
        (said('{"word": "rea', "MAX_TOKENS"), "truncated", "cut off"),
        (said(""), "empty", "nothing"),
        ((200, {}, {}), "empty", "nothing"),
        (said("The word is ready."), "nonsense", "no JSON object"),
        (said('{"word": 7}'), "nonsense", "'word' is not of type string"),
        (said('{"other": "ready"}'), "nonsense", "lacks 'word'"),
        (said('["ready"]'), "nonsense", "is not of type object"),
        (said('{"word": "ready"'), "nonsense", "no JSON object"),
        (
            error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            "key",
            "API key not valid",
        ),
        (
            error(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum."),
            "request",
            "input token count",
        ),
        (error(401, "UNAUTHENTICATED", "Request had invalid credentials."), "key", "401"),
        (
            error(403, "PERMISSION_DENIED", "Generative Language API has not been used."),
            "key",
            "403",
        ),
        (error(404, "NOT_FOUND", "models/x is not found for API version v1."), "model", "404"),
        ((302, b"", {"location": "http://127.0.0.1:9/elsewhere"}), "request", "302"),
        ((200, b"<html>a captive portal</html>", {}), "request", "cannot be read"),
    ],
)
def test_what_asking_again_would_not_change_is_asked_once(
    reply: Reply, kind: str, words: str
) -> None:
    """Refusals, nonsense and 4xx: one request, a sentence that says what happened."""
    failed = failure(reply, asked=1)

    assert failed.kind == kind
    assert words in str(failed)
    assert "\n" not in str(failed)


@pytest.mark.parametrize(
    "first",
    [
        error(429, "RESOURCE_EXHAUSTED", "Quota exceeded."),
        error(500, "INTERNAL", "An internal error."),
        error(503, "UNAVAILABLE", "Overloaded."),
        (502, b"<html>Bad Gateway</html>", {}),
    ],
)
def test_a_fault_that_passes_is_tried_again(first: Reply) -> None:
    """429 and 5xx: the second answer counts."""
    with serving(first, GOOD) as gemini:
        answer = ask(gemini)

    assert answer == {"word": "ready"}
    assert len(gemini.asked) == 2


@pytest.mark.parametrize(
    ("first", "least"),
    [
        (error(429, "RESOURCE_EXHAUSTED", "Quota.", Retry_After="1"), 1.0),
        (error(429, "RESOURCE_EXHAUSTED", "Quota.", RETRY), 0.3),
    ],
)
def test_what_the_server_says_about_waiting_is_obeyed(first: Reply, least: float) -> None:
    """Its header, or Google's RetryInfo."""
    with serving(first, GOOD) as gemini:
        begun = time.monotonic()
        ask(gemini)

    assert time.monotonic() - begun >= least


def test_a_wait_beyond_the_time_out_is_not_waited_for() -> None:
    """A quota for the day: one request, and at once."""
    begun = time.monotonic()
    failed = failure(
        error(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", Retry_After="3600"), asked=1
    )

    assert failed.kind == "limit"
    assert failed.wait == 3600
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("kind", ["limit", "server"])
def test_tries_have_an_end(kind: str) -> None:
    """A fault that stays is reported after the fourth request."""
    reply = (
        error(429, "RESOURCE_EXHAUSTED", "Quota.")
        if kind == "limit"
        else (500, b"<html>" + b"x" * 9000, {})
    )
    failed = failure(reply, asked=4)

    assert failed.kind == kind
    assert "<html>" not in str(failed)


def test_waits_grow_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second, one, two, each a quarter more or less."""
    waits: list[float] = []
    monkeypatch.setattr("gitmem.llm.gemini.time.sleep", waits.append)
    with serving(error(503, "UNAVAILABLE", "Overloaded.")) as gemini, pytest.raises(ModelFailed):
        GenaiModel(DEFAULT, KEY, gemini.url, 60.0).ask("Say the word.", "ready", WORD)

    assert [round(wait / 0.5 / 2**n) for n, wait in enumerate(waits)] == [1, 1, 1]
    assert len({wait / 2**n for n, wait in enumerate(waits)}) == 3


@pytest.mark.parametrize("how", [{"delay": 30.0}, {"drip": 0.2}])
def test_a_slow_answer_is_given_up_in_time(how: dict[str, float]) -> None:
    """One that does not come, and one that comes byte by byte: the time-out is for the whole."""
    begun = time.monotonic()
    failed = failure(GOOD, timeout=1.0, **how)

    assert failed.kind == "timeout"
    assert time.monotonic() - begun < 5


def test_a_connection_that_is_refused_is_named() -> None:
    """The host and what to look at; tried again, as a network comes back."""
    with pytest.raises(ModelFailed, match=r"127\.0\.0\.1:9 failed") as caught:
        GenaiModel(DEFAULT, KEY, "http://127.0.0.1:9", 10.0, lambda tried: 0.01).ask(
            "Say the word.", "ready", WORD
        )

    assert caught.value.kind == "network"


def test_a_name_that_is_not_known_is_named() -> None:
    """DNS."""
    with pytest.raises(ModelFailed, match=r"nowhere\.invalid") as caught:
        GenaiModel(DEFAULT, KEY, "https://nowhere.invalid", 20.0, lambda tried: 0.01).ask(
            "Say the word.", "ready", WORD
        )

    assert caught.value.kind == "network"


def test_a_connection_that_is_closed_in_the_middle_is_tried_again() -> None:
    """A server that hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken = []

    def hang_up() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            taken.append(1)
            connection.recv(100)
            connection.close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    try:
        with pytest.raises(ModelFailed) as caught:
            GenaiModel(
                DEFAULT,
                KEY,
                f"http://127.0.0.1:{listener.getsockname()[1]}",
                10.0,
                lambda tried: 0.01,
            ).ask("Say.", "ready", WORD)
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()

    assert caught.value.kind == "network"
    assert len(taken) == 4


def test_a_server_without_tls_is_told_from_a_network_that_is_down() -> None:
    """`https` to a server that speaks plain HTTP: no second try, and the word secure."""
    with (
        serving(GOOD) as gemini,
        pytest.raises(ModelFailed, match="no secure connection") as caught,
    ):
        ask(gemini, url=gemini.url.replace("http:", "https:"))

    assert caught.value.kind == "request"
    assert gemini.asked == []


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    """Made by the server itself: the key is not sent, and the certificate is named."""
    chain = self_signed(tmp_path)
    with (
        serving(GOOD, tls=str(chain)) as gemini,
        pytest.raises(ModelFailed, match=r"(?i)no secure connection .*certificate") as caught,
    ):
        ask(gemini)

    assert caught.value.kind == "request"
    assert gemini.asked == []


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "INVALID_ARGUMENT", f"API key {KEY} not valid."),
        error(500, "INTERNAL", f"key={KEY}"),
        (403, KEY.encode(), {}),
        GOOD,
    ],
)
def test_the_key_is_in_no_message(
    reply: Reply, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in the failure, its causes, a log at its most talkative, or what is printed."""
    caplog.set_level(logging.INFO)
    texts = []
    with serving(reply) as gemini:
        model = GenaiModel(DEFAULT, KEY, gemini.url, 10.0, lambda tried: 0.01)
        try:
            model.ask("Say the word.", "ready", WORD)
        except ModelFailed as failed:
            cause: BaseException | None = failed
            while cause:
                texts += [str(cause), repr(cause), repr(vars(cause))]
                cause = cause.__cause__ or cause.__context__
    printed = capfd.readouterr()

    assert KEY not in "".join(texts) + repr(model) + caplog.text + printed.out + printed.err


def test_variables_of_the_environment_choose_no_other_server(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Vertex AI, another key, another base URL: ours are those that were given, and nothing is said about it."""
    with serving(GOOD) as other, serving(GOOD) as gemini:
        for name, value in {
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_CLOUD_PROJECT": "p",
            "GOOGLE_API_KEY": "another",
            "GEMINI_API_KEY": "a third",
            "GOOGLE_GEMINI_BASE_URL": other.url,
        }.items():
            monkeypatch.setenv(name, value)
        answer = ask(gemini)

    assert answer == {"word": "ready"}
    assert gemini.headers[0]["x-goog-api-key"] == KEY
    assert other.asked == []
    assert "publishers" not in gemini.paths[0], "the form of Vertex AI"
    assert capfd.readouterr().err == ""


def test_nothing_is_left_behind() -> None:
    """No thread, no open socket: an unclosed one is a warning, which is an error here."""
    before = set(threading.enumerate())
    with serving(GOOD) as gemini:
        ask(gemini)
    with serving(GOOD, delay=30.0) as gemini, pytest.raises(ModelFailed):
        ask(gemini, timeout=0.5)
    gc.collect()

    assert set(threading.enumerate()) == before


@pytest.mark.parametrize(
    ("wanted", "asked"),
    [
        ("gemini-2.5-flash-native-audio-preview-09-2025", "gemini-2.5-flash"),
        ("models/gemini-2.5-flash-native-audio-latest", "gemini-2.5-flash"),
        ("gemini-live-2.5-flash-preview", "gemini-2.5-flash"),
        ("gemini-live-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.0-flash-live-001", DEFAULT),
        ("gemini-3.1-flash-live-preview", DEFAULT),
    ],
)
def test_a_model_of_the_live_api_is_replaced_by_its_sister(wanted: str, asked: str) -> None:
    """It holds conversations only: the sister is asked, and that is said."""
    with serving(GOOD) as gemini:
        ask(gemini, model=wanted)
    model = GenaiModel(wanted, KEY, gemini.url, 1.0)

    assert gemini.paths[0].endswith(f"/models/{asked}:generateContent")
    assert model.name == f"gemini:{asked}"
    assert wanted.removeprefix("models/") in model.remark
    assert asked in model.remark


@pytest.mark.parametrize(
    "name",
    [
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        "gemini-3-flash-preview",
        "models/gemini-2.0-flash",
        "delivery-1",
    ],
)
def test_other_models_are_asked_as_they_are_named(name: str) -> None:
    """`live` is a word of a name, no part of one."""
    assert usable(name) == (name, "")
