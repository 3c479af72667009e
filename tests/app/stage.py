"""What conversations in tests need: scripts, and a toolbox that remembers."""

import json
from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import Any

from antiphon.app.happenings import Happening
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Delta, Done, Model, Request, Tool
from antiphon.providers.models import Models
from antiphon.services.toolbox import tools_to_json


def script(folder: Path, *replies: list[dict[str, Any]] | tuple[str, list[dict[str, Any]]]) -> str:
    """The reference of a script with these replies; one in a pair is for after the tool that comes first."""
    lines = []
    for reply in replies:
        after, steps = reply if isinstance(reply, tuple) else (None, reply)
        lines.append("[[replies]]")
        lines += [f"after = {json.dumps(after)}"] if after else []
        lines.append(f"steps = [{', '.join(map(_inline, steps))}]")
    path = folder / "script.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"scripted:{path}"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def told(heard: Iterable[Happening]) -> str:
    """The words among what happened."""
    return "".join(one.facts["text"] for one in heard if one.kind == "text")


class Teller:
    """A model that plays replies in turn, and remembers what it was asked."""

    model = Model("scripted:teller", "scripted", "teller")

    def __init__(self, *replies: Sequence[Delta]) -> None:
        self._replies = list(replies)
        self.asked: list[Request] = []

    @property
    def models(self) -> Models:
        """Models, every scripted one of which is this one."""
        return Models(openers={"scripted": lambda reference: self})

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The next reply."""
        self.asked.append(request)
        for delta in self._replies.pop(0):
            yield delta
        yield Done("end")


class Clerk:
    """A toolbox that files things, and remembers what."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.tools = (Tool("file", "Files a thing.", {"type": "object", "properties": {"name": {"type": "string"}}}),)

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The tools as a chat's settings have them."""
        return tools_to_json(self.tools, {"file": "write"})

    async def call(self, call: ToolCall) -> ToolResult:
        """File a thing."""
        self.calls.append(call)
        return ToolResult.of(call, "filed")
