"""AG-UI with its own client, `HttpAgent` of the npm package `@ag-ui/client`, which checks the order of all events."""

import json
from typing import Any

import pytest

from tests.fixtures.facades import kitchen, kitchen_model
from tests.fixtures.scripted_team import script
from tests.fixtures.server import live_server
from tests.rings.node import run_script

pytestmark = pytest.mark.rings
PAINTER = {"name": "painter", "whenToUse": "always", "systemPrompt": "Paint."}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    ask = {"steps": [{"text": "I ask."}, {"tool": "ask_user", "arguments": {"question": "Which blue?"}}]}
    painting = script(tmp_path_factory.mktemp("run"), {"after": "ask_user", "steps": [{"text": "Painted."}]}, ask)
    settings = {"kind": "run", "agents": [PAINTER], "arbiter": {"kind": "rules"}, "model": painting}
    model = kitchen_model(tmp_path_factory.mktemp("chat"))
    with live_server(app=kitchen) as server:
        return run_script("agui.mjs", server.address, server.settings.token, model, input=json.dumps(settings))


def spoken(result: Any) -> list[tuple[str, str, str]]:
    return [(message["id"], message["role"], message["content"]) for message in result["messages"]]


def test_a_reply_has_its_thoughts_its_text_and_its_state(results: Any) -> None:
    text = results["text"]

    assert spoken(text) == [("m1:thinking-1", "reasoning", "Hm."), ("m1", "assistant", "Hello there.")]
    assert text["finished"]["outcome"] == {"type": "success"}
    assert text["finished"]["usage"][0]["outputTokens"] > 0
    assert (text["state"]["status"], text["state"]["kind"]) == ("completed", "chat")
    assert (text["types"][0], text["types"][-1]) == ("RUN_STARTED", "RUN_FINISHED")


def test_a_call_that_needs_permission_interrupts_and_is_resumed(results: Any) -> None:
    (message,) = results["interrupt"]["messages"]
    (interrupt,) = results["interrupt"]["finished"]["outcome"]["interrupts"]

    assert message["calls"] == [["bake", '{"degrees": 200}']]
    assert (interrupt["reason"], results["pending"]) == ("tool_approval", [interrupt["id"]])
    tool, after = spoken(results["resumed"])
    assert tool == (f"m3:{interrupt['toolCallId']}", "tool", "baked")
    assert after == ("m4", "assistant", "Done.")
    assert results["history"] == ["q1", "m1:thinking-1", "m1", "q2", "m2", tool[0], "m4"]


def test_a_cancelled_interrupt_denies_the_call(results: Any) -> None:
    tool, after = spoken(results["denied"])

    assert tool[1:] == ("tool", "This call was denied.")
    assert after[1:] == ("assistant", "Done.")


def test_a_client_that_comes_later_gets_the_messages_with_the_same_ids(results: Any) -> None:
    assert results["attachedMessages"][: len(results["history"])] == results["history"]
    assert "MESSAGES_SNAPSHOT" in results["attached"]["types"]


def test_errors_are_those_of_the_protocol_or_of_http(results: Any) -> None:
    assert results["error"]["failed"] == {"type": "RUN_ERROR", "message": "bad key", "code": "2001"}
    assert results["error"]["state"]["status"] == "failed"
    assert results["error"]["types"][-1] == "RUN_ERROR"
    assert results["refused"]["status"] == 422
    assert "unusable_model" in results["refused"]["error"]
    assert results["stranger"]["status"] == 401


def test_the_question_of_an_agent_is_answered_in_words(results: Any) -> None:
    (interrupt,) = results["question"]["finished"]["outcome"]["interrupts"]

    assert (interrupt["reason"], interrupt["message"]) == ("question", "Which blue?")
    assert [message["content"] for message in results["answered"]["messages"]] == ["Painted."]
    assert results["answered"]["finished"]["result"]["success"] is True


def test_a_debate_has_a_message_for_each_turn_and_a_verdict(results: Any) -> None:
    debate = results["debate"]
    names = [message["name"] for message in debate["messages"] if message["role"] == "assistant"]

    assert sorted(names) == ["against", "against", "for", "for"]
    assert debate["finished"]["result"]["verdict"]["winner"] == "for"
    assert {"STEP_STARTED", "STEP_FINISHED", "CUSTOM"} <= {*debate["types"]}
