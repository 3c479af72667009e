"""Folders whose contents a person has accepted, stored by hash outside of them."""

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.paths import user_path
from antiphon.threads.errors import ThreadError
from antiphon.threads.folder_contents import FolderContents, FolderItem

MOST_BYTES = 16 * 1024 * 1024


class BadTrustFile(ThreadError):
    """The file of trusted folders cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class TrustDifference:
    """What a folder brings beyond what was trusted: items that are new, and items that have changed."""

    new: tuple[FolderItem, ...]
    changed: tuple[FolderItem, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.changed)


class TrustedFolders:
    """Trusted folders, in a file: ANTIPHON_TRUSTED_FOLDERS, or one in the user's data folder."""

    def __init__(self, path: Path | str | None = None) -> None:
        self.path = (
            Path(path)
            if path is not None
            else user_path("data", "trusted-folders.json", variable="ANTIPHON_TRUSTED_FOLDERS")
        )

    def is_trusted(self, contents: FolderContents) -> bool:
        """Return whether everything that a folder brings was trusted as it is now."""
        return not self.difference(contents)

    def difference(self, contents: FolderContents) -> TrustDifference:
        """Return what is not trusted of a folder's contents."""
        trusted = self.list().get(contents.folder, {})
        new = tuple(item for item in contents.items if item.key not in trusted)
        changed = tuple(item for item in contents.items if trusted.get(item.key, item.digest) != item.digest)
        return TrustDifference(new, changed)

    def add(self, contents: FolderContents) -> None:
        """Trust a folder with these contents; earlier items that are not among them stay trusted."""
        folders = self.list()
        items = {item.key: item.digest for item in contents.items}
        folders[contents.folder] = {**folders.get(contents.folder, {}), **items}
        self._write(folders)

    def remove(self, folder: Path | str) -> bool:
        """Trust a folder no longer; return whether it was trusted."""
        folders = self.list()
        is_known = folders.pop(str(Path(folder).resolve()), None) is not None
        if is_known:
            self._write(folders)
        return is_known

    def list(self) -> dict[str, dict[str, str]]:
        """Return the trusted folders, each with the hashes of its items."""
        try:
            if self.path.stat().st_size > MOST_BYTES:
                raise BadTrustFile(f"{self.path}: has more than {MOST_BYTES:,} bytes; delete it")
            value = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise BadTrustFile(f"{self.path}: cannot be read: {error}; delete it to trust no folder") from error
        if not _is_valid(value):
            raise BadTrustFile(f"{self.path}: is not a list of trusted folders; delete it to trust no folder")
        return {folder: dict(items) for folder, items in value["folders"].items()}

    def _write(self, folders: Mapping[str, Mapping[str, str]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Replaced at once, so that a crash leaves either the old list or the new one.
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "folders": folders}, file, indent=1)
            os.replace(name, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise


def _is_valid(value: Any) -> bool:
    folders = value.get("folders") if isinstance(value, dict) and value.get("version") == 1 else None
    return isinstance(folders, dict) and all(
        isinstance(items, dict) and all(isinstance(digest, str) for digest in items.values())
        for items in folders.values()
    )
