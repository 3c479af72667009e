"""Reasons why a chat refuses an event that its state would take, each one sentence."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeGuard, cast

from antiphon.chat.machine.context import TAGS, TRIGGERS, FlowContext
from antiphon.chat.machine.events import FlowRequest
from antiphon.chat.machine.limits import LIMITS, describe_limit, format_number, spent_of
from antiphon.chat.machine.merging import PICKS, STRATEGIES, sides, unresolved_conflicts
from antiphon.chat.machine.permissions import are_tools_running, permissions
from antiphon.chat.machine.settings import event_settings, problem_with
from antiphon.chat.machine.shapes import problem_with_options, problem_with_parts
from antiphon.chat.machine.tree import head_of, last_question, turn_at
from antiphon.messages import ROLES
from antiphon.threads.machine.content import calls_of

IN_FLIGHT = "a reply is in flight; wait for it or cancel it"
NO_MERGE = "no merge is under way"
ASKED = "the model is asked for a proposal; wait for it, or cancel"


def refusal(context: FlowContext, event: FlowRequest) -> str | None:
    """Return why an event is refused, whatever the state, or None."""
    check = REASONS.get(event["type"])
    return check(context, event) if check else None


def is_busy(context: FlowContext) -> bool:
    """Return whether a reply is in flight that does not wait for a person."""
    reply = context["reply"]
    return reply is not None and not reply["waiting"]


def _is_in(key: object, names: Collection[str]) -> TypeGuard[str]:
    """Return whether a name exists; events come from outside, and may hold anything."""
    return isinstance(key, str) and key in names


def _message(context: FlowContext, event: FlowRequest) -> str | None:
    config = context["config"]
    reason = _content(context, event)
    if reason:
        return reason
    branch = event.get("branch")
    if branch is None:
        branch = context["branch"]
    elif not _is_in(branch, context["branches"]):
        return f"there is no open branch {branch!r}"
    turns = turn_at(context["messages"], head_of(context, branch)) + len(context["queue"])
    if config["maxTurns"] is not None and event.get("role", "user") == "user" and turns >= config["maxTurns"]:
        return f"the conversation has {turns} turns, and {config['maxTurns']} are the most"
    if is_busy(context) and config["onBusy"] == "reject":
        return IN_FLIGHT
    if is_busy(context) and len(context["queue"]) >= config["maxQueue"]:
        return f"{len(context['queue'])} messages wait already, and {config['maxQueue']} are the most"
    return None


def _content(context: FlowContext, event: FlowRequest) -> str | None:
    if event.get("role", "user") not in ROLES:
        return f"unknown role {event['role']!r}; known: {', '.join(ROLES)}"
    tags = event.get("tags") or ()
    if not isinstance(tags, list | tuple) or any(tag not in TAGS for tag in tags):
        return f"tags are {tags!r}; known: {', '.join(TAGS)}"
    if not isinstance(event.get("text") or "", str):
        return f"text is {event['text']!r}; it must be a text"
    return (
        problem_with_options(event.get("options"))
        or _id(context, event)
        or problem_with_parts(event.get("parts") or ())
    )


def _id(context: FlowContext, event: FlowRequest) -> str | None:
    id = event.get("id")
    if id is not None and not (isinstance(id, str) and id):
        return f"id is {id!r}; it must be a text"
    is_taken = id is not None and (id in context["messages"] or any(item.get("id") == id for item in context["queue"]))
    return f"there is a message {id!r} already" if is_taken else None


def _fork(context: FlowContext, event: FlowRequest) -> str | None:
    name = event.get("name")
    reason = _too_many_branches(context)
    if reason:
        return reason
    if name is not None and not (isinstance(name, str) and name):
        return f"name is {name!r}; it must be a text"
    if name in context["branches"] or name in context["closed"]:
        return f"there is a branch {name!r} already"
    if event.get("from") is not None and not _is_in(event["from"], context["messages"]):
        return f"there is no message {event['from']!r}"
    return _turn(context, event.get("turn"))


def _turn(context: FlowContext, turn: object) -> str | None:
    turns = turn_at(context["messages"], head_of(context))
    if turn is not None and (type(turn) is not int or not 0 <= turn <= turns):
        return f"there is no turn {turn!r}; the branch has {turns}"
    return None


def _rewind(context: FlowContext, event: FlowRequest) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    checkpoint = event.get("checkpointId")
    turns = event.get("turns", 1)
    if event.get("message") is not None:
        return _message_id(context, event)
    if checkpoint is not None:
        exists = _is_in(checkpoint, context["checkpoints"])
        return None if exists else f"there is no checkpoint {checkpoint!r}"
    most = turn_at(context["messages"], head_of(context))
    if type(turns) is not int or turns < 0:
        return f"turns is {turns!r}; it must be a whole number from 0"
    return f"cannot rewind {turns} turns, the branch has {most}" if turns > most else None


def other_branches(context: FlowContext) -> list[str]:
    """Return the open branches besides the current one."""
    return [name for name in context["branches"] if name != context["branch"]]


def _merge(context: FlowContext, event: FlowRequest) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    branches = other_branches(context)
    source = event.get("source")
    if not branches:
        return "there is no other open branch"
    if source is not None and source not in branches:
        return f"{source!r} is no other open branch; open: {', '.join(branches)}"
    strategy = event.get("strategy") or STRATEGIES[0]
    return None if strategy in STRATEGIES else f"unknown strategy {strategy!r}; known: {', '.join(STRATEGIES)}"


def _resolve_conflict(context: FlowContext, event: FlowRequest) -> str | None:
    merge = context["merge"]
    if merge is None:
        return NO_MERGE
    if event.get("turns") is not None:
        ours, theirs = sides(context, merge)
        ids = sorted({turn[0]["id"] for turn in (*ours, *theirs)})
        turns = event["turns"]
        if not isinstance(turns, list) or any(turns.count(turn) > 1 or not _is_in(turn, ids) for turn in turns):
            return f"turns must name turns of both branches once each; known: {', '.join(ids)}"
        return None if merge["strategy"] == "manual" else "turns can be chosen in a manual merge only"
    ids = [conflict["id"] for conflict in merge["conflicts"]]
    if event.get("conflict") is not None and event["conflict"] not in ids:
        return f"there is no conflict {event['conflict']!r}; known: {', '.join(ids)}"
    pick = event.get("pick") or PICKS[0]
    return None if pick in PICKS else f"unknown pick {pick!r}; known: {', '.join(PICKS)}"


def _confirm_merge(context: FlowContext, event: FlowRequest) -> str | None:
    if context["merge"] is None:
        return NO_MERGE
    conflicts = [conflict["id"] for conflict in unresolved_conflicts(context["merge"])]
    if conflicts:
        return f"conflicts wait to be resolved: {', '.join(conflicts)}"
    proposal = context["merge"].get("proposal")
    if proposal is None or proposal["phase"] == "ready":
        return None
    return (
        ASKED if proposal["phase"] in ("wanted", "asked") else "there is no proposal; ask again or write one (propose)"
    )


def _propose(context: FlowContext, event: FlowRequest) -> str | None:
    if context["merge"] is None:
        return NO_MERGE
    proposal = context["merge"].get("proposal")
    text = event.get("text")
    if proposal is None:
        return "this merge needs no proposal"
    if text is not None:
        return None if isinstance(text, str) and text.strip() else f"text is {text!r}; it must be a text with words"
    if proposal["phase"] in ("wanted", "asked"):
        return ASKED
    return "there is no model to ask; write the text yourself" if context["config"]["model"] is None else None


def _switch(context: FlowContext, event: FlowRequest) -> str | None:
    name = event.get("branch")
    if _is_in(name, context["closed"]):
        return _too_many_branches(context)
    return None if _is_in(name, context["branches"]) else f"there is no branch {name!r}"


def _too_many_branches(context: FlowContext) -> str | None:
    most = context["config"]["maxBranches"]
    if len(context["branches"]) < most:
        return None
    return f"{most} branches are open, and more are not allowed; merge or close one first"


def _close(context: FlowContext, event: FlowRequest) -> str | None:
    name = event.get("branch")
    reply = context["reply"]
    if not _is_in(name, context["branches"]):
        return f"there is no open branch {name!r}"
    if name == context["branch"]:
        return f"{name!r} is the current branch, and stays open"
    is_queued = any(item.get("branch") == name for item in context["queue"])
    return IN_FLIGHT if is_queued or (reply and reply["branch"] == name) else None


def _message_id(context: FlowContext, event: FlowRequest) -> str | None:
    exists = _is_in(event.get("message"), context["messages"])
    return None if exists else f"there is no message {event.get('message')!r}"


def _answer(context: FlowContext, event: FlowRequest) -> str | None:
    reply = context["reply"]
    request = reply.get("request") if reply is not None and reply.get("limit") is not None else None
    if request is None:
        return "the chat waits at no limit"
    if event.get("id") != request["id"]:
        return f"the request {event.get('id')!r} is not open; open: {request['id']!r}"
    if event.get("decision") not in ("allow", "deny"):
        return f"decision is {event.get('decision')!r}; known: allow, deny"
    return _new_limit(context, event.get("limit"))


def _new_limit(context: FlowContext, limit: object) -> str | None:
    name = context["reply"].get("limit") if context["reply"] else None
    if limit is None or name is None:
        return None
    spent = spent_of(context, name)
    if isinstance(limit, int | float) and not isinstance(limit, bool) and limit > spent:
        return None
    return f"limit is {limit!r}; it must be a number above {format_number(spent)}"


def _raise_limit(context: FlowContext, event: FlowRequest) -> str | None:
    settings = event_settings(cast(Mapping[str, Any], event))
    unknown = [key for key in settings if key not in LIMITS]
    if unknown or not settings:
        return f"{f'unknown limit {unknown[0]!r}' if unknown else 'no limit is named'}; known: {', '.join(LIMITS)}"
    return problem_with(settings)


def _revoke(context: FlowContext, event: FlowRequest) -> str | None:
    is_known = event.get("permission") in permissions(context)
    # The tools at work may have a permission that a person has just given, and that the chat will only get to know.
    return None if is_known or are_tools_running(context) else "there is no such permission"


def _retry(context: FlowContext, event: FlowRequest) -> str | None:
    if is_busy(context):
        return IN_FLIGHT
    if context["config"]["model"] is None:
        return "there is no model to ask"
    return None if last_question(context) else "nothing was asked yet"


def _resume(context: FlowContext, event: FlowRequest) -> str | None:
    head = head_of(context)
    reason = _retry(context, event)
    if reason or head is None or event.get("resumeNote"):
        return reason
    last = context["messages"][head]
    is_whole = last["role"] == "assistant" and not last.get("interrupted") and not calls_of(last["parts"])
    return "the last question was answered" if is_whole else None


def _use_model(context: FlowContext, event: FlowRequest) -> str | None:
    reason = _configure(context, event)
    unknown = [] if reason else [key for key in event_settings(cast(Mapping[str, Any], event)) if key != "model"]
    return f"unknown setting {unknown[0]!r}; known: model" if unknown else reason


def _tool_results(context: FlowContext, event: FlowRequest) -> str | None:
    reply = context["reply"]
    results = event.get("results")
    if reply is None or reply["phase"] != "tools":
        return "no tool was asked for"
    if (limit := reply.get("limit")) is not None:
        return describe_limit(context, limit)
    if not isinstance(results, list):
        return problem_with_parts([None])
    reason = problem_with_parts(results)
    if reason or any(part["type"] != "toolResult" for part in results):
        return reason or "results must be parts of type toolResult"
    return _id(context, event)


def _ending(context: FlowContext, event: FlowRequest) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    return "the crystal is being made" if context["crystallizing"] else None


def _crystallize(context: FlowContext, event: FlowRequest) -> str | None:
    trigger = event.get("trigger")
    if trigger is not None and trigger not in TRIGGERS:
        return f"unknown trigger {trigger!r}; known: {', '.join(TRIGGERS)}"
    return _ending(context, event)


def _configure(context: FlowContext, event: FlowRequest) -> str | None:
    if not isinstance(event.get("config") or {}, Mapping):
        return f"config is {event['config']!r}; it must be an object"
    return problem_with(event_settings(cast(Mapping[str, Any], event)))


REASONS: dict[str, Callable[[FlowContext, FlowRequest], str | None]] = {
    "configure": _configure,
    "message": _message,
    "inject_context": _content,
    "fork": _fork,
    "rewind": _rewind,
    "merge": _merge,
    "resolve_conflict": _resolve_conflict,
    "propose": _propose,
    "confirm_merge": _confirm_merge,
    "switch": _switch,
    "close": _close,
    "pin": _message_id,
    "tool_results": _tool_results,
    "ANSWER": _answer,
    "resume": _resume,
    "retry": _retry,
    "use_model": _use_model,
    "raise_limit": _raise_limit,
    "revoke": _revoke,
    "flush": _ending,
    "crystallize": _crystallize,
}
