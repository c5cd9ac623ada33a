"""What the DNA of a project tells the start of a session: its parts, each as one line.

Part of the hot path.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ORDER = (
    "",
    "Stack",
    "Entry points",
    "Run",
    "Key files",
    "Workspaces",
    "Environment",
    "Configuration",
    "Plans",
)  # the rest is told by itself
MOST = 420  # characters of a part


def code_lines(body: str) -> "Iterator[tuple[str, str]]":
    """Yield (title, text) of the parts of a page that a session is given, the summary first.

    The title of the summary is ''. A page without parts is that of a repository without code.
    """
    first, *parts = f"\n{body}".split("\n## ")
    if not parts:
        return iter(())  # there is no code
    said = {"": " ".join(first.split())}
    for part in parts:
        title, _, rest = part.partition("\n")
        said[title.strip()] = _joined(
            [row.removeprefix("- ").strip() for row in rest.split("\n") if row.strip()]
        )
    return ((title, said[title]) for title in ORDER if said.get(title))


def _joined(rows: "list[str]") -> str:
    out = ""
    for number, row in enumerate(rows):
        longer = f"{out}; {row}" if out else row
        if len(longer) > MOST and out:
            return f"{out}; and {len(rows) - number} more: git mem code dna"
        out = longer
    return out
