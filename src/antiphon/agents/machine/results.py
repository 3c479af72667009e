"""What agents did: results made whole, joined, and written into the history."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.agents.machine.answer_schema import problems
from antiphon.agents.machine.decisions import MAPPING
from antiphon.answers import find_json
from antiphon.threads.machine.content import calls_of
from antiphon.threads.machine.permission_rules import call_text

Json = dict[str, Any]
EXHAUSTED = "Max iterations reached"
MOST_CALL_TEXT = 200
LOST = ("interrupted", "unknown")
SEED_CODES = ("rate_limited", "network_error")
MOST_PROBLEMS = 5


class Failure(TypedDict):
    """What went wrong, as JSON holds it."""

    name: str
    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]


class ExecutionEntry(TypedDict):
    """One turn of an agent, in the history."""

    agent: str
    startedAt: float | None
    completedAt: float | None
    result: Literal["success", "failure", "cancelled"]
    step: NotRequired[int]
    output: NotRequired[str]
    error: NotRequired[str]
    tokenUsage: NotRequired[Json]
    costUsd: NotRequired[float]
    toolCalls: NotRequired[list[Json]]


def error_of(error: Any) -> Failure:
    """An error as data, whatever it was."""
    if not isinstance(error, Mapping):
        return {"name": type(error).__name__, "code": "failed", "message": str(error), "recoverable": False}
    code = str(error.get("code") or "failed")
    found: Failure = {
        "name": str(error.get("name") or "Error"),
        "code": code,
        "message": str(error.get("message") or code),
        "recoverable": bool(error.get("recoverable", code in SEED_CODES)),
    }
    wait = error.get("retryAfterMs", error.get("retry_after_ms"))
    if isinstance(wait, int | float):
        found["retryAfterMs"] = wait
    return found


def is_loss(error: Any) -> bool:
    """Whether the error is that a process was lost."""
    return isinstance(error, Mapping) and error.get("code") in LOST


def joined(results: Sequence[Json]) -> Json:
    """Several results as one, in order; it is a success if one of them is."""
    usage: dict[str, int] = {}
    for result in results:
        for key, value in (result.get("usage") or {}).items():
            usage[key] = usage.get(key, 0) + (value if isinstance(value, int) else 0)
    failed = [result for result in results if not result.get("success")]
    errors = [result["error"] for result in failed if result.get("error")]
    found: Json = {
        "success": len(failed) < len(results),
        "summary": "\n\n".join(str(result.get("summary") or "") for result in results).strip(),
        "usage": usage,
        "costUsd": sum(result.get("costUsd") or 0 for result in results),
        "at": max((result["at"] for result in results if result.get("at") is not None), default=None),
        "results": list(results),
    }
    if results and len(errors) == len(results):
        found["error"] = errors[0]
    return found


def results_of(event: Mapping[str, Any], agent: str) -> list[Json]:
    """The results that an event brings, from our crew or from somebody else's executor."""
    output = event.get("result", event.get("output"))
    if not isinstance(output, MAPPING):
        return [{"agent": agent, "success": True, "summary": "" if output is None else str(output)}]
    several = output.get("results")
    if several is not None and isinstance(several, Sequence):
        return [dict(result) for result in several]
    summary = output.get("summary", output.get("output", ""))
    return [{"agent": agent, **output, "success": output.get("success", True), "summary": str(summary)}]


def entry_of(result: Json, started: float | None, ended: float | None) -> ExecutionEntry:
    """A result as the history keeps it."""
    outcome: Any = "cancelled" if result.get("cancelled") else "success" if result.get("success") else "failure"
    entry: ExecutionEntry = {
        "agent": str(result.get("agent") or ""),
        "startedAt": started,
        "completedAt": ended,
        "result": outcome,
    }
    if result.get("step") is not None:
        entry["step"] = result["step"]
    if result.get("summary"):
        entry["output"] = str(result["summary"])
    if result.get("error"):
        entry["error"] = str(result["error"].get("message"))
    if result.get("usage"):
        entry["tokenUsage"] = result["usage"]
    if result.get("costUsd") is not None:
        entry["costUsd"] = result["costUsd"]
    if result.get("toolCalls"):
        entry["toolCalls"] = result["toolCalls"]
    return entry


def tool_calls(messages: Sequence[Mapping[str, Any]]) -> list[Json]:
    """The calls in a conversation: of each its name, its beginning in words, and whether it failed."""
    results: dict[str, Any] = {
        part["callId"]: part for message in messages for part in message["parts"] if part["type"] == "toolResult"
    }
    calls: list[Any] = [call for message in messages for call in calls_of(message["parts"])]
    return [
        {
            "name": call["name"],
            "text": call_text(call)[:MOST_CALL_TEXT],
            "failed": bool(results.get(call["id"], {}).get("isError")),
        }
        for call in calls
    ]


def object_in(text: str) -> Json | None:
    """The JSON object in a text: bare, in a code block, or between other words; nothing without one."""
    try:
        found = find_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def misfit(text: str, schema: Mapping[str, Any]) -> str | None:
    """Why a text holds no value that a schema asks for, if so."""
    try:
        found = problems(find_json(text), schema)
    except (ValueError, RecursionError) as error:
        return str(error)
    return "; ".join(found[:MOST_PROBLEMS]) or None
