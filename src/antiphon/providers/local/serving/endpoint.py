"""A small HTTP endpoint for one conversation at a time, in the words of OpenAI's chat completions."""

import hmac
import json
import select
import socket
import socketserver
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

PATH = "/v1/chat/completions"
LARGEST_BODY = 16 * 1024 * 1024
MAX_TOKENS = 512
TEMPERATURE = 0.4


@dataclass(frozen=True, slots=True)
class Order:
    """How a reply shall be."""

    max_tokens: int
    temperature: float
    seed: int | None
    stop: tuple[str, ...]
    schema: Mapping[str, Any] | None


class TooLong(Exception):
    """A conversation does not fit into the window."""

    def __init__(self, tokens: int, window: int) -> None:
        super().__init__(f"request ({tokens} tokens) exceeds the available context size ({window} tokens)")


class Speaker(Protocol):
    """What reads conversations and writes replies."""

    known: int
    written: int
    cut: bool

    def read(self, messages: Sequence[Mapping[str, str]]) -> Iterator[tuple[int, int]]:
        """Read a conversation, piece by piece."""
        ...

    def write(self, order: Order) -> Iterator[str]:
        """Write the reply, piece by piece."""
        ...


class Endpoint(socketserver.TCPServer):
    """Listens on this machine only, for whoever knows the key."""

    allow_reuse_address = True
    request_queue_size = 32

    def __init__(self, speaker: Speaker, key: str, name: str) -> None:
        self.speaker, self.key, self.name = speaker, key, name
        super().__init__(("127.0.0.1", 0), _Conversation)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: whoever asked and left does not want to hear of it."""


class _Conversation(BaseHTTPRequestHandler):
    """One request; the connection ends with its reply."""

    server: Endpoint

    def do_POST(self) -> None:
        """Answer a request."""
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(min(size, LARGEST_BODY))
        said = self.headers.get("authorization", "")
        if not hmac.compare_digest(said.encode(), f"Bearer {self.server.key}".encode()):
            self._refuse(401, "authentication_error", "wrong key")
            return
        if self.path != PATH:
            self._refuse(404, "not_found_error", f"there is no {self.path}")
            return
        try:
            asked = json.loads(body)
            messages, order = asked["messages"], _order(asked)
            reading = self.server.speaker.read(messages)
            first = next(reading)
        except TooLong as error:
            self._refuse(400, "exceed_context_size_error", str(error))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._refuse(400, "invalid_request_error", f"{type(error).__name__}: {error}")
        else:
            self._stream(first, reading, order)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged: requests hold what people say."""

    def _stream(self, first: tuple[int, int], reading: Iterator[tuple[int, int]], order: Order) -> None:
        speaker = self.server.speaker
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        total = first[1]
        self._progress(first)
        for step in reading:
            self._progress(step)
        for piece in _until(speaker.write(order), order.stop):
            if self._is_gone():
                return
            self._frame({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
        finish = "length" if speaker.cut else "stop"
        self._frame({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        usage = {"prompt_tokens": total, "completion_tokens": speaker.written}
        known = {"prompt_tokens_details": {"cached_tokens": speaker.known}}
        self._frame({"choices": [], "usage": usage | known})
        self.wfile.write(b"data: [DONE]\n\n")

    def _progress(self, step: tuple[int, int]) -> None:
        if self._is_gone():
            raise ConnectionResetError
        delta = {"index": 0, "delta": {}, "finish_reason": None}
        self._frame({"choices": [delta], "prompt_progress": {"processed": step[0], "total": step[1]}})

    def _frame(self, frame: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps({"model": self.server.name, **frame}).encode() + b"\n\n")

    def _is_gone(self) -> bool:
        # Whoever asked says nothing more; so what can be read is the end of the connection.
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _refuse(self, status: int, kind: str, message: str) -> None:
        body = json.dumps({"error": {"code": status, "message": message, "type": kind}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _order(asked: Mapping[str, Any]) -> Order:
    form = asked.get("response_format") or {}
    stop = asked.get("stop") or ()
    return Order(
        max_tokens=int(asked.get("max_tokens") or MAX_TOKENS),
        temperature=float(asked.get("temperature", TEMPERATURE)),
        seed=asked.get("seed"),
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
        schema=form["json_schema"]["schema"] if form.get("type") == "json_schema" else None,
    )


def _until(pieces: Iterator[str], stops: Sequence[str]) -> Iterator[str]:
    """The pieces up to a text that ends them; what may become one is held back until it is known."""
    held = ""
    for piece in pieces:
        held += piece
        places = [held.find(stop) for stop in stops if stop in held]
        if places:
            held = held[: min(places)]
            break
        kept = max((_overlap(held, stop) for stop in stops), default=0)
        if said := held[: len(held) - kept]:
            yield said
        held = held[len(held) - kept :]
    if held:
        yield held


def _overlap(text: str, stop: str) -> int:
    """How many letters at the end of a text begin a stop."""
    return next((size for size in range(min(len(stop) - 1, len(text)), 0, -1) if stop.startswith(text[-size:])), 0)
