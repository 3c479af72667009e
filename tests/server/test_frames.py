"""Frames that readers of a thread share: encoded once, the same for all, and few are kept."""

import pytest

from antiphon.server import frames
from antiphon.server.frames import JOINED_BYTES, KEPT_BYTES, SharedFrames, activity_frames, join_frames
from antiphon.threads import Activity


def words(seq: int, text: str = "word", offset: int | None = 0) -> list[Activity]:
    """The activities of a step with words."""
    return [Activity(seq, 1, "text", {"text": text}, None, f"h:{seq}", offset)]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cursors of the steps that are encoded."""
    cursors: list[str] = []

    def encode(step: list[Activity]) -> bytes:
        cursors.append(step[-1].cursor)
        return activity_frames(step)

    monkeypatch.setattr(frames, "activity_frames", encode)
    return cursors


def test_a_step_is_encoded_once_for_all_readers(encoded: list[str]) -> None:
    shared = SharedFrames()

    with shared.reader("t") as first, shared.reader("t") as second, shared.reader("t") as third:
        parts = [reader(words(7)) for reader in (first, second, third)]

    assert encoded == ["h:7"]
    assert parts == [activity_frames(words(7))] * 3


def test_readers_that_know_other_offsets_or_parts_get_frames_of_their_own() -> None:
    shared = SharedFrames()
    whole = [Activity(7, 1, "text", {"text": "a"}, None, "h:7.0", 0), Activity(7, 1, "status", {}, None, "h:7")]

    with shared.reader("t") as first, shared.reader("t") as second:
        assert first(whole) == activity_frames(whole)
        assert second(whole[1:]) == activity_frames(whole[1:])
        assert first(words(8)) == activity_frames(words(8))
        assert second(words(8, offset=None)) == activity_frames(words(8, offset=None))


def test_frames_of_a_single_reader_are_not_kept() -> None:
    shared = SharedFrames()

    with shared.reader("t") as reader:
        reader(words(7))

        assert shared.kept_bytes == 0


def test_few_frames_are_kept_and_none_without_readers() -> None:
    shared = SharedFrames()

    with shared.reader("t") as first, shared.reader("t"):
        for seq in range(1, 1_000):
            first(words(seq, "word " * 200))
        kept = shared.kept_bytes

    assert 0 < kept <= KEPT_BYTES
    assert shared.kept_bytes == 0


def test_joined_frames_are_the_same_bytes_in_fewer_parts() -> None:
    parts = [activity_frames(words(seq)) for seq in range(1_000)]

    joined = list(join_frames(parts))

    assert b"".join(joined) == b"".join(parts)
    assert len(joined) == sum(map(len, parts)) // JOINED_BYTES + 1
    assert list(join_frames([])) == []
