"""The UI message stream over the wire: sending, regenerating, editing, resuming, approvals, errors."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.facades import TOPIC, events_of, kitchen, kitchen_model, question, send_vercel, types, vercel_body
from tests.fixtures.protocols import check_chunks
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, live_server


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=kitchen) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    model = kitchen_model(tmp_path_factory.mktemp("kitchen"))
    return {"model": model, "tools": ["bake"], "consent": {"mode": "ask"}}


def text(chunks: list[Any]) -> str:
    return "".join(chunk["delta"] for chunk in chunks[:-1] if chunk["type"] == "text-delta")


def of_type(chunks: list[Any], type: str) -> list[Any]:
    return [chunk for chunk in chunks[:-1] if chunk["type"] == type]


def approved(chunks: list[Any], *decisions: bool) -> dict[str, Any]:
    """The message of the assistant with the decisions of a person."""
    requests = of_type(chunks, "tool-approval-request")
    parts = [
        {
            "type": "dynamic-tool",
            "toolName": "bake",
            "toolCallId": request["toolCallId"],
            "state": "approval-responded",
            "approval": {"id": request["approvalId"], "approved": decision},
        }
        for request, decision in zip(requests, decisions, strict=True)
    ]
    return {"id": chunks[0]["messageId"], "role": "assistant", "parts": parts}


def test_a_thread_is_created_and_its_reply_streamed(client: CheckedClient, settings: Any) -> None:
    chunks = send_vercel(client, "created", question("hello"), thread=settings)

    check_chunks(chunks)
    shape = [name for name in types(chunks) if not name.startswith("data-")]
    assert shape[:4] == ["start", "start-step", "reasoning-start", "reasoning-delta"]
    assert shape[-3:] == ["finish-step", "finish", "[DONE]"]
    assert (chunks[0]["messageId"], text(chunks)) == ("m1", "Hello there.")
    assert {*client.get("/threads/created")["content"]["messages"]} == {"u1", "m1"}


def test_a_message_that_is_sent_twice_is_taken_once(client: CheckedClient, settings: Any) -> None:
    first = send_vercel(client, "twice", question("hello"), thread=settings)
    second = send_vercel(client, "twice", question("hello"))

    assert first == second
    assert len(client.get("/threads/twice")["content"]["messages"]) == 2


def test_the_last_reply_and_an_earlier_one_are_asked_for_again(client: CheckedClient, settings: Any) -> None:
    send_vercel(client, "again", question("hello"), thread=settings)
    send_vercel(client, "again", question("more", "u2"))
    again = {"trigger": "regenerate-message"}
    last = send_vercel(client, "again", question("more", "u2"), **again)
    earlier = send_vercel(client, "again", question("hello"), **again, messageId="m1")

    assert (last[0]["messageId"], earlier[0]["messageId"]) == ("m3", "m4")
    messages = client.get("/threads/again")["content"]["messages"]
    assert (messages["m3"]["parent"], messages["m4"]["parent"]) == ("u2", "u1")


def test_a_message_that_was_edited_takes_the_place_of_the_earlier_one(client: CheckedClient, settings: Any) -> None:
    send_vercel(client, "edited", question("hello"), thread=settings)
    chunks = send_vercel(client, "edited", question("hello you"), messageId="u1")

    messages = client.get("/threads/edited")["content"]["messages"]
    assert (chunks[0]["messageId"], messages["m3"]["parent"]) == ("m3", "m2")
    assert (messages["m2"]["parent"], messages["m2"]["parts"][0]["text"]) == (None, "hello you")


def test_calls_are_approved_and_the_message_goes_on(client: CheckedClient, settings: Any) -> None:
    asked = send_vercel(client, "approved", question("two"), thread=settings)
    message = approved(asked, True, True)
    chunks = send_vercel(client, "approved", question("two"), message, messageId=message["id"])

    check_chunks(asked)
    check_chunks(chunks)
    assert asked[-2]["finishReason"] == "tool-calls"
    assert chunks[0]["messageId"] == asked[0]["messageId"] == "m1"
    assert [chunk["output"] for chunk in of_type(chunks, "tool-output-available")] == ["baked", "baked"]
    assert text(chunks) == "Done."


def test_one_call_that_is_not_approved_denies_the_request(client: CheckedClient, settings: Any) -> None:
    asked = send_vercel(client, "denied", question("two"), thread=settings)
    chunks = send_vercel(client, "denied", question("two"), approved(asked, True, False))

    check_chunks(chunks)
    assert len(of_type(chunks, "tool-output-denied")) == 2
    assert not of_type(chunks, "tool-output-available")


def test_a_request_of_another_kind_is_a_part_and_answered_in_the_body(client: CheckedClient, settings: Any) -> None:
    limited = {**settings, "consent": {"mode": "auto"}, "maxToolRounds": 0}
    asked = send_vercel(client, "limit", question("bake"), thread=limited)
    (request,) = of_type(asked, "data-request")
    message = {"id": asked[0]["messageId"], "role": "assistant", "parts": []}
    answer = {"requestId": request["id"], "decision": "allow", "limit": 3, "reason": "go"}
    chunks = send_vercel(client, "limit", message, answer=answer)

    check_chunks(chunks)
    assert request["data"]["reason"] == "limit"
    assert text(chunks) == "Done."


def test_a_refused_call_is_an_error_of_its_tool(client: CheckedClient, settings: Any) -> None:
    chunks = send_vercel(client, "untooled", question("bake"), thread={**settings, "tools": []})

    check_chunks(chunks)
    (error,) = of_type(chunks, "tool-output-error")
    assert error["errorText"] == "There is no tool 'bake'."


def test_an_error_of_the_model_is_an_error_chunk(client: CheckedClient, settings: Any) -> None:
    chunks = send_vercel(client, "broken", question("break"), thread=settings)

    check_chunks(chunks)
    assert of_type(chunks, "error") == [{"type": "error", "errorText": "bad key"}]
    assert chunks[-2]["finishReason"] == "error"


def leave_in_the_middle(client: CheckedClient, body: dict[str, Any]) -> None:
    """Read a stream up to its first words."""
    with client.http.stream("POST", "/vercel/chat", json=body) as response:
        for line in response.iter_lines():
            if "text-delta" in line:
                return


def test_a_reply_in_progress_is_resumed_without_gap_or_repeat(client: CheckedClient, settings: Any) -> None:
    leave_in_the_middle(client, vercel_body("resumed", question("slow"), thread=settings))
    response = client.request("GET", "/vercel/chat/resumed/stream")
    chunks = events_of(response.text)

    check_chunks(chunks)
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert (chunks[0]["messageId"], text(chunks)) == ("m1", "One two.")
    assert client.request("GET", "/vercel/chat/resumed/stream").status_code == 204
    assert client.request("GET", "/vercel/chat/nobody/stream").status_code == 204


def test_a_reply_that_is_stopped_is_aborted(client: CheckedClient, settings: Any) -> None:
    leave_in_the_middle(client, vercel_body("stopped", question("slow"), thread=settings))
    with client.http.stream("GET", "/vercel/chat/stopped/stream") as response:
        lines = []
        for line in response.iter_lines():
            if not lines:
                client.post("/threads/stopped/stop")
            lines.append(line)
    chunks = events_of("\n".join(lines))

    check_chunks(chunks)
    assert of_type(chunks, "abort") == [{"type": "abort", "reason": "the thread is stopped"}]


def test_a_debate_is_one_message_with_the_words_of_all(client: CheckedClient, tmp_path: Path) -> None:
    model = script(tmp_path, {"steps": [{"text": "Because."}]})
    sides = [{"id": side, "position": side, "model": model} for side in ("for", "against")]
    debate = {"kind": "debate", "participants": sides, "maxRounds": 1}
    chunks = send_vercel(client, "debate", question(TOPIC), thread=debate)

    check_chunks(chunks)
    assert chunks[0]["messageId"] == "debate-run-1"
    assert {chunk["data"]["speaker"] for chunk in of_type(chunks, "data-speaker")} == {"for", "against"}


def test_an_image_is_sent_as_a_file(client: CheckedClient, settings: Any) -> None:
    file = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,aGk="}
    message = {**question("hello"), "parts": [{"type": "text", "text": "hello"}, file]}
    send_vercel(client, "image", message, thread=settings)

    parts = client.get("/threads/image")["content"]["messages"]["u1"]["parts"]
    assert parts[1] == {"type": "image", "mediaType": "image/png", "data": "aGk="}
