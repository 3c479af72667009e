"""Serve weights with xllamacpp: llama.cpp with an HTTP endpoint."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import xllamacpp

from antiphon.providers.local.memory import BATCH

SLOTS = 4
# Only errors are written, among them why a file cannot be loaded.
ERRORS = 1


def start(order: Mapping[str, Any]) -> tuple[Any, dict[str, int]]:
    """Load the weights of an order and serve them; return the server, and its port and number of slots."""
    settings = xllamacpp.CommonParams()
    settings.model.path = order["weights"]
    settings.model_alias = {order["name"]}
    settings.api_keys = [order["key"]]
    settings.n_parallel = SLOTS
    settings.n_ctx = order["context"]
    # Not less than that, even if memory is short.
    settings.fit_params = False
    # All conversations share one context window, and each may use all of it.
    settings.kv_unified = True
    # The default cache of prompts takes up to 8 GB.
    settings.cache_ram_mib = 0
    settings.n_batch = BATCH
    settings.verbosity = ERRORS
    settings.ui = False
    # A first computation reveals a processor without the required instructions before readiness is reported.
    settings.warmup = True
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = order["threads"]
    server = xllamacpp.Server(settings)
    port = urlsplit(server.listening_address).port
    assert port is not None
    return server, {"port": port, "slots": SLOTS}
