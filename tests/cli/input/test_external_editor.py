"""Texts changed in the editor of the user."""

import asyncio

import pytest

from antiphon.cli.input.external_editor import EditorError, edit_text
from antiphon.cli.input.signals import Signals


def test_a_text_that_is_not_utf_8_is_refused_in_words(tmp_path, monkeypatch):
    program = tmp_path / "editor"
    program.write_text("#!/bin/sh\nprintf '\\377' > \"$1\"\n")
    program.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(program))

    with pytest.raises(EditorError, match="the text is not in UTF-8, and is not used; save it in UTF-8"):
        asyncio.run(edit_text("Hello", ".md", Signals()))
