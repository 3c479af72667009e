"""A workbench: a workspace in a folder, its toolbox, and calls in one line."""

import json
from pathlib import Path
from typing import Any

from antiphon.messages import ToolCall, ToolResult
from antiphon.tools.files import FileLimits, file_instruments
from antiphon.tools.finding import FindLimits, finding_instruments
from antiphon.tools.instruments import Instruments
from antiphon.tools.shell import ShellSettings, shell_instrument
from antiphon.tools.workspace import Workspace
from tests.tools.stand import run

CANARY = "canary-5eb63bbbe01eeed093cb22bb8f5acdc3"
OURS = {"PATH": "/usr/local/bin:/usr/bin:/bin", "THE_API_KEY": CANARY, "MY_TOKEN": CANARY, "BASH_ENV": "/nowhere"}


class Workbench:
    """Tools in a folder, asked as `bench("read_file", path="a")`."""

    def __init__(
        self,
        folder: Path,
        *,
        files: FileLimits | None = None,
        finding: FindLimits | None = None,
        shell: ShellSettings | None = None,
    ) -> None:
        self.workspace = Workspace(folder)
        self.box = Instruments(
            [
                *file_instruments(self.workspace, files),
                *finding_instruments(self.workspace, finding),
                shell_instrument(self.workspace, shell, environment=OURS),
            ]
        )

    def __enter__(self) -> "Workbench":
        return self

    def __exit__(self, *_: Any) -> None:
        self.workspace.close()

    def ask(self, name: str, /, **arguments: Any) -> ToolResult:
        return run(self.box.call(ToolCall("1", name, json.dumps(arguments))))

    def __call__(self, name: str, /, **arguments: Any) -> str:
        """The words of a call that must succeed."""
        result = self.ask(name, **arguments)
        assert not result.is_error, result
        return result.parts[0].text

    def refused(self, name: str, /, **arguments: Any) -> str:
        """The words of a call that must not succeed."""
        result = self.ask(name, **arguments)
        assert result.is_error, result
        return result.parts[0].text
