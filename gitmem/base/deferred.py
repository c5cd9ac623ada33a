"""A module of the standard library that others import and hardly ever use: loaded at first use.

`click` and `dataclasses` import `inspect`, which takes longer than a bare Python needs to start.
"""

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "inspect"


class DeferredInspect(ModuleType):
    """Stands for `inspect` until something of it is used."""

    def cleandoc(self, doc: str) -> str:
        """Return a docstring without its indentation; that of one line needs no `inspect`."""
        if "\n" in doc or "\t" in doc:
            return str(self.__getattr__("cleandoc")(doc))
        return doc.lstrip()

    def __getattr__(self, name: str) -> "Any":
        """Return an attribute of the module, and put the module where it belongs."""
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        import inspect

        self.__dict__.update(vars(inspect))
        return getattr(inspect, name)


def defer_inspect() -> None:
    """Have `inspect` load at its first use, unless it is there already."""
    if NAME not in sys.modules:
        sys.modules[NAME] = DeferredInspect(NAME)
