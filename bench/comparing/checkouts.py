"""Checkouts to compare: this one, a folder, or a revision that is unpacked once."""

from __future__ import annotations

import io
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from peers import REPOSITORY, last_line, open_cache


class UnknownBase(Exception):
    """There is nothing to compare with; the message says why."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout by name, and the folder in it that is imported from."""

    name: str
    source: Path


def current_checkout() -> Checkout:
    """The checkout that this file is in, with what is not committed."""
    return Checkout("this checkout", REPOSITORY / "src")


def open_base(base: str, cache: Path | None) -> Checkout:
    """The checkout of that path or revision."""
    folder = Path(base)
    if has_package(folder):
        return Checkout(base, (folder / "src").resolve())
    commit = find_commit(base)
    unpacked = open_cache(cache) / "compare" / commit
    if not has_package(unpacked):
        unpack(commit, unpacked)
    return Checkout(f"{base} ({commit[:10]})", unpacked / "src")


def has_package(folder: Path) -> bool:
    """Whether a folder is a checkout of this project."""
    return (folder / "src" / "antiphon" / "__init__.py").is_file()


def find_commit(revision: str) -> str:
    """The full id of the commit that a revision names."""
    command = ["rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}"]
    try:
        return git(*command).decode().strip()
    except UnknownBase as error:
        raise UnknownBase(
            f"{revision!r} is neither a revision nor the folder of a checkout ({error}); "
            "give a commit, branch or tag that `git log` knows, or a folder that has src/antiphon"
        ) from error


def unpack(commit: str, folder: Path) -> None:
    """Write the sources of a commit into a folder, all of them or none."""
    archive = git("archive", "--format=zip", commit, "src")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as part, ZipFile(io.BytesIO(archive)) as sources:
        sources.extractall(part)
        if not has_package(Path(part)):
            raise UnknownBase(f"commit {commit[:10]} has no src/antiphon; take a later one")
        folder.mkdir(exist_ok=True)
        (Path(part) / "src").rename(folder / "src")


def git(*arguments: str) -> bytes:
    """What git prints about this repository."""
    try:
        done = subprocess.run(["git", *arguments], cwd=REPOSITORY, capture_output=True)
    except OSError as error:
        raise UnknownBase(f"git cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise UnknownBase(last_line(done.stderr.decode(errors="replace")).removeprefix("fatal: "))
    return done.stdout
