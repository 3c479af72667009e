"""The API of OpenAI with the Python package `openai`."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.openai_facade import ADD, TOOL, openai_server
from tests.fixtures.server import LiveServer, live_server

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")
pytestmark = pytest.mark.rings


class Weather(pydantic.BaseModel):  # type: ignore[name-defined, misc]
    """An answer with a schema."""

    city: str
    degrees: int


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveServer, str]]:
    with openai_server(tmp_path_factory.mktemp("model")) as pair:
        yield pair


@pytest.fixture
def client(served: tuple[LiveServer, str]) -> Iterator[Any]:
    server, _ = served
    with openai.OpenAI(api_key=server.settings.token, base_url=f"{server.address}/v1") as client:
        yield client


@pytest.fixture
def model(served: tuple[LiveServer, str]) -> str:
    return served[1]


def ask(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def test_a_wrong_key_is_an_authentication_error() -> None:
    with (
        live_server() as server,
        openai.OpenAI(api_key="wrong", base_url=f"{server.address}/v1") as client,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        client.models.list()

    assert caught.value.code == "invalid_api_key"


def test_models_are_listed_and_retrieved(client: Any) -> None:
    models = [model.id for model in client.models.list()]

    assert "scripted:demo" in models
    assert client.models.retrieve("scripted:demo").owned_by == "scripted"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nothing")


def test_a_completion_has_its_text_and_its_usage(client: Any, model: str) -> None:
    completion = client.chat.completions.create(model=model, messages=ask("Hi"))

    assert completion.choices[0].message.content == "Hello there."
    assert (completion.choices[0].finish_reason, completion.usage.total_tokens) == ("stop", 12)


def test_a_completion_is_streamed_with_its_usage(client: Any, model: str) -> None:
    chunks = [*client.chat.completions.create(
        model=model, messages=ask("Hi"), stream=True, stream_options={"include_usage": True}
    )]  # fmt: skip

    assert "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices) == "Hello there."
    assert chunks[-1].usage.total_tokens == 12


def test_the_helper_for_streams_collects_a_completion(client: Any, model: str) -> None:
    with client.chat.completions.stream(model=model, messages=ask("add 1 and 2"), tools=[TOOL]) as stream:
        completion = stream.get_final_completion()

    assert completion.choices[0].finish_reason == "tool_calls"
    assert completion.choices[0].message.tool_calls[0].function.name == "add"


def test_tools_go_round(client: Any, model: str) -> None:
    messages = ask("add 1 and 2")
    first = client.chat.completions.create(model=model, messages=messages, tools=[TOOL]).choices[0]
    messages.append(first.message)
    messages.append({"role": "tool", "tool_call_id": first.message.tool_calls[0].id, "content": "3"})
    second = client.chat.completions.with_raw_response.create(model=model, messages=messages, tools=[TOOL])

    assert first.finish_reason == "tool_calls"
    assert second.parse().choices[0].message.content == "It is 3."
    assert second.headers["x-antiphon-thread"]


def test_a_structured_answer_is_parsed(client: Any, model: str) -> None:
    completion = client.chat.completions.parse(model=model, messages=ask("json"), response_format=Weather)
    response = client.responses.parse(model=model, input="json", text_format=Weather)

    assert completion.choices[0].message.parsed == Weather(city="Zürich", degrees=9)
    assert response.output_parsed == Weather(city="Zürich", degrees=9)


def test_a_failure_has_its_class_and_is_not_repeated(client: Any, model: str, served: tuple[LiveServer, str]) -> None:
    before = len(served[0].call(lambda app: app.runtime.roots()))
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=model, messages=ask("fail"))

    assert caught.value.code == "context_length_exceeded"
    assert len(served[0].call(lambda app: app.runtime.roots())) == before + 1


def test_a_parameter_that_is_not_supported_is_named(client: Any, model: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model=model, messages=ask("Hi"), n=2)

    assert caught.value.param == "n"


def test_a_failure_in_mid_stream_is_raised_after_the_words(client: Any, model: str) -> None:
    texts: list[str] = []
    stream = client.chat.completions.create(model=model, messages=ask("break"), stream=True)
    with pytest.raises(openai.APIError, match="The model is broken"):
        texts.extend(chunk.choices[0].delta.content for chunk in stream)

    assert "".join(texts) == "Half"


def test_a_response_is_continued(client: Any, model: str) -> None:
    first = client.responses.create(model=model, input="Hi", instructions="Be brief.")
    second = client.responses.create(model=model, input="Again", previous_response_id=first.id)

    assert (first.output_text, second.output_text) == ("Hello there.", "Hello there.")
    assert (first.usage.total_tokens, second.previous_response_id) == (12, first.id)


def test_a_response_is_streamed(client: Any, model: str) -> None:
    with client.responses.stream(model=model, input="Hi") as stream:
        texts = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()

    assert "".join(texts) == final.output_text == "Hello there."


def test_a_response_calls_functions_of_the_client(client: Any, model: str) -> None:
    tools = [{"type": "function", **ADD}]
    first = client.responses.create(model=model, input="add 1 and 2", tools=tools)
    call = first.output[-1]
    output = [{"type": "function_call_output", "call_id": call.call_id, "output": "3"}]
    second = client.responses.create(model=model, input=output, tools=tools, previous_response_id=first.id)

    assert (call.type, call.name, second.output_text) == ("function_call", "add", "It is 3.")


def test_a_response_that_fails_ends_its_stream(client: Any, model: str) -> None:
    last = [*client.responses.create(model=model, input="break", stream=True)][-1]

    assert (last.type, last.response.error.message) == ("response.failed", "The model is broken")


def test_the_asynchronous_client_reads_streams_too(served: tuple[LiveServer, str]) -> None:
    server, model = served

    async def main() -> str:
        async with openai.AsyncOpenAI(api_key=server.settings.token, base_url=f"{server.address}/v1") as client:
            stream = await client.chat.completions.create(model=model, messages=ask("Hi"), stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(main()) == "Hello there."
