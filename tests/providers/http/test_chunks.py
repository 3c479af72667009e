"""Chunks of an HTTP body, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.providers.http.chunks import LONGEST_SIZE, ChunkReader


def chunked(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)


def read(*parts: bytes) -> tuple[bytes, ChunkReader]:
    reader = ChunkReader()
    return b"".join(reader.feed(part) for part in parts if not reader.ended), reader


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.lists(st.integers(1, 60), max_size=8))
def test_the_data_is_the_same_wherever_the_network_cuts_it(pieces: list[bytes], cuts: list[int]) -> None:
    body = chunked(*pieces) + b"0\r\n\r\n"
    reader = ChunkReader()
    data = b""
    at = 0
    for cut in [*cuts, len(body)]:
        if reader.ended:
            break
        data += reader.feed(body[at : at + cut])
        at = min(at + cut, len(body))

    assert data == b"".join(pieces)
    assert reader.ended
    assert reader.buffer + body[at:] == b"0\r\n\r\n"


def test_data_is_given_before_its_chunk_is_complete() -> None:
    assert read(b"a\r\nhello")[0] == b"hello"


def test_a_chunk_of_a_megabyte_costs_no_more_than_its_bytes() -> None:
    reader = ChunkReader()
    reader.feed(b"100000\r\n")
    for _ in range(16):
        assert len(reader.feed(b"x" * 65536)) == 65536
        assert reader.buffer == b""


def test_extensions_of_a_size_are_passed_over() -> None:
    assert read(b"5;name=value\r\nhello\r\n")[0] == b"hello"


def test_trailers_are_left_to_who_knows_them() -> None:
    data, reader = read(chunked(b"x") + b"0\r\netag: 1\r\n\r\n")

    assert (data, reader.buffer) == (b"x", b"0\r\netag: 1\r\n\r\n")


@pytest.mark.parametrize("size", [b"", b"-1", b"+5", b"0x5", b"5_0", b"g", b" 5", b"5 5", b"1" * 16])
def test_a_size_that_is_none_is_refused(size: bytes) -> None:
    with pytest.raises(ValueError, match="not a chunk size"):
        read(size + b"\r\nhello\r\n")


def test_a_chunk_that_is_longer_than_it_says_is_refused() -> None:
    with pytest.raises(ValueError, match="instead of a line end"):
        read(b"2\r\nhello\r\n")


def test_a_size_that_never_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than 4096 bytes"):
        read(b"1;" + b"x" * LONGEST_SIZE)
