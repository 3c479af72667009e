"""Files that a message of a conversation names as `@path`: each goes with the message."""

import re
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.cli.chat.attachments import check_total, read_file
from antiphon.cli.frame import UsageError
from antiphon.threads.errors import Refused

# In an address such as me@example.com the sign follows a letter; a backslash before it makes it a text.
MENTION = re.compile(r'(?<!\S)(?P<escape>\\?)@(?:"(?P<quoted>[^"\n]+)"|(?P<path>\S+))')
ENDINGS = ".,;:!?)]}'\""


class MentionedFiles(NamedTuple):
    """A message without escapes, the parts for its files, and their names."""

    text: str
    parts: tuple[dict[str, Any], ...] = ()
    names: tuple[str, ...] = ()


def attach_mentions(text: str) -> MentionedFiles:
    """Read the files that a message names; raise `Refused` if one of them cannot be sent.

    A name without a file stays text, and so does a folder.
    """
    names = dict.fromkeys(name for match in MENTION.finditer(text) if (name := _file_name(match)) is not None)
    try:
        parts = [read_file(str(Path(name).expanduser()), name) for name in names]
        check_total(parts)
    except UsageError as error:
        raise Refused(f"{error}; write \\@ to send the name alone") from error
    return MentionedFiles(MENTION.sub(_without_escape, text), tuple(parts), tuple(names))


def _file_name(match: re.Match[str]) -> str | None:
    """Return the path of the file that a mention names, or None if there is none."""
    if match["escape"]:
        return None
    if match["quoted"] is not None:
        return match["quoted"] if _is_file(match["quoted"]) else None
    # A path may be followed by the end of a sentence.
    return next((path for path in (match["path"], match["path"].rstrip(ENDINGS)) if path and _is_file(path)), None)


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _without_escape(match: re.Match[str]) -> str:
    """Return a mention without its backslash, which is removed only where the name would be that of a file."""
    path = match["quoted"] or match["path"]
    is_file = any(map(_is_file, (path, path.rstrip(ENDINGS) or path)))
    return match[0].removeprefix("\\") if is_file else match[0]
