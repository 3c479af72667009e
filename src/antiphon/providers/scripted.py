"""The scripted model: replays replies from a file, for tests, demonstrations and documentation.

A script is TOML. Each reply has steps; `text` and `thinking` are sent word by word at the script's pace:

    pace_ms = 30
    [[replies]]
    when = "weather"          # a pattern for the last user message
    system = "forecaster"     # a pattern for the system messages
    after = "get_weather"     # a pattern for the tools whose results end the conversation
    steps = [
        { thinking = "A question about the weather.", signature = "s" },
        { text = "I will look it up." },
        { tool = "get_weather", arguments = { city = "Zürich" } },
        { delay_ms = 200 },
        { usage = { input = 12, output = 34 } },
        { stop = "length" },  # why the reply ends, if it is not whole
        { error = "1002", message = "Overloaded", retry_after_ms = 500, times = 1 },
    ]

1. The first reply in the file whose patterns all match is used; replies without patterns come last.
2. Replies with the same patterns, or with none, take turns: one for each assistant message in the conversation,
   then from the beginning again.
3. So the same conversation gives the same reply. Only an error with `times` is raised that many times for a
   conversation; after that the same request continues without it.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from antiphon.errors import Code
from antiphon.messages import ToolResult, Usage, usage_from_json
from antiphon.providers.base import (
    Delta,
    Done,
    Model,
    Request,
    SignatureDelta,
    Stop,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.clock import LOOP_CLOCK, ProviderClock, sleep
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import Reference
from antiphon.providers.usage import complete_usage

MAX_REMEMBERED = 1_000
PATTERNS = ("when", "system", "after")
STEPS = ("text", "thinking", "tool", "delay_ms", "usage", "error", "stop")
Patterns = tuple[str, ...]
WORD = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """`Provider` that replays a script."""

    __slots__ = ("_clock", "_groups", "_pace_ms", "_raised", "model")

    def __init__(
        self,
        script: Mapping[str, Any],
        *,
        name: str = "script",
        clock: ProviderClock = LOOP_CLOCK,
        raised: Counter[str] | None = None,
    ) -> None:
        self.model = Model(f"scripted:{name}", "scripted", name, structured=False)
        self._pace_ms: float = script.get("pace_ms", 0)
        replies = script.get("replies", ())
        _check(name, replies)
        self._groups = _groups(replies)
        self._clock = clock
        # How often an error with `times` was raised; passed in to keep the counts when a script is opened again.
        self._raised: Counter[str] = Counter() if raised is None else raised

    def __repr__(self) -> str:
        return f"ScriptedModel({self.model.name!r})"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Yield the deltas of the scripted reply to a request."""
        yield UsageDelta(complete_usage(None, request, 0), self.model.name)
        usage: Usage | None = None
        size = 0
        stop: Stop = "end"
        for place, step in enumerate(self._reply(request)["steps"]):
            if "delay_ms" in step:
                await sleep(self._clock, step["delay_ms"])
            elif "error" in step:
                if self._is_due(step, _call_id(request, place)):
                    wait = step.get("retry_after_ms")
                    raise ProviderError(Code(step["error"]), step.get("message", "scripted"), retry_after_ms=wait)
            elif "usage" in step:
                usage = usage_from_json(step["usage"])
            elif "stop" in step:
                stop = step["stop"]
            else:
                stop = "tool_calls" if "tool" in step else stop
                for delta in _deltas(step, _call_id(request, place)):
                    if isinstance(delta, TextDelta | ThinkingDelta | ToolArgs):
                        size += len(delta.text)
                        if self._pace_ms:
                            await sleep(self._clock, self._pace_ms)
                    yield delta
        yield UsageDelta(usage or complete_usage(None, request, size), self.model.name)
        yield Done(stop)

    def _reply(self, request: Request) -> Mapping[str, Any]:
        prompt = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
        instructions = "\n".join(message.text for message in request.messages if message.role == "system")
        turn = sum(message.role == "assistant" for message in request.messages)
        texts = (prompt, instructions, _answered_tools(request))
        for patterns, replies in self._groups:
            if all(re.search(pattern, text, re.IGNORECASE) for pattern, text in zip(patterns, texts, strict=True)):
                return replies[turn % len(replies)]
        raise ProviderError(Code.BAD_REQUEST, f"the script {self.model.name!r} has no reply to {prompt[:80]!r}")

    def _is_due(self, step: Mapping[str, Any], conversation: str) -> bool:
        if "times" not in step:
            return True
        if len(self._raised) >= MAX_REMEMBERED:
            self._raised.clear()
        key = f"{self.model.name}/{conversation}"
        self._raised[key] += 1
        times: int = step["times"]
        return self._raised[key] <= times


def script_names() -> list[str]:
    """List the scripts that come with the package."""
    folder = files("antiphon.providers") / "scripts"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def open_script(
    reference: Reference, clock: ProviderClock = LOOP_CLOCK, raised: Counter[str] | None = None
) -> ScriptedModel:
    """Open a script that comes with the package, by name, or a file, by path."""
    packaged = files("antiphon.providers") / "scripts" / f"{reference.model}.toml"
    try:
        if re.fullmatch(r"[\w-]+", reference.model) and packaged.is_file():
            text = packaged.read_text("utf-8")
        else:
            text = Path(reference.model).read_text("utf-8")
        return ScriptedModel(tomllib.loads(text), name=reference.model, clock=clock, raised=raised)
    except OSError as error:
        raise ProviderError(Code.NOT_FOUND, f"cannot read the script {reference.model!r}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ProviderError(Code.BAD_REQUEST, f"the script {reference.model!r} is not valid: {error}") from error


def _groups(replies: Sequence[Mapping[str, Any]]) -> list[tuple[Patterns, list[Mapping[str, Any]]]]:
    grouped: dict[Patterns, list[Mapping[str, Any]]] = {}
    for reply in replies:
        grouped.setdefault(tuple(reply.get(key, "") for key in PATTERNS), []).append(reply)
    # Sorting is stable, so replies with patterns stay in file order.
    return sorted(grouped.items(), key=lambda group: not any(group[0]))


def _answered_tools(request: Request) -> str:
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != "tool":
        return ""
    names = {call.id: call.name for message in request.messages for call in message.calls}
    return " ".join(names.get(part.call_id, "") for part in last.parts if isinstance(part, ToolResult))


def _check(name: str, replies: Sequence[Mapping[str, Any]]) -> None:
    for number, reply in enumerate(replies):
        for key in PATTERNS:
            try:
                re.compile(reply.get(key, ""))
            except (re.error, TypeError) as error:
                raise ValueError(f"{name}: replies[{number}].{key} is not a valid pattern: {error}") from error
        for step in reply.get("steps", ({},)):
            kinds = [kind for kind in STEPS if kind in step]
            if len(kinds) != 1:
                raise ValueError(f"{name}: replies[{number}] has the step {step}; a step has one of {', '.join(STEPS)}")
            if "error" in step and step["error"] not in list(Code):
                raise ValueError(f"{name}: replies[{number}] has the unknown error code {step['error']!r}")


def _deltas(step: Mapping[str, Any], call_id: str) -> Iterator[Delta]:
    if "tool" in step:
        yield ToolStart(call_id, step["tool"])
        arguments = json.dumps(step.get("arguments", {}), ensure_ascii=False)
        yield from (ToolArgs(call_id, piece) for piece in WORD.findall(arguments))
        return
    yield from (ThinkingDelta(word) for word in WORD.findall(step.get("thinking", "")))
    yield from (TextDelta(word) for word in WORD.findall(step.get("text", "")))
    if "signature" in step:
        yield SignatureDelta(step["signature"])


def _call_id(request: Request, place: int) -> str:
    # The id depends on the conversation and the turn, so it is reproducible.
    turns = f"{len(request.messages)}/{place}/" + "".join(message.text for message in request.messages)
    return f"call_{sha256(turns.encode('utf-8', 'replace')).hexdigest()[:16]}"
