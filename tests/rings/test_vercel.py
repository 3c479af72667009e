"""The UI message stream with its own client: `DefaultChatTransport` and `AbstractChat` of the npm package `ai`."""

from typing import Any

import pytest

from tests.fixtures.facades import kitchen, kitchen_model
from tests.fixtures.server import live_server
from tests.rings.node import run_script

pytestmark = pytest.mark.rings


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    model = kitchen_model(tmp_path_factory.mktemp("chat"))
    with live_server(app=kitchen) as server:
        return run_script("vercel.mjs", server.address, server.settings.token, model)


def parts(message: Any, type: str) -> list[Any]:
    return [part for part in message["parts"] if part["type"] == type]


def test_a_reply_has_its_thoughts_its_text_and_its_metadata(results: Any) -> None:
    sent = results["sent"]
    reply = sent["messages"][-1]

    assert sent["status"] == "ready"
    assert [part["type"] for part in reply["parts"]] == ["step-start", "reasoning", "text"]
    assert [part["text"] for part in parts(reply, "text")] == ["Hello there."]
    assert (reply["id"], reply["metadata"]["status"]) == ("m1", "completed")


def test_a_reply_is_asked_for_again(results: Any) -> None:
    first, second = results["sent"]["messages"], results["regenerated"]["messages"]

    assert [message["role"] for message in second] == ["user", "assistant"]
    assert (first[0]["id"], first[1]["id"], second[1]["id"]) == (second[0]["id"], "m1", "m2")


def test_a_call_is_approved_and_the_message_goes_on(results: Any) -> None:
    (call,) = parts(results["asked"]["messages"][-1], "dynamic-tool")
    approved = results["approved"]["messages"]

    assert call["state"] == "approval-requested"
    assert [message["role"] for message in approved] == ["user", "assistant"]
    assert [(part["state"], part["output"]) for part in parts(approved[-1], "dynamic-tool")] == [
        ("output-available", "baked"),
        ("output-available", "baked"),
    ]
    assert [part["text"] for part in parts(approved[-1], "text")] == ["Done."]


def test_a_call_is_denied(results: Any) -> None:
    reply = results["denied"]["messages"][-1]

    assert [part["state"] for part in parts(reply, "dynamic-tool")] == ["output-denied"]
    assert [part["text"] for part in parts(reply, "text")] == ["Heat.", "Done."]


def test_errors_end_the_chat_with_their_text(results: Any) -> None:
    assert (results["broken"]["status"], results["broken"]["error"]) == ("error", "bad key")
    assert results["refused"]["status"] == "error"
    assert "unusable_model" in results["refused"]["error"]


def test_a_stream_that_was_left_is_resumed_without_gap_or_repeat(results: Any) -> None:
    resumed = results["resumed"]

    assert (resumed["id"], resumed["text"]) == ("m1", ["One two."])
    assert (resumed["chunks"][0], resumed["chunks"][-1]) == ("start", "finish")
    assert results["nothing"] is None
    assert results["late"] == {"status": "ready", "messages": []}


def test_a_debate_is_one_message_with_the_words_of_both_sides(results: Any) -> None:
    reply = results["debate"]["messages"][-1]

    assert len(parts(reply, "text")) == 4
    assert {part["data"]["speaker"] for part in parts(reply, "data-speaker")} == {"for", "against"}
    assert parts(reply, "data-result")[0]["data"]["verdict"]["winner"] == "for"
