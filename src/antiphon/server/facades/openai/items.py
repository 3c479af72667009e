"""The input of the Responses API: a text, or items, as messages of a chat."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.server.facades.openai.content import read_content
from antiphon.server.facades.openai.errors import bad_parameter
from antiphon.server.facades.openai.prompts import SYSTEM, ClientPrompt, PromptBuilder, tool_call, tool_result

Json = Mapping[str, Any]
ROLES = ("user", "assistant", *SYSTEM)
KINDS = ("message", "function_call", "function_call_output", "reasoning")


def read_input(value: str | list[Any], instructions: str | None, before: Sequence[Json]) -> ClientPrompt:
    """Return the prompt in the `input` of a response, after the messages of an earlier one."""
    builder = PromptBuilder("input", joins_replies=True)
    items = [{"role": "user", "content": value}] if isinstance(value, str) else value
    for number, item in enumerate(items):
        _add_item(builder, item, f"input[{number}]")
    return builder.build(instructions, before)


def _add_item(builder: PromptBuilder, item: Any, place: str) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        _add_message(builder, item, place)
    elif kind == "function_call":
        builder.add("assistant", [tool_call(item.get("call_id"), item, place)])
    elif kind == "function_call_output":
        builder.add("tool", [tool_result(item.get("call_id"), item.get("output"), place, "call_id")])
    elif kind != "reasoning":  # the thread has its own, which is complete
        raise bad_parameter(f"{place}.type", f"is {kind!r}; supported: {', '.join(KINDS)}")


def _add_message(builder: PromptBuilder, item: Json, place: str) -> None:
    role = item.get("role")
    if role not in ROLES:
        raise bad_parameter(f"{place}.role", f"is {role!r}; supported: {', '.join(ROLES)}")
    parts = read_content(item.get("content"), f"{place}.content", images=role == "user")
    if role == "user" and not parts:
        raise bad_parameter(f"{place}.content", "is missing")
    builder.add("system" if role in SYSTEM else str(role), parts)
