"""Provider sessions of a run: one for each agent and model, and the models to fall back to.

1. A session is a value in the context, `{id, model}`. The request that first names it opens it, at the edge.
2. A model is given up for this turn when its error is not worth another attempt, or its attempts are used up. Then the
   next model that was not tried in this turn is asked, in a session of its own.
3. Sessions end with their run: the machine drops the values, and the effect `cleanupSession` releases what they hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from antiphon.agents.machine.context import OrchestratorContext, OrchestratorEnqueue, OrchestratorUpdate
from antiphon.agents.machine.decisions import MAPPING
from antiphon.agents.machine.events import FellBack, SessionOpened
from antiphon.agents.machine.log import line, write_line
from antiphon.agents.machine.results import LOST, Fallback, Json, ModelSession, RunError
from antiphon.chart.actions import BoundAction, enqueue_actions
from antiphon.errors import Code

ARBITER = "@arbiter"  # no agent can have this name
FALLBACKS = ("AGENT_FALLBACK", "ARBITER_FALLBACK")
# Another model would be refused in the same way: the limit is that of the owner of the thread.
SAME_FOR_ALL = (Code.OWNER_LIMIT.value, *LOST)


class SessionInput(TypedDict):
    """What an agent or the arbiter needs to know of its session; `models` begins with the preferred one."""

    models: list[str]
    session: ModelSession | None
    sessionId: str
    sessionName: str


def session_input(
    context: OrchestratorContext, name: str, model: str | None, fallback: Sequence[str] | None
) -> SessionInput:
    """Return the session of an agent or of the arbiter, if it has one, and the models that it may have."""
    others = context["fallback"] if fallback is None else fallback
    models = list(dict.fromkeys([model, *others])) if model is not None else []
    session = context["sessions"].get(name)
    return {
        "models": [reference for reference in models if reference is not None],
        "session": session if session is not None and session["model"] in models else None,
        "sessionId": f"{context['threadId'] or 'run'}-{context['runId'] or 'run'}-{name}",
        "sessionName": name,
    }


def session_with(model: str, models: Sequence[str], session_id: str) -> ModelSession:
    """Return the session of a model; its id is the same whenever the model is asked again."""
    place = models.index(model) if model in models else 0
    return {"id": f"{session_id}-{place}" if place else session_id, "model": model}


def next_model(models: Sequence[str], tried: Sequence[str], error: RunError) -> str | None:
    """Return the model to ask after an error, or None if there is none, or if it would fail in the same way."""
    if error["code"] in SAME_FOR_ALL:
        return None
    return next((model for model in models if model not in tried), None)


def fallback_to(model: str, before: str, error: RunError) -> Fallback:
    """Return the record of a fallback: both models, and the error of the first."""
    return {"from": before, "to": model, "code": error["code"], "message": error["message"]}


def owner_of(name: str) -> str:
    """Return who has a session, for people."""
    return "The arbiter" if name == ARBITER else f"Agent '{name}'"


def keep_session(context: OrchestratorContext, event: SessionOpened, enqueue: OrchestratorEnqueue) -> None:
    """Keep a session that is opened by its first request; it is the active one, unless the caller gave another."""
    session = event["session"]
    name = event["name"]
    is_own = context["session"] is None or context["session"] in context["sessions"].values()
    enqueue.assign(
        OrchestratorUpdate(
            sessions={**context["sessions"], name: session}, session=session if is_own else context["session"]
        )
    )
    text = f"{owner_of(name)} opens a session with {session['model']}"
    write_line(context, enqueue, line("session_opened", text, name=name, session=session))


def fall_back(context: OrchestratorContext, event: FellBack, enqueue: OrchestratorEnqueue) -> None:
    """Report which model is asked instead of another, and why."""
    name = event["name"]
    fallback = event["fallback"]
    text = f"{owner_of(name)} falls back from {fallback['from']} to {fallback['to']}: {fallback['message']}"
    write_line(context, enqueue, line("fell_back", text, "warning", name=name, **fallback))


def closing_sessions(context: OrchestratorContext, event: Mapping[str, object]) -> list[object]:
    """Return the sessions that an event closes: that of a model that was given up, or all.

    A session that the caller gave stays through RESET, as settings do, and is closed at the end.
    """
    sessions: list[object] = list(context["sessions"].values())
    if event["type"] in FALLBACKS:
        session = context["sessions"].get(str(event["name"]))
        return [] if session is None else [session]
    given = context["session"]
    is_other = given is not None and given not in sessions
    return [*sessions, given] if is_other and event["type"] != "RESET" else sessions


def drop_sessions(context: OrchestratorContext, event: Mapping[str, object], enqueue: OrchestratorEnqueue) -> None:
    """Forget the sessions that an event closes, and report each."""
    closing = closing_sessions(context, event)
    for session in closing:
        facts: Json = {"session": session} if isinstance(session, MAPPING) else {}
        enqueue.emit({"type": "session_closed", **facts})
    if closing:
        rest = {name: session for name, session in context["sessions"].items() if session not in closing}
        given = None if context["session"] in closing else context["session"]
        enqueue.assign(OrchestratorUpdate(session=given, sessions=rest))


def leave_open(context: OrchestratorContext, event: Mapping[str, object], enqueue: OrchestratorEnqueue) -> None:
    """Do nothing: a machine that is driven by hand has no provider, unless its program provides `cleanupSession`."""


ACTIONS: dict[str, BoundAction[OrchestratorContext, Any]] = {
    "keepSession": enqueue_actions(keep_session),
    "fallBack": enqueue_actions(fall_back),
    # A composition provides the effect that releases what sessions hold.
    "cleanupSession": enqueue_actions(leave_open),
    "dropSessions": enqueue_actions(drop_sessions),
}
