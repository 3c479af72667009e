"""The API of OpenAI with the npm package `openai`."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.openai_facade import ADD, openai_server
from tests.rings.node import run_script

pytestmark = pytest.mark.rings


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("model")
    with openai_server(folder) as (server, model):
        return run_script("openai.mjs", server.address, server.settings.token, model, json.dumps(ADD))


def test_completions_are_read(result: Any) -> None:
    assert "scripted:demo" in result["models"]
    assert (result["text"], result["streamed"], result["tokens"]) == ("Hello there.", "Hello there.", 12)


def test_tools_go_round_by_hand_and_by_the_runner(result: Any) -> None:
    assert result["tools"] == ["tool_calls", "It is 3."]
    assert result["run"] == "It is 3."


def test_errors_have_their_classes(result: Any) -> None:
    assert result["failure"] == ["BadRequestError", 400, "context_length_exceeded"]
    assert result["refused"] == ["BadRequestError", 400, "bad_body"]
    assert result["stranger"] == ["AuthenticationError", 401, "invalid_api_key"]
    assert result["broken"] == ["APIError", None, "bad_request"]


def test_responses_are_read(result: Any) -> None:
    assert result["responses"] == ["Hello there.", "Hello there."]
    assert (result["events"][0], result["events"][-1]) == ("response.created", "response.completed")
    assert result["final"] == "Hello there."
