"""Formats of secrets, as data: prefixes, patterns, the names that announce one, and what is none.

They are the providers' own, as their documentation, gitleaks and detect-secrets list them. `scrub`
reads them.
"""

from gitmem.base.fast import Lazy

# Kind, prefixes, what follows them. A prefix never starts inside a word.
PREFIXED = (
    ("AWS access key", "AKIA ASIA ABIA ACCA A3T", r"[A-Z0-9]{16,17}(?![A-Za-z0-9])"),
    ("AWS MWS key", "amzn.mws.", r"[0-9a-f-]{36}(?![\w-])"),
    ("AWS Bedrock key", "ABSKQmVkcm9ja", r"[\w+/=-]{40,}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{20,}"),
    (
        "GitLab token",
        "glpat- gldt- glrt- glft- glsoat- glcbt- glimt- glptt- glagent- gloas- glffct- GR1348941",
        r"[\w.-]{19,}\w",
    ),
    (
        "Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp-",
        r"[\w%-]{10,}",
    ),
    (
        "Slack webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"[\w/-]{16,}",
    ),
    (
        "Discord webhook",
        "discord.com/api/webhooks/ discordapp.com/api/webhooks/",
        r"\d{5,}/[\w-]{20,}",
    ),
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
    (
        "Fly token",
        "FlyV1 fo1_ fm1_ fm1r_ fm1a_ fm2_",
        r"[ \w+/=,-]{0,6}[\w+/=-]{40,}(?:,fm\w{1,2}_[\w+/=-]{20,}){0,8}",
    ),
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

SHUT = r"""\\?["'`]"""  # a quote, or one inside another string
DB = (
    r"postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|cockroachdb"
    r"|clickhouse|oracle"
)
# in quotes it goes to the closing one, blanks and all
ARGUMENT = (
    r"""["']?((?<=")[^\s"$-][^"\n]{2,99}(?=")|(?<=')[^\s'-][^'\n]{2,99}(?=')"""
    r"""|[^\s"'-][^\s"']{2,99})"""
)
USER = r"""://[^\s/?#@:"'`<>]{0,128}:"""
HUMAN = (
    "pass(?:word|wd|phrase|code)|passwd|pwd|(?<=[_-])(?:pass|pw)|passwort|kennwort|contrase[ñn]a"
    "|senha|wachtwoord|mot[ ]de[ ]passe"
    "|[Пп]ароль|密码|密碼|パスワード|비밀번호"
)
# Kind, hints in lower case ("" = any long run of letters and digits), pattern (group 1, if any, is
# the secret), check.
PATTERNS = (
    (
        "AWS secret key",
        "aws akia asia secretaccesskey",
        (
            r"(?:(?i:aws|secret_?access_?key)|A[KS]IA[A-Z0-9]{16})[^\n]{0,60}?(?<![\w/+])"
            r"([\w/+]{40})"
            r"(?![\w/+=])"
        ),
        "mixed",
    ),
    ("OpenAI key", "sk-", r"(?<![A-Za-z0-9])sk-[\w-]{20,}", "mixed"),
    ("JWT", "eyj", r"(?<![\w-])eyJ[\w=-]{10,}\.(?:[\w=-]{10,}|(?=\.))(?:\.[\w=-]+){0,3}", "real"),
    ("Discord token", "", r"(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])", "real"),
    ("Telegram token", "", r"(?<!\d)\d{8,10}:[\w-]{35}(?![\w-])", "mixed"),
    ("Twilio key", "", r"(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])", "real"),
    ("Mailgun key", "", r"(?<![\w-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])", "real"),
    ("Mailchimp key", "-us", r"(?<![\w-])[0-9a-f]{32}-us\d{1,2}(?!\d)", "real"),
    (
        "Terraform token",
        ".atlasv1.",
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}",
        "real",
    ),
    (
        "Azure storage key",
        "accountkey sharedaccesskey",
        r"(?i:AccountKey|SharedAccessKey)=([\w+/=-]{20,})",
        "real",
    ),
    ("Azure signature", "sig=", r"[?&;]sig=([\w%+/=-]{20,})", "mixed"),
    ("Azure client secret", "q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{30,33}[\w~]", "real"),
    (
        "Teams webhook",
        "webhook.office.com/",
        r"webhook\.office\.com/webhookb2/([\w@/-]{40,})",
        "real",
    ),
    (
        "Cloudflare key",
        "cloudflare cf_",
        r"(?:(?i:cloudflare)|CF_)[^\n]{0,60}?(?<![\w/+-])([\w-]{40})(?![\w/+-])",
        "mixed",
    ),
    (
        "SoftLayer key",
        "api.softlayer.com",
        r"(?i)api\.softlayer\.com/soap/v3(?:\.1)?/([a-z0-9]{64})",
        "real",
    ),
    (
        "connection string password",
        "://",
        rf"{USER}([^\s/?#\"'`<>]{{1,256}})@(?!sha\d|[\s@])",
        "meant",
    ),
    (
        "connection string password",
        "://",
        rf"(?i:{DB}){USER}(?!\d+/)([^\s/?#@,\"'`<>]{{0,128}}[/?#][^\s@,\"'`<>]{{0,128}})@",
        "meant",
    ),
    (
        "connection string password",
        "://",
        r"://([^\s/?#@:\"'`<>]{16,256})(?::(?:x-oauth-basic)?)?@",
        "mixed",
    ),
    (
        "connection string password",
        "thin:",
        r"(?i)thin:[^\s/@:]{1,64}/([^\s@\"'`]{1,128})@",
        "meant",
    ),
    (
        "connection string password",
        "password pwd passwd",
        r"""(?i)[;?&][ ]?(?:password|passwd|pwd)=([^\s;&"'`<>]{1,256})""",
        "meant",
    ),
    (
        "connection string password",
        "password pwd passwd",
        (
            r"""(?i)(?:password|passwd|pwd)=([^\s;"'`]{1,256});[ ]?(?:server|data|host|uid|user"""
            r"""|database|port|encrypt)"""
        ),
        "meant",
    ),
    (
        "authorization header",
        "authorization",
        (
            rf"(?i)authorization(?:{SHUT})?[ \t]{{0,4}}[:=,][ \t]{{0,4}}(?:{SHUT})?"
            rf"(?:[a-z-]{{3,10}}[ \t]{{1,4}})?([\w.~+/=:|-]{{8,}})"
        ),
        "mixed",
    ),
    ("bearer token", "bearer", r"(?i)(?<![a-z])bearer[ \t]{1,4}([\w.~+/=-]{16,})", "mixed"),
    (
        "command-line password",
        "curl wget",
        (
            r"""(?:curl|wget)(?=[ ])(?:[^\n]|\\\n){0,200}?[ ]-(?:[A-Za-z#]{0,6}u|U|-user"""
            r"""|-proxy-user)[ =]?["']?[^\s:"']{1,99}:([^\s"']{1,99})"""
        ),
        "meant",
    ),
    (
        "command-line password",
        "sshpass redis-cli login ldap",
        (
            rf"(?:sshpass|redis-cli|(?:docker|podman|helm|registry)[ ]login"
            rf"|ldap[a-z]{{3,9}})[ ][^\n]{{0,200}}?(?<=[ ])-[paw][ ]?(?!\d+(?![^\s])){ARGUMENT}"
        ),
        "meant",
    ),
    (
        "command-line password",
        "mysql mariadb",
        rf"(?:mysql|mariadb)[a-z-]{{0,9}}[ ][^\n]{{0,200}}?(?<=[ ])-p{ARGUMENT}",
        "meant",
    ),
    (
        "command-line password",
        "openssl",
        (
            rf"openssl[ ][^\n]{{0,200}}?[ ]-(?:k|K|pass|passin|passout"
            rf"|password)[ ](?:pass:)?(?!(?:file"
            rf"|env|fd):|stdin){ARGUMENT}"
        ),
        "meant",
    ),
    (
        "command-line password",
        "zip",
        rf"(?<![\w.])(?:un)?zip[ ](?:[^\n]{{0,200}}?[ ])??-[a-z]{{0,6}}P[ ]?{ARGUMENT}",
        "meant",
    ),
    (
        "command-line password",
        "7z rar",
        rf"(?<![\w.])(?:7z[ar]?|rar|unrar)[ ][^\n]{{0,200}}?(?<=[ ])-h?p{ARGUMENT}",
        "meant",
    ),
    (
        "command-line password",
        "htpasswd",
        (
            r"htpasswd[ ](?=[^\n|;]{0,99}?-[A-Za-z]{0,6}b)[^\n|;]{0,160}?[ ]"
            r"([^\s|;>&-][^\s|;>&]{2,99})"
            r"(?=[ ]*(?:$|[\n|;>&'\"`)]))"
        ),
        "meant",
    ),
    (
        "command-line password",
        "chpasswd",
        (
            r"""(?:echo|printf)[ ](?:-\w+[ ])?["']?[^\s:"'|]{1,64}:"""
            r"""([^\s"'|]{3,99})["']?[^\n|]{0,20}\|[ ]*(?:sudo[ ])?chpasswd"""
        ),
        "meant",
    ),
    (
        "command-line password",
        "stdin sudo cryptsetup passphrase-fd",
        (
            r"""(?:echo|printf)[ ](?:-\w+[ ])?["']?([^\s"'|$][^\s"'|]{2,99})["']?[ ]*\|"""
            r"""[^\n|]{0,80}?"""
            r"""(?:--(?:password-)?stdin|sudo[ ]-S|cryptsetup|--passphrase-fd)"""
        ),
        "meant",
    ),
    (
        "command-line password",
        "<<<",
        (
            r"""(?:sudo[ ]-\w{0,4}S|cryptsetup|passwd|--(?:password-)?stdin"""
            r"""|--passphrase-fd)[^\n|]{0,80}?<<<[ ]?["']?([^\s"'$][^\s"']{2,99})"""
        ),
        "meant",
    ),
    (
        "command-line password",
        "wpa_passphrase nmcli",
        (
            rf"(?:wpa_passphrase[ ]+(?:\"[^\"\n]{{1,64}}\"|[^\s]{{1,64}})"
            rf"|nmcli[ ][^\n]{{0,160}}?[ ]password)[ ]+(?=[^\s]{{8}}){ARGUMENT}"
        ),
        "meant",
    ),
    (
        "password hash",
        "$2 $1$ $5$ $6$ $y$ $7$ $apr1$ $argon2 $pbkdf2 $scrypt pbkdf2_ {ssha {sha",
        (
            r"(?:\$(?:2[abxy]?\$\d\d|1|5|6|7|y|apr1|argon2(?:id|i|d)|pbkdf2[\w-]{0,12}|scrypt)\$"
            r"|pbkdf2_sha\d+\$\d|(?i:\{S?(?:SHA|MD5)\d{0,3}\}))[\w./$+,=-]{20,}"
        ),
        "real",
    ),
    (
        "password",
        "identified password",
        (
            r"(?i)(?:(?:with|encrypted|set)[ ]+password"
            r"|user[ ][^\n]{0,80}?identified(?:[ ]+with[ ]+[\w']{1,40})?[ ]+by)[ ]+(?:as[ ]+)?['\"]"
            r"([^'\"\n]{4,128})['\"]"
        ),
        "given",
    ),
    (
        "password",
        ":5432: :5433: :3306: :1433: :*: pgpass",
        (
            r"(?<![\w.*:-])[\w.*-]{1,99}:(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s:]{4,99})"
            r"(?![\w:])"
        ),
        "chosen",
    ),
    (
        "password",
        "pass pwd wort contrase senha ароль 密码 密碼 パスワ 비밀",
        (
            rf"(?i)(?:{HUMAN})(?:[^\n.:=?!]{{0,60}}?[ ])?(?:(?<=[ ])(?:is|was|é|era|es|ist|lautet"
            rf"|est"
            rf"|sera|será|to)[ ]{{1,2}}|(?:[ ]?(?:是|为|は|：|:)[ ]?))(?:now[ ]"
            rf"|set[ ]to[ ])?[\"'`“]?([^\s\"'`”,;。]{{6,64}})"
        ),
        "chosen",
    ),
    ("token", "export", r"""export[ ]+[A-Za-z_]\w*=["']([^\s"']{16,256})["']""", "drawn"),
    (
        "basic authorization",
        "basic",
        r"(?i)(?<![a-z])basic[ \t]{1,4}([A-Za-z0-9+/]{8,}={0,2})",
        "pair",
    ),
    ("password", "auth", r"""(?i)["']auth["'][ ]*:[ ]*["']([A-Za-z0-9+/]{8,}={0,2})["']""", "pair"),
    (
        "password",
        "login",
        r"(?<![\w-])login[ \t]++[^\s]{1,99}[ \t]*+\n?[ \t]*+password[ \t]+([^\s]{1,256})",
        "meant",
    ),
    ("high-entropy string", "", r"""(?<=["'`])[A-Za-z0-9+/_=-]{32,128}(?=["'`])""", "entropic"),
)

# a word that announces a password, and what has the form of one: letters, digits and a sign, as
# nobody writes a word
NEAR_WORDS = (
    "pass",
    "pwd",
    "pw",
    "wort",
    "contrase",
    "clave",
    "senha",
    "psk",
    "credential",
    "login",
    "user",
    "ароль",
    "密",
    "パスワ",
    "비밀",
    " -p",
    " -n ",
    " -w ",
)
NEAR = (
    rf"(?i)(?:{HUMAN}|(?<![a-z])(?:store|key)?pass(?![a-z])|(?<![a-z])(?:pwd?|clave|psk"
    rf"|credentials?|log[io]n|add_?user|useradd|net user)(?![a-z])|(?<=[ ])-(?:p|P|N|w|U)(?=[ ]))"
)
CHOSEN = (
    r"""(?<![^\s"'`=:：>|/(%は是])(?=[^\s"'`]{0,40}?\d)(?=[^\s"'`]{0,40}?[A-Za-z])"""
    r"""(?=[^\s"'`]{0,40}?[!$%#?+@&*^~])[A-Za-z0-9!$%#?+@&*^~_.-]{7,64}(?<![.,;:])"""
)
NOT_CHOSEN = (
    r"^[$%@#&*-]|^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$|@\d|\+\+|\.\w{2,4}$|\?\w+$(?<=\?[a-z]{9})|%[a-z]$"
    r"|%\d*[sdif]|&&|^[\d.%+-]+[a-z]?$"
)
KEYS = (
    "api|access|private|secret|signing|encryption|master|auth|account|shared|service|license|deploy"
    "|storage|webhook|client"
    "|session|hmac|jwt|consumer|admin|app"
)
KEYWORDS = (
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
ASSIGNMENT = rf"""(?ix)
(?P<word>(?P<human>{HUMAN})|secret|token|(?:{KEYS})[-_.\x20]?key|(?<![a-z])o?auth|credentials?)
(?:[-_]?(?:key|value|str|string|base64|b64|base|text|plain|prod|production|dev|staging|test|live|new|old|default|[0-9]{{1,2}})){{0,2}}
(?P<shut>(?:\\?["'`*\]]){{0,3}})
(?:[ \t]{{0,8}}
(?P<sep>:[ \t]{{0,2}}(?:&?str|string|bytes|SecretStr)[ \t]{{0,2}}=|:?={{1,3}}|!={{1,2}}|=>|[?!]?:|：|\||,)[*]{{0,2}}[ \t]{{0,8}}
|>(?=\S)|[ \t]+(?P<verb>is|was|to)[ \t:]+|[ \t]+)"""
QUOTED = (
    r"""[A-Za-z@]{0,2}(?:\\"(?P<a>[^"\\\n]*)\\"|"(?P<b>(?:[^"\\\n]|\\.)*)"|'(?P<c>(?:[^'\\\n]"""
    r"""|\\.)*)'|`(?P<d>[^`\n]*)`)"""
)
BARE = r"""[\\"'`]{0,2}([^\s"'`,;<>(){}\[\]|]+)"""
LITERAL = r"""[\\"'`]{0,2}([^\s"'`]+)"""

# What stands where a secret would: templates and references; words of documentation; digests and
# ids.
REFERENCE = r"""(?ix) x{4} | \*{3} | \.\.\. | … | \\[swdb] | ^(?:< | \$\{ | \$\( | \$[a-z_]\w*$ | \$env: | %[a-z_]+%?$ | %\( | \{ | \[
| !(?:vault|ref|sub|secret) | @@ | op:// | vault: | arn: | enc\[ | ref\+ | [a-z][\w+.-]*://) | your[-_.] | ^your"""
PLACEHOLDER = r"""(?ix) example | placeholder | change[-_]?(?:me|it|this)(?!\S{0,20}\d) | replace | insert | dummy | sample | redacted | ^(?:sha\d+|md5|blake\w+|h1)[-:]
| ^[0-7][0-9a-hjkmnp-tv-z]{25}$ | ^[a-z]{2,8}-01[0-9a-hjkmnp-tv-z]{4,}$
| ^(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|none|null|nil|undefined|true|false|string|str|required|optional|invalid|incorrect|expired
|missing|empty|unset|default|test|testing|text|bytes|object|hidden|disabled|enabled|prompt|stdin|env|user(?:name)?|admin|foo|bar|baz|value)$"""
TERM = (
    r"(?i)(?:md|sha|aes|u?int|utf|oauth|base|varchar|argon|pbkdf|ed|x|[hrep]s|rfc|iso|[pksv]|ec"
    r"|http|ipv|tls|ssl)\d{1,5}[a-z]{0,4}\d?"
)
HASH = r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
MARKER = r"\[redacted: ([A-Za-z0-9. -]{3,40})\]"
BEGIN = r"-----?[ ]?BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ ]?-----?|PuTTY-User-Key-File-\d:"
END = r"-----?[ ]?END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[ ]?-----?|Private-MAC: ?[0-9a-f]+"

BODY = (
    r"""(?:\s|\\[nrt]|[\\"'`+>|#*,/.])*+(?:[\w-]{4,20}:"""
    r"""|[A-Za-z0-9+/=]*[A-Z0-9+/=][A-Za-z0-9+/=]{9})"""
)


# commands and options that take a password, and words in front of `user:password`
_TAKES_PASSWORD = ("-u", " -a ", "sqlcmd", "bcp", "mongo", "lftp", "ncftp", "net use", "sqlplus")
_NAMES_ACCOUNT = ("use ", "with ", "mit ", "con ", "com ", "avec ")


def harmless(text: str) -> bool:
    """Return whether a text can be seen at once to hold no secret.

    It has no name that announces one, no prefix of one, and nothing long with digits in it.

    For hooks, which would pay for the detectors with each command; what is not harmless at once is
    asked of them.
    """
    low = text.lower()
    if "private" in low or "ｐｒｉｖａｔｅ" in low:
        return False
    if (
        any(near in low for near in NEAR_WORDS)
        and any(c.isdigit() for c in text)
        and any(c in "!$%#?+@&*^~" for c in text)
    ):
        return False
    if any(c.isdigit() for c in text):
        if any(command in low for command in _TAKES_PASSWORD):
            return False
        if (":" in text or "/" in text) and any(word in low for word in _NAMES_ACCOUNT):
            return False
    if text.count(" ") > 10 and _is_list_of_words(text):
        return False
    if any(hint in low for hint in _HINTS) or any(prefix in text for prefix in _PREFIXES):
        return False
    return not any(
        len(word) >= 15
        and (any(c.isdigit() for c in word) or (len(word) >= 24 and word != word.lower()))
        for word in text.split()
    )


def _is_list_of_words(text: str) -> bool:
    """Return whether a line may be a mnemonic: only short lower-case words, at least a dozen."""
    for line in text.split("\n"):
        words = line.strip(" \t\"'`.").split()
        if len(words) > 11 and all(
            3 <= len(word.rstrip(",")) <= 8 and word.islower() for word in words
        ):
            return True
    return False


_PREFIXES = tuple(prefix for _, prefixes, _ in PREFIXED for prefix in prefixes.split())
# words that may announce a chosen password, besides KEYWORDS
_ANNOUNCING = (
    "clave",
    "parola",
    "psk",
    "zugang",
    "cred",
    "identifi",
    "login",
    "net use",
    "sqlplus",
    "lftp",
    "ncftp",
    "sqlcmd",
    "enable ",
    "mnemonic",
    "seed ",
    "wallet",
)
_HINTS = frozenset(
    {
        *KEYWORDS,
        *_ANNOUNCING,
        "cookie",
        "putty",
        *(hint for _, hints, _, _ in PATTERNS for hint in hints.split()),
    }
)


# the mark as it is typed, in entities, as JSON escapes it, in full width; with attributes, in any
# case
_OPEN, _CLOSE = (
    r"(?:\\{0,4}<|&(?:amp;)?(?:lt|\#0{0,6}60|\#x0{0,6}3c);|\\{1,4}u003c|%3c|[＜﹤‹〈])",
    r"(?:\\{0,4}>|&(?:amp;)?(?:gt|\#0{0,6}62|\#x0{0,6}3e);|\\{1,4}u003e|%3e|[＞﹥›〉])",
)
# what is in no attribute: each mark is read to the next one at most
_ATTRIBUTE = rf"(?:[^<>＜＞﹤﹥‹›〈〉&%\\]|(?!{_OPEN}|{_CLOSE})[&%\\])"
_GAP = r"[\s\u200b-\u200d\u2060\ufeff]"  # what may stand between, seen or not
# where something else opens in the attributes of a mark that opens, the mark ends there: too much
# is hidden, not too little
_ENDS = rf"(?:{_CLOSE}|(?(1)(?!)|(?={_OPEN})))"
_MARK = Lazy(
    rf"(?ix){_OPEN} {_GAP}{{0,9}} (?:(/){_GAP}{{0,9}})? (?:private"
    rf"|ｐｒｉｖａｔｅ) (?:{_GAP}{{0,9}}/?{_CLOSE}|\s{_ATTRIBUTE}*+{_ENDS})"
)


def may_be_private(text: str) -> bool:
    """Say whether a text may hold the mark of a private part."""
    low = text.lower()
    return "private" in low or "ｐｒｉｖａｔｅ" in low


def public(text: str, *, keeps_lines: bool = False) -> str:
    """Return a text without what stands between `<private>` and `</private>`.

    A mark without an end hides the rest, and an end without a mark what is before it: the part
    began in a text that is not here.

    With `keeps_lines`, the ends of lines in it stay.
    """
    if not may_be_private(text):
        return text
    kept: list[str] = []
    depth = at = 0
    for mark in _MARK.finditer(text):
        if not depth and not mark[1]:
            kept.append(text[at : mark.start()])
            at = mark.start()
        elif not depth:
            kept = []
            at = 0
        if keeps_lines:
            kept.append("\n" * text.count("\n", at, mark.end()))
        depth = max(0, depth - 1) if mark[1] else depth + 1
        at = mark.end()
    if not depth:
        kept.append(text[at:])
    elif keeps_lines:
        kept.append("\n" * text.count("\n", at))
    return "".join(kept)
