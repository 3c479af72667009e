"""Messages of agents and of their runner, translated to events of a thread."""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.threads.machine.thread_events import ThreadEvent

_FIELDS = ("runId", "cost", "duration", "error", "reason", "at")
_BY_STATUS = {"running": "START", "stopped": "STOP", "interrupted": "INTERRUPT"}
_BY_RESULT = {"completed": "COMPLETE", "waiting": "WAIT", "failed": "FAIL"}
_BY_NOTICE = {"agent:stopped": "STOP", "agent:error": "FAIL", "agent:unexpected-exit": "FAIL"}


def ws_event_to_machine_event(type: str, data: Mapping[str, Any]) -> ThreadEvent | None:
    """Translate a message of the socket to an event of the thread; None if it means none."""
    status: object = data.get("status")
    match type:
        case "agent:status":
            change = _BY_STATUS.get(status) if isinstance(status, str) else None
            return _event(change, data) if change else _event("SET_STATUS", {**data, "status": status}, "status")
        case "agent:result":
            result = _BY_RESULT.get("completed" if status is None else str(status))
            return _event(result, _with_reason(data)) if result else None
        case "agent:error":
            return _event("FAIL", data)
    return None


def runner_event_to_machine_event(type: str, data: Mapping[str, Any]) -> ThreadEvent | None:
    """Translate a notice of an agent's runner to an event of the thread; None if it means none."""
    event_type = _BY_NOTICE.get(type)
    return _event(event_type, data) if event_type else None


def _with_reason(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**data, "reason": data["waitingReason"]} if "waitingReason" in data else data


def _event(type: str, data: Mapping[str, Any], *more: str) -> ThreadEvent:
    fields = {key: data[key] for key in (*_FIELDS, *more) if data.get(key) is not None}
    return cast(ThreadEvent, {"type": type, **fields})
