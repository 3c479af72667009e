"""The scripted model: plays replies from a file, for tests, demonstrations and documentation.

A script is TOML. Each reply has steps; `text` and `thinking` are told word by word at the script's pace:

    pace_ms = 30
    [[replies]]
    when = "weather"          # a pattern for what the user said last; without it, replies come in order
    steps = [
        { thinking = "A question about the weather.", signature = "s" },
        { text = "I will look it up." },
        { tool = "get_weather", arguments = { city = "Zürich" } },
        { delay_ms = 200 },
        { usage = { input = 12, output = 34 } },
        { error = "1002", message = "Overloaded", retry_after_ms = 500 },
    ]

Which reply is played follows from the conversation alone, so playing the same conversation again gives the same.
"""

import json
import re
import tomllib
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from antiphon.messages import Usage, usage_from_json
from antiphon.providers.base import (
    Delta,
    Done,
    Model,
    Request,
    SignatureDelta,
    TextDelta,
    ThinkingDelta,
    ToolArgs,
    ToolStart,
    UsageDelta,
)
from antiphon.providers.clock import LOOP_CLOCK, Clock, sleep
from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.references import Reference
from antiphon.providers.tokens import tokens_of_bytes, tokens_of_request

STEPS = ("text", "thinking", "tool", "delay_ms", "usage", "error")
WORD = re.compile(r"\S+\s*|\s+")


class ScriptedModel:
    """A `Provider` that plays a script."""

    __slots__ = ("_clock", "_pace_ms", "_replies", "model")

    def __init__(self, script: Mapping[str, Any], *, name: str = "script", clock: Clock = LOOP_CLOCK) -> None:
        self.model = Model(f"scripted:{name}", "scripted", name, structured=False)
        self._pace_ms: float = script.get("pace_ms", 0)
        self._replies: Sequence[Mapping[str, Any]] = script.get("replies", ())
        self._clock = clock
        _check(name, self._replies)

    def __repr__(self) -> str:
        return f"ScriptedModel({self.model.name!r})"

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Play the reply to a request."""
        asked = tokens_of_request(request)
        yield UsageDelta(Usage(asked, estimated=True), self.model.name)
        usage: Usage | None = None
        size = 0
        called = False
        for place, step in enumerate(self._reply(request)["steps"]):
            if "delay_ms" in step:
                await sleep(self._clock, step["delay_ms"])
            elif "error" in step:
                raise ProviderError(
                    Code(step["error"]), step.get("message", "scripted"), retry_after_ms=step.get("retry_after_ms")
                )
            elif "usage" in step:
                usage = usage_from_json(step["usage"])
            else:
                called = called or "tool" in step
                for delta in _deltas(step, _call_id(request, place)):
                    if isinstance(delta, TextDelta | ThinkingDelta | ToolArgs):
                        size += len(delta.text)
                        if self._pace_ms:
                            await sleep(self._clock, self._pace_ms)
                    yield delta
        yield UsageDelta(usage or Usage(asked, tokens_of_bytes(size), estimated=True), self.model.name)
        yield Done("tool_calls" if called else "end")

    def _reply(self, request: Request) -> Mapping[str, Any]:
        said = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
        for reply in self._replies:
            if "when" in reply and re.search(reply["when"], said, re.IGNORECASE):
                return reply
        in_order = [reply for reply in self._replies if "when" not in reply]
        if not in_order:
            raise ProviderError(Code.BAD_REQUEST, f"the script {self.model.name!r} has no reply to {said[:80]!r}")
        turn = sum(message.role == "assistant" for message in request.messages)
        return in_order[turn % len(in_order)]


def open_script(reference: Reference, clock: Clock = LOOP_CLOCK) -> ScriptedModel:
    """The script of that name that comes with the package, or the file at that path."""
    packaged = files("antiphon.providers") / "scripts" / f"{reference.model}.toml"
    try:
        if re.fullmatch(r"[\w-]+", reference.model) and packaged.is_file():
            text = packaged.read_text("utf-8")
        else:
            text = Path(reference.model).read_text("utf-8")
        return ScriptedModel(tomllib.loads(text), name=reference.model, clock=clock)
    except OSError as error:
        raise ProviderError(Code.NOT_FOUND, f"cannot read the script {reference.model!r}: {error.strerror}") from error
    except ValueError as error:
        raise ProviderError(Code.BAD_REQUEST, f"the script {reference.model!r} is not valid: {error}") from error


def _check(name: str, replies: Sequence[Mapping[str, Any]]) -> None:
    for number, reply in enumerate(replies):
        for step in reply.get("steps", ({},)):
            known = [kind for kind in STEPS if kind in step]
            if len(known) != 1:
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
    # The same conversation gives the same id, another turn another one.
    turns = f"{len(request.messages)}/{place}/" + "".join(message.text for message in request.messages)
    return f"call_{sha256(turns.encode('utf-8', 'replace')).hexdigest()[:16]}"
