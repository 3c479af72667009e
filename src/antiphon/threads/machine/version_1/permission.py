"""Version 1 of the permission: an answer held once or for the whole thread, and granted no access."""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.actions import assign, enqueue_actions
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.former import AnyMachine, Context, Event, Json, Queue, bind_former
from antiphon.threads.machine.permission import permission_machine
from antiphon.threads.machine.version_1.permission_rules import TRANSPARENCY, decide

CHART = load_chart(__name__)


def _context(input: Mapping[str, Any]) -> Json:
    context = {key: input.get(key, default) for key, default in CHART["context"].items()}
    return {**context, "verdict": decide(context["calls"], context["mode"], context["rules"])}


def _is_answer(context: Context, event: Event) -> bool:
    is_whole = event.get("scope") in (None, "once", "thread") and event.get("arguments") is None
    return event.get("id") in (None, context["id"]) and is_whole


def _allow(context: Context, event: Event) -> Json:
    return {"scope": event.get("scope") or "once", "reason": "a person allowed it"}


def _ask_parent(context: Context, event: Event, enqueue: Queue) -> None:
    if context["reportsToParent"]:
        request = {"id": context["id"], "calls": context["verdict"]["calls"], "timeoutMs": context["timeoutMs"]}
        enqueue.send_parent({"type": "PERMISSION.REQUESTED", **request})


def _output(context: Context) -> Json:
    verdict = context["verdict"]
    decision = context["decision"]
    was_asked = verdict["decision"] == "ask"
    person = "nobody" if decision == "expired" else "person"
    return {
        "id": context["id"],
        "decision": decision,
        "by": person if was_asked else verdict["by"],
        "scope": context["scope"],
        "reason": context["reason"] if was_asked else verdict["reason"],
        "calls": [{**call, "shown": _transparency(call, decision, was_asked)} for call in verdict["calls"]],
    }


def _transparency(call: Json, decision: str, was_asked: bool) -> str:
    if decision != "allowed":
        return "refused"
    return "approved" if was_asked else TRANSPARENCY[call["risk"]]


permission_machine_1: AnyMachine = bind_former(
    permission_machine,
    CHART,
    actions={"allow": assign(_allow), "askParent": enqueue_actions(_ask_parent)},
    guards={"isAnswer": _is_answer},
    context=_context,
    output=_output,
)
