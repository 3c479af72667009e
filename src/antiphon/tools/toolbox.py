"""The toolbox of a workspace."""

from antiphon.tools.fetch import FetchSettings, fetch_function
from antiphon.tools.files import FileLimits, file_functions
from antiphon.tools.finding import FindLimits, find_functions
from antiphon.tools.functions import FunctionToolbox
from antiphon.tools.shell import ShellSettings, shell_function
from antiphon.tools.workspace import Workspace


def workspace_tools(
    workspace: Workspace,
    *,
    files: FileLimits | None = None,
    finding: FindLimits | None = None,
    shell: ShellSettings | None = None,
    fetch: FetchSettings | None = None,
) -> FunctionToolbox:
    """Return a toolbox to read, write, edit, list and search files, run commands and fetch pages."""
    return FunctionToolbox(
        [
            *file_functions(workspace, files),
            *find_functions(workspace, finding),
            shell_function(workspace, shell),
            fetch_function(fetch),
        ]
    )
