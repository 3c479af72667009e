"""Prompts: the conversation of a request as messages of a chat, checked like OpenAI checks it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.server.facades.openai.content import read_content
from antiphon.server.facades.openai.errors import bad_parameter

Json = Mapping[str, Any]
SYSTEM = ("system", "developer")
MOST_MESSAGES = 10_000


@dataclass(frozen=True, slots=True)
class ClientPrompt:
    """A conversation: the system prompt, and messages with role and parts, of which the last is the input."""

    system: str | None
    messages: tuple[Json, ...]

    @property
    def input(self) -> Json:
        """The message to answer: a question, or results of tools."""
        return self.messages[-1]

    @property
    def earlier(self) -> tuple[Json, ...]:
        """The messages before the input."""
        return self.messages[:-1]


class PromptBuilder:
    """Collects messages; results of tools that follow each other are one message."""

    def __init__(self, parameter: str, *, joins_replies: bool = False) -> None:
        self._parameter = parameter
        self._joined = ("tool", "assistant") if joins_replies else ("tool",)
        self._messages: list[dict[str, Any]] = []

    def add(self, role: str, parts: Iterable[Json]) -> None:
        """Add a message, or more parts of the last one."""
        if self._messages and role in self._joined and self._messages[-1]["role"] == role:
            self._messages[-1]["parts"] += parts
        else:
            self._messages.append({"role": role, "parts": list(parts)})

    def build(self, instructions: str | None = None, before: Sequence[Json] = ()) -> ClientPrompt:
        """Return the prompt; messages of the system at the beginning are the system prompt."""
        messages: list[Json] = [*before, *self._messages]
        texts = [] if instructions is None else [instructions]
        while not before and messages and messages[0]["role"] == "system":
            texts += [part["text"] for part in messages.pop(0)["parts"]]
        if len(messages) > MOST_MESSAGES:
            raise bad_parameter(self._parameter, f"has {len(messages)} messages, at most {MOST_MESSAGES:,}")
        self._check_calls(messages)
        if not messages or messages[-1]["role"] not in ("user", "tool"):
            raise bad_parameter(self._parameter, "must end with a message of the user or with results of tools")
        return ClientPrompt("\n\n".join(texts) or None, tuple(messages))

    def _check_calls(self, messages: Iterable[Json]) -> None:
        """Raise `ProblemError` unless every call has its result, and every result its call."""
        open_calls: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                for part in message["parts"]:
                    if part["callId"] not in open_calls:
                        raise self._bad(f"the result of {part['callId']!r} follows no call of that id")
                    open_calls.remove(part["callId"])
            elif message["role"] != "system":
                self._refuse_open(open_calls)
                open_calls = [part["id"] for part in message["parts"] if part["type"] == "toolCall"]
        self._refuse_open(open_calls)

    def _refuse_open(self, open_calls: list[str]) -> None:
        if open_calls:
            raise self._bad(f"the calls {', '.join(open_calls)} must be followed by their results")

    def _bad(self, text: str) -> Exception:
        return bad_parameter(self._parameter, text)


def read_messages(values: Any) -> ClientPrompt:
    """Return the prompt in the `messages` of a chat completion."""
    if not isinstance(values, list) or not values:
        raise bad_parameter("messages", "must be a list with at least one message")
    builder = PromptBuilder("messages")
    for number, message in enumerate(values):
        _add_message(builder, message, f"messages[{number}]")
    return builder.build()


def _add_message(builder: PromptBuilder, message: Any, place: str) -> None:
    role = message.get("role") if isinstance(message, dict) else None
    if role in SYSTEM:
        builder.add("system", read_content(message.get("content"), f"{place}.content"))
    elif role == "user":
        parts = read_content(message.get("content"), f"{place}.content", images=True)
        if not parts:
            raise bad_parameter(f"{place}.content", "is missing")
        builder.add("user", parts)
    elif role == "assistant":
        text = read_content(message.get("content"), f"{place}.content")
        builder.add("assistant", [*text, *_calls(message.get("tool_calls"), f"{place}.tool_calls")])
    elif role == "tool":
        builder.add("tool", [tool_result(message.get("tool_call_id"), message.get("content"), place, "tool_call_id")])
    else:
        known = ", ".join((*SYSTEM, "user", "assistant", "tool"))
        raise bad_parameter(f"{place}.role", f"is {role!r}; supported: {known}")


def _calls(values: Any, place: str) -> list[dict[str, Any]]:
    if values is None:
        return []
    if not isinstance(values, list):
        raise bad_parameter(place, "must be a list of calls")
    calls = []
    for number, value in enumerate(values):
        function = value.get("function") if isinstance(value, dict) else None
        if not isinstance(function, dict):
            raise bad_parameter(f"{place}[{number}].function", "must be an object")
        calls.append(tool_call(value.get("id"), function, f"{place}[{number}]"))
    return calls


def tool_call(id: Any, function: Json, place: str) -> dict[str, Any]:
    """Return the part of a call; `function` has its name and arguments."""
    name = function.get("name")
    arguments = function.get("arguments")
    for key, text in (("id", id), ("name", name), ("arguments", arguments)):
        if not isinstance(text, str) or (not text and key != "arguments"):
            raise bad_parameter(f"{place}.{key}", "must be a text")
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments or "{}"}


def tool_result(id: Any, content: Any, place: str, key: str) -> dict[str, Any]:
    """Return the part of the result of a call."""
    if not isinstance(id, str):
        raise bad_parameter(f"{place}.{key}", "must be the id of a call")
    return {"type": "toolResult", "callId": id, "parts": read_content(content, f"{place}.content", images=True)}
