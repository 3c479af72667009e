"""What comes before an event from outside is taken: finalize, autoforward, and late deliveries."""

from functools import partial
from typing import Any

from antiphon.chart.effects import SendTo
from antiphon.chart.steps import INIT, STOP
from antiphon.chart.work import Work
from antiphon.scxml.addresses import find_address, is_ended
from antiphon.scxml.budget import begin_step
from antiphon.scxml.content import ContentBlock
from antiphon.scxml.elements import JsonElement
from antiphon.scxml.events import is_delivery, make_event, receive_event

INVOKE = "scxml.invoke"


class ReceiveOp:
    """Do what comes before an event from outside is taken: finalize, autoforward, and late deliveries."""

    def run(self, work: Work) -> None:
        """Make the event one of SCXML; it is None if it was only delivered."""
        type = work.event["type"]
        if type in (STOP, INIT):
            begin_step(work.event)
            return
        if is_delivery(work.event):
            _deliver(work)
        else:
            work.event = receive_event(work.event)
        begin_step(work.event)
        if work.event is None:
            return
        for node in sorted(work.configuration.nodes, key=lambda node: node.order):
            for invoke in node.invokes:
                if invoke.src == INVOKE:
                    self._pass_on(work, invoke.id, invoke.input)

    def _pass_on(self, work: Work, id: str, input: JsonElement) -> None:
        ref = work.children.get(id)
        if ref is None:
            return
        if "finalize" in input and work.event.get("scxml", {}).get("invokeid") == id:
            _finalize(work, input)
        if input.get("autoforward") == "true" and not is_ended(ref):
            work.effects.append(SendTo(ref, work.event, None, None))


def _deliver(work: Work) -> None:
    """Send an event whose delay has passed to another session, or report that there is none."""
    target = work.event["target"]
    event = work.event["event"]
    address = find_address(work, target)
    if address.actor is None:
        data = {"reason": f"no session is at {target!r}"}
        sendid = event["scxml"].get("sendid")
        work.event = make_event("error.communication", "platform", data, sendid=sendid)
        return
    work.effects.append(SendTo(address.actor, event, None, None))
    work.event = None


def _finalize(work: Work, input: JsonElement) -> None:
    block = ContentBlock(work)
    if input["finalize"]:
        block.run(input["finalize"])
    else:
        data = work.event.get("data")
        places = {name: name for name in input.get("namelist", "").split()}
        places.update({param["name"]: param["location"] for param in input.get("params", ()) if "location" in param})
        for name, location in places.items():
            if isinstance(data, dict) and name in data:
                block.attempt(partial(_store, block, data[name], location), {"do": "finalize"})
    block.close()


def _store(block: ContentBlock, value: Any, location: str) -> None:
    block.realm.put_json(value)
    block.realm.assign(location)
