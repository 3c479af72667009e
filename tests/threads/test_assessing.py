"""Assessment of calls at the edge: by their toolbox, by the filter of an agent, and in a history."""

import json
from types import SimpleNamespace

import pytest

from antiphon.messages import ToolCall
from antiphon.providers.base import Tool
from antiphon.runtime.histories import history_of_token, is_continued
from antiphon.threads.assessing import assess_all, assess_calls
from antiphon.threads.errors import Refused
from antiphon.threads.grants import Grants
from antiphon.tools.assessment import Assessment
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.toolboxes import Bundle
from antiphon.tools.workspace import Workspace


class Plain:
    """A toolbox that assesses nothing."""

    tools = (Tool("look", "Look.", {}, "read"), Tool("act", "Act.", {}, "write"))

    async def call(self, call: ToolCall):
        """Never called."""
        raise AssertionError


class Broken(Plain):
    """A toolbox whose assessment fails."""

    def assess(self, call: ToolCall) -> Assessment:
        """Fail."""
        raise KeyError(call.name)


class Odd(Plain):
    """A toolbox whose assessment is none."""

    def assess(self, call: ToolCall):
        """Return something else."""
        return "read"


def assess(toolbox, name, arguments="{}", *, shell=None, risk=None):
    call = {"id": "c1", "name": name, "arguments": arguments, "risk": risk}
    return assess_all(toolbox, {"calls": [call], "shell": shell}, None, None)["assessments"][0]


def test_a_toolbox_that_assesses_nothing_leaves_the_risk_of_the_tool():
    assert assess(Plain(), "look")["risk"] == "read"
    assert assess(Bundle(Plain()), "act")["risk"] == "write"
    assert assess(Plain(), "unknown")["risk"] == "destructive"


def test_the_settings_of_a_thread_may_give_such_a_tool_another_risk():
    assert assess(Plain(), "act", risk="destructive")["risk"] == "destructive"


@pytest.mark.parametrize("toolbox", [Broken(), Odd()])
def test_a_toolbox_that_fails_to_assess_makes_its_call_destructive(toolbox):
    facts = assess(toolbox, "look")

    assert facts["risk"] == "destructive"
    assert "could not be assessed" in facts["reason"]


def test_settings_never_make_a_command_or_a_file_harmless(tmp_path):
    with Workspace(tmp_path) as workspace:
        box = workspace_tools(workspace)
        changed = assess(box, "write_file", '{"path": "a", "content": "x"}', risk="read")
        run = assess(box, "shell", '{"command": "rm a"}', risk="read")

    assert (changed["risk"], changed["kind"], changed["path"]) == ("write", "file", "a")
    assert (run["risk"], run["kind"]) == ("destructive", "command")


@pytest.mark.parametrize(
    ("command", "problem"),
    [("ls", None), ("rm x", "may not run this"), ("PATH=.; ls", "may not run this"), (None, "cannot be read")],
)
def test_the_filter_of_an_agent_is_applied_before_anybody_is_asked(tmp_path, command, problem):
    shell = {"agent": "reviewer", "allowed": ["ls*"]}
    arguments = {} if command is None else {"command": command}
    with Workspace(tmp_path) as workspace:
        facts = assess(workspace_tools(workspace), "shell", json.dumps(arguments), shell=shell)

    assert (problem or "") in (facts.get("problem") or "")
    assert ("problem" in facts) == (problem is not None)


def test_a_diff_shows_the_change_of_a_file(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with Workspace(tmp_path) as workspace:
        facts = assess(workspace_tools(workspace), "edit_file", '{"path": "a.txt", "old": "two", "new": "2"}')

    assert facts["diff"].split("\n")[2:] == ["@@ -1,2 +1,2 @@", " one", "-two", "+2"]
    assert facts["reason"] == "it changes a file"


def test_a_change_that_cannot_be_made_is_answered_with_that(tmp_path):
    with Workspace(tmp_path) as workspace:
        box = workspace_tools(workspace)

        assert "does not exist" in assess(box, "edit_file", '{"path": "a", "old": "b", "new": "c"}')["problem"]
        assert "version control" in assess(box, "write_file", '{"path": ".git/config", "content": ""}')["problem"]


def test_a_long_diff_says_that_it_is_cut(tmp_path):
    content = "".join(f"{number}\n" for number in range(5_000))
    with Workspace(tmp_path) as workspace:
        arguments = json.dumps({"path": "a", "content": content})
        facts = assess(workspace_tools(workspace), "write_file", arguments)

    assert facts["diff"].endswith("more lines of this change are not shown]")
    assert facts["cut"] is True


def test_a_host_is_that_of_the_address(tmp_path):
    with Workspace(tmp_path) as workspace:
        box = workspace_tools(workspace)

        assert assess(box, "fetch_url", '{"url": "https://Example.org/x"}')["network"] == ["example.org"]
        assert assess(box, "fetch_url", '{"url": "http://example.org:8080"}')["network"] == ["http://example.org:8080"]


@pytest.mark.parametrize(
    ("token", "history"),
    [("3f6c/0000000017/0001", "3f6c"), ("3f6c.9a1b/0000000017/0001", "3f6c.9a1b"), ("random", None), (None, None)],
)
def test_the_history_of_a_task_is_in_its_id(token, history):
    assert history_of_token(token) == history
    assert is_continued(history) == (history == "3f6c.9a1b")


def test_a_mode_that_was_given_in_this_process_is_part_of_the_result():
    grants = Grants()
    grants.give("t1", "auto")
    task = SimpleNamespace(root="t1")
    scope = SimpleNamespace(key="3f6c.9a1b/0000000017/0001", task=task)
    output = assess_calls(Plain(), grants).call({"calls": [], "shell": None}, scope)

    assert output == {"assessments": [], "history": "3f6c.9a1b", "consents": False, "mode": "auto"}


def test_a_mode_that_nobody_knows_is_not_given():
    with pytest.raises(Refused, match="'yolo' is not a permission mode; known: plan, ask"):
        Grants().give("t1", "yolo")
