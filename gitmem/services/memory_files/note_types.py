"""The kind of memory that a sentence of a person's notes is, by its words and heading.

The languages are English, Portuguese, Spanish and Chinese. This module is pure.
"""

import re
from collections.abc import Mapping

# the first that fits, in this order; a sentence says more about itself than its heading does
_SENTENCE: Mapping[str, re.Pattern[str]] = {
    "task": re.compile(
        r"(?i)^\W*(?:todo|fixme|tbd)\b|\b(?:still (?:need|have) to|remains to be|falta\b|pendiente"
        r"|pendente)|待办|待完成"
    ),
    "decision": re.compile(
        r"(?i)\b(?:(?:we|i|the team) (?:have )?(?:decided|chose|picked|settled on|agreed|switched)"
        r"|decided (?:to|on|against)|decision:|(?:was|were) chosen"
        r"|decidimos|escolhemos|elegimos|optamos)\b|我们决定|决定(?:使用|采用)|选择了"
    ),
    "preference": re.compile(
        r"(?i)\b(?:(?:i|we|the user|users?|he|she|they) (?:strongly )?(?:prefers?|likes?|wants?"
        r"|dislikes?|hates?)|prefer(?:s|red)?\b|preference|prefiere|prefiero|prefere|prefiro"
        r"|gosta de|le gusta)\b|偏好|更喜欢|用户喜欢"
    ),
    "rule": re.compile(
        r"(?i)\b(?:always|never|must(?:n't| not)?|do not|don't|should(?:n't| not)?|avoid"
        r"|require[ds]?|make sure|ensure|only use|forbidden|mandatory"
        r"|nunca|sempre|siempre|jamais|jamás|não (?:use|usar|faça|deve)|no (?:use|usar|uses|debe)"
        r"|deve(?:m)?|debe(?:n)?|evit[ae]r?|obligatorio|obrigatório)\b|必须|不要|禁止|总是|切勿|务必|应该"
    ),
    "pattern": re.compile(
        r"(?i)^\W*(?:when(?:ever)?|if|to)\b.{3,80}[,:]|\b(?:pattern|convention|idiom|padrão"
        r"|patrón)\b|^(?:quando|cuando)\b|模式|惯例"
    ),
}
_HEADING: Mapping[str, re.Pattern[str]] = {
    "task": re.compile(
        r"(?i)\b(?:to-?dos?|tasks?|next steps|backlog|open (?:work|items)|pending|pendientes"
        r"|pendências|tarefas|tareas)\b|待办|任务"
    ),
    "decision": re.compile(
        r"(?i)\b(?:decisions?|adrs?|decis(?:ão|ões)|decisi(?:ón|ones))\b|决定|决策"
    ),
    "preference": re.compile(r"(?i)\b(?:preferences?|preferencias?|preferências?)\b|偏好"),
    "rule": re.compile(
        r"(?i)\b(?:rules?|guidelines?|conventions?|dos and don'?ts|policies|policy|standards?|style"
        r"|must|regras?|reglas?|normas?)\b|规则|规范|约定"
    ),
    "pattern": re.compile(r"(?i)\b(?:patterns?|idioms?|recipes?|how ?to|padrões|patrones)\b|模式"),
}


def type_of(sentence: str, heading: str = "", *, task: bool = False) -> str:
    """Return the type of memory that a sentence is.

    The type is task, decision, preference, rule or pattern, else fact. `task` means that the
    sentence has an open box.
    """
    if task:
        return "task"
    for table, text in ((_SENTENCE, sentence), (_HEADING, heading)):
        for name, pattern in table.items():
            if text and pattern.search(text):
                return name
    return "fact"
