"""Settings of a new thread as the body of a request."""

from collections.abc import Mapping
from typing import Any

from antiphon.threads.errors import Refused


def to_body(kind: str, title: str | None, owner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body that creates a thread; tools are sent by their names, because the server has its own."""
    body: dict[str, Any] = {"kind": kind, **settings}
    if title is not None:
        body["title"] = title
    if owner:
        body["owner"] = owner
    if body.get("tools") is not None:
        body["tools"] = [_name_of(tool) for tool in body["tools"]]
    if "agents" in body:
        agents = body["agents"]
        body["agents"] = [_agent(agent) for agent in (agents.values() if isinstance(agents, Mapping) else agents)]
    return {name: value for name, value in body.items() if name not in ("tools", "id") or value is not None}


def _name_of(tool: Any) -> str:
    if isinstance(tool, str):
        return tool
    # A function with @tool has its tool as an attribute.
    name = tool.get("name") if isinstance(tool, Mapping) else getattr(getattr(tool, "tool", tool), "name", None)
    if not isinstance(name, str):
        raise Refused(f"{tool!r} is not a tool of the server; name one that GET /tools lists")
    return name


def _agent(agent: Any) -> dict[str, Any]:
    return dict(agent if isinstance(agent, Mapping) else agent.to_config())
