"""The built web app: files that the server sends; their source is in the folder `web` of the repository."""

from importlib.resources import files
from importlib.resources.abc import Traversable

PAGE = "index.html"
ASSETS = "assets"


def page() -> bytes | None:
    """Return the page of the app, or None if the package was built without it."""
    file = _static() / PAGE
    return file.read_bytes() if file.is_file() else None


def asset(name: str) -> bytes | None:
    """Return a file that the page loads, or None if there is no file of that name."""
    known = {file.name: file for file in _files()}
    return known[name].read_bytes() if name in known else None


def find_asset(start: str, end: str) -> bytes | None:
    """Return the file whose name begins and ends so, with a hash of its content between, or None if there is none."""
    return next(
        (file.read_bytes() for file in _files() if file.name.startswith(start) and file.name.endswith(end)), None
    )


def _static() -> Traversable:
    return files("antiphon.web") / "static"


def _files() -> list[Traversable]:
    folder = _static() / ASSETS
    return [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
