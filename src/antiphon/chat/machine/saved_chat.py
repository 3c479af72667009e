"""A chat of the adapter as a JSON document, and back.

1. A document has the whole tree, the steps so far and the first settings, and a digest of all of it.
2. It is checked completely before anything is used: its format, its digest, the types of every value, and whether
   messages, branches and plans fit together. `BadSavedChat` says what is wrong, and where.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, cast

from antiphon.chart.checks.types import TypeChecks
from antiphon.chart.errors import EngineError
from antiphon.chart.persist import from_json, to_json
from antiphon.chart.refs import ActorRef
from antiphon.chart.snapshot import Snapshot
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.events import FlowEvent
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.history import KEYS, BadHistory, check_history
from antiphon.chat.machine.polynomial import FlowState
from antiphon.chat.machine.settings import problem_with

FORMAT = "antiphon-chat"
DOCUMENT = ("format", "version", "config", "history", "snapshot", "digest")
# The key of the context that a state needs, and that no other state has.
PLANS = {"branching": "fork", "converging": "merge", "collapsed": "crystal"}
CONTEXT_CHECK = TypeChecks().compile(FlowContext)

Step = tuple[FlowState, str, FlowState]
ChatSnapshot = Snapshot[FlowContext, FlowEvent]


class BadSavedChat(ValueError):
    """A document that holds no chat, or a damaged one; the message says what is wrong, and where."""


class SavedChat(NamedTuple):
    """A chat with its steps so far and its first settings."""

    snapshot: ChatSnapshot
    history: list[Step]
    config: dict[str, Any]


def save_chat(chat: SavedChat) -> dict[str, Any]:
    """Return a chat as a document of JSON values that it shares with nobody.

    Raise `BadSavedChat` for a chat that could not be loaded again: actions of the caller had payloads of other types.
    """
    document = {
        "format": FORMAT,
        "version": flow_machine.version,
        "config": chat.config,
        "history": [[before.value, action, after.value] for before, action, after in chat.history],
        "snapshot": to_json(chat.snapshot, lambda ref: {}),
    }
    copy: dict[str, Any] = json.loads(json.dumps(document))
    saved = {**copy, "digest": digest_of(copy)}
    load_chat(saved)
    return saved


def load_chat(document: object) -> SavedChat:
    """Return the chat of a document; raise `BadSavedChat` if anything in it is wrong."""
    saved = _check_document(document)
    config = saved["config"]
    problem = problem_with(config) if isinstance(config, dict) else "must be an object"
    if problem:
        raise BadSavedChat(f"config: {problem}")
    return SavedChat(_load_snapshot(saved["snapshot"]), _load_history(saved["history"]), config)


def digest_of(document: Mapping[str, Any]) -> str:
    """Return the digest of a document without its own."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _check_document(document: object) -> dict[str, Any]:
    """Return a copy of a document whose format and digest are right."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise BadSavedChat(f'no saved chat: "format" must be "{FORMAT}"')
    if document.get("version") != flow_machine.version:
        raise BadSavedChat(f"version: is {document.get('version')!r}; this Antiphon reads {flow_machine.version}")
    for key in {*document, *DOCUMENT}:
        if key not in document or key not in DOCUMENT:
            raise BadSavedChat(f"{key!r} is {'unknown' if key in document else 'missing'}; keys: {', '.join(DOCUMENT)}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(dict(document), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSavedChat(f"not JSON: {error}") from None
    if copy.pop("digest") != digest_of(copy):
        raise BadSavedChat("digest: does not fit the document, which was damaged or changed")
    return copy


def _load_history(steps: object) -> list[Step]:
    values = [state.value for state in FlowState]
    if not isinstance(steps, list) or not all(_is_step(step, values) for step in steps):
        raise BadSavedChat("history: must be a list of [state, action, state]")
    return [(FlowState(before), action, FlowState(after)) for before, action, after in steps]


def _is_step(step: object, values: Sequence[str]) -> bool:
    is_triple = isinstance(step, list) and len(step) == 3 and all(isinstance(part, str) for part in step)
    return is_triple and cast(list[str], step)[0] in values and cast(list[str], step)[2] in values


def _load_snapshot(persisted: object) -> ChatSnapshot:
    if not isinstance(persisted, Mapping) or not isinstance(persisted.get("context"), Mapping):
        raise BadSavedChat("snapshot: must be an object with a context")
    value = persisted.get("value")
    if persisted.get("status") != "active" or value not in [state.value for state in FlowState]:
        raise BadSavedChat(f"snapshot: is not the snapshot of an active chat, but {value!r}")
    context = _check_context(value, persisted["context"])
    try:
        return from_json(flow_machine, {**persisted, "context": context}, _child)
    except EngineError as error:
        raise BadSavedChat(f"snapshot: {error}") from None


def _child(id: str, data: Mapping[str, Any], logic: Any) -> ActorRef:
    return ActorRef(id, data["src"], logic)


def _check_context(value: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return a context whose messages are checked, as the machine uses it."""
    fault = CONTEXT_CHECK.check(context)
    if fault is not None:
        raise BadSavedChat(fault.problem("snapshot.context").text)
    problem = problem_with(context["config"])
    if problem:
        raise BadSavedChat(f"snapshot.context.config: {problem}")
    try:
        checked = check_history({key: context[key] for key in KEYS})
    except BadHistory as error:
        raise BadSavedChat(f"snapshot.context.{error}") from None
    if checked["messages"] != context["messages"]:
        raise BadSavedChat("snapshot.context.messages: turns or tokens do not fit the messages")
    _check_plans(value, cast(FlowContext, context))
    return {**context, **checked}


def _check_plans(value: str, context: FlowContext) -> None:
    """Check that the state has what it needs, and that plans and the reply name branches that exist."""
    for state, key in PLANS.items():
        if (cast(Mapping[str, Any], context)[key] is not None) != (value == state):
            raise BadSavedChat(f"snapshot.context.{key}: does not fit the state {value!r}")
    merge = context["merge"]
    reply = context["reply"]
    names = [*([merge["source"], merge["target"]] if merge else ()), *([reply["branch"]] if reply else ())]
    ids = [*([merge["base"], merge.get("theirBase")] if merge else ()), *([reply["parent"]] if reply else ())]
    ids += [context["fork"]["forkPoint"]] if context["fork"] else []
    unknown = [name for name in names if name not in context["branches"]]
    unknown += [id for id in ids if id is not None and id not in context["messages"]]
    if unknown:
        raise BadSavedChat(f"snapshot.context: there is no branch or message {unknown[0]!r}")
