"""Open requests of a thread to a person, and the events that answer them.

A request has an id, which no other request of the thread has, and an address: the actor that takes the answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.threads.errors import NotOffered, Refused, UnknownRequest
from antiphon.threads.machine.edits import can_edit
from antiphon.threads.machine.scopes import ONCE, answer_scopes

Json = Mapping[str, Any]
PERMISSION = "permission"
PROVIDER_ERROR = "provider_error"
TOOLS = "tools"
DECISIONS = {"allow": "ALLOW", "deny": "DENY"}


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """Request to a person: `calls` for a permission, `text` and `options` for a question; `speaker` is the agent.

    With the reason `tools`, the client is to make the `calls`, and to send their results as `tool_results`.
    `limit` has the name, the value and the spending of a limit that is reached, and the `next` value, which is offered.
    """

    id: str
    address: str
    reason: str
    speaker: str | None = None
    text: str | None = None
    options: Sequence[Any] = ()
    calls: Sequence[Json] = ()
    timeout_ms: int | None = None
    limit: Json | None = None

    @property
    def scopes(self) -> list[str]:
        """Scopes that an answer may allow: `once`, and those that the calls offer."""
        return answer_scopes(self.calls)

    @property
    def can_run_outside(self) -> bool:
        """Whether a command of the request may be allowed to run outside the sandbox."""
        return any(call["outside"] for call in self.calls if call["decision"] == "ask")

    def to_json(self) -> dict[str, Any]:
        """Return the request as JSON, without what it does not have."""
        place = {"id": self.id, "address": self.address, "reason": self.reason}
        more = {
            "speaker": self.speaker,
            "text": self.text,
            "options": list(self.options),
            "calls": [dict(call) for call in self.calls],
            "timeoutMs": self.timeout_ms,
            "limit": None if self.limit is None else dict(self.limit),
        }
        return {**place, **{key: value for key, value in more.items() if value}}


def request_from_json(stored: Json) -> OpenRequest:
    """Return a request as the thread machine keeps it."""
    return OpenRequest(
        id=stored["id"],
        address=stored["address"],
        reason=stored["reason"],
        speaker=stored.get("agentId"),
        text=stored.get("question"),
        options=tuple(stored.get("options") or ()),
        calls=tuple(stored.get("calls") or ()),
        timeout_ms=stored.get("timeoutMs"),
        limit=stored.get("limit"),
    )


def open_requests(snapshot: Json) -> list[OpenRequest]:
    """Return the open requests in the snapshot of a thread, the oldest first."""
    return [request_from_json(stored) for stored in snapshot["context"].get("requests") or ()]


def find_request(snapshot: Json, id: str | None) -> OpenRequest:
    """Return the request of an id, or the only one; raise `UnknownRequest` if there is none, or a choice."""
    matches = [request for request in open_requests(snapshot) if id in (None, request.id)]
    if len(matches) != 1:
        raise unknown_request(snapshot, id)
    return matches[0]


def unknown_request(snapshot: Json, id: str | None) -> UnknownRequest:
    """Return the error for a request that is not open."""
    context = snapshot["context"]
    state = f"the thread is {snapshot['value']}"
    if context["processLost"]:
        state = "the process that asked is gone; resume the thread"
    return UnknownRequest(context["threadId"], id, [request.id for request in open_requests(snapshot)], state)


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a person, in words or as a decision."""

    text: str | None = None
    decision: str | None = None
    scope: str = ONCE
    # Run the commands without a sandbox, once.
    outside: bool = False
    reason: str | None = None
    limit: float | None = None  # at a limit: the new one
    arguments: Mapping[str, Json] | None = None  # changed arguments, by the ids of calls

    def to_event(self, request: OpenRequest, at: int) -> dict[str, Any]:
        """Return the event that answers a request at its address; raise `Refused` if the answer does not fit it."""
        if request.reason == PERMISSION and request.address:
            return self._decide(request)
        if not request.address:
            return self._respond(request, at)
        if request.reason == TOOLS:
            raise Refused(f"request {request.id!r} is for the results of tools; send them with tool_results")
        if request.limit is not None:
            return self._raise_limit(request, at)
        if self.text is None and self.decision is None:
            raise Refused(f"request {request.id!r} is a {request.reason}; answer it with a text")
        optional = {"text": self.text, "decision": self.decision, "reason": self.reason}
        fields = {key: value for key, value in optional.items() if value is not None}
        return {"type": "ANSWER", "id": request.id, "at": at, **fields}

    def _respond(self, request: OpenRequest, at: int) -> dict[str, Any]:
        """Return the answer to the thread itself; after an error, that is another attempt."""
        event = {"type": "RESPOND", "requestId": request.id, "at": at}
        if request.reason == PROVIDER_ERROR:
            if self.text is not None or self.decision == "deny":
                reason = f"request {request.id!r} is about an error: {request.text}"
                raise Refused(f"{reason}; answer it without a text, or stop the thread")
            return {**event, "retry": True}
        return event if self.text is None else {**event, "message": {"text": self.text, "at": at}}

    def _raise_limit(self, request: OpenRequest, at: int) -> dict[str, Any]:
        self._require_decision(request, "about a limit")
        spent = (request.limit or {})["spent"]
        if self.limit is not None and not (isinstance(self.limit, int | float) and self.limit > spent):
            raise Refused(f"limit is {self.limit!r}; it must be a number above {spent}")
        return {"type": "ANSWER", "id": request.id, "decision": self.decision, "limit": self.limit, "at": at}

    def _require_decision(self, request: OpenRequest, purpose: str) -> None:
        if self.decision not in DECISIONS:
            raise Refused(
                f"request {request.id!r} is {purpose}, and decision is {self.decision!r}; "
                "answer it with decision='allow' or decision='deny'"
            )

    def _decide(self, request: OpenRequest) -> dict[str, Any]:
        self._require_decision(request, "for permission")
        assert self.decision is not None
        event: dict[str, Any] = {"type": DECISIONS[self.decision], "id": request.id}
        if self.reason is not None:
            event["reason"] = self.reason
        if self.decision == "deny":
            return event
        self._require_offer(request)
        optional = {"outside": self.outside, "arguments": self.arguments}
        return {**event, "scope": self.scope, **{key: value for key, value in optional.items() if value}}

    def _require_offer(self, request: OpenRequest) -> None:
        """Raise `NotOffered` if the request does not offer what the answer allows."""
        scopes = request.scopes
        if self.scope not in scopes:
            raise NotOffered(request.id, f"scope is {self.scope!r}", scopes)
        if self.arguments and self.scope != ONCE:
            raise NotOffered(request.id, "arguments are changed, which holds only once", [ONCE])
        if self.arguments and not can_edit(request.calls, self.arguments):
            asked = [call["id"] for call in request.calls if call["decision"] == "ask"]
            raise Refused(f"arguments must be objects by the ids of calls that are asked about: {', '.join(asked)}")
        if self.outside and not request.can_run_outside:
            raise NotOffered(request.id, "outside is True, and no command of it can run outside a sandbox", scopes)
        if self.outside and self.scope != ONCE:
            raise NotOffered(request.id, "outside is True, which holds only once", [ONCE])
