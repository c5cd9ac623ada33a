"""Names in facts that the code had and has no more, and versions that it left."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gitmem.git.past_code import PastFile
from gitmem.services.dna.dependencies import MODULES  # what a distribution's module is called
from gitmem.services.lifecycle import mentions
from gitmem.services.lifecycle.code_view import CodeView, canonical, fold
from gitmem.services.lifecycle.findings import Finding
from gitmem.services.lifecycle.gone_names import Gone, GoneNames, Said, when
from gitmem.services.lifecycle.mentions import Mention
from gitmem.services.lifecycle.versions import go_together

BASES = 200  # commits in which words are looked for, those of the newest facts


class NameClaim(NamedTuple):
    """A fact, and something that it names."""

    id: str
    mention: Mention


SaidOf = Callable[[str], Said | None]  # when a fact was said, by its id


def refuted(
    claims: Sequence[NameClaim], code: CodeView, gone: GoneNames, said_of: SaidOf
) -> Mapping[str, list[Finding]]:
    """Return what the code refutes of some claims, by fact; each name once."""
    judge = _Judge(code, gone, said_of)
    about_words = [claim for claim in claims if claim.mention.kind in _WORDS]
    out: dict[str, dict[str, Finding]] = {}
    for claim, finding in [
        *_without_absences(code, judge.names(claims)),
        *judge.words(about_words),
    ]:
        out.setdefault(claim.id, {}).setdefault(claim.mention.name, finding)
    return {id: list(by_name.values()) for id, by_name in out.items()}


def _without_absences(
    code: CodeView, judged: Sequence[tuple[NameClaim, Finding]]
) -> Iterator[tuple[NameClaim, Finding]]:
    """Yield findings without those of files whose absence says nothing; git is asked once."""
    silent = code.absences([finding.code for _, finding in judged if finding.what == "path"])
    for claim, finding in judged:
        if finding.what != "path" or finding.code not in silent:
            yield claim, finding


_WORDS = frozenset({mentions.SYMBOL, mentions.PORT, mentions.SETTING})


class _Judge:
    def __init__(self, code: CodeView, gone: GoneNames, said_of: SaidOf) -> None:
        self._code = code
        self._gone = gone
        self._find_said = said_of
        self._said: dict[str, Said | None] = {}

    def names(self, claims: Sequence[NameClaim]) -> list[tuple[NameClaim, Finding]]:
        """Return what refutes claims about files, dependencies, scripts and versions."""
        judged = [(claim, self._finding(claim)) for claim in claims]
        return [(claim, finding) for claim, finding in judged if finding]

    def _finding(self, claim: NameClaim) -> Finding | None:
        kinds = {
            mentions.PATH: self._path,
            mentions.DEPENDENCY: self._dependency,
            mentions.SCRIPT: self._script,
            mentions.VERSION: self._version,
        }
        look = kinds.get(claim.mention.kind)
        return look(claim) if look else None

    def _said_of(self, id: str) -> Said | None:
        if id not in self._said:
            self._said[id] = self._find_said(id)
        return self._said[id]

    def _is_since(self, claim: NameClaim, gone: Gone | PastFile) -> bool:
        said = self._said_of(claim.id)
        return said is not None and self._gone.is_since(gone, said)

    # -- files

    def _path(self, claim: NameClaim) -> Finding | None:
        path = claim.mention.name
        if self._is_there(path):
            return None
        gone = self._gone.file(path)
        if gone is None or not self._is_since(claim, gone):
            return None
        if gone.now and self._code.has(gone.now) and not path.endswith("/"):
            reason = f"{gone.path} was renamed to {gone.now} {when(gone)}"
            return _made(claim, "path", reason, "edit", gone.path)
        reason = f"{gone.path} was removed {when(gone)}"
        return _made(claim, "path", reason, "drop", gone.path)

    def _is_there(self, path: str) -> bool:
        code, name = self._code, path.rstrip("/")
        if code.has(name) or name in code.folders:
            return True
        if code.file_tails.first(name) is not None:
            return True
        may_be_folder = "/" in path  # a word alone is a file's name
        return may_be_folder and code.folder_tails.first(name) is not None

    # -- manifests

    def _dependency(self, claim: NameClaim) -> Finding | None:
        name = claim.mention.name
        gone = self._gone.dependencies.get(canonical(name))
        if gone is None or not self._is_since(claim, gone) or self._code.needs_of(name):
            return None
        if gone.path in self._code.unread_manifests or self._is_used(gone.name):
            return None
        reason = f"{gone.name} was removed from {gone.path} {when(gone)}"
        return _made(claim, "dependency", reason, "drop", gone.name)

    def _is_used(self, name: str) -> bool:
        """Return whether code imports a package, or a file that is no manifest names it."""
        module = MODULES.get(name.lower(), fold(name))
        if module in self._imported_packages or fold(name) in self._code.imported:
            return True
        return bool(self._gone.named_elsewhere.get(name, set()) - self._manifest_paths)

    @cached_property
    def _imported_packages(self) -> frozenset[str]:
        return frozenset(module.split(".")[0].split("/")[0] for module in self._code.imported)

    @cached_property
    def _manifest_paths(self) -> frozenset[str]:
        return frozenset(manifest.path for manifest in self._code.manifests)

    def _script(self, claim: NameClaim) -> Finding | None:
        name, manager = claim.mention.name, claim.mention.manager
        gone = self._gone.scripts.get((manager, name))
        if gone is None or not self._is_since(claim, gone):
            return None
        if gone.path in self._code.unread_manifests:
            return None
        for manifest in self._code.manifests:
            declared = manifest.declared
            is_there = name in declared.scripts or name in declared.starts
            if declared.ecosystem == manager and (is_there or "\ninclude " in f"\n{manifest.text}"):
                return None
        reason = f"{name} was removed from {gone.path} {when(gone)}"
        return _made(claim, "script", reason, "drop", name)

    def _version(self, claim: NameClaim) -> Finding | None:
        """Return what refutes a version: it fitted when it was said, and fits nothing now."""
        name, version = claim.mention.name, claim.mention.version
        needs = self._code.needs_of(name)
        states = [
            go_together(version, need.version, need.manifest.declared.ecosystem) for need in needs
        ]
        if False not in states or True in states or None in states:
            return None
        for gone in self._gone.versions.get(canonical(name), ()):
            fitted = go_together(version, gone.was, gone.ecosystem)
            if fitted and self._is_since(claim, gone):
                need = needs[0]
                where = need.manifest.where(need.name)
                where = where if where != need.manifest.path else need.manifest.where(need.version)
                reason = f"{where}: {need.name} is {need.version}, not {version}"
                key = f"{need.name} {need.version}"
                return _made(claim, "version", reason, "edit", key)
        return None

    # -- words: definitions, ports, settings

    def words(self, claims: Sequence[NameClaim]) -> list[tuple[NameClaim, Finding]]:
        """Return what refutes claims about words that stand anywhere in code."""
        now = self._gone.words_now(sorted({_word(claim) for claim in claims})) if claims else {}
        waiting: dict[str, list[NameClaim]] = {}
        for claim in claims:
            if self._may_be_gone(claim, now) and (said := self._said_of(claim.id)):
                base = self._gone.base(said)
                waiting.setdefault(base, []).append(claim)
        waiting.pop("", None)
        out = []
        for base, some in list(waiting.items())[:BASES]:
            out += self._words_of(base, some, now)
        return out

    def _may_be_gone(self, claim: NameClaim, now: Mapping[str, set[str]]) -> bool:
        name = claim.mention.name
        if claim.mention.kind != mentions.SYMBOL:
            return name not in now
        is_qualified = _word(claim) != name.removesuffix("()")
        return self._code.defines(name) is None and (is_qualified or name not in now)

    def _words_of(
        self, base: str, claims: Sequence[NameClaim], now: Mapping[str, set[str]]
    ) -> list[tuple[NameClaim, Finding]]:
        """Return what refutes claims that were made of the code of one commit."""
        hits = self._gone.words_then(sorted({_word(claim) for claim in claims}), base)
        out = []
        for claim in claims:
            word, name = _word(claim), claim.mention.name
            some = [hit for hit in hits.get(word, ()) if hit.path not in now.get(word, ())]
            if not some:
                continue
            place = f"{some[0].path}:{some[0].line}"
            reason = f"no file has {name}; {place} had it at {base[:7]}"
            if claim.mention.kind == mentions.SYMBOL:
                symbol = name.removesuffix("()").replace("::", ".").replace("#", ".")
                was = self._gone.defined_then(symbol, some, base)
                if was is None:
                    continue
                reason = f"nothing defines {name}; {was.path}:{was.line} did at {base[:7]}"
            what = "symbol" if claim.mention.kind == mentions.SYMBOL else "setting"
            out.append((claim, _made(claim, what, reason, "drop", name)))
        return out


def _word(claim: NameClaim) -> str:
    """Return the word of a claim that is looked for: of a qualified name the last part."""
    name = claim.mention.name.removesuffix("()")
    if claim.mention.kind == mentions.SYMBOL:
        return name.replace("::", ".").replace("#", ".").rpartition(".")[2]
    return name


def _made(claim: NameClaim, what: str, reason: str, choice: str, key: str) -> Finding:
    return Finding((claim.id,), what, reason, choice, code=key)
