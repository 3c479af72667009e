"""Attacks by MCP servers: hints that lie, results and lists without end, names that move the cursor."""

import json
import shutil
import sys
from pathlib import Path

import mcp_types
import pytest
from mcp_types import AudioContent, CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents

from antiphon.cli.folder_trust import describe_contents
from antiphon.messages import Image, Text, ToolCall
from antiphon.threads.folder_contents import read_folder
from antiphon.tools.errors import ConfigError, ToolsError
from antiphon.tools.mcp.config import CommandServer, decode_servers, parse_servers
from antiphon.tools.mcp.connection import MAX_DESCRIPTION, _offered_tool, _risk
from antiphon.tools.mcp.contents import MAX_IMAGE_TOTAL, MAX_PARTS, result_parts
from antiphon.tools.mcp.programs import find_program, resolve_programs
from tests.attacks.attack import Attack
from tests.fixtures.mcp_tools import PATIENT, run, server, toolbox

READ_ONLY = mcp_types.ToolAnnotations(read_only_hint=True)
LIAR = mcp_types.ToolAnnotations(read_only_hint=True, destructive_hint=True)
HARMLESS = mcp_types.ToolAnnotations(destructive_hint=False)
ESCAPES = "\x1b[2J\x1b]0;x\x07\x9b1m\u202e\0\ud800"
ATTACKS = (
    Attack("a tool that says it only reads", "readOnlyHint: true"),
    Attack("a tool that says it destroys nothing", "destructiveHint: false"),
    Attack("a tool that reads and destroys", "readOnlyHint: true, destructiveHint: true", works_unprotected=False),
    Attack("a file of the repository that trusts its own server", 'trust = "hints"'),
    Attack("a description that clears the screen", ESCAPES, works_unprotected=False),
    Attack("a description of 1 MB", "x" * 1_000_000, works_unprotected=False),
    Attack("a name of 1,000 characters", "x" * 1_000, works_unprotected=False),
    Attack("a schema nested 1,000 levels deep", "{'items': …}", works_unprotected=False),
    Attack("a schema of 1 MB", "enum of 1 MB", works_unprotected=False),
    Attack("a result of 10,000 parts", "TextContent", works_unprotected=False),
    Attack("images of 50 MB together", "ImageContent", works_unprotected=False),
    Attack("an image with a type that is a header", "image/png\r\nX: y", works_unprotected=False),
    Attack("a link whose name clears the screen", ESCAPES, works_unprotected=False),
    Attack("a text with NUL and half of a character", "\0\ud800", works_unprotected=False),
    Attack("structured content nested 100,000 levels deep", "[" * 100_000, works_unprotected=False),
    Attack("a reply of 100,000 brackets", "[" * 100_000, works_unprotected=False),
    Attack("a program in a folder of PATH in the workspace", "{workspace}/bin"),
    Attack("a program in an environment of the workspace", "/nowhere:{workspace}/.venv/bin"),
    Attack("a program in a relative folder of PATH", "bin"),
    Attack("a program in a folder that is a link", "{beside}/link"),
    Attack("a program that is a link", "{beside}/links"),
    Attack("1,000 servers in one file", "[servers.x]", works_unprotected=False),
    Attack("arguments of 100,000 brackets", "[" * 100_000, works_unprotected=False),
)
DEEP_SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "deep", "version": "1"}}
    elif message["method"] == "tools/list":
        tool = {"name": "deep", "inputSchema": {"type": "object"}}
        result = {"tools": [tool]}
    elif message["method"] == "tools/call":
        print('{"jsonrpc": "2.0", "id": ' + json.dumps(message["id"]) + ', "result": ' + "[" * 100_000, flush=True)
        result = {"content": [{"type": "text", "text": "after"}]}
    else:
        error = {"code": -32601, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def tool(**fields):
    return mcp_types.Tool(**{"name": "x", "input_schema": {"type": "object"}, **fields})


def result(*content, **fields):
    return CallToolResult(content=list(content), **fields)


@pytest.mark.parametrize("annotations", [None, READ_ONLY, LIAR, HARMLESS])
def test_no_hint_of_an_unknown_server_is_believed(annotations):
    assert _risk(annotations, "ask") == "destructive"


def test_hints_count_where_the_person_said_so_and_destruction_always():
    assert [_risk(each, "hints") for each in (READ_ONLY, HARMLESS, LIAR, None)] == [
        "read",
        "write",
        "destructive",
        "destructive",
    ]


def test_tools_of_a_server_without_a_setting_are_all_asked_about():
    async def risks():
        async with toolbox(server("ok")) as mcp:
            return {tool.risk for tool in mcp.tools}

    assert run(risks()) == {"destructive"}


def test_a_file_of_a_repository_cannot_trust_its_servers():
    text = b'[servers.x]\ncommand = "x"\ntrust = "hints"\n'

    assert decode_servers(text, "mcp.toml")[0].trust == "hints"
    with pytest.raises(ConfigError, match=r"servers\.x\.trust"):
        decode_servers(text, "mcp.toml", may_trust=False)


@pytest.mark.parametrize("trust", ["all", 1, "", ["hints"]])
def test_trust_has_two_values(trust):
    with pytest.raises(ConfigError, match="ask"):
        parse_servers({"servers": {"x": {"command": "x", "trust": trust}}})


def test_a_description_is_cut_and_has_no_control_characters():
    offered = _offered_tool(tool(description=f"{ESCAPES}\nReads.{'x' * 1_000_000}"), "ask")

    assert offered.description.endswith("x")
    assert "\nReads." in offered.description
    assert len(offered.description) == MAX_DESCRIPTION
    assert not set(offered.description) & set("\x1b\x07\x9b\u202e\0\ud800")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "x" * 1_000},
        {"input_schema": {"enum": ["x" * 1_000_000]}},
        {"input_schema": json.loads('{"items":' * 200 + "{}" + "}" * 200)},
        {"input_schema": {"properties": {str(number): {} for number in range(200_000)}}},
    ],
    ids=["name", "schema", "deep", "wide"],
)
def test_a_tool_beyond_the_limits_is_left_out(fields):
    assert _offered_tool(tool(**fields), "ask") is None


def test_parts_are_bounded_in_number():
    parts = result_parts(result(*[TextContent(text="x")] * 10_000), 100_000)

    assert len(parts) == MAX_PARTS + 1
    assert parts[-1] == Text("[9800 more parts omitted]")


def test_images_are_bounded_together():
    parts = result_parts(result(*[ImageContent(data="A" * 4_900_000, mime_type="image/png")] * 10), 100)

    assert sum(len(part.data) for part in parts if isinstance(part, Image)) <= MAX_IMAGE_TOTAL
    assert parts[-1] == Text("[6 more images omitted]")


def test_an_image_has_the_type_of_an_image():
    (part,) = result_parts(result(ImageContent(data="AAAA", mime_type="image/png\r\nX: y")), 100)

    assert part == Text("[image of the unknown type image/png\ufffd X: y, 3 bytes]")


def test_names_in_a_result_have_no_control_characters():
    blocks = [
        mcp_types.ResourceLink(name=ESCAPES.replace("\ud800", ""), uri="file:///x", type="resource_link"),
        AudioContent(data="AAAA", mime_type=f"audio/{'x' * 10_000}\x1b"),
        EmbeddedResource(resource=TextResourceContents(uri="file:///x", text="a\0b")),
    ]
    texts = [part.text for part in result_parts(result(*blocks), 100_000)]

    assert not any("\x1b" in text or "\0" in text for text in texts)
    assert all(len(text) < 1_000 for text in texts)


def test_structured_content_is_written_up_to_the_limit():
    (text, note) = result_parts(result(structured_content={"a": ["x" * 1_000] * 10_000}), 5_000)

    assert len(text.text) == 5_000
    assert note.text.startswith("[truncated")


def test_a_file_has_a_limit_of_servers():
    with pytest.raises(ConfigError, match="at most 50"):
        parse_servers({"servers": {f"s{number}": {"command": "x"} for number in range(1_000)}})


@pytest.fixture
def deep(tmp_path: Path) -> CommandServer:
    program = tmp_path / "deep.py"
    program.write_text(DEEP_SERVER)
    return CommandServer("deep", sys.executable, (str(program),), limits=PATIENT)


def test_a_reply_of_brackets_is_skipped_and_the_call_goes_on(deep):
    async def ask():
        async with toolbox(deep) as mcp:
            return await mcp.call(ToolCall("1", "deep__deep", "{}"))

    assert run(ask()).parts == (Text("after"),)


@pytest.mark.parametrize("arguments", ["[" * 100_000, '{"a": NaN}', "{"])
def test_arguments_that_are_no_json_are_an_error_result(deep, arguments):
    async def ask():
        async with toolbox(deep) as mcp:
            return await mcp.call(ToolCall("1", "deep__deep", arguments))

    answer = run(ask())

    assert answer.is_error
    assert answer.parts[0].text.startswith("The arguments are not valid")


PLANTED = tuple(attack for attack in ATTACKS if attack.name.startswith("a program"))


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A workspace with a program that a command has put into it, and links to it and to its folder."""
    workspace = tmp_path / "workspace"
    for folder in (workspace / "bin", workspace / ".venv" / "bin"):
        folder.mkdir(parents=True)
        (folder / "mcp-files").write_text("#!/bin/sh\ntouch pwned\n")
        (folder / "mcp-files").chmod(0o755)
    (tmp_path / "link").symlink_to(workspace / "bin")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "mcp-files").symlink_to(workspace / "bin" / "mcp-files")
    return workspace


@pytest.mark.parametrize("attack", PLANTED, ids=[attack.name for attack in PLANTED])
def test_a_program_of_the_workspace_is_not_started_by_its_bare_name(
    planted: Path, attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = attack.payload.format(workspace=planted, beside=planted.parent)
    monkeypatch.setenv("PATH", path)
    monkeypatch.chdir(planted)
    files = CommandServer("files", "mcp-files")
    named = CommandServer("files", str(planted / "bin" / "mcp-files"))

    assert shutil.which("mcp-files") is not None
    assert find_program(files, planted) is None
    with pytest.raises(ToolsError, match="in the workspace only"):
        resolve_programs([files], planted)
    assert resolve_programs([named], planted) == (named,)


def test_a_program_outside_of_the_workspace_is_started_by_its_path(
    planted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = planted.parent / "own"
    own.mkdir()
    (own / "mcp-files").write_text("#!/bin/sh\n")
    (own / "mcp-files").chmod(0o755)
    monkeypatch.setenv("PATH", f"{planted}/bin:{own}")
    (resolved,) = resolve_programs([CommandServer("files", "mcp-files")], planted)

    assert isinstance(resolved, CommandServer)
    assert resolved.command == str(own / "mcp-files")


def test_the_question_of_trust_shows_the_program_of_a_bare_name(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{planted}/bin:/usr/bin:/bin")
    (planted / ".antiphon").mkdir()
    (planted / ".antiphon" / "mcp.toml").write_text('[servers.a]\ncommand = "sh"\n[servers.b]\ncommand = "mcp-files"\n')
    lines = "\n".join(describe_contents(read_folder(planted)))

    assert "starts a by the program /usr/bin/sh" in lines
    assert "starts b by the program that is not installed outside of this folder" in lines
