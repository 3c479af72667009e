"""Real servers, started once for all tests that use them."""

import pytest

from tests.servers.processes import free_port, gateway, llama


@pytest.fixture(scope="session")
def llama_server():
    """llama.cpp's own server."""
    with llama() as server:
        yield server


@pytest.fixture(scope="session")
def doomed_port():
    """Port of a server that a test starts and kills."""
    return free_port()


@pytest.fixture(scope="session")
def gateway_server(tmp_path_factory, llama_server, doomed_port):
    """A gateway in front of llama.cpp, and of a server that is killed."""
    models = {
        "smollm2": llama_server.address,
        "gpt-4.1": llama_server.address,
        "doomed": f"http://127.0.0.1:{doomed_port}",
    }
    with gateway(tmp_path_factory.mktemp("gateway"), models) as server:
        yield server
