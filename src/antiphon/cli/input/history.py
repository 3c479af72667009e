"""History of typed messages in a file: one message after the other, with a backslash where its line continues."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from antiphon.paths import user_path

MOST_MESSAGES = 1_000


def history_file() -> Path:
    """Return the path of the history."""
    return user_path("state", "history")


def read_history(path: Path) -> list[str]:
    """Read the newest messages, the oldest of them first; a file that has become long is shortened."""
    try:
        messages = parse_history(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return []
    if len(messages) > 2 * MOST_MESSAGES:
        with suppress(OSError):
            _replace(path, messages[-MOST_MESSAGES:])
    return messages[-MOST_MESSAGES:]


def append_history(path: Path, message: str) -> None:
    """Append a message; a history that cannot be written is left as it is."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a", encoding="utf-8", errors="replace", newline="\n", opener=_open_private) as file:
            file.write(format_message(message))


def format_message(message: str) -> str:
    """Return a message as it is stored."""
    text = message.replace("\n", "\\\n")
    # A backslash at the end would continue with the next message.
    return f"{text}\\\n\n" if text.endswith("\\") else f"{text}\n"


def parse_history(text: str) -> list[str]:
    """Return the messages in the text of a history."""
    messages: list[str] = []
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            messages.append("\n".join(lines).rstrip("\n"))
            lines = []
    return [message for message in messages if message.strip()]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _replace(path: Path, messages: Sequence[str]) -> None:
    file, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(file, "w", encoding="utf-8", errors="replace") as new:
        new.writelines(format_message(message) for message in messages)
    os.replace(name, path)
