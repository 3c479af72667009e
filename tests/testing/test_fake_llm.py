"""The fake server can be run by itself, so that others can test their own programs against it."""

import json
import os
import subprocess
import sys
from http.client import HTTPConnection

import pytest

from antiphon.messages import Text, ToolCall, ToolResult, assistant, tool, user
from antiphon.providers.base import Request, Tool, ToolStart
from antiphon.testing.fake_llm import SCENARIOS
from antiphon.testing.fake_llm.scenarios import WORDS
from tests.fixtures.providers import CANARY, FORMATS, HELLO, read, run, stand


def test_it_runs_by_itself_and_tells_what_it_saw():
    command = [sys.executable, "-m", "antiphon.testing.fake_llm", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ}) as server:
        try:
            lines = [server.stdout.readline() for _ in range(6 + len(SCENARIOS))]
            port = int(lines[0].split("127.0.0.1:")[1].split("/")[0])
            body = json.dumps({"model": "any-text", "messages": [{"role": "user", "content": "hi"}]})
            connection = HTTPConnection("127.0.0.1", port, timeout=10)
            headers = {"authorization": f"Bearer {CANARY}"}
            connection.request("POST", "/openai/v1/chat/completions", body, headers)
            text = connection.getresponse().read().decode()
            connection.request("GET", "/__seen")
            requests = json.loads(connection.getresponse().read())
            connection.close()
        finally:
            server.terminate()

    assert text.endswith("data: [DONE]\n\n")
    assert [(request["scenario"], request["ended"], request["key_header"]) for request in requests] == [
        ("text", "complete", "authorization")
    ]
    assert CANARY not in str(requests)


def test_any_other_model_is_an_echo():
    async def work():
        async with stand() as here:
            return await read(here.open("google", "whatever"), HELLO)

    assert run(work()).text == "Hello"


def test_an_unknown_path_is_not_served():
    async def work():
        async with stand() as here:
            return await read(here.models.open(f"openai+{here.fake.base_url('nobody')}:m"))

    assert run(work()).error.code == "9003"


@pytest.mark.parametrize("format", FORMATS)
def test_offered_tools_are_called_one_by_one_in_every_format(format):
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = tuple(Tool(name, "A tool.", schema) for name in ("first", "second"))

    async def work():
        called = []
        messages = [user("Use them")]
        async with stand() as here:
            provider = here.open(format, "tools")
            while True:
                outcome = await read(provider, Request(tuple(messages), tools=tools))
                start = next((delta for delta in outcome.deltas if isinstance(delta, ToolStart)), None)
                if start is None:
                    return called, outcome.text
                called.append(start.name)
                messages.append(assistant("", ToolCall(start.id, start.name, '{"city": "x"}')))
                messages.append(tool(ToolResult(start.id, (Text("done"),))))

    called, text = run(work())

    assert called == ["first", "second"]
    assert text == "".join(WORDS)
