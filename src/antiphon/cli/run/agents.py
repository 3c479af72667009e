"""The agents of a run: those of a folder, or the default agents."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.agents.errors import BadAgents
from antiphon.cli.frame import UsageError

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
    try:
        agents = load_all_agents(folder)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {folder}: {error}") from error
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
