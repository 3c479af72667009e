"""The page of the workspace tools has a line for every tool, every limit and every setting, with its default."""

import ast
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from antiphon.agents.machine.agent_config import OWN_TOOLS
from antiphon.tools import html_text as pages
from antiphon.tools import regex_worker as matching
from antiphon.tools.commands.filters import CommandFilter
from antiphon.tools.fetch import FetchSettings
from antiphon.tools.files import FileLimits
from antiphon.tools.finding import FindLimits
from antiphon.tools.sandbox import supervisor
from antiphon.tools.sandbox.runner import INHERITED, ShellSettings
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.undo.settings import SKIPPED, UndoSettings
from antiphon.tools.workspace import Workspace
from tests.paths import DOCS

PAGE = (DOCS / "workspace-tools.md").read_text(encoding="utf-8")


def table(name):
    """The lines of the table whose first heading is this."""
    found = re.search(rf"^\| {re.escape(name)} \|.*?\n\n", PAGE + "\n\n", re.MULTILINE | re.DOTALL)
    assert found, name
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found.group().strip().split("\n")[2:]]
    return {row[0].strip(" `"): row[1:] for row in rows}


@pytest.mark.requirement("S2.4-7")
def test_every_tool_has_its_line_with_its_risk(tmp_path):
    with Workspace(tmp_path) as workspace:
        risks = {tool.name: tool.risk for tool in workspace_tools(workspace).tools}
    risks |= {tool["name"]: tool["risk"] for tool in OWN_TOOLS}

    assert {name: row[0] for name, row in table("tool").items()} == risks


@pytest.mark.parametrize(
    "settings", [FileLimits, FindLimits, ShellSettings, FetchSettings, CommandFilter, UndoSettings]
)
def test_every_setting_has_its_line(settings):
    assert list(table(f"`{settings.__name__}`")) == [field.name for field in fields(settings)]


@pytest.mark.parametrize("settings", [FileLimits, FindLimits, ShellSettings, FetchSettings, UndoSettings])
def test_the_defaults_are_those_of_the_code(settings):
    rows = table(f"`{settings.__name__}`")
    for field in fields(settings):
        if isinstance(field.default, int | None) and field.default is not MISSING:
            assert rows[field.name][0] == str(field.default)


def test_the_skipped_folders_are_named():
    assert [name for name in SKIPPED if f"`{name}`" not in table("`UndoSettings`")["skipped"][1]] == []


def test_what_is_passed_on_to_commands_is_named_in_words():
    assert {name.partition("_")[0] for name in INHERITED} == {"PATH", "LANG", "LC", "TZ"}
    assert "`PATH`, the language, the time zone" in PAGE


@pytest.mark.parametrize("program", [matching, pages, supervisor])
def test_a_program_that_is_run_by_itself_imports_the_standard_library_only(program):
    tree = ast.parse(Path(program.__file__).read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
