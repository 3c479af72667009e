"""The functions of charts of documents: content, conditions, variables and invocations."""

from functools import partial
from typing import Any

from antiphon.chart.actions import Action
from antiphon.chart.errors import EngineError
from antiphon.chart.guards import StateGuard
from antiphon.chart.refs import ActorRef
from antiphon.chart.steps import INIT
from antiphon.chart.work import Work
from antiphon.scxml.budget import condition_budget
from antiphon.scxml.content import ContentBlock, enter_at
from antiphon.scxml.elements import JsonElement
from antiphon.scxml.errors import ContentError, StepLimitError
from antiphon.scxml.events import is_match, script_event
from antiphon.scxml.receiving import INVOKE

PREFIX = "scxml:"  # of the names of actors that are documents in files
SCXML_TYPES = (None, "scxml", "http://www.w3.org/TR/scxml/", "http://www.w3.org/TR/scxml")
ACTOR_TYPE = "actor"  # an actor of the program, by its name


class ContentOp:
    """Evaluate a block of content."""

    def __init__(self, params: JsonElement) -> None:
        self.elements = params["content"]

    def run(self, work: Work) -> None:
        """Evaluate the elements in order."""
        block = ContentBlock(work)
        block.run(self.elements)
        block.close()


class BeginOp:
    """Create the variables of a session and run the scripts of its document."""

    def __init__(self, params: JsonElement) -> None:
        self.params = params

    def run(self, work: Work) -> None:
        """Declare all variables, then set them in document order."""
        block = ContentBlock(work)
        data = self.params.get("data", ())
        input = work.event.get("input") if work.event["type"] == INIT else None
        values = input if isinstance(input, dict) else {}
        for name in (*(element["id"] for element in data), *self.params.get("late", ())):
            block.attempt(partial(_declare, block, name), {"do": "data"})
        top = set(self.params.get("top", ()))
        for element in data:
            id = element["id"]
            set_variable(block, element, values[id] if id in top and id in values else None)
        for script in self.params.get("scripts", ()):
            block.run([script])
        block.close()


class BindOp:
    """Set the variables of a state when it is first entered."""

    def __init__(self, params: JsonElement) -> None:
        self.state = params["state"]
        self.data = params["data"]

    def run(self, work: Work) -> None:
        """Set the variables, once."""
        if self.state in work.context["bound"]:
            return
        block = ContentBlock(work)
        for element in self.data:
            set_variable(block, element, None)
        block.changes["bound"] = [*work.context["bound"], self.state]
        block.close()


class DonedataOp:
    """Evaluate the data of a final state."""

    def __init__(self, params: JsonElement) -> None:
        self.state = params["state"]
        self.element = params["element"]

    def run(self, work: Work) -> None:
        """Put the data into the context, where the output of the state finds it."""
        block = ContentBlock(work)
        others = {key: value for key, value in work.context["done"].items() if key != self.state}
        try:
            data = block.payload(self.element)
        except ContentError as error:
            block.fail(error, self.element)
            data = None
        block.changes["done"] = others if data is None else {**others, self.state: data}
        block.close()


class InvokeOp:
    """Start the session, or the actor of the program, that a state invokes."""

    def __init__(self, config: JsonElement) -> None:
        self.id = config["id"]
        self.input = config["input"]

    def run(self, work: Work) -> None:
        """Add the child; if that fails, queue the error event."""
        block = ContentBlock(work)
        ref: ActorRef | None = None
        try:
            ref = self._make(block)
            if "idlocation" in self.input:
                block.realm.put_json(self.id)
                block.realm.assign(self.input["idlocation"])
        except ContentError as error:
            block.fail(error, {"do": "invoke"})
            ref = None
        block.close()
        if ref is not None:
            work.adopt(ref)

    def _make(self, block: ContentBlock) -> ActorRef:
        kind = block.text(self.input, "type")
        src = self._source(block, kind)
        try:
            logic = block.work.machine.logic(src)
        except EngineError as error:
            raise ContentError("error.execution", str(error)) from None
        if logic is None:
            raise ContentError("error.execution", f"no actor named {src!r}")
        return ActorRef(self.id, src, logic, block.parameters(self.input))

    def _source(self, block: ContentBlock, kind: str | None) -> str:
        """Return the name of the actor: of the program, of a file, of a document inside this one, or a document."""
        src = block.text(self.input, "src")
        if kind == ACTOR_TYPE and src is not None:
            return src
        if kind not in SCXML_TYPES:
            raise ContentError("error.execution", f"cannot invoke the type {kind!r}")
        if src is not None:
            return PREFIX + src
        value = self.input.get("value", {})
        if "document" in value:
            return str(value["document"])
        if "expr" in value:
            return PREFIX + block.realm.text(value["expr"])
        if value.get("text", "").strip():
            return f"{PREFIX}{value['text'].strip()}"
        raise ContentError("error.execution", "nothing to invoke: neither src nor content")


def _declare(block: ContentBlock, name: str) -> None:
    block.realm.declare(name)


def set_variable(block: ContentBlock, element: JsonElement, value: Any) -> None:
    """Set a variable to a value, or to that of its element if it is None."""

    def evaluate() -> None:
        if value is None:
            block.put(element["value"])
        else:
            block.realm.put_json(value)
        block.realm.assign(element["id"])

    block.attempt(evaluate, element)


def test_condition(context: Any, event: Any, params: Any, nodes: frozenset[Any]) -> bool:
    """Return whether an event has one of the names of a transition, and its condition is true."""
    if "events" in params:
        variable = script_event(event)
        if variable is None or not is_match(variable["name"], params["events"].split()):
            return False
    if "cond" not in params:
        return True
    try:
        return enter_at(context, event, nodes, condition_budget(event)).holds(params["cond"])
    except StepLimitError:
        return False


ACTIONS = {
    "scxml.content": Action("scxml.content", lambda names, params: ContentOp(params)),
    "scxml.begin": Action("scxml.begin", lambda names, params: BeginOp(params)),
    "scxml.bind": Action("scxml.bind", lambda names, params: BindOp(params)),
    "scxml.donedata": Action("scxml.donedata", lambda names, params: DonedataOp(params)),
}
GUARDS = {"scxml.cond": StateGuard(test_condition)}
ACTORS = {INVOKE: Action(INVOKE, lambda names, config: InvokeOp(config))}
