"""What a folder brings to those who work in it: agents, MCP servers and their programs, settings and hooks of git.

Everything is read once, within limits; what was shown to a person and trusted is what is used.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Literal

from antiphon.threads.errors import ThreadError
from antiphon.tools.errors import ConfigError
from antiphon.tools.git_settings import UnlistedSettings, program_settings
from antiphon.tools.mcp.config import CommandServer, decode_servers
from antiphon.tools.regular_files import UnreadableFile, read_file

Kind = Literal["agent", "servers", "program", "module", "git setting", "git hook"]
OWN_FOLDER = Path(".antiphon")
AGENTS = OWN_FOLDER / "agents"
SUFFIXES = (".md", ".yaml", ".yml", ".toml")
MOST_FILES = 200
MOST_BYTES = 256 * 1024
MOST_PROGRAM = 16 * 1024 * 1024
# Files that a program of a server may load: those beside it and below, by their names.
MODULES = (
    ".py", ".pth", ".so", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".node", ".json", ".wasm", ".sh", ".bash",
    ".rb", ".pl", ".pm", ".lua", ".php", ".jar", ".class", ".dll",
)  # fmt: skip
UNREAD_FOLDERS = ("node_modules", "__pycache__")
MOST_MODULES = 200


@dataclass(frozen=True, slots=True)
class FolderItem:
    """One thing that a folder brings: a file by its path in the folder, or a setting by its name."""

    kind: Kind
    name: str
    content: bytes
    problem: str | None = None
    """Reason why a file was not read."""

    @property
    def key(self) -> str:
        """Kind and name."""
        return f"{self.kind} {self.name}"

    @property
    def digest(self) -> str:
        """Hash of the content."""
        return sha256(f"{self.problem or ''}\0".encode() + self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class FolderContents:
    """Everything that a folder brings."""

    folder: str
    items: tuple[FolderItem, ...] = ()

    def of(self, *kinds: Kind) -> tuple[FolderItem, ...]:
        """Return the items of some kinds."""
        return tuple(item for item in self.items if item.kind in kinds)

    def agents(self, folder: Path | str) -> tuple[FolderItem, ...]:
        """Return the agent files of a folder in this one."""
        parent = inner_path(Path(self.folder), Path(folder))
        return tuple(item for item in self.of("agent") if str(Path(item.name).parent) == parent)

    def servers(self, path: Path | str) -> FolderItem | None:
        """Return a file of MCP servers."""
        name = inner_path(Path(self.folder), Path(path))
        return next((item for item in self.of("servers") if item.name == name), None)


def read_folder(
    folder: Path | str, *, agents: Path | str | None = None, mcp: Path | str | None = None
) -> FolderContents:
    """Read what a folder brings; `agents` and `mcp` are the paths that are used, if not those of `.antiphon`.

    Paths outside of the folder are the person's own, and left out.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise ThreadError(f"{folder}: no such folder")
    items = read_agent_items(root, root / AGENTS)
    if agents is not None and inner_path(root, Path(agents)) not in (None, str(AGENTS)):
        items += read_agent_items(root, Path(agents))
    files = [
        *_server_files(root),
        *([Path(mcp)] if mcp is not None and inner_path(root, Path(mcp)) is not None else []),
    ]
    for path in dict.fromkeys(os.path.abspath(file) for file in files):
        item = _file_item(root, "servers", Path(path))
        items += [item, *_program_items(root, item)]
    items += [*_setting_items(root), *_hook_items(root)]
    return FolderContents(str(root), tuple({item.key: item for item in items}.values()))


def inner_path(folder: Path, path: Path) -> str | None:
    """Return a path relative to a folder, or None if it is outside by its name and by its links."""
    for candidate in (Path(os.path.abspath(path)), path.resolve()):
        if candidate.is_relative_to(folder):
            return str(candidate.relative_to(folder))
    return None


def _file_item(root: Path, kind: Kind, path: Path, limit: int = MOST_BYTES) -> FolderItem:
    name = inner_path(root, path) or str(path)
    try:
        return FolderItem(kind, name, read_file(path, limit))
    except UnreadableFile as error:
        return FolderItem(kind, name, b"", str(error))


def _names(folder: Path) -> list[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)
    return []


def read_agent_items(root: Path, folder: Path) -> list[FolderItem]:
    """Read the agent files of a folder, in the order of their names."""
    names = [name for name in _names(folder) if name.endswith(SUFFIXES) and not name.startswith(".")]
    return [_file_item(root, "agent", folder / name) for name in names[:MOST_FILES]]


def _server_files(root: Path) -> list[Path]:
    folder = root / OWN_FOLDER
    return [folder / name for name in _names(folder) if name.endswith(".toml")][:MOST_FILES]


def _program_items(root: Path, item: FolderItem) -> Iterator[FolderItem]:
    """Yield the files of the folder that the servers run or read, and the modules that these may load."""
    with suppress(ConfigError):
        servers = [server for server in decode_servers(item.content, item.name) if isinstance(server, CommandServer)]
        programs: dict[str, Path] = {}
        for server in servers:
            for word in (server.command, *server.args):
                path = root / (server.cwd or "") / word
                # Too long, a loop of links, or with a NUL: no file.
                with suppress(OSError, RuntimeError, ValueError):
                    name = inner_path(root, path)
                    if name is not None and path.is_file():
                        programs[name] = path
        for path in programs.values():
            yield _file_item(root, "program", path, MOST_PROGRAM)
        yield from _module_items(root, programs)


def _module_items(root: Path, programs: Mapping[str, Path]) -> Iterator[FolderItem]:
    """Yield the modules beside programs, and below these folders unless a folder is the workspace itself."""
    folders = dict.fromkeys(root / Path(name).parent for name in programs)
    entries = (entry for folder in folders for entry in _modules(folder, deep=folder != root))
    names = dict.fromkeys(str(path.relative_to(root)) for path in islice(entries, MOST_MODULES))
    for name in names:
        if name not in programs:
            item = _file_item(root, "module", root / name, MOST_PROGRAM)
            # Only its hash is needed.
            yield replace(item, content=sha256(item.content).digest())
    if next(entries, None) is not None:
        problem = f"there are more than {MOST_MODULES} files; changes of the others are not noticed"
        yield FolderItem("module", "all", b"", problem)


def _modules(folder: Path, *, deep: bool) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if deep and name not in UNREAD_FOLDERS and name[0] != ".")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(MODULES))


def _setting_items(root: Path) -> Iterator[FolderItem]:
    settings: Mapping[str, str] = {}
    try:
        settings = program_settings(root)
    except UnlistedSettings as error:
        yield FolderItem("git setting", "all", b"", str(error))
    except OSError:  # git is not installed
        return
    for name, value in settings.items():
        yield FolderItem("git setting", name, value.encode("utf-8", "surrogateescape"))


def _hook_items(root: Path) -> Iterator[FolderItem]:
    hooks = root / ".git" / "hooks"
    for name in _names(hooks)[:MOST_FILES]:
        with suppress(OSError):
            if not name.endswith(".sample") and (hooks / name).stat().st_mode & stat.S_IXUSR:
                yield _file_item(root, "git hook", hooks / name, MOST_PROGRAM)
