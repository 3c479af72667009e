"""The page on the MCP server has every option, tool, argument and limit, and its configurations are read."""

import json
import re
from pathlib import Path

from antiphon.server.facades.mcp import sessions, stored_events
from antiphon.server.facades.mcp.actions import REPLY_S
from antiphon.server.facades.mcp.resources import PAGE as RESOURCES
from antiphon.server.facades.mcp.schemas import checks
from antiphon.server.facades.mcp.tools import TOOLS
from antiphon.tools import load_servers
from antiphon.tools.mcp.config import AddressServer
from tests.fixtures.command import options_of, parser_of
from tests.paths import DOCS

TEXT = (DOCS / "mcp-server.md").read_text(encoding="utf-8")
FIRST_CELLS = {
    code for row in re.findall(r"^\| (.*?) \|", TEXT, re.MULTILINE) for code in re.findall(r"`([^`]+)`", row)
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_every_option_has_its_line() -> None:
    assert options_of(parser_of("mcp")) - FIRST_CELLS == set()


def test_every_tool_has_its_line_with_its_arguments() -> None:
    for tool in TOOLS:
        fields = checks.shape(tool.takes).fields
        names = ", ".join(f"`{name}`{'' if field.is_required else '?'}" for name, field in fields.items())
        assert re.search(rf"^\| `{tool.name}` \| .* \| {re.escape(names)} \|$", TEXT, re.MULTILINE), tool.name


def test_the_limits_are_those_of_the_code() -> None:
    most = f"at most {sessions.MOST_SESSIONS:,}, and {sessions.MOST_USER_SESSIONS} of a user, which end"
    assert most in TEXT
    assert f"after {sessions.IDLE_S / 60:g} idle minutes" in TEXT
    assert f"the last {stored_events.MOST_EVENTS} of its session" in TEXT
    assert f"wait {REPLY_S:g} seconds" in TEXT
    assert f"by pages of {RESOURCES}" in TEXT


def test_configurations_are_read(tmp_path: Path) -> None:
    configurations = [json.loads(block) for block in blocks("json")]
    servers = [
        server
        for each in configurations
        for key in ("mcpServers", "servers")
        for server in [*each.get(key, {}).values()]
    ]
    commands = [server["args"] for server in servers if "command" in server]
    (toml,) = blocks("toml")
    (tmp_path / "mcp.toml").write_text(toml)
    (other,) = load_servers(tmp_path / "mcp.toml")

    assert all(parser_of(words[0]).parse_args(words[1:]) for words in commands)
    assert {server["url"] for server in servers if "url" in server} == {"http://127.0.0.1:8787/mcp"}
    assert isinstance(other, AddressServer)
    assert other.url == "http://127.0.0.1:8787/mcp"
