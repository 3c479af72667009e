"""The JSON forms of conformance specs, turned into charts with functions."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from antiphon.actors.callbacks import from_callback, from_transition
from antiphon.actors.tasks import from_task
from antiphon.chart import actions as builtin
from antiphon.chart import guards as combine
from tests.xstate.expressions import UNDEFINED, clone, evaluate, truthy

NODE_LISTS = ("entry", "exit")


class Forms:
    """Reads the forms of one spec and logs what its actions do."""

    def __init__(self, log: list[Any] | None = None, unsettled: set[object] | None = None) -> None:
        self.log: list[Any] = [] if log is None else log
        self.unsettled: set[object] = set() if unsettled is None else unsettled
        self._names: set[str] = set()

    def node(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Return a state with its forms replaced."""
        replaced = dict(config)
        for key in ("entry", "exit"):
            if key in replaced:
                replaced[key] = self._actions(replaced[key])
        for key in ("on", "after"):
            if replaced.get(key):
                replaced[key] = {name: self._transition(spec) for name, spec in replaced[key].items()}
        for key in ("always", "onDone", "route"):
            if key in replaced:
                replaced[key] = self._transition(replaced[key])
        if isinstance(replaced.get("initial"), dict):
            replaced["initial"] = self._transition(replaced["initial"])
        if "output" in replaced:
            replaced["output"] = self.value(replaced["output"])
        if _is_expression(replaced.get("context")):
            expression = replaced["context"]["$expr"]
            replaced["context"] = lambda given: evaluate(expression, {"input": given})
        if replaced.get("invoke"):
            replaced["invoke"] = _each(replaced["invoke"], self._invoke)
        if replaced.get("states"):
            replaced["states"] = {key: self.node(state) for key, state in replaced["states"].items()}
        return replaced

    def _invoke(self, config: Mapping[str, Any]) -> dict[str, Any]:
        replaced = dict(config)
        if "input" in replaced:
            replaced["input"] = self.value(replaced["input"])
        for key in ("onDone", "onError", "onSnapshot"):
            if key in replaced:
                replaced[key] = self._transition(replaced[key])
        return replaced

    def _transition(self, spec: Any) -> Any:
        if isinstance(spec, list):
            return [self._transition(item) for item in spec]
        if not isinstance(spec, dict):
            return spec
        replaced = dict(spec)
        if "guard" in replaced:
            replaced["guard"] = self._guard(replaced["guard"])
        if "actions" in replaced:
            replaced["actions"] = self._actions(replaced["actions"])
        return replaced

    def value(self, form: Any) -> Any:
        """Return a value, or the function of an expression."""
        if not _is_expression(form):
            return form
        expression = form["$expr"]
        return lambda context, event, params: evaluate(
            expression, {"context": context, "event": event, "params": params}
        )

    def _event(self, form: Any) -> Any:
        if _is_expression(form):
            return self.value(form)
        if isinstance(form, dict) and any(isinstance(value, list) for value in form.values()):
            return lambda context, event: {
                key: evaluate(value, {"context": context, "event": event}) for key, value in form.items()
            }
        return form

    def guards(self, specs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the named guards of a spec."""
        return {name: self._named_guard(spec) for name, spec in specs.items()}

    def _named_guard(self, spec: Any) -> Any:
        if isinstance(spec, list | bool):
            return lambda context, event, params: truthy(
                evaluate(spec, {"context": context, "event": event, "params": params})
            )
        return self._guard(spec)

    def _guard(self, form: Any) -> Any:
        match form:
            case {"$and": inner}:
                return combine.and_([self._guard(guard) for guard in inner])
            case {"$or": inner}:
                return combine.or_([self._guard(guard) for guard in inner])
            case {"$not": inner}:
                return combine.not_(self._guard(inner))
            case {"$in": value}:
                return combine.state_in(value)
            case {"$expr": expression}:
                return lambda context, event: truthy(evaluate(expression, {"context": context, "event": event}))
            case {"$throw": message}:
                return _thrower(message)
            case {"params": params}:
                return {**form, "params": self.value(params)}
        return form

    def actions(self) -> dict[str, Any]:
        """The named actions seen so far; each logs that it ran. A name with a question mark has none."""
        return {name: self._logging(name) for name in self._names if not name.startswith("?")}

    def _logging(self, name: str) -> Callable[..., None]:
        def act(context: Any, event: Any, params: Any) -> None:
            entry = {} if params is None else {"p": clone(params)}
            self.log.append({"a": name, **entry, "c": clone(context), "e": event["type"]})

        return act

    def _actions(self, forms: Any) -> Any:
        return _each(forms, self._action)

    def _action(self, form: Any) -> Any:
        if isinstance(form, str):
            self._names.add(form)
            return form
        if not isinstance(form, dict):
            return form
        options = {key: form[key] for key in ("id",) if key in form}
        if "delay" in form:
            options["delay"] = self.value(form["delay"])
        match form:
            case {"$assign": assignment}:
                return self._assign(assignment)
            case {"$raise": event}:
                return builtin.raise_(self._event(event), **options)
            case {"$sendTo": target}:
                return builtin.send_to(_addressee(target), self._event(form["event"]), **options)
            case {"$sendParent": event}:
                return builtin.send_parent(self._event(event), **options)
            case {"$forwardTo": target}:
                return builtin.forward_to(target, **options)
            case {"$emit": event}:
                return builtin.emit(self._event(event))
            case {"$log": expression}:
                return builtin.log(self.value({"$expr": expression}), form.get("label"))
            case {"$cancel": id}:
                return builtin.cancel(id)
            case {"$spawn": src}:
                return self._spawn(src, form)
            case {"$stop": child}:
                return builtin.stop_child(child)
            case {"$throw": message}:
                return _thrower(message)
            case {"$enqueue": inner}:
                return self._enqueue(inner)
        self._names.add(form["type"])
        return {**form, "params": self.value(form["params"])} if "params" in form else form

    def _assign(self, assignment: Any) -> Any:
        if isinstance(assignment, list):
            return builtin.assign(self.value({"$expr": assignment}))
        return builtin.assign({key: self._assigner(value) for key, value in assignment.items()})

    def _assigner(self, expression: Any) -> Any:
        return lambda context, event: evaluate(expression, {"context": context, "event": event})

    def _spawn(self, src: str, form: Mapping[str, Any]) -> Any:
        return builtin.spawn_child(
            src,
            id=self.value(form.get("id")),
            input=self.value(form.get("input")),
            system_id=form.get("systemId"),
            sync_snapshot=bool(form.get("syncSnapshot")),
        )

    def _enqueue(self, inner: Any) -> Any:
        chosen = _each(inner, self._choice)

        def collect(context: Any, event: Any, enqueue: Any) -> None:
            _run(chosen, enqueue)

        return builtin.enqueue_actions(collect)

    def _choice(self, form: Any) -> Any:
        if isinstance(form, dict) and "if" in form:
            return {
                "if": self._guard(form["if"]),
                "do": _each(form.get("do", []), self._choice),
                "else": _each(form.get("else", []), self._choice),
            }
        return self._action(form)

    def logic(self, spec: Mapping[str, Any], build: Callable[[Any, "Forms"], Any]) -> Any:
        """Return the actor logic that a spec describes."""
        match spec["kind"]:
            case "machine":
                return build(spec, Forms(self.log, self.unsettled))
            case "promise":
                return from_task(self._promise(spec))
            case "callback":
                return from_callback(self._callback(spec))
            case "transition":
                reactions = spec.get("on") or {}
                return from_transition(
                    lambda state, event: (
                        evaluate(reactions[event["type"]], {"context": state, "event": event})
                        if event["type"] in reactions
                        else state
                    ),
                    spec.get("initial"),
                )
        raise RuntimeError(f"kind {spec['kind']}")

    def _promise(self, spec: Mapping[str, Any]) -> Callable[..., Any]:
        def start(input: Any, scope: Any) -> Any:
            token = object()
            if spec.get("log"):
                self.log.append({"a": "promise.start", "p": clone(input)})
                scope.on_cancel(lambda: self.log.append({"a": "promise.abort"}))
            if "resolve" in spec or "reject" in spec:
                self.unsettled.add(token)
                scope.on_cancel(lambda: self.unsettled.discard(token))
            return settle(token)

        async def settle(token: object) -> Any:
            self.unsettled.discard(token)
            if "resolve" in spec:
                return spec["resolve"]
            if "reject" in spec:
                raise RuntimeError(spec["reject"])
            return await asyncio.get_running_loop().create_future()

        return start

    def _callback(self, spec: Mapping[str, Any]) -> Callable[..., Any]:
        name = spec.get("name") or ""

        def start(input: Any, scope: Any) -> Any:
            self.log.append({"a": f"cb.start:{name}", "p": clone(input)})
            if spec.get("throwOnStart"):
                raise RuntimeError(spec["throwOnStart"])
            for event in _listed(spec.get("sendBack")):
                scope.send_back(event)
            for event in _listed(spec.get("emit")):
                scope.emit(event)
            scope.receive(lambda event: receive(event, scope))
            return lambda: self.log.append({"a": f"cb.dispose:{name}"})

        def receive(event: Any, scope: Any) -> None:
            self.log.append({"a": f"cb.recv:{name}", "e": event["type"]})
            if spec.get("echo"):
                scope.send_back({"type": spec["echo"], "got": event["type"]})

        return start


def _run(chosen: Any, enqueue: Any) -> None:
    for choice in _listed(chosen):
        if isinstance(choice, dict) and "if" in choice:
            _run(choice["do"] if enqueue.check(choice["if"]) else choice["else"], enqueue)
        else:
            enqueue(choice)


def _addressee(target: Any) -> Any:
    if isinstance(target, dict):
        return lambda context, event, scope: scope.system.get(target["$system"])
    return target


def _thrower(message: str) -> Callable[..., Any]:
    def throw(context: Any, event: Any) -> Any:
        raise RuntimeError(message)

    return throw


def _is_expression(form: Any) -> bool:
    return isinstance(form, dict) and "$expr" in form


def _each(forms: Any, convert: Callable[[Any], Any]) -> Any:
    return [convert(form) for form in forms] if isinstance(forms, list) else convert(forms)


def _listed(value: Any) -> list[Any]:
    if value is None or value is UNDEFINED:
        return []
    return value if isinstance(value, list) else [value]
