"""The OpenAI facade with the Python package `openai`."""

import pytest

from tests.fixtures.server import live_server

openai = pytest.importorskip("openai")
pytestmark = pytest.mark.rings


def test_a_wrong_key_is_an_authentication_error() -> None:
    with (
        live_server() as server,
        openai.OpenAI(api_key="wrong", base_url=f"{server.address}/v1") as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()
