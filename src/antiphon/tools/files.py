"""Tools that read, write and edit the files of a workspace."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.providers.base import Tool
from antiphon.tools.arguments import object_schema
from antiphon.tools.assessment import Assessment
from antiphon.tools.context import CURRENT
from antiphon.tools.errors import ToolCallError
from antiphon.tools.file_changes import assess_change
from antiphon.tools.functions import ToolFunction, run_in_thread
from antiphon.tools.sandbox.names import KEY_FILES, contains_key, is_secret_path
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.undo.recorders import record_files
from antiphon.tools.workspace import MAX_PATH, Workspace

BINARY_PROBE = 8_192
PATH = {"type": "string", "minLength": 1, "maxLength": MAX_PATH, "description": "Relative to the workspace."}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Limits for reading and writing files."""

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
    "Write a whole text file of the workspace, creating or replacing it; missing folders are created.",
    object_schema({"path": PATH, "content": {"type": "string"}}, required=["path", "content"]),
    risk="write",
)
EDIT_FILE = Tool(
    "edit_file",
    "Replace one exact piece of text in a file of the workspace; it must occur there exactly once.",
    object_schema(
        {
            "path": PATH,
            "old": {"type": "string", "minLength": 1, "description": "The exact text in the file."},
            "new": {"type": "string", "description": "The text that replaces it."},
            "all": {"type": "boolean", "default": False, "description": "Replace every occurrence instead."},
        },
        required=["path", "old", "new"],
    ),
    risk="write",
)


def file_functions(
    workspace: Workspace, limits: FileLimits | None = None, undo: UndoFolder | None = None
) -> tuple[ToolFunction, ...]:
    """Return the tools that read, write and edit files; with `undo`, changes by threads are recorded."""
    bounds = limits or FileLimits()

    async def read(arguments: Mapping[str, Any]) -> str:
        return await run_in_thread(
            lambda: read_lines(workspace, arguments["path"], arguments["start_line"], arguments.get("lines"), bounds)
        )

    async def write(arguments: Mapping[str, Any]) -> str:
        return await run_in_thread(
            lambda: write_text(workspace, arguments["path"], arguments["content"], bounds, undo=undo)
        )

    async def edit(arguments: Mapping[str, Any]) -> str:
        return await run_in_thread(
            lambda: edit_text(
                workspace,
                arguments["path"],
                arguments["old"],
                arguments["new"],
                bounds,
                every=arguments["all"],
                undo=undo,
            )
        )

    def assess_read(arguments: Mapping[str, Any]) -> Assessment:
        path = workspace.resolve(arguments["path"])
        if not _holds_keys(workspace, path, bounds):
            return Assessment(risk="read", kind="file")
        return Assessment(risk="read", kind="file", protected=(path,), reason="it reads a file that usually holds keys")

    def assess_write(arguments: Mapping[str, Any]) -> Assessment:
        return assess_change(workspace, arguments["path"], _encode(arguments["content"], bounds), undo)

    def assess_edit(arguments: Mapping[str, Any]) -> Assessment:
        path = arguments["path"]
        old = arguments["old"]
        new = arguments["new"]
        text = _text_to_edit(workspace, path, old, new, bounds, every=arguments["all"])
        return assess_change(workspace, path, _encode(text.replace(old, new), bounds), undo)

    return (
        ToolFunction(READ_FILE, read, assess_read),
        ToolFunction(WRITE_FILE, write, assess_write),
        ToolFunction(EDIT_FILE, edit, assess_edit),
    )


def text_of(data: bytes, path: str) -> str:
    """Decode a file; raise `ToolCallError` if it is not text."""
    try:
        if b"\0" in data[:BINARY_PROBE]:
            raise ValueError
        return data.decode("utf-8")
    except ValueError:
        raise ToolCallError(f"{path!r} is not a text file ({len(data):,} bytes of binary data).") from None


def read_lines(workspace: Workspace, path: str, start: int, count: int | None, limits: FileLimits) -> str:
    """Return some lines of a file, with a note if there are more."""
    text = text_of(workspace.read(path, most=limits.most_file_bytes, secrets=_covers_protected()), path)
    # Only "\n" ends a line, as in editors and compilers; `splitlines` splits at eight more characters.
    lines = text.split("\n")
    total = len(lines) - (lines[-1] == "")
    if not text:
        return "[the file is empty]"
    if start > total:
        raise ToolCallError(f"{path!r} has {total:,} lines; there is no line {start:,}.")
    end = min(total, start - 1 + min(count or limits.most_lines, limits.most_lines))
    excerpt = "\n".join(lines[start - 1 : end]) + ("\n" if end < len(lines) else "")
    if len(excerpt) > limits.most_characters:
        excerpt = excerpt[: limits.most_characters]
        end = start - 1 + excerpt.count("\n")
        return f"{excerpt}\n[truncated after {limits.most_characters:,} characters, in line {end + 1:,} of {total:,}]"
    if end < total:
        return f"{excerpt}[lines {start:,} to {end:,} of {total:,}]"
    return excerpt


def write_text(
    workspace: Workspace, path: str, content: str, limits: FileLimits, *, undo: UndoFolder | None = None
) -> str:
    """Write a whole file and describe the result."""
    data = _encode(content, limits)
    with workspace.lock, record_files(undo, workspace, WRITE_FILE.name, path) as recorder:
        existed = workspace.replace(path, data, recorder, protected=_covers_protected())
    return f"{'Replaced' if existed else 'Created'} {path} ({len(data):,} bytes)."


def edit_text(
    workspace: Workspace,
    path: str,
    old: str,
    new: str,
    limits: FileLimits,
    *,
    every: bool = False,
    undo: UndoFolder | None = None,
) -> str:
    """Replace text in a file and say where; raise `ToolCallError` if it does not occur, or not exactly once."""
    with workspace.lock, record_files(undo, workspace, EDIT_FILE.name, path) as recorder:
        text = _text_to_edit(workspace, path, old, new, limits, every=every)
        times = text.count(old)
        line = text.count("\n", 0, text.index(old)) + 1
        data = _encode(text.replace(old, new), limits)
        workspace.replace(path, data, recorder, protected=_covers_protected())
    location = f"line {line:,}" if times == 1 else f"{times:,} places, the first in line {line:,}"
    return f"Changed {path} in {location}."


def _text_to_edit(workspace: Workspace, path: str, old: str, new: str, limits: FileLimits, *, every: bool) -> str:
    """Return the text of a file in which a piece can be replaced."""
    if old == new:
        raise ToolCallError("old and new are the same text; nothing was changed.")
    text = text_of(workspace.read(path, most=limits.most_file_bytes), path)
    times = text.count(old)
    if times == 0:
        raise ToolCallError(_not_found_message(text, old, path))
    if times > 1 and not every:
        raise ToolCallError(f"old occurs {times} times in {path!r}; give more of the text around it, or set all.")
    return text


def _holds_keys(workspace: Workspace, path: str, limits: FileLimits) -> bool:
    if is_secret_path(path):
        return True
    name = path.rpartition("/")[2]
    if KEY_FILES.fullmatch(name) is None:
        return False
    try:
        return contains_key(name, workspace.read(path, most=limits.most_file_bytes))
    except ToolCallError:
        return False


def _covers_protected() -> bool:
    """Return whether protected paths may be written, and keys read: as permitted, or if no permission is needed."""
    context = CURRENT.get()
    return context is None or context.access is None or context.access.protected


def _encode(content: str, limits: FileLimits) -> bytes:
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolCallError(
            "The text contains a lone surrogate, which cannot be encoded; nothing was written."
        ) from None
    if len(data) > limits.most_written_bytes:
        raise ToolCallError(f"The file would have {len(data):,} bytes; the limit is {limits.most_written_bytes:,}.")
    return data


def _not_found_message(text: str, old: str, path: str) -> str:
    message = f"old does not occur in {path!r}; nothing was changed."
    if "\r\n" in text and "\n" in old and old.replace("\r\n", "\n") in text.replace("\r\n", "\n"):
        return f"{message} The lines of this file end in \\r\\n."
    if " ".join(old.split()) in " ".join(text.split()):
        return f"{message} It occurs with different white space: read the file again and copy the text exactly."
    return f"{message} Read the file and copy the text exactly."
