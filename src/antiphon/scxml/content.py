"""Executable content: evaluates the elements of a block inside a step, and collects what they ask for.

Elements are JSON (`elements.py`). An error ends its block and queues an error event. Internal events and effects are
added to the step in the order of the elements when the block has ended, and so are the variables.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from antiphon.chart import effects
from antiphon.chart.work import Work
from antiphon.scxml.addresses import Address, find_address, own_location, system_variables
from antiphon.scxml.budget import StepBudget, step_budget
from antiphon.scxml.elements import JsonElement, LocatedJson
from antiphon.scxml.errors import ContentError, ScxmlError, StepLimitError
from antiphon.scxml.events import DELIVER, HTTP_PROCESSOR, PROCESSOR, make_event, script_event
from antiphon.scxml.realm import Realm, enter_realm
from antiphon.scxml.xml import parse_xml, to_tree

ELEMENTS = ("raise", "log", "assign", "script", "cancel", "if", "foreach", "send")
LITERAL = re.compile(r"\s*'([^'\\\n]*)'\s*")
DELAY = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(ms|s|m|h|d)?\s*", re.ASCII)
UNITS = {"ms": 1, None: 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
PROCESSORS = (None, "scxml", PROCESSOR)
HTTP_NAMES = ("basichttp", HTTP_PROCESSOR)


class ContentBlock:
    """A block of content that is evaluated at one place of a step."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.events: list[dict[str, Any]] = []  # for the internal queue
        self.effects: list[effects.Effect] = []
        self.changes: dict[str, Any] = {}  # of the context, besides the variables
        self._budget = step_budget()
        self._realm: Realm | None = None

    @property
    def realm(self) -> Realm:
        """The realm, entered when it is first needed."""
        if self._realm is None:
            work = self.work
            self._realm = enter_at(work.context, work.event, work.active_nodes(), self._budget)
        return self._realm

    def attempt(self, evaluate: Callable[[], Any], element: JsonElement) -> bool:
        """Evaluate something; if it fails, queue the error event and return False."""
        try:
            evaluate()
        except ContentError as error:
            self.fail(error, element)
            return False
        return True

    def run(self, elements: Sequence[JsonElement]) -> bool:
        """Evaluate elements in order until one fails; return whether none did."""
        for element in elements:
            try:
                self._evaluate(element)
            except ContentError as error:
                self.fail(error, element)
                return False
        return True

    def fail(self, error: ContentError, element: JsonElement) -> None:
        """Queue the event of an error."""
        if isinstance(error, StepLimitError):
            return
        data = {"tagname": element.get("do"), "line": 0, "column": 0, "reason": str(error).splitlines()[0]}
        if isinstance(element, LocatedJson):
            data.update(line=element.line, column=element.column)
        self._queue(make_event(error.event, "platform", data, sendid=error.sendid))

    def close(self) -> None:
        """Add the outcome of the block to the step."""
        work = self.work
        changes = self.changes
        if self._realm is not None:
            try:
                changes = {**changes, "data": self._variables(self._realm)}
            except ContentError as error:  # together they are too large
                self.fail(error, {})
        if any(work.context.get(key) != value for key, value in changes.items()):
            work.context = {**work.context, **changes}
            work.changed = True
        for event in self.events:
            self._budget.add_event(event)
            work.enqueue(event)
        work.effects.extend(self.effects)

    def _variables(self, realm: Realm) -> dict[str, Any]:
        """Return the variables; those that cannot be JSON, such as one that contains itself, stay as they were."""
        variables, problems = realm.collect()
        for name, problem in problems.items():
            variables[name] = self.work.context["data"].get(name, {"$undefined": True})
            self.fail(ContentError("error.execution", f"{name}: {problem}"), {})
        return variables

    def put(self, value: JsonElement) -> None:
        """Hold the value that an element gives: by an expression, by XML or by its text."""
        if "problem" in value:
            raise ContentError("error.execution", value["problem"])
        if "expr" in value:
            self.realm.put(value["expr"])
        elif "xml" in value:
            self.realm.put_json({"$xml": value["xml"]})
        else:
            self._put_text(value.get("text", ""))

    def text(self, element: JsonElement, name: str) -> str | None:
        """Return an attribute, or the value of the attribute with an expression for it."""
        expression = element.get(f"{name}expr")
        if expression is None:
            return element.get(name)
        literal = LITERAL.fullmatch(expression)
        return literal[1] if literal else self.realm.text(expression)

    def payload(self, element: JsonElement) -> Any:
        """Return the data of an event: the value of `content`, or those of `namelist` and `param`; None if none."""
        if "value" in element:
            self.put(element["value"])
            return self.realm.get()
        return self.parameters(element) or None

    def parameters(self, element: JsonElement) -> dict[str, Any]:
        """Return the values of `namelist` and `param`."""
        values = {name: self.realm.evaluate(name) for name in element.get("namelist", "").split()}
        for param in element.get("params", ()):
            values[param["name"]] = self.realm.evaluate(param.get("expr") or param.get("location") or "undefined")
        return values

    def _queue(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        self.effects.append(effects.Raise(event, None, None))

    def _put_text(self, text: str) -> None:
        if not text.strip():
            self.realm.put("undefined")
            return
        if text.lstrip().startswith("<"):
            try:
                self.realm.put_json({"$xml": to_tree(parse_xml(text))})
            except ScxmlError as error:
                raise ContentError("error.execution", str(error)) from None
            return
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):  # not JSON: a text, with its whitespace normalized
            value = " ".join(text.split())
        self.realm.put_json(value)

    def _evaluate(self, element: JsonElement) -> None:
        self._budget.spend()
        tag = element["do"]
        if tag not in ELEMENTS:
            raise ContentError("error.execution", f"no executable content named {tag!r}")
        getattr(self, f"_{tag}")(element)

    def _raise(self, element: JsonElement) -> None:
        self._queue(make_event(element.get("event", ""), "internal"))

    def _log(self, element: JsonElement) -> None:
        text = self.text({"valueexpr": element["expr"]}, "value") if "expr" in element else None
        if text is not None:
            self.effects.append(effects.Log(text, element.get("label")))

    def _assign(self, element: JsonElement) -> None:
        self.put(element["value"])
        self.realm.assign(element.get("location", ""))

    def _script(self, element: JsonElement) -> None:
        self.realm.execute(element.get("text", ""))

    def _cancel(self, element: JsonElement) -> None:
        id = self.text(element, "sendid")
        if id is not None:
            self.effects.append(effects.Cancel(id, every=True))

    def _if(self, element: JsonElement) -> None:
        is_chosen = self._holds(element)
        for child in element.get("content", ()):
            if child["do"] in ("else", "elseif"):
                if is_chosen:
                    return
                is_chosen = child["do"] == "else" or self._holds(child)
            elif is_chosen:
                self._evaluate(child)

    def _holds(self, element: JsonElement) -> bool:
        """Return whether a condition holds; one that fails is false (SCXML 5.9.1)."""
        try:
            return self.realm.holds(element.get("cond", ""))
        except ContentError as error:
            self.fail(error, element)
            return False

    def _foreach(self, element: JsonElement) -> None:
        realm = self.realm
        item = element.get("item", "")
        index = element.get("index")
        count = realm.copy_items(element.get("array", ""))
        try:
            for name in (item, *((index,) if index else ())):
                realm.declare(name)
            for number in range(count):
                realm.set_item(item, number)
                if index:
                    realm.put_json(number)
                    realm.assign(index)
                for child in element.get("content", ()):
                    self._evaluate(child)
        finally:
            realm.forget_items()

    def _send(self, element: JsonElement) -> None:
        id = element.get("id")
        if "idlocation" in element:
            number = self.changes.get("sends", self.work.context["sends"]) + 1
            self.changes["sends"] = number
            id = f"send.{number}"
            self.realm.put_json(id)
            self.realm.assign(element["idlocation"])
        try:
            self._post(element, id)
        except ContentError as error:
            error.sendid = id
            raise

    def _post(self, element: JsonElement, id: str | None) -> None:
        name = self.text(element, "event") or ""
        target = self.text(element, "target")
        processor = self.text(element, "type")
        delay_ms = read_delay(self.text(element, "delay"))
        context = self.work.context
        is_http = processor in HTTP_NAMES and target == own_location(context, HTTP_PROCESSOR)
        if processor not in PROCESSORS and not is_http:
            raise ContentError("error.execution", f"no event processor for {processor!r} with target {target!r}")
        kind = HTTP_PROCESSOR if is_http else PROCESSOR
        fields = {"sendid": id, "origin": own_location(context), "origintype": kind}
        data = self.payload(element)
        if target == "#_internal":
            self._queue(make_event(name, "internal", data, **fields))
            return
        address = find_address(self.work, None if is_http else target)
        if address.invokeid is not None:
            fields["invokeid"] = address.invokeid
        event = make_event(name, "external", data, **fields)
        self.effects.append(_send_effect(address, event, delay_ms, id))


def _send_effect(address: Address, event: dict[str, Any], delay_ms: float, id: str | None) -> effects.Effect:
    """Return the effect that sends an event; a delayed one for another session is addressed when it is due."""
    if address.is_late or (delay_ms and not address.is_own):
        event = {"type": DELIVER, "target": address.target, "event": event}
        return effects.SendTo("#_internal", event, id, delay_ms or None)
    if address.actor is None:
        raise ContentError("error.communication", f"no session is at {address.target!r}")
    return effects.SendTo(address.actor, event, id, delay_ms or None)


def enter_at(context: Any, event: Any, nodes: Any, budget: StepBudget) -> Realm:
    """Return the realm, entered with the variables of a context, the event and the active states."""
    active = [node.id for node in nodes if node.parent is not None]
    return enter_realm(context["data"], script_event(event), active, system_variables(context), budget)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_delay(text: str | None) -> float:
    """Return the milliseconds of a delay as SCXML writes it, such as `1.5s`."""
    if text is None or text == "":
        return 0
    match = DELAY.fullmatch(text)
    if match is None:
        raise ContentError("error.execution", f"not a delay: {text!r}; write it as 500ms or 1.5s")
    return float(match[1]) * UNITS[match[2]]
