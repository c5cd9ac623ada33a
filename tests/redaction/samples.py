"""Secrets and look-alikes as they stand in files, commands and messages. A half of them, by hash, was kept back when rules were written."""

import hashlib

# `@@` is a password as people choose one, `%%` a token as machines draw one
SECRETS = """
"password": "@@"
{"user": "ada", "password": "@@", "port": 5432}
{"db": {"pass": "@@"}}
{'passwd': '@@'}
db_password = "@@"
password: @@
PASSWORD=@@
DB_PASS=@@
MYSQL_ROOT_PASSWORD: @@
export PGPASSWORD=@@
variable "db_password" { default = "@@" }
variable "admin_password" {\\n  type = string\\n  default = "@@"\\n}
master_password = "@@"
spring.datasource.password=@@
jdbc.password: @@
[db]\\npass = "@@"
[client]\\nuser = root\\npassword = @@
[mail]\\nsmtp_pass = '@@'
<add key="DbPassword" value="@@"/>
<property name="password" value="@@"/>
<password>@@</password>
<Password value="@@" />
<user name="ada" password="@@"/>
<entry key="db.password">@@</entry>
<connectionString>Server=db;User Id=sa;Password=@@;</connectionString>
string password = "@@";
private static final String PASSWORD = "@@";
$password = '@@';
define('DB_PASSWORD', '@@');
'password' => '@@',
:password => "@@"
password: "@@",
dbPassword := "@@"
const dbPassword = `@@`
let secret = "@@"
conn = connect(user="ada", password="@@")
setPassword("@@")
.withPassword("@@")
os.environ["DB_PASSWORD"] = "@@"
ENV ADMIN_PASSWORD=@@
- POSTGRES_PASSWORD=@@
- name: ADMIN_PASSWORD\\n  value: "@@"
ansible_password: @@
ansible_become_pass: @@
vault_password: '@@'
mysql -u root -p'@@' shop
mysql --password=@@ shop
sqlcmd -S db -U sa -P @@
sqlplus system/@@@db
keytool -genkey -storepass @@ -alias a
keytool -list -keypass @@
lftp -u ada,@@ ftp.example.org
net use Z: \\\\\\\\srv\\\\share /user:ada @@
net user ada @@ /add
smbclient //srv/share -U ada%@@
mount -t cifs //srv/s /mnt -o username=ada,password=@@
curl -u ada:@@ https://api.example.org
curl --user ada:@@ https://api.example.org
wget --user=ada --password=@@ https://example.org
http -a ada:@@ example.org
sshpass -p @@ ssh root@host
psql "host=db user=ada password=@@"
redis-cli -a @@ ping
mongo -u ada -p @@ --authenticationDatabase admin
mongosh --username ada --password @@
ldapsearch -D cn=admin -w @@
docker login -u ada -p @@ registry.example.org
helm registry login -u ada -p @@ example.org
az login -u ada@example.org -p @@
openssl enc -aes256 -k @@
gpg --passphrase @@ -d a.gpg
zip -P @@ a.zip b
7z x a.7z -p@@
rar x -p@@ a.rar
unzip -P @@ a.zip
ansible-vault --vault-password @@
mvn deploy -Dpassword=@@
gradle publish -PrepoPassword=@@
java -Djavax.net.ssl.keyStorePassword=@@ -jar a.jar
tool --db-pass @@ run
tool --password "@@" run
tool --secret @@ run
https://ada:@@@example.org/x.git
redis://:@@@cache:6379/0
amqp://ada:@@@mq/vhost
mongodb+srv://ada:@@@cluster.example.org/db
jdbc:mysql://db/shop?user=ada&password=@@
Server=db;Database=shop;Uid=ada;Pwd=@@;
DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%%%%
ftp://ada:@@@example.org
CREATE USER ada IDENTIFIED BY '@@';
ALTER USER ada WITH PASSWORD '@@';
SET PASSWORD FOR ada = PASSWORD('@@');
CREATE LOGIN ada WITH PASSWORD = '@@';
GRANT ALL ON *.* TO ada IDENTIFIED BY "@@";
machine api.example.org login ada password @@
db.example.org:5432:shop:ada:@@
requirepass @@
rpc_password @@
wpa_passphrase office @@
psk="@@"
username ada password 0 @@
enable secret @@
the password is @@
the root password is @@, ask before you use it
login as root with password @@
log in with ada and @@ as the password
use ada:@@ for basic auth
credentials: ada / @@
Credentials are ada / @@
user ada, password @@
username: ada, password: @@
my password was @@ until today
the admin pw is @@
passphrase for the key: @@
Password for staging -> @@
pass: @@
pwd is @@
Das Passwort lautet @@
das Kennwort ist @@
Passwort: @@
Zugangsdaten: admin / @@
Zugang mit admin und Passwort @@
a senha é @@
a senha do banco é @@
senha: @@
entra con la contraseña @@
la contraseña es @@
clave: @@
la clave de acceso es @@
usuario ada contraseña @@
le mot de passe est @@
mot de passe : @@
identifiants : admin / @@
la password è @@
la parola d'ordine è @@
password di root: @@
credenziali: admin / @@
Authorization: Bearer %%
authorization: token %%
Authorization: Basic YWRhOjQyLUdpcmFmZi1MYW1w
X-Api-Key: %%
x-auth-token: %%
Cookie: sessionid=%%
api_key = "%%"
apiKey: '%%'
API_TOKEN=%%
"accessToken": "%%"
client_secret: %%
"client_secret": "%%"
SECRET_KEY = '%%'
secret_key_base: %%
JWT_SECRET=%%
signingKey = "%%"
encryption_key: "%%"
token = "%%"
auth_token: %%
const token = "%%"
NPM_TOKEN=%%
//registry.example.org/:_authToken=%%
WEBHOOK_SECRET="%%"
private_token=%%
?access_token=%%
https://example.org/hook?token=%%
--api-key %%
--token=%%
the api key is %%
use the token %% for CI
aws_secret_access_key = %%abcdefgh
mws: amzn.mws.4ea38b7b-f563-7709-4bae-87aea15c9d21
amzn.mws.7bd4c0a3-11fe-4d7c-9b0d-2f3c6f1d4e55 is the MWS token
square: sq0atp-%%
sq0csp-%%%%abc
EAAAEO%%%%%%ab
PuTTY-User-Key-File-2: ssh-rsa Encryption: none Comment: k Public-Lines: 1 AAAAB3NzaC1yc2E Private-Lines: 1 AAAAgQC%%%% Private-MAC: 4ea38b7bf56377094bae87aea15c9d214ea38b7b
mnemonic: abandon ability able about above absent absorb abstract absurd abuse access accident
legal winner thank year wave sausage worth useful legal winner thank yellow
seed phrase is letter advice cage absurd amount doctor acoustic avoid letter advice cage above
wallet words: scheme spot photo card baby mountain device kick cradle pact join borrow
"""
LOOKALIKES = """
password must be at least 12 characters
The password is stored in the vault
the password is wrong
the password is hashed with bcrypt before it is saved
password: str
password: string;
password = getpass.getpass()
password = os.environ["DB_PASSWORD"]
password=${DB_PASSWORD}
"password": "${env:DB_PASSWORD}"
password: {{ vault_db_password }}
password: <your-password>
password: changeme
password: "********"
"password": ""
password: null
password: required
if password != confirm_password:
passwords do not match
reset_password_token_expires_at
def check_password(self, password, hashed):
password_field = forms.CharField(widget=PasswordInput)
input type="password" name="password"
<input type="password" id="login-password" />
label for="password">Password</label>
password-reset-form
The token bucket refills ten times a second
the token is refreshed every 15 minutes
token = request.headers.get("Authorization")
token: Token
token_type: bearer
csrf_token()
max_tokens: 4096
max_tokens=2048
const token = await getToken(user.id)
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
next_page_token is empty at the end
api_key: str | None = None
api_key=settings.api_key
apiKey: process.env.API_KEY
api_key = config["api_key"]
secretKeyRef: name: db-credentials
secretName: tls-cert-prod
kind: SecretStore
secret: my-app-secret-name
key: value
primary key (id)
foreign key (user_id) references users(id)
the key is the user's id
partition_key = "user_id"
cache_key = f"user:{user.id}"
sort_key: created_at
key="submit-button"
public_key_path = "~/.ssh/id_ed25519.pub"
access_key_id is read from the profile
auth: required
auth_backend = "django.contrib.auth"
author: Ada Lovelace
authentication failed for user "ada"
FATAL: password authentication failed for user "app"
fatal: Authentication failed for 'https://example.org/x.git'
Access denied for user 'root'@'localhost' (using password: YES)
Invalid username or password
wrong password for key
Permission denied (publickey,password).
commit 4ea38b7bf56377094bae87aea15c9d214ea38b7b
4ea38b7bf5 Merge branch main
Merge 4ea38b7bf56377094bae87aea15c9d214ea38b7b into main
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
sha512-Nk4xEKh3xdNg5vQ9nHL6GbJ8hpnq8a5pDkKBaYIPoNyRVzZ1b3lY5eB2bZ0kqHyLcI4dVv1jvzk4ZyJp3m5gqg==
"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="
h1:YU3UUhKHMUdvmMtPG2bPdZzSYlHkbXUKjjoVEPPuvRg=
6f1e2d3c-1111-2222-3333-444455556666
id: 01ARZ3NDEKTSV4RRFFQ69G5FAV
got-26zdyksa0ss09t1t6wcyyvr12q
request id 7d3c5f1a-90b1-4c8e-9a77-0c2d3e4f5a6b failed
trace_id=4bf92f3577b34da6a3ce929d0e0e4736
etag: "33a64df551425fcc55e4d42a148795d9f25f89d4"
md5 d41d8cd98f00b204e9800998ecf8427e
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4
url(data:font/woff2;base64,d09GMgABAAAAAAWgABAAAAAACxQAAAU9AAEAAAAAAAAAAAAAAAAAAAAA)
background: #1a2b3c4d;
color: rgba(12, 34, 56, 0.78)
grid-template-columns: repeat(12, minmax(0, 1fr))
.btn-primary-2xl:hover { opacity: 0.9 }
import com.example.auth.PasswordEncoder;
import { TokenService } from "@/services/auth/token-service"
from app.security.passwords import hash_password
tests/auth/test_password_reset.py::test_expired_token
src/components/PasswordStrengthMeter.tsx
docs/decisions/0004-secret-scrubbing.md
node_modules/jsonwebtoken/index.js:12
/usr/lib/jvm/java-17-openjdk-amd64/bin/java
pip install passlib==1.7.4
npm install jsonwebtoken@9.0.2
docker run -p 8080:80 nginx:1.25.3-alpine
docker run -e POSTGRES_PASSWORD_FILE=/run/secrets/db postgres:16
mkdir -p build/output
ssh -p 2222 ada@host.example.org
cp -p a.txt b.txt
psql -U app -p 5432 shop
curl -u "$USER:$PASS" https://api.example.org
curl -H "Authorization: Bearer $TOKEN" https://api.example.org
mysql -u root -p shop
keytool -storepass "$STOREPASS" -list
git push https://x-access-token:${GITHUB_TOKEN}@github.com/o/r
postgres://app:password@localhost/shop
postgres://localhost:5432/shop
redis://cache:6379/0
http://localhost:8080/login?next=/account
https://example.org/reset-password?lang=en
https://example.org/docs/v2/authentication#tokens
user:group of the file
chown ada:staff file
ada@example.org
10.0.0.1:5432
2026-11-21T14:00:00Z
v1.2.3-rc.1+build.5
GET /api/v2/users/42/tokens 200 12ms
Segmentation fault at 0x7ffeedbcafe0
thread 'main' panicked at src/main.rs:42:13
KeyError: 'password'
TypeError: Cannot read properties of undefined (reading 'token')
AssertionError: 'secret' not found in response
ValueError: invalid literal for int() with base 10: 'abc'
E1101: Instance of 'Token' has no 'value' member
error[E0382]: borrow of moved value: `token`
undefined reference to `crypto_sign_ed25519_seed_keypair'
openssl rand -base64 32
ssh-keygen -t ed25519 -C ada@example.org
ssh-rsa keys are no longer accepted
Use argon2id with 64 MiB for passwords
bcrypt with cost 12 is enough
We rotate the credentials every 90 days
Credentials are stored in the keychain
credentials: include
credentials: "same-origin"
withCredentials: true
The login page redirects to /account
login: true
usuario y contraseña son obligatorios
la contraseña es incorrecta
a senha é obrigatória
a senha deve ter 8 caracteres
Das Passwort ist falsch
Das Passwort muss 12 Zeichen haben
Zugangsdaten liegen im Tresor
le mot de passe est obligatoire
le mot de passe doit contenir 12 caractères
la password è obbligatoria
la clave primaria es id
clave: primaria
pass the value through to the handler
the tests pass on Python 3.11
pass: 12, fail: 3
one pass over 100k rows takes 2s
pwd; ls -la
secret santa list for the office
the secret of good names is short words
privateKey is loaded from disk at start
const [password, setPassword] = useState("")
setPassword(event.target.value)
form.password.data
user.password = None
passwordPolicy: strong
minPasswordLength: 8
password_hashers = ["argon2", "bcrypt"]
AUTH_PASSWORD_VALIDATORS = [
SESSION_COOKIE_SECURE = True
CSRF_TRUSTED_ORIGINS = ["https://example.org"]
JWT_ALGORITHM = "HS256"
JWT_EXPIRES_IN=3600
TOKEN_TTL_SECONDS=900
KEY_PREFIX = "shop:cart:"
SECRET_NAME=prod/shop/db
terraform: variable "db_password" { sensitive = true }
variable "db_password" { type = string }
the quick brown fox jumps over the lazy dog near the river bank
we should list all the other people who change the code about this
"""
_PASSWORDS = (
    "Zebra-Lamp-k3T",
    "Moon-Tiger-55",
    "hunter-two-42",
    "blue-monkey9",
    "Winter2026xyz",
    "xK9vQ2mLp",
    "Sommer!2027",
    "Girassol#42x",
    "tr0ub4dor&3",
    "Luna_llena_9",
)
_DRAWN = "q7Zt3Kp9Xw2Lm5Rv8Nc4"


def _rows(text: str) -> list[str]:
    return [row.replace("\\n", "\n").replace("\\\\", "\\") for row in text.strip().split("\n")]


def secrets() -> list[tuple[str, str]]:
    """Return (text, secret); the secret is empty where the whole of the line must change."""
    rows = []
    for number, row in enumerate(_rows(SECRETS)):
        word = _PASSWORDS[number % len(_PASSWORDS)]
        drawn = _DRAWN[number % 7 :] + _DRAWN[: number % 7]
        value = word if "@@" in row else drawn if "%%" in row else ""
        rows.append((row.replace("@@", word, 1).replace("%%", drawn), value))
    return rows


def lookalikes() -> list[str]:
    """Return texts that hold no secret."""
    return _rows(LOOKALIKES)


def is_kept_back(text: str) -> bool:
    """Say whether a sample is of the half that no rule was written for."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0
