"""Weights are used only when every byte is right, and one says where they are and what is missing."""

from pathlib import Path

import pytest

from antiphon.providers.errors import ProviderError
from antiphon.providers.local.weights import SMOLLM2, WEIGHTS, models_folder, verify, weights_by_name, weights_problem
from tests.providers.local.tiny import CONTENT, weights


def test_weights_that_are_right_are_given(tmp_path):
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)

    assert verify(weights(), tmp_path) == tmp_path / "tiny.gguf"
    assert weights_problem(weights(), tmp_path) is None


@pytest.mark.parametrize(
    ("content", "expected_text"),
    [(None, "not installed"), (CONTENT[:-1], "11 bytes instead of 12"), (CONTENT[::-1], "SHA-256")],
    ids=["missing", "truncated", "corrupted"],
)
def test_weights_that_are_missing_or_damaged_are_refused_with_what_to_do(tmp_path, content, expected_text):
    if content is not None:
        (tmp_path / "tiny.gguf").write_bytes(content)

    with pytest.raises(ProviderError, match=expected_text) as caught:
        verify(weights(), tmp_path)

    assert caught.value.code == "9005"
    assert "antiphon models install local:tiny" in caught.value.message


def test_weights_are_kept_in_the_users_folder_for_data_unless_told_otherwise():
    assert models_folder({"ANTIPHON_MODELS": "/m", "XDG_DATA_HOME": "/d"}) == Path("/m")
    assert models_folder({"XDG_DATA_HOME": "/d"}) == Path("/d/antiphon/models")
    assert models_folder({}) == Path.home() / ".local/share/antiphon/models"


def test_an_unknown_embedded_model_is_refused_by_name():
    assert weights_by_name("smollm2") is SMOLLM2
    with pytest.raises(ProviderError, match="known: smollm2"):
        weights_by_name("gpt")


def test_every_embedded_model_is_pinned_and_says_what_it_is():
    assert all(
        len(each.sha256) == len(each.wheel_sha256) == 64 and "==" in each.requirement for each in WEIGHTS.values()
    )
    assert SMOLLM2.note == "a demonstration voice, 135M parameters: fluent, not knowledgeable"
