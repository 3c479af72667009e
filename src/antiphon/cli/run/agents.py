"""The agents of a run: those of a folder, or the default agents."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.agents.errors import BadAgents
from antiphon.agents.file_reading import files_of
from antiphon.cli.frame import UsageError
from antiphon.threads.folder_contents import FolderItem

if TYPE_CHECKING:
    from antiphon.agents.files import AgentSet

FOLDER = Path(".antiphon") / "agents"
PACKAGES = ("msgspec", "yaml")
NOT_INSTALLED = "agent files need PyYAML and msgspec; run: pip install 'antiphon[agents]'"


def default_team() -> "AgentSet":
    """Load the default agents."""
    _check_packages()
    # Imported here because the packages are slow to load.
    from antiphon.agents.files import default_agents

    return default_agents()


def team_in(folder: Path) -> "AgentSet":
    """Load the agents of a folder; `BadAgents` if they are invalid, `UsageError` if there are none."""
    _check_packages()
    from antiphon.agents.files import load_all_agents

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder; create it with: antiphon agents init {folder}")
    return _check_team(folder, load_all_agents(folder))


def team_of(folder: Path, items: Sequence[FolderItem]) -> "AgentSet":
    """Load agents from files that were read before; errors are those of `team_in`."""
    _check_packages()
    from antiphon.agents.files import parse_agents

    return _check_team(folder, parse_agents(files_of(items)))


def _check_team(folder: Path, agents: "AgentSet") -> "AgentSet":
    if not agents.agents:
        raise UsageError(f"{folder}: no agents found; write the defaults with: antiphon agents init {folder}")
    return agents


def default_agent_files() -> dict[str, str]:
    """Return the files of the default agents, by name."""
    _check_packages()
    from antiphon.agents.files import default_files

    return default_files()


def problem_lines(folder: Path, error: BadAgents) -> list[str]:
    """Format the problems of agents, each with its file and line."""
    return [f"{folder}/{problem.file}:{problem.line}: {problem.message}" for problem in error.problems]


def _check_packages() -> None:
    if any(find_spec(name) is None for name in PACKAGES):
        raise UsageError(NOT_INSTALLED)
