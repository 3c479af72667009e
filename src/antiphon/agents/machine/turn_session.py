"""The session of a turn: it begins with the first request, and with every model that is asked instead of another."""

from antiphon.agents.machine.agent_types import AgentContext, AgentUpdate, ChildFailed
from antiphon.agents.machine.results import Json, add_usage, error_of
from antiphon.agents.machine.sessions import fallback_to, session_with
from antiphon.agents.machine.sessions import next_model as next_untried
from antiphon.agents.machine.tool_calls import AgentEnqueue


def begin_session(context: AgentContext, enqueue: AgentEnqueue) -> None:
    """Begin a session with the model, if there is none, and tell the parent."""
    model = context["model"]
    if context["session"] is None and context["sessionId"] and model is not None:
        session = session_with(model, context["models"], context["sessionId"])
        enqueue.assign(AgentUpdate(session=session))
        facts: Json = {"name": context["sessionName"], "session": session}
        enqueue.send_parent({"type": "AGENT_SESSION", "agentId": context["agentId"], **facts})


def next_model(context: AgentContext, event: ChildFailed) -> str | None:
    """Return the model to ask after an error, or None; without budget, none is asked."""
    budget = context["budgetUsd"]
    if budget is not None and context["costUsd"] + (event.get("costUsd") or 0) >= budget:
        return None
    tried = [*context["tried"], context["model"] or ""]
    return next_untried(context["models"], tried, error_of(event.get("error")))


def has_fallback(context: AgentContext, event: ChildFailed) -> bool:
    """Return whether another model can be asked."""
    return next_model(context, event) is not None


def fall_back(context: AgentContext, event: ChildFailed, enqueue: AgentEnqueue) -> None:
    """Choose the next model, charge what the failed one has cost, and tell the parent."""
    model = next_model(context, event)
    before = context["model"]
    assert model is not None
    assert before is not None
    fallback = fallback_to(model, before, error_of(event.get("error")))
    enqueue.assign(
        AgentUpdate(
            model=model,
            tried=[*context["tried"], before],
            session=None,
            fallbacks=[*context["fallbacks"], fallback],
            usage=add_usage(context["usage"], event.get("usage")),
            costUsd=context["costUsd"] + (event.get("costUsd") or 0),
        )
    )
    facts: Json = {"name": context["sessionName"], "fallback": fallback}
    enqueue.send_parent({"type": "AGENT_FALLBACK", "agentId": context["agentId"], **facts})
