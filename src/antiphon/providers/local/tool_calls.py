"""Tool calls in two constrained requests, for a model not trained for them: first the tool, then its arguments."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from antiphon.messages import Message, system
from antiphon.providers.base import OutputSchema, Request, Tool

CHOICE_TOKENS = 64
ARGUMENT_TOKENS = 1024
TO_ANSWER = "answer"


def callable_tools(request: Request, *, repeatable: bool = False) -> tuple[Tool, ...]:
    """Return the tools that may be called now.

    If the model is free to choose, a tool already called since the last user message is offered again only if calls
    are repeatable: a model as small as the embedded one would call it forever.
    """
    match request.tool_choice:
        case "none":
            return ()
        case "any":
            return request.tools
        case "auto":
            called = set() if repeatable else set(_called(request.messages))
            return tuple(tool for tool in request.tools if tool.name not in called)
        case name:
            return tuple(tool for tool in request.tools if tool.name == name)


def choice_request(request: Request, tools: Sequence[Tool]) -> Request | None:
    """Return the request that chooses a tool; None if there is no choice."""
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
    return _constrained_request(request, instruction, OutputSchema(schema, "choice"), CHOICE_TOKENS)


def parse_choice(tools: Sequence[Tool], text: str) -> Tool | None:
    """Return the tool that the model chose; None if it chose to answer."""
    try:
        name = json.loads(text)["tool"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return next((tool for tool in tools if tool.name == name), None)


def arguments_request(request: Request, tool: Tool) -> Request:
    """Return the request for the arguments of a tool."""
    instruction = f"Fill the arguments of {tool.name} ({tool.description}) from the request. JSON only."
    schema = tool.parameters or {"type": "object", "additionalProperties": False}
    return _constrained_request(
        request, instruction, OutputSchema(schema, tool.name), request.max_tokens or ARGUMENT_TOKENS
    )


def _constrained_request(request: Request, instruction: str, output: OutputSchema, max_tokens: int) -> Request:
    conversation = tuple(message for message in request.messages if message.role != "system")
    return replace(
        request,
        messages=(system(instruction), *conversation),
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


def _answer_name(tool_names: Sequence[str]) -> str:
    name = TO_ANSWER
    while name in tool_names:
        name = f"no_tool_{name}"
    return name
