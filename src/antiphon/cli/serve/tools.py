"""Tools of a server: those of the folder that the operator allows."""

from contextlib import AsyncExitStack
from pathlib import Path

from antiphon.cli.frame import UsageError
from antiphon.paths import store_files
from antiphon.threads.toolbox import Toolbox


def open_toolbox(stack: AsyncExitStack, folder: Path | None, store: Path) -> Toolbox | None:
    """Return the tools of a folder; without one, threads have no tools that act on the host."""
    if folder is None:
        return None
    from antiphon.tools import ShellSettings, Workspace, workspace_tools

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder")
    # Tools neither read nor change the store and the tokens, wherever they are.
    hidden = store_files(store)
    workspace = stack.enter_context(Workspace(folder.resolve(), hidden=hidden))
    return workspace_tools(workspace, shell=ShellSettings(hidden=(*ShellSettings().hidden, *hidden)))
