"""Prompts that say nothing about work.

These are a greeting, a thank-you, and a word that checks whether anybody is there. This module is
pure, and hooks load it.
"""

MOST = 5  # words of one
# of an agent's CLI that say nothing; any other one is work
COMMANDS = frozenset({"/exit", "/quit", "/clear", "/help"})
_WORDS = frozenset(
    "hi hii hey heya hello helo hallo howdy yo hola ola oi ciao salut bonjour moin servus ahoj "
    "cześć czesc merhaba namaste salam shalom hej hei "
    "ok okay k yes yep yeah no nope sure fine good great nice cool thanks thank thx ty cheers "
    "danke merci gracias obrigado grazie please pls "
    "morning afternoon evening night day guten morgen tag buenos dias buenas tardes bom dia how "
    "are you doing whats what's up sup there anyone anybody "
    "bye goodbye tschüss exit quit q clear testing ping pong hm hmm uh um lol a again back i'm im "
    "am is it me all everyone friend "
    "claude gemini codex copilot cursor opencode привет здравствуйте спасибо 你好 您好 谢谢 "
    "こんにちは ありがとう 안녕 안녕하세요 مرحبا שלום".split()
)


def trivial(prompt: str) -> bool:
    """Say whether a prompt is small talk alone: nothing in it says what to do."""
    if prompt.lstrip().startswith("/"):
        return prompt.strip().lower() in COMMANDS
    words = (
        "".join(c if c.isalnum() or c in "'’" else " " for c in prompt[:200].lower())
        .replace("’", "'")
        .split()
    )
    return len(prompt) <= 200 and len(words) <= MOST and all(word in _WORDS for word in words)
