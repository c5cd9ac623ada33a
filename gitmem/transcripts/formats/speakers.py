"""Who speaks in a plain text: lines such as `User: ...`, and people by their names. Pure."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from gitmem.transcripts.turn import ASSISTANT, SYSTEM, TOOL, USER

# how many lines with a name, and how much of all paragraphs, make a talk of people
TURNS, SHARE = 4, 0.5
_NAMES = {
    USER: "user human me you usuário usuario utilizador humano eu yo 用户 使用者 我",
    ASSISTANT: "assistant ai agent claude gemini codex gpt chatgpt copilot cursor bot model "
    "assistente "
    "asistente agente modelo 助手 助理",
    SYSTEM: "system sistema 系统",
    TOOL: "tool ferramenta herramienta 工具",
}
_ROLES = {name: role for role, names in _NAMES.items() for name in names.split()} | {
    "tool result": TOOL
}
_SIDES = {USER, ASSISTANT}
_PLAIN = set(
    "user human usuário usuario utilizador humano 用户 使用者 assistant claude gemini codex gpt "
    "chatgpt copilot assistente asistente 助手".split()
)
# when it was said, as chats are saved: `[10:32]`, `12/05/2024, 10:32 - `
_WHEN = (
    r"\u200e?(?:\[?\d[\d/.:,T\u202f \-]{3,22}(?:[\u202f ]?[AaPp]\.?[Mm]\.?)?\]?\s{0,3}"
    r"(?:[-–]\s{0,3})?)?"
)
_STAMP = re.compile(r"^\u200e?\[?\d{1,4}[/.:-]\d{1,2}")
_AFTER = r"[*_]{0,2} ?(?:[(\[][^()\[\]\n]{1,40}[)\]])?\s*[:：>][*_]{0,2}(?:\s+|$|(?<=：))(.*)$"
_LABEL = re.compile(
    rf"(?i)^\s{{0,3}}(?:#{{1,4}} +)?{_WHEN}[*_]{{0,2}}"
    rf"({'|'.join(sorted(_ROLES, key=len, reverse=True))}){_AFTER}"
)
_HEADING = re.compile(
    r"(?i)^#{1,4} +[*_]{0,2}(user|human|usuário|usuario|humano|用户|assistant|claude|gemini"
    r"|assistente|asistente|助手|system)[*_]{0,2}\s*$"
)
_PERSON = re.compile(
    rf"^\s{{0,3}}{_WHEN}[*_]{{0,2}}((?:@?[^\W\d_a-z][\w.'’-]{{0,20}}(?:"
    rf" [^\W\d_a-z][\w.'’-]{{0,20}}){{0,2}})|@[\w.-]{{2,30}})"
    r"[*_]{0,2} ?(?:[(\[][^()\[\]\n]{1,40}[)\]])?\s*[:：][*_]{0,2}(?:\s+|(?<=：))(\S.*)$"
)
# what stands before a colon and is nobody's name
_FIELDS = frozenset(
    """note notes todo status goal goals owner owners decision decisions error errors
fix fixes cause causes reason reasons why what how when where who next done problem
problems solution solutions context date author result results question questions answer
answers q a example examples symptom symptoms impact risk risks option options pro pros
con cons task tasks step steps phase version name title type priority summary update
updates warning important tip bug bugs issue issues pattern patterns preference
preferences blocked blocker blockers pending open closed convention conventions gotcha
gotchas lesson lessons learned takeaway takeaways insight insights follow up remaining
backlog rationale consequences alternatives description assignee severity deadline added
changed removed deprecated security agreed remember known caveat caveats pitfall
pitfalls resolution workaround verdict conclusion summary scope out todos lição lições
pendência pendências convenção convenções convención convenciones lección lecciones
acordado concluído conclusão conclusión observación observação lembrete recordatorio
before after expected actual input output command file files path environment setup
stack pattern rule rules idea ideas plan action actions test tests fixed nota notas
estado objetivo responsable responsável decisión decisiones decisão decisões erro erros
causa causas motivo motivos razón razão porqué porque próximo próxima siguiente hecho
feito problema problemas solución soluciones solução contexto fecha data autor resultado
resultados pregunta preguntas pergunta respuesta resposta ejemplo exemplo síntoma
sintoma riesgo risco opción opciones opção opções tarea tareas tarefa tarefas paso pasos
passo passos fase versión versão nombre nome título tipo prioridad prioridade resumen
resumo aviso importante pendiente pendientes pendente pendentes patrón patrones padrão
padrões preferencia preferencias preferência regla reglas regra regras arreglo correção
注意 备注 状态 目标 负责人 决定 决策 错误 问题 原因 理由 修复 解决 解决办法 方案 下一步 待办 完成 已完成 任务 步骤 阶段 版本 日期 作者 结果 例如 示例
规则 约定 偏好 背景 环境 风险 选项 总结 结论 症状 答 问 惯例 教训 经验 坑 选型 修正 根因 根本原因""".split()
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
        """Return who begins to speak with a line, None for nobody.

        `begins`: it begins a paragraph, or follows a line with a name.
        """
        if not self.talk:
            return None
        line = line.rstrip()
        if heading := _HEADING.match(line):
            return Spoken(_ROLES[heading[1].lower()], "", heading[1])
        if match := _LABEL.match(line):
            role = _ROLES[match[1].lower()]
            is_label = match[1] in self.labels or (
                role in _SIDES and (begins or not match[1].islower())
            )
            return Spoken(role, match[2], match[1]) if is_label else None
        person = _PERSON.match(line) if self.people else None
        return Spoken(USER, person[2], person[1]) if person and person[1] in self.people else None


def speakers(head: Sequence[str]) -> Speakers:
    """Return who speaks in a text that begins with these lines.

    It is a talk where both sides have a label, one has a label that is nothing else (`User:`,
    `Claude:`), or people have names at most paragraphs. One `System: Debian 12` or `Agent: whoever
    is on duty`, or a line of a paragraph that happens to begin with `system:`, makes none.
    """
    census = _Census()
    fenced = False
    for line in map(str.rstrip, head):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        if fenced or not line:
            census.begins = census.begins or not line
        else:
            census.count(line)
    return census.speakers()


class _Census:
    """How often which names stand before what is said."""

    def __init__(self) -> None:
        self.begins = True  # the next line begins a paragraph, or follows one with a name
        self._sure: set[str] = set()  # labels at the beginning of a paragraph, or with a capital
        self._inside: set[str] = set()  # others, in lower case
        self._people: Counter[str] = Counter()
        self._paragraphs = self._labelled = self._headings = 0

    def count(self, line: str) -> None:
        """Take in a line that is no code."""
        begins = self.begins or _STAMP.match(line) is not None
        self._paragraphs += begins
        self.begins = self._count_name(line, begins=begins)

    def _count_name(self, line: str, *, begins: bool) -> bool:
        """Count the name that a line begins with; return whether there is one."""
        if _HEADING.match(line):
            self._headings += 1
            return True
        label = _LABEL.match(line)
        if label:
            is_sure = begins or not label[1].islower()
            (self._sure if is_sure else self._inside).add(label[1])
            self._labelled += begins
            return True
        person = _PERSON.match(line) if begins else None
        if not person or _field(person[1]):
            return False
        inner = _PERSON.match(person[2])
        self._people[person[1]] += 2 if inner and _field(inner[1]) else 1  # `Ana: Decision: ...`
        return True

    def speakers(self) -> Speakers:
        """Return who speaks, if it is a talk."""
        sure = set(self._sure)
        if all(name.islower() for name in sure if _ROLES[name.lower()] in _SIDES):
            sure |= {name for name in self._inside if _ROLES[name] in _SIDES}
        people = frozenset(name for name, count in self._people.items() if count > 1)
        crowd = self._is_crowd(people, sure)
        both = {_ROLES[name.lower()] for name in sure} >= _SIDES
        plain = any(name.lower() in _PLAIN for name in sure)
        if not (crowd or both or plain or self._headings > 1):
            return Speakers()
        return Speakers(True, frozenset(sure), people if crowd else frozenset())

    def _is_crowd(self, people: Set[str], labels: Set[str]) -> bool:
        """Return whether people have names at most paragraphs."""
        turns = self._labelled + sum(self._people[name] for name in people)
        least = max(min(TURNS, 2 * self._paragraphs), SHARE * self._paragraphs)
        return bool(people) and len(people) + len(labels) > 1 and turns >= least


def _field(name: str) -> bool:
    """Say whether what stands before a colon names what follows, and nobody."""
    return not _FIELDS.isdisjoint(re.split(r"[\s-]+", name.lower()))
