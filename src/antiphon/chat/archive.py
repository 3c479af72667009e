"""Archives: one chat as JSON and back, with all branches, messages and costs.

Permissions are left out: a file must not bring any.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from antiphon.chat.machine.history import KEYS, problem_with_history
from antiphon.chat.machine.settings import problem_with
from antiphon.threads.errors import ThreadError
from antiphon.threads.kinds import Record

FORMAT = "antiphon-thread"
VERSION = 1
HEADER = ("format", "version", "kind", "title", "settings")
LEFT_OUT = ("consent", "history")
SECRET = re.compile(
    r"api_?key|secret|passw|authorization|bearer|credential|(access|auth|refresh)_?token", re.IGNORECASE
)
MOST_BYTES = 256_000_000


class BadArchive(ThreadError):
    """A file that holds no valid thread; the message says what is wrong, and where."""


def to_archive(record: Record) -> dict[str, Any]:
    """Return a chat as JSON that can be imported again."""
    chat = record.content
    settings = {key: value for key, value in chat["config"].items() if key not in LEFT_OUT}
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": record.view.kind,
        "title": record.view.title,
        "settings": without_secrets(settings),
        **{key: chat[key] for key in KEYS if key in chat},
    }


def without_secrets(value: Any) -> Any:
    """Return a value without fields that are named like a secret."""
    if isinstance(value, Mapping):
        return {key: without_secrets(item) for key, item in value.items() if not SECRET.search(str(key))}
    return [without_secrets(item) for item in value] if isinstance(value, list) else value


def from_archive(text: str) -> dict[str, Any]:
    """Return the arguments of `Chats.create` from the text of a file; raise `BadArchive` if it is not valid."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadArchive(f"not JSON: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise BadArchive(f'no thread: "format" must be "{FORMAT}"')
    if value.get("version") != VERSION:
        raise BadArchive(f"version: is {value.get('version')!r}; this Antiphon reads {VERSION}")
    unknown = sorted(value.keys() - {*HEADER, *KEYS})
    if unknown:
        raise BadArchive(f"unknown key {unknown[0]!r}; known: {', '.join((*HEADER, *KEYS))}")
    return _create_arguments(value)


def _create_arguments(value: Mapping[str, Any]) -> dict[str, Any]:
    settings = value.get("settings") or {}
    title = value.get("title")
    if not isinstance(settings, dict):
        raise BadArchive("settings: must be an object")
    forbidden = [key for key in LEFT_OUT if key in settings]
    if forbidden or value.get("kind", "chat") != "chat" or not isinstance(title, str | None):
        raise BadArchive(
            f"settings.{forbidden[0]}: cannot come from a file" if forbidden else "kind, title: must be chat, a text"
        )
    history = {key: value[key] for key in KEYS if key in value}
    problem = problem_with(settings)
    problem = f"settings: {problem}" if problem else problem_with_history(history)
    if problem:
        raise BadArchive(problem)
    return {**settings, "title": title, "history": history, "consent": {"mode": "ask"}}
