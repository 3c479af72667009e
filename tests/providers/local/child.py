"""A child process like that of an embedded model, without a model: it says what the test needs."""

import json
import os
import re
import select
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

SIGNALS = {"illegal": signal.SIGILL, "killed": signal.SIGKILL}


def value_for(schema):
    """The first value that fits."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object":
        return {name: value_for(part) for name, part in schema.get("properties", {}).items()}
    return "Zürich"


def data_pieces(schema):
    """Data that fits a schema, in pieces."""
    return re.findall(r"\w+|\W+", json.dumps(value_for(schema), ensure_ascii=False))


def word_pieces(text):
    """What it was told, word by word, and then what the words ask for."""
    for word in text.split(" "):
        yield f"{word} "
    if "for ever" in text:
        while True:
            time.sleep(0.005)
            yield "and on "
    for way, number in SIGNALS.items():
        if way in text:
            os.kill(os.getpid(), number)


class Parrot(BaseHTTPRequestHandler):
    """Repeats what it is told, or writes data along a schema, one conversation at a time."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if self.headers.get("authorization") != f"Bearer {self.server.key}":
            self.refuse(401, "authentication_error")
        elif "too long" in (text := request["messages"][-1]["content"]):
            self.refuse(400, "exceed_context_size_error")
        else:
            form = request.get("response_format")
            pieces = data_pieces(form["json_schema"]["schema"]) if form else word_pieces(text)
            self.reply(len(request["messages"]), pieces, request["max_tokens"])

    def log_message(self, format, *args):
        pass

    def reply(self, prompt_tokens, pieces, max_tokens):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        progress = {"processed": prompt_tokens, "total": prompt_tokens}
        self.write({"choices": [{"index": 0, "delta": {}, "finish_reason": None}], "prompt_progress": progress})
        written = 0
        for piece in pieces:
            if self.is_alone():
                return
            written += 1
            self.write({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
            if written == max_tokens:
                break
        finish = "length" if written == max_tokens else "stop"
        self.write({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
        self.write({"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": written}})
        self.wfile.write(b"data: [DONE]\n\n")

    def is_alone(self):
        """Whether the other side has left: it says nothing more, so what can be read is the end."""
        return bool(select.select([self.connection], [], [], 0)[0])

    def write(self, frame):
        self.wfile.write(f"data: {json.dumps(frame)}\n\n".encode())

    def refuse(self, status, kind):
        body = json.dumps({"error": {"code": status, "message": "refused", "type": kind}}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(HTTPServer):
    """Listens on this machine only, for whoever knows the key."""

    request_queue_size = 32

    def __init__(self, key):
        super().__init__(("127.0.0.1", 0), Parrot)
        self.key = key

    def handle_error(self, request, client_address):
        pass


def main(mode):
    if mode == "broken":
        sys.exit("libgomp.so.1: cannot open shared object file")
    if mode == "unloadable":
        sys.exit(
            "0.01 E llama_model_load: error loading model: unknown model architecture: 'x'\nRuntimeError: no server"
        )
    if mode in SIGNALS:
        os.kill(os.getpid(), SIGNALS[mode])
    order = json.loads(sys.stdin.buffer.readline() or b"null")
    if order is None:
        return
    assert Path(order["weights"]).read_bytes() == b"tiny weights"
    server = Server(order["key"])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port, "slots": int(os.environ.get("SLOTS", "1"))}), flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
