"""Executable content as JSON: elements of a document become the params of a chart's actions."""

import json
from collections.abc import Callable, Iterable
from typing import Any
from xml.etree.ElementTree import Element

from antiphon.scxml.errors import ScxmlError
from antiphon.scxml.xml import children_of, is_foreign, is_generated, line_of, own_attribute, tag_of, to_tree

ReadFile = Callable[[str], str]  # returns the text of a file beside the document
JsonElement = dict[str, Any]
# The keys of charts that elements and attributes of SCXML stand for.
WRITTEN_KEYS = frozenset(
    [
        "id", "type", "initial", "history", "states", "on", "after", "always", "entry", "exit", "onDone", "onError",
        "onSnapshot", "onTimeout", "invoke", "guard", "actions", "reenter", "src", "options",
    ]
)  # fmt: skip


class LocatedJson(JsonElement):
    """An element as JSON, which remembers its place in the document for messages."""

    line = 0
    column = 0


def to_json_element(element: Element, read: ReadFile) -> JsonElement:
    """Return an element of executable content as JSON; its own tag is under `do`."""
    tag = tag_of(element)
    node = LocatedJson({"do": tag, **_attributes(element)})
    node.line = getattr(element, "line", 0)
    node.column = getattr(element, "column", 0)
    if tag in ("if", "foreach"):
        node["content"] = to_json_elements(element, read)
    elif tag == "script":
        node["text"] = read(element.attrib["src"]) if "src" in element.attrib else element.text or ""
    elif tag in ("assign", "data"):
        node["value"] = to_json_value(element, read)
    elif tag in ("send", "invoke", "donedata"):
        add_payload(node, element, read)
    return node


def to_json_elements(block: Iterable[Element], read: ReadFile) -> list[JsonElement]:
    """Return the elements of a block as JSON, without those of Antiphon."""
    content = [child for child in block if tag_of(child) and not is_foreign(child) and not is_generated(child)]
    return [to_json_element(child, read) for child in content]


def to_json_value(element: Element, read: ReadFile) -> dict[str, Any]:
    """Return what an element gives a value by: an expression, a file, XML or a text."""
    if "expr" in element.attrib:
        return {"expr": element.attrib["expr"]}
    if "src" in element.attrib:
        try:
            return {"text": read(element.attrib["src"])}
        except ScxmlError as error:  # an error of the session, not of the document
            return {"problem": str(error)}
    if len(element):
        return {"xml": to_tree(element[0])}
    return {"text": element.text or ""}


def add_payload(node: dict[str, Any], element: Element, read: ReadFile) -> None:
    """Add `param` and `content` of an element."""
    params = [_attributes(param) for param in children_of(element, "param")]
    if params:
        node["params"] = params
    for content in children_of(element, "content"):
        node["value"] = to_json_value(content, read)


def named_actions(block: Iterable[Element]) -> list[dict[str, Any] | str]:
    """Return the actions of Antiphon that a block calls by name."""
    return [read_named(child.attrib.get("type", ""), child.text, child) for child in block if is_foreign(child)]


def read_named(type: str, params: str | None, element: Element) -> dict[str, Any] | str:
    """Return a name with its params, which are JSON."""
    check_name(type, element)
    if not (params or "").strip():
        return type
    try:
        return {"type": type, "params": json.loads(params or "")}
    except (ValueError, RecursionError) as error:
        raise ScxmlError(f"line {line_of(element)}: the params of {type!r} are not JSON: {error}") from None


def check_name(name: str, element: Element) -> None:
    """Raise `ScxmlError` if the name of a function of the program is one of Antiphon's for documents."""
    if name.startswith("scxml."):
        raise ScxmlError(
            f"line {line_of(element)}: {name!r} is a name of Antiphon; use that of a function of the program"
        )


def more_of(element: Element) -> dict[str, Any]:
    """Return the keys of a chart that an element keeps for Antiphon, as JSON."""
    text = own_attribute(element, "more")
    try:
        more = {} if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScxmlError(f"line {line_of(element)}: the attribute 'more' is not JSON: {error}") from None
    if not isinstance(more, dict):
        raise ScxmlError(f"line {line_of(element)}: the attribute 'more' is a JSON object, not {text}")
    for key in more.keys() & WRITTEN_KEYS:
        raise ScxmlError(f"line {line_of(element)}: the attribute 'more' has {key!r}; write it in elements of SCXML")
    return more


def _attributes(element: Element) -> dict[str, str]:
    return {name: value for name, value in element.attrib.items() if "}" not in name}
