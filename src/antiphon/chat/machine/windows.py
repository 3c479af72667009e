"""Windows: the part of a branch that a model gets, and how it moves when the branch outgrows it.

1. A window is a cut in the path of a branch. Messages before it are left out, except for the system prompt, a
   summary and kept messages; messages after it are sent. Finding them costs as much as is sent.
2. Whole turns are left out, oldest first, and never the newest.
3. REQUIRED and pinned messages are always kept. PRESERVED ones are kept as long as leaving out others is enough.
4. `sliding` leaves out as little as possible. `forget` and `summarise` wait for the upper mark and then go down to the
   lower one, so that they do not run again with the next message. Above the whole limit they always run.
5. After a rewind or a fork the cut may no longer be on the path; then there is no window, and a new one is found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.chat.machine.context import ChatBranch, FlowContext, MessageDraft, StoredMessage, Window
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.chat.machine.repair import repair_messages
from antiphon.chat.machine.tree import Messages, is_on_path, set_window, size_of, stored_message, turns_of, walk
from antiphon.threads.machine.content import text_of
from antiphon.tokens import BYTES_PER_TOKEN, tokens_of_parts, tokens_of_text

# The share of the limit that a summary may take.
SUMMARY_SHARE = 0.1
LINE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class WindowView:
    """The messages of a branch that a model would get."""

    kept: tuple[StoredMessage, ...]
    summary: StoredMessage | None
    recent: tuple[StoredMessage, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Shift:
    """A move of a window: the new cut, the kept messages, and those newly left out."""

    cut: str
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    tokens: int


def view(context: FlowContext, branch: str) -> WindowView:
    """Return the messages that the window of a branch shows now."""
    messages = context["messages"]
    window = context["branches"][branch]["window"]
    recent, is_cut = _recent(messages, context["branches"][branch])
    kept = tuple(messages[id] for id in window["kept"]) if window and is_cut else ()
    summary = messages[window["summary"]] if window and is_cut and window["summary"] else None
    system = context["config"]["system"]
    fixed = [*kept, *([summary] if summary else [])]
    tokens = sum(size_of(messages, message) for message in (*fixed, *recent))
    tokens += tokens_of_parts([{"type": "text", "text": system}]) if system else 0
    return WindowView(kept, summary, recent, tokens)


def _recent(messages: Messages, branch: ChatBranch) -> tuple[tuple[StoredMessage, ...], bool]:
    """Return the messages after the cut, and whether the cut is on the path."""
    cut = branch["window"]["cut"] if branch["window"] else None
    newest_first: list[StoredMessage] = []
    for message in walk(messages, branch["head"]):
        if message["id"] == cut:
            return tuple(reversed(newest_first)), True
        newest_first.append(message)
    return tuple(reversed(newest_first)), False


def utilisation(context: FlowContext, branch: str) -> float:
    """Return the share of the limit that the window of a branch takes."""
    return view(context, branch).tokens / context["config"]["contextLimit"]


def is_kept(context: FlowContext, message: StoredMessage) -> bool:
    """Return whether a message must never be left out."""
    return message["id"] in context["pinned"] or "REQUIRED" in message.get("tags", ())


def find_shift(context: FlowContext, branch: str) -> Shift | None:
    """Return the move that a window needs before a model is asked, or None."""
    config = context["config"]
    current = view(context, branch)
    goal = _goal(context, branch, current.tokens)
    if goal is None:
        return None
    if config["strategy"] == "summarise":
        # A new summary takes the place of the old one.
        old = size_of(context["messages"], current.summary) if current.summary else 0
        goal -= config["contextLimit"] * SUMMARY_SHARE - old
    return _shift_to(context, current, goal)


def _goal(context: FlowContext, branch: str, tokens: int) -> float | None:
    """Return the number of tokens to go down to, or None if the window can stay."""
    config = context["config"]
    window = context["branches"][branch]["window"]
    limit = config["contextLimit"]
    if config["strategy"] == "none":
        return None
    if config["strategy"] == "sliding":
        return limit if tokens > limit else None
    is_armed = window is None or window["armed"]
    if tokens > limit or (is_armed and tokens >= limit * config["compressAt"]):
        return limit * config["resumeAt"]
    return None


def _shift_to(context: FlowContext, current: WindowView, goal: float) -> Shift | None:
    messages = context["messages"]
    tokens = current.tokens
    kept = [message["id"] for message in current.kept]
    left_out: list[str] = []
    cut: str | None = None
    for turn in turns_of(current.recent)[:-1]:
        if tokens <= goal:
            break
        for message in turn:
            if is_kept(context, message) or "PRESERVED" in message.get("tags", ()):
                kept.append(message["id"])
            else:
                left_out.append(message["id"])
                tokens -= size_of(messages, message)
        cut = turn[-1]["id"]
    for id in list(kept):
        if tokens <= goal:
            break
        if not is_kept(context, messages[id]):
            kept.remove(id)
            left_out.append(id)
            tokens -= size_of(messages, messages[id])
    if not left_out:
        return None
    last = cut or _cut_before(current)
    return Shift(last, tuple(kept), tuple(left_out), tokens) if last else None


def _cut_before(current: WindowView) -> str | None:
    return current.recent[0]["parent"] if current.recent else None


def rearm(context: FlowContext, branch: str) -> FlowContext:
    """Let a window move at the upper mark again, if less than the lower one is used."""
    window = context["branches"][branch]["window"]
    if window is None or window["armed"] or utilisation(context, branch) > context["config"]["resumeAt"]:
        return context
    return set_window(context, branch, {**window, "armed": True})


def apply_shift(context: FlowContext, branch: str, shift: Shift, summary: str | None = None) -> FlowContext:
    """Move a window, and store the summary of the messages that were left out if there is one."""
    summary_id: str | None = None
    tokens = shift.tokens
    if summary is not None:
        old = view(context, branch).summary
        stored, next_message = _stored_summary(context, old, shift, summary)
        summary_id = stored["id"]
        tokens += stored["tokens"] - (size_of(context["messages"], old) if old else 0)
        messages = PersistentMap.of(context["messages"]).with_entry(summary_id, stored)
        context = {**context, "messages": messages, "nextMessage": next_message}
    config = context["config"]
    metrics = context["metrics"]
    armed = tokens <= config["contextLimit"] * config["resumeAt"]
    window: Window = {"cut": shift.cut, "kept": list(shift.kept), "summary": summary_id, "armed": armed}
    context = {**context, "metrics": {**metrics, "compressions": metrics["compressions"] + 1}}
    return set_window(context, branch, window)


def _stored_summary(
    context: FlowContext, old: StoredMessage | None, shift: Shift, summary: str
) -> tuple[StoredMessage, int]:
    # A summary that outgrew its share would call for the next one at once.
    room = int(context["config"]["contextLimit"] * SUMMARY_SHARE) * BYTES_PER_TOKEN
    text = summary.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    draft: MessageDraft = {
        "role": "system",
        "parts": [{"type": "text", "text": text}],
        "derivedFrom": [*([old["id"]] if old else []), *shift.left_out],
    }
    return stored_message(context["messages"], context["nextMessage"], draft, None)


def digest(context: FlowContext, branch: str, shift: Shift) -> str:
    """Summarise the messages left out without a model: a line a message, the newest if there are too many."""
    room = int(context["config"]["contextLimit"] * SUMMARY_SHARE)
    old = view(context, branch).summary
    lines = text_of(old["parts"]).split("\n")[1:] if old else []
    lines += [line_of(context["messages"][id]) for id in shift.left_out]
    chosen: list[str] = []
    for line in reversed(lines):
        room -= tokens_of_text(line) + 1
        if room < 0:
            break
        chosen.append(line)
    return "\n".join(["Earlier in this conversation:", *reversed(chosen)])


def line_of(message: StoredMessage) -> str:
    """Format a message as one line."""
    words = " ".join(text_of(message["parts"]).split())
    return f"{message['role']}: {words[:LINE_LENGTH]}"


def pin(context: FlowContext, id: str, pinned: bool) -> FlowContext:
    """Pin or unpin a message; windows that have passed a pinned one keep it from now on."""
    pins = [pin for pin in context["pinned"] if pin != id]
    changed: FlowContext = {**context, "pinned": [*pins, id] if pinned else pins}
    for name, branch in context["branches"].items():
        window = branch["window"]
        if window is not None and is_on_path(context["messages"], id, window["cut"]):
            kept = [kept_id for kept_id in window["kept"] if kept_id != id]
            if is_kept(changed, context["messages"][id]):
                kept = sorted([*kept, id], key=lambda kept_id: context["messages"][kept_id]["tokens"])
            changed = set_window(changed, name, {**window, "kept": kept})
    return changed


def request_messages(context: FlowContext, branch: str) -> list[dict[str, Any]]:
    """Return the messages of a request as message JSON, every tool call with its result."""
    current = view(context, branch)
    config = context["config"]
    fixed = [*current.kept, *([current.summary] if current.summary else [])]
    messages = repair_messages([_request_message(message) for message in (*fixed, *current.recent)])
    if not config["system"]:
        return [dict(message) for message in messages]
    system = {"role": "system", "parts": [{"type": "text", "text": config["system"]}]}
    place = 0 if config["systemPlacement"] == "prepend" else _last_question(messages)
    return [dict(message) for message in (*messages[:place], system, *messages[place:])]


def _request_message(message: StoredMessage) -> dict[str, Any]:
    request: dict[str, Any] = {"role": message["role"], "parts": message["parts"]}
    return {**request, "source": message["source"]} if "source" in message else request


def _last_question(messages: Sequence[Mapping[str, Any]]) -> int:
    places = [place for place, message in enumerate(messages) if message["role"] == "user"]
    return places[-1] if places else 0
