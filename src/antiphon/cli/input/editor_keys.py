"""Keys of the line editor, besides those of emacs and vi."""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import emacs_insert_mode, emacs_mode, has_selection, is_searching, vi_insert_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from antiphon.cli.input.clusters import length_after, length_before
from antiphon.cli.input.lines import EditingKeys, Interrupted

CONTINUED = "\\"


def default_keys(environ: Mapping[str, str] = os.environ) -> EditingKeys:
    """Return the keys that the user has chosen for readline, whose settings many programs follow."""
    path = Path(environ.get("INPUTRC") or "~/.inputrc").expanduser()
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, RuntimeError):
        return "emacs"
    modes = [line.split()[2] for line in lines if line.split()[:2] == ["set", "editing-mode"] and len(line.split()) > 2]
    return "vi" if modes and modes[-1] == "vi" else "emacs"


def message_keys(edit: Callable[[str], Awaitable[str]]) -> KeyBindings:
    """Return the keys of a prompt for messages; `edit` lets the user change a text in an editor."""
    keys = character_keys()

    @keys.add("enter", filter=~is_searching)
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith(CONTINUED):
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    # Not with the keys of vi: Escape would wait for the next key.
    @keys.add("escape", "enter", filter=emacs_mode)
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.newline(copy_margin=False)

    @keys.add("c-c", filter=~is_searching)
    def clear(event: KeyPressEvent) -> None:
        clear_or_interrupt(event.app)

    @keys.add("c-x", "c-e", filter=emacs_mode)
    def open_editor(event: KeyPressEvent) -> None:
        event.app.create_background_task(_edit(event.current_buffer, edit))

    return keys


def answer_keys() -> KeyBindings:
    """Return the keys of a prompt for one line."""
    keys = character_keys()

    @keys.add("c-c")
    def interrupt(event: KeyPressEvent) -> None:
        event.app.exit(exception=Interrupted())

    return keys


def character_keys() -> KeyBindings:
    """Return the keys that move by a character, or delete one: all code points that are seen as one."""
    keys = KeyBindings()
    is_typing = (emacs_insert_mode | vi_insert_mode) & ~has_selection & ~is_searching

    @keys.add("left", filter=is_typing)
    @keys.add("c-b", filter=is_typing & emacs_mode)
    def move_left(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            event.current_buffer.cursor_left(length_before(event.current_buffer.document.current_line_before_cursor))

    @keys.add("right", filter=is_typing)
    @keys.add("c-f", filter=is_typing & emacs_mode)
    def move_right(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            event.current_buffer.cursor_right(length_after(event.current_buffer.document.current_line_after_cursor))

    @keys.add("backspace", filter=is_typing, save_before=_is_first)
    def delete_before(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            event.current_buffer.delete_before_cursor(length_before(event.current_buffer.document.text_before_cursor))

    @keys.add("delete", filter=is_typing, save_before=_is_first)
    def delete_after(event: KeyPressEvent) -> None:
        for _ in range(event.arg):
            event.current_buffer.delete(length_after(event.current_buffer.document.text_after_cursor))

    return keys


def _is_first(event: KeyPressEvent) -> bool:
    """Return whether a key is not held down: a row of deletions is undone as one."""
    return not event.is_repeat


def clear_or_interrupt(application: Application[str]) -> None:
    """Clear the text; raise `Interrupted` from the prompt if there is none."""
    if application.current_buffer.text:
        application.current_buffer.reset()
    else:
        application.exit(exception=Interrupted())


async def _edit(buffer: Buffer, edit: Callable[[str], Awaitable[str]]) -> None:
    async with in_terminal():
        text = await edit(buffer.text)
    buffer.text = text.rstrip("\n")
    buffer.cursor_position = len(buffer.text)
