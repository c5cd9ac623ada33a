"""Where a reader of messages finds the documents: an installation does not have them."""

ADDRESS = "https://github.com/git-mem/git-mem/blob/main/docs"


def page(name: str) -> str:
    """Return the address of a page, such as `work.md`."""
    return f"{ADDRESS}/{name}"
