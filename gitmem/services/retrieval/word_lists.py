"""What words say about a subject, before any store is examined.

Some words say nothing, some say little, and some say the same.

A store has too few texts to learn it from. Standard library only: the hot path imports this.
"""

from gitmem.text.tokenizer import STOP

# Latin letters without their marks, as the full-text index folds them.
_MARKED = "áàâãäåéèêëíìîïóòôõöúùûüçñýÿøœæß"
_PLAIN = (
    ("a",) * 6
    + ("e",) * 4
    + ("i",) * 4
    + ("o",) * 5
    + ("u",) * 4
    + ("c", "n", "y", "y", "o", "oe", "ae", "ss")
)
_FOLDED = str.maketrans(dict(zip(_MARKED, _PLAIN, strict=True)))


def folded(word: str) -> str:
    """Return a lower-case word without accents."""
    return word if word.isascii() else word.translate(_FOLDED)


# Words of nearly every request: they name no subject.
CHATTER = (
    frozenset(map(folded, STOP))
    | frozenset(
        """able across actual actually add added adding addition additional adjust
affect allow allowed almost already always another answer anything app appear appears
application apply approach area around article ask attempt author automatic
automatically available avoid away back bad based basic become begin behave behavior
behaviour behind best better big bit box branch break breaking breaks bring broke broken
bug bugs build builds built button call called calling calls came cannot care case cases
catch cause caused causes center centre certain chance change changed changelog changes
changing check checked checking checks choose chunk class classes clean cleanup clear
close code codebase color colour come comes comment comments commit common compare
complete completely complain complains component concept concern config configure
consider contain contains content continue control convert copy correct correctly couple
course cover create created creates creating current currently custom cut data day days
deal decide decided default define defined delete deleted depend describe description
design detail details dev develop developer developers development did different
difference direct directly directory do doc docs document documentation documented doing
done double draft drop due dump early easier easily easy edit effect either else empty
enable end ended ends enough ensure entire entirely entry environment error errors
especially even ever every everyone everything everywhere exact exactly example examples
except exception execute exist existing exists expect expected expects explain explains
explicit expose extend extra fact fail failed failing fails failure failures false far
fast faster feature features feel few field fields figure file filename files fill final
finally find finds fine finish finished first fit fix fixed fixes fixing flow folder
folders follow following force form format found frontend backend full fully function
functionality functions further future gave general generate generated get gets getting
give given gives global go goes going gone good got great green group guess guide half
hand handle handled handler handles handling happen happened happening happens hard
header hello help helper here hi hidden high hint hit hold home hope hour hours huge
idea ideas ignore implement implementation implemented implementing import important
imports improve improved improvement include included includes including incorrect
incorrectly info information inform init input inside install installed instead
introduce issue issues item items job join keep keeps kept key kind know known label
large largest last late later latest layout lead leads leave leaves left length less
level library like line lines link list listed lists little live load loaded loads local
locally logic long look looking looks lose lost lot low machine made main maintain major
make makes making manage many mark match matter maybe mean means member mention menu
merge message messages method methods might mind minor minute minutes miss missed
missing mistake mode modern modify module modules moment month move moved moves much
multiple must name named names naming near necessary need needed needs never new newer
next nice night nobody none note notes nothing notice now number numbers object obvious
occur off offer often ok okay old older once one ones online open opened opens operation
option optional options order original others otherwise outside overall overview own
package page pages panel paragraph parameter parameters part particular parts pass
passed passes passing past path paths pattern people per perfect perform person pick
piece place plan play please point points polish poor possible post prefer prepare
present press pretty prevent previous previously print prior probably problem problems
process produce product prod production program progress project projects proper
properly property prototype provide provided pull purpose push put quality question
questions quick quickly quite raise raised raises ran random rather reach react read
readable reading readme reads ready real really reason receive recent recently red
refactor refactored refactoring reference refs regard related release relevant remain
remember remove removed removes removing rename renamed repair repeat replace report
repo repository represent request require required requires respond response rest result
results return returned returns reuse review rewrite rid right root rough row rule run
running runs safe same save saved say says scenario screen script scripts search second
seconds section see seem seems seen select send sends sent separate series serious serve
service services set sets setting settings setup several shall shape share short should
show showing shown shows side similar simple simplify simply since single site size skip
slightly small smaller snippet software solution solve some somehow someone something
sometimes somewhere soon sort source space special specific spend split spot stage
standard start started starting starts state statement status stay step steps still stop
stopped stops store story string strings structure stuff style subject succeed success
successful successfully such sudden suddenly suggest suite summarise summarize summary
support sure switch system table take taken takes taking talk task tasks team tell term
terms test tested testing tests text thank thanks therefore thing things think third
though thought three throw throws ticket tidy time times tiny title today together told
tomorrow tonight took tool tools top total touch track trivial trouble true try trying
turn turned two type types typical typo under understand unexpected unit unknown unless
unlike unrelated update updated updates updating upon use used useful user users uses
using usual usually value values variable variables various verify version versions very
via view views visible wait waiting walk want wanted wants warn warning warnings watch
way ways web website week weekly weird well went whatever whenever whether whole why
wide will wish without wonder word words work worked working works world worse worst
would write writes writing written wrong wrote year years yes yesterday yet zero""".split()
    )
    | frozenset(
        """adicionar adiciona alem alguem algum alguma ajuda ajudar ainda agora alterar
antes apenas arquivo arquivos arrumar assim bem boa bom cada caso causa chamar classe
codigo colocar como comecar consegue contra corrigir corrige cria criar dados dar depois
deve documentacao dizer dois duas ela ele eles erro erros essa esse esta estao este
estou exemplo existe explica explicar faco falha falhando falham favor faz fazendo fazer
ficar foi funcao funcoes funciona funcionando funcionar fica gente isso ja lista linha
ler mensagem mesmo mudar muito nome nossa nosso nova novo numero onde outra outro pagina
parte pasta pode podemos porque posso precisa precisamos preciso problema projeto quais
qual quando quem quero refatorar remover renomear rodar roda rodando sao seja sem sempre
ser seu sistema sobre sua tambem tem temos tenho teste testes texto toda todas todo
todos tudo usa usando usar usuario usuarios vai valor vamos ver vez voce agregar ahi
ahora algo alguien alguna anade anadir aqui archivo archivos arreglar arregla asi aun
ayuda bien buena bueno cambia cambiar cada clase codigo corregir cosa crear cuando cual
datos debe deberia decir desde despues donde documentacion el ella ellos entonces entre
error errores escribe escribir ese eso esta estan este esto estoy explica falla fallan
fallando favor fue funcion funciona funcionar funciones hace hacer hacia haciendo hay
implementa implementar las leer linea lista mensaje mientras mi mis misma mismo mover
mucho muy nada necesito necesitamos nombre nosotros nuestra nuestro nueva nuevo numero
otra otro pagina pero poner porque prueba pruebas proyecto puede puedo pues quien quiero
refactorizar quitar renombrar repositorio sea ser si siempre sin sobre solo son soy tal
tambien tengo tenemos texto tiene toda todas todo todos tras usa usamos usando usar
usuario usuarios vamos ver vez""".split()
    )
)

# Words for work on texts and looks: it seldom meets what goes wrong in code.
LOOKS = frozenset(
    """agenda animation announcement article badge banner blog branding brochure caption
carousel changelog chart color colour comment copy copyright css dashboard deck diagram
doc docs docstring documentation draft favicon font footer glossary guide handbook
heading headline hint histogram icon illustration image label layout legend link logo
mockup margin markdown marketing meeting menu newsletter onboarding padding palette
picker placeholder plot poster presentation proposal readme rename renamed roadmap
screenshot slide slides spelling story style survey tagline theme title tooltip
translate translation tutorial typo typography widget wiki wireframe wording
documentacao documentacion renomear renombrar traduzir traducir cor icone icono titulo""".split()
)

# Words of everyday language: they tell a little less than words of the trade.
ORDINARY = frozenset(
    """ability absent accept access accident achieve act active adapt adult advance
advantage advice afford afternoon age ago agree agreement ahead aid aim air alive
allowance alone angle announce annual anybody apart apple appoint approve arise arm army
arrange arrival arrive art aside asleep aspect assist assume attach attack attend
attention attract audience autumn average aware awful baby background bag balance ball
band bank bar barely bath battle beach bean bear beat beautiful bed beer beside bet
beyond bird birth birthday bite bitter blame blank blind blood blow blue board boat bone
book border born boss bottle bottom bound bowl boy brain brand brave bread breakfast
breath brick bridge brief bright broad brother brown budget burn burst bus business busy
buy buyer cake calm camera camp campaign campus candidate capital captain car carbon
career careful carries carry cast cat catalogue ceiling celebrate cell central century
ceremony chain chair challenge champion channel chapter charge charity chat cheap cheese
chemical chest chicken chief child children choice christmas church circle citizen city
civil claim classic climate climb cloth coach coal coast coat coffee cold collect
collection college combine comfort commercial commission committee communicate community
company compete competition complaint complex compute condition conduct conference
confidence confirm conflict confuse confusing conscious consequence consistent contact
contest contract contrast contribute conversation cook cool corner corporate cost
council countries country courage court cousin craft crazy cream creative credit crew
crime crisis critic critical cross crowd cry culture cup curious curve cycle daily
damage dance danger dark daughter dead dear death debate decade december decision
declare decline deep defeat defend degree delay deliver delivery demand deny department
deposit desert deserve desk despite destroy determine devote diet differ digital dinner
direction director dirty disagree discipline discount discover discuss discussion
disease dish distance distinct distribute district divide doctor dog dollar door doubt
dream dress drink drive driver drug dry duty eager ear earn earth east eat economy edge
education efficient effort egg eight elect election electric element eleven eliminate
emerge emergency emotion emphasis employ employee encounter encourage enemy energy
engage engineer enjoy enormous enter enterprise entertain equal equipment escape essay
essential establish estate estimate evidence evil evolve examine excellent exchange
excited exercise exhibit exit expand expense expensive experience experiment expert
expression extent extreme eye face facility factor factory fair faith familiar family
famous fan farm farmer fashion fat father fault favorite fear february federal fee
feedback female fence fight film finance finger fire firm fiscal fish five flat flight
float floor flower fly focus food foot football foreign forest forever forget formal
former fortune forward foundation four frame free freedom fresh friday friend front
fruit fuel fun funny gain gallery game gap garden gas gather gender generation gentle
gift girl glad glass goal gold golden govern government grab grade gradual grand grant
grass gray grey grocery ground grow growth guard guest guilty guitar gun guy habit hair
hall handsome hang happy harm hat hate head health hear heart heat heavy height hell
hero highlight hill hire historic hobby hole holiday honest honor horse hospital hot
hotel house housing human hundred hungry hunt hurry hurt husband ice ideal identify
identity illegal illness imagine impact imply impose impress income increase indeed
independent indicate individual industry influence initial initiative injury inner
innocent innovation insist inspect inspire institute insurance intelligent intend
intense intention interest international interview introduction invest investigate
investment invite involve island january jewel joint joke journal journey joy judge
juice july jump june junior jury justice kid kill king kitchen knee knife knock
knowledge labor lack lady lake land landscape lap laugh launch law lawn lawyer lay lazy
leader league lean learn leather lecture leg legacy legal lend lesson letter liberty lie
life lift light likely lip listen literature loan lonely loose lord loud love lovely
luck lucky lunch luxury mad magazine magic male mall man manner manual march margin
market marriage master mate material math maximum meal measure meat mechanic media
medical medicine medium meet membership mental mercy metal middle midnight military milk
million mine minimum minister mirror mix moderate monday money monthly mood moon moral
morning mother motion motor mount mountain mouse mouth movie music myth nail narrow
nation national natural nature neck negative neighbor nerve net newspaper nightly nine
noise normal north nose notable novel november nuclear nurse nut obey observe obtain
occasion occupy ocean october odd offense office officer official oil opinion
opportunity oppose opposite orange ordinary organic organise organization organize
origin outcome oven owner pace pack paid pain paint pair pale paper parent park
participate partner party passenger passion patience patient pause pay peace peak peer
pencil percent percentage period permanent permit personal phase phone photo phrase
physical piano picture pie pilot pink pipe pitch plane planet plant plastic plate player
pleasant pleasure plenty plug pocket poem poet police policy polite political politics
poll popular population portion position positive potential pound poverty power
practical practice pray predict preference premium presence president pressure price
pride priest primary prince principle priority prison private prize profession
professional professor profit promise promote proof propose protect proud prove public
publish purchase pure purple pursue quarter queen quiet quit quote race radio rail rain
range rapid rare rarely rate raw reaction reader realise reality realize recall receipt
recipe recognize recommend recommendation recover recovery reduce reflect reform refuse
region regional regret regular reject relate relation relative relax reliable relief
religion rely remind rent reply reporter reputation rescue research reserve resident
resist resolve respect restaurant restore retain retire reveal revenue reward rice rich
ride ring rise risk river road rock romantic roof room rope rose round royal rub rude
ruin rush sad safety sail salad salary sale salt sample sand satisfy saturday sauce
scale scene schedule scheme school science scientist score scream season seat secret
secretary sector secure seek selection self sell senate senior sense sensitive sentence
september sequence settle seven severe sex shade shadow shake sharp sheet shelf shift
shine ship shirt shock shoe shoot shop shopping shore shot shoulder shout shut sick
sight signal signature silence silent silk silver sing sister sit six sketch skill skin
sky sleep slice slide slip slope smart smell smile smoke smooth snow soap social society
soft soil soldier song soul sound soup south spare speak speaker speech speed spell
spirit spoon sport spread square staff stair stake stand star stare station steady steal
steam steel stick stock stomach stone storm straight strange stranger strategy street
strength stress stretch strict strike strong student studio study stupid submit
subsequent substance suburb suffer sugar suit summer sun sunday super supply suppose
surface surgery surprise surround survive suspect sustain swear sweep sweet swim swing
symbol sympathy tail talent tall tank tap tape target taste tax taxi tea teach teacher
tear teen telephone television temperature temporary ten tennis tension tent terrible
territory theater theatre theory thick thin thirty thousand threat threaten throat
throughout thursday tie tight tip tired toe tomato tone tongue tooth topic tough tour
tourist tower town toy trade tradition traffic train transfer travel treat treatment
trend trial tribe trick trip truck trust truth tube tuesday tune twelve twenty twice
twin ugly ultimate uncle union unique universe university upper upset urban urge
vacation valley valuable van variety vast vegetable vehicle victim victory video village
violence vision visit visitor vital voice volume volunteer vote wage wake wall war warm
wash waste water wave weak wealth weapon wear weather wedding wednesday weekend weigh
weight welcome west wet wheel whisper white wife wild win window wine wing winner winter
wire wise woman wonderful wood wooden worker worry worth wound wrap yard yellow young
youth zone""".split()
)

# Words of the trade that many tasks share: they need company.
COMMON = frozenset(
    """account action actions admin agent alert api apis archive argument array assert
asset async auth backup banner batch binary block blog body browser buffer builder
bundle bytes cache card cart character chart checkout cli click client cloud cluster
column columns command compile compiler connect connection console constant container
context controller cookie core count cpu crash css csv customer dashboard database date
db debug demo dependencies dependency deploy deployed deployment desktop device dialog
diff disk domain download dropdown duplicate email emails encode endpoint endpoints
engine event events export fetch filter fixture flag folder font footer framework
gateway getter git hash history hook host html http https icon id ids image images index
inline instance integration interface internal invoice item iterate java javascript js
json label lambda language latency layer layout lib limit linter lint load log logger
logging login logs logo loop mail manager map markdown memory metadata metric metrics
middleware migrate migration migrations mobile mock model models monitor native
navigation network node notification null object orders output overflow parse parser
password patch payload payment payments performance pipeline platform plugin port pool
profile prompt protocol provider proxy python query queries queue rails record records
redirect refresh register registry remote render renders rendering replica reset
resource restart retry role rollback route router routes routing runtime rust schema
scope script scroll security server servers session shell sidebar sign signup slow
socket spec sql stack startup static storage stream sync syntax tab tables tag template
terminal theme thread threads timeout timestamp toggle token tokens tooltip trace
transaction transform tree trigger typescript ui undefined upgrade upload url urls
validate validation vendor wrapper xml yaml banco conexao consulta pedido pedidos
pagamento pagamentos pago pagos senha servidor tabela tela tabla consulta conexion
contrasena servidor cliente clientes base fila cola""".split()
)

# Errors that every program has: the class alone is not a subject.
PLAIN_ERRORS = frozenset(
    """typeerror valueerror keyerror attributeerror indexerror runtimeerror importerror
modulenotfounderror nameerror oserror ioerror filenotfounderror assertionerror
syntaxerror indentationerror zerodivisionerror permissionerror connectionerror
timeouterror exception stopiteration notimplementederror unicodedecodeerror
recursionerror referenceerror rangeerror evalerror enoent eacces eperm econnrefused
econnreset etimedout enotfound eaddrinuse eexist nullpointerexception
illegalargumentexception illegalstateexception classnotfoundexception ioexception
runtimeexception arrayindexoutofboundsexception operationalerror programmingerror
integrityerror databaseerror httperror axioserror unhandledpromiserejection
unhandledrejection traceback sigsegv sigkill sigterm nomethoderror argumenterror
standarderror loaderror calledprocesserror doesnotexist objectdoesnotexist""".split()
)

# Names of products that are written like names in code.
BRANDS = frozenset(
    """github gitlab fastapi javascript typescript coffeescript mongodb postgresql mysql
mariadb graphql websocket websockets openssl openssh dynamodb pytorch tensorflow
sqlalchemy elasticsearch rabbitmq cloudfront cloudwatch cloudflare vscode intellij macos
ipados iphone ios linkedin youtube paypal powershell openapi oauth oauth2 nodejs node.js
next.js nextjs vue.js react.js express.js socket.io asp.net dotnet devops readme
webassembly wordpress bitbucket circleci jquery openai chatgpt latex webgl webrtc numpy
scipy matplotlib restful postgis sqlite sqlite3 psycopg2 boto3 http2 ipv4 ipv6 utf8
utf16 base64 sha256 md5 s3 ec2 k8s e2e i18n l10n a11y java8 java11 java17 java21 python3
es6 web3 h264 mp3 mp4 b2b""".split()
)

# Names of languages, tools and products: what a task is done with, seldom what it is about.
TOOLS = frozenset(
    """airflow alembic alpine android angular ansible apache apollo argocd astro asyncio
asyncpg aws axios azure babel bash bazel biome bitbucket black boto boto3 bootstrap buf
bun bundler bulma cargo cassandra celery chrome chromium circleci clang clickhouse
clippy clojure cmake cocoapods codecov commitlint compose composer conda consul coverage
cpp csharp cuda cypress dart datadog debian deno django docker dockerfile dotnet duckdb
dynamo dynamodb ecs eks elastic elasticsearch electron elixir ember envoy erlang esbuild
eslint expo express fastapi fastify fedora figma firebase firefox flake8 flask flutter
flyway gatsby gcc gcloud gcp github gitlab go golang gradle grafana graphql groovy grpc
gunicorn hadoop haskell helm heroku hibernate homebrew husky ios istio jackson jaeger
java javascript jenkins jest jetpack jira jq jquery junit jvm jwt kafka keycloak kibana
kotlin kotlinx kubectl kubernetes lambda laravel less linux liquibase llvm lodash lombok
lua macos mariadb markdown maven memcached metro minio mocha mockito mongo mongodb
mongoose msbuild mui mypy mysql nats neovim nest nestjs netlify netty nextjs nginx ninja
node nodejs nomad npm nuget numba numpy nuxt objc ocaml okta openssl opentelemetry
oracle pandas parcel peewee perl phoenix php pip pipenv pnpm podman poetry postcss
postgres postgresql prettier prisma prometheus protobuf pulumi puppeteer pydantic pylint
pyright pytest python pytorch rabbitmq rails rake react redis redux remix reqwest rest
rollup rspec rubocop ruby ruff rust rustc rxjs s3 safari sanic sass scala scikit scipy
selenium sentry sequelize sidekiq sklearn slack snowflake solid solr spark splunk spring
sqlalchemy sqlite sqs ssh starlette storybook stripe stylelint supabase svelte swagger
swift swiftui symfony tailwind tensorflow terraform testcontainers threejs tokio tomcat
torch tornado tox turbo turborepo twig twilio typeorm typescript typescript ubuntu unity
unittest uvicorn vagrant vault vercel vim vite vitest vscode vue vuex webpack windows
wordpress xcode yarn zig zod zookeeper zustand k8s pg ts js py psql mac ubuntu chrome
iphone ipad excel word""".split()
)

# The same for scripts that write no spaces: pairs of characters.
CJK_CHATTER = frozenset(
    """我们 你们 他们 这个 那个 这里 那里 什么 怎么 如何 为什 什么 可以 应该 需要 没有 不能 不要 一个 一下 一些 现在 然后 因为 所以 如果 但是
或者 以及 问题 错误 报错 失败 修复 修改 添加 增加 删除 更新 代码 函数 方法 文件 测试 单元 元测 项目 功能 实现 使用 运行 检查 帮我 请帮 写一 给我
时候 出现 发生 处理 显示 页面 按钮 名称 文档 说明 解释 重构 优化 改进 支持 数据 系统 服务 接口 请求 返回 して する した ます です ない なる ため
こと もの これ それ コー ード エラ ラー テス スト ファ ァイ イル 修正 追加 削除 更新 使用 実行 失敗 問題""".split()
)

# Words for one and the same thing: a word of a line finds the others, at a lower weight.
_SAME = """
authentication auth login signin authenticate autenticacao autenticacion 登录 认证 ログイン
authorization permission authorize autorizacao autorizacion permissao permiso 权限
password passwd senha contrasena 密码 パスワード
database db banco 数据库 データベース
query consulta queries 查询 クエリ
table tabela tabla 表
column coluna columna 列
index indice 索引
transaction transacao transaccion 事务
lock bloqueio bloqueo locked locking locks 锁
deadlock 死锁
connection conexao conexion connections 连接 接続
pool 连接池
payment pagamento pago payments pay paid billing charge charged cobranca cobro bill billed 支付 付款 決済 扣款
invoice fatura factura 发票
refund reembolso refunds 退款
order pedido orders 订单 注文
currency moeda moneda 货币
rounding redondeo arredondamento round rounded 四舍五入
decimal decimals float 小数
timezone fuso horaria tz utc 时区 タイムゾーン
date data fecha datetime 日期 日付
daylight dst verao verano 夏令时
encoding codificacao codificacion charset utf8 编码 文字コード
accent acento accents accented diacritics
cache cached caching 缓存 キャッシュ
memory memoria oom 内存 メモリ
leak vazamento fuga leaks leaking 泄漏 泄露
slow lento lenta slowness latency performance sluggish desempenho rendimiento 慢 性能
timeout timeouts expirou hang hangs stuck freezes hanging 超时 タイムアウト
retry retries reintento tentativa resend redelivered redeliver 重试 リトライ
duplicate duplicates duplicated twice duplicado duplicada duplicados idempotent idempotency 重复 幂等
queue fila cola 队列 キュー
message mensagem mensaje 消息
worker workers
migration migracao migracion migrate migrations 迁移 マイグレーション
rollback revert 回滚
deploy deployment implantacao despliegue rollout 部署 デプロイ
container conteiner contenedor containers 容器 コンテナ
kubernetes k8s kubectl
postgres postgresql pg psql
mysql mariadb
mongodb mongo
javascript js
typescript ts
python py
environment env ambiente entorno 环境变量
secret secrets credentials credencial credenciales segredo 密钥
certificate cert certs certificado ssl tls x509 证书
upload uploads carga subida 上传 アップロード
download descarga 下载
image imagem imagen images 图片 镜像 画像
thread threads threading concurrent concurrency concorrencia concurrencia race 并发 线程 スレッド
parallel paralelo xdist 并行
flaky intermittent intermittently nondeterministic intermitente 不稳定
snapshot snapshots 快照
mock mocks mocked stub 模拟
permission permissions denied
dependency dependencies deps dependencia 依赖 依存
lockfile lock
compile compilation compilar compilacao compilacion 编译 コンパイル
linker linking link
export exportar exportacao exportacion 导出
import importar 导入
sort sorting ordenar ordering 排序
search busca busqueda 搜索 検索
pagination paginacao paginacion paginate cursor 分页 ページネーション
sign signature assinatura firma signing 签名
token tokens 令牌 トークン
session sesion sessao 会话 セッション
cookie cookies
header headers cabecalho cabecera encabezado
encrypt encryption criptografia cifrado 加密
key chave clave keys
file arquivo archivo
path caminho ruta paths 路径
network rede red 网络
server servidor 服务器 サーバー
browser navegador 浏览器 ブラウザ
mail email correo 邮件 メール
schedule scheduler cron agendamento programado 定时
log logs logging registro 日志 ログ
disk disco 磁盘
clock relogio reloj 时钟
overflow estouro desbordamento 溢出
null nulo none nil 空指针
crash crashes segfault sigsegv 崩溃 クラッシュ
restart reinicio reiniciar 重启
batch lote lotes bulk 批量
websocket websockets ws
proxy nginx
ci pipeline actions workflow
build compile
windows win32
font fonts fonte fuente 字体
translation locale i18n l10n traducao traduccion 翻译 国际化
hydration hydrate ssr
rerender re-render renders
middleware middlewares
limit limite ratelimit throttle throttling 429 限流
stale outdated obsoleto
webhook webhooks
replica replication replicacao replicacion 副本 复制
backup respaldo copia 备份
price preco precio pricing prices 价格
stock inventory estoque inventario 库存
tax vat imposto impuesto iva taxes 税
shipping shipment frete envio envios delivery 物流
cart basket carrinho carrito 购物车
coupon voucher cupom cupon 优惠券
discount desconto descuento 折扣
customer client cliente clientes customers 客户
report relatorio informe reports 报表
spreadsheet planilha excel xlsx sheet 表格
subscription assinatura suscripcion subscriptions 订阅
notification notificacao notificacion notifications 通知
route rota ruta routes routing 路由
form formulario forms 表单
validation validacao validacion validate 校验
async asynchronous assincrona assincronas asincrono asincrona 异步
sync synchronous blocking sincrona sincrono 同步
blocked bloqueado bloqueada bloqueia bloquea blocks
double doubled dobro doble twice duplicate
security seguranca seguridad 安全
expire expires expired expirar expiram caducar caduca caducan expiry expiration ttl 过期
vanish vanishes vanished disappear disappears disappeared desaparecem desaparecen desaparece somem evict evicted 丢失
freeze freezes frozen hang hangs stuck deadlock unresponsive
logout logged session
descriptor descriptors fd fds
shutdown sigterm graceful gracefully
reject rejects rejected rejeita rejeitada rechaza rechazado refuse refuses refused 拒绝
race concurrent simultaneous simultaneously
random randomly nondeterministic seed
corrupt corrupted corruption mangled garbled broken 损坏 乱码
charset encoding mojibake garbled 乱码
stale outdated old cached
precision rounding decimal floating
endpoint api
big large huge oversized
truncate truncated cut
env variable variables dotenv
compress gzip zip
delete remove cascade purge
login log-in signin sso oauth
unicode emoji accents utf8mb4 utf
quota limit limits cap
leak leaking unclosed
alias aliases
mac macos apple darwin m1 m2 silicon arm64
symlink symlinks
protobuf proto protobufs
picture pictures photo photos image images foto imagem imagen
offline offline-first
verify verification verificar verificacao verificacion 验签 验证
callback callbacks webhook 回调
supplier vendor fornecedor proveedor 供应商
product produto producto 商品
"""


def _groups() -> "dict[str, tuple[str, ...]]":
    out: dict[str, tuple[str, ...]] = {}
    for line in _SAME.strip().split("\n"):
        group = tuple(line.split(" "))
        for word in group:
            out[word] = out.get(word, ()) + group
    return out


SAME = _groups()
