"""The engine on NumPy alone: slower, and for machines where the native one does not run."""

import threading
from pathlib import Path
from typing import Any

from antiphon.providers.local.serving.endpoint import Endpoint
from antiphon.providers.local.serving.gguf import read
from antiphon.providers.local.serving.speech import Speech
from antiphon.providers.local.serving.tokens import Tokens
from antiphon.providers.local.serving.transformer import Transformer


def start(weights: str, key: str, name: str) -> tuple[Any, dict[str, int]]:
    """Load the weights and serve them; gives the server and what to say about it."""
    settings, tensors = read(Path(weights))
    endpoint = Endpoint(Speech(Tokens(settings), Transformer(settings, tensors)), key, name)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    return endpoint, {"port": endpoint.port, "slots": 1}
