"""What can be wrong with the tools someone asks for."""


class ToolsError(Exception):
    """The tools cannot be had as they are asked for."""


class ConfigError(ToolsError):
    """A configuration of tools is wrong at one place; nothing of it was started."""

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(f"{file}: {key}: {problem}" if key else f"{file}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class NotInstalled(ToolsError):
    """A package that is needed for these tools is not here."""


class ServerError(ToolsError):
    """A server of tools did not do what it was asked; the sentence may be shown to a model."""


class ServerGone(ServerError):
    """The server has ended, or its connection has."""


class ServerSilent(ServerError):
    """The server did not answer in time."""


class ToolCallError(ToolsError):
    """A tool does not do what it is asked to; the sentence is meant for the model."""


class NameTaken(ToolsError):
    """Two toolboxes have a tool of the same name."""
