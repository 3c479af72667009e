"""The agents of a run: those of a folder, or those that come with the package."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.agents.errors import BadAgents
from antiphon.cli.frame import Misuse

if TYPE_CHECKING:
    from antiphon.agents.files import AgentSet

FOLDER = Path(".antiphon") / "agents"
PACKAGES = ("msgspec", "yaml")
NOT_INSTALLED = "agents are read with PyYAML and msgspec: pip install 'antiphon[agents]'"


def default_team() -> "AgentSet":
    """The agents that come with the package."""
    _need_packages()
    # The packages take a while to load, which only those pay who need agents.
    from antiphon.agents.files import default_agents

    return default_agents()


def team_in(folder: Path) -> "AgentSet":
    """The agents of a folder; `BadAgents` has everything that is wrong with them, `Misuse` says that there are none."""
    _need_packages()
    from antiphon.agents.files import load_all_agents

    if not folder.is_dir():
        raise Misuse(f"{folder}: there is no such folder; antiphon agents init {folder} makes it")
    try:
        found = load_all_agents(folder)
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{folder}: cannot be read: {error}") from error
    if not found.agents:
        raise Misuse(f"{folder}: there are no agents in it; antiphon agents init {folder} writes some")
    return found


def shipped_files() -> dict[str, str]:
    """The files of the agents that come with the package."""
    _need_packages()
    from antiphon.agents.files import default_files

    return default_files()


def problem_lines(folder: Path, error: BadAgents) -> list[str]:
    """Everything that is wrong with some agents, each with its file and line."""
    return [f"{folder}/{problem.file}:{problem.line}: {problem.message}" for problem in error.problems]


def _need_packages() -> None:
    if any(find_spec(name) is None for name in PACKAGES):
        raise Misuse(NOT_INSTALLED)
