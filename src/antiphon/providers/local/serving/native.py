"""Serve weights with xllamacpp: llama.cpp with an HTTP endpoint."""

import os
from typing import Any
from urllib.parse import urlsplit

import xllamacpp

SLOTS = 4
WINDOW = 8192
# A cancellation is noticed between batches of a prompt.
BATCH = 256
MAX_THREADS = 4


def start(weights: str, key: str, name: str) -> tuple[Any, dict[str, int]]:
    """Load the weights and serve them; return the server, and its port and number of slots."""
    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.model_alias = {name}
    settings.api_keys = [key]
    settings.n_parallel = SLOTS
    settings.n_ctx = WINDOW
    # All conversations share one context window, and each may use all of it.
    settings.kv_unified = True
    # The default cache of prompts takes up to 8 GB.
    settings.cache_ram_mib = 0
    settings.n_batch = BATCH
    settings.verbosity = -1
    settings.ui = False
    # A first computation reveals a processor without the required instructions before readiness is reported.
    settings.warmup = True
    threads = min(MAX_THREADS, os.cpu_count() or 1)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(settings)
    port = urlsplit(server.listening_address).port
    assert port is not None
    return server, {"port": port, "slots": SLOTS}
