"""Models that clients of a server may name."""

import pytest

from antiphon.providers.errors import ProviderError
from antiphon.server.models import ServedModels

REFERENCES = ("scripted:/etc/agents.toml", "local:/srv/model.gguf", "openai+http://127.0.0.1:9/v1:model")


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_file_or_an_address_is_opened_neither_for_a_thread_nor_for_a_session(reference: str) -> None:
    models = ServedModels()

    for open_model in (models.open, models.open_unshared):
        with pytest.raises(ProviderError, match="antiphon serve --any-model"):
            open_model(reference)


def test_a_model_is_opened_by_its_name() -> None:
    assert ServedModels().open_unshared("scripted:chat").model.name == "chat"
