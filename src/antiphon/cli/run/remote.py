"""Runs on a server elsewhere: its tools run there, in the folder that its operator allows, and people answer here."""

import argparse
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from antiphon.cli.frame import UsageError
from antiphon.cli.run.agents import default_team
from antiphon.cli.run.environment import RunEnvironment, open_environment
from antiphon.cli.run.folder import read_team
from antiphon.cli.run.options import SCRIPT, run_settings
from antiphon.cli.run.spec import RunSpec
from antiphon.cli.windows.access import open_remote
from antiphon.cli.windows.remote import choose_remote_model, remote_tools

NO_TOOLS = (
    "{server} lets threads use no tools, so agents could only talk; its operator allows a folder with: "
    "antiphon serve --workspace DIR; agents of yours that need no tools are named with --agents DIR"
)


def remote_spec(options: argparse.Namespace) -> RunSpec:
    """Return the specification of a new run on a server elsewhere: agents from here, models and tools from there."""
    team = default_team() if options.agents is None else read_team(options.agents)
    choice = choose_remote_model(options, options.model, SCRIPT)
    return RunSpec(team.agents, run_settings(options, choice), None, (), choice)


def open_run_environment(
    options: argparse.Namespace, store: Path, spec: RunSpec
) -> AbstractAsyncContextManager[RunEnvironment]:
    """Open the environment of a run: on this machine, or on a server elsewhere."""
    return open_environment(options, store, spec) if options.server is None else _open_remote(options)


@asynccontextmanager
async def _open_remote(options: argparse.Namespace) -> AsyncIterator[RunEnvironment]:
    """Open a client with the tools of its server; `UsageError` if it has none, and agents of a new run need some."""
    async with open_remote(options) as client:
        tools = await remote_tools(client)
        if not tools and options.resume is None and options.agents is None:
            raise UsageError(NO_TOOLS.format(server=options.server))
        yield RunEnvironment(client, None, None, (), tools)
