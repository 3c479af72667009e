"""The folder of a run: its agents and MCP servers, which are used only if the folder is trusted."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.agents.errors import BadAgents
from antiphon.cli.folder_trust import accept_folder, untrusted_text
from antiphon.cli.frame import UsageError
from antiphon.cli.run.agents import FOLDER, default_team, problem_lines, team_in, team_of
from antiphon.threads.folder_contents import FolderContents, inner_path, read_folder
from antiphon.tools.mcp.config import Server, decode_servers, load_servers

if TYPE_CHECKING:
    from antiphon.agents.files import AgentSet


@dataclass(frozen=True, slots=True)
class RunFolder:
    """What a folder brings to a run, and whether it is trusted."""

    contents: FolderContents
    is_trusted: bool
    agents: Path
    is_named: bool
    """The agents are named by an option, not found in the folder."""
    mcp: Path | None = None

    @classmethod
    def read(cls, workspace: Path, options: argparse.Namespace, agents: Path | None, mcp: Path | None) -> "RunFolder":
        """Read what a folder brings, and ask whether it is trusted; without a terminal, options need trust."""
        contents = read_folder(workspace, agents=agents, mcp=mcp)
        servers = contents.servers(mcp) if mcp is not None else None
        if servers is not None and servers.problem is not None:
            raise UsageError(f"{mcp}: {servers.problem.removeprefix('it ')}")
        can_ask = sys.stdin.isatty() and sys.stderr.isatty() and not options.json
        is_trusted = accept_folder(contents, can_ask=can_ask)
        is_named = any(path is not None and inner_path(workspace, path) is not None for path in (agents, mcp))
        if not is_trusted and not can_ask and is_named:
            raise UsageError(untrusted_text(contents))
        return cls(contents, is_trusted, agents or workspace / FOLDER, agents is not None, mcp)

    def team(self) -> "AgentSet":
        """Return the agents of the run; those of the package if there are no others that are trusted."""
        is_inside = inner_path(Path(self.contents.folder), self.agents) is not None
        if not is_inside or (self.is_named and not self.agents.is_dir()):
            return read_team(self.agents)
        if self.is_trusted and self.agents.is_dir():
            with _problems_of(self.agents):
                return team_of(self.agents, self.contents.agents(self.agents))
        return default_team()

    def servers(self) -> tuple[Server, ...]:
        """Return the MCP servers of the run; those of the folder only if it is trusted."""
        if self.mcp is None:
            return ()
        item = self.contents.servers(self.mcp)
        if item is None:
            return load_servers(self.mcp)
        return decode_servers(item.content, str(self.mcp), may_trust=False) if self.is_trusted else ()


def read_team(folder: Path) -> "AgentSet":
    """Return the agents of a folder that a person names."""
    with _problems_of(folder):
        return team_in(folder)


@contextmanager
def _problems_of(agents: Path) -> Iterator[None]:
    """Raise `UsageError` with all problems of invalid agents."""
    try:
        yield
    except BadAgents as error:
        raise UsageError("\n".join(["invalid agents:", *problem_lines(agents, error)])) from error


def stored_servers(workspace: Path, options: argparse.Namespace, mcp: Path | None) -> tuple[Server, ...]:
    """Return the MCP servers of a run that is resumed; the agents of its folder do not matter any more."""
    if mcp is None:
        return ()
    if inner_path(workspace.resolve(), mcp) is None:
        return load_servers(mcp)
    return RunFolder.read(workspace, options, None, mcp).servers()
