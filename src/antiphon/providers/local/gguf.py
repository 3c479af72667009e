"""Metadata of GGUF files: what a model needs, and how conversations are written for it.

Only the head of a file is read, with a limit for every length in it: a damaged or hostile file is an error at once.
"""

import os
import re
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
STRING = 8
ARRAY = 9
# Formats of numbers by type, as `struct` names them.
NUMBERS: Mapping[int, str] = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
# Token types of delimiters, which must not come from a conversation: control, and defined by the user.
DELIMITERS = (3, 4)
KEPT_ARRAYS = ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type")
MOST_ENTRIES = 100_000
LONGEST_ARRAY = 10_000_000
LONGEST_STRING = 10_000_000
MOST_DIMENSIONS = 8
PART = re.compile(r"-(\d{5})-of-(\d{5})(\.gguf)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gguf:
    """Model in a GGUF file: its size, its window, and how conversations are written for it."""

    path: Path
    bytes: int
    label: str
    parameters: str
    # Tokens the model was trained for; 0 if the file does not say.
    window: int
    vocabulary: int
    # Bytes of memory for each token of the context.
    bytes_per_token: int
    template: str
    # Tokens that delimit roles, and other marks that only the template may write.
    delimiters: frozenset[str]

    @property
    def knows_tools(self) -> bool:
        """True if the template of the file presents tools to the model."""
        return re.search(r"\btools\b", self.template) is not None


class _Damaged(Exception):
    """The file is not what its format requires."""


def read_gguf(path: Path) -> Gguf:
    """Read the metadata of a file; raise `ProviderError` with what is wrong with it."""
    try:
        # Opening a pipe or a device could block.
        if not stat.S_ISREG(path.stat().st_mode):
            raise ProviderError(Code.UNSUPPORTED, f"{path} is not a file; name a GGUF file")
        with path.open("rb") as file:
            return _parse(path, file)
    except FileNotFoundError as error:
        raise ProviderError(Code.NOT_FOUND, f"there is no file {error.filename or path}; name a GGUF file") from error
    except (OSError, ValueError) as error:  # a ValueError is a path that cannot exist
        raise ProviderError(Code.UNSUPPORTED, f"{path} cannot be read: {error}") from error
    except (_Damaged, struct.error) as error:
        reason = str(error) if isinstance(error, _Damaged) else "it ends too early"
        problem = f"{path} is not a complete GGUF file ({reason}); download or convert it again"
        raise ProviderError(Code.UNSUPPORTED, problem) from error


def _parse(path: Path, file: BinaryIO) -> Gguf:
    size = os.fstat(file.fileno()).st_size
    magic = file.read(4)
    if magic != MAGIC:
        raise ProviderError(
            Code.UNSUPPORTED, f"{path} is not a GGUF file: it begins with {magic!r} instead of {MAGIC!r}"
        )
    (version,) = _unpack(file, "<I")
    if version not in VERSIONS:
        raise ProviderError(
            Code.UNSUPPORTED, f"{path} has the GGUF version {version}; known: 2 and 3; convert it again"
        )
    tensors, entries = _unpack(file, "<QQ")
    if max(tensors, entries) > MOST_ENTRIES:
        raise _Damaged(f"it claims {tensors:,} tensors and {entries:,} entries")
    metadata: dict[str, Any] = {}
    for _ in range(entries):
        key = _string(file)
        (kind,) = _unpack(file, "<I")
        metadata[key] = _value(file, kind, keep=key in KEPT_ARRAYS or not key.startswith("tokenizer.ggml."))
    data_offset = _last_tensor(file, tensors)
    if data_offset + file.tell() > size:
        raise _Damaged(f"it has {size:,} bytes, and a tensor begins after them")
    _check_kind(path, metadata)
    return _summarize(path, size + _size_of_other_parts(path, metadata), metadata)


def _last_tensor(file: BinaryIO, count: int) -> int:
    """Read the table of tensors; return the largest offset into the data after it."""
    last = 0
    for _ in range(count):
        _string(file)
        (dimensions,) = _unpack(file, "<I")
        if dimensions > MOST_DIMENSIONS:
            raise _Damaged(f"it claims a tensor of {dimensions:,} dimensions")
        _unpack(file, f"<{dimensions}Q")
        _, offset = _unpack(file, "<IQ")
        last = max(last, offset)
    return last


def _check_kind(path: Path, metadata: Mapping[str, Any]) -> None:
    kind = metadata.get("general.type", "model")
    if kind != "model" or "general.architecture" not in metadata:
        contents = f"a file of type {kind!r}" if kind != "model" else "a file without an architecture"
        raise ProviderError(Code.UNSUPPORTED, f"{path} is {contents}, not a language model; name the file of the model")


def _summarize(path: Path, size: int, metadata: Mapping[str, Any]) -> Gguf:
    architecture = metadata["general.architecture"]
    tokens = metadata.get("tokenizer.ggml.tokens") or []
    kinds = metadata.get("tokenizer.ggml.token_type") or []
    delimiters = (text for text, kind in zip(tokens, kinds, strict=False) if kind in DELIMITERS)
    return Gguf(
        path=path,
        bytes=size,
        label=_text(metadata, "general.name") or path.stem,
        parameters=_text(metadata, "general.size_label"),
        window=_count(metadata, f"{architecture}.context_length"),
        vocabulary=len(tokens),
        bytes_per_token=_bytes_per_token(metadata, str(architecture)),
        template=_text(metadata, "tokenizer.chat_template"),
        delimiters=frozenset(text for text in delimiters if isinstance(text, str) and not text.isspace()),
    )


def _bytes_per_token(metadata: Mapping[str, Any], architecture: str) -> int:
    """Return the bytes of keys and values per token, as 16-bit numbers; an upper bound for newer attentions."""
    layers = _count(metadata, f"{architecture}.block_count")
    heads = _count(metadata, f"{architecture}.attention.head_count")
    length = _count(metadata, f"{architecture}.embedding_length") // heads if heads else 0
    key = _count(metadata, f"{architecture}.attention.key_length") or length
    value = _count(metadata, f"{architecture}.attention.value_length") or length
    per_layer = metadata.get(f"{architecture}.attention.head_count_kv")
    if isinstance(per_layer, list):
        return sum(count for count in per_layer if isinstance(count, int)) * (key + value) * 2
    kv_heads = _count(metadata, f"{architecture}.attention.head_count_kv") or heads
    return layers * kv_heads * (key + value) * 2


def _count(metadata: Mapping[str, Any], key: str) -> int:
    value = metadata.get(key)
    if isinstance(value, list):
        value = max((item for item in value if isinstance(item, int)), default=0)
    return value if isinstance(value, int) and value > 0 else 0


def _text(metadata: Mapping[str, Any], key: str) -> str:
    value = metadata.get(key)
    return value if isinstance(value, str) else ""


def _size_of_other_parts(path: Path, metadata: Mapping[str, Any]) -> int:
    """Return the bytes of the other files of a model that is split into several."""
    count = _count(metadata, "split.count")
    if count < 2:
        return 0
    match = PART.search(path.name)
    if match is None or int(match[1]) != 1 or int(match[2]) != count:
        problem = f"{path} is one of {count} parts; name the first, which ends with -00001-of-{count:05}.gguf"
        raise ProviderError(Code.UNSUPPORTED, problem)
    start = path.name[: match.start()]
    parts = (path.with_name(f"{start}-{number:05}-of-{match[2]}{match[3]}") for number in range(2, count + 1))
    return sum(part.stat().st_size for part in parts)


def _value(file: BinaryIO, kind: int, *, keep: bool) -> Any:
    if kind == STRING:
        return _string(file)
    if kind != ARRAY:
        return _unpack(file, _number_format(kind))[0]
    element, count = _unpack(file, "<IQ")
    if count > LONGEST_ARRAY:
        raise _Damaged(f"it claims a list of {count:,} values")
    if element == STRING:
        texts = [_string(file) for _ in range(count)]
        return texts if keep else None
    number = _number_format(element)
    raw = _read(file, count * struct.calcsize(number))
    return list(struct.unpack(f"<{count}{number[1]}", raw)) if keep else None


def _number_format(kind: int) -> str:
    if kind not in NUMBERS:
        raise _Damaged(f"it has a value of the unknown type {kind}")
    return NUMBERS[kind]


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "<Q")
    if length > LONGEST_STRING:
        raise _Damaged(f"it claims a text of {length:,} bytes")
    return _read(file, length).decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, _read(file, struct.calcsize(layout)))


def _read(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise _Damaged("it ends too early")
    return data
