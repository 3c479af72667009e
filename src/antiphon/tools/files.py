"""Reading, writing and editing the files of a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.providers.base import Tool
from antiphon.tools.arguments import object_schema
from antiphon.tools.errors import ToolCallError
from antiphon.tools.functions import ToolFunction, run_in_thread
from antiphon.tools.workspace import MOST_PATH, Workspace

LOOKED_AT = 8_192
PATH = {"type": "string", "minLength": 1, "maxLength": MOST_PATH, "description": "Relative to the workspace."}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How much of files is read, shown and written."""

    most_file_bytes: int = 16 * 1024 * 1024
    most_characters: int = 100_000
    most_lines: int = 2_000
    most_written_bytes: int = 4 * 1024 * 1024


READ_FILE = Tool(
    "read_file",
    "Read a text file of the workspace, or some of its lines.",
    object_schema(
        {
            "path": PATH,
            "start_line": {"type": "integer", "minimum": 1, "default": 1, "description": "The first line to read."},
            "lines": {"type": "integer", "minimum": 1, "description": "How many lines; as many as allowed if absent."},
        },
        required=["path"],
    ),
    risk="read",
)
WRITE_FILE = Tool(
    "write_file",
    "Write a whole text file of the workspace, new or in place of what it was; folders on the way are made.",
    object_schema({"path": PATH, "content": {"type": "string"}}, required=["path", "content"]),
    risk="write",
)
EDIT_FILE = Tool(
    "edit_file",
    "Replace one exact piece of text in a file of the workspace; it must occur there exactly once.",
    object_schema(
        {
            "path": PATH,
            "old": {"type": "string", "minLength": 1, "description": "The text as it stands in the file."},
            "new": {"type": "string", "description": "What it becomes."},
            "all": {"type": "boolean", "default": False, "description": "Replace every occurrence instead."},
        },
        required=["path", "old", "new"],
    ),
    risk="write",
)


def file_functions(workspace: Workspace, limits: FileLimits | None = None) -> tuple[ToolFunction, ...]:
    """The tools that read, write and edit files."""
    bounds = limits or FileLimits()

    async def read(given: Mapping[str, Any]) -> str:
        return await run_in_thread(
            lambda: read_lines(workspace, given["path"], given["start_line"], given.get("lines"), bounds)
        )

    async def write(given: Mapping[str, Any]) -> str:
        return await run_in_thread(lambda: write_text(workspace, given["path"], given["content"], bounds))

    async def edit(given: Mapping[str, Any]) -> str:
        return await run_in_thread(
            lambda: edit_text(workspace, given["path"], given["old"], given["new"], bounds, every=given["all"])
        )

    return ToolFunction(READ_FILE, read), ToolFunction(WRITE_FILE, write), ToolFunction(EDIT_FILE, edit)


def text_of(data: bytes, path: str) -> str:
    """The text of a file; `ToolCallError` when it is none."""
    try:
        if b"\0" in data[:LOOKED_AT]:
            raise ValueError
        return data.decode("utf-8")
    except ValueError:
        raise ToolCallError(
            f"{path!r} is no text ({len(data):,} bytes of something else); it cannot be shown."
        ) from None


def read_lines(workspace: Workspace, path: str, start: int, count: int | None, limits: FileLimits) -> str:
    """Some lines of a file as they are, and a note when there are more."""
    text = text_of(workspace.read(path, most=limits.most_file_bytes), path)
    # Only "\n" ends a line, as for editors and compilers; `splitlines` knows eight more.
    lines = text.split("\n")
    total = len(lines) - (lines[-1] == "")
    if not text:
        return "[the file is empty]"
    if start > total:
        raise ToolCallError(f"{path!r} has {total:,} lines; there is no line {start:,}.")
    end = min(total, start - 1 + min(count or limits.most_lines, limits.most_lines))
    shown = "\n".join(lines[start - 1 : end]) + ("\n" if end < len(lines) else "")
    if len(shown) > limits.most_characters:
        shown = shown[: limits.most_characters]
        end = start - 1 + shown.count("\n")
        return f"{shown}\n[cut after {limits.most_characters:,} characters, in line {end + 1:,} of {total:,}]"
    if end < total:
        return f"{shown}[lines {start:,} to {end:,} of {total:,}]"
    return shown


def write_text(workspace: Workspace, path: str, content: str, limits: FileLimits) -> str:
    """Write a whole file and say what was done."""
    data = _encoded(content, limits)
    with workspace.lock:
        was_there = workspace.replace(path, data)
    return f"{'Replaced' if was_there else 'Made'} {path} ({len(data):,} bytes)."


def edit_text(workspace: Workspace, path: str, old: str, new: str, limits: FileLimits, *, every: bool = False) -> str:
    """Replace a piece of a file and say where; `ToolCallError` when it is not there, or not unique."""
    if old == new:
        raise ToolCallError("old and new are the same text; nothing was changed.")
    with workspace.lock:
        text = text_of(workspace.read(path, most=limits.most_file_bytes), path)
        times = text.count(old)
        if times == 0:
            raise ToolCallError(_not_found(text, old, path))
        if times > 1 and not every:
            raise ToolCallError(f"old occurs {times} times in {path!r}; give more of the text around it, or set all.")
        line = text.count("\n", 0, text.index(old)) + 1
        workspace.replace(path, _encoded(text.replace(old, new), limits))
    where = f"line {line:,}" if times == 1 else f"{times:,} places, the first in line {line:,}"
    return f"Changed {path} in {where}."


def _encoded(content: str, limits: FileLimits) -> bytes:
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolCallError("The text holds half of a character (a lone surrogate); nothing was written.") from None
    if len(data) > limits.most_written_bytes:
        raise ToolCallError(f"That is {len(data):,} bytes; at most {limits.most_written_bytes:,} are written.")
    return data


def _not_found(text: str, old: str, path: str) -> str:
    said = f"old does not occur in {path!r}; nothing was changed."
    if "\r\n" in text and "\n" in old and old.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        return f"{said} The lines of this file end in \\r\\n."
    if " ".join(old.split()) in " ".join(text.split()):
        return f"{said} It does with other spaces or line ends: read the file again and copy exactly."
    return f"{said} Read the file and copy the text exactly."
