"""What agents ask of a person: permissions and questions; and who answers when nobody is there."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from antiphon.cli.chat.reply_stats import arguments_of
from antiphon.cli.chat.terminal import Typist
from antiphon.cli.prompt import forget_typed
from antiphon.cli.render.plain import View
from antiphon.cli.render.text_width import written_out

QUESTION = "allow? a: once, t: for this run, d: deny, e: show it all > "
DENIED = "nobody is here to be asked; --mode auto-edit lets agents change files unasked, --mode auto do all"
NOBODY = "Nobody is here to answer. Go on as you think best, and say what you assumed."


class Answerer(Protocol):
    """Answers what agents ask; `EOFError` and `KeyboardInterrupt` mean that nobody wants to."""

    def answer(self, asked: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        """The answer to a question in `text`, or to a request for permission in `decision`, `scope` and `reason`."""
        ...


class Person:
    """Asks a person at the keyboard."""

    def __init__(self, typist: Typist, view: View) -> None:
        self._typist, self._view = typist, view

    def answer(self, asked: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        """Show what is asked, and take the answer; what was typed before it was shown is none."""
        forget_typed()
        return self._permit(asked, who) if asked["reason"] == "permission" else self._reply(asked, who)

    def _permit(self, asked: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        calls: Sequence[Any] = asked["calls"]
        for call in calls:
            self._view.line(f"{who} wants {shown(call, is_exact=call['risk'] == 'destructive')}", "tool")
        while True:
            match self._typist.ask(QUESTION).strip().lower():
                case "a":
                    return {"decision": "allow", "scope": "once"}
                case "t":
                    return {"decision": "allow", "scope": "thread"}
                case "d":
                    reason = self._typist.ask("why not? (the agent is told) > ").strip()
                    self._view.line(f"denied{f': {reason}' if reason else ''}")
                    return {"decision": "deny", "scope": "once", **({"reason": reason} if reason else {})}
                case "e":
                    for call in calls:
                        self._view.line(f"{shown(call, is_exact=True)}\nwhy it is asked: {_why(call)}", "tool")

    def _reply(self, asked: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        self._view.line(f"{who} asks: {asked['question']}", "title")
        options = [str(one) for one in asked.get("options") or ()]
        for number, option in enumerate(options, 1):
            self._view.line(f"  {number}. {option}")
        while True:
            text = self._typist.message(f"answer{f' (1–{len(options)}, or in words)' if options else ''} > ").strip()
            if text.isdigit() and 1 <= int(text) <= len(options):
                return {"text": options[int(text) - 1]}
            if text:
                return {"text": text}


class Nobody:
    """Answers where nobody can be asked: nothing is allowed, and every question is given back."""

    def __init__(self, view: View) -> None:
        self._view = view

    def answer(self, asked: Mapping[str, Any], who: str) -> Mapping[str, Any]:
        """Deny, or let the agent decide."""
        if asked["reason"] != "permission":
            self._view.line(f"{who} asks: {asked['question']} (nobody is here to answer)", "error")
            return {"text": NOBODY}
        names = ", ".join(call["name"] for call in asked["calls"])
        self._view.line(f"{names} denied: {DENIED}", "error")
        return {"decision": "deny", "scope": "once", "reason": DENIED}


def shown(call: Mapping[str, Any], *, is_exact: bool) -> str:
    """A call as a person sees it before it is made: in a few words, or to the last character."""
    given = parsed(call["arguments"])
    head = f"{call['name']} ({call['risk']})"
    if not is_exact:
        return f"{head}: {arguments_of(given)}"
    if not isinstance(given, Mapping):
        return f"{head}: {written_out(str(call['arguments']))}"
    return "\n".join([head, *(line for key, value in given.items() for line in _argument(key, value))])


def _argument(key: str, value: Any) -> list[str]:
    if not isinstance(value, str):
        return [f"  {written_out(key)}: {written_out(json.dumps(value, ensure_ascii=False))}"]
    lines = value.split("\n")
    if len(lines) == 1:
        return [f"  {written_out(key)}: {written_out(value)}"]
    return [f"  {written_out(key)}:", *(f"  │ {written_out(line)}" for line in lines)]


def _why(call: Mapping[str, Any]) -> str:
    """Why a person is asked: the rule, without the call itself, which is shown."""
    reason = str(call.get("reason") or "")
    text = str(call.get("text") or "")
    return written_out(reason.replace(text, call["name"]) if text else reason)


def parsed(arguments: Any) -> Any:
    """A call's arguments as data, if they are JSON."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
