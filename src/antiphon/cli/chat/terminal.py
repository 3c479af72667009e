"""A person at the keyboard: messages, commands, permissions and Ctrl-C, on the main thread."""

import json
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

from antiphon.cli.chat.client import Dialogue
from antiphon.cli.chat.reply_stats import Account
from antiphon.cli.interruptible import Patience, Quit
from antiphon.cli.loop import Background
from antiphon.cli.prompt import forget_typed
from antiphon.cli.render.text_width import written_out
from antiphon.providers.errors import ProviderError
from antiphon.runtime.errors import RuntimeFault
from antiphon.threads.errors import AppError

T = TypeVar("T")
Problem = (AppError, ProviderError, RuntimeFault)
ANSWERS: Mapping[str, tuple[str, str]] = {
    "a": ("allow", "once"),
    "t": ("allow", "thread"),
    "d": ("deny", "once"),
    "e": ("deny", "once"),
}
QUESTION = "allow? a: once, t: for this thread, d: deny, e: deny and say why > "


class Typist(Protocol):
    """Where lines come from; they end with `EOFError` or `KeyboardInterrupt`."""

    def message(self, prompt: str) -> str:
        """A message, of one line or more."""
        ...

    def ask(self, prompt: str) -> str:
        """One line."""
        ...


class Terminal:
    """Talks with a person until they quit."""

    def __init__(
        self,
        background: Background,
        dialogue: Dialogue,
        typist: Typist,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.dialogue, self.typist = dialogue, typist
        self._patience = Patience(background, dialogue.stop, now=now)
        self.view = dialogue.view
        self.branch = "main"

    def run(self, command: Callable[["Terminal", str], None]) -> None:
        """Read messages and commands until the end."""
        while True:
            try:
                text = self.typist.message("> " if self.branch == "main" else f"{self.branch}> ").strip()
            except (EOFError, KeyboardInterrupt):
                self.view.line("")
                return
            try:
                if text.startswith("/"):
                    command(self, text)
                elif text:
                    self.converse(self.dialogue.say(text))
            except Quit:
                return
            except Problem as problem:
                self.view.line(told(problem), "error")

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something; Ctrl-C cuts the reply, and a second one soon after it quits."""
        return self._patience.wait(work)

    def converse(self, work: Coroutine[Any, Any, Account]) -> Account:
        """Show a reply to its end, asking for permissions on the way."""
        account = self.wait(work)
        while account.ended == "waiting" and account.request is not None:
            account = self._permit(account, account.request)
        if account.replies or account.tokens_in:
            self.view.line(account.line())
        return account

    def _permit(self, account: Account, request: Mapping[str, Any]) -> Account:
        forget_typed()  # what was typed before the calls were shown is no answer to them
        for call in request["calls"]:
            self.view.line(f"{call['name']} ({call['risk']}) {exact(call['arguments'])}", "tool")
        try:
            decision, scope, reason = self._decision()
        except (EOFError, KeyboardInterrupt):
            self.wait(self.dialogue.stop())
            self.view.line("not allowed; the reply was stopped")
            account.request = None
            return account
        if decision == "deny":
            self.view.line(f"denied{f': {reason}' if reason else ''}")
        return self.wait(self.dialogue.answer(account, decision, scope, reason))

    def _decision(self) -> tuple[str, str, str | None]:
        while True:
            key = self.typist.ask(QUESTION).strip().lower()
            if key in ANSWERS:
                reason = self.typist.ask("why not? > ").strip() if key == "e" else ""
                return (*ANSWERS[key], reason or None)


def exact(arguments: Any) -> str:
    """A tool's arguments, all of them, as they will be given; what cannot be seen is written out."""
    try:
        value = json.loads(arguments) if isinstance(arguments, str) else arguments
        text = json.dumps(value, ensure_ascii=False, indent=2)
    except ValueError:
        text = str(arguments)
    return "\n".join(map(written_out, text.split("\n")))


def told(problem: BaseException) -> str:
    """An error as people read it."""
    return problem.message if isinstance(problem, ProviderError) else str(problem)
