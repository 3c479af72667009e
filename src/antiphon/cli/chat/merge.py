"""A merge with a person: every conflict shown, decided, and all of it confirmed."""

from collections.abc import Mapping
from typing import Any

from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.render.text_width import clip, harmless
from antiphon.threads import text_of

PICKS = {"o": "ours", "t": "theirs", "b": "both", "n": "neither"}
MOST = 200
Json = Mapping[str, Any]


def merge(terminal: Terminal, source: str, strategy: str) -> Json | None:
    """Bring a branch into the current one; nothing if the person would rather not."""
    chat = terminal.wait(terminal.client.perform("merge", source=source, strategy=strategy))
    try:
        is_wanted = _decided(terminal, chat, source)
    except (EOFError, KeyboardInterrupt):
        is_wanted = False
    if is_wanted:
        return terminal.wait(terminal.client.perform("confirm_merge"))
    terminal.wait(terminal.client.perform("cancel_merge"))
    terminal.view.line("nothing was merged")
    return None


def _decided(terminal: Terminal, chat: Json, source: str) -> bool:
    """Whether every conflict was decided, and the merge is wanted."""
    for conflict in chat["merge"]["conflicts"]:
        _show(terminal, chat, conflict)
        pick = _asked(terminal, "o: ours, t: theirs, b: both, n: neither, c: cancel > ", PICKS)
        if pick is None:
            return False
        terminal.wait(terminal.client.perform("resolve_conflict", conflict=conflict["id"], pick=PICKS[pick]))
    return _asked(terminal, f"merge {source} into {chat['branch']}? y: yes, c: cancel > ", {"y": ""}) is not None


def _asked(terminal: Terminal, question: str, known: Mapping[str, str]) -> str | None:
    while True:
        key = terminal.lines.ask(question).strip().lower()
        if key in known:
            return key
        if key in ("c", "cancel", "no"):
            return None


def _show(terminal: Terminal, chat: Json, conflict: Json) -> None:
    terminal.view.line(f"conflict {conflict['id']}: {conflict['item']}", "title")
    for side in ("ours", "theirs"):
        terminal.view.line(f"  {side}: {_turn(chat, conflict[side])}")


def _turn(chat: Json, first: str | None) -> str:
    """A turn in a few words: its question, and what was answered right after it."""
    if first is None:
        return "nothing"
    answers = [message for message in chat["messages"].values() if message["parent"] == first]
    told = [chat["messages"][first], *answers[:1]]
    return clip(harmless(" → ".join(" ".join(text_of(message["parts"]).split()) for message in told)), MOST)
