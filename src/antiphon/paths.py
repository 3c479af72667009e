"""Where files of the user are: an environment variable of our own, or the folders of the XDG standard."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Purpose = Literal["config", "data", "state"]
# The variable that names the folder for each purpose, and where that folder is if nothing does.
FOLDERS: Mapping[Purpose, tuple[str, str]] = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def user_path(
    purpose: Purpose, name: str, *, variable: str | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Path of a file or folder of the user; `variable` names the environment variable that overrides it."""
    if variable is not None and environment.get(variable):
        return Path(environment[variable])
    folder_variable, default = FOLDERS[purpose]
    folder = environment.get(folder_variable)
    return (Path(folder) if folder else Path.home() / default) / "antiphon" / name


def store_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Path of the store: ANTIPHON_STORE, or a file in the user's folder for data."""
    return user_path("data", "antiphon.db", variable="ANTIPHON_STORE", environment=environment)
