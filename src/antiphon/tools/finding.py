"""Listing the files of a workspace and searching them."""

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
from antiphon.tools.files import LOOKED_AT, PATH
from antiphon.tools.functions import ToolFunction, run_in_thread
from antiphon.tools.programs import run_program
from antiphon.tools.workspace import VERSION_CONTROL, Workspace

# Folders that hold what was fetched or built; whoever wants them names them.
PASSED_OVER = VERSION_CONTROL | {"node_modules", "__pycache__"}
MATCHING = Path(__file__).with_name("regex_worker.py")
MOST_DEPTH = 64


@dataclass(frozen=True, slots=True)
class FindLimits:
    """How far listing and searching go."""

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
    """The tools that list and search files."""
    bounds = limits or FindLimits()

    async def list_files(given: Mapping[str, Any]) -> str:
        visit = FileWalk(workspace, given["path"], bounds.most_visited, hidden=given["hidden"])
        return await run_in_thread(lambda: list_paths(visit, given["pattern"], bounds), visit.halted)

    async def search_files(given: Mapping[str, Any]) -> str:
        visit = FileWalk(workspace, given["path"], bounds.most_visited, hidden=False)
        files = await run_in_thread(lambda: collect_files(visit, given["pattern"], bounds), visit.halted)
        return await search_lines(files, given, bounds)

    return ToolFunction(LIST_FILES, list_files), ToolFunction(SEARCH_FILES, search_files)


class FileWalk:
    """The files below a folder, in order, as far as the limits go; it can be stopped from another thread."""

    __slots__ = ("_most", "cut", "halted", "hidden", "path", "workspace")

    def __init__(self, workspace: Workspace, path: str, most: int, *, hidden: bool) -> None:
        self.workspace = workspace
        self.path = path
        self.hidden = hidden
        self.cut = False
        self._most = most
        self.halted = threading.Event()

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Each file: its path from the beginning, and its open folder."""
        with self.workspace.open_folder(self.path) as (folder, _):
            yield from self._below(folder, "", 0)

    def _below(self, folder: int, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            self._most -= 1
            if self._most < 0 or self.halted.is_set():
                self.cut = True
                return
            if entry.name in PASSED_OVER or (entry.name.startswith(".") and not self.hidden):
                continue
            if entry.is_file(follow_symlinks=False):
                yield prefix + entry.name, folder
            elif entry.is_dir(follow_symlinks=False):
                yield from self._into(folder, entry.name, prefix, depth)

    def _into(self, folder: int, name: str, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
        if depth >= MOST_DEPTH:
            self.cut = True
            return
        # A folder that has become a symlink meanwhile, or may not be read, is passed over.
        with suppress(OSError):
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                yield from self._below(inner, f"{prefix}{name}/", depth + 1)
            finally:
                os.close(inner)


def matches_glob(path: str, pattern: str) -> bool:
    """Whether a path fits a glob: * and ? stay within a name, ** is any number of folders."""
    return _matches_pieces(tuple(path.split("/")), _pieces(pattern))


@lru_cache(maxsize=64)
def _pieces(pattern: str) -> tuple[str, ...]:
    pieces = [piece for piece in pattern.split("/") if piece not in ("", ".")]
    # `src/**` means everything below; several ** in a row mean no more than one.
    pieces = [
        piece for number, piece in enumerate(pieces) if not (piece == "**" and pieces[number - 1 : number] == ["**"])
    ]
    return (*pieces, "*") if pieces and pieces[-1] == "**" else tuple(pieces)


def _matches_pieces(names: tuple[str, ...], pieces: tuple[str, ...]) -> bool:
    """By rows, not by recursion: a glob with many ** is as quick as any."""
    reached = {0}
    for name in names:
        after = set()
        for at in _spread(reached, pieces):
            if at < len(pieces) and pieces[at] == "**":
                after.add(at)
            elif at < len(pieces) and fnmatchcase(name, pieces[at]):
                after.add(at + 1)
        reached = after
    return len(pieces) in _spread(reached, pieces)


def _spread(reached: set[int], pieces: tuple[str, ...]) -> set[int]:
    return reached | {at + 1 for at in reached if at < len(pieces) and pieces[at] == "**"}


def list_paths(visit: FileWalk, pattern: str, limits: FindLimits) -> str:
    """The paths that fit, one a line, and a note when there are more."""
    found: list[str] = []
    for path, _ in visit:
        if matches_glob(path, pattern):
            if len(found) == limits.most_listed:
                visit.cut = True
                break
            found.append(_from(visit.path, path))
    if not found:
        return f"[no file fits {pattern!r}]"
    return "\n".join([*found, *(["[there are more; narrow the pattern]"] if visit.cut else [])])


@dataclass(frozen=True, slots=True)
class SearchFiles:
    """Files to be searched, as frames for the program that does it."""

    frames: bytes
    cut: bool


def collect_files(visit: FileWalk, pattern: str, limits: FindLimits) -> SearchFiles:
    """The text files that fit, as far as the limits go."""
    frames: list[bytes] = []
    left = limits.most_searched_bytes
    for path, folder in visit:
        if not matches_glob(path, pattern):
            continue
        data = _text_bytes(path.rpartition("/")[2], folder, limits.most_file_bytes)
        left -= len(data)
        if left < 0:
            visit.cut = True
            break
        frames += [json.dumps([_from(visit.path, path), len(data)]).encode(), b"\n", data]
    return SearchFiles(b"".join(frames), visit.cut)


async def search_lines(files: SearchFiles, given: Mapping[str, Any], limits: FindLimits) -> str:
    """The lines that match; a program of its own looks for them, because a regular expression cannot be stopped."""
    header = {
        "query": given["query"],
        "regex": given["regex"],
        "ignoreCase": given["ignore_case"],
        "mostMatches": limits.most_matches,
        "mostCharacters": limits.most_line_characters,
    }
    answer = await run_program(MATCHING, json.dumps(header).encode() + b"\n" + files.frames, limits.search_ms)
    if answer is None:
        raise ToolCallError(f"The search took longer than {limits.search_ms / 1000:g} s; use a simpler query.")
    found = json.loads(answer)
    if "problem" in found:
        raise ToolCallError(f"{given['query']!r} is no regular expression: {found['problem']}.")
    lines = [f"{path}:{number}: {text}" for path, number, text in found["matches"]]
    if files.cut or found["more"]:
        lines.append("[there is more; narrow the query, the pattern or the path]")
    return "\n".join(lines) or "[nothing was found]"


def _text_bytes(name: str, folder: int, most: int) -> bytes:
    with suppress(OSError):
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(file, "rb") as opened:
            if stat.S_ISREG(os.fstat(file).st_mode) and os.fstat(file).st_size <= most:
                data = opened.read(most)
                return b"" if b"\0" in data[:LOOKED_AT] else data
    return b""


def _from(start: str, path: str) -> str:
    beginning = start.rstrip("/").removeprefix("./")
    return path if beginning in ("", ".") else f"{beginning}/{path}"
