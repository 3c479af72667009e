"""Frames come whole out of bytes that come in pieces, and nothing a server sends fills the memory."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.sse import FrameDecoder


def frames(*pieces, longest=1_000):
    decoder = FrameDecoder(longest)
    return [data for piece in (*pieces, b"\n\n") for data in decoder.feed(piece)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"data: a\n\n", ["a"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data\n\n", [""]),
        (b"event: x\nid: 1\nretry: 2\ndata: a\n\n", ["a"]),
        (b": comment\n\ndata: a\n\n", ["a"]),
        (b"\n\n\ndata: a\n\n\n\n", ["a"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"]),
        (b"data: a\n", ["a"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b'{"error": 1}\ndata: a\n\n', ['{"error": 1}', "a"]),
        (b"error: broken\n\n", ["broken"]),
    ],
)
def test_frames_are_cut_as_the_standard_says(raw, expected):
    assert frames(raw) == expected


def test_a_last_line_without_an_end_is_a_frame():
    assert frames(b"data: a") == ["a"]


def test_the_name_of_the_event_is_known_while_its_data_is_read():
    decoder = FrameDecoder()
    names = [(decoder.event, data) for data in decoder.feed(b"event: error\ndata: a\n\ndata: b\n\n")]

    assert names == [("error", "a"), ("", "b")]


def test_what_is_no_field_is_kept_for_the_error():
    decoder = FrameDecoder()
    assert list(decoder.feed(b'{\n  "error": "busy"\n}\n')) == []

    assert '"busy"' in decoder.stray


lines = st.sampled_from([b"data: \xc3\xa4\xf0\x9f\x8e\xbc", b"data:", b"event: x", b"", b": c", b"other", b'{"a": 1}'])
ends = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(lines, ends), max_size=12), st.lists(st.integers(0, 200), max_size=6))
def test_the_cuts_of_the_network_change_nothing(parts, cuts):
    raw = b"".join(line + end for line, end in parts)
    places = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [raw[a:b] for a, b in pairwise(places)]

    assert frames(*pieces) == frames(raw)


@pytest.mark.parametrize(
    "endless",
    [[b"data: "] + [b"x" * 100] * 20, [b"data: x\n"] * 300, [b"data: x\n" * 300]],
    ids=["one line", "many lines", "many lines at once"],
)
def test_a_frame_that_does_not_end_is_an_error_after_the_frames_before_it(endless):
    decoder = FrameDecoder(1_000)
    frames = []

    def read():
        for piece in [b"data: a\n\n", *endless]:
            frames.extend(decoder.feed(piece))

    with pytest.raises(ProviderError) as caught:
        read()
    assert frames == ["a"]
    assert caught.value.code == Code.MALFORMED


def test_what_is_no_field_is_not_kept_for_ever():
    decoder = FrameDecoder()
    for _ in range(1_000):
        assert list(decoder.feed(b"noise " * 200 + b"\n")) == []

    assert len(decoder.stray) < 200_000
