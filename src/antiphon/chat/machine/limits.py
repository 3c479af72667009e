"""The limits of a chat: tool rounds, cost and wall time, of each message and of the whole thread.

1. Limits are checked before more is spent: tool rounds before tools are called, cost and time before a model is asked.
2. At a limit the reply waits for a person, who raises the limit or ends the turn.
3. A limit of a message that was raised holds until the next message, one of the thread as long as the thread.
4. A chat of version 1 has no budget until it is migrated, and nothing is counted in it.
5. Wall time is the time in which models and tools work. It is counted by the times of events, and a timer ends a reply
   that takes longer; the time in which a person is asked does not count.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

from antiphon.chart.actions import Enqueue
from antiphon.chat.machine.context import Budget, FlowContext, LimitName, PendingReply, Scope, Spent, new_spent
from antiphon.threads.machine.thread_events import RequestJson

Resource = Literal["toolRounds", "costUsd", "wallMs"]
_Enqueue = Enqueue[FlowContext, Any]

LIMITS: Mapping[LimitName, tuple[Scope, Resource]] = {
    "maxToolRounds": ("message", "toolRounds"),
    "maxThreadToolRounds": ("thread", "toolRounds"),
    "maxCostUsd": ("message", "costUsd"),
    "maxThreadCostUsd": ("thread", "costUsd"),
    "maxWallMs": ("message", "wallMs"),
    "maxThreadWallMs": ("thread", "wallMs"),
}
"""The scope of each limit, and what it limits."""
UNITS: Mapping[Resource, str] = {"toolRounds": "tool rounds", "costUsd": "USD", "wallMs": "ms"}
SCOPES: tuple[Scope, ...] = ("message", "thread")
WALL_TIME = "wallTime"


def limit_of(context: FlowContext, name: LimitName) -> float | None:
    """Return a limit: as a person raised it, or as the settings have it."""
    return context["budget"]["raised"].get(name, context["config"][name])


def spent_of(context: FlowContext, name: LimitName) -> float:
    """Return how much was spent of what a limit limits."""
    scope, resource = LIMITS[name]
    return context["budget"][scope][resource]


def is_reached(context: FlowContext, name: LimitName) -> bool:
    """Return whether a limit is reached."""
    limit = limit_of(context, name)
    return limit is not None and spent_of(context, name) >= limit


def reached_limit(context: FlowContext) -> LimitName | None:
    """Return the limit that keeps the reply from going on, or None."""
    reply = context["reply"]
    if reply is None or reply["waiting"]:
        return None
    if reply["phase"] == "tools":
        names = [] if reply["called"] else _limits_on("toolRounds")
    else:
        names = [*_limits_on("costUsd"), *_limits_on("wallMs")] if reply["phase"] == "wanted" else []
    return next((name for name in names if is_reached(context, name)), None)


def reached_spending(context: FlowContext) -> LimitName | None:
    """Return the limit of cost or time that keeps a model from being asked, or None."""
    names = [*_limits_on("costUsd"), *_limits_on("wallMs")]
    return next((name for name in names if is_reached(context, name)), None)


def _limits_on(resource: Resource) -> list[LimitName]:
    return [name for name, (_, limited) in LIMITS.items() if limited == resource]


def is_at_limit(context: FlowContext) -> bool:
    """Return whether a person must be asked before the reply goes on."""
    return reached_limit(context) is not None


def is_limit_raised(context: FlowContext) -> bool:
    """Return whether the limit that the reply waits at is not reached any more."""
    reply = context["reply"]
    name = reply.get("limit") if reply is not None and reply["waiting"] else None
    return name is not None and not is_reached(context, name)


def wait_at_limit(context: FlowContext) -> FlowContext:
    """Record the limit at which the reply waits for a person, and the request to that person."""
    name = reached_limit(context)
    reply = context["reply"]
    assert reply is not None
    assert name is not None
    asked = context["budget"]["asked"] + 1
    waiting: PendingReply = {**reply, "limit": name, "waiting": True, "request": _request(context, name, asked)}
    return {**context, "reply": waiting, "budget": {**context["budget"], "asked": asked}}


def _request(context: FlowContext, name: LimitName, number: int) -> RequestJson:
    facts = {**limit_facts(context, name), "next": next_limit(context, name)}
    question = describe_limit(context, name)
    return {"id": f"limit-{number}", "address": "", "reason": "limit", "question": question, "limit": facts}


def leave_limit(context: FlowContext) -> FlowContext:
    """Record that the reply does not wait at its limit any more."""
    assert context["reply"] is not None
    reply: PendingReply = {**context["reply"], "limit": None, "waiting": False, "request": None}
    return {**context, "reply": reply}


def next_limit(context: FlowContext, name: LimitName) -> float:
    """Return the limit that a person is offered: the smallest multiple of the setting above the spending."""
    step = context["config"][name]
    spent = spent_of(context, name)
    return step * (spent // step + 1) if step else spent + 1


def raise_limit(context: FlowContext, name: LimitName, limit: float | None = None) -> FlowContext:
    """Raise a limit, by default to the next one; there may be another warning about it."""
    budget = context["budget"]
    raised = {**budget["raised"], name: next_limit(context, name) if limit is None else limit}
    warned = [other for other in budget["warned"] if other != name]
    return {**context, "budget": {**budget, "raised": raised, "warned": warned}}


def forget_raised(context: FlowContext, names: list[LimitName]) -> FlowContext:
    """Let the settings hold again for some limits, with another warning about each."""
    if "budget" not in context:
        return context
    budget = context["budget"]
    raised = {name: limit for name, limit in budget["raised"].items() if name not in names}
    warned = [name for name in budget["warned"] if name not in names]
    return {**context, "budget": {**budget, "raised": raised, "warned": warned}}


def begin_message(context: FlowContext, at: int | None) -> FlowContext:
    """Begin to count for another message, with the limits of the settings."""
    if "budget" not in context:
        return context
    context = forget_raised(context, [name for name, (scope, _) in LIMITS.items() if scope == "message"])
    return {**context, "budget": {**context["budget"], "message": new_spent(), "since": at}}


def continue_at(context: FlowContext, at: int | None) -> FlowContext:
    """Count time from here on; the time before, in which a person was asked, does not count."""
    return context if "budget" not in context else {**context, "budget": {**context["budget"], "since": at}}


def count_time(context: FlowContext, at: int | None, duration_ms: float = 0) -> FlowContext:
    """Count the time up to the time of an event, or else the duration that it reports."""
    if "budget" not in context:
        return context
    since = context["budget"]["since"]
    if at is None:
        context = add_spent(context, "wallMs", duration_ms)
        return context if since is None else continue_at(context, int(since + duration_ms))
    elapsed_ms = 0 if since is None else max(0, at - since)
    return continue_at(add_spent(context, "wallMs", elapsed_ms), at)


def add_spent(context: FlowContext, resource: Resource, amount: float) -> FlowContext:
    """Add to the spending of the message and of the thread."""
    if "budget" not in context:
        return context
    budget = context["budget"]
    message = _add(budget["message"], resource, amount)
    thread = _add(budget["thread"], resource, amount)
    return {**context, "budget": {**budget, "message": message, "thread": thread}}


def _add(spent: Spent, resource: Resource, amount: float) -> Spent:
    return cast(Spent, {**spent, resource: spent[resource] + amount})


def unwarned_limit(context: FlowContext) -> LimitName | None:
    """Return the first limit that is almost reached, without a warning about it so far; or None."""
    warned = context["budget"]["warned"]
    return next((name for name in LIMITS if name not in warned and _is_almost_reached(context, name)), None)


def _is_almost_reached(context: FlowContext, name: LimitName) -> bool:
    limit = limit_of(context, name)
    return limit is not None and context["config"]["warnAt"] * limit <= spent_of(context, name) < limit


def must_warn(context: FlowContext) -> bool:
    """Return whether a limit is almost reached, without a warning about it so far."""
    return unwarned_limit(context) is not None


def note_warning(context: FlowContext) -> FlowContext:
    """Record that there is a warning about a limit."""
    name = unwarned_limit(context)
    assert name is not None
    budget = context["budget"]
    return {**context, "budget": {**budget, "warned": [*budget["warned"], name]}}


def limit_facts(context: FlowContext, name: LimitName) -> dict[str, object]:
    """Return the name and the value of a limit, and the spending."""
    return {"limit": name, "value": limit_of(context, name), "spent": spent_of(context, name)}


def reached_facts(context: FlowContext) -> dict[str, object]:
    """Return the limit that the reply waits at, with the id and the address of the request."""
    reply = context["reply"]
    request = reply.get("request") if reply is not None else None
    assert request is not None
    return {"id": request["id"], "address": request["address"], **request["limit"]}


def describe_limit(context: FlowContext, name: LimitName) -> str:
    """Format a limit that is reached as a sentence without a full stop."""
    scope, resource = LIMITS[name]
    limit = limit_of(context, name)
    assert limit is not None
    return f"the limit of {format_number(limit)} {UNITS[resource]} for this {scope} is reached ({name})"


def format_number(value: float) -> str:
    """Format a number, a whole one without a decimal point."""
    return str(int(value) if value == int(value) else value)


def is_cost_reached(context: FlowContext) -> bool:
    """Return whether a limit of cost is reached."""
    return any(is_reached(context, name) for name in _limits_on("costUsd"))


def remaining_cost(context: FlowContext) -> float | None:
    """Return what the next reply may cost, or None without a limit."""
    return _remaining(context, "costUsd") if "budget" in context else None


def _remaining(context: FlowContext, resource: Resource) -> float | None:
    remaining = [
        limit - spent_of(context, name)
        for name in _limits_on(resource)
        if (limit := limit_of(context, name)) is not None
    ]
    return min(remaining) if remaining else None


def _is_working(context: FlowContext) -> bool:
    return context["reply"] is not None and not context["reply"]["waiting"]


def must_arm_wall_time(context: FlowContext) -> bool:
    """Return whether the time of a reply is limited and no timer is set."""
    remaining_ms = _remaining(context, "wallMs")
    return _is_working(context) and not context["budget"]["timer"] and remaining_ms is not None and remaining_ms > 0


def must_disarm_wall_time(context: FlowContext) -> bool:
    """Return whether the timer is set though nothing is at work."""
    return context["budget"]["timer"] is not None and not _is_working(context)


def arm_wall_time(context: FlowContext, event: Mapping[str, Any], enqueue: _Enqueue) -> None:
    """Set the timer to the end of the time that is left."""
    budget = context["budget"]
    delay_ms = _remaining(context, "wallMs")
    assert delay_ms is not None
    armed: Budget = {**budget, "timer": {scope: budget[scope]["wallMs"] + delay_ms for scope in SCOPES}}
    enqueue.assign(lambda: {"budget": armed})
    enqueue.raise_({"type": "wall_time"}, delay=delay_ms, id=WALL_TIME)


def disarm_wall_time(context: FlowContext, event: Mapping[str, Any], enqueue: _Enqueue) -> None:
    """Cancel the timer."""
    disarmed: Budget = {**context["budget"], "timer": None}
    enqueue.assign(lambda: {"budget": disarmed})
    enqueue.cancel(WALL_TIME)


def is_timed(context: FlowContext) -> bool:
    """Return whether the timer is set."""
    return context["budget"]["timer"] is not None


def note_wall_time(context: FlowContext) -> FlowContext:
    """Count the time that is over."""
    budget = context["budget"]
    timer = budget["timer"]
    assert timer is not None

    def until(scope: Scope) -> Spent:
        return {**budget[scope], "wallMs": max(budget[scope]["wallMs"], timer[scope])}

    # The time of this moment is not known, so time is counted again from the next event that has one.
    counted: Budget = {**budget, "message": until("message"), "thread": until("thread"), "since": None, "timer": None}
    return {**context, "budget": counted}


def cut_at_limit(context: FlowContext, event: Mapping[str, Any], enqueue: _Enqueue) -> None:
    """Ask a reply in flight to end; tools run to their end, because their effects are real."""
    reply = context["reply"]
    # A limit that was raised since the timer was set is not reached; the timer is set again.
    name = next((name for name in _limits_on("wallMs") if is_reached(context, name)), None)
    if reply is not None and reply["phase"] == "replying" and reply["cut"] is None and name is not None:
        cut: PendingReply = {**reply, "cut": "keep", "limit": name}
        enqueue.assign(lambda: {"reply": cut})
        enqueue.send_to("reply", {"type": "CANCEL", "requestId": reply["requestId"]})
