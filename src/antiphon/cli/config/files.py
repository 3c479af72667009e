"""Files of the user's configuration: written as a whole, readable by their owner alone, and opened in an editor."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from antiphon.cli.frame import UsageError


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, so that a reader sees it before or after, and never a part of it."""
    target = Path(os.path.realpath(path))  # a link stays one
    part: str | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, part = tempfile.mkstemp(".new", f".{target.name}.", target.parent)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        if part is not None:
            Path(part).unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror or error}; nothing changed") from error


def read_text(path: Path) -> str:
    """Return the text of a file; an empty one if there is no file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not a text in UTF-8") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def edit_file(path: Path, initial: str) -> None:
    """Open a file in the user's editor and wait; a file that does not exist begins with `initial`."""
    # Imported here because only changes in an editor need it.
    from antiphon.cli.input.external_editor import editor_command

    command = editor_command()
    if not os.path.exists(path):
        write_private(path, initial)
    try:
        code = subprocess.run([*command, str(path)], check=False).returncode
    except OSError as error:
        raise UsageError(f"cannot start {command[0]!r}: {error.strerror or error}; set EDITOR to another") from error
    if code != 0:
        raise UsageError(f"{command[0]} has failed with {code}; look at {path}")


def split_command(text: str, variable: str) -> list[str]:
    """Split the command in an environment variable into words."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{variable} is not a command: {error}; correct or unset it") from error
