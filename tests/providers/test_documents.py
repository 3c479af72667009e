"""Documents: which models take them."""

import pytest

from antiphon.providers.documents import check_documents, takes_documents
from antiphon.providers.errors import ProviderError


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("anthropic:m", True),
        ("openai:m", True),
        ("google:m", True),
        ("openai+http://127.0.0.1:8000/v1:m", True),
        ("anthropic+https://gateway.example:m", True),
        ("mine:m", True),
        ("mistral:m", False),
        ("ollama:m", False),
        ("local:smollm2", False),
    ],
)
def test_documents_are_sent_to_providers_that_have_a_format_for_them(reference, expected):
    assert takes_documents(reference) is expected


def test_the_error_says_which_models_take_a_pdf():
    with pytest.raises(ProviderError, match="mistral:m takes no PDFs; choose a model of anthropic, openai or google"):
        check_documents("mistral:m")
