"""Specification of a run: its agents and settings, its workspace, and the models that it may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.cli.default_model import ModelChoice
from antiphon.cli.frame import UsageError
from antiphon.threads.foreign_models import needs_naming
from antiphon.tools.errors import ToolsError
from antiphon.tools.mcp.config import Server

RULES = "rules"
# Time that a running tool gets to finish when the run is cancelled.
GRACE_MS = 2_000


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Specification of a run: agents, settings, workspace, MCP servers, and the choice of its model.

    One on a server elsewhere has no workspace here.
    """

    agents: Mapping[str, Any]
    settings: Mapping[str, Any]
    workspace: Path | None
    servers: tuple[Server, ...] = ()
    choice: ModelChoice | None = None


def run_models(spec: RunSpec) -> list[str]:
    """Return the references of all models that a run may use."""
    names = [spec.settings.get("model"), (spec.settings.get("arbiter") or {}).get("model")]
    names += spec.settings.get("fallback") or ()
    for agent in spec.agents.values():
        names += [agent.get("model"), *(agent.get("fallback") or ())]
    return [name for name in dict.fromkeys(names) if name and name != RULES]


def models_by_place(spec: RunSpec) -> list[str]:
    """Return the references of models that name an address or a file."""
    return [reference for reference in run_models(spec) if needs_naming(reference)]


def stored_workspace(config: Mapping[str, Any]) -> Path:
    """Return the workspace of a run from its stored settings."""
    folder = config.get("workspace")
    if folder is None:
        raise UsageError("this run was not started by antiphon run; its workspace is unknown")
    if not Path(folder).is_dir():
        raise ToolsError(f"{folder}: the workspace of this run no longer exists; restore it to continue")
    return Path(folder)
