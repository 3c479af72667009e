"""Results of agents' turns: normalised, joined, and written into the history."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, cast

from antiphon.agents.machine.decisions import MAPPING
from antiphon.answers import find_json
from antiphon.threads.machine.content import MessageJson, calls_of
from antiphon.threads.machine.permission_rules import CallRequest, call_text
from antiphon.threads.machine.scopes import Override

Json = dict[str, object]
Usage = dict[str, int]
EXHAUSTED = "Max iterations reached"
MOST_CALL_TEXT = 200
LOST = ("interrupted", "unknown")
SEED_CODES = ("rate_limited", "network_error")
NUMBER = (int, float)


class RunError(TypedDict):
    """An error as JSON."""

    name: str
    code: str
    message: str
    recoverable: bool
    retryAfterMs: NotRequired[float]


class ModelSession(TypedDict):
    """The session of an agent or of the arbiter with a model."""

    id: str
    model: str


# The models before and after, and the error of the first.
Fallback = TypedDict("Fallback", {"from": str, "to": str, "code": str, "message": str})


class CallSummary(TypedDict):
    """A tool call as the history keeps it."""

    name: str
    text: str
    failed: bool


class AgentResult(TypedDict, total=False):
    """The result of an agent's turn; a custom executor may leave out any of its keys."""

    agent: str | None
    step: int | None
    success: bool
    summary: str
    output: str
    usage: Usage
    costUsd: float | None
    turns: int
    at: float | None
    messages: list[MessageJson]
    toolCalls: list[CallSummary]
    overrides: Sequence[Override]
    # Those of them that a person gave in this turn.
    granted: Sequence[Override]
    planUpdates: Json
    cancelled: bool
    exhausted: bool
    error: RunError | None
    failedOutright: bool
    fallbacks: list[Fallback]
    denied: list[str]
    changed: list[str]


class GivenResult(AgentResult, total=False):
    """A result from outside: of one agent, or of several."""

    results: list[AgentResult]


class CrewResult(TypedDict):
    """The results of a crew, joined."""

    success: bool
    summary: str
    usage: Usage
    costUsd: float
    at: float | None
    results: list[AgentResult]
    error: NotRequired[RunError]


class ResultEvent(TypedDict):
    """An event that may bring the result of an executor: as `result` from outside, as `output` from an actor."""

    type: str
    result: NotRequired[object]
    output: NotRequired[object]


class ExecutionEntry(TypedDict):
    """One turn of an agent, in the history."""

    agent: str
    startedAt: float | None
    completedAt: float | None
    result: Literal["success", "failure", "cancelled"]
    step: NotRequired[int]
    output: NotRequired[str]
    error: NotRequired[str]
    tokenUsage: NotRequired[Usage]
    costUsd: NotRequired[float]
    toolCalls: NotRequired[list[CallSummary]]
    fallbacks: NotRequired[list[Fallback]]


def error_of(error: object) -> RunError:
    """Convert an error, JSON or an exception, to JSON with a code."""
    if not isinstance(error, Mapping):
        return {"name": type(error).__name__, "code": "failed", "message": str(error), "recoverable": False}
    code = str(error.get("code") or "failed")
    result: RunError = {
        "name": str(error.get("name") or "Error"),
        "code": code,
        "message": str(error.get("message") or code),
        "recoverable": bool(error.get("recoverable", code in SEED_CODES)),
    }
    wait_ms: object = error.get("retryAfterMs", error.get("retry_after_ms"))
    if isinstance(wait_ms, NUMBER):
        result["retryAfterMs"] = wait_ms
    return result


def is_loss(error: object) -> bool:
    """Return whether an error says that the process was lost."""
    return isinstance(error, Mapping) and error.get("code") in LOST


def add_usage(usage: Usage, more: Mapping[str, object] | None) -> Usage:
    """Add token counts to a usage; values that are not counts are ignored."""
    total = dict(usage)
    for key, value in (more or {}).items():
        if isinstance(value, int) and not isinstance(value, bool):
            total[key] = total.get(key, 0) + value
    return total


def join_results(results: list[AgentResult]) -> CrewResult:
    """Join results into one, in order; it is a success if one of them is."""
    usage: Usage = {}
    for result in results:
        for key, value in (result.get("usage") or {}).items():
            usage[key] = usage.get(key, 0) + (value if isinstance(value, int) else 0)
    failed = [result for result in results if not result.get("success")]
    errors = [error for result in failed if (error := result.get("error"))]
    joined: CrewResult = {
        "success": len(failed) < len(results),
        "summary": "\n\n".join(str(result.get("summary") or "") for result in results).strip(),
        "usage": usage,
        "costUsd": sum(result.get("costUsd") or 0 for result in results),
        "at": max((at for result in results if (at := result.get("at")) is not None), default=None),
        "results": list(results),
    }
    if results and len(errors) == len(results):
        joined["error"] = errors[0]
    return joined


def results_of(event: ResultEvent, agent: str) -> list[AgentResult]:
    """Return the results in an event, of the crew or of a custom executor."""
    output = event.get("result", event.get("output"))
    if not isinstance(output, MAPPING):
        return [{"agent": agent, "success": True, "summary": "" if output is None else str(output)}]
    results = output.get("results")
    if results is not None and isinstance(results, Sequence):
        return cast("list[AgentResult]", [dict(result) for result in results])
    summary = output.get("summary", output.get("output", ""))
    single = {"agent": agent, **output, "success": output.get("success", True), "summary": str(summary)}
    return [cast(AgentResult, single)]


def entry_of(result: AgentResult, started: float | None, ended: float | None) -> ExecutionEntry:
    """Convert a result to an entry of the history."""
    entry: ExecutionEntry = {
        "agent": str(result.get("agent") or ""),
        "startedAt": started,
        "completedAt": ended,
        "result": "cancelled" if result.get("cancelled") else "success" if result.get("success") else "failure",
    }
    step = result.get("step")
    if step is not None:
        entry["step"] = step
    summary = result.get("summary")
    if summary:
        entry["output"] = str(summary)
    error = result.get("error")
    if error:
        entry["error"] = str(error.get("message"))
    usage = result.get("usage")
    if usage:
        entry["tokenUsage"] = usage
    cost = result.get("costUsd")
    if cost is not None:
        entry["costUsd"] = cost
    calls = result.get("toolCalls")
    if calls:
        entry["toolCalls"] = calls
    fallbacks = result.get("fallbacks")
    if fallbacks:
        entry["fallbacks"] = fallbacks
    return entry


def summarize_calls(messages: Sequence[MessageJson]) -> list[CallSummary]:
    """Summarize the tool calls of a conversation: name, beginning of the text, failed or not."""
    results = {
        part["callId"]: part for message in messages for part in message["parts"] if part["type"] == "toolResult"
    }
    calls = [cast(CallRequest, call) for message in messages for call in calls_of(message["parts"])]
    return [
        {
            "name": call["name"],
            "text": call_text(call)[:MOST_CALL_TEXT],
            "failed": call["id"] in results and bool(results[call["id"]].get("isError")),
        }
        for call in calls
    ]


def find_object(text: str) -> Json | None:
    """Find a JSON object in a text: bare, in a code block, or among other words."""
    try:
        value: object = find_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
