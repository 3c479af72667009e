"""Choice of the default model: the best that is usable here, with a hint on how to get a better one."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from antiphon.cli.config.settings import MODEL, load_config
from antiphon.cli.frame import UsageError
from antiphon.providers.catalog import ModelListing, list_models
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys
from antiphon.providers.local.settings import local_settings
from antiphon.providers.local.sources import PREFIX, Source, absolute_reference, open_source

# The default model of each provider that has a key.
DEFAULTS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-sol",
    "google": "gemini-3.8-flash",
    "mistral": "mistral-large-2512",
}
LOCAL = "local:smollm2"
SCRIPTED = "scripted:chat"
# Share of the context of a local model that a conversation may fill; estimates are rough, and the reply needs room.
SHARE_OF_CONTEXT = 0.67
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
    *,
    command: str = "chat",
) -> ModelChoice:
    """Choose the named model, else that of the settings, else the first usable one, else a script.

    The note of a script has the reason why there is no model. A file of keys that cannot be used raises `UsageError`,
    unless a key in the environment makes up for it.
    """
    named = named or load_config(environment).get(command, MODEL)
    if named:
        reference = resolve_model(named, environment)
        _local_source(reference)  # fails on an unknown model
        return describe(reference)
    models = list_models()
    choice = describe(first_usable(models, last_resort))
    if choice.reference.partition(":")[0] not in DEFAULTS:
        _check_keys(environment)
    problem = next((row.why for row in models if row.reference == LOCAL and not row.usable), "")
    if choice.reference != last_resort or not problem:
        return choice
    return replace(choice, note=f"a script, because {LOCAL} is not usable here: {problem}")


def resolve_model(name: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the reference of a model that is named by it or by an alias; that of a file is absolute."""
    # A conversation may be continued in another folder.
    return absolute_reference(load_config(environment).resolve(name))


def _check_keys(environment: Mapping[str, str]) -> None:
    """Raise `UsageError` if the file of keys cannot be used: its models would be passed over in silence."""
    try:
        Keys(environment).read_file()
    except ProviderError as error:
        raise UsageError(f"{error.message}; or name a model with -m") from error


def first_usable(models: list[ModelListing], last_resort: str) -> str:
    """Return the default model of the first provider that is usable, else a local model, else the last resort."""
    usable = {row.reference for row in models if row.usable}
    providers = {reference.partition(":")[0] for reference in usable}
    for provider, model in DEFAULTS.items():
        if provider in providers:
            return f"{provider}:{model}"
    ollama = [row.reference for row in models if row.usable and row.reference.startswith("ollama:")]
    return ollama[0] if ollama else LOCAL if LOCAL in usable else last_resort


def describe(reference: str) -> ModelChoice:
    """Return the model with its note and hint."""
    if reference.startswith("scripted:"):
        return ModelChoice(reference, SCRIPT_NOTE, HINT)
    try:
        source = _local_source(reference)
    except ProviderError as error:
        # A conversation can be read without its model.
        return ModelChoice(reference, error.message, HINT)
    if source is None:
        return ModelChoice(reference)
    return ModelChoice(reference, source.note, HINT if reference == LOCAL else "")


def context_limit(reference: str) -> int | None:
    """Return how many tokens of a conversation a model can take; None if that is not limited here."""
    source = _local_source(reference)
    return None if source is None else round(source.context * SHARE_OF_CONTEXT)


def settings_for(reference: str) -> dict[str, int]:
    """Return the chat settings that a model needs."""
    limit = context_limit(reference)
    return {} if limit is None else {"contextLimit": limit}


def _local_source(reference: str) -> Source | None:
    if not reference.startswith(PREFIX):
        return None
    return open_source(reference.removeprefix(PREFIX), local_settings())
