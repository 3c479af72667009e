"""The scripts that come with Antiphon play through, and what they say as data is data."""

import json
import re
import tomllib
from importlib.resources import files

import pytest

from antiphon.messages import Thinking, ToolResult, assistant, system, tool, user
from antiphon.providers.base import Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.registry import Models
from antiphon.providers.reply import collect
from antiphon.providers.scripted import PATTERNS, STEPS, ScriptedModel, script_names
from tests.fixtures.providers import run
from tests.paths import DOCS

AGENTS = ("planner", "developer", "reviewer")
CRITERIA = {"argument", "evidence", "rebuttal", "clarity"}
FENCED = re.compile(r"```json\n(.*?)```", re.DOTALL)


def script(name):
    return tomllib.loads((files("antiphon.providers") / "scripts" / f"{name}.toml").read_text("utf-8"))


def quick(name):
    """The script without its pauses, with all else as it is."""
    fast_script = {**script(name), "pace_ms": 0}
    for reply in fast_script["replies"]:
        reply["steps"] = [step for step in reply["steps"] if "delay_ms" not in step]
    return ScriptedModel(fast_script, name=name)


def answer(model, *messages):
    return run(collect(model, Request(messages)))


def every_reply():
    return [
        pytest.param(name, number, id=f"{name}-{number}")
        for name in script_names()
        for number in range(len(script(name)["replies"]))
    ]


def test_there_is_a_script_for_each_kind_of_conversation():
    assert script_names() == ["agents", "chat", "debate", "demo"]


def test_every_script_pattern_and_step_is_documented():
    page = (DOCS / "providers.md").read_text("utf-8")

    assert [name for name in script_names() if f"| `scripted:{name}` |" not in page] == []
    assert [key for key in (*PATTERNS, *STEPS, "pace_ms", "times") if f"| `{key}` |" not in page] == []


@pytest.mark.parametrize("name", script_names())
def test_a_script_is_told_at_the_pace_of_a_model(name):
    assert 10 <= script(name)["pace_ms"] <= 50
    assert Models().open(f"scripted:{name}").model.reference == f"scripted:{name}"


@pytest.mark.parametrize(("name", "number"), every_reply())
def test_every_reply_plays_to_its_end_and_counts_its_tokens(name, number):
    steps = [step for step in script(name)["replies"][number]["steps"] if "delay_ms" not in step]
    model = ScriptedModel({"replies": [{"steps": steps}]})
    if any("error" in step for step in steps):
        with pytest.raises(ProviderError, match="as the script says"):
            answer(model, user("a"))
        if "times" not in next(step for step in steps if "error" in step):
            return
    reply = answer(model, user("a"))

    assert reply.text or reply.message().calls
    assert reply.usage.output > 0
    assert not reply.usage.estimated
    for call in reply.message().calls:
        assert call.input()
    if reply.text.startswith("{"):
        assert json.loads(reply.text)
    for fenced in FENCED.findall(reply.text):
        assert json.loads(fenced)


def test_the_chat_has_thoughts_a_tool_and_what_follows_it():
    model = quick("chat")
    reply = answer(model, user("Will there be frost tonight?"))
    (call,) = reply.message().calls
    after = answer(model, user("Will there be frost tonight?"), reply.message(), tool(ToolResult.of(call, "7 °C")))

    assert any(isinstance(part, Thinking) for part in reply.message().parts)
    assert call.name == "get_weather"
    assert "above freezing" in after.text


def test_the_chat_goes_on_for_several_turns():
    model = quick("chat")
    talk = [user("Hello")]
    texts = []
    for _ in range(5):
        texts.append(answer(model, *talk).text)
        talk += [assistant(texts[-1]), user("And then?")]

    assert len(set(texts)) == 4
    assert texts[4] == texts[0]


def test_the_error_of_the_chat_is_over_at_the_next_try():
    model = quick("chat")
    with pytest.raises(ProviderError) as caught:
        answer(model, user("please fail"))

    assert caught.value.recoverable
    assert "second time" in answer(model, user("please fail")).text


@pytest.mark.requirement("S1-32", "S1-28", "S1-29")
def test_the_agents_go_from_a_task_to_its_end():
    """The decisions of the arbiter and the plan have the fields of the machine."""
    model = quick("agents")
    history = ["Task: write a greeting"]
    decisions = []
    mode = None
    while not decisions or decisions[-1]["type"] != "COMPLETE":
        if mode is None:
            chosen = answer(model, system("You are the arbiter."), user("Select an agent.\n" + "\n".join(history)))
            decisions.append(json.loads(chosen.text))
            mode = decisions[-1]["mode"]
        assert mode in AGENTS
        history.append(worked(model, mode, history))
        judged = answer(model, system("You are the arbiter."), user("Evaluate.\n" + "\n".join(history)))
        decisions.append(json.loads(judged.text))
        mode = decisions[-1].get("mode")

    assert [(decision["type"], decision.get("mode")) for decision in decisions] == [
        ("SELECT_MODE", "planner"),
        ("CONTINUE", None),
        ("SELECT_MODE", "developer"),
        ("SELECT_MODE", "reviewer"),
        ("RETRY", None),
        ("SELECT_MODE", "developer"),
        ("SELECT_MODE", "reviewer"),
        ("COMPLETE", None),
    ]
    assert all(decision.get("reason") or decision.get("summary") for decision in decisions)
    plan = json.loads(FENCED.search(history[1])[1])
    assert [step["index"] for step in plan["steps"]] == [0, 1, 2]
    assert (plan["currentStepIndex"], plan["isComplete"]) == (0, False)


def worked(model, mode, history):
    """What an agent says in the end, its tools called on the way."""
    talk = [system(f"You are the {mode} of a team."), user("\n".join(history))]
    while (reply := answer(model, *talk)).message().calls:
        for call in reply.message().calls:
            compile(call.input()["content"], call.input()["path"], "exec")
        talk += [reply.message(), tool(*[ToolResult.of(call, "written") for call in reply.message().calls])]
    return reply.text


@pytest.mark.requirement("S4-36", "S4-29")
@pytest.mark.parametrize("sides", [("for", "against"), ("for", "against", "neutral")], ids=["two", "three"])
def test_a_debate_has_openings_rebuttals_closings_and_a_verdict(sides):
    """The verdict has scores from 0 to 100 for each side and criterion."""
    model = quick("debate")
    texts = {}
    for part in ("Give your opening argument.", "Round 2: your rebuttal.", "Give your closing statement."):
        for side in sides:
            texts[part, side] = answer(model, system(f"You are a debater. Position: {side}."), user(part)).text
    transcript = "\n".join(f"{side}: {text}" for (_, side), text in texts.items())
    verdict = json.loads(answer(model, system("You are the judge."), user(transcript)).text)

    assert len(set(texts.values())) == 3 * len(sides)
    assert set(verdict["scores"]) == set(sides)
    assert verdict["winner"] == max(verdict["scores"], key=verdict["scores"].get)
    assert set(verdict["criteria"]) == CRITERIA
    for scores in (verdict["scores"], *verdict["criteria"].values()):
        assert set(scores) == set(sides)
        assert all(0 <= score <= 100 for score in scores.values())
    assert verdict["reasoning"]


def test_the_sides_of_a_debate_say_something_else_in_the_next_round():
    model = quick("debate")
    side = system("Position: against.")
    first = answer(model, side, user("Round 1: rebuttal")).text
    second = answer(model, side, user("Round 1: rebuttal"), assistant(first), user("Round 2: rebuttal")).text

    assert first != second
