"""Model references are read and written without loss, and what is none is refused without quoting a password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.providers.errors import ProviderError
from antiphon.providers.references import HOSTED, NAMES, Reference, parse_reference

GOOD = {
    "anthropic:claude-opus-5": Reference("anthropic", "claude-opus-5"),
    "openai:gpt-6.1-sol": Reference("openai", "gpt-6.1-sol"),
    "google:gemini-3.8-flash": Reference("google", "gemini-3.8-flash"),
    "mistral:mistral-large-2512": Reference("mistral", "mistral-large-2512"),
    "ollama:llama3.2:3b": Reference("ollama", "llama3.2:3b"),
    "local:smollm2": Reference("local", "smollm2"),
    "my-own_2:model": Reference("my-own_2", "model"),
    "own+http://127.0.0.1:9/v1:m": Reference("own", "m", "http://127.0.0.1:9/v1"),
    "scripted:demo": Reference("scripted", "demo"),
    "scripted:./talk/one.toml": Reference("scripted", "./talk/one.toml"),
    "openai+http://127.0.0.1:8000/v1:meta/llama-3:8b": Reference(
        "openai", "meta/llama-3:8b", "http://127.0.0.1:8000/v1"
    ),
    "openai+https://models.example/api/v1:m": Reference("openai", "m", "https://models.example/api/v1"),
    "openai+http://localhost:1234:m": Reference("openai", "m", "http://localhost:1234"),
    "openai+http://[::1]:8080/v1:m": Reference("openai", "m", "http://[::1]:8080/v1"),
    "anthropic+http://127.0.0.1:9:claude": Reference("anthropic", "claude", "http://127.0.0.1:9"),
}
NAMELESS = [
    "openai:",
    "http://host",
    "http://host:8080/v1",
    "openai+http://host",
    "openai+http://host:8080",
    "openai+http://host:8080/v1",
    "openai+http://[::1]:8080",
    "openai+https://host:8080/v1:",
]
BAD = [
    "",
    "claude",
    "anthropic:",
    "-own:model",
    "ollama+http://host/v1:m",
    "anthropic:two words",
    "Anthropic:claude",
    "openai+ftp://host/v1:m",
    "openai+http://host/v1",
    "openai+http://host:99999/v1:m",
    "openai+http://host/v1?key=1:m",
    "scripted+http://host/v1:m",
    *NAMELESS,
    "openai+http://user:hunter2@host/v1:m",
]


@pytest.mark.parametrize(("text", "reference"), GOOD.items())
def test_a_reference_is_read_and_written(text, reference):
    assert parse_reference(text) == reference
    assert str(reference) == text


@pytest.mark.parametrize("text", BAD)
def test_what_names_no_model_is_refused(text):
    with pytest.raises(ProviderError) as caught:
        parse_reference(text)

    assert "is not a model reference" in caught.value.message
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("text", NAMELESS)
def test_a_reference_without_a_model_says_so_and_what_to_write(text):
    with pytest.raises(ProviderError, match=r"names no model; use provider:model .* openai\+http://host:port/v1:model"):
        parse_reference(text)


@pytest.mark.parametrize("text", ["claude", "openai+http://host:99999/v1:m", "openai+http://user:hunter2@host/v1:m"])
def test_other_problems_are_not_taken_for_a_missing_model(text):
    with pytest.raises(ProviderError, match="is not a model reference; use"):
        parse_reference(text)


def test_a_slash_at_the_end_of_an_address_makes_no_difference():
    assert parse_reference("openai+http://host/v1/:m") == parse_reference("openai+http://host/v1:m")


models = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=30)
addresses = st.from_regex(r"https?://[a-z]{1,8}(\.[a-z]{2,3})?(:[1-9][0-9]{0,3})?(/[a-z0-9]{1,5}){0,2}", fullmatch=True)


@given(st.sampled_from(NAMES), models)
def test_any_model_name_survives(provider, model):
    assert parse_reference(f"{provider}:{model}") == Reference(provider, model)


@given(st.sampled_from(HOSTED), addresses, models)
def test_any_address_survives(provider, url, model):
    # After a bare host, a model that begins with digits reads like a port, and one with an "@" like a password.
    bare = url.count("/") == 2
    reference = Reference(provider, f"m{model.replace('@', '')}" if bare else model, url)

    assert parse_reference(str(reference)) == reference
