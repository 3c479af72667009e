"""What of a branch a model is asked with: the window, and how it moves when the branch outgrows it.

1. A window is a cut in the path of a branch. What stands before it is left out, except for the system prompt, a
   summary and what is kept; what stands after it is sent. Finding that costs as much as is sent.
2. Whole turns are left out, oldest first, and never the newest.
3. REQUIRED and pinned messages are always kept. PRESERVED ones are kept as long as leaving out others is enough.
4. `sliding` leaves out as little as possible. `forget` and `summarise` wait for the upper mark and then go down to the
   lower one, so that they do not run again with the next message. Above the whole limit they always run.
5. After a rewind or a fork the cut may no longer be on the path; then there is no window, and a new one is found.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.chat.machine.context import Branch, FlowContext, StoredMessage, Window
from antiphon.chat.machine.persistent_map import Log
from antiphon.chat.machine.repair import mended
from antiphon.chat.machine.tree import Messages, is_on_path, size_of, stored_message, turns_of, walk, with_branch
from antiphon.threads.machine.content import text_of
from antiphon.tokens import BYTES_PER_TOKEN, tokens_of_parts, tokens_of_text

# The part of the limit that a summary may take.
SUMMARY_SHARE = 0.1
LINE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class View:
    """The messages of a branch that a model would be asked with."""

    kept: tuple[StoredMessage, ...]
    summary: StoredMessage | None
    recent: tuple[StoredMessage, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Shift:
    """A window moved forward: where it is cut now, what is kept, and what is newly left out."""

    cut: str
    kept: tuple[str, ...]
    left_out: tuple[str, ...]
    tokens: int


def view(context: FlowContext, branch: str) -> View:
    """What a branch's window shows now."""
    messages, window = context["messages"], context["branches"][branch]["window"]
    recent, is_cut = _recent(messages, context["branches"][branch])
    kept = tuple(messages[id] for id in window["kept"]) if window and is_cut else ()
    summary = messages[window["summary"]] if window and is_cut and window["summary"] else None
    system = context["config"]["system"]
    fixed = [*kept, *([summary] if summary else [])]
    tokens = sum(size_of(messages, message) for message in (*fixed, *recent))
    tokens += tokens_of_parts([{"type": "text", "text": system}]) if system else 0
    return View(kept, summary, recent, tokens)


def _recent(messages: Messages, branch: Branch) -> tuple[tuple[StoredMessage, ...], bool]:
    cut = branch["window"]["cut"] if branch["window"] else None
    found: list[StoredMessage] = []
    for message in walk(messages, branch["head"]):
        if message["id"] == cut:
            return tuple(reversed(found)), True
        found.append(message)
    return tuple(reversed(found)), False


def utilisation(context: FlowContext, branch: str) -> float:
    """Which part of the limit a branch's window takes."""
    return view(context, branch).tokens / context["config"]["contextLimit"]


def is_kept(context: FlowContext, message: StoredMessage) -> bool:
    """Whether a message must never be left out."""
    return message["id"] in context["pinned"] or "REQUIRED" in message.get("tags", ())


def shift(context: FlowContext, branch: str) -> Shift | None:
    """How the window of a branch has to move before a model is asked, or nothing."""
    config, shown = context["config"], view(context, branch)
    goal = _goal(context, branch, shown.tokens)
    if goal is None:
        return None
    if config["strategy"] == "summarise":
        # A new summary takes the place of the old one.
        old = size_of(context["messages"], shown.summary) if shown.summary else 0
        goal -= config["contextLimit"] * SUMMARY_SHARE - old
    return _moved(context, shown, goal)


def _goal(context: FlowContext, branch: str, tokens: int) -> float | None:
    config, window = context["config"], context["branches"][branch]["window"]
    limit = config["contextLimit"]
    if config["strategy"] == "none":
        return None
    if config["strategy"] == "sliding":
        return limit if tokens > limit else None
    is_armed = window is None or window["armed"]
    if tokens > limit or (is_armed and tokens >= limit * config["compressAt"]):
        return limit * config["resumeAt"]
    return None


def _moved(context: FlowContext, shown: View, goal: float) -> Shift | None:
    messages, tokens = context["messages"], shown.tokens
    kept = [message["id"] for message in shown.kept]
    left_out: list[str] = []
    cut: str | None = None
    for turn in turns_of(shown.recent)[:-1]:
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
    last = cut or _cut_before(shown)
    return Shift(last, tuple(kept), tuple(left_out), tokens) if last else None


def _cut_before(shown: View) -> str | None:
    return shown.recent[0]["parent"] if shown.recent else None


def rearmed(context: FlowContext, branch: str) -> FlowContext:
    """The context with a window that may move at the upper mark again, if less than the lower one is used."""
    window, config = context["branches"][branch]["window"], context["config"]
    if window is None or window["armed"] or utilisation(context, branch) > config["resumeAt"]:
        return context
    return with_branch(context, branch, window={**window, "armed": True})


def shifted(context: FlowContext, branch: str, found: Shift, summary: str | None = None) -> FlowContext:
    """The context with a window moved, and a summary of what was left out if there is one."""
    count = context["nextMessage"]
    id: str | None = None
    tokens = found.tokens
    if summary is not None:
        old = view(context, branch).summary
        derived = [*([old["id"]] if old else []), *found.left_out]
        # A summary that outgrew its share would call for the next one at once.
        room = int(context["config"]["contextLimit"] * SUMMARY_SHARE) * BYTES_PER_TOKEN
        text = summary.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        draft: dict[str, Any] = {"role": "system", "parts": [{"type": "text", "text": text}], "derivedFrom": derived}
        stored, count = stored_message(context, draft, None)
        id = stored["id"]
        tokens += stored["tokens"] - (size_of(context["messages"], old) if old else 0)
        context = {**context, "messages": Log.of(context["messages"]).adding(id, stored), "nextMessage": count}
    config, metrics = context["config"], context["metrics"]
    armed = tokens <= config["contextLimit"] * config["resumeAt"]
    window: Window = {"cut": found.cut, "kept": list(found.kept), "summary": id, "armed": armed}
    context = {**context, "metrics": {**metrics, "compressions": metrics["compressions"] + 1}}
    return with_branch(context, branch, window=window)


def digest(context: FlowContext, branch: str, found: Shift) -> str:
    """A plain summary of what is left out, without a model: a line a message, the newest if there are too many."""
    room = int(context["config"]["contextLimit"] * SUMMARY_SHARE)
    old = view(context, branch).summary
    lines = text_of(old["parts"]).split("\n")[1:] if old else []
    lines += [line_of(context["messages"][id]) for id in found.left_out]
    chosen: list[str] = []
    for line in reversed(lines):
        room -= tokens_of_text(line) + 1
        if room < 0:
            break
        chosen.append(line)
    return "\n".join(["Earlier in this conversation:", *reversed(chosen)])


def line_of(message: StoredMessage) -> str:
    """A message in one line."""
    words = " ".join(text_of(message["parts"]).split())
    return f"{message['role']}: {words[:LINE_LENGTH]}"


def pinning(context: FlowContext, id: str, pinned: bool) -> FlowContext:
    """The context with a message pinned or let go; windows that have passed it keep it from now on."""
    others = [known for known in context["pinned"] if known != id]
    changed: FlowContext = {**context, "pinned": [*others, id] if pinned else others}
    for name, branch in context["branches"].items():
        window = branch["window"]
        if window is not None and is_on_path(context["messages"], id, window["cut"]):
            kept = [known for known in window["kept"] if known != id]
            if is_kept(changed, context["messages"][id]):
                kept = sorted([*kept, id], key=lambda known: context["messages"][known]["tokens"])
            changed = with_branch(changed, name, window={**window, "kept": kept})
    return changed


def asked(context: FlowContext, branch: str) -> list[dict[str, Any]]:
    """The messages of a request, as message JSON, every tool call with its result."""
    shown, config = view(context, branch), context["config"]
    before = [*shown.kept, *([shown.summary] if shown.summary else [])]
    sent = mended([_sent(message) for message in (*before, *shown.recent)])
    if not config["system"]:
        return [dict(message) for message in sent]
    system = {"role": "system", "parts": [{"type": "text", "text": config["system"]}]}
    place = 0 if config["systemPlacement"] == "prepend" else _last_question(sent)
    return [dict(message) for message in (*sent[:place], system, *sent[place:])]


def _sent(message: StoredMessage) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message["role"], "parts": message["parts"]}
    return {**found, "source": message["source"]} if "source" in message else found


def _last_question(messages: Sequence[Any]) -> int:
    places = [place for place, message in enumerate(messages) if message["role"] == "user"]
    return places[-1] if places else 0
