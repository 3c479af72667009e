"""Addresses of sessions: the targets of `send`, resolved to actors."""

from typing import Any, NamedTuple

from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.steps import STOP
from antiphon.chart.work import Work
from antiphon.scxml.errors import ContentError
from antiphon.scxml.events import HTTP_PROCESSOR, PROCESSOR

PARENT = "#_parent"
SELF = "#_internal"  # the engine's name for the actor itself
SESSION = "#_scxml_"


class Address(NamedTuple):
    """A target of `send`, and the actor that it leads to now, if any."""

    target: str | None
    actor: Any
    is_own: bool = False
    is_late: bool = False  # the sessions around are being created, so that it is resolved after that
    invokeid: str | None = None  # of the sender, for its parent


def find_address(work: Work, target: str | None) -> Address:
    """Return the address of a target; raise `ContentError` if it is not one."""
    if target is None or target == own_location(work.context):
        return Address(target, SELF, True)
    if target == PARENT:
        return _parent_address(work)
    if target.startswith(SESSION):
        return _session_address(work, target)
    if target.startswith("#_"):
        ref = work.children.get(target.removeprefix("#_"))
        return Address(target, None if ref is None or is_ended(ref) else ref)
    raise ContentError("error.execution", f"not a target: {target!r}; write #_parent, #_scxml_SESSION or #_INVOKEID")


def own_location(context: Any, processor: str = PROCESSOR) -> str:
    """Return the location of the session of a context, for an event processor."""
    id = context["session"]["id"]
    return f"http://localhost/{id}" if processor == HTTP_PROCESSOR else f"{SESSION}{id}"


def system_variables(context: Any) -> dict[str, Any]:
    """Return the system variables of the session of a context."""
    session = context["session"]
    scxml = {"location": own_location(context)}
    http = {"location": own_location(context, HTTP_PROCESSOR)}
    processors = {PROCESSOR: scxml, "scxml": scxml, HTTP_PROCESSOR: http, "basichttp": http}
    return {"_sessionid": session["id"], "_name": session["name"], "_ioprocessors": processors, "_x": {}}


def is_ended(ref: ActorRef) -> bool:
    """Return whether a child has ended; in a pure step that is not known."""
    return ref.actor is not None and ref.actor.is_stopped


def _parent_address(work: Work) -> Address:
    # The parent of a session that it cancels does not hear from it any more.
    is_reachable = work.may_have_parent and (work.event is None or work.event["type"] != STOP)
    invokeid = None if work.actor is None else work.actor.id
    return Address(PARENT, PARENT if is_reachable else None, invokeid=invokeid)


def _session_address(work: Work, target: str) -> Address:
    if work.actor is None:
        return Address(target, target)  # only an actor system knows its sessions
    root = work.actor.system.root
    is_created = root is work.actor or hasattr(root, "snapshot")
    return Address(target, _find_session(root, target.removeprefix(SESSION)), is_late=not is_created)


def _find_session(actor: Any, id: str) -> Any:
    snapshot = getattr(actor, "snapshot", None)  # an actor that is being created has none yet
    if not isinstance(snapshot, Snapshot) or actor.is_stopped:
        return None
    session = snapshot.live_context.get("session")
    if isinstance(session, dict) and session.get("id") == id:
        return actor
    for ref in snapshot.children.values():
        session_actor = None if ref is None or ref.actor is None else _find_session(ref.actor, id)
        if session_actor is not None:
            return session_actor
    return None
