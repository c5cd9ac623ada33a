"""Who speaks in a plain text: lines such as `User: ...`, and people by their names. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from gitmem.model.turn import ASSISTANT, SYSTEM, TOOL, USER

TURNS, SHARE = 4, 0.5  # how many lines with a name, and how much of all paragraphs, make a talk of people
_NAMES = {
    USER: "user human me you usuário usuario utilizador humano eu yo 用户 使用者 我",
    ASSISTANT: "assistant ai agent claude gemini codex gpt chatgpt copilot cursor bot model assistente asistente agente modelo 助手 助理",
    SYSTEM: "system sistema 系统",
    TOOL: "tool ferramenta herramienta 工具",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()} | {"tool result": TOOL}
# when it was said, as chats are saved: `[10:32]`, `12/05/2024, 10:32 - `
_WHEN = r"(?:\[?\d[\d/.:,T \-]{3,22}(?: ?[AaPp]\.?[Mm]\.?)?\]?\s*(?:[-–]\s*)?)?"
_AFTER = r"[*_]{0,2} ?(?:[(\[][^()\[\]\n]{1,40}[)\]])?\s*[:：>][*_]{0,2}(?:\s+|$|(?<=：))(.*)$"
_LABEL = re.compile(rf"(?i)^\s{{0,3}}(?:#{{1,4}} +)?{_WHEN}[*_]{{0,2}}({'|'.join(sorted(_ROLES, key=len, reverse=True))}){_AFTER}")
_HEADING = re.compile(
    r"(?i)^#{1,4} +[*_]{0,2}(user|human|usuário|usuario|humano|用户|assistant|claude|gemini|assistente|asistente|助手|system)[*_]{0,2}\s*$"
)
_PERSON = re.compile(
    rf"^\s{{0,3}}{_WHEN}[*_]{{0,2}}((?:@?[^\W\d_a-z][\w.'’-]{{0,20}}(?: [^\W\d_a-z][\w.'’-]{{0,20}}){{0,2}})|@[\w.-]{{2,30}})"
    r"[*_]{0,2} ?(?:[(\[][^()\[\]\n]{1,40}[)\]])?\s*[:：][*_]{0,2}(?:\s+|(?<=：))(.*\S.*)$"
)
# what stands before a colon and is nobody's name
_FIELDS = frozenset(
    """
    note notes todo status goal goals owner owners decision decisions error errors fix fixes cause causes reason reasons why what how when where who next done problem problems solution solutions
    context date author result results question questions answer answers q a example examples symptom symptoms impact risk risks option options pro pros con cons task tasks step steps phase
    version name title type priority summary update updates warning important tip bug bugs issue issues pattern patterns preference preferences blocked blocker blockers pending open closed
    before after expected actual input output command file files path environment setup stack pattern rule rules idea ideas plan action actions test tests fixed
    nota notas estado objetivo responsable responsável decisión decisiones decisão decisões erro erros causa causas motivo motivos razón razão porqué porque próximo próxima siguiente hecho feito
    problema problemas solución soluciones solução contexto fecha data autor resultado resultados pregunta preguntas pergunta respuesta resposta ejemplo exemplo síntoma sintoma riesgo risco opción opciones opção
    opções tarea tareas tarefa tarefas paso pasos passo passos fase versión versão nombre nome título tipo prioridad prioridade resumen resumo aviso importante pendiente pendientes pendente pendentes
    patrón patrones padrão padrões preferencia preferencias preferência regla reglas regra regras arreglo correção
    注意 备注 状态 目标 负责人 决定 决策 错误 问题 原因 理由 修复 解决 解决办法 方案 下一步 待办 完成 已完成 任务 步骤 阶段 版本 日期 作者 结果 例如 示例 规则 约定 偏好 背景 环境 风险 选项 总结 结论 症状 答 问
    """.split()
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """Who begins to speak with a line, and what the line says of it."""

    role: str
    text: str
    name: str = ""  # as it is written


@dataclass(frozen=True, slots=True)
class Speakers:
    """Whether a text is a talk, and who speaks in it."""

    talk: bool = False
    labels: frozenset[str] = field(default_factory=frozenset)  # as they are written
    people: frozenset[str] = field(default_factory=frozenset)

    def speaks(self, line: str, *, begins: bool) -> Spoken | None:
        """Return who begins to speak with a line, None for nobody; `begins`: it begins a paragraph, or follows a line with a name."""
        if not self.talk:
            return None
        if heading := _HEADING.match(line):
            return Spoken(_ROLES[heading[1].lower()], "", heading[1])
        if found := _LABEL.match(line):
            role = _ROLES[found[1].lower()]
            known = (
                found[1] in self.labels or (begins and role in (USER, ASSISTANT)) or (role in (USER, ASSISTANT) and not found[1].islower())
            )
            return Spoken(role, found[2], found[1]) if known else None
        person = _PERSON.match(line) if self.people else None
        return Spoken(USER, person[2], person[1]) if person and person[1] in self.people else None


def speakers(head: Sequence[str]) -> Speakers:
    """Return who speaks in a text that begins with these lines.

    It is a talk where both sides have a label, or people have names at most paragraphs; one `System: Debian 12`, or a line of a paragraph that happens to begin
    with `system:`, makes none.
    """
    labels: Counter[str] = Counter()
    people: Counter[str] = Counter()
    roles: set[str] = set()
    paragraphs = 0
    begins, fenced, headings = True, False, 0
    for line in head:
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not bare:
            begins = begins or not bare
            continue
        named = False
        if heading := _HEADING.match(line):
            roles.add(_ROLES[heading[1].lower()])
            headings, named = headings + 1, True
        elif found := _LABEL.match(line):
            if begins or not found[1].islower():
                labels[found[1]] += 1
                roles.add(_ROLES[found[1].lower()])
                named = True
        elif begins and (person := _PERSON.match(line)) and not set(person[1].lower().split()) & _FIELDS:
            people[person[1]] += 2 if (inner := _PERSON.match(person[2])) and set(inner[1].lower().split()) <= _FIELDS else 1
            named = True
        paragraphs += begins
        begins = named
    named_lines = sum(labels.values())
    spoken = (
        {USER, ASSISTANT} <= roles or headings > 1 or sum(labels[name] for name in labels if _ROLES[name.lower()] in (USER, ASSISTANT)) > 1
    )
    known = frozenset(name for name, count in people.items() if count > 1)
    turns = named_lines + sum(people[name] for name in known)
    crowd = len(known) + len(labels) > 1 and turns >= min(TURNS, 2 * paragraphs) and turns >= SHARE * paragraphs
    if not (known and crowd):
        known = frozenset()
    spoken = spoken or bool(known) or (bool(labels) and _LABEL.match(head[0] if head else "") is not None and not roles & {SYSTEM, TOOL})
    return Speakers(spoken, frozenset(labels), known) if spoken else Speakers()
