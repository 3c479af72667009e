"""Models are checked without a request: the reference, the key, and the file of an embedded one."""

import asyncio
from pathlib import Path

import pytest

from antiphon.errors import Code
from antiphon.providers import Keys, Models, ProviderError, ScriptedModel


def check(reference: str, **environment: str) -> str:
    async def run() -> str:
        async with Models(keys=Keys(environment, "/nowhere/keys.toml")) as models:
            return (await models.check(reference)).reference

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("nothing", Code.BAD_REQUEST),
        ("nope:model", Code.BAD_REQUEST),
        ("scripted:nobody", Code.NOT_FOUND),
        ("anthropic:claude", Code.UNAUTHENTICATED),
        ("google:gemini", Code.UNAUTHENTICATED),
        ("anthropic+http://127.0.0.1:9:claude", Code.UNAUTHENTICATED),
        ("local:nobody", Code.NOT_FOUND),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(reference: str, code: Code) -> None:
    with pytest.raises(ProviderError) as error:
        check(reference)
    assert error.value.code == code


@pytest.mark.parametrize(
    "reference", ["openai:gpt", "scripted:demo", "ollama:llama", "openai+http://127.0.0.1:9/v1:own"]
)
def test_a_model_with_all_it_needs_is_accepted_although_no_server_answers(reference: str) -> None:
    assert check(reference, OPENAI_API_KEY="sk-1") == reference


def test_the_key_is_not_in_the_error() -> None:
    with pytest.raises(ProviderError) as error:
        check("openai:gpt", OPENAI_API_KEY="sk 1")
    assert "sk 1" not in str(error.value)


def test_an_embedded_model_that_is_not_installed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_MODELS", str(tmp_path))
    with pytest.raises(ProviderError) as error:
        check("local:smollm2")
    assert error.value.code == Code.UNSUPPORTED


def test_a_plug_in_is_opened() -> None:
    async def run() -> str:
        async with Models(openers={"own": lambda reference: ScriptedModel({"reply": [{"text": "Yes."}]})}) as models:
            return (await models.check("own:model")).provider

    assert asyncio.run(run()) == "scripted"
