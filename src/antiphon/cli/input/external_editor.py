"""Texts changed in the editor of the user."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from antiphon.cli.input.modes import normal_terminal
from antiphon.cli.input.signals import Signals

VARIABLES = ("VISUAL", "EDITOR")
DEFAULT = "notepad" if os.name == "nt" else "vi"


class EditorError(Exception):
    """The editor could not be used; the text is as it was."""


def editor_command(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the editor of the user, as words of a command."""
    command = next((environ[name] for name in VARIABLES if environ.get(name, "").strip()), DEFAULT)
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


async def edit_text(text: str, suffix: str, signals: Signals) -> str:
    """Let the user change a text in an editor, and return it; raise `EditorError` if there is none."""
    command = editor_command()
    with tempfile.TemporaryDirectory(prefix="antiphon-") as folder:
        file = Path(folder) / f"text{suffix}"
        file.write_text(text, encoding="utf-8")
        # The editor handles Ctrl-C itself.
        with normal_terminal(), signals.handled_by(lambda: None):
            try:
                process = await asyncio.create_subprocess_exec(*command, str(file))
                code = await process.wait()
            except OSError as error:
                raise EditorError(f"cannot start {command[0]}: {error.strerror}; set VISUAL or EDITOR") from error
        if code != 0:
            raise EditorError(f"{command[0]} ended with code {code}; the text is unchanged")
        try:
            return file.read_text(encoding="utf-8")
        except OSError as error:
            raise EditorError(f"cannot read the text: {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise EditorError("the text is not in UTF-8, and is not used; save it in UTF-8") from error
