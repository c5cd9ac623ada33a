"""Routes of a file: only those that something serves, with the prefix that they have."""

import pytest

from gitmem.codemap.tags.tags import read

PYTHON = """from fastapi import APIRouter, FastAPI

app = FastAPI()
admin = APIRouter(prefix="/admin")
public = APIRouter(prefix="/public")
late = APIRouter()
far = APIRouter()
app.include_router(late, prefix="/late")


@app.get("/health")
def health(): ...


@admin.get("/users")
def users(): ...


@public.get("/items")
def items(): ...


@late.get("/one")
def one(): ...


@far.get("/two")
def two(): ...


@mock.patch("/etc/passwd")
@responses.get("/fake")
def check(): ...
"""
FLASK = """bp = Blueprint("bp", __name__, url_prefix="/shop")
other = Blueprint("other", __name__, url_prefix=PREFIX)


@bp.route("/a")
def a(): ...


@other.route("/b")
def b(): ...
"""
EXPRESS = """const app = express();
const router = express.Router();
const inner = express.Router();
const map = new Map();
app.use('/api', router);
router.use('/inner', inner);
app.get('/health', h);
router.get('/users', h);
inner.post('/x', h);
map.get('/no');
axios.get('/remote');
"""
GO = """package main

func main() {
	r := gin.Default()
	r.GET("/ping", ping)
	v1 := r.Group("/v1")
	v1.GET("/carts", carts)
	client.Get("/remote", nil)
	cache.Delete("/key", 1)
	os.Handle("/os", nil)
	http.HandleFunc("/plain", plain)
}

func below(r *gin.RouterGroup) {
	r.GET("/rest", rest)
}

func chi(r *chi.Mux) {
	r.Route("/api", func(r chi.Router) {
		r.Get("/inner", inner)
	})
	r.Group(func(r chi.Router) { r.Get("/beside", inner) })
	api := s.router.PathPrefix("/sub").Subrouter()
	api.HandleFunc("/below", inner)
}
"""
JAVA = """@RequestMapping("/a")
class A {
  @GetMapping("/one") String one() { return ""; }
}
@RequestMapping("/b")
class B {
  @GetMapping(path={"/two","/three"}, produces="text/plain") String two() { return ""; }
  @GetMapping(Paths.X) String other() { return ""; }
  @PostMapping String made(@Path("/no") String x) { return ""; }
}
@FeignClient("far")
interface C {
  @GetMapping("/remote") String far();
}
"""
CSHARP = """[Route("api/[controller]")]
class CartsController {
  [HttpGet("{id}")] public string One() { return ""; }
  [HttpPost] public string Made() { return ""; }
}
class Start {
  void Run() {
    var group = app.MapGroup("/v1");
    app.MapGet("/live", Live);
    group.MapGet("/parcels", Live);
    client.MapGet("/remote", Live);
  }
}
"""
RAILS = """Rails.application.routes.draw do
  get '/top', to: 'a#b'
  namespace :admin do
    get '/users', to: 'a#b'
  end
  scope '/api' do
    scope module: 'v1' do
      get '/carts', to: 'a#b'
    end
  end
  scope prefix do
    get '/far', to: 'a#b'
  end
end

class Client
  def fetch
    get '/remote'
  end
end
"""
LARAVEL = """<?php
Route::get('/top', [P::class, 'all']);
Route::prefix('admin')->middleware('auth')->group(function () {
    Route::get('/users', [P::class, 'all']);
});
Route::group(['prefix' => 'old'], function () {
    Route::get('/carts', [P::class, 'all']);
});
"""
RUST = """fn app() -> Router {
    Router::new().nest("/api", Router::new().route("/users", get(h)))
}
"""


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        (
            "python",
            PYTHON,
            "get /health, get /admin/users, get /public/items, get /late/one, get …/two",
        ),
        ("python", FLASK, "route /shop/a, route …/b"),
        ("javascript", EXPRESS, "get /health, get /api/users, post /api/inner/x"),
        (
            "go",
            GO,
            "GET /ping, GET /v1/carts, HandleFunc /plain, GET …/rest, Get /api/inner, Get /beside, HandleFunc …/sub/below",
        ),
        ("java", JAVA, "GetMapping /a/one, GetMapping /b/two, GetMapping /b/three, PostMapping /b"),
        (
            "csharp",
            CSHARP,
            "Get /live, Get /v1/parcels, HttpGet /api/Carts/{id}, HttpPost /api/Carts",
        ),
        ("ruby", RAILS, "get /top, get /admin/users, get /api/carts, get …/far"),
        ("php", LARAVEL, "get /top, get /admin/users, get /old/carts"),
        ("rust", RUST, "route …/users"),
    ],
    ids=lambda one: one if one.isalpha() else "",
)
def test_a_route_has_the_prefix_of_its_receiver(language: str, text: str, wanted: str):
    """A client has none; a prefix that another file gives is not passed over in silence."""
    tags = read(text.encode(), language)
    assert tags is not None
    assert ", ".join(f"{verb} {path}" for verb, path, _ in tags.routes) == wanted
