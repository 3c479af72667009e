"""A configuration of MCP servers is checked when it is read, and can be shown to anyone."""

import pytest

from antiphon.tools.errors import ConfigError
from antiphon.tools.mcp.config import (
    ADDRESS_KEYS,
    COMMAND_KEYS,
    AddressServer,
    CommandServer,
    ServerLimits,
    load_servers,
    parse_servers,
)
from tests.fixtures.mcp_tools import CANARY
from tests.paths import DOCS

PAGE = DOCS / "mcp.md"
GOOD = """
[servers.files]
command = "mcp-files"
args = ["--root", "notes"]
env = { TOKEN = "${FILES_TOKEN}" }
cwd = "/srv"
call_ms = 5000

[servers.web-search_2]
url = "https://search.example/mcp"
headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }
"""


def written(tmp_path, text):
    path = tmp_path / "mcp.toml"
    path.write_text(text)
    return path


def test_servers_are_commands_or_addresses(tmp_path):
    assert load_servers(written(tmp_path, GOOD)) == (
        CommandServer(
            "files", "mcp-files", ("--root", "notes"), {"TOKEN": "${FILES_TOKEN}"}, "/srv", ServerLimits(call_ms=5000)
        ),
        AddressServer(
            "web-search_2", "https://search.example/mcp", {"Authorization": "Bearer ${SEARCH_TOKEN}"}, ServerLimits()
        ),
    )


def test_a_configuration_without_servers_has_none(tmp_path):
    assert load_servers(written(tmp_path, "")) == ()


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ("servers = 1", "servers", "table"),
        ("[server.a]", "server", "unknown"),
        ("[servers]\na = 1", "servers.a", "must be a table"),
        ('[servers."a b"]\ncommand = "x"', "servers.a b", "a name has"),
        ('[servers.a__b]\ncommand = "x"', "servers.a__b", "a name has"),
        ('[servers.a_]\ncommand = "x"', "servers.a_", "a name has"),
        ("[servers.a]", "servers.a", "either a command or a url"),
        ('[servers.a]\ncommand = "x"\nurl = "http://x"', "servers.a", "either a command or a url"),
        ('[servers.a]\ncommand = ""', "servers.a.command", "must be text"),
        ('[servers.a]\ncommand = "x"\nargs = "y"', "servers.a.args", "list of texts"),
        ('[servers.a]\ncommand = "x"\nargs = [1]', "servers.a.args", "list of texts"),
        ('[servers.a]\ncommand = "x"\nenv = { A = 1 }', "servers.a.env", "table of texts"),
        ('[servers.a]\ncommand = "x"\ncall_ms = -1', "servers.a.call_ms", "not negative"),
        ('[servers.a]\ncommand = "x"\ncall_ms = true', "servers.a.call_ms", "whole number"),
        ('[servers.a]\ncommand = "x"\nheaders = {}', "servers.a.headers", "unknown; known: command, args"),
        ('[servers.a]\nurl = "http://x"\nenv = {}', "servers.a.env", "unknown; known: url, headers"),
        ('[servers.a]\nurl = "ftp://x"', "servers.a.url", "http://"),
        ('[servers.a]\nurl = "http://"', "servers.a.url", "name a host"),
        ('[servers.a]\nurl = "http://[x"', "servers.a.url", "not a valid URL"),
        ('[servers.a]\nurl = "http://me:pw@x"', "servers.a.url", "password"),
        ("[servers", "", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, key, problem):
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=problem) as caught:
        load_servers(path)

    assert (caught.value.file, caught.value.key) == (str(path), key)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_is_not_there_is_a_wrong_configuration(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_servers(tmp_path / "none.toml")


def test_what_may_be_secret_is_neither_shown_nor_quoted(tmp_path):
    table = {
        "a": {"command": "x", "args": ["--key", CANARY], "env": {"KEY": CANARY}},
        "b": {"url": f"https://x.example/mcp?key={CANARY}", "headers": {"X-Key": CANARY}},
    }
    visible = repr(parse_servers({"servers": table}))
    for wrong in (f'[servers.a]\ncommand = "x"\nargs = "{CANARY}"', f'[servers.a]\nkey = "{CANARY}'):
        with pytest.raises(ConfigError) as caught:
            load_servers(written(tmp_path, wrong))
        visible += str(caught.value) + repr(caught.value.__cause__) + repr(vars(caught.value))

    assert "CommandServer" in visible
    assert CANARY not in visible


def test_every_key_is_documented():
    page = PAGE.read_text("utf-8")

    assert [key for key in {**COMMAND_KEYS, **ADDRESS_KEYS} if f"| `{key}` |" not in page] == []
