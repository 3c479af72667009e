"""The head of a GGUF file tells what its model needs; what is no such file is an error that says why."""

import os
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.providers.errors import ProviderError
from antiphon.providers.local.gguf import read_gguf
from tests.providers.local.gguf_files import METADATA, gguf_bytes, tensor, write_gguf

WHOLE = gguf_bytes()


def problem(path):
    with pytest.raises(ProviderError) as caught:
        read_gguf(path)
    return caught.value


def test_a_file_tells_its_size_its_window_its_template_and_its_delimiters(tmp_path):
    model = read_gguf(write_gguf(tmp_path / "tiny.gguf"))

    assert (model.label, model.parameters, model.window, model.vocabulary) == ("Tiny Voice", "1K", 4096, 3)
    assert (model.bytes, model.template) == (len(WHOLE), "{{ messages }}")
    assert model.delimiters == {"<s>", "<start_of_turn>"}
    # Two layers, two heads, keys and values of two numbers, two bytes each.
    assert model.bytes_per_token == 2 * 2 * (2 + 2) * 2


def test_heads_that_differ_by_layer_are_added(tmp_path):
    path = write_gguf(tmp_path / "tiny.gguf", **{"llama.attention.head_count_kv": [1, 2]})

    assert read_gguf(path).bytes_per_token == 3 * 4 * 2


@pytest.mark.parametrize(("template", "knows"), [("{% if tools %}", True), ("{{ messages }} toolsmith", False)])
def test_a_template_that_presents_tools_is_recognised(tmp_path, template, knows):
    path = write_gguf(tmp_path / "tiny.gguf", **{"tokenizer.chat_template": template})

    assert read_gguf(path).knows_tools is knows


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it begins with b'' instead of b'GGUF'"),
        (b"PK\x03\x04wheel", "is not a GGUF file: it begins with b'PK"),
        (gguf_bytes(version=1), "GGUF version 1; known: 2 and 3"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "it claims 0 tensors and 1,152,921,504,606,846,976 entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 40), "it claims a text of 1,099,511,627,776 bytes"),
        (WHOLE[:100], "it ends too early"),
        (gguf_bytes(tensors=tensor("t", 10_000), tensor_count=1), "a tensor begins after them"),
        (gguf_bytes({**METADATA, "general.type": "adapter"}), "is a file of type 'adapter', not a language model"),
        (gguf_bytes({"general.name": "x"}), "is a file without an architecture"),
    ],
)
def test_what_is_no_model_is_refused_with_the_reason(tmp_path, content, reason):
    path = tmp_path / "other.gguf"
    path.write_bytes(content)

    error = problem(path)
    assert (error.code, error.recoverable) == ("9005", False)
    assert reason in error.message
    assert str(path) in error.message


def test_what_is_no_file_is_refused_without_being_opened(tmp_path):
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)

    assert "is not a file" in problem(pipe).message
    assert "is not a file" in problem(tmp_path).message
    assert problem(tmp_path / "none.gguf").code == "9003"
    assert "cannot be read" in problem(Path("\0.gguf")).message


def test_the_parts_of_a_split_model_count_together_and_the_first_is_named(tmp_path):
    first = write_gguf(tmp_path / "m-00001-of-00002.gguf", **{"split.count": 2})
    second = write_gguf(tmp_path / "m-00002-of-00002.gguf", **{"split.count": 2})

    assert read_gguf(first).bytes == first.stat().st_size + second.stat().st_size
    assert "name the first, which ends with -00001-of-00002.gguf" in problem(second).message
    second.unlink()
    assert "m-00002-of-00002.gguf" in problem(first).message


@given(st.integers(0, len(WHOLE) - 65), st.binary(min_size=1, max_size=9))
def test_a_damaged_head_is_an_error_or_a_model_and_nothing_else(tmp_path_factory, place, noise):
    path = tmp_path_factory.mktemp("damaged") / "m.gguf"
    path.write_bytes(WHOLE[:place] + noise + WHOLE[place + len(noise) :])

    with suppress(ProviderError):
        assert read_gguf(path).bytes > 0
