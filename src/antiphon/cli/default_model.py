"""Which model answers when nobody says: the best that can be used here, and what to do for a better one."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from antiphon.providers.catalog import ModelListing, list_models

# The model that a key alone stands for.
DEFAULTS: Mapping[str, str] = {
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-6.1-sol",
    "google": "gemini-3.8-flash",
    "mistral": "mistral-large-2512",
}
LOCAL, SCRIPTED = "local:smollm2", "scripted:chat"
# What the window of a model holds, where it is small; guesses of tokens are rough, and a reply needs room too.
SMALL_WINDOWS: Mapping[str, int] = {"local": 5_500}
HINT = (
    "for a real model set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or MISTRAL_API_KEY, or run Ollama; "
    "'antiphon models' lists what can be used"
)
SCRIPT_NOTE = "a script: what it says stands in a file, and no model is asked"


@dataclass(frozen=True, slots=True)
class Choice:
    """A model, what people should know of it, and what they could have instead."""

    reference: str
    note: str = ""
    hint: str = ""

    @property
    def said(self) -> str:
        """Who answers, in a line."""
        return f"{self.reference} answers{f' ({self.note})' if self.note else ''}"


def choose(
    named: str | None = None,
    environment: Mapping[str, str] = os.environ,
    known: Callable[[], list[ModelListing]] = list_models,
    last_resort: str = SCRIPTED,
) -> Choice:
    """Choose the model that was named, or the first that can be used; without any, a script and why."""
    reference = named or environment.get("ANTIPHON_MODEL")
    if reference:
        return described(reference, known)
    models = known()
    choice = described(_first(models, last_resort), lambda: models)
    problem = next((row.why for row in models if row.reference == LOCAL and not row.usable), "")
    if choice.reference != last_resort or not problem:
        return choice
    return replace(choice, note=f"a script, because {LOCAL} cannot be used here: {problem}")


def _first(found: list[ModelListing], last_resort: str) -> str:
    usable = {row.reference for row in found if row.usable}
    providers = {reference.partition(":")[0] for reference in usable}
    for provider, model in DEFAULTS.items():
        if provider in providers:
            return f"{provider}:{model}"
    ollama = [row.reference for row in found if row.usable and row.reference.startswith("ollama:")]
    return ollama[0] if ollama else LOCAL if LOCAL in usable else last_resort


def described(reference: str, known: Callable[[], list[ModelListing]] = list_models) -> Choice:
    """A model with what is to be said about it."""
    provider = provider_of(reference)
    if provider == "scripted":
        return Choice(reference, SCRIPT_NOTE, HINT)
    if provider == "local":
        note = next((row.note for row in known() if row.reference == reference), "")
        return Choice(reference, note, HINT)
    return Choice(reference)


def provider_of(reference: str) -> str:
    """Who a reference asks."""
    return reference.partition(":")[0].partition("+")[0]


def settings_for(reference: str) -> dict[str, int]:
    """What a chat with a model needs to know."""
    window = SMALL_WINDOWS.get(provider_of(reference))
    return {} if window is None else {"contextLimit": window}
