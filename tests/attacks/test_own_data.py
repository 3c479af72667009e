"""Attacks by file tools on Antiphon's data and programs in a workspace, and on files that protected names lead to."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.messages import Text, ToolCall, ToolResult
from antiphon.paths import store_files
from antiphon.threads.assessing import assess_all
from antiphon.threads.machine.permission_rules import decide
from antiphon.tools.access import WRITABLE
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.functions import FunctionToolbox
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.workspace import Workspace
from tests.attacks.attack import Attack

DATA = [
    Attack("the store of a variable", "my.db"),
    Attack("the log of the store", "my.db-wal"),
    Attack("the store of an option", "other.db"),
    Attack("trusted folders", ".local/share/antiphon/trusted-folders.json"),
    Attack("copies for undo", ".local/state/antiphon/undo/abc/records"),
    Attack("copies for undo elsewhere", "copies/abc/records"),
    Attack("settings", ".config/antiphon/prices.toml"),
    Attack("a store by a roundabout way", "sub/../my.db"),
    Attack("a store by a symlink", "innocent.txt"),
]
START_UP = [
    Attack("programs that start with a session", ".config/autostart/x.desktop"),
    Attack("units of systemd", ".config/systemd/user/x.service"),
    Attack("units of systemd, elsewhere", ".local/share/systemd/user/x.service"),
    Attack("variables of a session", ".config/environment.d/x.conf"),
    Attack("the start of X", ".xprofile"),
    Attack("agents of macOS", "Library/LaunchAgents/x.plist"),
    Attack("programs that run Antiphon", ".venv/lib/site.py"),
]
LINKS = [
    Attack("the target of a Makefile that is a symlink", "tools/main.txt"),
    Attack("a file in the target of a protected folder", "ci/build.yml"),
    Attack("a new file in the target of a protected folder", "ci/new.yml"),
    Attack("the target of a target", "tools/last.txt"),
    Attack("a hard link of a protected file", "tools/hard.txt"),
]
ATTACKS = [*DATA, *START_UP, *LINKS]


def names(attacks: list[Attack]) -> list[str]:
    return [attack.name for attack in attacks]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is the workspace, with Antiphon's data, its programs, and links of protected names."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "my.db"))
    monkeypatch.setenv("ANTIPHON_UNDO", str(tmp_path / "copies"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    for attack in [*DATA[:-2], *START_UP, *LINKS]:
        file = tmp_path / attack.payload
        file.parent.mkdir(parents=True, exist_ok=True)
        if attack.payload != "ci/new.yml":
            file.write_text("secret\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "innocent.txt").symlink_to("my.db")
    (tmp_path / "Makefile").symlink_to("tools/main.txt")
    (tmp_path / ".github").symlink_to("ci")
    (tmp_path / "between").symlink_to("tools/last.txt")
    (tmp_path / ".envrc").symlink_to("between")
    os.link(tmp_path / "tools/hard.txt", tmp_path / ".bashrc")
    return tmp_path


@pytest.fixture
def toolbox(home: Path) -> Iterator[FunctionToolbox]:
    with Workspace(home, hidden=store_files(home / "other.db")) as workspace:
        yield workspace_tools(workspace)


def assessed(toolbox: FunctionToolbox, name: str, **arguments: str) -> dict[str, Any]:
    call = {"id": "c1", "name": name, "arguments": json.dumps(arguments)}
    (assessment,) = assess_all(toolbox, {"calls": [call], "shell": None}, None, None)["assessments"]
    return {**call, "assessment": assessment}


def call_tool(toolbox: FunctionToolbox, name: str, **arguments: str) -> ToolResult:
    async def main() -> ToolResult:
        CURRENT.set(Context(access=WRITABLE))
        return await toolbox.call(ToolCall("c1", name, json.dumps(arguments)))

    return asyncio.run(main())


def decision(call: dict[str, Any], mode: str) -> str:
    return str(decide([call], mode, {"autoAllow": [], "overrides": []})["decision"])  # type: ignore[list-item, typeddict-item]


def shown(result: ToolResult) -> str:
    return "".join(part.text for part in result.parts if isinstance(part, Text))


@pytest.mark.parametrize("attack", DATA, ids=names(DATA))
def test_file_tools_neither_read_nor_write_antiphons_own_data(
    home: Path, toolbox: FunctionToolbox, attack: Attack
) -> None:
    read = call_tool(toolbox, "read_file", path=attack.payload)
    written = call_tool(toolbox, "write_file", path=attack.payload, content="pwned")
    edited = call_tool(toolbox, "edit_file", path=attack.payload, old="secret", new="pwned")

    assert all("Antiphon's own data" in shown(result) for result in (read, written, edited))
    assert (home / attack.payload).read_text() == "secret\n"

    call = assessed(toolbox, "write_file", path=attack.payload, content="x")
    assert "Antiphon's own data" in call["assessment"]["problem"]


@pytest.mark.parametrize("attack", DATA, ids=names(DATA))
def test_the_same_data_is_read_and_written_if_it_is_not_antiphons(
    home: Path, monkeypatch: pytest.MonkeyPatch, attack: Attack
) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("ANTIPHON_STORE", "/nowhere/my.db")
    monkeypatch.setenv("ANTIPHON_UNDO", "/nowhere/copies")
    with Workspace(home) as workspace:
        tools = workspace_tools(workspace)
        read = call_tool(tools, "read_file", path=attack.payload)
        call_tool(tools, "write_file", path=attack.payload, content="pwned")

    assert shown(read) == "secret\n"
    assert (home / attack.payload).read_text() == "pwned"


def test_searches_and_lists_skip_antiphons_own_data(toolbox: FunctionToolbox) -> None:
    found = shown(call_tool(toolbox, "search_files", query="secret"))
    listed = shown(call_tool(toolbox, "list_files", pattern="*.db*"))

    assert "tools/main.txt" in found
    assert "my.db" not in found + listed
    assert "copies" not in found


@pytest.mark.parametrize("mode", ["auto-edit", "auto"])
@pytest.mark.parametrize("attack", [*START_UP, *LINKS], ids=names([*START_UP, *LINKS]))
def test_what_starts_later_is_asked_about_in_every_mode(
    home: Path, toolbox: FunctionToolbox, attack: Attack, mode: str
) -> None:
    call = assessed(toolbox, "write_file", path=attack.payload, content="pwned")
    plain = assessed(toolbox, "write_file", path="tools/plain.txt", content="pwned")
    result = call_tool(toolbox, "write_file", path=attack.payload, content="pwned")

    assert decision(plain, mode) == "allow"
    assert decision(call, mode) == "ask"
    assert "is protected" in shown(result)
    assert not (home / attack.payload).exists() or (home / attack.payload).read_text() == "secret\n"


@pytest.mark.parametrize("attack", LINKS, ids=names(LINKS))
def test_the_same_file_is_written_unasked_if_no_protected_name_leads_to_it(
    home: Path, toolbox: FunctionToolbox, attack: Attack
) -> None:
    for name in ("Makefile", ".github", ".envrc", ".bashrc"):
        (home / name).unlink()
    call = assessed(toolbox, "write_file", path=attack.payload, content="pwned")

    assert decision(call, "auto-edit") == "allow"
