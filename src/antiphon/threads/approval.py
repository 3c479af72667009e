"""Approval of tool calls by a function, before or instead of a person.

1. The function sees the calls that the rules leave to a person, one at a time; one refusal refuses them all.
2. Only True allows. An error, or any value that is not expected, denies.
3. None leaves the question to a person, as if there were no function.
4. The request is a task that may be repeated: after a crash the function is asked again.
5. The settings of a thread say that it has an approver, and not the process: steps must be the same when replayed.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.threads.activity import parse_input
from antiphon.threads.machine.tools import APPROVER
from antiphon.threads.roles import call_role

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """Tool call that needs approval; `text` is the call as a person would see it, `reason` why it is asked.

    `call` has everything that a person is shown: the kind of the call, the diff of a file, the protected paths and the
    hosts that it needs, and the access that an allowance gives.
    """

    name: str
    arguments: Mapping[str, Any]
    risk: str
    text: str
    reason: str = ""
    call: Mapping[str, Any] = field(default_factory=dict, compare=False)


Approval = bool | str | None
"""Answer of an approver: True allows, False denies, a text denies with this reason, None asks a person."""
Approver = Callable[[ApprovalRequest], Approval | Awaitable[Approval]]
"""Function that approves tool calls, async or not."""


def consent_with_approver(consent: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return consent settings that leave questions to the approver."""
    return {"mode": "ask", **(consent or {}), APPROVER: True}


def ask_approver(approver: Approver | None) -> AsyncLogic:
    """Return the logic for `approver`; without a function, threads that have an approver ask a person."""

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        request: Mapping[str, Any] = input["request"]
        answer = None if approver is None else await _decide(approver, request["calls"])
        return {"request": request, "answer": answer}

    return from_task(run, safety="repeat")


async def _decide(approver: Approver, calls: Sequence[Mapping[str, Any]]) -> Approval:
    """Return True, the reason of the first refusal, or None if a person must decide."""
    decision: Approval = True
    for call in calls:
        if call["decision"] == "ask":
            answer = await _ask(approver, call)
            if isinstance(answer, str):
                return answer
            decision = decision and answer
    return decision


async def _ask(approver: Approver, call: Mapping[str, Any]) -> Approval:
    arguments = parse_input(call["arguments"])
    if not isinstance(arguments, Mapping):
        return f"the arguments of {call['name']} are not a JSON object"
    try:
        request = ApprovalRequest(call["name"], arguments, call["risk"], call["text"], call["reason"], call)
        answer = await call_role(approver, request)
    except Exception as error:
        log.warning("the approver failed for %s", call["text"], exc_info=True)
        return f"the approver failed: {type(error).__name__}: {error}"
    if answer is False:
        return f"the approver denied {call['text']}"
    if answer is None or answer is True or isinstance(answer, str):
        return answer
    return f"the approver returned {answer!r}; expected True, False, a text or None"
