"""Which files are tests or examples, and which of two tests the other, by their names.

Standard library only: the hot path imports this.
"""

import re

_AFFIX = re.compile(r"(?i)^(?:tests?[_-])?(.+?)(?:[._-](?:tests?|specs?|stories|e2e))?$")
_CAMEL_TEST = re.compile(r"^(?:Test(?=[A-Z]))?(\w+?)(?:Tests?|Spec|IT)?$")
# folders of what stands beside a project, also as `docs_src` and `examples-old`
_ASIDE = re.compile(
    r"testing|testdata|testsuite|example|doc|benchmark|bench|benches|demo|tutorial|gallery|fuzz"
    r"|playgrounds?|e2e|cypress|__mocks__"
    r"|(?:tests|specs|fixtures|examples|docs|benchmarks|demos|tutorials)(?:[_-].*)?"
    r"|(?:test|template)[_-].+|.+[._-](?:tests|specs|examples|benchmarks)(?:\..+)?|.+_test"
)
_JAVA = re.compile(r"(?:^|/)src/main/(?:java|kotlin|scala|groovy)/")
_EVERYWHERE = frozenset(
    "index main init __init__ mod lib app util utils helpers types common base models views "
    "config conftest setup api client server routes".split()
)


def stem(name: str) -> str:
    """Return what a file and its test share in their names."""
    base = name.split(".", 1)[0] if not name.startswith(".") else name
    rest = name[len(base) :]
    match = _AFFIX.match(base)
    base = match[1] if match else base
    camel = _CAMEL_TEST.match(base)
    return (camel[1] if camel and rest.count(".") >= 1 else base).lower()


def are_sisters(path: str, other: str, core: str) -> bool:
    """Say whether of two files one tests the other, by their names.

    A name that many files have needs a folder of one name too.
    """
    if stem(other.rpartition("/")[2]) != core or is_test(other) == is_test(path):
        return False
    above = {part.lower() for part in path.split("/")[:-1]} & {
        part.lower() for part in other.split("/")[:-1]
    }
    return core not in _EVERYWHERE or bool(above - {"src", "lib", "app", "test", "tests"})


def is_test(path: str) -> bool:
    """Say whether a file is a test, by its name or its folder."""
    folders, _, name = path.rpartition("/")
    return bool(
        re.search(r"(?i)(?:^|[._-])(?:tests?|specs?|e2e)(?:[._-]|$)", name)
        or re.match(r"Test[A-Z]|\w+(?:Tests?|Spec|IT)\.", name)
        or {"test", "tests", "spec", "specs", "__tests__"} & set(folders.lower().split("/"))
    )


def is_aside(path: str) -> bool:
    """Return whether a file is only for tests, examples or documentation.

    Such a file is no part of what the project is.
    """
    *folders, name = path.lower().split("/")
    if _JAVA.search(path):  # names of its packages say nothing: `com/example/demo` is a product
        folders = _JAVA.split(path.lower(), maxsplit=1)[0].split("/")
    return (
        is_test(path)
        or folders[:1] == ["t"]  # the tests of Perl's and of some Python projects
        or any(_ASIDE.fullmatch(folder) for folder in folders)
        or bool(re.search(r"(?:^|[._-])(?:bench|conftest)(?:[._-]|$)", name))
    )
