"""The thread machine: the statuses of a conversation, what changes them, and why a run begins.

The chart is shared with the browser, so every function here is short enough to have a twin in JavaScript.
A *status* is a state of this machine. It is not the `status` of an actor (`active`, `done`, `error`, `stopped`),
which says whether the actor still takes events: the actor of a failed thread is `active`.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args

from antiphon.chart.actions import Enqueue, assign, emit, enqueue_actions
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.scope import Scope
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart
from antiphon.threads.machine.content import is_key_missing
from antiphon.threads.machine.thread_events import (
    PUBLIC,
    Kind,
    Rename,
    RequestJson,
    ResumeReason,
    SetStatus,
    StartType,
    ThreadEvent,
    ThreadFields,
    ThreadInput,
    ThreadStatus,
    WaitingReason,
)
from antiphon.threads.machine.thread_requests import PROVIDER_ERROR, below, is_for_key, key_request, own_request
from antiphon.threads.machine.times import time_of

UNTITLED = "Untitled conversation"
STATUSES: tuple[ThreadStatus, ...] = get_args(ThreadStatus)
"""All statuses of a thread."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Names of the kinds of threads."""

# The note that a model gets before a message, by the reason why it runs again. An answer needs none.
RESUME_PREFIXES: Mapping[ResumeReason | None, str] = {
    None: "",
    "waiting-response": "",
    "follow-up": "",
    "interrupted": "[The session was interrupted before the last task was done. See how far it came, then go on.]\n\n",
    "post-merge": "[The work so far has been merged. Take the merged state as the starting point.]\n\n",
}
"""Note to the model before a message that resumes a thread, by the reason."""

_START_EVENTS: Mapping[ThreadStatus, StartType] = {
    "pending": "START",
    "running": "FOLLOW_UP",
    "waiting": "RESPOND",
    "completed": "FOLLOW_UP",
    "failed": "RESTART",
    "stopped": "RESTART",
    "interrupted": "RESTART",
}


class ResultInfo(TypedDict):
    """The end of a run."""

    status: Literal["completed", "failed"]
    cost: float
    duration: float
    error: NotRequired[Any]


class ThreadContext(TypedDict):
    """The run, the content and the bookkeeping of a thread."""

    threadId: str | None
    kind: Kind | None
    config: dict[str, Any]
    content: Kind | None
    runId: str | None
    runs: int
    resumeReason: ResumeReason | None
    merged: bool
    waitingReason: WaitingReason | None
    requests: list[RequestJson]
    waits: int
    processLost: bool
    permissionExpired: bool
    cost: float
    resultInfo: ResultInfo | None
    completedAt: int | None
    archived: bool
    title: str | None
    owner: str


class ThreadChanges(TypedDict, total=False):
    """The keys of the context that actions set."""

    content: Kind | None
    runId: str | None
    runs: int
    resumeReason: ResumeReason | None
    merged: bool
    waitingReason: WaitingReason | None
    requests: list[RequestJson]
    waits: int
    processLost: bool
    permissionExpired: bool
    cost: float
    resultInfo: ResultInfo | None
    completedAt: int | None
    archived: bool
    title: str | None


class StatusParams(TypedDict):
    """The status that a state or a transition stands for."""

    status: ThreadStatus


class ResultParams(TypedDict):
    """The status of a result."""

    status: Literal["completed", "failed"]


class ResumeParams(TypedDict):
    """The reason to run again, unless there was a merge."""

    reason: ResumeReason | None


class ArchivedParams(TypedDict):
    """The value of `archived` that an event sets."""

    archived: bool


_Enqueue = Enqueue[ThreadContext, ThreadEvent]


def start_event(status: ThreadStatus) -> StartType:
    """Return the type of the event that a person's message becomes for a thread of this status."""
    return _START_EVENTS[status]


def resume_note(text: str, reason: ResumeReason | None) -> str:
    """Return the note before a message; a command that begins with a slash gets none."""
    return "" if text.startswith("/") else RESUME_PREFIXES[reason]


def with_resume_note(text: str, reason: ResumeReason | None) -> str:
    """Return a message with its note, as the model gets it."""
    return resume_note(text, reason) + text


def first_context(input: Mapping[str, Any] | None = None) -> ThreadContext:
    """Return the context of a thread; the input may hold any of its keys."""
    values = input or {}
    return cast(ThreadContext, {key: values.get(key, default) for key, default in CHART["context"].items()})


def is_of_this_run(context: ThreadContext, event: ThreadFields) -> bool:
    """Return whether the event is about the current run, or names no run."""
    run_id = event.get("runId")
    return run_id is None or context["runId"] in (None, run_id)


def is_of_last_run(context: ThreadContext, event: ThreadFields) -> bool:
    """Return whether the event names the run that has ended."""
    run_id = event.get("runId")
    return run_id is not None and run_id == context["runId"]


def is_interruption(context: ThreadContext, event: ThreadFields) -> bool:
    """Return whether the error says that a process was lost."""
    error = event.get("error")
    code: object = error.get("code") if isinstance(error, Mapping) else getattr(error, "code", None)
    return code == "interrupted"


def _is_key_missing_in_this_run(context: ThreadContext, event: ThreadFields) -> bool:
    return is_key_missing(event.get("error")) and is_of_this_run(context, event)


def _is_interruption_of_this_run(context: ThreadContext, event: ThreadFields) -> bool:
    return is_interruption(context, event) and is_of_this_run(context, event)


def _is_interruption_of_last_run(context: ThreadContext, event: ThreadFields) -> bool:
    return is_interruption(context, event) and is_of_last_run(context, event)


def _is_confirmation(context: ThreadContext, event: ThreadFields) -> bool:
    return event.get("message") is None and is_of_this_run(context, event)


def _can_queue(context: ThreadContext, event: ThreadFields) -> bool:
    """Return whether the content takes a message while it is busy; by default it does not."""
    takes_messages = context["config"].get("onBusy", "reject") != "reject"
    return takes_messages and context["content"] is not None and event.get("message") is not None


def is_answer(context: ThreadContext, event: ThreadFields) -> bool:
    """Return whether an event continues a waiting thread: it answers a request to the thread itself, or has a message.

    A request of the content is answered at its own address, and the content reports that it goes on.
    """
    request_id = event.get("requestId")
    if request_id is not None:
        return any(request["id"] == request_id and not request["address"] for request in context["requests"])
    return context["content"] is None or event.get("message") is not None or bool(event.get("retry"))


def _is_status(context: ThreadContext, event: SetStatus, params: StatusParams) -> bool:
    return event.get("status") == params["status"]


def _is_title(context: ThreadContext, event: Rename) -> bool:
    return event.get("title") is None or isinstance(event["title"], str)


def _has_lost_process(context: ThreadContext) -> bool:
    return context["processLost"]


def _set_resume_reason(context: ThreadContext, event: ThreadFields, params: ResumeParams) -> ThreadChanges:
    is_merged = context["merged"] or event.get("postMerge")
    return {"resumeReason": "post-merge" if is_merged else params["reason"], "merged": False}


def _note_merge() -> ThreadChanges:
    return {"merged": True}


def _set_archived(context: ThreadContext, event: ThreadFields, params: ArchivedParams) -> ThreadChanges:
    return {"archived": params["archived"]}


def _rename(context: ThreadContext, event: Rename) -> ThreadChanges:
    return {"title": event.get("title") or None}


def _begin_run(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    return {"runId": event.get("runId") or f"run-{context['runs'] + 1}", "runs": context["runs"] + 1}


def _continue_run(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    run_id = event.get("runId") or context["runId"]
    return {"runId": run_id} if run_id else _begin_run(context, event)


def _confirm_run(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    return {"runId": context["runId"] or event.get("runId")}


def _set_result_info(context: ThreadContext, event: ThreadFields, params: ResultParams) -> ThreadChanges:
    result: ResultInfo = {
        "status": params["status"],
        "cost": _cost(context, event),
        "duration": event.get("duration") or 0,
    }
    error = event.get("error")
    if error is not None:
        result["error"] = _error_to_json(error)
    return {"resultInfo": result}


def _clear_result_info() -> ThreadChanges:
    return {"resultInfo": None, "completedAt": None}


def _note_end(context: ThreadContext, event: ThreadFields, *, scope: Scope) -> ThreadChanges:
    """Set the time of the end: reports of the content have none, and get that of their step."""
    return {"completedAt": time_of(event, scope)}


def _error_to_json(error: object) -> object:
    return {"name": type(error).__name__, "message": str(error)} if isinstance(error, BaseException) else error


def _update_cost(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    return {"cost": _cost(context, event)}


def _cost(context: ThreadContext, event: ThreadFields) -> float:
    cost = event.get("cost")
    return context["cost"] if cost is None else cost


def _set_waiting_reason(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    reason: WaitingReason | None = PROVIDER_ERROR if is_key_missing(event.get("error")) else event.get("reason")
    return {"waitingReason": reason or context["waitingReason"]}


def _set_requests(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    """Set the open requests; a report that names none is a request to the thread itself."""
    if is_key_missing(event.get("error")):
        return _request_key(context, event)
    if "requests" in event:
        return _keep_requests(context, event)
    number = context["waits"] + 1
    return {"requests": [own_request(number, context["waitingReason"])], "waits": number}


def _request_key(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    """Add the request for a key that is missing, with the error as its text."""
    number = context["waits"] + 1
    others = _keep_requests(context, event)["requests"]
    return {"requests": [*others, key_request(number, event.get("error"))], "waits": number}


def _keep_requests(context: ThreadContext, event: ThreadFields) -> ThreadChanges:
    """Set the open requests to those of the event, with addresses below the thread; those for keys stay open."""
    content = context["content"] or ""
    for_keys = [request for request in context["requests"] if is_for_key(request)]
    return {"requests": [*for_keys, *(below(content, request) for request in event.get("requests") or ())]}


def _clear_requests() -> ThreadChanges:
    return {"requests": []}


def _lose_process(context: ThreadContext) -> ThreadChanges:
    return {"processLost": True, "permissionExpired": context["waitingReason"] == "permission"}


def _clear_waiting() -> ThreadChanges:
    return {"waitingReason": None, "processLost": False, "permissionExpired": False}


def _status_event(context: ThreadContext, event: ThreadFields, params: StatusParams) -> dict[str, Any]:
    """Return the event that listeners get when a thread has another status."""
    return {
        "type": "status",
        "status": params["status"],
        "runId": context["runId"],
        "resumeReason": context["resumeReason"],
        "waitingReason": context["waitingReason"],
        "cost": context["cost"],
        "resultInfo": context["resultInfo"],
    }


def _start_content(context: ThreadContext, event: ThreadFields, enqueue: _Enqueue) -> None:
    kind = context["kind"]
    if kind is not None and context["content"] is None:
        input = {**context["config"], "threadId": context["threadId"], "reportsToParent": True}
        enqueue.spawn_child(kind, id=kind, input=input)
        started: ThreadChanges = {"content": kind}
        enqueue.assign(lambda: started)


def _tell_content(context: ThreadContext, event: ThreadFields, enqueue: _Enqueue) -> None:
    send_to_content(context, content_event(event), enqueue)


def send_to_content(context: ThreadContext, request: dict[str, object] | None, enqueue: _Enqueue) -> None:
    """Send a person's request to the content, with the run it belongs to."""
    if context["content"] is not None and request is not None:
        text = request.get("text")
        reason = context["resumeReason"]
        note = resume_note(text if isinstance(text, str) else "", reason)
        about_run = {"resumeReason": reason, "runId": context["runId"], "resumeNote": note}
        enqueue.send_to(context["content"], {**request, **about_run})


def content_event(event: ThreadFields) -> dict[str, object] | None:
    """Return the event for the content: a message, or a request to go on."""
    message = event.get("message")
    if message is not None:
        # The content itself refuses a message that is no object.
        return {**(message if isinstance(message, Mapping) else {"text": message}), "type": "message"}
    if event.get("retry"):
        return {"type": "retry"}
    return {"type": "resume"} if event["type"] == "RESTART" else None


def _cancel_content(context: ThreadContext, event: ThreadFields, enqueue: _Enqueue) -> None:
    if context["content"] is not None:
        enqueue.send_to(context["content"], {"type": "cancel", "runId": context["runId"]})


def _forget_content(context: ThreadContext, event: ThreadFields, enqueue: _Enqueue) -> None:
    # A child that has ended keeps its name until it is stopped; the next run needs the name.
    if context["content"] is not None:
        enqueue.stop_child(context["content"])
        enqueue.assign(_no_content)


def _no_content() -> ThreadChanges:
    return {"content": None}


CHART = load_chart(__name__)
_INERT = {"description": "Stands for a content until a composition provides one."}

# Each function takes the events that the chart gives it, so the setup itself takes any.
_threads = setup[ThreadContext, Any, ThreadStatus](
    guards={
        "isOfThisRun": is_of_this_run,
        "isOfLastRun": is_of_last_run,
        "isInterruption": is_interruption,
        "isKeyMissing": _is_key_missing_in_this_run,
        "isInterruptionOfThisRun": _is_interruption_of_this_run,
        "isInterruptionOfLastRun": _is_interruption_of_last_run,
        "isConfirmation": _is_confirmation,
        "canQueue": _can_queue,
        "isAnswer": is_answer,
        "isStatus": _is_status,
        "isTitle": _is_title,
        "hasLostProcess": _has_lost_process,
    },
    actions={
        "setResumeReason": assign(_set_resume_reason),
        "noteMerge": assign(_note_merge),
        "setArchived": assign(_set_archived),
        "rename": assign(_rename),
        "beginRun": assign(_begin_run),
        "continueRun": assign(_continue_run),
        "confirmRun": assign(_confirm_run),
        "updateCost": assign(_update_cost),
        "setResultInfo": assign(_set_result_info),
        "clearResultInfo": assign(_clear_result_info),
        "noteEnd": assign(_note_end),
        "setWaitingReason": assign(_set_waiting_reason),
        "setRequests": assign(_set_requests),
        "keepRequests": assign(_keep_requests),
        "clearRequests": assign(_clear_requests),
        "loseProcess": assign(_lose_process),
        "clearWaiting": assign(_clear_waiting),
        "tellStatus": emit(_status_event),
        "startContent": enqueue_actions(_start_content),
        "tellContent": enqueue_actions(_tell_content),
        "cancelContent": enqueue_actions(_cancel_content),
        "forgetContent": enqueue_actions(_forget_content),
    },
    actors={kind: create_machine({"id": kind, **_INERT}) for kind in KINDS},
    events=ThreadEvent,
    public=PUBLIC,
    input=ThreadInput,
)
thread_machine: Machine[ThreadContext, ThreadEvent, ThreadStatus] = _threads.create_machine(
    {**CHART, "context": first_context}
)
"""Machine of the status of a thread."""
