"""Weights on xllamacpp: llama.cpp with its own HTTP endpoint."""

import os
from typing import Any
from urllib.parse import urlsplit

import xllamacpp

SLOTS = 4
WINDOW = 8192
# Cancelling is noticed between batches of a prompt.
BATCH = 256
MOST_THREADS = 4


def start(weights: str, key: str, name: str) -> tuple[Any, dict[str, int]]:
    """Load the weights and serve them; gives the server and what to say about it."""
    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.model_alias = {name}
    settings.api_keys = [key]
    settings.n_parallel = SLOTS
    settings.n_ctx = WINDOW
    # All conversations share one window, each may use all of it.
    settings.kv_unified = True
    # By default, prompts are kept in up to 8 GB.
    settings.cache_ram_mib = 0
    settings.n_batch = BATCH
    settings.verbosity = -1
    settings.ui = False
    # Computing once shows a processor without the needed instructions before we say that we are ready.
    settings.warmup = True
    threads = min(MOST_THREADS, os.cpu_count() or 1)
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(settings)
    port = urlsplit(server.listening_address).port
    assert port is not None
    return server, {"port": port, "slots": SLOTS}
