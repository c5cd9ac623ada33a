"""Modules of the standard library that others import and hardly ever use: loaded at first use.

`click` and `dataclasses` import `inspect`, which takes longer than a bare Python needs to start;
`uuid`, which `click` imports, asks `platform` for the name of the system.
"""

import os
import sys
from _frozen_importlib_external import PathFinder
from _thread import RLock
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class DeferredModule(ModuleType):
    """A module that runs its code when something of it is used that is not given before."""

    def __getattr__(self, name: str) -> "Any":
        """Return an attribute of the whole module."""
        if name == "__path__":  # it is no package
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        _load(self)
        return ModuleType.__getattribute__(self, name)

    def __dir__(self) -> "list[str]":
        """Return the names in the whole module."""
        _load(self)
        return sorted(self.__dict__)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        """The docstring of the whole module."""
        _load(self)
        return self.__dict__["__doc__"]  # type: ignore[no-any-return]


_waiting: set[ModuleType] = set()
_loading = RLock()


def _load(module: ModuleType) -> None:
    """Run the code of a deferred module, once; other threads wait until it is whole."""
    with _loading:
        if module not in _waiting:  # also while its own code runs
            return
        _waiting.remove(module)
        try:
            module.__spec__.loader.exec_module(module)  # type: ignore[union-attr]
        except BaseException:
            _waiting.add(module)
            raise
        module.__class__ = ModuleType


def _cleandoc(doc: str) -> str:
    """Return a docstring without its indentation; that of one line needs no `inspect`."""
    if "\n" not in doc and "\t" not in doc:
        return doc.lstrip()
    import inspect

    _load(inspect)
    return inspect.cleandoc(doc)


def _defer(name: str, **given: "Callable[..., str]") -> None:
    """Have a module load at its first use, unless it is there already or comes from no file."""
    spec = None if name in sys.modules else PathFinder.find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = sys.modules[name] = DeferredModule(name)
    _waiting.add(module)
    module.__dict__.update(
        __spec__=spec,
        __loader__=spec.loader,
        __package__=spec.parent,
        __file__=spec.origin,
        __cached__=spec.cached,
        **given,
    )


def defer() -> None:
    """Have modules load at their first use."""
    _defer("inspect", cleandoc=_cleandoc)
    if hasattr(os, "uname"):
        _defer("platform", system=lambda: os.uname().sysname)
