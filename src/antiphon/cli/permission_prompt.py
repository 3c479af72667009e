"""Requests of models to the user, for permissions and answers, and the replies where there is no user.

1. A call is shown completely before it can be allowed: the whole command, the whole diff, all arguments. What does not
   fit on the screen is shown page by page, and no key allows anything before the last page.
2. Each key stands for one thing in words: once, a scope that the calls offer, outside the sandbox, edited, or no.
   It is sent with Enter, so that no key that is meant for something else allows a call.
3. Keys pressed before the call was shown do not count as an answer.
4. Changed arguments are shown again before they are allowed, and hold once; the thread judges them as any call.
"""

import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from antiphon.cli.argument_edits import BadArguments, SchemaOf, check_arguments, format_arguments, parse_arguments
from antiphon.cli.input.external_editor import EditorError
from antiphon.cli.input.lines import LineInput
from antiphon.cli.render.plain import TextView
from antiphon.cli.render.questions import argument_lines, question_lines
from antiphon.cli.render.units import plural
from antiphon.threads.activity import parse_input

Json = Mapping[str, Any]
ANSWER_UNATTENDED = "No user is available to answer. Continue as you think best and state your assumptions."
TOO_LATE = "this request was already answered or has expired; the answer was ignored"
REFUSED_EDIT = "these arguments were refused: a rule denies them, or the request was already answered"
NOT_CHANGED = "nothing was changed"
# The key of each scope; `a` allows once, `o` outside the sandbox, `e` edits, `d` denies and `s` shows everything again.
SCOPE_KEYS = {"command": "c", "folder": "f", "host": "h", "tool": "t"}
OTHER_CHOICES = {
    "e": "edit the arguments, then allow once",
    "d": "deny, with a reason for the model",
    "s": "show everything again",
}
IsOpen = Callable[[], Awaitable[bool]]
QUESTION = "allow? > "
CONFIRM_EDIT = "allow once with these arguments? y: yes, n: back > "
FEWEST_LINES = 5


@dataclass(frozen=True, slots=True)
class PermissionDecision:
    """Decision on a request for permission."""

    decision: str
    scope: str = "once"
    outside: bool = False
    reason: str | None = None
    arguments: Mapping[str, Json] | None = None  # changed ones, by the ids of calls
    taken: str | None = field(default=None, compare=False)  # the line to print once it counts

    def to_answer(self) -> dict[str, Any]:
        """Return the decision as the arguments of `ThreadService.answer`."""
        answer = {"decision": self.decision, "scope": self.scope, "outside": self.outside, "reason": self.reason}
        return answer if self.arguments is None else {**answer, "arguments": self.arguments}

    @property
    def too_late(self) -> str:
        """The line for a decision that was not taken."""
        return TOO_LATE if self.arguments is None else REFUSED_EDIT


async def always_open() -> bool:
    """Return True: nobody else can answer."""
    return True


class Answerer(Protocol):
    """Answers requests; raises `EOFError` or `Interrupted` if the user declines to."""

    async def permit(
        self, calls: Sequence[Json], speaker: str, schema_of: SchemaOf, is_open: IsOpen = always_open
    ) -> PermissionDecision:
        """Decide whether tool calls are allowed; changed arguments are checked by the schema of their tool.

        Nothing more is asked once the request `is_open` no longer: what was decided is refused as too late.
        """
        ...

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Answer a question."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Answer that a key stands for, in words."""

    words: str
    decision: PermissionDecision


class TerminalAnswerer:
    """Asks the user at the terminal; `height` is the number of lines of a page, that of the terminal if absent."""

    def __init__(self, lines: LineInput, view: TextView, *, height: int | None = None) -> None:
        self._lines = lines
        self._view = view
        self._height = height
        self._is_open: IsOpen = always_open

    async def permit(
        self, calls: Sequence[Json], speaker: str, schema_of: SchemaOf, is_open: IsOpen = always_open
    ) -> PermissionDecision:
        """Show the calls completely, and read a decision."""
        self._lines.set_aside()
        self._is_open = is_open
        choices = answer_choices(calls)
        denial = await self._show(calls, speaker)
        if denial is not None:
            return denial
        self._offer(choices)
        while True:
            key = (await self._lines.ask(QUESTION)).strip().lower()
            decision: PermissionDecision | None = None
            if key == "d":
                return await self._deny()
            if key == "e" and not await self._is_open():
                return PermissionDecision("deny")
            if key == "e":
                decision = await self._edit(calls, schema_of)
            elif key == "s":
                decision = await self._show(calls, speaker)
                self._offer(choices)
            elif key in choices:
                return choices[key].decision
            else:
                self._view.line(f"type one of these and Enter: {', '.join([*choices, *OTHER_CHOICES])}")
            if decision is not None:
                return decision

    def _offer(self, choices: Mapping[str, Choice]) -> None:
        for line in choice_lines(choices):
            self._view.line(line, "title")

    async def _edit(self, calls: Sequence[Json], schema_of: SchemaOf) -> PermissionDecision | None:
        """Let the user change arguments and confirm them; return None if nothing is to be allowed so."""
        try:
            edits = await self._edited_arguments(calls, schema_of)
        except (BadArguments, EditorError) as error:
            self._view.line(str(error), "error")
            return None
        if not edits:
            self._view.line(NOT_CHANGED)
            return None
        for call in calls:
            if call["id"] in edits:
                self._view.line(f"{call['name']} with changed arguments:", "title")
                for line in argument_lines(edits[call["id"]]):
                    self._view.line(line, "tool")
        is_confirmed = (await self._lines.ask(CONFIRM_EDIT)).strip().lower() in ("y", "yes")
        return PermissionDecision("allow", arguments=edits) if is_confirmed else None

    async def _edited_arguments(self, calls: Sequence[Json], schema_of: SchemaOf) -> dict[str, Json]:
        edits: dict[str, Json] = {}
        for call in calls:
            arguments = parse_input(call["arguments"])
            if call["decision"] != "ask" or not isinstance(arguments, Mapping) or not arguments:
                continue
            text = await self._lines.edit(format_arguments(arguments), ".txt")
            new_arguments = parse_arguments(text, arguments)
            if new_arguments != arguments:
                await check_arguments(new_arguments, await schema_of(call["name"]))
                edits[call["id"]] = new_arguments
        return edits

    async def _show(self, calls: Sequence[Json], speaker: str) -> PermissionDecision | None:
        """Show the calls, page by page if they are long; return a denial if the user does not read to the end."""
        size = shutil.get_terminal_size()
        page = max(FEWEST_LINES, (self._height or size.lines) - 2)
        rows = [row for line in question_lines(calls, speaker) for row in line.rows(size.columns, page)]
        shown = 0
        for number, row in enumerate(rows):
            if shown + row.height > page:
                key = await self._lines.ask(f"{plural(len(rows) - number, 'more line')}; Enter: go on, d: deny > ")
                if key.strip().lower() == "d":
                    return await self._deny()
                shown = 0
            self._view.line(row.text, row.tone)
            shown += row.height
        return None

    async def _deny(self) -> PermissionDecision:
        if not await self._is_open():
            return PermissionDecision("deny")
        reason = (await self._lines.ask("reason (sent to the model) > ")).strip()
        return PermissionDecision("deny", reason=reason or None, taken=f"denied: {reason}" if reason else "denied")

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Show a question and read an answer, as text or as the number of an option."""
        self._lines.set_aside()
        self._view.line(f"{speaker} asks: {question}", "title")
        for number, option in enumerate(options, 1):
            self._view.line(f"  {number}. {option}")
        hint = f" (1–{len(options)}, or text)" if options else ""
        while True:
            text = (await self._lines.message(f"answer{hint} > ")).strip()
            if text.isdigit() and 1 <= int(text) <= len(options):
                return options[int(text) - 1]
            if text:
                return text


def answer_choices(calls: Sequence[Json]) -> dict[str, Choice]:
    """Return the keys that allow calls, each with what it allows."""
    asked = [call for call in calls if call["decision"] == "ask"]
    choices = {"a": Choice("allow once", PermissionDecision("allow"))}
    for scope, key in SCOPE_KEYS.items():
        labels = [offer["label"] for call in asked for offer in call["scopes"] if offer["scope"] == scope]
        if labels:
            words = f"always allow {' and '.join(dict.fromkeys(labels))}"
            choices[key] = Choice(words, PermissionDecision("allow", scope))
    if any(call["outside"] for call in asked):
        choices["o"] = Choice("allow once, OUTSIDE the sandbox", PermissionDecision("allow", outside=True))
    return choices


def choice_lines(choices: Mapping[str, Choice]) -> list[str]:
    """Return a line for each key."""
    words = {key: choice.words for key, choice in choices.items()}
    return [f"  {key}  {text}" for key, text in {**words, **OTHER_CHOICES}.items()]


def _mode_hint(calls: Sequence[Json]) -> str:
    """Return the mode that would allow all of these calls without a question, if there is one."""
    needs = {_mode_for(call) for call in calls}
    if None in needs:
        return ""
    return "; --mode auto would allow it" if "auto" in needs else "; --mode auto-edit would allow it"


def _mode_for(call: Json) -> str | None:
    if call.get("protected") or call.get("network"):
        return None
    if call["kind"] == "command":
        return "auto" if call["sandbox"] else None
    if call["risk"] == "destructive":
        return None
    return "auto-edit" if call["kind"] == "file" else "auto"


class UnattendedAnswerer:
    """Answers where there is no user: denies permissions, and leaves questions to the model."""

    def __init__(self, view: TextView) -> None:
        self._view = view

    async def permit(
        self, calls: Sequence[Json], speaker: str, schema_of: SchemaOf, is_open: IsOpen = always_open
    ) -> PermissionDecision:
        """Deny the calls."""
        asked = [call for call in calls if call["decision"] == "ask"] or calls
        names = ", ".join(call["name"] for call in asked)
        reason = f"no user to ask: {'; '.join(dict.fromkeys(str(call['reason']) for call in asked))}{_mode_hint(asked)}"
        self._view.line(f"{names} denied: {reason}", "error")
        return PermissionDecision("deny", reason=reason)

    async def reply(self, question: str, options: Sequence[str], speaker: str) -> str:
        """Let the model decide."""
        self._view.line(f"{speaker} asks: {question} (no user to answer)", "error")
        return ANSWER_UNATTENDED
