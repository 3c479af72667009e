"""Builds the nodes of a machine from its chart, and reports what is wrong with a chart that cannot be built."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antiphon.chart import actions as builtin
from antiphon.chart.actions import as_value
from antiphon.chart.errors import ChartError
from antiphon.chart.frozen import freeze
from antiphon.chart.functions import ARGUMENTS
from antiphon.chart.guards import and_
from antiphon.chart.names import (
    INVOKE_PREFIX,
    Implementations,
    check_action,
    check_function,
    check_guard,
    check_logic,
    check_names,
)
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
    Unresolved,
    find_default,
    find_target,
    in_script_order,
    initial_key,
)
from antiphon.chart.problems import Problems, join_path

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
INITIAL_KEYS = frozenset(["target", "actions", "meta", "description"])
OPTION_KEYS = frozenset(["maxIterations", "regionLocal", "scxml"])
SCXML_MODES = (False, True, "lca")


Find = Callable[[Mapping[str, Node], str, Node, Any], Node]


class Builder:
    """Turns a chart into nodes; strict, unless told to fail as late as XState does."""

    def __init__(self, config: Mapping[str, Any], names: Implementations, strict: bool) -> None:
        if not isinstance(config, Mapping):
            raise ChartError("(machine)", "", f"a chart is a mapping, not {config!r}")
        self.config = config
        self.names = names
        self.id: str = config.get("id") or "(machine)"
        self.problems = Problems(self.id, strict)
        self.by_id: dict[str, Node] = {}
        self.local = False
        self.scxml: bool | str = False
        # Events that end an invoked actor, with the timeout that is cancelled then.
        self.timeouts: dict[str, str] = {}
        self.context: Any = config.get("context")  # the first context, or the function that creates it
        self._paths: dict[Node, str] = {}

    def build(self) -> Node:
        """Build the tree and return its root node."""
        options = self.config.get("options")
        self.problems.keys({} if options is None else options, OPTION_KEYS, "options")
        self.local = bool((options or {}).get("regionLocal", False))
        self.scxml = (options or {}).get("scxml", False)
        if self.scxml not in SCXML_MODES:
            self.problems.fail("options.scxml", f"expected true, false or 'lca', not {self.scxml!r}")
        context = self.context
        if callable(context):
            self._check_function(context, "context", ("input",))
        else:
            self.problems.prefer(context, Mapping, "a mapping or a function", "context")
            self.context = freeze(context)  # which all actors of the machine share
        root = self._node(self.id, None, self.config, "")
        for node in list(root.walk()):
            self._wire(node)
        self._add_routes(root)
        check_names(self.names, self.problems.complain)
        return root

    def _node(self, key: str, parent: Node | None, config: Any, path: str) -> Node:
        if config is None:
            config = {}
        self.problems.keys(config, ROOT_KEYS if parent is None else NODE_KEYS, path)
        id = config.get("id") or (self.id if parent is None else ".".join((self.id, *parent.path, key)))
        self.problems.expect(id, str, "a string", f"{path}.id".lstrip("."))
        node = Node(key, id, parent, len(self.by_id), config)
        if id in self.by_id:
            self.problems.complain(join_path(path, "id"), f"the id {id!r} is taken by another state", self.by_id)
        self.by_id[id] = node
        self._paths[node] = path
        states = config.get("states") or {}
        self.problems.expect(states, Mapping, "a mapping of states", join_path(path, "states"))
        node.type = self._type(config, states, path)
        for child, inner in in_script_order(states):
            node.states[child] = self._node(child, node, inner, join_path(path, f"states.{child}"))
        node.children = tuple(child for child in node.states.values() if child.type != HISTORY)
        self._set_history(node, path)
        self._set_initial(node, path)
        node.tags = self._tags(config.get("tags"), join_path(path, "tags"))
        return node

    def _tags(self, tags: Any, path: str) -> tuple[str, ...]:
        for tag in _as_list(tags):
            self.problems.prefer(tag, str, "a string or a list of strings", path)
        return tuple(str(tag) for tag in _as_list(tags))

    def _type(self, config: Mapping[str, Any], states: Mapping[str, Any], path: str) -> str:
        type = config.get("type")
        if type is not None:
            if type not in KINDS:
                self.problems.fail(join_path(path, "type"), f"no state type named {type!r}", KINDS)
            if type in (ATOMIC, FINAL, HISTORY) and states:
                self.problems.complain(join_path(path, "type"), f"a state of type {type!r} cannot have child states")
            return str(type)
        return COMPOUND if states else HISTORY if config.get("history") else ATOMIC

    def _set_history(self, node: Node, path: str) -> None:
        history = node.config.get("history")
        if history not in (None, False, True, "shallow", "deep"):
            self.problems.complain(
                join_path(path, "history"), f"no kind of history named {history!r}", ("shallow", "deep")
            )
        if node.type == HISTORY:
            node.history = "deep" if history == "deep" else "shallow"

    def _set_initial(self, node: Node, path: str) -> None:
        initial = node.config.get("initial")
        where = join_path(path, "initial")
        if node.type != COMPOUND:
            if initial is not None:
                self.problems.complain(where, f"a state of type {node.type!r} has no initial state")
            return
        if not node.states:
            self.problems.fail(path, "a compound state needs child states")
        if not initial:
            first = next(iter(node.states))
            self.problems.fail(
                path,
                f"the compound state {node.id!r} has no initial state; "
                f"add 'initial': {first!r} or another of its states",
            )
        if isinstance(initial, Mapping):
            self.problems.keys(initial, INITIAL_KEYS, where)
        key = initial_key(node)
        if self.scxml and isinstance(key, list):
            return  # targets, which may be deeper: resolved once all nodes are known
        self.problems.expect(key, str, "the key of a state", where)
        node.initial = node.states.get(key)
        if node.initial is None:
            self.problems.complain(where, f"no state named {key!r} inside", node.states)

    def _wire(self, node: Node) -> None:
        path = self._paths[node]
        config = node.config
        node.entry = self._operations(config.get("entry"), join_path(path, "entry"))
        node.exit = self._operations(config.get("exit"), join_path(path, "exit"))
        if isinstance(config.get("initial"), Mapping):
            node.initial_ops = self._operations(config["initial"].get("actions"), join_path(path, "initial.actions"))
        if self.scxml and node.type == COMPOUND and isinstance(initial_key(node), list):
            node.initials = self._initials(node, join_path(path, "initial"))
        if "output" in config and (node.type == FINAL or node.parent is None):
            self._check_function(config["output"], join_path(path, "output"))
            node.output = as_value(config["output"])
        if node.type == HISTORY:
            node.history_default = self._history_default(node, path)
        self._add_on(node, path)
        self._add_done(node, path)
        self._add_invokes(node, path)
        self._add_after(node, path)
        if config.get("always") is not None:
            node.always = self._transitions(node, "", config["always"], join_path(path, "always"))

    def _initials(self, node: Node, path: str) -> tuple[Node, ...]:
        """Return the initial states of a node where the chart lists targets, as SCXML allows."""
        targets = tuple(self._resolve(find_target, node, target, path) for target in initial_key(node))
        if not targets:
            self.problems.fail(path, f"the list of initial states of {node.id!r} is empty", node.states)
        for target in targets:
            if not target.is_inside(node):
                self.problems.fail(path, f"the initial state {target.id!r} is not inside {node.id!r}", node.states)
        return targets

    def _operations(self, specs: Any, path: str) -> tuple[Any, ...]:
        operations = []
        for index, spec in enumerate(_as_list(specs)):
            where = f"{path}[{index}]" if isinstance(specs, list | tuple) else path
            check_action(spec, self.names, where, self.problems.complain)
            operations.append(self.names.operation(spec))
        return tuple(operations)

    def _history_default(self, node: Node, path: str) -> tuple[Node, ...]:
        parent = node.parent
        if parent is None:
            self.problems.fail(path, "the root cannot be a history state")
        targets = _targets(node.config.get("target"))
        if targets is None:
            return (parent,) if parent.type == PARALLEL else tuple(filter(None, [parent.initial]))
        return tuple(self._resolve(find_default, node, target, join_path(path, "target")) for target in targets)

    def _add_on(self, node: Node, path: str) -> None:
        on = node.config.get("on")
        if on is None:
            return
        self.problems.expect(on, Mapping, "a mapping of events to transitions", join_path(path, "on"))
        for descriptor, spec in in_script_order(on):
            if descriptor == "":
                self.problems.fail(
                    join_path(path, "on"),
                    "an event type cannot be empty; write transitions without an event under 'always'",
                )
            node.on[descriptor] = self._transitions(node, descriptor, spec, join_path(path, f"on.{descriptor}"))

    def _add_done(self, node: Node, path: str) -> None:
        if node.config.get("onDone") is not None:
            descriptor = f"xstate.done.state.{node.id}"
            node.on[descriptor] = self._transitions(node, descriptor, node.config["onDone"], join_path(path, "onDone"))

    def _add_invokes(self, node: Node, path: str) -> None:
        invokes = []
        configs = node.config.get("invoke")
        for index, config in enumerate(_as_list(configs)):
            where = join_path(path, f"invoke[{index}]" if isinstance(configs, list | tuple) else "invoke")
            invokes.append(self._invoke(node, index, config, where))
        node.invokes = tuple(invokes)
        node.spawns = tuple(self._spawning(invoke) for invoke in invokes)
        node.stops = tuple(self.names.operation(builtin.stop_child(invoke.id)) for invoke in invokes)

    def _spawning(self, invoke: Invoke) -> Any:
        """Return the operation that starts an invoked actor: that of its logic, or an action in its place."""
        starting = self.names.logic(invoke.src)
        if isinstance(starting, builtin.Action):
            return starting.bind(self.names, invoke.config)
        return self.names.operation(
            builtin.spawn_child(
                invoke.src,
                id=invoke.id,
                input=invoke.input,
                system_id=invoke.system_id,
                sync_snapshot=invoke.sync_snapshot,
            )
        )

    def _invoke(self, node: Node, index: int, config: Any, path: str) -> Invoke:
        self.problems.keys(config, INVOKE_KEYS, path)
        src = config.get("src")
        default_id = f"{index}.{node.id}"
        if src is None:
            self.problems.fail(
                join_path(path, "src"), "an invoke needs a src: a name, or actor logic", self.names.actors
            )
        if isinstance(src, str):
            if src not in self.names.actors:
                self.problems.complain(join_path(path, "src"), f"no actor named {src!r}", self.names.actors)
            check_logic(self.names.actors.get(src), join_path(path, "src"), self.problems.complain)
        else:
            check_logic(src, join_path(path, "src"), self.problems.complain)
            logic = src
            src = f"{INVOKE_PREFIX}{default_id}"
            self.names.inline_actors[src] = logic
        id = config.get("id")
        self.problems.prefer(id, str, "a string", join_path(path, "id"))
        self.problems.prefer(config.get("systemId"), str, "a string", join_path(path, "systemId"))
        self._check_function(config.get("input"), join_path(path, "input"))
        invoke = Invoke(id if id is not None else default_id, src, config)
        for key, prefix in (("onDone", "done.actor"), ("onError", "error.actor"), ("onSnapshot", "snapshot")):
            if config.get(key) is not None:
                descriptor = f"xstate.{prefix}.{invoke.id}"
                node.on[descriptor] = self._transitions(node, descriptor, config[key], join_path(path, key))
        if config.get("timeout") is not None:
            self._add_timeout(node, invoke, path)
        return invoke

    def _add_timeout(self, node: Node, invoke: Invoke, path: str) -> None:
        """Limit the time of an invoked actor: stop it and take `onTimeout`, else `onError`."""
        config = invoke.config
        late = f"xstate.timeout.actor.{invoke.id}"
        if config.get("onTimeout") is None and config.get("onError") is None:
            self.problems.fail(join_path(path, "timeout"), "a timeout needs onTimeout or onError")
        self._check_delay(config["timeout"], join_path(path, "timeout"))
        error = {"name": "TimeoutError", "message": f"actor {invoke.id!r} took too long", "code": "timeout"}
        failure = {"type": f"xstate.error.actor.{invoke.id}", "error": error, "actorId": invoke.id}
        fail = {"actions": [builtin.raise_(failure)]}
        spec = config.get("onTimeout")
        transitions = self._transitions(node, late, fail if spec is None else spec, join_path(path, "onTimeout"))
        for transition in transitions:
            transition.ops = (self.names.operation(builtin.stop_child(invoke.id)), *transition.ops)
        node.on[late] = transitions
        raised = builtin.raise_({"type": late}, delay=config["timeout"], id=late)
        node.entry = (*node.entry, self.names.operation(raised))
        node.exit = (*node.exit, self.names.operation(builtin.cancel(late)))
        for ending in ("done", "error"):
            self.timeouts[f"xstate.{ending}.actor.{invoke.id}"] = late

    def _add_after(self, node: Node, path: str) -> None:
        after = node.config.get("after")
        if after is None:
            return
        self.problems.expect(after, Mapping, "a mapping of delays to transitions", join_path(path, "after"))
        for key, spec in in_script_order(after):
            where = join_path(path, f"after.{key}")
            delay = _number(key)
            self._check_delay(delay, where)
            descriptor = f"xstate.after.{_number_text(delay)}.{node.id}"
            raised = builtin.raise_({"type": descriptor}, delay=delay, id=descriptor)
            node.entry = (*node.entry, self.names.operation(raised))
            node.exit = (*node.exit, self.names.operation(builtin.cancel(descriptor)))
            if spec is not None:
                transitions = self._transitions(node, descriptor, spec, where)
                node.on[descriptor] = (*node.on.get(descriptor, ()), *transitions)

    def _check_delay(self, delay: Any, path: str) -> None:
        if isinstance(delay, str) and delay not in self.names.delays:
            self.problems.complain(path, f"no delay named {delay!r}", self.names.delays)
        if isinstance(delay, int | float) and delay < 0:
            self.problems.complain(path, f"a delay cannot be negative: {delay!r}")
        self._check_function(self.names.delays.get(delay) if isinstance(delay, str) else delay, path)

    def _check_function(self, value: Any, path: str, arguments: Sequence[str] = ARGUMENTS) -> None:
        check_function(value, "function", "", path, self.problems.complain, arguments)

    def _transitions(self, node: Node, descriptor: str, specs: Any, path: str) -> tuple[Transition, ...]:
        transitions = []
        listed = specs if isinstance(specs, list | tuple) else [specs]
        for index, spec in enumerate(listed):
            where = f"{path}[{index}]" if isinstance(specs, list | tuple) else path
            transitions.append(self._transition(node, descriptor, spec, where))
        return tuple(transitions)

    def _transition(self, node: Node, descriptor: str, spec: Any, path: str) -> Transition:
        config = {} if spec is None else {"target": spec} if isinstance(spec, str) else spec
        self.problems.keys(config, TRANSITION_KEYS, path)
        self.problems.prefer(config.get("reenter"), bool, "true or false", join_path(path, "reenter"))
        transition = Transition(node, descriptor, config, self.local, self.scxml is True)
        targets = _targets(config.get("target"))
        if targets is not None:
            where = join_path(path, "target")
            transition.targets = tuple(self._resolve(find_target, node, target, where) for target in targets)
            if self.scxml == "lca" and not _may_be_internal(transition):
                transition.reenter = True
        if config.get("guard") is not None:
            check_guard(config["guard"], self.names, join_path(path, "guard"), self.problems.complain)
            transition.guard = self.names.guard(config["guard"])
        transition.ops = self._operations(config.get("actions"), join_path(path, "actions"))
        return transition

    def _add_routes(self, root: Node) -> None:
        routes = []
        for node in root.walk():
            route = node.config.get("route")
            id = node.config.get("id")
            if node is root or route is None or not id:
                continue
            path = join_path(self._paths[node], "route")
            self.problems.keys(route, TRANSITION_KEYS, path)
            leads_here = _routes_to(f"#{id}")
            guard = and_([leads_here, route["guard"]]) if route.get("guard") is not None else leads_here
            routes.append(self._transition(root, "xstate.route", {**route, "guard": guard, "target": f"#{id}"}, path))
        if routes:
            root.on["xstate.route"] = tuple(routes)

    def _resolve(self, find: Find, node: Node, target: Any, path: str) -> Node:
        try:
            return find(self.by_id, self.id, node, target)
        except Unresolved as error:
            self.problems.fail(path, str(error), error.known)


def _may_be_internal(transition: Transition) -> bool:
    """Return whether SCXML lets a transition stay inside its source: a compound state around all targets."""
    source = transition.source
    return source.type == COMPOUND and all(target.is_inside(source) for target in transition.targets or ())


def _routes_to(target: str) -> Callable[[Any, Any], bool]:
    return lambda context, event: event.get("to") == target


def _as_list(specs: Any) -> list[Any]:
    if specs is None:
        return []
    return list(specs) if isinstance(specs, list | tuple) else [specs]


def _targets(target: Any) -> list[Any] | None:
    return None if target is None or target == "" else _as_list(target)


def _number(key: str) -> Any:
    try:
        number = float(key)
    except ValueError:
        return key
    return int(number) if number.is_integer() else number


def _number_text(delay: Any) -> str:
    return str(delay)
