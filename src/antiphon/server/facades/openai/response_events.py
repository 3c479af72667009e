"""Events of the Responses API: the items of a response, each added, filled and done, with sequence numbers."""

from collections.abc import Iterator
from typing import Any

from antiphon.messages import Usage
from antiphon.runtime.encoding import encode
from antiphon.server.facades.openai.errors import error_body
from antiphon.server.facades.openai.turns import Json, TurnEnd, TurnEvent, TurnFailure, TurnText, TurnThought

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def usage_of(usage: Usage) -> dict[str, Any]:
    """Return a usage as responses have it."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached_read, "cache_write_tokens": usage.cached_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


class ResponseWriter:
    """Writes the events of one response, and keeps it as it is so far; `echo` are the parameters of the request."""

    def __init__(self, id: str, created: int, echo: Json) -> None:
        self._number = -1
        self._text = ""
        self._kind = ""  # of the item that is open
        self._output: list[dict[str, Any]] = []
        self.response: dict[str, Any] = {
            **echo,
            "id": id,
            "object": "response",
            "created_at": created,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "output": self._output,
            "usage": None,
        }

    def begin(self) -> bytes:
        """Return the first events."""
        return b"".join(self._state(name) for name in ("created", "in_progress"))

    def write(self, event: TurnEvent) -> bytes:
        """Return the events of a part of the reply."""
        match event:
            case TurnText(text):
                return b"".join(self._grow("message", text))
            case TurnThought(text):
                return b"".join(self._grow("reasoning", text))
            case TurnFailure(problem):
                error = error_body(problem)["error"]
                self.response |= {"status": "failed", "error": {"code": error["code"], "message": error["message"]}}
                return b"".join([*self._close("incomplete"), self._state("failed")])
            case TurnEnd():
                return b"".join(self._end(event))

    def write_whole(self, text: str, thought: str, end: TurnEnd) -> dict[str, Any]:
        """Return the response with a whole reply."""
        for event in (TurnThought(thought), TurnText(text)):
            if event.text:
                self.write(event)
        self.write(end)
        return self.response

    def _end(self, end: TurnEnd) -> Iterator[bytes]:
        reason = INCOMPLETE.get(end.finish)
        yield from self._close("completed" if reason is None else "incomplete")
        for call in end.calls:
            yield from self._call(call)
        status = "completed" if reason is None else "incomplete"
        details = None if reason is None else {"reason": reason}
        self.response |= {"status": status, "incomplete_details": details, "usage": usage_of(end.usage)}
        yield self._state(status)

    def _grow(self, kind: str, text: str) -> Iterator[bytes]:
        if self._kind != kind:
            yield from self._close("completed")
            yield from self._open(kind)
        self._text += text
        if kind == "message":
            yield self._event("output_text.delta", delta=text, logprobs=[], **self._place(), content_index=0)
        else:
            yield self._event("reasoning_summary_text.delta", delta=text, **self._place(), summary_index=0)

    def _open(self, kind: str) -> Iterator[bytes]:
        self._kind = kind
        self._text = ""
        id = f"{'msg' if kind == 'message' else 'rs'}_{self.response['id']}_{len(self._output)}"
        more = {"role": "assistant", "content": []} if kind == "message" else {"summary": []}
        item = {"id": id, "type": kind, "status": "in_progress", **more}
        yield self._event("output_item.added", output_index=len(self._output), item=item)
        self._output.append(item)
        if kind == "message":
            yield self._event("content_part.added", **self._place(), content_index=0, part=self._part())
        else:
            yield self._event("reasoning_summary_part.added", **self._place(), summary_index=0, part=self._part())

    def _close(self, status: str) -> Iterator[bytes]:
        """Close the item that is open, if there is one."""
        if not self._kind:
            return
        place = self._place()
        part = self._part()
        if self._kind == "message":
            yield self._event("output_text.done", **place, content_index=0, text=self._text, logprobs=[])
            yield self._event("content_part.done", **place, content_index=0, part=part)
        else:
            yield self._event("reasoning_summary_text.done", **place, summary_index=0, text=self._text)
            yield self._event("reasoning_summary_part.done", **place, summary_index=0, part=part)
        key = "content" if self._kind == "message" else "summary"
        self._output[-1] |= {"status": status, key: [part]}
        self._kind = ""
        yield self._event("output_item.done", output_index=len(self._output) - 1, item=self._output[-1])

    def _call(self, call: Json) -> Iterator[bytes]:
        index = len(self._output)
        id = f"fc_{self.response['id']}_{index}"
        item = {"id": id, "type": "function_call", "call_id": call["id"], "name": call["name"]}
        place = {"item_id": id, "output_index": index}
        arguments: str = call["arguments"]
        added = {**item, "arguments": "", "status": "in_progress"}
        yield self._event("output_item.added", output_index=index, item=added)
        yield self._event("function_call_arguments.delta", **place, delta=arguments)
        yield self._event("function_call_arguments.done", **place, name=call["name"], arguments=arguments)
        self._output.append({**item, "arguments": arguments, "status": "completed"})
        yield self._event("output_item.done", output_index=index, item=self._output[-1])

    def _part(self) -> dict[str, Any]:
        if self._kind == "message":
            return {"type": "output_text", "text": self._text, "annotations": [], "logprobs": []}
        return {"type": "summary_text", "text": self._text}

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._output[-1]["id"], "output_index": len(self._output) - 1}

    def _state(self, name: str) -> bytes:
        return self._event(name, response=self.response)

    def _event(self, name: str, /, **fields: Any) -> bytes:
        self._number += 1
        value = {"type": f"response.{name}", "sequence_number": self._number, **fields}
        return f"event: response.{name}\ndata: {encode(value)}\n\n".encode()
