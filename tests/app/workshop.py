"""A workshop for runs in tests: a toolbox that really writes files, and scripts for a team."""

import json
from pathlib import Path
from typing import Any

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.services.agent_files import default_agents
from antiphon.services.toolbox import tools_to_json


class Workshop:
    """Writes files into a folder, and checks them; remembers every call."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[ToolCall] = []
        self.tools = tuple(Tool(name, name, {"type": "object"}) for name in ("write_file", "read_file", "shell"))

    @property
    def listed(self) -> list[dict[str, Any]]:
        """The tools as a run's settings have them."""
        return tools_to_json(self.tools, {"write_file": "write", "read_file": "read", "shell": "write"})

    async def call(self, call: ToolCall) -> ToolResult:
        """Write, read, or see whether a file is Python."""
        self.calls.append(call)
        given = call.input()
        path = self.folder / given["path"]
        match call.name:
            case "write_file":
                path.write_text(given["content"])
                return ToolResult.of(call, f"wrote {given['path']}")
            case "read_file":
                return ToolResult.of(call, path.read_text())
            case _:
                try:
                    compile(path.read_text(), str(path), "exec")
                except SyntaxError as error:
                    return ToolResult.of(call, f"SyntaxError: {error.msg}", is_error=True)
                return ToolResult.of(call, "fine")


def team(*names: str) -> list[Any]:
    """Some of the default agents."""
    return [default_agents().agents[name] for name in names]


def script(folder: Path, *replies: dict[str, Any]) -> str:
    """The reference of a script: replies with `system`, `when`, `after` and `steps`."""
    path = folder / "team.toml"
    lines: list[str] = []
    for reply in replies:
        lines.append("[[replies]]")
        lines += [f"{key} = {json.dumps(reply[key])}" for key in ("system", "when", "after") if key in reply]
        steps = (
            ("{" + ", ".join(f"{key} = {_inline(value)}" for key, value in step.items()) + "}")
            for step in reply["steps"]
        )
        lines.append(f"steps = [{', '.join(steps)}]")
    path.write_text("\n".join(lines), encoding="utf-8")
    return f"scripted:{path}"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def says(system: str, text: str, **patterns: str) -> dict[str, Any]:
    """A reply in words."""
    return {"system": system, **patterns, "steps": [{"text": text}]}


def calls(system: str, tool: str, arguments: dict[str, Any], **patterns: str) -> dict[str, Any]:
    """A reply that asks for a tool."""
    return {"system": system, **patterns, "steps": [{"tool": tool, "arguments": arguments}]}


def decides(when: str | None, **decision: Any) -> dict[str, Any]:
    """A reply of the arbiter."""
    return says("arbiter", json.dumps(decision), **({"when": when} if when else {}))


GOOD, BAD = "def add(a, b):\n    return a + b\n", "def add(a, b) return a + b\n"
TOLD = '"""Sums."""\n\n' + GOOD


def small_task(folder: Path) -> str:
    """A team whose first file is broken, whose second is sent back once, and whose third passes."""
    return script(
        folder,
        decides("(?s)Evaluate.*review passed", type="COMPLETE", summary="add.py adds.", completed=[0]),
        decides("(?s)Evaluate.*(third version)", type="SELECT_MODE", mode="reviewer", reason="read it"),
        decides("(?s)Evaluate.*(second version)", type="SELECT_MODE", mode="reviewer", reason="read it"),
        decides("(?s)Evaluate.*tests failed", type="RETRY", reason="it is broken"),
        decides("(?s)Evaluate.*first version", type="SELECT_MODE", mode="tester", reason="try it"),
        decides("(?s)tests failed", type="SELECT_MODE", mode="developer", reason="mend it"),
        decides(None, type="SELECT_MODE", mode="planner", reason="plan first"),
        says("planner", 'Plan ready.\n```json\n{"steps": ["Write add.py"], "confidence": 0.9}\n```'),
        says("tester", "Tests failed: it is no Python.", after="shell"),
        calls("tester", "shell", {"command": "python -m py_compile add.py", "path": "add.py"}),
        says("developer", "Third version.", when="changes wanted", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": TOLD}, when="changes wanted"),
        says("developer", "Second version.", when="tests failed", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": GOOD}, when="tests failed"),
        says("developer", "First version.", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": BAD}),
        says("reviewer", "Review passed.", when="third version"),
        says("reviewer", "Changes wanted: say what it is for."),
    )  # fmt: skip
