"""Files of a folder that is not trusted: read within limits, and parsed in a process that can be stopped."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antiphon.agents.errors import FileProblem

WORKER = Path(__file__).with_name("file_worker.py")
SUFFIXES = (".md", ".yaml", ".yml", ".toml")
MOST_FILES = 100
MOST_BYTES = 256 * 1024  # of one file
MOST_TOTAL = 2 * 1024 * 1024
PARSE_S = 2  # of processor time
WAIT_S = 3 * PARSE_S  # on a busy machine
TOO_LONG = f"it takes too long or too much memory to parse; more than {PARSE_S} s or 512 MB are not spent, simplify it"


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """Agent files of a folder by name, and the problems of those that were not read."""

    texts: Mapping[str, str]
    problems: tuple[FileProblem, ...] = ()


class UnreadableFile(Exception):
    """A file is not read; the message says why and what to do."""


def read_agent_files(folder: Path) -> FolderFiles:
    """Read the agent files of a folder, in the order of their names."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if _is_agent_file(entry.name))
    if len(names) > MOST_FILES:
        return FolderFiles({}, (FileProblem(names[MOST_FILES], 1, f"more than {MOST_FILES} agent files; remove some"),))
    texts: dict[str, str] = {}
    problems: list[FileProblem] = []
    room = MOST_TOTAL
    for name in names:
        try:
            data = read_file(folder / name)
            room -= len(data)
            if room < 0:
                raise UnreadableFile(f"the agent files have more than {MOST_TOTAL:,} bytes together; shorten them")
            texts[name] = data.decode("utf-8")
        except UnreadableFile as error:
            problems.append(FileProblem(name, 1, str(error)))
        except UnicodeDecodeError as error:
            problems.append(FileProblem(name, 1, f"it is not UTF-8 text: {error.reason} at byte {error.start}"))
    return FolderFiles(texts, tuple(problems))


def _is_agent_file(name: str) -> bool:
    return name.endswith(SUFFIXES) and not name.startswith(".")


def read_file(path: Path, limit: int = MOST_BYTES) -> bytes:
    """Read a regular file without waiting and without following a link; raise `UnreadableFile` for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        if path.is_symlink():
            raise UnreadableFile("it is a symbolic link, which is not followed; copy the file") from error
        raise UnreadableFile(f"it cannot be read: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile("it is not a regular file; remove it")
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableFile(f"it has more than {limit:,} bytes; shorten it")
    return data


def parse_files(texts: Mapping[str, str]) -> list[dict[str, Any]]:
    """Parse agent files in another process; each result has `values` and `lines`, or a `problem`."""
    if not texts:
        return []
    output = _run_worker(json.dumps(list(texts.items())).encode())
    results = [json.loads(line) for line in output.split(b"\n") if line.endswith(b"}")]
    # The process ended at the first file without a result.
    missing = [{"problem": [1, TOO_LONG]}] if len(results) < len(texts) else []
    unread = [{"problem": [1, "it was not parsed, because a file before it ended the parser"]}]
    return [*results, *missing, *unread * (len(texts) - len(results) - len(missing))]


def _run_worker(data: bytes) -> bytes:
    command: Sequence[str] = (sys.executable, "-I", "-S", "-X", "utf8", str(WORKER), str(PARSE_S), _yaml_folder())
    try:
        return subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={}, timeout=WAIT_S, check=False
        ).stdout
    except subprocess.TimeoutExpired as expired:
        return expired.stdout or b""


def _yaml_folder() -> str:
    spec = find_spec("yaml")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent.parent)
