"""Charts as SCXML documents: structure as SCXML has it, functions by name, the rest in the namespace of Antiphon.

A document that was written so is read back as the same chart (`document.py`): what SCXML has no place for is in
attributes of Antiphon, and elements that only other interpreters need are marked as generated.
"""

import json
from collections.abc import Iterator, Mapping, Set
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring

from antiphon.chart.build import NODE_KEYS
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import COMPOUND, FINAL, HISTORY, PARALLEL, Invoke, Node, Transition
from antiphon.scxml.events import scxml_name
from antiphon.scxml.restoring import restore_block, restore_data, restore_donedata, restore_guard, restore_invoke
from antiphon.scxml.xml import ANTIPHON_NAMESPACE, SCXML_NAMESPACE

TAGS = {PARALLEL: "parallel", FINAL: "final", HISTORY: "history"}
# Keys that become elements or attributes of SCXML; the others of a state are kept as JSON.
STATE_KEYS = NODE_KEYS - {"tags", "meta", "description", "output", "target", "route", "order"}
INVOKE_KEYS = {"id", "src", "onDone", "onError", "onSnapshot", "onTimeout"}
TRANSITION_KEYS = {"target", "guard", "actions", "reenter"}
PREFIXES = {"onDone": "done.actor", "onError": "error.actor", "onSnapshot": "snapshot", "onTimeout": "timeout.actor"}
ANY_END = "(end)"
RESTORED = ("scxml.begin", "scxml.bind", "scxml.donedata")  # actions that are elements of their own


class ScxmlWriter:
    """Writes a machine as a document, and lists what SCXML cannot express."""

    def __init__(self, machine: Machine[Any, Any]) -> None:
        self.machine = machine
        self.problems: list[str] = []
        self.is_scxml = bool((machine.config.get("options") or {}).get("scxml"))

    def write(self) -> str:
        """Return the text of the document."""
        register_namespace("", SCXML_NAMESPACE)
        register_namespace("antiphon", ANTIPHON_NAMESPACE)
        machine = self.machine
        root = Element(_tag("scxml"), {"version": "1.0", "name": machine.id, "datamodel": "ecmascript"})
        if not self.is_scxml:
            root.set(_own("semantics"), "xstate")
        self._check_root()
        if self._needs_wrapper():
            state = SubElement(root, _tag(TAGS.get(machine.root.type, "state")), {"id": machine.id})
            state.set(_own("machine"), "true")
            self._fill(state, machine.root)
            self._add_end(root, state)
        else:
            restore_data(root, machine.config)
            self._keep(root, machine.config, STATE_KEYS, "")
            self._add_initial(root, machine.root)
            self._add_states(root, machine.root)
        indent(root)
        return tostring(root, encoding="unicode", xml_declaration=False) + "\n"

    def _check_root(self) -> None:
        options = self.machine.config.get("options") or {}
        self.problems += [f"options.{key}: SCXML has no such option" for key in options if key != "scxml"]
        events = {descriptor for node in self.machine.root.walk() for descriptor in node.on}
        for name in sorted(events) if not self.is_scxml else ():
            longer = next((other for other in sorted(events) if other.startswith(f"{name}.")), None)
            if longer is not None and not name.startswith("xstate.") and longer != f"{name}.*":
                self.problems.append(f"on.{name}: in SCXML it also matches {longer!r}")

    def _needs_wrapper(self) -> bool:
        """Return whether the root does what `<scxml>` cannot: react, act, invoke, or be parallel."""
        config = self.machine.config
        own = [spec for spec in _as_list(config.get("entry")) if _type(spec) != "scxml.begin"]
        keys = ("exit", "on", "always", "after", "invoke", "onDone")
        return bool(own or self.machine.root.type != COMPOUND or any(config.get(key) for key in keys))

    def _add_end(self, root: Element, state: Element) -> None:
        """End the document when the state around all others is done, as the machine ends then."""
        transition = SubElement(
            state, _tag("transition"), {"event": f"done.state.{self.machine.id}", "target": ANY_END}
        )
        transition.set(_own("generated"), "true")
        SubElement(root, _tag("final"), {"id": ANY_END}).set(_own("generated"), "true")

    def _add_states(self, element: Element, node: Node) -> None:
        for child in node.states.values():
            state = SubElement(element, _tag(TAGS.get(child.type, "state")), {"id": child.id})
            if child.key != child.id:
                state.set(_own("name"), child.key)
            self._fill(state, child)

    def _fill(self, element: Element, node: Node) -> None:
        config = node.config
        if node.type == HISTORY:
            self._fill_history(element, node)
            return
        self._keep(element, config, STATE_KEYS, node.id)
        restore_data(element, config)
        self._add_initial(element, node)
        self._add_block(element, "onentry", config.get("entry"), node)
        self._add_block(element, "onexit", config.get("exit"), node)
        for index, invoke in enumerate(node.invokes):
            self._add_invoke(element, invoke, index, node)
        for key, transition in self._transitions(node):
            self._add_transition(element, transition, key)
        self._add_delays(element, node)
        restore_donedata(element, config)
        self._add_states(element, node)

    def _fill_history(self, element: Element, node: Node) -> None:
        element.set("type", node.history or "shallow")
        self._keep(element, node.config, STATE_KEYS | {"target"}, node.id)
        if node.config.get("target") is not None:
            target = {"target": " ".join(state.id for state in node.history_default)}
            transition = SubElement(element, _tag("transition"), target)
            self._keep_target(transition, node.config["target"])
            self._add_actions(transition, node.config.get("entry"), f"{node.id}.entry")

    def _add_initial(self, element: Element, node: Node) -> None:
        if node.type != COMPOUND:
            return
        initial = node.config.get("initial")
        targets = " ".join(state.id for state in node.initials or (node.first(),))
        if not isinstance(initial, Mapping) or not (initial.get("actions") or set(initial) - {"target", "actions"}):
            element.set("initial", targets)
            return
        transition = SubElement(SubElement(element, _tag("initial")), _tag("transition"), {"target": targets})
        self._keep(transition, initial, {"target", "actions"}, f"{node.id}.initial")
        self._add_actions(transition, initial.get("actions"), f"{node.id}.initial")

    def _add_block(self, element: Element, tag: str, specs: Any, node: Node) -> None:
        actions = [
            spec for spec in _as_list(specs) if _type(spec) not in ("scxml.begin", "scxml.bind", "scxml.donedata")
        ]
        for action in actions:  # an error ends a block, so each has its own
            self._add_actions(SubElement(element, _tag(tag)), action, f"{node.id}.{tag.removeprefix('on')}")

    def _add_actions(self, block: Element, specs: Any, path: str) -> None:
        for spec in _as_list(specs):
            if _type(spec) == "scxml.content":
                restore_block(block, spec["params"]["content"])
                continue
            type, params = self._named(spec, path)
            action = SubElement(block, _own("action"), {"type": type})
            action.text = None if params is None else json.dumps(params)

    def _named(self, spec: Any, path: str) -> tuple[str, Any]:
        """Return the name of an action or a guard, and its params; a function has only a name."""
        if isinstance(spec, str):
            return spec, None
        if isinstance(spec, Mapping) and _is_json(spec):
            return str(spec.get("type")), spec.get("params")
        name = str(getattr(spec, "type", None) or getattr(spec, "__name__", type(spec).__name__))
        self.problems.append(f"{path}: the function {name!r} has no name in the chart")
        return name, None

    def _add_invoke(self, element: Element, invoke: Invoke, index: int, node: Node) -> None:
        config = invoke.config
        path = f"{node.id}.invoke[{index}]"
        if invoke.src == "scxml.invoke":
            restore_invoke(element, config)
            return
        if not isinstance(config["src"], str):
            self.problems.append(f"{path}.src: the logic of {invoke.id!r} has no name in the chart")
        for key in ("timeout", "onSnapshot", "systemId"):
            if config.get(key) is not None:
                self.problems.append(f"{path}.{key}: SCXML has no such key")
        attributes = {"type": "actor", "src": invoke.src, "id": invoke.id, _own("invoke"): "true"}
        invocation = SubElement(element, _tag("invoke"), attributes)
        self._keep(invocation, {**config, **({} if config.get("id") is None else {"ownId": True})}, INVOKE_KEYS, path)

    def _transitions(self, node: Node) -> Iterator[tuple[str, Transition]]:
        """Yield the transitions of a node, each with its place in the chart; in SCXML, exact names come first."""
        for descriptor in sorted(node.on, key=lambda name: ("*" in name, -len(name) if "*" in name else 0)):
            if not self._is_twin(node, descriptor):
                for transition in node.on[descriptor]:
                    yield self._place(node, descriptor), transition
        for transition in node.always:
            yield "always", transition

    def _is_twin(self, node: Node, descriptor: str) -> bool:
        """Return whether a descriptor is one of those that stand for one descriptor of SCXML."""
        if not self.is_scxml:
            return False
        plain = descriptor.removesuffix(".*").removeprefix("xstate.")
        return plain != descriptor and plain in node.on and _same(node.on[plain], node.on[descriptor])

    def _place(self, node: Node, descriptor: str) -> str:
        if descriptor == f"xstate.done.state.{node.id}":
            return "onDone"
        for index, invoke in enumerate(node.invokes):
            for key, prefix in PREFIXES.items():
                if descriptor == f"xstate.{prefix}.{invoke.id}":
                    return f"invoke {index} {key}"
        suffix = f".{node.id}"
        if descriptor.startswith("xstate.after.") and descriptor.endswith(suffix):
            return f"after {descriptor.removeprefix('xstate.after.').removesuffix(suffix)}"
        if descriptor == "xstate.route":
            return ""
        return f"on {descriptor}"

    def _add_transition(self, element: Element, transition: Transition, place: str) -> None:
        if not place:  # routes are kept with the states that they lead to
            self.problems.append(f"{transition.config.get('target')}: SCXML has no routes")
            return
        config = transition.config
        copy = SubElement(element, _tag("transition"))
        kind, _, name = place.partition(" ")
        if kind != "always":
            copy.set("event", _event_name(transition))
        if kind not in ("on", "always") or name.startswith("xstate."):
            copy.set(_own("place"), place)
        restore_guard(copy, config.get("guard"), place, self._set_guard)
        if transition.targets is not None:
            copy.set("target", " ".join(target.id for target in transition.targets))
            self._keep_target(copy, config["target"])
            self._set_type(copy, transition)
        self._keep(copy, config, TRANSITION_KEYS, transition.source.id)
        self._add_actions(copy, config.get("actions"), f"{transition.source.id}.{place}")

    def _set_guard(self, element: Element, guard: Any, path: str) -> None:
        type, params = self._named(guard, path)
        element.set(_own("guard"), type)
        if params is not None:
            element.set(_own("params"), json.dumps(params))

    def _set_type(self, element: Element, transition: Transition) -> None:
        source = transition.source
        if transition.reenter:
            return
        element.set("type", "internal")
        targets = transition.targets or ()
        if not self.is_scxml and any(target is source for target in targets):
            self.problems.append(f"{source.id}: SCXML exits and enters the target of a transition to itself")

    def _keep_target(self, element: Element, target: Any) -> None:
        if not self.is_scxml:
            element.set(_own("target"), target if isinstance(target, str) else json.dumps(target))

    def _add_delays(self, element: Element, node: Node) -> None:
        """Add what makes delayed transitions work in other interpreters."""
        for delay in node.config.get("after") or {}:
            name = f"xstate.after.{delay}.{node.id}"
            try:
                milliseconds = float(delay)
            except ValueError:
                self.problems.append(f"{node.id}.after.{delay}: the delay is a function of the program")
                continue
            send = {"event": name, "id": name, "delay": f"{milliseconds:g}ms"}
            for block, tag, attributes in (("onentry", "send", send), ("onexit", "cancel", {"sendid": name})):
                content = SubElement(SubElement(element, _tag(block)), _tag(tag), attributes)
                content.set(_own("generated"), "true")

    def _keep(self, element: Element, config: Mapping[str, Any], known: Set[str], path: str) -> None:
        """Keep the keys that SCXML has no place for as JSON."""
        more = {}
        for key, value in config.items():
            if key in known or key == "options":
                continue
            if _is_json(value):
                more[key] = value
            elif not self.is_scxml:
                self.problems.append(f"{path or '(root)'}.{key}: a function cannot be written")
        if more:
            element.set(_own("more"), json.dumps(more))


def to_scxml(machine: Machine[Any, Any]) -> tuple[str, list[str]]:
    """Return a machine as an SCXML document, and what SCXML cannot express of it."""
    writer = ScxmlWriter(machine)
    text = writer.write()
    return text, list(dict.fromkeys(writer.problems))


def _event_name(transition: Transition) -> str:
    type = transition.event_type
    if type.startswith("xstate.done.actor."):
        return f"done.invoke.{type.removeprefix('xstate.done.actor.')}"
    if type.startswith("xstate.error.actor."):
        return "error.platform"
    return scxml_name(type)


def _same(first: tuple[Transition, ...], second: tuple[Transition, ...]) -> bool:
    return [transition.config for transition in first] == [transition.config for transition in second]


def _type(spec: Any) -> Any:
    return spec.get("type") if isinstance(spec, Mapping) else None


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _as_list(specs: Any) -> list[Any]:
    return list(specs) if isinstance(specs, list | tuple) else [] if specs is None else [specs]


def _tag(name: str) -> str:
    return f"{{{SCXML_NAMESPACE}}}{name}"


def _own(name: str) -> str:
    return f"{{{ANTIPHON_NAMESPACE}}}{name}"
