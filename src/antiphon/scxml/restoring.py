"""Content of documents, restored from the params of a chart's actions: the way back from `elements.py`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from antiphon.scxml.elements import JsonElement
from antiphon.scxml.xml import SCXML_NAMESPACE, parse_xml

CHILDREN = ("do", "content", "params", "value", "text", "finalize")
SetGuard = Callable[[Element, Any, str], None]


def restore_block(block: Element, elements: Iterable[JsonElement]) -> None:
    """Add elements of content to a block."""
    for element in elements:
        attributes = {key: str(value) for key, value in element.items() if key not in CHILDREN and key != "src"}
        copy = _add(block, element["do"], attributes)
        if "text" in element:
            copy.text = element["text"]
        restore_block(copy, element.get("content", ()))
        _add_payload(copy, element, inline=element["do"] in ("assign", "data"))


def restore_guard(element: Element, guard: Any, place: str, set_guard: SetGuard) -> None:
    """Set the condition and the events that a guard of a document tests, or have another guard set."""
    if not isinstance(guard, Mapping) or guard.get("type") != "scxml.cond":
        if guard is not None:
            set_guard(element, guard, place)
        return
    params = guard["params"]
    if "events" in params:
        element.set("event", params["events"])
    if "cond" in params:
        element.set("cond", params["cond"])


def restore_data(element: Element, config: Mapping[str, Any]) -> None:
    """Add the variables and scripts of a document, or the variables of a state."""
    for action in _actions(config, "scxml.begin", "scxml.bind"):
        params = action["params"]
        if params.get("late"):
            element.set("binding", "late")
        if params.get("data"):
            restore_block(_add(element, "datamodel", {}), params["data"])
        restore_block(element, params.get("scripts", ()))


def restore_donedata(element: Element, config: Mapping[str, Any]) -> None:
    """Add the data of a final state."""
    restore_block(element, [action["params"]["element"] for action in _actions(config, "scxml.donedata")])


def restore_invoke(element: Element, config: Mapping[str, Any]) -> None:
    """Add an invocation."""
    input = config["input"]
    attributes = {key: value for key, value in input.items() if key not in CHILDREN}
    invoke = _add(element, "invoke", {"id": config["id"], **attributes})
    _add_payload(invoke, input, inline=False)
    if "finalize" in input:
        restore_block(_add(invoke, "finalize", {}), input["finalize"])


def _add_payload(element: Element, source: JsonElement, *, inline: bool) -> None:
    """Add params and a value; the value of an assignment or a variable stands in the element itself."""
    for param in source.get("params", ()):
        _add(element, "param", param)
    if "value" in source:
        value = source["value"]
        holder = element if inline else _add(element, "content", {})
        if "expr" in value:
            holder.set("expr", value["expr"])
        elif "xml" in value:
            holder.append(parse_xml(value["xml"][4]))
        elif "document" in value:
            holder.append(parse_xml(value["text"]))
        else:
            holder.text = value.get("text", "")


def _actions(config: Mapping[str, Any], *types: str) -> list[Any]:
    entry = config.get("entry") or ()
    actions = entry if isinstance(entry, list | tuple) else [entry]
    return [action for action in actions if isinstance(action, Mapping) and action.get("type") in types]


def _add(element: Element, tag: str, attributes: Mapping[str, str]) -> Element:
    return SubElement(element, f"{{{SCXML_NAMESPACE}}}{tag}", dict(attributes))
