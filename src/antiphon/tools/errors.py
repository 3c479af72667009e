"""Errors of tools."""

from collections.abc import Sequence


class ToolsError(Exception):
    """Base class of the errors of tools."""


class ConfigError(ToolsError):
    """Raised for an invalid configuration, before any server is started."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}" if key else f"{file}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class NotInstalled(ToolsError):
    """Raised when a package that the tools need is not installed."""


class ServerError(ToolsError):
    """Raised when a tool server fails; the message may be shown to a model."""


class ServerGone(ServerError):
    """Raised when the server or its connection has ended."""


class ServerSilent(ServerError):
    """Raised when the server does not respond in time."""


class ToolCallError(ToolsError):
    """Raised by a tool that fails or refuses a call; the message is shown to the model."""


class NameTaken(ToolsError):
    """Raised when two toolboxes have a tool of the same name."""


class InvalidTool(ToolsError):
    """Raised by `@tool` for a function that cannot be a tool; `problem` is the reason."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"the function {name} cannot be a tool: {problem}")
        self.name = name
        self.problem = problem


class UndoError(ToolsError):
    """Raised when changes cannot be recorded or undone; nothing was undone."""


class UnusableUndoFolder(UndoError):
    """Raised when the folder for copies cannot be used; another one can be named."""


class ChangedSince(UndoError):
    """Raised when an undo would overwrite changes that others made; `paths` names the files."""

    def __init__(self, message: str, paths: Sequence[str]) -> None:
        super().__init__(message)
        self.paths = tuple(paths)
