"""Records of runs: everything that is known of one, running or ended."""

from collections.abc import Iterable, Iterator
from typing import Any

from antiphon.agents.machine.context import first_context
from antiphon.agents.machine.orchestrator import CREW
from antiphon.agents.machine.reports import result_of
from antiphon.agents.machine.tool_calls import TOOLS
from antiphon.threads.kinds import Json, NewText, ThreadSummary, content_of, error_message
from antiphon.threads.machine.scopes import Override, add_overrides

LIMITS = ("maxIterations", "maxFailures", "maxCostUsd", "maxWallMs")
OUTCOME = ("success", "reason", "summary", "durationMs", "error")


def summarize(snapshot: Json, result: Json | None) -> ThreadSummary:
    """Summarize a run for a list: its task, model, turns and cost."""
    context = snapshot["context"]
    run = content_of(snapshot) or result or {}
    return ThreadSummary(
        title=run.get("task") or "",
        model=context["config"].get("model"),
        turns=run.get("iterationCount", run.get("iterations", 0)),
        cost_usd=run.get("costUsd", context["cost"]),
        error=error_message(run.get("lastError", run.get("error"))),
    )


def read_run(id: str, snapshot: Json, result: Json | None) -> dict[str, Any]:
    """Read a run: task, status, plan, history, costs, limits, open questions, and the outcome if it has ended."""
    thread = snapshot["context"]
    child = snapshot["children"].get("run")
    context: Any = child["snapshot"]["context"] if child is not None else first_context(thread["config"])
    # The actor of a run that has just ended exists until its thread stops it.
    is_ending = child is not None and child["snapshot"]["status"] == "done"
    final: Json | None = dict(result_of(context)) if is_ending else result
    outcome = None if final is None else {key: final[key] for key in OUTCOME if key in final}
    run = {**result_of(context), **context, **(final or {})}
    return {
        "id": id,
        "task": run["task"],
        "title": thread["title"] or run["task"],
        "status": snapshot["value"],
        "model": context["model"],
        "fallback": list(context.get("fallback") or ()),
        "arbiter": dict(context["arbiter"]),
        "agents": list(context["agents"]),
        "plan": run["plan"],
        "history": run["history"],
        "iterations": run["iterations"],
        "failures": run["failures"],
        "costUsd": run["costUsd"],
        "usage": run["usage"],
        "limits": {key: context[key] for key in LIMITS},
        "consent": _read_consent(context["consent"], child),
        "waiting": context["waiting"],
        "guidance": _unread_words(run),
        "startedAt": run["startedAt"],
        "endedAt": None if outcome is None else run["now"],
        "outcome": outcome,
        "log": list(run.get("log") or ()),
    }


def _unread_words(run: Json) -> list[str]:
    """Return the words of a person that are in no prompt: the turn at work has heard those before it."""
    return list(run.get("guidance") or ())[run.get("heard", 0) if run.get("atWork") else 0 :]


def _read_consent(consent: Json, run: Json | None) -> dict[str, Any]:
    """Read the permission mode of a run, and what was allowed or denied beyond single calls, in this turn too."""
    return {"mode": consent.get("mode", "ask"), "overrides": _decisions(consent, run)}


def decisions_in(snapshot: Json) -> list[Override]:
    """Return what is allowed or denied beyond single calls: by the settings, and by a person, in this turn too."""
    child = snapshot["children"].get("run")
    context = child["snapshot"]["context"] if child is not None else first_context(snapshot["context"]["config"])
    return _decisions(context["consent"], child)


def _decisions(consent: Json, run: Json | None) -> list[Override]:
    crew = run["snapshot"]["children"].get(CREW) if run is not None else None
    overrides: list[Override] = list(consent.get("overrides") or ())
    if crew is None:
        return overrides
    results = crew["snapshot"]["context"].get("results") or {}
    for place in (*results.values(), *_consents(crew["snapshot"]["children"].values())):
        overrides = add_overrides(overrides, place.get("overrides") or ())
    return overrides


def _consents(agents: Iterable[Json]) -> Iterator[Json]:
    """Iterate over the permissions of agents at work, and over those that were given for their calls at work."""
    for agent in agents:
        yield agent["snapshot"]["context"].get("consent") or {}
        tools = agent["snapshot"]["children"].get(TOOLS)
        if tools is not None:
            yield tools["snapshot"]["context"]


def new_texts(before: Json | None, after: Json, result: Json | None) -> Iterator[NewText]:
    """Iterate over the task, outputs and summary that a step has added to a run."""
    old: Json = (before and content_of(before)) or {}
    # Without a state before, a run that has ended is read from its result.
    new: Json = content_of(after) or (result if before is None else None) or {}
    texts = [new.get("task")] if new.get("task") != old.get("task") else []
    texts += [entry.get("output") for entry in (new.get("history") or [])[len(old.get("history") or []) :]]
    texts += [(result or {}).get("summary")]
    for text in texts:
        if text:
            yield NewText(str(text))
