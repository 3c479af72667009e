"""The thread machine: which statuses a conversation has, what changes them, and why a run begins.

The chart is shared with the browser, so every function here is a line or two that JavaScript can have as well.
A *status* is a state of this machine. It is not the `status` of an actor (`active`, `done`, `error`, `stopped`),
which says whether the actor still takes events: the actor of a failed thread is `active`.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args

from antiphon.chart.actions import Enqueue, assign, emit, enqueue_actions
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.setup import setup
from antiphon.threads.machine.charts import load_chart

ThreadStatus = Literal["pending", "running", "waiting", "completed", "failed", "stopped", "interrupted"]
"""Status of a thread."""
ResumeReason = Literal["interrupted", "waiting-response", "post-merge", "follow-up"]
WaitingReason = Literal["question", "plan", "permission", "provider_error", "cost_warning"]
Kind = Literal["chat", "run", "debate"]
StartType = Literal["START", "RESTART", "RESPOND", "FOLLOW_UP"]

UNTITLED = "Untitled conversation"
STATUSES: tuple[ThreadStatus, ...] = get_args(ThreadStatus)
"""All statuses of a thread."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Names of the kinds of threads."""

# What a model is told before a message, by the reason why it runs again. An answer needs no introduction.
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
    """How a run ended."""

    status: Literal["completed", "failed"]
    cost: float
    duration: float
    error: NotRequired[Any]


class ThreadContext(TypedDict):
    """What a thread knows."""

    threadId: str | None
    kind: Kind | None
    config: dict[str, Any]
    content: Kind | None
    runId: str | None
    runs: int
    resumeReason: ResumeReason | None
    merged: bool
    waitingReason: WaitingReason | None
    processLost: bool
    permissionExpired: bool
    cost: float
    resultInfo: ResultInfo | None
    completedAt: int | None
    archived: bool
    title: str | None


class Begin(TypedDict):
    """Somebody wants the thread to run."""

    type: StartType
    runId: NotRequired[str]
    message: NotRequired[Mapping[str, Any]]
    answer: NotRequired[Mapping[str, Any]]
    retry: NotRequired[bool]
    postMerge: NotRequired[bool]
    at: NotRequired[int]


class Report(TypedDict):
    """A run has ended, waits, was stopped or was lost."""

    type: Literal["COMPLETE", "FAIL", "WAIT", "STOP", "INTERRUPT"]
    runId: NotRequired[str | None]
    cost: NotRequired[float]
    duration: NotRequired[float]
    error: NotRequired[Any]
    reason: NotRequired[WaitingReason]
    at: NotRequired[int]


class SetStatus(TypedDict):
    """A status as somebody else knows it."""

    type: Literal["SET_STATUS"]
    status: ThreadStatus
    reason: NotRequired[WaitingReason]
    at: NotRequired[int]


class Merged(TypedDict):
    """The work of the thread was merged."""

    type: Literal["MERGED"]


class Shelve(TypedDict):
    """The thread is put away, or taken out again; its status stays what it is."""

    type: Literal["ARCHIVE", "UNARCHIVE"]


class Rename(TypedDict):
    """The thread is called something else; without a title, by its words again."""

    type: Literal["RENAME"]
    title: str | None


ThreadEvent = Begin | Report | SetStatus | Merged | Shelve | Rename
"""Event of the thread machine."""
_Event = Mapping[str, Any]  # a function may see the events of children too


def start_event(status: ThreadStatus) -> StartType:
    """The event that a person's message is, to a thread of this status."""
    return _START_EVENTS[status]


def resume_note(text: str, reason: ResumeReason | None) -> str:
    """What a model is told before a message; a command that begins with a slash goes as it is."""
    return "" if text.startswith("/") else RESUME_PREFIXES[reason]


def with_resume_note(text: str, reason: ResumeReason | None) -> str:
    """A message as the model gets it."""
    return resume_note(text, reason) + text


def first_context(input: Mapping[str, Any] | None = None) -> ThreadContext:
    """The context of a thread, from what is known of it: any of its keys."""
    given = input or {}
    return cast(ThreadContext, {key: given.get(key, first) for key, first in CHART["context"].items()})


def is_of_this_run(context: ThreadContext, event: _Event) -> bool:
    """Whether the event is about the current run, or does not say which it is about."""
    return event.get("runId") is None or context["runId"] in (None, event["runId"])


def is_of_last_run(context: ThreadContext, event: _Event) -> bool:
    """Whether the event says that it is about the run that has ended."""
    return event.get("runId") is not None and event["runId"] == context["runId"]


def is_interruption(context: ThreadContext, event: _Event) -> bool:
    """Whether the error is that a process was lost."""
    error = event.get("error")
    code = error.get("code") if isinstance(error, Mapping) else getattr(error, "code", None)
    return code == "interrupted"


def _is_confirmation(context: ThreadContext, event: _Event) -> bool:
    return event.get("message") is None and is_of_this_run(context, event)


def _can_queue(context: ThreadContext, event: _Event) -> bool:
    """Whether the content takes a message while it is busy: by default it takes none."""
    takes = context["config"].get("onBusy", "reject") != "reject"
    return takes and context["content"] is not None and event.get("message") is not None


def _is_status(context: ThreadContext, event: _Event, params: Mapping[str, str]) -> bool:
    return event.get("status") == params["status"]


def _is_title(context: ThreadContext, event: _Event) -> bool:
    return event.get("title") is None or isinstance(event["title"], str)


def _resume_reason(context: ThreadContext, event: _Event, params: Mapping[str, Any]) -> Any:
    return "post-merge" if context["merged"] or event.get("postMerge") else params["reason"]


def _run_id(context: ThreadContext, event: _Event) -> str:
    return event.get("runId") or f"run-{context['runs'] + 1}"


def _begin_run(context: ThreadContext, event: _Event) -> dict[str, Any]:
    return {"runId": _run_id(context, event), "runs": context["runs"] + 1}


def _continue_run(context: ThreadContext, event: _Event) -> dict[str, Any]:
    known = event.get("runId") or context["runId"]
    return {"runId": known} if known else _begin_run(context, event)


def _result_info(context: ThreadContext, event: _Event, params: Mapping[str, Any]) -> dict[str, Any]:
    cost = event.get("cost")
    info = {
        "status": params["status"],
        "cost": context["cost"] if cost is None else cost,
        "duration": event.get("duration") or 0,
    }
    error = event.get("error")
    return info if error is None else {**info, "error": _plain(error)}


def _plain(error: Any) -> Any:
    """An error as JSON holds it."""
    return {"name": type(error).__name__, "message": str(error)} if isinstance(error, BaseException) else error


def _cost(context: ThreadContext, event: _Event) -> float:
    cost: float | None = event.get("cost")
    return context["cost"] if cost is None else cost


def _status_told(context: ThreadContext, event: _Event, params: Mapping[str, Any]) -> dict[str, Any]:
    """What listeners hear whenever a thread has another status."""
    told = ("runId", "resumeReason", "waitingReason", "cost", "resultInfo")
    return {"type": "status", **params, **{key: value for key, value in context.items() if key in told}}


def _start_content(context: ThreadContext, event: _Event, enqueue: Enqueue[Any, Any]) -> None:
    kind = context["kind"]
    if kind is not None and context["content"] is None:
        known = {**context["config"], "threadId": context["threadId"], "reportsToParent": True}
        enqueue.spawn_child(kind, id=kind, input=known)
        enqueue.assign({"content": kind})


def _tell_content(context: ThreadContext, event: _Event, enqueue: Enqueue[Any, Any]) -> None:
    told = _told(event)
    if context["content"] is not None and told is not None:
        text, reason = told.get("text"), context["resumeReason"]
        note = resume_note(text if isinstance(text, str) else "", reason)
        about = {"resumeReason": reason, "runId": context["runId"], "resumeNote": note}
        enqueue.send_to(context["content"], {**told, **about})


def _told(event: _Event) -> dict[str, Any] | None:
    """What a start event has for the content: a message, an answer, or the wish to go on."""
    for key in ("message", "answer"):
        given = event.get(key)
        if given is not None:
            # What is no object is the content's to refuse.
            return {**(given if isinstance(given, Mapping) else {"text": given}), "type": key}
    if event.get("retry"):
        return {"type": "retry"}
    return {"type": "resume"} if event["type"] == "RESTART" else None


def _cancel_content(context: ThreadContext, event: _Event, enqueue: Enqueue[Any, Any]) -> None:
    if context["content"] is not None:
        enqueue.send_to(context["content"], {"type": "cancel", "runId": context["runId"]})


def _forget_content(context: ThreadContext, event: _Event, enqueue: Enqueue[Any, Any]) -> None:
    # A child that has ended keeps its name until it is let go; the next run needs the name.
    if context["content"] is not None:
        enqueue.stop_child(context["content"])
        enqueue.assign({"content": None})


CHART = load_chart(__name__)
_INERT = {"description": "Stands for a content until a composition provides one."}

_threads = setup[ThreadContext, ThreadEvent, ThreadStatus](
    guards={
        "isOfThisRun": is_of_this_run,
        "isOfLastRun": is_of_last_run,
        "isInterruption": is_interruption,
        "isInterruptionOfThisRun": lambda context, event: (
            is_interruption(context, event) and is_of_this_run(context, event)
        ),
        "isInterruptionOfLastRun": lambda context, event: (
            is_interruption(context, event) and is_of_last_run(context, event)
        ),
        "isConfirmation": _is_confirmation,
        "canQueue": _can_queue,
        "isStatus": _is_status,
        "isTitle": _is_title,
        "hasLostProcess": lambda context: context["processLost"],
    },
    actions={
        "setResumeReason": assign({"resumeReason": _resume_reason, "merged": False}),
        "noteMerge": assign({"merged": True}),
        "setArchived": assign({"archived": lambda context, event, params: params["archived"]}),
        "rename": assign({"title": lambda context, event: event.get("title") or None}),
        "beginRun": assign(_begin_run),
        "continueRun": assign(_continue_run),
        "confirmRun": assign({"runId": lambda context, event: context["runId"] or event.get("runId")}),
        "updateCost": assign({"cost": _cost}),
        "setResultInfo": assign({"resultInfo": _result_info}),
        "clearResultInfo": assign({"resultInfo": None, "completedAt": None}),
        "noteEnd": assign({"completedAt": lambda context, event: event.get("at")}),
        "setWaitingReason": assign(
            {"waitingReason": lambda context, event: event.get("reason") or context["waitingReason"]}
        ),
        "loseProcess": assign(
            {"processLost": True, "permissionExpired": lambda context: context["waitingReason"] == "permission"}
        ),
        "clearWaiting": assign({"waitingReason": None, "processLost": False, "permissionExpired": False}),
        "tellStatus": emit(_status_told),
        "startContent": enqueue_actions(_start_content),
        "tellContent": enqueue_actions(_tell_content),
        "cancelContent": enqueue_actions(_cancel_content),
        "forgetContent": enqueue_actions(_forget_content),
    },
    actors={kind: create_machine({"id": kind, **_INERT}) for kind in KINDS},
)
thread_machine: Machine[ThreadContext, ThreadEvent, ThreadStatus] = _threads.create_machine(
    {**CHART, "context": first_context}
)
"""Machine of the status of a thread."""
