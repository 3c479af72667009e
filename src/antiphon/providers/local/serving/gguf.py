"""Reading the GGUF format, as far as the pinned weights use it: plain floats, Q4_1 and Q8_0."""

import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

ALIGNMENT = 32
BLOCK = 32
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9


def read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The settings and the tensors of a file; `ValueError` when it is of another kind."""
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ValueError(f"{path.name} is not a GGUF file")
        _number(file, "I")
        tensors, settings = _number(file, "Q"), _number(file, "Q")
        named = {_text(file): _value(file, _number(file, "I")) for _ in range(settings)}
        places = [_place(file) for _ in range(tensors)]
        start = -(-file.tell() // ALIGNMENT) * ALIGNMENT
    raw = np.memmap(path, np.uint8, "r")
    return named, {name: _tensor(raw, shape, kind, start + offset) for name, shape, kind, offset in places}


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack("<" + form, file.read(struct.calcsize(form)))[0]


def _text(file: BinaryIO) -> str:
    return str(file.read(_number(file, "Q")), "utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == TEXT:
        return _text(file)
    if kind == LIST:
        inner, count = _number(file, "I"), _number(file, "Q")
        return [_value(file, inner) for _ in range(count)]
    return _number(file, NUMBERS[kind])


def _place(file: BinaryIO) -> tuple[str, tuple[int, ...], int, int]:
    name = _text(file)
    sizes = [_number(file, "Q") for _ in range(_number(file, "I"))]
    # The file names the fastest dimension first.
    return name, tuple(reversed(sizes)), _number(file, "I"), _number(file, "Q")


def _tensor(raw: np.ndarray, shape: tuple[int, ...], kind: int, place: int) -> np.ndarray:
    if kind not in READERS:
        raise ValueError(f"tensors of type {kind} cannot be read; known: {sorted(READERS)}")
    values = READERS[kind](raw, int(np.prod(shape)), place)
    return values.reshape(shape).astype("f4", copy=False)


def _floats(raw: np.ndarray, count: int, place: int) -> np.ndarray:
    return np.frombuffer(raw, "<f4", count, place).copy()


def _q4_1(raw: np.ndarray, count: int, place: int) -> np.ndarray:
    # A block is a scale, a minimum and 32 nibbles: first all low ones, then all high ones.
    blocks = raw[place : place + count // BLOCK * 20].reshape(-1, 20)
    scale_and_least = blocks[:, :4].copy().view("<f2").astype("f4")
    values = np.empty((len(blocks), BLOCK), "f4")
    values[:, :16] = blocks[:, 4:] & 15
    values[:, 16:] = blocks[:, 4:] >> 4
    values *= scale_and_least[:, :1]
    values += scale_and_least[:, 1:]
    return values


def _q8_0(raw: np.ndarray, count: int, place: int) -> np.ndarray:
    blocks = raw[place : place + count // BLOCK * 34].reshape(-1, 34)
    return blocks[:, 2:].view(np.int8) * blocks[:, :2].copy().view("<f2").astype("f4")


READERS: Mapping[int, Callable[[np.ndarray, int, int], np.ndarray]] = {0: _floats, 3: _q4_1, 8: _q8_0}
