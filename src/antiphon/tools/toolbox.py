"""The tools of a workspace, put together."""

from antiphon.tools.fetch import FetchSettings, fetch_instrument
from antiphon.tools.files import FileLimits, file_instruments
from antiphon.tools.finding import FindLimits, finding_instruments
from antiphon.tools.functions import Instruments
from antiphon.tools.shell import ShellSettings, shell_instrument
from antiphon.tools.workspace import Workspace


def workspace_tools(
    workspace: Workspace,
    *,
    files: FileLimits | None = None,
    finding: FindLimits | None = None,
    shell: ShellSettings | None = None,
    fetch: FetchSettings | None = None,
) -> Instruments:
    """Read, write, edit, list, search, shell and fetch, in one toolbox."""
    return Instruments(
        [
            *file_instruments(workspace, files),
            *finding_instruments(workspace, finding),
            shell_instrument(workspace, shell),
            fetch_instrument(fetch),
        ]
    )
