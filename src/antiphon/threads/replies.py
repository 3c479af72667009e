"""Replies in progress: the words so far, which a reader that opens a thread in the middle of a reply needs."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.threads.activity import speaker_of

Json = Mapping[str, Any]
NAME = "reply"
DEBATER = "reply-"
IDLE = "idle"  # state of a reply that was not requested, or was cancelled


def open_replies(snapshot: Json) -> Iterator[Json]:
    """Iterate over the replies in progress in the snapshot of a thread, as JSON."""
    for path, actor in _actors(snapshot, ()):
        is_reply = path[-1] == NAME or path[-1].startswith(DEBATER)
        if is_reply and actor.get("status") == "active" and actor.get("value") != IDLE:
            yield _reply_to_json(path, actor)


def _actors(snapshot: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    for name, child in (snapshot.get("children") or {}).items():
        inner = child["snapshot"]
        yield (*path, name), inner
        yield from _actors(inner, (*path, name))


def _reply_to_json(path: tuple[str, ...], actor: Json) -> Json:
    context = actor["context"]
    reply = {
        "address": "/".join(path),
        "state": actor["value"] if isinstance(actor["value"], str) else next(iter(actor["value"])),
        "text": context["text"],
        "thinking": context["thinking"],
        "sentAt": context["sentAt"],
        "attempt": context["attempt"],
        "error": context["error"],
        "retryMs": context["retryDelayMs"],
    }
    speaker = speaker_of([*path])
    return reply if speaker is None else {**reply, "speaker": speaker}
