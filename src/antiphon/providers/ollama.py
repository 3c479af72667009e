"""Ollama: its address, in all forms of `OLLAMA_HOST`, and the models that it has."""

import json
import os
import re
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import urlsplit

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Secret
from antiphon.providers.wire import as_text

DEFAULT_PORT = "11434"
PORTS = {"http": "80", "https": "443"}
# A server listens on every address of its machine by these; a client needs one of them.
ANY_ADDRESS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
HOST_AND_PORT = re.compile(
    r"\[(?P<v6>[^\]]*)\](?::(?P<v6_port>.*))?|(?P<bare_v6>.*:.*:.*)|(?P<host>[^:]*)(?::(?P<port>.*))?"
)
CLOUD = "https://ollama.com"
PROBE_S = 0.5
LARGEST_LIST = 4 * 1024 * 1024


def ollama_address(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of Ollama, by the rules of its own `OLLAMA_HOST`; raise `ProviderError` if it is none."""
    text = environment.get("OLLAMA_HOST", "").strip().strip("\"'").strip()
    scheme, is_explicit, rest = (CLOUD if text == "ollama.com" else text).rpartition("://")
    scheme = scheme.lower() or "http"
    authority, _, path = rest.partition("/")
    # User and password would be a secret in an address that is shown.
    if scheme not in PORTS or re.search(r"[@?#\s]", rest):
        raise ProviderError(Code.BAD_REQUEST, "OLLAMA_HOST is not an address; use a form such as 127.0.0.1:11434")
    match = HOST_AND_PORT.fullmatch(authority)
    assert match is not None, "the pattern matches every text"
    host = match["v6"] or match["bare_v6"] or match["host"] or ""
    host = ANY_ADDRESS.get(host, host)
    port = match["v6_port"] or match["port"] or ""
    if not (port.isdecimal() and port.isascii() and int(port) < 65536):
        port = PORTS[scheme] if is_explicit else DEFAULT_PORT
    path = path.strip("/").removesuffix("v1").strip("/")
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{int(port)}{f'/{path}' if path else ''}"


def ollama_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return the base URL of Ollama's chat completions."""
    return f"{ollama_address(environment)}/v1"


def ollama_models(address: str, key: Secret | None) -> list[str]:
    """List the models that Ollama has; raise `ProviderError` if it does not run, or wants another key."""
    url = urlsplit(address)
    connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = connect(url.hostname or "", url.port, timeout=PROBE_S)
    headers = {} if key is None else {"authorization": f"Bearer {key.reveal()}"}
    try:
        connection.request("GET", f"{url.path}/api/tags", headers=headers)
        response = connection.getresponse()
        if response.status in (401, 403):
            raise ProviderError(
                Code.UNAUTHENTICATED, f"Ollama at {address} wants a key, or another one: set OLLAMA_API_KEY"
            )
        names = [as_text(entry["name"]) for entry in json.loads(response.read(LARGEST_LIST))["models"]]
        return [name if key is None else key.hide(name) for name in names]
    except (OSError, HTTPException, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ProviderError(Code.NETWORK, f"Ollama does not answer at {address}") from None
    finally:
        connection.close()
