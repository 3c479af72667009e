"""Choice of the default model: the best that is usable here, with a hint on how to get a better one."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from antiphon.providers.catalog import ModelListing, list_models

# The default model of each provider that has a key.
DEFAULTS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-sol",
    "google": "gemini-3.8-flash",
    "mistral": "mistral-large-2512",
}
LOCAL = "local:smollm2"
SCRIPTED = "scripted:chat"
# Context limits of providers with small windows; token estimates are rough, and the reply needs room, too.
SMALL_WINDOWS: Mapping[str, int] = {"local": 5_500}
HINT = (
    "for a full model set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or MISTRAL_API_KEY, or run Ollama; "
    "list usable models with: antiphon models"
)
SCRIPT_NOTE = "a script that plays prepared replies; no model is called"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, a note about it, and a hint on how to get a better one."""

    reference: str
    note: str = ""
    hint: str = ""

    @property
    def summary(self) -> str:
        """The model with its note, as one line."""
        return f"model: {self.reference}{f' ({self.note})' if self.note else ''}"


def choose_model(
    named: str | None = None,
    environment: Mapping[str, str] = os.environ,
    list_models: Callable[[], list[ModelListing]] = list_models,
    last_resort: str = SCRIPTED,
) -> ModelChoice:
    """Choose the named model, else the first usable one, else a script with the reason in its note."""
    reference = named or environment.get("ANTIPHON_MODEL")
    if reference:
        return describe(reference, list_models)
    models = list_models()
    choice = describe(_first(models, last_resort), lambda: models)
    problem = next((row.why for row in models if row.reference == LOCAL and not row.usable), "")
    if choice.reference != last_resort or not problem:
        return choice
    return replace(choice, note=f"a script, because {LOCAL} is not usable here: {problem}")


def _first(models: list[ModelListing], last_resort: str) -> str:
    usable = {row.reference for row in models if row.usable}
    providers = {reference.partition(":")[0] for reference in usable}
    for provider, model in DEFAULTS.items():
        if provider in providers:
            return f"{provider}:{model}"
    ollama = [row.reference for row in models if row.usable and row.reference.startswith("ollama:")]
    return ollama[0] if ollama else LOCAL if LOCAL in usable else last_resort


def describe(reference: str, list_models: Callable[[], list[ModelListing]] = list_models) -> ModelChoice:
    """Return the model with its note and hint."""
    provider = provider_of(reference)
    if provider == "scripted":
        return ModelChoice(reference, SCRIPT_NOTE, HINT)
    if provider == "local":
        note = next((row.note for row in list_models() if row.reference == reference), "")
        return ModelChoice(reference, note, HINT)
    return ModelChoice(reference)


def provider_of(reference: str) -> str:
    """Return the provider in a model reference."""
    return reference.partition(":")[0].partition("+")[0]


def settings_for(reference: str) -> dict[str, int]:
    """Return the chat settings that a model needs."""
    window = SMALL_WINDOWS.get(provider_of(reference))
    return {} if window is None else {"contextLimit": window}
