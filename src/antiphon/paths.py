"""Paths of the user's files: our own environment variables, or the folders of the XDG standard."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Purpose = Literal["config", "data", "state"]
# For each purpose, the variable that names the folder, and its default below the home folder.
FOLDERS: Mapping[Purpose, tuple[str, str]] = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "data": ("XDG_DATA_HOME", ".local/share"),
    "state": ("XDG_STATE_HOME", ".local/state"),
}


def user_path(
    purpose: Purpose, name: str, *, variable: str | None = None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the path of a file or folder of the user; the environment variable `variable` overrides it."""
    if variable is not None and environment.get(variable):
        return Path(environment[variable])
    folder_variable, default = FOLDERS[purpose]
    folder = environment.get(folder_variable)
    return (Path(folder) if folder else Path.home() / default) / "antiphon" / name


def store_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the store: ANTIPHON_STORE, or a file in the user's data folder."""
    return user_path("data", "antiphon.db", variable="ANTIPHON_STORE", environment=environment)


def undo_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of records and copies for undo: ANTIPHON_UNDO, or a folder in the user's state folder."""
    return user_path("state", "undo", variable="ANTIPHON_UNDO", environment=environment)
