"""Runs as they are read: all that is known of one, under way or over."""

from collections.abc import Iterator
from typing import Any

from antiphon.agents.machine.context import first_context
from antiphon.agents.machine.reports import output
from antiphon.threads.kinds import Json, ThreadSummary, content_of, error_message

LIMITS = ("maxIterations", "maxFailures", "maxCostUsd", "maxWallMs")
OUTCOME = ("success", "reason", "summary", "durationMs", "error")


def summarize(snapshot: Json, result: Json | None) -> ThreadSummary:
    """A run in a list: its task, model, turns and cost."""
    context = snapshot["context"]
    known = content_of(snapshot) or result or {}
    return ThreadSummary(
        title=known.get("task") or "",
        model=context["config"].get("model"),
        turns=known.get("iterationCount", known.get("iterations", 0)),
        cost_usd=known.get("costUsd", context["cost"]),
        error=error_message(known.get("lastError", known.get("error"))),
    )


def read_run(id: str, snapshot: Json, result: Json | None) -> dict[str, Any]:
    """A run's task, status, plan, history, costs and limits, its open questions, and how it ended if it has."""
    thread = snapshot["context"]
    child = snapshot["children"].get("run")
    context: Any = child["snapshot"]["context"] if child is not None else first_context(thread["config"])
    # A run that has just ended is still there until its thread lets it go.
    is_ending = child is not None and child["snapshot"]["status"] == "done"
    ended: Json | None = output(context) if is_ending else result
    outcome = None if ended is None else {key: ended[key] for key in OUTCOME if key in ended}
    known = {**output(context), **context, **(ended or {})}
    return {
        "id": id,
        "task": known["task"],
        "title": thread["title"] or known["task"],
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


def run_lines(run: Json) -> Iterator[str]:
    """Every line of a run's task, its outcome and what its agents said."""
    texts = [run["task"], (run["outcome"] or {}).get("summary"), *(entry.get("output") for entry in run["history"])]
    for text in texts:
        yield from str(text or "").splitlines()
