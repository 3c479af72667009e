"""The command `antiphon trust`: accept what a folder brings, list trusted folders, and trust one no longer."""

import argparse
import json
from pathlib import Path

from antiphon.cli.folder_trust import describe_contents
from antiphon.cli.frame import DONE, FAILED, CliCommand, UsageError, print_error, print_lines
from antiphon.cli.options import add_json
from antiphon.cli.render.units import plural
from antiphon.threads.folder_contents import FolderContents, read_folder
from antiphon.threads.trusted_folders import TrustedFolders

EXAMPLES = """examples:
  antiphon trust                 trust what this folder brings now: agents, MCP servers, git settings
  antiphon trust --show          show it, and trust nothing
  antiphon trust --list          list trusted folders
  antiphon trust --revoke DIR    trust a folder no longer

A folder whose content changes is asked about again.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("folder", metavar="FOLDER", nargs="?", default=".", help="the folder (default: .)")
    add("--agents", type=Path, metavar="DIR", help="also the agents of this folder in it")
    add("--mcp", type=Path, metavar="FILE", help="also this file of MCP servers in it")
    actions = parser.add_mutually_exclusive_group()
    actions.add_argument("--show", action="store_true", help="show what the folder brings, and trust nothing")
    actions.add_argument("--list", action="store_true", help="list trusted folders")
    actions.add_argument("--revoke", action="store_true", help="trust the folder no longer")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Trust a folder, or show, list or revoke trust."""
    trusted = TrustedFolders()
    if options.list:
        folders = trusted.list()
        rows = [f"{folder} ({plural(len(items), 'item')})" for folder, items in folders.items()]
        return _print(options, rows or ["no trusted folders"], folders)
    if options.folder == "":
        raise UsageError("the folder is an empty text; name one, or leave it out for the current one")
    folder = Path(options.folder).resolve()
    if options.revoke:
        is_removed = trusted.remove(folder)
        text = f"{folder} is no longer trusted" if is_removed else f"{folder} was not trusted"
        _print(options, [text], {"folder": str(folder), "revoked": is_removed})
        return DONE if is_removed else FAILED
    if not folder.is_dir():
        raise UsageError(f"{options.folder}: no such folder")
    contents = read_folder(folder, agents=options.agents, mcp=options.mcp)
    try:
        if not options.show:
            trusted.add(contents)
    except OSError as error:
        return print_error("trust", f"{trusted.path}: {error.strerror or error}", FAILED)
    lines = describe_contents(contents) or ["nothing: no agents, no MCP files, no git settings that run programs"]
    verb = "brings" if options.show else "is trusted with"
    return _print(options, [f"{folder} {verb}:", *(f"  {line}" for line in lines)], _record(contents, trusted))


def _record(contents: FolderContents, trusted: TrustedFolders) -> dict[str, object]:
    items = [{"kind": item.kind, "name": item.name, "hash": item.digest} for item in contents.items]
    return {"folder": contents.folder, "trusted": trusted.is_trusted(contents), "items": items}


def _print(options: argparse.Namespace, lines: list[str], value: object) -> int:
    return print_lines([json.dumps(value, indent=2)] if options.json else lines)


COMMAND = CliCommand(
    "Trust what a folder brings: its agents, its MCP servers, and its git settings that run programs.",
    add_options,
    run,
    EXAMPLES,
)
