"""Why a chat does not accept an event that its state would take: one sentence, or nothing."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from antiphon.chat.machine.context import TAGS, TRIGGERS, FlowContext
from antiphon.chat.machine.merging import PICKS, STRATEGIES, sides, unresolved
from antiphon.chat.machine.settings import given_settings, problem_with
from antiphon.chat.machine.shapes import problem_with_parts
from antiphon.chat.machine.tree import head_of, last_question, turn_at
from antiphon.messages import ROLES
from antiphon.threads.machine.content import calls_of

Event = Mapping[str, Any]
IN_FLIGHT = "a reply is in flight; wait for it or cancel it"
NO_MERGE = "no merge is under way"


def refusal(context: FlowContext, event: Event) -> str | None:
    """Why an event is refused, as far as its state has no say in it."""
    reason = REASONS.get(event["type"])
    return reason(context, event) if reason else None


def is_busy(context: FlowContext) -> bool:
    """Whether a reply is in flight that nobody has been asked about."""
    reply = context["reply"]
    return reply is not None and not reply["waiting"]


def _is_in(key: Any, known: Collection[str]) -> bool:
    """Whether a name is known; events come from outside, and may hold anything."""
    return isinstance(key, str) and key in known


def _message(context: FlowContext, event: Event) -> str | None:
    config = context["config"]
    reason = _content(context, event)
    if reason:
        return reason
    if event.get("branch") is not None and not _is_in(event["branch"], context["branches"]):
        return f"there is no open branch {event['branch']!r}"
    turns = turn_at(context["messages"], head_of(context, event.get("branch"))) + len(context["queue"])
    if config["maxTurns"] is not None and event.get("role", "user") == "user" and turns >= config["maxTurns"]:
        return f"the conversation has {turns} turns, and {config['maxTurns']} are the most"
    if is_busy(context) and config["onBusy"] == "reject":
        return IN_FLIGHT
    if is_busy(context) and len(context["queue"]) >= config["maxQueue"]:
        return f"{len(context['queue'])} messages wait already, and {config['maxQueue']} are the most"
    return None


def _content(context: FlowContext, event: Event) -> str | None:
    if event.get("role", "user") not in ROLES:
        return f"unknown role {event['role']!r}; known: {', '.join(ROLES)}"
    tags = event.get("tags") or ()
    if not isinstance(tags, list | tuple) or any(tag not in TAGS for tag in tags):
        return f"tags are {tags!r}; known: {', '.join(TAGS)}"
    if not isinstance(event.get("text") or "", str):
        return f"text is {event['text']!r}; it must be a text"
    return _id(context, event) or problem_with_parts(event.get("parts") or ())


def _id(context: FlowContext, event: Event) -> str | None:
    id = event.get("id")
    if id is not None and not (isinstance(id, str) and id):
        return f"id is {id!r}; it must be a text"
    is_taken = id is not None and (id in context["messages"] or any(item.get("id") == id for item in context["queue"]))
    return f"there is a message {id!r} already" if is_taken else None


def _fork(context: FlowContext, event: Event) -> str | None:
    name, most = event.get("name"), context["config"]["maxBranches"]
    if len(context["branches"]) >= most:
        return f"{most} branches are open, and more are not allowed; merge or close one first"
    if name is not None and not (isinstance(name, str) and name):
        return f"name is {name!r}; it must be a text"
    if name in context["branches"] or name in context["closed"]:
        return f"there is a branch {name!r} already"
    if event.get("from") is not None and not _is_in(event["from"], context["messages"]):
        return f"there is no message {event['from']!r}"
    return _turn(context, event.get("turn"))


def _turn(context: FlowContext, turn: Any) -> str | None:
    turns = turn_at(context["messages"], head_of(context))
    if turn is not None and (type(turn) is not int or not 0 <= turn <= turns):
        return f"there is no turn {turn!r}; the branch has {turns}"
    return None


def _rewind(context: FlowContext, event: Event) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    checkpoint, turns = event.get("checkpointId"), event.get("turns", 1)
    if checkpoint is not None:
        known = _is_in(checkpoint, context["checkpoints"])
        return None if known else f"there is no checkpoint {checkpoint!r}"
    most = turn_at(context["messages"], head_of(context))
    if type(turns) is not int or turns < 0:
        return f"turns is {turns!r}; it must be a whole number from 0"
    return f"cannot rewind {turns} turns, the branch has {most}" if turns > most else None


def other_branches(context: FlowContext) -> list[str]:
    """The open branches besides the current one."""
    return [name for name in context["branches"] if name != context["branch"]]


def _merge(context: FlowContext, event: Event) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    others, source = other_branches(context), event.get("source")
    if not others:
        return "there is no other open branch"
    if source is not None and source not in others:
        return f"{source!r} is no other open branch; open: {', '.join(others)}"
    strategy = event.get("strategy") or STRATEGIES[0]
    return None if strategy in STRATEGIES else f"unknown strategy {strategy!r}; known: {', '.join(STRATEGIES)}"


def _resolve_conflict(context: FlowContext, event: Event) -> str | None:
    merge = context["merge"]
    if merge is None:
        return NO_MERGE
    if event.get("turns") is not None:
        heads = head_of(context, merge["target"]), head_of(context, merge["source"])
        ours, theirs = sides(context["messages"], merge, *heads)
        known = {turn[0]["id"] for turn in (*ours, *theirs)}
        chosen = event["turns"]
        if not isinstance(chosen, list) or any(chosen.count(turn) > 1 or not _is_in(turn, known) for turn in chosen):
            return f"turns must name turns of both branches once each; known: {', '.join(sorted(known))}"
        return None if merge["strategy"] == "manual" else "turns can be chosen in a manual merge only"
    ids = [conflict["id"] for conflict in merge["conflicts"]]
    if event.get("conflict") is not None and event["conflict"] not in ids:
        return f"there is no conflict {event['conflict']!r}; known: {', '.join(ids)}"
    pick = event.get("pick") or PICKS[0]
    return None if pick in PICKS else f"unknown pick {pick!r}; known: {', '.join(PICKS)}"


def _confirm_merge(context: FlowContext, event: Event) -> str | None:
    if context["merge"] is None:
        return NO_MERGE
    waiting = [conflict["id"] for conflict in unresolved(context["merge"])]
    return f"conflicts wait to be resolved: {', '.join(waiting)}" if waiting else None


def _switch(context: FlowContext, event: Event) -> str | None:
    known = _is_in(event.get("branch"), context["branches"])
    return None if known else f"there is no open branch {event.get('branch')!r}"


def _close(context: FlowContext, event: Event) -> str | None:
    name, reply = event.get("branch"), context["reply"]
    if not _is_in(name, context["branches"]):
        return f"there is no open branch {name!r}"
    if name == context["branch"]:
        return f"{name!r} is the current branch, and stays open"
    waits = any(item.get("branch") == name for item in context["queue"])
    return IN_FLIGHT if waits or (reply and reply["branch"] == name) else None


def _pin(context: FlowContext, event: Event) -> str | None:
    known = _is_in(event.get("message"), context["messages"])
    return None if known else f"there is no message {event.get('message')!r}"


def _answer(context: FlowContext, event: Event) -> str | None:
    reply = context["reply"]
    if reply is None or not (reply["called"] and reply["waiting"]):
        return "nobody is asked for permission"
    for key, known in (("decision", ("allow", "deny")), ("scope", (None, "once", "thread"))):
        if event.get(key) not in known:
            return f"{key} is {event.get(key)!r}; known: {', '.join(filter(None, known))}"
    if event.get("id") not in (None, reply["requestId"]):
        return f"the request {event['id']!r} is not open; open: {reply['requestId']!r}"
    return None if isinstance(event.get("reason") or "", str) else f"reason is {event['reason']!r}; it must be a text"


def _retry(context: FlowContext, event: Event) -> str | None:
    if is_busy(context):
        return IN_FLIGHT
    if context["config"]["model"] is None:
        return "there is no model to ask"
    return None if last_question(context) else "nothing was asked yet"


def _resume(context: FlowContext, event: Event) -> str | None:
    head = head_of(context)
    reason = _retry(context, event)
    if reason or head is None or event.get("resumeNote"):
        return reason
    last = context["messages"][head]
    is_whole = last["role"] == "assistant" and not last.get("interrupted") and not calls_of(last["parts"])
    return "the last question was answered" if is_whole else None


def _use_model(context: FlowContext, event: Event) -> str | None:
    reason = _configure(context, event)
    unknown = [] if reason else [key for key in given_settings(event) if key != "model"]
    return f"unknown setting {unknown[0]!r}; known: model" if unknown else reason


def _tool_results(context: FlowContext, event: Event) -> str | None:
    reply, results = context["reply"], event.get("results")
    if reply is None or reply["phase"] != "tools":
        return "no tool was asked for"
    reason = problem_with_parts(results if isinstance(results, list) else [None])
    if reason or any(part["type"] != "toolResult" for part in results or ()):
        return reason or "results must be parts of type toolResult"
    return _id(context, event)


def _ending(context: FlowContext, event: Event) -> str | None:
    if context["reply"] is not None:
        return IN_FLIGHT
    return "the crystal is being made" if context["crystallizing"] else None


def _crystallize(context: FlowContext, event: Event) -> str | None:
    trigger = event.get("trigger")
    if trigger is not None and trigger not in TRIGGERS:
        return f"unknown trigger {trigger!r}; known: {', '.join(TRIGGERS)}"
    return _ending(context, event)


def _configure(context: FlowContext, event: Event) -> str | None:
    if not isinstance(event.get("config") or {}, Mapping):
        return f"config is {event['config']!r}; it must be an object"
    return problem_with(given_settings(event))


REASONS: dict[str, Callable[[FlowContext, Event], str | None]] = {
    "configure": _configure,
    "message": _message,
    "inject_context": _content,
    "fork": _fork,
    "rewind": _rewind,
    "merge": _merge,
    "resolve_conflict": _resolve_conflict,
    "confirm_merge": _confirm_merge,
    "switch": _switch,
    "close": _close,
    "pin": _pin,
    "tool_results": _tool_results,
    "answer": _answer,
    "resume": _resume,
    "retry": _retry,
    "use_model": _use_model,
    "flush": _ending,
    "crystallize": _crystallize,
}
