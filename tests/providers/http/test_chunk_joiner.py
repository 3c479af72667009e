"""Chunks are joined without a change of the body, wherever the bytes are cut; other bytes are passed on as they are."""

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.providers.http.chunk_joiner import ChunkJoiner

HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def parse(pieces):
    """The body and the rest of a response, by h11; None if it refuses them."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(HEAD)
    body = b""
    try:
        for piece in pieces:
            connection.receive_data(piece)
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                body += bytes(event.data) if isinstance(event, h11.Data) else b""
    except h11.RemoteProtocolError:
        return None
    return body, connection.their_state, connection.trailing_data[0]


def cut(data, sizes):
    pieces = []
    while data:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(data[:size])
        data = data[size:]
    return pieces


chunk_data = st.binary(min_size=1, max_size=30) | st.sampled_from(
    [b"\r\n", b"0\r\n\r\n", b"5\r\nhello\r\n", b"x" * 300]
)
size_forms = st.sampled_from([b"%x", b"%X", b"00%x", b"%x;a=b", b"%x ", b"0000000000%x"])
usual_chunks = st.lists(chunk_data.map(lambda data: b"%x\r\n%b\r\n" % (len(data), data)), max_size=12).map(b"".join)
any_chunks = st.lists(
    st.tuples(chunk_data, size_forms).map(lambda pair: pair[1] % len(pair[0]) + b"\r\n" + pair[0] + b"\r\n"),
    max_size=12,
).map(b"".join)
noise = st.binary(max_size=40)
sizes = st.lists(st.integers(1, 60), min_size=1, max_size=10)


@given(chunks=usual_chunks | any_chunks, tail=st.just(END) | noise, sizes=sizes)
@example(chunks=b"1\r\nx\r\n", tail=END, sizes=[1])
@example(chunks=b"1\r\nx\r\n" * 3, tail=END + b"HTTP/1.1", sizes=[100])
@example(chunks=b"5\r\nhello", tail=b"12\r\n1\r\nx\r\n", sizes=[100])
def test_the_library_reads_the_same_with_and_without_joining(chunks, tail, sizes):
    pieces = cut(chunks + tail, sizes)
    joiner = ChunkJoiner()

    assert parse([joiner.join(piece) for piece in pieces]) == parse(pieces)


def test_chunks_that_arrive_together_are_joined():
    joiner = ChunkJoiner()

    assert joiner.join(b"2\r\nab\r\n3\r\ncde\r\n4\r\nfg") == b"5\r\nabcde\r\n4\r\nfg"
    assert joiner.join(b"hi\r\n1\r\nj\r\n1\r\nk\r\n1") == b"hi\r\n2\r\njk\r\n1"
    assert joiner.join(b"\r\nl\r\n1\r\nm\r\n1\r\nn\r\n" + END) == b"\r\nl\r\n2\r\nmn\r\n" + END


@pytest.mark.parametrize(
    "chunk", [b"1;a=b\r\nx\r\n", b"1 \r\nx\r\n", b"000000001\r\nx\r\n", b"1\nx\n", b"1\r\nxy\r\n", END, b"zz\r\n"]
)
def test_after_another_form_nothing_is_joined(chunk):
    joiner = ChunkJoiner()
    more = b"1\r\nx\r\n1\r\ny\r\n"

    assert joiner.join(chunk + more) == chunk + more
    assert joiner.join(more) == more
