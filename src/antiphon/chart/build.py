"""Building a machine's nodes from a chart, and saying exactly what is wrong with one that cannot be built."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from antiphon.chart import actions as builtin
from antiphon.chart.actions import as_value
from antiphon.chart.errors import ChartError
from antiphon.chart.guards import and_
from antiphon.chart.names import INVOKE_PREFIX, Implementations, check_action, check_guard
from antiphon.chart.nodes import (
    ATOMIC,
    COMPOUND,
    FINAL,
    HISTORY,
    KINDS,
    PARALLEL,
    Invoke,
    Node,
    Transition,
    in_script_order,
    initial_key,
)
from antiphon.chart.values import to_path

NODE_KEYS = frozenset(
    [
        "id",
        "type",
        "initial",
        "states",
        "entry",
        "exit",
        "on",
        "always",
        "after",
        "invoke",
        "onDone",
        "tags",
        "meta",
        "description",
        "output",
        "history",
        "target",
        "route",
        "order",
    ]
)
ROOT_KEYS = NODE_KEYS | frozenset(["context", "version", "types", "schemas", "options", "$schema"])
TRANSITION_KEYS = frozenset(["target", "guard", "actions", "reenter", "meta", "description"])
INVOKE_KEYS = frozenset(
    ["src", "id", "systemId", "input", "onDone", "onError", "onSnapshot", "timeout", "onTimeout", "meta", "description"]
)
OPTION_KEYS = frozenset(["maxIterations", "regionLocal"])


class Unresolved(Exception):
    """A target that leads nowhere, with the names that would have led somewhere."""

    def __init__(self, problem: str, known: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.known = tuple(known)


class Builder:
    """Turns a chart into nodes; strict unless told to fail as late as XState does."""

    def __init__(self, config: Mapping[str, Any], names: Implementations, strict: bool) -> None:
        if not isinstance(config, Mapping):
            raise ChartError("(machine)", "", f"a chart is a mapping, not {config!r}")
        self.config, self.names, self.strict = config, names, strict
        self.id: str = config.get("id") or "(machine)"
        self.by_id: dict[str, Node] = {}
        self.local = bool((config.get("options") or {}).get("regionLocal", False))
        self._paths: dict[Node, str] = {}

    def build(self) -> Node:
        """The root node, complete."""
        self._check_keys(self.config, ROOT_KEYS, "")
        self._check_keys(self.config.get("options") or {}, OPTION_KEYS, "options")
        root = self._node(self.id, None, self.config, "")
        for node in list(root.walk()):
            self._wire(node)
        self._add_routes(root)
        return root

    # Problems that XState finds late or never are errors only in strict charts.
    def _complain(self, path: str, problem: str, known: Iterable[str] = ()) -> None:
        if self.strict:
            self._fail(path, problem, known)

    def _fail(self, path: str, problem: str, known: Iterable[str] = ()) -> None:
        raise ChartError(self.id, path, problem, known)

    def _check_keys(self, config: Any, known: frozenset[str], path: str) -> None:
        if not isinstance(config, Mapping):
            self._fail(path, f"expected a mapping, not {config!r}")
        for key in config:
            if key not in known:
                self._complain(path, f"unknown key {key!r}", known)

    # -- the tree ------------------------------------------------------------------------------------------------

    def _node(self, key: str, parent: Node | None, config: Any, path: str) -> Node:
        if config is None:
            config = {}
        self._check_keys(config, ROOT_KEYS if parent is None else NODE_KEYS, path)
        id = config.get("id") or (self.id if parent is None else ".".join((self.id, *parent.path, key)))
        self._expect(id, str, "a string", f"{path}.id".lstrip("."))
        node = Node(key, id, parent, len(self.by_id), config)
        if id in self.by_id:
            self._complain(_join(path, "id"), f"the id {id!r} is taken by another state", self.by_id)
        self.by_id[id] = node
        self._paths[node] = path
        states = config.get("states") or {}
        self._expect(states, Mapping, "a mapping of states", _join(path, "states"))
        node.type = self._type(config, states, path)
        for child, inner in in_script_order(states):
            node.states[child] = self._node(child, node, inner, _join(path, f"states.{child}"))
        node.children = tuple(child for child in node.states.values() if child.type != HISTORY)
        self._set_history(node, path)
        self._set_initial(node, path)
        node.tags = tuple(_listed(config.get("tags")))
        return node

    def _expect(self, value: Any, kind: type, what: str, path: str) -> None:
        if not isinstance(value, kind):
            self._fail(path, f"expected {what}, not {value!r}")

    def _type(self, config: Mapping[str, Any], states: Mapping[str, Any], path: str) -> str:
        given = config.get("type")
        if given is not None:
            if given not in KINDS:
                self._fail(_join(path, "type"), f"no state type named {given!r}", KINDS)
            if given in (ATOMIC, FINAL, HISTORY) and states:
                self._complain(_join(path, "type"), f"a state of type {given!r} cannot have states inside")
            return str(given)
        return COMPOUND if states else HISTORY if config.get("history") else ATOMIC

    def _set_history(self, node: Node, path: str) -> None:
        given = node.config.get("history")
        if given not in (None, False, True, "shallow", "deep"):
            self._complain(_join(path, "history"), f"no kind of history named {given!r}", ("shallow", "deep"))
        if node.type == HISTORY:
            node.history = "deep" if given == "deep" else "shallow"

    def _set_initial(self, node: Node, path: str) -> None:
        initial = node.config.get("initial")
        if node.type != COMPOUND:
            if initial is not None:
                self._complain(_join(path, "initial"), f"a state of type {node.type!r} has no initial state")
            return
        if not initial:
            first = next(iter(node.states))
            self._fail(
                path,
                f'No initial state specified for compound state node "#{node.id}". '
                f'Try adding {{ initial: "{first}" }} to the state config.',
            )
        node.initial = node.states.get(initial_key(node))
        if node.initial is None:
            self._complain(_join(path, "initial"), f"no state named {initial_key(node)!r} inside", node.states)

    # -- transitions, actions and actors -------------------------------------------------------------------------

    def _wire(self, node: Node) -> None:
        path, config = self._paths[node], node.config
        node.entry = self._operations(config.get("entry"), _join(path, "entry"))
        node.exit = self._operations(config.get("exit"), _join(path, "exit"))
        if isinstance(config.get("initial"), Mapping):
            node.initial_ops = self._operations(config["initial"].get("actions"), _join(path, "initial.actions"))
        if "output" in config and (node.type == FINAL or node.parent is None):
            node.output = as_value(config["output"])
        if node.type == HISTORY:
            node.history_default = self._history_default(node, path)
        self._add_on(node, path)
        self._add_done(node, path)
        self._add_invokes(node, path)
        self._add_after(node, path)
        if config.get("always") is not None:
            node.always = self._transitions(node, "", config["always"], _join(path, "always"))

    def _operations(self, specs: Any, path: str) -> tuple[Any, ...]:
        found = []
        for index, spec in enumerate(_listed(specs)):
            where = f"{path}[{index}]" if isinstance(specs, list | tuple) else path
            check_action(spec, self.names, where, self._complain)
            found.append(self.names.operation(spec))
        return tuple(found)

    def _history_default(self, node: Node, path: str) -> tuple[Node, ...]:
        parent = node.parent
        if parent is None:
            self._fail(path, "the root cannot be a history state")
            return ()
        targets = _targets(node.config.get("target"))
        if targets is None:
            return (parent,) if parent.type == PARALLEL else tuple(filter(None, [parent.initial]))
        return tuple(self._resolve(self._by_path, parent, target, _join(path, "target")) for target in targets)

    def _add_on(self, node: Node, path: str) -> None:
        on = node.config.get("on")
        if on is None:
            return
        self._expect(on, Mapping, "a mapping of events to transitions", _join(path, "on"))
        for descriptor, spec in in_script_order(on):
            if descriptor == "":
                self._fail(
                    _join(path, "on"),
                    'Null events ("") cannot be specified as a transition key. Use `always: { ... }` instead.',
                )
            node.on[descriptor] = self._transitions(node, descriptor, spec, _join(path, f"on.{descriptor}"))

    def _add_done(self, node: Node, path: str) -> None:
        if node.config.get("onDone") is not None:
            descriptor = f"xstate.done.state.{node.id}"
            node.on[descriptor] = self._transitions(node, descriptor, node.config["onDone"], _join(path, "onDone"))

    def _add_invokes(self, node: Node, path: str) -> None:
        invokes, given = [], node.config.get("invoke")
        for index, config in enumerate(_listed(given)):
            where = _join(path, f"invoke[{index}]" if isinstance(given, list | tuple) else "invoke")
            invokes.append(self._invoke(node, index, config, where))
        node.invokes = tuple(invokes)
        node.spawns = tuple(self.names.operation(_spawning(invoke)) for invoke in invokes)
        node.stops = tuple(self.names.operation(builtin.stop_child(invoke.id)) for invoke in invokes)

    def _invoke(self, node: Node, index: int, config: Any, path: str) -> Invoke:
        self._check_keys(config, INVOKE_KEYS, path)
        src, given_id = config.get("src"), f"{index}.{node.id}"
        if src is None:
            self._fail(_join(path, "src"), "an invoke needs a src: a name, or actor logic", self.names.actors)
        if isinstance(src, str):
            if src not in self.names.actors:
                self._complain(_join(path, "src"), f"no actor named {src!r}", self.names.actors)
        else:
            logic, src = src, f"{INVOKE_PREFIX}{given_id}"
            self.names.inline_actors[src] = logic
        id = config.get("id")
        invoke = Invoke(id if id is not None else given_id, src, config)
        for key, prefix in (("onDone", "done.actor"), ("onError", "error.actor"), ("onSnapshot", "snapshot")):
            if config.get(key) is not None:
                descriptor = f"xstate.{prefix}.{invoke.id}"
                node.on[descriptor] = self._transitions(node, descriptor, config[key], _join(path, key))
        if config.get("timeout") is not None:
            self._add_timeout(node, invoke, path)
        return invoke

    def _add_timeout(self, node: Node, invoke: Invoke, path: str) -> None:
        """A bound on an invoked actor's time: stop it and take `onTimeout`, else `onError`."""
        config, late = invoke.config, f"xstate.timeout.actor.{invoke.id}"
        if config.get("onTimeout") is None and config.get("onError") is None:
            self._fail(_join(path, "timeout"), "a timeout needs onTimeout or onError to go on with")
        self._check_delay(config["timeout"], _join(path, "timeout"))
        stop, calm = builtin.stop_child(invoke.id), self.names.operation(builtin.cancel(late))
        error = {"name": "TimeoutError", "message": f"actor {invoke.id!r} took too long", "code": "timeout"}
        failure = {"type": f"xstate.error.actor.{invoke.id}", "error": error, "actorId": invoke.id}
        spec = config.get("onTimeout")
        found = self._transitions(node, late, {"actions": [builtin.raise_(failure)]} if spec is None else spec, path)
        for transition in found:
            transition.ops = (self.names.operation(stop), *transition.ops)
        node.on[late] = found
        for ending in ("done", "error"):
            descriptor = f"xstate.{ending}.actor.{invoke.id}"
            for transition in node.on.get(descriptor, ()):
                transition.ops = (calm, *transition.ops)
            if ending == "done":
                quiet = Transition(node, descriptor, {}, self.local)
                quiet.ops = (calm,)
                node.on[descriptor] = (*node.on.get(descriptor, ()), quiet)
        raised = builtin.raise_({"type": late}, delay=config["timeout"], id=late)
        node.entry = (*node.entry, self.names.operation(raised))
        node.exit = (*node.exit, calm)

    def _add_after(self, node: Node, path: str) -> None:
        after = node.config.get("after")
        if after is None:
            return
        self._expect(after, Mapping, "a mapping of delays to transitions", _join(path, "after"))
        for key, spec in in_script_order(after):
            where, delay = _join(path, f"after.{key}"), _number(key)
            self._check_delay(delay, where)
            descriptor = f"xstate.after.{_number_text(delay)}.{node.id}"
            raised = builtin.raise_({"type": descriptor}, delay=delay, id=descriptor)
            node.entry = (*node.entry, self.names.operation(raised))
            node.exit = (*node.exit, self.names.operation(builtin.cancel(descriptor)))
            if spec is not None:
                found = self._transitions(node, descriptor, spec, where)
                node.on[descriptor] = (*node.on.get(descriptor, ()), *found)

    def _check_delay(self, delay: Any, path: str) -> None:
        if isinstance(delay, str) and delay not in self.names.delays:
            self._complain(path, f"no delay named {delay!r}", self.names.delays)
        if isinstance(delay, int | float) and delay < 0:
            self._complain(path, f"a delay cannot be negative: {delay!r}")

    def _transitions(self, node: Node, descriptor: str, specs: Any, path: str) -> tuple[Transition, ...]:
        found = []
        listed = specs if isinstance(specs, list | tuple) else [specs]
        for index, spec in enumerate(listed):
            where = f"{path}[{index}]" if isinstance(specs, list | tuple) else path
            found.append(self._transition(node, descriptor, spec, where))
        return tuple(found)

    def _transition(self, node: Node, descriptor: str, spec: Any, path: str) -> Transition:
        config = {} if spec is None else {"target": spec} if isinstance(spec, str) else spec
        self._check_keys(config, TRANSITION_KEYS, path)
        transition = Transition(node, descriptor, config, self.local)
        targets = _targets(config.get("target"))
        if targets is not None:
            where = _join(path, "target")
            transition.targets = tuple(self._resolve(self._target, node, target, where) for target in targets)
        if config.get("guard") is not None:
            check_guard(config["guard"], self.names, _join(path, "guard"), self._complain)
            transition.guard = self.names.guard(config["guard"])
        transition.ops = self._operations(config.get("actions"), _join(path, "actions"))
        return transition

    def _add_routes(self, root: Node) -> None:
        routes = []
        for node in root.walk():
            route, id = node.config.get("route"), node.config.get("id")
            if node is root or route is None or not id:
                continue
            path = _join(self._paths[node], "route")
            self._check_keys(route, TRANSITION_KEYS, path)
            leads_here = _routes_to(f"#{id}")
            guard = and_([leads_here, route["guard"]]) if route.get("guard") is not None else leads_here
            routes.append(self._transition(root, "xstate.route", {**route, "guard": guard, "target": f"#{id}"}, path))
        if routes:
            root.on["xstate.route"] = tuple(routes)

    # -- targets -------------------------------------------------------------------------------------------------

    def _resolve(self, find: Callable[[Node, Any], Node], node: Node, target: Any, path: str) -> Node:
        try:
            return find(node, target)
        except Unresolved as error:
            raise ChartError(self.id, path, str(error), error.known) from None

    def _target(self, node: Node, target: Any) -> Node:
        if not isinstance(target, str):
            raise Unresolved(f"a target is a string, not {target!r}")
        if target.startswith("#"):
            return find_by_id(self.by_id, self.id, target)
        if target.startswith(".") and node.parent is None:
            return self._by_path(node, target[1:])
        if node.parent is None:
            raise Unresolved(
                f'Invalid target: "{target}" is not a valid target from the root node. Did you mean ".{target}"?',
                node.states,
            )
        try:
            return self._by_path(node.parent, node.key + target if target.startswith(".") else target)
        except Unresolved as error:
            problem = f"Invalid transition definition for state node '{node.id}':\n{error}"
            raise Unresolved(problem, error.known) from None

    def _by_path(self, node: Node, path: str) -> Node:
        if path.startswith("#"):
            return find_by_id(self.by_id, self.id, path)
        return descend(node, to_path(path))


def find_by_id(by_id: Mapping[str, Node], machine_id: str, text: str) -> Node:
    """The node behind `#id` or `#id.child`."""
    first, *rest = to_path(text)
    id = first[1:] if first.startswith("#") else first
    if id not in by_id:
        raise Unresolved(f"Child state node '#{id}' does not exist on machine '{machine_id}'", by_id)
    return descend(by_id[id], rest)


def descend(node: Node, path: list[str]) -> Node:
    """The node at the end of a path of keys."""
    for key in path:
        if not key:
            break
        if key not in node.states:
            raise Unresolved(f"Child state '{key}' does not exist on '{node.id}'", node.states)
        node = node.states[key]
    return node


def _spawning(invoke: Invoke) -> Any:
    return builtin.spawn_child(
        invoke.src,
        id=invoke.id,
        input=invoke.input,
        system_id=invoke.system_id,
        sync_snapshot=invoke.sync_snapshot,
    )


def _routes_to(target: str) -> Callable[[Any, Any], bool]:
    return lambda context, event: event.get("to") == target


def _listed(specs: Any) -> list[Any]:
    if specs is None:
        return []
    return list(specs) if isinstance(specs, list | tuple) else [specs]


def _targets(target: Any) -> list[Any] | None:
    return None if target is None or target == "" else _listed(target)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _number(key: str) -> Any:
    try:
        number = float(key)
    except ValueError:
        return key
    return int(number) if number.is_integer() else number


def _number_text(delay: Any) -> str:
    return str(delay)
