"""Suggestions while a message is typed: commands, branches, checkpoints, models, strategies and files."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from antiphon.cli.chat.client import ChatClient
from antiphon.cli.frame import PROBLEMS
from antiphon.cli.input.lines import EDITING_KEYS
from antiphon.cli.input.suggestions import Suggestion
from antiphon.threads.consent import StandingPermission
from antiphon.threads.kinds import Json

STRATEGIES = ("sequential", "interleave", "manual", "consensus")
MENTION = re.compile(r"(?:^|\s)@(\S*)$")
MOST_FILES = 100


class Command(Protocol):
    """A command as it is suggested."""

    @property
    def usage(self) -> str:
        """The command with its arguments."""
        ...

    @property
    def help(self) -> str:
        """A line about the command."""
        ...


class ChatSuggestions:
    """Suggestions for the messages of one chat."""

    def __init__(self, client: ChatClient, commands: Mapping[str, Command]) -> None:
        self._client = client
        self._commands = commands
        self._models: list[tuple[str, str]] | None = None

    async def suggest(self, text: str) -> Sequence[Suggestion]:
        """Return the suggestions for the text before the cursor."""
        if (mention := MENTION.search(text)) is not None:
            return _files(mention[1])
        if not text.startswith("/") or "\n" in text:
            return ()
        name, *words = text.split(" ")
        if not words:
            return _matching(name, [(command, self._commands[command].help) for command in self._commands])
        if name == "/export":
            return _files(words[-1])
        return _matching(words[-1], await self._values(name, len(words)))

    async def _values(self, name: str, place: int) -> Iterable[tuple[str, str]]:
        """Return the values of an argument of a command, each with a text about it."""
        match name, place:
            case (("/switch" | "/close" | "/merge"), 1):
                return _branches(await self._chat())
            case "/merge", 2:
                return [(strategy, "") for strategy in STRATEGIES]
            case "/rewind", 1:
                return _checkpoints(await self._chat())
            case "/revoke", 1:
                return [(permission.id, permission.text) for permission in await self._permissions()]
            case "/model", 1:
                return self._usable_models()
            case "/keys", 1:
                return [(keys, "") for keys in EDITING_KEYS]
        return ()

    async def _chat(self) -> Json:
        if self._client.thread is None:
            return {}
        try:
            return (await self._client.read()).content
        except PROBLEMS:
            return {}

    async def _permissions(self) -> Sequence[StandingPermission]:
        if self._client.thread is None:
            return ()
        try:
            return await self._client.app.threads.permissions(self._client.thread)
        except PROBLEMS:
            return ()

    def _usable_models(self) -> list[tuple[str, str]]:
        if self._models is None:
            # Imported here because the list of models is slow to load.
            from antiphon.providers.catalog import list_models

            self._models = [(row.reference, row.note or "") for row in list_models() if row.usable]
        return self._models


def _branches(chat: Json) -> list[tuple[str, str]]:
    current = chat.get("branch")
    names = [*chat.get("branches", {}), *chat.get("closed", {})]
    return [(name, "closed" if name in chat["closed"] else "") for name in names if name != current]


def _checkpoints(chat: Json) -> list[tuple[str, str]]:
    checkpoints: Mapping[str, Json] = chat.get("checkpoints", {})
    return [
        (checkpoint.get("name") or id, f"on {checkpoint['branch']}, turn {checkpoint['turn']}")
        for id, checkpoint in checkpoints.items()
    ]


def _files(word: str) -> list[Suggestion]:
    """Return the files and folders that a path can continue with; hidden ones only if it says so."""
    folder, _, start = word.rpartition("/")
    place = Path(f"{folder}/" if folder or word.startswith("/") else ".").expanduser()
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except (OSError, RuntimeError):
        return []
    left_out = () if start.startswith(".") else (".",)
    names = [
        f"{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(start) and not entry.name.startswith(left_out)
    ]
    return [Suggestion(name, len(start)) for name in names[:MOST_FILES] if name != start]


def _matching(word: str, values: Iterable[tuple[str, str]]) -> list[Suggestion]:
    return [Suggestion(value, len(word), about) for value, about in values if value.startswith(word) and value != word]
