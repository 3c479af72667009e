"""Tool calls in two held steps, for a model that was taught none: first which tool, then its arguments."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from antiphon.messages import Message, system
from antiphon.providers.base import OutputSchema, Request, Tool
from antiphon.providers.local.wire import bounded

CHOICE_TOKENS = 64
ARGUMENT_TOKENS = 1024
TO_ANSWER = "answer"


def tools_left(request: Request) -> tuple[Tool, ...]:
    """The tools that may be called now.

    Where the model is free to choose, one that was called since the user spoke is not offered again: a model of this
    size would call it for ever.
    """
    match request.tool_choice:
        case "none":
            return ()
        case "any":
            return request.tools
        case "auto":
            called = set(_called(request.messages))
            return tuple(tool for tool in request.tools if tool.name not in called)
        case name:
            return tuple(tool for tool in request.tools if tool.name == name)


def choice(request: Request, tools: Sequence[Tool]) -> Request | None:
    """The question which tool it shall be; nothing where there is no choice."""
    free = request.tool_choice == "auto"
    if not free and len(tools) == 1:
        return None
    names = [tool.name for tool in tools]
    if free:
        names.append(_answer_name(names))
    menu = [f"- {tool.name}: {tool.description}" for tool in tools]
    if free:
        menu.append(f"- {names[-1]}: talk to the user, no tool is needed")
    instruction = "Pick what fits the user's request.\n" + "\n".join(menu) + "\nAnswer in JSON."
    schema = {
        "type": "object",
        "properties": {"tool": {"enum": names}},
        "required": ["tool"],
        "additionalProperties": False,
    }
    return _held(request, instruction, OutputSchema(schema, "choice"), CHOICE_TOKENS)


def chosen(tools: Sequence[Tool], text: str) -> Tool | None:
    """The tool that the model chose; nothing when it would rather answer."""
    try:
        name = json.loads(text)["tool"]
    except (ValueError, KeyError, TypeError):
        return None
    return next((tool for tool in tools if tool.name == name), None)


def arguments(request: Request, tool: Tool) -> Request:
    """The question for the arguments of a tool."""
    instruction = f"Fill the arguments of {tool.name} ({tool.description}) from the request. JSON only."
    schema = bounded(tool.parameters) if tool.parameters else {"type": "object", "additionalProperties": False}
    return _held(request, instruction, OutputSchema(schema, tool.name), request.max_tokens or ARGUMENT_TOKENS)


def _held(request: Request, instruction: str, output: OutputSchema, max_tokens: int) -> Request:
    spoken = tuple(message for message in request.messages if message.role != "system")
    return replace(
        request,
        messages=(system(instruction), *spoken),
        tools=(),
        tool_choice="auto",
        temperature=0,
        max_tokens=max_tokens,
        stop=(),
        output=output,
    )


def _called(messages: Sequence[Message]) -> Iterator[str]:
    for message in reversed(messages):
        if message.role == "user":
            return
        yield from (call.name for call in message.calls)


def _answer_name(taken: Sequence[str]) -> str:
    name = TO_ANSWER
    while name in taken:
        name = f"no_tool_{name}"
    return name
