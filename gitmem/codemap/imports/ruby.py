"""Imports of Ruby: `require` by load path, `require_relative` by file.

Constants are found by their names; those that Ruby itself has are no project's, though any file may
open them again.
"""

import posixpath
from collections.abc import Iterator

from gitmem.codemap.imports.files import Binding, ProjectFiles, joined
from gitmem.codemap.tags.import_statements import Import
from gitmem.text.test_files import is_test

# Object.constants of Ruby 3.3 without any library, and the modules of its standard library
CORE = frozenset(
    "ArgumentError Array BasicObject Binding Class ClosedQueueError Comparable Complex "
    "ConditionVariable Data Dir ENV EOFError Encoding EncodingError Enumerable Enumerator Errno "
    "Exception FalseClass Fiber FiberError File FileTest Float FloatDomainError FrozenError GC "
    "Hash IO IOError IndexError Integer Interrupt Kernel KeyError LoadError LocalJumpError Marshal "
    "MatchData Math Method Module Monitor Mutex NameError NilClass NoMatchingPatternError "
    "NoMemoryError NoMethodError NotImplementedError Numeric Object ObjectSpace Proc Process Queue "
    "Ractor Random Range RangeError Rational RefinementError Regexp RegexpError RuntimeError "
    "ScriptError SecurityError Set Signal SignalException SizedQueue StandardError StopIteration "
    "String Struct Symbol SyntaxError SystemCallError SystemExit SystemStackError Thread "
    "ThreadError ThreadGroup Time TracePoint TrueClass TypeError UnboundMethod UncaughtThrowError "
    "UnicodeNormalize Warning WeakRef ZeroDivisionError Base64 Benchmark BigDecimal CGI CSV Date "
    "DateTime Delegator Digest ERB Etc Fcntl FileUtils Find Forwardable IPAddr JSON Logger "
    "Minitest Net Observable Open3 OpenSSL OpenStruct OptionParser Pathname PP PStore Psych Rake "
    "RbConfig Ripper SecureRandom Shellwords SimpleDelegator Singleton Socket StringIO "
    "StringScanner TCPServer TCPSocket Tempfile Timeout TSort UNIXSocket UNIXServer URI YAML "
    "Zlib".split()
)


class RubyResolver:
    """Resolves the files that one project's Ruby files require."""

    LOAD = ("lib", "app", "")
    TESTS = ("test", "spec")

    def __init__(self, files: ProjectFiles) -> None:
        self._files = files

    def bindings(self, path: str, statement: Import) -> Iterator[Binding]:
        """Yield what an import binds; nothing for what is not of the project."""
        name = statement.module if statement.module.endswith(".rb") else statement.module + ".rb"
        if statement.how == "relative":
            file = self._files.first([joined(posixpath.dirname(path), name)])
        else:
            file = self._required(name, path)
        if file and file != path:
            yield Binding("", (file,), line=statement.line)

    def _required(self, name: str, path: str) -> str:
        """Return the file that Ruby would find: in the gem of a file, then in the other gems."""
        load = (*self.TESTS, *self.LOAD) if is_test(path) else self.LOAD
        folder = posixpath.dirname(path)
        while True:
            for base in load if folder == "" else [load_path for load_path in load if load_path]:
                if file := self._files.first([joined(joined(folder, base), name)]):
                    return file
            if not folder:
                break
            folder = posixpath.dirname(folder)
        return self._files.ending("lib/" + name, path)
