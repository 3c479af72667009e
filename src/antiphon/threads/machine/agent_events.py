"""What agents say over a socket, and what their runner notices, as events of a thread."""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.threads.machine.thread import ThreadEvent

_FACTS = ("runId", "cost", "duration", "error", "reason", "at")
_BY_STATUS = {"running": "START", "stopped": "STOP", "interrupted": "INTERRUPT"}
_BY_RESULT = {"completed": "COMPLETE", "waiting": "WAIT", "failed": "FAIL"}
_BY_NOTICE = {"agent:stopped": "STOP", "agent:error": "FAIL", "agent:unexpected-exit": "FAIL"}


def ws_event_to_machine_event(type: str, data: Mapping[str, Any]) -> ThreadEvent | None:
    """The event that a socket's message means to a thread, or nothing."""
    status = data.get("status")
    match type:
        case "agent:status":
            known = _BY_STATUS.get(status) if isinstance(status, str) else None
            return _event(known, data) if known else _event("SET_STATUS", {**data, "status": status}, "status")
        case "agent:result":
            ended = _BY_RESULT.get("completed" if status is None else status)
            return _event(ended, _with_reason(data)) if ended else None
        case "agent:error":
            return _event("FAIL", data)
    return None


def runner_event_to_machine_event(type: str, data: Mapping[str, Any]) -> ThreadEvent | None:
    """The event that a notice of an agent's runner means to a thread, or nothing."""
    known = _BY_NOTICE.get(type)
    return _event(known, data) if known else None


def _with_reason(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**data, "reason": data["waitingReason"]} if "waitingReason" in data else data


def _event(type: str, data: Mapping[str, Any], *more: str) -> ThreadEvent:
    facts = {key: data[key] for key in (*_FACTS, *more) if data.get(key) is not None}
    return cast(ThreadEvent, {"type": type, **facts})
