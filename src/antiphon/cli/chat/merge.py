"""An interactive merge: each conflict is shown and resolved, then the merge is confirmed."""

from collections.abc import Container, Mapping
from typing import Any

from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.threads import text_of

PICKS = {"o": "ours", "t": "theirs", "b": "both", "n": "neither"}
MOST_EXCERPT = 200
Json = Mapping[str, Any]


def merge(terminal: Terminal, source: str, strategy: str) -> Json | None:
    """Merge a branch into the current one; return the chat after it, or None if cancelled."""
    chat = terminal.wait(terminal.client.perform("merge", source=source, strategy=strategy))
    try:
        is_confirmed = _resolve_conflicts(terminal, chat, source)
    except (EOFError, KeyboardInterrupt):
        is_confirmed = False
    if is_confirmed:
        return terminal.wait(terminal.client.perform("confirm_merge"))
    terminal.wait(terminal.client.perform("cancel_merge"))
    terminal.view.line("merge cancelled")
    return None


def _resolve_conflicts(terminal: Terminal, chat: Json, source: str) -> bool:
    """Ask about every conflict and for confirmation; return False if the user cancels."""
    for conflict in chat["merge"]["conflicts"]:
        _show(terminal, chat, conflict)
        pick = _ask_key(terminal, "o: ours, t: theirs, b: both, n: neither, c: cancel > ", PICKS)
        if pick is None:
            return False
        terminal.wait(terminal.client.perform("resolve_conflict", conflict=conflict["id"], pick=PICKS[pick]))
    return _ask_key(terminal, f"merge {source} into {chat['branch']}? y: yes, c: cancel > ", "y") is not None


def _ask_key(terminal: Terminal, question: str, keys: Container[str]) -> str | None:
    while True:
        key = terminal.lines.ask(question).strip().lower()
        if key in keys:
            return key
        if key in ("c", "cancel", "no"):
            return None


def _show(terminal: Terminal, chat: Json, conflict: Json) -> None:
    terminal.view.line(f"conflict {conflict['id']}: {conflict['item']}", "title")
    for side in ("ours", "theirs"):
        terminal.view.line(f"  {side}: {_turn(chat, conflict[side])}")


def _turn(chat: Json, first: str | None) -> str:
    """Format a turn as an excerpt of its question and its first answer."""
    if first is None:
        return "none"
    answers = [message for message in chat["messages"].values() if message["parent"] == first]
    messages = [chat["messages"][first], *answers[:1]]
    return clip(
        sanitize_line(" → ".join(" ".join(text_of(message["parts"]).split()) for message in messages)), MOST_EXCERPT
    )
