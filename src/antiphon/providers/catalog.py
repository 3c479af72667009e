"""Which models can be used here, what they cost, and what is missing for the rest."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from urllib.parse import urlsplit

from antiphon.providers.base import Model
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys
from antiphon.providers.local.library import library_problem
from antiphon.providers.local.weights import KNOWN, Weights, models_folder, trouble
from antiphon.providers.prices import FREE, Price, Prices, known_models
from antiphon.providers.references import HOSTED
from antiphon.providers.scripted import script_names

PROBE_S = 0.5
# What the table prices, but is no model to talk to.
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


@dataclass(frozen=True, slots=True)
class Row:
    """A model, or all models of a provider, and whether it can be used."""

    reference: str
    usable: bool
    why: str = ""
    price: Price | None = None
    # What people should know about the model.
    note: str = ""


def rows(
    keys: Keys | None = None,
    prices: Prices | None = None,
    *,
    environment: Mapping[str, str] = os.environ,
    local_models: Callable[[str], list[str] | None] | None = None,
    embedded_problem: Callable[[], str | None] = library_problem,
) -> list[Row]:
    """Every model that is known here; a provider that cannot be used has one row that says why."""
    keys = keys or Keys(environment)
    prices = prices or Prices()
    found = [row for provider in HOSTED for row in _hosted(provider, keys, prices)]
    found += _ollama(environment, prices, local_models or ollama_models)
    found += [_local(weights, environment, embedded_problem()) for weights in KNOWN.values()]
    found += [_row(f"scripted:{name}", "scripted", name, prices) for name in script_names()]
    return found


def ollama_models(host: str) -> list[str] | None:
    """The models that Ollama has here; nothing when it does not run."""
    address = urlsplit(host if "://" in host else f"http://{host}")
    connection = HTTPConnection(address.hostname or "127.0.0.1", address.port or 11434, timeout=PROBE_S)
    try:
        connection.request("GET", "/api/tags")
        listed = json.loads(connection.getresponse().read())
        return [entry["name"] for entry in listed["models"]]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def _hosted(provider: str, keys: Keys, prices: Prices) -> Iterator[Row]:
    try:
        missing = NOT_INSTALLED if find_spec("httpx2") is None else None
        if missing is None and keys.find(provider) is None:
            missing = keys.advice(provider)
    except ProviderError as error:
        missing = error.message
    if missing is not None:
        yield Row(f"{provider}:*", False, missing)
        return
    names = [name for name in known_models(provider) if re.match(OWN_MODELS[provider], name)]
    for name in names:
        if not NO_CHAT.search(name):
            yield _row(f"{provider}:{name}", provider, name, prices)
    if not names:
        yield Row(f"{provider}:*", True, "prices are not installed: pip install 'antiphon[models]'")


def _ollama(
    environment: Mapping[str, str], prices: Prices, local_models: Callable[[str], list[str] | None]
) -> Iterator[Row]:
    host = environment.get("OLLAMA_HOST") or "127.0.0.1:11434"
    names = local_models(host)
    if find_spec("httpx2") is None:
        yield Row("ollama:*", False, NOT_INSTALLED)
    elif names is None:
        yield Row("ollama:*", False, f"Ollama does not answer at {host}")
    elif not names:
        yield Row("ollama:*", False, "Ollama has no model yet: ollama pull <model>")
    else:
        yield from (_row(f"ollama:{name}", "compatible", name, prices) for name in names)


def _local(weights: Weights, environment: Mapping[str, str], problem: str | None) -> Row:
    if problem is None and find_spec("httpx2") is None:
        problem = "it needs httpx2, which is not installed: pip install 'antiphon[local]'"
    problem = problem or trouble(weights, models_folder(environment))
    return Row(weights.reference, problem is None, problem or "", FREE, weights.note)


def _row(reference: str, provider: str, name: str, prices: Prices) -> Row:
    price = prices.price(Model(reference, provider, name))
    return Row(reference, True, "" if price is not None else "no price is known", price)
