"""The detectors of detect-secrets, asked about what our own formats leave over.

Importing the library takes 200 ms, more than a whole command, so it is imported only for a text
with a run of characters that a machine may have drawn. Its detectors of formats are used; those of
entropy and keywords, which take commit ids and prose for secrets, are not. Nothing is verified over
the network.
"""

from __future__ import annotations

from functools import cache

from gitmem.base.fast import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

DETECTORS = {  # module: (class, kind)
    "artifactory": ("ArtifactoryDetector", "Artifactory credential"),
    "aws": ("AWSKeyDetector", "AWS access key"),
    "azure_storage_key": ("AzureStorageKeyDetector", "Azure storage key"),
    "basic_auth": ("BasicAuthDetector", "password in a URL"),
    "cloudant": ("CloudantDetector", "Cloudant credential"),
    "discord": ("DiscordBotTokenDetector", "Discord bot token"),
    "github_token": ("GitHubTokenDetector", "GitHub token"),
    "gitlab_token": ("GitLabTokenDetector", "GitLab token"),
    "ibm_cloud_iam": ("IbmCloudIamDetector", "IBM Cloud key"),
    "ibm_cos_hmac": ("IbmCosHmacDetector", "IBM storage key"),
    "jwt": ("JwtTokenDetector", "JSON web token"),
    "mailchimp": ("MailchimpDetector", "Mailchimp key"),
    "npm": ("NpmDetector", "npm token"),
    "openai": ("OpenAIDetector", "OpenAI key"),
    "pypi_token": ("PypiTokenDetector", "PyPI token"),
    "sendgrid": ("SendGridDetector", "SendGrid key"),
    "slack": ("SlackDetector", "Slack token"),
    "softlayer": ("SoftlayerDetector", "SoftLayer credential"),
    "square_oauth": ("SquareOAuthDetector", "Square secret"),
    "stripe": ("StripeDetector", "Stripe key"),
    "telegram_token": ("TelegramBotTokenDetector", "Telegram bot token"),
    "twilio": ("TwilioKeyDetector", "Twilio key"),
}
KINDS = frozenset(kind for _, kind in DETECTORS.values())
# its patterns were written for lines of code: a longer line is cut into pieces
LINE, OVERLAP = 1000, 200
_RUN = Lazy(r"[A-Za-z0-9_+-]{16,}={0,2}")
_HARMLESS = Lazy(
    r"(?i)(?:[0-9a-f]{7,40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:[a-z]{3}-)?[0-9a-z]{26}|(?:ses|msg"
    r"|prt)_[0-9a-zA-Z]{26}|(?:[a-z]+\d{0,5}|\d{1,9})(?:[_+=-]+(?:[a-z]+\d{0,5}|\d{1,9}))*"
)


def suspicious(text: str) -> bool:
    """Return whether a text has a suspicious run of letters and digits.

    Commit ids, UUIDs, record ids and names are not suspicious.
    """
    return next(runs(text), None) is not None


def runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of such runs."""
    for match in _RUN.finditer(text):
        run = match[0].strip("_+=-")
        if (
            any(c.isdigit() for c in run)
            and any(c.isalpha() for c in run)
            and not _HARMLESS.fullmatch(run)
        ):
            yield match.span()


def detect(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of the secrets that detect-secrets knows by their format.

    Nothing for plain text.
    """
    if not suspicious(text):
        return
    for at, piece in _pieces(text):
        for kind, detector in _detectors():
            for secret in detector.analyze_string(piece):
                value = secret.strip(" \t\"'=:")
                for place in _places(piece, value):
                    yield at + place, at + place + len(value), kind


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield (place, piece) of the lines that are worth a look, long ones in parts that overlap."""
    at = 0
    for line in text.split("\n"):
        for start in range(0, max(1, len(line)), LINE - OVERLAP):
            piece = line[start : start + LINE]
            if suspicious(piece):
                yield at + start, piece
        at += len(line) + 1


def _places(text: str, value: str) -> Iterator[int]:
    place = text.find(value) if value else -1
    while place >= 0:
        yield place
        place = text.find(value, place + len(value))


@cache
def _detectors() -> tuple[tuple[str, Any], ...]:
    import importlib

    # modules are named here, so that nothing is looked up in the current folder or a plugin's
    # setting
    return tuple(
        (kind, getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)())
        for module, (name, kind) in DETECTORS.items()
    )
