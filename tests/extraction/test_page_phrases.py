"""Every phrase that docs/extraction.md quotes does what the page says, for whom it says so."""

import re
from pathlib import Path

import pytest

from gitmem.extraction.extractor import extract
from gitmem.records.items import DECISION, DONE, ERROR, PATTERN, PREFERENCE, TASK
from gitmem.transcripts.turn import ASSISTANT, USER, Turn

AT = "2026-11-21T10:00:00Z"
PAGE = Path(__file__).parents[2] / "docs" / "extraction.md"
ANYBODY = {
    "We've decided to": (DECISION, "We've decided to host the maps ourselves."),
    "we'll go with": (DECISION, "We'll go with vector tiles for the maps."),
    "as agreed": (DECISION, "As agreed, the tiles are built at night."),
    "decidimos": (DECISION, "Decidimos que o mapa devolve datas ISO."),
    "quedamos en": (DECISION, "Quedamos en publicar los mapas cada noche."),
    "决定": (DECISION, "我们决定每晚生成地图。"),
    "you prefer": (PREFERENCE, "You prefer tabs over spaces."),
    "whenever you X, Y must": (PATTERN, "Whenever you add a layer, the legend must be rebuilt."),
    "by convention": (PATTERN, "By convention layers are named after their source."),
    "that's how we do it": (PATTERN, "Layers live next to their style. That's how we do it."),
    "todo X deve": (PATTERN, "Todo mapa deve ter uma legenda."),
    "cada X debe": (PATTERN, "Cada mapa debe tener una leyenda."),
    "sempre que": (PATTERN, "Sempre que alterares o estilo, a legenda deve ser refeita."),
    "siempre que": (PATTERN, "Siempre que cambies el estilo, debes rehacer la leyenda."),
    "每个…必须": (PATTERN, "每个图层必须有图例。"),
    "we still need to": (TASK, "We still need to compress the tiles."),
    "is still missing": (TASK, "The legend of the night map is still missing."),
    "the next step is": (TASK, "The next step is the legend of the night map."),
    "ainda falta": (TASK, "Ainda falta comprimir os mapas."),
    "todavía falta": (TASK, "Todavía falta comprimir los mapas."),
    "还需要": (TASK, "还需要压缩地图。"),
    "I've finished": (DONE, "I've finished the legend editor."),
    "is in place": (DONE, "The legend editor is in place."),
    "passes now": (DONE, "The test of the legend passes now."),
    "já está pronto": (DONE, "Já está pronto o editor de legendas."),
    "ya he terminado": (DONE, "Ya he terminado el editor de leyendas."),
    "已完成": (DONE, "已完成图例编辑器。"),
    "the cause was": (ERROR, "The cause was a stale tile in the proxy."),
    "the fix was": (ERROR, "The fix was to name tiles by their hash."),
    "failed because": (ERROR, "The build failed because the font was gone."),
    "turns out": (ERROR, "Turns out the proxy dropped large tiles."),
    "a causa era": (ERROR, "A causa era um mosaico antigo no proxy."),
    "la solución fue": (ERROR, "La solución fue vaciar la caché del proxy."),
    "原因是": (ERROR, "原因是代理缓存过期。"),
    "`Decision:`": (DECISION, "Decision: maps are built at night"),
    "`TODO:`": (TASK, "TODO: compress the tiles"),
    "`Fix:`": (ERROR, "Fix: name the tiles by their hash"),
    "`Decisão:`": (DECISION, "Decisão: mapas feitos de noite"),
    "`Pendiente:`": (TASK, "Pendiente: comprimir los mapas"),
    "`决定：`": (DECISION, "决定：每晚生成地图"),
    "`[todo]`": (TASK, "[todo] compress the tiles"),
}
USERS = {
    "we'll use": (DECISION, "We'll use vector tiles."),
    "use X instead of Y": (DECISION, "Use vector tiles instead of images."),
    "no, use X": (DECISION, "No, use vector tiles."),
    "vai ser X": (DECISION, "Ok, vai ser MapLibre."),
    "va a ser X": (DECISION, "Va a ser MapLibre."),
    "统一用": (DECISION, "统一用 MapLibre。"),
    "I prefer": (PREFERENCE, "I prefer short answers."),
    "from now on": (PREFERENCE, "From now on answer in English."),
    "always ...": (PREFERENCE, "Always build the legend first."),
    "please don't": (PREFERENCE, "Please don't touch the generated tiles."),
    "call me X": (PREFERENCE, "Call me Iris."),
    "prefiro": (PREFERENCE, "Prefiro respostas curtas."),
    "a partir de ahora": (PREFERENCE, "A partir de ahora responde en inglés."),
    "以后都": (PREFERENCE, "以后都用英文回答。"),
    "every X must": (PATTERN, "Every map must have a legend."),
    "remember to": (TASK, "Remember to compress the tiles."),
}


def kinds(said: str, role: str) -> list[str]:
    """Return the kinds of what one turn of a dialogue teaches."""
    other = ASSISTANT if role == USER else USER
    turns = [Turn(other, "Hello.", AT, 1), Turn(role, said, AT, 2), Turn(other, "ok", AT, 3)]
    return [item.kind for item in extract(turns).items]


@pytest.mark.parametrize("phrase", [*ANYBODY, *USERS])
def test_a_user_says_it(phrase: str) -> None:
    kind, said = (ANYBODY | USERS)[phrase]
    assert kinds(said, USER) == [kind]


@pytest.mark.parametrize("phrase", ANYBODY)
def test_an_agent_says_it(phrase: str) -> None:
    kind, said = ANYBODY[phrase]
    assert kinds(said, ASSISTANT) == [kind]


@pytest.mark.parametrize("phrase", USERS)
def test_it_counts_only_from_a_user(phrase: str) -> None:
    _, said = USERS[phrase]
    assert kinds(said, ASSISTANT) == []


def test_the_page_quotes_these_phrases_and_no_others() -> None:
    table = PAGE.read_text(encoding="utf-8").split("|---|", 1)[1].split("\n\n", 1)[0]
    quoted = set(re.findall(r"\*([^*]+)\*|([\u4e00-\u9fff…]{2,})", table))
    names = {name or other for name, other in quoted}
    assert names == {name for name in (*ANYBODY, *USERS) if not name.startswith("`")}
