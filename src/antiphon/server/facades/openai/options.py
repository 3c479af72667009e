"""Parameters of requests as settings of a chat; those that no provider takes are refused by name."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from antiphon.server.facades.openai.errors import bad_parameter

Json = Mapping[str, Any]
# Parameters that are taken only with the value that changes nothing.
NEUTRAL: Mapping[str, Collection[Any]] = {
    "n": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "parallel_tool_calls": (True,),
    "service_tier": ("auto", "default"),
    "modalities": (["text"],),
    "truncation": ("disabled",),
    "background": (False,),
    "include": ([],),
    "verbosity": ("medium",),
}
REFUSED = (
    "seed", "audio", "prediction", "functions", "function_call", "web_search_options", "conversation", "prompt",
    "max_tool_calls",
)  # fmt: skip
EFFORTS = {"none": "none", "minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high"}
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
MOST_TOOLS = 128
MOST_STOPS = 16
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
# Settings of a thread: one that is continued by its id has its own.
THREAD_SETTINGS = (
    "temperature", "tools", "tool_choice", "stop", "response_format", "reasoning_effort", "store", *TOKEN_LIMITS,
)  # fmt: skip
NO_PARAMETERS: Json = {"type": "object", "properties": {}}


def check_neutral(body: Json) -> None:
    """Raise `ProblemError` for the first parameter that is not supported."""
    for name, value in body.items():
        if name in REFUSED:
            raise bad_parameter(name, "is not supported; leave it out")
        if name in NEUTRAL and value not in NEUTRAL[name]:
            raise bad_parameter(name, f"only {' or '.join(map(repr, NEUTRAL[name]))} is supported; leave it out")


def check_no_settings(body: Json) -> None:
    """Raise `ProblemError` if a request to a thread has settings."""
    setting = next((name for name in THREAD_SETTINGS if name in body), None)
    if setting is not None:
        raise bad_parameter(setting, "a thread has its own settings; leave it out")


def read_chat_options(body: Json) -> dict[str, Any]:
    """Return the options of a chat completion."""
    result = {**read_sampling(body, TOKEN_LIMITS), **read_tools(body, is_nested=True)}
    if "response_format" in body:
        result |= read_format(body["response_format"], "response_format", is_nested=True)
    if "reasoning_effort" in body:
        result["thinking"] = read_effort(body["reasoning_effort"], "reasoning_effort")
    return result


def read_response_options(body: Json) -> dict[str, Any]:
    """Return the options of a response."""
    result = {**read_sampling(body, ("max_output_tokens",)), **read_tools(body, is_nested=False)}
    text = body.get("text") or {}
    for name in text:
        if name != "format":
            raise bad_parameter(f"text.{name}", "is not supported; leave it out")
    if "format" in text:
        result |= read_format(text["format"], "text.format", is_nested=False)
    effort = (body.get("reasoning") or {}).get("effort")
    if effort is not None:
        result["thinking"] = read_effort(effort, "reasoning.effort")
    return result


def read_sampling(body: Json, limits: Collection[str]) -> dict[str, Any]:
    """Return the options for temperature, length, stops and reasoning; `limits` are the names of the token limit."""
    options: dict[str, Any] = {}
    if "temperature" in body:
        options["temperature"] = _number(body, "temperature", 0, 2)
    for name in limits:
        if name in body:
            options["maxTokens"] = _number(body, name, 1, 10_000_000)
    if "stop" in body:
        options["stop"] = _stops(body["stop"])
    return options


def read_effort(effort: Any, place: str) -> str:
    """Return the reasoning effort of a request."""
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise bad_parameter(place, f"is {effort!r}; supported: {', '.join(EFFORTS)}")
    return EFFORTS[effort]


def _number(body: Json, name: str, least: float, most: float) -> float:
    number: float = body[name]
    if not least <= number <= most:
        raise bad_parameter(name, f"is {number!r}; it must be from {least} to {most}")
    return number


def _stops(value: Any) -> list[str]:
    stops = [value] if isinstance(value, str) else value
    is_right = isinstance(stops, list) and len(stops) <= MOST_STOPS
    if not is_right or not all(isinstance(stop, str) and stop for stop in stops):
        raise bad_parameter("stop", f"must be a text, or a list of at most {MOST_STOPS} texts")
    return list(stops)


def read_tools(body: Json, *, is_nested: bool) -> dict[str, Any]:
    """Return the options for tools; in chat completions a tool is nested under `function`."""
    options: dict[str, Any] = {}
    values = body.get("tools") or []
    if len(values) > MOST_TOOLS:
        raise bad_parameter("tools", f"has {len(values)} tools, at most {MOST_TOOLS}")
    tools = [_tool(value, f"tools[{number}]", is_nested) for number, value in enumerate(values)]
    names = [tool["name"] for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise bad_parameter("tools", f"has {twice!r} twice")
    if tools:
        options["tools"] = tools
    if "tool_choice" in body:
        options["toolChoice"] = _choice(body["tool_choice"], names, is_nested)
    return options


def _tool(value: Any, place: str, is_nested: bool) -> dict[str, Any]:
    kind = value.get("type") if isinstance(value, dict) else None
    if kind != "function":
        raise bad_parameter(f"{place}.type", f"is {kind!r}; supported: function")
    function = value.get("function") if is_nested else value
    if not isinstance(function, dict):
        raise bad_parameter(f"{place}.function", "must be an object")
    name = function.get("name")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise bad_parameter(f"{place}.name", f"is {name!r}; it must have 1 to 64 letters, digits, '_' and '-'")
    about = function.get("description") or ""
    parameters = function.get("parameters") or NO_PARAMETERS
    if not isinstance(about, str) or not isinstance(parameters, dict):
        raise bad_parameter(place, "description must be a text, and parameters a JSON Schema of an object")
    return {"name": name, "description": about, "parameters": dict(parameters)}


def _choice(value: Any, names: Collection[str], is_nested: bool) -> str:
    words = {"auto": "auto", "none": "none", "required": "any"}
    if isinstance(value, str) and value in words:
        return words[value]
    function = (value.get("function") if is_nested else value) if isinstance(value, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name not in names:
        raise bad_parameter("tool_choice", f"must be {', '.join(words)}, or a function of tools")
    return str(name)


def read_format(value: Any, place: str, *, is_nested: bool) -> dict[str, Any]:
    """Return the option for the format of the answer: a text, or JSON by a schema."""
    kind = value.get("type") if isinstance(value, dict) else None
    if kind == "text":
        return {}
    form = value.get("json_schema") if is_nested and kind == "json_schema" else value
    if kind != "json_schema" or not isinstance(form, dict):
        raise bad_parameter(place, f"is of the type {kind!r}; supported: text, json_schema")
    name = form.get("name")
    schema = form.get("schema")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name) or not isinstance(schema, dict):
        raise bad_parameter(place, "needs a name of letters, digits, '_' and '-', and a JSON Schema as schema")
    return {"output": {"name": name, "schema": schema}}


def chat_settings(model: str, system: str | None, options: Json) -> dict[str, Any]:
    """Return the settings of a chat: the client calls the tools, and messages are never left out."""
    return {
        "model": model,
        "system": system,
        "settings": {"options": dict(options)},
        "strategy": "none",
        "maxToolRounds": None,
        "clientTools": "tools" in options,
    }
