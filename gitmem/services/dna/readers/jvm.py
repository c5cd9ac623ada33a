"""Manifests of Java: pom.xml and Gradle's build files. Pure."""

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from gitmem.services.dna.declared import Declared, declare

_GRADLE = re.compile(
    r"""\b(implementation|api|compileOnly|runtimeOnly|kapt|testImplementation|testRuntimeOnly"""
    r"""|testCompileOnly|androidTestImplementation)\s*+(?:\(\s*+)?"""
    r"""["']([\w.-]+):([\w.-]+)(?::([\w.-]+))?["']"""
)


def pom(path: str, text: str) -> Declared:
    """Read a pom.xml."""
    # no manifest needs one, and entities can make much of little
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return Declared(path, "")
    root = ElementTree.fromstring(text)  # noqa: S314 - see above
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    properties = {
        f"${{{element.tag}}}": (element.text or "").strip()
        for element in root.findall("properties/*")
    }

    def said(element: Any, name: str) -> str:
        value = (element.findtext(name) or "").strip()
        value = properties.get(value, value)
        return "" if "${" in value else value

    made = Declared(
        path,
        "maven",
        said(root, "artifactId"),
        said(root, "version"),
        " ".join(said(root, "description").split()),
    )
    made.needs |= _java(properties)
    _maven_dependencies(made, root, said)
    parent = root.find("parent")
    if parent is not None and said(parent, "artifactId") and said(parent, "version"):
        made.needs[said(parent, "artifactId")] = said(parent, "version")
    return made


def _maven_dependencies(made: Declared, root: Any, said: Callable[[Any, str], str]) -> None:
    """Note dependencies; the scope may stand in what a project manages for all its modules."""
    scopes = {
        _coordinates(said, element): said(element, "scope")
        for element in root.findall("dependencyManagement/dependencies/dependency")
    }
    for element in root.findall("dependencies/dependency"):
        name = _coordinates(said, element)
        version = said(element, "version")
        if (said(element, "scope") or scopes.get(name, "")) == "test":
            made.tries[name] = version
        elif said(element, "optional") == "true":
            made.options[name] = version
        else:
            declare(made, {name: version})


def _java(properties: dict[str, str]) -> dict[str, str]:
    for key in ("maven.compiler.release", "java.version", "maven.compiler.source"):
        value = properties.get(f"${{{key}}}", "")
        value = properties.get(value, value)
        if value and "${" not in value:
            return {"Java": value}
    return {}


def _coordinates(said: Any, element: Any) -> str:
    return ":".join(
        part for part in (said(element, "groupId"), said(element, "artifactId")) if part
    )


def gradle(path: str, text: str) -> Declared:
    """Read a build.gradle or build.gradle.kts."""
    made = Declared(path, "gradle")
    for scope, group, name, version in _GRADLE.findall(text):
        if "test" in scope.lower():
            made.tries[f"{group}:{name}"] = version
        else:
            declare(made, {f"{group}:{name}": version})
    if version := re.search(
        r"(?:sourceCompatibility|JavaLanguageVersion\.of"
        r"|jvmToolchain)\s*[=(]\s*[\"']?(?:JavaVersion\.VERSION_)?([\d_.]+)",
        text,
    ):
        made.needs["Java"] = version[1].replace("_", ".")
    if about := re.search(
        r"""^[ \t]*description[ \t]*=\s*["']([^"'\n]+)["']""", text, re.MULTILINE
    ):
        made.description = about[1]
    return made
