"""The question whether what a folder brings may be used: asked once on a terminal, and else answered with no."""

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from antiphon.agents.errors import BadAgents
from antiphon.agents.file_reading import files_of
from antiphon.cli.frame import command_name
from antiphon.cli.input.lines import ask_line, discard_typed_input
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, escape_invisible, width
from antiphon.threads.folder_contents import FolderContents, FolderItem, Kind
from antiphon.threads.trusted_folders import TrustedFolders
from antiphon.tools.errors import ConfigError
from antiphon.tools.mcp.config import CommandServer, Server, decode_servers
from antiphon.tools.mcp.programs import find_program

QUESTION = "trust this folder? y: yes, n: no, work without these > "
NEXT_PAGE = "Enter: next page, n: no, work without these > "
YES = ("y", "yes")
NO = ("n", "no")
MOST_CELLS = 160
FEWEST_CELLS = 20
FEWEST_LINES = 5
INDENT = "  "
GIT = ("git setting", "git hook")
# What starts programs comes first.
ORDER: tuple[Kind, ...] = ("servers", "program", "git setting", "git hook", "agent", "module")


def accept_folder(contents: FolderContents, *, can_ask: bool, is_quiet: bool = False) -> bool:
    """Return whether a folder is trusted; ask if that is possible, and store a yes."""
    trusted = TrustedFolders()
    difference = trusted.difference(contents)
    if not difference:
        return True
    is_unused = all(item.kind in GIT for item in contents.items)
    if not can_ask:
        if not is_unused and not is_quiet:
            write(sys.stderr, f"{untrusted_text(contents)}\n")
        return False
    is_known = contents.folder in trusted.list()
    lead = "has changed since you trusted it" if is_known else "brings its own settings"
    lines = [f"{escape_invisible(contents.folder)} {lead}:"]
    changed = {item.key for item in difference.changed}
    for item in _ordered((*difference.new, *difference.changed)):
        mark = "changed " if item.key in changed else "new " if is_known else ""
        lines += [f"{INDENT}{mark}{line}" for line in describe_item(item, contents.folder)]
    if not _show_pages(lines):
        return False
    discard_typed_input()
    if ask_line(QUESTION).strip().lower() not in YES:
        return False
    trusted.add(contents)
    return True


def untrusted_text(contents: FolderContents) -> str:
    """Return that a folder is not trusted, and how to trust it."""
    used = [item for item in contents.items if item.kind not in GIT]
    names = ", ".join(clip(escape_invisible(item.name), MOST_CELLS) for item in used[:5])
    more = f" and {len(used) - 5} more" if len(used) > 5 else ""
    folder = escape_invisible(contents.folder)
    hint = f"look at it and trust it with: {command_name()} trust {folder}"
    return f"{folder} is not trusted, so {names}{more} are not used; {hint}"


def describe_contents(contents: FolderContents) -> list[str]:
    """Describe everything that a folder brings, what starts programs first."""
    return [line for item in _ordered(contents.items) for line in describe_item(item, contents.folder)]


def describe_item(item: FolderItem, folder: str) -> Iterator[str]:
    """Describe an item in full; the content of agents and servers is parsed, and nothing of it is started."""
    name = escape_invisible(item.name)
    if item.problem is not None:
        yield f"{item.kind} {name}: {escape_invisible(item.problem)}"
        return
    match item.kind:
        case "agent":
            yield f"agent {name}: {_describe_agent(item)}"
        case "servers":
            for text in _describe_servers(item, folder):
                yield f"MCP file {name}: {text}"
        case "program":
            yield f"program of an MCP server: {name}"
        case "module":
            yield f"file beside a program of an MCP server: {name}"
        case "git setting":
            value = escape_invisible(item.content.decode("utf-8", "replace"))
            yield f"git setting {name} = {value} (off while agents work)"
        case "git hook":
            yield f"git hook {name} (off while agents work)"


def wrap_line(line: str, cells: int) -> Iterator[str]:
    """Yield a line as rows of a screen; no character is left out, and the rows after the first are indented."""
    indent = ""
    while width(line) > cells - len(indent):
        room = max(1, cells - len(indent))
        end = next(end for end in count(1) if end == len(line) or width(line[: end + 1]) > room)
        # Behind a space where there is one near the end.
        end = line.rfind(" ", end // 2, end) + 1 or end
        yield indent + line[:end]
        line = line[end:]
        indent = INDENT * 3
    yield indent + line


def _describe_agent(item: FolderItem) -> str:
    # Imported here because the packages are slow to load.
    from antiphon.agents.files import parse_alone

    try:
        agent = parse_alone(files_of([item]))
    except BadAgents as error:
        return escape_invisible(f"cannot be used: {error.problems[0].message}")
    model = agent.get("model") or "the model of the run"
    tools = (agent.get("tools") or {}).get("allowed")
    commands = (agent.get("shell") or {}).get("allowed")
    texts = [f"model {model}", f"name {agent['name']}"]
    texts += [f"tools {', '.join(tools)}" if tools is not None else "all tools"]
    texts += [f"commands {', '.join(commands)}"] if commands is not None else []
    return escape_invisible("; ".join(texts))


def _describe_servers(item: FolderItem, folder: str) -> list[str]:
    try:
        servers: Sequence[Server] = decode_servers(item.content, item.name, may_trust=False)
    except ConfigError as error:
        return [escape_invisible(f"cannot be used: {error}")]
    return [escape_invisible(text) for server in servers for text in _describe_server(server, folder)] or ["no servers"]


def _describe_server(server: Server, folder: str) -> Iterator[str]:
    if isinstance(server, CommandServer):
        yield f"starts {server.name}: {shlex.join((server.command, *server.args))}"
        if "/" not in server.command:
            program = find_program(server, Path(folder))
            yield f"starts {server.name} by the program {program or 'that is not installed outside of this folder'}"
        if server.cwd is not None:
            yield f"starts {server.name} in the folder {shlex.quote(server.cwd)}"
        for name, value in server.env.items():
            yield f"starts {server.name} with {name}={shlex.quote(value)}"
        return
    yield f"connects to {server.name}: {server.url}"
    for name, value in server.headers.items():
        yield f"sends {server.name} the header {name}: {value}"


def _ordered(items: Sequence[FolderItem]) -> list[FolderItem]:
    return sorted(items, key=lambda item: ORDER.index(item.kind))


def _show_pages(lines: Sequence[str]) -> bool:
    """Show all lines, page by page; return whether the person has not said no before the last page."""
    size = shutil.get_terminal_size()
    page = max(FEWEST_LINES, size.lines - 2)
    rows = [row for line in lines for row in wrap_line(line, max(FEWEST_CELLS, size.columns - 1))]
    for start in range(0, len(rows), page):
        if start:
            discard_typed_input()
            if ask_line(NEXT_PAGE).strip().lower() in NO:
                return False
        for row in rows[start : start + page]:
            write(sys.stderr, f"{row}\n")
    return True
