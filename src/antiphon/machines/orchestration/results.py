"""What agents did: results made whole, joined, and written into the history."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.machines.conversation.content import calls_of
from antiphon.machines.permission_rules import call_text

Json = dict[str, Any]
EXHAUSTED = "Max iterations reached"
MOST_CALL_TEXT = 200
LOST = ("interrupted", "unknown")
SEED_CODES = ("rate_limited", "network_error")
FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


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
    if not isinstance(output, Mapping):
        return [{"agent": agent, "success": True, "summary": "" if output is None else str(output)}]
    if isinstance(output.get("results"), Sequence):
        return [dict(result) for result in output["results"]]
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


def find_json(text: str) -> Any:
    """The JSON object in a text: bare, in a code block, or between other words; nothing without one."""
    start, end = text.find("{"), text.rfind("}")
    candidates = [text, *FENCED.findall(text), *([text[start : end + 1]] if 0 <= start < end else [])]
    for candidate in candidates:
        try:
            found = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def misfit(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What a value lacks of the outline of a schema: its type, its required parts, its choices."""
    kinds: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "number": (int, float),
        "integer": int,
    }
    wanted = kinds.get(schema.get("type", ""))
    if wanted is not None and not isinstance(value, wanted):
        return f"it is no {schema['type']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{value!r} is none of {schema['enum']}"
    if not isinstance(value, dict):
        return None
    for name in schema.get("required", ()):
        if name not in value:
            return f"it lacks {name!r}"
    for name, part in schema.get("properties", {}).items():
        if name in value and (wrong := misfit(value[name], part)):
            return f"{name}: {wrong}"
    return None
