"""llama.cpp's own server with the embedded weights: prints its address, and ends with its standard input."""

import os
import sys
from pathlib import Path

import xllamacpp

from antiphon.providers.local.settings import local_settings

SLOTS = 4
CONTEXT = 8192
TEMPLATE = Path(__file__).parent / "template.jinja"


def main(weights: str, port: int) -> None:
    """Serve weights until the standard input ends."""
    # Libraries may write to the standard output, which is reserved for the address.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings = xllamacpp.CommonParams()
    settings.model.path = weights
    settings.model_alias = {"smollm2"}
    # A template that presents tools: that of these weights has none.
    settings.chat_template = TEMPLATE.read_text(encoding="utf-8")
    settings.port = port
    settings.n_parallel = SLOTS
    settings.n_ctx = CONTEXT
    settings.kv_unified = True
    settings.cache_ram_mib = 0
    settings.verbosity = 1
    settings.ui = False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = local_settings().thread_count
    server = xllamacpp.Server(settings)
    output.write(f"{server.listening_address}\n")
    output.flush()
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
