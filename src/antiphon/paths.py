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
# The files of a store, and the folder of its server, by what is added to the name of the store.
STORE_SUFFIXES = ("", "-wal", "-shm", ".lock", "-costs", "-costs.new", ".server")


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


def store_files(store: str | Path) -> tuple[str, ...]:
    """Return the paths that belong to a store: its own files, and the folder in which a server keeps tokens."""
    return tuple(f"{os.path.realpath(store)}{suffix}" for suffix in STORE_SUFFIXES)


def server_folder(store: str | Path) -> Path:
    """Return the folder of the server of a store: tokens, and the audit log."""
    return Path(f"{store}{STORE_SUFFIXES[-1]}")


def server_config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the settings of `antiphon serve`: ANTIPHON_SERVER_CONFIG, or a file of the user."""
    return user_path("config", "server.toml", variable="ANTIPHON_SERVER_CONFIG", environment=environment)


def config_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the user's settings: ANTIPHON_CONFIG, or a file in the user's configuration folder."""
    return user_path("config", "config.toml", variable="ANTIPHON_CONFIG", environment=environment)


def templates_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's templates: ANTIPHON_TEMPLATES, or one in the user's configuration folder."""
    return user_path("config", "templates", variable="ANTIPHON_TEMPLATES", environment=environment)
