"""The engine on NumPy: files are read as they are written, and reading in pieces is reading."""

import struct

import numpy as np
import pytest

from antiphon.providers.local.serving.gguf import read
from antiphon.providers.local.serving.transformer import Transformer

pytestmark = pytest.mark.local

SETTINGS = {
    "llama.context_length": 64,
    "llama.block_count": 2,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "llama.embedding_length": 32,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 10000.0,
}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def setting(name, value):
    match value:
        case str():
            return text(name) + struct.pack("<I", 8) + text(value)
        case int():
            return text(name) + struct.pack("<II", 4, value)
        case float():
            return text(name) + struct.pack("<If", 6, value)
        case list():
            return text(name) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))


def gguf(path, settings, tensors):
    """A file with these settings, and tensors as (shape, type, bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(settings))
    head += b"".join(setting(name, value) for name, value in settings.items())
    data = b""
    for name, (shape, kind, raw) in tensors.items():
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        head += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    return path


def floats(*shape, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.3).astype("<f4")


def transformer():
    tensors = {"token_embd.weight": floats(50, 32), "output_norm.weight": floats(32, seed=1)}
    for layer in range(2):
        shapes = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32)}
        shapes |= {
            "ffn_gate": (48, 32),
            "ffn_up": (48, 32),
            "ffn_down": (32, 48),
            "attn_norm": (32,),
            "ffn_norm": (32,),
        }
        for place, (name, shape) in enumerate(shapes.items()):
            tensors[f"blk.{layer}.{name}.weight"] = floats(*shape, seed=10 * layer + place + 2)
    return Transformer(SETTINGS, tensors)


def test_settings_and_tensors_are_read_as_they_were_written(tmp_path):
    plain = floats(3, 32)
    signed = bytes(range(32))
    nibbles = bytes(range(16))
    path = gguf(
        tmp_path / "tiny.gguf",
        {"name": "tiny", "count": 7, "scale": 0.5, "words": ["a", "é"]},
        {
            "plain": ((3, 32), 0, plain.tobytes()),
            "eight": ((1, 32), 8, struct.pack("<e", 0.5) + signed),
            "four": ((32,), 3, struct.pack("<ee", 2.0, -1.0) + nibbles),
        },
    )

    settings, tensors = read(path)

    assert settings == {"name": "tiny", "count": 7, "scale": 0.5, "words": ["a", "é"]}
    assert (tensors["plain"] == plain).all()
    assert tensors["eight"].tolist() == [[number * 0.5 for number in range(32)]]
    assert tensors["four"].tolist() == [number * 2.0 - 1 for number in range(16)] + [-1.0] * 16


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "other").write_bytes(b"nothing like it")
    with pytest.raises(ValueError, match="is not a GGUF file"):
        read(tmp_path / "other")
    with pytest.raises(ValueError, match="tensors of type 12"):
        read(gguf(tmp_path / "new.gguf", {}, {"x": ((32,), 12, bytes(64))}))


@pytest.mark.parametrize("cuts", [[1], [5], [2, 3, 9]])
def test_reading_in_pieces_is_reading(cuts):
    network, tokens = transformer(), list(range(12))
    whole = network.read(tokens, network.memory())

    memory = network.memory()
    for start, end in zip([0, *cuts], [*cuts, len(tokens)], strict=True):
        scores = network.read(tokens[start:end], memory)
    assert np.allclose(scores, whole, atol=1e-4)


def test_a_memory_can_be_cut_back_and_grows_past_its_first_room():
    network, memory = transformer(), None
    fresh = network.read([1, 2, 3, 4], network.memory())

    memory = network.memory()
    network.read([1, 2, *[5] * 300], memory)
    del memory.tokens[2:]
    assert np.allclose(network.read([3, 4], memory), fresh, atol=1e-4)


def test_a_later_token_does_not_change_what_was_said_before():
    network = transformer()
    memory = network.memory()
    network.read([1, 2, 3], memory)
    keys = memory.keys[1][:, :3].copy()
    network.read([9], memory)

    assert (memory.keys[1][:, :3] == keys).all()
