"""Changes of files, assessed before they are made: the path that is really written, and a diff for a person."""

from difflib import unified_diff
from typing import NamedTuple

from antiphon.tools.assessment import Assessment
from antiphon.tools.errors import ToolCallError
from antiphon.tools.protected import VERSION_CONTROL
from antiphon.tools.workspace import Workspace

MOST_COMPARED_BYTES = 1024 * 1024
MOST_COMPARED_LINES = 40_000
MOST_DIFF_LINES = 2_000
MOST_DIFF_CHARACTERS = 100_000
NO_NEWLINE = "\\ No newline at end of file"
UNENDED = "\n"  # marks a last line without a line end; no line contains it


def assess_change(workspace: Workspace, path: str, data: bytes) -> Assessment:
    """Assess the writing of a file; raise `ToolCallError` if it cannot be written."""
    target = workspace.resolve(path)
    if any(name.lower() in VERSION_CONTROL for name in target.split("/")):
        raise ToolCallError(f"{path!r} belongs to version control; nothing is written there.")
    kind = workspace.kind(target) if _exists(workspace, target) else "nothing"
    if kind in ("folder", "other"):
        raise ToolCallError(f"{path!r} is not a regular file.")
    reason = "it creates a file" if kind == "nothing" else "it changes a file"
    diff = _diff(workspace, target, data, is_new=kind == "nothing")
    return Assessment(
        risk="write",
        kind="file",
        protected=(target,) if workspace.is_protected(target) else (),
        path=target,
        diff=diff.text,
        is_cut=diff.is_cut,
        reason=reason,
    )


def _exists(workspace: Workspace, target: str) -> bool:
    try:
        return workspace.kind(target) != "nothing"
    except ToolCallError:
        return False


class Diff(NamedTuple):
    """Change of a file as a unified diff, or as a line that says why there is none."""

    text: str
    is_cut: bool = False


def _diff(workspace: Workspace, path: str, data: bytes, *, is_new: bool) -> Diff:
    """Return the change of a file as a unified diff."""
    name = _line_of(path)
    try:
        old = b"" if is_new else workspace.read(path, most=MOST_COMPARED_BYTES)
    except ToolCallError:
        return Diff(f"[{name} is too large to be compared; it would have {len(data):,} bytes]", is_cut=True)
    try:
        before = old.decode("utf-8")
    except UnicodeDecodeError:
        problem = f"{name} has {len(old):,} bytes of binary data, which {len(data):,} bytes of text would replace"
        return Diff(f"[{problem}]", is_cut=True)
    return format_diff(path, before, data.decode("utf-8"), is_new=is_new)


def format_diff(path: str, before: str, after: str, *, is_new: bool) -> Diff:
    """Return a unified diff of two texts; a long one is cut, and its last line says so."""
    # A line end in the name of a file would make lines that look like others.
    path = _line_of(path)
    # Comparing long files takes time that grows with the product of their lines.
    old_lines = before.count("\n")
    new_lines = after.count("\n")
    if old_lines + new_lines > MOST_COMPARED_LINES:
        problem = f"{path} has too many lines to be compared: {old_lines:,} before, {new_lines:,} after"
        return Diff(f"[{problem}]", is_cut=True)
    source = "/dev/null" if is_new else path
    pieces = unified_diff(_lines(before), _lines(after), source, path, lineterm="")
    lines: list[str] = []
    size = 0
    for line in pieces:
        lines += [line[:-1], NO_NEWLINE] if line.endswith(UNENDED) else [line]
        size += len(line)
        if len(lines) >= MOST_DIFF_LINES or size > MOST_DIFF_CHARACTERS:
            rest = sum(1 for _ in pieces)
            lines[-1] = lines[-1][:MOST_DIFF_CHARACTERS]
            note = f"[cut: {rest:,} more lines of this change are not shown]"
            return Diff("\n".join([*lines, note]), is_cut=True)
    return Diff("\n".join(lines))


def _line_of(path: str) -> str:
    return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in path)


def _lines(text: str) -> list[str]:
    """Return lines, the last one with a mark if no line end follows it."""
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + UNENDED]
