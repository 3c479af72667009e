"""Text that commands write to files."""

from pathlib import Path

from antiphon.cli.frame import UsageError


def write_text(path: Path, text: str) -> None:
    """Write a text to a file; `UsageError` if that is not possible."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
