"""All that is known of a run, as plain values: while it is under way, and from the journal once it is over."""

from typing import Any

from antiphon.agents.machine.context import first_context
from antiphon.agents.machine.reports import output
from antiphon.runtime.errors import UnknownRoot
from antiphon.threads.errors import UnknownThread
from antiphon.threads.results import Snapshots, last_words

RUN = "run"
LIMITS = ("maxIterations", "maxFailures", "maxCostUsd", "maxWallMs")
OUTCOME = ("success", "reason", "summary", "durationMs", "error")


async def run_record(source: Snapshots, id: str) -> dict[str, Any]:
    """A run: its task, status, plan, history, costs and limits, who is asked, and how it ended if it has."""
    try:
        snapshot = await source.snapshot(id)
    except UnknownRoot:
        raise UnknownThread(f"there is no run {id!r}") from None
    thread = snapshot["context"]
    if thread["kind"] != RUN:
        raise UnknownThread(f"{id!r} is no run, but a {thread['kind']}")
    child = snapshot["children"].get(RUN)
    context: Any = child["snapshot"]["context"] if child is not None else first_context(thread["config"])
    if child is None:
        ended = await last_words(source.store, id, RUN)
    else:
        # A run that has just ended is still there until its thread lets it go.
        ended = dict(output(context)) if child["snapshot"]["status"] == "done" else None
    outcome = None if ended is None else {key: ended[key] for key in OUTCOME if key in ended}
    known = {**output(context), **context, **(ended or {})}
    return {
        "id": id,
        "task": known["task"],
        "title": snapshot["context"]["title"] or known["task"],
        "status": snapshot["value"],
        "model": context["model"],
        "arbiter": dict(context["arbiter"]),
        "agents": list(context["agents"]),
        "plan": known["plan"],
        "history": known["history"],
        "iterations": known["iterations"],
        "failures": known["failures"],
        "costUsd": known["costUsd"],
        "usage": known["usage"],
        "limits": {key: context[key] for key in LIMITS},
        "waiting": context["waiting"],
        "startedAt": known["startedAt"],
        "endedAt": None if outcome is None else known["now"],
        "outcome": outcome,
    }
