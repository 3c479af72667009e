"""Tools that list and search the files of a workspace."""

import json
import os
import stat
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from antiphon.providers.base import Tool
from antiphon.tools.arguments import object_schema
from antiphon.tools.errors import ToolCallError
from antiphon.tools.files import BINARY_PROBE, PATH
from antiphon.tools.functions import ToolFunction, run_in_thread
from antiphon.tools.programs import run_program
from antiphon.tools.protected import VERSION_CONTROL
from antiphon.tools.sandbox.names import contains_key, is_secret, is_secret_path
from antiphon.tools.workspace import Workspace

# Folders of generated files, which are walked only if the path names them.
SKIPPED_FOLDERS = VERSION_CONTROL | {"node_modules", "__pycache__"}
REGEX_WORKER = Path(__file__).with_name("regex_worker.py")
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class FindLimits:
    """Limits for listing and searching files."""

    most_listed: int = 1_000
    most_visited: int = 100_000
    most_matches: int = 200
    most_line_characters: int = 400
    most_file_bytes: int = 4 * 1024 * 1024
    most_searched_bytes: int = 64 * 1024 * 1024
    search_ms: int = 20_000


GLOB = {"type": "string", "minLength": 1, "maxLength": 1_000}
FOLDER = {**PATH, "default": ".", "description": "Where to begin, relative to the workspace."}
LIST_FILES = Tool(
    "list_files",
    "List the files of the workspace by a glob such as src/**/*.py; hidden ones and version control are left out.",
    object_schema(
        {
            "pattern": {**GLOB, "default": "**", "description": "A glob, relative to path; ** is any folders."},
            "path": FOLDER,
            "hidden": {"type": "boolean", "default": False, "description": "Also names that begin with a dot."},
        },
        required=[],
    ),
    risk="read",
)
SEARCH_FILES = Tool(
    "search_files",
    "Search the text files of the workspace for a text or a regular expression; gives path:line: text.",
    object_schema(
        {
            "query": {"type": "string", "minLength": 1, "maxLength": 1_000},
            "regex": {"type": "boolean", "default": False, "description": "The query is a Python regular expression."},
            "ignore_case": {"type": "boolean", "default": False},
            "pattern": {**GLOB, "default": "**", "description": "Only files that fit this glob."},
            "path": FOLDER,
        },
        required=["query"],
    ),
    risk="read",
)


def find_functions(workspace: Workspace, limits: FindLimits | None = None) -> tuple[ToolFunction, ...]:
    """Return the tools that list and search files."""
    bounds = limits or FindLimits()

    async def list_files(arguments: Mapping[str, Any]) -> str:
        walk = FileWalk(workspace, arguments["path"], bounds.most_visited, hidden=arguments["hidden"])
        return await run_in_thread(lambda: list_paths(walk, arguments["pattern"], bounds), walk.stop)

    async def search_files(arguments: Mapping[str, Any]) -> str:
        walk = FileWalk(workspace, arguments["path"], bounds.most_visited, hidden=False, secrets=False)
        files = await run_in_thread(lambda: collect_files(walk, arguments["pattern"], bounds), walk.stop)
        return await search_lines(files, arguments, bounds)

    return ToolFunction(LIST_FILES, list_files), ToolFunction(SEARCH_FILES, search_files)


class FileWalk:
    """Walk over the files below a folder, in order and within limits; another thread can stop it."""

    __slots__ = ("_base", "_remaining", "hidden", "is_truncated", "path", "secrets", "skipped", "stop", "workspace")

    def __init__(self, workspace: Workspace, path: str, limit: int, *, hidden: bool, secrets: bool = True) -> None:
        self.workspace = workspace
        self.path = path
        self._base = ""  # the path that was really walked
        self.hidden = hidden
        # Without `secrets`, files that usually hold keys are skipped, and counted.
        self.secrets = secrets
        self.skipped = 0
        self.is_truncated = False
        self._remaining = limit
        self.stop = threading.Event()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Yield the path of each file, relative to the start, and its open folder."""
        with self.workspace.open_folder(self.path) as (folder, path):
            if not self.secrets and is_secret_path(path):
                raise ToolCallError(f"{self.path!r} usually holds keys and is not searched; read its files by name.")
            self._base = path
            yield from self._below(folder, "", 0)

    def _below(self, folder: int, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            self._remaining -= 1
            if self._remaining < 0 or self.stop.is_set():
                self.is_truncated = True
                return
            if entry.name in SKIPPED_FOLDERS or (entry.name.startswith(".") and not self.hidden):
                continue
            if not self.secrets and is_secret(entry.name):
                self.skipped += 1
                continue
            if self.workspace.is_own_data(f"{self._base}/{prefix}{entry.name}"):
                continue
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, folder
            elif entry.is_dir(follow_symlinks=False):
                yield from self._into(folder, entry.name, prefix, depth)

    def _into(self, folder: int, name: str, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        if depth >= MAX_DEPTH:
            self.is_truncated = True
            return
        # A folder that has become a symlink meanwhile, or is not readable, is skipped.
        with suppress(OSError):
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                yield from self._below(inner, f"{prefix}{name}/", depth + 1)
            finally:
                os.close(inner)


def matches_glob(path: str, pattern: str) -> bool:
    """Return whether a path matches a glob: * and ? stay within a name, ** matches any number of folders."""
    return _matches_pieces(tuple(path.split("/")), _pieces(pattern))


@lru_cache(maxsize=64)
def _pieces(pattern: str) -> tuple[str, ...]:
    pieces = [piece for piece in pattern.split("/") if piece not in ("", ".")]
    # `src/**` matches everything below; several ** in a row are equal to one.
    pieces = [
        piece for number, piece in enumerate(pieces) if not (piece == "**" and pieces[number - 1 : number] == ["**"])
    ]
    return (*pieces, "*") if pieces and pieces[-1] == "**" else tuple(pieces)


def _matches_pieces(names: tuple[str, ...], pieces: tuple[str, ...]) -> bool:
    """Match without recursion, so that a glob with many ** takes linear time."""
    positions = {0}
    for name in names:
        after = set()
        for at in _skip_stars(positions, pieces):
            if at < len(pieces) and pieces[at] == "**":
                after.add(at)
            elif at < len(pieces) and fnmatchcase(name, pieces[at]):
                after.add(at + 1)
        positions = after
    return len(pieces) in _skip_stars(positions, pieces)


def _skip_stars(positions: set[int], pieces: tuple[str, ...]) -> set[int]:
    return positions | {at + 1 for at in positions if at < len(pieces) and pieces[at] == "**"}


def list_paths(walk: FileWalk, pattern: str, limits: FindLimits) -> str:
    """Return the matching paths, one per line, with a note if there are more."""
    paths: list[str] = []
    for path, _ in walk:
        if matches_glob(path, pattern):
            if len(paths) == limits.most_listed:
                walk.is_truncated = True
                break
            paths.append(_join_path(walk.path, path))
    if not paths:
        return f"[no file matches {pattern!r}]"
    return "\n".join([*paths, *(["[there are more files; narrow the pattern]"] if walk.is_truncated else [])])


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """Files to search, encoded for the worker."""

    frames: bytes
    is_truncated: bool
    skipped: int = 0
    """Files that usually hold keys, which are not searched."""


def collect_files(walk: FileWalk, pattern: str, limits: FindLimits) -> SearchFiles:
    """Read the matching text files, within the limits."""
    frames: list[bytes] = []
    remaining = limits.most_searched_bytes
    for path, folder in walk:
        if not matches_glob(path, pattern):
            continue
        name = path.rpartition("/")[2]
        data = _text_bytes(name, folder, limits.most_file_bytes)
        if contains_key(name, data):
            walk.skipped += 1
            continue
        remaining -= len(data)
        if remaining < 0:
            walk.is_truncated = True
            break
        frames += [json.dumps([_join_path(walk.path, path), len(data)]).encode(), b"\n", data]
    return SearchFiles(b"".join(frames), walk.is_truncated, walk.skipped)


async def search_lines(files: SearchFiles, arguments: Mapping[str, Any], limits: FindLimits) -> str:
    """Return the matching lines; a separate process searches, because a regular expression cannot be stopped."""
    header = {
        "query": arguments["query"],
        "regex": arguments["regex"],
        "ignoreCase": arguments["ignore_case"],
        "mostMatches": limits.most_matches,
        "mostCharacters": limits.most_line_characters,
    }
    output = await run_program(REGEX_WORKER, json.dumps(header).encode() + b"\n" + files.frames, limits.search_ms)
    if output is None:
        raise ToolCallError(f"The search took longer than {limits.search_ms / 1000:g} s; use a simpler query.")
    result = json.loads(output)
    if "problem" in result:
        raise ToolCallError(f"{arguments['query']!r} is not a valid regular expression: {result['problem']}.")
    lines = [f"{path}:{number}: {text}" for path, number, text in result["matches"]]
    if files.is_truncated or result["more"]:
        lines.append("[there are more matches; narrow the query, the pattern or the path]")
    lines = lines or ["[no matches]"]
    if files.skipped:
        lines.append(f"[files that usually hold keys were not searched: {files.skipped:,}]")
    return "\n".join(lines)


def _text_bytes(name: str, folder: int, limit: int) -> bytes:
    with suppress(OSError):
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(file, "rb") as opened:
            if stat.S_ISREG(os.fstat(file).st_mode) and os.fstat(file).st_size <= limit:
                data = opened.read(limit)
                return b"" if b"\0" in data[:BINARY_PROBE] else data
    return b""


def _join_path(start: str, path: str) -> str:
    beginning = start.rstrip("/").removeprefix("./")
    return path if beginning in ("", ".") else f"{beginning}/{path}"
