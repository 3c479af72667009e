"""The catalog says which models can be used here, what they cost, and what is missing for the rest."""

import pytest

import antiphon.providers.catalog as catalog_module
from antiphon.providers.catalog import list_models
from antiphon.providers.keys import Keys
from antiphon.providers.local.library import library_problem
from antiphon.providers.local.weights import SMOLLM2, file_of
from antiphon.providers.references import parse_reference
from tests.fixtures.providers import CANARY, NOWHERE, no_ollama


def catalog(environment=None, local=None, problem=None, path=NOWHERE):
    where = {"ANTIPHON_MODELS": "/nowhere", **(environment or {})}
    local_models = no_ollama if local is None else lambda address, key: local
    options = {"local_models": local_models, "embedded_problem": lambda: problem}
    return list_models(Keys(environment or {}, path), environment=where, **options)


def test_a_provider_without_a_key_has_one_row_that_says_so():
    listings = {row.reference: row for row in catalog()}

    scripts = {f"scripted:{name}" for name in ("agents", "chat", "debate", "demo")}
    assert set(listings) == {"anthropic:*", "openai:*", "google:*", "mistral:*", "ollama:*", "local:smollm2"} | scripts
    assert {row.reference for row in listings.values() if row.usable} == scripts
    assert "GEMINI_API_KEY" in listings["google:*"].why
    assert "127.0.0.1:11434" in listings["ollama:*"].why


def test_a_provider_with_a_key_lists_its_models_with_prices():
    listings = [row for row in catalog({"ANTHROPIC_API_KEY": CANARY}) if row.reference.startswith("anthropic:")]

    assert len(listings) > 5
    assert all(row.usable and row.price is not None for row in listings)
    assert all(parse_reference(row.reference) for row in listings)


def test_models_have_the_window_that_is_known_of_them():
    rows = {row.reference: row for row in catalog({"ANTHROPIC_API_KEY": CANARY})}

    assert rows["anthropic:claude-opus-4-0"].window == 200_000
    assert rows["local:smollm2"].window == 8192
    assert rows["scripted:demo"].window is None


def test_only_models_to_talk_to_are_listed():
    environment = dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"), CANARY)
    names = " ".join(row.reference for row in catalog(environment))

    assert "gpt-" in names
    assert "gemini-" in names
    assert not any(word in names for word in ("embed", "whisper", "tts", "google:claude", "moderation"))


def test_a_keys_file_that_others_can_read_is_the_reason(tmp_path):
    path = tmp_path / "keys.toml"
    path.write_text('anthropic = "k"')
    path.chmod(0o644)

    assert "chmod 600" in catalog(path=path)[0].why


def test_what_ollama_has_is_usable_and_free():
    listings = [row for row in catalog(local=["llama3.2:3b"]) if row.reference.startswith("ollama")]

    assert [(row.reference, row.usable, row.price.output) for row in listings] == [("ollama:llama3.2:3b", True, 0)]
    assert "ollama pull" in next(row for row in catalog(local=[]) if row.reference == "ollama:*").why


@pytest.mark.parametrize(
    ("problem", "installed", "size", "expected_text"),
    [
        ("it needs a library", {"httpx2"}, SMOLLM2.bytes, "it needs a library"),
        (None, set(), SMOLLM2.bytes, "it needs httpx2, which is not installed: pip install 'antiphon[local]'"),
        (None, {"httpx2"}, None, "antiphon models install local:smollm2"),
        (None, {"httpx2"}, 12, "is damaged (it has 12 bytes instead of 98,362,432)"),
        (None, {"httpx2"}, SMOLLM2.bytes, ""),
    ],
    ids=["no library", "no models", "no weights", "half the weights", "all"],
)
def test_the_embedded_model_says_what_is_missing_and_what_it_is(
    monkeypatch, tmp_path, problem, installed, size, expected_text
):
    monkeypatch.setattr(catalog_module, "find_spec", lambda name: name if name in installed else None)
    if size is not None:
        with file_of(SMOLLM2, tmp_path).open("wb") as file:
            file.truncate(size)

    listed = catalog({"ANTIPHON_MODELS": str(tmp_path)}, problem=problem)

    row = next(row for row in listed if row.reference == "local:smollm2")
    assert expected_text in row.why
    assert (row.usable, row.price.output) == (expected_text == "", 0)
    assert row.note == "a demonstration voice, 135M parameters: fluent, not knowledgeable"


def test_without_being_told_the_catalog_looks_for_the_library_itself():
    row = next(row for row in list_models(Keys({}, NOWHERE), environment={}) if row.reference == "local:smollm2")

    assert library_problem() in (None, row.why)
