"""An interactive merge: conflicts are shown and resolved, or a proposal is shown, and the merge is confirmed."""

from collections.abc import Container, Mapping
from typing import Any

from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.input.lines import Interrupted
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.threads import text_of

PICKS = {"o": "ours", "t": "theirs", "b": "both", "n": "neither"}
ASK_AGAIN = "r: ask the model again, w: write it yourself, c: cancel"
ASKING = "asking the model for a proposal; Ctrl-C stops it"
MOST_EXCERPT = 200
Json = Mapping[str, Any]


async def merge(terminal: Terminal, source: str, strategy: str) -> Json | None:
    """Merge a branch into the current one; return the chat after it, or None if cancelled."""
    return await finish_merge(
        terminal, await terminal.wait(terminal.client.perform("merge", source=source, strategy=strategy))
    )


async def finish_merge(terminal: Terminal, chat: Json) -> Json | None:
    """Ask what is left to decide about a planned merge, and carry it out; return None if it is cancelled."""
    try:
        is_confirmed = await (
            _agree(terminal, chat) if "proposal" in chat["merge"] else _resolve_conflicts(terminal, chat)
        )
    except (EOFError, Interrupted):
        is_confirmed = False
    if is_confirmed:
        return await terminal.wait(terminal.client.perform("confirm_merge"))
    await terminal.wait(terminal.client.perform("cancel_merge"))
    terminal.view.line("merge cancelled")
    return None


async def _agree(terminal: Terminal, chat: Json) -> bool:
    """Show the proposal of the model until it is accepted; return False if the user cancels."""
    while True:
        is_asked = chat["merge"]["proposal"]["phase"] == "asked"
        # Said while it is waited for: Ctrl-C before that would cancel the merge.
        proposal = await terminal.wait(terminal.client.proposal(ASKING if is_asked else None))
        keys = ASK_AGAIN
        if proposal["phase"] == "ready":
            terminal.view.line(f"proposal for {chat['merge']['source']} and {chat['merge']['target']}:", "title")
            terminal.view.markdown(proposal["text"])
            keys = f"y: merge it, {ASK_AGAIN}"
        else:
            error = proposal["error"] or {"message": "stopped"}
            terminal.view.line(f"no proposal: {error['message']}", "error")
        key = await _ask_key(terminal, f"{keys} > ", "yrw" if proposal["phase"] == "ready" else "rw")
        if key in (None, "y"):
            return key is not None
        chat = await terminal.wait(terminal.client.perform("propose", **await _own_text(terminal, key)))


async def _own_text(terminal: Terminal, key: str | None) -> dict[str, str]:
    """Return the text that the user writes; nothing if the model is asked again."""
    if key != "w":
        return {}
    while not (text := (await terminal.lines.message("text > ")).strip()):
        pass
    return {"text": text}


async def _resolve_conflicts(terminal: Terminal, chat: Json) -> bool:
    """Ask about every conflict and for confirmation; return False if the user cancels."""
    merge = chat["merge"]
    for conflict in merge["conflicts"]:
        if conflict["pick"] is not None:
            continue
        _show(terminal, chat, conflict)
        pick = await _ask_key(terminal, "o: ours, t: theirs, b: both, n: neither, c: cancel > ", PICKS)
        if pick is None:
            return False
        await terminal.wait(terminal.client.perform("resolve_conflict", conflict=conflict["id"], pick=PICKS[pick]))
    return (
        await _ask_key(terminal, f"merge {merge['source']} into {merge['target']}? y: yes, c: cancel > ", "y")
        is not None
    )


async def _ask_key(terminal: Terminal, question: str, keys: Container[str]) -> str | None:
    while True:
        key = (await terminal.lines.ask(question)).strip().lower()
        if key and key in keys:
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
