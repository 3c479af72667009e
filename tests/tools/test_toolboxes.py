"""Several toolboxes are one, and an agent sees of it what it may use."""

import json

import pytest

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.threads.toolbox import NoTools, Toolbox
from antiphon.tools.errors import NameTaken, ToolsError
from antiphon.tools.functions import FunctionToolbox, ToolFunction
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.toolboxes import Bundle
from antiphon.tools.workspace import Workspace
from tests.fixtures.mcp_tools import run


class Echo:
    """A toolbox whose tools say their own name."""

    def __init__(self, *names):
        self.tools = tuple(Tool(name, "Says its name.", {"type": "object"}) for name in names)

    async def call(self, call):
        return ToolResult.of(call, call.name)


def said(box, name, **arguments):
    result = run(box.call(ToolCall("1", name, json.dumps(arguments))))
    return result.is_error, result.parts[0].text


def test_a_bundle_has_the_tools_of_all_and_calls_the_right_one():
    bundle = Bundle(Echo("a", "b"), NoTools(), Echo("c"))

    assert [tool.name for tool in bundle.tools] == ["a", "b", "c"]
    assert said(bundle, "c") == (False, "c")
    assert said(bundle, "d") == (True, "There is no tool 'd'.")


def test_a_name_is_had_by_one_toolbox_only():
    with pytest.raises(NameTaken, match="'a'"):
        Bundle(Echo("a"), Echo("a"))


def test_the_tools_of_a_workspace_are_a_toolbox(tmp_path):
    with Workspace(tmp_path) as workspace:
        box: Toolbox = workspace_tools(workspace)

        names = [tool.name for tool in box.tools]
        assert names == [
            "read_file", "write_file", "edit_file", "list_files", "search_files", "shell", "fetch_url",
        ]  # fmt: skip
        for tool in box.tools:
            assert tool.description.endswith(".")
            assert "\n" not in tool.description
            assert tool.parameters["additionalProperties"] is False
            assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])


def counting_box(schema):
    async def perform(arguments):
        return json.dumps(arguments)

    return FunctionToolbox([ToolFunction(Tool("count", "Counts.", schema), perform)])


def test_a_whole_number_with_a_point_is_an_integer():
    box = counting_box({"properties": {"to": {"type": "integer"}, "by": {"items": {"type": "integer"}}}})

    assert said(box, "count", to=3.0, by=[1.0]) == (False, '{"to": 3, "by": [1]}')
    assert said(box, "count", to=3.5)[0]


def test_a_tool_whose_schema_is_wrong_is_refused_before_it_is_called():
    with pytest.raises(ToolsError, match=r"the tool 'count' cannot be used: the schema is not valid: \$\.properties"):
        counting_box({"properties": {"to": {"type": "intejer"}}})
