"""Gemini, through google-genai: the only module that knows it.

Its import takes most of a second, so it happens when a question is asked.
"""

import logging
import random
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gitmem.base.extras import GEMINI, install_command
from gitmem.llm.prompts import read
from gitmem.llm.provider import ModelFailed
from gitmem.redaction.mask import scrub

SERVER = "https://generativelanguage.googleapis.com/"
DEFAULT = "gemini-2.5-flash"
TRIES = 4  # of one question
FIRST_WAIT = 0.5  # seconds; each next one is twice as long
AGAIN = frozenset({"limit", "server", "network"})
NAME = re.compile(r"(?:models/|tunedModels/)?[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LIVE = re.compile(r"(?:^|-)(?:live|native-audio)(?:-|$)")
_LIVE_OF = re.compile(r"^gemini-(?:live-)?(2\.5-(?:flash|pro)(?:-lite)?)-")
# what a connection that cannot be made says of itself
_NO_NAME = (
    "name or service",
    "nodename nor",
    "getaddrinfo",
    "name resolution",
    "no address associated",
)


def usable(model: str) -> tuple[str, str]:
    """Return the model that can be asked, and why it is not the one that was named.

    The reason is a sentence; there is none if it is the named model.

    A model of the Live API holds a conversation in sound and knows no schema; its sister of the
    same family reads and writes text.
    """
    short = model.removeprefix("models/")
    if not _LIVE.search(short):
        return model, ""
    match = _LIVE_OF.match(short)
    sister = f"gemini-{match[1]}" if match else DEFAULT
    return sister, f"{short} answers in live sessions only, so {sister} was asked."


class GenaiModel:
    """Asks a model of the Gemini API.

    A connection and an event loop live as long as one question; no thread stays.
    """

    def __init__(
        self,
        model: str,
        key: str,
        url: str,
        timeout: float,
        wait: Callable[[int], float] | None = None,
        allow: Sequence[str] = (),
    ) -> None:
        self.model, self.remark = usable(model)
        self.url = url or SERVER
        self.timeout = timeout
        self.tokens = 0
        self._key = key
        self._allow = allow
        self._wait = wait or (lambda tried: FIRST_WAIT * 2**tried * random.uniform(0.75, 1.25))

    def __repr__(self) -> str:
        return f"GenaiModel({self.model!r}, {_host(self.url)!r})"

    @property
    def name(self) -> str:
        """`gemini:<model>`."""
        return f"gemini:{self.model.removeprefix('models/')}"

    def ask(self, instruction: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer.

        Asks again after 429, 5xx and a lost connection, as often as the time-out allows; raises
        ModelFailed.
        """
        end = time.monotonic() + self.timeout
        text = scrub(text, self._allow).text  # whoever asks: no secret leaves here
        for tried in range(TRIES):
            answer = self._once(instruction, text, schema, end)
            if isinstance(answer, str):
                return read(answer, schema)
            pause = max(self._wait(tried), answer.wait or 0.0)
            if answer.kind not in AGAIN or tried == TRIES - 1 or time.monotonic() + pause >= end:
                raise answer
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _once(
        self, instruction: str, text: str, schema: Mapping[str, Any], end: float
    ) -> str | ModelFailed:
        """Return an answer's text, or why there is none.

        No exception that knows the key leaves this module.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the SDK remarks on values that are newer than it
            import asyncio

            try:
                from google import genai
            except ImportError as error:
                return ModelFailed(
                    f"google-genai cannot be imported: {error}.",
                    f"Install it: {install_command(GEMINI)}",
                    kind="missing",
                )
            logger = logging.getLogger("google_genai")
            before = logger.level
            # it would speak to stderr of the variables that it finds
            logger.setLevel(logging.CRITICAL + 1)
            try:
                return asyncio.run(self._answer(genai, instruction, text, schema, end))
            except TimeoutError:
                return ModelFailed(
                    f"{self.name} did not answer in {self.timeout:g} s.",
                    "Try again later, or use a quicker model: git mem config geminiModel NAME",
                    kind="timeout",
                )
            except Exception as error:  # noqa: BLE001 - whatever the SDK and its parts raise: it becomes a sentence without the key
                return self._failure(error)
            finally:
                logger.setLevel(before)

    async def _answer(
        self, genai: Any, instruction: str, text: str, schema: Mapping[str, Any], end: float
    ) -> str | ModelFailed:
        import asyncio

        left = max(0.001, end - time.monotonic())
        client = genai.Client(
            vertexai=False,  # else a variable of the environment would choose another server
            api_key=self._key,
            # a redirect would carry the key to another server
            http_options={
                "base_url": self.url,
                "timeout": int(left * 1000) + 1,
                "async_client_args": {"follow_redirects": False},
            },
        )
        try:
            async with asyncio.timeout(left):
                response = await client.aio.models.generate_content(
                    model=self.model,
                    contents=text,
                    config={
                        "system_instruction": instruction,
                        "temperature": 0.0,
                        "response_mime_type": "application/json",
                        "response_schema": dict(schema),
                        "automatic_function_calling": {"disable": True},
                    },
                )
        finally:
            await client.aio.aclose()
            client.close()
        self.tokens += int(getattr(response.usage_metadata, "total_token_count", None) or 0)
        return self._text(response)

    def _text(self, response: Any) -> str | ModelFailed:
        blocked = getattr(response.prompt_feedback, "block_reason", None)
        if blocked:
            return ModelFailed(
                f"{self.name} refused the text ({_word(blocked)}).",
                "It is summarised offline.",
                kind="refused",
            )
        if not response.candidates:
            return ModelFailed(
                f"{self.name} answered nothing.", "Try again, or another model.", kind="empty"
            )
        first = response.candidates[0]
        reason = _word(first.finish_reason) if first.finish_reason else ""
        parts = (first.content.parts if first.content else None) or []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        if reason == "MAX_TOKENS":
            return ModelFailed(
                f"the answer of {self.name} was cut off at its limit of tokens.",
                "",
                kind="truncated",
            )
        if reason not in {"", "STOP", "FINISH_REASON_UNSPECIFIED"}:
            return ModelFailed(
                f"{self.name} refused to answer ({reason}).",
                "It is summarised offline.",
                kind="refused",
            )
        return (
            text
            if text.strip()
            else ModelFailed(
                f"{self.name} answered nothing.", "Try again, or another model.", kind="empty"
            )
        )

    def _failure(self, error: Exception) -> ModelFailed:
        """Return a failure by class."""
        code = getattr(error, "code", None)
        if isinstance(code, int):
            words = str(getattr(error, "message", None) or "")
            # a proxy's page says nothing
            return self._refusal(
                code, "" if words.lstrip().startswith("<") else self._clean(words), error
            )
        said = self._clean(str(error))
        host = _host(self.url)
        low = str(error).lower()
        if "timeout" in type(error).__name__.lower():
            return ModelFailed(
                f"{self.name} did not answer in {self.timeout:g} s.",
                "Try again later, or use a quicker model: git mem config geminiModel NAME",
                kind="timeout",
            )
        if "[ssl" in low or "certificate" in low:
            return ModelFailed(
                f"no secure connection to {host}: {said}",
                "Check the server's certificate, and the clock of this machine.",
                kind="request",
            )
        if any(words in low for words in _NO_NAME):
            return ModelFailed(
                f"the name {host} is not known (DNS).",
                "Check the network, and GITMEM_GEMINI_URL.",
                kind="network",
            )
        if any(
            base.__name__ in {"TransportError", "ClientConnectionError", "OSError"}
            for base in type(error).__mro__
        ):
            return ModelFailed(
                f"the connection to {host} failed: {said or type(error).__name__}",
                "Check the network, and GITMEM_GEMINI_URL.",
                kind="network",
            )
        return ModelFailed(
            f"the answer of {host} cannot be read: {type(error).__name__}: {said}",
            "Is it a server of the Gemini API?",
            kind="request",
        )

    def _refusal(self, code: int, said: str, error: Exception) -> ModelFailed:
        """Return what an HTTP status means."""
        say = (
            f"{_host(self.url)} answered {code}: {said}"
            if said
            else f"{_host(self.url)} answered {code}."
        )
        if code in {401, 403} or (code == 400 and "api key" in said.lower()):
            return ModelFailed(
                say,
                "Check the key (GEMINI_API_KEY or GOOGLE_API_KEY) and what it may do.",
                kind="key",
            )
        if code == 404:
            hint = (
                f"Is there a model '{self.model}'? Choose another: git mem config geminiModel "
                f"{DEFAULT}"
            )
            return ModelFailed(say, hint, kind="model")
        if code == 429:
            return ModelFailed(
                say, "The quota is used up for now.", kind="limit", wait=_wanted(error)
            )
        if code >= 500 or code == 408:
            return ModelFailed(
                say, "The server has a fault. Try again later.", kind="server", wait=_wanted(error)
            )
        return ModelFailed(say, "Check gitmem.geminiModel and GITMEM_GEMINI_URL.", kind="request")

    def _clean(self, text: str) -> str:
        """Return what somebody else said as one short line without the key and other secrets."""
        if self._key:
            text = text.replace(self._key, "[the key]")
        line = " ".join(scrub(text[:2000]).text.split())
        return line if len(line) <= 300 else line[:299] + "…"


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))


def _host(url: str) -> str:
    """Return a server's name for people: no password, no path."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "the server"
    except ValueError:
        return "the server"


def _wanted(error: Exception) -> float | None:
    """Return after how many seconds the server wants to be asked again.

    Its header or Google's RetryInfo tells that.
    """
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    given = str(headers.get("retry-after", "")).strip()
    if re.fullmatch(r"\d{1,6}(?:\.\d+)?", given):
        return float(given)
    if given:
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(given).timestamp() - time.time())
        except (ValueError, TypeError):
            pass
    details = getattr(error, "details", None)
    match = re.search(r"'retryDelay': '(\d{1,6}(?:\.\d+)?)s'", str(details))
    return float(match[1]) if match else None
