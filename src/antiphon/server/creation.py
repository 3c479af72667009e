"""Threads created from the bodies of requests, by routes and by facades."""

import secrets
from collections.abc import Sequence
from typing import Any

from antiphon.agents.files import default_agents
from antiphon.providers.base import Tool
from antiphon.server.context import ServerContext
from antiphon.server.problems import ProblemError, problem_of
from antiphon.server.windows.rules import offered_tools, take_local_settings
from antiphon.threads import Refused

LONGEST_TITLE = 500
ID_BYTES = 12  # an id that cannot be guessed


async def create_from_body(context: ServerContext, body: dict[str, Any], *, is_window: bool = False) -> str:
    """Create the thread that a checked body describes, and return its id; raise `ProblemError` for wrong settings."""
    check_title(body.get("title"))
    settings = {key: value for key, value in take_local_settings(body, is_window=is_window).items() if key != "kind"}
    kind: str = body["kind"]
    tools = offered_tools(context, has_folder=is_window and "workspace" in settings)
    if kind in ("chat", "run") and "tools" in settings:
        settings["tools"] = _select_tools(tools, settings["tools"])
    elif kind == "run" and "workspace" in settings:
        settings["tools"] = tools
    if kind == "run" and "agents" not in settings:
        settings["agents"] = default_agents().agents
    if "tools" in ((settings.get("settings") or {}).get("options") or {}) or "tools" in (settings.get("options") or {}):
        raise ProblemError("bad_settings", "options.tools is not a setting; name tools of GET /tools in tools")
    try:
        return await context.app.threads.create(kind, **{"id": secrets.token_hex(ID_BYTES), **settings})
    except Refused as error:
        raise ProblemError("bad_settings", str(error), error=type(error).__name__) from error
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        # Settings whose declared type is any object are read by the code of their kind.
        if problem_of(error) is not None:
            raise
        raise ProblemError("bad_settings", f"the settings of the {kind} cannot be read: {error}") from error


def check_title(title: str | None) -> None:
    """Raise `ProblemError` if a title is too long."""
    if title is not None and len(title) > LONGEST_TITLE:
        raise ProblemError(
            "bad_body", f"body: title has {len(title)} characters, at most {LONGEST_TITLE}", path="title"
        )


def _select_tools(offered: Sequence[Tool], names: list[str]) -> list[Any]:
    """Return the offered tools by their names: a client cannot declare the risk of a tool."""
    tools = {tool.name: tool for tool in offered}
    for name in names:
        if name not in tools:
            listed = ", ".join(sorted(tools)) or "none; tools on the host need `antiphon serve --workspace FOLDER`"
            raise ProblemError("not_allowed", f"this server has no tool {name!r}; it has: {listed}")
    return [tools[name] for name in names]
