"""Mask secrets in text before it becomes a git blob: what git has stored, every clone keeps.

Our own formats come first, then the detectors of detect-secrets (`detectors`) on what is left and looks drawn by a
machine. Pure: no I/O, no clock. A pattern is compiled when one of its hints is in the text, so plain prose compiles
nothing. Patterns are linear: what may repeat without end starts at a fixed prefix and ends the pattern, everything
else is bounded. Why two: docs/decisions/0004.

The formats are the providers' own, as their documentation, gitleaks and detect-secrets list them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import Any

from gitmem.model import detectors


@dataclass(frozen=True, slots=True)
class Finding:
    """What was masked, never the secret itself: `preview` is at most 4 characters and a fifth of it."""

    kind: str
    line: int
    preview: str


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets, and what was masked, in order of place."""

    text: str
    findings: tuple[Finding, ...]


# Kind, prefixes, what follows them. A prefix never starts inside a word.
_PREFIXED = (
    ("AWS access key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}(?![A-Za-z0-9])"),
    ("AWS Bedrock key", "ABSKQmVkcm9ja", r"[\w+/=-]{40,}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{20,}"),
    ("GitLab token", "glpat- gldt- glrt- glft- glsoat- glcbt- glimt- glptt- glagent- gloas- glffct- GR1348941", r"[\w.-]{19,}\w"),
    ("Slack token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w%-]{10,}"),
    ("Slack webhook", "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", r"[\w/-]{16,}"),
    ("Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{5,}/[\w-]{20,}"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{10,}"),
    ("Stripe webhook secret", "whsec_", r"[\w+/=-]{20,}"),
    ("Google API key", "AIza", r"[\w-]{30,}"),
    ("Google OAuth token", "ya29. GOCSPX- 1//0", r"[\w.-]{18,}\w"),
    ("Anthropic key", "sk-ant-", r"[\w-]{16,}"),
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,}"),
    ("OpenRouter key", "sk-or-", r"[\w-]{20,}"),
    ("Hugging Face token", "hf_ api_org_", r"[A-Za-z0-9]{30,}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{30,}"),
    ("PyPI token", "pypi-", r"[\w-]{40,}"),
    ("RubyGems key", "rubygems_", r"[0-9a-f]{32,}"),
    ("Clojars token", "CLOJARS_", r"[A-Za-z0-9]{40,}"),
    ("NuGet key", "oy2", r"[a-z0-9]{43}(?![A-Za-z0-9])"),
    ("Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{20,}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{32,}"),
    ("SendGrid key", "SG.", r"[\w-]{16,32}\.[\w-]{16,64}"),
    ("Brevo key", "xkeysib- xsmtpsib-", r"[\w-]{32,}"),
    ("Mailgun key", "key-", r"[0-9a-f]{32}(?![\w-])"),
    ("age secret key", "AGE-SECRET-KEY-", r"[A-Z0-9]{40,}"),
    ("Vault token", "hvs. hvb. hvr.", r"[\w-]{20,}"),
    ("Databricks token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?![\w-])"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32,}"),
    ("Square token", "sq0atp- sq0csp- sq0idp- EAAAE EAAAl", r"[\w-]{22,}"),
    ("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}"),
    ("Notion token", "ntn_ secret_", r"[A-Za-z0-9]{40,}"),
    ("Atlassian token", "ATATT3 ATCTT3 ATBB", r"[\w=-]{24,}"),
    ("Netlify token", "nfp_ nfc_ nfo_ nfu_", r"[A-Za-z0-9]{30,}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{31,}\w"),
    ("Fly token", "FlyV1 fo1_ fm1_ fm1r_ fm1a_ fm2_", r"[ \w+/=,-]{0,6}[\w+/=-]{40,}(?:,fm\w{1,2}_[\w+/=-]{20,}){0,8}"),
    ("Cloudflare key", "v1.0- cfut_ cfat_", r"[0-9a-zA-Z]{24,}(?:-[0-9a-f]{100,})?"),
    ("Heroku key", "HRKU-", r"[\w-]{36,}"),
    ("Grafana token", "glsa_ glc_", r"[\w+/=]{32,}"),
    ("New Relic key", "NRAK- NRII- NRIQ- NRRA- NRJS-", r"[A-Za-z0-9_-]{18,}"),
    ("Sentry token", "sntrys_ sntryu_", r"[\w+/=-]{32,}"),
    ("Postman key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("Pulumi token", "pul-", r"[0-9a-f]{40}(?![\w-])"),
    ("Terraform token", "ATLASV1.", r"[\w-]{60,}"),
    ("PlanetScale secret", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.-]{31,}\w"),
    ("Supabase key", "sbp_ sb_secret_", r"[\w-]{20,}"),
    ("Figma token", "figd_ figo_ figoh_ figor_ figuh_ figur_", r"[\w-]{36,}"),
    ("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("AI provider key", "pplx- gsk_ xai- r8_ pcsk_ tvly- nvapi- lsv2_pt_ lsv2_sk_", r"[\w-]{30,}"),
    ("Tailscale key", "tskey-", r"[a-z]+-[\w-]{16,}"),
    ("1Password token", "ops_eyJ", r"[\w+/=-]{80,}"),
    ("crates.io token", "cio", r"[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("CI token", "bkua_ bkct_ CCIPAT_ CCIPRJ_", r"\w{32,}"),
    ("Sourcegraph token", "sgp_ sgs_", r"\w{32,}"),
    ("Aiven token", "AVNS_", r"[\w-]{16,}"),
    ("Artifactory key", "AKCp AKC", r"[A-Za-z0-9]{24,}"),
    ("Artifactory token", "cmVmdGtu", r"[A-Za-z0-9]{48,}"),
    ("Alibaba access key", "LTAI", r"[A-Za-z0-9]{12,20}(?![A-Za-z0-9])"),
    ("Yandex key", "AQVN", r"[\w-]{35,}"),
    ("Facebook token", "EAAC EAAM EAAG", r"[A-Za-z0-9]{60,}"),
    ("Contentful token", "CFPAT-", r"[\w-]{40,}"),
    ("Mapbox secret token", "sk.eyJ", r"[\w-]{16,}\.[\w-]{16,}"),
    ("Typeform token", "tfp_", r"[\w.=-]{39,}\w"),
    ("Dropbox token", "sl.u. sl.B", r"[\w-]{100,}"),
    ("Replit or Render key", "rnd_ rpl_", r"[A-Za-z0-9]{28,}"),
)

_SHUT = r"""\\?["'`]"""  # a quote, or one inside another string
_DB = r"postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|cockroachdb|clickhouse|oracle"
_ARGUMENT = r"""["']?([^\s"'-][^\s"']{2,99})"""
_USER = r"""://[^\s/?#@:"'`<>]{0,128}:"""
# Kind, hints in lower case ("" = any long run of letters and digits), pattern (group 1, if any, is the secret), check.
_PATTERNS = (
    ("AWS secret key", "aws akia asia secretaccesskey",
     r"(?:(?i:aws|secret_?access_?key)|A[KS]IA[A-Z0-9]{16})[^\n]{0,60}?(?<![\w/+])([\w/+]{40})(?![\w/+=])", "mixed"),
    ("OpenAI key", "sk-", r"(?<![A-Za-z0-9])sk-[\w-]{20,}", "mixed"),
    ("JWT", "eyj", r"(?<![\w-])eyJ[\w=-]{10,}\.(?:[\w=-]{10,}|(?=\.))(?:\.[\w=-]+){0,3}", "real"),
    ("Discord token", "", r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])", "real"),
    ("Telegram token", "", r"(?<!\d)\d{8,10}:[\w-]{35}(?![\w-])", "mixed"),
    ("Twilio key", "", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", "real"),
    ("Mailgun key", "", r"(?<![\w-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])", "real"),
    ("Mailchimp key", "-us", r"(?<![\w-])[0-9a-f]{32}-us\d{1,2}(?!\d)", "real"),
    ("Terraform token", ".atlasv1.", r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}", "real"),
    ("Azure storage key", "accountkey sharedaccesskey", r"(?i:AccountKey|SharedAccessKey)=([\w+/=-]{20,})", "real"),
    ("Azure signature", "sig=", r"[?&;]sig=([\w%+/=-]{20,})", "mixed"),
    ("Azure client secret", "q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,33}[\w~]", "real"),
    ("Teams webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{40,})", "real"),
    ("Cloudflare key", "cloudflare cf_", r"(?:(?i:cloudflare)|CF_)[^\n]{0,60}?(?<![\w/+-])([\w-]{40})(?![\w/+-])", "mixed"),
    ("SoftLayer key", "api.softlayer.com", r"(?i)api\.softlayer\.com/soap/v3(?:\.1)?/([a-z0-9]{64})", "real"),
    ("connection string password", "://", rf"{_USER}([^\s/?#\"'`<>]{{1,256}})@(?!sha\d|[\s@])", "meant"),
    ("connection string password", "://", rf"(?i:{_DB}){_USER}(?!\d+/)([^\s/?#@,\"'`<>]{{0,128}}[/?#][^\s@,\"'`<>]{{0,128}})@", "meant"),
    ("connection string password", "://", r"://([^\s/?#@:\"'`<>]{16,256})(?::(?:x-oauth-basic)?)?@", "mixed"),
    ("connection string password", "thin:", r"(?i)thin:[^\s/@:]{1,64}/([^\s@\"'`]{1,128})@", "meant"),
    ("connection string password", "password pwd passwd", r"""(?i)[;?&][ ]?(?:password|passwd|pwd)=([^\s;&"'`<>]{1,256})""", "meant"),
    ("connection string password", "password pwd passwd",
     r"""(?i)(?:password|passwd|pwd)=([^\s;"'`]{1,256});[ ]?(?:server|data|host|uid|user|database|port|encrypt)""", "meant"),
    ("authorization header", "authorization",
     rf"(?i)authorization(?:{_SHUT})?[ \t]{{0,4}}[:=,][ \t]{{0,4}}(?:{_SHUT})?(?:[a-z-]{{3,10}}[ \t]{{1,4}})?([\w.~+/=:|-]{{8,}})",
     "mixed"),
    ("bearer token", "bearer", r"(?i)(?<![a-z])bearer[ \t]{1,4}([\w.~+/=-]{16,})", "mixed"),
    ("command-line password", "curl wget",
     r"""(?:curl|wget)(?=[ ])[^\n]{0,300}?[ ](?:-u|-U|--user|--proxy-user)[ =]?["']?[^\s:"']{1,99}:([^\s"']{1,99})""", "meant"),
    ("command-line password", "sshpass redis-cli login ldap",
     rf"(?:sshpass|redis-cli|(?:docker|podman|helm|registry)[ ]login|ldap[a-z]{{3,9}})[ ][^\n]{{0,200}}?(?<=[ ])-[paw][ ]?{_ARGUMENT}", "meant"),
    ("command-line password", "mysql mariadb", rf"(?:mysql|mariadb)[a-z-]{{0,9}}[ ][^\n]{{0,200}}?(?<=[ ])-p{_ARGUMENT}", "meant"),
    ("password", "login", r"(?<![\w-])login[ \t]+[^\s]{1,99}[ \t]*\n?[ \t]*password[ \t]+([^\s]{1,256})", "meant"),
    ("high-entropy string", "", r"""(?<=["'`])[A-Za-z0-9+/_=-]{32,128}(?=["'`])""", "entropic"),
)  # fmt: skip

_HUMAN = (
    "pass(?:word|wd|phrase|code)|passwd|pwd|(?<=[_-])(?:pass|pw)|passwort|kennwort|contrase[ñn]a|senha|wachtwoord|mot[ ]de[ ]passe"
    "|[Пп]ароль|密码|密碼|パスワード|비밀번호"
)
_KEYS = (
    "api|access|private|secret|signing|encryption|master|auth|account|shared|service|license|deploy|storage|webhook|client"
    "|session|hmac|jwt|consumer|admin|app"
)
_KEYWORDS = (
    "pass",
    "pwd",
    "pw",
    "wort",
    "contrase",
    "senha",
    "ароль",
    "密",
    "パスワ",
    "비밀",
    "secret",
    "token",
    "key",
    "auth",
    "credential",
)
_ASSIGNMENT = rf"""(?ix)
(?P<word>(?P<human>{_HUMAN})|secret|token|(?:{_KEYS})[-_.\x20]?key|(?<![a-z])o?auth|credentials?)
(?:[-_]?(?:key|value|str|string|base64|b64|base|text|plain|prod|production|dev|staging|test|live|new|old|default|[0-9]{{1,2}})){{0,2}}
(?P<shut>(?:\\?["'`*\]]){{0,3}})
(?:[ \t]{{0,8}}
(?P<sep>:[ \t]{{0,2}}(?:&?str|string|bytes|SecretStr)[ \t]{{0,2}}=|:?={{1,3}}|!={{1,2}}|=>|[?!]?:|：|\||,)[*]{{0,2}}[ \t]{{0,8}}
|>(?=\S)|[ \t]+(?P<verb>is|was|to)[ \t:]+|[ \t]+)"""
_QUOTED = r"""[A-Za-z@]{0,2}(?:\\"(?P<a>[^"\\\n]*)\\"|"(?P<b>(?:[^"\\\n]|\\.)*)"|'(?P<c>(?:[^'\\\n]|\\.)*)'|`(?P<d>[^`\n]*)`)"""
_BARE = r"""[\\"'`]{0,2}([^\s"'`,;<>(){}\[\]|]+)"""
_LITERAL = r"""[\\"'`]{0,2}([^\s"'`]+)"""

# What stands where a secret would: templates and references; words of documentation; digests and ids.
_REFERENCE = r"""(?ix) x{4} | \*{3} | \.\.\. | … | \\[swdb] | ^(?:< | \$\{ | \$\( | \$[a-z_]\w*$ | \$env: | %[a-z_]+%?$ | %\( | \{ | \[
| !(?:vault|ref|sub|secret) | @@ | op:// | vault: | arn: | enc\[ | ref\+ | [a-z][\w+.-]*://) | your[-_.] | ^your"""
_PLACEHOLDER = r"""(?ix) example | placeholder | change[-_]?(?:me|it|this) | replace | insert | dummy | sample | redacted | ^(?:sha\d+|md5|blake\w+|h1)[-:]
| ^[0-7][0-9a-hjkmnp-tv-z]{25}$ | ^[a-z]{2,8}-01[0-9a-hjkmnp-tv-z]{4,}$
| ^(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|none|null|nil|undefined|true|false|string|str|required|optional|invalid|incorrect|expired
|missing|empty|unset|default|test|testing|text|bytes|object|hidden|disabled|enabled|prompt|stdin|env|user(?:name)?|admin|foo|bar|baz|value)$"""
_TERM = r"(?i)(?:md|sha|aes|u?int|utf|oauth|base|varchar|argon|pbkdf|ed|x|[hrep]s|rfc|iso|[pksv]|ec|http|ipv|tls|ssl)\d{1,5}[a-z]{0,4}\d?"
_HASH = r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_MARKER = r"\[redacted: ([A-Za-z0-9. -]{3,40})\]"
_BEGIN = r"-----?[ ]?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ ]?-----?|PuTTY-User-Key-File-\d:"
_END = r"-----?[ ]?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ ]?-----?|Private-MAC: ?[0-9a-f]+"

_BODY = r"""(?:\s|\\[nrt]|[\\"'`+>|#*,/.])*(?:[\w-]{4,20}:|[A-Za-z0-9+/=]*[A-Z0-9+/=][A-Za-z0-9+/=]{9})"""

_JUDGED = 128  # characters of an unquoted value that decide what it is; all of it is masked

_KINDS = {"private key", "session cookie", "password", "token", "key", "secret", "credential"}
_KINDS |= {row[0] for row in _PREFIXED} | {row[0] for row in _PATTERNS} | detectors.KINDS
_Span = tuple[int, int, int, str]  # start, end, rank (the lower names the kind where two overlap), kind


@cache
def _rx(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def scrub(text: str, allow: Sequence[str] = ()) -> Scrubbed:
    """Return the text with each secret replaced by `[redacted: <kind>]`; its other characters stay as they are.

    Idempotent: what is masked is taken out of sight and the rest is searched again until nothing is found.
    A value that a regex of `allow` finds itself in is kept; what is no safe regex is taken as literal text.
    """
    hidden = _hide(text, [m.span() for m in _rx(_MARKER).finditer(text) if m[1] in _KINDS]) if "[redacted: " in text else text
    tests = [_allowance(a) for a in allow if a]
    found: list[_Span] = []
    for _ in range(16):
        own = _detect(hidden)
        # what is allowed must not be seen by the second either, whole or in part
        spans = _kept(own, text, tests) or _kept(_second(_hide(hidden, sorted(s[:2] for s in own))), text, tests)
        if not spans:
            break
        found += spans
        hidden = _hide(hidden, sorted(s[:2] for s in spans))
    return _masked(text, _joined(found)) if found else Scrubbed(text, ())


def scrub_all(value: Any, one: Callable[[str], str] = lambda text: scrub(text).text) -> Any:
    """Return a value of lists, mappings and texts with each text scrubbed; a `blob` is an object id and stays."""
    if isinstance(value, str):
        return one(value)
    if isinstance(value, dict):
        return {k: v if k == "blob" else scrub_all(v, one) for k, v in value.items()}
    return [scrub_all(v, one) for v in value] if isinstance(value, list) else value


def _kept(spans: Iterable[_Span], text: str, allowed: Sequence[re.Pattern[str]]) -> list[_Span]:
    return [s for s in spans if not any(t.search(text[s[0] : s[1]][:160]) for t in allowed)]


def _hide(text: str, spans: list[tuple[int, int]]) -> str:
    """Put line ends over the spans: no detector looks across them, and every position stays."""
    out, at = [], 0
    for start, end in spans:
        if end > at:
            out += [text[at:start], "\n" * (end - max(start, at))]
            at = end
    return "".join(out) + text[at:]


def _joined(spans: list[_Span]) -> list[_Span]:
    out: list[_Span] = []
    for span in sorted(spans):
        if out and span[0] < out[-1][1]:
            first = out.pop()
            out.append((first[0], max(first[1], span[1]), *min(first[2:], span[2:])))
        else:
            out.append(span)
    return out


def _masked(text: str, spans: list[_Span]) -> Scrubbed:
    out, findings, at, line = [], [], 0, 1
    for start, end, _, kind in spans:
        line += text.count("\n", at, start)
        findings.append(Finding(kind, line, text[start : start + min(4, (end - start) // 5)] + "…"))
        line += text.count("\n", start, end)
        out += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return Scrubbed("".join(out) + text[at:], tuple(findings))


@cache
def _allowance(pattern: str) -> re.Pattern[str]:
    """Compile a regex of the allow-list; one that could take exponential time, or is none, matches itself only.

    Repeated groups and back-references are refused, and more than three repetitions.
    """
    plain = re.sub(r"\\[^0-9]", "", pattern)
    if not re.search(r"\)[*+{]|\\[0-9]|\(\?P=", plain) and len(re.findall(r"[*+]|\{\d*,", plain)) <= 3:
        try:
            return re.compile(pattern)
        except Exception:  # noqa: BLE001 - a warning made an error, RecursionError, OverflowError: the user's own text is at fault
            return re.compile(re.escape(pattern))
    return re.compile(re.escape(pattern))


def _detect(text: str) -> list[_Span]:
    spans = list(_key_blocks(text)) if "PRIVATE KEY" in text or "PuTTY-User" in text else []
    for rank, (kind, prefixes, body) in enumerate(_PREFIXED, 1):
        here = [p for p in prefixes.split() if p in text]
        if here:
            rx = _rx(rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, here))}){body}")
            spans += [(*m.span(), rank, kind) for m in rx.finditer(text) if _real(m[0])]
    low, long = text.lower(), None
    for rank, (kind, hints, pattern, check) in enumerate(_PATTERNS, 100):
        if not hints and long is None:
            long = bool(_rx(r"[A-Za-z0-9_+/-]{32}|\d{8}:|[\w-]{24}\.").search(text))
        if any(h in low for h in hints.split()) if hints else long:
            rx, test = _rx(pattern), _CHECKS[check]
            spans += [(*m.span(rx.groups), rank, kind) for m in rx.finditer(text) if test(m[rx.groups])]
    if "cookie" in low:
        spans += _cookies(text)
    if any(w in low for w in _KEYWORDS):
        spans += _assignments(text)
    return spans


def _second(text: str) -> list[_Span]:
    """Ask detect-secrets about what our own formats left."""
    return [(start, end, 400, kind) for start, end, kind in detectors.detect(text) if _real(text[start:end]) and _given(text[start:end])]


def _key_blocks(text: str) -> Iterator[_Span]:
    """Find blocks of private keys; one without an end goes to the end of the text."""
    stops, at, done = [m.end() for m in _rx(_END).finditer(text)], 0, 0
    for begin in _rx(_BEGIN).finditer(text):
        while at < len(stops) and stops[at] <= begin.end():
            at += 1
        end = stops[at] if at < len(stops) else len(text)
        if begin.start() >= done and _rx(_BODY).match(text, begin.end(), end):
            yield begin.start(), end, 0, "private key"
            done = end
    # one whose beginning was cut off: the lines above its end that can be nothing else
    for stop in _rx(_END).finditer(text):
        if stop.start() < done:
            continue
        start = stop.start()
        while start > 0:
            line = text.rfind("\n", 0, start - 1) + 1
            if not _rx(r"[ \t|>E]*[A-Za-z0-9+/=]{16,}[ \t\r]*\n?").fullmatch(text, line, start):
                break
            start = line
        if start < stop.start():
            yield start, stop.end(), 0, "private key"
        done = stop.end()


def _cookies(text: str) -> Iterator[_Span]:
    for header in _rx(r"""(?i)(?:cookie["']?[ \t]{0,4}[:=]|--cookie)[ \t=]{0,4}["']?([^\n"']+)""").finditer(text):
        for pair in _rx(r"""([\w.-]{1,64})=([^;\s,"']{6,})""").finditer(text, *header.span(1)):
            named = _rx(r"(?i)sess|sid|auth|token|jwt|csrf|xsrf|remember|login|ticket").search(pair[1])
            if _given(pair[2]) and (_mixed(pair[2]) or (named and _rx(r"\d").search(pair[2]))):
                yield *pair.span(2), 200, "session cookie"


def _assignments(text: str) -> Iterator[_Span]:
    """Find `name = value` in its many spellings: JSON, YAML, env files, code, flags, tables, plain words."""
    runs: dict[str, tuple[int, int]] = {}
    for key in _rx(_ASSIGNMENT).finditer(text):
        word, sep = key["word"].lower(), key["sep"] or ""
        head = text[max(0, key.start() - 40) : key.start()].rpartition(" ")[2].lstrip("\"'[(`")
        flag = head.startswith("-")
        listed = sep == "," and key["shut"] and text[key.end() : key.end() + 1] in ('"', "'", "`")
        if (sep == "," and not listed) or not (sep or key["verb"] or flag or key[0].endswith(">")):
            continue
        env = flag or (sep == "=" and key["word"].isupper() and not key[0].endswith(" "))
        value = _rx(_QUOTED).match(text, key.end())
        quoted = value is not None
        start, end = value.span(value.lastindex or 0) if value else _run(text, key.end(), _LITERAL if env else _BARE, runs)
        if end < 0:
            continue
        if not quoted:
            if not env and text[end : end + 1] in ("(", "[", "{"):
                continue
            more = _rx(r"&[\w.-]+=").search(text, start, min(end, start + _JUDGED))
            end = start + len(text[start : more.start() if more else end].rstrip(".,:;*)]}\\"))
        unsure = bool(listed) or (key["verb"] is not None and not quoted)
        human = key["human"] is not None or ((quoted or env) and "secret" in word)
        if _secretive(text[start : min(end, start + _JUDGED)], human, quoted, env, unsure):
            kind = "password" if key["human"] else next((k for k in ("token", "key", "secret") if k in word), "credential")
            yield start, end, 300, kind


def _run(text: str, at: int, pattern: str, runs: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Return the span of an unquoted value, (-1, -1) if there is none; `runs` saves reading one long run again for each key in it."""
    first, last = runs.get(pattern, (0, 0))
    if first <= at < last:
        slashes = len(text[at : min(at + 2, last - 1)]) - len(text[at : min(at + 2, last - 1)].lstrip("\\"))
        return at + slashes, last
    value = _rx(pattern).match(text, at)
    if value is None:
        return -1, -1
    runs[pattern] = value.span(1)
    return value.span(1)


def _secretive(value: str, human: bool, quoted: bool, env: bool, unsure: bool) -> bool:
    """Tell whether the value of a name that promises a secret is one. People choose words, machines do not."""
    if len(value) < (6 if human else 8) or not _given(value) or (not quoted and value[0] in "&*([{\\-"):
        return False
    core, digits = value.rstrip("!?"), any(c.isdigit() for c in value)
    letters = any(c.isalpha() for c in value)
    if " " in core or (unsure and not (letters and digits and _strong(core))):
        return False
    if human and digits:
        return not letters or not _wordy(value) or (core.isalnum() and not _rx(_TERM).fullmatch(core))
    if human and (quoted or env):
        if core.isalpha():
            return (env or core.islower()) and len(core) >= (6 if env else 8) and not any(w in core.lower() for w in _KEYWORDS)
        return bool(re.search(r"[^\w\s./:,;()\[\]{}'-]", core))
    return not _wordy(value) and (letters and (digits or len(value) >= 16))


def _strong(value: str) -> bool:
    """Tell a secret where only a sentence or a list suggests one."""
    if _rx(_HASH).fullmatch(value):
        return False
    return len(value) >= (16 if value.isalnum() and value.islower() else 8)


def _wordy(value: str) -> bool:
    """Tell names, paths and versions (`db-password-v2`, `TokenProvider`, `a/b.py`) from what a machine drew."""
    if re.search(r"[^\w./:,@+ ~=-]", value):
        return False
    for part in re.split(r"[^A-Za-z0-9]+", value):
        words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", part)
        size = sum(map(len, words))
        if len(part) > 3 and not _rx(_TERM).fullmatch(part) and (len(part) - size > (3 if words else 4) or size < 2.5 * len(words)):
            return False
    return True


def _real(value: str) -> bool:
    return not re.search(r"(?i)x{6}|\*{3}|\.{3}|…|your|placeholder|<", value)


def _given(value: str) -> bool:
    return not _rx(_REFERENCE).search(value) and not _rx(_PLACEHOLDER).search(value)


def _meant(value: str) -> bool:
    return not _rx(_REFERENCE).search(value) and value not in {"PASSWORD", "PASS", "PWD", "SECRET", "TOKEN"}


def _mixed(value: str) -> bool:
    plain = value.rstrip("=")
    return _real(value) and not _wordy(plain) and not _rx(_HASH).fullmatch(plain)


def _entropic(value: str) -> bool:
    """Tell random text between quotes; digests in base64 have the length of one."""
    sorts = all(re.search(c, value) for c in ("[a-z]", "[A-Z]", "[0-9]"))
    if not sorts or (value.endswith("=") and len(value) in (44, 88)) or not (_mixed(value) and _given(value)):
        return False
    return -sum(n / len(value) * log2(n / len(value)) for n in map(value.count, set(value))) >= 4.5


_CHECKS: dict[str, Callable[[str], bool]] = {"real": _real, "meant": _meant, "mixed": _mixed, "entropic": _entropic}
