"""Several toolboxes are one, and an agent sees of it what it may use."""

import json

import pytest

from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.threads.toolbox import NoTools, Toolbox
from antiphon.tools.arguments import Parameters
from antiphon.tools.errors import NameTaken, Refused, ToolsError
from antiphon.tools.functions import Instrument, Instruments
from antiphon.tools.interaction_tools import ASK_USER, TALK, UPDATE_PLAN
from antiphon.tools.shell_syntax import CommandFilter
from antiphon.tools.toolboxes import Allowance, Bundle, Restricted
from antiphon.tools.workspace import Workspace
from antiphon.tools.workspace_tools import workspace_tools
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


@pytest.mark.parametrize(
    ("allowance", "names"),
    [
        (Allowance(), ["read_file", "shell", "mcp__x"]),
        (Allowance(allowed=["read_*"]), ["read_file"]),
        (Allowance(blocked=["shell", "mcp__*"]), ["read_file"]),
        (Allowance(allowed=["*"], blocked=["shell"]), ["read_file", "mcp__x"]),
        (Allowance(allowed=[]), []),
    ],
)
def test_an_agent_sees_and_calls_only_what_it_may(allowance, names):
    """S1-92, S1.4 item 2: filtered tools."""
    box = Restricted(Echo("read_file", "shell", "mcp__x"), allowance)

    assert [tool.name for tool in box.tools] == names
    for name in ("read_file", "shell", "mcp__x"):
        assert said(box, name) == ((False, name) if name in names else (True, f"There is no tool {name!r}."))


def test_the_commands_of_an_agent_are_filtered():
    """S1.4 items 2 and 9."""
    box = Restricted(Echo("shell"), Allowance(commands=CommandFilter(allowed=["ls*"])))

    assert said(box, "shell", command="ls -l") == (False, "shell")
    assert said(box, "shell", command="rm a")[1].startswith("Not run: 'rm a' is not among the allowed commands")
    assert said(box, "shell") == (True, "Not run: there is no command.")
    assert run(box.call(ToolCall("1", "shell", "["))).is_error


def test_the_tools_of_a_workspace_are_a_toolbox(tmp_path):
    with Workspace(tmp_path) as workspace:
        box: Toolbox = workspace_tools(workspace)

        names = [tool.name for tool in box.tools]
        assert names == [
            "read_file", "write_file", "edit_file", "list_files", "search_files", "shell", "fetch_url",
        ]  # fmt: skip
        for tool in (*box.tools, *TALK):
            assert tool.description.endswith(".")
            assert "\n" not in tool.description
            assert tool.parameters["additionalProperties"] is False
            assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])


def test_a_question_and_a_plan_are_checked_like_any_arguments():
    """S1-28, S1-29."""
    plan = {"steps": [{"description": "look", "status": "in_progress"}]}

    assert Parameters(UPDATE_PLAN).arguments_of(ToolCall("1", "update_plan", json.dumps(plan))) == plan
    assert Parameters(ASK_USER).arguments_of(ToolCall("1", "ask_user", '{"question": "Why?"}')) == {
        "question": "Why?",
        "options": [],
    }
    for wrong in ({"steps": []}, {"steps": [{"description": "x", "status": "maybe"}]}, {"steps": [1]}, {"steps": [{}]}):
        with pytest.raises(Refused):
            Parameters(UPDATE_PLAN).arguments_of(ToolCall("1", "update_plan", json.dumps(wrong)))


def counting_box(schema):
    async def perform(arguments):
        return json.dumps(arguments)

    return Instruments([Instrument(Tool("count", "Counts.", schema), perform)])


def test_a_whole_number_with_a_point_is_an_integer():
    box = counting_box({"properties": {"to": {"type": "integer"}, "by": {"items": {"type": "integer"}}}})

    assert said(box, "count", to=3.0, by=[1.0]) == (False, '{"to": 3, "by": [1]}')
    assert said(box, "count", to=3.5)[0]


def test_a_tool_whose_schema_is_wrong_is_refused_before_it_is_called():
    with pytest.raises(ToolsError, match=r"the tool 'count' cannot be used: the schema is not valid: \$\.properties"):
        counting_box({"properties": {"to": {"type": "intejer"}}})
