"""List of the known models: whether each can be used here, its price, and what is missing."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from antiphon.providers.base import Model
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys, KeySource, Secret
from antiphon.providers.local.library import library_problem
from antiphon.providers.local.settings import local_settings
from antiphon.providers.local.sources import list_added
from antiphon.providers.local.weights import WEIGHTS, models_folder, weights_problem
from antiphon.providers.ollama import ollama_address, ollama_models
from antiphon.providers.plugins import installed_names, installed_provider
from antiphon.providers.prices import FREE, Price, Prices, known_models
from antiphon.providers.references import HOSTED
from antiphon.providers.scripted import script_names

# Models in the price table that are not for chat.
NO_CHAT = re.compile(
    r"embed|tts|whisper|transcri|image|audio|voxtral|ocr|moderation|realtime|live|instruct|davinci|babbage|^ada|^curie"
    r"|robotics|omni|banana|:free|^ft:|deep-research|search|computer-use|codex|translate"
)
OWN_MODELS: Mapping[str, str] = {
    "anthropic": r"claude",
    "openai": r"gpt-|o\d|chatgpt",
    "google": r"gemini|gemma",
    "mistral": r".",
}
NOT_INSTALLED = "not installed: pip install 'antiphon[models]'"
NO_PRICES = "prices need genai-prices, which is not installed: pip install 'antiphon[models]'"


@dataclass(frozen=True, slots=True)
class ModelListing:
    """Model, or all models of a provider, and whether it can be used."""

    reference: str
    usable: bool
    why: str = ""
    price: Price | None = None
    # Remark for people.
    note: str = ""
    # Tokens of a request and its reply, as far as they are known.
    window: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the model as JSON."""
        price = None if self.price is None else {"input": str(self.price.input), "output": str(self.price.output)}
        return {
            "reference": self.reference,
            "usable": self.usable,
            "why": self.why,
            "note": self.note,
            "price": price,
            "window": self.window,
        }


def list_models(
    keys: KeySource | None = None,
    prices: Prices | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    local_models: Callable[[str, Secret | None], list[str]] = ollama_models,
    embedded_problem: Callable[[], str | None] = library_problem,
) -> list[ModelListing]:
    """List all known models; a provider that cannot be used has one row with the reason."""
    keys = keys or Keys(environment)
    prices = prices or Prices()
    result = [row for provider in HOSTED for row in _hosted(provider, keys, prices)]
    result += _ollama(environment, keys, prices, local_models)
    result += _local_models(environment, embedded_problem())
    result += [_priced_listing(f"scripted:{name}", "scripted", name, prices) for name in script_names()]
    result += [_installed(name) for name in installed_names()]
    return result


def _hosted(provider: str, keys: KeySource, prices: Prices) -> Iterator[ModelListing]:
    try:
        missing = NOT_INSTALLED if find_spec("httpx2") is None else None
        if missing is None and keys.find(provider) is None:
            missing = keys.advice(provider)
    except ProviderError as error:
        missing = error.message
    if missing is not None:
        yield ModelListing(f"{provider}:*", False, missing)
        return
    windows = {name: window for name, window in known_models(provider).items() if re.match(OWN_MODELS[provider], name)}
    for name, window in windows.items():
        if not NO_CHAT.search(name):
            yield replace(_priced_listing(f"{provider}:{name}", provider, name, prices), window=window)
    if not windows:
        yield ModelListing(f"{provider}:*", True, NO_PRICES)


def _ollama(
    environment: Mapping[str, str],
    keys: KeySource,
    prices: Prices,
    local_models: Callable[[str, Secret | None], list[str]],
) -> Iterator[ModelListing]:
    if find_spec("httpx2") is None:
        yield ModelListing("ollama:*", False, NOT_INSTALLED)
        return
    try:
        names = local_models(ollama_address(environment), keys.find("ollama"))
    except ProviderError as error:
        yield ModelListing("ollama:*", False, error.message)
        return
    if not names:
        yield ModelListing("ollama:*", False, "Ollama has no model installed: ollama pull <model>")
    yield from (_priced_listing(f"ollama:{name}", "compatible", name, prices) for name in names)


def _installed(name: str) -> ModelListing:
    """Return the row of a plug-in, whose models are not known."""
    try:
        plugin = installed_provider(name)
    except ProviderError as error:
        return ModelListing(f"{name}:*", False, error.message)
    return ModelListing(f"{name}:*", True, note="" if plugin is None else f"plug-in {plugin.origin}")


def _local_models(environment: Mapping[str, str], problem: str | None) -> Iterator[ModelListing]:
    """List the embedded models and those that the user added."""
    folder = models_folder(environment)
    if problem is None and find_spec("httpx2") is None:
        problem = "it needs httpx2, which is not installed: pip install 'antiphon[local]'"
    try:
        settings = local_settings(environment)
        for weights in WEIGHTS.values():
            reason = problem or weights_problem(weights, folder)
            context = settings.context_for(weights.window)
            yield ModelListing(weights.reference, reason is None, reason or "", FREE, weights.note, context)
        for reference, note, why, window in list_added(folder, environment):
            reason = problem or why
            yield ModelListing(reference, reason is None, reason or "", FREE, note, window)
    except ProviderError as error:
        yield ModelListing("local:*", False, error.message)


def _priced_listing(reference: str, provider: str, name: str, prices: Prices) -> ModelListing:
    price = prices.price(Model(reference, provider, name))
    return ModelListing(reference, True, "" if price is not None else "no price is known", price)
