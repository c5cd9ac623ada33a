"""Secrets in 50 forms, and texts that only look like secrets. All values are drawn from a seed: none is real, and none stands in this file."""

import base64
import random
import string
import uuid
from collections.abc import Callable, Iterator

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM, HEX = UPPER + LOWER + DIGITS, "0123456789abcdef"


class Draw:
    """Values as providers and people make them."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        """Return letters of an alphabet; of letters and digits with at least one of each."""
        while True:
            out = "".join(self._random.choice(alphabet) for _ in range(length))
            if alphabet is not ALNUM or (
                any(c.isdigit() for c in out)
                and any(c.isupper() for c in out)
                and any(c.islower() for c in out)
            ):
                return out

    def word(self) -> str:
        """Return a password as a person chooses one."""
        names = ("Tiger", "Sommer", "Kaffee", "Lisboa", "Dragon", "Monday", "Ocean", "Falcon")
        signs = "!$%#?+"
        return f"{self._random.choice(names)}{self._random.choice(signs)}{self._random.randrange(10, 9999)}{self.of(LOWER, 2)}"

    def b64(self, text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    def jwt(self) -> str:
        parts = (
            self.b64('{"alg":"HS256"}'),
            self.b64('{"sub":"' + self.of(DIGITS, 10) + '"}'),
            self.of(ALNUM + "_-", 43),
        )
        return ".".join(part.rstrip("=") for part in parts)


Form = Callable[[Draw], tuple[str, str]]  # the text, and the secret in it


def _at(template: str, value: Callable[[Draw], str]) -> Form:
    def made(draw: Draw) -> tuple[str, str]:
        secret = value(draw)
        return template.replace("@@", secret), secret

    return made


WORD: Callable[[Draw], str] = Draw.word
FORMS: dict[str, Form] = {
    "AWS access key": _at(
        "the uploader uses @@ in eu-west-1", lambda d: "AK" + "IA" + d.of(UPPER + "234567", 16)
    ),
    "AWS secret key": _at("aws_secret_access_key = @@", lambda d: d.of(ALNUM + "/+", 40)),
    "GitHub token": _at("git clone fails with @@", lambda d: "gh" + "p_" + d.of(ALNUM, 36)),
    "GitHub fine-grained token": _at(
        "use @@ for CI", lambda d: "github" + "_pat_" + d.of(ALNUM, 22) + "_" + d.of(ALNUM, 59)
    ),
    "Stripe key": _at("Stripe answers 401 for @@", lambda d: "sk" + "_live_" + d.of(ALNUM, 24)),
    "JWT": _at("the request had @@ in it", Draw.jwt),
    "GitLab token": _at("pushed with @@", lambda d: "gl" + "pat-" + d.of(ALNUM, 20)),
    "Slack token": _at(
        "posting fails: @@", lambda d: "xo" + "xb-" + d.of(DIGITS, 12) + "-" + d.of(ALNUM, 24)
    ),
    "npm token": _at(
        "//registry.example.org/:_authToken=@@", lambda d: "np" + "m_" + d.of(ALNUM, 36)
    ),
    "Google API key": _at("maps key @@ is restricted", lambda d: "AI" + "za" + d.of(ALNUM, 35)),
    "SendGrid key": _at(
        "mail key @@", lambda d: "SG" + "." + d.of(ALNUM, 22) + "." + d.of(ALNUM, 43)
    ),
    "PGPASSWORD": _at("PGPASSWORD=@@ psql -h db -U app", WORD),
    "JSON password": _at('{"user": "app", "password": "@@"}', WORD),
    "JSON password in a sentence": _at('The service needs "password": "@@" in its config', WORD),
    "Terraform": _at('db_password = "@@"', WORD),
    "properties": _at("spring.datasource.password=@@", WORD),
    "YAML": _at("database:\n  password: @@\n", WORD),
    "XML": _at("<user>app</user><password>@@</password>", WORD),
    "dotenv": _at("DB_PASS=@@", WORD),
    "quoted export": _at("export API_TOKEN='@@'", lambda d: d.of(ALNUM, 24)),
    "quoted export of words": _at("export DB_PASSWORD='@@'", lambda d: f"{d.word()} {d.word()}"),
    "quoted export of any name": _at("export SIGNING_SALT='@@'", lambda d: d.of(ALNUM, 32)),
    "Docker auth": lambda d: (lambda s: ('{"auths": {"ghcr.io": {"auth": "' + s + '"}}}', s))(
        d.b64("deploy:" + d.word())
    ),
    "openssl -k": _at("openssl enc -aes-256-cbc -in a -out b -k @@", WORD),
    "openssl -pass": _at("openssl pkcs12 -export -in c.pem -passout pass:@@", WORD),
    "zip -P": _at("zip -P @@ -r backup.zip data", WORD),
    "7z -p": _at("7z a -p@@ backup.7z data", WORD),
    "chpasswd": _at("echo 'ada:@@' | chpasswd", WORD),
    "passwd --stdin": _at('echo "@@" | passwd --stdin ada', WORD),
    "htpasswd": _at("htpasswd -bc /etc/nginx/.htpasswd ada @@", WORD),
    "bcrypt": _at("ada:@@", lambda d: "$2" + "b$12$" + d.of(ALNUM + "./", 53)),
    "shadow": _at(
        "root:@@:19000:0:99999:7:::",
        lambda d: "$6" + "$" + d.of(ALNUM, 16) + "$" + d.of(ALNUM + "./", 86),
    ),
    "apr1": _at("ada:@@", lambda d: "$apr" + "1$" + d.of(ALNUM, 8) + "$" + d.of(ALNUM + "./", 22)),
    "prose": _at("For staging the password is @@, ask Ada for the rest.", WORD),
    "prose in Portuguese": _at("A senha do servidor é @@.", WORD),
    "prose in Spanish": _at("La contraseña de la base es @@.", WORD),
    "prose in German": _at("Das Passwort lautet @@", WORD),
    "prose in French": _at("le mot de passe est @@", WORD),
    "prose in Chinese": _at("数据库密码是 @@", WORD),
    "basic authorization": lambda d: (
        lambda s: (f"curl -H 'Authorization: Basic {s}' https://api.example.org", s)
    )(d.b64("ada:" + d.word())),
    "bearer": _at(
        'curl -H "Authorization: Bearer @@" https://api.example.org', lambda d: d.of(ALNUM, 40)
    ),
    "Kubernetes secret": lambda d: (
        lambda s: (
            f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: {s}\n",
            s,
        )
    )(d.b64(d.word())),
    "Kubernetes secret of any name": lambda d: (
        lambda s: (f"kind: Secret\ndata:\n  db-url: {s}\n", s)
    )(d.b64("postgres://app:" + d.word() + "@db/shop")),
    "kubectl literal": _at("kubectl create secret generic db --from-literal=password=@@", WORD),
    "URL": _at("postgres://app:@@@db.example.org/shop", lambda d: d.of(ALNUM, 14)),
    "curl -u": _at("curl -u ada:@@ https://api.example.org", WORD),
    "mysql -p": _at("mysql -u root -p@@ shop", WORD),
    "sshpass": _at("sshpass -p @@ ssh ada@host", WORD),
    "netrc": _at("machine api.example.org login ada password @@", WORD),
    "pgpass": _at("db.example.org:5432:shop:app:@@", WORD),
    "gpg passphrase": _at("gpg --batch --passphrase @@ -d a.gpg", WORD),
    "flag": _at("deploy --api-token @@ --env prod", lambda d: d.of(ALNUM, 28)),
    "SQL": _at("ALTER USER app WITH PASSWORD '@@';", WORD),
    "SQL identified by": _at("CREATE USER app IDENTIFIED BY '@@';", WORD),
    "Dockerfile": _at("ENV SECRET_KEY=@@", lambda d: d.of(ALNUM, 40)),
    "code": _at('connect(host="db", password="@@")', WORD),
    "private key": lambda d: (
        lambda s: (
            f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{s}\n-----END RSA PRIVATE {'KEY'}-----",
            s,
        )
    )(d.of(ALNUM + "+/", 64)),
    "wifi": _at("wpa_passphrase office @@", WORD),
}


def secrets(seed: int, each: int = 3) -> Iterator[tuple[str, str, str]]:
    """Yield (form, text, secret)."""
    draw = Draw(seed)
    for name, form in FORMS.items():
        for _ in range(each):
            yield (name, *form(draw))


PLAIN = """
The password is stored in the vault
The password is wrong, it says
the password is required for this step
Reset the password before you log in
password = os.environ["DB_PASSWORD"]
password = getpass.getpass()
def hash_password(password: str) -> str:
if password != confirm_password: raise ValueError("passwords differ")
password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt())
token: str = Field(default="")
const token = await getToken(user.id)
api_key = settings.api_key
self.secret_key = secret_key
"password": "<password>"
"password": "********"
"password": "${DB_PASSWORD}"
password: changeme
DB_PASSWORD=${DB_PASSWORD:?missing}
export API_TOKEN='<your token>'
export EDITOR='vim -u NONE'
export PATH='/usr/local/bin:/usr/bin'
export LANG='en_US.UTF-8'
export JAVA_HOME='/usr/lib/jvm/java-17-openjdk-amd64'
openssl rand -base64 32
openssl x509 -in cert.pem -noout -text
openssl enc -aes-256-cbc -in a -out b -k $PASS
zip -r backup.zip data
zip -P "$ZIP_PASSWORD" backup.zip data
7z a backup.7z data
passwd root
htpasswd -c /etc/nginx/.htpasswd ada
echo "$NEW" | passwd --stdin ada
Authorization: Bearer <token>
Authorization: Basic <base64 of user:password>
curl -H "Authorization: Bearer $TOKEN" https://api.example.org
A senha é obrigatória
A senha do usuário é guardada no cofre
La contraseña es incorrecta
Das Passwort ist falsch
le mot de passe est obligatoire
密码是必填项
mysql -u root -p shop
curl -u "$USER:$PASS" https://api.example.org
postgres://app:password@localhost/shop
postgres://user:${PASSWORD}@db/shop
kind: Secret
kind: ConfigMap
PasswordInput renders a field of type password
TokenProvider refreshes the token when it expires
the token bucket has 100 tokens per minute
key = (row["store"], row["id"])
primary_key=True, autoincrement=True
secretsmanager.get_secret_value(SecretId="prod/db")
auth: OAuth2PasswordBearer(tokenUrl="token")
the auth middleware runs before the router
keyboard-interactive authentication is off
PASSWORD_MIN_LENGTH = 12
password_reset_token_generator.make_token(user)
assert response.json()["token"]
{"auth": {"provider": "github", "scopes": ["repo"]}}
X-Request-Id: 7f3a9c12
ALTER USER app WITH PASSWORD :password;
CREATE USER app IDENTIFIED BY %s;
gpg --batch --passphrase-fd 0 -d a.gpg
ENV SECRET_KEY_FILE=/run/secrets/secret_key
kubectl create secret generic db --from-env-file=.env
machine api.example.org login ada
localhost:5432:shop:app
12:30:45:200:300
See RFC 7519 for JWT; the header begins with eyJ
use a passphrase of at least four words
the passphrase is asked for at the start
the key is the user's id
The api key is read from the environment
our secret is good documentation
Set password: true in the options
sha256sum -c SHA256SUMS
the pin is 4 digits
the sessions table has a token column of 64 characters
docker login ghcr.io
sshpass -f ~/.pass ssh ada@host
redis-cli -h cache ping
signing_key_id = "main-2026"
wpa_passphrase asks for the network and the phrase
""".strip().split("\n")


def lookalikes(seed: int, each: int = 16) -> Iterator[str]:
    """Yield texts without secrets: plain ones, and ids, digests and pictures drawn from a seed."""
    yield from PLAIN
    draw, numbers = Draw(seed), random.Random(seed)
    for _ in range(each):
        yield f"fixed in {draw.of(HEX, 40)}"
        yield f"see {draw.of(HEX, 10)} and {draw.of(HEX, 7)}"
        yield f"{draw.of(HEX, 64)}  dist/app-{numbers.randrange(9)}.2.1.tar.gz"
        yield f"request {uuid.UUID(int=numbers.getrandbits(128))} failed"
        yield f"image: ghcr.io/shop/api@sha256:{draw.of(HEX, 64)}"
        yield f'"integrity": "sha512-{base64.b64encode(numbers.randbytes(64)).decode()}"'
        yield f"github.com/pkg/errors v0.9.1 h1:{base64.b64encode(numbers.randbytes(32)).decode()}"
        yield f"![logo](data:image/png;base64,iVBORw0KGgo{base64.b64encode(numbers.randbytes(120)).decode()})"
        yield f"the trace id is {draw.of(HEX, 32)}"
        yield f"mem-01{draw.of('0123456789abcdefghjkmnpqrstvwxyz', 24)} supersedes it"
        yield f"md5 {draw.of(HEX, 32)} of {draw.of(LOWER, 6)}.bin"
        yield f"listening on [fe80::{draw.of(HEX, 4)}:{draw.of(HEX, 4)}:{draw.of(HEX, 4)}]:8080"
        yield f"handle_{draw.of(LOWER, 8)}_{draw.of(LOWER, 9)}_in_background_worker_{numbers.randrange(100)} is slow"
        yield f"tests/fixtures/{draw.of(LOWER, 7)}_{numbers.randrange(2000, 2030)}-11-0{numbers.randrange(1, 9)}/output.snap"
