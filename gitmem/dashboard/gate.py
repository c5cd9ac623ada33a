"""Which requests a dashboard answers: those of its own page, which has the token.

A page of any other site can send requests to this machine, so the address alone proves nothing:
`Host` keeps out names that were made to point here (DNS rebinding), `Origin` and `Sec-Fetch-Site`
keep out other pages, and the token keeps out everybody who was not given it. It travels in a
header: cookies do not tell ports apart.
"""

import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message

NAMES = ("127.0.0.1", "localhost")
SAME = frozenset({"same-origin", "none"})
CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
# sent with every answer
HEADERS = (
    ("Content-Security-Policy", CONTENT_POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cache-Control", "no-store"),
)


@dataclass(frozen=True, slots=True)
class RequestRefusal:
    """Why a request is not answered: a status of HTTP, what is wrong and what to do."""

    status: int
    message: str
    hint: str = ""


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Gate:
    """Decides which requests are answered by the server of a port."""

    port: int
    token: str

    def refusal(self, headers: Message, *, needs_token: bool) -> RequestRefusal | None:
        """Return why a request is refused; None for one that is answered."""
        return self._wrong_place(headers) or (self._without_token(headers) if needs_token else None)

    def _wrong_place(self, headers: Message) -> RequestRefusal | None:
        hosts = [f"{name}:{self.port}" for name in NAMES]
        if _only(headers, "Host").lower() not in hosts:
            return RequestRefusal(421, "this server answers to its own address alone.", hosts[0])
        origins = headers.get_all("Origin") or []
        if any(origin not in {f"http://{host}" for host in hosts} for origin in origins):
            return RequestRefusal(403, "a page of another origin asked.")
        if any(site not in SAME for site in headers.get_all("Sec-Fetch-Site") or []):
            return RequestRefusal(403, "a page of another site asked.")
        return None

    def _without_token(self, headers: Message) -> RequestRefusal | None:
        given = _only(headers, "Authorization").encode("utf-8", "replace")
        if hmac.compare_digest(given, f"Bearer {self.token}".encode()):
            return None
        return RequestRefusal(
            401,
            "the token is missing or belongs to another run.",
            "Open the address that 'git mem dashboard' printed.",
        )


def _only(headers: Message, name: str) -> str:
    """Return the value of a header that is there once, else ''."""
    values: Sequence[str] = headers.get_all(name) or []
    return values[0] if len(values) == 1 else ""
