"""Modules that stand in their place without their code: nobody can tell them from whole ones."""

import subprocess
import sys
from textwrap import dedent

import pytest

# in a process that runs commands, where nothing has loaded them
BEGIN = """
import sys
import gitmem.cli.main
import inspect, platform
from gitmem.base.deferred import DeferredModule
assert type(inspect) is DeferredModule and type(platform) is DeferredModule
"""


def run(code: str) -> str:
    """Run code in a process with the modules deferred; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", BEGIN + dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["inspect", "platform"])
def test_what_the_import_system_asks_loads_nothing(name: str) -> None:
    """The spec of a module, its name and its file are there at once."""
    code = f"""
    import importlib.util
    module = sys.modules[{name!r}]
    spec = importlib.util.find_spec({name!r})
    assert spec is module.__spec__ and spec.name == module.__name__ == {name!r}
    assert spec.origin == module.__file__ and spec.loader is module.__loader__
    assert (module.__package__, module.__cached__) == ("", spec.cached)
    assert not hasattr(module, "__path__")
    assert repr(module) == f"<module {name!r} from {{module.__file__!r}}>"
    print(type(module).__name__, module.__file__)
    """
    kind, file = run(code).split()
    assert kind == "DeferredModule"
    assert file.endswith(f"{name}.py")


@pytest.mark.parametrize(
    "use",
    [
        "inspect.signature(print)",
        "inspect.__doc__",
        "'Signature' in dir(inspect)",
        "from inspect import Signature",
        "from inspect import *; Signature",
        "inspect.cleandoc('One\\n    two') == 'One\\ntwo'",
        "import importlib; importlib.reload(inspect).Signature",
        "import inspect as again; again.Signature",
    ],
)
def test_a_use_makes_the_module_whole(use: str) -> None:
    """It is the same object as before, and nothing is left of the stand-in."""
    code = f"""
    before = inspect
    exec({use!r})
    assert sys.modules["inspect"] is before is inspect
    assert before.Signature.__module__ == "inspect" and before.cleandoc.__module__ == "inspect"
    assert before.__doc__.startswith("Get useful information from live Python objects.")
    assert before.signature.__globals__ is vars(before)
    print(type(before).__name__)
    """
    assert run(code) == "module"


def test_pickle_dataclasses_and_typing_work() -> None:
    """They look modules up by name."""
    code = """
    import dataclasses, pickle, typing

    @dataclasses.dataclass
    class Point:
        x: "int"
        kind: "inspect._ParameterKind"

    assert pickle.loads(pickle.dumps(inspect.Signature)) is inspect.Signature
    assert pickle.loads(pickle.dumps(platform.uname)) is platform.uname
    hints = typing.get_type_hints(Point)
    assert hints == {"x": int, "kind": inspect._ParameterKind}
    print(Point.__doc__)
    """
    assert run(code).startswith("Point(x: ")


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    code = """
    try:
        inspect.no_such_name
    except AttributeError as error:
        print(error)
    """
    assert run(code) == "module 'inspect' has no attribute 'no_such_name'"


def test_threads_find_a_whole_module() -> None:
    """The first of many loads it, and the others wait."""
    code = """
    import threading
    sys.setswitchinterval(1e-6)
    failures, gate = [], threading.Barrier(8)

    def use():
        gate.wait()
        try:
            inspect.unwrap, inspect.Parameter, inspect.BoundArguments
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(failures)
    """
    assert run(code) == "[]"
