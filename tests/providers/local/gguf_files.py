"""GGUF files for tests: tiny ones written from metadata, and real ones with other metadata."""

import struct

from antiphon.providers.local.gguf import _last_tensor, _string, _unpack, _value

UINT32 = 4
STRING = 8
ARRAY = 9
CONTROL = 3
ALIGNMENT = 32
METADATA = {
    "general.architecture": "llama",
    "general.name": "Tiny Voice",
    "general.size_label": "1K",
    "llama.context_length": 4096,
    "llama.block_count": 2,
    "llama.embedding_length": 8,
    "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ["<s>", "<start_of_turn>", "hello"],
    "tokenizer.ggml.token_type": [CONTROL, CONTROL, 1],
    "tokenizer.chat_template": "{{ messages }}",
}


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key, value):
    """One entry of the metadata."""
    match value:
        case str():
            return text(key) + struct.pack("<I", STRING) + text(value)
        case list():
            kind = STRING if isinstance(value[0], str) else UINT32
            items = b"".join(text(item) if kind == STRING else struct.pack("<I", item) for item in value)
            return text(key) + struct.pack("<IIQ", ARRAY, kind, len(value)) + items
        case _:
            return text(key) + struct.pack("<II", UINT32, value)


def gguf_bytes(metadata=METADATA, *, version=3, tensors=b"", tensor_count=0, data=b"\0" * 64):
    """A whole file."""
    head = b"GGUF" + struct.pack("<IQQ", version, tensor_count, len(metadata))
    return head + b"".join(entry(key, value) for key, value in metadata.items()) + tensors + data


def tensor(name, offset):
    """One row of the table of tensors."""
    return text(name) + struct.pack("<IQQIQ", 2, 4, 4, 0, offset)


def write_gguf(path, **changes):
    """Write a file with changed metadata, and return its path."""
    path.write_bytes(gguf_bytes({**METADATA, **changes}))
    return path


def rewrite_gguf(source, target, **changes):
    """Copy a real file with changed texts in its metadata, and return the path of the copy."""
    with source.open("rb") as file, target.open("wb") as copy:
        file.seek(4)
        version, tensors, count = _unpack(file, "<IQQ")
        entries = []
        for _ in range(count):
            start = file.tell()
            key = _string(file)
            (kind,) = _unpack(file, "<I")
            _value(file, kind, keep=False)
            end = file.tell()
            file.seek(start)
            original = file.read(end - start)
            entries.append(entry(key, changes[key]) if key in changes else original)
        start = file.tell()
        _last_tensor(file, tensors)
        end = file.tell()
        file.seek(start)
        table = file.read(end - start)
        copy.write(b"GGUF" + struct.pack("<IQQ", version, tensors, count) + b"".join(entries) + table)
        copy.write(b"\0" * (-copy.tell() % ALIGNMENT))
        file.seek(end + -end % ALIGNMENT)
        while chunk := file.read(1 << 20):
            copy.write(chunk)
    return target
