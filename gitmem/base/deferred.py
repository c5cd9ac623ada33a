"""Modules of the standard library that others import and hardly ever use: loaded at first use.

`click` and `dataclasses` import `inspect`, which takes longer than a bare Python needs to start;
`uuid`, which `click` imports, asks `platform` for the name of the system.
"""

import os
import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DeferredModule(ModuleType):
    """Stands for a module until something of it is used that is not given here."""

    def __getattr__(self, name: str) -> "Any":
        """Return an attribute of the module, and put the module where it belongs."""
        if name == "__path__":  # it is no package
            raise AttributeError(name)
        whole = _loaded(self.__name__)
        self.__dict__.update(vars(whole))
        return getattr(whole, name)


def _loaded(name: str) -> "Any":
    if isinstance(sys.modules.get(name), DeferredModule):
        del sys.modules[name]
    return __import__(name)


def _cleandoc(doc: str) -> str:
    """Return a docstring without its indentation; that of one line needs no `inspect`."""
    if "\n" not in doc and "\t" not in doc:
        return doc.lstrip()
    return str(_loaded("inspect").cleandoc(doc))


def defer() -> None:
    """Have modules load at their first use, unless they are there already."""
    if "inspect" not in sys.modules:
        module = sys.modules["inspect"] = DeferredModule("inspect")
        module.__dict__["cleandoc"] = _cleandoc
    if "platform" not in sys.modules and hasattr(os, "uname"):
        module = sys.modules["platform"] = DeferredModule("platform")
        module.__dict__["system"] = lambda: os.uname().sysname
