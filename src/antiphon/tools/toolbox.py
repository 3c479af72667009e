"""The toolbox of a workspace."""

from antiphon.tools.fetch import FetchSettings, fetch_function
from antiphon.tools.files import FileLimits, file_functions
from antiphon.tools.finding import FindLimits, find_functions
from antiphon.tools.functions import FunctionToolbox
from antiphon.tools.sandbox.runner import ShellSettings
from antiphon.tools.shell import shell_function
from antiphon.tools.undo.folder import UndoFolder
from antiphon.tools.workspace import Workspace


def workspace_tools(
    workspace: Workspace,
    *,
    files: FileLimits | None = None,
    finding: FindLimits | None = None,
    shell: ShellSettings | None = None,
    fetch: FetchSettings | None = None,
    undo: UndoFolder | None = None,
) -> FunctionToolbox:
    """Return a toolbox to read, write, edit, list and search files, run commands and fetch pages.

    With `undo`, changes that threads make with these tools are recorded, and can be undone.
    """
    return FunctionToolbox(
        [
            *file_functions(workspace, files, undo),
            *find_functions(workspace, finding),
            shell_function(workspace, shell, undo=undo),
            fetch_function(fetch),
        ]
    )
