"""Documents as charts: the structure of SCXML in the format of XState, with contents as actions and their params.

A chart of a document is JSON. Blocks of content are actions named `scxml.content`, conditions are guards named
`scxml.cond`, and invocations are actors named `scxml.invoke`; `operations.py` implements them. Elements and attributes
in the namespace of Antiphon name functions of the program.
"""

import json
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element

from antiphon.scxml.elements import (
    ReadFile,
    add_payload,
    check_name,
    more_of,
    named_actions,
    read_named,
    to_json_element,
    to_json_elements,
)
from antiphon.scxml.errors import ScxmlError
from antiphon.scxml.events import engine_descriptors, is_order_relevant
from antiphon.scxml.xml import children_of, line_of, own_attribute, tag_of, to_xml

STATES = ("state", "parallel", "final", "history")
Config = dict[str, Any]


class ScxmlDocument:
    """An SCXML document, its states by id, and the inline documents that it invokes."""

    def __init__(self, root: Element, read: ReadFile, default_name: str = "scxml") -> None:
        if tag_of(root) != "scxml":
            raise ScxmlError(f"line {line_of(root)}: the root element is {tag_of(root)!r} instead of 'scxml'")
        if root.get("datamodel", "ecmascript") not in ("ecmascript", "null"):
            raise ScxmlError(
                f"line {line_of(root)}: the data model {root.get('datamodel')!r} is not known; known: ecmascript, null"
            )
        self.root = root
        self.read = read
        self.is_late = root.get("binding") == "late"
        self.ids: dict[Element, str] = {}
        self.by_id: dict[str, Element] = {}
        self.inline: dict[str, Element] = {}  # by the name of their actor
        self._parents = {child: parent for parent in root.iter() for child in parent if tag_of(child) in STATES}
        self._written_ids = {state.get("id") for state in root.iter()}
        self._name_states(root)
        name = root.get("name") or default_name
        self.name = name
        is_taken = name in self.by_id and self.by_id[name] is not self._machine_element()
        self.id = f"({name})" if is_taken else name

    def _name_states(self, element: Element) -> None:
        for child in children_of(element, *STATES):
            id = child.get("id") or self._free_id(child)
            if id in self.by_id:
                raise ScxmlError(f"line {line_of(child)}: the id {id!r} is taken by another state")
            self.ids[child] = id
            self.by_id[id] = child
            self._name_states(child)

    def _free_id(self, element: Element) -> str:
        number = len(self.ids)
        while f"{tag_of(element)}.{number}" in self._written_ids:
            number += 1
        return f"{tag_of(element)}.{number}"

    def chart(self) -> Config:
        """Return the chart of the document, without options."""
        machine = self._machine_element()
        if machine is not None:
            return {**self._state(machine), "id": self.id, **more_of(machine)}
        config: Config = {"id": self.id, **self._inside(self.root), **more_of(self.root)}
        if not config.get("states"):
            raise ScxmlError(f"line {line_of(self.root)}: the document has no states")
        begin: Config = {"data": [self._data(data) for data in self._all_data(self.is_late)]}
        if self.is_late:
            begin["late"] = [data.get("id") for state in self.ids for data in _data_of(state)]
        begin["scripts"] = [to_json_element(script, self.read) for script in children_of(self.root, "script")]
        begin["top"] = [data.get("id") for data in _data_of(self.root)]
        params = {key: value for key, value in begin.items() if value}
        if params:
            config["entry"] = [{"type": "scxml.begin", "params": params}]
        return config

    @property
    def is_xstate(self) -> bool:
        """True if the document was written from a chart with the semantics of XState."""
        return own_attribute(self.root, "semantics") == "xstate"

    def line_at(self, path: str) -> int:
        """Return the line of the state that a path in the chart leads to."""
        machine = self._machine_element()
        paths: dict[Element, str] = {self.root: ""}
        line = line_of(self.root)
        for element in self.ids:  # parents come first
            paths[element] = (
                "" if element is machine else f"{paths[self._parents[element]]}states.{self._key(element)}."
            )
            if f"{path}.".startswith(paths[element]):
                line = line_of(element)
        return line

    def _machine_element(self) -> Element | None:
        """Return the state that stands for the machine in a document that was written from a chart."""
        states = children_of(self.root, *STATES)
        return states[0] if len(states) == 1 and own_attribute(states[0], "machine") is not None else None

    def _all_data(self, only_top: bool) -> list[Element]:
        parents = (self.root,) if only_top else (self.root, *self.ids)
        return [data for parent in parents for data in _data_of(parent)]

    def _data(self, data: Element) -> Config:
        if not data.get("id"):
            raise ScxmlError(f"line {line_of(data)}: data needs an id")
        return to_json_element(data, self.read)

    def _inside(self, element: Element) -> Config:
        """Return the states inside an element, and which of them is initial."""
        children = children_of(element, *STATES)
        if not children:
            return {}
        config: Config = {"states": {self._key(child): self._state(child) for child in children}}
        if tag_of(element) in ("state", "scxml"):
            config["initial"] = self._initial(element, children)
        return config

    def _initial(self, element: Element, children: list[Element]) -> Any:
        targets = (element.get("initial") or "").split()
        block: list[Element] = []
        for transition in (
            t for initial in children_of(element, "initial") for t in children_of(initial, "transition")
        ):
            targets = self._targets(transition)
            block = list(transition)
        real = [child for child in children if tag_of(child) != "history"]
        if not targets and not real:
            raise ScxmlError(f"line {line_of(element)}: only history states are inside {self.ids.get(element)!r}")
        targets = targets or [self.ids[real[0]]]
        actions = self._actions(block)
        direct = [child for child in children if targets == [self.ids[child]]]
        if direct and not actions:
            return self._key(direct[0])
        target: Any = self._key(direct[0]) if direct else [self._reference(id, element) for id in targets]
        return {"target": target, "actions": actions}

    def _state(self, element: Element) -> Config:
        id = self.ids[element]
        kind = tag_of(element)
        if kind == "history":
            return self._history(element, id)
        config: Config = {"id": id, **self._inside(element)}
        if kind == "final" or (kind == "parallel" and config.get("states")):
            config["type"] = kind
        late = [self._data(data) for data in _data_of(element)] if self.is_late else []
        config["entry"] = [
            *([{"type": "scxml.bind", "params": {"state": id, "data": late}}] if late else []),
            *self._blocks(element, "onentry"),
            *self._donedata(element, id),
        ]
        config["exit"] = self._blocks(element, "onexit")
        invokes = enumerate(children_of(element, "invoke"))
        config["invoke"] = [self._invoke(id, number, invoke) for number, invoke in invokes]
        self._add_transitions(element, config)
        if own_attribute(element, "name") is not None and id == self._default_id(element):
            del config["id"]
        return {**{key: value for key, value in config.items() if value not in ([], {})}, **more_of(element)}

    def _key(self, element: Element) -> str:
        """Return the key of a state; whole numbers would be put before all others."""
        id = self.ids[element]
        return own_attribute(element, "name") or (f"({id})" if id.isdecimal() else id)

    def _default_id(self, element: Element) -> str:
        """Return the id that a state has by its place."""
        keys: list[str] = []
        current = element
        while current in self.ids and current is not self._machine_element():
            keys.insert(0, self._key(current))
            current = self._parents[current]
        return ".".join((self.id, *keys))

    def _history(self, element: Element, id: str) -> Config:
        config: Config = {"id": id, "type": "history", "history": element.get("type", "shallow")}
        for transition in children_of(element, "transition"):
            config["target"] = self._target(transition)
            actions = self._actions(transition)
            if actions:
                config["entry"] = actions
        return {**config, **more_of(element)}

    def _donedata(self, element: Element, id: str) -> list[Config]:
        for donedata in children_of(element, "donedata") if tag_of(element) == "final" else ():
            node = to_json_element(donedata, self.read)
            return [{"type": "scxml.donedata", "params": {"state": id, "element": node}}]
        return []

    def _invoke(self, state: str, number: int, element: Element) -> Config:
        id = element.get("id") or f"{state}.invoke{number}"
        if own_attribute(element, "invoke") is not None:
            more = more_of(element)
            check_name(element.get("src", ""), element)
            own = {"id": id} if more.pop("ownId", False) else {}
            return {**own, "src": element.get("src"), **more}
        input: Config = {name: value for name, value in element.attrib.items() if name != "id" and "}" not in name}
        add_payload(input, element, self.read)
        for content in children_of(element, "content"):
            if len(content) and tag_of(content[0]) == "scxml":
                name = f"scxml.inline.{state}.{number}"
                self.inline[name] = content[0]
                input["value"] = {"document": name, "text": to_xml(content[0])}
        for finalize in children_of(element, "finalize"):
            input["finalize"] = to_json_elements(finalize, self.read)
        return {"id": id, "src": "scxml.invoke", "input": input}

    def _add_transitions(self, element: Element, config: Config) -> None:
        config |= {"always": [], "on": {}, "after": {}}
        transitions = []
        for transition in children_of(element, "transition"):
            place = own_attribute(transition, "place")
            if place is None:
                transitions.append(transition)
            else:
                put_at(config, place.split(" "), self._transition(transition, None), transition)
        pairs = [(transition, (transition.get("event") or "").split()) for transition in transitions]
        is_ordered = not self.is_xstate and is_order_relevant([names for _, names in pairs if names])
        for transition, descriptors in pairs:
            if not descriptors:
                config["always"].append(self._transition(transition, None))
            elif is_ordered:
                # The engine tries exact names first; under one wildcard the document's order counts.
                config["on"].setdefault("*", []).append(self._transition(transition, descriptors))
            else:
                transition_config = self._transition(transition, None)
                for key in (key for descriptor in descriptors for key in self._keys(descriptor)):
                    config["on"].setdefault(key, []).append(transition_config)

    def _keys(self, descriptor: str) -> list[str]:
        return [descriptor] if self.is_xstate else engine_descriptors(descriptor)

    def _transition(self, element: Element, descriptors: list[str] | None) -> Config:
        config: Config = {}
        targets = self._targets(element)
        if targets:
            config["target"] = self._target(element)
            config["reenter"] = element.get("type") != "internal"
        guard = self._guard(element, descriptors)
        if guard is not None:
            config["guard"] = guard
        actions = self._actions(element)
        return {**config, **({"actions": actions} if actions else {}), **more_of(element)}

    def _target(self, element: Element) -> Any:
        """Return the target of a transition, as a chart wrote it if it was written from one."""
        target = own_attribute(element, "target")
        if target is not None:
            return json.loads(target) if target.startswith("[") else target
        return [self._reference(target, element) for target in self._targets(element)]

    def _guard(self, element: Element, descriptors: list[str] | None) -> Any:
        name = own_attribute(element, "guard")
        if name is not None:
            if descriptors is not None or element.get("cond") is not None:
                raise ScxmlError(f"line {line_of(element)}: a named guard cannot be combined with a condition")
            return read_named(name, own_attribute(element, "params"), element)
        params: Config = {}
        if descriptors is not None:
            params["events"] = " ".join(descriptors)
        if element.get("cond") is not None:
            params["cond"] = element.get("cond")
        return {"type": "scxml.cond", "params": params} if params else None

    def _targets(self, element: Element) -> list[str]:
        return (element.get("target") or "").split()

    def _reference(self, id: str, element: Element) -> str:
        if id not in self.by_id:
            raise ScxmlError(f"line {line_of(element)}: no state has the id {id!r}")
        return "#" + id.replace("\\", "\\\\").replace(".", "\\.")

    def _blocks(self, element: Element, kind: str) -> list[Any]:
        return [action for block in children_of(element, kind) for action in self._actions(block)]

    def _actions(self, block: Iterable[Element]) -> list[Any]:
        """Return the actions of a block: those it names, and one for all its content."""
        elements = list(block)
        content = to_json_elements(elements, self.read)
        return [
            *named_actions(elements),
            *([{"type": "scxml.content", "params": {"content": content}}] if content else []),
        ]


def _data_of(element: Element) -> list[Element]:
    return [data for model in children_of(element, "datamodel") for data in children_of(model, "data")]


def put_at(config: Config, place: list[str], transition: Config, element: Element) -> None:
    """Add a transition at its place in a chart, such as `after 1000` or `invoke 0 onDone`."""
    match place:
        case ["invoke", index, key] if index.isdecimal() and int(index) < len(config["invoke"]):
            config["invoke"][int(index)].setdefault(key, []).append(transition)
        case ["on" | "after" as key, name]:
            config[key].setdefault(name, []).append(transition)
        case ["onDone"]:
            config.setdefault("onDone", []).append(transition)
        case _:
            raise ScxmlError(f"line {line_of(element)}: no place {' '.join(place)!r} for a transition")
