"""Programs of MCP servers: a bare name is looked up in PATH, without folders in which a command could put a program."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from antiphon.tools.errors import ToolsError
from antiphon.tools.mcp.config import CommandServer, Server, fill_variables


def find_program(server: CommandServer, workspace: Path, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the program that a server starts: the path it names, or that of a bare name outside of the workspace."""
    if "/" in server.command:
        return server.command
    folders = _search_path(server, environment).split(os.pathsep)
    safe = [folder for folder in folders if os.path.isabs(folder) and not _is_inside(folder, workspace)]
    programs = (shutil.which(server.command, path=folder) for folder in safe)
    return next((program for program in programs if program is not None and not _is_inside(program, workspace)), None)


def resolve_programs(servers: Iterable[Server], workspace: Path) -> tuple[Server, ...]:
    """Return servers with the paths of their programs; raise `ToolsError` if one is found in the workspace only."""
    return tuple(_resolve(server, workspace) if isinstance(server, CommandServer) else server for server in servers)


def _resolve(server: CommandServer, workspace: Path) -> CommandServer:
    program = find_program(server, workspace)
    if program is not None:
        return replace(server, command=program)
    inside = shutil.which(server.command, path=_search_path(server, os.environ))
    if inside is None:
        return server  # its start says that there is no such program
    raise ToolsError(
        f"the program {server.command!r} of the MCP server {server.name!r} is found in the workspace only ({inside}), "
        "where an agent could replace it; if you trust it, name it by its path in the MCP file"
    )


def _search_path(server: CommandServer, environment: Mapping[str, str]) -> str:
    try:
        return fill_variables(server.env["PATH"], environment)[0]
    except KeyError:
        return environment.get("PATH", os.defpath)


def _is_inside(path: str, workspace: Path) -> bool:
    root = workspace.resolve()
    return Path(os.path.abspath(path)).is_relative_to(root) or Path(path).resolve().is_relative_to(root)
