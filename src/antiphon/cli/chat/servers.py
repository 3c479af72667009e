"""MCP servers of a chat, which are started only if the folder of their file is trusted."""

import argparse
import sys
from pathlib import Path

from antiphon.cli.folder_trust import accept_folder, untrusted_text
from antiphon.cli.frame import UsageError
from antiphon.threads.folder_contents import read_folder
from antiphon.tools.mcp.config import Server, decode_servers, load_servers
from antiphon.tools.mcp.programs import resolve_programs


def chat_servers(options: argparse.Namespace) -> tuple[Server, ...]:
    """Return the MCP servers of a chat; those of a file in this folder only if the folder is trusted."""
    if options.mcp is None:
        return ()
    contents = read_folder(Path(), mcp=options.mcp)
    item = contents.servers(options.mcp)
    if item is None:
        return resolve_programs(load_servers(options.mcp), Path())
    if item.problem is not None:
        raise UsageError(f"{options.mcp}: {item.problem}")
    has_user = sys.stdin.isatty() and sys.stderr.isatty() and not options.json
    if accept_folder(contents, can_ask=has_user, is_quiet=True):
        return resolve_programs(decode_servers(item.content, str(options.mcp), may_trust=False), Path())
    if not has_user:
        raise UsageError(untrusted_text(contents))
    return ()
