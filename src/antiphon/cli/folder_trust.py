"""The question whether what a folder brings may be used: asked once on a terminal, and else answered with no."""

import sys
from collections.abc import Iterator, Sequence

from antiphon.agents.errors import BadAgents
from antiphon.agents.file_reading import files_of
from antiphon.cli.frame import command_name
from antiphon.cli.prompt import Prompt, discard_typed_input
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, escape_invisible
from antiphon.threads.folder_contents import FolderContents, FolderItem
from antiphon.threads.trusted_folders import TrustedFolders
from antiphon.tools.errors import ConfigError
from antiphon.tools.mcp.config import CommandServer, Server, decode_servers

QUESTION = "trust this folder? y: yes, n: no, work without these > "
YES = ("y", "yes")
MOST_CELLS = 160
MOST_LINES = 60
GIT = ("git setting", "git hook")


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
    for item in (*difference.new, *difference.changed):
        mark = "changed " if item.key in changed else "new " if is_known else ""
        lines += [f"  {mark}{line}" for line in describe_item(item)]
    for line in _first_lines(lines):
        write(sys.stderr, f"{line}\n")
    discard_typed_input()
    if Prompt().ask(QUESTION).strip().lower() not in YES:
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
    """Describe everything that a folder brings, a line for each."""
    return _first_lines([line for item in contents.items for line in describe_item(item)])


def describe_item(item: FolderItem) -> Iterator[str]:
    """Describe an item; the content of agents and servers is parsed, and nothing of it is started."""
    name = escape_invisible(item.name)
    if item.problem is not None:
        yield clip(f"{item.kind} {name}: {escape_invisible(item.problem)}", MOST_CELLS)
        return
    match item.kind:
        case "agent":
            yield clip(f"agent {name}: {_describe_agent(item)}", MOST_CELLS)
        case "servers":
            for text in _describe_servers(item):
                yield clip(f"MCP file {name}: {text}", MOST_CELLS)
        case "program":
            yield clip(f"program of an MCP server: {name}", MOST_CELLS)
        case "git setting":
            value = escape_invisible(item.content.decode("utf-8", "replace"))
            yield clip(f"git setting {name} = {value} (off while agents work)", MOST_CELLS)
        case "git hook":
            yield clip(f"git hook {name} (off while agents work)", MOST_CELLS)


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
    texts = [f"{agent['name']}, model {model}", f"tools {', '.join(tools)}" if tools is not None else "all tools"]
    texts += [f"commands {', '.join(commands)}"] if commands is not None else []
    return escape_invisible("; ".join(texts))


def _describe_servers(item: FolderItem) -> list[str]:
    try:
        servers: Sequence[Server] = decode_servers(item.content, item.name, may_trust=False)
    except ConfigError as error:
        return [escape_invisible(f"cannot be used: {error}")]
    return [escape_invisible(_describe_server(server)) for server in servers] or ["no servers"]


def _describe_server(server: Server) -> str:
    if isinstance(server, CommandServer):
        return f"starts {server.name}: {' '.join((server.command, *server.args))}"
    return f"connects to {server.name}: {server.url}"


def _first_lines(lines: list[str]) -> list[str]:
    omitted = len(lines) - MOST_LINES
    return lines if omitted <= 0 else [*lines[:MOST_LINES], f"… and {omitted} more"]
