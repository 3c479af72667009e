"""Chunks of the UI message stream of the pieces of a reply: each start has its end, and `finish` is the last."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.server.facades.pieces import (
    Answered,
    Called,
    MessageEnded,
    Notice,
    Piece,
    StatusReached,
    TurnEnded,
    WordDelta,
    asked_calls,
)
from antiphon.server.frames import frame
from antiphon.threads.requests import PERMISSION, OpenRequest

Json = Mapping[str, Any]
Chunk = dict[str, Any]
PARTS = {"text": "text", "thinking": "reasoning"}


def encode_chunk(chunk: Chunk) -> bytes:
    """Return the frame of a chunk."""
    return frame(chunk)


class ChunkWriter:
    """Writes the chunks of one message; it knows what is open, and closes it."""

    def __init__(self) -> None:
        self._blocks: dict[str, tuple[str, str, str | None]] = {}  # by message: kind, id and speaker of the open block
        self._numbers: dict[str, int] = {}  # blocks of each message so far
        self._calls: set[str] = set()
        self._message: str | None = None  # the one that the open step began with
        self._speaker: str | None = None

    def write(self, piece: Piece) -> Iterator[Chunk]:
        """Iterate over the chunks of a piece."""
        match piece:
            case WordDelta():
                yield from self._write_words(piece)
            case Called():
                yield from self._end_block(piece.message)
                yield from self._open_step(piece.message)
                yield from self._write_call(piece)
            case Answered():
                yield from self._write_answer(piece)
            case MessageEnded():
                yield from self._end_block(piece.message)
            case TurnEnded():
                for message, (_, _, speaker) in [*self._blocks.items()]:
                    if piece.speaker in (None, speaker):
                        yield from self._end_block(message)
            case StatusReached():
                facts = {"status": piece.status, "costUsd": piece.cost_usd}
                yield {"type": "data-status", "data": facts, "transient": True}
            case Notice():
                yield {"type": f"data-{piece.name.replace('_', '-')}", "data": dict(piece.facts)}

    def ask(self, request: OpenRequest) -> Iterator[Chunk]:
        """Iterate over the chunks of an open request: an approval for each call, or a data part."""
        calls = asked_calls(request) if request.reason == PERMISSION else []
        for call in calls:
            if call["id"] not in self._calls:
                yield from self._write_call(Called("", call["id"], call["name"], call["arguments"]))
            approval = {"approvalId": approval_id(request.id, call["id"]), "toolCallId": call["id"]}
            yield {"type": "tool-approval-request", **approval, "reason": call["reason"]}
        yield {"type": "data-request", "id": request.id, "data": request.to_json()}

    def continue_calls(self, calls: set[str]) -> None:
        """Note calls that the message had before this stream."""
        self._calls |= calls

    def finish(self, reason: str, metadata: Json) -> Iterator[Chunk]:
        """Close what is open, and end the message."""
        yield from self._close()
        yield {"type": "finish", "finishReason": reason, "messageMetadata": dict(metadata)}

    def fail(self, text: str, metadata: Json) -> Iterator[Chunk]:
        """Close what is open, and end the message with an error."""
        yield from self._close()
        yield {"type": "error", "errorText": text}
        yield {"type": "finish", "finishReason": "error", "messageMetadata": dict(metadata)}

    def _close(self) -> Iterator[Chunk]:
        for message in [*self._blocks]:
            yield from self._end_block(message)
        if self._message is not None:
            self._message = None
            yield {"type": "finish-step"}

    def _open_step(self, message: str) -> Iterator[Chunk]:
        """Begin a step for a message; a step with an open block is not ended, because that would end the block too."""
        if self._message == message or (self._message is not None and self._blocks):
            return
        if self._message is not None:
            yield {"type": "finish-step"}
        self._message = message
        yield {"type": "start-step"}

    def _write_words(self, words: WordDelta) -> Iterator[Chunk]:
        kind = PARTS[words.kind]
        if words.message in self._blocks and self._blocks[words.message][0] != kind:
            yield from self._end_block(words.message)
        if words.message not in self._blocks:
            yield from self._open_step(words.message)
            if words.speaker is not None and words.speaker != self._speaker:
                self._speaker = words.speaker
                yield {"type": "data-speaker", "data": {"speaker": words.speaker, "message": words.message}}
            number = self._numbers.get(words.message, 0) + 1
            self._numbers[words.message] = number
            self._blocks[words.message] = (kind, f"{words.message}:{number}", words.speaker)
            yield {"type": f"{kind}-start", "id": self._blocks[words.message][1]}
        yield {"type": f"{kind}-delta", "id": self._blocks[words.message][1], "delta": words.text}

    def _end_block(self, message: str) -> Iterator[Chunk]:
        if message in self._blocks:
            kind, id, _ = self._blocks.pop(message)
            yield {"type": f"{kind}-end", "id": id}

    def _write_call(self, call: Called) -> Iterator[Chunk]:
        self._calls.add(call.id)
        names = {"toolCallId": call.id, "toolName": call.name, "dynamic": True}
        yield {"type": "tool-input-start", **names}
        yield {"type": "tool-input-available", **names, "input": call.input}

    def _write_answer(self, answer: Answered) -> Iterator[Chunk]:
        if answer.id not in self._calls:  # nobody could show a result without its call
            return
        if answer.denied:
            yield {"type": "tool-output-denied", "toolCallId": answer.id}
        elif answer.failed:
            yield {"type": "tool-output-error", "toolCallId": answer.id, "errorText": answer.text, "dynamic": True}
        else:
            yield {"type": "tool-output-available", "toolCallId": answer.id, "output": answer.text, "dynamic": True}


def approval_id(request: str, call: str) -> str:
    """Return the id of the approval of one call of a request."""
    return f"{request}/{call}"


def request_id(approval: str) -> str:
    """Return the id of the request that an approval belongs to."""
    return approval.rpartition("/")[0]
