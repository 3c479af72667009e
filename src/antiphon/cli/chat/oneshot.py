"""One question, one answer, one exit code: how programs talk with a model."""

import json
from typing import TextIO

from antiphon.chat.activity import Happening
from antiphon.cli.chat.reply_stats import Account
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.interruptible import Quit
from antiphon.cli.render.plain import write

ANSWERED, FAILED, CANCELLED = 0, 1, 130
NOBODY = "nobody is here to be asked; --mode says what tools may do"


class JsonEvents:
    """Writes everything that happens, one JSON object a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, happening: Happening) -> None:
        """Write what happened."""
        self._put({"seq": happening.seq, "at": happening.at, "kind": happening.kind, "facts": dict(happening.facts)})

    def end(self, account: Account, thread: str | None, model: str, code: int) -> None:
        """Write how it ended; the last line."""
        usage = {"input": account.tokens_in, "output": account.tokens_out}
        self._put(
            {
                "kind": "end",
                "thread": thread,
                "model": model,
                "status": account.ended,
                "text": "".join(account.text),
                "usage": usage,
                "costUsd": account.cost_usd if account.is_priced else None,
                "seconds": account.seconds,
                "firstMs": account.first_ms,
                "error": account.error,
                "exit": code,
            }
        )

    def _put(self, value: object) -> None:
        # Characters beyond ASCII are escaped: whatever a model says, no terminal obeys it.
        write(self._out, json.dumps(value) + "\n")


def ask_once(terminal: Terminal, question: str, events: JsonEvents | None, *, is_answered: bool) -> int:
    """Ask, answer requests for permission or have nobody to ask, and give the exit code."""
    dialogue = terminal.dialogue
    try:
        if is_answered:
            account = terminal.converse(dialogue.say(question))
        else:
            account = terminal.wait(dialogue.say(question))
            while account.ended == "waiting" and account.request is not None:
                account = terminal.wait(dialogue.answer(account, "deny", "once", NOBODY))
            terminal.view.line(account.line())
    except Quit:
        return CANCELLED
    code = {"completed": ANSWERED, "stopped": CANCELLED}.get(account.ended or "", FAILED)
    if events is not None:
        events.end(account, dialogue.thread, dialogue.config["model"], code)
    return code
